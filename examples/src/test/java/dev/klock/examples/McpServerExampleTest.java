package dev.klock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.examples.Examples.Mask;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Example 05, by the command that its README names. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class McpServerExampleTest {
    private static final String FOLDER = "05-mcp-server";
    private static final String BEGINNING = "A folder with a program";
    private static final Mask[] CHANCE = {
        // the server ends while the client waits for its answer: it may be out by then or not
        new Mask("(  delete_file path=inbox/old.md\\n)    error: .*", "$1    error: <what it was told>"),
        // what the rollback finds may look as if somebody else had been there, who had not
        new Mask("klock: what (?:the session made|was there) of 2 files.* (\\S+/displaced)", "klock: what the session made of 2 files is kept in $1"),
    };

    @TempDir
    private Path elsewhere;

    @ParameterizedTest
    @MethodSource("dev.klock.examples.Examples#jdks")
    void example05_run_printsWhatItsReadmeShows(Path jdk) throws Exception {
        Examples.assertPrintsWhatItsReadmeShows(elsewhere, jdk, "05", FOLDER, BEGINNING, CHANCE);
    }

    @Test
    void example05_steps_areTheCommandsOfItsReadme() throws IOException {
        Path readme = Examples.FOLDER.resolve(FOLDER).resolve("README.md");
        assertThat(found("(?m)^\\| \\d+ [^|]*\\| `([^`]*)` \\|", Files.readString(readme))).hasSize(10)
                .isEqualTo(found("(?m)^\\$ (.*)$", Examples.pasted(readme, BEGINNING)));
    }

    private static List<String> found(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(match -> match.group(1)).toList();
    }
}
