package dev.klock.kernel;

import dev.klock.resource.Resource;

/**
 * A lease as it was at one moment (K3-2): an immutable copy, safe to keep and to hand to other threads. What it says may be out of
 * date; the kernel's answer to the next heartbeat is not.
 */
public final class Lease {
    private final String idPrefix;
    /** For what does not change once it is granted, and only for that: the rest is copied, as the claim is the kernel's own. */
    private final Claim claim;

    private final LeaseState state;
    private final long expiresAtMs;

    Lease(String idPrefix, Claim claim, LeaseState state) {
        this.idPrefix = idPrefix;
        this.claim = claim;
        this.state = state;
        this.expiresAtMs = claim.expiresAtMs;
    }

    /** Its name on the wire: never given twice, also by kernels that follow each other if each has its own id. */
    public String id() {
        return idPrefix.concat(Long.toString(claim.number));
    }

    /** A number that only rises with every grant of the kernel, and therefore on every resource; it is the lease's key in commands. */
    public long fencingToken() {
        return claim.number;
    }

    public SessionKey session() {
        return claim.session.key;
    }

    public Predicate predicate() {
        return claim.predicate;
    }

    public Resource resource() {
        return claim.resource();
    }

    public LeaseState state() {
        return state;
    }

    /** When it was granted, milliseconds on the kernel's clock. */
    public long acquiredAtMs() {
        return claim.acquiredAtMs;
    }

    /** The first moment at which it is no longer valid (C27), milliseconds on the kernel's clock. */
    public long expiresAtMs() {
        return expiresAtMs;
    }

    /** How long each heartbeat makes it last, milliseconds; what was granted, which may be less than what was asked for (C28). */
    public long ttlMs() {
        return claim.ttlMs;
    }

    @Override
    public String toString() {
        return id() + " " + state + " " + claim.predicate + " " + claim.resource() + " " + claim.session.key;
    }
}
