package dev.klock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;

/**
 * One agent's session, with the leases of its manifest. Safe for all threads, platform and virtual; only one thread can wait for leases at
 * a time.
 *
 * <pre>{@code
 * try (KlockSession session = Klock.open(Path.of("klock.yaml"))) {
 *     if (session.retry(Duration.ofSeconds(30)).isGranted()) {
 *         session.run(() -> edit(files));
 *     }
 * }
 * }</pre>
 */
public interface KlockSession extends AutoCloseable {
    /** Where a session is (K5-1). */
    enum State {
        PLANNING,
        ACQUIRING,
        EXECUTING,
        PAUSED,
        VERIFYING,
        COMPLETED,
        ABORTED
    }

    String agentId();

    /** The manifest's, or with a number behind it, shortened to make room if need be, when another session of this JVM has or had that one (C47). */
    String sessionId();

    /**
     * Its age, milliseconds since 1970; smaller is older and goes first (K4-3). The manifest's, else when it was opened (C47), each a
     * millisecond after the one before: up to a second later than it was if many are opened at once.
     */
    long priorityTimestampMs();

    /**
     * Whether klock looks at what is done as this session: the process runs with {@code -javaagent:klock.jar}, and its manifest declares this
     * agent. If not, leases keep agents that ask for them out of each other's way, and nothing keeps anybody inside this manifest.
     */
    boolean isEnforced();

    /**
     * How the session stands with its manifest's leases (K1-1): what came of asking for them the last time. GRANTED is only said while all
     * of them are held; later it is GONE, or the DIE of an {@link #acquire} that took them (C43). Takes the kernel's lock.
     */
    Answer answer();

    /**
     * Asks for the manifest's leases again, as often as needed, with the session's first timestamp and a growing pause (K4-7, K4-13), until
     * they are granted or {@code total} has gone by. Returns {@link #answer} at once if all of them are held. If some are, it asks for all
     * anew (K2-5) and gives those back once it has them; until then they stay (C5), unless it dies (C43). What {@link #acquire} gave is
     * not asked for again.
     *
     * @throws InterruptedException if the thread is interrupted while it waits; nothing is taken then
     */
    Answer retry(Duration total) throws InterruptedException;

    /**
     * Asks for more leases, all or none (K2-5). DIE takes all that the session holds, the manifest's leases, too (C43): {@link #retry} asks
     * for those again.
     *
     * @param wait how long to wait for those who are younger, at most an hour; zero for not at all: PAUSED then, and the session goes on
     *     under what it holds
     * @param intents in the short form of a manifest: {@code MUTATES FILE:/w/a}
     * @throws InterruptedException as for {@link #retry}
     */
    Answer acquire(Duration wait, String... intents) throws InterruptedException;

    /** Gives back what {@code granted} gave. Whether anything of it was still held. */
    boolean release(Answer granted);

    /**
     * Runs {@code work} as this session, with all that it calls, be that a task that somebody else has made or handed in. Looks at {@link #isValid} only;
     * work that needs the manifest's leases and comes after an {@link #acquire} asks {@link #retry} first.
     *
     * @throws IllegalStateException if the session holds no valid lease: it was not granted, has died, or its time ran out (C46)
     */
    default void run(Runnable work) {
        try (Entered entered = enter()) {
            work.run();
        }
    }

    /**
     * Calls {@code work} as this session, as {@link #run} does.
     *
     * @throws Exception what {@code work} throws
     * @throws IllegalStateException as for {@link #run}
     */
    default <T> T call(Callable<T> work) throws Exception {
        try (Entered entered = enter()) {
            return work.call();
        }
    }

    /** {@code work} as this session, whichever thread comes to run it. That throws as {@link #run} does. */
    default Runnable wrap(Runnable work) {
        return () -> run(work);
    }

    /** As {@link #wrap(Runnable)}. */
    default <T> Callable<T> wrap(Callable<T> work) {
        return () -> call(work);
    }

    /**
     * Hands each task to {@code executor}, which runs it as this session, whoever has made it or hands it in. Where the session was ended by then (a
     * violation, {@link #abort}, lost leases), the task runs under klock.jar all the same, and what it would change is denied, so that nobody waits for it in vain.
     * After {@link #close}, and without the agent, it throws as {@link #run} does, so that a {@link java.util.concurrent.CompletableFuture} of it is never
     * complete: close the session when its work is done.
     *
     * @return its {@code execute} throws {@link java.util.concurrent.RejectedExecutionException} where the session is over already ({@link Answer.Verdict#GONE})
     */
    default Executor wrap(Executor executor) {
        return work -> executor.execute(wrap(work));
    }

    /**
     * The threads that it makes work as this session from their beginning to their end: those of a pool run all that it is given as this session, whoever
     * hands it in. One that begins when the session may not work throws as {@link #run} does and ends, and a pool waits for it in vain: make the pool after
     * the session was granted, and shut it down before that is closed.
     */
    default ThreadFactory wrap(ThreadFactory factory) {
        return work -> factory.newThread(wrap(work));
    }

    /** From {@link #enter} on the thread works as the session; that ends with {@link #close}. */
    interface Entered extends AutoCloseable {
        /**
         * The thread works as what it worked as before. Once: later calls do nothing.
         *
         * @throws IllegalStateException on another thread than the one that has entered
         */
        @Override
        void close();
    }

    /**
     * The calling thread works as this session until that is closed; for frameworks that put a context in place and take it away again, others
     * use {@link #run}. Nests.
     *
     * @throws IllegalStateException as for {@link #run}
     */
    Entered enter();

    /**
     * Whether it may act under the leases that it holds now (C46), whichever they are: the manifest's, as long as {@link #answer} is GRANTED,
     * and what {@link #acquire} gave. Costs two reads; ask before each effect in long work.
     */
    boolean isValid();

    /** {@code null} once it was closed for long. */
    State state();

    /**
     * Is told of each lease that ran out or was revoked, on a thread of klock's that does nothing else: it may take its time, and what is told next
     * to this session comes after that. Replaces the one before.
     */
    void onLeaseLost(Consumer<String> listener);

    /** Is told what others may have changed before the session goes on after a pause (K5-10), as above. Replaces the one before. */
    void onObservationUpdate(Consumer<List<String>> listener);

    /**
     * What was done or tried as this session outside of its manifest, also in modes that only warn: for each klock's message, as it stands on stderr, each
     * once, in their order, at most a hundred. Waits for those that are being told of right now; once the session is closed there are all, also what was found
     * out about the processes that it had started. Empty where nothing is enforced.
     */
    List<String> violations();

    /** The session has failed: its leases go, and it does not come back. */
    void abort(String reason);

    /** Ends the session well, if it has not failed: its leases go. */
    @Override
    void close();
}
