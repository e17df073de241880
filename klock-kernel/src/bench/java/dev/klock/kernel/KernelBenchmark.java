package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Commands of a few sessions on a kernel that is full of other sessions' leases. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 5, time = 2)
// the heap touched before: else a round pays a page fault for every four kilobytes it is the first to use, over a microsecond per KB
@Fork(value = 1, jvmArgsAppend = {"-Xms3g", "-Xmx3g", "-XX:+AlwaysPreTouch"})
public class KernelBenchmark {
    /** Requests that the benchmarks go round in: so many that what they touch of the index is not in the processor's inner caches. */
    private static final int REQUESTS = 1 << 14;

    private static final int VISITORS = 64;

    @Param({"1000", "100000", "1000000"})
    public int live;

    private LiveWorld world;
    private Kernel kernel;
    private final SessionKey[] visitors = new SessionKey[VISITORS];
    private final Command.Submit[] free = new Command.Submit[REQUESTS];
    private final Command.Submit[] half = new Command.Submit[REQUESTS];
    private final Command.Submit[] ten = new Command.Submit[REQUESTS / 16];
    private final Command.Submit[] hundred = new Command.Submit[REQUESTS / 128];
    private Command.DryRun crowd;
    private int at;

    @Setup(Level.Trial)
    public void fill() {
        world = new LiveWorld(live);
        kernel = world.kernel;
        for (int i = 0; i < VISITORS; i++) {
            // younger than everybody at home
            visitors[i] = SessionKey.of("visitor" + i, "run");
            world.register(visitors[i], 1_000_000 + i);
        }
        for (int i = 0; i < REQUESTS; i++) {
            free[i] = submit(i, List.of(world.free(i)));
            half[i] = submit(i, List.of(i % 2 == 0 ? world.free(i) : world.held(i / 2)));
        }
        for (int i = 0; i < ten.length; i++) {
            ten[i] = submit(i, manifest(10, i));
        }
        for (int i = 0; i < hundred.length; i++) {
            hundred[i] = submit(i, manifest(100, i));
        }
        for (int i = 0; i < 1000; i++) {
            SessionKey reader = SessionKey.of("reader" + i, "run");
            world.register(reader, 2_000_000);
            LiveWorld.must(
                    kernel.apply(
                            new Command.Submit(
                                    reader, List.of(Triple.of(Predicate.CONSUMES, Resource.file("/crowd/f" + i))), Limits.MAX_TTL_MS, 0, false),
                            0),
                    Verdict.GRANTED);
        }
        crowd = new Command.DryRun(
                visitors[0], List.of(Triple.of(Predicate.MUTATES, Resource.of("FILE", "/crowd", Resource.Form.SUBTREE))));
        for (Command.Submit s : free) {
            LiveWorld.must(kernel.apply(new Command.DryRun(s.session(), s.triples()), 0), Verdict.GRANTED);
        }
        for (int i = 0; i < REQUESTS; i++) {
            LiveWorld.must(
                    kernel.apply(new Command.DryRun(half[i].session(), half[i].triples()), 0), i % 2 == 0 ? Verdict.GRANTED : Verdict.DIE);
        }
    }

    private Command.Submit submit(int i, List<Triple> triples) {
        return new Command.Submit(visitors[i % VISITORS], triples, 0, 0, false);
    }

    /** As manifests are: a few directories, some files in each. */
    private List<Triple> manifest(int size, int n) {
        List<Triple> triples = new ArrayList<>();
        while (triples.size() < size) {
            String dir = LiveWorld.dir("src", world.randomHome());
            for (int i = 0; i < 5; i++) {
                triples.add(Triple.of(Predicate.MUTATES, Resource.file(dir + "/M" + n + "_" + i + "_" + triples.size() + ".java")));
            }
        }
        return triples;
    }

    @Benchmark
    public Outcome acquireRelease() {
        return acquireRelease(free[at++ & REQUESTS - 1]);
    }

    /** Every second request meets a lease of somebody older and dies; the others are granted and released. */
    @Benchmark
    public Outcome halfConflicting() {
        return acquireRelease(half[at++ & REQUESTS - 1]);
    }

    private Outcome acquireRelease(Command.Submit submit) {
        Outcome out = kernel.apply(submit, 0);
        return out.verdict() == Verdict.GRANTED
                ? kernel.apply(new Command.Release(submit.session(), new long[] {out.leases().get(0).fencingToken()}), 0)
                : out;
    }

    @Benchmark
    public Outcome manifest10() {
        return manifest(ten[at++ & ten.length - 1]);
    }

    @Benchmark
    public Outcome manifest100() {
        return manifest(hundred[at++ & hundred.length - 1]);
    }

    private Outcome manifest(Command.Submit submit) {
        LiveWorld.must(kernel.apply(submit, 0), Verdict.GRANTED);
        return kernel.apply(new Command.Release(submit.session(), null), 0);
    }

    /** One request, all of a thousand holders reported. */
    @Benchmark
    public Outcome conflict1000() {
        return kernel.apply(crowd, 0);
    }
}
