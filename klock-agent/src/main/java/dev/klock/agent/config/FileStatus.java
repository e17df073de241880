package dev.klock.agent.config;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;

/** Who owns a file and who else may change it: what has to be known before trusting it. */
final class FileStatus {
    private static final int TYPE_MASK = 0170000;
    private static final int DIRECTORY = 0040000;
    private static final int REGULAR = 0100000;
    private static final int LINK = 0120000;
    private static final int WRITABLE_BY_ALL = 0002;

    final int owner;
    final int mode;

    private FileStatus(int owner, int mode) {
        this.owner = owner;
        this.mode = mode;
    }

    /** The status of {@code file}, of a link itself if {@code follow} is false; null if there is nothing of that name. */
    static FileStatus of(File file, boolean follow) throws IOException {
        Path path = file.toPath();
        try {
            Map<String, Object> attributes = follow ? Files.readAttributes(path, "unix:uid,mode")
                    : Files.readAttributes(path, "unix:uid,mode", LinkOption.NOFOLLOW_LINKS);
            return new FileStatus((Integer) attributes.get("uid"), (Integer) attributes.get("mode"));
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    boolean isDirectory() {
        return (mode & TYPE_MASK) == DIRECTORY;
    }

    boolean isRegular() {
        return (mode & TYPE_MASK) == REGULAR;
    }

    boolean isLink() {
        return (mode & TYPE_MASK) == LINK;
    }

    int permissions() {
        return mode & 07777;
    }

    /**
     * Why what stands here could be somebody else's work, null if it could not: everything is that belongs to another user than this
     * process's or root, or that everybody may write.
     */
    String distrust(int user) {
        if (owner != user && owner != 0) {
            return "it belongs to another user (uid " + owner + ")";
        }
        return (mode & WRITABLE_BY_ALL) != 0 ? "everybody may write to it" : null;
    }

    /** The effective user of this process; -1 if that cannot be told, so that nothing but root's files is trusted. */
    static int user() {
        // the names in it may be in any encoding, and the default one may be UTF-16
        try (BufferedReader status = new BufferedReader(new InputStreamReader(new FileInputStream("/proc/self/status"), StandardCharsets.ISO_8859_1))) {
            for (String line = status.readLine(); line != null; line = status.readLine()) {
                if (line.startsWith("Uid:")) {
                    int real = line.indexOf('\t');
                    int effective = line.indexOf('\t', real + 1);
                    return (int) Long.parseLong(line.substring(effective + 1, line.indexOf('\t', effective + 1)));
                }
            }
        } catch (IOException | RuntimeException e) {
            return -1;
        }
        return -1;
    }
}
