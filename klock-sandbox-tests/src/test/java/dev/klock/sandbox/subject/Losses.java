package dev.klock.sandbox.subject;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;

/** Changes what lies in {@code w/out} in the way that its argument names, and then goes astray. */
public final class Losses {
    private static final Path OUT = Path.of("w/out");

    private Losses() {
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "H01" -> Files.writeString(OUT.resolve("a"), "changed");
            case "H02" -> {
                Files.writeString(OUT.resolve("new"), "new");
                Files.createDirectories(OUT.resolve("d/e"));
                Files.writeString(OUT.resolve("d/e/f"), "new");
            }
            case "H03" -> {
                Files.writeString(OUT.resolve("a"), "changed by " + ProcessHandle.current().pid());
                Thread.sleep(Long.parseLong(arguments[1]));
            }
            case "H06" -> {
                for (int i = 0; i < 75; i++) {
                    Path file = OUT.resolve("many/f" + i * 37 % 50);
                    Files.writeString(file, "edit " + i, i % 3 == 0 ? StandardOpenOption.APPEND : StandardOpenOption.TRUNCATE_EXISTING);
                }
            }
            case "H12" -> {
                Files.writeString(OUT.resolve("many/f7"), "changed");
                Files.writeString(OUT.resolve("many/f40"), "changed");
            }
            case "H15" -> {
                try (RandomAccessFile file = new RandomAccessFile(OUT.resolve("a").toFile(), "rw")) {
                    for (int i = 0; i < 100; i++) {
                        file.seek(i % 5);
                        file.write('#');
                    }
                }
            }
            case "H16" -> {
                Files.writeString(OUT.resolve("a"), "changed");
                Files.writeString(OUT.resolve(".git/config"), "changed, too");
            }
            case "H17" -> liveMapping();
            case "H18" -> {
                Files.move(OUT.resolve("a"), OUT.resolve("one"));
                Files.writeString(OUT.resolve("a"), "another");
                Files.move(OUT.resolve("one"), OUT.resolve("two"));
                Files.delete(OUT.resolve("two"));
            }
            case "H18-open" -> {
                try (OutputStream open = Files.newOutputStream(OUT.resolve("c/d"))) {
                    open.write('#');
                    Files.delete(OUT.resolve("c/d"));
                    Files.move(OUT.resolve("c"), OUT.resolve("e"));
                    Files.move(OUT.resolve("e"), OUT.resolve("c"));
                    open.write('#');
                }
            }
            case "H19" -> Files.walkFileTree(OUT.resolve("many"), new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                    Files.delete(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
            case "H23" -> Files.writeString(OUT.resolve("new"), "new");
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        Files.writeString(Path.of("w/x"), "astray");
    }

    /** Goes on writing by every way that was open while the session is put back. */
    private static void liveMapping() throws IOException {
        FileOutputStream stream = new FileOutputStream(OUT.resolve("b").toFile());
        stream.write("by stream".getBytes());
        MappedByteBuffer mapping;
        try (FileChannel channel = FileChannel.open(OUT.resolve("a"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            mapping = channel.map(FileChannel.MapMode.READ_WRITE, 0, 5);
        }
        mapping.put(0, (byte) '#');
        new Thread(() -> {
            try {
                Files.writeString(Path.of("w/x"), "astray");
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }).start();
        while (true) {
            mapping.put(1, (byte) '#');
            try {
                stream.write('#');
            } catch (Throwable stopped) {
                mapping.put(2, (byte) '#');
            }
        }
    }
}
