package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.File;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What children change, out of sight (K6-7): where they may is imaged before they start; from then on until they have been looked after, what
 * comes into being there is the session's, whoever changes it first, and what the session had left there is theirs to change, too. When they
 * are over, what is there is compared with what was. The entries' monitors guard what is noted; locks as in {@link Backups}.
 */
final class ChildWork {
    /** What a child made within this time after a crashed session was last seen alive counts as made before. */
    private static final long CHILD_LATER_NS = 1_000_000_000L;

    private final Backups backups;
    private final HostFiles files;
    private final Identities known;
    /** st_dev of klock's home; 0 before it is asked for. */
    private long homeDev;
    /** Children were at work when the session crashed. */
    private boolean crashedAtWork;

    ChildWork(Backups backups) {
        this.backups = backups;
        this.files = backups.files;
        this.known = backups.known;
    }

    /**
     * {@link Backups#imageTree(byte[], int, long)} before an opaque child starts that may change everything at and below {@code path} (K6-7); to be
     * followed by {@link #left}. What comes into being there until then is the session's: the child has made it.
     */
    void openTree(byte[] path, int maxFiles, long maxBytes) throws IOException {
        backups.imageTree(path, maxFiles, maxBytes);
        try {
            openBelow(path, Integer.MAX_VALUE);
        } catch (IOException | RuntimeException failed) {
            backups.left(path);
            throw failed;
        }
    }

    /**
     * {@link #openTree} for what is directly in the directory {@code path}: to be followed by {@link #left} with depth 1, and by a
     * {@link Backups#left(byte[])} of each that is answered.
     */
    List<byte[]> openChildren(byte[] path) throws IOException {
        backups.image(path);
        List<byte[]> below = new ArrayList<>();
        try {
            File[] entries = files.path(path).toFile().listFiles();
            for (int i = 0; entries != null && i < entries.length; i++) {
                byte[] name = files.name(entries[i].toPath());
                backups.imageForChild(name);
                below.add(name);
            }
            openBelow(path, 1);
            return below;
        } catch (IOException | RuntimeException failed) {
            for (int i = 0; i < below.size(); i++) {
                backups.left(below.get(i));
            }
            backups.left(path);
            throw failed;
        }
    }

    /** What the session had left there and is gone may come back by the child's hand. */
    private void openBelow(byte[] path, int depth) throws IOException {
        Name root = Name.of(path);
        if (root == null) {
            return;
        }
        for (Entry e : known.all()) {
            if (e.role == Entry.TOUCHED && isWithin(e.name, root, depth)) {
                synchronized (e) {
                    backups.see(e);
                    if (e.left != null && e.users == 0) {
                        backups.append(Backups.TOUCH, Backups.named(e.name.bytes, 0));
                        backups.open(e);
                    }
                }
            }
        }
        Entry e = known.entry(root);
        synchronized (e) {
            e.openDepth = Math.max(e.openDepth, depth);
            e.childWorked = true;
            backups.append(Backups.OPEN, Backups.named(e.name.bytes, Integer.BYTES).putInt(e.openDepth));
        }
    }

    /** Whether a child is at work that may make what it likes there. */
    boolean isOpen(Name name) {
        int depth = 1;
        for (Name up = name.parent(); up != null; up = up.parent()) {
            Entry e = known.get(up);
            if (e != null && e.openDepth >= depth) {
                return true;
            }
            depth++;
        }
        return false;
    }

    private static boolean isWithin(Name name, Name root, int depth) {
        return name.below(root) && (depth > 1 || root.equals(name.parent()));
    }

    /** No child is at work there any more. Holds e. */
    void closed(Entry e) {
        if (e.openDepth > 0) {
            e.openDepth = 0;
            noteDepth(e);
        }
    }

    /**
     * A child is over that could change {@code path} and what is below it down to {@code depth}: 0 for the path alone, 1 for it and what is
     * directly below. Notes what it left; what was not there then counts as created by the session.
     *
     * @param until as for {@link Backups#leftTree(byte[], int, long)}
     * @return how what is there differs from what was there before the child, apart from what the program itself was changing; empty while
     *         another child is still at work on the same path
     */
    List<Backups.Change> left(byte[] path, int depth, long until) {
        List<Backups.Change> changes = new ArrayList<>();
        Name root = Name.of(path);
        Entry top = root == null ? null : known.get(root);
        if (top == null || top.role != Entry.TOUCHED) {
            return changes;
        }
        synchronized (top) {
            if (top.users > 1) {
                top.users--;
                return changes;
            }
        }
        boolean isShut = false;
        try {
            isShut = depth > 0 && !adopt(root, depth, until, changes);
        } catch (IOException e) {
            // What cannot be listed stays unknown to the rollback, which then keeps it and says so.
            backups.flushAll();
        }
        Map<Name, Boolean> ways = new HashMap<>();
        for (Entry e : known.all()) {
            if (e.role == Entry.TOUCHED && (e == top || depth > 0 && isWithin(e.name, root, depth))) {
                boolean blocked = known.isBlocked(e.name, ways);
                synchronized (e) {
                    compare(e, blocked, e == top || depth == 1 ? 1 : 0, until, changes);
                    if (e != top && depth == 1 && e.users == 0 && e.left == null) {
                        backups.noteIf(e, blocked, true);
                    }
                }
            }
        }
        backups.left(path);
        if (isShut) {
            shut(root, depth);
        }
        backups.flushNotes();
        return changes;
    }

    /** Whether it is known that {@code now} changed after {@code until}: a directory changes with what is put into it. */
    private boolean isLater(FileState now, long until) throws IOException {
        if (until == Long.MAX_VALUE || now.kind == FileState.ABSENT || now.kind == FileState.DIRECTORY || now.ctime <= until) {
            return false;
        }
        if (homeDev == 0) {
            long[] home = files.status(files.name(backups.directory));
            homeDev = home == null ? 0 : home[HostFiles.DEV];
        }
        return now.dev == homeDev;
    }

    /** Holds e. @param blocked see {@link Identities#isBlocked} @param users changes of e that are the child's */
    private void compare(Entry e, boolean blocked, int users, long until, List<Backups.Change> changes) {
        backups.see(e);
        if (e.users > users) {
            return;
        }
        // what the program left while the child was at work may have been changed by the child since
        FileState before = e.left == null ? e.lastKnown() : e.left;
        try {
            FileState now = blocked ? FileState.absent() : backups.look(e.name);
            if (now.kind == FileState.ABSENT ? before.kind != FileState.ABSENT : !now.sameStat(before)) {
                if (isLater(now, until)) {
                    // what the child has made of it before, if it did, is gone: the rollback keeps what is there and says so
                    e.left(before, backups.next());
                    e.othersNow = e.users > 0;
                    backups.writeLeft(e, true);
                    return;
                }
                boolean directoryOnly = now.kind == FileState.DIRECTORY && now.sameInode(before) && now.sameOwnerAndMode(before);
                if (!directoryOnly) {
                    e.byChild();
                    changes.add(new Backups.Change(e.name.bytes, before.kind != FileState.ABSENT, now.kind != FileState.ABSENT));
                }
                if (e.left != null) {
                    backups.openAgain(e);
                }
            } else if (e.left == null && e.users == 0) {
                // not as it is when all have been compared: others may come in between
                backups.left(e, before.sha != null && !before.racy() ? now.withSha(before.sha) : now, backups.next());
                backups.writeLeft(e, true);
            }
        } catch (IOException unknown) {
            e.byChild();
            changes.add(new Backups.Change(e.name.bytes, before.kind != FileState.ABSENT, true));
        }
    }

    /**
     * What has come into being in {@code directory} is the child's. One below it that the child has left so that nobody can look into it is
     * looked into by the rollback, which may open it.
     *
     * @return false if that is so of {@code directory}
     */
    private boolean adopt(Name directory, int depth, long until, List<Backups.Change> changes) throws IOException {
        if ((files.mode(directory.bytes) & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS) {
            return true;
        }
        List<Name> children;
        try {
            children = backups.list(directory);
            for (Name c : children) {
                if (!c.equals(backups.home)) {
                    adopt(known.entry(c), until, changes);
                }
            }
        } catch (AccessDeniedException shut) {
            return false;
        }
        for (Name c : children) {
            if (depth > 1 && !c.equals(backups.home) && !adopt(c, depth - 1, until, changes)) {
                shut(c, depth - 1);
            }
        }
        return true;
    }

    private void shut(Name directory, int depth) {
        Entry e = known.entry(directory);
        synchronized (e) {
            e.openDepth = depth;
            noteDepth(e);
        }
    }

    /** Holds e. */
    private void noteDepth(Entry e) {
        try {
            backups.append(Backups.OPEN, Backups.named(e.name.bytes, Integer.BYTES).putInt(e.openDepth));
        } catch (IOException unwritten) {
            // after a crash what others make there may be taken for a child's, or what a child has shut stays unseen
            return;
        }
    }

    private void adopt(Entry e, long until, List<Backups.Change> changes) throws IOException {
        synchronized (e) {
            FileState now = e.role == Entry.TOUCHED ? null : backups.look(e.name);
            if (now != null && !backups.isStream(now)) {
                e.byChild();
                backups.record(e, Entry.TOUCHED, FileState.absent(), -1, true);
                if (isLater(now, until)) {
                    e.isChilds = false;
                    e.left(FileState.absent(), backups.next());
                    backups.writeLeft(e, true);
                    return;
                }
                backups.note(e, -1, true);
                changes.add(new Backups.Change(e.name.bytes, false, true));
            }
        }
    }

    /** No child is at work any more; what one has left shut is opened, for the rollback to see what is in it. */
    void lookIntoWhatIsShut() {
        boolean opened = true;
        while (opened) {
            opened = false;
            for (Entry e : backups.sorted()) {
                if (e.openDepth == 0) {
                    continue;
                }
                int depth = e.openDepth;
                try {
                    FileState now = known.blocked(e.name) == null ? backups.look(e.name) : FileState.absent();
                    if (now.kind == FileState.DIRECTORY && (now.mode & 0700) != 0700) {
                        open(e.name, now);
                        opened = true;
                    }
                    synchronized (e) {
                        closed(e);
                    }
                    adopt(e.name, depth, Long.MAX_VALUE, new ArrayList<>());
                } catch (IOException stays) {
                    // the rollback meets it again, and says so
                    continue;
                }
            }
        }
    }

    /**
     * Children may be at work: says when this session was last seen alive, since what they make is in no journal before they are over. To be
     * called several times a second. Never throws.
     *
     * @return the time of that, in nanoseconds since the epoch, by the clock of the file system that klock's home is on;
     *         {@link Long#MAX_VALUE} if it is not known
     */
    long alive() {
        try {
            Pack pack = backups.packOrNull();
            return pack == null ? Long.MAX_VALUE : pack.touch(System.currentTimeMillis());
        } catch (IOException gone) {
            // after a crash less is known of what children made
            return Long.MAX_VALUE;
        }
    }

    /** When the session last wrote its journal, or said that it was {@link #alive}; read before anything is repaired. */
    static long lastAliveNs(Path directory) throws IOException {
        Path pack = directory.resolve("pack");
        return Files.exists(pack) ? Files.getLastModifiedTime(pack, LinkOption.NOFOLLOW_LINKS).to(TimeUnit.NANOSECONDS) : 0;
    }

    /**
     * After a crash while children were at work: what has come into being, or changed, where they could make what they like is theirs, and so
     * the session's, if that was before the session was last seen alive or shortly after; what came later is somebody else's and stays.
     */
    void afterCrash(long lastAliveNs) {
        for (Entry root : backups.sorted()) {
            crashedAtWork |= root.openDepth > 0;
            if (root.openDepth > 0 && known.blocked(root.name) == null) {
                try {
                    afterCrash(root, lastAliveNs + CHILD_LATER_NS);
                } catch (IOException unseen) {
                    backups.damage = "what a child made in " + root.name + " could not be looked at: " + Plan.reason(unseen);
                }
            }
        }
    }

    private void afterCrash(Entry root, long until) throws IOException {
        unlock(root.name, root.openDepth, until);
        for (Entry e : known.all()) {
            if (e.role == Entry.TOUCHED && !e.interrupted && isWithin(e.name, root.name, root.openDepth)) {
                FileState now = known.blocked(e.name) == null ? FileState.look(files, e.name) : FileState.absent();
                FileState was = e.left == null ? e.lastKnown() : e.left;
                if (now.ctime > until && e.left == null && !now.sameStat(was)) {
                    e.left(was, backups.next());
                    backups.writeLeft(e, false);
                } else if (now.ctime <= until && e.left != null && !now.sameStat(was)) {
                    if (now.kind != FileState.ABSENT || e.left.kind != FileState.ABSENT) {
                        // for whoever finishes the rollback, if this one is ended, too
                        backups.append(Backups.TOUCH, Backups.named(e.name.bytes, 0));
                    }
                    e.open();
                }
            }
        }
        List<Name> made = new ArrayList<>();
        unknownIn(root.name, root.openDepth, made);
        for (Name name : made) {
            Entry e = known.entry(name);
            FileState now = FileState.look(files, name);
            e.byChild();
            backups.record(e, Entry.TOUCHED, FileState.absent(), -1);
            if (now.ctime > until) {
                e.left(FileState.absent(), backups.next());
                backups.writeLeft(e, false);
            }
        }
    }

    /** Directories that a child had shut by then are opened, to see what is in them; the rollback gives them their modes. */
    private void unlock(Name directory, int depth, long until) throws IOException {
        FileState now = FileState.look(files, directory);
        if (now.kind != FileState.DIRECTORY) {
            return;
        }
        if ((now.mode & 0700) != 0700 && now.ctime <= until) {
            open(directory, now);
        }
        for (Name c : backups.list(directory)) {
            if (depth > 1 && !c.equals(backups.home)) {
                unlock(c, depth - 1, until);
            }
        }
    }

    private void open(Name directory, FileState now) throws IOException {
        try (Anchored anchored = new Anchored(files)) {
            anchored.chmod(directory.bytes, now, now.mode | 0700);
        }
    }

    /** What nothing is known of in {@code directory}, the topmost first. */
    private void unknownIn(Name directory, int depth, List<Name> found) throws IOException {
        if ((files.mode(directory.bytes) & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS) {
            return;
        }
        for (Name c : backups.list(directory)) {
            if (!c.equals(backups.home)) {
                Entry e = known.get(c);
                if (e == null || e.role != Entry.TOUCHED) {
                    found.add(c);
                }
                if (depth > 1) {
                    unknownIn(c, depth - 1, found);
                }
            }
        }
    }

    /** Whether children were at work when the session crashed. */
    boolean wereAtWork() {
        return crashedAtWork;
    }
}
