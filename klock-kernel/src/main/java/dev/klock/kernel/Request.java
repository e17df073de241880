package dev.klock.kernel;

import java.util.List;

/** A manifest that waits. Due when its wait runs out (K4-5). */
final class Request extends Timed {
    final Session session;
    /** Its place: FIFO, first come first granted (K4-11). */
    final long number;
    final List<Triple> triples;
    Claim[] claims;
    final long ttlMs;
    final boolean reserve;

    Request ahead;
    Request behind;
    /** One of those that are in its way, by its number in the {@link Roll}; 0 while it is judged. */
    int witness;
    /** Neighbours among those with the same witness. */
    Request previousWatcher;
    Request nextWatcher;
    /** Set while it is on the list of those to be judged again. */
    boolean marked;
    /** Whether something meets a triple of it that does not count, because a lease of its session's stands for that triple. */
    boolean leans;
    /** Set while it leans and its session has lost a lease: more may be in its way than before, and older ones. */
    boolean poorer;

    Request(Session session, long number, List<Triple> triples, Claim[] claims, long ttlMs, boolean reserve) {
        this.session = session;
        this.number = number;
        this.triples = triples;
        this.claims = claims;
        this.ttlMs = ttlMs;
        this.reserve = reserve;
    }
}
