package dev.klock.bridge;

/**
 * What woven methods of the JDK's executors, futures, timers and threads tell, by way of {@code sun.nio.fs.KlockTasks}, so that work is done for
 * who submitted it. Defined into the boot loader only where one JVM serves several agents; it has no state.
 *
 * <p>Tasks are known by identity and stay what the program made them. Two kinds: most (a FutureTask, a ForkJoinTask, a TimerTask, a thread) are
 * submitted once each, and known by themselves alone; but a plain Runnable that is given to a pool may be given again, by others, and to other
 * pools, while it waits: it is known by itself and the pool, and as often as it waits there.
 *
 * <p>What somebody has said explicitly holds against who submitted: where a session is entered, and what is done there calls a task (its {@code run}, or
 * what a pool's worker does), that is done for the session, whoever has made or submitted it. A task comes uncalled where a thread runs it because it
 * completes what the task has waited for, or helps a fork-join pool: such a one is always for whom it was submitted, and so is what it calls.
 *
 * <p>Called from inside {@code LockSupport.unpark}, class initialisers and the like, maybe near the end of a stack: nothing here may throw, park,
 * take a lock or call what the program may override, but for {@link #queued} and {@link #enterQueued}, which come where a pool looks into its queue
 * itself. On a carrier of virtual threads nothing is ever called.
 */
public interface Tasks {
    /** The calling thread has made or scheduled {@code task}, or is about to start this thread; only the first time counts. */
    void submitted(Object task);

    /**
     * The calling thread begins to run {@code task}, which is called, until {@link #leave}: for whom it works if that was said, else for whom it was
     * submitted, or for nobody if that is not known. Whatever this takes must be taken before anything changes: if it throws, {@link #leave} is not called.
     */
    void enter(Object task);

    /** As {@link #enter} for a {@code task} that comes uncalled, unless it is the one of the {@link #enterCalled} just before. */
    void enterUncalled(Object task);

    /** {@code task} is called, and will {@link #enterUncalled}, until {@link #leave}; as {@link #enter} if it throws. */
    void enterCalled(Object task);

    /** A task comes uncalled, and will {@link #enter}, until {@link #leave}; as {@link #enter} if it throws. */
    void uncalled();

    /** Undoes one of {@link #enter}, {@link #enterUncalled}, {@link #enterCalled}, {@link #uncalled} and {@link #enterQueued}. */
    void leave();

    /** {@code task} is done and will not be run again, until it is submitted again. */
    void over(Object task);

    /** The calling thread is about to give {@code task} to {@code executor}. */
    void queued(Object task, Object executor);

    /** As {@link #enter} for a {@code task} that {@code executor} was given, whichever of those it was given first. */
    void enterQueued(Object task, Object executor);

    /** The first of the times that {@code executor} was given {@code task} and has not run it, it will not. */
    void unqueued(Object task, Object executor);

    /** {@code executor} has refused {@code task}, which the calling thread gave it last; if not {@code surely}, it may run it all the same. */
    void refused(Object task, Object executor, boolean surely);

    /** The thread {@code thread}, about to be started, works for whoever gives it work, and for nobody meanwhile. */
    void worker(Object thread);
}
