package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the kernel knows of a session. Due when it may be forgotten. */
final class Session extends Timed implements Comparable<Session> {
    final SessionKey key;
    final LeaseIndex.Space space;
    /** See {@link Kernel#registration}. */
    long registration;
    /** The first timestamp; it never changes (K3-7, C13). */
    final long priorityMs;

    final boolean rollsBack;
    final boolean retries;
    long epoch;
    /** A number and no reference, since each grant and release changes it: see {@link Roll}. */
    private byte state = (byte) LifeCycle.PLANNING.ordinal();

    /** An operator's pause, or a resumed session that was not re-validated yet: nothing is granted, and nothing waits (C4). */
    boolean suspended;
    /** DIE_RESTART of K3-6: its leases get the grace of C25. */
    boolean restarting;
    long lastSeenMs;

    Request request;
    /** Its leases in the order of granting, by their numbers in the {@link Roll}. */
    int firstLease;

    int lastLease;
    int leases;
    int rollingBack;
    int pending;
    /** Of its leases, those that are over and only block (C46). */
    int delayed;

    /** Whether its view of the world may be stale (K5-11): it was paused or told that it would have to wait, and has not gone on since. */
    boolean stale;
    /** The number of the first change it has not been told about; or {@link Changes#UNKNOWN}. */
    long staleFromChange;
    /** Whether it was paused and has not gone on since. */
    boolean paused;
    /** Whether a lease was lost since. */
    boolean lostWhilePaused;
    /** Whether it was told that what it last asked for would have to wait, and cannot (C4). */
    boolean turnedAway;
    /** What it last asked for. */
    List<Triple> interest = List.of();
    /** What it was granted and that takes no lease (C48), by resource, as it is PROVIDES always; until it has given everything back. */
    Map<Resource, Triple> unleased = Map.of();
    /** What the last DIE took from it, until it is granted something (C43). */
    List<Triple> taken = List.of();
    /** What it was at when it was last paused or ended (C8). */
    LifeCycle phase = LifeCycle.PLANNING;

    long grants;
    long waits;
    long deaths;
    long waitsRunOut;
    long expiries;
    long lastExpiryMs = -1;

    /** Where it is remembered once it is over and holds nothing; {@code null} before. */
    EndedSessions ended;

    Session endedBefore;
    Session endedAfter;

    long quotaWindowMs;
    int quotaUsed;

    Session(SessionKey key, LeaseIndex.Space space, long priorityMs, long epoch, boolean rollsBack, boolean retries) {
        this.key = key;
        this.space = space;
        this.priorityMs = priorityMs;
        this.epoch = epoch;
        this.rollsBack = rollsBack;
        this.retries = retries;
    }

    /** Oldest first: a strict total order on (timestamp, agent id, session id), so that no two are ever equal (C12, C29). */
    @Override
    public int compareTo(Session other) {
        int c = Long.compare(priorityMs, other.priorityMs);
        if (c == 0) {
            c = key.agentId().compareTo(other.key.agentId());
        }
        if (c == 0) {
            c = key.sessionId().compareTo(other.key.sessionId());
        }
        // only for lists of several namespaces: those in one wait for nobody in another (K7-10)
        return c == 0 ? key.namespace().compareTo(other.key.namespace()) : c;
    }

    LifeCycle state() {
        return LifeCycle.of(state);
    }

    void state(LifeCycle to) {
        state = (byte) to.ordinal();
    }

    /** How many leases it may still act under or has to roll back: all but those that only block. */
    int held() {
        return leases - delayed;
    }

    /** A new life of the same session: what happened to it counts on. */
    void succeed(Session before) {
        grants = before.grants;
        waits = before.waits;
        deaths = before.deaths;
        waitsRunOut = before.waitsRunOut;
        expiries = before.expiries;
    }

    void addUnleased(Triple t) {
        if (unleased.isEmpty()) {
            unleased = new LinkedHashMap<>();
        }
        unleased.put(t.object(), t);
        if (unleased.size() > Limits.MAX_TRIPLES) {
            // no manifest and no digest could name more
            unleased.remove(unleased.keySet().iterator().next());
        }
    }

    void forgetUnleased() {
        if (!unleased.isEmpty()) {
            unleased = Map.of();
        }
    }

    void add(Claim lease, Roll roll) {
        lease.previousOfSession = lastLease;
        if (lastLease == 0) {
            firstLease = lease.id;
        } else {
            roll.claim(lastLease).nextOfSession = lease.id;
        }
        lastLease = lease.id;
        leases++;
    }

    void remove(Claim lease, Roll roll) {
        if (lease.previousOfSession == 0) {
            firstLease = lease.nextOfSession;
        } else {
            roll.claim(lease.previousOfSession).nextOfSession = lease.nextOfSession;
        }
        if (lease.nextOfSession == 0) {
            lastLease = lease.previousOfSession;
        } else {
            roll.claim(lease.nextOfSession).previousOfSession = lease.previousOfSession;
        }
        // nextOfSession stays: a loop over the leases may stand on this one
        leases--;
        if (lease.state == LeaseState.LOCK_DELAY) {
            delayed--;
        }
        if (lease.state == LeaseState.ROLLING_BACK
                || lease.state == LeaseState.GRACE && lease.before == LeaseState.ROLLING_BACK) {
            rollingBack--;
        }
    }
}
