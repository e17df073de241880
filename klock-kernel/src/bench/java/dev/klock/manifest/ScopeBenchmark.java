package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Accesses judged by a compiled scope of many lines. */
@State(org.openjdk.jmh.annotations.Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ScopeBenchmark {
    private static final int FILES = 20;

    @Param({"10", "1000", "100000"})
    public int rules;

    private Scope scope;
    /** Paths that are far from each other in memory: each is cold again when its turn comes. */
    private final String[] cold = new String[1 << 16];

    /** A path that is a new string each time, for rules that are in the cache. */
    private final char[] fresh = "/tree/p0/src/m0/File0.java".toCharArray();

    private int at;

    @Setup
    public void build() {
        Scope.Builder builder = Scope.builder();
        for (int i = 0; i < rules; i++) {
            builder.allow(Predicate.MUTATES, Resource.file(path(i)), i);
        }
        scope = builder.build();
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < cold.length; i++) {
            cold[i] = path(random.nextInt(rules));
        }
        for (String path : cold) {
            if (!Scope.isAllowed(scope.decide(Predicate.MUTATES, "FILE", path, false))) {
                throw new AssertionError(path);
            }
        }
    }

    private static String path(int i) {
        int dir = i / FILES;
        return "/tree/p" + dir % 100 + "/src/m" + dir + "/File" + i + ".java";
    }

    @Benchmark
    public int decideCold() {
        return scope.decide(Predicate.MUTATES, "FILE", cold[at++ & cold.length - 1], false);
    }

    @Benchmark
    public int decideFreshString() {
        return scope.decide(Predicate.MUTATES, "FILE", new String(fresh), false);
    }
}
