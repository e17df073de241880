package sun.nio.fs;

import dev.klock.bridge.Fence;
import dev.klock.bridge.Hooks;

/**
 * Where klock's loader leaves what {@link KlockBridge} needs before that class initialises and makes it final; empty again afterwards.
 */
final class KlockPort {
    static Hooks hooks;
    static Fence fence;

    private KlockPort() {
    }
}
