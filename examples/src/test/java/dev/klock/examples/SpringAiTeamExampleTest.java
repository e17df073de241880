package dev.klock.examples;

import dev.klock.examples.Examples.Mask;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Example 04, by the command that its README names. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SpringAiTeamExampleTest {
    // what the rollback finds may look as if somebody else had been there, who had not
    private static final Mask KEPT = new Mask("klock: what (?:the session made|was there) of 6 files.* (\\S+/displaced)", "klock: what the session made of 6 files is kept in $1");

    @TempDir
    private Path elsewhere;

    @ParameterizedTest
    @MethodSource("dev.klock.examples.Examples#jdks")
    void example04_run_printsWhatItsReadmeShows(Path jdk) throws Exception {
        Examples.assertPrintsWhatItsReadmeShows(elsewhere, jdk, "04", "04-spring-ai-team", "Two agents of a Spring AI", KEPT);
    }
}
