package dev.klock.sandbox.bench;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Whole accesses of the JDK to declared files, as a program makes them; run in a JVM with klock and in one without. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Accesses {
    private static final int FRAMES_OF_JMH = 15;

    /** Frames of the program between {@code main} and the access: as in a small tool and as in a server. */
    @Param({"5", "150"})
    public int depth;

    private final byte[] content = new byte[1024];
    private final byte[] buffer = new byte[1024];
    private String name;
    private File file;
    private Path path;
    private Path written;
    private File directory;
    private FileOutputStream open;

    /** Makes the files; the working directory is the launcher's. */
    @Setup
    public void setUp() throws IOException {
        Path work = Path.of("in").toAbsolutePath();
        Files.createDirectories(work.resolve("hundred"));
        for (int i = 0; i < 100; i++) {
            Files.write(work.resolve("hundred/entry" + i), new byte[0]);
        }
        path = work.resolve("kibibyte");
        Files.write(path, content);
        file = path.toFile();
        name = path.toString();
        written = work.resolve("written");
        directory = work.resolve("hundred").toFile();
        open = new FileOutputStream(work.resolve("open").toFile());
    }

    /** Closes the stream. */
    @TearDown
    public void tearDown() throws IOException {
        open.close();
    }

    private interface Access {
        Object run() throws IOException;
    }

    private static Object at(int frames, Access access) throws IOException {
        return frames <= 0 ? access.run() : at(frames - 1, access);
    }

    private Object run(Access access) throws IOException {
        return depth > FRAMES_OF_JMH ? at(depth - FRAMES_OF_JMH, access) : access.run();
    }

    /** {@code Files.exists}. */
    @Benchmark
    public Object exists() throws IOException {
        return run(() -> Files.exists(path));
    }

    /** {@code File.exists}. */
    @Benchmark
    public Object fileExists() throws IOException {
        return run(() -> file.exists());
    }

    /** {@code Files.readAllBytes} of 1 KiB. */
    @Benchmark
    public Object readAllBytes() throws IOException {
        return run(() -> Files.readAllBytes(path));
    }

    /** Open, read 1 KiB and close by {@code FileInputStream}. */
    @Benchmark
    public Object openReadClose() throws IOException {
        return run(() -> {
            try (FileInputStream in = new FileInputStream(name)) {
                return in.read(buffer);
            }
        });
    }

    /** {@code Files.write} of 1 KiB to a file that is there. */
    @Benchmark
    public Object write() throws IOException {
        return run(() -> Files.write(written, content));
    }

    /** {@code File.list} of a directory with 100 entries. */
    @Benchmark
    public Object list() throws IOException {
        return run(() -> directory.list());
    }

    /** One byte through a stream that is open, back at its beginning every time so that the file does not grow. */
    @Benchmark
    public Object writeByte() throws IOException {
        return run(() -> {
            open.write(1);
            open.getChannel().position(0);
            return open;
        });
    }
}
