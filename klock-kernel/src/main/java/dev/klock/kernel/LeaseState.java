package dev.klock.kernel;

/** The life of a lease (RS-4, C50). The first five block others; the last three are ends. */
public enum LeaseState {
    /** Reserved: it blocks others, but its holder may not act before the pre-image is safe and confirmed. */
    PENDING,
    /** Held. */
    ACTIVE,
    /** The session failed; blocks until the rollback is reported done. */
    ROLLING_BACK,
    /** Ran out while its agent restarts after DIE; kept for a short while (K3-6, C25). */
    GRACE,
    /** Ran out without a word from its holder, who may be about to write: blocks a little longer, and can only be released (C46). */
    LOCK_DELAY,
    /** Ran out. */
    EXPIRED,
    /** Given back. */
    RELEASED,
    /** Taken away. */
    REVOKED;

    /** Whether a lease in this state stands in the way of others. */
    public boolean isLive() {
        return compareTo(LOCK_DELAY) <= 0;
    }
}
