package dev.klock.agent.observe;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Counts the operations that are changing something, and lets one that moves a whole directory, or leads a symbolic link elsewhere, be alone
 * among them: it changes where names lead, so what others do there meanwhile would be done, or put down, to names that lead elsewhere by then. Nothing waits for ever, since
 * an operation may: after that it goes on as if it were alone. Safe for virtual threads; nothing is locked while an operation runs but by
 * who is alone.
 */
final class Mutations {
    private static final long PAUSE_NS = 50_000;

    private final AtomicInteger count = new AtomicInteger();
    /** Held by who is alone; those that wait for it are served in turn. */
    private final ReentrantLock turn = new ReentrantLock(true);
    private volatile boolean moving;
    /** Changed by who holds the turn only, as the next. */
    private volatile int moves;
    /** The last move has not been alone after all. */
    private volatile boolean inVain;

    int count() {
        return count.get();
    }

    /** How many operations have been alone: a name that was looked up before the last may lead elsewhere by now. */
    int moves() {
        return moves;
    }

    /** An operation begins. */
    void begin() {
        count.incrementAndGet();
        if (!moving || turn.isHeldByCurrentThread()) {
            return;
        }
        count.decrementAndGet();
        boolean mine = Patience.await(turn, Patience.LONGEST_WAIT_NS);
        count.incrementAndGet();
        if (mine) {
            turn.unlock();
        }
    }

    /**
     * Something of klock's own begins that looks at what many names lead to, if no operation is under way: one that is to be alone waits for it. To be
     * followed by {@link #end}, of one that was not alone, if it has begun.
     */
    boolean beginIfQuiet() {
        return count.compareAndSet(0, 1);
    }

    /**
     * An operation that is to be alone begins.
     *
     * @param own operations of the calling thread that have begun and not ended
     * @return whether {@link #end} is owed that it was alone
     */
    boolean beginAlone(int own) {
        boolean mine = Patience.await(turn, Patience.LONGEST_WAIT_NS);
        if (mine) {
            moving = true;
        }
        count.incrementAndGet();
        if (mine) {
            long deadline = System.nanoTime() + (inVain ? Patience.SHORT_WAIT_NS : Patience.LONGEST_WAIT_NS);
            for (int n = 0; count.get() > own + 1 && System.nanoTime() - deadline < 0; n++) {
                Patience.pause(n, PAUSE_NS);
            }
            inVain = count.get() > own + 1;
        }
        return mine;
    }

    /** @param alone what {@link #beginAlone} has answered; then by the same thread */
    void end(boolean alone) {
        count.decrementAndGet();
        if (alone) {
            moves++;
            moving = turn.getHoldCount() > 1;
            turn.unlock();
        }
    }
}
