package dev.klock.sandbox.bench;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * The check alone, without the system call behind it, whose own time varies by more than the check takes: the static call that woven code
 * makes at an open for reading. In a JVM without klock an empty method stands in its place.
 *
 * <p>Needs {@code --add-exports java.base/sun.nio.fs=ALL-UNNAMED}, which no program has by itself.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Checks {
    /** {@code Op.OPEN_READ}, as woven code passes it. */
    private static final int OPEN_READ = 0;
    /** Checks in one sample: reading the clock takes as long as several. */
    private static final int TIMES = 1000;

    private static final MethodHandle NAME = find("name", String.class);
    private static final MethodHandle PATH = find("path", Path.class);

    private String name;
    private byte[] latin1;
    private Path path;
    private Path parent;

    private static MethodHandle find(String method, Class<?> argument) {
        MethodType type = MethodType.methodType(void.class, int.class, argument, int.class);
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        try {
            try {
                return lookup.findStatic(Class.forName("sun.nio.fs.KlockBridge", false, null), method, type);
            } catch (ClassNotFoundException e) {
                return lookup.findStatic(Checks.class, "nothing", type.changeParameterType(1, Object.class)).asType(type);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void nothing(int op, Object name, int argument) {
    }

    /** A declared file. */
    @Setup
    public void setUp() {
        parent = Path.of("in").toAbsolutePath();
        path = parent.resolve("kibibyte");
        name = path.toString();
        latin1 = name.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    /** The same String again and again. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void repeated() throws Throwable {
        for (int i = 0; i < TIMES; i++) {
            NAME.invokeExact(OPEN_READ, name, 0);
        }
    }

    /** A String nobody has seen, whose hash is not known; making it is in the time without klock too. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void freshString(Blackhole hole) throws Throwable {
        for (int i = 0; i < TIMES; i++) {
            String fresh = new String(latin1, java.nio.charset.StandardCharsets.ISO_8859_1);
            hole.consume(fresh);
            NAME.invokeExact(OPEN_READ, fresh, 0);
        }
    }

    /** The same Path object. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void repeatedPath() throws Throwable {
        for (int i = 0; i < TIMES; i++) {
            PATH.invokeExact(OPEN_READ, path, 0);
        }
    }

    /** A Path object nobody has seen. */
    @Benchmark
    @OperationsPerInvocation(TIMES)
    public void freshPath(Blackhole hole) throws Throwable {
        for (int i = 0; i < TIMES; i++) {
            Path fresh = parent.resolve("kibibyte");
            hole.consume(fresh);
            PATH.invokeExact(OPEN_READ, fresh, 0);
        }
    }
}
