package dev.klock.kernel;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** One look at the matrix, for pairs in no order. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class MatrixBenchmark {
    private final Predicate[] predicates = new Predicate[1024];
    private int at;

    @Setup
    public void choose() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < predicates.length; i++) {
            predicates[i] = Predicate.values()[random.nextInt(6)];
        }
    }

    @Benchmark
    public boolean matrix() {
        int i = at++;
        return ConflictMatrix.conflicts(predicates[i & 1023], predicates[i * 7 & 1023]);
    }
}
