package dev.klock.agent.library;

import dev.klock.agent.config.UsageException;
import dev.klock.agent.observe.Subjects;
import dev.klock.agent.weave.Bridge;
import dev.klock.agent.weave.Losses;
import dev.klock.manifest.LibraryHook;
import dev.klock.manifest.Manifest;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The hooks of one manifest, from the start of the JVM to its end. */
public final class LibraryHooks {
    /** What woven methods call. */
    private static final Set<String> CALLS = Set.of("java/lang/KlockCalls");

    private final Hook[] hooks;
    private final LibraryWeaver weaver;

    private LibraryHooks(Hook[] hooks, LibraryWeaver weaver) {
        this.hooks = hooks;
        this.weaver = weaver;
    }

    /**
     * Weaves what the hooks of {@code manifest} match: what is loaded from now on when it is loaded, and what other agents have loaded before
     * at once. Called on the premain thread, which has entered klock, once {@code Bridge} is connected.
     *
     * @throws UsageException a hook can never match anything
     */
    public static LibraryHooks install(Instrumentation instrumentation, Manifest manifest, Subjects subjects, Losses losses)
            throws UsageException, ReflectiveOperationException, java.io.IOException {
        requireMatchable(manifest);
        Bridge.defineCalls();
        List<HookedMethod> sites = new ArrayList<>();
        List<LibraryHook> declared = manifest.hooks();
        List<Hook> made = new ArrayList<>();
        for (int i = 0; i < declared.size(); i++) {
            LibraryHook one = declared.get(i);
            if (one.preset() == null) {
                made.add(new UserHook(one, made.size()));
            } else {
                made.add(new JdbcHook(one, made.size(), manifest.deny()));
                made.add(new SqliteHook(one, made.size()));
            }
        }
        Hook[] hooks = made.toArray(new Hook[0]);
        for (int i = 0; i < hooks.length; i++) {
            hooks[i].addTo(sites);
        }
        HookedMethod[] all = sites.toArray(new HookedMethod[0]);
        Bridge.connectCalls(new CallJudge(subjects, all, hooks.length));
        return new LibraryHooks(hooks, LibraryWeaver.install(instrumentation, all, manifest.file(), losses, subjects));
    }

    /** One line on a class that has no hooks although it should; null if there is none. */
    public String failure() {
        return weaver.failure();
    }

    /** One line for each hook that was of no use. */
    public List<String> unused() {
        List<String> unused = new ArrayList<>();
        for (int i = 0; i < hooks.length; i++) {
            String line = hooks[i].unused();
            if (line != null) {
                unused.add(line);
            }
        }
        return unused;
    }

    /**
     * One line on a class that called klock {@code before} another agent's transformers were shown it and does not {@code after}; null for any
     * other. {@code name} is internal, null if the class was defined without one.
     */
    public String lostIn(String name, byte[] before, byte[] after) {
        boolean lost = ConstantNames.hasOneOf(before, CALLS) && !ConstantNames.hasOneOf(after, CALLS);
        return lost ? "another agent took it out of ".concat(name == null ? "a class without a name" : name.replace('/', '.')) : null;
    }

    /**
     * Classes of the JDK are not woven here: of its types only those are of use that a library can extend.
     *
     * @throws UsageException a hook names another one
     */
    public static void requireMatchable(Manifest manifest) throws UsageException {
        for (LibraryHook hook : manifest.hooks()) {
            requireMatchable(manifest.file(), hook);
        }
    }

    private static void requireMatchable(String file, LibraryHook hook) throws UsageException {
        String type = hook.type();
        if (type == null || !type.startsWith("java.") && !type.startsWith("javax.") && !type.startsWith("jdk.") && !type.startsWith("sun.")) {
            return;
        }
        try {
            Class<?> found = Class.forName(type, false, ClassLoader.getPlatformClassLoader());
            if (Modifier.isFinal(found.getModifiers())) {
                throw new UsageException(file + ":" + hook.line() + ":" + hook.column() + ": " + type + " is a final class of the JDK, where hooks do not reach"
                        + "; name a type of a library, or one that libraries extend");
            }
        } catch (ClassNotFoundException e) {
            // javax. is no longer the JDK's alone
        }
    }
}
