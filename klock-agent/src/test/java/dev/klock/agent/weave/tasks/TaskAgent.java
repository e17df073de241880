package dev.klock.agent.weave.tasks;

import dev.klock.agent.weave.Propagation;
import dev.klock.agent.weave.SharedTypes;
import java.lang.instrument.Instrumentation;

/** Does what klock does for several agents in one JVM, and nothing else of klock. The argument {@code off}: nothing at all. */
public final class TaskAgent {
    private TaskAgent() {
    }

    public static void premain(String argument, Instrumentation instrumentation) throws Exception {
        if ("off".equals(argument)) {
            return;
        }
        SharedTypes.define(instrumentation);
        long begun = System.nanoTime();
        Propagation.define();
        Installed.install(instrumentation);
        Installed.micros = (System.nanoTime() - begun) / 1000;
    }

    /** Mentions the type that is defined above. */
    static final class Installed {
        static Instrumentation instrumentation;
        static Propagation propagation;
        static long micros;

        private Installed() {
        }

        static void install(Instrumentation given) throws Exception {
            instrumentation = given;
            propagation = Propagation.install(given, Subjects.INSTANCE);
        }
    }
}
