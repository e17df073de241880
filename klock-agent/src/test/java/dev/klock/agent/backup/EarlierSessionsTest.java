package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A tree that one session after the other images whole and changes.
 *
 * <pre>
 *   temp/.klock     home
 *   temp/w/0 … 79   files of some KiB, no two alike
 *   temp/w/large    2 MiB
 * </pre>
 */
@Tag("K6-8")
@Tag("K6-5")
class EarlierSessionsTest {
    private static final int FILES = 80;
    private static final long REST_NS = 100_000_000L;
    private static final long MIB = 1 << 20;

    @TempDir
    Path temp;
    private Path home;
    private Path root;
    private Settled settled;

    /** Counts what is read. */
    private static final class Counting extends TestFiles {
        private int reads;

        @Override
        public int read(int fd, byte[] target, int length) throws IOException {
            reads++;
            return super.read(fd, target, length);
        }
    }

    private final Counting files = new Counting();

    @BeforeEach
    void make() throws IOException {
        temp = temp.toRealPath();
        home = Files.createDirectory(temp.resolve(".klock"));
        root = Files.createDirectory(temp.resolve("w"));
        Random random = new Random(5);
        for (int i = 0; i < FILES; i++) {
            write(String.valueOf(i), random(random, 1000 + i * 50));
        }
        write("large", random(random, 2 << 20));
        settled = new Settled((Long) Files.getAttribute(root, "unix:dev"), 1, 2, 3, REST_NS);
        rest();
    }

    @AfterEach
    void wipe() throws IOException {
        RandomWorkTest.wipe(temp);
    }

    private static byte[] random(Random random, int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    private void write(String name, byte[] content) throws IOException {
        Files.write(root.resolve(name), content);
    }

    /** Until what has just been written counts as settled. */
    private static void rest() {
        long until = System.nanoTime() + 2 * REST_NS;
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    private Path session(String id) {
        return home.resolve("backups").resolve(id);
    }

    private Path pack(String id) {
        return session(id).resolve("pack");
    }

    private Path cache() {
        return home.resolve("backups").resolve(StatCache.FILE);
    }

    private Backups open(String id) throws IOException {
        return Backups.open(home, id, files, settled);
    }

    private static void imageTree(Backups b, Path tree) throws IOException {
        b.imageTree(Work.name(tree));
    }

    /** A session that images everything, changes nothing and ends well. */
    private void session(String id, boolean done) throws IOException {
        try (Backups b = open(id)) {
            imageTree(b, root);
            b.left(Work.name(root));
            if (done) {
                b.done();
            }
        }
    }

    private Map<String, String> tree() throws IOException {
        return tree(root);
    }

    private static Map<String, String> tree(Path root) throws IOException {
        Map<String, String> tree = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path p : (Iterable<Path>) all::iterator) {
                String content = Files.isRegularFile(p) ? java.util.Arrays.hashCode(Files.readAllBytes(p)) + "" : "";
                tree.put(root.relativize(p).toString(), content + " " + Files.getLastModifiedTime(p) + " " + Files.getAttribute(p, "unix:mode"));
            }
        }
        return tree;
    }

    private void assertBack(Map<String, String> before, RollbackReport report) throws IOException {
        Map<String, String> now = tree();
        now.keySet().removeIf(name -> name.isEmpty() && !before.containsKey(name));
        Map<String, String> different = new TreeMap<>(now);
        different.entrySet().removeAll(before.entrySet());
        assertThat(different).as(String.valueOf(report)).isEmpty();
        assertThat(now.keySet()).isEqualTo(before.keySet());
    }

    /** Changes, removes and adds, as a child that may change the whole tree. */
    private void spoil() throws IOException {
        for (int i = 0; i < FILES; i++) {
            if (i % 3 == 0) {
                Files.delete(root.resolve(String.valueOf(i)));
            } else {
                write(String.valueOf(i), Work.bytes("spoilt"));
            }
        }
        write("large", Work.bytes("spoilt"));
        write("new", Work.bytes("made"));
    }

    private RollbackReport spoilAndUndo(String id, Map<String, String> before) throws IOException {
        RollbackReport report;
        try (Backups b = open(id)) {
            b.openTree(Work.name(root), 10_000, 1L << 30);
            spoil();
            b.leftTree(Work.name(root));
            report = b.rollback();
        }
        assertBack(before, report);
        return report;
    }

    @Test
    void secondSession_ofAnUnchangedTree_readsNothingAndRefersToTheFirst() throws IOException {
        session("one", true);
        assertThat(Files.size(pack("one"))).isGreaterThan(2 * MIB);
        Map<String, String> before = tree();
        files.reads = 0;

        RollbackReport report = spoilAndUndo("two", before);

        assertThat(report.complete()).isTrue();
        assertThat(files.reads).isZero();
        assertThat(Files.size(pack("two"))).isLessThan(100_000);
        assertThat(Files.getAttribute(session("two").resolve("from/one"), "unix:ino")).isEqualTo(Files.getAttribute(pack("one"), "unix:ino"));
    }

    @Test
    void thirdSession_ofATreeThatAnEarlierOneOnlyReferredTo_namesThePackThatHasTheBytes() throws IOException {
        session("one", true);
        session("two", true);
        files.reads = 0;
        spoilAndUndo("three", tree());

        assertThat(session("three").resolve("from").toFile().list()).containsExactly("one");
        assertThat(files.reads).isZero();
    }

    @Test
    void rollback_afterTheFirstSessionWasPruned_isExact() throws IOException {
        session("one", true);
        Map<String, String> before = tree();
        try (Backups b = open("two")) {
            b.openTree(Work.name(root), 10_000, 1L << 30);
            assertThat(Store.prune(home, Long.MAX_VALUE, 0, files)).singleElement().satisfies(s -> {
                assertThat(s.id()).isEqualTo("one");
                assertThat(s.bytes()).as("the pack stays").isLessThan(1000);
            });
            assertThat(session("one")).doesNotExist();
            spoil();
            b.leftTree(Work.name(root));
        }
        assertThat(Recovery.run(home, null, false, files)).singleElement().satisfies(r -> assertThat(r.complete()).as(r.line()).isTrue());
        assertBack(before, null);
    }

    @Test
    void session_afterTheOneThatHadTheBytesIsGone_findsThemWithAnother() throws IOException {
        session("one", true);
        session("two", true);
        RandomWorkTest.wipe(session("one"));
        Map<String, String> before = tree();
        files.reads = 0;

        spoilAndUndo("three", before);

        assertThat(files.reads).isZero();
        RandomWorkTest.wipe(session("two"));
        try (Backups b = Backups.reopen(home, "three", files)) {
            spoil();
            b.rollback(new Undo(null, true, false, null));
        }
        // the test itself has changed it by hand
        before.remove("");
        assertBack(before, null);
    }

    @Test
    void session_whenAllThatHadTheBytesAreGone_imagesInFull() throws IOException {
        session("one", true);
        RandomWorkTest.wipe(session("one"));
        spoilAndUndo("two", tree());
        assertThat(Files.size(pack("two"))).isGreaterThan(2 * MIB);
        assertThat(session("two").resolve("from")).isEmptyDirectory();
    }

    @Test
    void sessions_countAPackOnceHoweverManyNamesItHas() throws IOException {
        session("one", true);
        session("two", true);
        session("three", true);

        List<Store.Session> sessions = Store.sessions(home, files);
        assertThat(sessions.stream().mapToLong(Store.Session::bytes).sum()).isLessThan(Files.size(pack("one")) + 200_000);
        long all = sessions.stream().mapToLong(Store.Session::bytes).sum();
        assertThat(Store.prune(home, 0, all, files)).isEmpty();
        // none of the first two frees the pack: all three have to go
        assertThat(Store.prune(home, 0, MIB, files)).extracting(Store.Session::id).containsExactlyInAnyOrder("one", "two", "three");
        assertThat(Store.sessions(home, files)).isEmpty();
    }

    @Test
    void prune_forgetsWhatIsKnownOfFilesWhoseImagesAreGone() throws IOException {
        session("one", true);
        Path other = Files.createDirectory(temp.resolve("other"));
        for (int i = 0; i < FILES; i++) {
            Files.writeString(other.resolve("secret-name-" + i), "other " + i);
        }
        try (Backups b = open("two")) {
            imageTree(b, other);
            b.done();
        }
        assertThat(Files.readString(cache(), StandardCharsets.ISO_8859_1)).contains("secret-name-7", root.resolve("7").toString());
        // the first is kept by a third
        session("three", true);
        assertThat(session("three").resolve("from/one")).exists();
        Files.move(session("three"), temp.resolve("three"));
        Files.createDirectories(home.resolve("backups"));

        Store.prune(home, 0, 0, files);
        assertThat(cache()).doesNotExist();

        Files.move(temp.resolve("three"), session("three"));
        RollbackReport report = spoilAndUndo("four", tree());
        assertThat(report.complete()).isTrue();
    }

    @Test
    void prune_keepsWhatIsKnownOfFilesWhoseImagesOthersReferTo() throws IOException {
        session("one", true);
        Path other = Files.createDirectory(temp.resolve("other"));
        for (int i = 0; i < FILES; i++) {
            Files.writeString(other.resolve("secret-name-" + i), "other " + i);
        }
        try (Backups b = open("two")) {
            imageTree(b, other);
            b.done();
        }
        try (Backups live = open("three")) {
            imageTree(live, root);
            assertThat(Store.prune(home, Long.MAX_VALUE, 0, files)).extracting(Store.Session::id).containsExactlyInAnyOrder("one", "two");
            String known = Files.readString(cache(), StandardCharsets.ISO_8859_1);
            assertThat(known).contains(root.resolve("7").toString()).doesNotContain("secret-name");
            live.left(Work.name(root));
            live.done();
        }
        files.reads = 0;
        spoilAndUndo("four", tree());
        assertThat(Files.size(pack("four"))).isLessThan(100_000);
    }

    @Test
    void session_ofTheNameOfOneThatWasPruned_isNotTakenForIt() throws IOException {
        session("one", true);
        try (Backups b = open("keeps")) {
            imageTree(b, root);
            assertThat(Store.prune(home, Long.MAX_VALUE, 0, files)).hasSize(1);
            b.left(Work.name(root));
            b.done();
        }
        Path other = Files.createDirectory(temp.resolve("other"));
        for (int i = 0; i < FILES; i++) {
            Files.write(other.resolve(String.valueOf(i)), random(new Random(i), 3000));
        }
        write("another large one", random(new Random(9), 3 << 20));
        rest();
        try (Backups b = open("one")) {
            imageTree(b, other);
            b.done();
        }
        Map<String, String> before = tree();
        spoilAndUndo("two", before);
        // while the first one's pack is still there under its other name
        Files.delete(session("two").resolve("pack"));
        RandomWorkTest.wipe(session("one"));
        spoilAndUndo("three", before);
    }

    @Test
    void largeFile_thatGotAnotherTimeOnly_isReadButNotKeptAgain() throws IOException {
        session("one", true);
        Files.setLastModifiedTime(root.resolve("large"), FileTime.fromMillis(1_000_000_000_000L));
        spoilAndUndo("two", tree());
        assertThat(Files.size(pack("two"))).isLessThan(100_000);
        write("large", new byte[2 << 20]);
        spoilAndUndo("three", tree());
    }

    @Test
    void aFewSmallFiles_areKeptAnew_alsoBelowADirectoryThatIsRenamed() throws IOException {
        Path few = Files.createDirectory(root.resolve("few"));
        for (int i = 0; i < 5; i++) {
            Files.copy(root.resolve(String.valueOf(i)), few.resolve("copy" + i));
        }
        session("one", true);
        try (Backups b = open("two")) {
            new Work(b).rename(few, root.resolve("renamed"));
            assertThat(b.rollback().complete()).isTrue();
        }
        assertThat(session("two").resolve("from")).doesNotExist();
        assertThat(few.resolve("copy3")).hasSameBinaryContentAs(root.resolve("3"));
    }

    // --- what is read again

    /** Images the tree again: how many files were read, and that a rollback brings back what is there now. */
    private int readAgain() throws IOException {
        Map<String, String> before = tree();
        files.reads = 0;
        RollbackReport report;
        try (Backups b = open("again")) {
            b.openTree(Work.name(root), 10_000, 1L << 30);
            int reads = files.reads;
            spoil();
            b.leftTree(Work.name(root));
            report = b.rollback();
            assertBack(before, report);
            return reads;
        }
    }

    @Test
    void file_replacedByOneOfTheSameSizeAndTime_isReadAgain() throws IOException {
        session("one", true);
        Path file = root.resolve("7");
        FileTime time = Files.getLastModifiedTime(file);
        Path other = Files.write(temp.resolve("other"), new byte[(int) Files.size(file)]);
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
        Files.setLastModifiedTime(file, time);
        assertThat(readAgain()).isEqualTo(1);
    }

    @Test
    void file_changedInPlaceWithItsTimePutBack_isReadAgain() throws IOException {
        session("one", true);
        Path file = root.resolve("7");
        FileTime time = Files.getLastModifiedTime(file);
        Files.write(file, new byte[(int) Files.size(file)]);
        Files.setLastModifiedTime(file, time);
        assertThat(readAgain()).isEqualTo(1);
    }

    @Test
    void file_changedThroughAMapping_isReadAgain() throws IOException {
        assumeThat(Files.getFileStore(root).type()).as("a file system that gives stores to mapped pages a time").isIn("ext4", "xfs", "btrfs");
        session("one", true);
        try (FileChannel channel = FileChannel.open(root.resolve("7"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, 100);
            mapped.putLong(0, ~mapped.getLong(0));
        }
        assertThat(readAgain()).isEqualTo(1);
    }

    @Test
    void file_imagedShortlyAfterItsLastChange_isReadAgain() throws IOException {
        Settled now = settled;
        settled = new Settled(now.dev, 1, 2, 3, 3_600_000_000_000L);
        session("one", true);
        settled = now;
        assertThat(readAgain()).isEqualTo(FILES);
        assertThat(Files.size(pack("again"))).as("but not kept again").isLessThan(100_000);
    }

    @Test
    void file_whoseTimeLiesInTheFuture_isReadAgain() throws IOException {
        Files.setLastModifiedTime(root.resolve("7"), FileTime.fromMillis(System.currentTimeMillis() + 3_600_000));
        rest();
        session("one", true);
        assertThat(readAgain()).isEqualTo(1);
    }

    @Test
    void tree_afterAnotherBootOrOnAnotherFileSystem_isReadAgain() throws IOException {
        session("one", true);
        Settled now = settled;
        settled = new Settled(now.dev, 1, 3, 3, REST_NS);
        assertThat(readAgain()).isEqualTo(FILES);
        RandomWorkTest.wipe(session("again"));
        settled = new Settled(now.dev + 1, 1, 2, 3, REST_NS);
        assertThat(readAgain()).isEqualTo(FILES);
        RandomWorkTest.wipe(session("again"));
        settled = Settled.NEVER;
        assertThat(readAgain()).isEqualTo(FILES);
    }

    @Test
    void tree_whenTheClockWasSetBack_isReadAgain() throws IOException {
        session("one", true);
        byte[] bytes = Files.readAllBytes(cache());
        int end = endOfSources(bytes);
        ByteBuffer.wrap(bytes).putLong(56, FileState.now() + 3_600_000_000_000L);
        java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
        crc.update(bytes, 0, 64);
        crc.update(bytes, 68, end - 68);
        ByteBuffer.wrap(bytes).putInt(64, (int) crc.getValue());
        Files.write(cache(), bytes);
        assertThat(StatCache.of(bytes, settled)).as("it checks").isNotNull();
        assertThat(readAgain()).isEqualTo(FILES);
    }

    private static int endOfSources(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        int at = 68;
        for (int i = 0; i < in.getInt(12); i++) {
            at += 26 + in.getShort(at + 24);
        }
        return at;
    }

    @Test
    void attributes_thatOthersSee_areAskedForAgain() throws IOException {
        int[] asked = new int[1];
        TestFiles asking = new TestFiles() {
            @Override
            public byte[][] attributes(int fd) {
                asked[0]++;
                return new byte[0][];
            }

            @Override
            public byte[][] attributes(byte[] name) {
                return new byte[0][];
            }
        };
        try (Backups b = Backups.open(home, "one", asking, settled)) {
            imageTree(b, root);
            b.done();
        }
        asked[0] = 0;
        try (Backups b = Backups.open(home, "two", asking, settled)) {
            imageTree(b, root);
            assertThat(asked[0]).isZero();
        }
        try (Backups b = Backups.open(home, "three", asking, new Settled(settled.dev, 1, 2, 4, REST_NS))) {
            imageTree(b, root);
            assertThat(asked[0]).isEqualTo(FILES + 1);
        }
    }

    // --- damage

    @Test
    void cache_cutAtAnyByteOrWithAnyBitFlipped_neverLeadsToAWrongRestore() throws IOException {
        session("one", true);
        byte[] whole = Files.readAllBytes(cache());
        FileState large = FileState.look(files, new Name(Work.name(root.resolve("large"))));
        Map<String, byte[]> right = new TreeMap<>();
        for (int i = 0; i < FILES; i++) {
            right.put(String.valueOf(i), Sha256.of(root.resolve(String.valueOf(i))));
        }
        right.put("large", Sha256.of(root.resolve("large")));
        for (int at = 0; at < whole.length; at++) {
            assertThat(StatCache.of(java.util.Arrays.copyOf(whole, at), settled)).as("cut at %s", at).isNull();
        }
        Random random = new Random(3);
        for (int at = 0; at < whole.length; at++) {
            byte[] flipped = whole.clone();
            flipped[at] ^= (byte) (1 << random.nextInt(8));
            StatCache cache = StatCache.of(flipped, settled);
            for (String name : cache == null ? List.<String>of() : List.of("large", String.valueOf(at % FILES))) {
                byte[] path = Work.name(root.resolve(name));
                StatCache.Entry found = cache.unchanged(path, name.equals("large") ? large : FileState.look(files, new Name(path)), settled);
                if (found != null) {
                    assertThat(found.content.sha).as("flipped at %s", at).isEqualTo(right.get(name));
                    assertThat(found.content.source.name).isEqualTo("one");
                }
            }
        }
    }

    @Test
    void cache_thatNamesOtherPlaces_leadsNowhere() throws IOException {
        session("one", true);
        Path outside = Files.createDirectory(temp.resolve("outside"));
        Files.copy(pack("one"), outside.resolve("pack"));
        StatCache known = StatCache.read(cache(), (Integer) Files.getAttribute(home, "unix:uid"), settled);
        FileState now = FileState.look(files, new Name(Work.name(root.resolve("7"))));
        StatCache.Entry entry = known.unchanged(Work.name(root.resolve("7")), now, settled);
        Files.createSymbolicLink(session("linked"), outside);
        Files.createDirectories(session("file"));
        Files.createSymbolicLink(session("file").resolve("pack"), outside.resolve("pack"));
        try (Backups b = open("two")) {
            b.preflight(List.of(Work.name(root.resolve("1"))), List.of());
            for (String name : List.of("../../outside", "..", ".", "", "/", "one/", "one/../one", "one~", "one~x", "one~1~2", "~1", "one~/../pack", "a\u0000b",
                    "ONE%2f", "%2e%2e", "two", "none", "linked", "file", "x".repeat(300))) {
                StatCache.Source source = new StatCache.Source(name, entry.content.source.ino, entry.content.source.size, entry.content.source.mtime);
                StatCache.Content content = new StatCache.Content(source, entry.content.offset, entry.content.size, entry.content.sha);
                assertThat(b.sources.contentAt(content)).as(name).isEqualTo(-1);
            }
            for (long[] where : new long[][] {{-1, 10}, {0, -1}, {Long.MAX_VALUE, 1}, {0, Long.MAX_VALUE}, {1L << 48, 1}, {1L << 40, 1}}) {
                StatCache.Content content = new StatCache.Content(entry.content.source, where[0], where[1], entry.content.sha);
                assertThat(b.sources.contentAt(content)).as(where[0] + " " + where[1]).isEqualTo(-1);
            }
            assertThat(b.sources.contentAt(entry.content)).isPositive();
        }
        assertThat(Files.list(session("two").resolve("from"))).extracting(p -> p.getFileName().toString()).containsExactly("one");
    }

    @Test
    void cache_ofAnotherOwnerOrALink_isNotRead() throws IOException {
        session("one", true);
        long owner = (Integer) Files.getAttribute(home, "unix:uid");
        assertThat(StatCache.read(cache(), owner, settled)).isNotNull();
        assertThat(StatCache.read(cache(), owner + 1, settled)).isNull();
        Path link = Files.createSymbolicLink(temp.resolve("link"), cache());
        assertThat(StatCache.read(link, owner, settled)).isNull();
    }

    @Test
    void pack_changedSinceItWasToldOf_isLookedIntoBeforeItIsReferredTo() throws IOException {
        session("one", true);
        byte[] pack = Files.readAllBytes(pack("one"));
        // nothing but contents, for the most part
        for (int at = 100_000; at < pack.length; at += 100_000) {
            pack[at] ^= 1;
        }
        Files.write(pack("one"), pack);
        spoilAndUndo("two", tree());
        assertThat(session("two").resolve("from/one")).exists();
        assertThat(Files.size(pack("two"))).as("what is damaged is kept anew").isGreaterThan(2 * MIB);
    }

    @Test
    void rollback_whenTheOtherPackIsDamaged_saysWhichFilesAndPutsBackNothingWrong() throws IOException {
        session("one", true);
        Map<String, String> before = tree();
        Map<String, String> spoilt;
        try (Backups b = open("two")) {
            b.openTree(Work.name(root), 10_000, 1L << 30);
            spoil();
            b.leftTree(Work.name(root));
            spoilt = tree();
        }
        byte[] pack = Files.readAllBytes(pack("one"));
        for (int at = 50_000; at < pack.length; at += 50_000) {
            pack[at] ^= 1;
        }
        Files.write(pack("one"), pack);

        Recovery.Result result = Recovery.run(home, null, false, files).get(0);

        assertThat(result.complete()).isFalse();
        int failed = 0;
        for (RollbackReport.Entry e : result.report().entries()) {
            if (e.outcome() == RollbackReport.Outcome.FAILED) {
                assertThat(e.detail()).contains("its SHA-256 is not the recorded one", session("two").resolve("from/one").toString());
                failed++;
            }
        }
        assertThat(failed).isBetween(1, FILES / 2);
        Map<String, String> now = tree();
        for (String name : before.keySet()) {
            if (!name.isEmpty() && now.containsKey(name)) {
                assertThat(now.get(name)).as(name).isIn(before.get(name), spoilt.get(name));
            }
        }
    }

    @Test
    void rollback_whenTheOtherPackIsGoneOrCut_saysSo() throws IOException {
        session("one", true);
        try (Backups b = open("two")) {
            b.openTree(Work.name(root), 10_000, 1L << 30);
            spoil();
            b.leftTree(Work.name(root));
        }
        Map<String, String> spoilt = tree();
        Path from = session("two").resolve("from/one");
        try (RandomAccessFile file = new RandomAccessFile(from.toFile(), "rw")) {
            file.setLength(0);
        }
        assertThat(Recovery.run(home, null, false, files)).singleElement().satisfies(result -> {
            assertThat(result.complete()).isFalse();
            assertThat(result.report().damage()).contains("the images of " + (FILES + 1) + " files are gone with " + from);
            assertThat(result.report().entries()).anySatisfy(e -> assertThat(e.detail()).contains("the image is gone with " + from));
        });
        Files.delete(from);
        assertThat(Store.sessions(home, files)).anySatisfy(s -> assertThat(s.damage()).contains("gone with " + from));
        assertThat(Recovery.run(home, null, false, files)).singleElement().satisfies(result -> assertThat(result.complete()).isFalse());
        Map<String, String> now = tree();
        for (String name : now.keySet()) {
            assertThat(name.isEmpty() || now.get(name).equals(spoilt.get(name))).as(name).isTrue();
        }
    }

    @Test
    void reference_thatIsATorn_record_isCutLikeAnyOther() throws IOException {
        session("one", true);
        Map<String, String> before = tree();
        try (Backups b = open("two")) {
            b.openTree(Work.name(root), 10_000, 1L << 30);
        }
        long size = Files.size(pack("two"));
        for (long at = size - 1; at > size - 400; at -= 7) {
            try (RandomAccessFile file = new RandomAccessFile(pack("two").toFile(), "rw")) {
                file.setLength(at);
            }
            try (Backups b = Backups.read(home, "two", files)) {
                assertThat(b.images()).isNotEmpty();
            }
        }
        assertThat(Recovery.run(home, null, false, files)).hasSize(1);
        assertBack(before, null);
    }

    @Test
    void copy_ofAReferredImage_givesItsBytes() throws IOException {
        session("one", true);
        session("two", true);
        try (Backups b = Backups.read(home, "two", files)) {
            for (Backups.Image image : b.images()) {
                if (image.file()) {
                    java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream();
                    b.copy(image.path(), out);
                    assertThat(out.toByteArray()).isEqualTo(Files.readAllBytes(files.path(image.path())));
                    assertThat(image.sha256()).isEqualTo(Sha256.of(files.path(image.path())));
                }
            }
        }
    }

    // --- who may refer to what

    @Test
    void smallFiles_touchedOneByOne_areKeptAnew() throws IOException {
        session("one", true);
        try (Backups b = open("two")) {
            new Work(b).write(root.resolve("7"), "changed");
            new Work(b).write(root.resolve("large"), "changed");
            assertThat(session("two").resolve("from/one")).as("for the large one").exists();
            assertThat(Files.size(pack("two"))).isBetween(1300L, 10_000L);
            assertThat(b.rollback().complete()).isTrue();
        }
    }

    @Test
    void session_thatCrashedOrWasRolledBack_isNotToldOf() throws IOException {
        session("one", false);
        assertThat(cache()).doesNotExist();
        spoilAndUndo("two", tree());
        assertThat(cache()).doesNotExist();
    }

    @Test
    void session_thatReadLittle_leavesTheCacheAsItIs() throws IOException {
        session("one", true);
        Object was = Files.getAttribute(cache(), "unix:ino");
        try (Backups b = open("two")) {
            new Work(b).write(root.resolve("new"), "x");
            b.done();
        }
        assertThat(Files.getAttribute(cache(), "unix:ino", LinkOption.NOFOLLOW_LINKS)).isEqualTo(was);
    }

    @Test
    void pack_thatTakesNoMoreNames_isNotReferredTo() throws IOException {
        session("one", true);
        Path names = Files.createDirectory(temp.resolve("names"));
        int made = 0;
        try {
            for (; made < 70_000; made++) {
                Files.createLink(names.resolve(String.valueOf(made)), pack("one"));
            }
        } catch (IOException full) {
            made = -made;
        }
        assumeThat(made).as("a file system with a limit of names").isNegative();
        spoilAndUndo("two", tree());
        assertThat(Files.size(pack("two"))).isGreaterThan(2 * MIB);
        assertThat(session("two").resolve("from")).isEmptyDirectory();
    }

    @Test
    void sessionsAtOnce_inOneHome_eachRollBackExactly() throws Exception {
        session("one", true);
        List<Path> trees = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Path tree = Files.createDirectory(temp.resolve("t" + i));
            for (int j = 0; j < FILES; j++) {
                Files.copy(root.resolve(String.valueOf(j)), tree.resolve(String.valueOf(j)), StandardCopyOption.COPY_ATTRIBUTES);
            }
            trees.add(tree);
        }
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 3; round++) {
                List<Future<?>> all = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    Path tree = trees.get(i);
                    String id = "s" + round + i;
                    boolean undone = (i + round) % 2 == 0;
                    all.add(threads.submit(() -> {
                        Map<String, String> before = tree(tree);
                        try (Backups b = Backups.open(home, id, new TestFiles(), settled)) {
                            b.openTree(Work.name(tree), 10_000, 1L << 30);
                            if (undone) {
                                for (int j = 0; j < FILES; j++) {
                                    Files.writeString(tree.resolve(String.valueOf(j)), "spoilt");
                                }
                            }
                            b.leftTree(Work.name(tree));
                            if (undone) {
                                RollbackReport report = b.rollback();
                                assertThat(tree(tree)).as(report.toString()).isEqualTo(before);
                            } else {
                                b.done();
                            }
                        }
                        synchronized (trees) {
                            Store.prune(home, System.currentTimeMillis() - 100, Long.MAX_VALUE, new TestFiles());
                        }
                        return null;
                    }));
                }
                for (Future<?> one : all) {
                    one.get();
                }
            }
        } finally {
            threads.shutdownNow();
        }
    }

    // --- formats

    @Test
    void pack_ofTheFormatBefore_isRead_andOneOfALaterFormatRefused() throws IOException {
        write("a", Work.bytes("before"));
        try (Backups b = open("one")) {
            new Work(b).write(root.resolve("a"), "changed");
        }
        byte[] pack = Files.readAllBytes(pack("one"));
        assertThat(ByteBuffer.wrap(pack).getInt(24)).isEqualTo(Backups.FORMAT);
        for (int format : new int[] {Backups.FORMAT + 1, 2}) {
            ByteBuffer.wrap(pack).putInt(24, format);
            java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
            int head = ByteBuffer.wrap(pack).getInt(8);
            byte[] checked = ByteBuffer.allocate(24 + head).putLong(0).put(pack, 4, 16).put(pack, 24, head).array();
            crc.update(checked);
            ByteBuffer.wrap(pack).putInt(20, (int) crc.getValue());
            Files.write(pack("one"), pack);
            Recovery.Result result = Recovery.run(home, null, false, files).get(0);
            if (format == 2) {
                assertThat(result.complete()).as(result.line()).isTrue();
                assertThat(root.resolve("a")).hasContent("before");
            } else {
                assertThat(result.line()).contains("was written by another version of klock");
                assertThat(root.resolve("a")).hasContent("changed");
            }
        }
    }

    @Test
    void fileSystem_isThatOfTheNearestMount() {
        String[] table = {"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw", "30 21 0:40 / /mnt/a\\040b rw - tmpfs tmpfs rw",
            "31 30 0:41 / /mnt/a\\040b/c rw master:3 propagate_from:2 - fuse.sshfs x rw", "broken", "32 21 8:2 / /home rw - xfs /dev/sdb rw",
            "33 21 8:3 / /home rw - btrfs /dev/sdc rw"};
        assertThat(FileSystemType.of("/x", table)).isEqualTo("ext4");
        assertThat(FileSystemType.of("/mnt/a b/d", table)).isEqualTo("tmpfs");
        assertThat(FileSystemType.of("/mnt/a b/c/d", table)).isEqualTo("fuse.sshfs");
        assertThat(FileSystemType.of("/mnt/a bc", table)).isEqualTo("ext4");
        assertThat(FileSystemType.of("/home/u", table)).as("mounted over the other").isEqualTo("btrfs");
        assertThat(FileSystemType.of("/x", new String[0])).isEmpty();
    }

    @Test
    void times_ofAFileSystemWithoutTimesForMappedStores_proveNothing() throws IOException {
        Path memory = Path.of("/dev/shm");
        assumeThat(Files.isDirectory(memory)).isTrue();
        assertThat(FileSystemType.of(memory)).isEqualTo("tmpfs");
        assertThat(Settled.at(memory, (Long) Files.getAttribute(memory, "unix:dev")).dev).isZero();
    }

    @Test
    void times_onThisMachine_proveNothingOfAFileThatChangedLessThanAMinuteAgo() throws IOException {
        Settled here = Settled.at(temp, (Long) Files.getAttribute(temp, "unix:dev"));
        FileState now = FileState.look(files, new Name(Work.name(root.resolve("7"))));
        assertThat(here.proves(now)).isFalse();
        if (here.dev != 0) {
            String boot = new String(Files.readAllBytes(Path.of("/proc/sys/kernel/random/boot_id")), StandardCharsets.US_ASCII).trim().replace("-", "");
            assertThat(String.format("%016x%016x", here.bootHigh, here.bootLow)).isEqualTo(boot);
        }
    }
}
