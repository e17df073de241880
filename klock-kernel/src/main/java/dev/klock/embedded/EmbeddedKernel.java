package dev.klock.embedded;

import dev.klock.kernel.Change;
import dev.klock.kernel.Command;
import dev.klock.kernel.Conflict;
import dev.klock.kernel.Event;
import dev.klock.kernel.HotSpot;
import dev.klock.kernel.Kernel;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LeaseState;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.Overview;
import dev.klock.kernel.Refusal;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.SessionView;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.resource.Resource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * The kernel for the agents of one JVM. Thread-safe.
 *
 * <p>One lock guards the state machine and the sessions' bookkeeping; it is held for microseconds, never while anybody's code runs but the
 * {@link dev.klock.kernel.Policy}'s, and no other lock is taken under it. A policy that calls this kernel or its sessions gets an
 * {@link IllegalStateException}, and refuses with it what it was asked about. Nobody waits under the lock: whoever waits for a lease parks
 * without it, so a virtual thread that does leaves its carrier. One daemon thread, started with the first session, sends heartbeats and lets
 * time pass for those who wait. Listeners are called, and futures complete, on threads of their own, so that what a program does there may
 * take as long as it likes.
 *
 * <p>Errors. A thread's stack may end, and memory may run out, at any instruction. The lock is a monitor, which the VM gives back
 * whatever happens; a {@code ReentrantLock} that overflows as it is taken or given back stays taken for ever. An error that comes out of a command leaves
 * nobody knows what, so the kernel is lost from then on ({@link SessionListener#kernelLost}): nothing more is granted, and nothing that is held is renewed.
 * That is rare, since whoever is about to give a command touches first as much of the stack as a command takes ({@link Room}).
 *
 * <p>The clock is monotonic: it starts at the wall-clock time of the kernel's making and does not follow when that is set.
 */
public final class EmbeddedKernel implements AutoCloseable {
    /** Something to be told to somebody once the lock is free, by whoever runs it. No lambda: under the agent the thread that links one is judged. */
    private final class Notice implements Runnable {
        final Event event;
        final EmbeddedSession session;
        final CompletableFuture<Acquisition> future;
        /** {@code null} if the kernel was closed before there was one. */
        final Acquisition result;

        Notice(Event event, EmbeddedSession session, CompletableFuture<Acquisition> future, Acquisition result) {
            this.event = event;
            this.session = session;
            this.future = future;
            this.result = result;
        }

        @Override
        public void run() {
            if (future == null) {
                tell(session.listener);
            } else if (result == null) {
                future.completeExceptionally(closed());
            } else {
                future.complete(result);
            }
        }

        private void tell(SessionListener listener) {
            if (event == null) {
                listener.kernelLost(failure);
            } else if (event.kind() == Event.Kind.LEASE_EXPIRED || event.kind() == Event.Kind.LEASE_REVOKED) {
                for (Lease lease : event.leases()) {
                    listener.leaseLost(lease);
                }
            } else if (event.kind() == Event.Kind.OBSERVATION_UPDATE) {
                listener.observationUpdate(event.changes());
            }
        }
    }

    private static final SessionView.Counts NOTHING_YET = new SessionView.Counts(0, 0, 0, 0, 0);
    private static final String BROKEN = "an error came out of the middle of a command, so what is held is not known: there was no stack left, or no memory";
    /** So often the others are looked at while a session here waits for them: at first, and when nothing has come for long. */
    private static final long POLL_MIN_NANOS = 100_000;
    private static final long POLL_MAX_NANOS = 5_000_000;
    /** So often it is looked whether they are still there. */
    private static final long LOOK_NANOS = 50_000_000;
    private static final long TEND_NANOS = 5_000_000_000L;
    /** And so often while none waits. */
    private static final long POLL_IDLE_NANOS = 1_000_000_000;

    final Object lock = new Object();
    /** As the kernel has them, with a hash seed. */
    final KernelOptions options;

    private Kernel kernel;
    private final EventSink sink;
    /** Null for a kernel of this JVM alone. */
    private final CommandOrder order;
    /** Null where nothing is ever left to undo. */
    private final Undertaker undertaker;
    /** Held by the thread that looks after sessions whose processes have ended; before the kernel's lock. */
    private final Object undertaking = new Object();
    /** The one whose work is being undone, which is kept from running out. Set under the lock; reset without, since that cannot fail. */
    private volatile SessionKey tended;
    private long nextTendNanos;
    /** When to look again whether those who are waited for are still there. */
    private long nextLookNanos;
    private final Follower follower = new Follower();
    /** Nanoseconds; {@code null} for the JVM's. */
    private final LongSupplier clock;

    private long startNanos;
    private long startMs;
    private final HashMap<SessionKey, EmbeddedSession> sessions = new HashMap<>();
    private final ArrayDeque<Notice> notices = new ArrayDeque<>();
    /** Those whose leases the command that is being carried out has changed. */
    private final ArrayList<EmbeddedSession> changed = new ArrayList<>();
    private Keeper keeper;
    /** Whether the daemon thread sleeps, and when it means to wake. */
    boolean keeperSleeps;
    long keeperWakesNanos;
    private boolean closed;
    /** Whether an error has come out of a command, which may have done a part of it. Never false again. */
    private volatile boolean isBroken;
    /** Why it was closed by itself; {@code null} if it was not. */
    private KernelLostException failure;
    /** When nothing more was to be had from the others, on this JVM's clock: what came later was not there yet. */
    private long caughtUpNanos;
    /** When the command that is being put was given, on this JVM's clock. */
    private long putNanos;
    /** How long to wait until others are looked at again, nanoseconds. */
    private long pollNanos = POLL_MIN_NANOS;
    /** Whether a command is being carried out. */
    private boolean applies;
    /** See {@link #losses}. */
    private long losses;

    /**
     * @param options if they have no hash seed, the kernel gets a random one, so that nobody can choose paths whose hashes collide
     * @param startMs the time at which the kernel's clock starts, milliseconds since 1970
     * @param sink is told everything that happens; may be {@code null}
     */
    public EmbeddedKernel(KernelOptions options, long startMs, EventSink sink) {
        this(options, startMs, sink, null);
    }

    /** For tests that say themselves what time it is. */
    EmbeddedKernel(KernelOptions options, long startMs, EventSink sink, LongSupplier clock) {
        this.clock = clock;
        this.order = null;
        this.undertaker = null;
        this.startMs = startMs;
        this.startNanos = nanos();
        this.options = seeded(options);
        this.kernel = new Kernel(this.options, startMs);
        this.sink = sink;
    }

    /**
     * A kernel that has its state in common with those of other processes: each command of any of them is carried out by all, in one order.
     * What the others have done so far is known when this returns; closing closes {@code order}. When that fails, the kernel is closed.
     *
     * @param options their kernel id and first fencing token do not count: {@code order} says how all begin
     * @param undertaker {@code null} where sessions leave nothing to undo when their process ends
     * @param sink is told what happens in all of them; may be {@code null}
     * @throws KernelLostException as for {@link CommandOrder#begin}
     */
    public EmbeddedKernel(KernelOptions options, CommandOrder order, Undertaker undertaker, EventSink sink) throws KernelLostException {
        this.clock = null;
        this.order = order;
        this.undertaker = undertaker;
        this.options = seeded(options);
        this.sink = sink;
        follower.beginAnew();
        order.begin(follower);
    }

    private static KernelOptions seeded(KernelOptions options) {
        return options.hashSeed() == KernelOptions.NO_HASH_SEED ? options.withHashSeed(randomSeed()) : options;
    }

    private static int randomSeed() {
        // not SecureRandom, which would open files and load its providers before a program's main: nobody sees what depends on the seed
        int seed = ThreadLocalRandom.current().nextInt();
        return seed == KernelOptions.NO_HASH_SEED ? 1 : seed;
    }

    /**
     * Opens a session. {@code priorityMs} is trusted: whoever lets others choose it checks it first (K8-10).
     *
     * @param priorityMs its age, milliseconds since 1970; smaller is older
     * @param health asked before each heartbeat; {@code null} for "alive until closed"
     * @param listener may be {@code null}
     * @throws IllegalArgumentException if the kernel refuses the registration; the message says why
     * @throws IllegalStateException if the kernel is closed
     */
    public EmbeddedSession open(SessionKey key, long priorityMs, Health health, SessionListener listener) {
        return open(new Command.Register(key, priorityMs, true, 0, false, true, true), health, listener);
    }

    /** As {@link #open(SessionKey, long, Health, SessionListener)}, with all that a registration can say. */
    public EmbeddedSession open(Command.Register register, Health health, SessionListener listener) {
        synchronized (lock) {
            enter();
            keep();
            EmbeddedSession known = sessions.get(register.session());
            LifeCycle before = known == null ? null : kernel.state(known.key);
            if (before != null && !before.isTerminal()) {
                throw new IllegalArgumentException("session " + register.session() + " is open already");
            }
            Outcome out = apply(register);
            if (out.isRefused()) {
                throw new IllegalArgumentException(out.refusal().message());
            }
            SessionKey key = register.session();
            EmbeddedSession s = new EmbeddedSession(this, key, kernel.registration(key), out.priorityMs(), health, listener);
            sessions.put(key, s);
            if (known != null) {
                // its last state cannot be asked for any more: the name is the new one's
                known.ended = before;
            }
            s.nextBeatNanos = nanos() + TimeUnit.MINUTES.toNanos(1);
            return s;
        }
    }

    /** Under the lock: has the daemon thread started, before there is a session that would be without it. */
    private void keep() {
        if (keeper == null) {
            Keeper first = new Keeper();
            first.start();
            keeper = first;
        }
    }

    /** Under the lock, first: it is not the policy, which runs under it, too, that asks. Nothing may change in the middle of a command. */
    void take() {
        if (applies) {
            throw new IllegalStateException("a policy must not call the kernel that asks it");
        }
        Room.ensure(order == null ? Room.FOR_COMMAND : Room.FOR_SHARED_COMMAND);
    }

    /** Under the lock, first: what others have done is known, and the kernel is not closed. */
    void enter() {
        take();
        follow();
        if (isBroken && !closed) {
            wakeKeeper();
            throw broken();
        }
        if (closed) {
            KernelLostException why = failure;
            throw why == null ? closed() : new IllegalStateException("the kernel is closed: " + why.getMessage(), why);
        }
    }

    /** What everything answers from {@link #close} on. */
    static IllegalStateException closed() {
        return new IllegalStateException("the kernel is closed");
    }

    private static IllegalStateException broken() {
        return new IllegalStateException("the kernel is closed: " + BROKEN);
    }

    /** Under the lock. */
    boolean isClosed() {
        return closed || isBroken;
    }

    /** Under the lock: whether the session's name stands for a later registration, which is no business of this handle's. */
    boolean isReplaced(EmbeddedSession s) {
        long now = kernel.registration(s.key);
        return now != 0 && now != s.registration;
    }

    /** Under the lock: carries out a command of the session's, unless the handle is closed or its registration is over. */
    Outcome apply(EmbeddedSession s, Command command) {
        if (s.isAnothers) {
            throw new IllegalStateException(s.key + " is another process's session: only that asks for anything in its name");
        }
        if (isReplaced(s)) {
            return Outcome.refused(new Refusal(Refusal.Code.SESSION_ENDED, s.key + " was opened again, and this is the handle from before"));
        }
        // nobody would be told what becomes of a manifest of a handle that is not among the sessions
        if (sessions.get(s.key) != s && !endsRollback(s, command)) {
            return Outcome.refused(new Refusal(Refusal.Code.SESSION_ENDED, s.key + (s.isClosed ? " is closed" : " is over") + "; open another one"));
        }
        return apply(command);
    }

    /** Whether it does nothing but free what blocks others for the sake of the session's rollback, which may be due after its end. */
    private static boolean endsRollback(EmbeddedSession s, Command command) {
        if (command instanceof Command.Release) {
            Command.Release release = (Command.Release) command;
            return release.leases() == null && s.key.equals(release.session());
        }
        return command instanceof Command.RolledBack && s.key.equals(((Command.RolledBack) command).session());
    }

    Outcome perform(EmbeddedSession s, Command command) {
        synchronized (lock) {
            enter();
            return apply(s, command);
        }
    }

    LifeCycle state(EmbeddedSession s) {
        synchronized (lock) {
            enter();
            return isReplaced(s) ? s.ended : kernel.state(s.key);
        }
    }

    SessionView.Counts countsOf(EmbeddedSession s) {
        synchronized (lock) {
            enter();
            SessionView view = isReplaced(s) ? null : kernel.session(s.key);
            return view == null ? NOTHING_YET : view.counts();
        }
    }

    List<Lease> leasesOf(EmbeddedSession s) {
        synchronized (lock) {
            enter();
            return isReplaced(s) ? List.of() : kernel.leasesOf(s.key);
        }
    }

    /** Carries out any command now. */
    public Outcome perform(Command command) {
        synchronized (lock) {
            enter();
            return apply(command);
        }
    }

    public LifeCycle state(SessionKey session) {
        synchronized (lock) {
            enter();
            return kernel.state(session);
        }
    }

    public List<Lease> leasesOf(SessionKey session) {
        synchronized (lock) {
            enter();
            return kernel.leasesOf(session);
        }
    }

    /** Who holds what overlaps {@code resource} (K7-6). */
    public List<Lease> holders(String namespace, Resource resource) {
        synchronized (lock) {
            enter();
            return kernel.holders(namespace, resource);
        }
    }

    /** Who waits, first come first. */
    public List<SessionKey> queue() {
        synchronized (lock) {
            enter();
            return kernel.queue();
        }
    }

    /** What the session's waiting manifest waits for. */
    public List<Conflict> blockers(SessionKey session) {
        synchronized (lock) {
            enter();
            return kernel.blockers(session);
        }
    }

    /** The session as it is now, or {@code null} if it is not known; what its StateDigest is made of. */
    public SessionView session(SessionKey session) {
        synchronized (lock) {
            enter();
            return kernel.session(session);
        }
    }

    /** The hottest resources (K7-7); {@code namespace} {@code null} for all. */
    public List<HotSpot> contention(String namespace, int limit) {
        synchronized (lock) {
            enter();
            return kernel.contention(namespace, limit);
        }
    }

    /** Who is blocked, what is hot, who is a ghost (K7-12); {@code namespace} {@code null} for all. */
    public Overview overview(String namespace, int limit) {
        synchronized (lock) {
            enter();
            return kernel.overview(namespace, limit);
        }
    }

    /**
     * Ends the daemon thread, and with it all renewing. Leases are not released: nothing can be asked any more. From now on no session is
     * valid, and everything but closing throws {@link IllegalStateException}; so does whatever waits, and futures end with it.
     */
    @Override
    public void close() {
        synchronized (lock) {
            take();
            end();
        }
    }

    /** Under the lock. */
    private void end() {
        if (order != null && !closed) {
            order.close();
        }
        closed = true;
        for (EmbeddedSession s : sessions.values()) {
            s.invalidate();
            if (s.waiter != null) {
                finish(s, null);
            }
        }
        wakeKeeper();
    }

    /** Under the lock: it is not known any more what others hold, so nobody here may act under a lease. */
    private void fail(KernelLostException why) {
        failure = why;
        for (EmbeddedSession s : sessions.values()) {
            if (s.listener != null) {
                notices.add(new Notice(null, s, null, null));
            }
        }
        end();
    }

    void close(EmbeddedSession s) {
        synchronized (lock) {
            take();
            if (s.isClosed || isReplaced(s)) {
                return;
            }
            s.isClosed = true;
            LifeCycle state = kernel.state(s.key);
            if (!isClosed() && !s.isAnothers && state != null && !state.isTerminal()) {
                if (apply(new Command.Complete(s.key)).isRefused()) {
                    apply(new Command.Abort(s.key, "closed while " + state));
                }
            }
            s.ended = kernel.state(s.key);
            // no more heartbeats: a rollback that nobody finishes blocks others for one time to live, not for ever
            sessions.remove(s.key, s);
        }
    }

    long nanos() {
        return clock == null ? System.nanoTime() : clock.getAsLong();
    }

    /** The kernel's clock, milliseconds since 1970; never goes back. Needs no lock, and is told after {@link #close}, too. */
    public long nowMs() {
        return nowMs(nanos());
    }

    private long nowMs(long nanos) {
        return startMs + (nanos - startNanos) / 1_000_000;
    }

    /** Under the lock: carries out a command, and passes on what came of it. */
    Outcome apply(Command command) {
        if (isBroken) {
            throw broken();
        }
        if (order != null || Thread.currentThread() == keeper) {
            // the daemon thread asks again later; to append to a file takes 10 µs and more
            Room.ensureHeap();
        }
        boolean isWhole = false;
        try {
            long now = nanos();
            Outcome out = order == null ? carryOut(command, nowMs(now), now) : put(command, now);
            if (!notices.isEmpty() || dueNanos(now) - keeperWakesNanos < 0) {
                wakeKeeper();
            }
            isWhole = true;
            return out;
        } finally {
            if (!isWhole) {
                // no call before that, which could fail, too
                isBroken = true;
                wakeKeeper();
            }
        }
    }

    /** Under the lock: the daemon thread has something to do. */
    private void wakeKeeper() {
        if (keeperSleeps) {
            LockSupport.unpark(keeper);
            keeperSleeps = false;
        }
    }

    /** Under the lock: has a command carried out by all kernels of the order; one that changes nothing only by this one. */
    private Outcome put(Command command, long now) {
        try {
            if (!(command instanceof Command.DryRun)) {
                putNanos = now;
                Outcome out = order.put(command, nowMs(now), follower);
                caughtUpNanos = now;
                return out;
            }
            if (kernel.nextDueMs() <= nowMs(now)) {
                order.put(new Command.Expire(), nowMs(now), follower);
            }
            return carryOut(command, kernel.nowMs(), now);
        } catch (KernelLostException e) {
            fail(e);
            throw new IllegalStateException("the kernel is closed: " + e.getMessage(), e);
        }
    }

    /** Before {@code triples} are asked for: ends the sessions in their way whose processes have ended (K3-1). Not under the lock. */
    void makeWay(SessionKey asks, List<Triple> triples) {
        if (order == null) {
            return;
        }
        List<SessionKey> gone;
        synchronized (lock) {
            enter();
            gone = gone(apply(new Command.DryRun(asks, triples)).conflicts());
        }
        for (int i = 0; i < gone.size(); i++) {
            bury(gone.get(i));
        }
    }

    /** Under the lock: those in the way whose processes have ended, and are not about to come back (K3-6). */
    private List<SessionKey> gone(List<Conflict> conflicts) {
        List<SessionKey> gone = new ArrayList<>();
        SessionKey last = null;
        for (int i = 0; i < conflicts.size(); i++) {
            SessionKey holder = conflicts.get(i).holder();
            if (holder.equals(last) || gone.contains(holder)) {
                continue;
            }
            last = holder;
            SessionView view = kernel.session(holder);
            if (view != null && !view.restarting() && order.isGone(holder)) {
                gone.add(holder);
            }
        }
        return gone;
    }

    /** Ends a session whose process has ended, and frees what it held once its work is undone (C45). Not under the lock. */
    private void bury(SessionKey gone) {
        synchronized (undertaking) {
            try {
                if (mustBeUndone(gone) && (undertaker == null || undertaker.rollBack(gone))) {
                    perform(new Command.RolledBack(gone));
                }
            } finally {
                tended = null;
            }
        }
    }

    /**
     * Ends all sessions whose processes have ended, as {@link EmbeddedSession#acquire} does with those in its way. One that holds nothing, since
     * it died perhaps, may come back, and is kept until it has not been heard of for {@code quietMs} milliseconds.
     */
    public void buryGone(long quietMs) {
        if (order == null) {
            return;
        }
        List<SessionKey> gone = new ArrayList<>();
        synchronized (lock) {
            enter();
            for (SessionKey key : kernel.sessions()) {
                if (!kernel.state(key).isTerminal() && !mayComeBack(kernel.session(key), quietMs) && order.isGone(key)) {
                    gone.add(key);
                }
            }
        }
        for (int i = 0; i < gone.size(); i++) {
            bury(gone.get(i));
        }
    }

    /** Under the lock: whether a session whose process has ended may be about to come back. */
    private boolean mayComeBack(SessionView view, long quietMs) {
        return view.restarting() || view.leases() == 0 && kernel.nowMs() - view.lastSeenMs() < quietMs;
    }

    /** A name of the process that has opened {@code session}, if it is another than this one and has not ended; else null. */
    public String processOf(SessionKey session) {
        synchronized (lock) {
            enter();
            return order == null ? null : order.processOf(session);
        }
    }

    /**
     * Grows whenever leases were lost, or may have been, against the will of who held them: their time ran out, or they were revoked. Whoever was granted
     * something since it last looked asks {@link #hasLost} of those that may have changed that.
     */
    public long losses() {
        synchronized (lock) {
            enter();
            return losses;
        }
    }

    /** How often leases of {@code session} have run out so far; 0 if it is not known. */
    public long expiriesOf(SessionKey session) {
        synchronized (lock) {
            enter();
            SessionView view = kernel.session(session);
            return view == null ? 0 : view.counts().expiries();
        }
    }

    /**
     * Whether {@code session}, which has not ended by itself, has lost leases, so that others may have been granted what it changed under them (C45).
     *
     * @param expiries {@link #expiriesOf} when it was granted what it acts under
     */
    public boolean hasLost(SessionKey session, long expiries) {
        synchronized (lock) {
            enter();
            SessionView view = kernel.session(session);
            return view == null || view.state().isTerminal() || view.counts().expiries() > expiries;
        }
    }

    /**
     * A handle of a session that another process has opened and renews, for whoever acts under its leases: it is valid as long as that session
     * is. Nothing can be asked by it but what it holds, and closing it ends nothing.
     *
     * @return null if there is no such session, or it is over
     */
    public EmbeddedSession follow(SessionKey key, SessionListener listener) {
        synchronized (lock) {
            enter();
            LifeCycle state = kernel.state(key);
            if (state == null || state.isTerminal() || sessions.containsKey(key)) {
                return null;
            }
            EmbeddedSession s = new EmbeddedSession(this, key, kernel.registration(key), kernel.session(key).priorityMs(), null, listener);
            s.isAnothers = true;
            s.leasesChanged(kernel.leasesOf(key), startNanos + (kernel.nowMs() - startMs) * 1_000_000, kernel.nowMs());
            sessions.put(key, s);
            return s;
        }
    }

    /** {@link #bury}, on a thread of its own. */
    private final class Burial implements Runnable {
        private final SessionKey gone;

        Burial(SessionKey gone) {
            this.gone = gone;
        }

        @Override
        public void run() {
            try {
                bury(gone);
            } catch (IllegalStateException closed) {
                // whoever waits is told so
                return;
            }
        }
    }

    private boolean mustBeUndone(SessionKey gone) {
        synchronized (lock) {
            enter();
            LifeCycle state = kernel.state(gone);
            if (state == null) {
                return false;
            }
            if (!state.isTerminal()) {
                apply(new Command.Abort(gone, "its process has ended"));
            }
            List<Lease> left = kernel.leasesOf(gone);
            for (int i = 0; i < left.size(); i++) {
                if (left.get(i).state() == LeaseState.ROLLING_BACK) {
                    tended = gone;
                    nextTendNanos = nanos();
                    wakeKeeper();
                    return true;
                }
            }
            return false;
        }
    }

    /** Under the lock: whether those who are waited for are still there. */
    private void lookAfterBlockers(long now) {
        if (order == null || now - nextLookNanos < 0) {
            return;
        }
        nextLookNanos = now + LOOK_NANOS;
        for (EmbeddedSession s : sessions.values()) {
            if (s.waiter != null) {
                List<SessionKey> gone = gone(kernel.blockers(s.key));
                for (int i = 0; i < gone.size(); i++) {
                    SessionKey one = gone.get(i);
                    later(new Burial(one));
                }
            }
        }
    }

    /** Under the lock: carries out what others have done; whether that was anything. */
    private boolean follow() {
        if (order == null || closed || isBroken) {
            return false;
        }
        boolean isWhole = false;
        long now = nanos();
        try {
            boolean any = order.follow(follower);
            caughtUpNanos = now;
            isWhole = true;
            return any;
        } catch (KernelLostException e) {
            fail(e);
            isWhole = true;
            return true;
        } finally {
            if (!isWhole) {
                isBroken = true;
                wakeKeeper();
            }
        }
    }

    /** Carries the commands of all kernels of an order out in this one. Under the lock. */
    private final class Follower implements CommandOrder.Replica {
        @Override
        public Outcome carryOut(Command command, long timeMs, boolean own) {
            // what others did, and so what they granted, was not done yet when all was known last; nor is it older than it says
            long since = own ? putNanos : caughtUpNanos;
            long said = startNanos + (Math.max(timeMs, kernel.nowMs()) - startMs) * 1_000_000;
            return EmbeddedKernel.this.carryOut(command, timeMs, said - since < 0 ? said : since);
        }

        @Override
        public boolean isIdle(long timeMs) {
            EmbeddedKernel.this.carryOut(new Command.Expire(), timeMs, caughtUpNanos);
            return kernel.liveSessionCount() == 0 && kernel.leaseCount() == 0 && kernel.waiterCount() == 0;
        }

        @Override
        public void beginAnew() {
            for (EmbeddedSession s : sessions.values()) {
                s.ended = kernel.state(s.key);
                s.isOver = true;
            }
            sessions.clear();
            // what came of the others' before is not told any more
            losses++;
            CommandOrder.Beginning beginning = order.beginning();
            startMs = beginning.startMs();
            startNanos = beginning.startNanos();
            kernel = new Kernel(options.withKernelId(beginning.kernelId()).withFirstFencingToken(beginning.firstFencingToken()), startMs);
        }

        @Override
        public long nextFencingToken() {
            return kernel.nextFencingToken();
        }

        @Override
        public boolean isKnown(SessionKey session) {
            return kernel.state(session) != null;
        }

        @Override
        public long timeMs() {
            return Math.max(EmbeddedKernel.this.nowMs(), kernel.nowMs());
        }
    }

    /** Under the lock. {@code sinceNanos}: what is granted or renewed by it is so from then on, or from later (C46). */
    private Outcome carryOut(Command command, long timeMs, long sinceNanos) {
        Outcome out;
        applies = true;
        try {
            out = kernel.apply(command, Math.max(timeMs, kernel.nowMs()));
        } finally {
            applies = false;
        }
        List<Event> events = out.events();
        for (int i = 0; i < events.size(); i++) {
            handle(events.get(i), out);
        }
        if (command instanceof Command.Heartbeat && !out.isRefused()) {
            leasesChanged(((Command.Heartbeat) command).session());
        } else if (command instanceof Command.Confirm && !out.isRefused()) {
            leasesChanged(((Command.Confirm) command).session());
        }
        for (int i = 0; i < changed.size(); i++) {
            EmbeddedSession s = changed.get(i);
            s.isChanged = false;
            s.leasesChanged(kernel.leasesOf(s.key), sinceNanos, kernel.nowMs());
        }
        changed.clear();
        return out;
    }

    private void handle(Event e, Outcome out) {
        EmbeddedSession s = sessions.get(e.session());
        boolean tell = sink != null;
        losses += e.kind() == Event.Kind.LEASE_EXPIRED || e.kind() == Event.Kind.LEASE_REVOKED ? 1 : 0;
        if (s != null) {
            Event.Kind kind = e.kind();
            if (kind == Event.Kind.SESSION_REGISTERED) {
                if (isReplaced(s)) {
                    sessions.remove(s.key);
                    s.invalidate();
                    s = null;
                }
            } else if (kind == Event.Kind.LEASE_GRANTED) {
                leasesChanged(s);
                if (e.request() != 0 && s.waiter != null) {
                    finish(s, new Acquisition(Verdict.GRANTED, false, e.leases(), List.of(), observed(e, out), 0, null));
                }
            } else if (kind == Event.Kind.DIED || kind == Event.Kind.WAIT_TIMED_OUT || kind == Event.Kind.WAIT_WITHDRAWN) {
                if (e.request() != 0 && s.waiter != null) {
                    finish(s, kind == Event.Kind.WAIT_WITHDRAWN ? withdrawn(s) : died(e));
                }
            } else if (kind == Event.Kind.LEASE_EXPIRED || kind == Event.Kind.LEASE_REVOKED) {
                leasesChanged(s);
                tell |= s.listener != null;
            } else if (kind == Event.Kind.LEASE_FREED || kind == Event.Kind.ROLLBACK_REQUIRED) {
                leasesChanged(s);
            } else if (kind == Event.Kind.STATE_CHANGED && e.to().isTerminal()) {
                s.isOver = true;
                s.ended = e.to();
                leasesChanged(s);
            } else if (kind == Event.Kind.OBSERVATION_UPDATE) {
                tell |= s.listener != null;
            }
        }
        if (tell) {
            notices.add(new Notice(e, s, null, null));
        }
    }

    private static Acquisition died(Event e) {
        return new Acquisition(Verdict.DIE, e.kind() == Event.Kind.WAIT_TIMED_OUT, List.of(), e.conflicts(), List.of(), 0, null);
    }

    /** Its manifest was taken back: by a pause, or because the session is over. */
    private Acquisition withdrawn(EmbeddedSession s) {
        LifeCycle state = kernel.state(s.key);
        if (!state.isTerminal()) {
            return new Acquisition(Verdict.PAUSED, false, List.of(), List.of(), List.of(), 0, null);
        }
        Refusal over = new Refusal(Refusal.Code.SESSION_ENDED, s.key + " became " + state + " while it waited");
        return new Acquisition(null, false, List.of(), List.of(), List.of(), 0, over);
    }

    /** The observation update that goes with a grant from the queue: it follows it among the events of the same command. */
    private static List<Change> observed(Event granted, Outcome out) {
        for (Event e : out.events()) {
            if (e.kind() == Event.Kind.OBSERVATION_UPDATE && e.session().equals(granted.session())) {
                return e.changes();
            }
        }
        return List.of();
    }

    private void leasesChanged(SessionKey session) {
        EmbeddedSession s = sessions.get(session);
        if (s != null) {
            leasesChanged(s);
        }
    }

    /** Looked at once, at the end of the command, however many of its leases have changed. */
    private void leasesChanged(EmbeddedSession s) {
        if (!s.isChanged) {
            s.isChanged = true;
            changed.add(s);
        }
    }

    /** {@code result} {@code null}: the kernel is closed. */
    private void finish(EmbeddedSession s, Acquisition result) {
        EmbeddedSession.Waiter w = s.waiter;
        s.waiter = null;
        w.result = result;
        if (w.thread != null) {
            LockSupport.unpark(w.thread);
        } else {
            notices.add(new Notice(null, s, w.future, result));
        }
    }

    /** Under the lock: when the daemon thread has something to do next. */
    private long wakeNanos() {
        long wake = dueNanos(nanos());
        for (EmbeddedSession s : sessions.values()) {
            if (!s.isAnothers && s.nextBeatNanos - wake < 0) {
                wake = s.nextBeatNanos;
            }
        }
        return wake;
    }

    /** Under the lock: when time next brings something, or in an hour. */
    private long dueNanos(long now) {
        long due = order == null || isAwaited() ? kernel.nextDueMs() : nextEndMs();
        long inAnHour = now + TimeUnit.HOURS.toNanos(1);
        if (due == Long.MAX_VALUE) {
            return inAnHour;
        }
        long nanos = startNanos + (due - startMs) * 1_000_000;
        return nanos - inAnHour < 0 ? nanos : inAnHour;
    }

    /** Under the lock: whether a session of this kernel's waits. */
    private boolean isAwaited() {
        for (EmbeddedSession s : sessions.values()) {
            if (s.waiter != null) {
                return true;
            }
        }
        return false;
    }

    /** Under the lock: when the first lease of a session of this kernel's ends; those of others are others' business. */
    private long nextEndMs() {
        long next = Long.MAX_VALUE;
        for (EmbeddedSession s : sessions.values()) {
            next = Math.min(next, s.firstEndMs);
        }
        return next;
    }

    /** Under the lock: somebody waits from now on, and those that he waits for may be elsewhere. */
    void awaits() {
        if (order != null) {
            pollNanos = POLL_MIN_NANOS;
            wakeKeeper();
        }
    }

    /** Under the lock: a session wants its heartbeat earlier than before. */
    void beatEarlier(EmbeddedSession s) {
        if (s.nextBeatNanos - keeperWakesNanos < 0) {
            wakeKeeper();
        }
    }

    /** The group of the JVM's own threads, so that no program waits for ours among those of its own group. */
    private static ThreadGroup outermost() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        try {
            while (group.getParent() != null) {
                group = group.getParent();
            }
        } catch (SecurityException e) {
            return null;
        }
        return group;
    }

    /**
     * Complete futures and call listeners: as many daemon threads as there are futures whose followers, and sessions whose listeners, are at work. Made when one is needed first, which in most
     * programs is never: what they are made of takes 10 to 15 ms CPU of a start on 25.
     */
    private static final class Completions implements ThreadFactory {
        static final ThreadPoolExecutor THREADS =
                new ThreadPoolExecutor(0, Integer.MAX_VALUE, 5, TimeUnit.SECONDS, new SynchronousQueue<>(), new Completions());

        @Override
        public Thread newThread(Runnable work) {
            // as for the keeper: nothing of the thread that happens to need it first
            Thread t = new Thread(outermost(), work, "klock-kernel-future", 0, false) {
                @Override
                public void run() {
                    if (Thread.currentThread() == this) {
                        super.run();
                    }
                }
            };
            t.setContextClassLoader(null);
            t.setDaemon(true);
            return t;
        }
    }

    /** Under the lock, or not: does something on a thread of its own, and so after a command that is being carried out. */
    static void later(Runnable work) {
        Completions.THREADS.execute(work);
    }

    /** Under the lock: whether it is the policy that asks. */
    boolean applies() {
        return applies;
    }

    /** Completes a future on a thread of its own; what follows on it is the program's and may take long. */
    private void complete(Notice n) {
        try {
            later(n);
        } catch (Throwable t) {
            // no thread to be had: later, since somebody waits for it
            synchronized (lock) {
                notices.add(n);
            }
            Keeper.pause();
        }
    }

    /** Heartbeats, the passing of time, and calls to listeners. */
    private final class Keeper extends Thread {
        private final ArrayList<Notice> tell = new ArrayList<>();
        private final ArrayList<EmbeddedSession> beat = new ArrayList<>();
        /** Those whose listeners are to be told something. */
        private final ArrayDeque<Turns> turns = new ArrayDeque<>();

        Keeper() {
            // nothing of the thread that happens to open the first session: neither its thread-locals nor its class loader
            super(outermost(), null, "klock-kernel", 0, false);
            setContextClassLoader(null);
            setDaemon(true);
        }

        @Override
        public void run() {
            if (Thread.currentThread() != this) {
                // whoever finds the thread may call this
                return;
            }
            while (true) {
                try {
                    if (!round()) {
                        return;
                    }
                } catch (Throwable t) {
                    // out of memory, most likely, and it is the program's memory: leases are renewed for as long as the program lives
                    pause();
                }
            }
        }

        private static void pause() {
            try {
                Thread.sleep(100);
            } catch (InterruptedException | Error e) {
                // as above
            }
        }

        /** Waits for something to do and does it; false once the kernel is closed. */
        private boolean round() {
            for (long sleepNanos = fill(false); sleepNanos > 0; sleepNanos = fill(true)) {
                LockSupport.parkNanos(EmbeddedKernel.this, sleepNanos);
                // nobody interrupts this thread for a reason of ours
                Thread.interrupted();
            }
            for (int i = 0; i < beat.size(); i++) {
                EmbeddedSession s = beat.get(i);
                if (isAlive(s.health)) {
                    renew(s);
                }
            }
            beat.clear();
            boolean isOver;
            synchronized (lock) {
                if (!closed && (order == null || dueNanos(nanos()) - nanos() <= 0)) {
                    apply(new Command.Expire());
                }
                tell.addAll(notices);
                notices.clear();
                isOver = closed;
            }
            for (int i = 0; i < tell.size(); i++) {
                tell(tell.get(i));
            }
            tell.clear();
            for (Turns next = turns.peek(); next != null; next = turns.peek()) {
                next.begin();
                turns.remove();
            }
            return !isOver || hasNotices();
        }

        private boolean hasNotices() {
            synchronized (lock) {
                return !notices.isEmpty();
            }
        }

        /**
         * What there is to do goes to {@link #beat} and {@link #tell}.
         *
         * @param slept whether it comes from sleeping, and so others may have done something meanwhile
         * @return how long to sleep before asking again, nanoseconds; 0 if there is something to do
         */
        private long fill(boolean slept) {
            synchronized (lock) {
                keeperSleeps = false;
                if (isBroken && !closed) {
                    fail(new KernelLostException(BROKEN, null));
                }
                if (slept && follow()) {
                    pollNanos = POLL_MIN_NANOS;
                }
                if (slept && !closed) {
                    lookAfterBlockers(nanos());
                    tend(nanos());
                }
                if (closed) {
                    return 0;
                }
                long wake = wakeNanos();
                long left = wake - nanos();
                if (left <= 0 || !notices.isEmpty() || !turns.isEmpty()) {
                    beat();
                    return 0;
                }
                if (order != null) {
                    left = Math.min(left, untilPoll());
                    wake = nanos() + left;
                }
                keeperWakesNanos = wake;
                keeperSleeps = true;
                return left;
            }
        }

        /** Under the lock: whose heartbeats are due. */
        private void beat() {
            for (EmbeddedSession s : sessions.values()) {
                if (!s.isAnothers && nanos() - s.nextBeatNanos >= 0) {
                    beat.add(s);
                    long everyMs = s.shortestTtlMs == 0 ? 60_000 : Math.max(1, s.shortestTtlMs / 3);
                    s.nextBeatNanos = nanos() + everyMs * 1_000_000;
                }
            }
        }

        /** Under the lock: what is being undone for somebody who is not there any more must not run out. */
        private void tend(long now) {
            if (tended != null && now - nextTendNanos >= 0) {
                nextTendNanos = now + TEND_NANOS;
                apply(new Command.Heartbeat(tended, null));
            }
        }

        /** Under the lock. */
        private long untilPoll() {
            if (!isAwaited()) {
                return POLL_IDLE_NANOS;
            }
            long wait = pollNanos;
            pollNanos = Math.min(POLL_MAX_NANOS, wait * 2);
            return wait;
        }

        private void renew(EmbeddedSession s) {
            synchronized (lock) {
                if (closed || sessions.get(s.key) != s) {
                    return;
                }
                Outcome out = apply(new Command.Heartbeat(s.key, null));
                if (out.isRefused() && out.refusal().code() != Refusal.Code.SESSION_ENDED) {
                    s.invalidate();
                    sessions.remove(s.key, s);
                }
            }
        }

        private boolean isAlive(Health health) {
            try {
                return health == null || health.isAlive();
            } catch (Throwable t) {
                return false;
            }
        }

        private void tell(Notice n) {
            if (n.future != null) {
                complete(n);
                return;
            }
            if (n.event != null && sink != null) {
                try {
                    sink.event(n.event);
                } catch (Throwable t) {
                    // its failure is its own; heartbeats must go on
                }
            }
            if (n.session != null && n.session.listener != null) {
                // that the kernel is lost waits for nobody who is held up
                Turns told = n.event == null ? new Turns() : n.session.turns;
                told.add(n);
                turns.add(told);
            }
        }
    }
}
