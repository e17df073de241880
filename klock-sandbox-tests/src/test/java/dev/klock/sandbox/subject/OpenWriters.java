package dev.klock.sandbox.subject;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/**
 * Opens a file in every way there is, writes once, strays (the second argument is a file outside the scope), swallows the error, and
 * keeps writing through what it opened before. Prints how each later write went.
 */
public final class OpenWriters {
    private static final byte[] LATE = "too late\n".getBytes(StandardCharsets.UTF_8);

    /** One write through something that is open. */
    private interface Write {
        void again() throws Exception;
    }

    /** Opens the file; what it returns writes to it, the first time at once. */
    private interface Opening {
        Write open(Path file) throws Exception;
    }

    private record Writer(String name, Opening opening) {
    }

    private static final List<Writer> WRITERS = new ArrayList<>();

    private OpenWriters() {
    }

    private static void writer(String name, Opening opening) {
        WRITERS.add(new Writer(name, opening));
    }

    private interface OnChannel {
        void write(FileChannel channel, Path file) throws IOException;
    }

    private static void channel(String name, OnChannel write) {
        writer(name, file -> {
            FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
            return () -> write.write(channel, file);
        });
    }

    private static RandomAccessFile random(Path file) throws IOException {
        return new RandomAccessFile(file.toFile(), "rw");
    }

    private static ByteBuffer late() {
        return ByteBuffer.wrap(LATE);
    }

    static {
        writer("FileOutputStream.write-byte", file -> {
            FileOutputStream out = new FileOutputStream(file.toFile(), true);
            return () -> out.write('x');
        });
        writer("FileOutputStream.write", file -> {
            FileOutputStream out = new FileOutputStream(file.toFile(), true);
            return () -> out.write(LATE);
        });
        writer("FileOutputStream.write-range", file -> {
            FileOutputStream out = new FileOutputStream(file.toFile(), true);
            return () -> out.write(LATE, 1, 3);
        });
        writer("FileOutputStream-of-a-descriptor", file -> {
            RandomAccessFile random = random(file);
            FileOutputStream out = new FileOutputStream(random.getFD());
            return () -> out.write(LATE);
        });
        writer("RandomAccessFile.write-byte", file -> {
            RandomAccessFile random = random(file);
            return () -> random.write('x');
        });
        writer("RandomAccessFile.write", file -> {
            RandomAccessFile random = random(file);
            return () -> random.write(LATE);
        });
        writer("RandomAccessFile.write-range", file -> {
            RandomAccessFile random = random(file);
            return () -> random.write(LATE, 1, 3);
        });
        writer("RandomAccessFile.writeBytes", file -> {
            RandomAccessFile random = random(file);
            return () -> random.writeBytes("late");
        });
        writer("RandomAccessFile.writeChars", file -> {
            RandomAccessFile random = random(file);
            return () -> random.writeChars("late");
        });
        writer("RandomAccessFile.setLength", file -> {
            RandomAccessFile random = random(file);
            return () -> random.setLength(1);
        });
        channel("FileChannel.write", (channel, file) -> channel.write(late()));
        channel("FileChannel.write-at", (channel, file) -> channel.write(late(), 3));
        channel("FileChannel.write-several", (channel, file) -> channel.write(new ByteBuffer[] {late(), late()}));
        channel("FileChannel.truncate", (channel, file) -> {
            channel.truncate(Math.max(0, channel.size() - 1));
        });
        channel("FileChannel.map", (channel, file) -> {
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_WRITE, 0, 4);
            map.put(0, (byte) 'X');
        });
        writer("FileChannel.transferTo", file -> {
            FileChannel from = FileChannel.open(file);
            FileChannel to = FileChannel.open(file, StandardOpenOption.WRITE);
            return () -> {
                to.position(2);
                from.transferTo(0, 5, to);
            };
        });
        writer("FileChannel.transferFrom", file -> {
            FileChannel from = FileChannel.open(file);
            FileChannel to = FileChannel.open(file, StandardOpenOption.WRITE);
            return () -> to.transferFrom(from.position(0), 2, 5);
        });
        writer("AsynchronousFileChannel.write", file -> {
            AsynchronousFileChannel channel = AsynchronousFileChannel.open(file, StandardOpenOption.WRITE);
            return () -> {
                try {
                    channel.write(late(), 0).get();
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof Error error) {
                        throw error;
                    }
                    throw e;
                }
            };
        });
    }

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        Path outside = Path.of(arguments[1]);
        // makes the rollback take a while, so that late writes meet it
        for (int i = Integer.parseInt(arguments[2]); i > 0; i--) {
            Files.writeString(directory.resolve("many").resolve("file" + i), "changed\n");
        }
        CountDownLatch opened = new CountDownLatch(writers(Runtime.version().feature()).size());
        CountDownLatch strayed = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        for (Writer writer : writers(Runtime.version().feature())) {
            Thread thread = new Thread(() -> keepWriting(writer, directory.resolve(writer.name), opened, strayed), writer.name);
            thread.start();
            threads.add(thread);
        }
        opened.await();
        System.out.println("all opened");
        try {
            Files.writeString(outside, "stray\n");
            System.out.println("strayed");
        } catch (Throwable swallowed) {
            System.out.println("stopped by " + swallowed.getClass().getName());
        }
        strayed.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        Thread.sleep(20_000);
    }

    /** The names of the writers on a JDK of release {@code feature}, for the fixture. */
    public static List<String> names(int feature) {
        return writers(feature).stream().map(Writer::name).toList();
    }

    /** On 17 {@code setLength} is a public native: no Java method of the JDK stands before it. */
    private static List<Writer> writers(int feature) {
        return WRITERS.stream().filter(writer -> feature > 17 || !writer.name.endsWith("setLength")).toList();
    }

    private static void keepWriting(Writer writer, Path file, CountDownLatch opened, CountDownLatch strayed) {
        Write write;
        try {
            write = writer.opening.open(file);
            write.again();
        } catch (Throwable early) {
            System.out.println(writer.name + " failed before: " + early);
            return;
        } finally {
            opened.countDown();
        }
        boolean told = false;
        try {
            strayed.await();
        } catch (InterruptedException e) {
            return;
        }
        while (true) {
            try {
                write.again();
                System.out.println(writer.name + " wrote");
                return;
            } catch (Throwable late) {
                if (!told) {
                    System.out.println(writer.name + " stopped by " + late.getClass().getName());
                    told = true;
                }
            }
        }
    }
}
