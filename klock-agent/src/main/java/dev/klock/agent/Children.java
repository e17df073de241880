package dev.klock.agent;

import java.util.List;
import java.util.stream.Collectors;

/** The processes that this JVM has started, and theirs. */
final class Children {
    private static final int ROUNDS = 50;

    private Children() {
    }

    /** Whether any process that this JVM started, or one of theirs, is running. */
    static boolean any() {
        return ProcessHandle.current().descendants().anyMatch(ProcessHandle::isAlive);
    }

    /** Ends all descendants by force, again until none is left (a child may start another meanwhile) or half a second has passed. */
    static void end() {
        for (int round = 0; round < ROUNDS; round++) {
            List<ProcessHandle> alive = ProcessHandle.current().descendants().filter(ProcessHandle::isAlive).collect(Collectors.toList());
            if (alive.isEmpty()) {
                return;
            }
            for (ProcessHandle child : alive) {
                child.destroyForcibly();
            }
            Guard.pause(10);
        }
    }
}
