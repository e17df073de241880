package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Which file each open descriptor was opened for writing on. Neither readers nor writers take a lock: a descriptor belongs to whoever has
 * opened it, and its place, once there, stays where it is.
 */
final class Descriptors {
    private static final int LIMIT = 1 << 20;
    private static final int BLOCK = 1 << 10;

    private final AtomicReferenceArray<Target[]> blocks = new AtomicReferenceArray<>(LIMIT / BLOCK);

    Descriptors() {
        block(0);
    }

    /** The file that {@code fd} was opened for writing on, null if there is none. */
    Target get(int fd) {
        if (fd < 0 || fd >= LIMIT) {
            return null;
        }
        Target[] block = blocks.get(fd / BLOCK);
        return block == null ? null : block[fd % BLOCK];
    }

    /** The first descriptor from {@code fd} on that is open for writing on a file; -1 if there is none. */
    int next(int fd) {
        for (int i = fd; i < LIMIT; i++) {
            Target[] block = blocks.get(i / BLOCK);
            if (block == null) {
                i |= BLOCK - 1;
            } else if (block[i % BLOCK] != null) {
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
        Target[] block = blocks.get(fd / BLOCK);
        if (block == null) {
            block = block(fd / BLOCK);
        }
        Target missed = block[fd % BLOCK];
        block[fd % BLOCK] = target;
        return missed;
    }

    /** Only for a descriptor that {@link #get} knows. */
    void closed(int fd) {
        blocks.get(fd / BLOCK)[fd % BLOCK] = null;
    }

    private Target[] block(int index) {
        blocks.compareAndSet(index, null, new Target[BLOCK]);
        return blocks.get(index);
    }
}
