package dev.klock.agent.weave.tasks;

import dev.klock.agent.observe.CarriedTasks;
import java.util.Arrays;

/** Subjects are texts; each thread has a stack of them. */
public final class Subjects extends CarriedTasks<String> {
    private static final class State {
        String[] stack = new String[16];
        /** As for each of these the agent's Work has it. */
        Object[] said = new Object[16];
        int depth;
    }

    static final Subjects INSTANCE = new Subjects();

    private final ThreadLocal<State> states = new ThreadLocal<>() {
        @Override
        protected State initialValue() {
            State state = new State();
            state.stack[0] = begun(Thread.currentThread());
            return state;
        }
    };

    @Override
    protected String subject() {
        State state = states.get();
        return state.stack[state.depth];
    }

    @Override
    protected void begin(String submitter, Object task, boolean called) {
        Object said = said();
        boolean holds = called ? said != null : said == task;
        push(holds ? subject() : submitter, holds ? said : null);
    }

    @Override
    protected void beginCalled(Object task) {
        push(subject(), said() == null ? null : task);
    }

    @Override
    protected void beginUncalled() {
        push(subject(), null);
    }

    private Object said() {
        State state = states.get();
        return state.said[state.depth];
    }

    private void push(String subject, Object said) {
        State state = states.get();
        if (state.depth + 1 == state.stack.length) {
            Object[] more = Arrays.copyOf(state.said, 2 * state.depth + 2);
            state.stack = Arrays.copyOf(state.stack, more.length);
            state.said = more;
        }
        state.stack[state.depth + 1] = subject;
        state.said[state.depth + 1] = said;
        state.depth++;
    }

    @Override
    protected void end() {
        states.get().depth--;
    }

    /** Whom the calling thread works for. */
    static String now() {
        return INSTANCE.subject();
    }

    /** How many {@code begin}s of the calling thread have no {@code end} yet. */
    static int depth() {
        return INSTANCE.states.get().depth;
    }

    interface Action<T> {
        T run() throws Exception;
    }

    /** Runs {@code action} as {@code subject}, explicitly. */
    static <T> T as(String subject, Action<T> action) throws Exception {
        INSTANCE.push(subject, INSTANCE);
        try {
            return action.run();
        } finally {
            INSTANCE.end();
        }
    }
}
