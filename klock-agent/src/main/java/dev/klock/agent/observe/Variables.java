package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.kernel.Predicate;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Judges the environment (C49, F13). A variable's value is judged where it reaches the program, by whatever door: {@code getenv(name)},
 * a look into the map of {@code getenv()} or of {@code ProcessBuilder.environment()}, an entry of either. Names are no secret: listing
 * them is free, and what is not set answers as always.
 *
 * <p>A child gets the environment that the program gives it; that is not reading. What it gets without being declared is recorded once
 * a name. A variable by which a loader or a VM takes in code, set to something new for a child, is MUTATES of that variable (E09).
 *
 * <p>Thread-safe.
 */
final class Variables {
    private static final int CONSUMES = Predicate.CONSUMES.ordinal();
    private static final int MUTATES = Predicate.MUTATES.ordinal();

    private static final String[] LOADERS = {"LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
        "_JAVA_OPTIONS", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH", "PERL5OPT", "PERL5LIB", "RUBYOPT", "BASH_ENV", "ENV", "GIT_SSH_COMMAND"};

    private final Targets targets;
    private final Judge judge;
    private final Trail trail;
    /** By name; only variables that are set, so no more than those. */
    private final ConcurrentHashMap<String, Target> met = new ConcurrentHashMap<>();

    Variables(Targets targets, Judge judge, Trail trail) {
        this.targets = targets;
        this.judge = judge;
        this.trail = trail;
    }

    /** {@code name} null: all that are set. */
    void read(Work work, int op, String name) {
        Target known = name == null ? null : met.get(name);
        if (known != null) {
            judge.access(work, op, known, CONSUMES, null, null);
            return;
        }
        Map<String, String> own = System.getenv();
        if (name != null) {
            // an entry that the program itself put into a child's environment tells it nothing
            if (own.containsKey(name)) {
                Target target = targets.other("ENV", name);
                met.put(name, target);
                judge.access(work, op, target, CONSUMES, null, null);
            }
            return;
        }
        for (Iterator<String> i = own.keySet().iterator(); i.hasNext();) {
            judge.access(work, op, targets.other("ENV", i.next()), CONSUMES, null, null);
        }
    }

    /** {@code block}: what a child gets, NAME=value and a NUL each, as chars; null if it inherits all. */
    void pass(Work work, String block) {
        Map<String, String> own = System.getenv();
        if (block == null) {
            for (Iterator<String> i = own.keySet().iterator(); i.hasNext();) {
                passed(i.next());
            }
            return;
        }
        int from = 0;
        while (from < block.length()) {
            int end = block.indexOf('\0', from);
            end = end < 0 ? block.length() : end;
            int equals = block.indexOf('=', from);
            if (equals > from && equals < end) {
                String name = block.substring(from, equals);
                if (own.containsKey(name)) {
                    passed(name);
                }
                if (loads(name) && !block.substring(equals + 1, end).equals(own.get(name))) {
                    judge.access(work, Op.SET_VARIABLE.code(), targets.other("ENV", name), MUTATES, null, null);
                }
            }
            from = end + 1;
        }
    }

    private void passed(String name) {
        Target target = targets.other("ENV", name);
        if ((target.allowed() & 1 << CONSUMES) == 0 && target.counted(Predicate.DEPENDS_ON.ordinal())) {
            trail.first(target, Predicate.DEPENDS_ON, Target.PASSED, null);
        }
    }

    private static boolean loads(String name) {
        for (int i = 0; i < LOADERS.length; i++) {
            if (LOADERS[i].equals(name)) {
                return true;
            }
        }
        return false;
    }
}
