package dev.klock.agent;

import java.lang.instrument.Instrumentation;
import java.util.function.BooleanSupplier;

/**
 * Whether the JVM has got as far as the program: the launcher's own class is loaded after all agents and whatever else the VM starts. Where
 * another program has made the JVM, it never is. Asked only when a session ends early.
 */
final class ProgramBegun implements BooleanSupplier {
    private static final String LAUNCHER = "sun.launcher.LauncherHelper";

    private final Instrumentation instrumentation;

    ProgramBegun(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    @Override
    public boolean getAsBoolean() {
        Class<?>[] loaded = instrumentation.getAllLoadedClasses();
        for (int i = 0; loaded != null && i < loaded.length; i++) {
            if (loaded[i].getName().equals(LAUNCHER)) {
                return true;
            }
        }
        // null while the JVM goes down
        return loaded == null;
    }
}
