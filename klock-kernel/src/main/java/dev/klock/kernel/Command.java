package dev.klock.kernel;

import java.util.List;
import java.util.Objects;

/**
 * What can be asked of a {@link Kernel}. Each is an immutable value: it can be logged, sent, and replayed. What a command means, the
 * rules it follows and how it can be refused stands with each.
 */
public sealed interface Command {
    /**
     * Makes a session known (K4-3). The first timestamp stands for the session's whole life (K3-7, C13): registering again never changes
     * it, and asking for an older one is refused.
     *
     * <p>Registering a live session again with the same epoch changes nothing; with a higher one it is the restarted agent: its wait is
     * over, its leases stay for {@link Reconcile}. An ended session comes back only with a higher epoch.
     *
     * @param priorityMs the timestamp asked for, milliseconds since 1970; smaller is older
     * @param vouched whether somebody the kernel trusts vouches for a timestamp older than now: a verified StateDigest, or the operator's
     *     manifest (K8-10). Without it an older one is refused
     * @param epoch how often the agent was restarted (K8-5)
     * @param resumed whether it comes from a StateDigest and has yet to look at what changed: it starts PAUSED until {@link Resume} (K5-7)
     * @param rollsBack whether it undoes its work when it fails: then writing leases stay ROLLING_BACK until {@link RolledBack} (C50)
     * @param retries whether it means to try again after DIE (C5); if not, DIE ends it
     */
    record Register(SessionKey session, long priorityMs, boolean vouched, long epoch, boolean resumed, boolean rollsBack, boolean retries)
            implements Command {
        public Register {
            Objects.requireNonNull(session, "session");
        }

        /** A new session that rolls back and retries, with a timestamp its caller is trusted to choose. */
        public static Register of(SessionKey session, long priorityMs) {
            return new Register(session, priorityMs, true, 0, false, true, true);
        }
    }

    /**
     * Asks for every lease of a manifest at once, all or nothing (K2-5). The answer's verdict is GRANTED with the leases; WAIT with a
     * place in the queue; PAUSED; or DIE, which also takes every lease the session has (C43). WAIT, PAUSED and DIE carry all conflicts
     * (C20). A manifest that needs no lease, without triples or with starts of programs only (C48), is GRANTED without any, and the session
     * goes where the leases that it holds put it: PLANNING if there are none (K5-2).
     *
     * @param ttlMs how long the leases last without a heartbeat; 0 for the default; more than the cap is cut (C28)
     * @param waitMs how long to wait at most; 0: cannot wait, the verdict is PAUSED instead of WAIT (C4), the
     *     session stays what it is, and its leases stay
     * @param reserve whether leases start PENDING, to be confirmed once the pre-images are safe (C50)
     */
    record Submit(SessionKey session, List<Triple> triples, long ttlMs, long waitMs, boolean reserve) implements Command {
        public Submit {
            Objects.requireNonNull(session, "session");
            triples = List.copyOf(triples);
        }

        /** With default times, active at once. */
        public static Submit of(SessionKey session, List<Triple> triples) {
            return new Submit(session, triples, 0, Limits.DEFAULT_WAIT_MS, false);
        }
    }

    /** What a {@link Submit} that can wait would answer, refusals included; changes nothing (C21). */
    record DryRun(SessionKey session, List<Triple> triples) implements Command {
        public DryRun {
            Objects.requireNonNull(session, "session");
            triples = List.copyOf(triples);
        }
    }

    /** Takes the session's waiting manifest back; its leases stay. Refused when nothing waits. */
    record Withdraw(SessionKey session) implements Command {}

    /**
     * Makes PENDING leases ACTIVE (C50). {@code leases} holds fencing tokens, at most {@link Limits#MAX_NUMBERS}, here and in what follows;
     * {@code null} means all of the session.
     */
    record Confirm(SessionKey session, long[] leases) implements Command {}

    /**
     * Makes leases last for another time to live from now (K3-11). Each lease is judged by itself; the answer lists those refused: expired,
     * released (K3-12), somebody else's. {@code null} means all of the session.
     */
    record Heartbeat(SessionKey session, long[] leases) implements Command {}

    /** Gives leases back (K3-13). Each is judged by itself. {@code null} means all of the session. */
    record Release(SessionKey session, long[] leases) implements Command {}

    /** Takes one lease away by force (RS-4); for operators, so it needs no owner. */
    record Revoke(long lease) implements Command {}

    /**
     * Asked by a restarted agent: which of these leases are still its own? Those are renewed; the grace is over for all others (K7-5, C25).
     *
     * <p>A lease that is to be rolled back is not one of them, and is rejected as {@code LEASE_GONE}. If it was in its grace, it is
     * ROLLING_BACK again for another time to live, and the answer's events say so with {@code ROLLBACK_REQUIRED}, so that the rollback is
     * done while it still keeps others away (C45).
     */
    record Reconcile(SessionKey session, long[] leases) implements Command {
        public Reconcile {
            Objects.requireNonNull(leases, "leases");
        }
    }

    /** The session's process is about to end with code 107 and be started again: its leases get the grace of K3-6. */
    record AnnounceRestart(SessionKey session) implements Command {}

    /** Nothing but the passing of time. Every command does this first. */
    record Expire() implements Command {}

    /**
     * An operator's pause (C4): leases stay and need heartbeats; new manifests are answered PAUSED, and one that waits is taken back, to be
     * asked for again after {@link Resume} (K5-9).
     */
    record Pause(SessionKey session) implements Command {}

    /** Ends an operator's pause, or tells that a resumed session has looked at what changed (K5-8, C9). */
    record Resume(SessionKey session) implements Command {}

    /** Work is done and is being checked (K5-2). */
    record Verify(SessionKey session) implements Command {}

    /** The session ended well: everything is released. */
    record Complete(SessionKey session) implements Command {}

    /** The session failed: what needs no rollback is released, the rest when {@link RolledBack} comes. */
    record Abort(SessionKey session, String reason) implements Command {}

    /**
     * The rollback after DIE or {@link Abort} is done: the last leases go. Of leases that go otherwise, paused sessions are told that they may
     * have changed something (K5-11).
     */
    record RolledBack(SessionKey session) implements Command {}
}
