package dev.klock.agent.observe;

/** Hears that the JVM ends; what it does there may take its time (a rollback is never cut short). Called with klock's own I/O exempt. */
public interface Ending {
    /** {@code Runtime.halt} or {@code System.exit} with {@code status}, after all shutdown hooks and deletions on exit. */
    void halting(int status);

    /** The last non-daemon thread has ended and so has the shutdown sequence. */
    void ending();
}
