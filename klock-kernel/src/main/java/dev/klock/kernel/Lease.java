package dev.klock.kernel;

import dev.klock.resource.Resource;

/**
 * A lease as it was at one moment (K3-2): an immutable copy, safe to keep and to hand to other threads. What it says may be out of
 * date; the kernel's answer to the next heartbeat is not.
 */
public final class Lease {
    private final String idPrefix;
    private final long fencingToken;
    private final SessionKey session;
    private final Predicate predicate;
    private final Resource resource;
    private final LeaseState state;
    private final long acquiredAtMs;
    private final long expiresAtMs;
    private final long ttlMs;

    Lease(String idPrefix, Claim claim, LeaseState state) {
        this.idPrefix = idPrefix;
        this.fencingToken = claim.number;
        this.session = claim.session.key;
        this.predicate = claim.predicate;
        this.resource = claim.resource;
        this.state = state;
        this.acquiredAtMs = claim.acquiredAtMs;
        this.expiresAtMs = claim.expiresAtMs;
        this.ttlMs = claim.ttlMs;
    }

    /** Its name on the wire: never given twice, also by kernels that follow each other if each has its own id. */
    public String id() {
        return idPrefix.concat(Long.toString(fencingToken));
    }

    /** A number that only rises with every grant of the kernel, and therefore on every resource; it is the lease's key in commands. */
    public long fencingToken() {
        return fencingToken;
    }

    public SessionKey session() {
        return session;
    }

    public Predicate predicate() {
        return predicate;
    }

    public Resource resource() {
        return resource;
    }

    public LeaseState state() {
        return state;
    }

    /** When it was granted, milliseconds on the kernel's clock. */
    public long acquiredAtMs() {
        return acquiredAtMs;
    }

    /** The first moment at which it is no longer valid (C27), milliseconds on the kernel's clock. */
    public long expiresAtMs() {
        return expiresAtMs;
    }

    /** How long each heartbeat makes it last, milliseconds; what was granted, which may be less than what was asked for (C28). */
    public long ttlMs() {
        return ttlMs;
    }

    @Override
    public String toString() {
        return id() + " " + state + " " + predicate + " " + resource + " " + session;
    }
}
