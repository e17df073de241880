package dev.klock.sandbox.many;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code undo} changes nobody else has in hand meanwhile. */
class UndoBesideTest {
    private static final int REFUSED = 4;
    /** Enough for an undo to be met in its middle. */
    private static final int MANY = 600;

    private final Jdk jdk = Jdks.newest();

    @TempDir
    Path directory;

    private Workspace w;

    @BeforeEach
    void makeWorkspace() {
        w = Workspace.in(directory);
    }

    /** An agent that may change these paths, which may be patterns. */
    private Child agent(String id, String options, List<String> paths, String... steps) {
        StringBuilder manifest = new StringBuilder("ver: \"1.0\"\nagent_id: " + id + "\nscope:\n  - CONSUMES FILE:" + w.root() + "/w/in/**\n  - PROVIDES FILE:" + w.root() + '/' + id
                + "-ready\n");
        for (String path : paths) {
            for (String predicate : path.endsWith("/**") ? new String[] {"MUTATES", "PROVIDES", "DELETES", "RENAMES"} : new String[] {"MUTATES"}) {
                manifest.append("  - ").append(predicate).append(" FILE:").append(w.root()).append('/').append(path).append('\n');
            }
        }
        return Child.on(jdk).in(w.root()).main(Script.class, steps).file(id + ".yaml", manifest.toString()).klock("manifest=" + id + ".yaml" + options);
    }

    /** Changes what is below {@code w/out}, and ends well. */
    private void first(String... steps) {
        Outcome done = agent("first", "", List.of("w/out/**"), steps).run();
        assertThat(done.exit()).as(done.toString()).isZero();
    }

    /** Holds these paths until {@code w/in/go} is there. */
    private Child.Running holder(String... paths) {
        return agent("holder", "", List.of(paths), "write holder-ready now", "await w/in/go").begin().until(w.root().resolve("holder-ready"));
    }

    private void go() throws IOException {
        Files.createFile(w.root().resolve("w/in/go"));
    }

    private Child undo(String... more) {
        List<String> words = new ArrayList<>(List.of("undo"));
        words.addAll(List.of(more));
        return Child.on(jdk).in(w.root()).verb(words.toArray(String[]::new));
    }

    private Child undoFirst(String... more) {
        List<String> words = new ArrayList<>(List.of("--session", firstSession()));
        words.addAll(List.of(more));
        return undo(words.toArray(String[]::new));
    }

    /** The last session of {@link #first}. */
    private String firstSession() {
        List<String> lines = Child.on(jdk).in(w.root()).verb("sessions").run().out().lines().filter(line -> line.contains("  first  ")).toList();
        return lines.get(lines.size() - 1).split("\\s+")[1];
    }

    private String status() {
        return Child.on(jdk).in(w.root()).verb("status").run().out();
    }

    private static void completed(Child.Running one) {
        Outcome outcome = one.await();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
    }

    private Path many(int i) {
        return w.root().resolve("w/out/many/f" + i);
    }

    /** A session that has changed many files, and its undo, stopped when some are back and others are not. */
    private Child.Running undoInItsMiddle() throws IOException {
        Files.createDirectories(many(0).getParent());
        for (int i = 0; i < MANY; i++) {
            Files.writeString(many(i), "old");
        }
        first(IntStream.range(0, MANY).mapToObj(i -> "write w/out/many/f" + i + " new").toArray(String[]::new));
        Child.Running undo = undo().begin();
        while (countOld() == 0) {
            assertThat(undo.process().isAlive()).isTrue();
        }
        undo.signal("STOP");
        assertThat(countOld()).isLessThan(MANY);
        return undo;
    }

    private int countOld() throws IOException {
        int old = 0;
        for (int i = 0; i < MANY; i++) {
            old += Files.exists(many(i)) && Files.readString(many(i)).equals("old") ? 1 : 0;
        }
        return old;
    }

    @Test
    void undo_ofWhatALiveSessionHolds_changesNothing_andSaysWhoHoldsIt() throws IOException {
        first("write w/out/a new", "write w/out/c/d new");
        Child.Running holder = holder("w/out/a");

        Outcome refused = undoFirst().run();
        Outcome elsewhere = undoFirst("w/out/c").run();
        Outcome dry = undoFirst("--dry-run").run();

        assertThat(refused.exit()).as(refused.toString()).isEqualTo(REFUSED);
        assertThat(refused.out()).isEmpty();
        assertThat(refused.err().lines()).singleElement().asString().contains("holder/").contains("(process " + holder.process().pid() + ")").contains("FILE:" + w.root() + "/w/out/a")
                .contains("java -jar klock.jar status").contains("--force");
        assertThat(elsewhere.exit()).as(elsewhere.toString()).isZero();
        assertThat(w.root().resolve("w/out/c/d")).hasContent("first of w/out/c/d");
        assertThat(w.root().resolve("w/out/a")).hasContent("new");
        assertThat(dry.exit()).as(dry.toString()).isZero();
        assertThat(status()).contains("holder/").doesNotContain("klock-undo");

        Outcome forced = undoFirst("--force").run();

        assertThat(forced.exit()).as(forced.toString()).isZero();
        assertThat(forced.err()).contains("goes on without a lease: holder/");
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a");
        go();
        completed(holder);
    }

    @Test
    void undo_ofADirectoryThatTheSessionMoved_isInTheWayOfWhoeverWorksInIt() throws IOException {
        first("move w/out/c w/out/moved");
        Child.Running holder = holder("w/out/moved/d");

        Outcome refused = undoFirst().run();
        go();
        completed(holder);
        Outcome later = undoFirst().run();

        assertThat(refused.exit()).as(refused.toString()).isEqualTo(REFUSED);
        assertThat(later.exit()).as(later.toString()).isZero();
        assertThat(w.root().resolve("w/out/c/d")).hasContent("first of w/out/c/d");
    }

    @Test
    void undo_besideASessionWithAnotherScope_isDone_alsoWhereNothingWasSharedBefore() throws IOException {
        first("write w/out/a new");
        Path kernel = w.root().resolve(".klock/kernel");
        try (Stream<Path> files = Files.list(kernel)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(kernel);
        Outcome alone = undo().run();
        assertThat(alone.exit()).as(alone.toString()).isZero();
        assertThat(alone.err()).isEmpty();
        assertThat(kernel).isDirectory();
        assertThat(status()).isEqualTo("no agent is at work\n");

        first("write w/out/a new");
        Child.Running holder = holder("w/out/b", "w/out/c/**");
        Outcome undone = undoFirst().run();
        go();

        assertThat(undone.exit()).as(undone.toString()).isZero();
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a");
        completed(holder);
    }

    @Test
    void program_thatStartsDuringAnUndo_waitsForIt_andAnotherUndoGoesItsOwnWay() throws IOException {
        first("write w/out/a new");
        String earlier = firstSession();
        Child.Running undo = undoInItsMiddle();

        Child.Running program = agent("next", "", List.of("w/out/many/**"), "list w/out/many", "read w/out/many/f0", "read w/out/many/f" + (MANY - 1)).begin()
                .untilSays("waits for a lease");
        Outcome apart = undo("--session", earlier).run();
        undo.signal("CONT");
        completed(undo);
        Outcome ran = program.await();

        assertThat(apart.exit()).as(apart.toString()).isZero();
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a");
        assertThat(ran.exit()).as(ran.toString()).isZero();
        assertThat(ran.err()).contains("of klock-undo/");
        assertThat(ran.out()).contains("oldold").doesNotContain("klock-restore");
    }

    @Test
    void undo_whoseLeasesAreLost_stops_andTheNextOneFinishesIt() throws IOException {
        Child.Running undo = undoInItsMiddle();
        try (Stream<Path> files = Files.list(w.root().resolve(".klock/kernel"))) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Child.Running.pause(1100);
        Outcome lost = undo.signal("CONT").await();
        int old = countOld();
        Outcome again = undo().run();

        assertThat(lost.exit()).as(lost.toString()).isEqualTo(REFUSED);
        assertThat(lost.err()).contains("its leases were lost");
        assertThat(old).isBetween(1, MANY - 1);
        assertThat(again.exit()).as(again.toString()).isZero();
        assertThat(countOld()).isEqualTo(MANY);
    }

    @Test
    void undo_thatIsKilled_blocksNobody() throws IOException {
        Child.Running undo = undoInItsMiddle();
        undo.kill();
        undo.await();

        Outcome next = agent("next", "", List.of("w/out/**"), "append w/out/a next").run();
        Outcome again = undo("w/out/many").run();

        assertThat(next.exit()).as(next.toString()).isZero();
        assertThat(next.err()).doesNotContain("waits");
        assertThat(status()).isEqualTo("no agent is at work\n");
        assertThat(again.exit()).as(again.toString()).isEqualTo(2);
        assertThat(undoFirst().run().exit()).isZero();
        assertThat(countOld()).isEqualTo(MANY);
    }

    @Test
    void holder_thatIsKilled_isRolledBackFirst_andBlocksNoUndo() {
        first("write w/out/a new");
        Child.Running killed = agent("killed", "", List.of("w/out/**"), "write w/out/a half", "delete w/out/b", "write killed-ready now", "sleep 60000").begin()
                .until(w.root().resolve("killed-ready"));
        killed.kill();
        killed.await();

        Outcome undone = undoFirst().run();

        assertThat(undone.exit()).as(undone.toString()).isZero();
        assertThat(undone.err()).contains("crashed and was rolled back");
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a");
        assertThat(w.root().resolve("w/out/b")).hasContent("first of w/out/b");
        assertThat(status()).isEqualTo("no agent is at work\n");
    }

    /** An agent that takes back what it did in an earlier run, say. */
    @Test
    void undo_thatTheHolderHasStarted_worksUnderItsLeases() throws IOException {
        first("write w/out/a new");
        String java = jdk.home().resolve("bin/java").toRealPath().toString();
        String manifest = """
                ver: "1.0"
                agent_id: parent
                scope:
                  - MUTATES FILE:%1$s/w/out/**
                  - CONSUMES FILE:%1$s/**
                  - {predicate: PROVIDES, resource: "PROCESS:%2$s", effects: ["MUTATES FILE:%1$s/w/out/**"]}
                """.formatted(w.root(), java);
        Outcome ran = Child.on(jdk).in(w.root()).main(Script.class, "run " + java + " -jar " + KlockJar.path() + " undo --session " + firstSession())
                .file("parent.yaml", manifest).klock("manifest=parent.yaml").run();

        assertThat(ran.exit()).as(ran.toString()).isZero();
        assertThat(ran.out()).as(ran.toString()).contains("1 restored").contains("ended with 0");
        assertThat(w.root().resolve("w/out/a")).hasContent("first of w/out/a");
    }
}
