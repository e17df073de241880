package dev.klock.agent.observe;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts the operations that are changing something, and lets one that moves a whole directory be alone among them: it changes the names of
 * everything below, so what others do there meanwhile would be put down to names that lead elsewhere by then. Nothing waits for ever, since
 * an operation may (an open of a pipe that nobody reads): after that it goes on as if it were alone.
 */
final class Mutations {
    private static final long LONGEST_WAIT_NS = 2_000_000_000L;
    /** The same after a wait in vain: whatever is under way for so long may be for longer. */
    private static final long SHORT_WAIT_NS = 10_000_000;
    private static final long PAUSE_NS = 50_000;
    private static final int SPINS = 200;

    private final AtomicInteger count = new AtomicInteger();
    private final AtomicBoolean moving = new AtomicBoolean();
    /** Changed by who is alone only, as the next. */
    private volatile int moves;
    /** The last move has not been alone after all. */
    private volatile boolean inVain;

    int count() {
        return count.get();
    }

    /** How many directories have been moved: a name that was looked up before the last may lead elsewhere by now. */
    int moves() {
        return moves;
    }

    /** An operation begins. */
    void begin() {
        count.incrementAndGet();
        if (!moving.get()) {
            return;
        }
        long deadline = System.nanoTime() + LONGEST_WAIT_NS;
        do {
            count.decrementAndGet();
            for (int n = 0; moving.get() && System.nanoTime() - deadline < 0; n++) {
                pause(n);
            }
            count.incrementAndGet();
        } while (moving.get() && System.nanoTime() - deadline < 0);
    }

    /**
     * A move of a directory begins.
     *
     * @param own operations of the calling thread that have begun and not ended
     * @return whether {@link #end} is owed that it was alone
     */
    boolean beginAlone(int own) {
        long deadline = System.nanoTime() + LONGEST_WAIT_NS;
        boolean alone = moving.compareAndSet(false, true);
        for (int n = 0; !alone && System.nanoTime() - deadline < 0; n++) {
            pause(n);
            alone = moving.compareAndSet(false, true);
        }
        count.incrementAndGet();
        if (alone) {
            deadline = System.nanoTime() + (inVain ? SHORT_WAIT_NS : LONGEST_WAIT_NS);
            for (int n = 0; count.get() > own + 1 && System.nanoTime() - deadline < 0; n++) {
                pause(n);
            }
            inVain = count.get() > own + 1;
        }
        return alone;
    }

    void end(boolean alone) {
        if (alone) {
            moves++;
            moving.set(false);
        }
        count.decrementAndGet();
    }

    private static void pause(int n) {
        if (n < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(PAUSE_NS);
        }
    }
}
