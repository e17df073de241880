package dev.klock.kernel;

import dev.klock.resource.Resource;

/**
 * A predicate on a resource that stands in the way of others: a live lease, or, while {@link #request} is set, a triple of a waiting
 * manifest (C24). One object for both, so that a grant from the queue moves nothing in the index.
 */
final class Claim extends Timed {
    final Session session;
    final Resource resource;
    Predicate predicate;
    /** The triple as declared. */
    final Triple triple;
    /** The waiting manifest; {@code null} once it is a lease. */
    Request request;
    /** Which grant it came with, so that triples of one manifest on one resource find each other. */
    long batch;
    /** The fencing token; 0 while waiting. */
    long number;
    LeaseState state;
    /** What it was before GRACE. */
    LeaseState before;
    long acquiredAtMs;
    long expiresAtMs;
    long ttlMs;

    /** Place in the index: the node, and the number by which its lists know this. */
    int node;

    int listed;
    Claim previous;
    Claim next;

    /** Place among the session's leases, in the order of granting. */
    Claim previousOfSession;
    Claim nextOfSession;

    Claim(Session session, Triple triple, long batch) {
        this.session = session;
        this.triple = triple;
        this.resource = triple.object();
        this.predicate = triple.predicate();
        this.batch = batch;
    }
}
