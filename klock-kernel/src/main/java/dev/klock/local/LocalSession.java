package dev.klock.local;

import dev.klock.Answer;
import dev.klock.KlockSession;
import dev.klock.embedded.Acquisition;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.embedded.KernelLostException;
import dev.klock.embedded.SessionListener;
import dev.klock.kernel.Backoff;
import dev.klock.kernel.Change;
import dev.klock.kernel.Command;
import dev.klock.kernel.Conflict;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LeaseState;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.Refusal;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.SessionView;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.resource.Resource;
import dev.klock.resource.ResourceSyntaxException;
import dev.klock.resource.Shown;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A session with a kernel in this JVM. Where nothing enforces its manifest, its rollback is its program's own business, and its leases go at once when
 * it dies. Else they go when what it did is undone: here by whoever enforces it, or, when this process has ended, by whoever wants what it held.
 */
public final class LocalSession implements KlockSession, SessionListener {
    /** What the thread has entered last and not closed. */
    private static final ThreadLocal<Inside> CURRENT = new ThreadLocal<>();
    private static final Duration LONGEST = Duration.ofMillis(Long.MAX_VALUE);

    private final EmbeddedSession held;
    private final List<Triple> manifest;
    /** Null if nothing enforces it. */
    private final Enforcement enforcement;
    private final long ttlMs;
    /** Whether the enforcement has begun, and was told of no end since. Guarded by this object. */
    private boolean begun;
    /** What came of asking for the manifest; whether its leases are held still, {@link #answer} looks. Written under this object's lock. */
    private volatile Answer answer;

    /** What the manifest was granted last. Guarded by this object, under which the kernel's lock may be taken. */
    private List<Lease> granted = List.of();

    /** Whether the manifest was granted and there was nothing in it to lease (C48). */
    private volatile boolean needsNoLease;

    private volatile Consumer<String> leaseLost;
    private volatile Consumer<List<String>> observationUpdate;

    LocalSession(EmbeddedKernel kernel, SessionKey key, long priorityMs, List<Triple> manifest) {
        this(kernel, key, priorityMs, manifest, 0, null);
    }

    /**
     * @param manifest what is asked for, in terms of real paths
     * @param ttlMs how long its leases last without a heartbeat; 0 for the default
     * @param enforcement null if nothing holds the session to its manifest
     */
    public LocalSession(EmbeddedKernel kernel, SessionKey key, long priorityMs, List<Triple> manifest, long ttlMs, Enforcement enforcement) {
        this.manifest = manifest;
        this.ttlMs = ttlMs;
        this.enforcement = enforcement;
        this.held = kernel.open(new Command.Register(key, priorityMs, true, 0, false, enforcement != null, true), null, this);
    }

    /** What the calling thread works as; null for none. */
    static LocalSession current() {
        Inside last = CURRENT.get();
        return last == null ? null : last.session;
    }

    /** From here on the calling thread works as {@code session}, null for none, in place of what it worked as. */
    static void setCurrent(LocalSession session) {
        Inside last = CURRENT.get();
        if (last != null && (last.entered || session != null)) {
            last.session = session;
        } else if (session != null) {
            CURRENT.set(new Inside(null, session, false));
        } else {
            CURRENT.remove();
        }
    }

    /** Asks for the manifest's leases for the first time. */
    public void ask(Duration wait) throws InterruptedException {
        settle(held.acquire(manifest, millis(wait), ttlMs, enforcement != null));
    }

    /** A heartbeat now: whether it may act under its leases still. */
    public boolean renew() {
        return needsNoLease ? held.isValidWithoutLeases() : held.renew();
    }

    /** All that it holds goes. */
    public void releaseAll() {
        held.releaseAll();
    }

    @Override
    public Answer retry(Duration total) throws InterruptedException {
        Answer now = answer();
        if (now.isGranted()) {
            return now;
        }
        if (enforcement == null) {
            return settle(held.acquireRetrying(manifest, millis(total), ttlMs, false, Backoff.WITHIN_PROCESS, ThreadLocalRandom.current()));
        }
        return retryUndoing(millis(total));
    }

    /** As {@link EmbeddedSession#acquireRetrying}; whatever dies is undone before it asks again (C43). */
    private Answer retryUndoing(long totalMs) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(totalMs);
        for (int attempts = 0; ; attempts++) {
            long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            Answer now = settle(held.acquire(manifest, Math.max(0, leftMs), ttlMs, true));
            long delayMs = Backoff.WITHIN_PROCESS.delayMs(attempts, ThreadLocalRandom.current().nextDouble());
            boolean asksAgain = now.verdict() == Answer.Verdict.DIE || now.verdict() == Answer.Verdict.PAUSED;
            if (!asksAgain || deadline - System.nanoTime() <= TimeUnit.MILLISECONDS.toNanos(delayMs)) {
                return now;
            }
            Thread.sleep(delayMs);
        }
    }

    /** The manifest's leases are those of its last grant: what is left of the one before is held twice now, and goes. */
    private Answer settle(Acquisition a) {
        Answer now = answer(a);
        if (a.verdict() == Verdict.DIE) {
            undone();
        } else if (a.isGranted() && enforcement != null) {
            String refusal = begin(a.leases());
            if (refusal != null) {
                return keep(refused(refusal));
            }
            Outcome confirmed = a.leases().isEmpty() ? null : held.confirm();
            if (confirmed != null && !confirmed.isRefused() && confirmed.leases().size() == a.leases().size()) {
                // only now does it go on, and is it known what it has to be told
                now = answer(a, confirmed.changes());
            } else if (confirmed != null) {
                // something of it was lost while the enforcement began
                now = asOfNow(now);
                if (held.state() == LifeCycle.ABORTED) {
                    undone();
                }
            }
        }
        List<Lease> before = List.of();
        synchronized (this) {
            answer = now;
            if (a.isGranted()) {
                before = granted;
                granted = a.leases();
                needsNoLease = granted.isEmpty();
            }
        }
        if (!before.isEmpty()) {
            held.release(before);
        }
        return now;
    }

    private synchronized Answer keep(Answer now) {
        answer = now;
        return now;
    }

    /** Null, or why it is not: then {@code reserved} is given back. */
    private String begin(List<Lease> reserved) {
        boolean done = false;
        String refusal = null;
        try {
            enforcement.begin();
            done = true;
        } catch (IOException | RuntimeException e) {
            refusal = e.getMessage() == null ? e.toString() : e.getMessage();
        } finally {
            if (!done && !reserved.isEmpty()) {
                held.release(reserved);
            }
        }
        if (done) {
            synchronized (this) {
                begun = true;
            }
        }
        return refusal;
    }

    @Override
    public Answer acquire(Duration wait, String... intents) throws InterruptedException {
        List<Triple> triples = new ArrayList<>(intents.length);
        for (String intent : intents) {
            try {
                triples.add(triple(intent));
            } catch (IllegalArgumentException e) {
                return refused(e.getMessage());
            }
        }
        Answer more = answer(held.acquire(triples, millis(wait), ttlMs, false));
        if (more.verdict() == Answer.Verdict.DIE) {
            died(more);
            undone();
        }
        return more;
    }

    /** The session has died, or was aborted: nobody else gets what it held before what it did there is undone. */
    private void undone() {
        if (enforcement == null) {
            return;
        }
        if (endsNow()) {
            enforcement.rollBack();
        }
        held.rolledBack();
    }

    /** Whether there is something that was begun: once for each beginning. */
    private synchronized boolean endsNow() {
        boolean ends = begun;
        begun = false;
        return ends;
    }

    /** The manifest's leases went, too (C43), unless another thread has been granted them again since. */
    private synchronized void died(Answer death) {
        if (!answer().isGranted()) {
            answer = death;
        }
    }

    private static Triple triple(String intent) {
        int space = intent.indexOf(' ');
        String name = space < 0 ? intent : intent.substring(0, space);
        Predicate predicate = null;
        for (Predicate p : Predicate.values()) {
            if (p.name().equals(name)) {
                predicate = p;
            }
        }
        int from = space;
        while (from >= 0 && from < intent.length() && intent.charAt(from) == ' ') {
            from++;
        }
        if (predicate == null || space < 0 || from == intent.length()) {
            throw new IllegalArgumentException("\"" + Shown.value(intent) + "\" is not an intent; write PREDICATE SCHEME:path, such as MUTATES FILE:/w/a");
        }
        try {
            return Triple.of(predicate, LocalSessions.real(Resource.parse(intent.substring(from))));
        } catch (ResourceSyntaxException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** What is longer than a number of milliseconds can say is the longest one. */
    static long millis(Duration d) {
        if (d.isNegative()) {
            return 0;
        }
        return d.compareTo(LONGEST) < 0 ? d.toMillis() : Long.MAX_VALUE;
    }

    @Override
    public boolean release(Answer granted) {
        if (!(Objects.requireNonNull(granted, "granted").handle() instanceof Leases)) {
            return false;
        }
        return !held.release(((Leases) granted.handle()).list).leases().isEmpty();
    }

    @Override
    public Executor wrap(Executor executor) {
        return work -> {
            refuseWork(this);
            executor.execute(wrap(work));
        };
    }

    /** @throws RejectedExecutionException {@code session} is over, and does not come back */
    static void refuseWork(KlockSession session) {
        Answer answer = session.answer();
        if (answer.verdict() == Answer.Verdict.GONE) {
            throw new RejectedExecutionException("session " + session.agentId() + "/" + session.sessionId() + " takes no more work: " + answer.reason());
        }
    }

    @Override
    public Entered enter() {
        check();
        Inside inside = new Inside(CURRENT.get(), this, true);
        CURRENT.set(inside);
        return inside;
    }

    /** The calling thread works as a session. */
    private static final class Inside implements Entered {
        private final Thread thread = Thread.currentThread();
        private final Inside before;
        /** Not if it holds what a thread that has entered nothing was set to. */
        private final boolean entered;
        /** Null if the thread was set to none meanwhile. */
        private LocalSession session;
        private boolean over;

        Inside(Inside before, LocalSession session, boolean entered) {
            this.before = before;
            this.session = session;
            this.entered = entered;
        }

        @Override
        public void close() {
            if (Thread.currentThread() != thread) {
                throw new IllegalStateException("entered by another thread: " + thread.getName());
            }
            if (over) {
                return;
            }
            over = true;
            // whoever closes them in another order gets back to none that is closed
            Inside last = CURRENT.get();
            while (last != null && last.over) {
                last = last.before;
            }
            if (last == null) {
                CURRENT.remove();
            } else {
                CURRENT.set(last);
            }
        }
    }

    private void check() {
        if (!isValid()) {
            Answer now = answer();
            String why = now.isGranted() ? "its leases were not renewed in time" : now.reason();
            throw new IllegalStateException("session " + held.key() + " may not work: " + why);
        }
    }

    @Override
    public boolean isValid() {
        return needsNoLease ? held.isValidWithoutLeases() : held.isValid();
    }

    @Override
    public String agentId() {
        return held.key().agentId();
    }

    @Override
    public String sessionId() {
        return held.key().sessionId();
    }

    @Override
    public long priorityTimestampMs() {
        return held.priorityMs();
    }

    @Override
    public boolean isEnforced() {
        return enforcement != null;
    }

    @Override
    public Answer answer() {
        Answer last = answer;
        return last.isGranted() ? asOfNow(last) : last;
    }

    /** Whether {@link #answer} is GRANTED still, as far as this JVM has heard: for each time that somebody goes to work, since nobody is asked. */
    public boolean holdsManifest() {
        Answer last = answer;
        return last.isGranted() && (last.handle() == null || held.holds(((Leases) last.handle()).list));
    }

    /** {@code last} if all that it granted is held, else what is left of it (K1-1). */
    private Answer asOfNow(Answer last) {
        held.perform(new Command.Expire());
        LifeCycle state = held.state();
        if (state == null || state.isTerminal()) {
            return gone(List.of(), over(state));
        }
        if (last.handle() == null) {
            return last;
        }
        List<Lease> asked = ((Leases) last.handle()).list;
        Set<Long> live = new HashSet<>();
        for (Lease lease : held.leases()) {
            if (lease.state() == LeaseState.ACTIVE) {
                live.add(lease.fencingToken());
            }
        }
        List<Lease> left = new ArrayList<>(asked.size());
        Lease lost = null;
        for (Lease lease : asked) {
            if (live.contains(lease.fencingToken())) {
                left.add(lease);
            } else if (lost == null) {
                lost = lease;
            }
        }
        return lost == null ? last : gone(left, text(lost) + " is not held any more");
    }

    /** That all it had is gone, or about to go, for {@code reason}. */
    public Answer gone(String reason) {
        return gone(List.of(), reason);
    }

    private Answer gone(List<Lease> left, String reason) {
        SessionView.Counts counts = held.counts();
        return new Answer(Answer.Verdict.GONE, texts(left), List.of(), List.of(), 0, reason, counts.waits(), deaths(counts), left.isEmpty() ? null : new Leases(left));
    }

    private String over(LifeCycle state) {
        return "the session is " + (state == null ? "over" : state.toString()) + "; open another one";
    }

    @Override
    public State state() {
        LifeCycle state = held.state();
        return state == null ? null : State.valueOf(state.name());
    }

    @Override
    public void onLeaseLost(Consumer<String> listener) {
        leaseLost = listener;
    }

    @Override
    public void onObservationUpdate(Consumer<List<String>> listener) {
        observationUpdate = listener;
    }

    @Override
    public void kernelLost(KernelLostException why) {
        if (enforcement != null) {
            enforcement.lost("what others hold is not known any more: " + why.getMessage());
        }
    }

    @Override
    public void validUntil(long nanos) {
        if (enforcement != null && !manifest.isEmpty()) {
            enforcement.validUntil(nanos);
        }
    }

    @Override
    public void leaseLost(Lease lease) {
        if (enforcement != null) {
            enforcement.lost("the lease on " + lease.resource() + " was lost: its time ran out, or it was revoked");
        }
        Consumer<String> listener = leaseLost;
        if (listener != null) {
            listener.accept(text(lease));
        }
    }

    @Override
    public void observationUpdate(List<Change> changes) {
        Consumer<List<String>> listener = observationUpdate;
        if (listener != null) {
            listener.accept(changes(changes));
        }
    }

    @Override
    public List<String> violations() {
        return List.of();
    }

    @Override
    public void abort(String reason) {
        held.abort(reason);
        undone();
    }

    @Override
    public void close() {
        if (enforcement != null && endsNow()) {
            enforcement.end();
        }
        held.close();
    }

    /** What {@link Answer#handle} is, here. */
    private static final class Leases {
        final List<Lease> list;

        Leases(List<Lease> list) {
            this.list = list;
        }
    }

    /** That {@code reason} is why what was asked for cannot be. */
    public Answer refused(String reason) {
        SessionView.Counts counts = held.counts();
        return new Answer(Answer.Verdict.REFUSED, List.of(), List.of(), List.of(), 0, reason, counts.waits(), deaths(counts), null);
    }

    private Answer answer(Acquisition a) {
        return answer(a, a.changes());
    }

    private Answer answer(Acquisition a, List<Change> changes) {
        if (a.refusal() != null) {
            Refusal.Code code = a.refusal().code();
            boolean isOver = code == Refusal.Code.SESSION_ENDED || code == Refusal.Code.UNKNOWN_SESSION;
            return isOver ? gone(List.of(), over(held.state())) : refused(a.refusal().message());
        }
        List<String> conflicts = new ArrayList<>(a.conflicts().size());
        for (Conflict c : a.conflicts()) {
            conflicts.add(c.asked() + " meets " + c.heldPredicate() + " " + c.heldResource() + " of " + c.holder());
        }
        String reason = null;
        Answer.Verdict verdict = Answer.Verdict.GRANTED;
        if (a.verdict() != Verdict.GRANTED) {
            verdict = a.verdict() == Verdict.DIE ? Answer.Verdict.DIE : Answer.Verdict.PAUSED;
            reason = a.timedOut() ? "the wait ran out" : conflicts.isEmpty() ? "the session is suspended" : conflicts.get(0);
        }
        Object handle = a.leases().isEmpty() ? null : new Leases(a.leases());
        SessionView.Counts counts = held.counts();
        return new Answer(verdict, texts(a.leases()), conflicts, changes(changes), a.retryAfterMs(), reason, counts.waits(), deaths(counts), handle);
    }

    /** To the program a wait that ran out is a DIE, too. */
    private static long deaths(SessionView.Counts counts) {
        return counts.deaths() + counts.waitsRunOut();
    }

    private static List<String> texts(List<Lease> leases) {
        List<String> lines = new ArrayList<>(leases.size());
        for (Lease lease : leases) {
            lines.add(text(lease));
        }
        return lines;
    }

    private static String text(Lease lease) {
        return lease.id() + " " + lease.predicate() + " " + lease.resource();
    }

    static List<String> changes(List<Change> changes) {
        List<String> lines = new ArrayList<>(changes.size());
        for (Change c : changes) {
            lines.add((c.by() == null ? "somebody" : c.by().toString()) + " " + c.predicate() + " " + c.resource());
        }
        return lines;
    }
}
