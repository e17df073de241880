package dev.klock.local;

import dev.klock.Answer;
import dev.klock.KlockSession;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** One that the agent holds to its manifest. */
final class GuardedSession implements KlockSession {
    private final GuardedSessions agent;
    /** The agent's name for it. */
    private final Object number;
    private final String agentId;
    private final String sessionId;
    private final long priorityMs;
    /** Null until it is closed. */
    private volatile List<String> violations;

    GuardedSession(GuardedSessions agent, Object number, String agentId, String sessionId, long priorityMs) {
        this.agent = agent;
        this.number = number;
        this.agentId = agentId;
        this.sessionId = sessionId;
        this.priorityMs = priorityMs;
    }

    @Override
    public String agentId() {
        return agentId;
    }

    @Override
    public String sessionId() {
        return sessionId;
    }

    @Override
    public long priorityTimestampMs() {
        return priorityMs;
    }

    @Override
    public boolean isEnforced() {
        return true;
    }

    @Override
    public Answer answer() {
        return answer(agent.ask("answer", number));
    }

    @Override
    public Answer retry(Duration total) throws InterruptedException {
        return answer(agent.ask("retry", number, LocalSession.millis(total)));
    }

    @Override
    public Answer acquire(Duration wait, String... intents) throws InterruptedException {
        return answer(agent.ask("acquire", number, LocalSession.millis(wait), intents.clone()));
    }

    /** What {@link Answer#handle} is, here: the agent's names for grants are each session's own. */
    private static final class Granted {
        final GuardedSession by;
        final Object name;

        Granted(GuardedSession by, Object name) {
            this.by = by;
            this.name = name;
        }
    }

    private Answer answer(Object told) {
        Object[] a = (Object[]) told;
        return new Answer(Answer.Verdict.valueOf((String) a[0]), List.of((String[]) a[1]), List.of((String[]) a[2]), List.of((String[]) a[3]), (Long) a[4],
                (String) a[5], (Long) a[7], (Long) a[8], a[6] == null ? null : new Granted(this, a[6]));
    }

    @Override
    public boolean release(Answer granted) {
        Object handle = Objects.requireNonNull(granted, "granted").handle();
        if (!(handle instanceof Granted) || ((Granted) handle).by != this) {
            return false;
        }
        return (Boolean) agent.ask("release", number, ((Granted) handle).name);
    }

    @Override
    public Entered enter() {
        return new Inside(agent.ask("enter", number));
    }

    @Override
    public Executor wrap(Executor executor) {
        return work -> {
            LocalSession.refuseWork(this);
            executor.execute(() -> {
                try (Entered entered = enterLate()) {
                    work.run();
                }
            });
        };
    }

    /** Without this, whoever waits for what was handed in before the session was over would wait for ever. */
    private Entered enterLate() {
        try {
            return enter();
        } catch (IllegalStateException over) {
            return new Inside(agent.ask("late", number));
        }
    }

    /** The calling thread works as this session. */
    private final class Inside implements Entered {
        private final Thread thread = Thread.currentThread();
        private final Object token;
        private boolean over;

        Inside(Object token) {
            this.token = token;
        }

        @Override
        public void close() {
            if (Thread.currentThread() != thread) {
                throw new IllegalStateException("entered by another thread: " + thread.getName());
            }
            if (!over) {
                over = true;
                agent.ask("leave", token);
            }
        }
    }

    @Override
    public boolean isValid() {
        return (Boolean) agent.ask("valid", number);
    }

    @Override
    public State state() {
        String state = (String) agent.ask("state", number);
        return state == null ? null : State.valueOf(state);
    }

    @Override
    public void onLeaseLost(Consumer<String> listener) {
        agent.ask("lost", number, listener);
    }

    @Override
    public void onObservationUpdate(Consumer<List<String>> listener) {
        agent.ask("updates", number, listener);
    }

    @Override
    public List<String> violations() {
        List<String> last = violations;
        return last == null ? texts(agent.ask("violations", number)) : last;
    }

    private static List<String> texts(Object told) {
        return told == null ? List.of() : List.of((String[]) told);
    }

    @Override
    public void abort(String reason) {
        agent.ask("abort", number, reason);
    }

    @Override
    public void close() {
        Object told = agent.ask("close", number);
        if (violations == null) {
            violations = texts(told);
        }
        agent.closed(number);
    }
}
