package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** What this process has open, as Linux tells it. */
final class OpenFiles {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path FLAGS = Path.of("/proc/self/fdinfo");
    private static final int ACCESS = 3;

    private OpenFiles() {
    }

    /** Whether a descriptor for writing is open on {@code file}, a regular one; yes too where that cannot be told. Costs a stat for each descriptor. */
    static boolean isOpenForWriting(FileState file) {
        try (DirectoryStream<Path> all = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path one : all) {
                if (isOn(one, file) && isForWriting(FLAGS.resolve(one.getFileName()))) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException unknown) {
            return true;
        }
    }

    private static boolean isOn(Path descriptor, FileState file) {
        try {
            Map<String, Object> s = Files.readAttributes(descriptor, "unix:ino,dev");
            return (Long) s.get("ino") == file.ino && (Long) s.get("dev") == file.dev;
        } catch (IOException closed) {
            return false;
        }
    }

    private static boolean isForWriting(Path info) {
        try {
            String text = new String(Files.readAllBytes(info), StandardCharsets.US_ASCII);
            int at = text.indexOf("flags:");
            return at < 0 || (Integer.parseInt(text.substring(at + 6, text.indexOf('\n', at)).trim(), 8) & ACCESS) != 0;
        } catch (IOException | RuntimeException closed) {
            return false;
        }
    }
}
