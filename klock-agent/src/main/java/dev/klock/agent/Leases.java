package dev.klock.agent;

import dev.klock.agent.config.DeclaredScope;
import dev.klock.agent.config.Home;
import dev.klock.agent.log.Release;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.observe.Subjects;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.Fence;
import dev.klock.digest.Resolution;
import dev.klock.digest.Restored;
import dev.klock.digest.StateDigest;
import dev.klock.embedded.Acquisition;
import dev.klock.embedded.CommandOrder;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.embedded.Health;
import dev.klock.embedded.KernelLostException;
import dev.klock.embedded.SessionListener;
import dev.klock.embedded.Undertaker;
import dev.klock.kernel.Change;
import dev.klock.kernel.Command;
import dev.klock.kernel.Conflict;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.manifest.Ids;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import dev.klock.shared.Ancestors;
import dev.klock.shared.SharedKernel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The leases that the session holds on what it declared: all of the manifest or nothing (K2-5), reserved first and confirmed once the images are
 * safe (C30, C50), renewed while the session lives, its rollback included (C45), and released when its end is complete. The kernel is the one
 * that all JVMs with the same home have in common; where nothing is leased, one of this JVM alone.
 *
 * <p>The {@link Fence} follows how long the leases hold, so that a process which was stopped for longer changes nothing that is another's by then.
 */
final class Leases implements Health, SessionListener {
    /** A lease taken by {@code amend} waits for nobody. */
    private static final long NO_WAIT = 0;

    /** A dash and the digits of a long. */
    private static final int MAX_SUFFIX = 17;

    private final EmbeddedKernel kernel;
    private final Session session;
    private final boolean shared;
    private final Hosts hosts;
    private EmbeddedSession held;
    /** What it was told when it was granted. */
    private List<Change> changes = Collections.emptyList();
    /** How long the session's own leases last, {@link System#nanoTime}. */
    private volatile long ownUntilNanos;
    /** Whether it has any. */
    private volatile boolean hasOwn;

    private Leases(EmbeddedKernel kernel, Session session, boolean shared) {
        this.kernel = kernel;
        this.session = session;
        this.shared = shared;
        this.hosts = new Hosts(kernel, this);
    }

    /** For a session that takes none. */
    static Leases none(Session session) {
        return new Leases(new EmbeddedKernel(KernelOptions.standard(), System.currentTimeMillis(), null), session, false);
    }

    /**
     * From the kernel of {@code home}.
     *
     * @param undertaker as for {@link SharedKernel#open}
     * @throws IOException as for {@link SharedKernel#open}
     */
    static Leases shared(Home home, Subjects subjects, Undertaker undertaker, Session session) throws IOException {
        CommandOrder order = new Unjudged(SharedKernel.order(home.directory(), Release.VERSION), subjects);
        try {
            EmbeddedKernel kernel = new EmbeddedKernel(SharedKernel.OPTIONS, order, undertaker, null);
            kernel.buryGone(StateDigest.DEFAULT_LIFE_MS);
            return new Leases(kernel, session, true);
        } catch (KernelLostException | IllegalStateException e) {
            order.close();
            throw new IOException(e.getMessage(), e);
        }
    }

    /**
     * Opens the session, under a longer name if the kernel remembers one of that name whose log and images are gone.
     *
     * @param priorityMs {@link Manifest#NO_TIMESTAMP} for as young as now
     * @throws IllegalArgumentException the kernel does not take it; the message says why
     */
    void begin(SessionKey key, long priorityMs) {
        SessionKey fresh = kernel.state(key) == null ? key
                : SessionKey.of(key.agentId(), Ids.shortened(key.sessionId(), Manifest.MAX_ID_BYTES - MAX_SUFFIX) + '-' + Long.toHexString(System.nanoTime()));
        held = kernel.open(fresh, priorityMs == Manifest.NO_TIMESTAMP ? kernel.nowMs() : priorityMs, this, this);
    }

    /**
     * Opens the session that {@code restored} was before it died (K8-5).
     *
     * @throws IllegalArgumentException it does not come back; the message says why
     */
    void comeBack(Restored restored) {
        SessionKey key = restored.digest().session();
        held = kernel.open(restored.register(key.namespace(), key.agentId(), key.sessionId(), kernel.nowMs(), true), this, this);
        held.perform(new Command.Resume(key));
    }

    /** What the manifest wants leased, in terms of real paths: the severest predicate per resource (K1-16), with what children may touch. */
    static List<Triple> wanted(Manifest manifest, Resolver resolver) {
        List<Triple> triples = new ArrayList<>();
        List<Line> lines = manifest.leases();
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            // starts of one executable never conflict: what is leased is the instance (C48); nor do ports that the system chooses
            boolean anyPort = line.resource().scheme().equals("URL") && line.resource().path().endsWith(":0");
            if (!line.resource().scheme().equals("PROCESS") && !anyPort) {
                add(triples, line, resolver);
            }
        }
        List<Line> scope = manifest.scope();
        for (int i = 0; i < scope.size(); i++) {
            List<Line> effects = scope.get(i).effects();
            for (int j = 0; effects != null && j < effects.size(); j++) {
                add(triples, effects.get(j), resolver);
            }
        }
        return triples;
    }

    private static void add(List<Triple> triples, Line line, Resolver resolver) {
        Resource real = DeclaredScope.real(line.resource(), resolver);
        Triple triple = Triple.of(line.predicate(), real);
        if (!triples.contains(triple)) {
            triples.add(triple);
        }
    }

    /**
     * Reserves all of {@code triples} that this process's ancestors do not hold for it, waiting at most {@code waitMs}, which is said;
     * {@link #confirm} makes them active.
     *
     * @param ttlMs how long they last without a heartbeat
     */
    Acquisition reserve(List<Triple> triples, long waitMs, long ttlMs) throws InterruptedException {
        List<Triple> open = triples;
        Acquisition now = held.acquire(open, NO_WAIT, ttlMs, true);
        while (hosts.find(now.conflicts())) {
            open = hosts.uncovered(triples);
            now = held.acquire(open, NO_WAIT, ttlMs, true);
        }
        if (now.verdict() == Verdict.PAUSED && waitMs != NO_WAIT) {
            Stderr.announce("waits for a lease, at most " + seconds(waitMs) + ": " + inTheWay(now));
            now = held.acquire(open, waitMs, ttlMs, true);
        }
        if (now.isGranted()) {
            // nothing to be confirmed: then it goes on here
            changes = now.changes();
            hasOwn = !open.isEmpty();
            changed();
        }
        return now;
    }

    /** Whose leases it acts under: its own, if it has any, and those of the processes that have started this one. */
    List<SessionKey> actsUnder() {
        List<SessionKey> keys = new ArrayList<>();
        if (hasOwn) {
            keys.add(held.key());
        }
        hosts.addKeys(keys);
        return keys;
    }

    /** Whether it has its kernel in common with other processes. */
    boolean areShared() {
        return shared;
    }

    /** What it asks. */
    EmbeddedKernel kernel() {
        return kernel;
    }

    /** What is to be kept of a session that has died. */
    StateDigest digest(Acquisition died) {
        return StateDigest.of(kernel.session(held.key()), System.currentTimeMillis(), died.retryAfterMs(), null, null, Resolution.RETRY);
    }

    /** What was reserved is active from here on. Returns what others may have changed of it since the session asked first, or died (K5-11). */
    List<Change> confirm() {
        List<Change> told = held.confirm().changes();
        return told.isEmpty() ? changes : told;
    }

    /** Takes a lease on what was not declared, if nothing conflicts (K6-3). */
    boolean amend(Predicate predicate, Resource resource) {
        try {
            return held.acquire(Collections.singletonList(Triple.of(predicate, resource)), NO_WAIT, 0, false).isGranted();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The session is over and all is well. */
    void release() {
        try {
            held.close();
        } catch (IllegalStateException lost) {
            // with the kernel went all that there was to give back
        }
        kernel.close();
    }

    /** The session has failed, and its changes are undone or given up. */
    void abort() {
        try {
            held.abort("scope violation");
            held.rolledBack();
        } catch (IllegalStateException lost) {
            // as above
        }
        release();
    }

    /** It has died before it began: its identity is kept by whoever brings it back. */
    void close() {
        kernel.close();
    }

    /** Whether the session holds its leases still, though the fence is up: asks the kernel, which renews them. */
    boolean areHeld() {
        try {
            return hosts.areValid() && (!hasOwn || held.renew());
        } catch (IllegalStateException lost) {
            return false;
        }
    }

    /** For people. */
    static String seconds(long ms) {
        return ms % 1000 == 0 ? ms / 1000 + " s" : ms + " ms";
    }

    /** One line on what stands in the way. */
    String inTheWay(Acquisition refused) {
        if (refused.refusal() != null) {
            return refused.refusal().message();
        }
        if (refused.conflicts().isEmpty()) {
            return "the kernel answered " + refused.verdict();
        }
        Conflict first = refused.conflicts().get(0);
        return first.asked() + " conflicts with " + first.heldPredicate() + ' ' + first.heldResource() + " of " + first.holder() + process(first.holder());
    }

    private String process(SessionKey holder) {
        String process = kernel.processOf(holder);
        return process == null ? "" : " (process " + Ancestors.number(process) + ')';
    }

    @Override
    public boolean isAlive() {
        // the guard halts the JVM when a session has ended: until then what it does is done under its leases
        return true;
    }

    @Override
    public void validUntil(long nanos) {
        ownUntilNanos = nanos;
        changed();
    }

    /** What the session acts under lasts until another moment than before. */
    synchronized void changed() {
        session.validUntil(hosts.validUntil(hasOwn ? ownUntilNanos : System.nanoTime() + Fence.FOR_EVER));
    }

    @Override
    public void leaseLost(Lease lease) {
        session.leaseLost("the lease on " + lease.resource() + " was lost: its time ran out while the program was paused, or it was revoked");
    }

    @Override
    public void kernelLost(KernelLostException why) {
        session.leaseLost("what others hold is not known any more, since the kernel that the sessions of this home share is lost: " + why.getMessage());
    }

    @Override
    public void observationUpdate(List<Change> changes) {
        // whoever asked for the leases is told with them, and nothing pauses the session after main has begun
    }
}
