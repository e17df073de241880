package dev.klock.cli;

import com.github.difflib.DiffUtils;
import com.github.difflib.UnifiedDiffUtils;
import dev.klock.agent.config.UsageException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** A text file that is changed line by line, and shown before. What stands in it is replaced at once, or not at all. */
final class Edited {
    private static final int CONTEXT_LINES = 3;

    final List<String> before;
    private final Path file;
    private final String text;
    private final String end;
    private List<String> after;

    Edited(File file) throws IOException {
        this.file = file.toPath().toRealPath();
        text = Files.readString(this.file);
        end = text.contains("\r\n") ? "\r\n" : "\n";
        before = List.of(text.split("\r?\n", -1));
        after = before;
    }

    void change(List<String> lines) {
        after = lines;
    }

    byte[] bytes() {
        return String.join(end, after).getBytes(StandardCharsets.UTF_8);
    }

    void show(Terminal terminal) {
        String name = file.toString().substring(1);
        for (String line : UnifiedDiffUtils.generateUnifiedDiff("a/" + name, "b/" + name, before, DiffUtils.diff(before, after), CONTEXT_LINES)) {
            terminal.coloured(line);
        }
    }

    /** @throws IOException it cannot be written, or somebody else has changed it meanwhile: then it is left */
    void write() throws IOException {
        Path fresh = file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID());
        try {
            Files.write(fresh, bytes(), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, StandardOpenOption.SYNC);
            Files.setPosixFilePermissions(fresh, Files.getPosixFilePermissions(file, LinkOption.NOFOLLOW_LINKS));
            if (!Arrays.equals(Files.readAllBytes(file), text.getBytes(StandardCharsets.UTF_8))) {
                throw new IOException(file + " was changed meanwhile; try again");
            }
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    /** Writes a file that is not there yet. @throws UsageException it is */
    static void create(Path file, String text) throws IOException, UsageException {
        try {
            Files.writeString(file, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        } catch (FileAlreadyExistsException e) {
            throw new UsageException(file + " exists, and is not written over; name another file, or use --merge");
        }
    }
}
