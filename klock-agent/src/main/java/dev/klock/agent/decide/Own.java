package dev.klock.agent.decide;

import dev.klock.kernel.Predicate;

/**
 * klock's own files: the home directory and the user's cache of compiled manifests and woven classes, which a program can neither
 * read nor change, but for the one file in the home that is there to tell it something, and the manifest and klock.jar, which it can
 * read where it may but never change. Whatever the manifest says and in every mode.
 *
 * <p>Immutable; thread-safe.
 */
public final class Own {
    private static final int CHANGE =
            Predicate.PROVIDES.bit() | Predicate.MUTATES.bit() | Predicate.DELETES.bit() | Predicate.RENAMES.bit();
    private static final int ALL = CHANGE | Predicate.CONSUMES.bit() | Predicate.DEPENDS_ON.bit();

    private final String[] homes;
    private final String[] readOnly;
    /** What is shown to the program; null for nothing. */
    private final String shown;

    /** @param home real name of {@code .klock}, null if there is none; @param readOnly real names of the manifest, klock.jar, … */
    public Own(String home, String... readOnly) {
        this(home == null ? new String[0] : new String[] {home}, readOnly);
    }

    /** As above, with several directories that are kept as {@code .klock} is; none of {@code homes} is null. */
    public Own(String[] homes, String[] readOnly) {
        this(homes.clone(), readOnly.clone(), null);
    }

    private Own(String[] homes, String[] readOnly, String shown) {
        this.homes = homes;
        this.readOnly = readOnly;
        this.shown = shown;
    }

    /** The same, with the file {@code place} in the home for the program to read, whatever its manifest says; {@code place}: from the home on. */
    public Own showing(String place) {
        return homes.length == 0 ? this : new Own(homes, readOnly, homes[0].concat("/").concat(place));
    }

    /** What may be done with the file {@code real} whatever the manifest says, as a mask of {@link Predicate#bit()}. */
    int allowed(String real) {
        return real.equals(shown) ? Baseline.READ : 0;
    }

    /** What must not be done with the file {@code real}, as a mask of {@link Predicate#bit()}. */
    public int forbidden(String real) {
        if (real.equals(shown)) {
            return CHANGE;
        }
        for (int i = 0; i < homes.length; i++) {
            if (isAtOrBelow(homes[i], real)) {
                return ALL;
            }
        }
        for (int i = 0; i < readOnly.length; i++) {
            if (readOnly[i].equals(real)) {
                return CHANGE;
            }
        }
        return 0;
    }

    /** Something of klock's at or below the directory {@code real}, so that it must stay where it is; null if there is nothing. */
    public String within(String real) {
        for (int i = 0; i < homes.length; i++) {
            if (isAtOrBelow(real, homes[i])) {
                return homes[i];
            }
        }
        for (int i = 0; i < readOnly.length; i++) {
            if (isAtOrBelow(real, readOnly[i])) {
                return readOnly[i];
            }
        }
        return null;
    }

    static boolean isAtOrBelow(String directory, String path) {
        return path.startsWith(directory)
                && (path.length() == directory.length() || directory.equals("/") || path.charAt(directory.length()) == '/');
    }
}
