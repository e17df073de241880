package dev.klock.local;

import dev.klock.Klock;
import dev.klock.KlockListener;
import dev.klock.Subject;
import java.util.function.Function;

/** One listener, the thread that calls it, and the agent that thread asks: so nothing of the agent's ever comes near the listener. */
final class Listening implements Klock.Listening, Runnable {
    private static final String AGENT = "dev.klock.bridge.Listeners";
    private static final Long WAIT_MS = 60_000L;

    private final KlockListener listener;
    /** Null if there is no agent. */
    private final Function<Object[], Object> agent;
    private final Object number;
    private boolean failed;

    Listening(KlockListener listener, Function<Object[], Object> agent) {
        this.listener = listener;
        this.agent = agent;
        this.number = agent == null ? null : agent.apply(new Object[] {"listen"});
    }

    /** Begins to tell {@code listener}, if there is an agent. */
    static Listening begin(KlockListener listener) {
        Listening one = new Listening(listener, GuardedSessions.agent(AGENT));
        if (one.agent != null) {
            Thread thread = new Thread(one, "klock listener");
            thread.setDaemon(true);
            // not an agent's work, whoever registers it
            Subject before = Klock.subject();
            Klock.process().set();
            try {
                thread.start();
            } finally {
                before.set();
            }
        }
        return one;
    }

    @Override
    public boolean isTold() {
        return agent != null;
    }

    @Override
    public void close() {
        if (agent != null) {
            agent.apply(new Object[] {"close", number});
        }
    }

    @Override
    public void run() {
        for (Object[] told = next(); told != null; told = next()) {
            try {
                tell(told);
            } catch (Throwable e) {
                if (!failed) {
                    failed = true;
                    System.err.println("klock: warning: a listener has failed, and is told on: " + e);
                }
            }
        }
    }

    /** Null once it is closed. */
    private Object[] next() {
        while (true) {
            try {
                return (Object[]) agent.apply(new Object[] {"next", number, WAIT_MS});
            } catch (Throwable interrupted) {
                // a program may interrupt threads that it does not know
                continue;
            }
        }
    }

    void tell(Object[] told) {
        if (told.length == 0) {
            return;
        }
        switch ((String) told[0]) {
            case "violation" -> listener.violated(new KlockListener.Violation((String) told[1], (String) told[2], (String) told[3], (String) told[4],
                    (String) told[5], (String) told[6], (String) told[7], (String) told[8], (String) told[9], (String) told[10]));
            case "lease" -> listener.leases(new KlockListener.Leases((String) told[1], (String) told[2], (String) told[3], (Long) told[4], (String) told[5]));
            case "rollback" -> listener.rolledBack(new KlockListener.Rollback((String) told[1], (String) told[2], (String) told[3], (Integer) told[4],
                    (Integer) told[5]));
            case "dropped" -> listener.dropped((Long) told[1]);
            default -> {
                // of an agent that is newer than this
            }
        }
    }
}
