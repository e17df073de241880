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
        for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
            if (loaded.getName().equals(LAUNCHER)) {
                return true;
            }
        }
        return false;
    }
}
