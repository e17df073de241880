package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs killed with SIGKILL, and what the next start, or {@code recover}, makes of it. */
@Tag("C45")
class CrashTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String[] WORK = {"write w/out/made by the session", "append w/out/a more", "delete w/out/b",
        "move w/out/c w/out/renamed", "mkdir w/out/dir", "write w/out/dir/deep made too", "write w/out/ready now", "sleep 60000"};

    @TempDir
    Path directory;

    private Workspace crashed(Jdk jdk, String options) {
        Workspace workspace = Workspace.in(directory);
        workspace.watched(jdk, options, WORK).killedWhen(workspace.root().resolve("w/out/ready"), Duration.ZERO);
        return workspace;
    }

    private Outcome recover(Jdk jdk, String... options) {
        String[] words = new String[options.length + 1];
        words[0] = "recover";
        System.arraycopy(options, 0, words, 1, options.length);
        return Child.on(jdk).in(directory).verb(words).run();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    @Tag("FIELD-H13")
    void nextStart_afterStrictWasKilled_rollsBackBeforeMain(Jdk jdk) {
        String before = Workspace.in(directory).tree().visible();
        Workspace workspace = crashed(jdk, "");
        assertThat(workspace.tree().visible()).isNotEqualTo(before);

        Outcome next = workspace.watched(jdk, "", "list w/out").run();

        assertThat(next.exit()).as(next.toString()).isZero();
        assertThat(next.out()).contains("[a, b, c]\n");
        assertThat(workspace.tree().visible()).as(next.toString()).isEqualTo(before);
        // where what gave way is kept; killed before it could note what it left last, one of them may be somebody else's
        assertThat(next.klockLines()).as(next.toString()).hasSize(3).anyMatch(line -> line.matches("klock: what .* is (kept )?in .*/displaced"));
        assertThat(next.klockLines().get(0)).contains("session straying crashed and was rolled back:").contains("0 failed");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void recover_afterStrictWasKilled_rollsBackOnce(Jdk jdk) {
        String before = Workspace.in(directory).tree().visible();
        Workspace workspace = crashed(jdk, "");

        Outcome first = recover(jdk);
        Outcome second = recover(jdk);

        assertThat(first.exit()).as(first.toString()).isZero();
        assertThat(workspace.tree().visible()).as(first.toString()).isEqualTo(before);
        assertThat(first.out()).contains("session straying crashed and was rolled back:");
        assertThat(second.out()).as(second.toString()).isEqualTo("no session crashed\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void recover_whenTheJournalIsShorterOrGone_saysWhatIsMissing(Jdk jdk) throws IOException {
        Workspace workspace = crashed(jdk, "");
        Path pack = workspace.root().resolve(".klock/backups/straying/pack");
        try (java.io.RandomAccessFile file = new java.io.RandomAccessFile(pack.toFile(), "rw")) {
            file.setLength(file.length() / 2);
        }

        Outcome shorter = recover(jdk);

        assertThat(shorter.exit()).as(shorter.toString()).isEqualTo(1);
        assertThat(shorter.out()).contains("bytes of its journal are gone (" + pack + ")");
        Outcome undo = Child.on(jdk).in(directory).verb("undo", "--session", "straying").run();
        assertThat(undo.exit()).as(undo.toString()).isEqualTo(1);
        assertThat(undo.out()).contains("bytes of its journal are gone");

        workspace.watched(jdk, "", "write w/out/ready again", "write w/out/second made", "sleep 60000")
                .killedWhen(workspace.root().resolve("w/out/second"), Duration.ofMillis(500));
        Files.delete(workspace.root().resolve(".klock/backups/straying-2/pack"));
        Outcome next = workspace.watched(jdk, "", "print hello").run();
        assertThat(next.err()).as(next.toString()).contains("straying-2 crashed, and nothing of it could be put back: its journal");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void nextStart_afterBlockWasKilled_keepsItsChangesAndSaysSo(Jdk jdk) {
        Workspace workspace = crashed(jdk, "mode=block");
        String after = workspace.tree().visible();

        Outcome next = workspace.watched(jdk, "mode=block", "print hello").run();

        assertThat(next.exit()).as(next.toString()).isZero();
        assertThat(workspace.tree().visible()).isEqualTo(after);
        assertThat(next.err()).contains("session straying crashed; its mode undoes nothing, so its changes are kept");
        assertThat(workspace.watched(jdk, "mode=block", "print hello").run().err()).doesNotContain("crashed");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C32")
    @Tag("FIELD-H22")
    void recover_afterSomebodyEditedMeanwhile_keepsTheirsAndNamesOurImage(Jdk jdk) throws IOException {
        Workspace workspace = crashed(jdk, "");
        Path edited = workspace.root().resolve("w/out/a");
        Files.writeString(edited, "by hand\n");

        Outcome outcome = recover(jdk);

        assertThat(Files.readString(edited)).isEqualTo("by hand\n");
        assertThat(outcome.out()).contains("1 kept as others left them").contains("not rolled back: " + edited);
        String aside = outcome.out().replaceAll("(?s).*the image is in (\\S+).*", "$1");
        assertThat(Files.readString(Path.of(aside))).isEqualTo("first of w/out/a\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    @Tag("FIELD-H13")
    void recover_killedAgainAndAgain_endsWithTheTreeAsItWas(Jdk jdk) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String before = Workspace.in(directory).tree().visible();
        Workspace workspace = crashed(jdk, "");
        for (int i = 0; i < 3 * Child.SCALE; i++) {
            Path lock = workspace.root().resolve(".klock/backups/.recover.lock");
            try {
                Files.deleteIfExists(lock);
                Child.on(jdk).in(directory).verb("recover").killedWhen(lock, Duration.ofMillis(random.nextInt(40)));
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            } catch (AssertionError endedFirst) {
                break;
            }
        }
        Outcome last = recover(jdk);
        assertThat(last.exit()).as("seed %s: %s", seed, last).isZero();
        assertThat(workspace.tree().visible()).as("seed %s: %s", seed, last).isEqualTo(before);
    }
}
