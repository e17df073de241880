package dev.klock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Example 01, by the command that its README names. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class StayInsideExampleTest {
    private static final Path EXAMPLES = Path.of("").toAbsolutePath();
    private static final Pattern PASTED = Pattern.compile("^```text\\n(The agent's library:.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

    /** What differs from run to run: the temporary folder, session ids, times and durations. */
    private static final List<Mask> MASKS = List.of(
            new Mask("(?:/[^/\\s:]+)*/klock-example-\\w{8}", "/tmp/klock-example"),
            new Mask("\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b", "<id>"),
            new Mask("\\bs[0-9a-f]{11}-[0-9a-f]{8}\\b", "<session>"),
            new Mask("\\b\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?Z?", "<time>"),
            new Mask("\\b\\d+(?:\\.\\d+)? ?(?:ms|s)\\b", "<duration>"));

    @TempDir
    private Path elsewhere;

    @Test
    void example01_run_printsWhatItsReadmeShows() throws Exception {
        Result run = example("01");

        Path kept = Files.writeString(EXAMPLES.resolve("target/example-01-output.txt"), run.output);
        assertThat(masked(run.output)).as("what examples/run 01 printed (kept in %s) against README.md", kept)
                .isEqualTo(masked(pastedIn(EXAMPLES.resolve("01-stay-inside/README.md"))));
        assertThat(run.exitCode).isZero();
    }

    @Test
    void example01_onAnotherSourcesJar_comesOutAsExpected() throws Exception {
        Path sources = elsewhere.resolve("another library's-sources.jar");
        Files.copy(subject("gson-"), sources);

        Result run = example("01", sources.toString());

        assertThat(run.output).contains("The agent's library: another library's-sources.jar")
                .contains("Example 01: everything came out as expected.");
        assertThat(run.exitCode).as(run.output).isZero();
    }

    @Test
    void example01_endedRun_leavesNoTemporaryFolder() throws Exception {
        Path notAJar = Files.writeString(elsewhere.resolve("not-a.jar"), "no zip file");

        Result run = example("01", notAJar.toString());

        assertThat(run.exitCode).as(run.output).isEqualTo(2);
        assertThat(run.output).contains("cannot unpack " + notAJar);
        try (Stream<Path> left = Files.list(elsewhere)) {
            assertThat(left).containsExactly(notAJar);
        }
    }

    @Test
    void run_unknownNumber_endsWith2AndListsTheExamples() throws Exception {
        Result run = example("99");

        assertThat(run.exitCode).isEqualTo(2);
        assertThat(run.output).contains("01 Stay inside").contains("there is no example 99");
    }

    /** Starts {@code examples/run} elsewhere than in the repository, with the java of this test and a temporary folder of its own. */
    private Result example(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(EXAMPLES.resolve("run").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(elsewhere.toFile()).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("TMPDIR", elsewhere.toString());
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    private static Path subject(String prefix) throws IOException {
        try (Stream<Path> subjects = Files.list(EXAMPLES.resolve("target/subjects"))) {
            return subjects.filter(jar -> jar.getFileName().toString().startsWith(prefix)).findAny().orElseThrow();
        }
    }

    private static String pastedIn(Path readme) throws IOException {
        Matcher block = PASTED.matcher(Files.readString(readme));
        assertThat(block.find()).as("a text block with the output in %s", readme).isTrue();
        return block.group(1);
    }

    private static String masked(String output) {
        for (Mask mask : MASKS) {
            output = mask.pattern.matcher(output).replaceAll(mask.instead);
        }
        return output;
    }

    private record Result(int exitCode, String output) {
    }

    private record Mask(Pattern pattern, String instead) {
        Mask(String pattern, String instead) {
            this(Pattern.compile(pattern), instead);
        }
    }
}
