package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * Counts conflicts per resource in fixed memory (K7-7). A resource has one of four places, chosen by its hash; when all four are taken the
 * coldest goes. What is asked for often therefore stays, whatever else passes through, and a conflict costs the same however many
 * resources there are. The seed keeps those who choose names from choosing places.
 */
final class HotSpots {
    private static final int SETS = 512;
    private static final int WAYS = 4;
    private static final long HALF_LIFE_MS = 60_000;
    /** One conflict, so that halves of it are still whole numbers for a while. */
    private static final long ONE = 1 << 10;

    private static final class Entry {
        final String namespace;
        final Resource resource;
        final long firstMs;
        long conflicts;
        long deaths;
        long heat;
        /** To when {@link #heat} has been brought. */
        long heatMs;
        long lastMs;

        Entry(String namespace, Resource resource, long nowMs) {
            this.namespace = namespace;
            this.resource = resource;
            this.firstMs = nowMs;
            this.heatMs = nowMs;
        }

        void cool(long nowMs) {
            long halves = (nowMs - heatMs) / HALF_LIFE_MS;
            if (halves > 0) {
                heat = halves > 62 ? 0 : heat >> halves;
                heatMs += halves * HALF_LIFE_MS;
            }
        }
    }

    private final int seed;
    private Entry[] entries;

    HotSpots(int seed) {
        this.seed = seed;
    }

    void count(String namespace, Resource resource, boolean death, long nowMs) {
        if (entries == null) {
            entries = new Entry[SETS * WAYS];
        }
        int hash = (resource.hashCode() ^ seed) * 0x9E3779B9 + namespace.hashCode();
        hash *= 0x85EBCA6B;
        int from = (hash >>> 16) % SETS * WAYS;
        int coldest = from;
        for (int i = from; i < from + WAYS; i++) {
            Entry e = entries[i];
            if (e == null) {
                coldest = i;
                break;
            }
            e.cool(nowMs);
            if (e.resource.equals(resource) && e.namespace.equals(namespace)) {
                add(e, death, nowMs);
                return;
            }
            if (e.heat < entries[coldest].heat) {
                coldest = i;
            }
        }
        Entry e = new Entry(namespace, resource, nowMs);
        entries[coldest] = e;
        add(e, death, nowMs);
    }

    private static void add(Entry e, boolean death, long nowMs) {
        e.conflicts++;
        e.heat += ONE;
        e.lastMs = nowMs;
        if (death) {
            e.deaths++;
        }
    }

    /** The hottest first, then by name; {@code namespace} {@code null} for all. */
    List<HotSpot> hottest(String namespace, int limit, long nowMs) {
        ArrayList<HotSpot> list = new ArrayList<>();
        for (int i = 0; entries != null && i < entries.length; i++) {
            Entry e = entries[i];
            if (e != null && (namespace == null || namespace.equals(e.namespace))) {
                e.cool(nowMs);
                list.add(new HotSpot(e.namespace, e.resource, e.conflicts, e.deaths, (double) e.heat / ONE, e.firstMs, e.lastMs));
            }
        }
        Collections.sort(list, new Hottest());
        return list.size() <= limit ? list : new ArrayList<>(list.subList(0, Math.max(0, limit)));
    }

    private static final class Hottest implements Comparator<HotSpot> {
        @Override
        public int compare(HotSpot a, HotSpot b) {
            int c = Double.compare(b.heat(), a.heat());
            if (c == 0) {
                c = Long.compare(b.conflicts(), a.conflicts());
            }
            if (c == 0) {
                c = a.namespace().compareTo(b.namespace());
            }
            return c == 0 ? a.resource().compareTo(b.resource()) : c;
        }
    }
}
