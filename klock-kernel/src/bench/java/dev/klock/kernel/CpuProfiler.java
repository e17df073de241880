package dev.klock.kernel;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/** The benchmark thread's processor time per operation: what others do on the machine meanwhile does not count as time here. */
public final class CpuProfiler implements InternalProfiler {
    static final String CPU = "cpu";

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long before;

    @Override
    public String getDescription() {
        return "processor time of the benchmark thread";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        before = workers();
    }

    @Override
    public Collection<? extends Result> afterIteration(BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        double ns = (double) (workers() - before) / result.getMetadata().getAllOps();
        return List.of(new ScalarResult(CPU, ns, "ns/op", AggregationPolicy.AVG));
    }

    private long workers() {
        long nanos = 0;
        for (long id : threads.getAllThreadIds()) {
            if (threads.getThreadInfo(id) != null && threads.getThreadInfo(id).getThreadName().contains("jmh-worker")) {
                nanos += Math.max(0, threads.getThreadCpuTime(id));
            }
        }
        return nanos;
    }
}
