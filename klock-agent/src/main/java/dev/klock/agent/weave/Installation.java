package dev.klock.agent.weave;

import dev.klock.agent.cache.UserCache;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Weaves the running JVM and proves it: every row of the table must have matched a method, and the bytes that the JVM was given last,
 * after every other transformer, must hold each call. {@link #gaps()} lists what does not; strict refuses to start unless it is empty.
 */
public final class Installation {
    private final List<String> gaps = new ArrayList<>();
    private final HookTable table;
    private final Instrumentation instrumentation;
    private final Weaver weaver;
    /** Classes that the program may begin without. */
    private final Set<String> later = new HashSet<>();
    private int classes;

    private Installation(HookTable table, Instrumentation instrumentation, Weaver weaver) {
        this.table = table;
        this.instrumentation = instrumentation;
        this.weaver = weaver;
    }

    /**
     * Weaves the classes of {@code table}, before the program begins: a class that is loaded near the end of a thread's stack comes in as it
     * is, since the JVM cannot call any transformer there. A lazy one is woven when it is loaded, and told to {@code losses} if that cannot be
     * done ({@link #unwoven}). Classes of modules that are not in the boot layer have nothing to guard and are left out. What was woven before
     * comes from {@code cache} (null if there is none), and what was not is left there: proven all the same.
     */
    public static Installation install(Instrumentation instrumentation, HookTable table, Losses losses, UserCache cache) {
        KeptClasses kept = KeptClasses.of(cache, table);
        Weaver weaver = new Weaver(table, kept);
        Installation result = new Installation(table, instrumentation, weaver);
        Reader reader = new Reader(table, weaver);
        List<Class<?>> targets = new ArrayList<>();
        Set<Hook> absent = new HashSet<>();
        Set<String> waiting = new HashSet<>();
        for (Map.Entry<String, List<Hook>> entry : table.byClass().entrySet()) {
            String name = entry.getKey().replace('/', '.');
            if (entry.getValue().get(0).atLoad) {
                waiting.add(name);
                continue;
            }
            if (!moduleIsPresent(name)) {
                absent.addAll(entry.getValue());
                continue;
            }
            try {
                targets.add(Class.forName(name, false, null));
            } catch (ClassNotFoundException | LinkageError e) {
                result.gaps.add(name + " does not exist on this JDK");
                absent.addAll(entry.getValue());
            }
        }
        instrumentation.addTransformer(weaver, true);
        // from here on what is loaded is woven; what was loaded before is found here
        Class<?>[] loaded = instrumentation.getAllLoadedClasses();
        for (int i = 0; i < loaded.length; i++) {
            // the name comes last: the JVM makes it at its first use
            if (!loaded[i].isArray() && Weaver.isOfTheJdk(loaded[i].getClassLoader()) && waiting.remove(loaded[i].getName())) {
                targets.add(loaded[i]);
            }
        }
        // registered last, so it is shown what the JVM will use; it changes nothing
        instrumentation.addTransformer(reader, true);
        result.classes = targets.size();
        for (String name : waiting) {
            List<Hook> hooks = table.byClass().get(name.replace('.', '/'));
            if (hooks.get(0).lazy) {
                result.later.add(name);
                absent.addAll(hooks);
            } else if (load(name) != null) {
                result.classes++;
            } else {
                absent.addAll(hooks);
            }
        }
        try {
            instrumentation.retransformClasses(targets.toArray(new Class<?>[0]));
        } catch (UnmodifiableClassException | LinkageError | InternalError e) {
            result.gaps.add("the JVM refused the woven classes: " + e);
        } finally {
            instrumentation.removeTransformer(reader);
        }
        result.gaps.addAll(weaver.failures());
        for (Hook hook : table.hooks()) {
            if (absent.contains(hook)) {
                continue;
            }
            if (!weaver.isWoven(hook)) {
                result.gaps.add("no method matches " + hook);
            } else if (!reader.saw(hook)) {
                result.gaps.add("the hook was lost in " + hook);
            }
        }
        if (kept != null && result.gaps.isEmpty()) {
            kept.save();
        }
        weaver.forgetOutputs(losses);
        return result;
    }

    /**
     * Loads the classes that {@link #install} will weave at once. Called before anything that one start does and another leaves out: the
     * order in which the JVM meets the names of methods then is the same, and so are the bytes it shows the weaver
     * ({@link KeptClasses}).
     */
    public static void load(HookTable table) {
        for (Map.Entry<String, List<Hook>> entry : table.byClass().entrySet()) {
            String name = entry.getKey().replace('/', '.');
            if (!entry.getValue().get(0).atLoad && moduleIsPresent(name)) {
                try {
                    Class.forName(name, false, null);
                } catch (ClassNotFoundException | LinkageError e) {
                    // the installation will name it as a gap
                }
            }
        }
    }

    /** One line for every row that is not in force; empty when all are. */
    public List<String> gaps() {
        return gaps;
    }

    /** How many classes were woven. */
    public int classes() {
        return classes;
    }

    public HookTable table() {
        return table;
    }

    /**
     * One line on a lazy class that is loaded by now and has no hooks, null if there is none: where a thread's stack ends, or no memory is left,
     * the JVM cannot call the weaver. Goes through all classes that are loaded.
     */
    public String unwoven() {
        Class<?>[] loaded = instrumentation.getAllLoadedClasses();
        // null while the JVM goes down
        for (int i = 0; loaded != null && i < loaded.length; i++) {
            Class<?> type = loaded[i];
            if (!type.isArray() && Weaver.isOfTheJdk(type.getClassLoader()) && later.contains(type.getName()) && !weaver.areWoven(type.getName())) {
                return type.getName().concat(" was loaded where no stack or memory was left to put its hooks in");
            }
        }
        return null;
    }

    /**
     * One line on a hook that a class had {@code before} another agent's transformers were shown it and has not {@code after}; null if there
     * is none. Only those that come after the weaver can take one out; bytes that come to it without are given theirs then.
     *
     * @param name internal, null if the class was defined without one
     */
    public String lostIn(ClassLoader loader, String name, byte[] before, byte[] after) {
        List<Hook> hooks = name != null && Weaver.isOfTheJdk(loader) ? table.byClass().get(name) : null;
        return hooks == null ? null : lost(hooks, before, after);
    }

    static String lost(List<Hook> hooks, byte[] before, byte[] after) {
        Set<Hook> left = new HashSet<>();
        FinalCalls.find(after, hooks, left);
        if (left.size() == hooks.size()) {
            return null;
        }
        Set<Hook> had = new HashSet<>();
        FinalCalls.find(before, hooks, had);
        for (Hook hook : hooks) {
            if (had.contains(hook) && !left.contains(hook)) {
                return "another agent took it out of ".concat(hook.toString());
            }
        }
        return null;
    }

    /** Loads a class of the JDK that need not be there, without initialising it; null if it is not there. */
    private static Class<?> load(String className) {
        String module = className.startsWith("sun.tools.attach.") ? "jdk.attach" : className.startsWith("sun.jvm.hotspot.") ? "jdk.hotspot.agent" : null;
        try {
            if (module == null) {
                return Class.forName(className, false, ClassLoader.getPlatformClassLoader());
            }
            Module holder = ModuleLayer.boot().findModule(module).orElse(null);
            return holder == null ? null : Class.forName(holder, className);
        } catch (ClassNotFoundException | LinkageError notHere) {
            return null;
        }
    }

    private static boolean moduleIsPresent(String className) {
        if (className.startsWith("java.util.prefs.")) {
            return ModuleLayer.boot().findModule("java.prefs").isPresent();
        }
        if (className.startsWith("jdk.internal.agent.")) {
            return ModuleLayer.boot().findModule("jdk.management.agent").isPresent();
        }
        return true;
    }

    /** Has the program's listeners ask what {@code notices} gives, as soon as the program has to do with any. Called once. */
    public void listenersAsk(Supplier<Function<Object[], Object>> notices) {
        weaver.listenersAsk(notices);
    }

    /** Whether Flight Recorder's classes are in this JVM. */
    public boolean isRecorderLoaded() {
        return weaver.isRecorderLoaded();
    }

    /**
     * Sees the final bytes and remembers which rows' calls stand in them. Bytes that are the weaver's own need no second parse; whatever
     * another transformer has touched is read.
     */
    private static final class Reader implements ClassFileTransformer {
        private final Map<String, List<Hook>> byClass;
        private final Weaver weaver;
        private final Set<Hook> seen = new HashSet<>();

        Reader(HookTable table, Weaver weaver) {
            byClass = table.byClass();
            this.weaver = weaver;
        }

        synchronized boolean saw(Hook hook) {
            return seen.contains(hook);
        }

        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
            List<Hook> hooks = name != null && Weaver.isOfTheJdk(loader) ? byClass.get(name) : null;
            if (hooks == null) {
                return null;
            }
            if (weaver.returned(name, bytes)) {
                synchronized (this) {
                    for (Hook hook : hooks) {
                        if (weaver.isWoven(hook)) {
                            seen.add(hook);
                        }
                    }
                }
            } else {
                synchronized (this) {
                    FinalCalls.find(bytes, hooks, seen);
                }
            }
            return null;
        }
    }
}
