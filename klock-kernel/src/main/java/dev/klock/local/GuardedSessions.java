package dev.klock.local;

import dev.klock.KlockException;
import dev.klock.KlockSession;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Sessions that the agent enforces. It may be of another version than this, and its classes are out of reach: only types of the JDK go to and fro,
 * requests that begin with the name of what is asked for, and sessions are numbers.
 */
final class GuardedSessions {
    /** The agent's, in the boot class loader. */
    private static final String AGENT = "dev.klock.bridge.Sessions";

    private final Function<Object[], Object> agent;
    private final ConcurrentHashMap<Object, Known> open = new ConcurrentHashMap<>();
    /** Those that the program has let go of without closing them. */
    private final ReferenceQueue<GuardedSession> forgotten = new ReferenceQueue<>();

    /** A session, by the agent's name for it. */
    private static final class Known extends WeakReference<GuardedSession> {
        final Object number;

        Known(GuardedSession session, Object number, ReferenceQueue<GuardedSession> forgotten) {
            super(session, forgotten);
            this.number = number;
        }
    }

    GuardedSessions(Function<Object[], Object> agent) {
        this.agent = agent;
    }

    /** Null if there is no agent, or one whose manifest declares no agents. */
    static GuardedSessions ofThisJvm() {
        Function<Object[], Object> agent = agent(AGENT);
        return agent == null ? null : new GuardedSessions(agent);
    }

    /** What the agent has its class {@code name} for, in the boot class loader; null if it is not there. */
    static Function<Object[], Object> agent(String name) {
        try {
            MethodHandle call = MethodHandles.publicLookup().findStatic(Class.forName(name, true, null), "call",
                    MethodType.methodType(Object.class, Object[].class)).asFixedArity();
            return request -> {
                try {
                    return (Object) call.invokeExact(request);
                } catch (RuntimeException | Error e) {
                    throw e;
                } catch (Throwable e) {
                    throw GuardedSessions.<RuntimeException>sneak(e);
                }
            };
        } catch (ReflectiveOperationException none) {
            return null;
        }
    }

    Object ask(Object... request) {
        return agent.apply(request);
    }

    /** Null if the process's manifest does not declare the agent: then nothing is enforced for it. */
    KlockSession open(Path file, String agentId, Duration wait) throws KlockException, InterruptedException {
        Object[] opened;
        try {
            opened = (Object[]) ask("open", file == null ? null : file.toAbsolutePath().toString(), agentId, LocalSession.millis(wait));
        } catch (RuntimeException e) {
            throw new KlockException(e.getMessage() == null ? e.toString() : e.getMessage(), e);
        }
        if (opened == null) {
            return null;
        }
        GuardedSession session = new GuardedSession(this, opened[0], (String) opened[1], (String) opened[2], (Long) opened[3]);
        for (Object gone = forgotten.poll(); gone != null; gone = forgotten.poll()) {
            open.remove(((Known) gone).number, gone);
        }
        open.put(opened[0], new Known(session, opened[0], forgotten));
        return session;
    }

    /** The agent's name for what the calling thread works as; null for the process. */
    Object subject() {
        return ask("current");
    }

    /** From here on the calling thread works as the session of that name, null for the process. */
    void set(Object number) {
        ask("set", number);
    }

    /** {@code work} as the session of that name, null for the process, with all tasks that it calls, whoever has made them. */
    void run(Object number, Runnable work) {
        Object before = subject();
        Object token = ask("set", number, true);
        try {
            work.run();
        } finally {
            if (token != null) {
                ask("leave", token);
            } else {
                // an agent that knows nothing of tasks that are called has only set it
                set(before);
            }
        }
    }

    KlockSession current() {
        Object number = subject();
        Known session = number == null ? null : open.get(number);
        return session == null ? null : session.get();
    }

    void closed(Object number) {
        open.remove(number);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneak(Throwable e) throws T {
        throw (T) e;
    }
}
