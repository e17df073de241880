package dev.klock.sandbox.subject;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Ruins the directory that its first argument names in the way that the second says ({@code delete}, {@code change}, {@code move}), then
 * leaves its scope by writing the file that the third names.
 */
public final class Ruin {
    private Ruin() {
    }

    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments[0]);
        switch (arguments[1]) {
            case "delete" -> delete(root);
            case "change" -> change(root);
            case "move" -> {
                Files.move(root, root.resolveSibling("moved"));
                change(root.resolveSibling("moved"));
            }
            default -> throw new IllegalArgumentException(arguments[1]);
        }
        System.out.println("ruined");
        Files.writeString(Path.of(arguments[2]), "stray");
    }

    private static void delete(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failed) throws IOException {
                Files.delete(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    private static void change(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile()) {
                    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
                    Files.write(file, "ruined\n".getBytes(StandardCharsets.UTF_8));
                    Files.setLastModifiedTime(file, FileTime.fromMillis(0));
                } else if (attributes.isSymbolicLink()) {
                    Files.delete(file);
                    Files.createSymbolicLink(file, Path.of("elsewhere"));
                } else {
                    Files.delete(file);
                    Files.writeString(file, "now a file");
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failed) throws IOException {
                if (!Files.isSymbolicLink(directory) && Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
                }
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
