package dev.klock.agent.backup;

import static dev.klock.agent.backup.RollbackReport.Outcome.FAILED;
import static dev.klock.agent.backup.RollbackReport.Outcome.KEPT_THEIRS;
import static dev.klock.agent.backup.RollbackReport.Outcome.REMOVED;
import static dev.klock.agent.backup.RollbackReport.Outcome.RESTORED;
import static dev.klock.agent.backup.RollbackReport.Outcome.UNCHANGED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.bridge.HostFiles;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.ByteBuffer;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * <pre>
 *   temp/.klock   home
 *   temp/out      where the session works
 * </pre>
 */
@Tag("K6-5")
class BackupsTest {
    @TempDir
    Path temp;
    private Path home;
    private Path out;
    private Backups backups;
    private Work work;

    @BeforeEach
    void open() throws IOException {
        temp = temp.toRealPath();
        home = Files.createDirectory(temp.resolve(".klock"));
        out = Files.createDirectory(temp.resolve("out"));
        backups = Backups.open(home, "s-1", Work.FILES);
        work = new Work(backups);
    }

    @AfterEach
    void close() throws IOException {
        backups.close();
    }

    /** The session's process dies; another one opens what it left. */
    private void crash() throws IOException {
        backups.close();
        backups = Backups.open(home, "s-1", Work.FILES);
        work = new Work(backups);
    }

    /** The same by a kill: what waits to be written is not. */
    private void kill() throws IOException {
        Path pack = backups.directory().resolve("pack");
        Path left = Files.copy(pack, temp.resolve("left"));
        backups.close();
        Files.move(left, pack, StandardCopyOption.REPLACE_EXISTING);
        backups = Backups.openCrashed(home, "s-1", Work.FILES);
        work = new Work(backups);
    }

    private Path file(String name, String content) throws IOException {
        Path p = out.resolve(name);
        Files.createDirectories(p.getParent());
        return Files.writeString(p, content);
    }

    private RollbackReport.Entry entry(RollbackReport report, Path p) {
        for (RollbackReport.Entry e : report.entries()) {
            if (e.name().equals(p.toString())) {
                return e;
            }
        }
        throw new AssertionError(p + " is not in " + report);
    }

    private static long inode(Path p) throws IOException {
        return (Long) Files.getAttribute(p, "unix:ino", LinkOption.NOFOLLOW_LINKS);
    }

    private static int mode(Path p) throws IOException {
        return (Integer) Files.getAttribute(p, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777;
    }

    /** Times that differ even on a coarse clock, so that "not racy" can be tested. */
    private static void age(Path p) throws IOException {
        Files.setLastModifiedTime(p, FileTime.from(Instant.ofEpochSecond(1_000_000)));
        pause();
    }

    private static void pause() {
        long until = System.nanoTime() + 40_000_000L;
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    // H01

    @Test
    void rollback_besideForeignFiles_leavesThemAlone() throws IOException {
        List<Long> inodes = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            inodes.add(inode(file("foreign" + i, "theirs")));
        }
        work.write(out.resolve("ours"), "x");
        backups.rollback();
        for (int i = 0; i < 1000; i++) {
            assertThat(inode(out.resolve("foreign" + i))).isEqualTo(inodes.get(i));
        }
        assertThat(out.resolve("ours")).doesNotExist();
    }

    // H02

    @Test
    @Tag("C31")
    void rollback_ofCreatedFilesAndDirectories_removesThemAndNothingElse() throws IOException {
        work.write(out.resolve("new"), "x");
        work.mkdir(out.resolve("d"));
        work.mkdir(out.resolve("d/e"));
        work.write(out.resolve("d/e/f"), "x");
        work.mkdir(out.resolve("shared"));
        work.write(out.resolve("shared/ours"), "x");
        file("shared/theirs", "keep");
        RollbackReport report = backups.rollback();
        assertThat(out.resolve("new")).doesNotExist();
        assertThat(out.resolve("d")).doesNotExist();
        assertThat(out.resolve("shared/ours")).doesNotExist();
        assertThat(out.resolve("shared/theirs")).hasContent("keep");
        assertThat(entry(report, out.resolve("d/e/f")).outcome()).isEqualTo(REMOVED);
        assertThat(entry(report, out.resolve("shared")).outcome()).isEqualTo(KEPT_THEIRS);
    }

    @Test
    @Tag("C31")
    void image_ofAFileBelowAbsentDirectories_removesParentsMadeByAChildToo() throws IOException {
        Path deep = out.resolve("a/b/c");
        work.on(deep, () -> {
            Files.createDirectories(deep.getParent());
            Files.writeString(deep, "x");
        });
        backups.rollback();
        assertThat(out.resolve("a")).doesNotExist();
    }

    // H03

    @Test
    void rollback_ofAnEditedFileInTwoSessions_neverRemovesIt() throws IOException {
        Path a = file("a", "before");
        work.write(a, "ours");
        try (Backups second = Backups.open(home, "s-2", Work.FILES)) {
            new Work(second).write(a, "second");
            second.rollback();
            assertThat(a).hasContent("ours");
        }
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(a).hasContent("before");
    }

    // H06

    @Test
    void rollback_ofFiftyFilesEditedInMixedOrder_bringsAllFirstImagesBack() throws IOException {
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            files.add(file("f" + i, "first " + i));
        }
        Random random = new Random(6);
        for (int i = 0; i < 120; i++) {
            work.write(files.get(random.nextInt(50)), "edit " + i);
        }
        for (Path p : files) {
            work.append(p, "more");
        }
        assertThat(backups.rollback().count(RESTORED)).isEqualTo(50);
        for (int i = 0; i < 50; i++) {
            assertThat(files.get(i)).hasContent("first " + i);
        }
    }

    // H07

    @Test
    void rollback_ofEditedFiles_keepsModeOwnerAndTimes() throws IOException {
        String[] modes = {"rwxr-xr-x", "rw-------", "r--r--r--"};
        for (String m : modes) {
            Path p = file("f" + m, "before");
            Files.setPosixFilePermissions(p, PosixFilePermissions.fromString(m));
            age(p);
        }
        Path setuid = file("setuid", "before");
        Files.setAttribute(setuid, "unix:mode", 04755);
        Map<String, String> before = TreeListing.of(out);
        for (String m : modes) {
            Path p = out.resolve("f" + m);
            work.chmod(p, "rw-rw-rw-");
            work.write(p, "after");
        }
        work.write(setuid, "after");
        assertThat(backups.rollback().verified()).isEqualTo(4);
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    @Tag("K6-8")
    void backups_ofASecretFile_areReadableByTheOwnerOnly() throws IOException {
        Path key = file("key", "secret");
        work.write(key, "after");
        backups.left(Work.name(key));
        Files.writeString(key, "theirs, longer");
        backups.rollback();
        try (var all = Files.walk(home.resolve("backups"))) {
            all.forEach(p -> {
                try {
                    assertThat(mode(p) & 077).as(p.toString()).isZero();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
        }
    }

    // H08

    @Test
    void rollback_ofAWriteThroughALink_keepsTheLinkAndRestoresItsTarget() throws IOException {
        Path real = file("real", "before");
        Path link = Files.createSymbolicLink(out.resolve("l"), Path.of("real"));
        work.write(real, "through the link");
        work.delete(link);
        work.write(link, "a file now");
        backups.rollback();
        assertThat(Files.readSymbolicLink(link)).isEqualTo(Path.of("real"));
        assertThat(real).hasContent("before");
    }

    // H09

    @Test
    void rollback_ofAHardLinkedFile_keepsBothNamesOneFile() throws IOException {
        Path one = file("h1", "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        long inode = inode(one);
        work.write(one, "a longer text than before");
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(one).hasContent("before");
        assertThat(two).hasContent("before");
        assertThat(inode(one)).isEqualTo(inode).isEqualTo(inode(two));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rollback_ofAFileChangedUnderItsDirectorysNewName_andThenUnderAnother_bringsItBackUnderBoth(boolean crash) throws IOException {
        Path directory = Files.createDirectory(out.resolve("d"));
        Path one = Files.writeString(directory.resolve("h1"), "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        work.rename(directory, out.resolve("e"));
        try (OutputStream open = work.open(out.resolve("e/h1"))) {
            open.write(Work.bytes(" and more"));
            // an image made now would hold what the session has written
            work.append(two, " and still more");
            if (crash) {
                crash();
            }
            RollbackReport report = backups.rollback();
            assertThat(one).as(report.toString()).hasContent("before");
            assertThat(two).as(report.toString()).hasContent("before");
            assertThat(inode(one)).isEqualTo(inode(two));
        }
    }

    @Test
    void rollback_ofAFileChangedUnseen_afterOneOfItsNamesWent_bringsItBackUnderBoth() throws IOException {
        Path one = file("h1", "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        work.write(one, "edited");
        backups.image(Work.name(one));
        work.delete(one);
        // by the descriptor, whose name is gone
        Files.writeString(two, "edited once more, and longer");
        work.append(two, " and once more");
        RollbackReport report = backups.rollback();
        assertThat(one).as(report.toString()).hasContent("before");
        assertThat(two).as(report.toString()).hasContent("before");
        assertThat(inode(one)).isEqualTo(inode(two));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rollback_ofAMappedFileWhoseOtherNameIsGone_bringsBackOneFile_alsoWhenItIsRunAgain(boolean crash) throws IOException {
        Path one = file("h1", "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        backups.mapped(Work.name(one));
        Files.writeString(one, "Before");
        work.delete(two);
        if (crash) {
            crash();
        }
        for (int run = 0; run < 2; run++) {
            RollbackReport report = backups.rollback();
            assertThat(report.complete()).as(report.toString()).isTrue();
            assertThat(one).as(report.toString()).hasContent("before");
            assertThat(inode(one)).as(report.toString()).isEqualTo(inode(two));
            crash();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("FIELD-H13")
    void rollback_ofAFileMappedUnderANameThatIsGone_bringsBothNamesBack(boolean crash) throws IOException {
        Path one = file("h1", "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        work.write(one, "edited");
        work.on(two, () -> Files.writeString(two, "edited again"));
        // mapped: there is no end of that
        backups.image(Work.name(two));
        work.delete(two);
        Files.writeString(one, "by the mapping, which has no name");
        if (crash) {
            crash();
        }
        RollbackReport report = backups.rollback();
        assertThat(one).as(report.toString()).hasContent("before");
        assertThat(two).as(report.toString()).hasContent("before");
        assertThat(inode(one)).isEqualTo(inode(two));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("FIELD-H13")
    void rollback_ofAFileMappedUnderANameThatIsGone_bringsBackTheNameThatWasNeverTouched(boolean crash) throws IOException {
        Path one = file("h1", "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        backups.preflight(List.of(), List.of(Work.name(out)));
        // mapped: there is no end of that
        backups.image(Work.name(two));
        work.delete(two);
        Files.writeString(one, "by the mapping, which has no name");
        if (crash) {
            crash();
        }
        RollbackReport report = backups.rollback();
        assertThat(one).as(report.toString()).hasContent("before");
        assertThat(two).as(report.toString()).hasContent("before");
        assertThat(inode(one)).isEqualTo(inode(two));
        assertThat(entry(report, two).aside()).hasContent("by the mapping, which has no name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"closed", "closed, crash", "open"})
    @Tag("FIELD-H13")
    void rollback_ofAFileWrittenThroughADescriptorWhoseNameIsGone_bringsAllItsNamesBack(String how) throws IOException {
        Path one = file("h1", "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        Path made = out.resolve("made");
        backups.preflight(List.of(), List.of(Work.name(out)));
        backups.image(Work.name(one));
        work.link(one, made);
        work.delete(one);
        int fd = Work.FILES.open(Work.name(two));
        Files.writeString(two, "through the descriptor");
        if (how.equals("open")) {
            backups.stillOpen(fd);
        } else {
            backups.left(Work.name(one), fd);
        }
        Work.FILES.close(fd);
        if (how.endsWith("crash")) {
            crash();
        }
        RollbackReport report = backups.rollback();
        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(one).as(report.toString()).hasContent("before");
        assertThat(two).as(report.toString()).hasContent("before");
        assertThat(made).as(report.toString()).doesNotExist();
        assertThat(inode(one)).isEqualTo(inode(two));
    }

    @Test
    @Tag("C32")
    void rollback_ofAFileThatOthersStillHaveOpen_keepsWhatTheyWrite() throws IOException {
        Path a = file("a", "before");
        work.write(a, "ours");
        Path created = out.resolve("created");
        work.write(created, "ours, too");
        try (java.io.FileOutputStream theirs = new java.io.FileOutputStream(a.toFile(), true);
                java.io.FileOutputStream others = new java.io.FileOutputStream(created.toFile(), true)) {
            assertThat(backups.rollback().complete()).isTrue();
            theirs.write(Work.bytes(" and theirs"));
            others.write(Work.bytes(" and others'"));
        }
        assertThat(a).hasContent("before");
        assertThat(created).doesNotExist();
        try (Stream<Path> kept = Files.list(backups.directory().resolve("displaced"))) {
            assertThat(kept.map(p -> p.toFile().length()).toList()).containsExactlyInAnyOrder(15L, 21L);
        }
    }

    @Test
    void rollback_whenOneNameOfAHardLinkedFileWasReplaced_joinsThemAgain() throws IOException {
        Path one = file("h1", "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        work.write(one, "edited");
        Path fresh = out.resolve("h1.tmp");
        work.write(fresh, "replaced");
        work.rename(fresh, one);
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(one).hasContent("before");
        assertThat(two).hasContent("before");
        assertThat(inode(one)).isEqualTo(inode(two));
    }

    @Test
    void rollback_ofTreesWithAllNamesOfAFile_saysNothingOfAFileOfItsOwn() throws IOException {
        Path one = Files.writeString(Files.createDirectory(out.resolve("d1")).resolve("h1"), "before");
        Path two = Files.createLink(Files.createDirectory(out.resolve("d2")).resolve("h2"), one);
        work.rename(out.resolve("d1"), out.resolve("e1"));
        work.rename(out.resolve("d2"), out.resolve("e1/e2"));
        RollbackReport report = backups.rollback();
        assertThat(inode(one)).isEqualTo(inode(two));
        assertThat(report.entries()).as(report.toString()).allSatisfy(entry -> assertThat(entry.detail()).isNull());
    }

    @Test
    void rollback_ofTreesWithTwoOfThreeNamesOfAFile_saysThatTheyAreAnotherFileNow() throws IOException {
        Path one = Files.writeString(Files.createDirectory(out.resolve("d1")).resolve("h1"), "before");
        Path two = Files.createLink(Files.createDirectory(out.resolve("d2")).resolve("h2"), one);
        Path elsewhere = Files.createLink(temp.resolve("elsewhere"), one);
        work.rename(out.resolve("d1"), out.resolve("e1"));
        work.rename(out.resolve("d2"), out.resolve("e1/e2"));
        RollbackReport report = backups.rollback();
        assertThat(inode(one)).isEqualTo(inode(two)).isNotEqualTo(inode(elsewhere));
        assertThat(report.toString()).contains("it was one of 3 names of a file; only 2 of them are known, and are another file now");
    }

    @Test
    void rollback_ofAFileChangedInPlaceWhoseKnownNamesWent_saysThatAnotherNameHoldsItsBytes() throws IOException {
        Path one = file("h1", "before");
        Path two = Files.createLink(out.resolve("h2"), one);
        Path elsewhere = Files.createLink(temp.resolve("elsewhere"), one);
        work.append(one, " and more");
        work.delete(one);
        work.delete(two);
        RollbackReport report = backups.rollback();
        assertThat(one).hasContent("before");
        assertThat(inode(one)).isEqualTo(inode(two));
        assertThat(elsewhere).hasContent("before and more");
        assertThat(report.conflicts().toString()).contains("was one of 3 names of a file: one that is not known still holds what the session wrote");
    }

    @Test
    void rollback_ofASymbolicLinkOfTwoNames_keepsBothNamesOneLink() throws IOException {
        Path one = Files.createSymbolicLink(out.resolve("l1"), Path.of("nowhere"));
        Path two = Files.createLink(out.resolve("l2"), one);
        work.delete(one);
        RollbackReport report = backups.rollback();
        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(Files.readSymbolicLink(one)).isEqualTo(Path.of("nowhere"));
        assertThat(inode(one)).isEqualTo(inode(two));
    }

    @Test
    void rollback_ofFifosThatChangedPlaces_bringsBackEachUnderItsNames() throws IOException {
        Path one = fifo("f1", 0640);
        Path two = fifo("f2", 0600);
        Path again = Files.createLink(out.resolve("f2h"), two);
        work.rename(one, out.resolve("x"));
        work.rename(two, one);
        work.rename(again, two);
        work.rename(out.resolve("x"), again);
        RollbackReport report = backups.rollback();
        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(mode(one)).isEqualTo(0640);
        assertThat(mode(two)).isEqualTo(0600);
        assertThat(inode(two)).isEqualTo(inode(again)).isNotEqualTo(inode(one));
    }

    @Test
    void rollback_ofTheModeOfAFifo_changedUnderBothItsNames_bringsTheFirstBack() throws IOException {
        Path one = fifo("f1", 0640);
        Path two = Files.createLink(out.resolve("f2"), one);
        work.chmod(one, "rwxrwxrwx");
        work.chmod(two, "rwx------");
        work.delete(one);
        RollbackReport report = backups.rollback();
        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(mode(two)).isEqualTo(0640);
        assertThat(inode(one)).isEqualTo(inode(two));
    }

    private Path fifo(String name, int mode) throws IOException {
        Path fifo = out.resolve(name);
        Work.FILES.makeSpecial(Work.name(fifo), FileState.FIFO_BITS | mode, 0);
        return fifo;
    }

    // what cannot be imaged stays as it is, and so does everything beside it

    /** One file of which no image can be had. */
    private static final class Unreadable extends TestFiles {
        private final String last;

        Unreadable(String last) {
            this.last = last;
        }

        private boolean isIt(byte[] name) {
            return new String(name, StandardCharsets.UTF_8).endsWith(last);
        }

        @Override
        public int open(byte[] name) {
            return isIt(name) ? -1 : super.open(name);
        }

        @Override
        public byte[][] attributes(byte[] name) throws IOException {
            if (isIt(name)) {
                throw new IOException("may not be read");
            }
            return super.attributes(name);
        }
    }

    /** @param how what is refused: a child of the directory's tree, one of what is directly in it, or its move */
    @ParameterizedTest
    @ValueSource(strings = {"tree", "children", "move"})
    void tree_ofWhichOneFileCannotBeImaged_isRefusedEachTime_andNothingOfItIsTheSessions(String how) throws IOException {
        Path tree = Files.createDirectory(out.resolve("tree"));
        for (int i = 0; i < 40; i++) {
            Files.writeString(tree.resolve("f" + i), "before");
        }
        Files.writeString(tree.resolve("secret"), "before");
        backups.close();
        backups = Backups.open(home, "refusing", new Unreadable("/secret"));
        for (int attempt = 0; attempt < 3; attempt++) {
            assertThatThrownBy(() -> open(how, Work.name(tree))).isInstanceOf(IOException.class).hasMessageContaining("may not be read");
        }
        // somebody else's work from here on
        Files.writeString(tree.resolve("f0"), "theirs");
        Files.delete(tree.resolve("f1"));
        Files.writeString(tree.resolve("f40"), "theirs");
        RollbackReport report = backups.rollback();
        assertThat(report.count(RollbackReport.Outcome.REMOVED) + report.count(RollbackReport.Outcome.RESTORED)).as(report.toString()).isZero();
        assertThat(tree.resolve("f0")).hasContent("theirs");
        assertThat(tree.resolve("f40")).hasContent("theirs");
        assertThat(tree.resolve("f1")).doesNotExist();
        assertThat(tree.resolve("f39")).hasContent("before");
    }

    private void open(String how, byte[] tree) throws IOException {
        switch (how) {
            case "tree" -> backups.openTree(tree, Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
            case "children" -> backups.openChildren(tree);
            default -> backups.imageTree(tree);
        }
    }

    /** M3: what could not be put back the first time changes its directory the second time. */
    @Test
    void undo_thatFinishesAnother_putsTheTimesOfDirectoriesBack() throws IOException {
        file("d/e/f", "a text that is found in the pack");
        file("d/e/g", "another");
        age(out.resolve("d/e"));
        age(out.resolve("d"));
        age(out);
        Map<String, String> before = TreeListing.of(out);
        work.deleteTree(out.resolve("d"));
        backups.done();
        backups.close();
        int at = new String(Files.readAllBytes(backups.directory().resolve("pack")), StandardCharsets.ISO_8859_1).indexOf("a text that");
        overwrite(at, (byte) 'b');
        backups = Backups.reopen(home, "s-1", Work.FILES);
        RollbackReport report = backups.rollback();
        assertThat(report.count(FAILED)).as(report.toString()).isEqualTo(1);
        backups.close();
        overwrite(at, (byte) 'a');
        backups = Backups.reopen(home, "s-1", Work.FILES);
        report = backups.rollback();
        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(TreeListing.of(out)).as(report.toString()).isEqualTo(before);
    }

    /** What is still open when the session ends is noted then, and its directory with it, in whatever order. */
    @Test
    void undo_ofFilesThatWereOpenAtTheEnd_putsTheTimesOfDirectoriesBack() throws IOException {
        List<OutputStream> open = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Path d = Files.createDirectory(out.resolve("d" + i));
            file("d" + i + "/kept", "before");
            age(d);
        }
        age(out);
        Map<String, String> before = TreeListing.of(out);
        for (int i = 0; i < 20; i++) {
            work.append(out.resolve("d" + i + "/kept"), "ours");
            open.add(work.open(out.resolve("d" + i + "/made")));
        }
        RollbackReport report = end(true);
        assertThat(TreeListing.of(out)).as(report.toString()).isEqualTo(before);
        for (OutputStream each : open) {
            each.close();
        }
    }

    @Test
    @Tag("C45")
    void undo_ofASessionThatCrashedAndWasKept_putsTheTimesOfDirectoriesBack() throws IOException {
        Path d = Files.createDirectory(out.resolve("d"));
        file("d/kept", "before");
        age(d);
        age(out);
        Map<String, String> before = TreeListing.of(out);
        backups.restoredAfterCrash(false);
        work.append(d.resolve("kept"), "ours");
        Path fresh = out.resolve("fresh");
        work.write(fresh, "ours");
        work.rename(fresh, d.resolve("kept"));
        work.rename(d.resolve("kept"), out.resolve("away"));
        backups.close();
        assertThat(Recovery.run(home, null, false, Work.FILES)).singleElement().satisfies(r -> assertThat(r.report()).isNull());
        backups = Backups.reopen(home, "s-1", Work.FILES);
        RollbackReport report = backups.rollback();
        assertThat(TreeListing.of(out)).as(report.toString()).isEqualTo(before);
    }

    private void overwrite(long at, byte with) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(backups.directory().resolve("pack").toFile(), "rw")) {
            file.seek(at);
            file.write(with);
        }
    }

    // A machine that loses its power

    /** Everything was changed so much earlier. */
    private static final class Ago extends TestFiles {
        private final long ns;

        Ago(long ns) {
            this.ns = ns;
        }

        @Override
        public long[] status(byte[] name) throws IOException {
            long[] status = super.status(name);
            if (status != null) {
                status[CTIME] -= ns;
            }
            return status;
        }
    }

    /** @param ago how much earlier than the session's last change what the disk has kept was changed, in ms; not, if 0 */
    @ParameterizedTest
    @ValueSource(longs = {0, 60_000})
    @Tag("C45")
    void rollbackAfterACrash_ofWhatTheDiskHasKeptOfAnEarlierTime_isNotTakenForOthers(long ago) throws IOException {
        Path a = file("a", "before");
        Path gone = file("gone", "before");
        Path made = out.resolve("made");
        work.write(a, "what the session wrote");
        work.write(gone, "what the session wrote");
        work.write(made, "what the session wrote");
        backups.close();
        // a tick of the clock that files' times are taken from
        pause();
        Files.writeString(a, "what");
        Files.delete(gone);
        Files.writeString(made, "");
        backups = Backups.openCrashed(home, "s-1", new Ago(ago * 1_000_000L));
        RollbackReport report = backups.rollback();
        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(report.count(KEPT_THEIRS)).as(report.toString()).isEqualTo(ago == 0 ? 3 : 0);
        if (ago > 0) {
            assertThat(a).hasContent("before");
            assertThat(gone).hasContent("before");
            assertThat(made).doesNotExist();
            assertThat(entry(report, a).aside()).hasContent("what");
        }
    }

    @Test
    void boot_isKnownByItsName() {
        assertThat(Boot.after(Boot.id())).isEqualTo(Long.MIN_VALUE);
        assertThat(Boot.after(null)).isEqualTo(Long.MIN_VALUE);
        assertThat(Boot.after(new byte[0])).isEqualTo(Long.MIN_VALUE);
        assertThat(Boot.after(new byte[] {1})).isBetween(1_000_000_000L, System.currentTimeMillis() * 1_000_000L);
    }

    // H22: another file at the name of one that the session has open, or in the place of a directory that it has moved

    private void replaceByRename(Path p, String text) throws IOException {
        Path fresh = Files.writeString(out.resolve("theirs.tmp"), text);
        Files.move(fresh, p, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Where the bytes are: below {@code out}, or what klock keeps. */
    private boolean isKept(String text) throws IOException {
        try (Stream<Path> all = Files.walk(temp)) {
            for (Path p : (Iterable<Path>) all::iterator) {
                if (Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS) && !p.endsWith("pack") && Files.readString(p, StandardCharsets.ISO_8859_1).contains(text)) {
                    return true;
                }
            }
        }
        return false;
    }

    private RollbackReport end(boolean undo) throws IOException {
        if (!undo) {
            return backups.rollback();
        }
        backups.done();
        backups.close();
        backups = Backups.reopen(home, backups.sessionId(), Work.FILES);
        return backups.rollback();
    }

    @ParameterizedTest
    @CsvSource({"none,false", "none,true", "write,false", "write,true", "delete,false", "delete,true", "move,false", "move,true"})
    void fileOfOthers_putWhereTheSessionHasOneOpen_isNeverLost(String then, boolean undo) throws IOException {
        Path a = file("a", "before");
        try (OutputStream open = work.open(a)) {
            open.write(Work.bytes("ours"));
            replaceByRename(a, "made by somebody else");
            switch (then) {
                case "write" -> work.write(a, "ours again");
                case "delete" -> work.delete(a);
                case "move" -> work.rename(a, out.resolve("b"));
                default -> { }
            }
            RollbackReport report = end(undo);
            assertThat(isKept("made by somebody else")).as(report.toString()).isTrue();
            assertThat(report.toString()).contains(a.toString());
            assertThat(report.count(RollbackReport.Outcome.KEPT_THEIRS)).as(report.toString()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fileThatTheSessionMadeAndHasOpenTwice_isNotTakenForOthers(boolean undo) throws IOException {
        Path a = out.resolve("a");
        try (OutputStream one = work.open(a); OutputStream two = work.open(a)) {
            one.write(Work.bytes("ours"));
            work.append(a, "ours");
            Path b = out.resolve("b");
            work.write(b, "renamed over it");
            work.rename(b, a);
            work.append(a, "ours");
            two.write(Work.bytes("ours"));
            RollbackReport report = end(undo);
            assertThat(report.complete()).as(report.toString()).isTrue();
            assertThat(report.count(RollbackReport.Outcome.KEPT_THEIRS)).as(report.toString()).isZero();
            assertThat(a).doesNotExist();
        }
    }

    @ParameterizedTest
    @CsvSource({"none,false", "none,true", "write,false", "write,true", "delete,false", "delete,true", "move,false", "move,true", "child,false", "child,true"})
    void directoryOfOthers_whereTheSessionHasMovedOneAway_isNeverLost(String then, boolean undo) throws IOException {
        Path d = Files.createDirectory(out.resolve("d"));
        Path f = Files.writeString(d.resolve("f"), "before");
        work.rename(d, out.resolve("e"));
        Files.createDirectory(d);
        Files.writeString(f, "made by somebody else");
        switch (then) {
            case "write" -> work.write(f, "ours");
            case "delete" -> work.deleteTree(d);
            case "move" -> work.rename(d, out.resolve("x"));
            case "child" -> {
                backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
                Files.writeString(f, "ours");
                backups.leftTree(Work.name(out));
            }
            default -> { }
        }
        RollbackReport report = end(undo);
        assertThat(isKept("made by somebody else")).as(report.toString()).isTrue();
        assertThat(report.count(RollbackReport.Outcome.KEPT_THEIRS)).as(report.toString()).isPositive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void directoryThatTheSessionMovedAwayAndBack_isNotTakenForOthers(boolean undo) throws IOException {
        Path d = Files.createDirectory(out.resolve("d"));
        Path f = Files.writeString(d.resolve("f"), "before");
        work.rename(d, out.resolve("e"));
        work.append(out.resolve("e/f"), "ours");
        work.rename(out.resolve("e"), d);
        work.append(f, "ours");
        work.write(d.resolve("g"), "ours");
        RollbackReport report = end(undo);
        assertThat(report.count(RollbackReport.Outcome.KEPT_THEIRS)).as(report.toString()).isZero();
        assertThat(f).hasContent("before");
        assertThat(d.resolve("g")).doesNotExist();
    }

    /** A17: sessions undone one after the other, the newest first. */
    @Test
    void undo_ofTwoSessions_theNewestFirst_bringsTheFirstStateBack() throws IOException {
        Path a = file("a", "before");
        for (int i = 0; i < 12; i++) {
            work.append(a, "1");
        }
        Path large = Files.write(out.resolve("large"), new byte[100_000]);
        for (int i = 0; i < 12; i++) {
            work.append(large, "1");
        }
        backups.done();
        backups.close();
        backups = Backups.open(home, "s-2", Work.FILES);
        work = new Work(backups);
        work.append(a, "2");
        work.append(large, "2");
        end(true);
        backups.close();
        backups = Backups.reopen(home, "s-1", Work.FILES);
        RollbackReport report = backups.rollback();
        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(report.count(RollbackReport.Outcome.KEPT_THEIRS)).as(report.toString()).isZero();
        assertThat(entry(report, a).detail()).isNull();
        assertThat(a).hasContent("before");
        assertThat(Files.size(large)).isEqualTo(100_000);
    }

    /** A8: what a child might have changed and did not is nobody's conflict. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rollback_ofWhatAChildDidNotChange_leavesTheWorkOfOthersWithoutAWord(boolean undo) throws IOException {
        Path a = file("a", "before");
        Path b = file("b", "before");
        age(a);
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        Files.writeString(b, "by the child");
        backups.leftTree(Work.name(out));
        Files.writeString(a, "made by somebody else");
        RollbackReport report = end(undo);
        assertThat(a).hasContent("made by somebody else");
        assertThat(b).hasContent("before");
        assertThat(report.count(RollbackReport.Outcome.KEPT_THEIRS)).as(report.toString()).isZero();
    }

    // H10

    @Test
    void rollback_ofAnyBytes_bringsExactlyThemBack() throws IOException {
        Random random = new Random(10);
        byte[] large = new byte[3_000_017];
        random.nextBytes(large);
        byte[] binary = new byte[256];
        for (int i = 0; i < 256; i++) {
            binary[i] = (byte) i;
        }
        byte[][] contents = {{}, binary, "a\r\nb\r\n".getBytes(), "\ufeffbom".getBytes("UTF-8"), "fa\u00e7ade".getBytes("ISO-8859-1"),
            "no newline".getBytes(), large, new byte[1 << 18], new byte[(1 << 18) + 1]};
        for (int i = 0; i < contents.length; i++) {
            Files.write(out.resolve("f" + i), contents[i]);
        }
        for (int i = 0; i < contents.length; i++) {
            Path p = out.resolve("f" + i);
            work.on(p, () -> Files.write(p, "gibberish".getBytes()));
        }
        backups.rollback();
        for (int i = 0; i < contents.length; i++) {
            assertThat(Files.readAllBytes(out.resolve("f" + i))).isEqualTo(contents[i]);
        }
    }

    @Test
    void image_ofAFileNamedStrangely_isRestored() throws IOException {
        Path newline = file("a\nb", "one");
        Path utf8 = file("\u00fc\u4e2d", "two");
        Path longest = file("x".repeat(255), "three");
        work.write(newline, "-");
        work.write(utf8, "-");
        work.write(longest, "-");
        RollbackReport report = backups.rollback();
        assertThat(newline).hasContent("one");
        assertThat(utf8).hasContent("two");
        assertThat(longest).hasContent("three");
        assertThat(report.toString()).contains("a\\x0ab");
    }

    // H11

    @Test
    void rollback_whenOneTargetCannotBeRestored_restoresTheRestAndFinishesLater() throws IOException {
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            files.add(file("d" + i + "/f", "before " + i));
        }
        for (Path p : files) {
            work.write(p, "after");
        }
        Path stolen = out.resolve("stolen");
        Files.move(out.resolve("d2"), stolen);
        Files.createSymbolicLink(out.resolve("d2"), stolen);
        RollbackReport report = backups.rollback();
        assertThat(report.count(RESTORED)).isEqualTo(4);
        assertThat(entry(report, files.get(2)).outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(entry(report, files.get(2)).aside()).hasContent("before 2");
        Files.delete(out.resolve("d2"));
        Files.move(stolen, out.resolve("d2"));
        crash();
        RollbackReport again = backups.rollback();
        assertThat(again.complete()).isTrue();
        for (int i = 0; i < 5; i++) {
            assertThat(files.get(i)).hasContent("before " + i);
        }
        assertThat(backups.state()).isEqualTo(Backups.State.ROLLED_BACK);
    }

    @Test
    void image_ofANameBelowAFile_leavesTheFileToBeImagedWhenItIsChangedItself() throws Exception {
        Path a = file("a", "before");
        // so old that equal times tell that it is the same
        Thread.sleep(100);
        Files.createSymbolicLink(out.resolve("l"), a);
        work.on(a.resolve("below"), () -> { });
        work.on(out.resolve("l/below"), () -> { });
        work.write(a, "session");
        work.delete(a);
        work.delete(out.resolve("l"));

        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(a).hasContent("before");
        assertThat(out.resolve("l")).isSymbolicLink();
    }

    // H15

    @Test
    void image_ofAFileEditedInPlaceLater_doesNotChange() throws IOException {
        Path a = file("a", "0123456789");
        work.on(a, () -> {
            try (RandomAccessFile raf = new RandomAccessFile(a.toFile(), "rw")) {
                raf.seek(3);
                raf.write("xxx".getBytes());
            }
        });
        ByteArrayOutputStream image = new ByteArrayOutputStream();
        backups.copy(Work.name(a), image);
        assertThat(image.toString()).isEqualTo("0123456789");
        backups.rollback();
        assertThat(a).hasContent("0123456789");
    }

    // H17

    @Test
    void rollback_withALiveMappingAndAnOpenStream_staysRestoredWhenTheyWriteOn() throws IOException {
        Path a = file("a", "before");
        backups.image(Work.name(a));
        try (FileChannel channel = FileChannel.open(a, StandardOpenOption.READ, StandardOpenOption.WRITE);
                var stream = Files.newOutputStream(a, StandardOpenOption.APPEND)) {
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_WRITE, 0, 6);
            map.put(0, (byte) 'X');
            assertThat(backups.rollback().complete()).isTrue();
            map.put(1, (byte) 'Y');
            map.force();
            stream.write('Z');
        }
        assertThat(a).hasContent("before");
    }

    @Test
    void rollback_ofAnotherNameThatTookThePlaceOfAnOpenFile_isKnown() throws IOException {
        Path other = file("c/other", "precious");
        Path name = Files.createLink(out.resolve("name"), other);
        Path open = file("open", "y");
        backups.preflight(List.of(), List.of(Work.name(out)));
        Map<String, String> before = TreeListing.of(out);
        try (OutputStream held = work.open(open)) {
            work.rename(name, open);
            work.write(open, "session");

            assertThat(backups.rollback().conflicts()).isEmpty();
        }
        assertThat(other).hasContent("precious");
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    void rollback_ofAFileMadeAndOpenUnderTwoNames_isTheSessions() throws IOException {
        Path users = file("users", "before");
        Map<String, String> before = TreeListing.of(out);
        changeUnderTwoNames(users);
        RollbackReport report = backups.rollback();
        assertThat(report.conflicts()).isEmpty();
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    private void changeUnderTwoNames(Path users) throws IOException {
        Path made = out.resolve("made");
        try (OutputStream held = work.open(made)) {
            work.delete(users);
            work.link(made, users);
            work.append(made, "2");
            work.append(users, "3");
        }
    }

    @Test
    void rollback_afterACrash_ofAFileMadeAndOpenUnderTwoNames_isTheSessions() throws IOException {
        Path users = file("users", "before");
        Map<String, String> before = TreeListing.of(out);
        changeUnderTwoNames(users);
        crash();
        assertThat(backups.rollback().conflicts()).isEmpty();
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    void rollback_ofADirectoryMovedWithAnOpenFile_leavesNothing() throws IOException {
        Path a = file("a", "before");
        Map<String, String> before = TreeListing.of(out);
        try (OutputStream held = work.open(a)) {
            work.mkdir(out.resolve("d"));
            work.link(a, out.resolve("d/b"));
            work.delete(a);
            work.rename(out.resolve("d"), out.resolve("e"));
            held.write('x');
            work.write(out.resolve("e/b"), "session");

            assertThat(backups.rollback().conflicts()).isEmpty();
        }
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    void image_ofADirectoryWhoseEntriesWereChangedBefore_hasItsAttributes() throws IOException {
        Attributed files = new Attributed();
        Path d = Files.createDirectory(out.resolve("d"));
        Path below = file("d/below", "x");
        Path kept = Files.createDirectory(out.resolve("kept"));
        byte[] k = "k".getBytes(StandardCharsets.US_ASCII);
        files.setAttribute(Work.name(d), k, new byte[] {1});
        files.setAttribute(Work.name(kept), k, new byte[] {1});
        try (Backups attributed = Backups.open(home, "s-2", files)) {
            Work session = new Work(attributed);
            session.delete(below);
            session.delete(d);
            session.write(kept.resolve("new"), "x");
            session.on(kept, () -> files.setAttribute(Work.name(kept), k, new byte[] {2}));

            assertThat(attributed.rollback().conflicts()).isEmpty();
        }
        assertThat(files.attributes(Work.name(d))[1]).containsExactly(1);
        assertThat(files.attributes(Work.name(kept))[1]).containsExactly(1);
        assertThat(below).hasContent("x");
    }

    @ParameterizedTest
    @CsvSource({"No space left on device,FAILED", "Operation not permitted,RESTORED"})
    void rollback_whereAnAttributeCannotBeSet_isTriedAgainIfThatMayPass(String reason, RollbackReport.Outcome outcome) throws IOException {
        Attributed files = new Attributed();
        Path a = file("a", "before");
        byte[] k = "k".getBytes(StandardCharsets.US_ASCII);
        files.setAttribute(Work.name(a), k, new byte[] {1});
        try (Backups attributed = Backups.open(home, "s-2", files)) {
            new Work(attributed).delete(a);
            files.refused = reason;
            RollbackReport report = attributed.rollback();
            assertThat(entry(report, a).outcome()).isEqualTo(outcome);
            assertThat(entry(report, a).detail()).contains(reason);
            if (outcome == FAILED) {
                assertThat(entry(report, a).aside()).hasContent("before");
                files.refused = null;
                assertThat(attributed.rollback().complete()).isTrue();
                assertThat(files.attributes(Work.name(a))[1]).containsExactly(1);
            }
        }
        assertThat(a.toFile().exists()).isTrue();
    }

    @Test
    void undoByForce_ofWhatOthersChangedInBetween_bringsBackWhatWasThereBeforeTheSession() throws IOException {
        Path a = file("a", "before");
        work.write(a, "session");
        Files.writeString(a, "theirs, between");
        work.write(a, "session again");
        RollbackReport report = backups.rollback();
        assertThat(entry(report, a).outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(a).hasContent("theirs, between");
        ByteArrayOutputStream first = new ByteArrayOutputStream();
        backups.copy(Work.name(a), first);
        assertThat(first.toString()).as("what diff compares with").isEqualTo("before");

        crash();
        RollbackReport forced = backups.rollback(new Undo(null, true, false, null));
        assertThat(entry(forced, a).outcome()).isEqualTo(RESTORED);
        assertThat(entry(forced, a).aside()).hasContent("theirs, between");
        assertThat(a).hasContent("before");

        crash();
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(RollbackReport.Outcome.UNCHANGED);
    }

    @Test
    void rollback_ofAFileThatEndsInAHole_bringsNoBlockOfIt() throws IOException {
        Path a = out.resolve("a");
        try (RandomAccessFile sparse = new RandomAccessFile(a.toFile(), "rw")) {
            sparse.write("text".getBytes(StandardCharsets.US_ASCII));
            sparse.setLength(1_000_001);
        }
        work.delete(a);
        backups.rollback();
        assertThat(Files.size(a)).isEqualTo(1_000_001);
        ByteBuffer part = ByteBuffer.allocate(4);
        try (FileChannel channel = FileChannel.open(a)) {
            channel.read(part, 0);
        }
        assertThat(new String(part.array(), StandardCharsets.US_ASCII)).isEqualTo("text");
        assertThat(blocks(a)).as("blocks of 512 bytes").isLessThanOrEqualTo(8);
    }

    private static long blocks(Path p) throws IOException {
        Process stat = new ProcessBuilder("stat", "-c", "%b", p.toString()).start();
        return Long.parseLong(new String(stat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).trim());
    }

    @Test
    void rollback_withAMappingThatStoresOnlyLater_staysAsItWas() throws IOException {
        Path a = file("a", "before");
        Map<String, String> before = TreeListing.of(out);
        MappedByteBuffer map = map(a);

        RollbackReport report = backups.rollback();
        map.put(1, (byte) 'Y');
        map.force();

        assertThat(report.complete()).isTrue();
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    void rollback_withAMappingOfAFileOfSeveralNames_isNotCompleteUntilTheProcessIsGone() throws IOException {
        Path a = file("a", "before");
        Path b = Files.createLink(out.resolve("b"), a);
        Map<String, String> before = TreeListing.of(out);
        MappedByteBuffer map = map(a);

        RollbackReport report = backups.rollback();
        map.put(1, (byte) 'Y');
        map.force();
        assertThat(entry(report, a).outcome()).isEqualTo(RollbackReport.Outcome.FAILED);
        assertThat(entry(report, a).detail()).contains("2 names").contains("still maps it");

        crash();
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(TreeListing.of(out)).isEqualTo(before);
        assertThat(b).hasContent("before");
    }

    /** Who asks later what came of it is told of the last rollback, not of the one before. */
    @Test
    void rollback_thatFindsWhatFailedBeforeAsItWas_isOnRecord() throws IOException {
        Path a = file("a", "before");
        Files.createLink(out.resolve("b"), a);
        map(a);
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(RollbackReport.Outcome.FAILED);

        crash();
        assertThat(backups.rollback().complete()).isTrue();
        crash();

        assertThat(backups.recorded().count(RollbackReport.Outcome.FAILED)).isZero();
    }

    @Test
    void rollback_ofAFileWhoseModeOthersHaveSetSince_bringsBackItsContent_andLeavesTheirMode() throws IOException {
        Path changed = file("changed", "before");
        work.write(changed, "session");
        rest();
        Files.setPosixFilePermissions(changed, PosixFilePermissions.fromString("rw----r--"));

        RollbackReport report = backups.rollback();

        assertThat(changed).hasContent("before");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(changed))).isEqualTo("rw----r--");
        assertThat(entry(report, changed).outcome()).isEqualTo(RollbackReport.Outcome.RESTORED);
        assertThat(entry(report, changed).detail()).contains("mode 604").contains("as somebody else set it since");
    }

    /** The session has set one, too: what it left is what theirs is told from. */
    @Test
    void rollback_ofAModeThatTheSessionSet_isComplete() throws IOException {
        Path changed = file("changed", "before");
        Set<PosixFilePermission> first = Files.getPosixFilePermissions(changed);
        work.write(changed, "session");
        backups.image(Work.name(changed));
        Files.setPosixFilePermissions(changed, PosixFilePermissions.fromString("rw----r--"));
        backups.left(Work.name(changed));
        rest();

        RollbackReport report = backups.rollback();

        assertThat(changed).hasContent("before");
        assertThat(Files.getPosixFilePermissions(changed)).isEqualTo(first);
        assertThat(report.entries()).allMatch(e -> e.detail() == null);
    }

    @Test
    void rollback_ofAFileThatTheSessionFailedToChange_leavesItAsOthersSetIt_howeverOftenItFailed() throws IOException {
        Path never = file("never", "before");
        for (int times = 0; times < 2; times++) {
            backups.image(Work.name(never));
            backups.leftAsMet(Work.name(never));
            rest();
            Files.setPosixFilePermissions(never, PosixFilePermissions.fromString(times == 0 ? "rw----r--" : "rw---xr--"));
            rest();
        }

        RollbackReport report = backups.rollback();

        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(never))).as(report.toString()).isEqualTo("rw---xr--");
        assertThat(report.entries()).as(report.toString()).allMatch(e -> e.outcome() == RollbackReport.Outcome.UNCHANGED);
    }

    /** Longer than the kernel's clock is behind, which files' times are taken from. */
    private static void rest() {
        try {
            Thread.sleep(25);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private MappedByteBuffer map(Path a) throws IOException {
        backups.image(Work.name(a));
        try (FileChannel channel = FileChannel.open(a, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            backups.mapped(Work.name(a));
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, 6);
        } finally {
            backups.left(Work.name(a));
        }
    }

    /** What others, or the session, do to a mapped file before the session is killed, and what is there after the rollback. */
    @ParameterizedTest
    @CsvSource({"saved, theirs", "removed, ", "written, before", "saved by the session, before", "removed by the session, before", "moved here by the session, before"})
    @Tag("C32")
    @Tag("C45")
    void rollback_afterAKill_ofAMappedFile_leavesWhatOthersPutInItsPlace(String how, String there) throws IOException {
        backups.close();
        backups = Backups.open(home, "s-1", new TestFiles() {
            @Override
            public int hold(byte[] name, boolean directory) {
                return open(name);
            }
        });
        work = new Work(backups);
        Path a = file("a", "before");
        MappedByteBuffer mapped = map(a);
        mapped.put(0, (byte) 'B');
        switch (how) {
            case "saved":
                Files.move(file("t", "theirs"), a, StandardCopyOption.REPLACE_EXISTING);
                break;
            case "removed":
                Files.delete(a);
                break;
            case "written":
                Files.writeString(a, "theirs");
                break;
            case "moved here by the session":
                work.rename(file("t", "another"), a);
                break;
            default:
                work.delete(a);
                if (how.startsWith("saved")) {
                    // it is killed before it has closed it
                    backups.image(Work.name(a));
                    Files.writeString(a, "session");
                }
                break;
        }
        kill();

        RollbackReport report = backups.rollback();

        if (there == null) {
            assertThat(a).as("%s", report).doesNotExist();
        } else {
            assertThat(a).as("%s", report).hasContent(there);
        }
        boolean others = !"before".equals(there);
        assertThat(entry(report, a).outcome()).as("%s", report).isEqualTo(others ? KEPT_THEIRS : RESTORED);
        if (others) {
            assertThat(entry(report, a).aside()).hasContent("before");
        }
        assertThat(backups.rollback().count(RollbackReport.Outcome.FAILED)).isZero();
    }

    /** What the session, or somebody else, has taken out of a directory before a rename of it fails, others make again. */
    @ParameterizedTest
    @ValueSource(strings = {"rollback", "kill", "undo"})
    @Tag("C32")
    void rollback_afterAFailedRenameOfADirectory_leavesWhatOthersMakeInIt(String end) throws IOException {
        Path a = file("a", "before");
        Path x = file("d/x", "before");
        Path y = file("d/y", "before");
        Path z = x.resolveSibling("z");
        work.delete(x);
        work.write(y, "session");
        work.write(z, "session");
        work.delete(z);
        Files.delete(y);
        assertThatThrownBy(() -> work.rename(x.getParent(), a)).isInstanceOf(IOException.class);
        for (Path path : List.of(x, y, z)) {
            Files.writeString(path, "theirs " + path.getFileName());
        }
        if (end.equals("kill")) {
            kill();
        } else if (end.equals("undo")) {
            backups.done();
            crash();
        }

        RollbackReport report = backups.rollback();

        for (Path path : List.of(x, y, z)) {
            assertThat(path).as("%s", report).hasContent("theirs " + path.getFileName());
            assertThat(entry(report, path).outcome()).as("%s", report).isEqualTo(KEPT_THEIRS);
        }
        assertThat(a).hasContent("before");
    }

    @Test
    void undo_ofASessionThatIsRolledBack_saysWhatIsSoNow() throws IOException {
        Path changed = file("changed", "before");
        Path deleted = file("deleted", "before");
        Path made = out.resolve("made");
        work.write(changed, "session");
        work.delete(deleted);
        work.write(made, "session");
        assertThat(backups.rollback().complete()).isTrue();
        Undo force = new Undo(null, true, false, null);

        crash();
        RollbackReport again = backups.rollback();
        assertThat(again.count(RollbackReport.Outcome.UNCHANGED)).isEqualTo(3);

        Files.writeString(changed, "theirs");
        Files.writeString(made, "theirs");
        Files.delete(deleted);
        crash();
        RollbackReport refused = backups.rollback();
        assertThat(refused.count(RollbackReport.Outcome.KEPT_THEIRS)).isEqualTo(3);
        assertThat(changed).hasContent("theirs");
        assertThat(made).hasContent("theirs");

        crash();
        RollbackReport forced = backups.rollback(force);
        assertThat(forced.conflicts()).isEmpty();
        assertThat(changed).hasContent("before");
        assertThat(deleted).hasContent("before");
        assertThat(made).doesNotExist();
        assertThat(entry(forced, changed).aside()).hasContent("theirs");
        assertThat(entry(forced, made).aside()).hasContent("theirs");
        assertThat(backups.rollback(force).count(RollbackReport.Outcome.UNCHANGED)).isEqualTo(3);
    }

    // H18

    @Test
    void rollback_ofARenameChain_unwindsIt() throws IOException {
        Path a = file("a", "start");
        Path b = out.resolve("b");
        Path c = out.resolve("c");
        Map<String, String> before = TreeListing.of(out);
        work.rename(a, b);
        work.write(a, "second");
        work.rename(b, c);
        work.delete(c);
        backups.rollback();
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    void rollback_ofARenamedDirectory_movesEverythingBackAndKeepsForeignFiles() throws IOException {
        file("d/one", "1");
        file("d/e/two", "2");
        Files.createDirectory(out.resolve("d/empty"));
        Map<String, String> before = TreeListing.of(out);
        work.rename(out.resolve("d"), out.resolve("moved"));
        work.write(out.resolve("moved/one"), "changed after the move");
        RollbackReport report = backups.rollback();
        assertThat(report.complete()).isTrue();
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    void rollback_ofARenamedDirectoryWithAForeignFileInIt_keepsThatFile() throws IOException {
        file("d/one", "1");
        work.rename(out.resolve("d"), out.resolve("moved"));
        file("moved/theirs", "keep");
        backups.rollback();
        assertThat(out.resolve("d/one")).hasContent("1");
        assertThat(out.resolve("moved/theirs")).hasContent("keep");
        assertThat(out.resolve("moved/one")).doesNotExist();
    }

    // H19

    @Test
    void rollback_ofADeletedTree_bringsEmptyDirectoriesModesAndLinksBack() throws IOException {
        file("d/x/file", "content");
        Files.createDirectory(out.resolve("d/empty"));
        Files.createDirectory(out.resolve("d/private"));
        file("d/private/key", "secret");
        Files.setPosixFilePermissions(out.resolve("d/private"), PosixFilePermissions.fromString("rwx------"));
        Files.createSymbolicLink(out.resolve("d/dangling"), Path.of("/nowhere/at all"));
        Files.createSymbolicLink(out.resolve("d/up"), out);
        Files.createLink(out.resolve("d/x/second"), out.resolve("d/x/file"));
        Map<String, String> before = TreeListing.of(out);
        backups.imageTree(Work.name(out.resolve("d")));
        work.deleteTree(out.resolve("d"));
        backups.left(Work.name(out.resolve("d")));
        assertThat(out.resolve("d")).doesNotExist();
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    // H21

    @Test
    @Tag("FIELD-H21")
    @Tag("C30")
    void image_whenSomeoneChangedTheFileSincePreflight_isTheStateAtFirstTouch() throws IOException {
        Path a = file("a", "at preflight");
        Path b = file("b", "unchanged");
        age(a);
        age(b);
        backups.preflight(List.of(Work.name(a), Work.name(b), Work.name(out.resolve("absent"))), List.of());
        Files.writeString(a, "changed by another agent");
        file("absent", "made by another agent");
        work.write(a, "ours");
        work.write(b, "ours");
        work.write(out.resolve("absent"), "ours");
        backups.rollback();
        assertThat(a).hasContent("changed by another agent");
        assertThat(b).hasContent("unchanged");
        assertThat(out.resolve("absent")).hasContent("made by another agent");
    }

    @Test
    @Tag("C30")
    @Tag("K6-8")
    void rollback_ofFilesThatWereOnlyPreflighted_leavesThemToOthers() throws IOException {
        Path a = file("a", "before");
        backups.preflight(List.of(Work.name(a)), List.of(Work.name(out)));
        Files.writeString(a, "theirs");
        crash();
        assertThat(backups.scopes()).hasSize(1);
        assertThat(backups.rollback().entries()).isEmpty();
        assertThat(a).hasContent("theirs");
    }

    // H22

    @Test
    @Tag("C32")
    void rollback_ofAFileSomebodyEditedAfterwards_keepsTheirsAndPutsOursAside() throws IOException {
        Path a = file("a", "before");
        work.write(a, "ours");
        Files.writeString(a, "by hand");
        RollbackReport report = backups.rollback();
        RollbackReport.Entry e = entry(report, a);
        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(a).hasContent("by hand");
        assertThat(e.aside()).hasContent("before").startsWithRaw(home);
        assertThat(report.complete()).isTrue();
    }

    @Test
    @Tag("C32")
    void rollback_ofAnEditThatKeptSizeAndModificationTime_isStillNoticed() throws IOException {
        Path a = file("a", "before");
        work.write(a, "ours");
        FileTime modified = Files.getLastModifiedTime(a);
        Files.writeString(a, "hand");
        Files.setLastModifiedTime(a, modified);
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(a).hasContent("hand");
    }

    @Test
    @Tag("C32")
    void rollback_ofAFileThatWasOnlyTouchedAfterwards_restoresIt() throws IOException {
        Path a = file("a", "before");
        work.write(a, "ours");
        Files.setLastModifiedTime(a, FileTime.from(Instant.ofEpochSecond(5)));
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(RESTORED);
        assertThat(a).hasContent("before");
    }

    @Test
    @Tag("C32")
    void rollback_ofACreatedFileSomebodyChangedOrOfADeletedOneTheyMadeAgain_keepsTheirs() throws IOException {
        Path created = out.resolve("created");
        work.write(created, "ours");
        Path deleted = file("deleted", "before");
        work.delete(deleted);
        Path gone = file("gone", "before");
        work.write(gone, "ours");
        Files.writeString(created, "theirs");
        Files.writeString(deleted, "theirs");
        Files.delete(gone);
        RollbackReport report = backups.rollback();
        assertThat(report.count(KEPT_THEIRS)).isEqualTo(3);
        assertThat(created).hasContent("theirs");
        assertThat(deleted).hasContent("theirs");
        assertThat(gone).doesNotExist();
        assertThat(entry(report, deleted).aside()).hasContent("before");
    }

    @Test
    @Tag("C32")
    @Tag("C45")
    void rollbackAfterACrash_ofAFileEditedLater_keepsTheirs() throws IOException {
        Path a = file("a", "before");
        Path b = file("b", "before");
        work.write(a, "ours");
        work.write(b, "ours");
        crash();
        Files.writeString(a, "by hand");
        RollbackReport report = backups.rollback();
        assertThat(entry(report, a).outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(a).hasContent("by hand");
        assertThat(b).hasContent("before");
    }

    /** A rollback that ends when its files are written beside their places. */
    private void rollbackKilled() {
        assertThatThrownBy(() -> backups.rollback(new Undo(null, false, false, (done, all) -> {
            if (done == all) {
                throw new IllegalStateException("killed");
            }
        }))).hasMessage("killed");
    }

    @Test
    @Tag("C45")
    void rollback_thatFindsWhatAKilledOneLeftBesideALinkThatIsBack_putsTheDirectorysTimesBack() throws IOException {
        Path link = Files.createSymbolicLink(out.resolve("a"), Path.of("nowhere"));
        Path file = file("b", "before");
        age(file);
        age(out);
        Map<String, String> before = TreeListing.of(out);
        work.delete(link);
        work.write(file, "changed");
        rollbackKilled();
        String besideFile;
        try (Stream<Path> list = Files.list(out)) {
            besideFile = list.map(p -> p.getFileName().toString()).filter(name -> name.startsWith(".klock-restore-")).findFirst().orElseThrow();
        }
        int last = besideFile.lastIndexOf('-') + 1;
        // killed when the link had its name, and its temporary one still
        Files.createLink(out.resolve(besideFile.substring(0, last) + (Integer.parseInt(besideFile.substring(last)) - 1)), link);

        crash();
        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(TreeListing.of(out)).as(report.toString()).isEqualTo(before);
    }

    @Test
    @Tag("C45")
    void rollback_thatFindsANameWhichAKilledOneHadGivenAFileOfSeveral_takesItForNobodys() throws IOException {
        Path first = file("d/first", "original");
        Path second = file("e/f", "").resolveSibling("second");
        Files.createLink(out.resolve("e/third"), Files.createLink(second, first));
        Path last = file("d/g", "before");
        age(out.resolve("d"));
        Map<String, String> before = TreeListing.of(out);
        // in the order in which other names are looked for
        backups.preflight(List.of(), List.of(Work.name(out.resolve("d")), Work.name(out.resolve("e"))));
        work.delete(first);
        work.write(last, "changed");
        rollbackKilled();
        String besideLast;
        try (Stream<Path> list = Files.list(out.resolve("d"))) {
            besideLast = list.map(p -> p.getFileName().toString()).filter(name -> name.startsWith(".klock-restore-")).findFirst().orElseThrow();
        }
        int index = besideLast.lastIndexOf('-') + 1;
        // killed when the file had one name more, which was about to become the one that it had lost
        Files.createLink(out.resolve("d").resolve(besideLast.substring(0, index) + (Integer.parseInt(besideLast.substring(index)) - 1)), second);
        crash();

        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as("%s", report).isTrue();
        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
    }

    /** What gives way is moved into klock's own directory, where it is no name of the file. */
    @Test
    void rollback_ofAFileOfTwoNames_whereTheScopeHoldsKlocksOwnDirectory_bringsBackTwo() throws IOException {
        Path first = file("first", "original");
        Path second = Files.createLink(out.resolve("second"), first);
        Map<String, String> before = TreeListing.of(out);
        backups.preflight(List.of(), List.of(Work.name(temp)));
        work.rename(first, out.resolve("renamed"));
        work.write(out.resolve("renamed"), "the session's");
        work.delete(second);

        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as("%s", report).isTrue();
        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
        try (Stream<Path> kept = Files.list(backups.directory().resolve("displaced"))) {
            assertThat(kept.toList()).singleElement().satisfies(p -> assertThat(p).hasContent("the session's"));
        }
    }

    /** As when the disk was full, so that what it held could not be kept, and then there was room. */
    @Test
    @Tag("C45")
    void rollback_ofADirectoryThatAFileOfTheSessionsStayedIn_takesItAwayWhenThatCanGo() throws IOException {
        age(out);
        Map<String, String> before = TreeListing.of(out);
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        Path made = Files.createDirectories(out.resolve("made/below"));
        Files.writeString(made.resolve("f"), "by a child");
        kill();
        backups.close();
        backups = Backups.open(home, "s-1", new TestFiles() {
            @Override
            public long[] status(byte[] name) throws IOException {
                if (path(name).endsWith("f")) {
                    throw new IOException("as if the disk had failed");
                }
                return super.status(name);
            }
        });
        RollbackReport first = backups.rollback();
        assertThat(entry(first, made.resolve("f")).outcome()).as("%s", first).isEqualTo(FAILED);
        assertThat(entry(first, made).outcome()).as("%s", first).isEqualTo(FAILED);
        assertThat(entry(first, made).detail()).contains("it holds " + made.resolve("f"));
        assertThat(entry(first, made.getParent()).outcome()).as("%s", first).isEqualTo(FAILED);
        backups.close();

        backups = Backups.open(home, "s-1", Work.FILES);
        RollbackReport second = backups.rollback();

        assertThat(second.complete()).as("%s", second).isTrue();
        assertThat(TreeListing.of(out)).as("%s", second).isEqualTo(before);
    }

    /** Takes away all that is behind the record of what became of {@code path}. */
    private void cutBehindOutcome(Path path) throws IOException {
        Path pack = home.resolve("backups/s-1/pack");
        long[] found = new long[2];
        Pack.open(pack, true, false, (type, head, dataAt, dataLength, intact) -> {
            long start = dataAt - head.capacity() - Pack.FIXED;
            if (found[0] != 0 && found[1] == 0) {
                found[1] = start;
            }
            byte[] name = Work.name(path);
            if (type == Backups.OUTCOME && Arrays.equals(Arrays.copyOfRange(head.array(), 4, 4 + head.getInt(0)), name)) {
                found[0] = start;
            }
        }).close();
        try (RandomAccessFile file = new RandomAccessFile(pack.toFile(), "rw")) {
            file.setLength(found[1]);
        }
        Files.createFile(home.resolve("backups/.open/s-1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"d", "d/one"})
    @Tag("C45")
    void rollback_killedWhenOneOutcomeWasOnRecord_butNotTheNext_bringsTimesAndLinksBack(String last) throws IOException {
        Path directory = Files.createDirectory(out.resolve("d"));
        Files.createLink(directory.resolve("two"), file("d/one", "before"));
        age(directory);
        age(out);
        Map<String, String> before = TreeListing.of(out);
        work.deleteTree(directory);
        for (int i = 0; i < 20; i++) {
            // takes the inode numbers that are free now
            Files.createFile(temp.resolve("other" + i));
        }
        assertThat(backups.rollback().complete()).isTrue();
        backups.close();
        cutBehindOutcome(out.resolve(last));

        backups = Backups.open(home, "s-1", Work.FILES);
        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(TreeListing.of(out)).as(report.toString()).isEqualTo(before);
    }

    @Test
    @Tag("C45")
    void rollbackAfterACrash_inTheMiddleOfAWrite_restoresAndKeepsWhatWasThere() throws IOException {
        Path a = file("a", "before");
        backups.image(Work.name(a));
        Files.writeString(a, "half wri");
        crash();
        RollbackReport report = backups.rollback();
        assertThat(a).hasContent("before");
        assertThat(entry(report, a).aside()).hasContent("half wri");
    }

    @Test
    @Tag("C32")
    void rollback_afterOthersEditedTwiceWithChangesOfTheSessionBetween_keepsEveryVersionOfTheirs() throws IOException {
        Path a = file("a", "before");
        work.append(a, " ours");
        Files.writeString(a, "by hand, once");
        work.rename(a, out.resolve("b"));
        work.write(a, "ours again");
        Files.writeString(a, "by hand, for the second time");
        work.chmod(a, "rw-r-----");
        crash();
        RollbackReport report = backups.rollback();
        RollbackReport.Entry e = entry(report, a);
        assertThat(e.outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(a).hasContent("by hand, for the second time");
        assertThat(e.aside()).hasContent("before");
        assertThat(e.aside().resolveSibling(e.aside().getFileName() + ".v2")).hasContent("by hand, once");
        assertThat(out.resolve("b")).doesNotExist();
    }

    /** As a program does that writes a line, closes and opens the file again at once. */
    private void writeAgainAndAgain(Path p, String text) throws IOException {
        for (int i = 0; i < 50; i++) {
            backups.image(Work.name(p));
            Files.writeString(p, text + i);
            // no descriptor has this number: what was left is looked at by name
            backups.left(Work.name(p), Integer.MAX_VALUE);
        }
    }

    @Test
    @Tag("C32")
    void rollback_ofAFileChangedAgainAndAgain_restoresIt() throws IOException {
        Path a = file("a", "before");
        writeAgainAndAgain(a, "ours ");
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(RESTORED);
        assertThat(a).hasContent("before");
    }

    @Test
    @Tag("C32")
    void rollback_ofAFileChangedAgainAndAgainThatOthersEditedAtRest_keepsTheirs() throws Exception {
        Path edited = file("edited", "before");
        Path deleted = file("deleted", "before");
        Path replaced = file("replaced", "before");
        for (Path p : List.of(edited, deleted, replaced)) {
            writeAgainAndAgain(p, "ours ");
        }
        Thread.sleep(20);
        Files.writeString(edited, "by hand");
        Files.delete(deleted);
        Files.move(file("new", "by hand"), replaced, StandardCopyOption.ATOMIC_MOVE);
        RollbackReport report = backups.rollback();
        assertThat(edited).hasContent("by hand");
        assertThat(deleted).doesNotExist();
        assertThat(replaced).hasContent("by hand");
        assertThat(report.count(KEPT_THEIRS)).isEqualTo(3);
    }

    @Test
    @Tag("C32")
    void image_ofAFileChangedAgainAndAgainThatOthersEditedAtRest_keepsTheirsAsWell() throws Exception {
        Path a = file("a", "before");
        writeAgainAndAgain(a, "ours ");
        Thread.sleep(20);
        Files.writeString(a, "by hand, longer");
        writeAgainAndAgain(a, "ours again ");
        RollbackReport report = backups.rollback();
        assertThat(a).hasContent("by hand, longer");
        assertThat(entry(report, a).aside()).hasContent("before");
    }

    @Test
    @Tag("C32")
    void image_ofARestedFileThatOthersEditedWithItsSizeAndTimePutBack_keepsTheirsAsWell() throws Exception {
        Path a = file("a", "before");
        writeAgainAndAgain(a, "ours ");
        Thread.sleep(150);
        backups.flush();
        FileTime time = Files.getLastModifiedTime(a);
        Files.writeString(a, "theirs!");
        Files.setLastModifiedTime(a, time);
        work.append(a, "more");
        RollbackReport report = backups.rollback();
        assertThat(a).hasContent("theirs!");
        assertThat(entry(report, a).aside()).hasContent("before");
    }

    @Test
    @Tag("C32")
    void rollback_ofAFileThatOthersEditedInTheSameMomentAsTheSession_losesNothingOfTheirs() throws IOException {
        Path a = file("a", "before");
        writeAgainAndAgain(a, "ours ");
        Files.writeString(a, "by hand");
        RollbackReport.Entry e = entry(backups.rollback(), a);
        Path theirs = e.outcome() == RESTORED ? e.aside() : a;
        assertThat(theirs).hasContent("by hand");
    }

    @Test
    @Tag("C32")
    void left_whileAnotherStreamOfTheSessionIsOpen_countsTheFileAsOurs() throws IOException {
        Path a = file("a", "before");
        backups.image(Work.name(a));
        backups.image(Work.name(a));
        Files.writeString(a, "first stream");
        backups.left(Work.name(a));
        Files.writeString(a, "second stream, still open");
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(RESTORED);
        assertThat(a).hasContent("before");
    }

    @Test
    @Tag("C32")
    void image_afterSomebodyElseEditedBetweenTwoWrites_keepsTheirsAsWell() throws IOException {
        Path a = file("a", "before");
        Path made = out.resolve("made");
        work.write(a, "ours");
        work.write(made, "ours");
        Files.writeString(a, "by hand, longer");
        Files.writeString(made, "by hand, longer");
        work.append(a, "more");
        work.append(made, "more");
        RollbackReport report = backups.rollback();
        assertThat(a).hasContent("by hand, longer");
        assertThat(made).hasContent("by hand, longer");
        assertThat(entry(report, a).outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(entry(report, a).aside()).hasContent("before");
        assertThat(report.complete()).isTrue();
    }



    @Test
    void rollback_ofACreatedFileInADirectoryTheSessionMadeReadOnly_removesIt() throws IOException {
        Path d = out.resolve("d");
        work.mkdir(d);
        work.write(d.resolve("f"), "x");
        work.chmod(d, "r-xr-xr-x");
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(d).doesNotExist();
    }

    // H24

    @Test
    @Tag("C47")
    void open_ofASessionInUse_isRefused() {
        assertThatThrownBy(() -> Backups.open(home, "s-1", Work.FILES)).isInstanceOf(IOException.class).hasMessageContaining("already open");
    }

    // H25

    @Test
    @Tag("FIELD-H25")
    void rollback_whenTheParentWasReplacedByALink_refusesAndReports() throws IOException {
        Path a = file("d/a", "before");
        Path created = out.resolve("d/created");
        work.write(a, "ours");
        work.write(created, "ours");
        Path elsewhere = Files.createDirectory(temp.resolve("etc"));
        Files.writeString(elsewhere.resolve("a"), "system");
        Files.writeString(elsewhere.resolve("created"), "system");
        Files.move(out.resolve("d"), temp.resolve("d-moved"));
        Files.createSymbolicLink(out.resolve("d"), elsewhere);
        RollbackReport report = backups.rollback();
        assertThat(elsewhere.resolve("a")).hasContent("system");
        assertThat(elsewhere.resolve("created")).hasContent("system");
        assertThat(report.count(KEPT_THEIRS)).isEqualTo(2);
        assertThat(entry(report, a).detail()).contains("symbolic link").contains("not followed");
        assertThat(entry(report, a).aside()).hasContent("before");
    }

    // C18 of the field: same first touch by many

    @Test
    @Tag("K6-8")
    void image_by32ThreadsAtOnce_makesOneImageOfTheTruePreImage() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(32);
        try {
            for (int round = 0; round < 10; round++) {
                Path a = file("f" + round, "before " + round);
                CountDownLatch start = new CountDownLatch(1);
                List<Future<?>> all = new ArrayList<>();
                for (int i = 0; i < 32; i++) {
                    String text = "thread " + i;
                    all.add(pool.submit(() -> {
                        start.await();
                        work.write(a, text);
                        return null;
                    }));
                }
                start.countDown();
                for (Future<?> f : all) {
                    f.get();
                }
            }
        } finally {
            pool.shutdownNow();
        }
        try (Backups reader = Backups.read(home, "s-1", Work.FILES)) {
            assertThat(reader.images()).hasSize(10);
            for (int round = 0; round < 10; round++) {
                ByteArrayOutputStream image = new ByteArrayOutputStream();
                reader.copy(Work.name(out.resolve("f" + round)), image);
                assertThat(image.toString()).isEqualTo("before " + round);
            }
        }
        assertThat(backups.rollback().count(RESTORED)).isEqualTo(10);
    }

    @Test
    @Tag("K6-8")
    void image_onAnInterruptedThread_isTakenAndTheInterruptKept() throws IOException {
        Path a = file("a", "before");
        Path b = file("b", "before");
        work.write(b, "x");
        Thread.currentThread().interrupt();
        backups.image(Work.name(a));
        assertThat(Thread.interrupted()).isTrue();
        Files.writeString(a, "after");
        backups.left(Work.name(a));
        work.write(b, "y");
        backups.rollback();
        assertThat(a).hasContent("before");
        assertThat(b).hasContent("before");
    }

    /** Somebody who edits {@code target} as soon as its image was read and found to be stable. */
    private static HostFiles editing(Path target) {
        return new TestFiles() {
            private int looks;

            @Override
            public long[] status(byte[] name) throws IOException {
                if (Arrays.equals(name, Work.name(target)) && ++looks == 4) {
                    Files.writeString(target, "theirs");
                }
                return super.status(name);
            }
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("C32")
    @Tag("FIELD-H03")
    void file_editedByOthersWhileItsImageIsMadeDurable_comesBackAsTheirs(boolean tree) throws IOException {
        Path a = file("a", "before");
        backups.close();
        backups = Backups.open(home, "s-2", editing(a));
        byte[] touched = Work.name(tree ? out : a);
        if (tree) {
            backups.imageTree(touched);
        } else {
            backups.image(touched);
        }
        assertThat(a).hasContent("theirs");
        Files.writeString(a, "ours");
        backups.left(touched);
        RollbackReport report = backups.rollback();
        assertThat(a).as(report.toString()).hasContent("theirs");
        assertThat(entry(report, a).aside()).as(report.toString()).hasContent("before");
    }

    /** A thread that changes {@code other} a last time, and is done with it, when {@code target} was looked at twice. */
    private final class Ending extends TestFiles {
        private final Path target;
        private final Path other;
        private int looks = Integer.MIN_VALUE;

        Ending(Path target, Path other) {
            this.target = target;
            this.other = other;
        }

        @Override
        public long[] status(byte[] name) throws IOException {
            long[] seen = super.status(name);
            if (Arrays.equals(name, Work.name(target)) && ++looks == 2) {
                Files.writeString(other, "two", StandardOpenOption.APPEND);
                backups.left(Work.name(other));
            }
            return seen;
        }
    }

    @Test
    @Tag("C32")
    void change_underAnotherName_thatEndsBetweenALookAndItsJudgement_isOurs() throws IOException {
        Path a = file("a", "before");
        Path b = Files.createLink(out.resolve("b"), a);
        backups.close();
        Ending files = new Ending(b, a);
        backups = Backups.open(home, "s-2", files);
        backups.image(Work.name(b));
        backups.left(Work.name(b));
        backups.image(Work.name(a));
        Files.writeString(a, "one", StandardOpenOption.APPEND);
        files.looks = 0;
        backups.image(Work.name(b));
        assertThat(b).hasContent("beforeonetwo");
        backups.left(Work.name(b));

        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as(report.toString()).isTrue();
        assertThat(entry(report, b).detail()).isNull();
        assertThat(a).hasContent("before");
        assertThat(inode(b)).isEqualTo(inode(a));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("C32")
    @Tag("C45")
    void change_throughADescriptorWhoseNameIsAnotherFilesAndHasMoved_isOurs(boolean crash) throws IOException {
        Path f = file("d/f", "first");
        Path g = out.resolve("g");
        Path o = file("o", "other");
        backups.image(Work.name(f), Work.name(g), System.nanoTime());
        Files.createLink(g, f);
        backups.left(Work.name(f));
        backups.left(Work.name(g));
        backups.image(Work.name(f));
        try (FileChannel open = FileChannel.open(f, StandardOpenOption.APPEND)) {
            backups.image(Work.name(o), Work.name(f), System.nanoTime());
            Files.move(o, f, StandardCopyOption.ATOMIC_MOVE);
            backups.left(Work.name(o));
            backups.left(Work.name(f));
            work.rename(out.resolve("d"), out.resolve("e"));
            open.write(java.nio.ByteBuffer.wrap(new byte[] {'#'}));
            if (!crash) {
                backups.image(Work.name(g));
                Files.writeString(g, "more", StandardOpenOption.APPEND);
                backups.left(Work.name(g));
            }
            open.write(java.nio.ByteBuffer.wrap(new byte[] {'#'}));
        }
        if (crash) {
            crash();
        }

        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as(report.toString()).isTrue();
        for (RollbackReport.Entry e : report.entries()) {
            assertThat(e.outcome()).as(report.toString()).isNotIn(KEPT_THEIRS, FAILED);
        }
        assertThat(f).hasContent("first");
        assertThat(o).hasContent("other");
        assertThat(g).doesNotExist();
        assertThat(out.resolve("e")).doesNotExist();
    }

    @Test
    void image_ofEqualFiles_keepsTheContentOnce() throws IOException {
        byte[] content = new byte[10_000];
        new java.util.Random(1).nextBytes(content);
        Path a = Files.write(out.resolve("a"), content);
        Path b = Files.write(out.resolve("b"), content);
        work.write(a, "ours");
        work.write(b, "ours");
        assertThat(Files.size(backups.directory().resolve("pack"))).isLessThan(12_000);
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(a).hasBinaryContent(content);
        assertThat(b).hasBinaryContent(content);
    }

    // Special files

    @Test
    void image_ofAFifo_neverOpensIt() throws Exception {
        Path fifo = out.resolve("fifo");
        assertThat(new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor()).isZero();
        backups.imageTree(Work.name(out));
        Files.delete(fifo);
        backups.left(Work.name(out));
        RollbackReport report = backups.rollback();
        assertThat(entry(report, fifo).outcome()).isEqualTo(RESTORED);
        assertThat(mode(fifo)).isEqualTo(0644);
    }

    @Test
    void imageTree_ofTooMuch_isRefusedWithTheSize() throws IOException {
        file("a", "12345");
        file("d/b", "12345");
        assertThatThrownBy(() -> backups.imageTree(Work.name(out), 100, 9)).isInstanceOf(IOException.class).hasMessageContaining("4 entries and 10 bytes");
        assertThatThrownBy(() -> backups.imageTree(Work.name(out), 3, 100)).isInstanceOf(IOException.class);
    }

    @Test
    @Tag("K6-7")
    void leftTree_afterAnOpaqueChild_countsWhatItMadeAsOurs() throws IOException {
        file("d/a", "before");
        file("d/b", "before");
        Map<String, String> before = TreeListing.of(out);
        backups.imageTree(Work.name(out.resolve("d")));
        Files.writeString(out.resolve("d/a"), "child");
        Files.delete(out.resolve("d/b"));
        Files.createDirectories(out.resolve("d/x/y"));
        Files.writeString(out.resolve("d/x/y/z"), "child");
        backups.leftTree(Work.name(out.resolve("d")));
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    @Tag("K6-7")
    @Tag("C32")
    void rollback_ofALinkThatWasChangedWhileAChildRan_keepsTheLink() throws IOException {
        Path link = Files.createSymbolicLink(out.resolve("l"), Path.of("first"));
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        Files.delete(link);
        Files.createSymbolicLink(link, Path.of("theirs"));
        Files.createSymbolicLink(out.resolve("new"), Path.of("theirs too"));
        backups.leftTree(Work.name(out));
        RollbackReport report = backups.rollback();
        assertThat(Files.readSymbolicLink(link)).isEqualTo(Path.of("first"));
        assertThat(Files.readSymbolicLink(entry(report, link).aside())).isEqualTo(Path.of("theirs"));
        assertThat(Files.readSymbolicLink(entry(report, out.resolve("new")).aside())).isEqualTo(Path.of("theirs too"));
    }

    @Test
    @Tag("C32")
    void rollback_ofALinkWhereOthersHavePutAFile_putsTheLinkAside() throws IOException {
        Path link = Files.createSymbolicLink(out.resolve("l"), Path.of("where it led"));
        work.delete(link);
        Files.writeString(link, "theirs");
        RollbackReport report = backups.rollback();
        assertThat(link).hasContent("theirs");
        assertThat(Files.readSymbolicLink(entry(report, link).aside())).isEqualTo(Path.of("where it led"));
    }

    /** The session was last seen alive a second before: what came later is not its child's. */
    @Test
    @Tag("K6-7")
    @Tag("C32")
    @Tag("C45")
    void rollbackAfterACrash_ofWhatChangedLongAfterIt_keepsTheirs() throws Exception {
        Path edited = file("edited", "first");
        Path child = file("child", "first");
        Path both = file("both", "first");
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        work.write(both, "program");
        Files.writeString(child, "changed by the child");
        Path made = Files.writeString(out.resolve("made"), "by the child");
        backups.alive();
        Thread.sleep(1_100);
        Files.writeString(edited, "by somebody else");
        Files.writeString(both, "by somebody else");
        Path later = Files.writeString(out.resolve("later"), "by somebody else");
        backups.close();
        Files.setLastModifiedTime(backups.directory().resolve("pack"), Files.getLastModifiedTime(made));
        backups = Backups.openCrashed(home, "s-1", Work.FILES);
        RollbackReport report = backups.rollback();
        assertThat(entry(report, edited).outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(entry(report, both).outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(entry(report, later).outcome()).isEqualTo(KEPT_THEIRS);
        assertThat(later).hasContent("by somebody else");
        assertThat(edited).hasContent("by somebody else");
        assertThat(child).hasContent("first");
        assertThat(made).doesNotExist();
    }

    @Test
    void image_insideKlocksOwnDirectory_isRefused() {
        assertThatThrownBy(() -> backups.image(Work.name(home.resolve("backups/s-1/pack")))).isInstanceOf(IOException.class).hasMessageContaining("belongs to klock");
    }

    @Test
    void imageTree_ofTheWorkspace_leavesKlocksOwnDirectoryOut() throws IOException {
        file("a", "x");
        backups.imageTree(Work.name(temp));
        for (Backups.Image i : backups.images()) {
            assertThat(i.name()).doesNotContain(".klock");
        }
    }

    @Test
    @Tag("K6-8")
    void image_ofANameTheKernelCannotHave_isLeftToTheOperation() throws IOException {
        byte[] tooLong = Work.name(out.resolve("y".repeat(256)));
        backups.image(tooLong);
        backups.left(tooLong);
        assertThat(backups.rollback().entries()).isEmpty();
    }

    // Ends

    @Test
    @Tag("C45")
    void keep_leavesChangesAndImages() throws IOException {
        Path a = file("a", "before");
        work.write(a, "ours");
        backups.keep();
        assertThat(a).hasContent("ours");
        assertThatThrownBy(() -> backups.image(Work.name(a))).isInstanceOf(IOException.class);
        backups.close();
        List<Store.Session> sessions = Store.sessions(home, Work.FILES);
        assertThat(sessions).extracting(Store.Session::state).containsExactly(Backups.State.KEPT);
        open2();
    }

    /** Its leases are noted before its first image, and its mark is made before its journal: a kill may come between. */
    @Test
    @Tag("C45")
    void recovery_ofASessionThatHadImagedNothingYet_settlesItWithoutAWord() throws IOException {
        backups.actsUnder(List.of("0 default/a/s"));
        Store.markOpen(backups.directory()).close();
        assertThat(Recovery.run(home, null, true, Work.FILES)).as("it lives").isEmpty();
        assertThat(Store.marked(home)).containsExactly(backups.sessionId());
        backups.close();
        assertThat(Store.leases(home, backups.sessionId())).containsExactly("0 default/a/s");
        assertThat(Store.sessions(home, Work.FILES)).extracting(Store.Session::damage).containsOnlyNulls();
        assertThat(Recovery.run(home, null, true, Work.FILES)).isEmpty();
        assertThat(Store.marked(home)).isEmpty();
    }

    @Test
    @Tag("C45")
    void recovery_ofASessionThatLostItsLeasesBeforeItsFirstImage_settlesItWithoutAWord() throws IOException {
        backups.actsUnder(List.of("0 default/a/s"));
        Store.loseLeases(home, backups.sessionId());
        Store.markOpen(backups.directory()).close();
        backups.close();
        assertThat(Recovery.run(home, null, false, Work.FILES)).isEmpty();
        assertThat(Store.marked(home)).isEmpty();
    }

    @Test
    @Tag("C45")
    void undo_afterItsLeasesWereLost_takesWhatItWasStillChangingForTheirs() throws IOException {
        Path closed = file("closed", "before");
        Path open = file("open", "before");
        work.write(closed, "ours");
        backups.image(Work.name(open));
        Files.writeString(open, "ours and theirs");
        backups.keep();
        crash();
        RollbackReport report = backups.rollback();
        assertThat(report.count(KEPT_THEIRS)).as(report.summary()).isOne();
        assertThat(closed).hasContent("before");
        assertThat(open).hasContent("ours and theirs");
    }

    /** A process may be stopped in the middle of it, and go on when others have been granted what it had. */
    @Test
    @Tag("C45")
    @Tag("C46")
    void rollback_whoseLeasesAreLostInItsMiddle_putsNothingMoreBack() throws IOException {
        for (int steps = 0; steps < 40; steps += 3) {
            List<Path> changed = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                changed.add(file("s" + steps + "f" + i, "before"));
                work.write(changed.get(i), "ours");
            }
            Path made = out.resolve("s" + steps + "made");
            work.write(made, "ours");
            int[] left = {steps};
            RollbackReport report = backups.rollback(Undo.all(new Undo.Progress() {
                @Override
                public void done(int paths, int of) {
                    assertThat(left[0]).isGreaterThanOrEqualTo(0);
                }

                @Override
                public boolean goesOn() {
                    return left[0]-- > 0;
                }
            }));
            boolean whole = backups.state() == Backups.State.ROLLED_BACK;
            assertThat(backups.state()).isIn(Backups.State.ROLLED_BACK, Backups.State.KEPT);
            // all may be back, and only the end not be on record
            assertThat(whole && report.count(KEPT_THEIRS) > 0).as("%s steps: %s", steps, report.summary()).isFalse();
            for (Path one : changed) {
                assertThat(one).content().isIn("before", "ours");
            }
            assertThat(steps > 0 || changed.stream().allMatch(one -> read(one).equals("ours"))).isTrue();
            try (Stream<Path> all = Files.list(out)) {
                assertThat(all.map(path -> path.getFileName().toString())).noneMatch(name -> name.startsWith(".klock-restore-"));
            }
            Files.writeString(changed.get(0), "theirs");
            backups.close();
            assertThat(Recovery.run(home, null, true, Work.FILES)).as("nothing is left to be done").isEmpty();
            assertThat(changed.get(0)).hasContent("theirs");
            backups = Backups.open(home, "after-" + steps, Work.FILES);
            work = new Work(backups);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void undo_ofASessionThatEndedWell_restoresWhatNobodyChangedSince() throws IOException {
        Path a = file("a", "before");
        Path b = file("b", "before");
        Path made = out.resolve("made");
        work.write(a, "ours");
        work.write(b, "ours");
        work.write(made, "ours");
        for (int i = 0; i < 20; i++) {
            work.append(a, "x");
        }
        backups.done();
        crash();
        assertThat(backups.state()).isEqualTo(Backups.State.DONE);
        Files.writeString(b, "edited next day");
        RollbackReport report = backups.rollback();
        assertThat(a).hasContent("before");
        assertThat(b).hasContent("edited next day");
        assertThat(made).doesNotExist();
        assertThat(report.count(KEPT_THEIRS)).isEqualTo(1);
        crash();
        Files.writeString(a, "a new day's work");
        assertThat(backups.rollback().count(KEPT_THEIRS)).as("a, too, is theirs now").isEqualTo(2);
        assertThat(a).hasContent("a new day's work");
    }

    @Test
    void rollback_ofAReadOnlyTouch_changesNothing() throws IOException {
        Path a = file("a", "before");
        long inode = inode(a);
        work.on(a, () -> Files.readString(a));
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(UNCHANGED);
        assertThat(inode(a)).isEqualTo(inode);
    }

    @Test
    void rollback_ofAModeChangeOnly_keepsTheInode() throws IOException {
        Path a = file("a", "before");
        long inode = inode(a);
        int mode = mode(a);
        work.chmod(a, "---------");
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(RESTORED);
        assertThat(mode(a)).isEqualTo(mode);
        assertThat(inode(a)).isEqualTo(inode);
    }

    @Test
    void rollback_whenADirectoryBecameAFileAndAFileADirectory_swapsThemBack() throws IOException {
        file("d/inside", "in");
        Path f = file("f", "file");
        Map<String, String> before = TreeListing.of(out);
        work.deleteTree(out.resolve("d"));
        work.write(out.resolve("d"), "a file now");
        work.delete(f);
        work.mkdir(f);
        work.write(f.resolve("new"), "x");
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(TreeListing.of(out)).isEqualTo(before);
    }

    @Test
    void sessions_listsWhatIsThere() throws IOException {
        work.write(out.resolve("a"), "x");
        Backups.open(home, "odd/na me", Work.FILES).close();
        List<Store.Session> sessions = Store.sessions(home, Work.FILES);
        assertThat(sessions).extracting(Store.Session::id).containsExactlyInAnyOrder("s-1", "odd/na me");
        for (Store.Session s : sessions) {
            assertThat(s.live()).isEqualTo(s.id().equals("s-1"));
        }
    }

    @Test
    void copy_ofADamagedImage_isRefusedAndNothingIsRestoredFromIt() throws IOException {
        Path a = file("a", "before, a text to be found in the pack");
        Path b = file("b", "another");
        work.write(a, "ours");
        work.write(b, "ours");
        backups.close();
        Path pack = home.resolve("backups/s-1/pack");
        byte[] bytes = Files.readAllBytes(pack);
        int at = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1).indexOf("a text to be found");
        bytes[at] ^= 1;
        Files.write(pack, bytes);
        crash();
        RollbackReport report = backups.rollback();
        assertThat(entry(report, a).outcome()).isEqualTo(FAILED);
        assertThat(entry(report, a).detail()).contains("damaged");
        assertThat(a).hasContent("ours");
        assertThat(b).hasContent("another");
    }

    @Test
    void left_afterManyAppendsToOneGrowingFile_isBounded() throws IOException {
        Path a = file("log", "");
        work.append(a, "first");
        long before = Files.size(home.resolve("backups/s-1/pack"));
        long start = System.nanoTime();
        int appends = 20_000;
        try (var stream = Files.newOutputStream(a, StandardOpenOption.APPEND)) {
            for (int i = 0; i < appends; i++) {
                backups.image(Work.name(a));
                stream.write("a line of the log\n".getBytes());
                backups.left(Work.name(a));
            }
        }
        long micros = (System.nanoTime() - start) / 1000 / appends;
        assertThat(micros).isLessThan(200);
        assertThat(Files.size(home.resolve("backups/s-1/pack")) - before).isLessThan(200_000);
        assertThat(entry(backups.rollback(), a).outcome()).isEqualTo(RESTORED);
        assertThat(a).hasContent("");
    }

    private void open2() throws IOException {
        backups = Backups.open(home, "s-9", Work.FILES);
    }

    @Test
    void rollback_replacingWhatAnAtomicMovePutThere_givesTheOldFile() throws IOException {
        Path a = file("a", "before");
        Path fresh = out.resolve("a.tmp");
        work.write(fresh, "new version");
        work.on(fresh, a, () -> Files.move(fresh, a, StandardCopyOption.REPLACE_EXISTING));
        assertThat(backups.rollback().complete()).isTrue();
        assertThat(a).hasContent("before");
        assertThat(fresh).doesNotExist();
    }

    /** A directory goes and comes back; in between klock has looked below and found nothing there. */
    @Test
    @Tag("C32")
    void rollback_ofWhatWentAndCameBackWithItsDirectory_isTheSessions() throws IOException {
        Path above = Files.createDirectory(out.resolve("above"));
        Path d = Files.createDirectory(above.resolve("d"));
        Map<String, String> before = TreeListing.of(out);
        work.symlink(d.resolve("link"), "somewhere");
        work.mkdir(d.resolve("made"));
        work.write(d.resolve("file"), "session");
        work.rename(d, out.resolve("away"));
        // a rename of the directory above that was refused
        backups.imageTree(Work.name(above));
        backups.left(Work.name(above));
        work.rename(out.resolve("away"), d);
        work.deleteTree(d);

        RollbackReport report = backups.rollback();

        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
    }

    /** The directory above is a link by now, and what the name leads to is another file. */
    @Test
    @Tag("C32")
    void left_ofWhatLiesBehindALinkByNow_isNotLookedAtThroughIt() throws IOException {
        Path d = Files.createDirectory(out.resolve("d"));
        Path file = file("d/f", "original");
        file("other/f", "theirs, a longer text");
        Map<String, String> before = TreeListing.of(out);
        work.write(file, "session");
        work.rename(d, out.resolve("away"));
        work.symlink(d, "other");
        backups.imageTree(Work.name(out));
        backups.left(Work.name(out));
        crash();

        RollbackReport report = backups.rollback();

        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
    }

    /** The session links a file, goes on writing it under its first name, replaces that, and is killed. */
    @Test
    @Tag("C45")
    void rollback_ofALinkWhoseFileWasWrittenUnderANameThatIsGone_removesIt() throws IOException {
        Path first = file("first", "original");
        Map<String, String> before = TreeListing.of(out);
        work.link(first, out.resolve("second"));
        backups.image(Work.name(first));
        pause();
        Files.writeString(first, "session!");
        Path fresh = out.resolve("fresh");
        backups.image(Work.name(fresh));
        Files.writeString(fresh, "another");
        Files.move(fresh, first, StandardCopyOption.ATOMIC_MOVE);
        crash();

        RollbackReport report = backups.rollback();

        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
    }

    /** One name of a file is open for writing and renamed; then another name of it is touched for the first time. */
    @Test
    void image_ofAnotherNameOfAFileThatIsWrittenUnderAnOldName_isWhatItWas() throws IOException {
        Path first = file("first", "original");
        Path second = Files.createLink(out.resolve("second"), first);
        Files.createLink(out.resolve("third"), first);
        Map<String, String> before = TreeListing.of(out);
        Path renamed = out.resolve("renamed");
        backups.image(Work.name(first));
        backups.image(Work.name(first));
        backups.image(Work.name(renamed));
        Files.move(first, renamed, StandardCopyOption.ATOMIC_MOVE);
        int fd = Work.FILES.open(Work.name(renamed));
        backups.image(Work.name(renamed));
        backups.carriedTo(Work.name(renamed), fd);
        backups.left(Work.name(first));
        backups.left(Work.name(first));
        backups.left(Work.name(renamed));
        Files.writeString(renamed, " and more", StandardOpenOption.APPEND);
        work.delete(second);
        backups.left(Work.name(renamed));
        Work.FILES.close(fd);

        RollbackReport report = backups.rollback();

        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
    }

    /** A file is open for writing and renamed, its new name goes as well, and the process is killed before the descriptor is closed. */
    @ParameterizedTest
    @ValueSource(strings = {"deleted", "replaced"})
    @Tag("C45")
    @Tag("FIELD-H13")
    void rollbackAfterACrash_ofAFileWrittenWhenTheNameThatItsDescriptorWasCarriedToIsGone_bringsAllItsNamesBack(String how) throws IOException {
        Path first = file("first", "original");
        Files.createLink(out.resolve("second"), first);
        Files.createLink(out.resolve("third"), first);
        Map<String, String> before = TreeListing.of(out);
        backups.preflight(List.of(), List.of(Work.name(out)));
        Path renamed = out.resolve("renamed");
        backups.image(Work.name(first));
        work.on(first, renamed, () -> {
            Files.move(first, renamed, StandardCopyOption.ATOMIC_MOVE);
            int fd = Work.FILES.open(Work.name(renamed));
            backups.image(Work.name(renamed));
            backups.carriedTo(Work.name(renamed), fd);
            backups.left(Work.name(first));
            Work.FILES.close(fd);
        });
        if (how.equals("deleted")) {
            work.delete(renamed);
        } else {
            work.write(out.resolve("fresh"), "another");
            work.rename(out.resolve("fresh"), renamed);
        }
        // by the descriptor, which has no name any more
        Files.writeString(out.resolve("second"), "");
        crash();

        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as("%s", report).isTrue();
        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
    }

    /** A directory that holds several names of a file is renamed, and one of them is open when the process is killed. */
    @ParameterizedTest
    @CsvSource({"3, ''", "3, more than there was", "2, ''", "2, more than there was", "3, gone", "2, gone"})
    @Tag("C45")
    @Tag("FIELD-H13")
    void rollbackAfterACrash_ofAMovedDirectoryWithAFileThatWasOpenUnderOneOfItsNames_leavesNothingOfIt(int names, String written) throws IOException {
        Path d = Files.createDirectory(out.resolve("d"));
        Path one = file("d/b", "original");
        Files.createLink(Files.createDirectory(d.resolve("e")).resolve("c"), one);
        if (names == 3) {
            Files.createLink(out.resolve("a"), one);
        }
        Map<String, String> before = TreeListing.of(out);
        backups.preflight(List.of(), List.of(Work.name(out)));
        Path moved = out.resolve("dd");
        work.rename(d, moved);
        backups.image(Work.name(moved.resolve("b")));
        if (written.equals("gone")) {
            work.delete(moved.resolve("b"));
        }
        // by the descriptor
        Files.writeString(moved.resolve("e/c"), written);
        crash();

        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as("%s", report).isTrue();
        assertThat(report.count(KEPT_THEIRS)).as("%s", report).isZero();
        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
        if (!written.isEmpty()) {
            assertThat(entry(report, d.resolve("e/c")).aside()).hasContent(written);
        }
    }

    /** A descriptor changes a file; then the name of it that was moved is met first. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rollback_ofAFileChangedUnseenInAMovedDirectory_leavesNothingOfIt(boolean crash) throws IOException {
        Path d = Files.createDirectory(out.resolve("d"));
        Path one = file("a", "original");
        Files.createLink(Files.createDirectory(d.resolve("e")).resolve("c"), one);
        Map<String, String> before = TreeListing.of(out);
        Path moved = out.resolve("dd");
        work.rename(d, moved);
        work.write(one, "edited");
        backups.image(Work.name(one));
        Files.writeString(one, "edited once more, and longer");
        work.append(moved.resolve("e/c"), " and once more");
        if (crash) {
            crash();
        }

        RollbackReport report = backups.rollback();

        assertThat(report.complete()).as("%s", report).isTrue();
        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
    }

    /** Nothing was open: what a moved file holds by then is somebody else's. */
    @Test
    @Tag("C32")
    @Tag("C45")
    void rollbackAfterACrash_ofAMovedDirectoryWithAFileThatOthersChanged_keepsTheirs() throws IOException {
        Path d = Files.createDirectory(out.resolve("d"));
        Path one = file("d/b", "original");
        Files.createLink(Files.createDirectory(d.resolve("e")).resolve("c"), one);
        backups.preflight(List.of(), List.of(Work.name(out)));
        Path moved = out.resolve("dd");
        work.rename(d, moved);
        work.append(moved.resolve("b"), " and more");
        crash();
        Files.writeString(moved.resolve("e/c"), "theirs, which is longer");

        RollbackReport report = backups.rollback();

        assertThat(moved.resolve("e/c")).as("%s", report).hasContent("theirs, which is longer");
        assertThat(d.resolve("e/c")).as("%s", report).hasContent("original");
    }

    /** What was made in it is still open: the directory's times are later than those the session is known to have left. */
    @Test
    void rollback_ofAFileThatIsStillOpen_putsTheTimesOfItsDirectoryBack() throws IOException {
        Path kept = file("kept", "original");
        age(out);
        Map<String, String> before = TreeListing.of(out);
        work.write(kept, "changed");
        try (OutputStream open = work.open(out.resolve("made"))) {
            open.write(Work.bytes("open"));

            RollbackReport report = backups.rollback();

            assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
        }
    }

    /** What others put there while all of the directory was imaged is no work of the session's, which did nothing. */
    @Test
    @Tag("C32")
    @Tag("FIELD-H07")
    void filesThatOthersPutThere_whileARenameOfTheDirectoryFailed_surviveWhatTheSessionDoesNext() throws IOException {
        Path d = Files.createDirectories(out.resolve("d"));
        Path deleted = file("d/deleted", "mine");
        Path written = file("d/written", "mine");
        Path alone = file("d/alone", "mine");
        backups.imageTree(Work.name(d));
        for (Path p : List.of(deleted, written, alone)) {
            Files.move(Files.writeString(out.resolve("theirs"), "theirs, of " + p.getFileName()), p, StandardCopyOption.REPLACE_EXISTING);
        }
        backups.leftAsMet(Work.name(d));
        work.delete(deleted);
        work.write(written, "session");

        RollbackReport report = backups.rollback();
        assertThat(report.complete()).as(report.toString()).isTrue();
        for (Path p : List.of(deleted, written, alone)) {
            assertThat(p).hasContent("theirs, of " + p.getFileName());
        }
    }

    /** As while a link to it was made: the image before takes a while. */
    @Test
    @Tag("C32")
    void fileThatOthersPutThere_whileTheSessionChangedTheOneBefore_survivesWhatTheSessionDoesNext() throws IOException {
        Path f = file("f", "mine");
        Path mode = file("mode", "mine");
        backups.image(Work.name(f));
        Files.createLink(out.resolve("link"), f);
        Files.move(Files.writeString(out.resolve("theirs"), "theirs"), f, StandardCopyOption.REPLACE_EXISTING);
        backups.leftInPlace(Work.name(f));
        work.delete(f);
        backups.image(Work.name(mode));
        Files.setPosixFilePermissions(mode, PosixFilePermissions.fromString("rwx------"));
        backups.leftInPlace(Work.name(mode));

        assertThat(backups.rollback().count(RollbackReport.Outcome.FAILED)).isZero();
        assertThat(f).hasContent("theirs");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(mode))).isNotEqualTo("rwx------");
    }

    @Test
    @Tag("C32")
    void fileThatOthersPutThere_whileAnOperationOnItFailed_survivesWhatTheSessionDoesNext() throws IOException {
        Path again = file("again", "mine");
        work.write(again, "session's first");
        for (Path p : List.of(file("f", "mine"), again)) {
            backups.image(Work.name(p));
            Files.move(Files.writeString(out.resolve("theirs"), "theirs"), p, StandardCopyOption.REPLACE_EXISTING);
            backups.leftAsMet(Work.name(p));
            work.write(p, "session");
        }
        assertThat(backups.rollback().count(RollbackReport.Outcome.FAILED)).isZero();
        assertThat(out.resolve("f")).hasContent("theirs");
        assertThat(again).hasContent("theirs");
    }

    /** Neither the child nor the rename has changed it: how the one change of the session's has left it is on record at once. */
    @Test
    @Tag("C32")
    @Tag("C45")
    void rollbackAfterAKill_ofAFileThatOthersReplaced_whichAChildAndAFailedRenameHadLeftAlone_keepsTheirs() throws IOException {
        Path f = file("f", "first");
        Path d = Files.createDirectory(out.resolve("d"));
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        backups.leftTree(Work.name(out));
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> work.rename(d, f)).isInstanceOf(IOException.class);
        }
        work.write(f, "session");
        Files.move(Files.writeString(temp.resolve("theirs"), "theirs"), f, StandardCopyOption.REPLACE_EXISTING);
        kill();

        RollbackReport report = backups.rollback();

        assertThat(f).as(report.toString()).hasContent("theirs");
        assertThat(entry(report, f).outcome()).isEqualTo(RollbackReport.Outcome.KEPT_THEIRS);
    }

    /** Changes that follow each other so fast that nobody looks at what each has left. */
    @Test
    @Tag("C32")
    void fileThatTheSessionItselfChanged_inAHurry_isItsOwn_whenTheNextOperationFails() throws IOException {
        Path f = file("f", "first");
        for (int i = 0; i < 300; i++) {
            backups.image(Work.name(f));
            try (FileOutputStream out = new FileOutputStream(f.toFile())) {
                out.write(Work.bytes("number " + i));
                backups.left(Work.name(f), descriptor(f));
            }
            if (i % 3 == 0) {
                backups.image(Work.name(f));
                backups.leftAsMet(Work.name(f));
            }
        }
        RollbackReport report = backups.rollback();
        assertThat(report.conflicts()).as(report.toString()).isEmpty();
        assertThat(f).hasContent("first");
    }

    private static int descriptor(Path file) throws IOException {
        for (String fd : new java.io.File("/proc/self/fd").list()) {
            Path link = Path.of("/proc/self/fd", fd);
            if (Files.isSymbolicLink(link) && Files.readSymbolicLink(link).equals(file)) {
                return Integer.parseInt(fd);
            }
        }
        throw new AssertionError(file + " is not open");
    }

    /** The program had left both while the child was at work, and the child changed them after that: whatever comes next has begun already. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("K6-7")
    @Tag("C45")
    void rollback_killedShortlyAfterAChildsEnd_undoesWhatTheProgramDidLast(boolean again) throws IOException {
        Path f = file("d/f", "at first");
        Path d = f.getParent();
        age(f);
        Map<String, String> before = TreeListing.of(out);
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        for (int i = 0; i < 3; i++) {
            work.chmod(d, "rwxr-x---");
            work.append(f, "more");
        }
        backups.flushAll();
        Work.ofAChild().append(f, "by the child");
        Work.ofAChild().write(d.resolve("g"), "by the child");
        backups.leftTree(Work.name(out));
        if (again) {
            work.chmod(d, "rwx------");
            work.append(f, "by the program");
        }
        kill();

        RollbackReport report = backups.rollback();

        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
        assertThat(report.conflicts()).as("%s", report).isEmpty();
    }

    /** What a child had changed when the session's process died is known to the recovery that looks first, and is to be to the next. */
    @Test
    @Tag("K6-7")
    @Tag("C45")
    void rollback_endedRightAfterItHadBegun_knowsWhatAChildHadChangedWhenTheSessionCrashed() throws IOException {
        Path f = file("d/f", "at first");
        age(f);
        Map<String, String> before = TreeListing.of(out);
        backups.openTree(Work.name(out), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
        for (int i = 0; i < 3; i++) {
            work.append(f, "more");
        }
        backups.flushAll();
        Work.ofAChild().append(f, "by the child");
        kill();
        // it was not carried out further than that
        backups.append(Backups.ROLLBACK, new byte[0]);
        kill();

        RollbackReport report = backups.rollback();

        assertThat(TreeListing.of(out)).as("%s", report).isEqualTo(before);
        assertThat(report.conflicts()).as("%s", report).isEmpty();
    }

    /** Also where that is another mode, the one that the session had given it, too: what is said to be kept is kept until it is forced. */
    @Test
    @Tag("C32")
    void undo_againOfADirectoryThatOthersGaveAnotherModeSince_keepsThatAndWithForcePutsItBack() throws IOException {
        Path d = Files.createDirectory(out.resolve("d"));
        Files.setPosixFilePermissions(d, PosixFilePermissions.fromString("rwxr-xr-x"));
        work.chmod(d, "rwx------");
        assertThat(entry(backups.rollback(), d).outcome()).isEqualTo(RESTORED);
        Files.setPosixFilePermissions(d, PosixFilePermissions.fromString("rwx------"));

        for (int i = 0; i < 2; i++) {
            crash();
            assertThat(entry(backups.rollback(Undo.ALL), d).outcome()).isEqualTo(KEPT_THEIRS);
            assertThat(mode(d)).isEqualTo(0700);
        }
        crash();
        assertThat(entry(backups.rollback(new Undo(null, true, false, null)), d).outcome()).isEqualTo(RESTORED);
        assertThat(mode(d)).isEqualTo(0755);
        crash();
        assertThat(entry(backups.rollback(Undo.ALL), d).outcome()).isEqualTo(UNCHANGED);
    }

    /** One that is killed between its last record and its output takes nothing with it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("C45")
    void recovery_endedBeforeItHasToldWhatCameOfASession_leavesThatToTheNext(boolean restored) throws IOException {
        Path f = file("f", "before");
        age(f);
        backups.restoredAfterCrash(restored);
        work.write(f, "ours");
        Files.writeString(f, "theirs, for certain");
        backups.close();
        assertThatThrownBy(() -> Recovery.run(home, null, true, Work.FILES, null, results -> {
            throw new IOException("killed");
        })).hasMessage("killed");
        assertThat(Store.sessions(home, Work.FILES)).singleElement().satisfies(s -> {
            assertThat(s.state()).isEqualTo(restored ? Backups.State.ROLLED_BACK : Backups.State.KEPT);
            assertThat(s.notBack()).isEqualTo(restored ? List.of(f.toString()) : null);
        });

        List<Recovery.Result> told = new ArrayList<>();
        Recovery.run(home, null, false, Work.FILES, null, told::addAll);

        assertThat(told).singleElement().satisfies(result -> {
            assertThat(result.complete()).isTrue();
            if (restored) {
                assertThat(result.report().conflicts()).singleElement().satisfies(e -> assertThat(e.line()).contains(f.toString(), "changed by someone else", "/aside/"));
                assertThat(result.line()).contains("was rolled back", "was not told before", "1 kept as others left them");
            } else {
                assertThat(result.line()).contains("its changes are kept");
            }
        });
        assertThat(f).hasContent("theirs, for certain");
        assertThat(Recovery.run(home, null, true, Work.FILES)).isEmpty();
    }
}
