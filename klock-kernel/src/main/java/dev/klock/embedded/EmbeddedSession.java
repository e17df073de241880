package dev.klock.embedded;

import dev.klock.kernel.Backoff;
import dev.klock.kernel.Command;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LeaseState;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Limits;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.SessionView;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;

/**
 * One agent's session with an {@link EmbeddedKernel}. Thread-safe; only one manifest of a session can wait at a time.
 *
 * <p>Its leases are renewed at a third of their time to live (K3-10) as long as its {@link Health} says so. Once it is closed, it acts on
 * nothing new: whatever it is asked for is refused with SESSION_ENDED, but for {@link #rolledBack} and {@link #releaseAll}, since a rollback
 * may still be due. Once another session was registered under its key, those are refused, too, and {@link #state} stays what it was. Once its
 * kernel is closed, it is not valid, and whatever it is asked for throws {@link IllegalStateException}.
 */
public final class EmbeddedSession implements AutoCloseable {
    private static final long[] NONE = {};
    /** A wait is looked at so often, should whoever ended it have had no stack left to say so. */
    private static final long LONGEST_PARK_NANOS = 1_000_000_000;

    final EmbeddedKernel kernel;
    final SessionKey key;
    final Health health;
    final SessionListener listener;
    /** In which its listener is told, one thing after the other. */
    final Turns turns = new Turns();
    final long priorityMs;
    /** {@link dev.klock.kernel.Kernel#registration}. */
    final long registration;

    /** Who waits for the manifest in the queue; guarded by the kernel's lock, like what follows. */
    Waiter waiter;

    boolean isClosed;
    /** Whether another process has opened it and renews it. */
    boolean isAnothers;
    /** Whether it has come to a state that it does not leave. */
    boolean isOver;
    /** Whether its leases have changed in the command that is being carried out. */
    boolean isChanged;
    /** What it had come to when it ended, was closed or replaced. */
    LifeCycle ended;

    /** When the next heartbeat is due, nanoseconds of the kernel's clock. */
    long nextBeatNanos;

    /** When its first lease ends unless it is renewed, milliseconds of the kernel's clock; {@link Long#MAX_VALUE} without leases. */
    long firstEndMs = Long.MAX_VALUE;

    /** The shortest time to live of its leases, milliseconds; 0 without leases. */
    long shortestTtlMs;

    private volatile long validUntilNanos;
    private volatile boolean valid;
    /** Whether it holds nothing and is not over. */
    private volatile boolean holdsNothing = true;
    /** Fencing tokens of the leases that it may act under, ascending; never changed. */
    private volatile long[] active = NONE;

    EmbeddedSession(EmbeddedKernel kernel, SessionKey key, long registration, long priorityMs, Health health, SessionListener listener) {
        this.kernel = kernel;
        this.key = key;
        this.registration = registration;
        this.priorityMs = priorityMs;
        this.health = health;
        this.listener = listener;
    }

    /** Somebody who waits: a thread or a future. */
    static final class Waiter {
        /** Null for a future. */
        final Thread thread;
        /** Null for a thread. */
        final CompletableFuture<Acquisition> future;
        /** Set when the wait is over, unless the kernel was closed. */
        Acquisition result;

        Waiter(Thread thread, CompletableFuture<Acquisition> future) {
            this.thread = thread;
            this.future = future;
        }
    }

    public SessionKey key() {
        return key;
    }

    /** The timestamp that gives its age, milliseconds since 1970. */
    public long priorityMs() {
        return priorityMs;
    }

    /**
     * Asks for a manifest and waits for it at most {@code waitMs} milliseconds (K4-2). After DIE everything the session held is gone or
     * rolling back (C43): roll back, call {@link #rolledBack}, back off, try again.
     *
     * @param ttlMs time to live of the leases, milliseconds; 0 for the default
     * @param reserve whether the leases start PENDING until {@link #confirm} (C50)
     * @throws InterruptedException if the thread is interrupted while it waits; the manifest is taken back, unless it was granted just
     *     then: in that case the call returns and the thread stays interrupted
     */
    public Acquisition acquire(List<Triple> triples, long waitMs, long ttlMs, boolean reserve) throws InterruptedException {
        Command.Submit submit = new Command.Submit(key, triples, ttlMs, waitMs, reserve);
        kernel.makeWay(key, triples);
        Waiter w = new Waiter(Thread.currentThread(), null);
        synchronized (kernel.lock) {
            kernel.enter();
            Outcome out = kernel.apply(this, submit);
            if (out.verdict() != Verdict.WAIT) {
                return acquisition(out);
            }
            waiter = w;
            kernel.awaits();
        }
        boolean isOver = false;
        try {
            Acquisition result = await(w, waitMs);
            isOver = true;
            return result;
        } catch (InterruptedException e) {
            isOver = true;
            throw e;
        } finally {
            if (!isOver) {
                abandon(w);
            }
        }
    }

    /** Until {@code w} has come to its end, one way or another. */
    private Acquisition await(Waiter w, long waitMs) throws InterruptedException {
        long deadline = kernel.nanos() + TimeUnit.MILLISECONDS.toNanos(Math.min(waitMs, Limits.MAX_WAIT_MS));
        while (true) {
            long left = deadline - kernel.nanos();
            synchronized (kernel.lock) {
                if (w == waiter && left <= 0) {
                    // the kernel's clock counts whole milliseconds, so it may need one more
                    kernel.apply(new Command.Expire());
                    left = TimeUnit.MILLISECONDS.toNanos(1);
                }
                if (w != waiter) {
                    return ended(w);
                }
            }
            LockSupport.parkNanos(kernel, Math.min(left, LONGEST_PARK_NANOS));
            if (Thread.interrupted()) {
                return interrupted(w);
            }
        }
    }

    private Acquisition interrupted(Waiter w) throws InterruptedException {
        synchronized (kernel.lock) {
            if (w == waiter && !kernel.apply(new Command.Withdraw(key)).isRefused()) {
                throw new InterruptedException();
            }
            // it came to its end just then, or before anything could be taken back
            Thread.currentThread().interrupt();
            return ended(w);
        }
    }

    private static Acquisition ended(Waiter w) {
        if (w.result == null) {
            throw EmbeddedKernel.closed();
        }
        return w.result;
    }

    /**
     * As {@link #acquire}, but returns at once. What was granted or refused at once completes the future here; a wait completes it on a thread
     * that does nothing else, never on the one that renews leases, so that work may follow on it as it is (K3-9). Whoever completes it before, by cancelling it
     * above all, takes the manifest back; what was granted in the same moment is released, so that no lease is left that nobody knows of
     * (K3-1). That goes for this future, not for those that are made of it.
     */
    public CompletableFuture<Acquisition> acquireLater(List<Triple> triples, long waitMs, long ttlMs, boolean reserve) {
        Command.Submit submit = new Command.Submit(key, triples, ttlMs, waitMs, reserve);
        CompletableFuture<Acquisition> future = new CompletableFuture<>();
        Acquisition now = null;
        try {
            kernel.makeWay(key, triples);
        } catch (IllegalStateException closed) {
            return CompletableFuture.failedFuture(closed);
        }
        synchronized (kernel.lock) {
            kernel.take();
            if (kernel.isClosed()) {
                return CompletableFuture.failedFuture(EmbeddedKernel.closed());
            }
            Outcome out = kernel.apply(this, submit);
            if (out.verdict() == Verdict.WAIT) {
                Waiter w = new Waiter(null, future);
                waiter = w;
                kernel.awaits();
                future.whenComplete((result, failure) -> {
                    if (failure != null || result != w.result) {
                        abandon(w);
                    }
                });
            } else {
                now = acquisition(out);
            }
        }
        if (now != null) {
            future.complete(now);
        }
        return future;
    }

    /** Nobody will ever see what comes of it. */
    private void abandon(Waiter w) {
        synchronized (kernel.lock) {
            if (kernel.isClosed()) {
                return;
            }
            if (kernel.applies()) {
                // a policy has cancelled it, in the middle of a command
                kernel.later(() -> abandon(w));
                return;
            }
            if (w == waiter) {
                // what time has brought comes first, and may be the grant
                kernel.apply(new Command.Withdraw(key));
            }
            if (w.result != null && w.result.isGranted()) {
                kernel.apply(this, new Command.Release(key, numbers(w.result.leases())));
            }
        }
    }

    /**
     * Asks again after each DIE, with the session's first timestamp (K4-7) and a growing delay (K4-13), until granted, refused, or
     * {@code totalMs} milliseconds have gone by. Only for sessions that hold nothing to roll back.
     */
    public Acquisition acquireRetrying(
            List<Triple> triples, long totalMs, long ttlMs, boolean reserve, Backoff backoff, RandomGenerator random)
            throws InterruptedException {
        long deadline = kernel.nanos() + TimeUnit.MILLISECONDS.toNanos(totalMs);
        for (int attempts = 0; ; attempts++) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - kernel.nanos());
            Acquisition a = acquire(triples, Math.max(0, leftMs), ttlMs, reserve);
            long delayMs = backoff.delayMs(attempts, random.nextDouble());
            if (a.isGranted() || a.refusal() != null || deadline - kernel.nanos() <= TimeUnit.MILLISECONDS.toNanos(delayMs)) {
                return a;
            }
            Thread.sleep(delayMs);
        }
    }

    private static Acquisition acquisition(Outcome out) {
        return new Acquisition(
                out.verdict(), false, out.leases(), out.conflicts(), out.changes(), out.retryAfterMs(), out.refusal());
    }

    /** What {@link #acquire} would answer now; changes nothing. */
    public Outcome dryRun(List<Triple> triples) {
        return kernel.perform(this, new Command.DryRun(key, triples));
    }

    /** The pre-images are safe: PENDING leases become ACTIVE (C50). */
    public Outcome confirm() {
        return kernel.perform(this, new Command.Confirm(key, null));
    }

    /** Gives leases back (K3-13), at most {@link Limits#MAX_NUMBERS} at once. */
    public Outcome release(List<Lease> leases) {
        return kernel.perform(this, new Command.Release(key, numbers(leases)));
    }

    private static long[] numbers(List<Lease> leases) {
        long[] numbers = new long[leases.size()];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = leases.get(i).fencingToken();
        }
        return numbers;
    }

    /** Gives every lease back, those that roll back included. */
    public Outcome releaseAll() {
        return kernel.perform(this, new Command.Release(key, null));
    }

    /** The rollback after DIE or {@link #abort} is done; what blocked for its sake goes to whoever waits. */
    public Outcome rolledBack() {
        return kernel.perform(this, new Command.RolledBack(key));
    }

    /** The session has failed. Writing leases block until {@link #rolledBack}. */
    public Outcome abort(String reason) {
        return kernel.perform(this, new Command.Abort(key, reason));
    }

    /** Work is done and is being checked. */
    public Outcome verify() {
        return kernel.perform(this, new Command.Verify(key));
    }

    /** Any other command of this session's. */
    public Outcome perform(Command command) {
        return kernel.perform(this, command);
    }

    /** One of the seven states; {@code null} once the kernel has forgotten the session. */
    public LifeCycle state() {
        return kernel.state(this);
    }

    /** What has happened to it since it was first registered; nothing once the kernel has forgotten it. */
    public SessionView.Counts counts() {
        return kernel.countsOf(this);
    }

    /** Its live leases. */
    public List<Lease> leases() {
        return kernel.leasesOf(this);
    }

    /**
     * Whether the session may still act under its leases: not once it has died or was aborted, and not past a deadline that is taken from
     * before the last heartbeat and is a fifth of a time to live early (C46), so that a process that was stopped for a while finds out by
     * itself. One volatile read and one clock read; no lock.
     */
    public boolean isValid() {
        return valid && kernel.nanos() - validUntilNanos < 0;
    }

    /**
     * {@link #isValid} for a session whose manifest needs no lease (C48): true, too, as long as it holds nothing and is not over. What it
     * holds besides its manifest counts as there.
     */
    public boolean isValidWithoutLeases() {
        // asked twice, since a grant may come in between
        return isValid() || holdsNothing || isValid();
    }

    /**
     * Whether {@code leases} are all held by it and active, as far as this JVM has heard: nobody is asked, and no lock is taken. With
     * {@link #isValid} that is all that who works under them has to know.
     */
    public boolean holds(List<Lease> leases) {
        long[] now = active;
        for (int i = 0; i < leases.size(); i++) {
            if (Arrays.binarySearch(now, leases.get(i).fencingToken()) < 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * That deadline, on the clock of {@link System#nanoTime}; meaningless without leases. A rollback, for which {@link #isValid} is false
     * already, has until then.
     */
    public long validUntilNanos() {
        return validUntilNanos;
    }

    /** Under the kernel's lock: recomputes what follows from the leases, which were granted or renewed at {@code sinceNanos} or later. */
    void leasesChanged(List<Lease> leases, long sinceNanos, long nowMs) {
        long shortest = Long.MAX_VALUE;
        long firstEndMs = Long.MAX_VALUE;
        boolean allHeld = true;
        boolean none = true;
        long[] tokens = new long[leases.size()];
        int held = 0;
        for (int i = 0; i < leases.size(); i++) {
            LeaseState state = leases.get(i).state();
            if (state == LeaseState.LOCK_DELAY) {
                continue;
            }
            none = false;
            if (state == LeaseState.ACTIVE) {
                tokens[held++] = leases.get(i).fencingToken();
            }
            allHeld &= state == LeaseState.ACTIVE || state == LeaseState.PENDING;
            shortest = Math.min(shortest, leases.get(i).ttlMs());
            firstEndMs = Math.min(firstEndMs, leases.get(i).expiresAtMs());
        }
        Arrays.sort(tokens, 0, held);
        active = isOver || held == 0 ? NONE : held == tokens.length ? tokens : Arrays.copyOf(tokens, held);
        this.firstEndMs = none ? Long.MAX_VALUE : firstEndMs;
        if (none) {
            shortestTtlMs = 0;
            holdsNothing = !isOver;
            valid = false;
            tellValidity();
            return;
        }
        boolean first = shortestTtlMs == 0 || shortest < shortestTtlMs;
        shortestTtlMs = shortest;
        validUntilNanos = sinceNanos + TimeUnit.MILLISECONDS.toNanos(firstEndMs - nowMs - shortest / 5);
        valid = allHeld;
        holdsNothing = false;
        tellValidity();
        if (first && !isAnothers) {
            nextBeatNanos = sinceNanos + TimeUnit.MILLISECONDS.toNanos(shortest) / 3;
            kernel.beatEarlier(this);
        }
    }

    /** Under the kernel's lock: nothing renews the leases any more. */
    void invalidate() {
        isOver = true;
        valid = false;
        active = NONE;
        holdsNothing = false;
        tellValidity();
    }

    private void tellValidity() {
        if (listener != null) {
            listener.validUntil(valid ? validUntilNanos : kernel.nanos());
        }
    }

    /** A heartbeat now, beside those that come by themselves: whether the session may act under its leases still. Its leases may have been lost just then. */
    public boolean renew() {
        kernel.perform(this, new Command.Heartbeat(key, null));
        return isValid();
    }

    /**
     * Ends the session if it is still going, else leaves it as it is. One that plans, works or verifies is COMPLETED, and all its leases are
     * free. One that cannot end well is ABORTED: it waits, its leases are not confirmed, an operator has paused it, it died and was granted
     * nothing since, or it has a rollback to finish. Then writing leases block others until {@link #rolledBack}, for one time to live at most, as nobody renews
     * them any more.
     */
    @Override
    public void close() {
        kernel.close(this);
    }
}
