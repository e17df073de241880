package dev.klock.examples;

import dev.klock.examples.Examples.Mask;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Example 02, by the command that its README names. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class AgentsInOneJvmExampleTest {
    /** How agents meet is a matter of the scheduler's. */
    private static final Mask[] CHANCE = {
        new Mask("edits are lost: \\d+ of", "edits are lost: <n> of"),
        new Mask("granted at once \\d+, WAIT \\d+, DIE \\d+; granted by retry \\d+", "granted at once <n>, WAIT <n>, DIE <n>; granted by retry <n>"),
        // what the rollback finds may look as if somebody else had been there, who had not
        new Mask("klock: what (?:the session made|was there) of 2 files.* (\\S+/displaced)", "klock: what the session made of 2 files is kept in $1"),
    };

    @TempDir
    private Path elsewhere;

    @ParameterizedTest
    @MethodSource("dev.klock.examples.Examples#jdks")
    void example02_run_printsWhatItsReadmeShows(Path jdk) throws Exception {
        Examples.assertPrintsWhatItsReadmeShows(elsewhere, jdk, "02", "02-agents-in-one-jvm", "Three agents review", CHANCE);
    }
}
