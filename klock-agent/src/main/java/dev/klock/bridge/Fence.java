package dev.klock.bridge;

/**
 * One flag read by every woven write through an open descriptor: raised once the session may no longer change anything (aborted, lease
 * lost), so that streams opened before cannot go on. The one instance is shared by the bridge and the session that raises it; programs
 * cannot reach it.
 */
public final class Fence {
    /** Whether writes must ask {@link Hooks#fenced} first. Never lowered. */
    public volatile boolean raised;
}
