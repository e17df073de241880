package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/** The last writing leases that ended while somebody was paused (K5-11): a ring, so that a long pause costs no memory. */
final class Changes {
    /** {@link Session#staleFromChange} of a session that was away for nobody knows how long. */
    static final long UNKNOWN = -1;

    /** More resources, each compared with each change, are not looked through: then anything may have changed. */
    private static final long MAX_COMPARED = 1_000_000;

    private Change[] ring = new Change[0];
    private LeaseIndex.Space[] spaces = new LeaseIndex.Space[0];
    private final Roll roll;
    private long total;

    Changes(Roll roll) {
        this.roll = roll;
    }

    /** How many there have been. */
    long total() {
        return total;
    }

    void add(Change change, LeaseIndex.Space space) {
        if (ring.length == 0) {
            ring = new Change[Limits.MAX_CHANGES];
            spaces = new LeaseIndex.Space[Limits.MAX_CHANGES];
        }
        int at = (int) (total++ % ring.length);
        ring[at] = change;
        spaces[at] = space;
    }

    /** What others may have changed of what {@code s} asked for or holds, since its view may be stale. */
    List<Change> since(Session s, long nowMs) {
        long missed = total - s.staleFromChange;
        if (s.staleFromChange == UNKNOWN || missed > Limits.MAX_CHANGES || missed * (s.interest.size() + s.leases) > MAX_COMPARED) {
            return anything(s, nowMs);
        }
        ArrayList<Change> news = new ArrayList<>();
        for (long i = s.staleFromChange; i < total; i++) {
            int at = (int) (i % ring.length);
            if (spaces[at] == s.space && !ring[at].by().equals(s.key) && touches(s, ring[at].resource())) {
                news.add(ring[at]);
            }
        }
        return news;
    }

    private List<Change> anything(Session s, long nowMs) {
        LinkedHashSet<Resource> all = new LinkedHashSet<>();
        for (Triple t : s.interest) {
            all.add(t.object());
        }
        for (Claim c = roll.claim(s.firstLease); c != null; c = roll.claim(c.nextOfSession)) {
            all.add(c.resource());
        }
        ArrayList<Change> list = new ArrayList<>(all.size());
        for (Resource r : all) {
            list.add(new Change(null, Predicate.MUTATES, r, nowMs));
        }
        return list;
    }

    private boolean touches(Session s, Resource resource) {
        for (Triple t : s.interest) {
            if (t.object().overlaps(resource)) {
                return true;
            }
        }
        for (Claim c = roll.claim(s.firstLease); c != null; c = roll.claim(c.nextOfSession)) {
            if (c.resource().overlaps(resource)) {
                return true;
            }
        }
        return false;
    }
}
