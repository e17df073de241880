package dev.klock.boot;

import java.lang.instrument.Instrumentation;

/** Entry of {@code -javaagent:klock.jar}. */
public final class Premain {
    private Premain() {
    }

    public static void premain(String arguments, Instrumentation instrumentation) {
    }
}
