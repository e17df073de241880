package dev.klock.manifest;

import dev.klock.kernel.Predicate;

/**
 * The cover relation between predicates as data (C34, K1-4, K1-5): which attempted predicates a declared one allows, and which a
 * denied one stops. Rows and mask bits are {@link Predicate} ordinals.
 */
public final class Cover {
    private static final int P = 1 << Predicate.PROVIDES.ordinal();
    private static final int C = 1 << Predicate.CONSUMES.ordinal();
    private static final int M = 1 << Predicate.MUTATES.ordinal();
    private static final int D = 1 << Predicate.DELETES.ordinal();
    private static final int E = 1 << Predicate.DEPENDS_ON.ordinal();
    private static final int R = 1 << Predicate.RENAMES.ordinal();

    /** All six predicates. */
    public static final int ALL = P | C | M | D | E | R;

    /** Declared predicate → attempted predicates it allows on anything. */
    private static final int[] ALLOWS = {
        /* PROVIDES   */ P | E,
        /* CONSUMES   */ C | E,
        /* MUTATES    */ M | C | E,
        /* DELETES    */ D | E,
        /* DEPENDS_ON */ E,
        /* RENAMES    */ R | E,
    };

    /** The same on what this very session created: having made it, it may do anything with it. */
    private static final int[] ALLOWS_ON_CREATED = {
        /* PROVIDES   */ ALL,
        /* CONSUMES   */ C | E,
        /* MUTATES    */ M | C | E,
        /* DELETES    */ D | E,
        /* DEPENDS_ON */ E,
        /* RENAMES    */ R | E,
    };

    /**
     * Denied predicate → attempted predicates it stops: itself and whatever implies it. What may not be looked at may not be touched
     * in any way; what may not be read may not be changed (that implies reading) nor renamed (it could be read under its new name).
     * Denying MUTATES leaves reading alone.
     */
    private static final int[] STOPS = {
        /* PROVIDES   */ P,
        /* CONSUMES   */ C | M | R,
        /* MUTATES    */ M,
        /* DELETES    */ D,
        /* DEPENDS_ON */ ALL,
        /* RENAMES    */ R,
    };

    private Cover() {
    }

    /** The attempted predicates that declaring {@code declared} allows, as a mask of {@link Predicate#bit()}. */
    public static int allows(Predicate declared, boolean createdBySession) {
        return (createdBySession ? ALLOWS_ON_CREATED : ALLOWS)[declared.ordinal()];
    }

    /** The attempted predicates that denying {@code denied} stops, as a mask of {@link Predicate#bit()}. */
    public static int stops(Predicate denied) {
        return STOPS[denied.ordinal()];
    }
}
