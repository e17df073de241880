package dev.klock.agent.backup;

import dev.klock.agent.backup.RollbackReport.Outcome;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
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
 *   <li>files and links: written beside, verified, fsynced, renamed over; in place files with several names, so that they stay one, and
 *       those that nothing can be renamed over;
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
    /** What was here and was moved with its directory is not where that is now. */
    static final int GONE = 4;
    /** It is, but not as it was moved. */
    static final int CHANGED = 8;

    /** Files looked through when the other name of a hard-linked one is searched. */
    private static final int MAX_STRANGERS = 2_000_000;

    /** Files that are made safe together; each holds a descriptor. */
    private static final int BATCH_FILES = 128;
    private static final long BATCH_BYTES = 64L << 20;
    private static final int HELPERS = 15;
    /** How all names begin under which files are written beside their places. */
    static final String BESIDE = ".klock-restore-";
    private static final String LEASES_LOST = "the session lost its leases while it was rolled back, and others may have worked on it since";
    private static final byte[] DEFAULT_ACL = "system.posix_acl_default".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] BACKUPS = "backups".getBytes(StandardCharsets.US_ASCII);

    private final Backups backups;
    private final Anchored files;
    private final Identities known;
    private final Undo undo;
    private final Metadata metadata;
    private final boolean crashed;
    private final Aside aside;
    private final Decisions decisions;
    private final Displaced displaced;
    private final Remade remade;
    /** How the names begin under which this session's rollback writes beside a place: they are nobody else's. */
    private final String besidePrefix;
    private final List<Plan> plans = new ArrayList<>();
    private final Map<Name, Plan> byName = new HashMap<>();
    private final Map<Long, Name> groups = new HashMap<>();
    /** What is no directory, by inode, when the other name of a hard-linked file is looked for; null before. */
    private Map<Long, Name> strangers;
    /** How many names of each were met when {@link #strangers} were looked for, by inode. */
    private final Map<Long, Integer> strangerNames = new HashMap<>();
    /** What was moved and stays where it is, as its image could not be read, and why. */
    private final Map<Name, IOException> unread = new TreeMap<>();
    /** Why a file of several names could not be written in place, as far as that was done, by inode: under none of them it is somebody else's work. */
    private final Map<Long, String> unwritten = new HashMap<>();
    /** Files of several names that came back as another file. */
    private final List<Plan> apart = new ArrayList<>();
    /** What a directory was before this rollback took the first thing out of it. */
    private final Map<Name, FileState> emptied = new HashMap<>();
    /** How many names of a file the session can still be told by, by inode. */
    private NamesFound namesFound;
    private final List<Plan> batch = new ArrayList<>();
    private long batchBytes;
    private final Set<Name> changed = new TreeSet<>();
    private boolean stopped;

    Rollback(Backups backups, boolean crashed, Undo undo) {
        this.undo = undo;
        this.backups = backups;
        this.files = new Anchored(backups.files, backups.directory,
                backups.home.child(BACKUPS).child(backups.files.name(backups.directory.getFileName())));
        this.known = backups.known.by(files);
        besidePrefix = BESIDE.concat(Integer.toHexString(backups.sessionId().hashCode())).concat("-");
        metadata = new Metadata(files);
        this.crashed = crashed;
        aside = new Aside(backups, files, undo);
        decisions = new Decisions(backups, files, known, crashed, undo, metadata, aside, byName, groups);
        displaced = new Displaced(backups, files, decisions, aside, undo);
        remade = new Remade(files, known, metadata, byName);
    }

    /** What earlier runs recorded. */
    RollbackReport report(boolean recorded) {
        List<RollbackReport.Entry> list = new ArrayList<>();
        for (Entry e : backups.sorted()) {
            if (e.outcome != null) {
                list.add(e.outcome);
            }
        }
        return new RollbackReport(list, 0, recorded, backups.damage);
    }

    RollbackReport run() {
        try {
            return rollBack();
        } catch (Stopped leasesLost) {
            stopped = true;
            return concludeStopped();
        } finally {
            files.close();
        }
    }

    /** Whether it was given up in its middle: see {@link Undo.Progress#goesOn}. */
    boolean wasStopped() {
        return stopped;
    }

    /** See {@link Undo.Progress#goesOn}. No exception, which would be one path's. */
    private static final class Stopped extends Error {
        private static final long serialVersionUID = 1;

        Stopped() {
            super(null, null, false, false);
        }
    }

    private void step() {
        files.rest();
        requireGoingOn();
    }

    private void requireGoingOn() {
        if (!undo.goesOn()) {
            throw new Stopped();
        }
    }

    /** Whether that was for whoever asked for it to have no more of it. */
    boolean wasInterrupted() {
        return stopped && undo.isInterrupted();
    }

    /** What is back is back, and on record; all else stays as it is. */
    private RollbackReport concludeStopped() {
        for (Plan p : batch) {
            try {
                drop(p);
            } catch (IOException stays) {
                p.note("a file of this rollback stays beside it");
            }
        }
        batch.clear();
        removeLeftovers();
        List<RollbackReport.Entry> list = new ArrayList<>();
        boolean recorded = true;
        for (Plan p : plans) {
            if (p.e.role != Entry.TOUCHED) {
                continue;
            }
            boolean done = p.outcome != null;
            RollbackReport.Entry result = done ? new RollbackReport.Entry(p.e.name.bytes, p.outcome, p.detail, p.aside)
                    : new RollbackReport.Entry(p.e.name.bytes, undo.isInterrupted() ? Outcome.NOT_REACHED : Outcome.KEPT_THEIRS,
                            undo.isInterrupted() ? null : LEASES_LOST, null);
            list.add(result);
            try {
                if (done) {
                    record(p.e, result);
                }
            } catch (IOException full) {
                recorded = false;
            }
        }
        return new RollbackReport(list, verified(), recorded, backups.damage, displaced.kept(), displaced.keptIn());
    }

    private RollbackReport rollBack() {
        List<Entry> sorted = backups.sorted();
        Wanted wanted = new Wanted(undo.only() == null ? null : new Name(undo.only()), sorted, backups);
        for (int i = 0; i < sorted.size(); i++) {
            Entry e = sorted.get(i);
            if ((e.role == Entry.TOUCHED || e.role == Entry.IMPLIED) && wanted.has(e)) {
                boolean forcedBefore = e.outcome != null && e.outcome.outcome() != Outcome.KEPT_THEIRS && e.outcome.outcome() != Outcome.FAILED;
                if (e.earlier.length > 0 && !e.forced && (undo.force() || forcedBefore)) {
                    e.toFirst();
                }
                Plan p = new Plan(e, i);
                plans.add(p);
                byName.put(e.name, p);
            }
        }
        decisions.gather(plans);
        for (Plan p : plans) {
            decisions.decide(p);
            if (!undo.dry()) {
                unlock(p);
            }
            step();
        }
        decisions.tellMissing();
        if (undo.dry()) {
            return foretold();
        }
        namesFound = new NamesFound(plans, byName, known);
        noteDecisions();
        for (int i = plans.size() - 1; i >= 0; i--) {
            remove(plans.get(i));
            step();
        }
        for (Plan p : plans) {
            make(p);
            step();
        }
        int n = 0;
        for (Plan p : plans) {
            settleIfCrowded();
            requireGoingOn();
            write(p, false);
            if (undo.progress() != null) {
                undo.progress().done(++n, plans.size());
            }
        }
        settle();
        for (Plan p : plans) {
            settleIfCrowded();
            requireGoingOn();
            write(p, true);
        }
        settle();
        for (Plan p : plans) {
            requireGoingOn();
            undoElsewhere(p);
        }
        if (backups.begun) {
            // before the times of the directories that they are in
            removeLeftovers();
        }
        backups.begun = true;
        for (int i = plans.size() - 1; i >= 0; i--) {
            remade.finish(plans.get(i).e.name);
            finishDirectory(plans.get(i));
            step();
        }
        remade.finish(null);
        return conclude();
    }

    // --- deciding

    /** What would be done. */
    private RollbackReport foretold() {
        List<RollbackReport.Entry> list = new ArrayList<>();
        for (Plan p : plans) {
            if (p.e.role == Entry.TOUCHED) {
                Outcome outcome = p.outcome != null ? p.outcome : p.action == Plan.REMOVE ? Outcome.REMOVED : p.action == Plan.NOTHING ? Outcome.UNCHANGED
                        : Outcome.RESTORED;
                boolean goes = outcome == Outcome.REMOVED && p.now != null && p.now.kind == FileState.DIRECTORY;
                Name stays = goes ? willBeIn(p.e.name) : null;
                list.add(stays == null ? new RollbackReport.Entry(p.e.name.bytes, outcome, p.detail, p.aside)
                        : new RollbackReport.Entry(p.e.name.bytes, Outcome.KEPT_THEIRS, RollbackReport.HOLDS + ": " + stays, p.aside));
            }
        }
        return new RollbackReport(list, 0, false, backups.damage);
    }

    /** What would be left in a directory of the session's, as {@link #inside}. */
    private Name willBeIn(Name directory) {
        try {
            for (Name child : files.list(directory)) {
                Plan p = byName.get(child);
                FileState now = FileState.look(files, child);
                boolean goes = p == null ? broughtFrom(child, now) != null || madeAnew(child, now) != null
                        : p.e.role == Entry.TOUCHED ? p.outcome == null && p.action == Plan.REMOVE : p.e.image.kind == FileState.ABSENT;
                Name deeper = now.kind == FileState.DIRECTORY ? willBeIn(child) : null;
                if (now.kind != FileState.ABSENT && (!goes || deeper != null)) {
                    return deeper != null ? deeper : child;
                }
            }
            return null;
        } catch (IOException | UncheckedIOException unreadable) {
            // what is to be done will say so
            return null;
        }
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
                p.e.decided |= p.action != Plan.NOTHING;
                p.e.found |= p.found;
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

    private static int decisions(Plan p) {
        return (p.times ? TIMES : 0) | (p.action != Plan.NOTHING ? DECIDED : 0) | p.found;
    }

    /**
     * The session may have made its own directories unreadable or unwritable: to see and undo what is in them they must be open until the
     * end. Done before anything below is decided; a directory that an interrupted rollback has left open still counts as the session's.
     */
    private void unlock(Plan p) {
        if (p.e.role == Entry.TOUCHED && p.now != null && p.now.kind == FileState.DIRECTORY && p.owner != Plan.THEIRS
                && (p.action == Plan.METADATA || p.action == Plan.REMOVE || p.action == Plan.REPLACE) && (p.now.mode & 0700) != 0700
                && known.blocked(p.e.name) == null) {
            try {
                files.chmod(p.e.name.bytes, p.now, p.now.mode | 0700);
            } catch (IOException e) {
                p.note("could not be made writable: " + Plan.reason(e));
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
        boolean replacedDirectory = p.now != null && p.now.kind == FileState.DIRECTORY && p.owner != Plan.THEIRS && p.outcome != Outcome.FAILED
                && e.role == Entry.TOUCHED && (e.image.kind != FileState.DIRECTORY || decisions.movedAbout(e) || !p.now.sameInode(e.image));
        if (p.action != Plan.REMOVE && p.action != Plan.REPLACE && !replacedDirectory) {
            return;
        }
        try {
            Name wall = known.blocked(e.name);
            if (wall != null) {
                if (p.action == Plan.REMOVE) {
                    throw decisions.wall(wall);
                }
                return;
            }
            if (replacedDirectory) {
                sweep(e.name);
            }
            if (p.action != Plan.REMOVE && p.action != Plan.REPLACE) {
                return;
            }
            meet(e.name.parent());
            if (p.now.kind != FileState.DIRECTORY) {
                if (!displaced.takeAway(p)) {
                    return;
                }
            } else {
                if (!decisions.isAsDecided(p) && files.mode(e.name.bytes) != 0) {
                    aside.keepTheirs(p, "changed by someone else while it was put back");
                    return;
                }
                try {
                    if (!Files.deleteIfExists(files.path(e.name.bytes)) && FileState.look(files, e.name).kind != FileState.ABSENT) {
                        throw new IOException("it was moved while it was to go");
                    }
                } catch (DirectoryNotEmptyException notEmpty) {
                    holds(p);
                    return;
                }
            }
            p.now = FileState.absent();
            changed.add(e.name.parent());
            if (p.action == Plan.REMOVE) {
                p.outcome = Outcome.REMOVED;
            } else {
                p.action = e.image.kind == FileState.DIRECTORY ? Plan.MAKE : Plan.WRITE;
            }
        } catch (NotDirectoryException theirs) {
            aside.keepTheirs(p, "changed by someone else while it was put back");
        } catch (IOException | UncheckedIOException failed) {
            decisions.stop(p, failed);
        }
    }

    /** Something is about to be taken out of the directory. */
    private void meet(Name directory) throws IOException {
        if (directory != null && !emptied.containsKey(directory)) {
            emptied.put(directory, FileState.look(files, directory));
        }
    }

    /** Something that is in {@code directory} to stay, the deepest that there is; null if nothing is. */
    private Name inside(Name directory) throws IOException {
        for (Name child : files.list(directory)) {
            if ((files.mode(child.bytes) & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS) {
                return child;
            }
            Name deeper = inside(child);
            return deeper == null ? child : deeper;
        }
        return null;
    }

    /** A directory of the session's that cannot go: for good, or until an image can be read whose only copy may be in it, or what failed is tried again. */
    private void holds(Plan p) throws IOException {
        for (Map.Entry<Name, IOException> only : unread.entrySet()) {
            if (only.getKey().below(p.e.name)) {
                throw new IOException("it holds " + only.getKey() + ", of which the image cannot be read: " + Plan.reason(only.getValue()), only.getValue());
            }
        }
        for (Plan below : plans) {
            if (below.outcome == Outcome.FAILED && below.e.name.below(p.e.name) && (below.now == null || below.now.kind != FileState.ABSENT)) {
                throw new IOException("it holds " + below.e.name + ", which is not rolled back: " + below.detail);
            }
        }
        Name held = inside(p.e.name);
        remade.stays(p.e.name, p.now);
        aside.keepTheirs(p, held == null ? RollbackReport.HOLDS : RollbackReport.HOLDS + ": " + held);
    }

    private void removeImplied(Plan p) {
        boolean ours = false;
        for (Plan below : plans) {
            boolean removed = below.outcome == Outcome.REMOVED
                    || below.outcome == Outcome.UNCHANGED && below.e.outcome != null && below.e.outcome.outcome() == Outcome.REMOVED;
            ours |= removed && below.e.name.below(p.e.name);
        }
        if (ours && known.blocked(p.e.name) == null) {
            try {
                Files.delete(files.path(p.e.name.bytes));
                p.outcome = Outcome.REMOVED;
                changed.add(p.e.name.parent());
            } catch (IOException | UncheckedIOException stays) {
                p.detail = Plan.reason(stays);
            }
        }
    }

    /** Whether it may be what the session met at a place that it cannot come back to, however often it was moved since: it stays where it is. */
    private boolean isHeldHere(Name name, FileState now) {
        List<Entry> met = known.broughtAs(name, now);
        for (int i = 0; i < met.size(); i++) {
            Plan home = byName.get(met.get(i).name);
            if (home != null && stays(home)) {
                return true;
            }
        }
        return false;
    }

    /** Whether what was moved from there is not put back there. */
    private boolean stays(Plan origin) {
        return origin.owner == Plan.THEIRS || origin.outcome == Outcome.FAILED
                || origin.e.image.kind != FileState.ABSENT && !canComeBack(origin);
    }

    /** Below a directory the session renamed to here: removes what came with it and will be, or is, back in its old place. */
    private void sweep(Name directory) throws IOException {
        for (Name child : files.list(directory)) {
            files.rest();
            if (byName.containsKey(child) && byName.get(child).e.role == Entry.TOUCHED) {
                continue;
            }
            FileState now = FileState.look(files, child);
            Entry from = now.kind == FileState.ABSENT ? null : broughtFrom(child, now);
            boolean anew = from == null && now.kind != FileState.ABSENT;
            from = anew ? madeAnew(child, now) : from;
            boolean wasOpen = from == null;
            from = wasOpen ? known.movedWhileOpen(child, now) : from;
            Plan origin = from == null ? null : byName.get(from.name);
            if (origin == null || stays(origin) || isHeldHere(child, now)) {
                continue;
            }
            if (now.kind == FileState.DIRECTORY) {
                if ((now.mode & 0700) != 0700) {
                    files.chmod(child.bytes, now, now.mode | 0700);
                }
                sweep(child);
                try {
                    Files.delete(files.path(child.bytes));
                } catch (DirectoryNotEmptyException notOurs) {
                    files.chmod(child.bytes, now, now.mode);
                }
            } else if (isIntact(from, child)) {
                Path path = files.path(child.bytes);
                if (wasOpen) {
                    displaced.keepCopy(origin, path, now);
                }
                boolean other = !wasOpen && !isAsImaged(from, child, now);
                displaced.remove(origin, child, now, other && (known.isOfAChild(now) || anew && isUnproven(from, now)), other);
            }
            changed.add(directory);
        }
    }

    /** What the session has brought to {@code name} with a directory, and nobody else has changed since, was there; else null. */
    private Entry broughtFrom(Name name, FileState now) {
        Entry from = known.knownElsewhere(name, now);
        return from == null || crashed || known.isAsBrought(from, name, now) ? from : null;
    }

    /** Whether what is at {@code name} holds what its image holds. */
    private boolean isAsImaged(Entry from, Name name, FileState now) throws IOException {
        FileState image = from.image;
        if (now.kind != FileState.FILE || image.kind != FileState.FILE) {
            return now.kind != FileState.FILE && now.isLike(image);
        }
        try {
            return now.size == image.size && (now.sameStat(image) && !image.racy() || Arrays.equals(Sha256.of(files.path(name.bytes)), image.sha));
        } catch (AccessDeniedException unreadable) {
            return false;
        }
    }

    /** What the session has brought to {@code name}, and the undo of a later session has made anew there; null if it is not that. */
    private Entry madeAnew(Name name, FileState now) throws IOException {
        Entry e = known.broughtTo(name);
        if (e == null) {
            return null;
        }
        if (now.kind == FileState.DIRECTORY) {
            // what this rollback has taken out of it has given it another time
            FileState met = emptied.get(name);
            FileState was = met != null && met.sameInode(now) ? met : now;
            return known.isLikeBrought(e, was) || known.couldBeBrought(e, now) && holdsMadeAnew(name) ? e : null;
        }
        return known.isLikeBrought(e, now) && (isUnproven(e, now) || known.isSameBrought(e, now)) ? e : null;
    }

    /** Whether there is something in the directory that was made anew there: if this was interrupted, the directory's time tells nothing any more. */
    private boolean holdsMadeAnew(Name directory) throws IOException {
        for (Name child : files.list(directory)) {
            FileState now = FileState.look(files, child);
            if (now.kind != FileState.ABSENT && madeAnew(child, now) != null) {
                return true;
            }
        }
        return false;
    }

    /** Whether nothing but its size and times tells that it is what the session has brought there: it is kept. */
    private boolean isUnproven(Entry e, FileState now) {
        FileState was = known.lastBrought(e);
        return now.kind == FileState.FILE && was.sha == null && !was.sameStat(e.image);
    }

    /** Whether what is at {@code name} may go, as its image can be read. */
    private boolean isIntact(Entry from, Name name) {
        if (from.contentAt < 0) {
            return from.image.kind != FileState.CHARACTER_DEVICE && from.image.kind != FileState.BLOCK_DEVICE;
        }
        try {
            backups.copy(from, OutputStream.nullOutputStream());
            if (!from.damaged) {
                return true;
            }
            unread.put(name, new IOException("it is damaged"));
        } catch (IOException failed) {
            unread.put(name, failed);
        }
        return false;
    }

    private void make(Plan p) {
        if (p.action != Plan.MAKE) {
            return;
        }
        try {
            Name wall = known.blocked(p.e.name);
            if (wall != null) {
                throw decisions.wall(wall);
            }
            makeDirectory(p.e.name, p);
            p.times = true;
        } catch (IOException | UncheckedIOException failed) {
            decisions.stop(p, failed);
        }
    }

    /** @param p what comes back there, or below */
    private void makeDirectory(Name name, Plan p) throws IOException {
        Name parent = name.parent();
        if (parent != null) {
            haveParent(parent, p);
        }
        Files.createDirectory(files.path(name.bytes), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        changed.add(parent);
    }

    private void haveParent(Name parent, Plan wanted) throws IOException {
        if (files.mode(parent.bytes) == 0) {
            makeParent(parent, wanted);
        } else if (backups.begun && remade.isHalfMade(parent)) {
            remade.made(parent, wanted);
            changed.add(parent);
        }
    }

    /**
     * Makes a directory again because something has to come back into it: one that was there at the start, or one the session made and
     * somebody else put a file in, which the session then changed.
     *
     * @param wanted what comes back there, or below
     */
    private void makeParent(Name name, Plan wanted) throws IOException {
        Plan p = byName.get(name);
        if (p == null || p.e.role == Entry.IMPLIED && p.e.image.kind == FileState.ABSENT) {
            // it came here with a directory that the session renamed, and went back with it, but others had put a file in it here
            makeDirectory(name, wanted);
            remade.made(name, wanted);
            changed.add(name);
            return;
        }
        if (p.owner == Plan.THEIRS || p.e.image.kind != FileState.DIRECTORY && (p.e.image.kind != FileState.ABSENT || p.e.role != Entry.TOUCHED)) {
            throw new Decisions.Obstructed("its directory " + name + " is gone");
        }
        makeDirectory(name, wanted);
        if (p.e.image.kind == FileState.DIRECTORY) {
            p.times = true;
            p.action = Plan.MAKE;
            return;
        }
        remade.made(name, wanted);
        changed.add(name);
        aside.keepTheirs(p, RollbackReport.HOLDS);
    }

    /** Whether what was imaged here can come back: nothing but a directory, or nothing at all, was above it. */
    private boolean canComeBack(Plan origin) {
        for (Name up = origin.e.name.parent(); up != null; up = up.parent()) {
            Plan p = byName.get(up);
            if (p != null && (p.owner == Plan.THEIRS || p.e.image.kind != FileState.DIRECTORY && p.e.image.kind != FileState.ABSENT)) {
                return false;
            }
        }
        return true;
    }

    /** @param second the pass for names that have to join a file restored in the first */
    private void write(Plan p, boolean second) {
        if (p.action != Plan.WRITE && p.action != Plan.METADATA || p.e.image.kind == FileState.DIRECTORY || p.outcome != null || p.temporary != null) {
            return;
        }
        Entry e = p.e;
        FileState image = e.image;
        try {
            Name wall = known.blocked(e.name);
            if (wall != null) {
                throw decisions.wall(wall);
            }
            Path path = files.path(e.name.bytes);
            if (p.action == Plan.METADATA) {
                if (!decisions.isAsDecided(p) && !decisions.isStillOurs(p)) {
                    aside.keepTheirs(p, "changed by someone else while it was put back");
                    return;
                }
                try (Held there = files.hold(e.name.bytes, p.now)) {
                    metadata.put(p, there, image, p.now);
                }
                p.outcome = Outcome.RESTORED;
                return;
            }
            FileState now = FileState.look(files, e.name);
            // only a file is changed in place; anything else of the same number is made anew for all of its names
            boolean joins = image.hasOtherNames() && (image.kind != FileState.FILE || !now.sameInode(image) || isLeftAlone(p, now));
            if (joins && !second) {
                return;
            }
            Name parent = e.name.parent();
            haveParent(parent, p);
            if (now.kind == FileState.DIRECTORY) {
                throw new Decisions.Obstructed("there is a directory now");
            }
            if (e.damaged || image.kind == FileState.FILE && e.contentAt < 0) {
                throw new IOException("the image is damaged");
            }
            changed.add(parent);
            switch (image.kind) {
                case FileState.FILE:
                    if (now.kind == FileState.FILE && now.nlink > 1 && now.sameInode(image)) {
                        if (!changeBack(p, path, now)) {
                            return;
                        }
                        groups.put(image.ino, e.name);
                    } else if (!joins || !join(p, path)) {
                        if (!writeBeside(p, now)) {
                            changeBack(p, path, now);
                            return;
                        }
                        if (image.nlink > 1) {
                            settle();
                            if (p.outcome == Outcome.RESTORED) {
                                groups.put(image.ino, e.name);
                            }
                            apart.add(p);
                        }
                        return;
                    }
                    break;
                default:
                    if (!joins || !join(p, path)) {
                        if (image.kind == FileState.LINK) {
                            writeLink(p, path);
                        } else {
                            makeSpecial(p, path);
                        }
                        if (image.hasOtherNames() && p.outcome == null) {
                            groups.put(image.ino, e.name);
                            apart.add(p);
                        }
                    }
                    break;
            }
            p.outcome = p.outcome == null ? Outcome.RESTORED : p.outcome;
        } catch (IOException | RuntimeException failed) {
            if (!batch.isEmpty() && isOutOfDescriptors(failed)) {
                // each of the batch holds one
                settle();
                p.temporary = null;
                write(p, second);
            } else if (hasVanished(p, failed)) {
                write(p, second);
            } else {
                decisions.stop(p, failed);
            }
        }
    }

    /** Whether the file is what one of several names was, and has no other any more, while another of them is back as another file: it joins that. */
    private boolean isLeftAlone(Plan p, FileState now) {
        Name back = groups.get(p.e.image.ino);
        return now.nlink == 1 && back != null && !back.equals(p.e.name);
    }

    static boolean isOutOfDescriptors(Exception failed) {
        return failed.getMessage() != null && failed.getMessage().contains("Too many open files");
    }

    private Path beside(Plan p) {
        String name = besidePrefix.concat(Integer.toString(p.index));
        return files.path(p.e.name.parent().child(name.getBytes(StandardCharsets.US_ASCII)).bytes);
    }

    /** @return false if the file is to be written in place instead, since no other can be put there, or none of the same owner */
    private boolean writeBeside(Plan p, FileState now) throws IOException {
        p.temporary = beside(p);
        try {
            Files.deleteIfExists(p.temporary);
            p.channel = FileChannel.open(p.temporary, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileSystemException noPlace) {
            p.temporary = null;
            if (!isOutOfDescriptors(noPlace) && canStay(p)) {
                return false;
            }
            throw noPlace;
        }
        try (Held written = files.holdWritten(p.channel, files.name(p.temporary))) {
            if (now.kind == FileState.FILE && now.sameOwner(p.e.image) && canStay(p) && !metadata.canOwn(written, p.e.image)) {
                drop(p);
                p.temporary = null;
                return false;
            }
            SparseOutput out = new SparseOutput(p.channel);
            backups.copy(p.e, out);
            out.finish();
            verify(p, written);
            metadata.put(p, written, p.e.image, null);
            p.made = written.look();
        } catch (IOException | RuntimeException e) {
            drop(p);
            throw e;
        }
        batch.add(p);
        batchBytes += p.e.image.size;
        if (batch.size() >= BATCH_FILES || batchBytes >= BATCH_BYTES) {
            settle();
        }
        return true;
    }

    /**
     * Whether what is there is the file that was decided on: where no other can take its place (a directory that may not be written, or is
     * sticky, or a file that is a mount point), the bytes can still come back into it.
     */
    private boolean canStay(Plan p) throws IOException {
        FileState now = FileState.look(files, p.e.name);
        return p.e.image.kind == FileState.FILE && now.kind == FileState.FILE && now.sameInode(p.now);
    }

    /** Writes the image into the file that is there. Answers whether it was still as it was decided on; else it is somebody else's and stays. */
    private boolean changeBack(Plan p, Path path, FileState now) throws IOException {
        String halfWritten = unwritten.get(now.ino);
        if (halfWritten != null) {
            throw new IOException(halfWritten);
        }
        if (!decisions.isAsDecided(p) && !decisions.isStillOurs(p)) {
            aside.keepTheirs(p, "changed by someone else while it was put back");
            return false;
        }
        if (p.owner == Plan.ATTRIBUTED) {
            displaced.keepCopy(p, path);
        }
        writeInPlace(p, p.e.name, now);
        p.outcome = Outcome.RESTORED;
        return true;
    }

    private static void drop(Plan p) throws IOException {
        if (p.channel != null) {
            p.channel.close();
        }
        Files.deleteIfExists(p.temporary);
    }

    /** Whether somebody else has taken away what was written beside its place, so that it has to be written once more. */
    private boolean hasVanished(Plan p, Exception failed) {
        boolean gone = failed instanceof NoSuchFileException && p.vanished < Displaced.MAX_LOOKS
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
                Thread helper = new Helper(force, i);
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
                    throw decisions.wall(wall);
                }
                Path path = files.path(p.e.name.bytes);
                requireGoingOn();
                if (!displaced.takeAway(p)) {
                    drop(p);
                } else if (displaced.putInPlace(p, p.temporary, path, p.made)) {
                    p.outcome = Outcome.RESTORED;
                }
            } catch (IOException | RuntimeException failed) {
                if (hasVanished(p, failed)) {
                    again.add(p);
                } else {
                    settleInPlace(p, failed);
                }
            }
        }
        batch.clear();
        batchBytes = 0;
        files.rest();
        for (Plan p : again) {
            write(p, true);
        }
        if (!again.isEmpty()) {
            settle();
        }
    }

    /** A name given out is good for as long as the file it was given out for is beside its place. */
    private void settleIfCrowded() {
        if (batch.isEmpty()) {
            files.rest();
        } else if (files.isCrowded()) {
            settle();
        }
    }

    /** What was written beside its place cannot be put there: the image goes into the file that is there, if that is still the same. */
    private void settleInPlace(Plan p, Exception failed) {
        try {
            if (p.unsafe == null && failed instanceof FileSystemException && canStay(p)) {
                changeBack(p, files.path(p.e.name.bytes), p.now);
            } else {
                decisions.stop(p, failed);
            }
        } catch (IOException | RuntimeException again) {
            decisions.stop(p, again);
        }
        try {
            drop(p);
        } catch (IOException stays) {
            p.note(Anchored.readable(p.temporary.toString()) + " stays");
        }
    }

    /** Not to be interrupted by a program that interrupts every thread: a file channel would close under it; nor to be run by one. */
    private static final class Helper extends Thread {
        Helper(Runnable task, int number) {
            super(null, task, "klock-rollback-" + number, 1 << 18, false);
            setDaemon(true);
        }

        @Override
        public void run() {
            if (Thread.currentThread() == this) {
                super.run();
            }
        }

        @Override
        public void interrupt() {
            return;
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

    private void writeInPlace(Plan p, Name name, FileState now) throws IOException {
        backups.copy(p.e, OutputStream.nullOutputStream());
        try {
            p.e.inPlaceNow = true;
            backups.append(Backups.IN_PLACE, Backups.named(p.e.name.bytes, 0));
            backups.sync();
        } catch (IOException full) {
            p.note("could not be journalled: " + Plan.reason(full));
        }
        try (Held there = files.hold(name.bytes, now)) {
            if ((now.mode & 0600) != 0600) {
                there.open(now.mode | 0600);
            }
            try (FileChannel out = there.write()) {
                backups.copy(p.e, Channels.newOutputStream(out));
                out.truncate(p.e.image.size);
                out.force(true);
            } catch (IOException failed) {
                unwritten.put(now.ino, Plan.reason(failed));
                throw failed;
            }
            verify(p, there);
            metadata.put(p, there, p.e.image, null);
        }
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
        if (!state.isLike(p.e.image) || state.kind == FileState.FILE && state.size != p.e.image.size) {
            return false;
        }
        if (state.kind == FileState.FILE && !Arrays.equals(Sha256.of(files.path(other.bytes)), p.e.image.sha)) {
            // others have changed it between the images of the two names
            return false;
        }
        Path temporary = beside(p);
        Files.deleteIfExists(temporary);
        Files.createLink(temporary, files.path(other.bytes));
        try {
            try (Held it = files.hold(files.name(temporary), state)) {
                if (state.kind == FileState.FILE) {
                    verify(p, it);
                }
            }
            if (displaced.takeAway(p)) {
                displaced.putInPlace(p, temporary, path, state);
            }
        } finally {
            Files.deleteIfExists(temporary);
        }
        return true;
    }

    /** It came back as another file: what its other names are now is said where they are not one with it. */
    private void otherNames(Plan p) {
        FileState image = p.e.image;
        if (p.outcome != Outcome.RESTORED) {
            return;
        }
        Name other = strangers == null ? null : strangers.get(image.ino);
        if (other != null) {
            aside.keepTheirs(p, "it is back as a file of its own; its other name " + other + " has changed since, and whether by the session is not known");
            return;
        }
        int back = others(image);
        List<Plan> failed = failed(image);
        if (!failed.isEmpty()) {
            // it joins this one when it comes back
            p.note("it was one of " + image.nlink + " names of a file; " + failed.get(0).e.name + " could not be put back yet");
        }
        int unknown = Math.min(image.nlink - back - failed.size(), namesFound.unknown(image));
        if (unknown <= 0) {
            // the others are back, or will be, or were taken away by somebody else before this
            if (failed.isEmpty() && back > 1 && !isOneWithAll(p)) {
                p.note("it was one of " + image.nlink + " names of a file, and is not one file with all of them now");
            }
            return;
        }
        if (unknown > 0 && known.wasChangedInPlace(image)) {
            aside.keepTheirs(p, "it is back, but was one of " + image.nlink + " names of a file: " + (unknown == 1 ? "one that is not known still holds"
                    : unknown + " that are not known still hold") + " what the session wrote");
        } else if (back == 1) {
            p.note("it was one of " + image.nlink + " names of a file; no other name is known, so it is a file of its own now");
        } else if (back < image.nlink) {
            p.note("it was one of " + image.nlink + " names of a file; only " + back + " of them are known, and are another file now");
        }
    }

    /** The name by which the session changed a file of several is somebody else's now: what it wrote is undone in another one, or it is said. */
    private void undoElsewhere(Plan p) {
        FileState image = p.e.image;
        if (p.outcome != Outcome.KEPT_THEIRS || image.kind != FileState.FILE || image.nlink < 2 || groups.containsKey(image.ino)
                || !known.wasChangedInPlace(image)) {
            return;
        }
        Path kept = p.aside;
        try {
            if (FileState.look(files, p.e.name).sameInode(image)) {
                return;
            }
            p.aside = null;
            Name other = otherName(p);
            if (other != null) {
                p.note("what the session did to it is undone in its other name " + other);
            } else if (others(image) < image.nlink - 1) {
                p.note("it was one of " + image.nlink + " names of a file: one that is not known may still hold what the session wrote");
            }
        } catch (IOException | RuntimeException failed) {
            p.note("what the session did to it could not be undone in its other name: " + Plan.reason(failed));
        }
        if (p.aside != null) {
            p.note("what was there is in " + p.aside);
        }
        p.aside = kept;
    }

    /** Names of the file that could not be put back. */
    private List<Plan> failed(FileState image) {
        List<Plan> failed = new ArrayList<>();
        for (Plan q : plans) {
            if (q.e.image.sameInode(image) && q.outcome == Outcome.FAILED) {
                failed.add(q);
            }
        }
        return failed;
    }

    /** Whether all names that are back, or were never gone, are of the one file that p's is. */
    private boolean isOneWithAll(Plan p) {
        try {
            FileState now = FileState.look(files, p.e.name);
            for (Plan q : plans) {
                boolean back = q.outcome == Outcome.RESTORED || q.outcome == Outcome.UNCHANGED;
                if (back && q.e.image.sameInode(p.e.image) && !FileState.look(files, q.e.name).sameInode(now)) {
                    return false;
                }
            }
            return true;
        } catch (IOException | UncheckedIOException unreadable) {
            return false;
        }
    }

    /** How many names of the file are as they were. */
    private int others(FileState image) {
        int back = 0;
        for (Plan q : plans) {
            back += q.e.image.sameInode(image) && (q.outcome == Outcome.RESTORED || q.outcome == Outcome.UNCHANGED) ? 1 : 0;
        }
        return back;
    }

    /**
     * A name the session never touched under which the file lives on, found in the declared scopes and beside what was touched; not one that
     * an interrupted rollback has left, which goes before this one ends. What the session wrote through the lost name is undone through this one;
     * if anybody else changed the file since, it is left alone.
     */
    private Name otherName(Plan p) throws IOException {
        FileState image = p.e.image;
        if (strangers == null) {
            strangers = new HashMap<>();
            Set<Name> met = new HashSet<>();
            for (byte[] scope : backups.scopes()) {
                search(new Name(scope), true, met);
            }
            for (Plan q : plans) {
                if (q.e.image.kind == FileState.DIRECTORY) {
                    search(q.e.name, false, met);
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
        if (image.kind != FileState.FILE) {
            if (!now.isLike(image) || !now.sameOwnerAndMode(image) && !known.leftAsIs(now)) {
                return null;
            }
            put(p, other, now);
        } else if (now.size == image.size && Arrays.equals(Sha256.of(path), image.sha)) {
            put(p, other, now);
        } else if (known.leftAsIs(now) || p.e.inPlace) {
            writeInPlace(p, other, now);
        } else if (known.wasOpen(null, now, crashed) && isKnownByAllNames(now) && now.size <= Displaced.MAX_DISPLACED_COPY) {
            // a mapping or a descriptor went on changing it when the name it was opened by was gone
            Path copy = backups.aside("displaced", known.all().size() + p.index, other);
            Displaced.copy(path, files.own(copy));
            p.keeps(copy, "the session was still changing it under a name that is gone; what was there is kept");
            writeInPlace(p, other, now);
        } else {
            return null;
        }
        groups.put(image.ino, other);
        return other;
    }

    /** Whether all names of the file were met: what others may have written by one outside of what is declared is not overwritten on a mere chance. */
    private boolean isKnownByAllNames(FileState now) {
        int names = strangerNames.getOrDefault(now.ino, 0);
        for (Plan q : plans) {
            names += known.isKnown(q.e, now) && known.holds(q.e.name, now) ? 1 : 0;
        }
        return names >= now.nlink;
    }

    private void put(Plan p, Name other, FileState now) throws IOException {
        try (Held there = files.hold(other.bytes, now)) {
            metadata.put(p, there, p.e.image, now);
        }
    }

    /** @param met what was met, of which each name counts once however often its directory is searched */
    private void search(Name directory, boolean deep, Set<Name> met) {
        if (strangers.size() > MAX_STRANGERS || known.blocked(directory) != null
                || (files.mode(directory.bytes) & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS) {
            return;
        }
        List<Name> below = new ArrayList<>();
        byte[] leftover = besidePrefix.getBytes(StandardCharsets.US_ASCII);
        try {
            for (Name name : files.list(directory)) {
                FileState state = FileState.look(files, name);
                if (state.kind != FileState.DIRECTORY && state.kind != FileState.ABSENT && !byName.containsKey(name) && !name.lastBeginsWith(leftover)) {
                    strangers.putIfAbsent(state.ino, name);
                    if (met.add(name)) {
                        strangerNames.merge(state.ino, 1, Integer::sum);
                    }
                } else if (state.kind == FileState.DIRECTORY && deep && !backups.isHome(name)) {
                    below.add(name);
                }
            }
        } catch (IOException unreadable) {
            return;
        }
        for (Name name : below) {
            search(name, true, met);
        }
    }

    private void writeLink(Plan p, Path path) throws IOException {
        Path temporary = beside(p);
        Files.deleteIfExists(temporary);
        Files.createSymbolicLink(temporary, files.text(p.e.image.link));
        try {
            byte[] text = files.readLink(files.name(temporary));
            if (!Arrays.equals(text, p.e.image.link)) {
                throw new IOException("the link's text cannot be written exactly");
            }
            putSpecial(p, temporary, path);
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
            throw new IOException("it was " + image.describe() + ", which cannot be made again: " + Plan.reason(e), e);
        }
        try {
            putSpecial(p, temporary, path);
            if (givesAcl(p.e.name.parent())) {
                p.note("its directory has given it an access ACL, which cannot be taken from it");
            }
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Whether the directory has a default ACL. Attributes are reached by descriptors, and what is special is never opened. */
    private boolean givesAcl(Name directory) throws IOException {
        byte[][] attributes = files.attributes(directory.bytes);
        return attributes != null && Metadata.valueOf(attributes, DEFAULT_ACL) != null;
    }

    /** Gives the link or special file just made beside its place all that its image has, and its name. */
    private void putSpecial(Plan p, Path temporary, Path path) throws IOException {
        FileState made;
        try (Held it = files.holdMade(files.name(temporary), p.e.image.kind)) {
            if (files.isOwn(it.look())) {
                metadata.put(p, it, p.e.image, null);
            } else {
                // somebody else may have put it there; a network may say so of our own
                p.note("its owner and mode are not permitted to us");
            }
            made = it.look();
        }
        if (displaced.takeAway(p)) {
            displaced.putInPlace(p, temporary, path, made);
        }
    }

    /** How many are back for certain: what was read back, and failed after that, is none of them. */
    private int verified() {
        int verified = 0;
        for (Plan p : plans) {
            verified += p.isVerified && p.outcome == Outcome.RESTORED ? 1 : 0;
        }
        return verified;
    }

    private void verify(Plan p, Held file) throws IOException {
        if (!Arrays.equals(Sha256.of(file), p.e.image.sha)) {
            throw new IOException("after writing, its SHA-256 is not the image's");
        }
        p.isVerified = true;
    }

    private void finishDirectory(Plan p) {
        FileState image = p.e.image;
        if (image.kind != FileState.DIRECTORY || p.outcome == Outcome.FAILED || p.action != Plan.MAKE && p.action != Plan.METADATA && !p.times) {
            return;
        }
        try {
            if (known.blocked(p.e.name) != null) {
                return;
            }
            FileState now = FileState.look(files, p.e.name);
            if (now.kind != FileState.DIRECTORY) {
                return;
            }
            try (Held there = files.hold(p.e.name.bytes, now)) {
                if (p.action == Plan.MAKE || p.action == Plan.METADATA) {
                    metadata.owner(p, there, image, now);
                    metadata.attributes(p, there, image);
                    if (now.mode != image.mode) {
                        there.chmod(image.mode);
                    }
                    p.outcome = Outcome.RESTORED;
                    changed.add(p.e.name);
                }
                if (p.times && now.mtime != image.mtime) {
                    metadata.times(p, there, image);
                }
            }
        } catch (IOException failed) {
            p.fail(failed);
        }
    }

    /** A file that stays the inode that it was can still be reached by a store that comes before the process has ended. */
    private void stillMapped(Plan p) {
        boolean back = p.outcome == Outcome.RESTORED || p.outcome == Outcome.UNCHANGED;
        if (p.e.isMapped() && p.e.image.kind == FileState.FILE && back && !isAnotherFile(p)) {
            p.outcome = Outcome.FAILED;
            p.note("put back, but it " + (p.e.image.nlink > 1 ? "has " + p.e.image.nlink + " names" : "could not be replaced") + " and the program"
                    + " still maps it: what it stores there until its process has ended is undone by the next start, or by: java -jar klock.jar undo");
        }
    }

    /** What the session had moved with a directory and is still there, as its own place, or one above, is somebody else's, is named. */
    private void isStillMoved(Plan p) {
        Name place = p.e.place;
        if (place == null || p.outcome == null || p.e.first().image.kind == FileState.ABSENT || known.blocked(place) != null) {
            return;
        }
        boolean kept = p.outcome == Outcome.KEPT_THEIRS || p.outcome == Outcome.FAILED;
        try {
            FileState there = FileState.look(files, place);
            boolean isIt = known.isFollowed(p.e) ? known.isBroughtAsItWas(p.e, place, there) : there.kind == FileState.FILE && there.sameStat(p.e.first().image);
            if (there.kind != FileState.ABSENT && (kept || there.kind != FileState.DIRECTORY) && isIt) {
                p.note(kept ? "it stays where the session had moved it, " + place : "it is still where the session had moved it, too: " + place);
            }
        } catch (IOException unreadable) {
            // what cannot be looked at is said where it is in the way
            return;
        }
    }

    /** Whether another file has come to the name than what was there at first, or before this rollback. */
    private boolean isAnotherFile(Plan p) {
        try {
            FileState now = FileState.look(files, p.e.name);
            return !now.sameInode(p.e.image) && !now.sameInode(p.now);
        } catch (IOException unknown) {
            return false;
        }
    }

    // --- the end

    private RollbackReport conclude() {
        boolean recorded = true;
        for (Plan p : apart) {
            otherNames(p);
        }
        for (Plan p : plans) {
            aside.betweenTwo(p);
            aside.ofFailed(p);
            aside.ofChildren(p);
            stillMapped(p);
            isStillMoved(p);
        }
        for (Name directory : changed) {
            if ((files.mode(directory.bytes) & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS || known.blocked(directory) != null) {
                continue;
            }
            files.rest();
            try {
                Pack.syncDirectory(files.directory(directory));
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
            boolean isBack = !failures && undo.whole();
            if (recorded && (isBack || backups.state() != Backups.State.OPEN)) {
                // what is undone later of a session that has ended may be a part, and this run of it is over
                Backups.State as = isBack ? Backups.State.ROLLED_BACK : backups.state();
                backups.append(Backups.END, new byte[] {(byte) as.ordinal(), (byte) (!isBack && backups.endsUnknown ? 1 : 0)});
                backups.isHalfUndone = false;
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
        return new RollbackReport(list, verified(), recorded, backups.damage, displaced.kept(), displaced.keptIn());
    }

    /** What an earlier run had written beside its place when it was killed; its names are ours alone. */
    private void removeLeftovers() {
        for (Plan p : plans) {
            int kind = p.e.image.kind;
            files.rest();
            if (p.e.role == Entry.TOUCHED && kind != FileState.ABSENT && kind != FileState.DIRECTORY && known.blocked(p.e.name) == null) {
                try {
                    Path leftover = beside(p);
                    if (files.mode(files.name(leftover)) != 0) {
                        Files.delete(leftover);
                        changed.add(p.e.name.parent());
                    }
                } catch (IOException | UncheckedIOException stays) {
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
        boolean failedBefore = known != null && known.outcome() == Outcome.FAILED;
        if (known != null && !e.inPlaceNow && (known.outcome() == result.outcome() || result.outcome() == Outcome.UNCHANGED && !failedBefore)) {
            return;
        }
        byte[] detail = result.detail() == null ? new byte[0] : result.detail().getBytes(StandardCharsets.UTF_8);
        byte[] aside = result.aside() == null ? new byte[0] : backups.directory.relativize(result.aside()).toString().getBytes(StandardCharsets.UTF_8);
        ByteBuffer head = Backups.named(e.name.bytes, 9 + detail.length + aside.length);
        head.put((byte) result.outcome().ordinal()).putInt(detail.length).put(detail).putInt(aside.length).put(aside);
        backups.append(Backups.OUTCOME, head);
        e.ended(result);
    }

}
