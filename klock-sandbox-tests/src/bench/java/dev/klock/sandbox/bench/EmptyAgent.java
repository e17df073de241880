package dev.klock.sandbox.bench;

import java.lang.instrument.Instrumentation;

/** An agent that does nothing: what the JVM itself takes for having one. */
public final class EmptyAgent {
    private EmptyAgent() {
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
    }
}
