package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.Ruin;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A tree of everything that backups lose (setuid, mode 0000, owners, attributes, ACLs, capabilities, times, hard links, holes, special
 * files, names of any bytes) comes back as it was, as a Python program sees it that shares no code with klock.
 */
@Tag("K6-5")
@Tag("K6-8")
class SpecimenTest {
    /** Links' and special files' times are set to the microsecond before. */
    private static final int NANOSECOND_ALL = 22;

    @TempDir
    Path directory;

    static Stream<Arguments> ruins() {
        return Jdks.each().flatMap(jdk -> Stream.of("delete", "change", "move").map(how -> Arguments.of(jdk, how)));
    }

    /** The comparer, copied to {@code directory}. */
    static Path script(Path directory) throws IOException {
        Path script = directory.resolve("specimen.py");
        try (InputStream in = SpecimenTest.class.getResourceAsStream("specimen.py")) {
            Files.copy(in, script);
        }
        return script;
    }

    static String python(Path script, String... words) throws IOException {
        List<String> command = new java.util.ArrayList<>(List.of("python3", script.toString()));
        command.addAll(List.of(words));
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            assumeTrue(false, "no python3 here to make and compare the specimen");
            throw e;
        }
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            assertThat(process.waitFor()).as(out).isZero();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
        return out;
    }

    @ParameterizedTest
    @MethodSource("ruins")
    @Tag("FIELD-H07")
    @Tag("FIELD-H08")
    @Tag("FIELD-H09")
    @Tag("FIELD-H10")
    @Tag("FIELD-H19")
    void specimen_ruinedByAProgramThatStrays_comesBackExactly(Jdk jdk, String how) throws IOException {
        Path root = directory.toRealPath();
        Path script = script(root);
        Files.createDirectory(root.resolve("w"));
        Path specimen = root.resolve("w/specimen");
        String missing = python(script, "make", specimen.toString());
        String[] show = jdk.feature() >= NANOSECOND_ALL ? new String[] {"show", specimen.toString(), "--ns-all"}
                : new String[] {"show", specimen.toString()};
        String before = python(script, show);
        assertThat(before).as(missing).contains("sparse");

        Outcome outcome = Child.on(jdk).in(root).main(Ruin.class, specimen.toString(), how, root.resolve("stray").toString()).klock("").manifest("""
                ver: "1.0"
                agent_id: tester
                scope:
                  - MUTATES FILE:%1$s/w/**
                  - PROVIDES FILE:%1$s/w/**
                  - DELETES FILE:%1$s/w/**
                  - RENAMES FILE:%1$s/w/**
                """.formatted(root)).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.out()).as(outcome.toString()).contains("ruined");
        assertThat(python(script, show)).as("%s%s", missing, outcome).isEqualTo(before);
        assertThat(Files.list(root.resolve("w"))).containsExactly(specimen);
    }
}
