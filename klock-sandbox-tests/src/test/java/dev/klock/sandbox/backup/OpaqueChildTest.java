package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.util.stream.Stream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What programs do that klock cannot see into: the difference that they leave is told, judged and undone. */
@Tag("K6-7")
class OpaqueChildTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String[] WORK = {"run /usr/bin/touch w/out/made", "run /usr/bin/rm w/out/b", "run /usr/bin/cp w/in/a w/out/a",
        "run /usr/bin/mkdir -p w/out/new/deep"};

    @TempDir
    Path directory;

    private Outcome run(Jdk jdk, Workspace workspace, String more, String... then) {
        StringBuilder manifest = new StringBuilder("ver: \"1.0\"\nsession_id: opaque\nagent_id: tester\nscope:\n");
        for (String tool : new String[] {"touch", "rm", "cp", "mkdir"}) {
            manifest.append("  - predicate: PROVIDES\n    resource: PROCESS:/usr/bin/").append(tool).append("\n    effects: [MUTATES FILE:")
                    .append(workspace.root()).append("/w/out/**]\n");
        }
        List<String> steps = new ArrayList<>(List.of(WORK));
        steps.addAll(List.of(then));
        return Child.on(jdk).in(directory).main(Script.class, steps.toArray(new String[0])).klock("").manifest(manifest + more).run();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void difference_ofChildrenInsideTheirEffects_isLoggedAsTriples(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);

        Outcome outcome = run(jdk, workspace, "");

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        List<String> triples = new ArrayList<>();
        for (JsonNode event : outcome.log().decided("allow")) {
            triples.add(event.path("predicate").asText() + " " + event.path("resource").asText().replace("FILE:" + workspace.root() + "/", ""));
        }
        assertThat(triples).contains("PROVIDES w/out/made", "DELETES w/out/b", "MUTATES w/out/a", "PROVIDES w/out/new", "PROVIDES w/out/new/deep");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void difference_ofChildren_isRolledBackWithTheSession(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();

        Outcome outcome = run(jdk, workspace, "", "write w/x stray");

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }

    private static String changesBelow(Workspace workspace) {
        StringBuilder lines = new StringBuilder();
        for (String predicate : new String[] {"CONSUMES", "MUTATES", "PROVIDES", "DELETES", "RENAMES"}) {
            lines.append("  - ").append(predicate).append(" FILE:").append(workspace.root()).append("/w/out/**\n");
        }
        return lines.toString();
    }

    /** What one has made, changed or taken away, the other makes, changes or takes away next. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void workOfChildrenAndTheProgramOnTheSamePaths_isRolledBack(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();

        Outcome outcome = run(jdk, workspace, changesBelow(workspace), "write w/out/made program", "delete w/out/new/deep",
                "run /usr/bin/mkdir w/out/new/deep", "run /usr/bin/touch w/out/second", "move w/out/second w/out/b", "delete w/out/a",
                "run /usr/bin/cp w/in/a w/out/a", "delete w/out/a", "run /usr/bin/mkdir w/out/a", "write w/x stray");

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("w/x");
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }

    /** It may just have ended when the JVM is killed, and nobody has looked at what it did. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    @Tag("C45")
    void workOfAChild_whenTheJvmIsKilled_isRolledBack(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();
        String manifest = "ver: \"1.0\"\nsession_id: killed\nagent_id: tester\nscope:\n  - predicate: PROVIDES\n    resource: PROCESS:/usr/bin/mkdir\n"
                + "    effects: [MUTATES FILE:" + workspace.root() + "/w/out/**]\n";

        Child.on(jdk).in(directory).main(Script.class, "run /usr/bin/mkdir -p w/out/new/deep", "sleep 60000").klock("").manifest(manifest)
                .killedWhen(workspace.root().resolve("w/out/new/deep"), Duration.ZERO);
        Outcome recover = Child.on(jdk).in(directory).verb("recover").run();

        assertThat(recover.exit()).as(recover.toString()).isZero();
        assertThat(workspace.tree().visible()).as(recover.toString()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    @Tag("K6-5")
    void difference_thatADenyLineForbids_isAViolationAndRolledBack(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();

        Outcome outcome = run(jdk, workspace, "deny:\n  - MUTATES FILE:" + workspace.root() + "/w/out/a\n");

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("Agent attempted MUTATES on FILE:" + workspace.root() + "/w/out/a");
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }

    private Outcome shell(Jdk jdk, Workspace workspace, String options, String effects, String... steps) throws IOException {
        String manifest = "ver: \"1.0\"\nsession_id: opaque\nagent_id: tester\nscope:\n  - CONSUMES FILE:" + workspace.root() + "/w/**\n"
                + "  - MUTATES FILE:" + workspace.root() + "/w/out/*\n  - PROVIDES FILE:" + workspace.root() + "/w/out/*\n"
                + "  - {predicate: PROVIDES, resource: \"PROCESS:/bin/sh\", effects: [" + effects + "]}\n";
        return Child.on(jdk).in(workspace.root()).main(Script.class, steps).klock(options).manifest(manifest).run();
    }

    private static Path script(Path directory, String name, String text) throws IOException {
        Path script = Files.writeString(directory.resolve(name), "#!/bin/sh\n" + text + "\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return script;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-E11")
    void change_outsideOfTheEffects_isToldInEachMode(Jdk jdk) throws IOException {
        for (String mode : new String[] {"strict", "block", "permissive"}) {
            Workspace workspace = Workspace.in(Files.createDirectory(directory.resolve(mode)));
            script(workspace.root(), "strays.sh", "echo more >> w/x; echo new > w/in/new; rm w/private/p; mkdir w/out/made; chmod 600 w/out/c/d");

            Outcome outcome = shell(jdk, workspace, "mode=" + mode, "\"MUTATES FILE:" + workspace.root() + "/w/out/made\"", "write w/out/a own", "run /bin/sh strays.sh",
                    "write w/out/b own");

            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            List<String> told = new ArrayList<>();
            for (JsonNode event : outcome.log().decided("warn")) {
                assertThat(event.path("decided_by").asText()).isEqualTo("child");
                told.add(event.path("predicate").asText() + " " + event.path("resource").asText().replace("FILE:" + workspace.root() + "/", ""));
            }
            assertThat(told).as(outcome.toString()).containsExactlyInAnyOrder("MUTATES w/x", "MUTATES w/in/new", "MUTATES w/private", "MUTATES w/out/c/d");
            assertThat(outcome.err()).contains("FILE:" + workspace.root() + "/w/x was changed while PROCESS:").contains("not put back");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-E11")
    void change_insideTheEffectsOrByTheProgramItself_isNotBlamedOnAChild(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "echo more >> w/out/b; echo new > w/out/new; rm w/out/c/d");

        Outcome outcome = shell(jdk, workspace, "", "\"MUTATES FILE:" + workspace.root() + "/w/out/**\"", "write w/out/a own", "run /bin/sh works.sh", "write w/out/made own");

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.log().decided("warn")).as(outcome.toString()).isEmpty();
        assertThat(outcome.err()).doesNotContain("was changed while");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-E05")
    void program_thatRunsWhateverItIsTold_isReportedOnce(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "nothing.sh", "true");

        Outcome outcome = shell(jdk, workspace, "", "", "run /bin/sh nothing.sh", "run /bin/sh nothing.sh");

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.klockLines().stream().filter(line -> line.contains("is open-ended"))).as(outcome.toString()).hasSize(1);
        assertThat(outcome.log().records().stream().filter(record -> record.path("note").asText().contains("open-ended"))).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    @Tag("FIELD-E01")
    void whatAChildWritesToARedirect_isTheSessionsAndPutBack(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "late.sh", "sleep 0.3; echo late");
        String before = workspace.tree().visible();

        Outcome outcome = shell(jdk, workspace, "", "", "run-to w/out/a /bin/sh late.sh", "run-onto w/out/b /bin/sh late.sh",
                "run-to w/out/new /bin/sh late.sh", "read w/out/new", "write w/x stray");

        assertThat(outcome.out()).as(outcome.toString()).contains("late");
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).doesNotContain("not rolled back");
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void outputOfTheProgram_whereAChildMayChangeAll_isNotTheChilds(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "echo more >> w/out/b");
        String before = Files.readString(workspace.root().resolve("w/out/b"));

        Outcome outcome = workspace.bare(jdk, "print hello", "run /bin/sh works.sh", "write w/x stray").klock("").manifest(manifest(workspace))
                .through("/bin/sh", "-c", "exec \"$@\" > w/out/run.out 2> w/out/run.err", "sh").run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(Files.readString(workspace.root().resolve("w/out/run.out"))).contains("hello\n");
        assertThat(Files.readString(workspace.root().resolve("w/out/run.err"))).contains("aborted: 1 denied").contains("rolled back")
                .doesNotContain("not rolled back");
        assertThat(workspace.root().resolve("w/out/b")).hasContent(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C32")
    void whatChangesWhileAChildRuns_mayBeSomebodyElses_soACopyIsKeptAndNamed(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "echo by hand > w/out/a; echo fresh > w/out/fresh");
        String before = workspace.tree().visible();

        Outcome outcome = workspace.bare(jdk, "write w/out/b own", "run /bin/sh works.sh", "write w/x stray").klock("").manifest(manifest(workspace)).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
        assertThat(outcome.err()).as(outcome.toString()).containsPattern("what was there of 3 files, 2 of which may be somebody else's, is in \\S+/displaced");
        Path kept = Path.of(outcome.err().replaceAll("(?s).*else's, is in (\\S+).*", "$1"));
        try (Stream<Path> files = Files.list(kept)) {
            assertThat(files.filter(file -> file.toString().matches(".*-(a|fresh)")).map(file -> read(file))).containsExactlyInAnyOrder("by hand\n", "fresh\n");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void childThatRemovesKlocksHome_isAViolation_andAllItChangedComesBack(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "rm -rf .klock w/out/c; echo gone > w/out/a");
        String before = workspace.tree().visible();

        Outcome outcome = workspace.bare(jdk, "write w/out/b own", "run /bin/sh works.sh", "sleep 60000").klock("").manifest(manifest(workspace)).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
        assertThat(outcome.err()).contains("were removed or moved while a child ran").contains("it is klock's own").contains(" is gone").doesNotContain("not rolled back");
        assertHomeWorks(jdk, workspace, before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void childThatMovesKlocksHomeAway_leavesAHomeThatWorks(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "mv .klock moved; echo gone > w/out/a");
        String before = workspace.tree().visible();

        Outcome outcome = workspace.bare(jdk, "write w/out/b own", "run /bin/sh works.sh", "sleep 60000").klock("").manifest(manifest(workspace)).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
        assertHomeWorks(jdk, workspace, before);
    }

    /** What the rollback put aside made a home again: it is named, and the next session can start and be undone. */
    private void assertHomeWorks(Jdk jdk, Workspace workspace, String before) throws IOException {
        Outcome sessions = Child.on(jdk).in(workspace.root()).verb("sessions").run();
        assertThat(sessions.exit()).as(sessions.toString()).isZero();
        assertThat(sessions.out()).contains("its log is gone, what a rollback put aside is in " + workspace.root() + "/.klock/backups/");
        Outcome recover = Child.on(jdk).in(workspace.root()).verb("recover").run();
        assertThat(recover.exit()).as(recover.toString()).isZero();
        Outcome next = workspace.bare(jdk, "write w/out/b again").klock("").manifest(manifest(workspace)).run();
        assertThat(next.exit()).as(next.toString()).isZero();
        Outcome undo = Child.on(jdk).in(workspace.root()).verb("undo").run();
        assertThat(undo.exit()).as(undo.toString()).isZero();
        assertThat(workspace.tree().visible()).as(undo.toString()).isEqualTo(before);
    }

    /** The accident to think of: a change of all files below the project. Each of them is another file then. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void childThatReplacesAllOfKlocksFiles_isAViolation_andAllItChangedComesBack(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "find w/out .klock/backups -type f -exec sed -i s/[a-z]/X/g {} +");
        String before = workspace.tree().visible();

        Outcome outcome = workspace.bare(jdk, "write w/out/b own", "run /bin/sh works.sh", "sleep 60000").klock("").manifest(manifest(workspace)).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
        assertThat(outcome.err()).contains("/pack was changed while a child ran: it is put back").contains("it is klock's own").doesNotContain("not rolled back");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void childThatCutsTheJournal_endsTheSession_andWhatIsLostIsNamed(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "for p in .klock/backups/*/pack; do truncate -s 100 $p; done; echo more >> w/out/a; echo new > w/out/made; sleep 60");

        Outcome outcome = workspace.bare(jdk, "write w/out/b own", "run /bin/sh works.sh").klock("").manifest(manifest(workspace)).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).containsPattern("/pack was changed while a child ran: the images of \\d+ files are lost")
                .contains("not rolled back: FILE:" + workspace.root() + "/w/out/b");
        assertThat(workspace.root().resolve("w/out/made")).doesNotExist();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void childThatReplacesTheJournal_inPermissive_isToldAndCanBeUndone(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "for p in .klock/backups/*/pack; do sed -i s/[a-z]/X/g $p; done; echo more >> w/out/a");
        String before = workspace.tree().visible();

        Outcome outcome = workspace.bare(jdk, "write w/out/b own", "run /bin/sh works.sh", "write w/out/b more").klock("mode=permissive")
                .manifest(manifest(workspace)).run();
        Outcome undo = Child.on(jdk).in(workspace.root()).verb("undo").run();

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.err()).contains("/pack was changed while a child ran: it is put back");
        assertThat(undo.exit()).as(undo.toString()).isZero();
        assertThat(workspace.tree().visible()).as(undo.toString()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void childThatGivesTheJournalOneMoreName_changesNothing(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "ln .klock/backups/*/pack .klock/another; echo more >> w/out/a");

        Outcome outcome = workspace.bare(jdk, "write w/out/b own", "run /bin/sh works.sh").klock("").manifest(manifest(workspace)).run();

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.err()).doesNotContain("klock's own");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C32")
    void whatAnotherSessionDoesWhileAChildRuns_isItsOwn(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(directory, "works.sh", "echo child > w/out/b; echo yes > w/in/started; while [ ! -e w/out/fresh ]; do sleep 0.05; done; sleep 0.5");
        String before = Files.readString(workspace.root().resolve("w/out/b"));

        Child.Running first = workspace.bare(jdk, "run /bin/sh works.sh", "write w/x stray").klock("").manifest(manifest(workspace)).begin()
                .until(workspace.root().resolve("w/in/started"));
        // one that has its leases could not
        Outcome second = workspace.bare(jdk, "write w/out/a second", "delete w/out/c/d", "write w/out/fresh second").klock("mode=permissive")
                .manifest(manifest(workspace)).run();
        List<Outcome> both = List.of(first.await(), second);

        assertThat(both.get(0).exit()).as(both.get(0).toString()).isEqualTo(108);
        assertThat(both.get(1).exit()).as(both.get(1).toString()).isZero();
        assertThat(workspace.root().resolve("w/out/a")).hasContent("second");
        assertThat(workspace.root().resolve("w/out/fresh")).hasContent("second");
        assertThat(workspace.root().resolve("w/out/c/d")).doesNotExist();
        assertThat(workspace.root().resolve("w/out/b")).hasContent(before);
        assertThat(both.get(0).err()).containsPattern("the work of session straying(-2)?, which ran at the same time");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String manifest(Workspace workspace) throws IOException {
        return workspace.manifest() + "  - predicate: PROVIDES\n    resource: PROCESS:" + Path.of("/bin/sh").toRealPath()
                + "\n    effects: [\"MUTATES FILE:" + workspace.root() + "/w/out/**\"]\n";
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-7")
    void childWhoseDirectoryHoldsSomethingDenied_isRefusedByThatLine(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        String manifest = workspace.manifest() + "  - MUTATES FILE:" + workspace.root() + "/**\n  - PROVIDES PROCESS:" + Path.of("/bin/sh").toRealPath()
                + "\ndeny:\n  - CONSUMES FILE:" + workspace.root() + "/w/private/p\n";

        Outcome outcome = workspace.bare(jdk, "run /bin/sh nothing.sh").klock("").manifest(manifest).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("but the manifest denies it").contains("denied by CONSUMES FILE:" + workspace.root() + "/w/private/p (klock.yaml:")
                .contains("say there what it may: effects: [...]").doesNotContain("to allow it, add");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-7")
    void change_ofAChildThatNobodyDeclared_isToldInPermissive(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        script(workspace.root(), "strays.sh", "echo more >> w/x; echo new > w/in/new");

        Outcome outcome = workspace.watched(jdk, "mode=permissive", "run /bin/sh strays.sh").run();

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.err()).contains("FILE:" + workspace.root() + "/w/x was changed while PROCESS:", "FILE:" + workspace.root() + "/w/in/new was");
    }
}
