package dev.klock.kernel;

/** Where a session is (K5-1, K5-2): always in exactly one of these seven. */
public enum LifeCycle {
    /** Thinking; holds nothing, also if it was granted a manifest that needs no lease. */
    PLANNING,
    /** A manifest is being asked for. */
    ACQUIRING,
    /** Holds leases and works. */
    EXECUTING,
    /** Stopped by WAIT or DIE, or by an operator (K5-3, C5); not by a PAUSED that says only that it would have to wait (C4). */
    PAUSED,
    /** Work is done, leases are still held, results are being checked. */
    VERIFYING,
    /** Ended well; holds nothing. */
    COMPLETED,
    /** Ended by failure; leases are released once the rollback is done. */
    ABORTED;

    /** Row: from; bits: to. A session leaves its last two states only by registering again with a higher epoch. */
    private static final int[] NEXT = {
        bits(ACQUIRING, PAUSED, COMPLETED, ABORTED), // PLANNING
        bits(PLANNING, EXECUTING, PAUSED, ABORTED), // ACQUIRING
        bits(PLANNING, ACQUIRING, PAUSED, VERIFYING, ABORTED), // EXECUTING
        bits(ACQUIRING, ABORTED), // PAUSED
        bits(PLANNING, ACQUIRING, EXECUTING, PAUSED, COMPLETED, ABORTED), // VERIFYING
        0, // COMPLETED
        0, // ABORTED
    };

    private static final LifeCycle[] ALL = values();

    /** The state with that ordinal. */
    static LifeCycle of(int ordinal) {
        return ALL[ordinal];
    }

    private static int bits(LifeCycle... states) {
        int bits = 0;
        for (LifeCycle s : states) {
            bits |= 1 << s.ordinal();
        }
        return bits;
    }

    /** Whether a session may go from here to {@code next}. */
    public boolean mayBecome(LifeCycle next) {
        return (NEXT[ordinal()] & 1 << next.ordinal()) != 0;
    }

    /** Whether the session is over. */
    public boolean isTerminal() {
        return NEXT[ordinal()] == 0;
    }
}
