package dev.klock.kernel;

/** What the kernel answers to a manifest (K0-3). Declaration order is from best to worst (C4). */
public enum Verdict {
    /** All leases of the manifest are given, at once and together (K2-5). */
    GRANTED,
    /** The requester is older than everything in its way and stands in the queue (K4-4). */
    WAIT,
    /** Nothing is queued: the session is suspended, or it would have to wait and cannot (C4). */
    PAUSED,
    /** Somebody older is in the way: roll back, back off, try again with the same timestamp (K4-6). */
    DIE;

    /** The worse of the two (RS-5). */
    public Verdict worst(Verdict other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
