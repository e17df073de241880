package dev.klock.agent;

import dev.klock.agent.log.Escapes;
import java.util.List;
import java.util.stream.Collectors;

/** The processes that this JVM has started, and theirs. */
final class Children {
    private static final int ROUNDS = 50;
    private static final int NAMED = 3;

    private Children() {
    }

    /** Whether any process that this JVM started, or one of theirs, is running. */
    static boolean any() {
        return ProcessHandle.current().descendants().anyMatch(ProcessHandle::isAlive);
    }

    /** The first few of them for a message: number and program; empty if there are none. */
    static String named() {
        StringBuilder text = new StringBuilder();
        int count = 0;
        for (ProcessHandle child : ProcessHandle.current().descendants().filter(ProcessHandle::isAlive).collect(Collectors.toList())) {
            if (count++ == NAMED) {
                return text.append(" and others").toString();
            }
            text.append(count == 1 ? "" : ", ").append("process ").append(child.pid());
            String program = child.info().command().orElse(null);
            if (program != null) {
                text.append(" (").append(Escapes.line(program)).append(')');
            }
        }
        return text.toString();
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
