package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps what renames a file apart from everything else that is done to either name meanwhile: which of its names an open file is at, and so
 * which name its later changes are put down to, is known only when both have ended. The same for what will change nothing as things are,
 * and must not after all because another thread has made, or removed, the file in between. Whatever else is done to a name goes on side by
 * side.
 *
 * <p>Names share a number of places, which are taken in their order, so that nobody waits in a circle; nothing waits for ever, since an operation may: after that
 * it goes on as if it were alone. Safe for virtual threads.
 */
final class Claims {
    /** A power of two; two names of one place wait for each other without need. */
    private static final int PLACES = 1024;
    /** Of a place: somebody has it, or is to have it, for itself. Below it, how many share it. */
    private static final int TAKEN = 1 << 30;
    private static final long PAUSE_NS = 20_000;

    private final AtomicIntegerArray places = new AtomicIntegerArray(PLACES);
    /** Those that want a place for themselves are served in turn; made when first wanted. */
    private final AtomicReferenceArray<ReentrantLock> turns = new AtomicReferenceArray<>(PLACES);
    private volatile boolean inVain;

    /** Claims the names that {@code f} changes, {@code alone} for itself; {@link #release} is owed. */
    void claim(Frame f, boolean alone) {
        int a = place(f.a);
        int b = f.b == null ? a : place(f.b);
        f.low = Math.min(a, b);
        f.high = Math.max(a, b);
        f.claimed = true;
        f.hasLow = take(f.low, alone);
        f.hasHigh = f.high != f.low && take(f.high, alone);
    }

    /** Claims {@code target} for {@code f} alone; {@link #release} is owed. */
    void claim(Frame f, Target target) {
        f.low = place(target);
        f.high = f.low;
        f.claimed = true;
        f.hasLow = take(f.low, true);
    }

    void release(Frame f) {
        f.claimed = false;
        release(f.low, f.hasLow);
        if (f.high != f.low) {
            release(f.high, f.hasHigh);
        }
    }

    /** Keeps renames of {@code target} away until {@link #leave}. */
    void enter(Target target) {
        share(place(target));
    }

    void leave(Target target) {
        release(place(target), false);
    }

    private static int place(Target target) {
        int hash = target.real().hashCode();
        return (hash ^ hash >>> 16) & PLACES - 1;
    }

    private void release(int place, boolean own) {
        places.addAndGet(place, own ? -TAKEN : -1);
        if (own) {
            turns.get(place).unlock();
        }
    }

    /** @return whether it is the caller's own from here on; else it is shared */
    private boolean take(int place, boolean own) {
        ReentrantLock turn = own ? turn(place) : null;
        if (turn == null || turn.isHeldByCurrentThread() || !Patience.await(turn, longestNs())) {
            share(place);
            return false;
        }
        places.addAndGet(place, TAKEN);
        long deadline = 0;
        for (int n = 0; places.get(place) != TAKEN; n++) {
            deadline = n == 0 ? System.nanoTime() + longestNs() : deadline;
            if (isOver(n, deadline)) {
                break;
            }
        }
        return true;
    }

    private ReentrantLock turn(int place) {
        ReentrantLock turn = turns.get(place);
        if (turn == null) {
            turns.compareAndSet(place, null, new ReentrantLock(true));
            turn = turns.get(place);
        }
        return turn;
    }

    private void share(int place) {
        int now = places.get(place);
        if ((now & TAKEN) == 0 && places.compareAndSet(place, now, now + 1)) {
            return;
        }
        long deadline = System.nanoTime() + longestNs();
        for (int n = 0; ; n++) {
            now = places.get(place);
            if ((now & TAKEN) == 0) {
                if (places.compareAndSet(place, now, now + 1)) {
                    return;
                }
            } else if (isOver(n, deadline)) {
                places.incrementAndGet(place);
                return;
            }
        }
    }

    private long longestNs() {
        return inVain ? Patience.SHORT_WAIT_NS : Patience.LONGEST_WAIT_NS;
    }

    private boolean isOver(int n, long deadline) {
        if (Patience.spins(n)) {
            return false;
        }
        boolean over = System.nanoTime() - deadline >= 0;
        inVain = over;
        if (!over) {
            LockSupport.parkNanos(PAUSE_NS);
        }
        return over;
    }
}
