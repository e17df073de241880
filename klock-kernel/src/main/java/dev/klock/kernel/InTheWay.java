package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.TreeSet;

/**
 * For the views: whom waiters wait for. Ten thousand may wait for one resource, and then each for all in front of it. So what meets a triple
 * is looked up once for all who ask for the same, and of it only those are kept who came first. They are the same for everybody, but for who
 * came later than the one who asks, and so is behind it. Good for one moment.
 */
final class InTheWay {
    /** What is the same for all whose triple it is. */
    private record Asked(LeaseIndex.Space space, Resource resource, int mask) {}

    /** Leases before those who wait, and each as they came; it does not depend on the hash seed (K2-8). */
    private static final class AsTheyCame implements Comparator<Claim> {
        @Override
        public int compare(Claim a, Claim b) {
            boolean waits = a.request != null;
            if (waits != (b.request != null)) {
                return waits ? 1 : -1;
            }
            return waits ? Long.compare(a.request.number, b.request.number) : Long.compare(a.number, b.number);
        }
    }

    private static final Comparator<Claim> AS_THEY_CAME = new AsTheyCame();

    private final LeaseIndex index;
    private final Roll roll;
    private final long lookedBefore;
    private final HashMap<Asked, List<Claim>> known = new HashMap<>();

    InTheWay(LeaseIndex index, Roll roll) {
        this.index = index;
        this.roll = roll;
        this.lookedBefore = index.looked;
    }

    /** As {@link SessionView#waitsFor} says. */
    List<SessionKey> of(Request r) {
        TreeSet<Session> sessions = new TreeSet<>();
        Held own = new Held(r.session, roll, index);
        for (int i = 0; i < r.claims.length && sessions.size() < Limits.MAX_WAITS_FOR; i++) {
            Triple t = r.claims[i].triple;
            int mask = ConflictMatrix.conflictMask(t.predicate());
            List<Claim> first = first(new Asked(r.session.space, t.object(), mask));
            if (!first.isEmpty() && !own.standsFor(t.object(), mask)) {
                add(first, r, sessions);
            }
        }
        if (sessions.isEmpty() && r.witness != 0) {
            sessions.add(roll.claim(r.witness).session);
        }
        ArrayList<SessionKey> keys = new ArrayList<>(sessions.size());
        for (Session s : sessions) {
            keys.add(s.key);
        }
        return keys;
    }

    private static void add(List<Claim> first, Request r, TreeSet<Session> sessions) {
        for (int i = 0; i < first.size() && sessions.size() < Limits.MAX_WAITS_FOR; i++) {
            Claim c = first.get(i);
            if (c.request != null && c.request.number >= r.number) {
                return;
            }
            if (c.session != r.session) {
                sessions.add(c.session);
            }
        }
    }

    /** Of each session that meets it the claim that came first; one more than may be named, since one may be of who asks. */
    private List<Claim> first(Asked asked) {
        List<Claim> first = known.get(asked);
        if (first == null) {
            if (index.looked - lookedBefore > Limits.MAX_LOOKED_AT || !index.mayConflict(asked.space, asked.resource, asked.mask)) {
                return List.of();
            }
            ArrayList<Claim> found = new ArrayList<>();
            index.collect(asked.space, asked.resource, asked.mask, null, Long.MAX_VALUE, LeaseIndex.ALL, found);
            found.sort(AS_THEY_CAME);
            first = new ArrayList<>();
            HashSet<Session> told = new HashSet<>();
            for (int i = 0; i < found.size() && first.size() <= Limits.MAX_WAITS_FOR; i++) {
                if (told.add(found.get(i).session)) {
                    first.add(found.get(i));
                }
            }
            known.put(asked, first);
        }
        return first;
    }
}
