package dev.klock.digest;

/** What the agent means to do about the conflict it stopped for (K5-4). */
public enum Resolution {
    /** Ask for the same again. */
    RETRY,
    /** Give up. */
    ABORT,
    /** Put its work together with what the others did, then ask again. */
    MERGE
}
