package dev.klock.agent;

import dev.klock.agent.log.Escapes;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** The processes that a session has started, and theirs. Safe for all threads. */
abstract class Children {
    private static final int ROUNDS = 50;
    private static final int NAMED = 3;

    /** Those that descend from this JVM, whichever of its sessions has started them. */
    static Children ofJvm() {
        return new OfJvm();
    }

    /** Those that {@link #started} is told of. */
    static Children ofSession() {
        return new OfSession();
    }

    abstract void started(Process process);

    /** Those that are running. */
    abstract List<ProcessHandle> alive();

    /** Whether any of them is running. */
    abstract boolean any();

    /** The first few of them for a message: number and program; empty if there are none. */
    String named() {
        StringBuilder text = new StringBuilder();
        int count = 0;
        for (ProcessHandle child : alive()) {
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

    /** Ends all of them by force, again until none is left (a child may start another meanwhile) or half a second has passed. */
    void end() {
        for (int round = 0; round < ROUNDS; round++) {
            List<ProcessHandle> alive = alive();
            if (alive.isEmpty()) {
                return;
            }
            for (ProcessHandle child : alive) {
                child.destroyForcibly();
            }
            Guard.pause(10);
        }
    }

    private static final class OfJvm extends Children {
        @Override
        void started(Process process) {
            // the system knows
        }

        @Override
        List<ProcessHandle> alive() {
            return ProcessHandle.current().descendants().filter(ProcessHandle::isAlive).collect(Collectors.toList());
        }

        @Override
        boolean any() {
            return ProcessHandle.current().descendants().anyMatch(ProcessHandle::isAlive);
        }
    }

    private static final class OfSession extends Children {
        /** All that were seen and may be running: who descends from one that is over is found no more by asking the system. */
        private final Set<ProcessHandle> known = new LinkedHashSet<>();

        @Override
        synchronized void started(Process process) {
            known.add(process.toHandle());
        }

        @Override
        synchronized List<ProcessHandle> alive() {
            List<ProcessHandle> alive = new ArrayList<>();
            for (Iterator<ProcessHandle> i = known.iterator(); i.hasNext();) {
                ProcessHandle child = i.next();
                alive.addAll(child.descendants().filter(ProcessHandle::isAlive).collect(Collectors.toList()));
                if (child.isAlive()) {
                    alive.add(child);
                } else {
                    i.remove();
                }
            }
            known.addAll(alive);
            return new ArrayList<>(known);
        }

        @Override
        boolean any() {
            return !alive().isEmpty();
        }
    }
}
