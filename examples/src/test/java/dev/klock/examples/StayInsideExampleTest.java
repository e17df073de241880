package dev.klock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.examples.Examples.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Example 01, by the command that its README names. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class StayInsideExampleTest {
    private static final Path EXAMPLES = Examples.FOLDER;

    @TempDir
    private Path elsewhere;

    @Test
    void example01_run_printsWhatItsReadmeShows() throws Exception {
        Result run = example("01");

        Path kept = Files.writeString(EXAMPLES.resolve("target/example-01-output.txt"), run.output());
        assertThat(Examples.masked(run.output())).as("what examples/run 01 printed (kept in %s) against README.md", kept)
                .isEqualTo(Examples.masked(Examples.pasted(EXAMPLES.resolve("01-stay-inside/README.md"), "The agent's library:")));
        assertThat(run.exitCode()).isZero();
    }

    @Test
    void example01_onAnotherSourcesJar_comesOutAsExpected() throws Exception {
        Path sources = elsewhere.resolve("another library's-sources.jar");
        Files.copy(subject("gson-"), sources);

        Result run = example("01", sources.toString());

        assertThat(run.output()).contains("The agent's library: another library's-sources.jar")
                .contains("Example 01: everything came out as expected.");
        assertThat(run.exitCode()).as(run.output()).isZero();
    }

    @Test
    void example01_endedRun_leavesNoTemporaryFolder() throws Exception {
        Path notAJar = Files.writeString(elsewhere.resolve("not-a.jar"), "no zip file");

        Result run = example("01", notAJar.toString());

        assertThat(run.exitCode()).as(run.output()).isEqualTo(2);
        assertThat(run.output()).contains("cannot unpack " + notAJar);
        try (Stream<Path> left = Files.list(elsewhere)) {
            assertThat(left).containsExactly(notAJar);
        }
    }

    @Test
    void run_unknownNumber_endsWith2AndListsTheExamples() throws Exception {
        Result run = example("99");

        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.output()).contains("01 Stay inside").contains("there is no example 99");
    }

    private Result example(String... arguments) throws IOException, InterruptedException {
        return Examples.run(elsewhere, Path.of(System.getProperty("java.home")), arguments);
    }

    private static Path subject(String prefix) throws IOException {
        try (Stream<Path> subjects = Files.list(EXAMPLES.resolve("target/subjects"))) {
            return subjects.filter(jar -> jar.getFileName().toString().startsWith(prefix)).findAny().orElseThrow();
        }
    }
}
