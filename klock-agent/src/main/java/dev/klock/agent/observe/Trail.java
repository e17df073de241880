package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.kernel.Predicate;

/**
 * Hears of each kind of allowed access once; repeats are counted in the {@link Target}. Called on the program's thread with klock's own
 * I/O exempt; must be quick and must not block.
 */
public interface Trail extends Targets.Retirement {
    /**
     * The first allowed access of this kind to this target.
     *
     * @param decision what {@link Target#decide} answered, for the line that decided
     * @param requested the name as the program gave it, null where it gave none (an open descriptor)
     */
    void first(Target target, Predicate predicate, int decision, String requested);

    /** {@link #first} of a call that {@code hook}, one of the manifest's, has observed. */
    default void firstCall(Target target, Predicate predicate, int decision, String hook) {
        first(target, predicate, decision, null);
    }

    /**
     * A child starts of which more must be said than that it is declared. Called at each start; said once for each program.
     *
     * @param program the executable
     * @param requested its name as the program gave it
     */
    default void unseen(Target program, String requested, Unseen why) {
    }

    /** {@code target} leaves the bounded table: its counts will not be seen again. */
    @Override
    void retired(Target target);
}
