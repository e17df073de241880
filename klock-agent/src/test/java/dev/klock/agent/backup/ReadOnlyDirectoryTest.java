package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** FIELD H11, and other places where nothing can be renamed over a file that may be written, for a user whom permissions stop; as root the session runs in a child without root's rights. */
class ReadOnlyDirectoryTest {
    private static final int NOBODY = 65534;

    @Test
    @Tag("K6-5")
    void rollback_whenADirectoryBecameReadOnly_putsBackInPlaceAndFinishesWhenItIsWritable() throws Exception {
        Path dir = Files.createTempDirectory("klock-readonly").toRealPath();
        try {
            boolean root = (Integer) Files.getAttribute(dir, "unix:uid") == 0;
            // others' files: one where its name belongs to us, and two where it does not
            Path others = Files.createDirectory(dir.resolve("others"));
            Path sticky = Files.createDirectory(dir.resolve("sticky"));
            Path fixed = Files.createDirectory(dir.resolve("fixed"));
            for (Path d : List.of(others, sticky, fixed)) {
                Path f = Files.writeString(d.resolve("f"), "theirs");
                Files.setPosixFilePermissions(f, PosixFilePermissions.fromString("rw-rw-rw-"));
                Files.setLastModifiedTime(f, FileTime.fromMillis(1_000_000_000_000L));
            }
            Files.setAttribute(others, "unix:mode", 0777);
            Files.setAttribute(sticky, "unix:mode", 01777);
            Files.setAttribute(fixed, "unix:mode", 0555);
            if (root) {
                Files.setAttribute(dir, "unix:uid", NOBODY);
            }
            runs(root, dir.toString());
            for (Path d : List.of(others, sticky, fixed)) {
                Path f = d.resolve("f");
                assertThat(f).hasContent("theirs");
                assertThat(Files.readAttributes(f, "unix:uid,mode")).containsEntry("mode", 0100666).containsEntry("uid", Files.getAttribute(d, "unix:uid"));
                // the times of a file can be set by its owner only
                assertThat(Files.getLastModifiedTime(f).toMillis() == 1_000_000_000_000L).isEqualTo(!root);
            }
        } finally {
            RandomWorkTest.wipe(dir);
        }
    }

    @Test
    @Tag("K6-5")
    void rollback_ofWhatTheSessionMadeUnreadable_isWhole() throws Exception {
        Path dir = Files.createTempDirectory("klock-unreadable").toRealPath();
        try {
            boolean root = (Integer) Files.getAttribute(dir, "unix:uid") == 0;
            Path fixed = Files.createDirectory(dir.resolve("fixed"));
            Path own = Files.writeString(fixed.resolve("own"), "one");
            Path same = Files.writeString(fixed.resolve("same"), "two");
            Files.setAttribute(fixed, "unix:mode", 0555);
            if (root) {
                for (Path p : List.of(dir, own, same)) {
                    Files.setAttribute(p, "unix:uid", NOBODY);
                }
            }
            runs(root, dir.toString(), "unreadable");
        } finally {
            RandomWorkTest.wipe(dir);
        }
    }

    /** An operation that fails changes nothing, and what those before it have changed is not forgotten for it. */
    @Test
    @Tag("K6-5")
    void rollback_afterAnOperationThatFailed_onWhatTheSessionMadeUnreadable_isWhole() throws Exception {
        runsInItsOwnDirectory("refused");
    }

    private static void refused(Path dir) throws IOException {
        for (String end : List.of("rollback", "undo")) {
            Path home = Files.createDirectories(dir.resolve(end).resolve(".klock"));
            Path file = Files.writeString(dir.resolve(end).resolve("f"), "first");
            Backups b = Backups.open(home, "s", Work.FILES);
            Work work = new Work(b);
            work.chmod(file, "-wx-wx-wx");
            boolean[] wasRefused = new boolean[1];
            for (int i = 0; i < 20; i++) {
                work.write(file, "of the session, " + i);
                try {
                    work.on(file, () -> Files.newByteChannel(file, StandardOpenOption.READ, StandardOpenOption.WRITE).close());
                } catch (AccessDeniedException expected) {
                    wasRefused[0] = true;
                }
            }
            expect(wasRefused[0], "it could be read");
            if (end.equals("undo")) {
                b.done();
                b.close();
                b = Backups.reopen(home, "s", Work.FILES);
            }
            RollbackReport report = b.rollback();
            expect(report.complete() && report.conflicts().isEmpty(), report);
            expect(Files.readString(file).equals("first"), Files.readString(file));
            b.close();
        }
    }

    /** By a child, in a directory that was there and in its own, and by one that is at work when the session's process dies. */
    @Test
    @Tag("K6-5")
    @Tag("K6-7")
    void rollback_ofWhatAChildMadeUnreadable_isWhole() throws Exception {
        runsInItsOwnDirectory("child", "here");
    }

    /** @param what behind the directory's name, as {@link #main} takes it */
    private static void runsInItsOwnDirectory(String... what) throws Exception {
        Path dir = Files.createTempDirectory("klock-own").toRealPath();
        try {
            boolean root = (Integer) Files.getAttribute(dir, "unix:uid") == 0;
            if (root) {
                Files.setAttribute(dir, "unix:uid", NOBODY);
            }
            List<String> arguments = new ArrayList<>(List.of(dir.toString()));
            arguments.addAll(List.of(what));
            runs(root, arguments.toArray(new String[0]));
        } finally {
            RandomWorkTest.wipe(dir);
        }
    }

    private static void unreadableByAChild(Path dir) throws IOException {
        for (String end : List.of("rollback", "crash", "undo")) {
            Path home = Files.createDirectories(dir.resolve(end).resolve(".klock"));
            Path tree = Files.createDirectory(dir.resolve(end).resolve("tree"));
            for (String d : List.of("searched", "shut", "deep/er", "z")) {
                Files.writeString(Files.createDirectories(tree.resolve(d)).resolve("f"), "first of " + d);
            }
            String before = TreeListing.of(tree).toString();
            Backups b = Backups.open(home, "s", Work.FILES);
            b.openTree(Work.name(tree), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
            Work child = Work.ofAChild();
            for (String d : List.of("searched", "shut", "deep/er", "new/er", "z")) {
                Files.createDirectories(tree.resolve(d));
                child.write(tree.resolve(d).resolve("f"), "of the child");
                child.write(tree.resolve(d).resolve("made"), "of the child");
            }
            child.chmod(tree.resolve("searched"), "rw-------");
            child.chmod(tree.resolve("shut"), "---------");
            child.chmod(tree.resolve("new/er"), "-wx------");
            child.chmod(tree.resolve("new"), "---------");
            child.chmod(tree.resolve("deep/er"), "-w-------");
            child.chmod(tree.resolve("deep"), "---------");
            child.chmod(tree, "-wx------");
            if (end.equals("crash")) {
                b.alive();
                b.close();
                b = Backups.openCrashed(home, "s", Work.FILES);
            } else {
                b.leftTree(Work.name(tree));
            }
            if (end.equals("undo")) {
                b.done();
                b.close();
                b = Backups.reopen(home, "s", Work.FILES);
            }
            RollbackReport report = b.rollback();
            expect(report.complete() && report.conflicts().isEmpty(), report);
            String after = TreeListing.of(tree).toString();
            if (!after.equals(before)) {
                throw new AssertionError(end + ": " + before + " has become " + after + "; " + report);
            }
            b.close();
        }
    }

    /** {@link #main} with these arguments ends well, as a user whom permissions mean something to. */
    private static void runs(boolean root, String... arguments) throws Exception {
        Path classes = Files.createTempDirectory("klock-classes");
        try {
            List<String> command = new ArrayList<>();
            String classPath = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
            if (root) {
                command.addAll(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
                classPath = copied(classPath, classes);
            }
            command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", classPath, ReadOnlyDirectoryTest.class.getName()));
            command.addAll(List.of(arguments));
            Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(child.getInputStream().readAllBytes());
            assertThat(child.waitFor()).as(said).isZero();
        } finally {
            RandomWorkTest.wipe(classes);
        }
    }

    /** A class path of copies, since the project may lie in a directory that is its owner's alone. */
    private static String copied(String classPath, Path to) throws IOException {
        Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> copies = new ArrayList<>();
        for (String entry : classPath.split(File.pathSeparator)) {
            Path from = Path.of(entry);
            if (!Files.exists(from)) {
                continue;
            }
            Path copy = to.resolve(copies.size() + "-" + from.getFileName());
            try (Stream<Path> all = Files.walk(from)) {
                for (Path one : all.toList()) {
                    Files.copy(one, copy.resolve(from.relativize(one).toString()));
                }
            }
            copies.add(copy.toString());
        }
        return String.join(File.pathSeparator, copies);
    }

    private static void unreadable(Path dir) throws IOException {
        Path home = Files.createDirectory(dir.resolve(".klock"));
        Path open = Files.createDirectory(dir.resolve("open"));
        for (String d : List.of("shut", "emptied", "deep/er")) {
            Files.writeString(Files.createDirectories(open.resolve(d)).resolve("f"), "first of " + d);
        }
        Files.writeString(open.resolve("g"), "same size");
        String before = "" + TreeListing.of(dir.resolve("fixed")) + TreeListing.of(open);
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            Work work = new Work(b);
            work.write(dir.resolve("fixed/own"), "x");
            work.chmod(dir.resolve("fixed/own"), "---------");
            work.chmod(dir.resolve("fixed/same"), "-w-------");
            work.write(open.resolve("g"), "Same Size");
            work.chmod(open.resolve("g"), "---------");
            work.write(open.resolve("shut/f"), "y");
            work.chmod(open.resolve("shut"), "---------");
            work.delete(open.resolve("emptied/f"));
            work.chmod(open.resolve("emptied"), "r--------");
            work.write(open.resolve("deep/er/f"), "z");
            work.chmod(open.resolve("deep/er"), "---------");
            work.chmod(open.resolve("deep"), "---------");
            work.mkdir(open.resolve("made"));
            work.write(open.resolve("made/n"), "n");
            work.chmod(open.resolve("made"), "---------");
            RollbackReport report = b.rollback();
            expect(report.complete() && report.conflicts().isEmpty(), report);
            String after = "" + TreeListing.of(dir.resolve("fixed")) + TreeListing.of(open);
            if (!after.equals(before)) {
                throw new AssertionError(before + " has become " + after + "; " + report);
            }
        }
        // others' versions that give way to a forced undo in place are kept, each
        for (String theirs : List.of("A", "B", "C")) {
            Files.writeString(dir.resolve("fixed/own"), "other " + theirs);
            try (Backups b = Backups.open(home, "s", Work.FILES)) {
                RollbackReport forced = b.rollback(new Undo(null, true, false, null));
                Path kept = forced.entries().stream().filter(e -> e.name().endsWith("/own")).findFirst().orElseThrow().aside();
                expect(kept != null && Files.readString(kept).equals("other " + theirs), forced);
                expect(Files.readString(dir.resolve("fixed/own")).equals("one"), forced);
            }
        }
    }

    /** The session. */
    public static void main(String[] args) throws IOException {
        Path dir = Path.of(args[0]);
        if (args.length > 2) {
            unreadableByAChild(dir);
            return;
        }
        if (args.length > 1 && args[1].equals("refused")) {
            refused(dir);
            return;
        }
        if (args.length > 1) {
            unreadable(dir);
            return;
        }
        Path home = Files.createDirectory(dir.resolve(".klock"));
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Path d = Files.createDirectory(dir.resolve("d" + i));
            files.add(Files.writeString(d.resolve("f"), "before " + i));
        }
        Path created = dir.resolve("d2/created");
        List<String> lacking;
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            Work work = new Work(b);
            for (Path p : files) {
                work.write(p, "after");
            }
            work.write(created, "ours");
            for (String d : List.of("others", "sticky", "fixed")) {
                work.write(dir.resolve(d).resolve("f"), "ours, and longer than what it was");
            }
            Files.setPosixFilePermissions(dir.resolve("d2"), PosixFilePermissions.fromString("r-xr-xr-x"));
            RollbackReport report = b.rollback();
            // what was there comes back in place; what was not cannot go
            expect(Files.readString(files.get(2)).equals("before 2"), report);
            expect(report.count(RollbackReport.Outcome.RESTORED) == 8, report);
            expect(report.count(RollbackReport.Outcome.FAILED) == 1, report);
            expect(!report.complete(), report);
            expect(Files.exists(created), report);
            lacking = lacking(report);
        }
        Files.setPosixFilePermissions(dir.resolve("d2"), PosixFilePermissions.fromString("rwxr-xr-x"));
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            RollbackReport report = b.rollback();
            expect(report.complete(), report);
            for (int i = 0; i < 5; i++) {
                expect(Files.readString(files.get(i)).equals("before " + i), report);
            }
            expect(!Files.exists(created), report);
            expect(b.state() == Backups.State.ROLLED_BACK, report);
        }
        // what is not whole is said as often as it is asked for
        for (int i = 0; i < 2; i++) {
            try (Backups b = Backups.reopen(home, "s", Work.FILES)) {
                RollbackReport report = b.rollback();
                expect(lacking(report).equals(lacking), report);
                expect(report.count(RollbackReport.Outcome.UNCHANGED) == report.entries().size(), report);
            }
        }
    }

    private static List<String> lacking(RollbackReport report) {
        List<String> lacking = new ArrayList<>();
        for (RollbackReport.Entry entry : report.notes()) {
            if (!entry.isWhole()) {
                lacking.add(entry.name());
            }
        }
        return lacking;
    }

    private static void expect(boolean holds, Object report) {
        if (!holds) {
            throw new AssertionError(report.toString());
        }
    }
}
