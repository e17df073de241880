package dev.klock.agent.backup;

import static dev.klock.agent.backup.RollbackReport.Outcome.FAILED;
import static dev.klock.agent.backup.RollbackReport.Outcome.KEPT_THEIRS;
import static dev.klock.agent.backup.RollbackReport.Outcome.RESTORED;
import static dev.klock.agent.backup.RollbackReport.Outcome.UNCHANGED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Children do to klock's own files, and after they are over others do to the program's, what nobody tells klock of. */
@Tag("K6-7")
class OwnFilesTest {
    private Path temp;
    private Path home;
    private Path root;
    private Backups backups;
    private Work work;

    @BeforeEach
    void make() throws IOException {
        temp = Files.createTempDirectory("klock").toRealPath();
        home = Files.createDirectory(temp.resolve(".klock"));
        root = Files.createDirectory(temp.resolve("w"));
        for (int i = 0; i < 5; i++) {
            Files.writeString(root.resolve("f" + i), "before " + i);
        }
        byte[] large = new byte[1 << 19];
        new Random(1).nextBytes(large);
        Files.write(root.resolve("large"), large);
        backups = Backups.open(home, "s", Work.FILES);
        work = new Work(backups);
    }

    @AfterEach
    void remove() throws IOException {
        backups.close();
        RandomWorkTest.wipe(temp);
    }

    private Path pack() {
        return backups.directory().resolve("pack");
    }

    /** A child that may change everything starts, and works. */
    private void child(Work.Effect effect) throws IOException {
        backups.watchOwn();
        backups.openTree(Work.name(root), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        work.write(root.resolve("f0"), "session");
        Files.writeString(root.resolve("f1"), "child");
        Files.write(root.resolve("large"), new byte[100]);
        effect.run();
    }

    private Backups.Altered over() {
        Backups.Altered altered = backups.lookAtOwn();
        backups.leftTree(Work.name(root));
        return altered;
    }

    /** The session ends as a crash does; what its journal says is all that is left. */
    private RollbackReport crashed() throws IOException {
        backups.close();
        backups = Backups.openCrashed(home, "s", Work.FILES);
        return backups.rollback();
    }

    private void replace(Path file, byte[] with) throws IOException {
        Path other = Files.write(file.resolveSibling("other"), with);
        Files.move(other, file, StandardCopyOption.ATOMIC_MOVE);
    }

    @Test
    void pack_thatNobodyTouchedOrThatGotAnotherName_isWhole() throws IOException {
        child(() -> Files.createLink(temp.resolve("link"), pack()));
        work.write(root.resolve("f2"), "session");
        backups.alive();
        assertThat(over()).isNull();
        assertThat(backups.lookAtOwn()).isNull();
        Object file = Files.getAttribute(pack(), "unix:ino");
        assertThat(file).isEqualTo(Files.getAttribute(temp.resolve("link"), "unix:ino"));
    }

    @Test
    void pack_thatWasReplacedByTheSame_isGoneOnWith() throws IOException {
        Map<String, String> before = TreeListing.of(root);
        child(() -> replace(pack(), Files.readAllBytes(pack())));
        assertThat(over()).isNull();
        work.write(root.resolve("f3"), "session");
        assertThat(crashed().complete()).isTrue();
        assertThat(TreeListing.of(root)).isEqualTo(before);
    }

    @Test
    void pack_thatGrew_isCutAgain() throws IOException {
        Map<String, String> before = TreeListing.of(root);
        child(() -> Files.writeString(pack(), "garbage", StandardOpenOption.APPEND));
        assertThat(over()).isNull();
        work.write(root.resolve("f3"), "session");
        assertThat(crashed().complete()).isTrue();
        assertThat(TreeListing.of(root)).isEqualTo(before);
    }

    @Test
    @Tag("K6-5")
    @Tag("C45")
    void pack_thatWasReplacedOrRemoved_isPutBackWhole() throws IOException {
        Map<String, String> before = TreeListing.of(root);
        for (int how = 0; how < 3; how++) {
            int way = how;
            child(() -> {
                if (way == 0) {
                    Files.delete(pack());
                } else if (way == 1) {
                    replace(pack(), new byte[100]);
                } else {
                    Files.delete(pack());
                    Files.createDirectory(pack());
                }
            });
            work.write(root.resolve("f4"), "session" + how);
            Backups.Altered altered = over();
            assertThat(altered.file()).isEqualTo(pack());
            assertThat(altered.lost()).isZero();
            backups.unwatchOwn(backups.watches());
        }
        assertThat(crashed().complete()).isTrue();
        assertThat(TreeListing.of(root)).isEqualTo(before);
    }

    @Test
    @Tag("K6-5")
    void pack_thatWasOverwrittenInThePlaceOfAnImage_losesThatOneOnly() throws IOException {
        child(() -> {
            try (RandomAccessFile file = new RandomAccessFile(pack().toFile(), "rw")) {
                file.seek(1 << 18);
                file.write(new byte[10]);
            }
        });
        Backups.Altered altered = over();
        assertThat(altered.lost()).isEqualTo(1);
        assertThat(altered.names()).containsExactly(root.resolve("large").toString());
        assertThatThrownBy(() -> work.write(root.resolve("large"), "more")).hasMessageContaining("is lost");

        RollbackReport report = backups.rollback();

        assertThat(outcome(report, "large")).isEqualTo(FAILED);
        assertThat(outcome(report, "f0")).isEqualTo(RESTORED);
        assertThat(outcome(report, "f1")).isEqualTo(RESTORED);
        assertThat(root.resolve("f1")).hasContent("before 1");
    }

    /** Nothing of the images is left; that something was changed, and what was made, still is. */
    @Test
    @Tag("K6-5")
    @Tag("C45")
    void pack_thatWasShortened_isWrittenOnWithoutAHoleAndKnowsAllButTheImages() throws IOException {
        child(() -> {
            try (RandomAccessFile file = new RandomAccessFile(pack().toFile(), "rw")) {
                file.setLength(100);
            }
            Files.writeString(root.resolve("made"), "child");
        });
        Backups.Altered altered = over();
        assertThat(altered.lost()).isEqualTo(6);
        Path later = root.resolve("later");
        work.write(later, "session");
        Path same = root.resolve("same");
        work.write(same, "before 1");
        work.write(same, "changed");

        RollbackReport report = crashed();

        assertThat(report.damage()).contains("are lost");
        assertThat(outcome(report, "f1")).isEqualTo(FAILED);
        assertThat(later).doesNotExist();
        assertThat(root.resolve("made")).doesNotExist();
        assertThat(root.resolve("f1")).hasContent("child");
    }

    @Test
    @Tag("C45")
    void mark_thatWasRemoved_isThereAgainForTheNextStart() throws IOException {
        Path mark = home.resolve("backups/.open/s");
        child(() -> Files.delete(mark));
        assertThat(over().file()).isEqualTo(mark);
        assertThat(Store.marked(home)).containsExactly("s");
        work.write(root.resolve("f3"), "session");
        assertThat(Store.safe(backups.directory())).isPositive();
        assertThat(backups.lookAtOwn()).isNull();
    }

    @Test
    void lock_thatWasReplaced_isHeldAgain() throws IOException {
        child(() -> replace(backups.directory().resolve("lock"), new byte[1]));
        assertThat(over()).isNull();
        try (java.nio.channels.FileChannel other = java.nio.channels.FileChannel.open(backups.directory().resolve("lock"), StandardOpenOption.WRITE)) {
            assertThatThrownBy(other::tryLock).isInstanceOf(java.nio.channels.OverlappingFileLockException.class);
        }
    }

    @Test
    @Tag("C32")
    void whatChangedAfterTheChildWasOver_isSomebodyElses() throws IOException {
        backups.watchOwn();
        backups.openTree(Work.name(root), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        backups.image(Work.name(root.resolve("f3")));
        Files.writeString(root.resolve("f0"), "child");
        Files.writeString(root.resolve("made"), "child");
        pause();
        long until = backups.alive();
        pause();
        Files.writeString(root.resolve("f1"), "other");
        Files.writeString(root.resolve("f3"), "other");
        Files.writeString(root.resolve("fresh"), "other");
        backups.leftTree(Work.name(root), Integer.MAX_VALUE, until);
        work.write(root.resolve("f1"), "session");

        RollbackReport report = backups.rollback();

        assertThat(root.resolve("f0")).hasContent("before 0");
        assertThat(root.resolve("made")).doesNotExist();
        assertThat(root.resolve("f1")).hasContent("other");
        assertThat(root.resolve("fresh")).hasContent("other");
        assertThat(outcome(report, "f1")).isEqualTo(KEPT_THEIRS);
        assertThat(outcome(report, "fresh")).isEqualTo(KEPT_THEIRS);
    }

    @Test
    @Tag("C32")
    void whatChangedAfterAChildOfOneFileWasOver_isSomebodyElses() throws IOException {
        backups.watchOwn();
        backups.image(Work.name(root.resolve("f1")));
        pause();
        long until = backups.alive();
        pause();
        Files.writeString(root.resolve("f1"), "other");
        backups.leftTree(Work.name(root.resolve("f1")), 0, until);

        assertThat(outcome(backups.rollback(), "f1")).isEqualTo(UNCHANGED);
        assertThat(root.resolve("f1")).hasContent("other");
    }

    /** Longer than a tick of the clock that files' times are taken from. */
    private static void pause() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private RollbackReport.Outcome outcome(RollbackReport report, String name) {
        for (RollbackReport.Entry e : report.entries()) {
            if (e.name().equals(root.resolve(name).toString())) {
                return e.outcome();
            }
        }
        return null;
    }
}
