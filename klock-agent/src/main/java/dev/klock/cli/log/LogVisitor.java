package dev.klock.cli.log;

/** Is shown a log in its order. */
public interface LogVisitor {
    /** Once for each file. */
    default void header(LogHeader header) {
    }

    default void event(LogEvent event) {
    }

    default void summary(LogSummary summary) {
    }

    /** What became of the session's leases. */
    default void lease(LogLease lease) {
    }

    /** What became of another session, which had crashed. */
    default void recovered(LogRecovered recovered) {
    }

    /** So many records could not be written. */
    default void lost(long records) {
    }

    /** A line is no record: torn by a crash or a full disk, or damaged, or in a file of another format. */
    default void unreadable() {
    }
}
