package dev.klock.kernel;

/**
 * Everything that is due some time, in constant time per change and exact to the millisecond.
 *
 * <p>A wheel of two rings rather than a heap: with a million leases a heap's removals are twenty scattered memory accesses each, while
 * almost all leases are released or renewed long before they are due. The fine ring has one slot per millisecond of the current half
 * second, the coarse ring one per half second of the coming nine minutes; when time enters a coarse slot, its things move to the fine
 * ring. What lies further ahead goes round the coarse ring again.
 */
final class TimerWheel {
    private static final int FINE_BITS = 9;
    private static final int FINE = 1 << FINE_BITS;
    private static final int COARSE = 1 << 10;

    private final Roll roll;
    private final int[] first = new int[FINE + COARSE];
    private final int[] last = new int[FINE + COARSE];
    /** Which slots are not empty: one bit each. */
    private final long[] occupied = new long[(FINE + COARSE) / Long.SIZE];

    /** The next millisecond to look at; everything before it has been taken. */
    private long cursor;
    private int size;
    private int fineSize;

    /** @param roll where everything that is scheduled has its number */
    TimerWheel(Roll roll, long startMs) {
        this.roll = roll;
        cursor = startMs;
    }

    int size() {
        return size;
    }

    /** Makes {@code t} due at {@code dueMs}, whether it was scheduled before or not. */
    void schedule(Timed t, long dueMs) {
        cancel(t);
        t.dueMs = dueMs;
        append(t);
        size++;
    }

    private void append(Timed t) {
        long due = Math.max(t.dueMs, cursor);
        long window = due >> FINE_BITS;
        long current = cursor >> FINE_BITS;
        int slot;
        if (window == current) {
            slot = (int) (due & FINE - 1);
            fineSize++;
        } else {
            slot = FINE + (int) (Math.min(window, current + COARSE - 1) & COARSE - 1);
        }
        t.slot = slot;
        t.later = 0;
        t.earlier = last[slot];
        if (t.earlier == 0) {
            first[slot] = t.id;
            occupied[slot >> 6] |= 1L << slot;
        } else {
            roll.get(t.earlier).later = t.id;
        }
        last[slot] = t.id;
    }

    void cancel(Timed t) {
        if (t.slot != Timed.UNSCHEDULED) {
            unlink(t);
            size--;
        }
    }

    private void unlink(Timed t) {
        int slot = t.slot;
        if (t.earlier == 0) {
            first[slot] = t.later;
            if (t.later == 0) {
                occupied[slot >> 6] &= ~(1L << slot);
            }
        } else {
            roll.get(t.earlier).later = t.later;
        }
        if (t.later == 0) {
            last[slot] = t.earlier;
        } else {
            roll.get(t.later).earlier = t.earlier;
        }
        if (slot < FINE) {
            fineSize--;
        }
        t.earlier = 0;
        t.later = 0;
        t.slot = Timed.UNSCHEDULED;
    }

    /**
     * Takes out and returns the next thing that is due at {@code nowMs}, earliest first and in the order of scheduling within one
     * millisecond; {@code null} when nothing is. Time only moves forward.
     */
    Timed poll(long nowMs) {
        if (size == 0) {
            if (nowMs >= cursor) {
                cursor = nowMs + 1;
            }
            return null;
        }
        while (cursor <= nowMs) {
            if (fineSize == 0) {
                long nextWindow = (cursor >> FINE_BITS) + 1 << FINE_BITS;
                if (nextWindow > nowMs) {
                    cursor = nowMs + 1;
                    if (cursor == nextWindow) {
                        enterWindow();
                    }
                    return null;
                }
                cursor = nextWindow;
                enterWindow();
                continue;
            }
            Timed t = roll.get(first[(int) (cursor & FINE - 1)]);
            if (t != null) {
                unlink(t);
                size--;
                return t;
            }
            // the half second does not end here: something in it is still ahead
            cursor++;
        }
        return null;
    }

    /** Spreads the coarse slot of the half second that has just begun over the fine ring. */
    private void enterWindow() {
        int slot = FINE + (int) (cursor >> FINE_BITS & COARSE - 1);
        Timed t = roll.get(first[slot]);
        first[slot] = 0;
        last[slot] = 0;
        occupied[slot >> 6] &= ~(1L << slot);
        while (t != null) {
            Timed next = roll.get(t.later);
            append(t);
            t = next;
        }
    }

    /**
     * A time, never too late, at which to look again: exact for what is due within the current half second, else the beginning of the
     * half second in which something may be due. {@link Long#MAX_VALUE} when there is nothing.
     */
    long nextDueMs() {
        if (size == 0) {
            return Long.MAX_VALUE;
        }
        if (fineSize > 0) {
            return cursor + ahead(0, FINE, (int) (cursor & FINE - 1));
        }
        long window = (cursor >> FINE_BITS) + 1;
        return window + ahead(FINE, COARSE, (int) (window & COARSE - 1)) << FINE_BITS;
    }

    /** How many slots after slot {@code from} of the ring the first occupied one is; there is one. */
    private int ahead(int ring, int size, int from) {
        int word = from >> 6;
        long bits = occupied[(ring >> 6) + word] & -1L << from;
        int words = size >> 6;
        while (bits == 0) {
            word = word + 1 & words - 1;
            bits = occupied[(ring >> 6) + word];
        }
        return (word << 6) + Long.numberOfTrailingZeros(bits) - from & size - 1;
    }
}
