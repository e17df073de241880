package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What is in a home and was safe is gone: shortened, deleted, or in another place. Nothing is put back wrongly, and nothing is passed over
 * in silence.
 */
@Tag("C45")
@Tag("K6-5")
class DamagedTest {
    private static final byte[] BEFORE = Work.bytes("before");

    private Path temp;
    private Path home;
    private Path root;

    @BeforeEach
    void make() throws IOException {
        Path memory = Path.of("/dev/shm");
        temp = (Files.isWritable(memory) ? Files.createTempDirectory(memory, "klock") : Files.createTempDirectory("klock")).toRealPath();
        home = Files.createDirectory(temp.resolve(".klock"));
        root = Files.createDirectory(temp.resolve("w"));
    }

    @AfterEach
    void remove() throws IOException {
        RandomWorkTest.wipe(temp);
    }

    private Path session() {
        return home.resolve("backups/s");
    }

    private Path pack() {
        return session().resolve("pack");
    }

    private Path mark() {
        return home.resolve("backups/.open/s");
    }

    /** A session that changes one file, makes one, renames one and takes one away, and is killed then. */
    private void work() throws IOException {
        for (String name : List.of("a", "b", "c")) {
            Files.write(root.resolve(name), BEFORE);
        }
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            Work work = new Work(b);
            work.write(root.resolve("a"), "changed");
            work.write(root.resolve("new"), "made");
            work.rename(root.resolve("b"), root.resolve("b2"));
            work.delete(root.resolve("c"));
        }
    }

    private Map<String, String> contents() throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> all = Files.list(root)) {
            for (Path p : (Iterable<Path>) all::iterator) {
                contents.put(p.getFileName().toString(), Files.readString(p));
            }
        }
        return contents;
    }

    @Test
    void recovery_whoseImageCannotBeRead_keepsWhatWasMovedAndIsNotOver() throws IOException {
        byte[] text = "a text that is found in the pack".getBytes(StandardCharsets.UTF_8);
        Path moved = Files.write(Files.createDirectory(root.resolve("d")).resolve("f"), text);
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            new Work(b).rename(root.resolve("d"), root.resolve("e"));
        }
        int at = new String(Files.readAllBytes(pack()), StandardCharsets.ISO_8859_1).indexOf("a text that");
        overwrite(at, (byte) 'b');

        RollbackReport report = recover(false).get(0).report();

        assertThat(root.resolve("e/f")).hasBinaryContent(text);
        assertThat(report.complete()).as(report.toString()).isFalse();
        assertThat(report.toString()).contains("it holds " + root.resolve("e/f") + ", of which the image cannot be read");

        overwrite(at, (byte) 'a');
        assertThat(recover(true)).singleElement().satisfies(r -> assertThat(r.complete()).as(r.line()).isTrue());
        assertThat(moved).hasBinaryContent(text);
        assertThat(root.resolve("e")).doesNotExist();
    }

    private void overwrite(long at, byte with) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(pack().toFile(), "rw")) {
            file.seek(at);
            file.write(with);
        }
    }

    private List<Recovery.Result> recover(boolean thorough) throws IOException {
        return Recovery.run(home, null, thorough, Work.FILES);
    }

    @Test
    void recovery_fromAJournalCutAtAnyByte_isRightOrSaysWhatIsMissing() throws IOException {
        work();
        long size = Files.size(pack());
        long safe = ByteBuffer.wrap(Files.readAllBytes(mark())).getLong();
        assertThat(safe).isGreaterThan(500).isLessThanOrEqualTo(size);
        int told = 0;
        for (long at = 0; at < size; at++) {
            remove();
            Files.createDirectories(home);
            Files.createDirectories(root);
            work();
            Map<String, String> after = contents();
            try (RandomAccessFile file = new RandomAccessFile(pack().toFile(), "rw")) {
                file.setLength(at);
            }

            List<Recovery.Result> results = recover(false);

            assertThat(results).as("cut at %s", at).hasSize(1);
            RollbackReport report = results.get(0).report();
            Map<String, String> now = contents();
            Map<String, String> before = Map.of("a", "before", "b", "before", "c", "before");
            for (String name : List.of("a", "b", "b2", "c", "new")) {
                assertThat(now.get(name)).as("%s, cut at %s: %s", name, at, report).isIn(before.get(name), after.get(name));
            }
            assertThat(now.keySet()).isSubsetOf("a", "b", "b2", "c", "new");
            if (at < safe) {
                assertThat(report.damage()).as("cut at %s of %s, %s", at, safe, report).contains(pack().toString());
                assertThat(results.get(0).complete()).isFalse();
                assertThat(results.get(0).line()).contains(report.damage());
                told++;
            } else {
                assertThat(now).as("cut at %s, behind what was safe: %s", at, report).isEqualTo(before);
            }
            assertThat(recover(false)).as("said once").isEmpty();
        }
        assertThat(told).isEqualTo((int) safe);
    }

    @Test
    void recovery_whoseJournalHasAHole_saysSo() throws IOException {
        work();
        byte[] bytes = Files.readAllBytes(pack());
        bytes[bytes.length / 2] ^= 1;
        Files.write(pack(), bytes);

        assertThat(recover(false)).singleElement().satisfies(result -> {
            assertThat(result.complete()).isFalse();
            assertThat(result.line()).contains("a part of its journal cannot be read", pack().toString());
        });
        try (Backups b = Backups.read(home, "s", Work.FILES)) {
            assertThat(b.summary(false).damage()).as("later, too").contains("a part of its journal cannot be read");
        }
    }

    @Test
    void recovery_whoseJournalIsGone_saysSoOnce() throws IOException {
        work();
        Files.delete(pack());

        assertThat(recover(false)).singleElement().satisfies(result -> {
            assertThat(result.complete()).isFalse();
            assertThat(result.line()).contains("nothing of it could be put back", "is gone", pack().toString());
        });
        assertThat(recover(false)).isEmpty();
    }

    /** What tells others of its leases tells nothing of whether there was a journal; the mark does. */
    @Test
    void recovery_ofLeasesWithoutTheJournalThatWasThere_saysSoOnce() throws IOException {
        work();
        Files.delete(pack());
        Store.actsUnder(session(), List.of("0 default/a/s"));

        assertThat(recover(false)).singleElement().satisfies(result -> assertThat(result.line()).contains("nothing of it could be put back", pack().toString()));
        assertThat(recover(false)).isEmpty();
    }

    @Test
    void recovery_whoseDirectoryIsGone_saysSoOnce() throws IOException {
        work();
        RandomWorkTest.wipe(session());

        assertThat(recover(false)).singleElement().satisfies(result -> {
            assertThat(result.complete()).isFalse();
            assertThat(result.line()).contains("nothing of it can be put back", session().toString());
        });
        assertThat(recover(false)).isEmpty();
    }

    @Test
    void recovery_ofASessionWhoseMarkIsGone_isFoundWhenAskedFor() throws IOException {
        work();
        Files.delete(mark());

        assertThat(recover(false)).isEmpty();
        assertThat(recover(true)).singleElement().satisfies(result -> assertThat(result.line()).contains("the end of its journal is gone"));
        assertThat(contents()).isEqualTo(Map.of("a", "before", "b", "before", "c", "before"));
    }

    @Test
    void undo_ofASessionThatEndedAndWhoseJournalWasCut_saysSo() throws IOException {
        Files.write(root.resolve("a"), BEFORE);
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            new Work(b).write(root.resolve("a"), "changed");
            b.done();
        }
        try (RandomAccessFile file = new RandomAccessFile(pack().toFile(), "rw")) {
            file.setLength(file.length() - 1);
        }
        try (Backups b = Backups.reopen(home, "s", Work.FILES)) {
            RollbackReport report = b.rollback();
            assertThat(report.damage()).contains("the end of its journal is gone");
            assertThat(root.resolve("a")).hasContent("before");
        }
    }

    @Test
    void sessionThatWasNotDamaged_hasNothingToSay() throws IOException {
        work();
        assertThat(recover(false)).singleElement().satisfies(result -> {
            assertThat(result.complete()).as(result.line()).isTrue();
            assertThat(result.report().damage()).isNull();
        });
    }

    /** The whole project, with its home, as {@code cp -a} copies it. */
    private Path copied() throws IOException {
        Path copy = Files.createDirectory(temp.resolve("copy"));
        for (Path from : List.of(home, root)) {
            try (Stream<Path> all = Files.walk(from)) {
                for (Path p : (Iterable<Path>) all::iterator) {
                    Files.copy(p, copy.resolve(temp.relativize(p)), StandardCopyOption.COPY_ATTRIBUTES, LinkOption.NOFOLLOW_LINKS);
                }
            }
        }
        return copy.resolve(".klock");
    }

    @Test
    @Tag("C32")
    void recovery_inACopyOfTheHome_leavesTheOriginalAlone() throws IOException {
        work();
        Map<String, String> after = contents();
        Path copy = copied();

        List<Recovery.Result> results = Recovery.run(copy, null, false, Work.FILES);

        assertThat(contents()).isEqualTo(after);
        assertThat(results).singleElement().satisfies(result -> {
            assertThat(result.complete()).isFalse();
            assertThat(result.line()).contains("s changed files where its home was, " + home, copy + " is a copy", "--home " + home);
        });
        assertThatThrownBy(() -> Backups.reopen(copy, "s", Work.FILES)).isInstanceOf(Store.Elsewhere.class);
        assertThat(Store.sessions(copy, Work.FILES)).singleElement().satisfies(session -> assertThat(session.elsewhere()).isEqualTo(home.toString()));
        assertThat(Store.prune(copy, Long.MAX_VALUE, 0, Work.FILES)).hasSize(1);
        assertThat(Recovery.run(copy, null, true, Work.FILES)).isEmpty();

        assertThat(recover(false)).singleElement().satisfies(result -> assertThat(result.complete()).isTrue());
        assertThat(contents()).isEqualTo(Map.of("a", "before", "b", "before", "c", "before"));
    }

    @Test
    void session_afterAnUndoThatPutEverythingBack_hasNothingThatIsNotBack() throws IOException {
        Path a = Files.write(root.resolve("a"), BEFORE);
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            new Work(b).write(a, "changed");
            Files.writeString(a, "by hand");
            assertThat(b.rollback().count(RollbackReport.Outcome.KEPT_THEIRS)).isEqualTo(1);
        }
        assertThat(Store.sessions(home, Work.FILES)).singleElement().satisfies(session -> assertThat(session.notBack()).hasSize(1));
        try (Backups b = Backups.reopen(home, "s", Work.FILES)) {
            b.rollback(new Undo(null, true, false, null));
        }
        assertThat(Store.sessions(home, Work.FILES)).singleElement().satisfies(session -> assertThat(session.notBack()).isEmpty());
    }

    @Test
    void prune_byBytes_countsAllThatIsKept() throws IOException {
        work();
        assertThat(recover(false)).hasSize(1);
        long pack = Files.size(pack());
        Files.createDirectories(session().resolve("displaced"));
        Files.write(session().resolve("displaced/large"), new byte[100_000]);

        assertThat(Store.prune(home, 0, pack + 50_000, Work.FILES)).singleElement()
                .satisfies(session -> assertThat(session.bytes()).isGreaterThan(100_000));
        assertThat(session()).doesNotExist();
    }
}
