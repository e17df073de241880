package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.Arrays;

/**
 * A predicate on a resource that stands in the way of others: a live lease, or, while {@link #request} is set, a triple of a waiting
 * manifest (C24). One object for both, so that a grant from the queue moves nothing in the index.
 */
final class Claim extends Timed {
    final Session session;
    Predicate predicate;
    /** The triple as declared; of several on its resource, the severest. */
    Triple triple;
    /** All that its manifest declares on its resource, each predicate once, in that order; {@code null} if {@link #triple} is all. */
    Triple[] merged;
    /** The waiting manifest; {@code null} once it is a lease. */
    Request request;
    /** The fencing token; 0 while waiting. */
    long number;
    LeaseState state;
    /** What it was before GRACE. */
    LeaseState before;
    long acquiredAtMs;
    long expiresAtMs;
    int ttlMs;

    /** Place in the index: the node, and the neighbours in the list it is in there. */
    int node;

    int previous;
    int next;

    /** Place among the session's leases, in the order of granting. */
    int previousOfSession;

    int nextOfSession;

    Claim(Session session, Triple triple) {
        this.session = session;
        this.triple = triple;
        this.predicate = triple.predicate();
    }

    /** Another triple of its manifest on the same resource: severity decides the lease, but what was declared is more (K1-16, C34). */
    void merge(Triple other) {
        Triple[] known = merged == null ? new Triple[] {triple} : merged;
        for (Triple t : known) {
            if (t.predicate() == other.predicate()) {
                return;
            }
        }
        merged = Arrays.copyOf(known, known.length + 1);
        merged[known.length] = other;
        if (ConflictMatrix.severest(triple.predicate(), other.predicate()) != triple.predicate()) {
            triple = other;
        }
    }

    Resource resource() {
        return triple.object();
    }
}
