package dev.klock.kernel;

import dev.klock.resource.Resource;

/**
 * One thing that stands in the way of one triple: a lease of another session, or its place in the queue (C23). What DIE and WAIT carry
 * and what is reported of every death (K7-14). Immutable.
 *
 * @param asked what was asked for
 * @param holder who is in the way
 * @param holderPriorityMs the holder's timestamp, with which ages can be told
 * @param heldPredicate as held or queued
 * @param heldResource as held or queued; overlaps what was asked for
 * @param fencingToken the lease, or 0 when the holder only waits in front
 * @param untilMs when it ends by itself: the lease's expiry, or the end of the holder's wait; kernel clock, milliseconds
 */
public record Conflict(
        Triple asked,
        SessionKey holder,
        long holderPriorityMs,
        Predicate heldPredicate,
        Resource heldResource,
        long fencingToken,
        long untilMs) {
    /** Whether the holder waits in front and holds nothing here yet. */
    public boolean isQueued() {
        return fencingToken == 0;
    }

    /** The kind of conflict (K2-11). */
    public ConflictType type() {
        return ConflictMatrix.type(heldPredicate, asked.predicate());
    }
}
