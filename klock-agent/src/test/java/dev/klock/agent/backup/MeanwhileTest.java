package dev.klock.agent.backup;

import static dev.klock.agent.backup.RollbackReport.Outcome.KEPT_THEIRS;
import static dev.klock.agent.backup.RollbackReport.Outcome.RESTORED;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others do to a path after a rollback has decided on it and before it comes to it (C32). */
@Tag("K6-5")
@Tag("C32")
class MeanwhileTest {
    @TempDir
    Path temp;
    private Path home;
    private Path path;

    @BeforeEach
    void make() throws IOException {
        temp = temp.toRealPath();
        home = Files.createDirectory(temp.resolve(".klock"));
        path = Files.createDirectory(temp.resolve("out")).resolve("f");
    }

    interface Step {
        void run() throws IOException;
    }

    /** Others come once, when the decisions are in the journal and the rollback next asks for a name. */
    private static final class Others extends TestFiles {
        private final Step step;
        private Path pack;
        private long decided;
        private boolean done;

        Others(Step step) {
            this.step = step;
        }

        void after(Backups backups) throws IOException {
            pack = backups.directory().resolve("pack");
            decided = Files.size(pack);
        }

        @Override
        public Path path(byte[] name) {
            try {
                if (pack != null && !done && Files.size(pack) > decided) {
                    done = true;
                    step.run();
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return super.path(name);
        }
    }

    private RollbackReport.Entry rollBack(Step session, Step meanwhile) throws IOException {
        Others files = new Others(meanwhile);
        try (Backups backups = Backups.open(home, "s", files)) {
            backups.image(Work.name(path));
            session.run();
            backups.left(Work.name(path));
            backups.flush();
            files.after(backups);
            RollbackReport report = backups.rollback();
            assertThat(files.done).isTrue();
            assertThat(report.complete()).isTrue();
            assertThat(report.entries()).hasSize(1);
            try (java.util.stream.Stream<Path> left = Files.list(path.getParent())) {
                assertThat(left).allMatch(p -> !p.getFileName().toString().startsWith(".klock"));
            }
            return report.entries().get(0);
        }
    }

    private void replace(String text) throws IOException {
        Path fresh = Files.writeString(temp.resolve("fresh"), text);
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }

    @Test
    void deletedAndMadeAgainByOthers_staysTheirs_theImageIsBeside() throws IOException {
        Files.writeString(path, "original");

        RollbackReport.Entry e = rollBack(() -> Files.delete(path), () -> Files.writeString(path, "theirs"));

        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(path).hasContent("theirs");
        assertThat(e.aside()).hasContent("original");
    }

    @Test
    void changedAndReplacedByOthers_staysTheirs_theImageIsBeside() throws IOException {
        Files.writeString(path, "original");

        RollbackReport.Entry e = rollBack(() -> Files.writeString(path, "session"), () -> replace("theirs, another file"));

        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(path).hasContent("theirs, another file");
        assertThat(e.aside()).hasContent("original");
    }

    @Test
    void changedAndWrittenByOthers_staysTheirs_theImageIsBeside() throws IOException {
        Files.writeString(path, "original");

        RollbackReport.Entry e = rollBack(() -> Files.writeString(path, "session"), () -> Files.writeString(path, "theirs, the same file"));

        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(path).hasContent("theirs, the same file");
        assertThat(e.aside()).hasContent("original");
    }

    @Test
    void madeAndReplacedByOthers_staysTheirs() throws IOException {
        RollbackReport.Entry e = rollBack(() -> Files.writeString(path, "session"), () -> replace("theirs"));

        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(path).hasContent("theirs");
    }

    @Test
    void madeAndTurnedIntoADirectoryByOthers_staysTheirs() throws IOException {
        RollbackReport.Entry e = rollBack(() -> Files.createDirectory(path), () -> {
            Files.delete(path);
            Files.writeString(path, "theirs");
        });

        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(path).hasContent("theirs");
    }

    @Test
    void onlyItsModeChangedAndWrittenByOthers_keepsWhatTheyWrote() throws IOException {
        Files.writeString(path, "original");

        RollbackReport.Entry e = rollBack(() -> Files.setAttribute(path, "unix:mode", 0600), () -> Files.writeString(path, "theirs"));

        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(path).hasContent("theirs");
    }

    @Test
    void deletedLinkMadeAgainByOthers_staysTheirs() throws IOException {
        Files.createSymbolicLink(path, Path.of("a"));

        RollbackReport.Entry e = rollBack(() -> Files.delete(path), () -> Files.createSymbolicLink(path, Path.of("theirs")));

        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(Files.readSymbolicLink(path)).isEqualTo(Path.of("theirs"));
    }

    @Test
    void changedAndDeletedByOthers_comesBack() throws IOException {
        Files.writeString(path, "original");

        RollbackReport.Entry e = rollBack(() -> Files.writeString(path, "session"), () -> Files.delete(path));

        assertThat(e.outcome()).isEqualTo(RESTORED);
        assertThat(path).hasContent("original");
    }

    @Test
    void deletedAndNothingHappened_comesBackAsOneName() throws IOException {
        Files.writeString(path, "original");

        RollbackReport.Entry e = rollBack(() -> Files.delete(path), () -> { });

        assertThat(e.outcome()).isEqualTo(RESTORED);
        assertThat(path).hasContent("original");
        assertThat(Files.getAttribute(path, "unix:nlink", LinkOption.NOFOLLOW_LINKS)).isEqualTo(1);
    }

    /** Takes what a rollback writes beside its places away as soon as it has its times, {@code times} times. */
    private static final class Thief extends TestFiles {
        private int times;

        Thief(int times) {
            this.times = times;
        }

        @Override
        public void setTimes(byte[] name, long accessedNs, long modifiedNs) throws IOException {
            super.setTimes(name, accessedNs, modifiedNs);
            if (path(name).getFileName().toString().startsWith(".klock-restore-") && times-- > 0) {
                Files.delete(path(name));
            }
        }
    }

    private RollbackReport robbed(int times) throws IOException {
        Files.writeString(path, "original");
        Files.createSymbolicLink(path.resolveSibling("l"), Path.of("original"));
        try (Backups backups = Backups.open(home, "s", new Thief(times))) {
            Work work = new Work(backups);
            work.delete(path);
            work.delete(path.resolveSibling("l"));
            return backups.rollback();
        }
    }

    @Test
    void whatIsWrittenBesideItsPlaceAndTakenAwayByOthers_isWrittenOnceMore() throws IOException {
        RollbackReport report = robbed(4);

        assertThat(report.count(RESTORED)).as(report.toString()).isEqualTo(2);
        assertThat(path).hasContent("original");
        assertThat(Files.readSymbolicLink(path.resolveSibling("l"))).isEqualTo(Path.of("original"));
    }

    @Test
    void whatIsTakenAwayAgainAndAgain_isNotPutBackAndSaysSo() throws IOException {
        RollbackReport report = robbed(Integer.MAX_VALUE);

        assertThat(report.complete()).isFalse();
        assertThat(report.count(RollbackReport.Outcome.FAILED)).as(report.toString()).isEqualTo(2);
    }

    @Test
    void directoryThatIsAFileOfOthersNow_holdsUpNothing_theImagesAreBeside() throws IOException {
        Path below = Files.writeString(Files.createDirectory(path).resolve("below"), "original");
        try (Backups backups = Backups.open(home, "s", Work.FILES)) {
            Work work = new Work(backups);
            work.delete(below);
            work.delete(path);
            Files.writeString(path, "theirs");
            RollbackReport report = backups.rollback();

            assertThat(report.complete()).as(report.toString()).isTrue();
            assertThat(report.count(KEPT_THEIRS)).isEqualTo(2);
            assertThat(report.entries().get(1).aside()).hasContent("original");
            assertThat(report.entries().get(1).detail()).contains("cannot come back").contains("not a directory any more");
        }
        assertThat(path).hasContent("theirs");
    }

    @Test
    void directoryThatIsALinkOfOthersNow_isNotFollowed_theImagesAreBeside() throws IOException {
        Path below = Files.writeString(Files.createDirectory(path).resolve("below"), "original");
        Path elsewhere = Files.createDirectory(temp.resolve("elsewhere"));
        try (Backups backups = Backups.open(home, "s", Work.FILES)) {
            Work work = new Work(backups);
            work.write(below, "session");
            Files.move(path, temp.resolve("away"));
            Files.createSymbolicLink(path, elsewhere);
            RollbackReport report = backups.rollback();

            assertThat(report.complete()).as(report.toString()).isTrue();
            assertThat(report.count(KEPT_THEIRS)).isEqualTo(1);
            assertThat(report.entries().get(0).aside()).hasContent("original");
        }
        assertThat(elsewhere).isEmptyDirectory();
        assertThat(temp.resolve("away/below")).hasContent("session");
    }
}
