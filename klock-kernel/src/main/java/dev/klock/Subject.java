package dev.klock;

/**
 * Whom a thread works for: a session, or the process itself. For glue that carries this on by ways that klock does not follow ({@link Klock#subject});
 * programs use {@link KlockSession#run} and {@link Klock#wrap}. Two are equal if they are the same. Immutable, safe for all threads.
 */
public interface Subject {
    /**
     * From here on the calling thread works for this one, in place of whom it worked for. It does not nest: whoever sets one, sets the one before
     * in the end. What the thread has {@linkplain KlockSession#enter entered} stays to be closed, and gets back to what was before that.
     *
     * <p>It is not refused to a session that may not work, as {@link KlockSession#enter} is: as with all work that was handed on, what it does then
     * fails if the session was aborted, and is the process's if it was closed.
     */
    void set();

    /**
     * {@code work} for this one, whichever thread comes to run it, with all tasks that it calls, whoever has made them; the thread works afterwards for whom
     * it worked before.
     */
    default Runnable wrap(Runnable work) {
        return () -> {
            Subject before = Klock.subject();
            set();
            try {
                work.run();
            } finally {
                before.set();
            }
        };
    }
}
