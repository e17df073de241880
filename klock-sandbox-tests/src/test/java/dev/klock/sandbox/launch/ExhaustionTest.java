package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.subject.Exhausted;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What is denied stays denied at the end of the stack and of the heap, and however often it is tried; a storm costs little and bounded space. */
class ExhaustionTest {
    private static final long MEGABYTE = 1 << 20;

    @TempDir
    Path directory;

    static Stream<Arguments> cases() {
        return Jdks.all().stream().flatMap(jdk -> Stream.of(Arguments.of("stack", 3 * Child.SCALE, jdk), Arguments.of("heap", 10 * Child.SCALE, jdk),
                Arguments.of("same", 100_000 * Child.SCALE, jdk), Arguments.of("distinct", 50_000 * Child.SCALE, jdk)));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void denied_whereNothingIsLeftOrInAStorm_staysDenied(String how, int times, Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        Tree before = workspace.tree();

        Outcome outcome = Child.on(jdk).in(workspace.root()).main(Exhausted.class, how, Integer.toString(times), "w/private/p", "w/x")
                .jvm("-Xmx64m").patience(Duration.ofMinutes(5))
                .klock("mode=block,denials.limit=1000000000").manifest(workspace.manifest()).run();

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        // the VM itself may say before that it has no memory, on stdout
        assertThat(outcome.out()).as(outcome.toString()).containsPattern("(?m)^denied true, through 0, ");
        assertThat(workspace.tree().visible()).isEqualTo(before.visible());
        if (!how.equals("stack") && !how.equals("heap")) {
            assertThat(outcome.out()).contains("denied in all " + (2L * times + 2));
            assertThat(Integer.parseInt(outcome.out().replaceAll("(?s).*used (\\d+) MB.*", "$1"))).as("heap in use").isLessThan(32);
        }
        if (how.equals("same")) {
            assertThat(logged(workspace)).as("bytes of the log").isLessThan(MEGABYTE);
        }
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-5")
    void rollback_whereNoDescriptorIsLeft_isCarriedOut(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        List<String> steps = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Files.writeString(workspace.root().resolve("w/out/file" + i), "start " + i);
            steps.add("write w/out/file" + i + " changed");
        }
        steps.addAll(List.of("hoard w/in/a", "write w/x stray"));
        Tree before = workspace.tree();

        Outcome outcome = workspace.watched(jdk, "", steps.toArray(new String[0]))
                .through("sh", "-c", "ulimit -n 60; exec \"$0\" \"$@\"").run();

        assertThat(outcome.out()).as(outcome.toString()).contains("Too many open files");
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("rolled back 30");
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before.visible());
    }

    private static long logged(Workspace workspace) throws IOException {
        long bytes = 0;
        try (Stream<Path> files = Files.list(workspace.root().resolve(".klock/log"))) {
            for (Path file : files.toList()) {
                bytes += Files.size(file);
            }
        }
        return bytes;
    }
}
