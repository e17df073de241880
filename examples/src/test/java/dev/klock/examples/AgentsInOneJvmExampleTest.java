package dev.klock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.examples.Examples.Mask;
import dev.klock.examples.Examples.Result;
import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Example 02, by the command that its README names. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class AgentsInOneJvmExampleTest {
    private static final int OLDEST = 17;

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
    @MethodSource("jdks")
    void example02_run_printsWhatItsReadmeShows(Path jdk) throws Exception {
        Result run = Examples.run(elsewhere, jdk, "02");

        Path kept = Files.writeString(Examples.FOLDER.resolve("target/example-02-output-" + jdk.getFileName() + ".txt"), run.output());
        assertThat(Examples.masked(run.output(), CHANCE)).as("what examples/run 02 printed (kept in %s) against README.md", kept)
                .isEqualTo(Examples.masked(Examples.pasted(Examples.FOLDER.resolve("02-agents-in-one-jvm/README.md"), "Three agents review"), CHANCE));
        assertThat(run.exitCode()).isZero();
        try (Stream<Path> left = Files.list(elsewhere)) {
            assertThat(left).isEmpty();
        }
    }

    /** Those that the path list {@code KLOCK_TEST_JDKS} names or, without it, the JDK of this test and those beside it. */
    static List<Path> jdks() throws IOException {
        Path own = Path.of(System.getProperty("java.home")).toRealPath();
        Set<Path> homes = new TreeSet<>(List.of(own));
        String named = System.getenv("KLOCK_TEST_JDKS");
        if (named != null && !named.isBlank()) {
            for (String home : named.split(File.pathSeparator)) {
                homes.add(Path.of(home).toRealPath());
            }
        } else {
            try (DirectoryStream<Path> beside = Files.newDirectoryStream(own.getParent())) {
                for (Path home : beside) {
                    if (isJdk(home)) {
                        homes.add(home.toRealPath());
                    }
                }
            }
        }
        return List.copyOf(homes);
    }

    private static boolean isJdk(Path home) throws IOException {
        Path release = home.resolve("release");
        if (!Files.isExecutable(home.resolve("bin/jar")) || !Files.isRegularFile(release)) {
            return false;
        }
        Matcher version = Pattern.compile("^JAVA_VERSION=\"(\\d+)", Pattern.MULTILINE).matcher(Files.readString(release));
        return version.find() && Integer.parseInt(version.group(1)) >= OLDEST;
    }
}
