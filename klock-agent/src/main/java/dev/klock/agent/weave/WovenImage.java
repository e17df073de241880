package dev.klock.agent.weave;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** What the weaver makes of classes that are only read: nothing is loaded, defined or changed. Used by one thread. */
public final class WovenImage {
    /** Internal name of the class that woven code calls. */
    public static final String BRIDGE = Weaver.BRIDGE;

    private final HookTable table;
    private final Weaver weaver;
    private final List<String> failures = new ArrayList<>();

    /** For the rows of {@code table}. @throws IOException if klock.jar cannot be read */
    public WovenImage(HookTable table) throws IOException {
        Bridge.readDescriptors();
        this.table = table;
        weaver = new Weaver(table);
    }

    /** The woven bytes of the class; {@code bytes} themselves if it has no row, or cannot be woven ({@link #failures}). */
    public byte[] weave(String className, byte[] bytes) {
        List<Hook> hooks = table.hooksOf(className);
        if (hooks == null) {
            return bytes;
        }
        try {
            return weaver.weave(bytes, hooks);
        } catch (RuntimeException e) {
            failures.add(className.replace('/', '.') + ": " + e);
            return bytes;
        }
    }

    /** Whether a method that matches {@code hook} has been woven. */
    public boolean isWoven(Hook hook) {
        return weaver.isWoven(hook);
    }

    /** One line for each class that could not be woven. */
    public List<String> failures() {
        return failures;
    }
}
