package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What people do with a session that is over: look at it, undo it, throw its images away. */
class UndoTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";

    @TempDir
    Path directory;

    private Workspace worked(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.watched(jdk, "", "write w/out/made new", "write w/out/a second", "delete w/out/b").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        return workspace;
    }

    private Outcome verb(Jdk jdk, String... words) {
        return Child.on(jdk).in(directory).verb(words).run();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void undo_ofAWholeSession_putsEverythingBack(Jdk jdk) {
        String before = Workspace.in(directory).tree().visible();
        Workspace workspace = worked(jdk);

        Outcome dry = verb(jdk, "undo", "--dry-run");
        assertThat(dry.out()).as(dry.toString()).contains("would be undone: 2 restored").contains("1 removed");
        assertThat(workspace.tree().visible()).isNotEqualTo(before);

        Outcome outcome = verb(jdk, "undo");
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }

    /** As somebody does it who may write in the directory above, to have klock change for him what he may not. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C32")
    @Tag("FIELD-H25")
    void undo_whileADirectoryIsSwappedForALink_changesNothingInWhatThatLeadsTo(Jdk jdk) throws Exception {
        Workspace workspace = Workspace.in(directory);
        String[] writes = new String[60];
        for (int i = 0; i < writes.length; i++) {
            writes[i] = "write w/out/made" + i + " new";
        }
        Outcome session = workspace.watched(jdk, "", writes).run();
        assertThat(session.exit()).as(session.toString()).isZero();
        Path victim = Files.createDirectory(directory.resolve("victim"));
        for (int i = 0; i < writes.length; i++) {
            Files.writeString(victim.resolve("made" + i), "new");
        }
        String before = listing(victim);
        Path out = workspace.root().resolve("w/out");
        Path elsewhere = workspace.root().resolve("w/elsewhere");
        AtomicBoolean over = new AtomicBoolean();
        Thread swaps = new Thread(() -> {
            try {
                while (!over.get()) {
                    Files.move(out, elsewhere);
                    Files.createSymbolicLink(out, victim);
                    Files.delete(out);
                    Files.move(elsewhere, out);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        swaps.start();
        Outcome outcome;
        try {
            outcome = verb(jdk, "undo", "--force");
        } finally {
            over.set(true);
            swaps.join();
        }

        assertThat(listing(victim)).as(outcome.toString()).isEqualTo(before);
        assertThat(outcome.out().concat(outcome.err())).doesNotContain("/proc/self/fd");
    }

    private static String listing(Path directory) throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> list = Files.list(directory)) {
            for (Path p : list.sorted().toList()) {
                all.append(p.getFileName()).append(' ').append(Files.readAttributes(p, "unix:mode,uid,lastModifiedTime,ctime")).append('\n');
            }
        }
        return all.toString();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void undo_ofOnePath_leavesTheOthers(Jdk jdk) throws IOException {
        Workspace workspace = worked(jdk);

        Outcome outcome = verb(jdk, "undo", "w/out/a");

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(Files.readString(workspace.root().resolve("w/out/a"))).isEqualTo("first of w/out/a\n");
        assertThat(workspace.root().resolve("w/out/made")).exists();
        assertThat(workspace.root().resolve("w/out/b")).doesNotExist();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C32")
    @Tag("FIELD-H22")
    void undo_ofWhatOthersChangedSince_refusesWith4AndForceKeepsBoth(Jdk jdk) throws IOException {
        Workspace workspace = worked(jdk);
        Path a = workspace.root().resolve("w/out/a");
        Files.writeString(a, "by hand\n");

        Outcome refused = verb(jdk, "undo");
        assertThat(refused.exit()).as(refused.toString()).isEqualTo(4);
        assertThat(Files.readString(a)).isEqualTo("by hand\n");
        assertThat(workspace.root().resolve("w/out/made")).doesNotExist();

        Outcome forced = verb(jdk, "undo", "--force");
        assertThat(forced.exit()).as(forced.toString()).isZero();
        assertThat(Files.readString(a)).isEqualTo("first of w/out/a\n");
        String kept = forced.out().replaceAll("(?s).*what was there is kept\\): (\\S+).*", "$1");
        assertThat(Files.readString(Path.of(kept))).isEqualTo("by hand\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C32")
    void undo_inACopyOfTheProject_leavesTheOriginalAloneAndSaysWhere(Jdk jdk) throws Exception {
        Workspace workspace = worked(jdk);
        String after = workspace.tree().whole();
        Path copy = directory.resolve("copy");
        Files.createDirectory(copy);
        for (String part : new String[] {"w", ".klock", "klock.yaml"}) {
            assertThat(new ProcessBuilder("cp", "-a", directory.resolve(part).toString(), copy.toString()).inheritIO().start().waitFor()).isZero();
        }

        Outcome refused = Child.on(jdk).in(copy).verb("undo").run();

        assertThat(refused.exit()).as(refused.toString()).isEqualTo(4);
        assertThat(refused.err().lines()).as(refused.toString()).singleElement().asString()
                .contains("straying changed files where its home was, " + workspace.root().resolve(".klock"), copy.toRealPath() + "/.klock is a copy");
        assertThat(workspace.tree().whole()).isEqualTo(after);
        assertThat(Child.on(jdk).in(copy).verb("sessions").run().out()).contains("of a home in " + workspace.root().resolve(".klock"));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void undo_ofTheNewNameOfWhatWasMoved_bringsItBackToItsOldOne(Jdk jdk) {
        String before = Workspace.in(directory).tree().visible();
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.watched(jdk, "", "move w/out/a w/out/n", "move w/out/c w/out/m", "write w/out/m/d changed").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();

        Outcome file = verb(jdk, "undo", "w/out/n");
        assertThat(file.exit()).as(file.toString()).isZero();
        assertThat(file.out()).contains("1 of these is not below w/out/n: what the session moved from there comes back with it");
        Outcome tree = verb(jdk, "undo", "w/out/m");
        assertThat(tree.exit()).as(tree.toString()).isZero();
        assertThat(workspace.tree().entries().keySet()).as(tree.toString()).hasSameSizeAs(before.lines().toList());
        verb(jdk, "undo");
        assertThat(workspace.tree().visible()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C45")
    void undo_whenTheJournalOfTheLastSessionIsDamaged_takesNoOther(Jdk jdk) throws IOException {
        Workspace workspace = worked(jdk);
        assertThat(workspace.watched(jdk, "", "write w/out/c/d second").run().exit()).isZero();
        String after = workspace.tree().whole();
        Path pack = workspace.root().resolve(".klock/backups/straying-2/pack");
        byte[] bytes = Files.readAllBytes(pack);
        bytes[20] ^= 1;
        Files.write(pack, bytes);

        for (String words : new String[] {"undo", "diff"}) {
            Outcome outcome = verb(jdk, words);
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(1);
            assertThat(outcome.err()).as(outcome.toString()).hasLineCount(1).contains("the last session is straying-2, and a part of its journal cannot be read",
                    "--session straying for the last one that is whole");
            assertThat(workspace.tree().whole()).isEqualTo(after);
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void sessions_afterAnUndo_sayWhatIsNotRolledBackNow(Jdk jdk) throws IOException {
        Workspace workspace = worked(jdk);
        Files.writeString(workspace.root().resolve("w/out/a"), "by hand\n");

        verb(jdk, "undo");
        assertThat(verb(jdk, "sessions").out()).contains("NOT rolled back 1");
        verb(jdk, "undo", "--force");
        assertThat(verb(jdk, "sessions").out()).contains("rolled back)").doesNotContain("NOT");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void diff_ofASession_isUnifiedAndInJson(Jdk jdk) {
        Workspace workspace = worked(jdk);
        String a = workspace.root().resolve("w/out/a").toString();

        assertThat(verb(jdk, "diff").out()).contains("created " + workspace.root() + "/w/out/made", "deleted " + workspace.root() + "/w/out/b",
                "--- a" + a + "\n+++ b" + a + "\n@@ -1,1 +1,1 @@\n-first of w/out/a\n+second\n");
        assertThat(verb(jdk, "diff", "--json", "w/out/a").out()).contains("\"change\" : \"changed\"").doesNotContain("made");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void prune_removesWhatIsOverAndNeverWhatCrashed(Jdk jdk) {
        Workspace workspace = worked(jdk);
        workspace.watched(jdk, "", "write w/out/ready now", "sleep 60000").killedWhen(workspace.root().resolve("w/out/ready"), java.time.Duration.ZERO);

        Outcome outcome = verb(jdk, "backups", "prune", "--older-than", "0");

        assertThat(outcome.out()).as(outcome.toString()).contains("removed straying,").doesNotContain("straying-2");
        assertThat(workspace.root().resolve(".klock/backups/straying")).doesNotExist();
        assertThat(workspace.root().resolve(".klock/backups/straying-2")).exists();
        assertThat(verb(jdk, "sessions").out()).contains("crashed, recover is due");
    }
}
