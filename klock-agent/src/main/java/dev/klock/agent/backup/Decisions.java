package dev.klock.agent.backup;

import dev.klock.agent.backup.RollbackReport.Outcome;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Whose is what is at a path now, and what has to be done there? Unchanged, ours (still as the session left it), attributed (the session
 * may have been changing it when it ended), or theirs (C32). Decides from the top down, and again for what changes meanwhile.
 */
final class Decisions {
    /** What somebody else has made stands where the image, or a directory above it, has to go: trying again does not help. */
    static final class Obstructed extends IOException {
        private static final long serialVersionUID = 1;

        Obstructed(String message) {
            super(message);
        }
    }

    private final Backups backups;
    private final HostFiles files;
    private final Identities known;
    private final Metadata metadata;
    private final Aside aside;
    private final Undo undo;
    private final Neighbours neighbours;
    private final Strays strays;
    /** The first that the session made and that is not to be found, and how many there are. */
    private Plan missing;
    private int missed;
    /** Where what the session has moved with a directory is to be found. */
    private final Set<Name> places = new HashSet<>();
    private final boolean crashed;
    /** A rollback had been carried out before, whole. */
    /** Others may have been granted what the session changed: what nobody knows to be the session's is theirs. */
    private final boolean lostLeases;
    private final boolean rolledBack;
    private final Map<Name, Plan> plans;
    private final Map<Long, Name> groups;
    private final Map<Long, Plan> openInodes = new HashMap<>();
    /** Directories in which the session was still changing something: what it made there is not in the times that it left. */
    private final Set<Name> openParents = new HashSet<>();
    /** Directories into which an earlier rollback could not put back something. */
    private final Set<Name> failedParents = new HashSet<>();
    /** What was last changed before this, in ns since the epoch, was so before the machine went down with the session; see {@link Boot#after}. */
    private final long bootedNs;

    /**
     * @param files  the rollback's, as those of {@code known}
     * @param plans  all of them by name
     * @param groups is given the files of several names that are in place already, by inode number
     */
    Decisions(Backups backups, HostFiles files, Identities known, boolean crashed, Undo undo, Metadata metadata, Aside aside, Map<Name, Plan> plans, Map<Long, Name> groups) {
        this.backups = backups;
        this.files = files;
        this.known = known;
        this.metadata = metadata;
        this.aside = aside;
        this.neighbours = new Neighbours(backups);
        this.strays = new Strays(backups);
        this.undo = undo;
        this.crashed = crashed;
        this.rolledBack = backups.state() == Backups.State.ROLLED_BACK;
        this.lostLeases = backups.hasLostLeases();
        this.plans = plans;
        this.groups = groups;
        this.bootedNs = crashed ? Boot.after(backups.boot) : Long.MIN_VALUE;
    }

    /** To be called before anything is decided. */
    void gather(Collection<Plan> all) {
        for (Entry e : known.all()) {
            if (e.place != null && e.role == Entry.TOUCHED && known.isFollowed(e)) {
                places.add(e.place);
            }
        }
        for (Plan p : all) {
            if (p.e.outcome != null && p.e.outcome.outcome() == Outcome.FAILED) {
                failedParents.add(p.e.name.parent());
            }
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

    /** Fills the plan in. */
    void decide(Plan p) {
        Entry e = p.e;
        FileState image = e.image;
        try {
            Name wall = known.blocked(e.name);
            if (wall != null) {
                Plan w = plans.get(wall);
                boolean gives = w != null && w.e.role == Entry.TOUCHED && w.owner != Plan.THEIRS && w.outcome != Outcome.FAILED;
                if (!gives && e.role == Entry.TOUCHED && (files.mode(wall.bytes) & FileState.TYPE_BITS) == FileState.LINK_BITS) {
                    p.owner = Plan.THEIRS;
                    Name at = strays.of(e);
                    stop(p, wall(wall, " is a symbolic link now and is not followed" + (at == null ? "" : "; what the session left here is at " + at + " now, where it stays")));
                    return;
                }
                p.now = FileState.absent();
            } else {
                p.now = FileState.look(files, e.name);
            }
        } catch (IOException | UncheckedIOException unreadable) {
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
            boolean again = (rolledBack || backups.isReopened()) && asImaged && (!kept || e.earlier.length == 0)
                    && !(kept && isMade(e) && now.kind == FileState.ABSENT && strays.of(e) != null);
            p.outcome = again ? Outcome.UNCHANGED : e.outcome.outcome();
            p.detail = again && (kept || e.outcome.isWhole() || isWhole(now, image)) ? null : e.outcome.detail();
            p.aside = again ? null : e.outcome.aside();
            if (asImaged && image.hasOtherNames() && (!kept || now.nlink == 1 && now.kind == FileState.FILE)) {
                // its other names, which may not be on record, join it where it is now, as does one that could not come back when it did
                groups.putIfAbsent(image.ino, e.name);
            }
            // what is in a directory that is back may not be on record, and is put back once more
            boolean unfinished = e.timesDue || failedParents.contains(e.name) || crashed && e.outcome.outcome() == Outcome.RESTORED;
            boolean timed = image.kind == FileState.DIRECTORY && now.mtime == image.mtime;
            p.times = (unfinished || timed) && !rolledBack && now.kind == FileState.DIRECTORY;
            return;
        }
        if (image.kind == FileState.DIRECTORY && now.kind == FileState.DIRECTORY) {
            p.times = e.timesDue || crashed || backups.endsUnknown || openParents.contains(e.name) || movedAbout(e) || now.mtime == image.mtime || now.mtime == e.ownMtime
                    || e.left != null && e.users == 0 && now.mtime == e.left.mtime;
        }
        if (e.role != Entry.TOUCHED) {
            return;
        }
        try {
            if (now.kind == FileState.ABSENT && image.kind == FileState.ABSENT && isTaken(p)) {
                return;
            }
            boolean same = sameContent(now, e);
            if (same && image.hasOtherNames() && now.sameInode(image)) {
                groups.put(image.ino, e.name);
            }
            // a mapped file gets a new inode even if it is as it was: a store that comes before the process has ended must not reach it
            boolean reachable = e.isMapped() && now.kind == FileState.FILE && now.nlink == 1;
            if (same && !reachable && sameMetadata(now, image) && metadata.sameAttributes(e)) {
                p.outcome = Outcome.UNCHANGED;
                return;
            }
            boolean later = over && (!kept || e.wasBack);
            p.owner = later ? Plan.THEIRS : owner(e, now);
            if (p.owner == Plan.THEIRS && !later && now.kind != FileState.ABSENT && known.movedHere(e.name, now)) {
                p.owner = Plan.OURS;
            }
            boolean forced = undo.force();
            String neighbour = p.owner == Plan.THEIRS || forced && !undo.dry() || !e.byChild ? null : neighbours.whoLeft(e.name, now);
            if (neighbour != null && !forced) {
                p.owner = Plan.THEIRS;
                p.times = false;
                aside.keepTheirs(p, "the work of session " + neighbour + ", which ran at the same time");
                return;
            }
            if (p.owner == Plan.OURS && (now.kind == FileState.FILE || now.kind == FileState.LINK) && (e.byChild || known.isOfAChild(now))) {
                p.owner = Plan.ATTRIBUTED;
                p.ofAChild = true;
            }
            boolean gives = forced && (p.owner == Plan.THEIRS || neighbour != null);
            if (p.owner == Plan.THEIRS && forced) {
                p.owner = Plan.ATTRIBUTED;
            }
            if ((p.owner == Plan.THEIRS || isTheirMetadata(p)) && isNotOurChange(e)) {
                p.outcome = Outcome.UNCHANGED;
                p.times = false;
                return;
            }
            if (p.owner == Plan.THEIRS) {
                boolean modeOnly = same && now.mode != image.mode;
                boolean unknown = lostLeases && (e.left == null || e.users > 0);
                aside.keepTheirs(p, (unknown ? "the session lost its leases while it changed it, and others may have worked on it since: now " : "changed by someone else since: now ") + (modeOnly ? "mode " + Integer.toOctalString(now.mode) + ", was "
                        + Integer.toOctalString(image.mode) : now.describe() + ", was " + image.describe()));
                p.times = false;
                return;
            }
            if (isTheirMetadata(p) && !forced) {
                metadata.keepTheirs(p);
            }
            if (undo.dry() && forced && (gives || isTheirMetadata(p) || e.forced && e.earlier.length > 0)) {
                foretell(p, neighbour, gives);
            }
            if (same && !reachable) {
                p.action = Plan.METADATA;
            } else if (image.kind == FileState.ABSENT) {
                p.action = Plan.REMOVE;
            } else if (image.kind == FileState.DIRECTORY) {
                p.action = now.kind == FileState.ABSENT ? Plan.MAKE : Plan.REPLACE;
            } else {
                p.action = now.kind == FileState.DIRECTORY ? Plan.REPLACE : Plan.WRITE;
            }
            if (image.kind != FileState.ABSENT && (now.kind == FileState.ABSENT || e.lost == Rollback.CHANGED)) {
                follow(p);
            }
        } catch (IOException | UncheckedIOException unreadable) {
            p.fail(unreadable);
        }
    }

    /** Says whose work would give way. */
    private static void foretell(Plan p, String neighbour, boolean gives) {
        String work = neighbour != null ? "the work of session " + neighbour + ", which ran at the same time" : "changed by someone else "
                + (gives ? "since" : p.e.forced && p.e.earlier.length > 0 ? "between two changes of the session" : "since, but for its content");
        boolean anotherMode = p.now.kind != FileState.ABSENT && p.now.mode != p.e.image.mode && p.e.image.kind != FileState.ABSENT;
        p.note(work + ": now " + p.now.describe() + (anotherMode ? ", mode " + Integer.toOctalString(p.now.mode) : "") + RollbackReport.WOULD_GIVE_WAY);
    }

    /**
     * What the session took away from here with a directory comes back. Where it is not at the place that it was taken to, or is not as it was,
     * that is somebody else's doing, and is said.
     */
    private void follow(Plan p) throws IOException {
        Entry e = p.e;
        p.found = e.found != 0 || e.decided || e.outcome != null || rolledBack ? e.found : whatIsFound(e);
        Plan above = plans.get(e.name.parent());
        if (p.found == 0 || above != null && above.found != 0) {
            return;
        }
        Name place = e.place;
        if (p.found == Rollback.CHANGED) {
            p.note(Plan.BACK + "where the session had moved it" + (place == null ? "" : ", " + place) + ", somebody else has changed it, and theirs stays");
            return;
        }
        Name at = strays.of(e);
        p.note(Plan.BACK + "after the session had moved it" + (place == null ? "" : " to " + place) + ", somebody else has " + (at == null
                ? "removed it, or moved it away" : "moved it to " + at + ", where it stays"));
    }

    private int whatIsFound(Entry e) throws IOException {
        if (e.lost != 0) {
            return e.lost;
        }
        if (!known.isFollowed(e)) {
            return 0;
        }
        Name place = e.place;
        FileState there = known.blocked(place) == null ? FileState.look(files, place) : FileState.absent();
        if (there.kind == FileState.ABSENT) {
            return Rollback.GONE;
        }
        boolean is = known.isBroughtAsItWas(e, place, there) || crashed && known.isKnown(e, there) && known.knownElsewhere(place, there) != null;
        return is ? 0 : Rollback.CHANGED;
    }

    private static boolean isMade(Entry e) {
        return e.image.kind == FileState.ABSENT && e.earlier.length == 0;
    }

    /** Whether somebody else has moved what the session made at the path, or moved on from there with a directory: it stays, and is named. */
    private boolean isTaken(Plan p) throws IOException {
        Entry e = p.e;
        if (!isMade(e) || e.decided || rolledBack || e.byChild || places.contains(e.name)) {
            return false;
        }
        if (e.place == null && e.lost == 0) {
            FileState left = left(e);
            if (left != null ? left.kind == FileState.ABSENT : e.lastKnown().kind == FileState.ABSENT && (e.prior != null || e.met.length == 0)) {
                return false;
            }
        } else if (whatIsFound(e) == 0) {
            return false;
        }
        Name at = strays.of(e);
        if (at != null) {
            aside.keepTheirs(p, RollbackReport.TAKEN + at + ", where it stays");
            return true;
        }
        // an open descriptor's end is noted at its name though another thread has removed, or moved, the file
        if (!backups.begun && e.users == 0 && known.isOnlyAt(e) && (e.left.kind != FileState.FILE || e.left.size >= 0)) {
            missing = missing == null ? p : missing;
            missed++;
        }
        return false;
    }

    /** When all is decided: what the session made and is not where it was left may be somewhere else. */
    void tellMissing() {
        if (missing != null) {
            missing.note("what the session made here" + (missed == 1 ? "" : ", and at " + (missed - 1) + (missed == 2 ? " other path," : " other paths,"))
                    + " is gone: somebody else has removed it, or moved it out of what is declared");
        }
    }

    /** Whether what an earlier rollback put back still is as it was put back. Another time that somebody gave it is no change. */
    private boolean isAsImaged(Plan p) {
        Entry e = p.e;
        FileState now = p.now;
        try {
            boolean isNoted = e.outcome.detail() != null && e.outcome.outcome() != Outcome.KEPT_THEIRS;
            return isLike(now, e) && (isNoted || now.kind == FileState.ABSENT || now.sameOwnerAndMode(e.image));
        } catch (IOException unreadable) {
            return false;
        }
    }

    /** Whether nothing is lacking of what is back: it was not permitted, perhaps, to whoever put it back. */
    private static boolean isWhole(FileState now, FileState image) {
        return now.kind == FileState.ABSENT || now.sameOwnerAndMode(image) && (now.kind == FileState.DIRECTORY || now.mtime == image.mtime);
    }

    /** Whether what is there is as imaged, and not by a name of something else, though equal: that shares its times and all that is done to it. */
    private boolean sameContent(FileState now, Entry e) throws IOException {
        FileState image = e.image;
        return (!image.hasOtherNames() && !now.hasOtherNames() || now.sameInode(image)) && isLike(now, e);
    }

    private boolean isLike(FileState now, Entry e) throws IOException {
        return now.isLike(e.image) && (now.kind != FileState.FILE || sameBytes(now, e));
    }

    private boolean sameBytes(FileState now, Entry e) throws IOException {
        FileState image = e.image;
        return now.kind == FileState.FILE && image.kind == FileState.FILE && now.size == image.size
                && (now.sameStat(image) && !image.racy() || hasSha(e, image.sha));
    }

    /** Whether the file that is there has these bytes; no if it may not be read, so that it is put back without having been looked into. */
    private boolean hasSha(Entry e, byte[] sha) throws IOException {
        try {
            return Arrays.equals(Sha256.of(files.path(e.name.bytes)), sha);
        } catch (AccessDeniedException unreadable) {
            return false;
        }
    }

    private static boolean sameMetadata(FileState now, FileState image) {
        return now.kind == FileState.ABSENT || now.sameOwnerAndMode(image) && (now.kind == FileState.DIRECTORY || now.mtime == image.mtime);
    }

    /** Whether the session, or a child of its, could have changed the path, but left it as it was: then whatever others did to it is their own. */
    private boolean isNotOurChange(Entry e) {
        FileState left = e.left;
        return !crashed && left != null && e.users == 0 && e.earlier.length == 0 && !e.decided && !e.gone && (left.kind == FileState.ABSENT
                ? e.image.kind == FileState.ABSENT : left.sameStat(e.image));
    }

    /** Whether somebody else has given the file, which holds what the session left in it, another mode, owner or attribute since. */
    private boolean isTheirMetadata(Plan p) {
        return !crashed && p.e.left != null && p.e.users == 0 && p.now.isChangedSince(p.e.left);
    }

    private int owner(Entry e, FileState now) throws IOException {
        int owner = ownerByState(e, now);
        return owner == Plan.THEIRS && crashed && isFromBefore(e, now) ? Plan.ATTRIBUTED : owner;
    }

    /**
     * Whether what is there now was so before the session crashed, though it left it otherwise: a disk that lost its power has kept something
     * earlier. Nobody has changed it since, for that would have a later time.
     */
    private boolean isFromBefore(Entry e, FileState now) throws IOException {
        FileState seen = now.kind == FileState.ABSENT ? FileState.look(files, e.name.parent()) : now;
        if (seen.kind == FileState.ABSENT) {
            return false;
        }
        FileState left = e.left;
        return seen.ctime < bootedNs || left != null && left.kind != FileState.ABSENT && seen.ctime < left.ctime
                || left != null && now.sameInode(left) && now.ctime == left.ctime
                || e.prior != null && now.sameInode(e.prior) && now.ctime <= e.prior.ctime;
    }

    private int ownerByState(Entry e, FileState now) throws IOException {
        if (e.inPlace && now.kind == FileState.FILE && (now.sameInode(e.image) || e.left != null && now.sameInode(e.left))) {
            return Plan.OURS;
        }
        if (e.decided && (now.kind == FileState.ABSENT || now.kind == FileState.DIRECTORY && e.image.kind == FileState.DIRECTORY
                || isLike(now, e) || known.isComingBack(e, now))) {
            return Plan.OURS;
        }
        FileState left = e.users > 0 ? null : left(e);
        if (left == null) {
            if (e.users > 0 ? known.isReplaced(e, now) : crashed && known.isBesideMapped(e, now)) {
                return Plan.THEIRS;
            }
            return e.prior != null && now.sameStat(e.prior) && !e.prior.racy() ? Plan.OURS : lostLeases ? Plan.THEIRS : Plan.ATTRIBUTED;
        }
        if (now.kind != left.kind) {
            // what it left here was found to be gone, and has come back with its directory
            return now.kind != FileState.ABSENT && known.isAsLeft(now) ? Plan.OURS : Plan.THEIRS;
        }
        switch (now.kind) {
            case FileState.ABSENT:
                return Plan.OURS;
            case FileState.FILE:
                int owner = fileOwner(e, now, left);
                return owner == Plan.OURS && left.inferred ? Plan.ATTRIBUTED : owner;
            case FileState.LINK:
                return Arrays.equals(now.link, left.link) ? Plan.OURS : Plan.THEIRS;
            case FileState.DIRECTORY:
                // with its time to the nanosecond, or with what is in it, another one is what the undo of a later session has made anew
                boolean it = now.sameInode(left) || isMade(e) && (now.mtime == left.mtime || now.mtime == e.ownMtime
                        || known.holdsWhatWasBrought(backups.list(e.name)));
                return it && now.sameOwner(left) && (now.mode | 0700) == (left.mode | 0700) ? Plan.OURS : Plan.THEIRS;
            default:
                return now.sameInode(left) ? Plan.OURS : Plan.THEIRS;
        }
    }

    private int fileOwner(Entry e, FileState now, FileState left) throws IOException {
        boolean sameStat = now.sameStat(left);
        if (sameStat && (!left.racy() || left.sha == null)) {
            return Plan.OURS;
        }
        if (left.sha != null && left.size == now.size && hasSha(e, left.sha)) {
            // the same bytes in another file, or under another mode, are somebody else's doing all the same; with the same time to the
            // nanosecond they are what the undo of a later session, or a copy, has put back, and nothing of anybody's is in them
            return (now.sameInode(left) || now.mtime == left.mtime) && now.sameOwnerAndMode(left) ? Plan.OURS : Plan.ATTRIBUTED;
        }
        if (sameStat) {
            return Plan.THEIRS;
        }
        FileState other = known.leftLike(now);
        if (other != null && other != left
                && (other.sha == null || hasSha(e, other.sha))) {
            return Plan.OURS;
        }
        // with the same times to the nanosecond: a mode, or a copy that keeps them, as the undo of a later session makes
        boolean onlyInodeChanged = now.size == left.size && now.mtime == left.mtime && left.sha == null;
        return onlyInodeChanged || now.nlink > 1 && openInodes.containsKey(now.ino) || known.wasOpen(e, now, crashed) ? Plan.ATTRIBUTED : Plan.THEIRS;
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
    boolean movedAbout(Entry e) {
        boolean gone = e.gone;
        for (Name up = e.name.parent(); up != null && !gone; up = up.parent()) {
            Entry a = known.get(up);
            gone = a != null && a.gone && a.role == Entry.TOUCHED;
        }
        return gone;
    }

    /** Whether nothing has happened at the path since it was decided on, apart from what this rollback does to other names of the file. */
    boolean isAsDecided(Plan p) throws IOException {
        FileState now = FileState.look(files, p.e.name);
        return now.kind == FileState.ABSENT ? p.now.kind == FileState.ABSENT : now.couldBeMoved(p.now);
    }

    /** Decides again on what has changed since. */
    boolean isStillOurs(Plan p) throws IOException {
        p.now = FileState.look(files, p.e.name);
        p.owner = p.now.kind == FileState.DIRECTORY && p.e.image.kind != FileState.DIRECTORY ? Plan.THEIRS : owner(p.e, p.now);
        return p.owner != Plan.THEIRS;
    }

    /** What to do when there is a wall between the path and the image's way back. */
    IOException wall(Name wall, String what) {
        Plan w = plans.get(wall);
        return w != null && w.outcome == Outcome.FAILED ? new IOException(wall + what) : new Obstructed(wall + what);
    }

    IOException wall(Name wall) {
        return wall(wall, " is not a directory any more and is not followed");
    }

    /** Ends what is done for a path: for good, with the image beside, or until the rollback is run again. */
    void stop(Plan p, Exception reason) {
        if (reason instanceof Obstructed) {
            aside.keepTheirs(p, RollbackReport.OBSTRUCTED + reason.getMessage());
        } else {
            p.fail(reason);
        }
    }
}
