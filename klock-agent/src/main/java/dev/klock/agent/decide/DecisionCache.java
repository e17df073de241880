package dev.klock.agent.decide;

import java.util.Arrays;

/**
 * Remembers which name led to which {@link Target}, so that an access that is repeated costs no system call and no allocation.
 *
 * <p>How it works. Two tables of fixed size, one for java.io's strings and one for java.nio's bytes, each searched at {@link #WAYS}
 * neighbouring places; a new entry takes the place of a stale one or else of one of the neighbours, so the tables never grow. Entries
 * are immutable and published by a plain store: a reader sees a whole entry or none. An entry counts only while the resolver's epoch is
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
        int hash = hash(name, follow);
        for (int i = 0; i < WAYS; i++) {
            Entry e = strings[hash + i & PLACES - 1];
            if (e != null && e.epoch == epoch && e.follow == follow && e.name.equals(name)) {
                return e.target;
            }
        }
        return null;
    }

    /** The target of a java.nio name, null when it is not known. */
    public Target get(byte[] name, boolean follow, int epoch) {
        int hash = hash(name, follow);
        for (int i = 0; i < WAYS; i++) {
            Entry e = arrays[hash + i & PLACES - 1];
            if (e != null && e.epoch == epoch && e.follow == follow && e.bytes.length == name.length && Arrays.equals(e.bytes, name)) {
                return e.target;
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
            if (e == null || e.epoch != entry.epoch) {
                at = place;
                break;
            }
        }
        table[at] = entry;
    }

    private static int hash(String name, boolean follow) {
        return mix(name.hashCode(), follow);
    }

    /** Of the length, the last 32 bytes and each eighth before: names of one directory differ at the end, directories before. */
    private static int hash(byte[] name, boolean follow) {
        int length = name.length;
        int tail = Math.max(0, length - 32);
        int a = length;
        int b = 0;
        int i = tail;
        // two sums at once, so that one does not wait for the other's multiplication
        for (; i + 1 < length; i += 2) {
            a = a * 31 + name[i];
            b = b * 37 + name[i + 1];
        }
        if (i < length) {
            a = a * 31 + name[i];
        }
        for (int k = 0; k < tail; k += 8) {
            b = b * 41 + name[k];
        }
        return mix(a ^ b * 0x9E3779B1, follow);
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

        Entry(String name, byte[] bytes, boolean follow, int epoch, Target target) {
            this.name = name;
            this.bytes = bytes;
            this.follow = follow;
            this.epoch = epoch;
            this.target = target;
        }
    }
}
