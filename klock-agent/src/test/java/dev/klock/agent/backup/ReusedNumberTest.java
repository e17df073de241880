package dev.klock.agent.backup;

import static dev.klock.agent.backup.RollbackReport.Outcome.FAILED;
import static dev.klock.agent.backup.RollbackReport.Outcome.KEPT_THEIRS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file system gives the number of a file that is gone to the next one, which is not the session's for that (C32). */
@Tag("K6-5")
@Tag("C32")
class ReusedNumberTest {
    /** Gives numbers as a file system would that hands out the lowest that is free. */
    private static final class Numbers extends TestFiles {
        private final Map<Long, Long> given = new HashMap<>();

        private static long number(Path p) throws IOException {
            return (Long) Files.getAttribute(p, "unix:ino", LinkOption.NOFOLLOW_LINKS);
        }

        void give(Path p, long number) throws IOException {
            given.put(number(p), number);
        }

        @Override
        public long[] status(byte[] name) throws IOException {
            long[] s = super.status(name);
            if (s != null) {
                s[HostFiles.INO] = given.getOrDefault(s[HostFiles.INO], s[HostFiles.INO]);
            }
            return s;
        }
    }

    private static final long FREE = 1L << 40;

    @TempDir
    Path temp;
    private Path out;
    private Path f;
    private Path g;
    private Path made;
    private final Numbers files = new Numbers();
    private Backups backups;
    private Work work;

    @BeforeEach
    void open() throws IOException {
        temp = temp.toRealPath();
        Path home = Files.createDirectory(temp.resolve(".klock"));
        out = Files.createDirectory(temp.resolve("out"));
        f = Files.writeString(out.resolve("f"), "first");
        files.give(f, FREE);
        g = Files.writeString(out.resolve("g"), "first of g");
        made = out.resolve("made");
        backups = Backups.open(home, "s", files);
        backups.preflight(List.of(), List.of(Work.name(out)));
        work = new Work(backups);
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        backups.leftTree(Work.name(out));
    }

    @AfterEach
    void close() throws IOException {
        backups.close();
    }

    private static Path save(Path p, String text) throws IOException {
        return Files.move(Files.writeString(p.resolveSibling("beside"), text), p, StandardCopyOption.REPLACE_EXISTING);
    }

    private RollbackReport rollback() {
        RollbackReport report = backups.rollback();
        assertThat(report.count(FAILED)).as("%s", report).isZero();
        return report;
    }

    private static RollbackReport.Entry of(RollbackReport report, Path path) {
        for (RollbackReport.Entry entry : report.entries()) {
            if (entry.name().equals(path.toString())) {
                return entry;
            }
        }
        throw new AssertionError(path + " is not in " + report);
    }

    /** The session has f open twice, once for each of two files that were there; then not for the first any more, whose number is free. */
    private OutputStream openOnTheSecondOfTwo() throws IOException {
        work.write(f, "by the session");
        OutputStream first = work.open(f);
        save(f, "of others");
        OutputStream second = work.open(f);
        backups.left(Work.name(f));
        first.close();
        files.given.clear();
        return second;
    }

    @Test
    void newFile_ofOthersInADirectoryOfTheSessions_stays() throws IOException {
        try (OutputStream open = openOnTheSecondOfTwo()) {
            work.mkdir(made);
            Path theirs = Files.writeString(made.resolve("o"), "new, of others");
            files.give(theirs, FREE);

            RollbackReport report = rollback();

            assertThat(theirs).as("%s", report).hasContent("new, of others");
            assertThat(of(report, made).outcome()).as("%s", report).isEqualTo(KEPT_THEIRS);
            open.flush();
        }
    }

    @Test
    void save_ofOthersOfAnotherFileThatTheSessionThenWrites_isBack() throws IOException {
        work.write(g, "by the session");
        try (OutputStream open = openOnTheSecondOfTwo()) {
            files.give(save(g, "saved by others"), FREE);
            work.write(g, "by the session again");

            RollbackReport report = rollback();

            assertThat(g).as("%s", report).hasContent("saved by others");
            assertThat(of(report, g).detail()).contains("their version is in place");
            open.flush();
        }
    }

    @Test
    void save_ofOthersOfTheSameFileThatTheSessionThenWrites_isBack() throws IOException {
        try (OutputStream open = openOnTheSecondOfTwo()) {
            files.give(save(f, "saved by others again"), FREE);
            work.write(f, "by the session again");

            RollbackReport report = rollback();

            assertThat(f).as("%s", report).hasContent("saved by others again");
            assertThat(of(report, f).detail()).contains("their version is in place");
            open.flush();
        }
    }

    @Test
    void newDirectory_ofOthersInADirectoryOfTheSessions_stays() throws IOException {
        Path gone = Files.createDirectory(out.resolve("gone"));
        Files.setLastModifiedTime(gone, FileTime.fromMillis(1_000_000_000L));
        files.give(gone, FREE + 1);
        work.delete(gone);
        files.given.clear();
        work.mkdir(made);
        Path theirs = Files.createDirectory(made.resolve("d"));
        files.give(theirs, FREE + 1);

        RollbackReport report = rollback();

        assertThat(theirs).as("%s", report).isDirectory();
    }

    /** They have put it where the session was about to move all, and did not, and have given it one more name. */
    @Test
    void fileOfOthers_withTheNumberOfOneThatLostAllItsNames_isNotThatOne() throws IOException {
        Path a = Files.writeString(out.resolve("a"), "first of a");
        Path b = Files.createLink(out.resolve("b"), a);
        files.give(a, FREE + 1);
        work.delete(a);
        work.delete(b);
        files.given.clear();
        Path theirs = Files.writeString(Files.createDirectory(out.resolve("dir")).resolve("theirs"), "of others");
        files.give(theirs, FREE + 1);
        assertThatThrownBy(() -> work.rename(theirs.getParent(), g)).isInstanceOf(FileSystemException.class);
        Files.createLink(out.resolve("theirs-too"), theirs);

        rollback();

        assertThat(theirs).hasContent("of others");
        assertThat(a).hasContent("first of a");
        assertThat(Files.isSameFile(a, b)).isTrue();
    }

    @Test
    void linkOfTheSession_withTheNumberOfOneOfTwoNames_givesWayToOneOfTwoNames() throws IOException {
        Path a = Files.createSymbolicLink(out.resolve("a"), Path.of("x"));
        Path b = Files.createLink(out.resolve("b"), a);
        Path next = Files.createSymbolicLink(temp.resolve("next"), Path.of("/nowhere"));
        files.give(a, Numbers.number(next));
        work.delete(a);
        work.delete(b);
        files.given.clear();
        work.on(a, () -> Files.move(next, a));
        work.link(a, b);
        backups.image(Work.name(a));
        backups.image(Work.name(b));
        backups.close();
        backups = Backups.openCrashed(temp.resolve(".klock"), "s", files);

        rollback();

        assertThat(Files.readSymbolicLink(a)).hasToString("x");
        assertThat(Numbers.number(a)).isEqualTo(Numbers.number(b));
    }
}
