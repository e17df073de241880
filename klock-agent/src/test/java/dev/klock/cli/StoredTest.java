package dev.klock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.klock.agent.backup.PastSession;
import dev.klock.agent.backup.RollbackReport;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.log.Advice;
import dev.klock.agent.log.Summary;
import dev.klock.agent.log.VerificationLog;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which session a command line means, and what it says of sessions that are over. */
class StoredTest {
    @TempDir
    Path temp;
    private Path work;
    private Path home;
    private Path a;
    private Path b;
    private String out;
    private String err;
    private boolean shown;
    private String encoding = "UTF-8";

    @BeforeEach
    void makeWork() throws Exception {
        work = temp.toRealPath();
        home = Home.open(work.resolve(".klock").toFile()).directory().toPath();
        a = Files.writeString(work.resolve("a"), "one\n");
        b = Files.writeString(work.resolve("b"), "one\n");
    }

    private int run(String... arguments) {
        StringWriter stdout = new StringWriter();
        StringWriter stderr = new StringWriter();
        LaunchEnvironment environment = new LaunchEnvironment(Map.of("java.runtime.version", "17.0.1+1", "user.home", "/home/u",
                "java.home", "/jdk", "java.io.tmpdir", "/tmp", "sun.jnu.encoding", encoding), Map.of("PATH", "/bin"), work.toString());
        int status = Main.run(arguments, null, environment, new Terminal(new PrintWriter(stdout), new PrintWriter(stderr), false, null, shown));
        out = stdout.toString();
        err = stderr.toString();
        return status;
    }

    private Path pack(String id) {
        return home.resolve("backups").resolve(id).resolve("pack");
    }

    /** Two sessions, each with a log; the second one wrote b. */
    private void two() throws Exception {
        for (String id : new String[] {"s1", "s2"}) {
            SessionClaim claim = SessionClaim.claim(Home.open(home.toFile()), id);
            VerificationLog log = VerificationLog.open(claim.log(), id, "agent", "strict", true, null);
            PastSession.wrote(home, id, id.equals("s1") ? a : b, "two\n");
            log.close(new Summary("completed", 0, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), 1));
        }
    }

    private void assertStopsAtTheSecond(String what) throws IOException {
        for (String[] verb : new String[][] {{"undo"}, {"undo", "--dry-run"}, {"undo", "--force"}, {"diff"}}) {
            assertThat(run(verb)).as(what + out + err).isEqualTo(1);
            assertThat(out).as(what).doesNotContain(a.toString());
            assertThat(a).as(what).hasContent("two\n");
        }
        assertThat(err).startsWith("klock: failed: the last session is s2, and ").hasLineCount(1)
                .contains("--session s2 for what is known of it, --session s1 for the last one that is whole");
        assertThat(run("sessions")).isZero();
        assertThat(out.lines().filter(line -> line.contains("  s2  "))).as(out).singleElement().asString().contains("its journal");
    }

    /** What a child that may write there can leave behind. */
    @Test
    void logsThatAreNone_areNotRead() throws Exception {
        two();
        Files.createDirectory(home.resolve("log/directory.jsonl"));
        Files.createSymbolicLink(home.resolve("log/endless.jsonl"), Path.of("/dev/zero"));
        assertThat(new ProcessBuilder("mkfifo", home.resolve("log/pipe.jsonl").toString(), home.resolve("log/s1.jsonl.1").toString()).start().waitFor()).isZero();
        for (String verb : new String[] {"sessions", "report", "recover", "diff"}) {
            assertThat(run(verb)).as(verb + out + err).isZero();
        }
        assertThat(run("report", "pipe")).isEqualTo(2);
    }

    @Test
    void estimate_countsWhatAManifestLetsChange_onceInAll() throws Exception {
        Files.createDirectories(work.resolve("src/deep"));
        Files.write(work.resolve("src/x"), new byte[1000]);
        Files.write(work.resolve("src/deep/y"), new byte[3000]);
        Files.writeString(work.resolve("klock.yaml"), "ver: \"1.0\"\nagent_id: agent\nscope:\n  - CONSUMES FILE:${workspace}/**\n  - MUTATES FILE:${workspace}/a\n"
                + "  - MUTATES FILE:${workspace}/src/**\n  - DELETES FILE:${workspace}/src/*\n"
                + "  - predicate: PROVIDES\n    resource: PROCESS:/bin/sh\n    effects: [\"MUTATES FILE:${workspace}/src/**\", \"CONSUMES FILE:${workspace}/a\"]\n"
                + "agents:\n  - agent_id: other\n    scope: [MUTATES FILE:${workspace}/none]\n");

        assertThat(run("backups", "estimate")).as(err).isZero();
        assertThat(out.lines()).containsExactly("MUTATES FILE:" + a + " (line 5): 1 entry, 4 bytes, before the program starts",
                "MUTATES FILE:" + work + "/src/** (line 6): 4 entries, 3.9 KiB, at the first change of each",
                "DELETES FILE:" + work + "/src/* (line 7): 3 entries, 1000 bytes, at the first change of each",
                "PROVIDES PROCESS:/bin/sh, effect on FILE:" + work + "/src/** (line 8): 4 entries, 3.9 KiB, before that program starts",
                "other: MUTATES FILE:" + work + "/none (line 13): 0 entries, 0 bytes, before the program starts",
                out.lines().reduce((x, y) -> y).orElseThrow());
        assertThat(out).contains("at most 5 entries and 3.9 KiB in all; ");

        assertThat(run("backups", "estimate", "--json")).isZero();
        assertThat(out).contains("\"entries\" : 5", "\"bytes\" : 4004", "\"when\" : \"first_change\"", "\"too_large\" : false");

        Files.writeString(work.resolve("klock.yaml"), "ver: \"1.0\"\nagent_id: agent\nklock: {backup.max-files: 3}\nscope:\n  - PROVIDES PROCESS:/bin/sh\n");
        assertThat(run("backups", "estimate")).isEqualTo(3);
        assertThat(err).contains("too large", "backup.max-files=3", "will not be started");
        Files.writeString(work.resolve("klock.yaml"), "ver: \"1.0\"\nagent_id: agent\nscope:\n  - CONSUMES FILE:${workspace}/**\n");
        assertThat(run("backups", "estimate")).isZero();
        assertThat(out).isEqualTo("klock.yaml lets nothing be changed that would be imaged\n");
        assertThat(run("backups", "prune", "-m", "klock.yaml")).isEqualTo(2);
        assertThat(run("backups", "estimate", "-m", "none.yaml")).isEqualTo(2);
        assertThat(run("backups", "stimate")).isEqualTo(2);
    }

    @Test
    @Tag("C45")
    void lastSession_damagedAtAnyByteOfItsJournal_isNeverPassedOverForAnOlderOne() throws Exception {
        two();
        byte[] whole = Files.readAllBytes(pack("s2"));
        for (int at = 0; at < whole.length; at += at < 80 ? 1 : 7) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 1;
            Files.write(pack("s2"), damaged);

            assertThat(run("undo")).as(at + out + err).isEqualTo(1);
            assertThat(out + err).as("byte %s", at).contains("s2");
            assertThat(a).as("byte %s: %s", at, out).hasContent("two\n");
            Files.writeString(b, "two\n");
        }
        Files.write(pack("s2"), new byte[whole.length]);
        assertThat(run("undo")).as(out + err).isEqualTo(1);
        assertThat(a).hasContent("two\n");

        assertThat(run("undo", "--session", "s1")).as(out + err).isZero();
        assertThat(a).hasContent("one\n");
    }

    @Test
    @Tag("C45")
    void lastSession_whoseFirstRecordIsLost_stopsUndoAndDiff() throws Exception {
        two();
        byte[] pack = Files.readAllBytes(pack("s2"));
        pack[20] ^= 1;
        Files.write(pack("s2"), pack);
        assertStopsAtTheSecond("");
        assertThat(run("backups", "prune", "--older-than", "1")).isZero();
        assertThat(pack("s2")).as("a damaged session is no older than it was").exists();

        assertThat(run("undo", "--session", "s2")).as(out + err).isEqualTo(1);
        assertThat(b).hasContent("one\n");
    }

    @Test
    @Tag("C45")
    void lastSession_whoseJournalIsNoFileOrGone_stopsUndoAndDiff() throws Exception {
        two();
        Files.delete(pack("s2"));
        assertStopsAtTheSecond("gone");
        Files.createDirectory(pack("s2"));
        assertStopsAtTheSecond("a directory");
        assertThat(run("recover")).as(out + err).isZero();
        assertThat(run("undo", "--session", "s2")).isEqualTo(1);
        assertThat(out).contains("its journal " + pack("s2") + " is gone");
    }

    @Test
    @Tag("C45")
    void session_whoseJournalIsGone_isNotToldAsUndoneOrUnchangedWhenItIsNamed() throws Exception {
        two();
        Files.delete(pack("s2"));
        for (String[] verb : new String[][] {{"undo", "--session", "s2"}, {"undo", "--force", "--session", "s2"}, {"undo", "--json", "--session", "s2"},
            {"undo", "--session", "s2", "b"}, {"diff", "--session", "s2"}, {"diff", "--json", "--session", "s2"}, {"diff", "--session", "s2", "b"}}) {
            assertThat(run(verb)).as(String.join(" ", verb) + out + err).isEqualTo(1);
            assertThat(out + err).as(String.join(" ", verb)).contains("its journal is gone").doesNotContain("nothing differs", "\"complete\" : true");
        }
        assertThat(b).hasContent("two\n");
    }

    @Test
    @Tag("C45")
    void lastSession_whoseImagesAreAllGone_isNotPassedOverForAnOlderOne() throws Exception {
        two();
        PastSession.wipe(pack("s2").getParent());
        for (String[] verb : new String[][] {{"undo"}, {"undo", "--force"}, {"undo", "--dry-run"}, {"diff"}}) {
            assertThat(run(verb)).as(out + err).isEqualTo(1);
            assertThat(err).hasLineCount(1).contains("the last session that changed something is s2, and its images are gone", "--session s1");
        }
        assertThat(a).hasContent("two\n");
        assertThat(run("sessions")).isZero();
        assertThat(out.lines().filter(line -> line.contains("  s2  "))).singleElement().asString().contains("its images are gone");

        assertThat(run("undo", "--session", "s1")).as(out + err).isZero();
        assertThat(a).hasContent("one\n");
    }

    @Test
    @Tag("C45")
    void undo_thatWasInterrupted_isToldUntilItIsFinished() throws Exception {
        two();
        PastSession.done(home, "s3", work -> {
            work.write(a, "three\n");
            work.write(b, "three\n");
        });
        long notReached = 2;
        for (int steps = 1; notReached == 2; steps++) {
            notReached = PastSession.undoneInPart(home, "s3", steps).count(RollbackReport.Outcome.NOT_REACHED);
        }
        assertThat(notReached).isEqualTo(1);
        assertThat(Files.readString(a).equals("three\n")).isNotEqualTo(Files.readString(b).equals("three\n"));
        assertThat(work.toFile().list()).as("what was written beside").containsExactlyInAnyOrder(".klock", "a", "b");

        assertThat(run("sessions")).isZero();
        assertThat(out.lines().filter(line -> line.contains("  s3  "))).singleElement().asString().contains("done, and half undone: undo --session s3 goes on with it");
        assertThat(run("recover")).as(out + err).isEqualTo(1);
        assertThat(err).contains("session s3 has ended, and an undo of it was interrupted", "java -jar klock.jar undo --session s3");
        assertThat(run("backups", "prune", "--older-than", "0")).as(err).isEqualTo(1);
        assertThat(out).contains("not removed s3: an undo of it was interrupted; go on with that first: java -jar klock.jar undo --session s3");
        assertThat(pack("s3")).exists();
        assertThat(pack("s1")).doesNotExist();

        assertThat(run("undo", "--session", "s3")).as(out + err).isZero();
        assertThat(a).hasContent("two\n");
        assertThat(b).hasContent("two\n");
        assertThat(run("recover")).as(out + err).isZero();
        assertThat(run("sessions")).isZero();
        assertThat(out).contains("rolled back").doesNotContain("half undone");
    }

    /** As where the disk is full before there is a lock. */
    @Test
    @Tag("C45")
    void recover_thatCannotBegin_namesWhatIsDueAndWhereTheImagesAre() throws Exception {
        PastSession.crashed(home, "s", work -> work.write(a, "two\n"));
        Path lock = Files.createDirectories(home.resolve("backups/.recover.lock"));

        assertThat(run("recover")).as(out).isEqualTo(1);
        assertThat(err).hasLineCount(1).contains("session s crashed, and cannot be rolled back yet", "the images are in " + home + "/backups", "java -jar klock.jar recover");
        assertThat(a).hasContent("two\n");

        Files.delete(lock);
        assertThat(run("recover")).as(out + err).isZero();
        assertThat(a).hasContent("one\n");
    }

    @Test
    @Tag("C45")
    void undo_ofOnePath_isNotHalfAnUndo() throws Exception {
        PastSession.done(home, "s", work -> {
            work.write(a, "two\n");
            work.write(b, "two\n");
        });
        assertThat(run("undo", "a")).as(out + err).isZero();
        assertThat(run("recover")).as(out + err).isZero();
        assertThat(run("sessions")).isZero();
        assertThat(out).contains("done").doesNotContain("half undone");
        assertThat(run("backups", "prune", "--older-than", "0")).as(err).isZero();
        assertThat(pack("s")).doesNotExist();
    }

    @Test
    void olderSession_thatIsDamaged_stopsNothing() throws Exception {
        two();
        byte[] pack = Files.readAllBytes(pack("s1"));
        pack[20] ^= 1;
        Files.write(pack("s1"), pack);
        assertThat(run("undo", "--session", "s1")).isEqualTo(1);
        assertThat(run("undo")).as(out + err).isZero();
        assertThat(b).hasContent("one\n");
    }

    /** A session in which a child removes klock's home, and which is then rolled back. */
    private void homeRemovedWhileItRan() throws Exception {
        PastSession.rolledBack(home, "s", work -> {
            work.write(a, "two\n");
            work.write(b, "two\n");
            PastSession.wipe(home);
        });
    }

    @Test
    @Tag("K6-5")
    void home_removedWhileASessionRan_isAWholeOneAfterItsRollback() throws Exception {
        homeRemovedWhileItRan();

        assertThat(a).hasContent("one\n");
        assertThat(home.toFile().list()).containsExactlyInAnyOrder("backups", ".gitignore", "version");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(home))).isEqualTo("rwx------");
        assertThat(run("sessions")).as(err).isZero();
        assertThat(out).hasLineCount(1).contains("  s  ?  ?  unknown: images of 0 paths (", "rolled back), its log is gone, what a rollback put aside is in "
                + home + "/backups/s/displaced");
        assertThat(home.resolve("backups/s/displaced").toFile().listFiles()).isNotEmpty();
        assertThat(run("recover")).as(out + err).isZero();
        assertThat(out).isEqualTo("no session crashed\n");
        assertThat(run("undo")).as(out).isEqualTo(2);
        assertThat(err).contains("there are no images of any session in " + home);
        assertThat(SessionClaim.claim(Home.open(home.toFile()), "s").id()).isEqualTo("s-2");
    }

    @Test
    @Tag("C45")
    void sessionThatWasCompleted_whoseJournalLostItsEnd_keepsItsChanges() throws Exception {
        two();
        byte[] whole = Files.readAllBytes(pack("s2"));
        byte[] flipped = whole.clone();
        flipped[whole.length - 1] ^= 1;
        for (byte[] damaged : List.of(Arrays.copyOf(whole, whole.length - 1), flipped)) {
            Files.write(pack("s2"), damaged);
            assertThat(run("recover")).as(out + err).isZero();
            assertThat(out).isEqualTo("no session crashed\n");
            assertThat(b).hasContent("two\n");
            assertThat(run("sessions")).isZero();
            assertThat(out).contains("the end of its journal is gone");
        }
        Files.writeString(home.resolve("log/s2.jsonl"), "{\"session_id\":\"s2\",\"requested\":\"a \\\",\\\"summary\\\":{\\\"end\\\":\\\"completed\\\"\"}\n");
        assertThat(run("recover")).as("what says so is a name").isEqualTo(1);
        assertThat(b).hasContent("one\n");
    }

    @Test
    void journals_thatSomebodyExchanged_arePutBackByNobody() throws Exception {
        two();
        Path aside = home.resolve("aside");
        Files.move(pack("s1"), aside);
        Files.move(pack("s2"), pack("s1"));
        Files.move(aside, pack("s2"));
        for (String id : List.of("s1", "s2")) {
            assertThat(run("undo", "--session", id)).as(out + err).isEqualTo(1);
            assertThat(out + err).contains("is that of session s" + (id.equals("s1") ? 2 : 1));
        }
        assertThat(run("recover")).as(out + err).isZero();
        assertThat(run("sessions")).isZero();
        assertThat(out).contains("it cannot be read");
        assertThat(a).hasContent("two\n");
        assertThat(b).hasContent("two\n");
    }

    @Test
    void undo_whatOthersPutIntoADirectoryOfTheSession_staysAndIsSaid_forcedOrNot_andForetold() throws Exception {
        Path made = a.resolveSibling("made");
        PastSession.done(home, "s", work -> work.mkdir(made));
        Path theirs = Files.writeString(made.resolve("theirs"), "theirs");
        for (String[] more : new String[][] {{"--dry-run"}, {"--force", "--dry-run"}, {}, {"--force"}}) {
            List<String> command = new ArrayList<>(List.of("undo"));
            command.addAll(List.of(more));
            assertThat(run(command.toArray(new String[0]))).as(command + "\n" + out + err).isEqualTo(4);
            assertThat(out).as(command.toString()).contains("kept  " + made + " (a directory is there, with something in it that stays: " + theirs + ")");
            assertThat(theirs).hasContent("theirs");
        }
    }

    @Test
    @Tag("C45")
    void crashedSession_whoseImagesAreAllRemoved_isNamedByRecover() throws Exception {
        two();
        PastSession.wipe(home.resolve("backups"));
        Files.createDirectories(home.resolve("log"));
        String head = "\"started\":\"2026-01-02T03:04:05Z\",\"pid\":" + Integer.MAX_VALUE + "}\n";
        Files.writeString(home.resolve("log/s3.jsonl"), "{\"session_id\":\"s3\",\"mode\":\"strict\"," + head);
        Files.writeString(home.resolve("log/s4.jsonl"), "{\"session_id\":\"s4\",\"mode\":\"permissive\"," + head);
        Files.writeString(home.resolve("log/s5.jsonl"), "{\"session_id\":\"s5\",\"mode\":\"strict\"," + head + "{\"summary\":{\"end\":\"completed\"}}\n");

        assertThat(run("recover")).as(out + err).isZero();
        assertThat(out).isEqualTo("session s3 crashed, and there are no images of it in " + home + "/backups: they were pruned after its rollback, or removed;"
                + " what it changed is in log/s3.jsonl, and there is nothing to put it back from\n");
        assertThat(run("recover", "--json")).isZero();
        assertThat(out).contains("\"session_id\" : \"s3\"", "\"images\" : false").doesNotContain("s4", "s5");
    }

    @Test
    void home_leftByAnOlderKlockThatMadeOnlyImagesAgain_isOneAllTheSame() throws Exception {
        homeRemovedWhileItRan();
        Files.delete(home.resolve("version"));
        Files.delete(home.resolve(".gitignore"));
        Files.delete(pack("s"));

        assertThat(run("sessions")).as(err).isZero();
        assertThat(out).contains("its journal " + pack("s") + " is gone", home + "/backups/s/displaced");
        assertThat(run("recover")).as(out + err).isZero();
        assertThat(run("undo")).isEqualTo(1);
        PastSession.wrote(Home.open(home.toFile()).directory().toPath(), "s-2", a, "two\n");
        assertThat(run("undo")).as(out + err).isZero();
        assertThat(a).hasContent("one\n");
    }

    @Test
    @Tag("K6-5")
    void rollback_thatFailed_isNotCalledACrashAndSaysWhatToDoNext() throws Exception {
        Files.writeString(a, "a text that is found in the pack");
        PastSession.rolledBack(home, "s", work -> {
            work.write(a, "two\n");
            work.write(b, "two\n");
            byte[] pack = Files.readAllBytes(pack("s"));
            pack[new String(pack, StandardCharsets.ISO_8859_1).indexOf("a text that")] ^= 1;
            Files.write(pack("s"), pack);
        });

        assertThat(run("sessions")).isZero();
        assertThat(out).contains("its rollback is not complete, recover is due").doesNotContain("crashed");
        assertThat(run("undo")).as(out).isEqualTo(1);
        assertThat(out).contains("failed  " + a).endsWith("what failed is tried again by: java -jar klock.jar undo --session s\n")
                .as("it was put back before").doesNotContain(b.toString());
        assertThat(run("recover")).as(out).isEqualTo(1);
        assertThat(out).contains("session s, whose rollback was not complete, was rolled back again: 0 restored", "1 unchanged",
                "  what failed is tried again by: java -jar klock.jar recover --session s\n");
    }

    @Test
    @Tag("C45")
    void undo_ofOnePathAndThenOfAll_namesEachOnce() throws Exception {
        PastSession.killed(home, "s", work -> {
            work.write(a, "two\n");
            work.write(b, "two\n");
            work.write(work("new"), "made");
        });

        assertThat(run("undo", "a")).as(out + err).isZero();
        assertThat(out).contains("restored  " + a);
        assertThat(run("undo")).as(out + err).isZero();
        assertThat(out).contains("restored  " + b, "removed  " + work("new"), "1 restored (1 verified), 1 removed, 1 unchanged").doesNotContain("  " + a + "\n");
        assertThat(run("undo")).isZero();
        assertThat(out).isEqualTo("session s undone: 0 restored (0 verified), 0 removed, 3 unchanged, 0 kept as others left them, 0 failed\n");
    }

    @Test
    void diff_whereNothingDiffers_saysSo() throws Exception {
        PastSession.wrote(home, "s", a, "two\n");
        assertThat(run("undo")).as(out + err).isZero();
        assertThat(run("diff")).isZero();
        assertThat(out).isEqualTo("nothing differs from what it was before session s\n");
        assertThat(run("diff", "--json")).isZero();
        assertThat(out).contains("\"paths\" : [ ]");
    }

    @Test
    void path_empty_isNotEverything() throws Exception {
        PastSession.wrote(home, "s", a, "two\n");
        for (String[] verb : new String[][] {{"undo", ""}, {"undo", "--force", ""}, {"diff", ""}, {"undo", "--session", ""}, {"undo", "--home", ""}}) {
            assertThat(run(verb)).as(String.join(" ", verb)).isEqualTo(2);
            assertThat(err).startsWith("klock: ").hasLineCount(1);
        }
        assertThat(a).hasContent("two\n");
    }

    @Test
    @Tag("C32")
    void diff_inAMovedHome_refusesAsUndoDoes() throws Exception {
        PastSession.wrote(home, "s", a, "two\n");
        Path moved = Files.createDirectory(work.resolve("moved")).resolve(".klock");
        Files.move(home, moved);
        for (String verb : new String[] {"undo", "diff"}) {
            assertThat(run(verb, "--home", moved.toString())).as(verb).isEqualTo(4);
            assertThat(err).hasLineCount(1).contains("session s changed files where its home was, " + home);
            assertThat(out).isEmpty();
        }
    }

    @Test
    @Tag("K6-5")
    void undo_ofTheNewNameOfAFile_bringsTheOldOneBack() throws Exception {
        PastSession.done(home, "s", work -> {
            work.rename(a, work("n"));
            work.write(b, "two\n");
        });

        assertThat(run("undo", "--dry-run", "n")).isZero();
        assertThat(out).contains("restored  " + a + "\n", "removed  " + work("n"));
        assertThat(run("undo", "n")).as(out + err).isZero();
        assertThat(out).contains("restored  " + a + "\n", "removed  " + work("n"), "\n1 of these is not below n: what the session moved from there comes back with it\n");
        assertThat(a).hasContent("one\n");
        assertThat(work("n")).doesNotExist();
        assertThat(b).hasContent("two\n");
        assertThat(run("undo")).as(out + err).isZero();
        assertThat(b).hasContent("one\n");
    }

    @Test
    @Tag("K6-5")
    void undo_ofTheNewNameOfAFile_thatWasChangedToo_bringsTheOldOneBack() throws Exception {
        PastSession.done(home, "s", work -> {
            work.write(a, "before\n");
            work.rename(a, work("n"));
            work.write(work("n"), "after\n");
        });
        assertThat(run("undo", "n")).as(out + err).isZero();
        assertThat(a).hasContent("one\n");
        assertThat(work("n")).doesNotExist();
    }

    @Test
    @Tag("K6-5")
    void undo_ofTheNewNameOfADirectory_bringsAllOfItBack() throws Exception {
        Path d = Files.createDirectories(work("d/s"));
        Files.writeString(d.resolve("f"), "f");
        Files.setPosixFilePermissions(work("d"), PosixFilePermissions.fromString("rwxr-x--x"));
        PastSession.done(home, "s", work -> {
            work.rename(work("d"), work("n"));
            work.write(work("n/s/f"), "changed");
            work.write(work("n/more"), "made");
        });

        assertThat(run("undo", "n")).as(out + err).isZero();
        assertThat(out).contains(" not below n: ");
        assertThat(work("d/s/f")).hasContent("f");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(work("d")))).isEqualTo("rwxr-x--x");
        assertThat(work("n")).doesNotExist();
        assertThat(work("d/more")).doesNotExist();
    }

    @Test
    @Tag("K6-5")
    void undo_ofOneOfAChainOfRenames_bringsBackAllThatWouldBeLost() throws Exception {
        Path c = Files.writeString(work("c"), "three\n");
        PastSession.done(home, "s", work -> {
            work.rename(b, work("n"));
            work.rename(a, b);
            work.rename(c, a);
        });

        assertThat(run("undo", "n")).as(out + err).isZero();
        assertThat(a).hasContent("one\n");
        assertThat(b).hasContent("one\n");
        assertThat(c).hasContent("three\n");
        assertThat(work("n")).doesNotExist();
        assertThat(run("diff")).isZero();
        assertThat(out).contains("nothing differs");
    }

    @Test
    void undo_ofAFileInADirectoryThatWasDeleted_makesItAsItWas() throws Exception {
        Path f = Files.writeString(Files.createDirectory(work("d")).resolve("f"), "f");
        Files.writeString(work("d/g"), "g");
        Files.setPosixFilePermissions(work("d"), PosixFilePermissions.fromString("rwxr-x--x"));
        PastSession.done(home, "s", work -> {
            work.delete(work("d/g"));
            work.delete(f);
            work.delete(work("d"));
        });
        assertThat(run("undo", "d/f")).as(out + err).isZero();
        assertThat(f).hasContent("f");
        assertThat(work("d/g")).doesNotExist();
        assertThat(out).doesNotContain("of these");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(work("d")))).isEqualTo("rwxr-x--x");
        assertThat(run("undo")).as(out + err).isZero();
        assertThat(work("d/g")).hasContent("g");
    }

    @Test
    void advice_repeatsHomeAndPathAsGiven_forAShell() throws Exception {
        Path odd = Files.createDirectory(work("it's here"));
        Path kept = Files.writeString(odd.resolve("a b"), "one\n");
        PastSession.done(home, "s", work -> {
            work.write(kept, "two\n");
            work.write(a, "two\n");
        });
        Files.writeString(kept, "mine");
        assertThat(run("undo", "--home", ".klock", "it's here/a b")).as(out + err).isEqualTo(4);
        assertThat(out).endsWith("by: java -jar klock.jar undo --force --home .klock --session s 'it'\\''s here/a b'\n");
        assertThat(run("undo", "--home", "./.klock")).as(out + err).isEqualTo(4);
        assertThat(out).endsWith("by: java -jar klock.jar undo --force --home ./.klock --session s\n");
        assertThat(run("undo", "--home", ".klock", "--session", "none")).isEqualTo(2);
        assertThat(err).endsWith("; see java -jar klock.jar sessions --home .klock\n");
        for (String verb : List.of("explain", "report", "learn")) {
            assertThat(run(verb, "--home", ".klock", "none")).as(verb).isEqualTo(2);
            assertThat(err).as(verb).endsWith("; see java -jar klock.jar sessions --home .klock\n");
        }
        Files.move(home, Files.createDirectory(work("$x")).resolve(".klock"));
        assertThat(run("undo", "--home", "$x/.klock")).as(out + err).isEqualTo(4);
        assertThat(err).endsWith("java -jar klock.jar backups prune --home '$x/.klock' --older-than 0\n");
    }

    @Test
    void recover_advisesWithTheHomeThatWasGiven() throws Exception {
        PastSession.killed(home, "s", work -> {
            work.write(a, "two\n");
            work.write(b, "two\n");
        });
        Files.writeString(a, "mine, and longer");
        Files.writeString(home.resolve("backups/s/lost-leases"), "");
        assertThat(run("recover", "--home", ".klock")).as(out + err).isZero();
        assertThat(out).contains("java -jar klock.jar undo --home .klock --session s\n");
    }

    @Test
    void advice_isQuotedForAShell() throws Exception {
        for (String word : List.of("a", "-x", "~", "a b", "it's", "$x`y`", "*", "", "ta\tb\\'", "ä", "\u0085", "!x")) {
            Process shell = new ProcessBuilder("bash", "-c", "printf '<%s>' " + Advice.quoted(word)).redirectErrorStream(true).start();
            assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("<" + word + ">");
        }
        assertThat(Advice.line("undo", "s", null, "-x")).isEqualTo("java -jar klock.jar undo --session s -- '-x'");
    }

    /** A session that changes texts of all kinds, and what they were before. */
    private Map<Path, String> changedTexts() throws Exception {
        Map<Path, String> before = new LinkedHashMap<>();
        Map<Path, String> after = new LinkedHashMap<>();
        String[][] texts = {{"crlf", "one\r\ntwo\r\nthree\r\n", "one\r\n2\r\nthree\r\n"}, {"literal", "a\r\nb\n", "a\\r\nb\n"},
            {"escape", "x = \"\\u001b\"\n", "x = \"\u001b[31m\"\n"}, {"no end", "one\ntwo", "one\ntwo\n"}, {"end", "one\ntwo\n", "one\n2"}, {"both", "one\ntwo", "1\ntwo"},
            {"emptied", "one\n", ""}, {"filled", "", "one\n"}, {"it's \"quoted\" \\ 100%", "one\n", "two\n"}, {"tab\tand\nnewline", "one\n", "two\n"}, {"bom\u00e4\u4e2d", "\ufeffone\n\u0085\n", "\ufefftwo\n\u0085\n"},
            {"separators", "a\u2028b\fc\n\u202ed\n", "a\u2028b\fc\n\u202ee\n"}, {"marks", "-- a\n++ b\n@@ c\n\\ d\n", "-- 1\n++ b\n@@ 2\n\\ d\ndiff --git a/x b/x\n"}};
        for (String[] text : texts) {
            before.put(Files.writeString(work(text[0]), text[1]), text[1]);
            after.put(work(text[0]), text[2]);
        }
        Path script = Files.writeString(work("script"), "one\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path gone = Files.writeString(work("gone"), "one\n");
        before.put(gone, "one\n");
        PastSession.done(home, "s", work -> {
            for (Map.Entry<Path, String> text : after.entrySet()) {
                work.write(text.getKey(), text.getValue());
            }
            work.write(work("made here"), "made\r\n");
            work.write(work("made empty"), "");
            work.delete(gone);
        });
        return before;
    }

    private int applied(Path in, String... command) throws Exception {
        Process process = new ProcessBuilder(command).directory(in.toFile()).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int status = process.waitFor();
        assertThat(status).as(said + "\n" + out).isZero();
        return status;
    }

    @Test
    void diff_redirected_isTakenBackByPatchAndGit_byteForByte() throws Exception {
        for (String tool : List.of("patch", "git")) {
            assumeTrue(Stream.of(System.getenv("PATH").split(":")).anyMatch(dir -> Files.isExecutable(Path.of(dir, tool))));
        }
        Map<Path, String> before = changedTexts();
        assertThat(run("diff")).as(out + err).isZero();
        Path diff = Files.writeString(work.resolveSibling(work.getFileName() + ".diff"), out);
        Map<Path, byte[]> after = new LinkedHashMap<>();
        for (Path file : before.keySet()) {
            after.put(file, Files.exists(file) ? Files.readAllBytes(file) : null);
        }
        for (String[] tool : new String[][] {{"patch", "-p1", "-s", "-i", diff.toString()}, {"git", "apply", diff.toString()}}) {
            String[] back = Arrays.copyOf(tool, tool.length + 1);
            back[tool.length] = "-R";
            applied(Path.of("/"), back);
            for (Map.Entry<Path, String> text : before.entrySet()) {
                assertThat(Files.readString(text.getKey())).as(tool[0] + " -R " + text.getKey() + out).isEqualTo(text.getValue());
            }
            assertThat(work("made here")).doesNotExist();
            assertThat(work("made empty")).doesNotExist();
            applied(Path.of("/"), tool);
            for (Map.Entry<Path, byte[]> text : after.entrySet()) {
                if (text.getValue() == null) {
                    assertThat(text.getKey()).doesNotExist();
                } else {
                    assertThat(Files.readAllBytes(text.getKey())).as(tool[0] + " " + text.getKey()).isEqualTo(text.getValue());
                }
            }
            assertThat(work("made here")).hasBinaryContent("made\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(work("made empty")).isEmptyFile();
        }
        Files.delete(diff);
    }

    @Test
    void diff_onATerminal_cannotActOnIt() throws Exception {
        changedTexts();
        shown = true;
        assertThat(run("diff")).as(out + err).isZero();
        assertThat(out).contains("-two\\r\n+2\\r\n", "\\u001b[31m", "\n+++ \"b" + work("made here") + "\"\n");
        assertThat(out.chars().filter(c -> c < 0x20 && c != '\n' || c >= 0x7f && c < 0xa0 || c == 0x2028 || c == 0x202e)).isEmpty();
    }

    @Test
    void diff_ofAnotherModeOrOwner_saysSo_alsoBesideAnotherText() throws Exception {
        Files.setPosixFilePermissions(a, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(b, PosixFilePermissions.fromString("rw-r--r--"));
        PastSession.done(home, "s", work -> {
            work.write(a, "two\n");
            work.chmod(a, "rw-------");
            work.chmod(b, "rwx--x--x");
        });
        assertThat(run("diff")).as(out + err).isZero();
        assertThat(out).contains("changed " + a + ": mode 755 -> 600\ndiff --git a" + a + " b" + a + "\nold mode 100755\nnew mode 100600\n--- a" + a + "\n",
                "changed " + b + ": a file of 4 bytes, mode 644 -> a file of 4 bytes, mode 711\ndiff --git a" + b + " b" + b + "\nold mode 100644\nnew mode 100711\n");
        assertThat(run("diff", "--json")).isZero();
        assertThat(out).contains("a file of 4 bytes, mode 755", "a file of 4 bytes, mode 600");
    }

    @Test
    void diff_ofAnotherOwner_saysSo() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")));
        PastSession.done(home, "s", work -> {
            work.write(a, "two\n");
            work.chmod(b, "rw-------");
            work.chmod(b, "rw-r--r--");
        });
        Files.setAttribute(a, "unix:uid", 4711);
        Files.setAttribute(b, "unix:gid", 4712);
        assertThat(run("diff")).as(out + err).isZero();
        assertThat(out).contains("changed " + a + ": owner 0:0 -> 4711:0\n", "changed " + b + ": a file of 4 bytes, mode 644, owner 0:0 -> a file of 4 bytes, mode 644, owner 0:4712\n");
        assertThat(run("diff", "--json")).isZero();
        assertThat(out).contains("\"is\" : \"a file of 4 bytes, mode 644, owner 4711:0\"");
    }

    @Test
    void name_asItIsPrinted_isUnderstood_unlessThereIsALiteralOne() throws Exception {
        Path odd = Files.writeString(work("ta\tb"), "one\n");
        Path other = Files.writeString(work("o\nther"), "one\n");
        Path literal = Files.writeString(work("o\\x0ather"), "one\n");
        PastSession.done(home, "s", work -> {
            work.write(odd, "two\n");
            work.write(other, "two\n");
            work.write(literal, "two\n");
        });
        assertThat(run("diff", "ta\\x09b")).as(err).isZero();
        assertThat(out).startsWith("changed " + work + "/ta\\x09b\n");
        assertThat(run("diff", "--json")).as(err).isZero();
        assertThat(out).contains("\"path\" : \"" + work + "/ta\\tb\"", "\"path\" : \"" + work + "/o\\nther\"", "\"path\" : \"" + work + "/o\\\\x5cx0ather\"");
        assertThat(run("undo", "--json", work + "/ta\\x09b")).as(err).isZero();
        assertThat(out).contains("\"path\" : \"" + work + "/ta\\tb\"");
        assertThat(odd).hasContent("one\n");
        assertThat(run("undo", "o\\x0ather")).as(err).isZero();
        assertThat(other).hasContent("two\n");
        assertThat(literal).hasContent("one\n");
        Files.delete(literal);
        assertThat(run("undo", "--dry-run", "o\\x0ather")).as("it is recorded: " + out).isEqualTo(4);
        assertThat(run("undo", "o\\x5cx0ather")).as(err).isEqualTo(4);
        assertThat(run("undo", "o\\x0bther")).isEqualTo(2);
        assertThat(err).endsWith("changed nothing at or below o\\x0bther\n");
        assertThat(run("undo")).as(out).isEqualTo(4);
        assertThat(other).hasContent("one\n");
    }

    @Test
    void name_thatTheLocaleCannotGive_isRefusedWithWhatToDo() throws Exception {
        PastSession.wrote(home, "s", a, "two\n");
        for (String verb : List.of("undo", "diff")) {
            assertThat(run(verb, "\ufffd\ufffd")).isEqualTo(2);
            assertThat(err).isEqualTo("klock: PATH \ufffd\ufffd is not known as it was typed: it is not UTF-8; write each byte that is none of a character as \\xNN, as diff does, or name a directory above it\n");
            encoding = "ANSI_X3.4-1968";
            assertThat(run(verb, "??")).isEqualTo(2);
            assertThat(err).contains("the locale's encoding, ANSI_X3.4-1968, has not all of its characters; set LC_ALL=C.UTF-8, or ");
            encoding = "UTF-8";
            assertThat(run(verb, "??")).isEqualTo(2);
            assertThat(err).endsWith("changed nothing at or below ??\n");
        }
        encoding = "ANSI_X3.4-1968";
        PastSession.wrote(home, "s2", Files.writeString(work("?"), "one\n"), "two\n");
        assertThat(run("undo", "--session", "s2", "?")).as(err).isZero();
        PastSession.wrote(home, "s3", Files.writeString(work("\u00e4"), "one\n"), "two\n");
        assertThat(run("undo", "--session", "s3", "\\xc3\\xa4")).as(err).isZero();
        assertThat(work("\u00e4")).hasContent("one\n");
    }

    @Test
    void undo_belowALink_saysWhatToDo_notToForce() throws Exception {
        Path d = Files.createDirectory(work("d"));
        Files.writeString(d.resolve("f"), "one\n");
        PastSession.done(home, "s", work -> work.write(d.resolve("f"), "two\n"));
        Files.move(d, work("real"));
        Files.createSymbolicLink(d, Files.createDirectory(work("victim")));

        for (String[] verb : new String[][] {{"undo", "--force"}, {"undo"}, {"undo", "d/f"}}) {
            assertThat(run(verb)).as(out + err).isEqualTo(4);
            assertThat(out).contains(d + " is a symbolic link now").doesNotContain("undo --force")
                    .endsWith("something in its way that stays, forced or not; take that away, then: java -jar klock.jar undo --session s" + (verb.length > 1 && !verb[1].startsWith("-") ? " d/f\n" : "\n"));
        }
        Files.writeString(a, "mine");
        Files.delete(d);
        Files.move(work("real"), d);
        assertThat(run("undo")).as(out + err).isZero();
        assertThat(d.resolve("f")).hasContent("one\n");
    }

    @Test
    void undo_whatForceLeavesBesideWhatItWouldNot_advisesBoth() throws Exception {
        Path made = work("made");
        PastSession.done(home, "s", work -> {
            work.mkdir(made);
            work.write(a, "two\n");
        });
        Files.writeString(made.resolve("theirs"), "theirs");
        assertThat(run("undo")).as(out + err).isEqualTo(4);
        assertThat(out).contains("take that away, then: java -jar klock.jar undo --session s\n").doesNotContain("--force");
        PastSession.wrote(home, "s2", b, "two\n");
        Files.writeString(b, "mine");
        assertThat(run("undo")).as(out + err).isEqualTo(4);
        assertThat(out).contains("by: java -jar klock.jar undo --force --session s2\n").doesNotContain("take that away");
    }

    @Test
    void undo_forcedButDry_tellsWhoseWorkWouldGiveWay() throws Exception {
        PastSession.done(home, "s", work -> {
            work.write(a, "two\n");
            work.write(b, "two\n");
            work.write(work("made"), "two\n");
            work.write(work("gone"), "two\n");
        });
        Files.writeString(b, "theirs\n");
        Files.setPosixFilePermissions(work("made"), PosixFilePermissions.fromString("rwx------"));
        Files.delete(work("gone"));

        assertThat(run("undo", "--force", "--dry-run")).as(out + err).isZero();
        assertThat(out).contains("restored  " + a + "\n", "restored  " + b + " (changed by someone else since: now a file of 7 bytes; it would give way)\n",
                "removed  " + work("made") + " (changed by someone else since, but for its content: now a file of 4 bytes; it would give way)\n",
                "\nof these 2 are somebody else's work, which would give way; their files are kept, and named then\n");
        assertThat(b).hasContent("theirs\n");
        assertThat(run("undo", "--force")).as(out + err).isZero();
        assertThat(out).contains(b + " (what was there is kept): ").doesNotContain("give way");
    }

    @Test
    void undo_ofAFileThatFails_isNotVerified() throws Exception {
        PastSession.done(home, "s", work -> {
            work.write(a, "two\n");
            work.write(b, "two\n");
        });
        assumeTrue(chattr("+i"));
        try {
            assertThat(run("undo")).as(out + err).isEqualTo(1);
            assertThat(out).contains("1 restored (1 verified)", "1 failed");
        } finally {
            chattr("-i");
        }
        assertThat(run("undo")).as(out + err).isZero();
        assertThat(a).hasContent("one\n");
    }

    private boolean chattr(String flag) throws Exception {
        return new ProcessBuilder("sh", "-c", "chattr " + flag + " a 2> /dev/null").directory(work.toFile()).start().waitFor() == 0;
    }

    @Test
    void home_thatIsNamed_isUsedBesideAManifestThatIsNot() throws Exception {
        PastSession.wrote(home, "s", a, "two\n");
        Files.writeString(work("klock.yaml"), "ver: \"1.0\"\nagent_id: agent\nscope: []\n");
        Files.setPosixFilePermissions(work("klock.yaml"), PosixFilePermissions.fromString("rw-rw-rw-"));
        for (String verb : List.of("undo", "diff", "sessions", "recover", "status")) {
            assertThat(run(verb)).as(verb).isEqualTo(2);
            assertThat(err).isEqualTo("klock: " + work("klock.yaml") + " is not used unless it is named: everybody may write to it; give --home DIRECTORY, the home that is meant\n");
        }
        for (String verb : List.of("check", "tighten", "backups")) {
            assertThat(verb.equals("check") ? run(verb, "MUTATES", "FILE:/x") : verb.equals("tighten") ? run(verb) : run(verb, "estimate")).as(verb + out + err).isEqualTo(2);
            assertThat(err).as(verb).endsWith("; give --manifest PATH if it is what you want\n");
        }
        assertThat(run("validate")).isEqualTo(2);
        assertThat(err).endsWith("; give it as MANIFEST if it is what you want\n");
        for (String verb : List.of("sessions", "diff", "recover", "undo")) {
            assertThat(run(verb, "--home", home.toString())).as(verb + err).isZero();
        }
        assertThat(a).hasContent("one\n");
    }

    @Test
    void home_ofAnotherUser_isUsedByRoot_ifItIsNamed() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")));
        PastSession.wrote(home, "s", a, "two\n");
        Files.setAttribute(home, "unix:uid", 4711);
        assertThat(run("undo")).isEqualTo(2);
        assertThat(err).endsWith("belongs to another user (uid 4711, not 0); give --home DIRECTORY\n");
        assertThat(run("undo", "--home", home.toString())).as(err).isZero();
        assertThat(a).hasContent("one\n");
    }

    @Test
    void prune_ofWhatCannotBeRemoved_saysSo() throws Exception {
        two();
        Path lock = home.resolve("backups/s1/lock");
        Files.delete(lock);
        Files.createDirectory(lock);
        assertThat(run("backups", "prune", "--older-than", "1")).as(out + err).isZero();
        assertThat(run("backups", "prune", "--older-than", "0")).as(out + err).isEqualTo(1);
        assertThat(out).contains("removed s2, ", "not removed s1: its lock " + lock + ": Is a directory\n", "1 sessions' images removed, ").endsWith("; 1 could not be removed\n");
        assertThat(run("backups", "prune", "--max-bytes", "0", "--json")).as(out + err).isEqualTo(1);
        assertThat(out).contains("\"session_id\" : \"s1\"", "\"failure\" : \"its lock ");
        Files.delete(lock);
        assertThat(run("backups", "prune", "--older-than", "0")).as(out + err).isZero();
        assertThat(out).endsWith(" bytes\n");
    }

    private Path work(String name) {
        return work.resolve(name);
    }

    @Test
    void session_ofANewerKlock_isListedAndStopsUndoOnlyIfItIsTheLast() throws Exception {
        two();
        Files.createDirectories(home.resolve("backups/s3"));
        PastSession.ofAnotherVersion(home, "s3");
        assertThat(run("sessions")).as(err).isZero();
        assertThat(out).contains("s3  ?  ?  unknown: images of 0 paths", "was written by another version of klock");
        assertThat(run("undo")).isEqualTo(1);
        assertThat(err).contains("the last session is s3, and it cannot be read: ");
        assertThat(run("undo", "--session", "s2")).as(out + err).isZero();
    }
}
