package dev.klock.sandbox.subject;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/**
 * Changes the tree that its first argument names, at random from the seed in the second; makes the file that the third names when it has
 * begun. For ever, or for as many steps as the fourth says; then it writes the file that the fifth names, which is out of its scope.
 */
public final class Churn {
    private Churn() {
    }

    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments[0]);
        Random random = new Random(Long.parseLong(arguments[1]));
        long steps = arguments.length > 3 ? Long.parseLong(arguments[3]) : Long.MAX_VALUE;
        for (long n = 0; n < steps; n++) {
            if (n == 5) {
                Files.createFile(Path.of(arguments[2]));
            }
            try {
                step(root, random, n);
            } catch (FileSystemException refused) {
                continue;
            }
        }
        Files.writeString(Path.of(arguments[4]), "astray");
    }

    private static Path pick(Path root, Random random) throws IOException {
        Path at = root;
        while (true) {
            List<Path> entries;
            try (Stream<Path> list = Files.list(at)) {
                entries = list.toList();
            }
            if (entries.isEmpty()) {
                return at;
            }
            Path next = entries.get(random.nextInt(entries.size()));
            if (!Files.isDirectory(next, LinkOption.NOFOLLOW_LINKS) || random.nextInt(4) == 0) {
                return next;
            }
            at = next;
        }
    }

    /** One with all below it; null if there is none. */
    private static Path directory(Path root, Random random) throws IOException {
        try (Stream<Path> list = Files.list(root)) {
            List<Path> directories = list.filter(path -> Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)).toList();
            return directories.isEmpty() ? null : directories.get(random.nextInt(directories.size()));
        }
    }

    private static void step(Path root, Random random, long n) throws IOException {
        Path p = pick(root, random);
        boolean file = Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS);
        Path fresh = (Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS) ? p : p.getParent()).resolve("n" + n);
        switch (random.nextInt(12)) {
            case 0, 1 -> Files.write(fresh, new byte[random.nextInt(5000)]);
            case 2 -> Files.createDirectory(fresh);
            case 3 -> {
                Path directory = random.nextBoolean() ? directory(root, random) : null;
                Files.move(directory == null ? p : directory, directory == null ? fresh : root.resolve("n" + n));
            }
            case 4 -> Files.createSymbolicLink(fresh, Path.of("somewhere"));
            case 5 -> Files.deleteIfExists(p);
            case 6 -> Files.setPosixFilePermissions(p, PosixFilePermissions.fromString(random.nextBoolean() ? "rwx------" : "rwxr-xr-x"));
            case 7 -> Files.setLastModifiedTime(p, FileTime.fromMillis(random.nextInt()));
            case 8 -> {
                if (file) {
                    Files.createLink(fresh, p);
                }
            }
            case 9 -> {
                if (file) {
                    try (RandomAccessFile f = new RandomAccessFile(p.toFile(), "rw")) {
                        f.setLength(random.nextInt(3000));
                        f.write(random.nextInt());
                    }
                }
            }
            case 10 -> {
                if (file) {
                    try (FileChannel c = FileChannel.open(p, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                        c.map(FileChannel.MapMode.READ_WRITE, 0, 100).put(random.nextInt(100), (byte) n);
                        c.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), random.nextInt(100));
                    }
                }
            }
            default -> {
                if (file) {
                    Files.write(p, ("changed " + n).getBytes(), StandardOpenOption.APPEND);
                }
            }
        }
    }
}
