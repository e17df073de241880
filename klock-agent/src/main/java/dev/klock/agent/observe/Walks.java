package dev.klock.agent.observe;

import java.util.function.Function;
import java.util.stream.Stream;

/** Walks over stacks that may have no room left: the JDK wraps what comes of that in an {@link InternalError}, which no program expects. */
public final class Walks {
    private Walks() {
    }

    /**
     * {@link StackWalker#walk}.
     *
     * @throws StackOverflowError no stack is left, however the JDK says it
     */
    public static <T> T walk(StackWalker walker, Function<Stream<StackWalker.StackFrame>, T> look) {
        try {
            return walker.walk(look);
        } catch (InternalError e) {
            throw plain(e);
        }
    }

    private static Error plain(InternalError wrapped) {
        for (Throwable cause = wrapped.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof StackOverflowError || cause instanceof OutOfMemoryError) {
                return (Error) cause;
            }
        }
        return wrapped;
    }
}
