package dev.klock.agent;

import dev.klock.agent.observe.Walks;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Looks whether a class is being initialised on this thread. An error that leaves its initialiser makes it unusable until the JVM ends, and
 * with it whatever needs it: nothing that a program could go on with.
 */
final class Initialisers implements Function<Stream<StackWalker.StackFrame>, String> {
    private Initialisers() {
    }

    /** The name of the class, the innermost if there are several; null if there is none. */
    static String running() {
        return Walks.walk(StackWalker.getInstance(), new Initialisers());
    }

    @Override
    public String apply(Stream<StackWalker.StackFrame> frames) {
        for (var i = frames.iterator(); i.hasNext();) {
            StackWalker.StackFrame frame = i.next();
            if (frame.getMethodName().equals("<clinit>")) {
                return frame.getClassName();
            }
        }
        return null;
    }
}
