package dev.klock.langchain4j;

import dev.klock.KlockSession;
import dev.langchain4j.agentic.observability.AgentInvocationError;
import dev.langchain4j.agentic.observability.AgentListener;
import dev.langchain4j.agentic.observability.AgentRequest;
import dev.langchain4j.agentic.observability.AgentResponse;
import dev.langchain4j.agentic.scope.AgenticScope;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Each invocation of an agent works as the session that goes by the agent's name:
 *
 * <pre>{@code
 * AgenticServices.parallelBuilder().subAgents(builder, reviewer).listener(new SessionListener(Map.of("builder", a, "reviewer", b))).build();
 * }</pre>
 *
 * Agents below the one that has the listener have it, too. An agent without a session works as whoever invokes it. What an agent hands to other
 * threads, such as tools that run at once, is its session's with klock's agent only; an agent that streams has returned before it works, and should
 * be started inside {@link KlockSession#run}. Safe for all threads; opens and closes no session.
 */
public final class SessionListener implements AgentListener {
    private final Function<String, KlockSession> sessions;
    /** What the thread has entered and not left, the last one first. */
    private final ThreadLocal<ArrayDeque<Inside>> inside = new ThreadLocal<>();

    /** The agent cannot be invoked, since its session may not work. An error, since LangChain4j only logs exceptions of listeners, and goes on. */
    public static final class SessionUnavailableError extends Error {
        private static final long serialVersionUID = 1;

        SessionUnavailableError(String agent, Throwable cause) {
            super("agent " + agent + " is not invoked: " + cause.getMessage(), cause);
        }
    }

    /** @param entered null if the agent has no session */
    private record Inside(AgenticScope scope, String agentId, KlockSession.Entered entered) {}

    /** @param sessions by the agents' names; of no name is null */
    public SessionListener(Map<String, KlockSession> sessions) {
        this(Map.copyOf(sessions)::get);
    }

    /**
     * @param sessions the session of the agent of that name, null if it has none; called by each invocation's thread, and before it. What it throws
     *     keeps the agent from being invoked
     */
    public SessionListener(Function<String, KlockSession> sessions) {
        this.sessions = Objects.requireNonNull(sessions, "sessions");
    }

    @Override
    public void beforeAgentInvocation(AgentRequest request) {
        KlockSession.Entered entered;
        try {
            KlockSession session = sessions.apply(request.agentName());
            entered = session == null ? null : session.enter();
        } catch (RuntimeException e) {
            throw new SessionUnavailableError(request.agentName(), e);
        }
        ArrayDeque<Inside> all = inside.get();
        if (all == null) {
            all = new ArrayDeque<>();
            inside.set(all);
        }
        all.push(new Inside(request.agenticScope(), request.agentId(), entered));
    }

    @Override
    public void afterAgentInvocation(AgentResponse response) {
        leave(response.agenticScope(), response.agentId());
    }

    @Override
    public void onAgentInvocationError(AgentInvocationError error) {
        leave(error.agenticScope(), error.agentId());
    }

    /** Whoever is suspended is told of no end: all invocations in that scope have one now, on this thread. */
    @Override
    public void onAgenticSystemSuspended(AgenticScope scope) {
        ArrayDeque<Inside> all = inside.get();
        while (all != null && all.stream().anyMatch(one -> one.scope() == scope)) {
            pop(all);
        }
    }

    /** Leaves that invocation, with all that it began and that did not end. */
    private void leave(AgenticScope scope, String agentId) {
        ArrayDeque<Inside> all = inside.get();
        if (all == null || all.stream().noneMatch(one -> one.scope() == scope && one.agentId().equals(agentId))) {
            return;
        }
        Inside last;
        do {
            last = pop(all);
        } while (last.scope() != scope || !last.agentId().equals(agentId));
    }

    private Inside pop(ArrayDeque<Inside> all) {
        Inside last = all.pop();
        if (all.isEmpty()) {
            inside.remove();
        }
        if (last.entered() != null) {
            last.entered().close();
        }
        return last;
    }

    @Override
    public boolean inheritedBySubagents() {
        return true;
    }
}
