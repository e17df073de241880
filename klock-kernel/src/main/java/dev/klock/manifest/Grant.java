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
    private final int[] onExisting;
    private final int[] onCreated;
    private final int declared;

    Grant(int[] onExisting, int[] onCreated, int declared) {
        this.onExisting = onExisting;
        this.onCreated = onCreated;
        this.declared = declared;
    }

    /**
     * Whether {@code predicate} is allowed, and by which line. {@code createdBySession} is whether this very session brought the thing
     * into being, so that a PROVIDES line also covers what comes after (K1-4, C34).
     */
    public int decide(Predicate predicate, boolean createdBySession) {
        return (createdBySession ? onCreated : onExisting)[predicate.ordinal()];
    }

    /** The predicates that scope lines name for this resource, as a mask of {@link Predicate#bit()}; deny lines do not change it. */
    public int declaredPredicates() {
        return declared;
    }
}
