package dev.klock.kernel;

import dev.klock.resource.Resource;
import dev.klock.resource.Shown;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * The state machine: {@code (state, command, now) → (state, answer, effects)}.
 *
 * <p>The same commands at the same times give the same answers (K2-8): nothing here reads a clock, a random number, or an identity hash.
 * Time comes with each command and may not go backwards. Not thread-safe: whoever calls it from several threads takes turns (K7-8).
 *
 * <h2>Wait-die, and why it cannot deadlock or starve</h2>
 *
 * <p>Sessions have a strict total order by age (C12). A manifest conflicts with leases of other sessions and with manifests that wait in
 * the queue (C23, C24). Nothing in the way: granted, as a whole. Everything in the way younger: it waits, at the end of the queue.
 * Anything older in the way: DIE. So whoever waits is older than everything it waits for, and a chain of waits has an end. A newcomer
 * cannot overtake whom it conflicts with, whichever of both is older; so nobody's wait grows once it has begun, and each thing waited for
 * ends, at the latest by its time to live.
 *
 * <p>Waiters are judged again at every change (C42). Not all of them: whoever waits has one thing that is in its way as its witness
 * ({@link Request#witness}), and cannot be granted until that goes away, whatever else does. So a lease or a waiting manifest that
 * goes away is looked up once, and only those judged again whose witness it was, and the session that lost it; the first in the queue
 * first. One that still waits has another witness then. Of several things in the way the witness is the one that came last: it mostly
 * goes last, and of ten thousand that wait for one resource only the next is judged when it becomes free.
 *
 * <p>One thing must not count as a conflict: a triple that one of the session's own leases already stands for. Others may wait for that
 * lease; if the session had to queue behind them, it would wait for whoever waits for it. When that own lease goes, the triple counts
 * again, and the session may die of it ({@link Request#leans}).
 *
 * <p>Nothing else can bring somebody older into a waiter's way. Whoever comes meets the waiting triple: it is behind it, or dies, or holds
 * a lease that stands for what it asks. That lease meets the waiting triple, too, since it covers as much and excludes as much, and has been
 * judged with it. So to know that a waiter still waits, one thing in its way is enough.
 *
 * <h2>Time</h2>
 *
 * <p>Each command first does what time has brought: leases that ran out go (valid while {@code now < expiresAt}, C27), then waits that ran
 * out end, then sessions that were silent for long are forgotten, then the freed things are handed on. A grace (C25) only delays the
 * first.
 */
public final class Kernel {
    /** Orders conflicts by what they are and not by when they came (K2-8). */
    private static final Comparator<Claim> FIXED_ORDER = new FixedOrder();

    private static final Comparator<Request> QUEUE_ORDER = new QueueOrder();

    private static final int PUBLIC_HASH_SEED = 0x5bd1e995;

    private final KernelOptions options;
    private final String idPrefix;
    private final boolean rejudges;
    private final boolean olderOvertake;

    private final LeaseIndex index;
    private final Roll roll = new Roll();
    private final LeaseTable leases = new LeaseTable(roll);
    private final TimerWheel timers;
    private final HashMap<SessionKey, Session> sessions = new HashMap<>();
    private final HashMap<String, LeaseIndex.Space> spaces = new HashMap<>();
    private final EndedSessions completed = new EndedSessions();
    private final EndedSessions aborted = new EndedSessions();
    /** The session of the last command, by its number. */
    private int lastUsed;

    private long nowMs;
    private long nextToken;
    private long lastRequest;
    private long registrations;

    private Request firstWaiter;
    private Request lastWaiter;
    private int waiters;

    private final Changes changes = new Changes(roll);
    private final HotSpots hotSpots;
    private int stale;

    /** Whose witness each claim is, by its number in the roll: the first request, linked to the others. */
    private final HashMap<Integer, Request> watched = new HashMap<>();

    /** Those that what went away in this command may let in or end, the first in the queue first. */
    private final PriorityQueue<Request> toJudge = new PriorityQueue<>(QUEUE_ORDER);

    /** What is in the way of the manifest that was judged last and waits. */
    private Claim witness;
    /** Whether something meets a triple of it that a lease of its session's stands for. */
    private boolean leans;

    private final ArrayList<Claim> found = new ArrayList<>();
    /** Whether a triple of the manifest that was checked last may meet anything, the session's own leases included. */
    private boolean mayMeet;
    /** Whether the policy is at work, in the middle of a command. */
    private boolean asksPolicy;

    /**
     * A kernel whose clock stands at {@code startMs}, milliseconds.
     *
     * @throws IllegalArgumentException if that is not from 0 to {@link Limits#MAX_CLOCK_MS}
     */
    public Kernel(KernelOptions options, long startMs) {
        this(options, startMs, true, false);
    }

    /**
     * For the proof that the rules are needed: without {@code rejudges}, waiters are only looked at to be granted and never die (against
     * C42); with {@code olderOvertake}, older sessions do not queue behind younger waiters (against C23).
     */
    Kernel(KernelOptions options, long startMs, boolean rejudges, boolean olderOvertake) {
        if (startMs < 0 || startMs > Limits.MAX_CLOCK_MS) {
            throw new IllegalArgumentException("the clock must start from 0 to " + Limits.MAX_CLOCK_MS + " ms, not at " + startMs);
        }
        this.options = Objects.requireNonNull(options);
        this.idPrefix = "lease_".concat(options.kernelId()).concat("_");
        this.rejudges = rejudges;
        this.olderOvertake = olderOvertake;
        int seed = options.hashSeed() == KernelOptions.NO_HASH_SEED ? PUBLIC_HASH_SEED : options.hashSeed();
        this.index = new LeaseIndex(roll, seed);
        this.hotSpots = new HotSpots(seed);
        this.timers = new TimerWheel(roll, startMs);
        this.nowMs = startMs;
        this.nextToken = options.firstFencingToken();
    }

    /**
     * Carries out one command at {@code nowMs}, after all that time has brought until then. A refused command changes nothing beyond
     * that. Never throws for anything a command can contain, nor for what a {@link Policy} throws.
     *
     * @param nowMs kernel clock, milliseconds; not less than at the call before, and not more than {@link Limits#MAX_CLOCK_MS}
     * @throws IllegalStateException if a policy calls it, in the middle of another command
     */
    public Outcome apply(Command command, long nowMs) {
        if (asksPolicy) {
            throw new IllegalStateException("a policy must not give commands to the kernel that asks it");
        }
        Outcome out = new Outcome();
        if (nowMs < this.nowMs) {
            out.refuse(Refusal.Code.TIME_WENT_BACKWARDS, "it was " + this.nowMs + " already, not " + nowMs);
            return out;
        }
        if (nowMs > Limits.MAX_CLOCK_MS) {
            out.refuse(Refusal.Code.BAD_TIME, "the clock must not be beyond " + Limits.MAX_CLOCK_MS + " ms: " + nowMs);
            return out;
        }
        this.nowMs = nowMs;
        pass(out);
        if (command instanceof Command.Submit) {
            submit((Command.Submit) command, out);
        } else if (command instanceof Command.Release) {
            release((Command.Release) command, out);
        } else if (command instanceof Command.Heartbeat) {
            heartbeat((Command.Heartbeat) command, out);
        } else if (command instanceof Command.Confirm) {
            confirm((Command.Confirm) command, out);
        } else if (command instanceof Command.Register) {
            register((Command.Register) command, out);
        } else if (command instanceof Command.DryRun) {
            dryRun((Command.DryRun) command, out);
        } else if (command instanceof Command.Abort) {
            abort((Command.Abort) command, out);
        } else if (command instanceof Command.RolledBack) {
            rolledBack((Command.RolledBack) command, out);
        } else if (command instanceof Command.Complete) {
            complete((Command.Complete) command, out);
        } else if (command instanceof Command.Verify) {
            verify((Command.Verify) command, out);
        } else if (command instanceof Command.Revoke) {
            revoke((Command.Revoke) command, out);
        } else if (command instanceof Command.Reconcile) {
            reconcile((Command.Reconcile) command, out);
        } else if (command instanceof Command.AnnounceRestart) {
            announceRestart((Command.AnnounceRestart) command, out);
        } else if (command instanceof Command.Withdraw) {
            withdraw((Command.Withdraw) command, out);
        } else if (command instanceof Command.Pause) {
            pause((Command.Pause) command, out);
        } else if (command instanceof Command.Resume) {
            resume((Command.Resume) command, out);
        }
        if (out.session != null && out.refusal == null && !(command instanceof Command.DryRun)) {
            out.session.lastSeenMs = nowMs;
        }
        settle(out);
        return out;
    }

    private void pass(Outcome out) {
        Timed due = timers.poll(nowMs);
        if (due == null) {
            return;
        }
        ArrayList<Request> ended = null;
        ArrayList<Session> poorer = null;
        ArrayList<Session> silent = null;
        for (; due != null; due = timers.poll(nowMs)) {
            if (due instanceof Claim) {
                Session s = ranOut((Claim) due, out);
                if (s != null) {
                    if (poorer == null) {
                        poorer = new ArrayList<>();
                    }
                    poorer.add(s);
                }
            } else if (due instanceof Request) {
                if (ended == null) {
                    ended = new ArrayList<>();
                }
                ended.add((Request) due);
            } else {
                if (silent == null) {
                    silent = new ArrayList<>();
                }
                silent.add((Session) due);
            }
        }
        if (poorer != null) {
            for (int i = 0; i < poorer.size(); i++) {
                afterLoss(poorer.get(i), "all its leases ran out", out);
            }
        }
        if (ended != null) {
            for (int i = 0; i < ended.size(); i++) {
                Request r = ended.get(i);
                if (r.session.request == r) {
                    r.session.waitsRunOut++;
                    emit(out, Event.Kind.WAIT_TIMED_OUT, r.session, List.of(), r.number, List.of(), null);
                    fail(r.session, "its wait ran out", out);
                }
            }
        }
        if (silent != null) {
            // last, so that nothing above is done to a session that is no longer known
            for (int i = 0; i < silent.size(); i++) {
                forget(silent.get(i));
            }
        }
        settle(out);
    }

    /** A lease's time is over; returns the session that lost it, or {@code null} if the grace begins or the lock-delay ends. */
    private Session ranOut(Claim claim, Outcome out) {
        Session s = claim.session;
        if (claim.state == LeaseState.LOCK_DELAY) {
            Lease free = lease(claim, LeaseState.EXPIRED);
            take(claim);
            emit(out, Event.Kind.LEASE_FREED, s, Collections.singletonList(free), 0, List.of(), "its lock-delay is over");
            return null;
        }
        long graceEndMs = claim.expiresAtMs + Limits.GRACE_MS;
        if (s.restarting && claim.state != LeaseState.GRACE && nowMs < graceEndMs) {
            claim.before = claim.state;
            if (claim.state == LeaseState.PENDING) {
                s.pending--;
            }
            claim.state = LeaseState.GRACE;
            timers.schedule(claim, graceEndMs);
            emit(out, Event.Kind.LEASE_IN_GRACE, s, List.of(lease(claim, claim.state)), 0, List.of(), null);
            return null;
        }
        expire(claim, out);
        return s;
    }

    /** Nobody renewed it. Where something may still be about to be written, others are kept away a little longer (C46). */
    private void expire(Claim claim, Outcome out) {
        Session s = claim.session;
        if (s.lastExpiryMs != nowMs) {
            s.lastExpiryMs = nowMs;
            s.expiries++;
        }
        long endMs = claim.expiresAtMs + options.lockDelayMs();
        LeaseState was = claim.state == LeaseState.GRACE ? claim.before : claim.state;
        if (nowMs >= endMs || was == LeaseState.PENDING || !ConflictMatrix.writes(claim.predicate)) {
            end(claim, LeaseState.EXPIRED, Event.Kind.LEASE_EXPIRED, out);
            return;
        }
        if (was == LeaseState.ROLLING_BACK) {
            s.rollingBack--;
        }
        s.delayed++;
        claim.state = LeaseState.LOCK_DELAY;
        timers.schedule(claim, endMs);
        lost(s);
        emit(out, Event.Kind.LEASE_EXPIRED, s, Collections.singletonList(lease(claim, LeaseState.LOCK_DELAY)), 0, List.of(), null);
    }

    private void register(Command.Register c, Outcome out) {
        SessionKey key = c.session();
        if (badId("namespace", key.namespace(), out) || badId("agent id", key.agentId(), out) || badId("session id", key.sessionId(), out)) {
            return;
        }
        if (c.priorityMs() < 0 || c.epoch() < 0) {
            out.refuse(Refusal.Code.BAD_TIME, "priority timestamp and epoch must not be negative: " + c.priorityMs() + ", " + c.epoch());
            return;
        }
        Session known = sessions.get(key);
        Session s = known;
        boolean comesBack = c.resumed();
        if (s == null) {
            if (tooManySessions(out)) {
                return;
            }
            if (c.priorityMs() < nowMs && !c.vouched()) {
                out.refuse(
                        Refusal.Code.FORGED_PRIORITY,
                        "nobody vouches for priority timestamp " + c.priorityMs() + ", older than now, " + nowMs);
                return;
            }
            s = newSession(c, c.priorityMs());
        } else {
            comesBack &= c.epoch() > s.epoch;
            if (c.epoch() < s.epoch) {
                out.refuse(Refusal.Code.STALE_EPOCH, "epoch " + c.epoch() + " was restarted as " + s.epoch);
                return;
            }
            if (c.priorityMs() < s.priorityMs) {
                out.refuse(
                        Refusal.Code.FORGED_PRIORITY,
                        "priority timestamp " + c.priorityMs() + " is older than the first one, " + s.priorityMs);
                return;
            }
            if (s.state().isTerminal()) {
                if (c.epoch() == s.epoch) {
                    out.refuse(Refusal.Code.SESSION_ENDED, key + " is " + s.state() + "; register it with a higher epoch");
                    return;
                }
                if (s.held() > 0) {
                    out.refuse(Refusal.Code.ROLLING_BACK, key + " has a rollback to finish");
                    return;
                }
                if (s.delayed > 0) {
                    out.refuse(
                            Refusal.Code.ROLLING_BACK,
                            key + " has leases that ran out and block for their lock-delay; release them, or come back "
                                    + options.lockDelayMs() + " ms after they ran out");
                    return;
                }
                if (tooManySessions(out)) {
                    return;
                }
                long priorityMs = s.priorityMs;
                remove(s);
                s = newSession(c, priorityMs);
                s.succeed(known);
            } else if (c.epoch() > s.epoch) {
                s.epoch = c.epoch();
                if (s.request != null) {
                    withdraw(s.request, out);
                }
            }
        }
        out.session = s;
        out.priorityMs = s.priorityMs;
        emit(out, Event.Kind.SESSION_REGISTERED, s, List.of(), 0, List.of(), null);
        if (comesBack) {
            s.suspended = true;
            move(s, LifeCycle.PAUSED, "resumed from a digest", out);
            if (s != known) {
                // nobody knows how long it was away, nor what happened then
                s.staleFromChange = Changes.UNKNOWN;
            }
        }
    }

    private boolean tooManySessions(Outcome out) {
        boolean tooMany = liveSessionCount() >= Limits.MAX_SESSIONS;
        if (tooMany) {
            out.refuse(Refusal.Code.TOO_MANY, "more than " + Limits.MAX_SESSIONS + " sessions that are not over");
        }
        return tooMany;
    }

    private Session newSession(Command.Register c, long priorityMs) {
        SessionKey key = c.session();
        LeaseIndex.Space space = spaces.get(key.namespace());
        if (space == null) {
            space = new LeaseIndex.Space(key.namespace());
            spaces.put(key.namespace(), space);
        }
        space.sessions++;
        Session s = new Session(key, space, priorityMs, c.epoch(), c.rollsBack(), c.retries());
        s.registration = ++registrations;
        sessions.put(key, s);
        roll.add(s);
        timers.schedule(s, nowMs + Limits.SESSION_MEMORY_MS);
        return s;
    }

    private void submit(Command.Submit c, Outcome out) {
        Session s = active(c.session(), out);
        if (s == null) {
            return;
        }
        if (c.ttlMs() < 0 || c.waitMs() < 0) {
            out.refuse(Refusal.Code.BAD_TIME, "time to live and wait must not be negative: " + c.ttlMs() + ", " + c.waitMs());
            return;
        }
        List<Triple> triples = c.triples();
        if (refused(s, triples, out)) {
            return;
        }
        if (s.suspended) {
            out.verdict = Verdict.PAUSED;
            return;
        }
        long ttlMs = c.ttlMs() == 0 ? Limits.DEFAULT_TTL_MS : Math.min(c.ttlMs(), Limits.MAX_TTL_MS);
        Verdict verdict = mayMeet ? judge(s, triples, out) : Verdict.GRANTED;
        if (verdict == Verdict.WAIT && c.waitMs() > 0 && waiters >= Limits.MAX_WAITERS) {
            refuseToQueue(out);
            return;
        }
        countSubmit(s);
        s.interest = triples;
        s.turnedAway = verdict == Verdict.WAIT && c.waitMs() == 0;
        if (verdict == Verdict.GRANTED && takesNoLease(triples)) {
            out.verdict = verdict;
            grantNothing(s, triples, out);
            return;
        }
        if (s.turnedAway) {
            // it does not stop for this: it goes on under what it holds (C5), and is what it was
            verdict = Verdict.PAUSED;
        } else {
            move(s, LifeCycle.ACQUIRING, null, out);
        }
        out.verdict = verdict;
        if (!out.conflicts.isEmpty()) {
            heat(s, out.conflicts, verdict == Verdict.DIE);
            emit(out, Event.Kind.CONTENTION_DETECTED, s, List.of(), 0, out.conflicts, null);
        }
        if (verdict == Verdict.GRANTED) {
            out.leases = grant(s, triples, claims(s, triples, null), ttlMs, c.reserve(), 0, out);
        } else if (verdict == Verdict.WAIT) {
            s.waits++;
            enqueue(s, c, ttlMs, out);
        } else if (verdict == Verdict.PAUSED) {
            out.queuePosition = 0;
            out.retryAfterMs = retryAfter(out.conflicts);
            becomeStale(s);
        } else {
            out.retryAfterMs = retryAfter(out.conflicts);
            s.deaths++;
            emit(out, Event.Kind.DIED, s, List.of(), 0, out.conflicts, null);
            fail(s, "somebody older is in the way", out);
        }
    }

    /** Counts each resource that was asked for and is taken, once; conflicts come in the order of the triples (K7-7). */
    private void heat(Session s, List<Conflict> conflicts, boolean death) {
        Resource last = null;
        for (int i = 0; i < conflicts.size(); i++) {
            Resource asked = conflicts.get(i).asked().object();
            if (asked != last) {
                hotSpots.count(s.space.namespace, asked, death, nowMs);
                last = asked;
            }
        }
    }

    private void dryRun(Command.DryRun c, Outcome out) {
        Session s = active(c.session(), out);
        if (s == null || refused(s, c.triples(), out)) {
            return;
        }
        if (s.suspended) {
            out.verdict = Verdict.PAUSED;
            return;
        }
        out.verdict = mayMeet ? judge(s, c.triples(), out) : Verdict.GRANTED;
        if (out.verdict == Verdict.DIE) {
            out.retryAfterMs = retryAfter(out.conflicts);
        } else if (out.verdict == Verdict.WAIT && waiters >= Limits.MAX_WAITERS) {
            out.verdict = null;
            refuseToQueue(out);
        }
    }

    private static void refuseToQueue(Outcome out) {
        out.conflicts = List.of();
        out.queuePosition = 0;
        out.refuse(Refusal.Code.TOO_MANY, "more than " + Limits.MAX_WAITERS + " waiting manifests");
    }

    /** Whether a manifest is not even judged; the same for one that is only tried (C21), and so changes nothing. */
    private boolean refused(Session s, List<Triple> triples, Outcome out) {
        if (invalid(s, triples, out)) {
            return true;
        }
        if (s.request != null) {
            out.refuse(Refusal.Code.ALREADY_WAITING, s.key + " waits for a manifest already");
            return true;
        }
        if (s.rollingBack > 0) {
            out.refuse(Refusal.Code.ROLLING_BACK, s.key + " has a rollback to finish");
            return true;
        }
        if (isMoreThan(options.leasesPerSession() - s.leases, triples)) {
            out.refuse(Refusal.Code.QUOTA, "more than " + options.leasesPerSession() + " leases of one session");
            return true;
        }
        if (isMoreThan(Limits.MAX_CLAIMS - leases.size(), triples)) {
            out.refuse(Refusal.Code.TOO_MANY, "more than " + Limits.MAX_CLAIMS + " leases");
            return true;
        }
        if (overQuota(s)) {
            out.refuse(
                    Refusal.Code.QUOTA,
                    "more than " + options.submitsPerWindow() + " manifests of one session in " + options.quotaWindowMs() + " ms");
            return true;
        }
        return false;
    }

    /** Whether {@code triples} would be more than {@code room} leases: those on one resource are one, and starts of programs none. */
    private static boolean isMoreThan(int room, List<Triple> triples) {
        if (triples.size() <= room) {
            return false;
        }
        HashSet<Resource> leased = new HashSet<>();
        for (int i = 0; i < triples.size(); i++) {
            if (takesLease(triples.get(i))) {
                leased.add(triples.get(i).object());
            }
        }
        return leased.size() > room;
    }

    private boolean overQuota(Session s) {
        return s.quotaUsed >= options.submitsPerWindow() && nowMs - s.quotaWindowMs < options.quotaWindowMs();
    }

    private void countSubmit(Session s) {
        if (options.submitsPerWindow() == Integer.MAX_VALUE) {
            return;
        }
        if (nowMs - s.quotaWindowMs >= options.quotaWindowMs()) {
            s.quotaWindowMs = nowMs;
            s.quotaUsed = 0;
        }
        s.quotaUsed++;
    }

    private void confirm(Command.Confirm c, Outcome out) {
        Session s = active(c.session(), out);
        if (s == null || tooMany(c.leases(), out)) {
            return;
        }
        ArrayList<Lease> done = new ArrayList<>();
        if (c.leases() == null) {
            for (Claim claim = roll.claim(s.firstLease); claim != null; claim = roll.claim(claim.nextOfSession)) {
                if (claim.state == LeaseState.PENDING) {
                    done.add(activate(claim));
                }
            }
        } else {
            for (long number : c.leases()) {
                Claim claim = own(s, number, out);
                if (claim == null) {
                    continue;
                }
                if (claim.state == LeaseState.PENDING) {
                    done.add(activate(claim));
                } else if (claim.state == LeaseState.ACTIVE) {
                    done.add(lease(claim, claim.state));
                } else {
                    out.reject(number, Refusal.Code.ILLEGAL_TRANSITION, "lease " + number + " is " + claim.state);
                }
            }
        }
        out.leases = done;
        if (nothingDone(c.leases(), done, out)) {
            return;
        }
        emit(out, Event.Kind.LEASE_CONFIRMED, s, done, 0, List.of(), null);
        settleState(s, out);
    }

    private Lease activate(Claim claim) {
        claim.state = LeaseState.ACTIVE;
        claim.session.pending--;
        return lease(claim, LeaseState.ACTIVE);
    }

    private void heartbeat(Command.Heartbeat c, Outcome out) {
        Session s = known(c.session(), out);
        if (s == null || tooMany(c.leases(), out)) {
            return;
        }
        ArrayList<Lease> done = new ArrayList<>(c.leases() == null ? s.leases : c.leases().length);
        if (c.leases() == null) {
            if (s.state().isTerminal() && s.leases == 0) {
                out.refuse(Refusal.Code.SESSION_ENDED, s.key + " is " + s.state());
                return;
            }
            for (Claim claim = roll.claim(s.firstLease); claim != null; claim = roll.claim(claim.nextOfSession)) {
                if (isOver(claim)) {
                    out.reject(claim.number, Refusal.Code.LEASE_GONE, "lease " + claim.number + " has expired; reconcile it");
                } else {
                    done.add(renew(claim));
                }
            }
        } else {
            for (long number : c.leases()) {
                Claim claim = own(s, number, out);
                if (claim == null) {
                    continue;
                }
                if (isOver(claim)) {
                    // past its end, whatever is still listed (K3-12, C26)
                    out.reject(number, Refusal.Code.LEASE_GONE, "lease " + number + " has expired; reconcile it");
                } else {
                    done.add(renew(claim));
                }
            }
        }
        out.leases = done;
        nothingDone(c.leases(), done, out);
    }

    /** Whether its end has passed, whatever it still blocks. */
    private static boolean isOver(Claim claim) {
        return claim.state == LeaseState.GRACE || claim.state == LeaseState.LOCK_DELAY;
    }

    private Lease renew(Claim claim) {
        claim.expiresAtMs = nowMs + claim.ttlMs;
        timers.schedule(claim, claim.expiresAtMs);
        return lease(claim, claim.state);
    }

    private void release(Command.Release c, Outcome out) {
        Session s = known(c.session(), out);
        if (s == null || tooMany(c.leases(), out)) {
            return;
        }
        List<Lease> done;
        if (c.leases() == null) {
            done = releaseAll(s);
            s.forgetUnleased();
        } else if (c.leases().length == 1) {
            Claim claim = own(s, c.leases()[0], out);
            done = claim == null ? List.of() : Collections.singletonList(releaseOne(claim));
        } else {
            done = new ArrayList<>(c.leases().length);
            for (long number : c.leases()) {
                Claim claim = own(s, number, out);
                if (claim != null) {
                    done.add(releaseOne(claim));
                }
            }
        }
        out.leases = done;
        if (nothingDone(c.leases(), done, out) || done.isEmpty()) {
            return;
        }
        emit(out, Event.Kind.LEASE_FREED, s, done, 0, List.of(), null);
        settleState(s, out);
    }

    private List<Lease> releaseAll(Session s) {
        ArrayList<Lease> done = new ArrayList<>(s.leases);
        for (Claim claim = roll.claim(s.firstLease); claim != null; claim = roll.claim(claim.nextOfSession)) {
            done.add(releaseOne(claim));
        }
        return done;
    }

    private Lease releaseOne(Claim claim) {
        Lease lease = lease(claim, LeaseState.RELEASED);
        take(claim);
        return lease;
    }

    private void revoke(Command.Revoke c, Outcome out) {
        Claim claim = leases.get(c.lease());
        if (claim == null) {
            gone(c.lease(), out);
            out.refusal = out.rejections.get(0).refusal();
            return;
        }
        Session s = claim.session;
        boolean lostBefore = claim.state == LeaseState.LOCK_DELAY;
        out.leases = List.of(end(claim, LeaseState.REVOKED, Event.Kind.LEASE_REVOKED, out));
        if (!lostBefore) {
            afterLoss(s, "its last lease was revoked", out);
        }
    }

    private void reconcile(Command.Reconcile c, Outcome out) {
        Session s = known(c.session(), out);
        if (s == null || tooMany(c.leases(), out)) {
            return;
        }
        ArrayList<Lease> done = new ArrayList<>(c.leases().length);
        ArrayList<Lease> back = new ArrayList<>();
        for (long number : c.leases()) {
            Claim claim = own(s, number, out);
            if (claim == null) {
                continue;
            }
            if (claim.state == LeaseState.LOCK_DELAY) {
                out.reject(number, Refusal.Code.LEASE_GONE, "lease " + number + " has expired");
            } else if (isRollingBack(claim)) {
                // its session has died: it keeps others away from what is to be rolled back, and is good for nothing else (C45)
                out.reject(number, Refusal.Code.LEASE_GONE, "lease " + number + " is lost; roll back and report it");
                if (claim.state == LeaseState.GRACE) {
                    claim.state = LeaseState.ROLLING_BACK;
                    back.add(renew(claim));
                }
            } else {
                if (claim.state == LeaseState.GRACE) {
                    claim.state = claim.before;
                    if (claim.state == LeaseState.PENDING) {
                        s.pending++;
                    }
                }
                done.add(renew(claim));
            }
        }
        if (!back.isEmpty()) {
            emit(out, Event.Kind.ROLLBACK_REQUIRED, s, back, 0, List.of(), "reconciled");
        }
        out.leases = done;
        s.restarting = false;
        boolean lost = false;
        for (Claim claim = roll.claim(s.firstLease); claim != null; claim = roll.claim(claim.nextOfSession)) {
            if (claim.state == LeaseState.GRACE) {
                expire(claim, out);
                lost = true;
            }
        }
        if (lost) {
            afterLoss(s, "all its leases ran out", out);
        }
    }

    private void withdraw(Command.Withdraw c, Outcome out) {
        Session s = active(c.session(), out);
        if (s == null) {
            return;
        }
        if (s.request == null) {
            out.refuse(Refusal.Code.ILLEGAL_TRANSITION, s.key + " does not wait");
            return;
        }
        withdraw(s.request, out);
        move(s, LifeCycle.ACQUIRING, "withdrawn", out);
        settleState(s, out);
    }

    private void announceRestart(Command.AnnounceRestart c, Outcome out) {
        Session s = active(c.session(), out);
        if (s != null) {
            s.restarting = true;
        }
    }

    private void pause(Command.Pause c, Outcome out) {
        Session s = active(c.session(), out);
        if (s != null) {
            if (s.request != null) {
                // it must not be granted while the session is suspended, nor keep others away until then (C4, K5-9)
                withdraw(s.request, out);
            }
            s.suspended = true;
            move(s, LifeCycle.PAUSED, "paused", out);
        }
    }

    private void resume(Command.Resume c, Outcome out) {
        Session s = active(c.session(), out);
        if (s == null) {
            return;
        }
        if (!s.suspended) {
            out.refuse(Refusal.Code.ILLEGAL_TRANSITION, s.key + " is not suspended; it is " + s.state());
            return;
        }
        s.suspended = false;
        move(s, LifeCycle.ACQUIRING, "resumed", out);
        if (s.held() > 0) {
            settleState(s, out);
        }
    }

    private void verify(Command.Verify c, Outcome out) {
        Session s = active(c.session(), out);
        if (s == null || s.state() == LifeCycle.VERIFYING) {
            return;
        }
        if (!s.state().mayBecome(LifeCycle.VERIFYING)) {
            out.refuse(Refusal.Code.ILLEGAL_TRANSITION, s.key + " is " + s.state() + " and cannot be VERIFYING");
            return;
        }
        move(s, LifeCycle.VERIFYING, null, out);
    }

    private void complete(Command.Complete c, Outcome out) {
        Session s = active(c.session(), out);
        if (s == null) {
            return;
        }
        if (s.rollingBack > 0) {
            out.refuse(Refusal.Code.ROLLING_BACK, s.key + " has a rollback to finish");
            return;
        }
        if (s.state() == LifeCycle.EXECUTING) {
            move(s, LifeCycle.VERIFYING, null, out);
        } else if (s.state() == LifeCycle.ACQUIRING && s.held() == 0) {
            // resumed, and needs nothing any more
            move(s, LifeCycle.PLANNING, null, out);
        }
        if (!s.state().mayBecome(LifeCycle.COMPLETED)) {
            out.refuse(Refusal.Code.ILLEGAL_TRANSITION, s.key + " is " + s.state() + " and cannot be COMPLETED");
            return;
        }
        List<Lease> done = releaseAll(s);
        out.leases = done;
        if (!done.isEmpty()) {
            emit(out, Event.Kind.LEASE_FREED, s, done, 0, List.of(), null);
        }
        s.turnedAway = false;
        move(s, LifeCycle.COMPLETED, null, out);
    }

    private void abort(Command.Abort c, Outcome out) {
        Session s = active(c.session(), out);
        if (s != null) {
            if (s.request != null) {
                withdraw(s.request, out);
            }
            dropAll(s, out);
            move(s, LifeCycle.ABORTED, c.reason(), out);
        }
    }

    private void rolledBack(Command.RolledBack c, Outcome out) {
        Session s = known(c.session(), out);
        if (s == null) {
            return;
        }
        if (s.rollingBack == 0) {
            out.refuse(Refusal.Code.ILLEGAL_TRANSITION, s.key + " has nothing to roll back");
            return;
        }
        ArrayList<Lease> done = new ArrayList<>(s.rollingBack);
        for (Claim claim = roll.claim(s.firstLease); claim != null; claim = roll.claim(claim.nextOfSession)) {
            if (isRollingBack(claim)) {
                Lease lease = lease(claim, LeaseState.RELEASED);
                take(claim, true);
                done.add(lease);
            }
        }
        out.leases = done;
        emit(out, Event.Kind.LEASE_FREED, s, done, 0, List.of(), "rolled back");
    }

    /** The verdict on a manifest that is not in the queue (RS-5: the worst over all triples), with all conflicts in {@code out}. */
    private Verdict judge(Session s, List<Triple> triples, Outcome out) {
        ArrayList<Conflict> conflicts = new ArrayList<>();
        Verdict verdict = Verdict.GRANTED;
        HashSet<Request> ahead = new HashSet<>();
        Held own = new Held(s, roll, index);
        witness = null;
        leans = false;
        long before = index.looked;
        Widest asked = new Widest(triples);
        for (Triple t = asked.next(0); t != null; t = asked.next(index.looked - before)) {
            boolean allNamed = conflicts.size() == Limits.MAX_CONFLICTS;
            if (allNamed && verdict == Verdict.DIE) {
                break;
            }
            if (!takesLease(t)) {
                continue;
            }
            int mask = ConflictMatrix.conflictMask(t.predicate());
            found.clear();
            index.collect(s.space, t.object(), mask, s, Long.MAX_VALUE, LeaseIndex.ALL, found);
            if (found.isEmpty()) {
                continue;
            }
            if (own.standsFor(t.object(), mask)) {
                leans = true;
                continue;
            }
            if (!allNamed) {
                found.sort(FIXED_ORDER);
            }
            for (int j = 0; j < found.size(); j++) {
                Claim c = found.get(j);
                if (!blocks(c, s)) {
                    continue;
                }
                if (conflicts.size() < Limits.MAX_CONFLICTS) {
                    conflicts.add(conflict(t, c));
                }
                verdict = verdict.worst(s.compareTo(c.session) < 0 ? Verdict.WAIT : Verdict.DIE);
                witness = later(witness, c);
                if (c.request != null) {
                    ahead.add(c.request);
                }
            }
        }
        found.clear();
        out.conflicts = conflicts;
        if (verdict == Verdict.WAIT) {
            out.queuePosition = ahead.size() + 1;
        }
        return verdict;
    }

    private boolean blocks(Claim c, Session s) {
        return !olderOvertake || c.request == null || s.compareTo(c.session) > 0;
    }

    /** Starting a program is declared by its name but claims only the process that comes of it, so starts never conflict (C48). */
    private static boolean takesLease(Triple t) {
        return t.predicate() != Predicate.PROVIDES
                || !t.object().scheme().equals("PROCESS")
                || t.object().path().indexOf('#') >= 0;
    }

    private static boolean takesNoLease(List<Triple> triples) {
        for (int i = 0; i < triples.size(); i++) {
            if (takesLease(triples.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static Conflict conflict(Triple asked, Claim c) {
        return new Conflict(
                asked,
                c.session.key,
                c.session.priorityMs,
                c.predicate,
                c.resource(),
                c.number,
                c.request == null ? c.dueMs : c.request.dueMs);
    }

    private long retryAfter(List<Conflict> conflicts) {
        long first = Long.MAX_VALUE;
        for (int i = 0; i < conflicts.size(); i++) {
            first = Math.min(first, conflicts.get(i).untilMs());
        }
        return first == Long.MAX_VALUE ? 0 : Math.max(0, first - nowMs);
    }

    /** The one of two things in the way of one manifest that came later, and so mostly goes later; a lease before whoever waits. */
    private static Claim later(Claim a, Claim b) {
        return a == null || b.request != null && (a.request == null || a.request.number < b.request.number) ? b : a;
    }

    private void watch(Request r, Claim claim) {
        r.witness = claim.id;
        r.previousWatcher = null;
        r.nextWatcher = watched.put(claim.id, r);
        if (r.nextWatcher != null) {
            r.nextWatcher.previousWatcher = r;
        }
    }

    private void unwatch(Request r) {
        if (r.witness == 0) {
            return;
        }
        if (r.nextWatcher != null) {
            r.nextWatcher.previousWatcher = r.previousWatcher;
        }
        if (r.previousWatcher != null) {
            r.previousWatcher.nextWatcher = r.nextWatcher;
        } else if (r.nextWatcher != null) {
            watched.put(r.witness, r.nextWatcher);
        } else {
            watched.remove(r.witness);
        }
        r.witness = 0;
        r.nextWatcher = null;
        r.previousWatcher = null;
    }

    /** {@code claim} goes away, and still has its number. */
    private void free(Claim claim) {
        Request next;
        for (Request r = watched.remove(claim.id); r != null; r = next) {
            next = r.nextWatcher;
            r.witness = 0;
            r.nextWatcher = null;
            r.previousWatcher = null;
            mark(r);
        }
        lost(claim.session);
    }

    /** A lease of the session's goes, which may have stood for what it waits for. */
    private void lost(Session s) {
        if (s.request != null && s.request.leans) {
            s.request.poorer = true;
            mark(s.request);
        }
    }

    private void mark(Request r) {
        if (!r.marked) {
            r.marked = true;
            toJudge.add(r);
        }
    }

    /** Judges again whoever what went away may matter to (C42), until nothing goes away any more. */
    private void settle(Outcome out) {
        for (Request r = toJudge.poll(); r != null; r = toJudge.poll()) {
            r.marked = false;
            if (r.session.request == r) {
                judgeAgain(r, out);
            }
        }
    }

    private void judgeAgain(Request r, Outcome out) {
        Session s = r.session;
        // else whatever is in its way has been there, and is younger: one is enough to know that it still waits
        boolean thorough = r.poorer || olderOvertake;
        boolean mayLean = thorough || r.leans;
        r.poorer = false;
        r.leans &= !thorough;
        unwatch(r);
        Claim inTheWay = null;
        boolean dies = false;
        Held own = new Held(s, roll, index);
        long before = index.looked;
        Widest asked = new Widest(triples(r.claims));
        for (Triple t = asked.next(0); t != null; t = asked.next(index.looked - before)) {
            int mask = ConflictMatrix.conflictMask(t.predicate());
            if (!index.mayConflict(s.space, t.object(), mask)) {
                continue;
            }
            found.clear();
            index.collect(s.space, t.object(), mask, s, r.number, thorough ? LeaseIndex.ALL : LeaseIndex.FIRST_ONLY, found);
            if (found.isEmpty()) {
                continue;
            }
            if (mayLean && own.standsFor(t.object(), mask)) {
                r.leans = true;
                continue;
            }
            for (int i = 0; i < found.size(); i++) {
                Claim c = found.get(i);
                if (blocks(c, s)) {
                    inTheWay = later(inTheWay, c);
                    dies |= s.compareTo(c.session) > 0;
                }
            }
            if (dies || inTheWay != null && !thorough) {
                break;
            }
        }
        found.clear();
        if (dies && rejudges) {
            dieWaiting(r, out);
        } else if (inTheWay != null) {
            watch(r, inTheWay);
        } else {
            unqueue(r);
            for (Claim claim : r.claims) {
                claim.request = null;
            }
            grant(s, r.triples, r.claims, r.ttlMs, r.reserve, r.number, out);
        }
    }

    /** Of each claim the severest of its triples, which decides (K1-16). */
    private static List<Triple> triples(Claim[] claims) {
        Triple[] triples = new Triple[claims.length];
        for (int i = 0; i < claims.length; i++) {
            triples[i] = claims[i].triple;
        }
        return Arrays.asList(triples);
    }

    private void dieWaiting(Request r, Outcome out) {
        Session s = r.session;
        Outcome why = new Outcome();
        judgeQueued(r, why);
        s.deaths++;
        heat(s, why.conflicts, true);
        emit(out, Event.Kind.DIED, s, List.of(), r.number, why.conflicts, null);
        fail(s, "somebody older came into the way", out);
    }

    private void judgeQueued(Request r, Outcome why) {
        ArrayList<Conflict> conflicts = new ArrayList<>();
        Held own = new Held(r.session, roll, index);
        long before = index.looked;
        Widest asked = new Widest(triples(r.claims));
        for (Triple t = asked.next(0); t != null && conflicts.size() < Limits.MAX_CONFLICTS; t = asked.next(index.looked - before)) {
            int mask = ConflictMatrix.conflictMask(t.predicate());
            found.clear();
            index.collect(r.session.space, t.object(), mask, r.session, r.number, LeaseIndex.ALL, found);
            if (found.isEmpty() || own.standsFor(t.object(), mask)) {
                continue;
            }
            found.sort(FIXED_ORDER);
            for (int i = 0; i < found.size(); i++) {
                if (blocks(found.get(i), r.session) && conflicts.size() < Limits.MAX_CONFLICTS) {
                    conflicts.add(conflict(t, found.get(i)));
                }
            }
        }
        found.clear();
        why.conflicts = conflicts;
    }

    /** Places the manifest's claims in the index, several triples on one resource as one claim (K1-16). */
    private Claim[] claims(Session s, List<Triple> triples, Request request) {
        Claim[] claims = new Claim[triples.size()];
        int n = 0;
        for (int i = 0; i < claims.length; i++) {
            Triple t = triples.get(i);
            if (takesLease(t)) {
                Claim claim = new Claim(s, t);
                claim.request = request;
                if (index.insert(s.space, claim) == claim) {
                    claims[n++] = claim;
                }
            }
        }
        return n == claims.length ? claims : Arrays.copyOf(claims, n);
    }

    private List<Lease> grant(
            Session s, List<Triple> triples, Claim[] claims, long ttlMs, boolean reserve, long request, Outcome out) {
        LeaseState state = reserve ? LeaseState.PENDING : LeaseState.ACTIVE;
        Lease[] granted = new Lease[claims.length];
        for (int i = 0; i < claims.length; i++) {
            Claim claim = claims[i];
            claim.number = nextToken++;
            claim.state = state;
            claim.acquiredAtMs = nowMs;
            claim.ttlMs = (int) ttlMs;
            claim.expiresAtMs = nowMs + ttlMs;
            leases.put(claim);
            s.add(claim, roll);
            timers.schedule(claim, claim.expiresAtMs);
            granted[i] = lease(claim, state);
        }
        if (reserve) {
            s.pending += claims.length;
        }
        for (int i = 0; claims.length < triples.size() && i < triples.size(); i++) {
            if (!takesLease(triples.get(i))) {
                s.addUnleased(triples.get(i));
            }
        }
        List<Lease> list = Arrays.asList(granted);
        emit(out, Event.Kind.LEASE_GRANTED, s, list, request, List.of(), null);
        s.restarting = false;
        s.lostWhilePaused = false;
        s.grants++;
        if (!s.taken.isEmpty()) {
            s.taken = List.of();
        }
        move(s, LifeCycle.ACQUIRING, null, out);
        if (s.pending == 0) {
            execute(s, out);
        }
        if (waiters > 0 && (s.leases > claims.length || olderOvertake)) {
            overtake(s, claims, out);
        }
        return list;
    }

    /** A manifest that needs no lease: it does not make the session one that holds some (K5-2), and so leaves it what its leases make it. */
    private void grantNothing(Session s, List<Triple> triples, Outcome out) {
        emit(out, Event.Kind.LEASE_GRANTED, s, List.of(), 0, List.of(), null);
        s.restarting = false;
        s.grants++;
        if (!triples.isEmpty()) {
            s.taken = List.of();
        }
        if (s.state() == LifeCycle.PAUSED) {
            move(s, LifeCycle.ACQUIRING, null, out);
        }
        settleState(s, out);
        for (int i = 0; i < triples.size(); i++) {
            s.addUnleased(triples.get(i));
        }
    }

    /** A new holder that is older than a waiter it conflicts with ends that wait (C42). */
    private void overtake(Session s, Claim[] claims, Outcome out) {
        if (!rejudges) {
            return;
        }
        LinkedHashSet<Request> dead = new LinkedHashSet<>();
        long before = index.looked;
        Widest given = new Widest(triples(claims));
        for (Triple t = given.next(0); t != null; t = given.next(index.looked - before)) {
            found.clear();
            index.collect(
                    s.space,
                    t.object(),
                    ConflictMatrix.conflictMask(t.predicate()),
                    s,
                    Long.MAX_VALUE,
                    LeaseIndex.QUEUED_ONLY,
                    found);
            for (int i = 0; i < found.size(); i++) {
                Request r = found.get(i).request;
                if (s.compareTo(r.session) < 0) {
                    dead.add(r);
                }
            }
        }
        found.clear();
        ArrayList<Request> inOrder = new ArrayList<>(dead);
        inOrder.sort(QUEUE_ORDER);
        for (int i = 0; i < inOrder.size(); i++) {
            dieWaiting(inOrder.get(i), out);
        }
    }

    private void execute(Session s, Outcome out) {
        if (s.state() == LifeCycle.EXECUTING) {
            return;
        }
        move(s, LifeCycle.EXECUTING, null, out);
        s.paused = false;
        if (s.stale) {
            List<Change> news = changes.since(s, nowMs);
            addProviders(s, news);
            s.stale = false;
            stale--;
            if (out.session == s) {
                out.changes = news;
            }
            out.add(new Event(
                    Event.Kind.OBSERVATION_UPDATE, s.key, nowMs, List.of(), 0, List.of(), null, null, news, s.priorityMs, null));
        }
    }

    /** Those who create what the session only reads may still be at it: the one kind of writer that can hold a lease beside it. */
    private void addProviders(Session s, List<Change> news) {
        HashSet<Claim> told = new HashSet<>();
        long before = index.looked;
        Widest asked = new Widest(s.interest);
        for (Triple t = asked.next(0); t != null; t = asked.next(index.looked - before)) {
            if (!ConflictMatrix.writes(t.predicate())) {
                found.clear();
                index.collect(
                        s.space, t.object(), Predicate.PROVIDES.bit(), s, Long.MAX_VALUE, LeaseIndex.HELD_ONLY, found);
                found.sort(FIXED_ORDER);
                for (int j = 0; j < found.size(); j++) {
                    Claim c = found.get(j);
                    if (told.add(c)) {
                        news.add(new Change(c.session.key, c.predicate, c.resource(), nowMs));
                    }
                }
            }
        }
        found.clear();
    }

    private void enqueue(Session s, Command.Submit c, long ttlMs, Outcome out) {
        long number = ++lastRequest;
        Request r = new Request(s, number, c.triples(), new Claim[0], ttlMs, c.reserve());
        r.claims = claims(s, c.triples(), r);
        r.leans = leans;
        s.request = r;
        r.ahead = lastWaiter;
        if (lastWaiter == null) {
            firstWaiter = r;
        } else {
            lastWaiter.behind = r;
        }
        lastWaiter = r;
        waiters++;
        roll.add(r);
        watch(r, witness);
        timers.schedule(r, nowMs + Math.min(c.waitMs(), Limits.MAX_WAIT_MS));
        out.request = number;
        emit(out, Event.Kind.WAITING, s, List.of(), number, out.conflicts, null);
        move(s, LifeCycle.PAUSED, "waits", out);
    }

    private void unqueue(Request r) {
        r.session.request = null;
        timers.cancel(r);
        roll.remove(r);
        unwatch(r);
        if (r.ahead == null) {
            firstWaiter = r.behind;
        } else {
            r.ahead.behind = r.behind;
        }
        if (r.behind == null) {
            lastWaiter = r.ahead;
        } else {
            r.behind.ahead = r.ahead;
        }
        r.ahead = null;
        r.behind = null;
        waiters--;
    }

    private void withdraw(Request r, Outcome out) {
        dropRequest(r);
        emit(out, Event.Kind.WAIT_WITHDRAWN, r.session, List.of(), r.number, List.of(), null);
    }

    private void dropRequest(Request r) {
        unqueue(r);
        for (Claim claim : r.claims) {
            free(claim);
            index.remove(claim);
            claim.request = null;
        }
    }

    /** DIE, and a wait that ran out: everything goes (C43), and the session may try again with the same timestamp (K4-7, C5). */
    private void fail(Session s, String reason, Outcome out) {
        if (s.held() > 0 || !s.unleased.isEmpty()) {
            s.taken = declared(s);
            s.forgetUnleased();
        }
        dropAll(s, out);
        if (s.retries) {
            s.restarting = true;
            move(s, LifeCycle.PAUSED, reason, out);
        } else {
            move(s, LifeCycle.ABORTED, reason, out);
        }
    }

    /** All triples under which it may act, so that a restarted session gets the same leases and the same cover (K8-1, C6, C34). */
    private List<Triple> declared(Session s) {
        ArrayList<Triple> list = new ArrayList<>(s.leases + s.unleased.size());
        for (Claim claim = roll.claim(s.firstLease); claim != null; claim = roll.claim(claim.nextOfSession)) {
            if (claim.state != LeaseState.LOCK_DELAY && !isRollingBack(claim)) {
                if (claim.merged == null) {
                    list.add(claim.triple);
                } else {
                    Collections.addAll(list, claim.merged);
                }
            }
        }
        list.addAll(s.unleased.values());
        return list;
    }

    /** Releases what left no traces; what did blocks until its rollback is done (C50). */
    private void dropAll(Session s, Outcome out) {
        if (s.request != null) {
            dropRequest(s.request);
        }
        if (s.leases == 0) {
            return;
        }
        ArrayList<Lease> back = new ArrayList<>();
        ArrayList<Lease> free = new ArrayList<>();
        for (Claim claim = roll.claim(s.firstLease); claim != null; claim = roll.claim(claim.nextOfSession)) {
            if (isRollingBack(claim) || claim.state == LeaseState.LOCK_DELAY) {
                continue;
            }
            LeaseState state = claim.state == LeaseState.GRACE ? claim.before : claim.state;
            if (s.rollsBack && state == LeaseState.ACTIVE && ConflictMatrix.writes(claim.predicate)) {
                if (claim.state == LeaseState.GRACE) {
                    claim.before = LeaseState.ROLLING_BACK;
                } else {
                    claim.state = LeaseState.ROLLING_BACK;
                }
                s.rollingBack++;
                back.add(lease(claim, claim.state));
            } else {
                free.add(releaseOne(claim));
            }
        }
        if (!back.isEmpty()) {
            emit(out, Event.Kind.ROLLBACK_REQUIRED, s, back, 0, List.of(), null);
        }
        if (!free.isEmpty()) {
            emit(out, Event.Kind.LEASE_FREED, s, free, 0, List.of(), null);
        }
    }

    private static boolean isRollingBack(Claim claim) {
        return claim.state == LeaseState.ROLLING_BACK
                || claim.state == LeaseState.GRACE && claim.before == LeaseState.ROLLING_BACK;
    }

    /** A session that has lost its last lease is dead until it registers again: whatever it does now, it does without a lease. */
    private void afterLoss(Session s, String reason, Outcome out) {
        s.lostWhilePaused = s.paused;
        if (s.state().isTerminal()) {
            return;
        }
        if (s.held() > 0) {
            settleState(s, out);
            return;
        }
        if (s.state() == LifeCycle.PAUSED && s.request == null && s.restarting) {
            // died before and means to come back
            return;
        }
        if (s.request != null) {
            withdraw(s.request, out);
        }
        move(s, LifeCycle.ABORTED, reason, out);
    }

    /** Ends one lease against its holder's will. */
    private Lease end(Claim claim, LeaseState state, Event.Kind kind, Outcome out) {
        Lease lease = lease(claim, state);
        take(claim);
        emit(out, kind, claim.session, Collections.singletonList(lease), 0, List.of(), null);
        return lease;
    }

    private void take(Claim claim) {
        take(claim, false);
    }

    /** {@code undone}: its session says that nothing is left of what it changed; of a rollback that nobody reported, all may be (C45). */
    private void take(Claim claim, boolean undone) {
        Session s = claim.session;
        LeaseState was = claim.state == LeaseState.GRACE ? claim.before : claim.state;
        if (stale > 0 && ConflictMatrix.writes(claim.predicate) && was != LeaseState.PENDING && !undone) {
            changes.add(new Change(s.key, claim.predicate, claim.resource(), nowMs), s.space);
        }
        if (claim.state == LeaseState.PENDING) {
            s.pending--;
        }
        if (waiters > 0) {
            free(claim);
        }
        timers.cancel(claim);
        s.remove(claim, roll);
        leases.remove(claim);
        index.remove(claim);
        if (s.leases == 0 && s.state().isTerminal()) {
            ended(s);
        }
    }

    /** The state that follows from the leases, once some were confirmed or given back. */
    private void settleState(Session s, Outcome out) {
        if (s.held() == 0) {
            if (s.state() == LifeCycle.EXECUTING || s.state() == LifeCycle.ACQUIRING || s.state() == LifeCycle.VERIFYING) {
                move(s, LifeCycle.PLANNING, null, out);
            }
        } else if (s.state() == LifeCycle.ACQUIRING && s.pending == 0 && !s.lostWhilePaused) {
            execute(s, out);
        }
    }

    private void move(Session s, LifeCycle to, String reason, Outcome out) {
        LifeCycle from = s.state();
        if (from == to) {
            return;
        }
        if (!from.mayBecome(to)) {
            throw new IllegalStateException(s.key + " cannot go from " + from + " to " + to);
        }
        s.state(to);
        if (to.isTerminal() || to == LifeCycle.PLANNING) {
            s.forgetUnleased();
        }
        if ((to == LifeCycle.PAUSED || to.isTerminal()) && from != LifeCycle.PAUSED) {
            s.phase = from;
        }
        if (to == LifeCycle.PAUSED) {
            becomeStale(s);
            if (!s.paused) {
                s.paused = true;
                s.lostWhilePaused = false;
            }
        } else if (to.isTerminal() || to == LifeCycle.PLANNING) {
            if (s.stale) {
                s.stale = false;
                stale--;
            }
            if (s.paused) {
                s.paused = false;
                s.lostWhilePaused = false;
            }
        }
        out.add(new Event(Event.Kind.STATE_CHANGED, s.key, nowMs, List.of(), 0, List.of(), from, to, List.of(), s.priorityMs, reason));
        if (to.isTerminal() && s.leases == 0) {
            ended(s);
        }
    }

    /** From now on it has to be told what changes (K5-11). */
    private void becomeStale(Session s) {
        if (!s.stale) {
            s.stale = true;
            s.staleFromChange = changes.total();
            stale++;
        }
    }

    /**
     * The session is over and holds nothing. Many short sessions must not keep new ones out, nor drive those out of memory that may come
     * back: ABORTED and COMPLETED ones are counted apart.
     */
    private void ended(Session s) {
        EndedSessions kind = s.state() == LifeCycle.ABORTED ? aborted : completed;
        kind.add(s);
        if (kind.size() > Limits.MAX_ENDED_SESSIONS) {
            remove(kind.oldest());
        }
    }

    private void forget(Session s) {
        if (sessions.get(s.key) != s) {
            return;
        }
        if (s.leases == 0 && s.request == null && nowMs - s.lastSeenMs >= Limits.SESSION_MEMORY_MS) {
            remove(s);
        } else {
            timers.schedule(s, Math.max(nowMs + 1, s.lastSeenMs + Limits.SESSION_MEMORY_MS));
        }
    }

    private void remove(Session s) {
        timers.cancel(s);
        sessions.remove(s.key);
        if (s.ended != null) {
            s.ended.remove(s);
        }
        if (lastUsed == s.id) {
            lastUsed = 0;
        }
        roll.remove(s);
        if (s.stale) {
            stale--;
        }
        if (--s.space.sessions == 0) {
            spaces.remove(s.space.namespace);
            index.free(s.space);
        }
    }

    private Session known(SessionKey key, Outcome out) {
        Session s = (Session) roll.get(lastUsed);
        if (s == null || !s.key.equals(key)) {
            s = key == null ? null : sessions.get(key);
            if (s == null) {
                out.refuse(Refusal.Code.UNKNOWN_SESSION, "no session " + (key == null ? null : Shown.value(key.toString())) + " is registered");
                return null;
            }
            lastUsed = s.id;
        }
        out.session = s;
        return s;
    }

    private Session active(SessionKey key, Outcome out) {
        Session s = known(key, out);
        if (s != null && s.state().isTerminal()) {
            out.refuse(Refusal.Code.SESSION_ENDED, key + " is " + s.state() + "; register it with a higher epoch");
            return null;
        }
        return s;
    }

    private Claim own(Session s, long number, Outcome out) {
        Claim claim = leases.get(number);
        if (claim == null) {
            gone(number, out);
            return null;
        }
        if (claim.session != s) {
            out.reject(number, Refusal.Code.NOT_OWNER, "lease " + number + " is not one of " + s.key);
            return null;
        }
        return claim;
    }

    private void gone(long number, Outcome out) {
        if (number >= options.firstFencingToken() && number < nextToken) {
            out.reject(number, Refusal.Code.LEASE_GONE, "lease " + number + " has ended");
        } else {
            out.reject(number, Refusal.Code.UNKNOWN_LEASE, "there never was a lease " + number);
        }
    }

    private static boolean tooMany(long[] numbers, Outcome out) {
        if (numbers != null && numbers.length > Limits.MAX_NUMBERS) {
            out.refuse(Refusal.Code.TOO_MANY, numbers.length + " lease numbers in one command are more than " + Limits.MAX_NUMBERS);
            return true;
        }
        return false;
    }

    private static boolean nothingDone(long[] asked, List<Lease> done, Outcome out) {
        if (asked != null && asked.length > 0 && done.isEmpty()) {
            out.refusal = out.rejections.get(0).refusal();
            return true;
        }
        return false;
    }

    private static boolean badId(String what, String id, Outcome out) {
        String wrong = Canonical.badId(id);
        if (wrong != null) {
            out.refuse(Refusal.Code.BAD_ID, what + " " + wrong);
            return true;
        }
        return false;
    }

    private boolean invalid(Session s, List<Triple> triples, Outcome out) {
        if (triples.size() > Limits.MAX_TRIPLES) {
            out.refuse(Refusal.Code.TOO_MANY, triples.size() + " triples are more than " + Limits.MAX_TRIPLES);
            return true;
        }
        mayMeet = false;
        for (int i = 0; i < triples.size(); i++) {
            Triple t = triples.get(i);
            Resource resource = t.object();
            if (t.subject() != null && !t.subject().equals(s.key.agentId())) {
                out.refuse(Refusal.Code.BAD_SUBJECT, Shown.value(t.toString()) + " speaks for " + Shown.value(t.subject()) + ", not for " + s.key.agentId());
                return true;
            }
            if (t.predicate() == Predicate.RENAMES && !options.renames()) {
                out.refuse(Refusal.Code.BAD_PREDICATE, Shown.value(t.toString()) + ": this kernel knows the five core predicates only");
                return true;
            }
            // the index keeps what it reads a path into, and so is not shown one that is too long anyway
            boolean isPlain = resource.path().length() <= Limits.MAX_PATH_BYTES && index.isPlain(s.space, resource);
            Refusal refusal = Canonical.check(resource, options.schemes(), isPlain);
            if (refusal != null) {
                out.refusal = refusal;
                return true;
            }
            String against = against(s, t);
            if (against != null) {
                out.refuse(Refusal.Code.POLICY, t + ": " + against);
                return true;
            }
            // asked here and not in a loop of its own: the path has just been read
            mayMeet = mayMeet
                    || takesLease(t) && index.mayConflict(s.space, resource, ConflictMatrix.conflictMask(t.predicate()));
        }
        return false;
    }

    /** What the policy has against it, or {@code null}. Its failure is one, too: what time has brought in this command must be told. */
    private String against(Session s, Triple t) {
        asksPolicy = true;
        try {
            return options.policy().refuse(s.key, t.predicate(), t.object());
        } catch (Throwable failure) {
            // not its message, which is code of the policy's again
            return "the policy failed with ".concat(failure.getClass().getName());
        } finally {
            asksPolicy = false;
        }
    }

    /** The kernel's time: that of the last command, milliseconds. */
    public long nowMs() {
        return nowMs;
    }

    /** When {@link Command.Expire} should come at the latest, so that nothing is handed on late; {@link Long#MAX_VALUE} for never. */
    public long nextDueMs() {
        return timers.nextDueMs();
    }

    /** How many leases are live. */
    public int leaseCount() {
        return leases.size();
    }

    /** How many manifests wait. */
    public int waiterCount() {
        return waiters;
    }

    /** How many sessions are not over, or still hold leases: those that {@link Limits#MAX_SESSIONS} counts. */
    public int liveSessionCount() {
        return sessions.size() - completed.size() - aborted.size();
    }

    /** How many sessions are remembered, ended ones included. */
    public int sessionCount() {
        return sessions.size();
    }

    /** How many directories and files the index knows; for tests that look for leaks. */
    int indexNodes() {
        return index.nodes();
    }

    /** How many records the index has; for tests that look for leaks. */
    int indexRecords() {
        return index.records();
    }

    /** How many claims searches have looked at, all in all; for tests of what a command costs. */
    long looked() {
        return index.looked;
    }

    /** How many claims, waiting manifests and sessions there are; for tests that look for leaks. */
    int rollSize() {
        return roll.size();
    }

    /** The first number that no lease has had yet; for the successor's {@link KernelOptions#firstFencingToken}. */
    public long nextFencingToken() {
        return nextToken;
    }

    /** The session's state, or {@code null} if it is not known. */
    public LifeCycle state(SessionKey session) {
        Session s = sessions.get(session);
        return s == null ? null : s.state();
    }

    /**
     * Which registration made the session: a number that no other one has, and that a session which was registered again after its end does
     * not keep; 0 if it is not known.
     */
    public long registration(SessionKey session) {
        Session s = sessions.get(session);
        return s == null ? 0 : s.registration;
    }

    /** The session's live leases in the order they were given; empty if it has none or is not known. */
    public List<Lease> leasesOf(SessionKey session) {
        ArrayList<Lease> list = new ArrayList<>();
        Session s = sessions.get(session);
        if (s != null) {
            for (Claim c = roll.claim(s.firstLease); c != null; c = roll.claim(c.nextOfSession)) {
                list.add(lease(c, c.state));
            }
        }
        return list;
    }

    /** The live lease with that fencing token, or {@code null}. */
    public Lease lease(long fencingToken) {
        Claim c = leases.get(fencingToken);
        return c == null ? null : lease(c, c.state);
    }

    /** All sessions, oldest first. */
    public List<SessionKey> sessions() {
        ArrayList<Session> list = new ArrayList<>(sessions.values());
        Collections.sort(list);
        ArrayList<SessionKey> keys = new ArrayList<>(list.size());
        for (Session s : list) {
            keys.add(s.key);
        }
        return keys;
    }

    /** Who waits, in the order of the queue. */
    public List<SessionKey> queue() {
        ArrayList<SessionKey> keys = new ArrayList<>(waiters);
        for (Request r = firstWaiter; r != null; r = r.behind) {
            keys.add(r.session.key);
        }
        return keys;
    }

    /**
     * Live leases that overlap {@code resource} in {@code namespace}, in a fixed order (K7-6); none for a path that is longer than any that
     * may be asked for.
     */
    public List<Lease> holders(String namespace, Resource resource) {
        LeaseIndex.Space space = spaces.get(namespace);
        if (space == null || resource.path().length() > Limits.MAX_PATH_BYTES) {
            return List.of();
        }
        ArrayList<Claim> claims = new ArrayList<>();
        index.collect(space, resource, LeaseIndex.ANY, null, Long.MAX_VALUE, LeaseIndex.HELD_ONLY, claims);
        claims.sort(FIXED_ORDER);
        ArrayList<Lease> list = new ArrayList<>(claims.size());
        for (Claim c : claims) {
            list.add(lease(c, c.state));
        }
        return list;
    }

    /** The session as it is now, or {@code null} if it is not known. */
    public SessionView session(SessionKey session) {
        Session s = sessions.get(session);
        return s == null ? null : view(s, s.request == null ? 0 : queue().indexOf(session) + 1, new InTheWay(index, roll));
    }

    /** The resources that manifests met each other on most, lately; {@code namespace} {@code null} for all (K7-7). */
    public List<HotSpot> contention(String namespace, int limit) {
        return hotSpots.hottest(namespace, limit, nowMs);
    }

    /**
     * Who is blocked, what is hot, who is a ghost (K7-12). Costs as much as there are sessions, and leases and waiting triples of them;
     * what meets those that wait is looked at up to {@link Limits#MAX_LOOKED_AT}.
     *
     * @param namespace {@code null} for all
     * @param limit the most hot spots
     */
    public Overview overview(String namespace, int limit) {
        HashMap<Session, Integer> places = new HashMap<>();
        int place = 0;
        for (Request r = firstWaiter; r != null; r = r.behind) {
            places.put(r.session, ++place);
        }
        ArrayList<Session> all = new ArrayList<>(sessions.values());
        Collections.sort(all);
        ArrayList<SessionView> views = new ArrayList<>();
        InTheWay inTheWay = new InTheWay(index, roll);
        TreeMap<String, Overview.Agent> agents = new TreeMap<>();
        for (Session s : all) {
            String space = s.key.namespace();
            if (namespace != null && !namespace.equals(space)) {
                continue;
            }
            SessionView view = view(s, places.getOrDefault(s, 0), inTheWay);
            views.add(view);
            // neither id has control characters
            String name = space + '\n' + s.key.agentId();
            Overview.Agent known = agents.get(name);
            agents.put(
                    name,
                    known == null
                            ? new Overview.Agent(space, s.key.agentId(), 1, view.counts())
                            : new Overview.Agent(space, known.agentId(), known.sessions() + 1, known.counts().plus(view.counts())));
        }
        return new Overview(nowMs, views, contention(namespace, limit), new ArrayList<>(agents.values()));
    }

    private SessionView view(Session s, int place, InTheWay inTheWay) {
        LifeCycle phase = s.state() == LifeCycle.PAUSED || s.state().isTerminal() ? s.phase : s.state();
        LinkedHashSet<Triple> pending = new LinkedHashSet<>(declared(s));
        pending.addAll(s.taken);
        if (phase == LifeCycle.ACQUIRING || s.turnedAway) {
            pending.addAll(s.interest);
        }
        return new SessionView(
                s.key,
                s.priorityMs,
                s.epoch,
                s.state(),
                phase,
                s.suspended,
                s.restarting,
                s.leases,
                List.copyOf(pending),
                place,
                s.request == null ? List.of() : List.copyOf(inTheWay.of(s.request)),
                s.request == null ? 0 : s.request.dueMs,
                s.lastSeenMs,
                new SessionView.Counts(s.grants, s.waits, s.deaths, s.waitsRunOut, s.expiries));
    }

    /** What stands in the way of the session's waiting manifest now; empty if it does not wait. */
    public List<Conflict> blockers(SessionKey session) {
        Session s = sessions.get(session);
        if (s == null || s.request == null) {
            return List.of();
        }
        Outcome why = new Outcome();
        judgeQueued(s.request, why);
        return why.conflicts();
    }

    private Lease lease(Claim claim, LeaseState state) {
        return new Lease(idPrefix, claim, state);
    }

    private void emit(
            Outcome out, Event.Kind kind, Session s, List<Lease> leases, long request, List<Conflict> conflicts, String reason) {
        List<Lease> copies = leases.isEmpty() ? leases : Collections.unmodifiableList(leases);
        out.add(new Event(kind, s.key, nowMs, copies, request, conflicts, null, null, List.of(), s.priorityMs, reason));
    }

    private static final class FixedOrder implements Comparator<Claim> {
        @Override
        public int compare(Claim a, Claim b) {
            int c = a.resource().compareTo(b.resource());
            if (c == 0) {
                c = a.predicate.compareTo(b.predicate);
            }
            if (c == 0) {
                c = a.session.compareTo(b.session);
            }
            return c == 0 ? Long.compare(a.number, b.number) : c;
        }
    }

    private static final class QueueOrder implements Comparator<Request> {
        @Override
        public int compare(Request a, Request b) {
            return Long.compare(a.number, b.number);
        }
    }
}
