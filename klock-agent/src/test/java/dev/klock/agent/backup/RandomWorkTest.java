package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Tag;
import net.jqwik.api.constraints.IntRange;

/** Whatever a session does, rolling back gives the tree it found: bytes, modes, links, hard links, times. */
class RandomWorkTest {
    private static final Pattern BY_HAND = Pattern.compile("edited by hand, a long text, at step \\d+");

    @Property(tries = 200)
    @Tag("K6-5")
    @Tag("K6-8")
    @Tag("C31")
    void rollback_afterAnySequenceOfOperations_givesTheStartTree(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int steps) throws IOException {
        run(seed, steps, false, 1);
    }

    @Property(tries = 100)
    @Tag("K6-5")
    @Tag("C45")
    void rollbackByAnotherProcess_afterAnySequenceOfOperations_givesTheStartTree(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int steps)
            throws IOException {
        run(seed, steps, true, 1);
    }

    /** As {@link KilledTest}, without processes: any step of a rollback may be its last, and so of the one that goes on with it. */
    @Property(tries = 300)
    @Tag("K6-5")
    @Tag("C45")
    void rollback_endedAtAnyStep_isFinishedByTheNext(@ForAll long seed, @ForAll @IntRange(min = 1, max = 60) int steps,
            @ForAll @IntRange(min = 1, max = 2) int times) throws IOException {
        Path dir = Files.createTempDirectory("klock-random").toRealPath();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            Random random = new Random(seed);
            plant(root, random, 20);
            Map<String, String> before = TreeListing.of(root);
            List<String> done = new ArrayList<>();
            Path left = dir.resolve("left");
            Path pack;
            try (Backups worked = Backups.open(home, "s", Work.FILES)) {
                worked.preflight(List.of(), List.of(Work.name(root)));
                Work work = new Work(worked);
                for (int i = 0; i < steps; i++) {
                    try {
                        done.add(step(work, root, random));
                    } catch (FileSystemException refused) {
                        done.add("refused: " + refused);
                    }
                }
                // what a kill would leave of it
                pack = worked.directory().resolve("pack");
                Files.copy(pack, left);
            }
            Files.move(left, pack, StandardCopyOption.REPLACE_EXISTING);
            for (int i = 0; i < times; i++) {
                Mortal files = new Mortal();
                try (Backups b = Backups.open(home, "s", files)) {
                    files.stepsLeft = random.nextInt(40 * (steps + 20));
                    b.rollback();
                } catch (Mortal.Death expected) {
                    done.add("ended after " + files.lived);
                }
            }
            try (Backups b = Backups.open(home, "s", Work.FILES)) {
                RollbackReport report = b.rollback();
                assertThat(report.complete()).as("%s%n%s", done, report).isTrue();
                assertThat(TreeListing.of(root)).as("seed %s: %s%n%s", seed, done, report).isEqualTo(before);
            }
        } finally {
            wipe(dir);
        }
    }

    /** A directory that is renamed within one that was renamed, back to its first name, and about to be renamed again. */
    @Example
    @Tag("K6-5")
    void rollback_ofADirectoryThatCameBackToItsName_givesTheStartTree() throws IOException {
        rollback_endedAtAnyStep_isFinishedByTheNext(1306138885L, 19, 1);
    }

    /** A file of several names: one went on with its directory, and another came with one to where the first had been. */
    @Example
    @Tag("K6-5")
    void rollback_ofANameWhoseOldPlaceHasAnotherNameOfTheFile_givesTheStartTree() throws IOException {
        rollback_endedAtAnyStep_isFinishedByTheNext(-9180742L, 31, 1);
    }

    /** The inode number of a symbolic link whose names are gone is given to a new one at one of them. */
    @Example
    @Tag("K6-5")
    void rollback_ofALinkOfTwoNamesWhoseNumberIsInUseAgain_givesTheStartTree() throws IOException {
        run(-795668622168253862L, 28, false, 1);
    }

    /** Whoever uses it ends at the given step. */
    private static final class Mortal extends TestFiles {
        static final class Death extends Error {
            private static final long serialVersionUID = 1L;
        }

        int stepsLeft = Integer.MAX_VALUE;
        int lived;

        private void step() {
            lived++;
            if (--stepsLeft < 0) {
                throw new Death();
            }
        }

        @Override
        public Path path(byte[] name) {
            step();
            return super.path(name);
        }

        @Override
        public int mode(byte[] name) {
            step();
            return super.mode(name);
        }

        @Override
        public void setTimes(byte[] name, long accessedNs, long modifiedNs) throws IOException {
            step();
            super.setTimes(name, accessedNs, modifiedNs);
        }
    }

    @Property(tries = 60)
    @Tag("K6-5")
    void rollback_calledAgainAndAgain_changesNothingMore(@ForAll long seed, @ForAll @IntRange(min = 1, max = 25) int steps) throws IOException {
        run(seed, steps, false, 3);
    }

    @Property(tries = 20)
    @Tag("K6-8")
    void rollback_afterFourThreadsWorkedAtOnce_givesTheStartTree(@ForAll long seed) throws Exception {
        Path dir = Files.createTempDirectory("klock-random").toRealPath();
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            Path shared = Files.createDirectory(root.resolve("shared"));
            for (int i = 0; i < 4; i++) {
                Files.writeString(shared.resolve("f" + i), "start " + i);
                plant(Files.createDirectory(root.resolve("own" + i)), new Random(seed + i), 8);
            }
            Map<String, String> before = TreeListing.of(root);
            try (Backups b = Backups.open(home, "s", Work.FILES)) {
                b.preflight(List.of(), List.of(Work.name(root)));
                Work work = new Work(b);
                List<Future<?>> running = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                    Path own = root.resolve("own" + i);
                    Random random = new Random(seed * 31 + i);
                    running.add(pool.submit(() -> {
                        for (int n = 0; n < 20; n++) {
                            try {
                                step(work, own, random);
                                Path f = shared.resolve("f" + random.nextInt(6));
                                switch (random.nextInt(3)) {
                                    case 0: work.write(f, "text " + n); break;
                                    case 1: work.append(f, "more"); break;
                                    default: work.delete(f); break;
                                }
                            } catch (FileSystemException refused) {
                                continue;
                            }
                        }
                        return null;
                    }));
                }
                for (Future<?> f : running) {
                    f.get();
                }
                RollbackReport report = b.rollback();
                assertThat(report.complete()).as("%s", report).isTrue();
                assertThat(TreeListing.of(root)).as("seed %s: %s", seed, report).isEqualTo(before);
            }
        } finally {
            pool.shutdownNow();
            wipe(dir);
        }
    }

    /** Children are at work now and then in the same places as the program, and one may still be when the session's process dies. */
    @Property(tries = 300)
    @Tag("K6-5")
    @Tag("K6-7")
    @Tag("C45")
    void rollback_afterWorkTogetherWithChildren_givesTheStartTree(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int steps,
            @ForAll boolean crash) throws IOException {
        Path dir = Files.createTempDirectory("klock-random").toRealPath();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            Random random = new Random(seed);
            plant(root, random, 8);
            Map<String, String> before = TreeListing.of(root);
            List<String> done = new ArrayList<>();
            Backups b = Backups.open(home, "s", Work.FILES);
            b.preflight(List.of(), List.of(Work.name(root)));
            Work program = new Work(b);
            boolean atWork = false;
            for (int i = 0; i < steps; i++) {
                if (random.nextInt(5) == 0) {
                    if (atWork) {
                        b.leftTree(Work.name(root));
                    } else {
                        b.openTree(Work.name(root), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
                    }
                    atWork = !atWork;
                    done.add(atWork ? "a child begins" : "the child is over");
                }
                boolean child = atWork && random.nextBoolean();
                try {
                    done.add((child ? "child: " : "") + step(child ? Work.ofAChild() : program, root, random));
                } catch (FileSystemException refused) {
                    done.add("refused: " + refused);
                }
            }
            if (crash) {
                b.close();
                b = Backups.openCrashed(home, "s", Work.FILES);
            } else if (atWork) {
                b.leftTree(Work.name(root));
            }
            RollbackReport report = b.rollback();
            assertThat(report.complete()).as("seed %s: %s%n%s", seed, done, report).isTrue();
            assertThat(TreeListing.of(root)).as("seed %s: %s%n%s", seed, done, report).isEqualTo(before);
            b.close();
        } finally {
            wipe(dir);
        }
    }

    /**
     * Directories are renamed into and over each other, by one thread after the other as {@code Mutations} has it, while children start and end: a
     * child's end is noted by a thread of klock's own, before, during and after the image, the rename and the notes of it.
     */
    @Property(tries = 150)
    @Tag("K6-5")
    @Tag("K6-7")
    @Tag("C45")
    void rollback_ofDirectoriesRenamedWhileChildrenStartAndEnd_givesTheStartTree(@ForAll long seed, @ForAll @IntRange(min = 2, max = 60) int steps,
            @ForAll boolean crash) throws Exception {
        Path dir = Files.createTempDirectory("klock-random").toRealPath();
        ExecutorService guard = Executors.newSingleThreadExecutor();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            List<Path> names = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                Path d = Files.createDirectory(root.resolve("d" + i));
                names.add(d);
                names.add(Files.createDirectory(d.resolve("empty")));
                for (int j = 0; j < 6; j++) {
                    if (j % (i + 1) == 0) {
                        Files.writeString(d.resolve("f" + j), i + " " + j);
                    }
                }
            }
            Map<String, String> before = TreeListing.of(root);
            Random random = new Random(seed);
            List<String> done = Collections.synchronizedList(new ArrayList<>());
            Backups b = Backups.open(home, "s", Work.FILES);
            b.preflight(List.of(), List.of(Work.name(root)));
            Work work = new Work(b);
            List<Future<?>> ends = new ArrayList<>();
            Work.Effect end = () -> {
                if (random.nextInt(3) == 0) {
                    long pauseNs = random.nextInt(3) * 100_000L;
                    ends.add(guard.submit(() -> {
                        LockSupport.parkNanos(pauseNs);
                        if (b.leftTree(Work.name(root)) != null) {
                            done.add("a child is over");
                        }
                    }));
                    if (random.nextBoolean()) {
                        await(ends);
                    } else {
                        LockSupport.parkNanos(random.nextInt(3) * 100_000L);
                    }
                }
            };
            int started = 0;
            Path gone = null;
            for (int n = 0; n < steps; n++) {
                if (started == ends.size() && random.nextInt(4) == 0) {
                    b.openTree(Work.name(root), Backups.MAX_TREE_FILES, Backups.MAX_TREE_BYTES);
                    started++;
                    done.add("a child begins");
                }
                int children = started;
                Work.Effect maybeEnd = () -> {
                    if (ends.size() < children) {
                        end.run();
                    }
                };
                Path from = names.get(random.nextInt(names.size()));
                Path to = gone != null && random.nextBoolean() ? gone : names.get(random.nextInt(names.size()));
                boolean refusedAnyhow = Files.isDirectory(to) && !isEmpty(to) && random.nextInt(5) > 0;
                if (!Files.isDirectory(from) || to.startsWith(from) || !Files.isDirectory(to.getParent()) || refusedAnyhow) {
                    continue;
                }
                gone = from;
                try {
                    done.add("rename " + from + " to " + to);
                    work.rename(from, to, maybeEnd, maybeEnd);
                } catch (FileSystemException refused) {
                    done.add("refused: " + refused);
                }
                maybeEnd.run();
            }
            while (ends.size() < started && !crash) {
                ends.add(guard.submit(() -> b.leftTree(Work.name(root))));
            }
            await(ends);
            Backups last = b;
            if (!crash) {
                b.done();
                b.close();
                last = Backups.reopen(home, "s", Work.FILES);
            } else {
                b.close();
                last = Backups.openCrashed(home, "s", Work.FILES);
            }
            RollbackReport report = last.rollback();
            String all = "seed " + seed + ": " + String.join("\n", done) + "\n" + report;
            assertThat(report.complete()).as(all).isTrue();
            assertThat(TreeListing.of(root)).as(all).isEqualTo(before);
            assertThat(report.conflicts()).as(all).isEmpty();
            last.close();
        } finally {
            guard.shutdownNow();
            wipe(dir);
        }
    }

    private static boolean isEmpty(Path directory) throws IOException {
        try (Stream<Path> s = Files.list(directory)) {
            return s.findAny().isEmpty();
        }
    }

    private static void await(List<Future<?>> all) throws IOException {
        for (Future<?> one : all) {
            try {
                one.get();
            } catch (ExecutionException | InterruptedException failed) {
                throw new IOException(failed);
            }
        }
    }

    /** Others work in the same directory under names of their own, and edit by hand what they find. */
    @Property(tries = 80)
    @Tag("C32")
    void rollback_besideAnotherWriter_keepsEverythingOfTheirs(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int steps) throws IOException {
        Path dir = Files.createTempDirectory("klock-random").toRealPath();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            Random random = new Random(seed);
            plant(root, random, 8);
            Map<String, String> theirs = new TreeMap<>();
            try (Backups b = Backups.open(home, "s", Work.FILES)) {
                b.preflight(List.of(), List.of(Work.name(root)));
                Work work = new Work(b);
                for (int i = 0; i < steps; i++) {
                    if (random.nextInt(3) == 0) {
                        Path p = fresh(root, random).resolveSibling("their-" + i);
                        Files.writeString(p, "theirs " + i);
                        theirs.put("their-" + i, "theirs " + i);
                    }
                    if (random.nextInt(8) == 0) {
                        Path p = pick(root, random);
                        if (Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS) && !p.getFileName().toString().startsWith("their")
                                && (Integer) Files.getAttribute(p, "unix:nlink") == 1) {
                            String text = "edited by hand, a long text, at step " + i;
                            Files.writeString(p, text);
                        }
                    }
                    try {
                        stepBesideOthers(work, root, random);
                    } catch (FileSystemException refused) {
                        continue;
                    }
                }
                Map<String, String> handmade = new TreeMap<>();
                for (Path p : all(root)) {
                    if (Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS) && Files.readString(p).startsWith("edited by hand, a long text, at step")) {
                        Matcher m = BY_HAND.matcher(Files.readString(p));
                        assertThat(m.find()).isTrue();
                        handmade.put(m.group(), "");
                    }
                }
                b.rollback();
                Map<String, String> found = new TreeMap<>();
                for (Path p : all(dir)) {
                    if (Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS)) {
                        String text = Files.readString(p, java.nio.charset.StandardCharsets.ISO_8859_1);
                        if (p.startsWith(root) && p.getFileName().toString().startsWith("their-")) {
                            found.put(p.getFileName().toString(), text);
                        }
                        if (!p.endsWith("pack")) {
                            BY_HAND.matcher(text).results().forEach(r -> handmade.remove(r.group()));
                        }
                    }
                }
                assertThat(found).isEqualTo(theirs);
                assertThat(handmade).isEmpty();
            }
        } finally {
            wipe(dir);
        }
    }

    /**
     * Others save, rename, link and delete their files in the directories that the session moves, also between the image of one and its rename.
     * Each file is in the tree as they left it; one of a name that they have taken away, or that is there twice, is named.
     */
    @Property(tries = 150)
    @Tag("C32")
    void rollback_besideOthersInMovedDirectories_keepsTheirsAndNamesWhatIsNot(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int steps,
            @ForAll boolean crash) throws IOException {
        Path dir = Files.createTempDirectory("klock-random").toRealPath();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            Random random = new Random(seed);
            plant(root, random, 8);
            for (int i = 0; i < 3; i++) {
                Files.createDirectory(root.resolve("dir" + i));
            }
            boolean links = !crash && seed % 4 == 0;
            Map<String, String> theirs = new TreeMap<>();
            List<String> done = new ArrayList<>();
            Backups b = Backups.open(home, "s", Work.FILES);
            b.preflight(List.of(), List.of(Work.name(root)));
            Work work = new Work(b);
            for (int i = 0; i < steps; i++) {
                if (random.nextInt(2) == 0) {
                    done.add(others(root, random, i, theirs, links));
                }
                try {
                    Path p = pick(root, random);
                    Path q = fresh(root, random);
                    boolean move = random.nextInt(3) > 0 && !p.equals(root) && Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS) && !q.startsWith(p);
                    if (move) {
                        int step = i;
                        boolean between = random.nextInt(3) == 0 && !Files.exists(q, LinkOption.NOFOLLOW_LINKS);
                        done.add("rename " + p + " to " + q);
                        work.rename(p, q, () -> {
                            if (between) {
                                done.add("  between: " + others(p, random, 1000 + step, theirs, links));
                            }
                        }, () -> { });
                    } else {
                        done.add(stepBesideOthers(work, root, random));
                    }
                } catch (FileSystemException refused) {
                    done.add("refused: " + refused);
                }
            }
            if (crash) {
                b.close();
                b = Backups.open(home, "s", Work.FILES);
            }
            RollbackReport report = b.rollback();
            String all = "seed " + seed + ": " + String.join("\n", done) + "\n" + report;
            assertThat(report.complete()).as(all).isTrue();
            Map<String, List<String>> found = new TreeMap<>();
            for (Path p : all(root)) {
                if (Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS) && p.getFileName().toString().startsWith("their-")) {
                    found.computeIfAbsent(p.getFileName().toString(), n -> new ArrayList<>()).add(Files.readString(p));
                }
            }
            String named = report.entries().stream().filter(e -> e.detail() != null).map(RollbackReport.Entry::line).reduce("", String::concat);
            List<String> kept = new ArrayList<>();
            for (Path p : crash ? all(home) : List.<Path>of()) {
                if (Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS) && p.getParent().endsWith("displaced")) {
                    kept.add(Files.readString(p));
                }
            }
            theirs.forEach((name, text) -> {
                // after a crash it is not known what was open, and what gives way is kept, and named
                boolean isKept = kept.contains(text) && named.contains(name);
                // what was saved in place in a file of several names may be left in another of them
                boolean linked = found.entrySet().stream().anyMatch(e -> !e.getKey().equals(name) && e.getValue().contains(text));
                if (!isKept && !linked) {
                    assertThat(found.getOrDefault(name, List.of())).as("%s in %s", name, all).contains(text);
                }
            });
            found.forEach((name, texts) -> {
                // after a crash nothing tells what the session has done last; of several names of theirs not each is named
                if (!crash && !links && (texts.size() > 1 || !theirs.containsKey(name))) {
                    assertThat(named).as("%s is there, %s: %s", name, texts, all).contains(name);
                }
            });
            b.close();
        } finally {
            wipe(dir);
        }
    }

    /** What others do to a file of theirs below {@code root}; {@code theirs}: what is in each, by their names, which are all different. */
    private static String others(Path root, Random random, int step, Map<String, String> theirs, boolean links) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path p : all(root)) {
            if (p.getFileName().toString().startsWith("their-")) {
                files.add(p);
            }
        }
        int what = random.nextInt(6);
        String text = "theirs, at step " + step + " ".repeat(random.nextInt(3));
        String fresh = "their-" + step + "-";
        if (files.isEmpty() || what == 0) {
            Path p = fresh(root, random).resolveSibling(fresh);
            Files.writeString(p, text);
            theirs.put(fresh, text);
            return "others make " + p;
        }
        Path p = files.get(random.nextInt(files.size()));
        String name = p.getFileName().toString();
        Path q = fresh(root, random).resolveSibling(fresh);
        switch (what) {
            case 1:
                Files.writeString(q, text);
                Files.move(q, p, StandardCopyOption.ATOMIC_MOVE);
                theirs.put(name, text);
                return "others save " + p;
            case 2:
                if ((Integer) Files.getAttribute(p, "unix:nlink") > 1) {
                    return "-";
                }
                Files.writeString(p, text);
                theirs.put(name, text);
                return "others save in place " + p;
            case 3:
                Files.move(p, q);
                theirs.put(fresh, theirs.remove(name));
                return "others rename " + p + " to " + q;
            case 4:
                if (!links) {
                    // after a crash a file of several names may count as one that the session had open
                    return "-";
                }
                Files.createLink(q, p);
                theirs.put(fresh, theirs.get(name));
                return "others link " + p + " as " + q;
            default:
                Files.delete(p);
                theirs.remove(name);
                return "others delete " + p;
        }
    }

    /** A file of theirs that was moved twice, and cannot come back, was taken away where it was. */
    @Example
    @Tag("C32")
    void rollback_ofWhatWasMovedTwiceAndCannotComeBack_leavesItWhereItIs() throws IOException {
        rollback_besideAnotherWriter_keepsEverythingOfTheirs(-961, 22);
    }

    /** Steps that do not themselves take what others made. */
    private static String stepBesideOthers(Work work, Path root, Random random) throws IOException {
        Path p = pick(root, random);
        Path q = fresh(root, random);
        boolean file = Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS) && !p.getFileName().toString().startsWith("their");
        boolean free = !Files.exists(q, LinkOption.NOFOLLOW_LINKS);
        switch (random.nextInt(6)) {
            case 0:
                if (free || Files.isRegularFile(q, LinkOption.NOFOLLOW_LINKS)) {
                    work.write(q, "new " + random.nextInt(1000));
                    return "write " + q;
                }
                break;
            case 1:
                if (file) {
                    work.append(p, "more");
                    return "append " + p;
                }
                break;
            case 2:
                if (!p.equals(root) && !p.getFileName().toString().startsWith("their") && !q.startsWith(p)) {
                    work.rename(p, q);
                    return "rename " + p + " to " + q;
                }
                break;
            case 3:
                if (file) {
                    work.delete(p);
                    return "delete " + p;
                }
                break;
            case 4:
                if (free) {
                    work.mkdir(q);
                    return "mkdir " + q;
                }
                break;
            default:
                if (file) {
                    work.chmod(p, "rw-r-----");
                    return "chmod " + p;
                }
                break;
        }
        return "-";
    }

    private static void run(long seed, int steps, boolean crash, int times) throws IOException {
        Path dir = Files.createTempDirectory("klock-random").toRealPath();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            Random random = new Random(seed);
            plant(root, random, 8);
            Map<String, String> before = TreeListing.of(root);
            List<String> done = new ArrayList<>();
            Backups b = Backups.open(home, "s", Work.FILES);
            b.preflight(List.of(), List.of(Work.name(root)));
            Work work = new Work(b);
            for (int i = 0; i < steps; i++) {
                try {
                    done.add(step(work, root, random));
                } catch (FileSystemException refused) {
                    done.add("refused: " + refused);
                }
            }
            if (crash) {
                b.close();
                b = Backups.open(home, "s", Work.FILES);
            }
            for (int i = 0; i < times; i++) {
                RollbackReport report = b.rollback();
                assertThat(report.complete()).as("%s%n%s", done, report).isTrue();
                assertThat(report.count(RollbackReport.Outcome.KEPT_THEIRS)).as("%s%n%s", done, report).isZero();
                assertThat(TreeListing.of(root)).as("seed %s: %s%n%s", seed, done, report).isEqualTo(before);
            }
            b.close();
        } finally {
            wipe(dir);
        }
    }

    static void plant(Path root, Random random, int entries) throws IOException {
        for (int i = 0; i < entries; i++) {
            Path p = fresh(root, random);
            if (Files.exists(p, LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            switch (random.nextInt(5)) {
                case 0: case 1: Files.createDirectory(p); break;
                case 2: Files.createSymbolicLink(p, Path.of(random.nextBoolean() ? "nowhere" : "a")); break;
                case 3: {
                    Path other = pick(root, random);
                    if (!Files.isDirectory(other, LinkOption.NOFOLLOW_LINKS)) {
                        Files.createLink(p, other);
                        break;
                    }
                }
                // falls through
                default: Files.writeString(p, "start " + random.nextInt(1000)); break;
            }
        }
    }

    static String step(Work work, Path root, Random random) throws IOException {
        Path p = pick(root, random);
        Path q = fresh(root, random);
        boolean top = p.equals(root);
        boolean directory = Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS);
        boolean file = Files.isRegularFile(p, LinkOption.NOFOLLOW_LINKS);
        boolean free = !Files.exists(q, LinkOption.NOFOLLOW_LINKS);
        switch (random.nextInt(13)) {
            case 0: case 1:
                if (free || Files.isRegularFile(q, LinkOption.NOFOLLOW_LINKS)) {
                    work.write(q, "new " + random.nextInt(1000));
                    return "write " + q;
                }
                return "-";
            case 2:
                if (file) {
                    work.append(p, "more");
                    return "append " + p;
                }
                return "-";
            case 3:
                if (file) {
                    work.truncate(p);
                    return "truncate " + p;
                }
                return "-";
            case 4: case 5: case 6:
                if (!top && !q.startsWith(p)) {
                    work.rename(p, q);
                    return "rename " + p + " to " + q;
                }
                return "-";
            case 7:
                if (!directory && free) {
                    work.link(p, q);
                    return "link " + p + " as " + q;
                }
                return "-";
            case 8:
                if (free) {
                    work.symlink(q, random.nextBoolean() ? "a" : "/nowhere/x");
                    return "symlink " + q;
                }
                return "-";
            case 9:
                if (file || directory) {
                    work.chmod(p, directory ? "rwx--x---" : random.nextBoolean() ? "r--------" : "rwxrwxrwx");
                    return "chmod " + p;
                }
                return "-";
            case 10:
                if (!top) {
                    work.deleteTree(p);
                    return "delete " + p;
                }
                return "-";
            case 11:
                if (free) {
                    work.mkdir(q);
                    return "mkdir " + q;
                }
                return "-";
            default:
                if (file || directory) {
                    work.touch(p, random.nextInt(1_000_000));
                    return "times " + p;
                }
                return "-";
        }
    }

    private static Path fresh(Path root, Random random) throws IOException {
        List<Path> directories = new ArrayList<>();
        for (Path p : all(root)) {
            if (Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS)) {
                directories.add(p);
            }
        }
        return directories.get(random.nextInt(directories.size())).resolve(String.valueOf((char) ('a' + random.nextInt(4))));
    }

    private static Path pick(Path root, Random random) throws IOException {
        List<Path> all = all(root);
        return all.get(random.nextInt(all.size()));
    }

    private static List<Path> all(Path root) throws IOException {
        try (Stream<Path> s = Files.walk(root)) {
            List<Path> list = new ArrayList<>(s.toList());
            Collections.sort(list);
            return list;
        }
    }

    static void wipe(Path dir) throws IOException {
        List<Path> all = all(dir);
        Collections.reverse(all);
        for (Path p : all) {
            Files.delete(p);
        }
    }
}
