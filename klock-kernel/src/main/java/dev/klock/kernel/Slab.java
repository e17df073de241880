package dev.klock.kernel;

import java.util.Arrays;

/**
 * Many small records of ints, named by numbers from 1 on; 0 is none.
 *
 * <p>Instead of objects, because millions of them would each cost a header, references that the collector follows and a card mark at
 * every change, and would lie wherever they were moved to. A record's number is its address, counted in units of eight ints; records lie
 * in chunks, so that growth copies nothing, and a number is taken apart with constants only. Kinds that are used together share chunks
 * that no others are in: what is seldom looked at does not spread what often is over more pages of memory than the processor has in its
 * tables. What is freed is given out again to records of the same kind, the last first, while it is still in the processor's cache;
 * memory is not given back.
 */
final class Slab {
    private static final int UNIT_BITS = 3;
    private static final int CHUNK_BITS = 12;
    /** Units of a chunk: 128 KiB, well under what a collector calls humongous. A longer record has a chunk of its own. */
    private static final int CHUNK = 1 << CHUNK_BITS;

    private final int[] units;
    private final int[] areas;
    private final int[] free;
    private int[][] chunks = new int[4][];
    private int chunkCount = 1;
    private int size;
    /** Of each area, the chunk that is being filled, and from where on; chunk 0 is not used, so that no record is number 0. */
    private final int[] filling;

    private final int[] filled;

    /**
     * @param units how long the records of each kind are, in units of eight ints
     * @param areas for each kind, from 0 on, which kinds it shares chunks with
     */
    Slab(int[] units, int[] areas) {
        this.units = units;
        this.areas = areas;
        this.free = new int[units.length];
        int count = 0;
        for (int area : areas) {
            count = Math.max(count, area + 1);
        }
        filling = new int[count];
        filled = new int[count];
        Arrays.fill(filled, CHUNK);
    }

    /** How many records there are that were not freed. */
    int size() {
        return size;
    }

    /** A record of zeros. */
    int allocate(int kind) {
        size++;
        int id = free[kind];
        if (id != 0) {
            int[] chunk = chunk(id);
            int at = at(id);
            free[kind] = chunk[at];
            chunk[at] = 0;
            return id;
        }
        int needed = units[kind];
        if (needed > CHUNK) {
            return chunk(needed, chunkCount) << CHUNK_BITS;
        }
        int area = areas[kind];
        if (filled[area] + needed > CHUNK) {
            filling[area] = chunk(CHUNK, chunkCount);
            filled[area] = 0;
        }
        id = filling[area] << CHUNK_BITS | filled[area];
        filled[area] += needed;
        return id;
    }

    private int chunk(int length, int number) {
        if (number == chunks.length) {
            chunks = Arrays.copyOf(chunks, number * 2);
        }
        chunks[number] = new int[length << UNIT_BITS];
        chunkCount = number + 1;
        return number;
    }

    /** Takes record {@code id} of that kind back. */
    void free(int id, int kind) {
        int[] chunk = chunk(id);
        int at = at(id);
        Arrays.fill(chunk, at, at + (units[kind] << UNIT_BITS), 0);
        chunk[at] = free[kind];
        free[kind] = id;
        size--;
    }

    /** The array that record {@code id} lies in. */
    int[] chunk(int id) {
        return chunks[id >>> CHUNK_BITS];
    }

    /** Where in {@link #chunk} it begins. */
    static int at(int id) {
        return (id & CHUNK - 1) << UNIT_BITS;
    }
}
