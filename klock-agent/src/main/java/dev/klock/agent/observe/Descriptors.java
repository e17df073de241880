package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which file each open descriptor was opened for writing on. Neither readers nor writers take a lock: a descriptor belongs to whoever has
 * opened it, and its place, once there, stays where it is.
 */
final class Descriptors {
    private static final int LIMIT = 1 << 20;
    private static final int BLOCK = 1 << 10;

    private final ReentrantLock growing = new ReentrantLock();
    private final Target[][] blocks = new Target[LIMIT / BLOCK][];
    /** Blocks from here on have never been there. */
    private volatile int used;

    Descriptors() {
        block(0);
    }

    /** The file that {@code fd} was opened for writing on, null if there is none. */
    Target get(int fd) {
        if (fd < 0 || fd >= LIMIT) {
            return null;
        }
        Target[] block = blocks[fd / BLOCK];
        return block == null ? null : block[fd % BLOCK];
    }

    /** The first descriptor from {@code fd} on that is open for writing on a file; -1 if there is none. */
    int next(int fd) {
        int end = used * BLOCK;
        for (int i = fd; i < end; i++) {
            if (get(i) != null) {
                return i;
            }
        }
        return -1;
    }

    /** Answers the file that {@code fd} was taken to be open on until now: its closing was not seen; null as a rule. */
    Target opened(int fd, Target target) {
        if (fd < 0 || fd >= LIMIT) {
            return target;
        }
        Target[] block = blocks[fd / BLOCK];
        if (block == null) {
            block = block(fd / BLOCK);
        }
        Target missed = block[fd % BLOCK];
        block[fd % BLOCK] = target;
        return missed;
    }

    /** Only for a descriptor that {@link #get} knows. */
    void closed(int fd) {
        blocks[fd / BLOCK][fd % BLOCK] = null;
    }

    private Target[] block(int index) {
        growing.lock();
        try {
            if (blocks[index] == null) {
                blocks[index] = new Target[BLOCK];
                used = Math.max(used, index + 1);
            }
            return blocks[index];
        } finally {
            growing.unlock();
        }
    }
}
