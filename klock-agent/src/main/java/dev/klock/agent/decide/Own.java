package dev.klock.agent.decide;

import dev.klock.kernel.Predicate;

/**
 * klock's own files: the home directory and the user's cache of compiled manifests and woven classes, which a program can neither
 * read nor change, and the manifest and klock.jar, which it can
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

    /** @param home real name of {@code .klock}, null if there is none; @param readOnly real names of the manifest, klock.jar, … */
    public Own(String home, String... readOnly) {
        this(home == null ? new String[0] : new String[] {home}, readOnly);
    }

    /** As above, with several directories that are kept as {@code .klock} is; none of {@code homes} is null. */
    public Own(String[] homes, String[] readOnly) {
        this.homes = homes.clone();
        this.readOnly = readOnly.clone();
    }

    /** What must not be done with the file {@code real}, as a mask of {@link Predicate#bit()}. */
    public int forbidden(String real) {
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
