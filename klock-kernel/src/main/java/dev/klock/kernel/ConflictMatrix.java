package dev.klock.kernel;

/**
 * Which predicates can coexist on one resource: the six by six matrix (K2-3, RS-2) as data. Its top left five by five block is the core
 * matrix; RENAMES conflicts with everything (C2).
 *
 * <p>Symmetric: asking for B while A is held conflicts exactly when asking for A while B is held does (K2-2).
 */
public final class ConflictMatrix {
    private static final ConflictType OK = null;
    private static final ConflictType CC = ConflictType.CREATION_COLLISION;
    private static final ConflictType SR = ConflictType.STALE_READ_RISK;
    private static final ConflictType DI = ConflictType.DESTRUCTIVE_INTERFERENCE;
    private static final ConflictType EF = ConflictType.EXISTENCE_FAILURE;

    /** Row: what is held; column: what is asked for; both in the order of {@link Predicate}. */
    private static final ConflictType[][] CELLS = {
        // PROVIDES CONSUMES MUTATES DELETES DEPENDS_ON RENAMES
        {CC, OK, DI, EF, OK, EF}, // PROVIDES
        {OK, OK, SR, EF, OK, EF}, // CONSUMES
        {DI, SR, DI, EF, SR, EF}, // MUTATES
        {EF, EF, EF, EF, EF, EF}, // DELETES
        {OK, OK, SR, EF, OK, EF}, // DEPENDS_ON
        {EF, EF, EF, EF, EF, EF}, // RENAMES
    };

    private static final int[] MASKS = masks();

    /**
     * How much a predicate excludes, least first; a stronger one excludes all that a weaker one does, so that one lease can stand for
     * several triples of a manifest on one resource (K1-16).
     */
    private static final int[] SEVERITY = {2, 1, 3, 5, 0, 4};

    private ConflictMatrix() {}

    private static int[] masks() {
        int[] masks = new int[CELLS.length];
        for (int row = 0; row < CELLS.length; row++) {
            for (int column = 0; column < CELLS.length; column++) {
                if (CELLS[row][column] != null) {
                    masks[row] |= 1 << column;
                }
            }
        }
        return masks;
    }

    /** Whether {@code asked} cannot be granted to another session while {@code held} is. */
    public static boolean conflicts(Predicate held, Predicate asked) {
        return (MASKS[held.ordinal()] & asked.bit()) != 0;
    }

    /** The predicates that conflict with {@code predicate}, as a six-bit mask of {@link Predicate#bit()}. */
    public static int conflictMask(Predicate predicate) {
        return MASKS[predicate.ordinal()];
    }

    /** The kind of conflict, or {@code null} when the two can coexist (K2-11; pairs the documents leave out are filed under the nearest). */
    public static ConflictType type(Predicate held, Predicate asked) {
        return CELLS[held.ordinal()][asked.ordinal()];
    }

    /** As {@link #type}, but a conflict that comes from a rename alone carries our own label IDENTITY_CHANGE (C3). */
    public static ConflictType label(Predicate held, Predicate asked) {
        boolean renames = held == Predicate.RENAMES || asked == Predicate.RENAMES;
        boolean deletes = held == Predicate.DELETES || asked == Predicate.DELETES;
        return renames && !deletes ? ConflictType.IDENTITY_CHANGE : type(held, asked);
    }

    /** The one of the two that excludes more; a lease of it stands for both (K1-16, K1-5). */
    public static Predicate severest(Predicate a, Predicate b) {
        return SEVERITY[a.ordinal()] >= SEVERITY[b.ordinal()] ? a : b;
    }

    /** Whether the predicate leaves traces that a rollback has to undo. */
    public static boolean writes(Predicate predicate) {
        return predicate != Predicate.CONSUMES && predicate != Predicate.DEPENDS_ON;
    }
}
