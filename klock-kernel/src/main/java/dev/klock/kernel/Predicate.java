package dev.klock.kernel;

/**
 * What an operation does to a resource: the five predicates of the core (K1-2) and RENAMES (RS-2, C2).
 *
 * <p>Declaration order is the order of the conflict matrix; {@link #bit()} is a predicate's place in a six-bit mask.
 */
public enum Predicate {
    /** Brings the resource into being. */
    PROVIDES,
    /** Reads it. */
    CONSUMES,
    /** Changes it in place; implies CONSUMES (K1-5). */
    MUTATES,
    /** Removes it for good (K1-6). */
    DELETES,
    /** Relies on its existence without reading it. */
    DEPENDS_ON,
    /** Gives it another name (RS-2). */
    RENAMES;

    /** This predicate's bit in a six-bit mask. */
    public int bit() {
        return 1 << ordinal();
    }

    /** Whether the resource is different afterwards; CONSUMES and DEPENDS_ON leave it as it is. */
    public boolean changes() {
        return this != CONSUMES && this != DEPENDS_ON;
    }
}
