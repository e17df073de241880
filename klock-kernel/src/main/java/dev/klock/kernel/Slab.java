package dev.klock.kernel;

import java.util.Arrays;

/**
 * Many small records of ints, named by numbers from 1 on; 0 is none.
 *
 * <p>Instead of objects, because millions of them would each cost a header, references that the collector follows and a card mark at
 * every change, and would lie wherever they were moved to. A record's number is its address, counted in units of eight ints; records lie
 * in chunks, so that growth copies nothing, and a number is taken apart with constants only. What is freed is given out again to records
 * of the same kind, the last first, while it is still in the processor's cache; memory is not given back.
 */
final class Slab {
    private static final int UNIT_BITS = 3;
    private static final int CHUNK_BITS = 12;
    /** Units of a chunk: 128 KiB, well under what a collector calls humongous. A longer record has a chunk of its own. */
    private static final int CHUNK = 1 << CHUNK_BITS;

    private final int[] units;
    private final int[] free;
    private int[][] chunks = new int[4][];
    private int chunkCount = 1;
    /** The chunk that is being filled, and from where on; unit 0 is not used, so that no record is number 0. */
    private int filling;

    private int filled = 1;

    /** @param units how long the records of each kind are, in units of eight ints */
    Slab(int[] units) {
        this.units = units;
        this.free = new int[units.length];
        chunks[0] = new int[CHUNK << UNIT_BITS];
    }

    /** A record of zeros. */
    int allocate(int kind) {
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
        if (filled + needed > CHUNK) {
            filling = chunk(CHUNK, chunkCount);
            filled = 0;
        }
        id = filling << CHUNK_BITS | filled;
        filled += needed;
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
