package dev.klock.examples;

import dev.klock.examples.Examples.Mask;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Example 03, by the command that its README names. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class FourJvmsExampleTest {
    /** How JVMs meet is a matter of the scheduler's. */
    private static final Mask[] CHANCE = {
        new Mask("edits are lost: \\d+ of", "edits are lost: <n> of"),
        new Mask("WAIT \\d+, DIE and started again \\d+", "WAIT <n>, DIE and started again <n>"),
        new Mask("of \\w+/<session> \\(process \\d+\\)", "of <agent>/<session> (process <n>)"),
    };

    @TempDir
    private Path elsewhere;

    @ParameterizedTest
    @MethodSource("dev.klock.examples.Examples#jdks")
    void example03_run_printsWhatItsReadmeShows(Path jdk) throws Exception {
        Examples.assertPrintsWhatItsReadmeShows(elsewhere, jdk, "03", "03-four-jvms", "Four agents, each in a JVM", CHANCE);
    }
}
