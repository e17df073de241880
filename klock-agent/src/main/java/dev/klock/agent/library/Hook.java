package dev.klock.agent.library;

import dev.klock.manifest.LibraryHook;
import java.util.List;

/** One hook of the manifest at work. */
abstract class Hook {
    /** What the manifest says. */
    final LibraryHook declared;
    /** Its place among the hooks. */
    final int index;
    private volatile boolean loaded;
    private volatile boolean called;

    Hook(LibraryHook declared, int index) {
        this.declared = declared;
        this.index = index;
    }

    /** Adds the methods that it hooks. */
    abstract void addTo(List<HookedMethod> sites);

    /** Whether a call of {@code site} is one that the hook is there for. */
    boolean counts(HookedMethod site) {
        return true;
    }

    /**
     * Judges a call: for each thing that it means, {@link Calling#access}. Runs as the program's own code does: what it calls of the
     * program is judged.
     */
    abstract void judge(HookedMethod site, String type, String method, Object self, Object[] arguments, Calling calling);

    /** The hooked type, or one that may be of it, has been loaded. */
    final void loaded() {
        if (!loaded) {
            loaded = true;
        }
    }

    final void called() {
        if (!called) {
            called = true;
        }
    }

    /** What to tell of it at the end, if it was of no use; null if it was. */
    final String unused() {
        if (called) {
            return null;
        }
        return "hook " + declared.name() + " (line " + declared.line() + ") was never used: "
                + (loaded ? "no call of " + declared + " was made" : "no class that " + declared + " could match was loaded");
    }
}
