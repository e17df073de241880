package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.HashMap;

/**
 * What a session holds while one of its manifests is judged: whether one of its leases stands for a triple already. Few leases are looked
 * through; many are put down by their places in the index first, once, so that a triple costs the depth of its path whatever the number of
 * the session's leases, and of other sessions' on the same resource.
 */
final class Held {
    private static final int FEW = 32;

    private final Session session;
    private final Roll roll;
    private final LeaseIndex index;
    /** By place, the predicates of its leases there as a mask; {@code null} while few, or not asked yet. */
    private HashMap<Long, Integer> places;

    Held(Session session, Roll roll, LeaseIndex index) {
        this.session = session;
        this.roll = roll;
        this.index = index;
    }

    /** Whether a lease on {@code resource}, or on a pattern that covers it, excludes all that {@code mask}, the triple's conflicts, would. */
    boolean standsFor(Resource resource, int mask) {
        if (session.held() == 0) {
            return false;
        }
        if (session.leases > FEW) {
            return index.isHeld(session.space, resource, mask, this);
        }
        for (Claim c = roll.claim(session.firstLease); c != null; c = roll.claim(c.nextOfSession)) {
            if (stands(c) && excludes(mask, c.predicate) && c.resource().covers(resource)) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of the leases at that place in the index excludes all of {@code mask}. */
    boolean isAt(int node, int form, int mask) {
        if (places == null) {
            places = new HashMap<>(session.leases * 2);
            for (Claim c = roll.claim(session.firstLease); c != null; c = roll.claim(c.nextOfSession)) {
                if (stands(c)) {
                    long place = place(c.node, LeaseIndex.form(c.resource()));
                    places.put(place, places.getOrDefault(place, 0) | c.predicate.bit());
                }
            }
        }
        int held = places.getOrDefault(place(node, form), 0);
        for (Predicate p : Predicate.values()) {
            if ((held & p.bit()) != 0 && excludes(mask, p)) {
                return true;
            }
        }
        return false;
    }

    private static long place(int node, int form) {
        return (long) node << 32 | form;
    }

    private static boolean stands(Claim c) {
        return c.state != LeaseState.LOCK_DELAY;
    }

    private static boolean excludes(int mask, Predicate held) {
        return (mask & ~ConflictMatrix.conflictMask(held)) == 0;
    }
}
