package dev.klock.sandbox.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * One process's CPU time, all threads, user and system, and its wall time, as the system counts them; the shell's {@code time} tells them
 * to the millisecond.
 */
record Timed(double cpuMs, double wallMs) {
    /** Runs {@code command} in {@code directory}, output thrown away; fails if it does not end with 0. */
    static Timed run(Path directory, Map<String, String> environment, List<String> command) throws IOException, InterruptedException {
        List<String> shell = new ArrayList<>(List.of("bash", "-c", "TIMEFORMAT='%U %S %R'; time \"$@\" > /dev/null 2> errors", "bash"));
        shell.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(shell).directory(directory.toFile()).redirectErrorStream(true);
        builder.environment().putAll(environment);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).trim();
        if (process.waitFor() != 0) {
            throw new IllegalStateException("ended with " + process.exitValue() + ": " + String.join(" ", command) + "\n"
                    + Files.readString(directory.resolve("errors")));
        }
        String[] seconds = said.split(" ");
        return new Timed((Double.parseDouble(seconds[0]) + Double.parseDouble(seconds[1])) * 1000, Double.parseDouble(seconds[2]) * 1000);
    }

    /** The medians of both. */
    static Timed median(List<Timed> runs) {
        return new Timed(median(runs.stream().mapToDouble(Timed::cpuMs).toArray()), median(runs.stream().mapToDouble(Timed::wallMs).toArray()));
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
