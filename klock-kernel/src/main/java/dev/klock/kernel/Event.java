package dev.klock.kernel;

import java.util.List;

/**
 * Something that happened in the kernel, in the order it happened. Immutable.
 *
 * @param kind what
 * @param session whose
 * @param atMs when, kernel clock, milliseconds
 * @param leases the leases concerned, as they are after it; empty for kinds that are not about leases
 * @param request the waiting manifest's number; 0 if it is not about one
 * @param conflicts what stood in the way; empty if nothing
 * @param from the state before, for STATE_CHANGED, else {@code null}
 * @param to the state after, for STATE_CHANGED, else {@code null}
 * @param changes for OBSERVATION_UPDATE, else empty
 * @param priorityMs the session's timestamp
 * @param reason a few words on why, or {@code null}
 */
public record Event(
        Kind kind,
        SessionKey session,
        long atMs,
        List<Lease> leases,
        long request,
        List<Conflict> conflicts,
        LifeCycle from,
        LifeCycle to,
        List<Change> changes,
        long priorityMs,
        String reason) {
    /** The kinds of event. */
    public enum Kind {
        SESSION_REGISTERED,
        /** The session went from one of the seven states to another (K5-1). */
        STATE_CHANGED,
        /** All leases of one manifest; to a waiter, this is the hand-over (K4-10, K4-12). */
        LEASE_GRANTED,
        LEASE_CONFIRMED,
        /** A manifest went into the queue (K4-4). */
        WAITING,
        /** The telemetry of death (K7-14): requester, holders, resources, predicates, timestamps. */
        DIED,
        /** A wait ran out (K4-5). */
        WAIT_TIMED_OUT,
        /** A waiting manifest was taken back. */
        WAIT_WITHDRAWN,
        /** These leases block until {@link Command.RolledBack} (C50). */
        ROLLBACK_REQUIRED,
        LEASE_FREED,
        /** Ran out but is kept while its agent restarts (K3-6). */
        LEASE_IN_GRACE,
        LEASE_EXPIRED,
        LEASE_REVOKED,
        CONTENTION_DETECTED,
        /** What changed while the session was paused (K5-10, K5-11). */
        OBSERVATION_UPDATE
    }
}
