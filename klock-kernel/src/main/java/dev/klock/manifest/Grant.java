package dev.klock.manifest;

import dev.klock.kernel.Predicate;

/**
 * What one manifest says about one resource, for all six predicates at once: the answer of {@link Scope#lookup}.
 *
 * <p>Immutable and shared: a resource about which nothing of its own is said has the same instance as its neighbours, so a caller may
 * cache it by path for as long as it keeps the {@link Scope}.
 *
 * <p>A decision is one int: a line index (0 and up) of the scope line that allows, {@link Scope#ANCESTOR}, {@link Scope#NONE}, or a
 * denying line, for {@link Scope#isAllowed}, {@link Scope#isDenied} and {@link Scope#denyLine} to take apart.
 */
public final class Grant {
    private static final int PREDICATES = 6;
    /** A decision per predicate on what exists, and one on what the session created. */
    static final int DECISIONS = 2 * PREDICATES;
    /** Ints of one grant: its decisions and the declared predicates. */
    static final int SIZE = DECISIONS + 1;

    private final int[] decisions;
    private final int start;

    Grant(int[] decisions, int index) {
        this.decisions = decisions;
        this.start = index * SIZE;
    }

    static int decide(int[] decisions, int index, Predicate predicate, boolean createdBySession) {
        return decisions[index * SIZE + place(predicate, createdBySession)];
    }

    /** Which of a grant's decisions it is. */
    static int place(Predicate predicate, boolean createdBySession) {
        return (createdBySession ? PREDICATES : 0) + predicate.ordinal();
    }

    /**
     * Whether {@code predicate} is allowed, and by which line. {@code createdBySession} is whether this very session brought the thing
     * into being, so that a PROVIDES line also covers what comes after (K1-4, C34).
     */
    public int decide(Predicate predicate, boolean createdBySession) {
        return decisions[start + place(predicate, createdBySession)];
    }

    /** The predicates that scope lines name for this resource, as a mask of {@link Predicate#bit()}; deny lines do not change it. */
    public int declaredPredicates() {
        return decisions[start + SIZE - 1];
    }
}
