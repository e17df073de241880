package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Absent;
import dev.klock.sandbox.subject.Moves;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Threads that move files over each other until one of them strays: everything comes back, and nothing is taken for other people's. */
@Tag("K6-5")
class MovesTest {
    private static final String[] WHATS = {"", "slow", "slow links", "slow trees", "slow links trees"};

    @TempDir
    Path directory;

    static Stream<Arguments> each() {
        return Jdks.each().flatMap(jdk -> Stream.of(WHATS).map(what -> Arguments.of(jdk, what)));
    }

    @ParameterizedTest
    @MethodSource("each")
    void violation_amongMovesOfManyThreads_bringsEverythingBack(Jdk jdk, String what) throws IOException {
        for (int i = 0; i < Child.SCALE; i++) {
            long seed = System.nanoTime();
            Workspace workspace = Workspace.in(Files.createDirectory(directory.resolve(Integer.toString(i))));
            for (String file : new String[] {"f0", "f3", "d1/f1", "d0/f2"}) {
                Path path = workspace.root().resolve("w/out").resolve(file);
                Files.createDirectories(path.getParent());
                Files.writeString(path, "first of " + file + "\n");
            }
            String before = workspace.tree().visible();
            Outcome outcome = Child.on(jdk).in(workspace.root()).main(Moves.class, "400", Long.toString(seed), what).klock("")
                    .manifest(workspace.manifest()).run();
            assertThat(outcome.exit()).as("seed %d %s", seed, outcome).isEqualTo(108);
            assertThat(workspace.tree().visible()).as("seed %d %s", seed, outcome).isEqualTo(before);
            assertThat(outcome.err()).as("seed %d", seed).contains("rolled back").doesNotContain("not rolled back").doesNotContain("somebody else has");
        }
    }

    private Workspace absent(Jdk jdk, String how, int rounds) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = Child.on(jdk).in(workspace.root()).main(Absent.class, how, Integer.toString(rounds * Child.SCALE))
                .klock("mode=block,denials.limit=1000000000").manifest(workspace.manifest()).run();
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("stopped true, absent true, through 0\n");
        return workspace;
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-2")
    void rename_ofWhatAnotherThreadMakesInBetween_isJudgedAllTheSame(Jdk jdk) {
        assertThat(absent(jdk, "rename", 40_000).root().resolve("w/x")).hasContent("first of w/x\n");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-2")
    void start_ofWhatAnotherThreadMakesInBetween_isJudgedAllTheSame(Jdk jdk) {
        absent(jdk, "start", 2_000);
    }
}
