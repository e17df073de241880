package dev.klock.agent.weave;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What the weaver makes of classes that are only read: nothing is loaded, defined or changed. Used by one thread. */
public final class WovenImage {
    /** Internal name of the class that woven code calls. */
    public static final String BRIDGE = Weaver.BRIDGE;

    private final HookTable table;
    private final Set<Hook> woven = new HashSet<>();
    private final List<String> failures = new ArrayList<>();

    /** For the rows of {@code table}. */
    public WovenImage(HookTable table) {
        this.table = table;
    }

    /** The woven bytes of the class; {@code bytes} themselves if it has no row, or cannot be woven ({@link #failures}). */
    public byte[] weave(String className, byte[] bytes) {
        List<Hook> hooks = table.hooksOf(className);
        if (hooks == null) {
            return bytes;
        }
        try {
            List<Hook> done = new ArrayList<>(hooks.size());
            byte[] output = Inserter.weave(bytes, hooks, done);
            woven.addAll(done);
            return output;
        } catch (RuntimeException e) {
            failures.add(className.replace('/', '.') + ": " + e);
            return bytes;
        }
    }

    /** Whether a method that matches {@code hook} has been woven. */
    public boolean isWoven(Hook hook) {
        return woven.contains(hook);
    }

    /** One line for each class that could not be woven. */
    public List<String> failures() {
        return failures;
    }
}
