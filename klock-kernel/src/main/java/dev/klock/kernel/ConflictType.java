package dev.klock.kernel;

/** Why two triples cannot coexist, in words for people and tools (K2-11). It never changes a verdict. */
public enum ConflictType {
    /** Both want to bring the same thing into being. */
    CREATION_COLLISION,
    /** One relies on what the other changes. */
    STALE_READ_RISK,
    /** Both change it. */
    DESTRUCTIVE_INTERFERENCE,
    /** One removes it, or takes its name away, under the other. */
    EXISTENCE_FAILURE,
    /** An extension of ours beside EXISTENCE_FAILURE: the thing lives on under another name (C3). */
    IDENTITY_CHANGE
}
