package dev.klock.agent.backup;

import static dev.klock.agent.backup.RollbackReport.Outcome.FAILED;
import static dev.klock.agent.backup.RollbackReport.Outcome.KEPT_THEIRS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What others write, by whatever name, into a file of several that the session changes by some is what comes back under all (C32).
 *
 * <pre>
 *   out/a, out/b, out/c   one file
 *   out/d/x, out/d/y      another
 *   out/g                 a file of one name
 * </pre>
 */
@Tag("K6-5")
@Tag("C32")
class SeveralNamesTest {
    /** How the session ends. */
    enum End { ROLLBACK, KILL, UNDO }

    private static final String THEIRS = "their version is in place";

    @TempDir
    Path temp;
    private Path home;
    private Path out;
    private Path a;
    private Path b;
    private Path c;
    private Path g;
    private Path p;
    private Path d;
    private Backups backups;
    private Work work;

    @BeforeEach
    void open() throws IOException {
        temp = temp.toRealPath();
        home = Files.createDirectory(temp.resolve(".klock"));
        out = Files.createDirectory(temp.resolve("out"));
        a = Files.writeString(out.resolve("a"), "original");
        b = Files.createLink(out.resolve("b"), a);
        c = Files.createLink(out.resolve("c"), a);
        g = Files.writeString(out.resolve("g"), "alone");
        p = out.resolve("p");
        d = Files.createDirectory(out.resolve("d"));
        Files.createLink(d.resolve("y"), Files.writeString(d.resolve("x"), "below"));
        backups = Backups.open(home, "s", Work.FILES);
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
            backups = Backups.reopen(home, "s", Work.FILES);
        } else if (how == End.KILL) {
            Path pack = backups.directory().resolve("pack");
            Path left = Files.copy(pack, temp.resolve("left"));
            backups.close();
            Files.move(left, pack, StandardCopyOption.REPLACE_EXISTING);
            backups = Backups.open(home, "s", Work.FILES);
        }
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

    private static String said(RollbackReport report, Path path) {
        return String.valueOf(of(report, path).detail());
    }

    private static Object inode(Path path) throws IOException {
        return Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
    }

    private static void assertOneFile(String content, Path first, Path... others) throws IOException {
        assertThat(first).hasContent(content);
        for (Path other : others) {
            assertThat(inode(other)).as("%s", other).isEqualTo(inode(first));
        }
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersBetweenChangesByTwoNames_isBackUnderAll(End how) throws IOException {
        work.append(a, ", session");
        Files.writeString(b, "theirs");
        work.append(b, ", session again");

        RollbackReport report = end(how);

        assertOneFile("theirs", a, b, c);
        assertThat(said(report, a)).contains(THEIRS);
        assertThat(said(report, b)).contains(THEIRS);
        assertThat(of(report, a).aside()).hasContent("original");
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersBetweenChangesByTwoKnownNames_isBackUnderAll(End how) throws IOException {
        work.append(a, ", session");
        work.append(b, ", session");
        Files.writeString(c, "theirs");
        work.append(a, ", session again");
        work.append(b, ", session at last");

        RollbackReport report = end(how);

        assertOneFile("theirs", a, b, c);
        assertThat(said(report, a)).contains(THEIRS);
        assertThat(said(report, b)).contains(THEIRS);
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersBeforeAChangeOfTheModeByAnotherName_isBackUnderAll(End how) throws IOException {
        work.chmod(a, "rwxrwxrwx");
        Files.writeString(a, "theirs");
        work.chmod(b, "rw-rw-rw-");

        RollbackReport report = end(how);

        assertOneFile("theirs", a, b, c);
        assertThat(said(report, b)).contains(THEIRS);
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersBeforeAnotherNameIsDeleted_isBackUnderAll(End how) throws IOException {
        work.append(a, ", session");
        Files.writeString(a, "theirs");
        work.delete(b);

        end(how);

        assertOneFile("theirs", a, b, c);
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersBeforeAnotherNameIsRenamed_isBackUnderAll(End how) throws IOException {
        work.append(a, ", session");
        Files.writeString(a, "theirs");
        work.rename(b, p);
        work.append(p, ", session again");

        end(how);

        assertOneFile("theirs", a, b, c);
        assertThat(p).doesNotExist();
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersAfterTheFirstNameIsDeleted_isBackUnderAll(End how) throws IOException {
        work.append(a, ", session");
        work.delete(a);
        Files.writeString(b, "theirs");
        work.append(b, ", session again");

        RollbackReport report = end(how);

        assertOneFile("theirs", a, b, c);
        assertThat(said(report, a)).contains(THEIRS);
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersTwice_isBackAsTheyLeftItLast(End how) throws IOException {
        work.append(a, ", session");
        Files.writeString(b, "theirs");
        work.append(b, ", session again");
        Files.writeString(a, "theirs, for the second time");
        work.append(c, ", session at last");

        RollbackReport report = end(how);

        assertOneFile("theirs, for the second time", a, b, c);
        Path aside = of(report, c).aside();
        assertThat(aside).hasContent("original");
        assertThat(aside.resolveSibling(aside.getFileName() + ".v2")).hasContent("theirs");
    }

    @ParameterizedTest
    @EnumSource(names = {"UNDO"})
    void undo_withForce_bringsBackWhatWasThereAtFirstUnderAll(End how) throws IOException {
        work.append(a, ", session");
        Files.writeString(b, "theirs");
        work.append(b, ", session again");
        backups.done();
        backups.close();
        backups = Backups.reopen(home, "s", Work.FILES);

        RollbackReport report = backups.rollback(new Undo(null, true, false, null));

        assertOneFile("original", a, b, c);
        assertThat(said(report, b)).contains("a version of others is");
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersBeforeALinkOfTheSessionIsChanged_isBackUnderTheNameThatWasThere(End how) throws IOException {
        work.link(g, p);
        Files.writeString(g, "theirs");
        work.chmod(p, "rwxrwxrwx");

        RollbackReport report = end(how);

        assertThat(g).hasContent("theirs");
        assertThat(said(report, g)).contains(THEIRS);
        assertThat(of(report, g).aside()).hasContent("alone");
        assertThat(said(report, p)).contains(THEIRS);
        assertOneFile("theirs", p, g);
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersBeforeTheFileOfALinkOfTheSessionIsChanged_isBackWithoutTheLink(End how) throws IOException {
        work.link(g, p);
        Files.writeString(p, "theirs");
        work.append(g, ", session");

        RollbackReport report = end(how);

        assertThat(g).hasContent("theirs");
        assertThat(said(report, g)).contains(THEIRS).doesNotContain("file of its own");
        assertThat(p).doesNotExist();
    }

    @ParameterizedTest
    @EnumSource
    void link_byOthersOfAFileThatTheSessionHasChanged_isOfWhatWasThere(End how) throws IOException {
        work.append(g, ", session");
        Files.createLink(p, g);
        work.append(p, ", session again");

        end(how);

        assertThat(g).hasContent("alone");
        assertThat(p).hasContent("alone");
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersIntoAFileThatIsMovedWithItsDirectoryByTheSession_isKept(End how) throws IOException {
        work.append(d.resolve("x"), ", session");
        Files.writeString(d.resolve("y"), "theirs");
        Path e = out.resolve("e");
        work.rename(d, e);
        work.append(e.resolve("x"), ", session again");

        RollbackReport report = end(how);

        assertOneFile("theirs", d.resolve("x"), d.resolve("y"));
        assertThat(said(report, d.resolve("x"))).contains(THEIRS);
        assertThat(e).doesNotExist();
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersIntoAFileWithANameOutsideOfTheMovedDirectory_isKept(End how) throws IOException {
        Path z = Files.createLink(out.resolve("z"), d.resolve("x"));
        Path e = out.resolve("e");
        work.append(z, ", session");
        work.rename(d, e);
        Files.writeString(e.resolve("x"), "theirs");
        work.append(e.resolve("y"), ", session again");

        RollbackReport report = end(how);

        assertThat(z).hasContent("theirs");
        assertThat(said(report, z)).contains(THEIRS);
        assertThat(d.resolve("x")).hasContent("theirs");
        assertThat(d.resolve("y")).hasContent("theirs");
    }

    /** What they write while it is open is the session's. */
    @ParameterizedTest
    @EnumSource
    void write_byTheSessionsDescriptorWhoseNameIsGone_isUndoneUnderAll(End how) throws IOException {
        try (OutputStream open = work.open(a)) {
            work.delete(a);
            open.write(Work.bytes(", by a descriptor"));
            work.append(b, ", session again");
            end(how);
        }
        assertOneFile("original", a, b, c);
    }

    @ParameterizedTest
    @EnumSource
    void touch_byOthersBetweenChangesByTwoNames_isNoChange(End how) throws IOException {
        work.write(a, "session");
        Files.setLastModifiedTime(b, FileTime.fromMillis(1_000_000_000L));
        work.append(b, ", session again");

        end(how);

        assertOneFile("original", a, b, c);
    }

    @ParameterizedTest
    @EnumSource
    void write_byOthersByANameOutsideOfWhatIsDeclared_staysThere(End how) throws IOException {
        Path outside = Files.createLink(Files.createDirectory(temp.resolve("outside")).resolve("l"), d.resolve("x"));
        Path e = out.resolve("e");
        work.rename(d, e);
        Files.writeString(outside, ", later", StandardOpenOption.APPEND);

        RollbackReport report = end(how);

        assertThat(outside).as("%s", report).hasContent("below, later");
        assertThat(d.resolve("x")).hasContent("below");
        assertThat(d.resolve("y")).hasContent("below");
        assertThat(report.toString()).contains("file of its own");
    }

    /** The other name has gone, by others, so that the file has but one by then; and its directory is one that the session made where it moved another from. */
    @ParameterizedTest
    @EnumSource
    void write_byOthersIntoTheLastNameLeft_isBackThere(End how) throws IOException {
        work.rename(d, out.resolve("u"));
        work.deleteTree(out.resolve("u"));
        work.mkdir(d);
        Path f = Files.writeString(Files.createDirectory(out.resolve("f")).resolve("f"), "of others");
        Path q = Files.createLink(d.resolve("q"), f);
        work.write(q, "session");
        Path moved = d.resolve("moved");
        work.rename(f.getParent(), moved);
        Path beside = Files.writeString(out.resolve("beside"), "saved");
        Files.move(beside, moved.resolve("f"), StandardCopyOption.REPLACE_EXISTING);
        Files.writeString(q, "theirs");
        work.rename(moved, out.resolve("on"));
        work.append(q, ", session");

        RollbackReport report = end(how);

        assertThat(q).as("%s", report).hasContent("theirs");
        assertThat(moved.resolve("f")).as("%s", report).hasContent("saved");
    }

    /** Nothing holds what the session wrote: the name that it did not know of is another file. */
    @ParameterizedTest
    @EnumSource
    void save_ofOthersByAThirdName_beforeTheSessionMovesAnother_isNoReasonToSayThatANameHoldsTheSessionsBytes(End how) throws IOException {
        Path x = Files.createLink(out.resolve("x1"), d.resolve("x"));
        work.append(x, ", changed");
        Files.move(Files.writeString(temp.resolve("beside"), "saved by others"), d.resolve("y"), StandardCopyOption.REPLACE_EXISTING);
        work.append(d.resolve("x"), ", again");
        Path e = out.resolve("e");
        work.rename(d, e);
        work.append(e.resolve("x"), ", once more");

        RollbackReport report = end(how);

        assertOneFile("below", x, d.resolve("x"));
        assertThat(d.resolve("y")).hasContent("saved by others");
        assertThat(report.toString()).doesNotContain("names of a file");
        assertThat(report.conflicts().toString()).doesNotContain("x1");
    }

    /** One name cannot be put back, for a moment: the next rollback makes all of them one file again. */
    @ParameterizedTest
    @CsvSource({"a, KILL", "a, UNDO", "d/b, KILL", "d/b, UNDO"})
    void rollback_thatMetAFaultAtOneName_makesThemOneFileWhenItIsRunAgain(String faulty, End how) throws IOException {
        Path second = Files.createLink(d.resolve("b"), Files.writeString(out.resolve("a2"), "one"));
        Path first = Files.move(out.resolve("a2"), Files.createDirectory(out.resolve("e")).resolve("a"));
        work.write(first, "session");
        work.rename(second, out.resolve("b2"));
        boolean[] isFaulty = {true};
        String prefix = (faulty.equals("a") ? first : second).resolveSibling(".klock-restore-").toString();
        Backups.State ended = how == End.UNDO ? Backups.State.DONE : Backups.State.OPEN;
        if (how == End.UNDO) {
            backups.done();
        }
        backups.close();
        HostFiles files = new TestFiles() {
            @Override
            public Path path(byte[] name) {
                Path path = super.path(name);
                if (isFaulty[0] && path.toString().startsWith(prefix)) {
                    throw new UncheckedIOException(new IOException("Input/output error"));
                }
                return path;
            }
        };
        for (int run = 0; run < 3; run++) {
            backups = Backups.open(home, "s", files);
            assertThat(backups.state()).isEqualTo(run < 2 ? ended : Backups.State.ROLLED_BACK);
            RollbackReport report = backups.rollback();
            backups.close();
            assertThat(report.count(FAILED)).as("%s", report).isEqualTo(run == 0 ? 1 : 0);
            assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
            isFaulty[0] = false;
            if (run > 0) {
                assertOneFile("one", first, second);
            }
        }
    }
}
