package dev.klock.agent.backup;

import dev.klock.agent.backup.RollbackReport.Outcome;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One run of a rollback.
 *
 * <p>First everything is looked at and decided, then done in an order in which nothing stands in the way of anything else:
 * <ol>
 *   <li>decide, from the top down: unchanged, ours (still as the session left it), attributed (the session may have been changing it when it
 *       ended), or theirs (C32);
 *   <li>what the session made goes, from the leaves up; directories only if empty;
 *   <li>directories come back, from the top down, mode 0700;
 *   <li>files and links: written beside, verified, fsynced, renamed over; files with several names in place, so that they stay one file;
 *   <li>modes, owners and times of directories, from the leaves up; directories are fsynced;
 *   <li>outcomes are recorded.
 * </ol>
 * Every step may be interrupted by the end of the process: the next run decides anew and finds what is done already equal to its image.
 * What is half done would look like somebody else's work, therefore the decisions are noted before anything happens, and so is a file
 * that is about to be written in place.
 */
final class Rollback {
    /** Bits of a path in the journal of decisions. */
    static final int TIMES = 1;
    static final int DECIDED = 2;

    private static final int OURS = 1;
    private static final int ATTRIBUTED = 2;
    private static final int THEIRS = 3;

    private static final int NOTHING = 0;
    private static final int REMOVE = 1;
    private static final int REPLACE = 2;
    private static final int MAKE = 3;
    private static final int WRITE = 4;
    private static final int METADATA = 5;

    /** Largest content that is copied, not linked, before an attributed file gives way. */
    private static final long MAX_DISPLACED_COPY = 64L << 20;

    /** How often what changes again and again while it is to give way is looked at. */
    private static final int MAX_LOOKS = 3;

    /** Files looked through when the other name of a hard-linked one is searched. */
    private static final int MAX_STRANGERS = 2_000_000;

    /** Files that are made safe together; each holds a descriptor. */
    private static final int BATCH_FILES = 128;
    private static final long BATCH_BYTES = 64L << 20;
    private static final int HELPERS = 15;

    private static final class Plan {
        final Entry e;
        final int index;
        FileState now;
        int owner = OURS;
        int action = NOTHING;
        boolean times;
        Outcome outcome;
        String detail;
        Path aside;
        /** Written beside its place, not yet safe and not yet renamed. */
        Path temporary;
        FileChannel channel;
        IOException unsafe;
        /** How often what was written beside its place was gone again. */
        int vanished;

        Plan(Entry e, int index) {
            this.e = e;
            this.index = index;
        }

        void fail(Exception reason) {
            outcome = Outcome.FAILED;
            detail = reason(reason);
            action = NOTHING;
        }

        void note(String more) {
            detail = detail == null ? more : detail + "; " + more;
        }
    }

    /** What somebody else has made stands where the image, or a directory above it, has to go: trying again does not help. */
    private static final class Obstructed extends IOException {
        private static final long serialVersionUID = 1;

        Obstructed(String message) {
            super(message);
        }
    }

    private final Backups backups;
    private final HostFiles files;
    private final Identities known;
    private final boolean crashed;
    /** A rollback had been carried out before, whole. */
    private final boolean rolledBack;
    private final Undo undo;
    private final Name only;
    private final List<Plan> plans = new ArrayList<>();
    private final Map<Name, Plan> byName = new HashMap<>();
    private final Map<Long, Plan> openInodes = new HashMap<>();
    /** Directories in which the session was still changing something: what it made there is not in the times that it left. */
    private final Set<Name> openParents = new HashSet<>();
    private final Map<Long, Name> groups = new HashMap<>();
    /** Files found by inode, when the other name of a hard-linked one is looked for; null before. */
    private Map<Long, Name> strangers;
    private final List<Plan> batch = new ArrayList<>();
    private long batchBytes;
    private final Set<Name> changed = new TreeSet<>();
    private int verified;

    Rollback(Backups backups, boolean crashed, Undo undo) {
        this.undo = undo;
        this.only = undo.only() == null ? null : new Name(undo.only());
        this.backups = backups;
        this.files = backups.files;
        this.known = backups.known;
        this.crashed = crashed;
        this.rolledBack = backups.state() == Backups.State.ROLLED_BACK;
    }

    /** What earlier runs recorded. */
    RollbackReport report(boolean recorded) {
        List<RollbackReport.Entry> list = new ArrayList<>();
        for (Entry e : backups.sorted()) {
            if (e.outcome != null) {
                list.add(e.outcome);
            }
        }
        return new RollbackReport(list, 0, recorded);
    }

    RollbackReport run() {
        List<Entry> sorted = backups.sorted();
        for (int i = 0; i < sorted.size(); i++) {
            Entry e = sorted.get(i);
            boolean wanted = only == null || e.name.equals(only) || e.name.below(only) || e.role == Entry.IMPLIED && only.below(e.name);
            if (wanted && (e.role == Entry.TOUCHED || e.role == Entry.IMPLIED)) {
                Plan p = new Plan(e, i);
                plans.add(p);
                byName.put(e.name, p);
            }
        }
        gather();
        for (Plan p : plans) {
            decide(p);
        }
        if (undo.dry()) {
            return foretold();
        }
        noteDecisions();
        unlock();
        for (int i = plans.size() - 1; i >= 0; i--) {
            remove(plans.get(i));
        }
        for (Plan p : plans) {
            make(p);
        }
        int n = 0;
        for (Plan p : plans) {
            write(p, false);
            if (undo.progress() != null) {
                undo.progress().done(++n, plans.size());
            }
        }
        settle();
        for (Plan p : plans) {
            write(p, true);
        }
        settle();
        for (int i = plans.size() - 1; i >= 0; i--) {
            finishDirectory(plans.get(i));
        }
        return conclude();
    }

    // --- deciding

    private void gather() {
        for (Plan p : plans) {
            if (p.e.role == Entry.TOUCHED && (p.e.left == null || p.e.users > 0) && known.blocked(p.e.name) == null) {
                openParents.add(p.e.name.parent());
                try {
                    FileState s = FileState.look(files, p.e.name);
                    if (s.kind == FileState.FILE && s.nlink > 1) {
                        openInodes.put(s.ino, p);
                    }
                } catch (IOException unknown) {
                    // decide() meets it again and says so.
                    p.now = null;
                }
            }
        }
    }

    private void decide(Plan p) {
        Entry e = p.e;
        FileState image = e.image;
        try {
            Name wall = known.blocked(e.name);
            if (wall != null) {
                Plan w = byName.get(wall);
                boolean gives = w != null && w.e.role == Entry.TOUCHED && w.owner != THEIRS && w.outcome != Outcome.FAILED;
                if (!gives && e.role == Entry.TOUCHED && (files.mode(wall.bytes) & FileState.TYPE_BITS) == FileState.LINK_BITS) {
                    p.owner = THEIRS;
                    stop(p, wall(wall, " is a symbolic link now and is not followed"));
                    return;
                }
                p.now = FileState.absent();
            } else {
                p.now = FileState.look(files, e.name);
            }
        } catch (IOException unreadable) {
            if (e.role == Entry.TOUCHED) {
                p.fail(unreadable);
            }
            return;
        }
        FileState now = p.now;
        boolean over = e.outcome != null && e.outcome.outcome() != Outcome.FAILED;
        boolean kept = over && e.outcome.outcome() == Outcome.KEPT_THEIRS;
        boolean asImaged = over && isAsImaged(p);
        // what stood in the way may be gone; where nobody knows what the session left, what is there stays taken for somebody else's
        if (asImaged || kept && !undo.force() && e.left == null) {
            boolean again = rolledBack && asImaged && (!kept || e.earlier.length == 0);
            p.outcome = again ? Outcome.UNCHANGED : e.outcome.outcome();
            p.detail = again ? null : e.outcome.detail();
            p.aside = again ? null : e.outcome.aside();
            p.times = e.timesDue && !rolledBack && now.kind == FileState.DIRECTORY;
            return;
        }
        if (image.kind == FileState.DIRECTORY && now.kind == FileState.DIRECTORY) {
            p.times = e.timesDue || crashed || openParents.contains(e.name) || movedAbout(e) || now.mtime == image.mtime || now.mtime == e.ownMtime
                    || e.left != null && e.users == 0 && now.mtime == e.left.mtime;
        }
        if (e.role != Entry.TOUCHED) {
            return;
        }
        try {
            boolean same = sameContent(now, e);
            if (same && image.nlink > 1 && now.kind == FileState.FILE && now.sameInode(image)) {
                groups.put(image.ino, e.name);
            }
            // a mapped file gets a new inode even if it is as it was: a store that comes before the process has ended must not reach it
            boolean reachable = e.isMapped() && now.kind == FileState.FILE && now.nlink == 1;
            if (same && !reachable && sameMetadata(now, image) && sameAttributes(e)) {
                p.outcome = Outcome.UNCHANGED;
                return;
            }
            boolean later = over && !kept;
            p.owner = later ? THEIRS : owner(e, now);
            if (p.owner == THEIRS && !later && now.kind != FileState.ABSENT && known.movedHere(e.name, now)) {
                p.owner = OURS;
            }
            if (p.owner == THEIRS && undo.force()) {
                p.owner = ATTRIBUTED;
            }
            if (p.owner == THEIRS) {
                keepTheirs(p, "changed by someone else since: now " + now.describe() + ", was " + image.describe());
                p.times = false;
                return;
            }
            if (same && !reachable) {
                p.action = METADATA;
            } else if (image.kind == FileState.ABSENT) {
                p.action = REMOVE;
            } else if (image.kind == FileState.DIRECTORY) {
                p.action = now.kind == FileState.ABSENT ? MAKE : REPLACE;
            } else {
                p.action = now.kind == FileState.DIRECTORY ? REPLACE : WRITE;
            }
        } catch (IOException unreadable) {
            p.fail(unreadable);
        }
    }

    /** Whether what an earlier rollback put back still is as it was put back. Another time that somebody gave it is no change. */
    private boolean isAsImaged(Plan p) {
        Entry e = p.e;
        FileState now = p.now;
        try {
            boolean same = now.kind == FileState.FILE ? sameBytes(now, e) : sameContent(now, e);
            return same && (e.outcome.detail() != null || now.kind == FileState.ABSENT || now.sameOwnerAndMode(e.image));
        } catch (IOException unreadable) {
            return false;
        }
    }

    private boolean sameContent(FileState now, Entry e) throws IOException {
        FileState image = e.image;
        if (now.kind != image.kind) {
            return false;
        }
        switch (now.kind) {
            case FileState.FILE:
                // a name of another file, though of equal content, shares its times and all that is written to it
                return (image.nlink <= 1 && now.nlink <= 1 || now.sameInode(image)) && sameBytes(now, e);
            case FileState.LINK:
                return Arrays.equals(now.link, image.link);
            case FileState.CHARACTER_DEVICE:
            case FileState.BLOCK_DEVICE:
                return now.rdev == image.rdev;
            default:
                return true;
        }
    }

    private boolean sameBytes(FileState now, Entry e) throws IOException {
        FileState image = e.image;
        return now.kind == FileState.FILE && image.kind == FileState.FILE && now.size == image.size
                && (now.sameStat(image) && !image.racy() || Arrays.equals(Sha256.of(files.path(e.name.bytes)), image.sha));
    }

    private static boolean sameMetadata(FileState now, FileState image) {
        return now.kind == FileState.ABSENT || now.sameOwnerAndMode(image) && (now.kind == FileState.DIRECTORY || now.mtime == image.mtime);
    }

    private int owner(Entry e, FileState now) throws IOException {
        if (e.inPlace && now.kind == FileState.FILE && now.sameInode(e.image)) {
            return OURS;
        }
        if (e.decided && (now.kind == FileState.ABSENT || now.kind == FileState.DIRECTORY && e.image.kind == FileState.DIRECTORY
                || sameBytes(now, e) || sameContent(now, e) || known.isComingBack(e, now))) {
            return OURS;
        }
        FileState left = e.users > 0 ? null : left(e);
        if (left == null) {
            return e.prior != null && now.sameStat(e.prior) && !e.prior.racy() ? OURS : ATTRIBUTED;
        }
        if (now.kind != left.kind) {
            // what it left here was found to be gone, and has come back with its directory
            return now.kind != FileState.ABSENT && known.isAsLeft(now) ? OURS : THEIRS;
        }
        switch (now.kind) {
            case FileState.ABSENT:
                return OURS;
            case FileState.FILE:
                int owner = fileOwner(e, now, left);
                return owner == OURS && left.inferred ? ATTRIBUTED : owner;
            case FileState.LINK:
                return Arrays.equals(now.link, left.link) ? OURS : THEIRS;
            case FileState.DIRECTORY:
                return now.sameInode(left) && now.sameOwnerAndMode(left) ? OURS : THEIRS;
            default:
                return now.sameInode(left) ? OURS : THEIRS;
        }
    }

    private int fileOwner(Entry e, FileState now, FileState left) throws IOException {
        boolean sameStat = now.sameStat(left);
        if (sameStat && (!left.racy() || left.sha == null)) {
            return OURS;
        }
        if (left.sha != null && left.size == now.size && Arrays.equals(Sha256.of(files.path(e.name.bytes)), left.sha)) {
            return OURS;
        }
        if (sameStat) {
            return THEIRS;
        }
        FileState other = known.lastLeft(now.ino);
        if (other != null && other != left && now.couldBeMoved(other)
                && (other.sha == null || Arrays.equals(Sha256.of(files.path(e.name.bytes)), other.sha))) {
            return OURS;
        }
        boolean onlyInodeChanged = now.sameInode(left) && now.size == left.size && now.mtime == left.mtime && left.sha == null;
        return onlyInodeChanged || now.nlink > 1 && openInodes.containsKey(now.ino) || known.wasOpen(e, now) ? ATTRIBUTED : THEIRS;
    }

    /** What the session left at e: nothing, too, when it later removed or renamed a directory above. */
    private FileState left(Entry e) {
        for (Name up = e.name.parent(); up != null; up = up.parent()) {
            Entry a = known.get(up);
            if (a != null && a.users == 0 && a.left != null && a.left.kind == FileState.ABSENT && a.leftAt > e.leftAt) {
                return a.left;
            }
        }
        return e.left;
    }

    /** Whether the session renamed or removed this directory or one above it: then its times are not what anybody else made them. */
    private boolean movedAbout(Entry e) {
        boolean gone = e.gone;
        for (Name up = e.name.parent(); up != null && !gone; up = up.parent()) {
            Entry a = known.get(up);
            gone = a != null && a.gone && a.role == Entry.TOUCHED;
        }
        return gone;
    }

    /** What would be done. */
    private RollbackReport foretold() {
        List<RollbackReport.Entry> list = new ArrayList<>();
        for (Plan p : plans) {
            if (p.e.role == Entry.TOUCHED) {
                Outcome outcome = p.outcome != null ? p.outcome : p.action == REMOVE ? Outcome.REMOVED : p.action == NOTHING ? Outcome.UNCHANGED
                        : Outcome.RESTORED;
                list.add(new RollbackReport.Entry(p.e.name.bytes, outcome, p.detail, p.aside));
            }
        }
        return new RollbackReport(list, 0, false);
    }

    /** Makes the decisions durable: a path half put back must not look like somebody else's work to the next run. */
    private void noteDecisions() {
        int length = 0;
        for (Plan p : plans) {
            length += decisions(p) == 0 ? 0 : 5 + p.e.name.bytes.length;
        }
        ByteBuffer head = ByteBuffer.allocate(length);
        for (Plan p : plans) {
            int what = decisions(p);
            if (what != 0) {
                head.put((byte) what).putInt(p.e.name.bytes.length).put(p.e.name.bytes);
                p.e.timesDue |= p.times;
                p.e.decided |= p.action != NOTHING;
            }
        }
        try {
            backups.append(Backups.ROLLBACK, head);
            backups.sync();
        } catch (IOException full) {
            // On a full disk a rollback that is killed leaves what it had half done to the next one as unknown: kept, with the image aside.
            return;
        }
    }

    /** What to do when there is a wall between the path and the image's way back. */
    private IOException wall(Name wall, String what) {
        Plan w = byName.get(wall);
        return w != null && w.outcome == Outcome.FAILED ? new IOException(wall + what) : new Obstructed(wall + what);
    }

    private IOException wall(Name wall) {
        return wall(wall, " is not a directory any more and is not followed");
    }

    /** Ends what is done for a path: for good, with the image beside, or until the rollback is run again. */
    private void stop(Plan p, Exception reason) {
        if (reason instanceof Obstructed) {
            keepTheirs(p, "it cannot come back: " + reason.getMessage());
        } else {
            p.fail(reason);
        }
    }

    private static int decisions(Plan p) {
        return (p.times ? TIMES : 0) | (p.action != NOTHING ? DECIDED : 0);
    }

    /** The session may have made its own directories unwritable; to undo what is in them they must be writable until the end. */
    private void unlock() {
        for (Plan p : plans) {
            if (p.e.role == Entry.TOUCHED && p.now != null && p.now.kind == FileState.DIRECTORY && p.owner != THEIRS
                    && (p.action == METADATA || p.action == REMOVE || p.action == REPLACE) && (p.now.mode & 0700) != 0700
                    && known.blocked(p.e.name) == null) {
                try {
                    chmod(files.path(p.e.name.bytes), p.now.mode | 0700);
                } catch (IOException e) {
                    p.note("could not be made writable: " + reason(e));
                }
            }
        }
    }

    // --- doing

    private void remove(Plan p) {
        Entry e = p.e;
        if (e.role == Entry.IMPLIED && e.image.kind == FileState.ABSENT && p.now != null && p.now.kind == FileState.DIRECTORY) {
            removeImplied(p);
            return;
        }
        boolean replacedDirectory = p.now != null && p.now.kind == FileState.DIRECTORY && p.owner != THEIRS && p.outcome != Outcome.FAILED
                && e.role == Entry.TOUCHED && (e.image.kind != FileState.DIRECTORY || movedAbout(e) || !p.now.sameInode(e.image));
        if (p.action != REMOVE && p.action != REPLACE && !replacedDirectory) {
            return;
        }
        try {
            Name wall = known.blocked(e.name);
            if (wall != null) {
                if (p.action == REMOVE) {
                    throw wall(wall);
                }
                return;
            }
            if (replacedDirectory) {
                sweep(e.name);
            }
            if (p.action != REMOVE && p.action != REPLACE) {
                return;
            }
            Path path = files.path(e.name.bytes);
            if (p.now.kind != FileState.DIRECTORY) {
                if (!takeAway(p, path)) {
                    return;
                }
            } else {
                if (!isAsDecided(p) && files.mode(e.name.bytes) != 0) {
                    keepTheirs(p, "changed by someone else while it was put back");
                    return;
                }
                try {
                    Files.deleteIfExists(path);
                } catch (DirectoryNotEmptyException notOurs) {
                    keepTheirs(p, "the session's directory holds what the session did not make");
                    return;
                }
            }
            p.now = FileState.absent();
            changed.add(e.name.parent());
            if (p.action == REMOVE) {
                p.outcome = Outcome.REMOVED;
            } else {
                p.action = e.image.kind == FileState.DIRECTORY ? MAKE : WRITE;
            }
        } catch (NotDirectoryException theirs) {
            keepTheirs(p, "changed by someone else while it was put back");
        } catch (IOException failed) {
            stop(p, failed);
        }
    }

    private void removeImplied(Plan p) {
        boolean ours = false;
        for (Plan below : plans) {
            ours |= below.outcome == Outcome.REMOVED && below.e.name.below(p.e.name);
        }
        if (ours && known.blocked(p.e.name) == null) {
            try {
                Files.delete(files.path(p.e.name.bytes));
                p.outcome = Outcome.REMOVED;
                changed.add(p.e.name.parent());
            } catch (IOException stays) {
                p.detail = reason(stays);
            }
        }
    }

    /** Below a directory the session renamed to here: removes what came with it and will be, or is, back in its old place. */
    private void sweep(Name directory) throws IOException {
        List<Name> children = new ArrayList<>();
        try (DirectoryStream<Path> list = Files.newDirectoryStream(files.path(directory.bytes))) {
            for (Path child : list) {
                children.add(directory.child(files.name(child.getFileName())));
            }
        } catch (java.nio.file.DirectoryIteratorException e) {
            throw e.getCause();
        }
        for (Name child : children) {
            if (byName.containsKey(child) && byName.get(child).e.role == Entry.TOUCHED) {
                continue;
            }
            FileState now = FileState.look(files, child);
            Entry from = now.kind == FileState.ABSENT ? null : known.knownElsewhere(child, now);
            Plan origin = from == null ? null : byName.get(from.name);
            if (origin == null || origin.owner == THEIRS || origin.outcome == Outcome.FAILED
                    || origin.e.image.kind != FileState.ABSENT && !canComeBack(origin)) {
                continue;
            }
            Path path = files.path(child.bytes);
            if (now.kind == FileState.DIRECTORY) {
                if ((now.mode & 0700) != 0700) {
                    chmod(path, now.mode | 0700);
                }
                sweep(child);
                try {
                    Files.delete(path);
                } catch (DirectoryNotEmptyException notOurs) {
                    chmod(path, now.mode);
                }
            } else if (intact(from)) {
                Files.delete(path);
            }
            changed.add(directory);
        }
    }

    private boolean intact(Entry from) {
        if (from.contentAt < 0) {
            return from.image.kind != FileState.CHARACTER_DEVICE && from.image.kind != FileState.BLOCK_DEVICE;
        }
        try {
            backups.copy(from, OutputStream.nullOutputStream());
            return !from.damaged;
        } catch (IOException damaged) {
            return false;
        }
    }

    /**
     * Takes what is at the path away, into {@code displaced/}: what is surely the session's, too, since another process may have it open or
     * mapped, and what that writes must not be in a file without a name. It is moved whole and looked at there, so that what others put in
     * its place in the last moment is met and put back.
     *
     * @return whether nothing is there now; else it is somebody else's, and the plan says so
     */
    private boolean takeAway(Plan p, Path path) throws IOException {
        for (int attempt = 1; p.now.kind != FileState.ABSENT; attempt++) {
            if (p.owner == ATTRIBUTED && p.now.kind == FileState.FILE && p.now.nlink > 1) {
                keepCopy(p, path);
            }
            Path away = unused(backups.aside("displaced", p.index, p.e.name));
            try {
                Files.move(path, away, StandardCopyOption.ATOMIC_MOVE);
            } catch (NoSuchFileException gone) {
                p.now = FileState.absent();
                return true;
            } catch (AtomicMoveNotSupportedException elsewhere) {
                return removeInPlace(p, path);
            }
            FileState moved = FileState.look(files, new Name(files.name(away)));
            if (moved.couldBeMoved(p.now) || p.e.isMapped() && moved.kind == FileState.FILE && moved.sameInode(p.now)) {
                keep(p, moved, away);
                return true;
            }
            putBack(p, path, away);
            if (attempt == MAX_LOOKS || !isStillOurs(p)) {
                keepTheirs(p, "changed by someone else while it was put back");
                return false;
            }
        }
        return true;
    }

    /** What was moved away is not what was decided on. */
    private void putBack(Plan p, Path path, Path away) throws IOException {
        try {
            Files.createLink(path, away);
            Files.delete(away);
        } catch (FileAlreadyExistsException another) {
            p.note("another version of theirs is kept as " + away.getFileName());
        } catch (IOException | UnsupportedOperationException noLinks) {
            Files.move(away, path);
        }
    }

    /** What stays in {@code displaced/}: files, named in the report where they may be somebody else's after all. */
    private void keep(Plan p, FileState moved, Path away) throws IOException {
        if (moved.kind == FileState.FILE && moved.nlink == 1 && (moved.size > 0 || p.owner == OURS)) {
            if (p.owner == ATTRIBUTED) {
                p.aside = away;
                p.note(undo.force() ? "what was there is kept" : "the session was still changing it; what was there is kept");
            }
            return;
        }
        Files.delete(away);
        if (p.owner == ATTRIBUTED && moved.kind != FileState.FILE) {
            p.note("it gave way to the image: " + moved.describe());
        }
    }

    /** {@link #takeAway} where klock's own directory is on another file system. */
    private boolean removeInPlace(Plan p, Path path) throws IOException {
        if (!isAsDecided(p) && !isStillOurs(p)) {
            keepTheirs(p, "changed by someone else while it was put back");
            return false;
        }
        if (p.owner == ATTRIBUTED && p.now.kind == FileState.FILE && p.now.nlink == 1 && p.now.size > 0) {
            keepCopy(p, path);
        } else if (p.owner == ATTRIBUTED && p.now.kind != FileState.FILE) {
            p.note("it gave way to the image: " + p.now.describe());
        }
        Files.deleteIfExists(path);
        return true;
    }

    /** Puts a copy of an attributed file aside, for where it cannot be moved there, or is about to be written in place. */
    private void keepCopy(Plan p, Path path) throws IOException {
        if (p.now.size == 0) {
            return;
        }
        Path aside = backups.aside("displaced", p.index, p.e.name);
        if (Files.exists(aside, LinkOption.NOFOLLOW_LINKS)) {
            // by a run that was interrupted, which may have begun to write here since
            p.aside = aside;
            return;
        }
        if (p.now.size > MAX_DISPLACED_COPY && !undo.force()) {
            p.note("what was there was too large to be kept");
            return;
        }
        copy(path, aside);
        p.aside = aside;
        p.note(undo.force() ? "what was there is kept" : "the session was still changing it; what was there is kept");
    }

    private static Path unused(Path wanted) {
        Path free = wanted;
        for (int n = 2; Files.exists(free, LinkOption.NOFOLLOW_LINKS); n++) {
            free = wanted.resolveSibling(wanted.getFileName() + "." + n);
        }
        return free;
    }

    /** Whether nothing has happened at the path since it was decided on, apart from what this rollback does to other names of the file. */
    private boolean isAsDecided(Plan p) throws IOException {
        FileState now = FileState.look(files, p.e.name);
        return now.kind == FileState.ABSENT ? p.now.kind == FileState.ABSENT : now.couldBeMoved(p.now);
    }

    /** Decides again on what has changed since. */
    private boolean isStillOurs(Plan p) throws IOException {
        p.now = FileState.look(files, p.e.name);
        p.owner = p.now.kind == FileState.DIRECTORY && p.e.image.kind != FileState.DIRECTORY ? THEIRS : owner(p.e, p.now);
        return p.owner != THEIRS;
    }

    /** Gives what was written beside its place, and is safe, its name, where nothing is now; never in the place of anything. */
    private boolean putInPlace(Plan p, Path temporary, Path path) throws IOException {
        try {
            Files.createLink(path, temporary);
        } catch (FileAlreadyExistsException theirs) {
            Files.deleteIfExists(temporary);
            p.now = FileState.look(files, p.e.name);
            p.owner = THEIRS;
            keepTheirs(p, "others made it again while it was put back");
            return false;
        } catch (IOException | UnsupportedOperationException noLinks) {
            Files.move(temporary, path);
            return true;
        }
        Files.delete(temporary);
        return true;
    }

    private static void copy(Path from, Path aside) throws IOException {
        Files.deleteIfExists(aside);
        try (OutputStream out = Files.newOutputStream(aside, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                java.io.InputStream in = Files.newInputStream(from, LinkOption.NOFOLLOW_LINKS)) {
            in.transferTo(out);
        }
    }

    private void make(Plan p) {
        if (p.action != MAKE) {
            return;
        }
        try {
            Name wall = known.blocked(p.e.name);
            if (wall != null) {
                throw wall(wall);
            }
            makeDirectory(p.e.name);
            p.times = true;
        } catch (IOException failed) {
            stop(p, failed);
        }
    }

    private void makeDirectory(Name name) throws IOException {
        Name parent = name.parent();
        if (parent != null && files.mode(parent.bytes) == 0) {
            makeParent(parent);
        }
        Files.createDirectory(files.path(name.bytes), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        changed.add(parent);
    }

    /**
     * Makes a directory again because something has to come back into it: one that was there at the start, or one the session made and
     * somebody else put a file in, which the session then changed.
     */
    private void makeParent(Name name) throws IOException {
        Plan p = byName.get(name);
        if (p == null || p.e.role == Entry.IMPLIED && p.e.image.kind == FileState.ABSENT) {
            // it came here with a directory that the session renamed, and went back with it, but others had put a file in it here
            makeDirectory(name);
            chmod(files.path(name.bytes), files.mode(name.parent().bytes) & 07777 | 0700);
            return;
        }
        if (p.owner == THEIRS || p.e.image.kind != FileState.DIRECTORY && (p.e.image.kind != FileState.ABSENT || p.e.role != Entry.TOUCHED)) {
            throw new Obstructed("its directory " + name + " is gone");
        }
        makeDirectory(name);
        if (p.e.image.kind == FileState.DIRECTORY) {
            p.times = true;
            p.action = MAKE;
            return;
        }
        FileState made = p.e.left != null && p.e.left.kind == FileState.DIRECTORY ? p.e.left : p.e.prior;
        if (made != null && made.kind == FileState.DIRECTORY) {
            chmod(files.path(name.bytes), made.mode | 0700);
        }
        keepTheirs(p, "the session's directory holds what the session did not make");
    }

    /** Whether what was imaged here can come back: nothing but a directory, or nothing at all, was above it. */
    private boolean canComeBack(Plan origin) {
        for (Name up = origin.e.name.parent(); up != null; up = up.parent()) {
            Plan p = byName.get(up);
            if (p != null && (p.owner == THEIRS || p.e.image.kind != FileState.DIRECTORY && p.e.image.kind != FileState.ABSENT)) {
                return false;
            }
        }
        return true;
    }

    /** @param second the pass for names that have to join a file restored in the first */
    private void write(Plan p, boolean second) {
        if (p.action != WRITE && p.action != METADATA || p.e.image.kind == FileState.DIRECTORY || p.outcome != null || p.temporary != null) {
            return;
        }
        Entry e = p.e;
        FileState image = e.image;
        try {
            Name wall = known.blocked(e.name);
            if (wall != null) {
                throw wall(wall);
            }
            Path path = files.path(e.name.bytes);
            if (p.action == METADATA) {
                if (!isAsDecided(p) && !isStillOurs(p)) {
                    keepTheirs(p, "changed by someone else while it was put back");
                    return;
                }
                metadata(p, path, image, p.now);
                p.outcome = Outcome.RESTORED;
                return;
            }
            FileState now = FileState.look(files, e.name);
            boolean joins = image.kind == FileState.FILE && image.nlink > 1 && !now.sameInode(image);
            if (joins && !second) {
                return;
            }
            Name parent = e.name.parent();
            if (files.mode(parent.bytes) == 0) {
                makeParent(parent);
            }
            if (now.kind == FileState.DIRECTORY) {
                throw new Obstructed("there is a directory now");
            }
            if (e.damaged || image.kind == FileState.FILE && e.contentAt < 0) {
                throw new IOException("the image is damaged");
            }
            changed.add(parent);
            switch (image.kind) {
                case FileState.FILE:
                    if (now.kind == FileState.FILE && now.nlink > 1 && now.sameInode(image)) {
                        if (!isAsDecided(p) && !isStillOurs(p)) {
                            keepTheirs(p, "changed by someone else while it was put back");
                            return;
                        }
                        if (p.owner == ATTRIBUTED) {
                            keepCopy(p, path);
                        }
                        writeInPlace(p, path, now);
                        groups.put(image.ino, e.name);
                    } else if (!joins || !join(p, path)) {
                        writeBeside(p);
                        if (image.nlink > 1) {
                            settle();
                            groups.put(image.ino, e.name);
                            if (joins) {
                                p.note("it was one of " + image.nlink + " names of a file; no other name is known, so it is a file of its own now");
                            }
                        }
                        return;
                    }
                    break;
                case FileState.LINK:
                    writeLink(p, path);
                    break;
                default:
                    makeSpecial(p, path);
                    break;
            }
            p.outcome = p.outcome == null ? Outcome.RESTORED : p.outcome;
        } catch (IOException | RuntimeException failed) {
            if (hasVanished(p, failed)) {
                write(p, second);
            } else {
                stop(p, failed);
            }
        }
    }

    private Path beside(Plan p) {
        StringBuilder name = new StringBuilder(".klock-restore-");
        name.append(Integer.toHexString(backups.sessionId().hashCode())).append('-').append(p.index);
        return files.path(p.e.name.parent().child(name.toString().getBytes(StandardCharsets.US_ASCII)).bytes);
    }

    private void writeBeside(Plan p) throws IOException {
        p.temporary = beside(p);
        Files.deleteIfExists(p.temporary);
        try {
            p.channel = FileChannel.open(p.temporary, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            SparseOutput out = new SparseOutput(p.channel);
            backups.copy(p.e, out);
            out.finish();
            verify(p, p.temporary);
            metadata(p, p.temporary, p.e.image, null);
        } catch (IOException | RuntimeException e) {
            drop(p);
            throw e;
        }
        batch.add(p);
        batchBytes += p.e.image.size;
        if (batch.size() >= BATCH_FILES || batchBytes >= BATCH_BYTES) {
            settle();
        }
    }

    private static void drop(Plan p) throws IOException {
        if (p.channel != null) {
            p.channel.close();
        }
        Files.deleteIfExists(p.temporary);
    }

    /** Whether somebody else has taken away what was written beside its place, so that it has to be written once more. */
    private boolean hasVanished(Plan p, Exception failed) {
        boolean gone = failed instanceof NoSuchFileException && p.vanished < MAX_LOOKS
                && (files.mode(p.e.name.parent().bytes) & FileState.TYPE_BITS) == FileState.DIRECTORY_BITS && files.mode(files.name(beside(p))) == 0;
        if (gone) {
            p.vanished++;
            p.temporary = null;
            p.unsafe = null;
        }
        return gone;
    }

    /**
     * Makes the files written beside safe and renames them into their places. One fsync after the other costs a commit of the file system
     * each; several at once share one.
     */
    private void settle() {
        AtomicInteger next = new AtomicInteger();
        Runnable force = new Runnable() {
            @Override
            public void run() {
                for (int i = next.getAndIncrement(); i < batch.size(); i = next.getAndIncrement()) {
                    Plan p = batch.get(i);
                    try {
                        p.channel.force(true);
                        p.channel.close();
                    } catch (IOException failed) {
                        p.unsafe = failed;
                    }
                }
            }
        };
        Thread[] helpers = new Thread[Math.min(HELPERS, batch.size() / 4)];
        for (int i = 0; i < helpers.length; i++) {
            try {
                Thread helper = new Thread(null, force, "klock-rollback-" + i, 1 << 18, false);
                helper.setDaemon(true);
                helper.start();
                helpers[i] = helper;
            } catch (OutOfMemoryError noThread) {
                break;
            }
        }
        force.run();
        join(helpers);
        List<Plan> again = new ArrayList<>(0);
        for (Plan p : batch) {
            try {
                if (p.unsafe != null) {
                    throw p.unsafe;
                }
                Name wall = known.blocked(p.e.name);
                if (wall != null) {
                    throw wall(wall);
                }
                Path path = files.path(p.e.name.bytes);
                if (!takeAway(p, path)) {
                    drop(p);
                } else if (putInPlace(p, p.temporary, path)) {
                    p.outcome = Outcome.RESTORED;
                }
            } catch (IOException | RuntimeException failed) {
                if (hasVanished(p, failed)) {
                    again.add(p);
                    continue;
                }
                stop(p, failed);
                try {
                    drop(p);
                } catch (IOException stays) {
                    p.note(p.temporary + " stays");
                }
            }
        }
        batch.clear();
        batchBytes = 0;
        for (Plan p : again) {
            write(p, true);
        }
        if (!again.isEmpty()) {
            settle();
        }
    }

    private static void join(Thread[] helpers) {
        boolean interrupted = false;
        for (Thread helper : helpers) {
            while (helper != null && helper.isAlive()) {
                try {
                    helper.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void writeInPlace(Plan p, Path path, FileState now) throws IOException {
        backups.copy(p.e, OutputStream.nullOutputStream());
        try {
            backups.append(Backups.IN_PLACE, Backups.named(p.e.name.bytes, 0));
            backups.sync();
        } catch (IOException full) {
            p.note("could not be journalled: " + reason(full));
        }
        if ((now.mode & 0200) == 0) {
            chmod(path, now.mode | 0200);
        }
        try (FileChannel out = FileChannel.open(path, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS)) {
            backups.copy(p.e, Channels.newOutputStream(out));
            out.truncate(p.e.image.size);
            out.force(true);
        }
        verify(p, path);
        metadata(p, path, p.e.image, null);
    }

    /** Makes the name one more of a file that is back already. */
    private boolean join(Plan p, Path path) throws IOException {
        Name other = groups.get(p.e.image.ino);
        if (other == null) {
            other = otherName(p);
        }
        if (other == null || other.equals(p.e.name) || known.blocked(other) != null) {
            return false;
        }
        FileState state = FileState.look(files, other);
        if (state.kind != FileState.FILE || state.size != p.e.image.size) {
            return false;
        }
        Path temporary = beside(p);
        Files.deleteIfExists(temporary);
        Files.createLink(temporary, files.path(other.bytes));
        try {
            verify(p, temporary);
            if (takeAway(p, path)) {
                putInPlace(p, temporary, path);
            }
        } finally {
            Files.deleteIfExists(temporary);
        }
        return true;
    }

    /**
     * A name the session never touched under which the file lives on, found in the declared scopes and beside what was touched. What the
     * session wrote through the lost name is undone through this one; if anybody else changed the file since, it is left alone.
     */
    private Name otherName(Plan p) throws IOException {
        FileState image = p.e.image;
        if (strangers == null) {
            strangers = new HashMap<>();
            for (byte[] scope : backups.scopes()) {
                search(new Name(scope), true);
            }
            for (Plan q : plans) {
                if (q.e.image.kind == FileState.DIRECTORY) {
                    search(q.e.name, false);
                }
            }
        }
        Name other = strangers.get(image.ino);
        if (other == null || known.blocked(other) != null) {
            return null;
        }
        FileState now = FileState.look(files, other);
        if (!now.sameInode(image)) {
            return null;
        }
        Path path = files.path(other.bytes);
        if (now.size == image.size && Arrays.equals(Sha256.of(path), image.sha)) {
            metadata(p, path, image, now);
        } else if (known.leftAsIs(now) || p.e.inPlace) {
            writeInPlace(p, path, now);
        } else if (known.wasOpen(null, now) && now.size <= MAX_DISPLACED_COPY) {
            // a mapping or a descriptor went on changing it when the name it was opened by was gone
            p.aside = backups.aside("displaced", known.all().size() + p.index, other);
            copy(path, p.aside);
            p.note("the session was still changing it under a name that is gone; what was there is kept");
            writeInPlace(p, path, now);
        } else {
            return null;
        }
        groups.put(image.ino, other);
        return other;
    }

    private void search(Name directory, boolean deep) {
        if (strangers.size() > MAX_STRANGERS || known.blocked(directory) != null
                || (files.mode(directory.bytes) & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS) {
            return;
        }
        List<Name> below = new ArrayList<>();
        try (DirectoryStream<Path> list = Files.newDirectoryStream(files.path(directory.bytes))) {
            for (Path child : list) {
                Name name = directory.child(files.name(child.getFileName()));
                FileState state = FileState.look(files, name);
                if (state.kind == FileState.FILE && !byName.containsKey(name)) {
                    strangers.putIfAbsent(state.ino, name);
                } else if (state.kind == FileState.DIRECTORY && deep) {
                    below.add(name);
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException unreadable) {
            return;
        }
        for (Name name : below) {
            search(name, true);
        }
    }

    private void writeLink(Plan p, Path path) throws IOException {
        Path temporary = beside(p);
        Files.deleteIfExists(temporary);
        Files.createSymbolicLink(temporary, files.path(p.e.image.link));
        try {
            byte[] text = files.readLink(files.name(temporary));
            if (!Arrays.equals(text, p.e.image.link)) {
                throw new IOException("the link's text cannot be written exactly");
            }
            metadata(p, temporary, p.e.image, null);
            if (takeAway(p, path)) {
                putInPlace(p, temporary, path);
            }
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** FIFOs and sockets anybody can make; devices only who may. A socket comes back as a name that nobody listens on. */
    private void makeSpecial(Plan p, Path path) throws IOException {
        FileState image = p.e.image;
        Path temporary = beside(p);
        Files.deleteIfExists(temporary);
        try {
            files.makeSpecial(files.name(temporary), image.typeBits() | 0600, image.rdev);
        } catch (IOException e) {
            throw new IOException("it was " + image.describe() + ", which cannot be made again: " + reason(e), e);
        }
        try {
            metadata(p, temporary, image, null);
            if (takeAway(p, path)) {
                putInPlace(p, temporary, path);
            }
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    private void verify(Plan p, Path path) throws IOException {
        if (!Arrays.equals(Sha256.of(path), p.e.image.sha)) {
            throw new IOException("after writing, its SHA-256 is not the image's");
        }
        verified++;
    }

    private void finishDirectory(Plan p) {
        FileState image = p.e.image;
        if (image.kind != FileState.DIRECTORY || p.outcome == Outcome.FAILED || p.action != MAKE && p.action != METADATA && !p.times) {
            return;
        }
        try {
            if (known.blocked(p.e.name) != null) {
                return;
            }
            Path path = files.path(p.e.name.bytes);
            FileState now = FileState.look(files, p.e.name);
            if (now.kind != FileState.DIRECTORY) {
                return;
            }
            if (p.action == MAKE || p.action == METADATA) {
                owner(p, path, image, now);
                attributes(p, path, image);
                if (now.mode != image.mode) {
                    chmod(path, image.mode);
                }
                p.outcome = Outcome.RESTORED;
                changed.add(p.e.name);
            }
            if (p.times && now.mtime != image.mtime) {
                times(path, image);
            }
        } catch (IOException failed) {
            if (p.action == MAKE || p.action == METADATA) {
                p.fail(failed);
            }
        }
    }

    /** @param now null for a file just made with mode 0600 */
    private void metadata(Plan p, Path path, FileState image, FileState now) throws IOException {
        FileState before = now != null ? now : FileState.look(files, new Name(files.name(path)));
        boolean owned = owner(p, path, image, before);
        attributes(p, path, image);
        if (image.kind != FileState.LINK) {
            chmod(path, owned ? image.mode : image.mode & 01777);
        }
        times(path, image);
    }

    private boolean owner(Plan p, Path path, FileState image, FileState now) throws IOException {
        if (now.uid == image.uid && now.gid == image.gid) {
            return true;
        }
        try {
            Files.setAttribute(path, "unix:uid", image.uid, LinkOption.NOFOLLOW_LINKS);
            Files.setAttribute(path, "unix:gid", image.gid, LinkOption.NOFOLLOW_LINKS);
            return true;
        } catch (FileSystemException notPermitted) {
            p.note("owner " + image.uid + ":" + image.gid + " is not permitted to us");
            return false;
        }
    }

    private static void chmod(Path path, int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode);
    }

    private void times(Path path, FileState image) throws IOException {
        try {
            files.setTimes(files.name(path), image.atime, image.mtime);
        } catch (IOException | UnsupportedOperationException e) {
            if (image.kind != FileState.LINK) {
                throw e;
            }
        }
    }

    /** Extended attributes, ACLs and capabilities; after the owner, whose change drops capabilities, and before the mode, which may shut us out. */
    private void attributes(Plan p, Path path, FileState image) throws IOException {
        if (image.attributes == null) {
            return;
        }
        byte[] name = files.name(path);
        byte[][] now = files.attributes(name);
        if (now == null) {
            if (image.attributes.length > 0) {
                p.note("extended attributes could not be read, so they are not put back");
            }
            return;
        }
        for (int i = 0; i < now.length; i += 2) {
            if (valueOf(image.attributes, now[i]) == null) {
                setAttribute(p, name, now[i], null);
            }
        }
        for (int i = 0; i < image.attributes.length; i += 2) {
            byte[] present = valueOf(now, image.attributes[i]);
            if (present == null || !Arrays.equals(present, image.attributes[i + 1])) {
                setAttribute(p, name, image.attributes[i], image.attributes[i + 1]);
            }
        }
    }

    private void setAttribute(Plan p, byte[] name, byte[] attribute, byte[] value) {
        try {
            files.setAttribute(name, attribute, value);
        } catch (IOException notPermitted) {
            p.note("attribute " + Name.show(attribute) + ": " + reason(notPermitted));
        }
    }

    private static byte[] valueOf(byte[][] attributes, byte[] name) {
        for (int i = 0; i < attributes.length; i += 2) {
            if (Arrays.equals(attributes[i], name)) {
                return attributes[i + 1];
            }
        }
        return null;
    }

    private boolean sameAttributes(Entry e) throws IOException {
        byte[][] was = e.image.attributes;
        if (was == null) {
            return true;
        }
        byte[][] now = files.attributes(e.name.bytes);
        return now == null || Arrays.deepEquals(was, now);
    }

    private void keepTheirs(Plan p, String why) {
        p.outcome = Outcome.KEPT_THEIRS;
        p.action = NOTHING;
        p.note(why);
        if (p.e.image.kind != FileState.FILE || undo.dry()) {
            return;
        }
        p.aside = putAside(p, p.e.image, p.e.contentAt, "");
    }

    /** Answers where it now is; null if it could not be put there. */
    private Path putAside(Plan p, FileState image, long contentAt, String suffix) {
        if (contentAt < 0) {
            p.note("our image is damaged");
            return null;
        }
        try {
            Path aside = backups.aside("aside", p.index, p.e.name);
            aside = aside.resolveSibling(aside.getFileName() + suffix);
            Files.deleteIfExists(aside);
            try (FileChannel out = FileChannel.open(aside, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
                backups.copy(image, contentAt, Channels.newOutputStream(out));
                out.force(true);
            }
            return aside;
        } catch (IOException failed) {
            p.note("our image could not be put beside it: " + reason(failed));
            return null;
        }
    }

    /**
     * Somebody else's change between two of the session's is what came back; what was there at first goes aside, and so does every version
     * of others that the session has changed since, for it may be nowhere else.
     */
    private void betweenTwo(Plan p) {
        Entry e = p.e;
        if (e.earlier.length == 0 || p.outcome == null || p.outcome == Outcome.FAILED) {
            return;
        }
        boolean kept = p.outcome == Outcome.KEPT_THEIRS;
        if (!kept) {
            p.outcome = Outcome.KEPT_THEIRS;
            p.note("changed by someone else between two changes of the session: their version is in place");
        }
        if (undo.dry()) {
            return;
        }
        int others = 0;
        for (int i = 0; i < e.earlier.length; i++) {
            Entry.Earlier was = e.earlier[i];
            if (was.contentAt >= 0) {
                Path aside = putAside(p, was.image, was.contentAt, i == 0 && !kept ? "" : ".v" + (i + 1));
                p.aside = i == 0 && !kept || p.aside == null ? aside : p.aside;
                others += i == 0 ? 0 : 1;
            } else if (i > 0 && was.image.kind == FileState.LINK) {
                p.note("before that others had put " + was.image.describe() + " there");
            }
        }
        if (others > 0) {
            p.note("earlier versions of others are beside ours, as .v2 and so on");
        }
    }

    /** A file of several names stays the inode that it was, so a store that comes before the process has ended still reaches it. */
    private void stillMapped(Plan p) {
        boolean back = p.outcome == Outcome.RESTORED || p.outcome == Outcome.UNCHANGED;
        if (p.e.isMapped() && p.e.image.kind == FileState.FILE && p.e.image.nlink > 1 && back) {
            p.outcome = Outcome.FAILED;
            p.note("put back, but it has " + p.e.image.nlink + " names and the program still maps it: what it stores there until its process"
                    + " has ended is undone by the next start, or by: java -jar klock.jar undo");
        }
    }

    // --- the end

    private RollbackReport conclude() {
        boolean recorded = true;
        for (Plan p : plans) {
            betweenTwo(p);
            stillMapped(p);
        }
        if (backups.begun) {
            removeLeftovers();
        }
        backups.begun = true;
        for (Name directory : changed) {
            if ((files.mode(directory.bytes) & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS || known.blocked(directory) != null) {
                continue;
            }
            try {
                Pack.syncDirectory(files.path(directory.bytes));
            } catch (java.nio.file.AccessDeniedException unreadable) {
                // A directory that may be written but not read cannot be opened for fsync; the file system's own commit has to do.
                continue;
            } catch (IOException failed) {
                recorded = false;
            }
        }
        List<RollbackReport.Entry> list = new ArrayList<>();
        boolean failures = false;
        try {
            for (Plan p : plans) {
                if (p.outcome == null) {
                    if (p.e.role != Entry.TOUCHED) {
                        continue;
                    }
                    p.outcome = Outcome.FAILED;
                    p.detail = "nothing was decided";
                }
                failures |= p.outcome == Outcome.FAILED;
                RollbackReport.Entry result = new RollbackReport.Entry(p.e.name.bytes, p.outcome, p.detail, p.aside);
                list.add(result);
                if (recorded) {
                    record(p.e, result);
                }
            }
            if (recorded && !failures && undo.whole()) {
                backups.append(Backups.END, new byte[] {(byte) Backups.State.ROLLED_BACK.ordinal()});
            }
            backups.sync();
        } catch (IOException full) {
            recorded = false;
            list.clear();
            for (Plan p : plans) {
                if (p.outcome != null) {
                    list.add(new RollbackReport.Entry(p.e.name.bytes, p.outcome, p.detail, p.aside));
                }
            }
        }
        return new RollbackReport(list, verified, recorded);
    }

    /** What an earlier run had written beside its place when it was killed; its names are ours alone. */
    private void removeLeftovers() {
        for (Plan p : plans) {
            int kind = p.e.image.kind;
            if (p.e.role == Entry.TOUCHED && kind != FileState.ABSENT && kind != FileState.DIRECTORY && known.blocked(p.e.name) == null) {
                try {
                    Path leftover = beside(p);
                    if (files.mode(files.name(leftover)) != 0) {
                        Files.delete(leftover);
                        changed.add(p.e.name.parent());
                    }
                } catch (IOException stays) {
                    p.note("a file of an interrupted rollback stays beside it");
                }
            }
        }
        try (DirectoryStream<Path> displaced = Files.newDirectoryStream(backups.directory.resolve("displaced"))) {
            for (Path away : displaced) {
                // moved there, and about to be deleted since the file has other names: it would be one name too many
                if (FileState.look(files, new Name(files.name(away))).nlink > 1) {
                    Files.delete(away);
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException none) {
            return;
        }
    }

    private void record(Entry e, RollbackReport.Entry result) throws IOException {
        RollbackReport.Entry known = e.outcome;
        if (known != null && (known.outcome() == result.outcome() || result.outcome() == Outcome.UNCHANGED)) {
            return;
        }
        byte[] detail = result.detail() == null ? new byte[0] : result.detail().getBytes(StandardCharsets.UTF_8);
        byte[] aside = result.aside() == null ? new byte[0] : backups.directory.relativize(result.aside()).toString().getBytes(StandardCharsets.UTF_8);
        ByteBuffer head = Backups.named(e.name.bytes, 9 + detail.length + aside.length);
        head.put((byte) result.outcome().ordinal()).putInt(detail.length).put(detail).putInt(aside.length).put(aside);
        backups.append(Backups.OUTCOME, head);
        e.outcome = result;
    }

    private static String reason(Exception e) {
        if (e instanceof FileSystemException && ((FileSystemException) e).getReason() != null) {
            return ((FileSystemException) e).getReason();
        }
        String name = e.getClass().getSimpleName();
        return e.getMessage() == null ? name : e instanceof FileSystemException ? name + ": " + e.getMessage() : e.getMessage();
    }
}
