package dev.klock.agent.backup;

import static dev.klock.agent.backup.RollbackReport.Outcome.FAILED;
import static dev.klock.agent.backup.RollbackReport.Outcome.KEPT_THEIRS;
import static dev.klock.agent.backup.RollbackReport.Outcome.REMOVED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What others do in a directory that the session moves is theirs: it stays, or is named, and what travels along is known by its name (C32). */
@Tag("K6-5")
@Tag("C32")
class InMovedDirectoryTest {
    /** How the session ends. */
    enum End { ROLLBACK, KILL, UNDO }

    private static final HostFiles FILES = new Attributed();

    @TempDir
    Path temp;
    private Path home;
    private Path d;
    private Path e;
    private Backups backups;
    private Work work;

    @BeforeEach
    void open() throws IOException {
        temp = temp.toRealPath();
        home = Files.createDirectory(temp.resolve(".klock"));
        Path out = Files.createDirectory(temp.resolve("out"));
        d = Files.createDirectory(out.resolve("d"));
        e = out.resolve("e");
        Files.writeString(d.resolve("o"), "of others");
        Files.writeString(d.resolve("p"), "another");
        Files.createDirectory(d.resolve("sub"));
        Files.writeString(d.resolve("sub/f"), "below");
        backups = Backups.open(home, "s", FILES);
        backups.preflight(List.of(), List.of(Work.name(out)));
        work = new Work(backups);
    }

    @AfterEach
    void close() throws IOException {
        backups.close();
    }

    private RollbackReport end(End how) throws IOException {
        if (how == End.UNDO) {
            backups.done();
            backups.close();
            backups = Backups.reopen(home, "s", FILES);
        } else if (how == End.KILL) {
            Path pack = backups.directory().resolve("pack");
            Path left = Files.copy(pack, temp.resolve("left"));
            backups.close();
            Files.move(left, pack, StandardCopyOption.REPLACE_EXISTING);
            backups = Backups.open(home, "s", FILES);
        }
        RollbackReport report = backups.rollback();
        assertThat(report.count(FAILED)).as("%s", report).isZero();
        return report;
    }

    private static String said(RollbackReport report, Path p) {
        for (RollbackReport.Entry entry : report.entries()) {
            if (entry.name().equals(p.toString())) {
                return String.valueOf(entry.detail());
            }
        }
        throw new AssertionError(p + " is not in " + report);
    }

    private static void save(Path p, String text) throws IOException {
        Path beside = Files.writeString(p.resolveSibling("beside"), text);
        Files.move(beside, p, StandardCopyOption.REPLACE_EXISTING);
    }

    /** The child is over when the directory has been imaged, as its work, and before it is renamed. */
    @ParameterizedTest
    @EnumSource
    @Tag("K6-7")
    void rename_whileAChildEndsAndAnotherDirectoryTakesTheName_isUndone(End how) throws IOException {
        Path out = d.getParent();
        Path other = Files.createDirectory(out.resolve("other"));
        Path empty = Files.createDirectory(other.resolve("empty"));
        Files.writeString(other.resolve("o"), "in both");
        Map<String, String> before = TreeListing.of(out);
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);

        work.rename(d, empty, () -> backups.leftTree(Work.name(out)), () -> { });
        work.rename(other, d);

        RollbackReport report = end(how);
        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
        assertThat(report.conflicts()).as("%s", report).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void move_byOthersOfAMovedDirectory_whereALinkIsNow_namesWhereTheSessionsWorkIs(End how) throws IOException {
        work.rename(d, e);
        work.append(e.resolve("sub/f"), " and more");
        Path away = e.resolveSibling("away");
        Files.move(e, away);
        Files.createSymbolicLink(e, Files.createDirectories(temp.resolve("elsewhere")));

        RollbackReport report = end(how);

        assertThat(d.resolve("sub/f")).hasContent("below");
        assertThat(away.resolve("sub/f")).hasContent("below and more");
        assertThat(said(report, e.resolve("sub/f"))).contains("is a symbolic link now and is not followed", "is at " + away.resolve("sub/f") + " now");
    }

    @ParameterizedTest
    @EnumSource
    void rename_byOthersInAMovedDirectory_staysAndIsNamed(End how) throws IOException {
        work.rename(d, e);
        Files.move(e.resolve("o"), e.resolve("q"));
        Files.move(e.resolve("sub"), e.resolve("theirs"));

        RollbackReport report = end(how);

        assertThat(e.resolve("q")).hasContent("of others");
        assertThat(e.resolve("theirs/f")).hasContent("below");
        assertThat(d.resolve("o")).hasContent("of others");
        assertThat(d.resolve("p")).hasContent("another");
        assertThat(d.resolve("sub/f")).hasContent("below");
        assertThat(e.resolve("p")).doesNotExist();
        assertThat(said(report, d.resolve("o"))).contains("somebody else has moved it to " + e.resolve("q"));
        assertThat(said(report, d.resolve("sub"))).contains("somebody else has moved it to " + e.resolve("theirs"));
        assertThat(said(report, d.resolve("sub/f"))).isEqualTo("null");
    }

    @ParameterizedTest
    @EnumSource
    void swap_byOthersInAMovedDirectory_staysAndIsNamed(End how) throws IOException {
        work.rename(d, e);
        Files.move(e.resolve("o"), e.resolve("z"));
        Files.move(e.resolve("p"), e.resolve("o"));
        Files.move(e.resolve("z"), e.resolve("p"));

        RollbackReport report = end(how);

        assertThat(e.resolve("p")).hasContent("of others");
        assertThat(e.resolve("o")).hasContent("another");
        assertThat(d.resolve("o")).hasContent("of others");
        assertThat(d.resolve("p")).hasContent("another");
        assertThat(said(report, d.resolve("o"))).contains("somebody else has changed it");
    }

    @ParameterizedTest
    @EnumSource
    void link_byOthersInAMovedDirectory_stays(End how) throws IOException {
        work.rename(d, e);
        Files.createLink(e.resolve("q"), e.resolve("o"));

        end(how);

        assertThat(e.resolve("q")).hasContent("of others");
        assertThat(d.resolve("o")).hasContent("of others");
    }

    @ParameterizedTest
    @EnumSource(names = {"ROLLBACK", "UNDO"})
    void mode_byOthersInAMovedDirectory_stays(End how) throws IOException {
        work.rename(d, e);
        Files.setPosixFilePermissions(e.resolve("o"), PosixFilePermissions.fromString("rw-------"));

        RollbackReport report = end(how);

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(e.resolve("o")))).isEqualTo("rw-------");
        assertThat(said(report, d.resolve("o"))).contains("somebody else has changed it");
    }

    @ParameterizedTest
    @EnumSource
    void rename_byOthersBetweenTwoMoves_staysAndIsNamed(End how) throws IOException {
        work.rename(d, e);
        Files.move(e.resolve("o"), e.resolve("q"));
        work.rename(e, d);

        RollbackReport report = end(how);

        assertThat(e.resolve("q")).hasContent("of others");
        assertThat(d.resolve("o")).hasContent("of others");
        assertThat(d.resolve("q")).doesNotExist();
        assertThat(said(report, d.resolve("o"))).contains("somebody else has removed it, or moved it away");
    }

    @ParameterizedTest
    @EnumSource
    void deletion_byOthersInAMovedDirectory_isNamed(End how) throws IOException {
        work.rename(d, e);
        Files.delete(e.resolve("o"));

        RollbackReport report = end(how);

        assertThat(d.resolve("o")).hasContent("of others");
        assertThat(said(report, d.resolve("o"))).contains("somebody else has removed it, or moved it away");
        assertThat(said(report, d.resolve("p"))).isEqualTo("null");
        assertThat(e).doesNotExist();
    }

    @ParameterizedTest
    @EnumSource
    void deletion_byOthersBetweenTwoMoves_isNamed(End how) throws IOException {
        work.rename(d, e);
        Files.delete(e.resolve("o"));
        work.rename(e, d);

        RollbackReport report = end(how);

        assertThat(d.resolve("o")).hasContent("of others");
        assertThat(said(report, d.resolve("o"))).contains("somebody else has removed it, or moved it away");
    }

    /** The save is in neither image: the tree was imaged before it, and it is as the session found it when it next came. */
    @ParameterizedTest
    @EnumSource
    void save_byOthersBetweenImageAndRename_isBackWhereTheyMadeIt(End how) throws IOException {
        work.rename(d, e);
        work.rename(e, d);
        save(d.resolve("o"), "saved before");
        work.rename(d, e, () -> {
            save(d.resolve("o"), "saved in between, by a rename");
            Files.writeString(d.resolve("p"), "saved in between, in place");
            Files.writeString(d.resolve("n"), "new");
            Files.delete(d.resolve("sub/f"));
        }, () -> { });
        work.rename(e, d);

        RollbackReport report = end(how);

        assertThat(d.resolve("o")).hasContent("saved in between, by a rename");
        assertThat(d.resolve("p")).hasContent("saved in between, in place");
        assertThat(d.resolve("n")).hasContent("new");
        assertThat(d.resolve("sub/f")).hasContent("below");
        assertThat(e).doesNotExist();
        assertThat(said(report, d.resolve("o"))).contains("their version is in place");
        assertThat(said(report, d.resolve("p"))).contains("their version is in place");
        assertThat(said(report, d.resolve("sub/f"))).contains("somebody else has removed it");
        assertThat(report.displacedLine()).as("%s", report).isNull();
    }

    @ParameterizedTest
    @EnumSource
    void save_byOthersBetweenImageAndTheOnlyRename_isBackWhereTheyMadeIt(End how) throws IOException {
        work.rename(d, e, () -> {
            save(d.resolve("o"), "saved in between");
            Files.createDirectory(d.resolve("new"));
            Files.writeString(d.resolve("new/n"), "new");
            Files.move(d.resolve("p"), d.resolve("q"));
        }, () -> { });

        RollbackReport report = end(how);

        assertThat(d.resolve("o")).hasContent("saved in between");
        assertThat(d.resolve("new/n")).hasContent("new");
        assertThat(d.resolve("q")).hasContent("another");
        assertThat(said(report, d.resolve("p"))).contains("somebody else has");
        assertThat(e).doesNotExist();
    }

    @ParameterizedTest
    @EnumSource(names = {"ROLLBACK", "UNDO"})
    void directory_ofOthersAtTheOldNameRightAfterTheRename_isTheirs(End how) throws IOException {
        work.rename(d, e, () -> { }, () -> {
            Files.createDirectory(d);
            Files.writeString(d.resolve("o"), "theirs");
        });

        RollbackReport report = end(how);

        assertThat(d.resolve("o")).hasContent("theirs");
        assertThat(report.displacedLine()).as("%s", report).isNull();
    }

    /** The process is gone before it could note anything of a rename, or look at what came along. */
    @ParameterizedTest
    @EnumSource(names = {"KILL"})
    void recovery_afterAKillBetweenRenameAndNote_knowsOfTheRename(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d.getParent());
        Path[] left = new Path[1];
        work.rename(d, e, () -> { }, () -> left[0] = Files.copy(backups.directory().resolve("pack"), temp.resolve("killed")));
        Path pack = backups.directory().resolve("pack");
        backups.close();
        Files.move(left[0], pack, StandardCopyOption.REPLACE_EXISTING);
        backups = Backups.open(home, "s", FILES);

        RollbackReport report = backups.rollback();

        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
        assertThat(TreeListing.of(d.getParent())).as("%s", report).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(names = {"KILL"})
    void save_byOthersBetweenImageAndRenameThatWasTheLastThing_isInTheTree(End how) throws IOException {
        Path[] left = new Path[1];
        work.rename(d, e, () -> {
            save(d.resolve("o"), "saved in between");
            Files.move(d.resolve("p"), d.resolve("q"));
        }, () -> left[0] = Files.copy(backups.directory().resolve("pack"), temp.resolve("killed")));
        Path pack = backups.directory().resolve("pack");
        backups.close();
        Files.move(left[0], pack, StandardCopyOption.REPLACE_EXISTING);
        backups = Backups.open(home, "s", FILES);

        RollbackReport report = backups.rollback();

        assertThat(e.resolve("o")).hasContent("saved in between");
        assertThat(e.resolve("q")).hasContent("another");
        assertThat(d.resolve("o")).hasContent("of others");
        assertThat(said(report, d.resolve("o"))).contains("somebody else has changed it");
        assertThat(said(report, d.resolve("p"))).contains("somebody else has moved it to " + e.resolve("q"));
    }

    @ParameterizedTest
    @EnumSource
    void creation_whoseDirectoryOthersMoved_staysAndIsNamed(End how) throws IOException {
        work.write(d.resolve("n"), "mine");
        Files.move(d, e);

        RollbackReport report = end(how);

        assertThat(e.resolve("n")).hasContent("mine");
        assertThat(said(report, d.resolve("n"))).contains("the session made it, and somebody else has moved it to " + e.resolve("n"));
        assertThat(report.count(KEPT_THEIRS)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void creation_inAMovedDirectoryThatOthersMovedOn_staysAndIsNamed(End how) throws IOException {
        work.write(d.resolve("n"), "mine");
        work.rename(d, e);
        Path f = e.resolveSibling("f");
        Files.move(e, f);

        RollbackReport report = end(how);

        assertThat(f.resolve("n")).hasContent("mine");
        assertThat(d.resolve("o")).hasContent("of others");
        assertThat(d.resolve("n")).doesNotExist();
        assertThat(said(report, d.resolve("n"))).contains("somebody else has moved it to " + f.resolve("n"));
        assertThat(said(report, d)).contains("somebody else has moved it to " + f);
    }

    @ParameterizedTest
    @EnumSource
    void creation_thatOthersMoved_isNamedUntilItIsGone(End how) throws IOException {
        Path made = e.resolveSibling("made");
        work.mkdir(made);
        work.write(made.resolve("n"), "mine");
        Files.move(made, e);
        assertThat(said(end(how), made)).contains("the session made it, and somebody else has moved it to " + e);

        backups.close();
        backups = Backups.reopen(home, "s", FILES);
        assertThat(said(backups.rollback(), made)).contains("somebody else has moved it to " + e);

        Files.delete(e.resolve("n"));
        Files.delete(e);
        backups.close();
        backups = Backups.reopen(home, "s", FILES);
        assertThat(backups.rollback().count(KEPT_THEIRS)).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void creation_thatOthersRemoved_isNamedOnce(End how) throws IOException {
        work.write(d.resolve("n"), "mine");
        work.write(d.resolve("m"), "mine");
        Files.delete(d.resolve("n"));
        Files.delete(d.resolve("m"));

        RollbackReport report = end(how);

        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
        assertThat(report.notes()).as("%s", report).hasSize(1);
        assertThat(report.notes().get(0).detail()).contains("and at 1 other path, is gone");
    }

    /** What the session does itself in a directory that it has moved is nobody else's. */
    @ParameterizedTest
    @EnumSource
    void work_ofTheSessionInAMovedDirectory_isUndoneWithoutAWord(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d.getParent());
        work.write(d.resolve("n"), "mine");
        work.rename(d, e);
        work.rename(e.resolve("o"), e.resolve("q"));
        work.delete(e.resolve("p"));
        work.rename(e.resolve("sub"), d);
        work.link(e.resolve("q"), d.resolve("q"));
        work.write(d.resolve("f"), "changed");
        work.rename(e, d.resolve("e"));
        work.rename(d, e);

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d.getParent())).as("%s", report).isEqualTo(before);
        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
        assertThat(report.toString()).doesNotContain("somebody else has");
        assertThat(report.count(REMOVED)).as("%s", report).isPositive();
    }

    /** Told of as if it had been: the program was let go on, and has not done it. */
    @ParameterizedTest
    @EnumSource(names = {"ROLLBACK", "UNDO"})
    void save_byOthersBeforeARenameThatIsNotCarriedOut_isTheirs(End how) throws IOException {
        backups.imageTree(Work.name(d), Work.name(e), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        backups.image(Work.name(e));
        save(d.resolve("o"), "saved in between");
        backups.moved(Work.name(d), Work.name(e));
        work.rename(d, e);

        RollbackReport report = end(how);

        assertThat(d.resolve("o")).hasContent("saved in between");
        assertThat(e).doesNotExist();
        assertThat(report.displacedLine()).as("%s", report).isNull();
    }

    @ParameterizedTest
    @EnumSource
    void rename_thatFails_changesNothingOfWhatIsKnown(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d.getParent());
        assertThatThrownBy(() -> work.rename(d, e, () -> {
            throw new IOException("as if it had failed");
        }, () -> { })).isInstanceOf(IOException.class);
        work.write(d.resolve("o"), "session");

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d.getParent())).as("%s", report).isEqualTo(before);
        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
    }

    private String kept() throws IOException {
        Path displaced = backups.directory().resolve("displaced");
        if (!Files.exists(displaced)) {
            return "";
        }
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.list(displaced)) {
            for (Path file : files.sorted().toList()) {
                all.append(Files.isSymbolicLink(file) ? "-> " + Files.readSymbolicLink(file) : Files.readString(file)).append('\n');
            }
        }
        return all.toString();
    }

    /** What others do while a child is at work is not told from what it does itself: it gives way, and is kept, and named. */
    private void workOfOthersWhileAChildRuns() throws IOException {
        workOfOthersWhileAChildRuns(() -> { });
    }

    private void workOfOthersWhileAChildRuns(Work.Effect then) throws IOException {
        backups.openTree(Work.name(d), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        save(d.resolve("o"), "saved meanwhile");
        Files.writeString(d.resolve("p"), "written meanwhile");
        Files.writeString(d.resolve("n"), "made meanwhile");
        Files.createSymbolicLink(d.resolve("l"), Path.of("linked meanwhile"));
        Files.createLink(d.resolve("m"), Files.writeString(d.resolve("sub/m"), "of two names meanwhile"));
        then.run();
        backups.leftTree(Work.name(d));
    }

    private void assertThatAllIsKeptAndNamed(RollbackReport report) throws IOException {
        assertThat(kept()).contains("saved meanwhile", "written meanwhile", "made meanwhile", "-> linked meanwhile", "of two names meanwhile");
        StringBuilder named = new StringBuilder();
        try (Stream<Path> files = Files.list(backups.directory().resolve("displaced"))) {
            for (Path file : files.toList()) {
                boolean isNamed = report.displaced().stream().filter(entry -> entry.detail().contains("while a child ran"))
                        .anyMatch(entry -> entry.aside().equals(file) || entry.detail().contains(file.toString()));
                named.append(!isNamed ? "" : Files.isSymbolicLink(file) ? "link" : Files.readString(file)).append('\n');
            }
        }
        assertThat(named.toString()).contains("saved meanwhile", "written meanwhile", "made meanwhile", "link", "of two names meanwhile");
    }

    /** Others come just when what the child has left there has been compared with what was there before. */
    @Test
    void save_byOthersWhileTheWorkOfAChildIsLookedAt_isTheirs() throws IOException {
        boolean[] armed = new boolean[1];
        HostFiles watched = new Attributed() {
            @Override
            public long[] status(byte[] name) throws IOException {
                long[] status = super.status(name);
                if (armed[0] && path(name).equals(d.resolve("o"))) {
                    armed[0] = false;
                    save(d.resolve("o"), "saved meanwhile");
                }
                return status;
            }
        };
        backups.close();
        backups = Backups.open(home, "t", watched);
        backups.preflight(List.of(), List.of(Work.name(d.getParent())));
        work = new Work(backups);
        backups.openTree(Work.name(d), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        armed[0] = true;
        backups.leftTree(Work.name(d));
        work.rename(d, e);

        RollbackReport report = backups.rollback();

        assertThat(armed[0]).isFalse();
        assertThat(d.resolve("o")).as("%s", report).hasContent("saved meanwhile");
        assertThat(said(report, d.resolve("o"))).contains("their version is in place");
    }

    @ParameterizedTest
    @EnumSource
    void work_ofOthersWhileAChildRuns_inADirectoryThatIsThenRenamed_isKeptAndNamed(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d.getParent());
        workOfOthersWhileAChildRuns();
        work.rename(d, e);

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d.getParent())).as("%s", report).isEqualTo(before);
        assertThatAllIsKeptAndNamed(report);
    }

    @ParameterizedTest
    @EnumSource
    void work_ofOthersWhileAChildRuns_inADirectoryThatIsThenRenamedTwice_isKeptAndNamed(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d.getParent());
        workOfOthersWhileAChildRuns();
        work.rename(d, e);
        work.rename(e, e.resolveSibling("f"));

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d.getParent())).as("%s", report).isEqualTo(before);
        assertThatAllIsKeptAndNamed(report);
    }

    @ParameterizedTest
    @EnumSource
    void work_ofOthersWhileAChildRuns_inADirectoryThatIsThenRenamedOnAndBackHalfTheWay_isKeptAndNamed(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d.getParent());
        workOfOthersWhileAChildRuns();
        work.rename(d, e);
        work.rename(e, e.resolveSibling("f"));
        work.rename(e.resolveSibling("f"), e);

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d.getParent())).as("%s", report).isEqualTo(before);
        assertThatAllIsKeptAndNamed(report);
    }

    @ParameterizedTest
    @EnumSource
    void work_ofOthersWhileAChildRuns_inFilesThatAreThenRenamed_isKeptAndNamed(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d.getParent());
        workOfOthersWhileAChildRuns();
        for (String name : new String[] {"o", "p", "n", "l", "m"}) {
            work.rename(d.resolve(name), d.resolveSibling(name));
        }

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d.getParent())).as("%s", report).isEqualTo(before);
        assertThatAllIsKeptAndNamed(report);
    }

    @ParameterizedTest
    @EnumSource
    void file_thatCannotComeBackAfterAChildWorkedThere_isNamedWhereItStays(End how) throws IOException {
        backups.openTree(Work.name(d.getParent()), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        backups.leftTree(Work.name(d.getParent()));
        work.rename(d, e);
        Files.createDirectories(d.resolve("o"));

        RollbackReport report = end(how);

        assertThat(e.resolve("o")).as("%s", report).hasContent("of others");
        assertThat(said(report, d.resolve("o"))).contains("it stays where the session had moved it, " + e.resolve("o"));
    }

    private void destroyAllIn(Path directory) throws IOException {
        work.write(directory.resolve("o"), "program's");
        work.rename(Files.writeString(directory.getParent().resolve("beside"), "saved by the program"), directory.resolve("p"));
        work.delete(directory.resolve("n"));
        work.delete(directory.resolve("l"));
        work.write(directory.resolve("m"), "program's");
        work.write(directory.resolve("m"), "program's again");
    }

    @ParameterizedTest
    @EnumSource
    @Tag("C32")
    void work_ofOthersWhileAChildRuns_thatTheProgramThenOverwrites_isKeptAndNamed(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d);
        workOfOthersWhileAChildRuns();
        destroyAllIn(d);

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d)).as("%s", report).isEqualTo(before);
        assertThatAllIsKeptAndNamed(report);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("C32")
    void work_ofOthersWhileAChildRuns_thatTheProgramThenOverwritesInARenamedDirectory_isKeptAndNamed(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d);
        workOfOthersWhileAChildRuns();
        work.rename(d, e);
        work.rename(e, e.resolveSibling("f"));
        destroyAllIn(e.resolveSibling("f"));

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d)).as("%s", report).isEqualTo(before);
        assertThatAllIsKeptAndNamed(report);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("C32")
    void work_ofOthers_thatTheProgramOverwritesWhileTheChildStillRuns_isKeptAndNamed(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d);
        workOfOthersWhileAChildRuns(() -> destroyAllIn(d));

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d)).as("%s", report).isEqualTo(before);
        assertThatAllIsKeptAndNamed(report);
    }

    /** What the look before a second child finds is no more the program's than what the look after the first would have found. */
    @ParameterizedTest
    @EnumSource
    @Tag("C32")
    void work_ofOthersWhileAChildRuns_thatTheProgramOverwritesAfterASecondChildHasStarted_isKeptAndNamed(End how) throws IOException {
        Map<String, String> before = TreeListing.of(d);
        backups.openTree(Work.name(d), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        work.append(d.resolve("o"), " and of the program");
        work.write(d.resolve("n"), "of the program");
        save(d.resolve("o"), "saved meanwhile");
        Files.writeString(d.resolve("p"), "written meanwhile");
        save(d.resolve("n"), "made meanwhile");
        backups.openTree(Work.name(d), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        work.write(d.resolve("o"), "program's");
        work.delete(d.resolve("p"));
        work.delete(d.resolve("n"));
        backups.leftTree(Work.name(d));
        backups.leftTree(Work.name(d));

        RollbackReport report = end(how);

        assertThat(TreeListing.of(d)).as("%s", report).isEqualTo(before);
        assertThat(kept()).contains("saved meanwhile", "written meanwhile", "made meanwhile");
        for (String name : new String[] {"o", "p", "n"}) {
            assertThat(said(report, d.resolve(name))).contains("while a child ran");
        }
    }

    /** As where a child has made gigabytes that the program then removes: what is too much to be copied is named. */
    @Test
    void work_whileAChildRuns_thatIsTooLargeToBeKept_isNamed() throws IOException {
        backups.openTree(Work.name(d), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        try (RandomAccessFile large = new RandomAccessFile(d.resolve("large").toFile(), "rw")) {
            large.setLength(Displaced.MAX_DISPLACED_COPY + 1);
        }
        backups.leftTree(Work.name(d));
        work.delete(d.resolve("large"));

        RollbackReport report = backups.rollback();

        assertThat(said(report, d.resolve("large"))).contains("a file of 67108865 bytes, was too large to be kept");
        assertThat(Files.size(backups.directory().resolve("pack"))).isLessThan(1 << 20);
    }

    /** What the program alone has made is not somebody else's because a child ran. */
    @Test
    @Tag("C32")
    void work_ofTheProgramWhileAChildRuns_isNotKeptAsSomebodyElses() throws IOException {
        Map<String, String> before = TreeListing.of(d);
        backups.openTree(Work.name(d), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        for (String text : new String[] {"first", "second", "third"}) {
            work.write(d.resolve("o"), text);
            work.write(d.resolve("new"), text);
        }
        backups.leftTree(Work.name(d));
        work.write(d.resolve("o"), "fourth");
        work.delete(d.resolve("new"));

        RollbackReport report = backups.rollback();

        assertThat(TreeListing.of(d)).as("%s", report).isEqualTo(before);
        assertThat(report.displaced()).isEmpty();
    }

    /** Owner, mode and an attribute of a directory and of what is in it; the owner only where that may be given away. */
    private void givenTo(int id, Path directory) throws IOException {
        for (Path each : List.of(directory, directory.resolve("sub"))) {
            if (Files.getAttribute(temp, "unix:uid").equals(0)) {
                Files.setAttribute(each, "unix:uid", id);
                Files.setAttribute(each, "unix:gid", id);
            }
            Files.setAttribute(each, "unix:mode", 02775);
            Files.getFileAttributeView(each, UserDefinedFileAttributeView.class).write("k", ByteBuffer.wrap(new byte[] {'v'}));
        }
    }

    private static List<Object> like(Path directory) throws IOException {
        Map<String, Object> a = Files.readAttributes(directory, "unix:mode,uid,gid");
        return List.of(a.get("mode"), a.get("uid"), a.get("gid"), Files.getFileAttributeView(directory, UserDefinedFileAttributeView.class).list());
    }

    @ParameterizedTest
    @EnumSource
    void directory_thatIsMadeAgainForTheWorkOfOthers_isAsItWas(End how) throws IOException {
        givenTo(1000, d);
        List<Object> was = like(d);
        work.rename(d, e);
        save(e.resolve("sub/f"), "theirs");
        work.rename(e, e.resolveSibling("g"));

        RollbackReport report = end(how);

        assertThat(e.resolve("sub/f")).as("%s", report).hasContent("theirs");
        assertThat(like(e)).isEqualTo(was);
        assertThat(like(e.resolve("sub"))).isEqualTo(was);
        assertThat(like(d)).isEqualTo(was);
    }

    @ParameterizedTest
    @EnumSource
    void directory_thatIsMadeAgainWhereAnotherWasMovedTo_isAsThatOfTheWorkWas(End how) throws IOException {
        Path x = Files.createDirectory(d.resolveSibling("x"));
        Path swap = d.resolveSibling("swap");
        givenTo(1000, d);
        List<Object> was = like(d);
        work.rename(d, e);
        save(e.resolve("sub/f"), "theirs");
        work.rename(e, swap);
        work.rename(x, e);
        work.rename(swap, x);

        RollbackReport report = end(how);

        assertThat(e.resolve("sub/f")).as("%s", report).hasContent("theirs");
        assertThat(like(e)).isEqualTo(was);
        assertThat(like(e.resolve("sub"))).isEqualTo(was);
        assertThat(x).isEmptyDirectory();
    }

    @ParameterizedTest
    @EnumSource
    void directory_ofTheSessionThatIsMadeAgainForTheWorkOfOthers_isAsItLeftIt(End how) throws IOException {
        work.mkdir(e);
        work.chmod(e, "rwxr-x--x");
        Files.writeString(e.resolve("n"), "theirs");
        work.delete(e.resolve("n"));
        work.delete(e);

        RollbackReport report = end(how);

        assertThat(e.resolve("n")).as("%s", report).hasContent("theirs");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(e))).isEqualTo("rwxr-x--x");
    }

    /** As if the rollback had been killed when it had done its work, or some of it, and recorded nothing of that. */
    private void cutBeforeOutcomes(Path pack) throws IOException {
        long[] end = {Files.size(pack)};
        Pack.open(pack, true, false, (type, head, dataAt, dataLength, intact) -> {
            if (type == Backups.OUTCOME) {
                end[0] = Math.min(end[0], dataAt - head.capacity() - Pack.FIXED);
            }
        }).close();
        try (FileChannel file = FileChannel.open(pack, StandardOpenOption.WRITE)) {
            file.truncate(end[0]);
        }
        Files.createFile(home.resolve("backups/.open/s"));
    }

    /** A rollback that is killed right after it made the directory has left it to nobody but itself. */
    @ParameterizedTest
    @EnumSource(names = {"KILL"})
    void directory_thatAnInterruptedRollbackHasMade_isAsItWas(End how) throws IOException {
        givenTo(1000, d);
        List<Object> was = like(d);
        work.rename(d, e);
        save(e.resolve("sub/f"), "theirs");
        work.write(e.resolve("sub/f"), "session");
        work.rename(e, e.resolveSibling("g"));
        end(how);
        Path pack = backups.directory().resolve("pack");
        backups.close();
        Files.delete(e.resolve("sub/f"));
        Files.setAttribute(e.resolve("sub"), "unix:uid", Files.getAttribute(temp, "unix:uid"));
        Files.setAttribute(e.resolve("sub"), "unix:mode", 0700);
        cutBeforeOutcomes(pack);
        backups = Backups.open(home, "s", FILES);

        RollbackReport report = backups.rollback();

        assertThat(e.resolve("sub/f")).as("%s", report).hasContent("theirs");
        assertThat(like(e.resolve("sub"))).isEqualTo(was);
    }

    @ParameterizedTest
    @EnumSource
    void directory_whoseNameOthersHaveTaken_isNamedWhereItStays(End how) throws IOException {
        work.rename(d, e);
        Files.writeString(d, "theirs");
        Files.move(e.resolve("p"), e.resolve("q"));

        RollbackReport report = end(how);

        assertThat(d).hasContent("theirs");
        assertThat(e.resolve("o")).hasContent("of others");
        assertThat(e.resolve("q")).hasContent("another");
        assertThat(said(report, d)).contains("it stays where the session had moved it, " + e);
        assertThat(said(report, d.resolve("o"))).contains("it cannot come back").contains("it stays where the session had moved it, " + e.resolve("o"));
        assertThat(said(report, d.resolve("p"))).contains("it cannot come back").contains("somebody else has moved it to " + e.resolve("q"));
        assertThat(report.toString()).doesNotContain("it is back");
    }

    /** Before JDK 22 a test has no way to give times to the nanosecond back. */
    private static void roundTimes(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                if (!Files.isSymbolicLink(each)) {
                    Files.setLastModifiedTime(each, FileTime.fromMillis(1_000_000_000L));
                }
            }
        }
    }

    /** The session's end, and another one. */
    private void next(String session) throws IOException {
        backups.done();
        backups.close();
        backups = Backups.open(home, session, FILES);
        backups.preflight(List.of(), List.of(Work.name(d.getParent())));
        work = new Work(backups);
    }

    private RollbackReport undo(String session) throws IOException {
        backups.close();
        for (int i = 0; i < 20; i++) {
            // takes an inode number that is free by now
            Files.createDirectory(Files.createTempDirectory(temp, "other").resolve("d"));
        }
        backups = Backups.reopen(home, session, FILES);
        return backups.rollback();
    }

    @Test
    void undo_ofTwoSessionsThatMovedADirectoryOn_newestFirst_leavesNothing() throws IOException {
        Files.createSymbolicLink(d.resolve("sub/l"), Path.of("text"));
        Files.createLink(d.getParent().resolve("h"), d.resolve("p"));
        roundTimes(d);
        Map<String, String> before = TreeListing.of(d.getParent());
        work.write(d.resolve("made"), "by the first");
        work.rename(d, e);
        work.append(e.resolve("o"), ", changed");
        next("t");
        Map<String, String> between = TreeListing.of(d.getParent());
        Path g = e.resolveSibling("g");
        work.rename(e, g);
        work.append(g.resolve("o"), ", again");
        work.write(g.resolve("sub/f"), "changed");
        backups.done();

        RollbackReport second = undo("t");

        assertThat(second.count(KEPT_THEIRS)).as("%s", second).isZero();
        assertThat(TreeListing.of(d.getParent())).as("%s", second).isEqualTo(between);

        RollbackReport first = undo("s");

        assertThat(TreeListing.of(d.getParent())).as("%s", first).isEqualTo(before);
        assertThat(first.count(KEPT_THEIRS)).as("%s", first).isZero();
        assertThat(first.toString()).doesNotContain("somebody else has");
    }

    @Test
    void undo_ofTwoSessionsThatMovedADirectoryOn_newestFirst_keepsWhatOthersPutInTheirPlaceSince() throws IOException {
        roundTimes(d);
        work.rename(d, e);
        next("t");
        work.rename(e, e.resolveSibling("g"));
        backups.done();
        undo("t");
        save(e.resolve("o"), "of others");
        save(e.resolve("p"), "thirteen");

        RollbackReport first = undo("s");

        assertThat(d.resolve("o")).hasContent("of others");
        assertThat(d.resolve("p")).hasContent("another");
        assertThat(e.resolve("o")).as("%s", first).hasContent("of others");
        assertThat(e.resolve("p")).hasContent("thirteen");
        assertThat(e.resolve("sub")).as("%s", first).doesNotExist();
        assertThat(said(first, d.resolve("p"))).contains("somebody else has changed it");
    }

    /** What the first has written goes first, and gives the directory that it was in another time. */
    @Test
    void undo_ofTwoSessionsThatMovedADirectoryOn_afterTheFirstHadWrittenInIt_leavesNothing() throws IOException {
        Path out = d.getParent();
        Path a = Files.createDirectory(out.resolve("a"));
        Path deep = Files.createDirectories(a.resolve("b/c/deep"));
        Files.writeString(a.resolve("b/f"), "beside");
        Files.writeString(a.resolve("b/c/h"), "between");
        Files.writeString(deep.resolve("g"), "deepest");
        roundTimes(a);
        Map<String, String> before = TreeListing.of(out);
        Path moved = d.resolve("moved");
        work.rename(a, moved);
        work.write(moved.resolve("b/f"), "by the first");
        work.write(moved.resolve("b/c/h"), "by the first, too");
        work.mkdir(moved.resolve("made"));
        next("t");
        Map<String, String> between = TreeListing.of(out);
        Path x = out.resolve("x");
        work.rename(d, x);
        work.rename(x.resolve("moved/b"), out.resolve("a"));
        backups.done();

        RollbackReport second = undo("t");

        assertThat(TreeListing.of(out)).as("%s", second).isEqualTo(between);

        RollbackReport first = undo("s");

        assertThat(TreeListing.of(out)).as("%s", first).isEqualTo(before);
        assertThat(first.count(KEPT_THEIRS)).as("%s", first).isZero();
        assertThat(first.toString()).doesNotContain("where the session had moved it");
    }

    /** They have taken it away when the directory had been imaged once more, and before it was renamed on. */
    @ParameterizedTest
    @EnumSource
    void rename_ofADirectoryThatLostAFileOfOthersInBetween_namesIt(End how) throws IOException {
        Path third = d.resolveSibling("third");
        work.rename(d, e);
        work.rename(e, third);
        work.rename(third, e, () -> Files.delete(third.resolve("o")), () -> { });

        RollbackReport report = end(how);

        assertThat(said(report, d.resolve("o"))).as("%s", report).isNotEqualTo("null");
        assertThat(d.resolve("p")).hasContent("another");
    }
}
