package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Somebody puts a link in the place of a directory while a rollback is under way: at whichever of its steps he does, nothing changes in what
 * the link leads to. Of the tree are
 * <pre>
 * tree/d/        has the place of victim/ after the swap, is elsewhere/ then
 *     changed  deleted  mode  new  a = b (one file)  sub/below  emptied/
 * </pre>
 * A race between two processes is in the sandbox tests.
 */
@Tag("C32")
@Tag("FIELD-H25")
class LedElsewhereTest {
    @TempDir
    Path temp;
    private Path home;
    private Path d;
    private Path away;
    private Path victim;
    private int made;

    @BeforeEach
    void make() throws IOException {
        temp = temp.toRealPath();
        assumeTrue(Files.exists(Path.of("/proc/self/fd")), "descriptors have names here");
    }

    /**
     * With descriptors, as klock has them by its bridge; they read what they stand for, so neither links nor special files are in these
     * trees. At step {@code at} the directory is swapped for the link, at step {@code back} back.
     */
    private final class Swapped extends TestFiles {
        private final Map<Integer, FileChannel> held = new HashMap<>();
        int step;
        int at = Integer.MAX_VALUE;
        int back = Integer.MAX_VALUE;
        boolean counts;

        private void step() {
            if (!counts) {
                return;
            }
            step++;
            try {
                if (step == at) {
                    Files.move(d, away);
                    Files.createSymbolicLink(d, victim);
                } else if (step == back) {
                    swapBack();
                }
            } catch (IOException e) {
                throw new AssertionError(e);
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
        public long[] status(byte[] name) throws IOException {
            step();
            return super.status(name);
        }

        @Override
        public byte[] readLink(byte[] name) {
            byte[] text = super.readLink(name);
            // after the comparison, before the use
            step();
            return text;
        }

        @Override
        public long[] followed(byte[] name) {
            try {
                Map<String, Object> a = Files.readAttributes(super.path(name), "unix:uid");
                long[] status = new long[UID + 1];
                status[UID] = (Integer) a.get("uid");
                return status;
            } catch (IOException e) {
                return null;
            }
        }

        @Override
        public int hold(byte[] name, boolean directory) throws IOException {
            try {
                if (directory && !Files.isDirectory(super.path(name), LinkOption.NOFOLLOW_LINKS)) {
                    return -1;
                }
                FileChannel channel = FileChannel.open(super.path(name), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
                int fd = descriptor(channel);
                held.put(fd, channel);
                return fd;
            } catch (NoSuchFileException e) {
                return -1;
            }
        }

        @Override
        public int descriptor(FileChannel channel) {
            return ofChannel(channel);
        }

        @Override
        public int reopen(int fd) {
            return -1;
        }

        @Override
        public long[] status(int fd) {
            if (fd >= 1_000_000) {
                return super.status(fd);
            }
            try {
                return Work.FILES.status(name(super.path(Anchored.link(fd)).toRealPath()));
            } catch (IOException e) {
                return null;
            }
        }

        @Override
        public void setTimes(int fd, long accessedNs, long modifiedNs) throws IOException {
            Work.FILES.setTimes(name(super.path(Anchored.link(fd)).toRealPath()), accessedNs, modifiedNs);
        }

        @Override
        public void close(int fd) {
            FileChannel channel = held.remove(fd);
            if (channel == null) {
                super.close(fd);
                return;
            }
            try {
                channel.close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** As the JDK does not tell. */
    private static int ofChannel(FileChannel channel) {
        try {
            Class<?> type = Class.forName("sun.misc.Unsafe");
            Field the = type.getDeclaredField("theUnsafe");
            the.setAccessible(true);
            Object unsafe = the.get(null);
            Method offset = type.getMethod("objectFieldOffset", Field.class);
            Object descriptor = type.getMethod("getObject", Object.class, long.class)
                    .invoke(unsafe, channel, offset.invoke(unsafe, channel.getClass().getDeclaredField("fd")));
            return (Integer) type.getMethod("getInt", Object.class, long.class)
                    .invoke(unsafe, descriptor, offset.invoke(unsafe, java.io.FileDescriptor.class.getDeclaredField("fd")));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    private void swapBack() throws IOException {
        if (Files.isSymbolicLink(d)) {
            Files.delete(d);
            Files.move(away, d);
        }
    }

    private static void fill(Path directory, String text) throws IOException {
        Files.createDirectory(directory);
        for (String name : new String[] {"changed", "deleted", "mode", "a"}) {
            Files.writeString(directory.resolve(name), text + name);
        }
        Files.createLink(directory.resolve("b"), directory.resolve("a"));
        Files.writeString(Files.createDirectory(directory.resolve("sub")).resolve("below"), text);
        Files.createDirectory(directory.resolve("emptied"));
    }

    /**
     * A directory's own time is not put back once others have changed it; nor are mode and times where the bytes are as they were, once what is
     * there was taken for others' work.
     */
    private static Map<String, String> comparable(Map<String, String> tree, boolean bytesOnly) {
        Map<String, String> lines = new TreeMap<>(tree);
        lines.replaceAll((name, line) -> line.startsWith("4") ? bytesOnly ? "" : line.replaceAll(" [0-9]+$", "")
                : bytesOnly ? line.substring(line.indexOf('[')) : line);
        return lines;
    }

    /** @return whether the rollback was still under way at the step */
    private boolean rollBack(int at, int back) throws IOException {
        Path root = Files.createDirectory(temp.resolve("t" + ++made));
        home = Files.createDirectory(root.resolve(".klock"));
        Path tree = Files.createDirectory(root.resolve("tree"));
        d = tree.resolve("d");
        away = tree.resolve("elsewhere");
        victim = root.resolve("victim");
        fill(d, "original ");
        fill(victim, "theirs ");
        Files.writeString(victim.resolve("new"), "theirs");
        Map<String, String> before = TreeListing.of(d);
        Map<String, String> victims = TreeListing.of(victim);
        Swapped files = new Swapped();
        try (Backups backups = Backups.open(home, "s", files)) {
            Work work = new Work(backups);
            work.write(d.resolve("changed"), "ours");
            work.delete(d.resolve("deleted"));
            Path mode = d.resolve("mode");
            work.on(mode, () -> Files.setPosixFilePermissions(mode, PosixFilePermissions.fromString("rw-rw-rw-")));
            work.write(d.resolve("new"), "ours");
            work.append(d.resolve("a"), "ours");
            work.deleteTree(d.resolve("sub"));
            Path emptied = d.resolve("emptied");
            work.on(emptied, () -> Files.setPosixFilePermissions(emptied, PosixFilePermissions.fromString("rwxrwxrwx")));
            files.at = at;
            files.back = back;
            files.counts = true;
            RollbackReport first = backups.rollback();
            files.counts = false;
            assertThat(TreeListing.of(victim)).as("step %s to %s: %s", at, back, first).isEqualTo(victims);
            swapBack();
            backups.close();
            RollbackReport second;
            try (Backups again = Backups.open(home, "s", files)) {
                // what was under the link was taken for others' work
                second = again.rollback(new Undo(null, true, false, null));
            }
            assertThat(second.complete()).as("step %s to %s: %s%nthen %s", at, back, first, second).isTrue();
            assertThat(TreeListing.of(victim)).as("step %s to %s", at, back).isEqualTo(victims);
            boolean kept = first.count(RollbackReport.Outcome.KEPT_THEIRS) > 0;
            assertThat(comparable(TreeListing.of(d), kept)).as("step %s to %s: %s", at, back, first).isEqualTo(comparable(before, kept));
            assertThat(first.toString().concat(second.toString())).doesNotContain("/proc/self");
            try (Stream<Path> left = Files.walk(root)) {
                assertThat(left).noneMatch(p -> p.getFileName().toString().startsWith(".klock-restore"));
            }
        }
        assertThat(files.held).as("what is still open").isEmpty();
        return files.step >= at;
    }

    @Test
    void directory_thatIsALinkFromAnyStepOn_isNotFollowed() throws IOException {
        int n = 1;
        while (rollBack(n, Integer.MAX_VALUE)) {
            n++;
        }
        assertThat(n).isGreaterThan(100);
    }

    @Test
    void directory_thatIsALinkForAFewSteps_isNotFollowed() throws IOException {
        for (int length : new int[] {1, 2, 3, 7, 20}) {
            int n = 1;
            while (rollBack(n, n + length)) {
                n++;
            }
        }
    }
}
