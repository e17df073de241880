package dev.klock.agent.library;

import dev.klock.agent.decide.Target;
import dev.klock.agent.observe.Subjects;
import dev.klock.agent.observe.Walks;
import dev.klock.kernel.Predicate;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** One call that is being judged, and then is under way: until it ends, calls of the same hook on its thread are its own doing. */
final class Calling implements Function<Stream<StackWalker.StackFrame>, Integer> {
    final Hook hook;
    private final Subjects subjects;
    private final String type;
    private final String method;
    private List<Target> made;

    Calling(Hook hook, Subjects subjects, String type, String method) {
        this.hook = hook;
        this.subjects = subjects;
        this.type = type;
        this.method = method;
    }

    /** Lets the call go on if {@code predicate} may be done to the resource; else throws, if the mode says so. */
    void access(Predicate predicate, String scheme, String path) {
        subjects.called(hook.declared.name(), predicate, scheme, path, null);
    }

    /**
     * The same for a part of something larger, whose own line covers it.
     *
     * @param makes the call brings it into being, if it succeeds
     */
    void access(Predicate predicate, String scheme, String path, String whole, boolean makes) {
        Target target = subjects.called(hook.declared.name(), predicate, scheme, path, whole);
        if (makes && target != null) {
            if (made == null) {
                made = new ArrayList<>();
            }
            made.add(target);
        }
    }

    /** The call leads to native code that opens a file: judged as if the program did. Gives its real name, null if that is not known. */
    String opens(String file, boolean writes, String... beside) {
        return subjects.openedUnseen(file, writes, beside);
    }

    /** Throws if the session is over; for calls that were judged before. */
    void goesOn() {
        subjects.calledAgain(hook.declared.name());
    }

    void succeeded() {
        if (made != null) {
            subjects.made(made);
        }
    }

    /**
     * Whether it is still under way: its frame stands on the stack. A call whose end could not be noted (no stack was left) must not make
     * later ones its own. {@code nextType}, {@code nextMethod}: the call that has just begun.
     */
    boolean isUnderWay(String nextType, String nextMethod) {
        boolean same = nextType.equals(type) && nextMethod.equals(method);
        return Walks.walk(StackWalker.getInstance(), this) > (same ? 1 : 0);
    }

    /** How many of {@code frames} are its. */
    @Override
    public Integer apply(Stream<StackWalker.StackFrame> frames) {
        int count = 0;
        for (Iterator<StackWalker.StackFrame> i = frames.iterator(); i.hasNext();) {
            StackWalker.StackFrame frame = i.next();
            if (frame.getMethodName().equals(method) && frame.getClassName().equals(type)) {
                count++;
            }
        }
        return count;
    }
}
