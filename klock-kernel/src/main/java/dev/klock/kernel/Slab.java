package dev.klock.kernel;

import java.util.Arrays;

/**
 * Many small records of ints, named by numbers from 1 on; 0 is none.
 *
 * <p>Instead of objects, because millions of them would each cost a header, references that the collector follows and a card mark at
 * every change, and would lie wherever they were moved to. They are kept in chunks, so that growth copies nothing. What is freed is
 * given out again, the last first, while it is still in the processor's cache; memory is not given back.
 */
final class Slab {
    /** A chunk is at least one record, and else at most 128 KiB, well under what a collector calls humongous. */
    private static final int CHUNK_INTS = 1 << 15;

    private final int width;
    private final int chunkBits;
    private final int inChunk;
    private int[][] chunks = new int[4][];
    private int free;
    private int used = 1;

    /** Records of {@code width} ints. */
    Slab(int width) {
        this.width = width;
        this.chunkBits = Math.max(0, 31 - Integer.numberOfLeadingZeros(Math.max(1, CHUNK_INTS / width)));
        this.inChunk = (1 << chunkBits) - 1;
    }

    /** A record of zeros. */
    int allocate() {
        int id = free;
        if (id != 0) {
            int[] chunk = chunk(id);
            int at = at(id);
            free = chunk[at];
            chunk[at] = 0;
            return id;
        }
        id = used++;
        int number = id >>> chunkBits;
        if (number == chunks.length) {
            chunks = Arrays.copyOf(chunks, number * 2);
        }
        if (chunks[number] == null) {
            chunks[number] = new int[width << chunkBits];
        }
        return id;
    }

    /** Takes record {@code id} back. */
    void free(int id) {
        int[] chunk = chunk(id);
        int at = at(id);
        Arrays.fill(chunk, at, at + width, 0);
        chunk[at] = free;
        free = id;
    }

    /** The array that record {@code id} lies in. */
    int[] chunk(int id) {
        return chunks[id >>> chunkBits];
    }

    /** Where in {@link #chunk} it begins. */
    int at(int id) {
        return (id & inChunk) * width;
    }
}
