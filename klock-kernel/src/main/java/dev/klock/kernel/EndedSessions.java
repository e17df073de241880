package dev.klock.kernel;

/**
 * Sessions that are over and hold nothing, in the order in which they ended. They are remembered for their first timestamp and their epoch
 * only, so the kernel can lose one without harm to anybody who holds a lease: see {@link Limits#MAX_ENDED_SESSIONS}.
 */
final class EndedSessions {
    private Session first;
    private Session last;
    private int size;

    int size() {
        return size;
    }

    /** The one that ended first, or {@code null}. */
    Session oldest() {
        return first;
    }

    void add(Session s) {
        s.ended = this;
        s.endedBefore = last;
        if (last == null) {
            first = s;
        } else {
            last.endedAfter = s;
        }
        last = s;
        size++;
    }

    /** {@code s} is in it. */
    void remove(Session s) {
        if (s.endedBefore == null) {
            first = s.endedAfter;
        } else {
            s.endedBefore.endedAfter = s.endedAfter;
        }
        if (s.endedAfter == null) {
            last = s.endedBefore;
        } else {
            s.endedAfter.endedBefore = s.endedBefore;
        }
        s.endedBefore = null;
        s.endedAfter = null;
        s.ended = null;
        size--;
    }
}
