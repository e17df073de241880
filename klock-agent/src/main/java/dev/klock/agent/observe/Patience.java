package dev.klock.agent.observe;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** How operations wait for each other: never for ever, since what they wait for may. Safe for virtual threads. */
final class Patience {
    static final long LONGEST_WAIT_NS = 2_000_000_000L;
    /** The same after a wait in vain: whatever is under way for so long may be for longer. */
    static final long SHORT_WAIT_NS = 10_000_000;
    private static final int SPINS = 200;

    private Patience() {
    }

    /** Waits for the turn, whatever interrupts there are, which stay; false if it did not come in time. */
    static boolean await(ReentrantLock turn, long longestNs) {
        long deadline = System.nanoTime() + longestNs;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return turn.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether so many looks, the {@code n}th from 0, came so soon one after the other that the next needs no pause. */
    static boolean spins(int n) {
        if (n >= SPINS) {
            return false;
        }
        Thread.onSpinWait();
        return true;
    }

    /** Before the {@code n}th look, from 0, at what is waited for. */
    static void pause(int n, long pauseNs) {
        if (!spins(n)) {
            LockSupport.parkNanos(pauseNs);
        }
    }
}
