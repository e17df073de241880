package dev.klock.agent;

import dev.klock.agent.config.DeclaredScope;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.resolve.Resolver;
import dev.klock.embedded.Acquisition;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.embedded.Health;
import dev.klock.embedded.SessionListener;
import dev.klock.kernel.Change;
import dev.klock.kernel.Conflict;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The leases that the session holds on what it declared, from the embedded kernel: all of the manifest or nothing (K2-5), reserved first
 * and confirmed once the images are safe (C30, C50), renewed while the session lives, released when its end is complete.
 */
final class Leases implements Health, SessionListener {
    /** A lease taken by {@code amend} waits for nobody. */
    private static final long NO_WAIT = 0;

    private final EmbeddedSession held;
    private final Session session;

    private Leases(EmbeddedKernel kernel, SessionKey key, long priorityMs, Session session) {
        this.session = session;
        this.held = kernel.open(key, priorityMs, this, this);
    }

    static Leases open(SessionKey key, long priorityMs, long nowMs, Session session) {
        return new Leases(new EmbeddedKernel(KernelOptions.standard(), nowMs, null), key, priorityMs, session);
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

    /** Reserves all of {@code triples}, waiting at most {@code waitMs}; {@link #confirm} makes them active. */
    Acquisition reserve(List<Triple> triples, long waitMs) throws InterruptedException {
        return held.acquire(triples, waitMs, 0, true);
    }

    void confirm() {
        held.confirm();
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
        held.releaseAll();
    }

    /** The session has failed, and its changes are undone or given up. */
    void abort() {
        held.abort("scope violation");
        held.rolledBack();
        held.releaseAll();
    }

    /** One line on what stands in the way. */
    static String inTheWay(Acquisition refused) {
        if (refused.refusal() != null) {
            return refused.refusal().message();
        }
        if (refused.conflicts().isEmpty()) {
            return "the kernel answered " + refused.verdict();
        }
        Conflict first = refused.conflicts().get(0);
        return first.asked() + " conflicts with " + first.heldPredicate() + ' ' + first.heldResource() + " of " + first.holder();
    }

    @Override
    public boolean isAlive() {
        return !session.hasEnded();
    }

    @Override
    public void leaseLost(Lease lease) {
        if (!session.hasEnded()) {
            Stderr.error("the lease on " + lease.resource() + " was lost: its time ran out while the program was paused, or it was revoked; "
                    + "changes made so far are kept");
            session.stop("lease-lost", Session.EXIT_LEASE_LOST);
        }
    }

    @Override
    public void observationUpdate(List<Change> changes) {
        // one session a JVM: nothing pauses it after main has begun
    }
}
