package sun.nio.fs;

import dev.klock.bridge.Fence;
import dev.klock.bridge.Hooks;
import java.util.function.BiConsumer;

/**
 * Where klock's loader leaves what {@link KlockBridge} needs before that class initialises and makes it final; empty again afterwards.
 * A BiConsumer so that the loader can call it without method handles, whose first use is dear before {@code main}.
 */
public final class KlockPort implements BiConsumer<Hooks, Fence> {
    static Hooks hooks;
    static Fence fence;

    public KlockPort() {
    }

    @Override
    public void accept(Hooks newHooks, Fence newFence) {
        hooks = newHooks;
        fence = newFence;
    }
}
