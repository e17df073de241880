package dev.klock.kernel;

import java.util.List;

/**
 * What the kernel knows of one session at one moment: a line of the view over all (K7-12), and all that its StateDigest is made of.
 * Immutable.
 *
 * @param priorityMs its timestamp, milliseconds since 1970; smaller is older
 * @param epoch how often it was restarted
 * @param phase what it is at, or was at when it was paused or ended (C8): PLANNING, ACQUIRING, EXECUTING or VERIFYING
 * @param suspended whether an operator paused it, or it has yet to look at what changed (C4)
 * @param restarting whether its leases get the grace of a restart (C25)
 * @param leases how many leases of it block others
 * @param pending what a restarted session has to ask for, each triple as it was declared, also where one lease stands for several (K1-16) and
 *     where none is needed (C48): what it holds, what it asks or waits for, and what DIE has taken from it (C43)
 * @param place its place in the queue, 1 for the first; 0 if it does not wait
 * @param waitsFor who is in its way, each once, oldest first; empty if it does not wait. Of more than {@link Limits#MAX_WAITS_FOR} those that
 *     are in the way of its first triples, and of these whoever holds something before whoever waits, and who came first; one of them where
 *     more than {@link Limits#MAX_LOOKED_AT} would have to be looked at. {@link Kernel#blockers} has all of one session's
 * @param waitUntilMs when its wait ends, kernel clock, milliseconds; 0 if it does not wait
 * @param lastSeenMs when it last gave a command that was carried out; trying one does not count, nor does a refused one, a heartbeat included
 * @param counts what has happened to it since it was first registered, earlier epochs included
 */
public record SessionView(
        SessionKey session,
        long priorityMs,
        long epoch,
        LifeCycle state,
        LifeCycle phase,
        boolean suspended,
        boolean restarting,
        int leases,
        List<Triple> pending,
        int place,
        List<SessionKey> waitsFor,
        long waitUntilMs,
        long lastSeenMs,
        Counts counts) {
    /**
     * What has happened to a session or to all of an agent's.
     *
     * @param grants manifests that were granted
     * @param waits WAIT verdicts: times at which it was put into the queue
     * @param deaths DIE verdicts
     * @param waitsRunOut waits that ended by their timeout
     * @param expiries times at which leases ran out without a heartbeat
     */
    public record Counts(long grants, long waits, long deaths, long waitsRunOut, long expiries) {
        public Counts plus(Counts other) {
            return new Counts(
                    grants + other.grants, waits + other.waits, deaths + other.deaths, waitsRunOut + other.waitsRunOut, expiries + other.expiries);
        }

        /** How many of the manifests that were granted ended because nobody renewed them, from 0 to 1; 0 without grants. */
        public double timeoutRate() {
            return grants == 0 ? 0 : Math.min(1, (double) expiries / grants);
        }
    }
}
