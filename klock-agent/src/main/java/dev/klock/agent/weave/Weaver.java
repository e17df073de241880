package dev.klock.agent.weave;

import dev.klock.agent.log.Stderr;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Shown every class that the JVM loads or changes; gives those that have rows in the hook table their hooks: by the {@link Inserter}, or,
 * where an earlier start has done that with the very same bytes, from what was {@linkplain KeptClasses kept} of it. Runs on the premain
 * thread and, for classes loaded later, on the loading thread.
 *
 * <p>It stays registered: a second agent that redefines or retransforms a hooked class gets the hooks again (FIELD C07). What the
 * transformers of agents that come after it make of its bytes, it is not shown: that the hooks are still there is looked at where the JVM
 * is given what each agent made ({@link Installation#lostIn}).
 *
 * <p>Nothing of ASM is mentioned here: a start that finds everything kept loads none of it.
 */
final class Weaver implements ClassFileTransformer {
    static final String BRIDGE = "sun/nio/fs/KlockBridge";

    private static final ClassLoader PLATFORM = ClassLoader.getPlatformClassLoader();
    private static final ClassLoader SYSTEM = ClassLoader.getSystemClassLoader();

    /** Of the API, on the program's path: who listens has loaded it. */
    private static final String LISTENER = "dev/klock/KlockListener";
    /** A hooked class that Flight Recorder needs for every event. */
    private static final String RECORDER = "jdk/jfr/internal/PlatformEventType";

    private final Map<String, List<Hook>> table;
    /** Rows that were inserted; guarded by this. */
    private final Set<Hook> woven = new HashSet<>();
    /** What was returned last for each class, until {@link #forgetOutputs}; guarded by this. */
    private final Map<String, byte[]> outputs = new HashMap<>();
    /** What went wrong, per class; guarded by this. */
    private final List<String> failures = new ArrayList<>();
    private boolean remember = true;
    /** Null until the installation has been checked; guarded by this. */
    private Losses losses;

    private final KeptClasses kept;
    /** Null where it is connected, or not known yet; guarded by this. */
    private Supplier<Function<Object[], Object>> notices;
    /** The program, or who started it, has something to do with Flight Recorder. */
    private volatile boolean recorderLoaded;

    /** @param kept null if nothing was kept and nothing is to be */
    Weaver(HookTable table, KeptClasses kept) {
        this.table = table.byClass();
        this.kept = kept;
    }

    @Override
    public byte[] transform(ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain, byte[] bytes) {
        if (name != null && name.equals(LISTENER)) {
            connectListeners();
        }
        if (name == null || !isOfTheJdk(loader)) {
            return null;
        }
        List<Hook> hooks = table.get(name);
        if (hooks == null) {
            return null;
        }
        if (name.equals(RECORDER)) {
            recorderLoaded = true;
        }
        Losses told;
        String lost;
        try {
            byte[] output;
            synchronized (this) {
                output = remember && kept != null ? kept.woven(name, bytes, hooks, woven) : null;
            }
            List<Hook> done = null;
            if (output == null) {
                done = new ArrayList<>(hooks.size());
                output = Inserter.weave(bytes, hooks, done);
            }
            synchronized (this) {
                if (done != null) {
                    woven.addAll(done);
                }
                if (remember) {
                    outputs.put(name, output);
                    if (done != null && kept != null && done.containsAll(hooks)) {
                        kept.add(name, bytes, output);
                    }
                }
                told = losses;
            }
            lost = told == null ? null : missing(hooks);
            if (lost != null) {
                told.lost(lost);
            }
            return output;
        } catch (Throwable e) {
            lost = name.replace('/', '.') + ": " + e;
            synchronized (this) {
                failures.add(lost);
                told = losses;
            }
            if (told != null) {
                told.lost(lost);
            }
            return null;
        }
    }

    /**
     * Whether classes of the JDK may come from {@code loader}: the boot loader, or the two that hold the JDK's other modules. A class of
     * the program cannot stand in the place of one that a module of the JDK holds.
     */
    static boolean isOfTheJdk(ClassLoader loader) {
        return loader == null || loader == PLATFORM || loader == SYSTEM;
    }

    /** Whether the class of this name has, or had when it was shown last, all its hooks. */
    boolean areWoven(String className) {
        return missing(table.get(className.replace('.', '/'))) == null;
    }

    private synchronized String missing(List<Hook> hooks) {
        for (Hook hook : hooks) {
            if (!woven.contains(hook)) {
                return "no method matches " + hook;
            }
        }
        return null;
    }

    /** Whether {@code bytes} are what this weaver returned last for the class {@code name}. */
    synchronized boolean returned(String name, byte[] bytes) {
        return Arrays.equals(outputs.get(name), bytes);
    }

    /** The installation has been checked: from now on outputs are not kept, and who must know of a class that cannot be woven is told. */
    synchronized void forgetOutputs(Losses newLosses) {
        losses = newLosses;
        remember = false;
        outputs.clear();
        if (kept != null) {
            kept.forget();
        }
    }

    synchronized void listenersAsk(Supplier<Function<Object[], Object>> newNotices) {
        notices = newNotices;
    }

    /** Now, and not at every start, of which most have no use for it. */
    private void connectListeners() {
        Supplier<Function<Object[], Object>> connected;
        synchronized (this) {
            connected = notices;
            notices = null;
        }
        if (connected != null) {
            try {
                Bridge.connectListeners(connected.get());
            } catch (IOException e) {
                Stderr.error("listeners cannot be told: ".concat(e.getMessage()));
            }
        }
    }

    /** Whether Flight Recorder's classes are in this JVM; without it, they are not asked for. */
    boolean isRecorderLoaded() {
        return recorderLoaded;
    }

    synchronized boolean isWoven(Hook hook) {
        return woven.contains(hook);
    }

    synchronized List<String> failures() {
        return new ArrayList<>(failures);
    }
}
