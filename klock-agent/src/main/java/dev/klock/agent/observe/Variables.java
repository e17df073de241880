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

    /** Names, or with {@code _} at the end all that begin so. */
    private static final String[] LOADERS = {"LD_", "GCONV_PATH", "LOCPATH", "GLIBC_TUNABLES", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
        "_JAVA_OPTIONS", "JDK_JAVAC_OPTIONS", "CLASSPATH", "MAVEN_OPTS", "MAVEN_ARGS", "GRADLE_OPTS", "NODE_OPTIONS", "NODE_PATH",
        "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONINSPECT", "PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "RUBYOPT",
        "RUBYLIB", "PHPRC", "PHP_INI_SCAN_DIR", "LUA_INIT", "BASH_ENV", "BASH_FUNC_", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "LESSOPEN", "LESSCLOSE",
        "MAKEFLAGS", "MAKEFILES", "RUSTC_WRAPPER", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_TEMPLATE_DIR", "GIT_CONFIG_", "GIT_CONFIG",
        "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "SSH_ASKPASS"};

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

    /**
     * Whether the old value of a variable that is set anew or removed is kept from the program: it is not asked for, so what takes a secret
     * out of a child's environment is no violation; but it must not tell it.
     */
    boolean keeps(String name, String value) {
        return value.equals(System.getenv(name)) && !isDeclared(targets.other("ENV", name));
    }

    /** Whether the program may read each variable that is set. */
    boolean isAllDeclared() {
        for (Iterator<String> i = System.getenv().keySet().iterator(); i.hasNext();) {
            if (!isDeclared(targets.other("ENV", i.next()))) {
                return false;
            }
        }
        return true;
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

    private static boolean isDeclared(Target variable) {
        return (variable.allowed() & 1 << CONSUMES) != 0;
    }

    private void passed(String name) {
        Target target = targets.other("ENV", name);
        if (!isDeclared(target) && target.counted(Predicate.DEPENDS_ON.ordinal())) {
            trail.first(target, Predicate.DEPENDS_ON, Target.PASSED, null);
        }
    }

    private static boolean loads(String name) {
        for (int i = 0; i < LOADERS.length; i++) {
            String row = LOADERS[i];
            if (row.equals(name) || row.endsWith("_") && name.startsWith(row)) {
                return true;
            }
        }
        return false;
    }
}
