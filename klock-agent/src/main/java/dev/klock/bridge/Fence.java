package dev.klock.bridge;

/**
 * What every woven write through an open descriptor looks at: up once the session may no longer change anything (aborted, lease lost), so that
 * streams opened before cannot go on, or once it may not by the clock, since nobody has renewed its leases: a process that was stopped for long
 * meets it before anything else of klock's runs (C46). The one instance is shared by the bridge and the session; programs cannot reach it.
 */
public final class Fence {
    /** About 146 years: for ever, and still a difference of {@link System#nanoTime}. */
    public static final long FOR_EVER = Long.MAX_VALUE / 2;

    /** Whether writes must ask {@link Hooks#fenced} first. Never lowered. */
    public volatile boolean raised;
    /** From this moment of {@link System#nanoTime} on they must, too. */
    public volatile long until = System.nanoTime() + FOR_EVER;

    /** Costs one look at the clock. */
    public boolean isUp() {
        return raised || System.nanoTime() - until >= 0;
    }
}
