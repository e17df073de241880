package dev.klock.agent.observe;

import java.util.Optional;

/** Whether a process was started, directly or by its children, by this one (C48). Does I/O; callers have exempted themselves. */
final class Descent {
    /** Longest line of descent looked at. */
    private static final int GENERATIONS = 64;

    private Descent() {
    }

    static boolean exists(long pid) {
        return ProcessHandle.of(pid).isPresent();
    }

    /** True for this process, too. */
    static boolean isOurs(long pid) {
        long self = ProcessHandle.current().pid();
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        for (int i = 0; i < GENERATIONS && process.isPresent(); i++) {
            if (process.get().pid() == self) {
                return true;
            }
            process = process.get().parent();
        }
        return false;
    }
}
