package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;

/** One mutating operation of a thread between its decision and its end. Reused, so that a repeated operation allocates nothing. */
final class Frame {
    /** Of the session whose operation it is: it ends as its own, whoever the thread works for by then. */
    Observer observer;
    /** {@link Op#code()}. */
    int op;
    /** The resolver's epoch before the name was looked up. */
    int epoch;
    /** What it changes, null if it will change nothing. */
    Target a;
    /** The other side: a rename's or link's new name, a copy's or move's target. */
    Target b;
    /** For a copy or move, what its steps may do to {@link #a} without being judged again: a mask of predicate bits. */
    int partA;
    int partB;
    /** Reached from java.io rather than java.nio.file, which declares IOException everywhere. */
    boolean byName;
    /** Opens {@link #a} for writing; the result is the descriptor. */
    boolean opens;
    boolean createsA;
    boolean createsB;
    boolean removesA;
    /** {@link PreImages#left} is owed for {@link #a}. */
    boolean heldA;
    /** {@link PreImages#left} is owed for {@link #b}. */
    boolean heldB;
    /** The operation has failed, and is one system call, which had no effect then. */
    boolean failed;
    /** Removes {@link #a} to put another in its place. */
    boolean replaces;
    /** {@link #a} is a directory with all that lies in it. */
    boolean tree;
    /** Changes where names lead. */
    boolean links;
    /** Makes, removes or renames a symbolic link, so that it has to be alone. */
    boolean leads;
    /** Compare what was opened with what was decided. */
    boolean checked;
    /** The status of what was decided, if it has no name that could be compared. */
    long[] removed;
    /** Counted among {@link Mutations}. */
    boolean marked;
    /** And alone among them. */
    boolean alone;
    /** Counted among the changes of links under way. */
    boolean counted;
    /** {@link Claims#release} is owed, which the next four belong to. */
    boolean claimed;
    int low;
    int high;
    boolean hasLow;
    boolean hasHigh;
    /** An image was made and waited for, so that what the names lead to must be looked at again. */
    boolean waited;
    /** The name of {@link #a} where it leads through a link, so that where it led is looked at afterwards, too; else null. */
    String nameA;
    /** The same of {@link #b}. */
    String nameB;
    boolean followA;
    /** {@link System#nanoTime()} when the name of what it changes was looked up; 0 if it was not read then. */
    long nowNs;
    /** The open descriptor of what it changes; -1 where it goes by a name. */
    int fd = -1;
    /** When {@link #nameA} was looked at, in nanoseconds since the epoch. */
    long sinceNs;

    void clear() {
        observer = null;
        fd = -1;
        a = null;
        b = null;
        partA = 0;
        partB = 0;
        byName = false;
        opens = false;
        createsA = false;
        createsB = false;
        removesA = false;
        heldA = false;
        heldB = false;
        failed = false;
        replaces = false;
        tree = false;
        leads = false;
        links = false;
        checked = false;
        removed = null;
        marked = false;
        alone = false;
        counted = false;
        claimed = false;
        waited = false;
        nameA = null;
        nameB = null;
        followA = false;
        nowNs = 0;
    }
}
