package dev.klock.agent;

import dev.klock.Answer;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.observe.Exemption;
import dev.klock.agent.observe.Observer;
import dev.klock.agent.observe.Subjects;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.manifest.Manifest;
import java.io.File;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Answers what programs ask of their agents' sessions ({@link dev.klock.bridge.Sessions}). The program is not trusted: it gets numbers, texts
 * and lists of the JDK's own, and errors of the JDK's own types, so that nothing of klock's can be reached from them.
 *
 * <p>Only agents that the process's manifest declares have sessions: else whoever can write a file could write a manifest and act under it.
 */
final class AgentSessions implements Function<Object[], Object> {
    private final Tools tools;
    private final EmbeddedKernel kernel;
    private final Subjects subjects;
    private final AgentManifest agents;
    private final LostLeases lost;
    private final AtomicLong numbers = new AtomicLong();
    /** Those that are not closed, by number. */
    private final ConcurrentHashMap<Long, AgentLeases> open = new ConcurrentHashMap<>();
    private long lastPriorityMs;

    /** @param leases those of the process */
    AgentSessions(Tools tools, Leases leases) {
        this.tools = tools;
        this.kernel = leases.kernel();
        this.subjects = tools.sessions.subjects();
        this.agents = new AgentManifest(tools.launch, subjects, tools.resolver);
        tools.sessions.process().declaresFor(agents.scopes());
        this.lost = !leases.areShared() ? null : new LostLeases(tools.home, kernel, new Recovered(tools.home, tools.files, tools.sessions.process().log));
    }

    @Override
    public Object apply(Object[] request) {
        String what = (String) request[0];
        if (what.equals("leave")) {
            subjects.leave(((Number) request[1]).intValue());
            return null;
        }
        if (what.equals("current")) {
            return current(subjects.current());
        }
        if (what.equals("set")) {
            AgentLeases next = request[1] == null ? null : open.get((Long) request[1]);
            return set(next == null ? null : next.subject(), request.length > 2);
        }
        AgentLeases session = what.equals("open") ? null : open.get((Long) request[1]);
        if (what.equals("enter") && session != null) {
            return subjects.enter(session.observer());
        }
        if (what.equals("late") && session != null) {
            return subjects.enter(session.late());
        }
        // klock's own work on the program's thread, which is nobody's
        Exemption own = subjects.exemption();
        own.depth++;
        try {
            if (what.equals("open")) {
                return open((String) request[1], (String) request[2], (Long) request[3]);
            }
            return session == null ? closed(what) : session(session, what, request);
        } finally {
            own.depth--;
        }
    }

    /** @return what "leave" is to be given, if the thread is to {@code enter} */
    private Object set(Observer next, boolean enter) {
        if (enter) {
            return subjects.enter(next);
        }
        subjects.set(next);
        return null;
    }

    private Long current(Observer observer) {
        for (AgentLeases session : open.values()) {
            if (observer != null && session.isOf(observer)) {
                return session.number;
            }
        }
        return null;
    }

    /** What one that is closed answers. */
    private static Object closed(String what) {
        switch (what) {
            case "valid":
            case "release":
                return false;
            case "enter":
            case "late":
                throw new IllegalStateException("the session is closed; open another one");
            case "answer":
            case "retry":
            case "acquire":
                return new Object[] {Answer.Verdict.GONE.name(), new String[0], new String[0], new String[0], 0L, "the session is closed; open another one", null, 0L, 0L};
            default:
                return null;
        }
    }

    private Object session(AgentLeases session, String what, Object[] request) {
        switch (what) {
            case "valid":
                return session.isValid();
            case "answer":
                return session.told(session.answer());
            case "retry":
                return asked(session, null, (Long) request[2]);
            case "acquire":
                return asked(session, ((String[]) request[3]).clone(), (Long) request[2]);
            case "release":
                return session.release(request[2]);
            case "state":
                return session.state();
            case "lost":
                session.held().onLeaseLost(consumer(request[2]));
                return null;
            case "updates":
                session.held().onObservationUpdate(consumer(request[2]));
                return null;
            case "violations":
                return session.violations();
            case "abort":
                session.abort((String) request[2]);
                return null;
            case "close":
                session.held().close();
                open.remove(session.number);
                return session.violations();
            default:
                throw new IllegalArgumentException("unknown: " + what);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> Consumer<T> consumer(Object given) {
        return (Consumer<T>) given;
    }

    /** {@code intents} null: for its manifest's leases, again. */
    private Object asked(AgentLeases session, String[] intents, long ms) {
        try {
            Duration wait = Duration.ofMillis(ms);
            if (intents != null) {
                return session.told(session.acquire(wait, intents));
            }
            return session.told(session.retry(wait));
        } catch (InterruptedException e) {
            throw AgentSessions.<RuntimeException>sneak(e);
        }
    }

    /** Null where the process's manifest does not declare the agent. */
    private Object open(String file, String agent, long waitMs) {
        AgentLeases session;
        try {
            DeclaredAgent declared = agents.of(file == null ? null : new File(file), agent);
            if (declared == null) {
                return null;
            }
            session = new AgentLeases(tools, kernel, lost, declared, numbers.incrementAndGet(), priorityMs(declared.manifest));
        } catch (UsageException e) {
            throw new IllegalArgumentException(e.getMessage());
        }
        open.put(session.number, session);
        boolean asked = false;
        try {
            session.asks();
            session.held().ask(Duration.ofMillis(waitMs));
            session.answered(session.held().answer());
            asked = true;
        } catch (InterruptedException e) {
            throw AgentSessions.<RuntimeException>sneak(e);
        } finally {
            if (!asked) {
                session.held().close();
                open.remove(session.number);
            }
        }
        return new Object[] {session.number, session.held().agentId(), session.held().sessionId(), session.held().priorityTimestampMs()};
    }

    /** A millisecond apart, so that who came first is the older one (C47). */
    private synchronized long priorityMs(Manifest manifest) {
        if (manifest.priorityTimestamp() != Manifest.NO_TIMESTAMP) {
            return manifest.priorityTimestamp();
        }
        lastPriorityMs = Math.max(kernel.nowMs(), lastPriorityMs + 1);
        return lastPriorityMs;
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneak(Throwable e) throws T {
        throw (T) e;
    }
}
