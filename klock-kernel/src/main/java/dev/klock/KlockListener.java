package dev.klock;

/**
 * Is told what {@code -javaagent:klock.jar} has decided about the process and its agents ({@link Klock#listen}), afterwards and by a daemon thread of its
 * own, whose work is the process's. It can change nothing of it and delays nobody. What it throws is swallowed, and said once on stderr. Whatever goes on
 * keeping the log is better read from there: what comes as the JVM ends may not be told any more.
 */
public interface KlockListener {
    /**
     * Something was done or tried that the manifest does not declare.
     *
     * @param agentId whose
     * @param sessionId whose, as logs are named
     * @param decision {@code deny}, {@code warn} where it went on, or {@code allow} where {@code amend} has added a lease
     * @param predicate what was attempted, such as {@code MUTATES}
     * @param resource on what, such as {@code FILE:/w/a}, without what is likely to be secret
     * @param operation the log's word for how, such as {@code open_flags}
     * @param decidedBy the line that denies it ({@code klock.yaml:7}), {@code mode}, or another of the log's words
     * @param caller the first frame outside the JDK; null if not known
     * @param thread the thread's name; null if it was none of this JVM's
     * @param message as stderr has it, with the line that would allow it
     */
    record Violation(String agentId, String sessionId, String decision, String predicate, String resource, String operation, String decidedBy, String caller,
            String thread, String message) {}

    /**
     * Leases were granted or refused, or are gone.
     *
     * @param state {@code granted}, {@code agent refused}, {@code died} or {@code lost}, as in the log
     * @param waitedMs how long they were waited for, in milliseconds; 0 if not worth telling
     * @param detail null if there is no more to be known
     */
    record Leases(String agentId, String sessionId, String state, long waitedMs, String detail) {}

    /**
     * What a session has changed was undone.
     *
     * @param reason {@code aborted} or {@code died}
     * @param restored how many files are as they were
     * @param notRestored how many are not; the log says which, and why
     */
    record Rollback(String agentId, String sessionId, String reason, int restored, int notRestored) {}

    /** Told of once, however often it is repeated. */
    default void violated(Violation violation) {}

    default void leases(Leases leases) {}

    default void rolledBack(Rollback rollback) {}

    /** It took its time, so that there are notices that it will not get. */
    default void dropped(long notices) {}
}
