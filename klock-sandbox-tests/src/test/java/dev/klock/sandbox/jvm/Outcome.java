package dev.klock.sandbox.jvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * How a {@link Child} ended.
 *
 * @param exit its exit code
 * @param out all of its stdout
 * @param err all of its stderr
 * @param took from start to end
 * @param directory where it ran
 * @param command how it was started
 */
public record Outcome(int exit, String out, String err, Duration took, Path directory, String command) {
    /** The lines that klock wrote to stderr. */
    public List<String> klockLines() {
        return err.lines().filter(line -> line.startsWith("klock: ")).toList();
    }

    /** What it logged, all sessions of its home. */
    public VerificationLog log() {
        return VerificationLog.of(directory.resolve(".klock"));
    }

    @Override
    public String toString() {
        return "exit " + exit + " after " + took.toMillis() + " ms\n$ " + command + "\n--- stdout\n" + shortened(out) + "\n--- stderr\n" + shortened(err);
    }

    private static String shortened(String text) {
        int most = 6000;
        return text.length() <= most ? text : text.substring(0, most / 2) + "\n[…]\n" + text.substring(text.length() - most / 2);
    }
}
