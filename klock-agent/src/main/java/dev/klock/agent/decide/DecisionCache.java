package dev.klock.agent.decide;

import java.util.Arrays;

/**
 * Remembers which name led to which {@link Target}, so that an access that is repeated costs no system call and no allocation.
 *
 * <p>How it works. Two tables of fixed size, one for java.io's strings and one for java.nio's bytes, each searched at {@link #WAYS}
 * neighbouring places; a new entry takes the place of a stale one or else of one of the neighbours, so the tables never grow. Entries
 * are published by a plain store, and but for the time at which the way was last looked at they do not change: a reader sees a whole
 * entry or none. An entry counts only while the resolver's epoch is
 * the one it was made in, which drops all at once and without a lock when a link or a directory changes.
 */
public final class DecisionCache {
    /** Places in each table; a power of two. */
    static final int PLACES = 8192;
    /** Places searched for one name. */
    static final int WAYS = 4;

    private final Entry[] strings = new Entry[PLACES];
    private final Entry[] arrays = new Entry[PLACES];

    /** The target of a java.io name, null when it is not known. */
    public Target get(String name, boolean follow, int epoch) {
        Entry e = entry(name, follow, epoch);
        return e == null ? null : e.target;
    }

    /** The target of a java.nio name, null when it is not known. */
    public Target get(byte[] name, boolean follow, int epoch) {
        Entry e = entry(name, follow, epoch);
        return e == null ? null : e.target;
    }

    /** {@link #get(String, boolean, int)} where the way to it was {@link #seen} after {@code since}, a System.nanoTime(); else null. */
    public Target get(String name, boolean follow, int epoch, long since) {
        Entry e = entry(name, follow, epoch);
        return e != null && e.isSeen && e.seenNs - since > 0 ? e.target : null;
    }

    /** {@link #get(String, boolean, int, long)} for java.nio. */
    public Target get(byte[] name, boolean follow, int epoch, long since) {
        Entry e = entry(name, follow, epoch);
        return e != null && e.isSeen && e.seenNs - since > 0 ? e.target : null;
    }

    /** The name was found to lead to {@code target} when looked at not before {@code ns}, a System.nanoTime(). */
    public void seen(String name, boolean follow, int epoch, Target target, long ns) {
        see(entry(name, follow, epoch), target, ns);
    }

    /** {@link #seen(String, boolean, int, Target, long)} for java.nio. */
    public void seen(byte[] name, boolean follow, int epoch, Target target, long ns) {
        see(entry(name, follow, epoch), target, ns);
    }

    private static void see(Entry e, Target target, long ns) {
        if (e != null && e.target == target) {
            e.seenNs = ns;
            e.isSeen = true;
        }
    }

    private Entry entry(String name, boolean follow, int epoch) {
        int hash = hash(name, follow);
        for (int i = 0; i < WAYS; i++) {
            Entry e = strings[hash + i & PLACES - 1];
            if (e != null && e.epoch == epoch && e.follow == follow && e.name.equals(name)) {
                return e.target.isRetired() ? null : e;
            }
        }
        return null;
    }

    private Entry entry(byte[] name, boolean follow, int epoch) {
        int hash = hash(name, follow);
        for (int i = 0; i < WAYS; i++) {
            Entry e = arrays[hash + i & PLACES - 1];
            if (e != null && e.epoch == epoch && e.follow == follow && e.bytes.length == name.length && Arrays.equals(e.bytes, name)) {
                return e.target.isRetired() ? null : e;
            }
        }
        return null;
    }

    /** Remembers what was found while the epoch was {@code epoch}, read before the name was resolved. */
    public void put(String name, boolean follow, int epoch, Target target) {
        place(strings, hash(name, follow), new Entry(name, null, follow, epoch, target));
    }

    /** {@link #put(String, boolean, int, Target)} for java.nio; keeps a copy of {@code name}. */
    public void put(byte[] name, boolean follow, int epoch, Target target) {
        place(arrays, hash(name, follow), new Entry(null, name.clone(), follow, epoch, target));
    }

    private static void place(Entry[] table, int hash, Entry entry) {
        int at = hash + (hash >>> 13 & WAYS - 1) & PLACES - 1;
        for (int i = 0; i < WAYS; i++) {
            int place = hash + i & PLACES - 1;
            Entry e = table[place];
            if (e == null || e.epoch != entry.epoch || e.target.isRetired()) {
                at = place;
                break;
            }
        }
        table[at] = entry;
    }

    private static int hash(String name, boolean follow) {
        return mix(name.hashCode(), follow);
    }

    /**
     * Of the length, the last 16 bytes and each eighth before them: names of one directory differ at the end, directories before.
     * Hashing every byte would cost more than all the rest of a hit. The sums do not wait for each other.
     */
    private static int hash(byte[] name, boolean follow) {
        int length = name.length;
        int a = length;
        int i = length;
        for (int k = 0; i >= 4 && k < 4; k++) {
            i -= 4;
            int four = name[i] & 0xFF | (name[i + 1] & 0xFF) << 8 | (name[i + 2] & 0xFF) << 16 | name[i + 3] << 24;
            a = (a ^ four) * 0x85EBCA6B;
            a ^= a >>> 15;
        }
        int b = 0;
        for (i--; i >= 0; i -= 8) {
            b = b * 31 + name[i];
        }
        return mix(a ^ b * 0xC2B2AE35, follow);
    }

    private static int mix(int h, boolean follow) {
        int m = (follow ? h : ~h) * 0x9E3779B1;
        return m ^ m >>> 15;
    }

    private static final class Entry {
        final String name;
        final byte[] bytes;
        final boolean follow;
        final int epoch;
        final Target target;
        long seenNs;
        /** Written after the time; a look that is missed costs another one. */
        volatile boolean isSeen;

        Entry(String name, byte[] bytes, boolean follow, int epoch, Target target) {
            this.name = name;
            this.bytes = bytes;
            this.follow = follow;
            this.epoch = epoch;
            this.target = target;
        }
    }
}
