package dev.klock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs of {@code examples/run}, and what is pasted in the READMEs. */
final class Examples {
    static final Path FOLDER = Path.of("").toAbsolutePath();

    private static final int OLDEST_JDK = 17;

    /** What differs from run to run: the temporary folder, session ids, times and durations. */
    private static final List<Mask> MASKS = List.of(
            new Mask("(?:/[^/\\s:]+)*/klock-example-\\w{8}", "/tmp/klock-example"),
            new Mask("\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b", "<id>"),
            new Mask("\\bs[0-9a-f]{11}-[0-9a-f]{8}\\b", "<session>"),
            new Mask("\\b\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?Z?", "<time>"),
            new Mask("\\b\\d+(?:\\.\\d+)? ?(?:ms|s)\\b", "<duration>"));

    private Examples() {
    }

    /** Starts {@code examples/run} in {@code elsewhere}, which is its temporary folder, too, with the java of {@code home}. */
    static Result run(Path elsewhere, Path home, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(FOLDER.resolve("run").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(elsewhere.toFile()).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", home.toString());
        builder.environment().put("TMPDIR", elsewhere.toString());
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    /**
     * Runs example {@code number} with {@code home}'s java: it prints what the README in {@code folder} shows from {@code beginning} on but for what differs from
     * run to run, ends with 0, and leaves nothing in {@code elsewhere}.
     */
    static void assertPrintsWhatItsReadmeShows(Path elsewhere, Path home, String number, String folder, String beginning, Mask... chance)
            throws IOException, InterruptedException {
        Result run = run(elsewhere, home, number);

        Path kept = Files.writeString(FOLDER.resolve("target/example-" + number + "-output-" + home.getFileName() + ".txt"), run.output());
        assertThat(masked(run.output(), chance)).as("what examples/run %s printed (kept in %s) against README.md", number, kept)
                .isEqualTo(masked(pasted(FOLDER.resolve(folder).resolve("README.md"), beginning), chance));
        assertThat(run.exitCode()).isZero();
        try (Stream<Path> left = Files.list(elsewhere)) {
            assertThat(left).isEmpty();
        }
    }

    /** The text block of a README that begins so. */
    static String pasted(Path readme, String beginning) throws IOException {
        Matcher block = Pattern.compile("^```text\\n(" + Pattern.quote(beginning) + ".*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
                .matcher(Files.readString(readme));
        assertThat(block.find()).as("a text block with the output in %s", readme).isTrue();
        return block.group(1);
    }

    /** {@code output} with what differs from run to run replaced, and what {@code more} says. */
    static String masked(String output, Mask... more) {
        List<Mask> masks = new ArrayList<>(MASKS);
        masks.addAll(List.of(more));
        for (Mask mask : masks) {
            output = mask.pattern.matcher(output).replaceAll(mask.instead);
        }
        return output;
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
        return version.find() && Integer.parseInt(version.group(1)) >= OLDEST_JDK;
    }

    record Result(int exitCode, String output) {
    }

    record Mask(Pattern pattern, String instead) {
        Mask(String pattern, String instead) {
            this(Pattern.compile(pattern), instead);
        }
    }
}
