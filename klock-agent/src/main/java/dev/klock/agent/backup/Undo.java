package dev.klock.agent.backup;

/**
 * How much of a rollback is wanted. Immutable.
 *
 * @param only     bytes of an absolute path: what is at and below it, and what the session moved there; null for everything
 * @param force    what others changed gives way too, and is put aside
 * @param dry      only say what would be done
 * @param progress is told how far it is; null for nobody
 */
public record Undo(byte[] only, boolean force, boolean dry, Progress progress) {
    /** All of it, others' changes left in place. */
    public static final Undo ALL = new Undo(null, false, false, null);

    /** {@link #ALL}; {@code progress} is told how far it is, null for nobody. */
    public static Undo all(Progress progress) {
        return progress == null ? ALL : new Undo(null, false, false, progress);
    }

    /** Told after each path, on the thread that rolls back. */
    public interface Progress {
        void done(int paths, int of);

        /** Asked before each step: false if others may have been granted what the session changed, so that nothing more of it is to be put back. */
        default boolean goesOn() {
            return true;
        }

        /** Why it does not go on: true if whoever asked for it has ended it, and may ask for the rest later; false if the leases are gone. */
        default boolean isInterrupted() {
            return false;
        }
    }

    boolean goesOn() {
        return progress == null || progress.goesOn();
    }

    boolean isInterrupted() {
        return progress != null && progress.isInterrupted();
    }

    boolean whole() {
        return only == null && !dry;
    }
}
