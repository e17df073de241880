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
    private static final int CHUNK_BITS = 11;
    private static final int IN_CHUNK = (1 << CHUNK_BITS) - 1;

    private final int widthBits;
    private final int width;
    private int[][] chunks = new int[4][];
    private int free;
    private int used = 1;

    /** Records of {@code 1 << widthBits} ints. */
    Slab(int widthBits) {
        this.widthBits = widthBits;
        this.width = 1 << widthBits;
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
        int number = id >>> CHUNK_BITS;
        if (number == chunks.length) {
            chunks = Arrays.copyOf(chunks, number * 2);
        }
        if (chunks[number] == null) {
            chunks[number] = new int[width << CHUNK_BITS];
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
        return chunks[id >>> CHUNK_BITS];
    }

    /** Where in {@link #chunk} it begins. */
    int at(int id) {
        return (id & IN_CHUNK) << widthBits;
    }
}
