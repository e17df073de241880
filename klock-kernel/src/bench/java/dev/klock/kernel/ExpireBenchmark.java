package dev.klock.kernel;

import dev.klock.resource.Resource;
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

/** A hundred thousand leases that run out at once. */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 6)
@Measurement(iterations = 6)
// the heap touched before: else a round pays a page fault for every four kilobytes it is the first to use, over a microsecond per KB
@Fork(value = 1, jvmArgsAppend = {"-Xms3g", "-Xmx3g", "-XX:+AlwaysPreTouch"})
public class ExpireBenchmark {
    static final int LEASES = 100_000;
    private static final int SESSIONS = 1000;

    @Param({"1000", "100000", "1000000"})
    public int live;

    private LiveWorld world;
    private int round;

    @Setup(Level.Trial)
    public void fill() {
        world = new LiveWorld(live);
    }

    @Setup(Level.Invocation)
    public void brief() {
        round++;
        SessionKey[] keys = new SessionKey[SESSIONS];
        for (int i = 0; i < SESSIONS; i++) {
            keys[i] = SessionKey.of("brief" + i, "round" + round);
            world.register(keys[i], 1_000_000);
        }
        for (int i = 0; i < LEASES; i++) {
            String path = LiveWorld.dir("src", world.randomHome()) + "/E" + i + ".java";
            LiveWorld.must(
                    world.kernel.apply(
                            new Command.Submit(
                                    keys[i % SESSIONS],
                                    List.of(Triple.of(Predicate.MUTATES, Resource.file(path))),
                                    1000 - i % 500,
                                    0,
                                    false),
                            world.kernel.nowMs()),
                    Verdict.GRANTED);
        }
    }

    @Benchmark
    public Outcome expire() {
        Outcome out = world.kernel.apply(new Command.Expire(), world.kernel.nowMs() + 1000);
        if (world.kernel.leaseCount() != world.homes * LiveWorld.LEASES_PER_SESSION) {
            throw new AssertionError(world.kernel.leaseCount() + " leases left");
        }
        return out;
    }
}
