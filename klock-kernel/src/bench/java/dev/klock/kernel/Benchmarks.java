package dev.klock.kernel;

import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.util.Statistics;

/**
 * Runs the benchmarks and prints them as a table: processor time per operation, the median of the rounds and in brackets the best of them,
 * and bytes allocated. Takes JMH's own arguments, such as {@code acquireRelease -p live=1000}.
 */
public final class Benchmarks {
    private Benchmarks() {}

    /** @param args JMH's */
    public static void main(String[] args) throws Exception {
        Collection<RunResult> results = new Runner(new OptionsBuilder()
                        .parent(new CommandLineOptions(args))
                        .addProfiler(GCProfiler.class)
                        .addProfiler(CpuProfiler.class)
                        .shouldFailOnError(true)
                        .build())
                .run();
        Map<String, Map<String, String>> rows = new TreeMap<>();
        for (RunResult r : results) {
            String name = r.getParams().getBenchmark();
            name = name.substring(name.lastIndexOf('.') + 1);
            String live = r.getParams().getParam("live");
            String rules = r.getParams().getParam("rules");
            if (rules != null) {
                name += ", " + rules + " rules";
            }
            // a single shot is set up on the same thread, so only its clock time is its own
            boolean isShot = name.equals("expire");
            Statistics rounds = (isShot ? r.getPrimaryResult() : r.getSecondaryResults().get(CpuProfiler.CPU)).getStatistics();
            int ops = isShot ? ExpireBenchmark.LEASES : 1;
            Result<?> bytes = r.getSecondaryResults().get("gc.alloc.rate.norm");
            if (isShot) {
                // for one of them
                name = "expire, each of 100 000";
            }
            String cell = time(rounds.getPercentile(50) / ops) + " (" + time(rounds.getMin() / ops) + ")";
            if (bytes != null && !name.startsWith("expire")) {
                cell += String.format(Locale.ROOT, ", %.0f B", bytes.getScore());
            }
            rows.computeIfAbsent(name, n -> new TreeMap<>()).put(live == null ? "-" : live, cell);
        }
        System.out.println("median (best) of the rounds, bytes");
        System.out.println("| what | 1 000 live leases | 100 000 | 1 000 000 |");
        System.out.println("|---|---|---|---|");
        rows.forEach((name, cells) -> {
            String any = cells.get("-");
            System.out.println("| " + name + " | " + cells.getOrDefault("1000", any == null ? "" : any)
                    + " | " + cells.getOrDefault("100000", "") + " | " + cells.getOrDefault("1000000", "") + " |");
        });
    }

    private static String time(double ns) {
        return String.format(Locale.ROOT, ns < 100 ? "%.1f ns" : ns < 10_000 ? "%.0f ns" : "%2$.1f µs", ns, ns / 1000);
    }
}
