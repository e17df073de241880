package dev.klock.bridge;

import java.util.function.Function;

/**
 * Where {@code klock-kernel} on a program's own path asks the agent for sessions, by name, since it may be of another version and of any class
 * loader: only types of the JDK cross, and no object of klock's. Defined into the boot loader where a manifest declares agents.
 */
public final class Sessions {
    private static Function<Object[], Object> sessions;

    private Sessions() {
    }

    /** Called by klock before the program begins; later calls change nothing. */
    public static synchronized void connect(Function<Object[], Object> newSessions) {
        if (sessions == null) {
            sessions = newSessions;
        }
    }

    /** Carries out {@code request}, which begins with the name of what is asked for. */
    public static Object call(Object[] request) {
        return sessions.apply(request);
    }
}
