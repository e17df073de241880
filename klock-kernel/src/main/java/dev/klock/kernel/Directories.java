package dev.klock.kernel;

/**
 * The directories of a {@link LeaseIndex} by a hash of their whole path, so that a walk need not come to each from the one above, waiting
 * for memory at each step. Beside a directory's node stands what is needed to look into it at once, without having read the node: the
 * record of its children and its size. A hash is only a hint: whoever finds an entry compares the names.
 *
 * <p>Open addressing, at least half empty; four ints side by side for each entry.
 */
final class Directories {
    private static final int NODE = 0;
    private static final int HASH = 1;
    private static final int RECORD = 2;
    private static final int BITS = 3;
    private static final int WIDTH_BITS = 2;
    private static final int MIN_BITS = 4;
    /** No entry. */
    static final int NONE = -1;

    private int[] table = new int[1 << MIN_BITS + WIDTH_BITS];
    private int bits = MIN_BITS;
    private int size;

    int size() {
        return size;
    }

    /** An entry with that hash, or NONE. An entry is a number that holds until the next change. */
    int first(int hash) {
        return from(hash >>> Integer.SIZE - bits, hash);
    }

    /** The next one after {@code entry} with the same hash, or NONE. */
    int next(int entry, int hash) {
        return from((entry >> WIDTH_BITS) + 1 & (1 << bits) - 1, hash);
    }

    private int from(int slot, int hash) {
        int mask = (1 << bits) - 1;
        for (int i = slot; ; i = i + 1 & mask) {
            int entry = i << WIDTH_BITS;
            if (table[entry + NODE] == 0) {
                return NONE;
            }
            if (table[entry + HASH] == hash) {
                return entry;
            }
        }
    }

    int node(int entry) {
        return table[entry + NODE];
    }

    int record(int entry) {
        return table[entry + RECORD];
    }

    int slotBits(int entry) {
        return table[entry + BITS];
    }

    void add(int hash, int node, int record, int slotBits) {
        if (++size > 1 << bits - 1) {
            resize(bits + 1);
        }
        place(hash, node, record, slotBits);
    }

    private void place(int hash, int node, int record, int slotBits) {
        int mask = (1 << bits) - 1;
        int i = hash >>> Integer.SIZE - bits;
        while (table[(i << WIDTH_BITS) + NODE] != 0) {
            i = i + 1 & mask;
        }
        int entry = i << WIDTH_BITS;
        table[entry + NODE] = node;
        table[entry + HASH] = hash;
        table[entry + RECORD] = record;
        table[entry + BITS] = slotBits;
    }

    /** {@code node}, which is in here, has another record. */
    void change(int hash, int node, int record, int slotBits) {
        int entry = entry(hash, node);
        table[entry + RECORD] = record;
        table[entry + BITS] = slotBits;
    }

    private int entry(int hash, int node) {
        int entry = first(hash);
        while (table[entry + NODE] != node) {
            entry = next(entry, hash);
        }
        return entry;
    }

    /** Takes out {@code node}, which is in here. */
    void remove(int hash, int node) {
        int mask = (1 << bits) - 1;
        int gap = entry(hash, node) >> WIDTH_BITS;
        // close the gap, so that no probe of another hash ends too early
        for (int i = gap + 1 & mask; table[(i << WIDTH_BITS) + NODE] != 0; i = i + 1 & mask) {
            int home = table[(i << WIDTH_BITS) + HASH] >>> Integer.SIZE - bits;
            if ((i - home & mask) >= (i - gap & mask)) {
                for (int k = 0; k < 1 << WIDTH_BITS; k++) {
                    table[(gap << WIDTH_BITS) + k] = table[(i << WIDTH_BITS) + k];
                }
                gap = i;
            }
        }
        table[(gap << WIDTH_BITS) + NODE] = 0;
        if (--size < 1 << bits - 3 && bits > MIN_BITS) {
            resize(bits - 1);
        }
    }

    private void resize(int newBits) {
        int[] old = table;
        table = new int[1 << newBits + WIDTH_BITS];
        bits = newBits;
        for (int entry = 0; entry < old.length; entry += 1 << WIDTH_BITS) {
            if (old[entry + NODE] != 0) {
                place(old[entry + HASH], old[entry + NODE], old[entry + RECORD], old[entry + BITS]);
            }
        }
    }
}
