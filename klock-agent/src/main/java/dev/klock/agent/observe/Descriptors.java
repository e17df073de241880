package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which file each open descriptor was opened for writing on. Readers take no lock; grows with the largest descriptor.
 */
final class Descriptors {
    private static final int LIMIT = 1 << 20;

    private final ReentrantLock changing = new ReentrantLock();
    private volatile Target[] targets = new Target[256];

    /** The file that {@code fd} was opened for writing on, null if there is none. */
    Target get(int fd) {
        Target[] t = targets;
        return fd >= 0 && fd < t.length ? t[fd] : null;
    }

    /** The first descriptor from {@code fd} on that is open for writing on a file; -1 if there is none. */
    int next(int fd) {
        Target[] t = targets;
        for (int i = fd; i < t.length; i++) {
            if (t[i] != null) {
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
        changing.lock();
        try {
            Target[] t = targets;
            if (fd >= t.length) {
                t = Arrays.copyOf(t, Math.max(fd + 1, t.length * 2));
            }
            Target missed = t[fd];
            t[fd] = target;
            targets = t;
            return missed;
        } finally {
            changing.unlock();
        }
    }

    void closed(int fd) {
        changing.lock();
        try {
            targets[fd] = null;
        } finally {
            changing.unlock();
        }
    }
}
