package dev.klock.kernel;

import java.util.Arrays;

/**
 * Claims, waiting manifests and sessions by number; 0 is nobody. Lists of them are linked by these numbers and not by references, so that
 * the one reference to a claim is the one in here: whoever keeps a {@link Lease}, and with it a claim that is over, keeps none of its
 * former neighbours alive, and a change of links writes no reference into old objects. Numbers are given again, the last first.
 */
final class Roll {
    private Timed[] things = new Timed[64];
    private int[] free = new int[64];
    private int freeCount;
    private int used = 1;

    /** How many have a number. */
    int size() {
        return used - 1 - freeCount;
    }

    /** Gives {@code t} a number. */
    void add(Timed t) {
        int id = freeCount == 0 ? used++ : free[--freeCount];
        if (id == things.length) {
            things = Arrays.copyOf(things, id * 2);
        }
        things[id] = t;
        t.id = id;
    }

    /** Takes the number of {@code t}, which nothing is linked to any more, back. */
    void remove(Timed t) {
        things[t.id] = null;
        if (freeCount == free.length) {
            free = Arrays.copyOf(free, freeCount * 2);
        }
        free[freeCount++] = t.id;
    }

    /** {@code null} for 0. */
    Timed get(int id) {
        return things[id];
    }

    /** {@link #get} where the number is known to be a claim's, or 0. */
    Claim claim(int id) {
        return (Claim) things[id];
    }
}
