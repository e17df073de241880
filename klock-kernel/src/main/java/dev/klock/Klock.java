package dev.klock;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Opens sessions. Loads nothing of klock but this package until then. Safe for all threads.
 *
 * <p>All sessions of a JVM share one kernel, which starts one daemon thread with the first of them. With {@code -javaagent:klock.jar}, whose
 * manifest declares their agents, each is held to its own scope; else nothing is enforced for them ({@link KlockSession#isEnforced}), and one line
 * on stderr says so, unless {@code -Dklock.log.level=error} is set.
 */
public final class Klock {
    /** Waits this long for the manifest's leases unless told otherwise. */
    public static final Duration DEFAULT_WAIT = Duration.ofSeconds(30);

    private static final String LOCAL = "dev.klock.local.LocalSessions";

    /** What makes sessions; implemented outside this package, which must not know by whom. */
    public interface Provider {
        /** As {@link Klock#open(Path, String, Duration)}. */
        KlockSession open(Path manifest, String agent, Duration wait) throws KlockException, InterruptedException;

        /** As {@link Klock#current}. */
        KlockSession current();

        /** The session that the calling thread works for, even if the program has let go of it; null for the process. */
        Subject subject();

        /** The process, as {@link #subject} would have it. */
        Subject process();

        /** What {@link Klock#onObservationUpdate} tells; empty if nothing is known. */
        List<String> observationUpdate() throws KlockException;

        /** As {@link Klock#listen}. */
        Listening listen(KlockListener listener);
    }

    /** That a listener is told, until it is closed. */
    public interface Listening extends AutoCloseable {
        /** Whether there is somebody to tell it anything: the process runs with {@code -javaagent:klock.jar}. */
        boolean isTold();

        /** From here on it is told nothing; what it is told right now it may go on with. */
        @Override
        void close();
    }

    private static final Subject PROCESS = new Subject() {
        @Override
        public void set() {
            Provider p = provider;
            if (p != null) {
                p.process().set();
            }
        }

        @Override
        public Runnable wrap(Runnable work) {
            return () -> {
                Provider p = provider;
                (p == null ? work : p.process().wrap(work)).run();
            };
        }

        @Override
        public String toString() {
            return "the process";
        }
    };

    private static volatile Provider provider;

    private Klock() {}

    /** As {@link #open(Path, Duration)} with {@link #DEFAULT_WAIT}. */
    public static KlockSession open(Path manifest) throws KlockException, InterruptedException {
        return open(manifest, DEFAULT_WAIT);
    }

    /**
     * Opens a session for a manifest's agent and asks for its leases; {@link KlockSession#answer} says what came of it.
     *
     * @param manifest a KLIS-1 manifest, JSON or YAML
     * @param wait how long to wait for those who are younger, at most an hour; zero for not at all
     * @throws KlockException if the manifest is missing or cannot be used
     * @throws InterruptedException if the thread is interrupted while it waits; the session is closed then
     */
    public static KlockSession open(Path manifest, Duration wait) throws KlockException, InterruptedException {
        return open(manifest, null, wait);
    }

    /**
     * Opens a session for one of the agents that a manifest declares ({@code agents:}).
     *
     * @param manifest null for the one that {@code -javaagent:klock.jar} holds the process to
     * @param agent its {@code agent_id}; null for the manifest's own
     * @throws KlockException also if the manifest has no such agent
     */
    public static KlockSession open(Path manifest, String agent, Duration wait) throws KlockException, InterruptedException {
        Objects.requireNonNull(wait, "wait");
        return provider().open(manifest, agent, wait);
    }

    /** The session that the calling thread works as; null if it works as none, or none was ever opened. */
    public static KlockSession current() {
        Provider p = provider;
        return p == null ? null : p.current();
    }

    /** Whom the calling thread works for now, never null: what {@link #wrap} and glue of frameworks' carry on. */
    public static Subject subject() {
        Provider p = provider;
        Subject session = p == null ? null : p.subject();
        return session == null ? PROCESS : session;
    }

    /** The process, as a thread's subject. */
    public static Subject process() {
        return PROCESS;
    }

    /**
     * {@code work} for whom the calling thread works now, be it the process, whichever thread comes to run it, with all tasks that it calls, whoever has
     * made them: for queues and event loops that klock does not follow. Reactor: {@code Schedulers.onScheduleHook("klock", Klock::wrap)}. RxJava:
     * {@code RxJavaPlugins.setScheduleHandler(Klock::wrap)}.
     */
    public static Runnable wrap(Runnable work) {
        Objects.requireNonNull(work, "work");
        return subject().wrap(work);
    }

    /**
     * Tells {@code listener} what others may have changed before the program began, while its process, held to its manifest by
     * {@code -javaagent:klock.jar}, had died of an older one or waited for its leases (K5-10): a line each, as in {@link Answer#changes}. Called before this
     * returns, on the calling thread, or not at all if nothing is known. Sessions that the program opens have {@link KlockSession#onObservationUpdate}.
     *
     * @throws KlockException if something is known and cannot be read
     */
    public static void onObservationUpdate(Consumer<List<String>> listener) throws KlockException {
        Objects.requireNonNull(listener, "listener");
        List<String> changes = provider().observationUpdate();
        if (!changes.isEmpty()) {
            listener.accept(changes);
        }
    }

    /**
     * Has {@code listener} told from here on what {@code -javaagent:klock.jar} decides, about the process and all of its agents, until that is closed.
     *
     * @throws IllegalStateException if there are a hundred already
     */
    public static Listening listen(KlockListener listener) throws KlockException {
        return provider().listen(Objects.requireNonNull(listener, "listener"));
    }

    private static Provider provider() throws KlockException {
        Provider p = provider;
        if (p == null) {
            synchronized (Klock.class) {
                p = provider;
                if (p == null) {
                    p = load();
                    provider = p;
                }
            }
        }
        return p;
    }

    /** By name and not as a service: the agent's jar carries classes of the same names, which no service file must bring in. */
    private static Provider load() throws KlockException {
        try {
            return (Provider) Class.forName(LOCAL, true, Klock.class.getClassLoader()).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new KlockException("klock-kernel is not complete on the class path: cannot load " + LOCAL, e);
        }
    }
}
