package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.Busy;
import dev.klock.sandbox.subject.Interrupts;
import dev.klock.sandbox.subject.Movers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Strict mode: blocked before the effect, aborted, put back, 108; whatever the program does about it. */
@Tag("K6-3")
class StrictTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    /** Changes of every kind inside the scope, to be put back. */
    private static final String[] WORK = {"write w/out/new made by the session", "append w/out/a more", "delete w/out/b", "move w/out/c w/out/renamed",
        "mkdir w/out/dir", "write w/out/dir/deep made too"};

    @TempDir
    Path directory;

    private static String[] work(String... then) {
        String[] steps = new String[WORK.length + then.length];
        System.arraycopy(WORK, 0, steps, 0, WORK.length);
        System.arraycopy(then, 0, steps, WORK.length, then.length);
        return steps;
    }

    private Outcome straysAndIsPutBack(Jdk jdk, String... then) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();
        Outcome outcome = workspace.watched(jdk, "", work(then)).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
        return outcome;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-6")
    void program_insideItsManifest_endsAsWithoutKlock(Jdk jdk, @TempDir Path other) {
        String[] steps = work("read w/in/a", "read w/out/a", "print done");
        Workspace bare = Workspace.in(other);
        Outcome plain = bare.bare(jdk, steps).run();
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.watched(jdk, "", steps).run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).isEqualTo(plain.out());
        assertThat(workspace.tree().visible()).isEqualTo(bare.tree().visible());
        assertThat(outcome.log().decided("deny")).isEmpty();
        assertThat(outcome.klockLines()).as("one summary line: %s", outcome).hasSize(1);
        JsonNode summary = outcome.log().summary();
        assertThat(summary.has("exit_code")).as("main just ended, the launcher decides: %s", summary).isFalse();
        assertThat(summary.path("declared")).as(summary.toString()).hasSize(5);
        assertThat(summary.path("used").size() + summary.path("unused").size()).as(summary.toString()).isEqualTo(5);
        assertThat(summary.path("violated")).as(summary.toString()).isEmpty();
    }

    /** As by Ctrl-C in a terminal, which tells all that runs there, where a parent tells its child as well. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C45")
    void program_thatIsToldToEndTwice_hasEndedWell(Jdk jdk) throws IOException {
        for (int i = 0; i < 4; i++) {
            Workspace workspace = Workspace.in(Files.createDirectory(directory.resolve("told" + i)));
            Outcome outcome = workspace.watched(jdk, "", work("write w/out/ready now", "sleep 60000")).begin().until(workspace.root().resolve("w/out/ready"))
                    .signal("INT").signal("TERM").await();
            assertThat(outcome.exit()).as(outcome.toString()).isIn(130, 143);
            assertThat(outcome.log().summary().path("end").asText()).as(outcome.toString()).isEqualTo("completed");
            Outcome recovered = Child.on(jdk).in(workspace.root()).verb("recover").run();
            assertThat(recovered.out()).as(recovered + "\n" + outcome).contains("no session crashed");
            assertThat(workspace.root().resolve("w/out/new")).exists();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    @Tag("K6-5")
    void violation_notCaught_endsWith108AndAllIsPutBack(Jdk jdk) {
        Outcome outcome = straysAndIsPutBack(jdk, "write w/x stray");
        assertThat(outcome.out()).startsWith("main begins\n").doesNotContain("main ends");
        assertThat(outcome.err()).contains("Agent attempted MUTATES on FILE:" + directory.toAbsolutePath() + "/w/x but declared nothing.")
                .contains("to allow it, add to scope: - MUTATES FILE:${workspace}/w/x");
        JsonNode denial = outcome.log().decided("deny").get(0);
        assertThat(denial.path("predicate").asText() + " " + denial.path("resource").asText())
                .isEqualTo("MUTATES FILE:" + directory.toAbsolutePath() + "/w/x");
        assertThat(denial.path("caller").asText()).as(denial.toString()).contains("dev.klock.sandbox.subject.Script");
        assertThat(denial.path("thread").asText()).isEqualTo("main");
        JsonNode summary = outcome.log().summary();
        assertThat(summary.path("exit_code").asInt()).as(summary.toString()).isEqualTo(108);
        assertThat(summary.path("violated")).as(summary.toString()).hasSize(1);
        assertThat(summary.path("rolled_back")).as(summary.toString()).isNotEmpty();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    @Tag("K6-5")
    void violation_swallowed_endsWith108AndAllIsPutBack(Jdk jdk) {
        Outcome outcome = straysAndIsPutBack(jdk, "try write w/x stray", "try write w/out/after not any more", "sleep 20000");
        assertThat(outcome.out()).doesNotContain("main ends");
        assertThat(outcome.took()).as("in bounded time").isLessThan(java.time.Duration.ofSeconds(15));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    @Tag("FIELD-C19")
    void exit_onAnotherThreadWhileRollingBack_stillEndsWith108(Jdk jdk) {
        straysAndIsPutBack(jdk, "try write w/x stray", "times 20 thread exit 0", "exit 0");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void violation_onAThreadNobodyJoins_endsWith108(Jdk jdk) {
        straysAndIsPutBack(jdk, "thread write w/x stray", "sleep 20000");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void violation_whileHundredsOfThreadsWriteAgainAndAgain_waitsForNoneOfThem(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();
        String w = workspace.root().resolve("w").toString();
        Outcome outcome = workspace.watched(jdk, "").main(Busy.class, w + "/out", w + "/x", "400").patience(Duration.ofMinutes(3)).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
        assertThat(outcome.err()).doesNotContain("has not ended");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void violation_afterThreadsHaveMovedDirectoriesOverEachOther_allIsPutBack(Jdk jdk) throws Exception {
        for (int seed = 0; seed < 3 * Child.SCALE; seed++) {
            Workspace workspace = Workspace.in(Files.createDirectory(directory.resolve("seed" + seed)));
            Path out = workspace.root().resolve("w/out");
            for (String below : new String[] {"a1/b1/c1", "a1/b2", "a2/b1", "a2/b2/c1"}) {
                Files.createDirectories(out.resolve(below));
                Files.writeString(out.resolve(below).resolve("f"), "first of " + below);
                Files.writeString(out.resolve(below).resolveSibling("g"), "first beside " + below);
            }
            String before = workspace.tree().visible();
            Outcome outcome = workspace.watched(jdk, "").main(Movers.class, out.toString(), workspace.root().resolve("w/x").toString(), "" + seed)
                    .run();
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
            assertThat(workspace.tree().visible()).as("seed %d: %s", seed, outcome).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void violation_ofAProgramThatInterruptsEveryThread_allIsPutBack(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();
        String w = workspace.root().resolve("w").toString();
        Outcome outcome = workspace.watched(jdk, "").main(Interrupts.class, w + "/out", w + "/x").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    void program_undeclared_isNotStarted(Jdk jdk) {
        Outcome outcome = straysAndIsPutBack(jdk, "run /usr/bin/touch w/x/started");
        assertThat(outcome.err()).contains("Agent attempted PROVIDES on PROCESS:/usr/bin/touch but declared nothing.");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    @Tag("FIELD-C19")
    void exit_racingWithAViolation_endsWith108IfAnythingWasDenied(Jdk jdk) throws Exception {
        for (int round = 0; round < 6 * Child.SCALE; round++) {
            Workspace workspace = Workspace.in(Files.createDirectory(directory.resolve("round" + round)));
            String before = workspace.tree().visible();
            Outcome outcome = workspace.watched(jdk, "", work("times 3 thread exit 0", "try write w/x stray", "sleep 50", "exit 0")).run();
            boolean denied = !outcome.log().decided("deny").isEmpty();
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(denied ? 108 : 0);
            if (denied) {
                assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
            }
        }
    }
}
