package dev.klock.bridge;

import java.util.function.Function;

/**
 * Where {@code klock-kernel} on a program's own path asks the agent for what listeners are to be told, by name, as {@link Sessions}: only types of the JDK
 * cross, and no object of klock's; not even the listener, which is called by a thread of the asker's.
 */
public final class Listeners {
    private static Function<Object[], Object> notices;

    private Listeners() {
    }

    /** Called by klock before the program begins; later calls change nothing. */
    public static synchronized void connect(Function<Object[], Object> newNotices) {
        if (notices == null) {
            notices = newNotices;
        }
    }

    /** Carries out {@code request}, which begins with the name of what is asked for. */
    public static Object call(Object[] request) {
        return notices.apply(request);
    }
}
