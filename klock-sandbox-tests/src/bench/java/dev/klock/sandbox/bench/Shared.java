package dev.klock.sandbox.bench;

import dev.klock.embedded.Acquisition;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import dev.klock.shared.SharedKernel;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

/** One lease of the kernel that several JVMs share, asked for, granted, and given back. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Shared {
    private static final int PATIENCE_MS = 60_000;

    /**
     * What another JVM does meanwhile: there is none; it only has a session; it does the same with another resource, again and again; it does the
     * same with this resource, and comes back a millisecond after it was sent away.
     */
    @Param({"none", "idle", "other", "same"})
    public String beside;

    private EmbeddedKernel kernel;
    private EmbeddedSession session;
    private List<Triple> wanted;
    private Process other;

    private static EmbeddedKernel kernel(Path home) throws IOException {
        return SharedKernel.open(home.toFile(), SharedKernel.OPTIONS, "bench", null, null);
    }

    private static List<Triple> mutates(String file) {
        return List.of(Triple.of(Predicate.MUTATES, Resource.file(file)));
    }

    /** A home below the working directory, and the other JVM at work. */
    @Setup
    public void setUp() throws Exception {
        Path home = Files.createTempDirectory(Path.of("").toAbsolutePath(), "home");
        kernel = kernel(home);
        // the older of the two: it waits where the other one dies
        session = kernel.open(SessionKey.of("measured", "s"), 1, null, null);
        wanted = mutates("/w/measured");
        if (!beside.equals("none")) {
            other = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin/java").toString(), "-cp", System.getProperty("java.class.path"),
                    Shared.class.getName(), home.toString(), beside).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            if (other.getInputStream().read() < 0) {
                throw new IllegalStateException("the other JVM has ended");
            }
        }
    }

    /** Ends the other JVM. */
    @TearDown
    public void tearDown() throws InterruptedException {
        if (other != null) {
            other.destroyForcibly();
            other.waitFor();
        }
        session.close();
        kernel.close();
    }

    /** Asks, waits if it has to, and gives back. */
    @Benchmark
    public void acquireAndRelease() throws InterruptedException {
        Acquisition got = session.acquire(wanted, PATIENCE_MS, 0, false);
        if (!got.isGranted()) {
            throw new IllegalStateException(got.verdict().toString());
        }
        session.release(got.leases());
    }

    /** The other JVM: {@code HOME BESIDE}; a letter says that it has begun. */
    public static void main(String[] arguments) throws Exception {
        EmbeddedKernel kernel = kernel(new File(arguments[0]).toPath());
        EmbeddedSession session = kernel.open(SessionKey.of("other", "s"), 2, null, null);
        List<Triple> wanted = mutates(arguments[1].equals("same") ? "/w/measured" : "/w/other");
        System.out.print("b");
        System.out.flush();
        while (!arguments[1].equals("idle")) {
            Acquisition got = session.acquire(wanted, 0, 0, false);
            if (got.isGranted()) {
                session.release(got.leases());
            } else {
                Thread.sleep(1);
            }
        }
        Thread.sleep(Long.MAX_VALUE);
    }
}
