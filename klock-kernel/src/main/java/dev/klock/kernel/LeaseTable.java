package dev.klock.kernel;

/**
 * Leases by number. Multiplying by the golden ratio spreads numbers that follow each other; their low bits alone would pile up behind
 * any block of old leases.
 */
final class LeaseTable {
    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private Claim[] slots = new Claim[16];
    private int shift = 60;
    private int size;

    private int home(long number) {
        return (int) (number * GOLDEN >>> shift);
    }

    int size() {
        return size;
    }

    Claim get(long number) {
        Claim[] table = slots;
        int mask = table.length - 1;
        for (int i = home(number); ; i = i + 1 & mask) {
            Claim c = table[i];
            if (c == null || c.number == number) {
                return c;
            }
        }
    }

    void put(Claim claim) {
        if (size * 2 >= slots.length) {
            Claim[] old = slots;
            slots = new Claim[old.length * 2];
            shift--;
            for (Claim c : old) {
                if (c != null) {
                    place(c);
                }
            }
        }
        place(claim);
        size++;
    }

    private void place(Claim claim) {
        int mask = slots.length - 1;
        int i = home(claim.number);
        while (slots[i] != null) {
            i = i + 1 & mask;
        }
        slots[i] = claim;
    }

    void remove(Claim claim) {
        int mask = slots.length - 1;
        int i = home(claim.number);
        while (slots[i] != claim) {
            i = i + 1 & mask;
        }
        size--;
        // close the gap, so that no probe of another number ends too early
        for (int j = i + 1 & mask; ; j = j + 1 & mask) {
            Claim c = slots[j];
            if (c == null) {
                break;
            }
            if ((j - home(c.number) & mask) >= (j - i & mask)) {
                slots[i] = c;
                i = j;
            }
        }
        slots[i] = null;
    }
}
