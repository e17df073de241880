package dev.klock.agent;

import dev.klock.agent.weave.SharedTypes;
import java.io.File;
import java.lang.instrument.Instrumentation;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Where the entry class reaches klock's loader: on initialisation it leaves an instance with its loader, which hands it over. Without
 * reflection, for the reason that {@code weave.JavaBase} tells.
 */
final class Entrance implements Function<Object[], Throwable> {
    static {
        @SuppressWarnings("unchecked")
        Consumer<Object> loader = (Consumer<Object>) Entrance.class.getClassLoader();
        loader.accept(new Entrance());
    }

    private static boolean started;

    private Entrance() {
    }

    /** Starts klock with the agent argument, klock.jar and the Instrumentation; gives what it failed with, null if it did not. */
    @Override
    public Throwable apply(Object[] launch) {
        try {
            if (started) {
                // somebody has made an instance by means of serialization, or Unsafe
                return new IllegalStateException("klock has been started");
            }
            started = true;
            Instrumentation instrumentation = (Instrumentation) launch[2];
            SharedTypes.link();
            Agent.start((String) launch[0], (File) launch[1], instrumentation);
            return null;
        } catch (Throwable e) {
            return e;
        }
    }
}
