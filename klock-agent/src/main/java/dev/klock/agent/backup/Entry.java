package dev.klock.agent.backup;

import java.util.Arrays;

/** What a session knows of one path. Fields are guarded by the entry's monitor; monitors are taken child before parent, never the other way. */
final class Entry {
    /** Nothing recorded yet. */
    static final int NONE = 0;
    /** Imaged before the grant; the session has not touched it and a rollback leaves it alone (H21). */
    static final int PREFLIGHT = 1;
    /** A directory above something touched, or an absent one: its times are put back, or it goes when it is empty and ours. */
    static final int IMPLIED = 2;
    /** Touched: the image is what a rollback brings back. */
    static final int TOUCHED = 3;
    /** In records only: what came while a child ran, and the program has changed since. It is kept beside the image, and does not come back. */
    static final int BESIDE = 4;

    static final Earlier[] NO_EARLIER = {};
    private static final FileState[] NONE_MET = {};

    /** An image that another took the place of. */
    static final class Earlier {
        final FileState image;
        /** As {@link Entry#contentAt}. */
        final long contentAt;

        Earlier(FileState image, long contentAt) {
            this.image = image;
            this.contentAt = contentAt;
        }
    }

    final Name name;
    volatile int role;
    FileState image;
    /** Position of the content in the pack, -1 when there is none. */
    long contentAt = -1;
    /** What was imaged before somebody else changed the path between two changes of the session's, oldest first; as a rule nothing. */
    Earlier[] earlier = NO_EARLIER;
    /** What others may have made while a child ran, as it was before the program changed it, oldest first; as a rule nothing. */
    Earlier[] beside = NO_EARLIER;
    /** The pack up to here must be durable before the effect. */
    volatile long recordEnd;
    /** The image is of what was just there, and the session has left nothing since. */
    boolean fresh;
    /** The image is what others have written into a file that has more names: it is to be that of the others, too; else null. */
    volatile FileState theirs;
    /** Data of the image fails its checksum. */
    boolean damaged;

    /** A child is at work on it, with descriptors of its own. */
    volatile boolean lent;
    /** Changes going on: {@code image} calls without their {@code left}. */
    int users;
    /** It was mapped while it was open for writing; until {@link Mappings} finds the last mapping gone, {@link #users} stays above 0. */
    boolean mapped;
    /** How many of the {@link #users} are mappings of {@link #mappedTo}. */
    private int mappings;
    /** The files that were mapped and are held, which are several where others were put at the path; never changed, but exchanged. */
    private FileState[] mappedTo = {};
    /** There is a mapping of a file that is not held. */
    boolean unheld;
    /**
     * On record: the session has nothing of the path but mappings of these files, and is not changing what the name leads to; null if it may be. Arrays
     * are not changed.
     */
    FileState[] onlyMapped;
    /** How often {@link #onlyMapped} was put on record at once. */
    int onlyMappedCount;
    /** What the session left, null while it may be changing. */
    volatile FileState left;
    /** Order among all of {@link #left}, or of the touch that made it null. */
    long leftAt;
    /** The last known state of ours before it was touched again. */
    volatile FileState prior;
    /** Files that were found at the path while it was being changed, beside {@link #lastKnown}; as a rule none. Arrays are replaced, not changed. */
    volatile FileState[] met = NONE_MET;
    /** It was touched again before anybody had looked at what the change before had left: {@link #prior} is older than that. */
    boolean hurried;
    boolean leftOnDisk;
    /** The last record of it says how it was left, be that still so or not: a change that begins has to be on record, too. */
    boolean isLeftByRecord;
    /** {@link #left} waits to be written. */
    boolean collected;
    /** System.nanoTime() of {@link #left}; of the change's begin where it was left {@link #unseen}. */
    long leftNs;
    /** System.nanoTime() when the last change began. */
    long touchedNs;
    /** Two changes of it overlapped since it last was at rest, so a descriptor alone does not tell what is at the name. */
    boolean overlapped;
    int leftCount;
    /** How often it was left as it had been before, as {@link #leftCount} of what was changed. */
    int sameCount;
    /** It changed while a child ran, not by the program itself: by the child or, which nothing tells apart, by somebody else. */
    boolean byChild;
    /** What is there is what came {@link #byChild}: the program has not begun to change it since. */
    boolean isChilds;
    /** A child was at work on it, and what is there now came when the child was over: {@link #left} says what was there before. */
    boolean othersNow;
    /** What was at the path when it was touched again is not known, so its directory counts as changed. */
    boolean moved;
    /** Everything below was opened with it, for a rename or an opaque child. */
    boolean withTree;
    /** Order, as {@link #leftAt}, when all below was last opened with it, before anything of it was; 0 for never, or if that is not known. */
    volatile long withTreeAt;
    /** How far below it a child that is at work may make what it likes: 1 for what is directly in it; 0 while there is none. */
    int openDepth;
    /** What the session left was not looked at yet, since it was changing it again and again; {@link #left} is null meanwhile. */
    boolean unseen;
    /** System.currentTimeMillis() when the session left it unseen. */
    long leftMs;
    long hashedAtNs;
    /** An imaged directory that the session once removed or renamed: what is there now came later, whatever its inode number. */
    volatile boolean gone;
    /** Order, as {@link #leftAt}, of the last time the session left nothing at the path; 0 for never. */
    volatile long goneAt;
    /** For directories: mtime after the session's last change of what is in it; 0 if it made none. */
    long ownMtime;
    /** For directories: mtime after this object's rollback; 0 before that, and for those in which it had nothing to do. For others to be told by. */
    long rolledBackMtime;
    /** Where the session has brought what was here by renames of directories; null if it is here, or never was. */
    volatile Name place;
    /**
     * {@link Rollback#GONE} or {@link Rollback#CHANGED}, if this was found of what was here when its {@link #place} was moved on, and the session has
     * not done it; else 0.
     */
    volatile int lost;
    /** A child was at work at and below it once: what is there then is not told from what the session has brought there. */
    volatile boolean childWorked;

    /** After a crash: a change of it that had begun by its own name, not with a directory above, was not seen to end. */
    boolean interrupted;

    /** Outcome of an earlier, unfinished rollback, or null. */
    RollbackReport.Entry outcome;
    /** An earlier rollback has put it back, or found it as it was: what is there otherwise since is somebody else's, however the session left it. */
    boolean wasBack;
    /** An earlier rollback found that this may be put back, and may have begun to. */
    boolean decided;
    /** An earlier rollback began to write this file in place. */
    boolean inPlace;
    /** The rollback under way has begun to write it in place, so its outcome goes on record though it may be the one that is there. */
    boolean inPlaceNow;
    /** See {@link #toFirst}. */
    boolean forced;
    /** See {@link Rollback#GONE} and {@link Rollback#CHANGED}: what a rollback has found of what was here at its {@link #place}; else 0. */
    int found;
    /** An earlier rollback decided to put back this directory's times. */
    boolean timesDue;

    Entry(Name name) {
        this.name = name;
    }

    /**
     * Somebody else was here: what they made is taken for the state to come back to, and the images so far are kept to be put aside. The
     * first of them is what was there at the start, each later one what others made and the session then changed.
     */
    void superseded() {
        earlier = Arrays.copyOf(earlier, earlier.length + 1);
        earlier[earlier.length - 1] = new Earlier(image, contentAt);
    }

    void isBeside(FileState file, long at) {
        beside = Arrays.copyOf(beside, beside.length + 1);
        beside[beside.length - 1] = new Earlier(file, at);
    }

    /** It is as it was when a child was over: so the child has left it or, which nothing tells apart, somebody else. */
    void byChild() {
        byChild = true;
        isChilds = true;
    }

    /** Whether a mapping may store to it in this very moment. */
    boolean isMapped() {
        return mapped && users > 0;
    }

    /** What was there before the session is the image from here on; what others made since is an earlier one. For the thread that rolls back. */
    void toFirst() {
        Earlier first = earlier[0];
        earlier = earlier.clone();
        earlier[0] = new Earlier(image, contentAt);
        image = first.image;
        contentAt = first.contentAt;
        forced = true;
    }

    /** This became of it. */
    void ended(RollbackReport.Entry as) {
        outcome = as;
        wasBack |= as.outcome() != RollbackReport.Outcome.KEPT_THEIRS && as.outcome() != RollbackReport.Outcome.FAILED;
    }

    void left(FileState now, long at) {
        left = now;
        leftAt = at;
        unseen = false;
        hurried = false;
        gone |= !now.sameInode(image);
        goneAt = now.kind == FileState.ABSENT ? at : goneAt;
    }

    /** A change of it is over, and how that has left it could not be seen: what is known of it is older. */
    void leftUnknown() {
        left = null;
        hurried = true;
    }

    /** The last state of the path that is known for certain to be the session's, or the image. */
    FileState lastKnown() {
        return prior == null ? image : prior;
    }

    /** The directory that was last known to be at the path; null if none was. */
    FileState lastDirectory() {
        FileState last = left != null && left.kind == FileState.DIRECTORY ? left : prior != null && prior.kind == FileState.DIRECTORY ? prior : null;
        for (FileState one : met) {
            last = last == null && one.kind == FileState.DIRECTORY ? one : last;
        }
        return last;
    }

    /** What was there before the session, whatever others have made since. */
    Earlier first() {
        return earlier.length == 0 || forced ? new Earlier(image, contentAt) : earlier[0];
    }

    /** Whether this is the file, or one of the files, that were at the path when they were last seen. */
    boolean wasAt(FileState file) {
        return isAmong(met, file) || lastKnown().sameInode(file);
    }

    /**
     * Whether the session may have this file open by the path: one that it has mapped, where it has nothing but mappings that are held, since
     * those keep their numbers; else one of those that were there.
     */
    boolean isOpenOn(FileState file) {
        return users > 0 && (users <= mappings ? isAmong(mappedTo, file) : wasAt(file));
    }

    /** Whether it is this file that is being changed again, and nobody has looked at how the session left it before. */
    boolean isHurriedOn(FileState file) {
        return hurried && users > 0 && lastKnown().sameInode(file);
    }

    /** Of a file that {@link #isOpenOn} tells of: whether its number cannot be another's, or who has it open is not this process. */
    boolean isNumberHeld(FileState file) {
        return lent || unheld || isAmong(mappedTo, file);
    }

    /** Whether not only one file is known to have been at the path while it is being changed: which of them is open still the number does not tell. */
    boolean hadSeveral() {
        return met.length + (lastKnown().kind == FileState.ABSENT ? 0 : 1) > 1;
    }

    private static boolean isAmong(FileState[] files, FileState file) {
        for (FileState one : files) {
            if (one.sameInode(file)) {
                return true;
            }
        }
        return false;
    }

    /** {@code held} was mapped by this path. */
    void mappedTo(FileState held) {
        mappings++;
        if (!isAmong(mappedTo, held)) {
            mappedTo = Arrays.copyOf(mappedTo, mappedTo.length + 1);
            mappedTo[mappedTo.length - 1] = held;
        }
    }

    /** The files that all changes of the path that are going on are mappings of; null if there are others, or if that is not known. */
    FileState[] onlyMappedTo() {
        return users > 0 && users <= mappings && !unheld && !lent && mappedTo.length > 0 ? mappedTo : null;
    }

    /** So many mappings of a file are gone, and will be left one by one. */
    void unmapping(int times) {
        mappings -= times;
    }

    /** No mapping of {@code held} is left. */
    void unmapped(FileState held) {
        mappedTo = Arrays.stream(mappedTo).filter(one -> !one.sameInode(held)).toArray(FileState[]::new);
        mapped = users > 0 && (mappings > 0 || unheld);
    }

    /** Notes that {@code file} was found at the path; false if that is known. */
    boolean meets(FileState file) {
        return !wasAt(file) && metAlso(file);
    }

    /** {@link #meets} of what is in the journal, since {@link #lastKnown} was another when it was written. */
    boolean metAlso(FileState file) {
        for (FileState m : met) {
            if (m.sameInode(file)) {
                return false;
            }
        }
        FileState[] more = Arrays.copyOf(met, met.length + 1);
        more[met.length] = file;
        met = more;
        return true;
    }

    /** The path is being changed (again). */
    void open() {
        onlyMapped = null;
        if (left != null) {
            prior = left;
            left = null;
        }
        leftOnDisk = false;
    }
}
