package dev.klock.agent;

import dev.klock.agent.log.Stderr;

/**
 * klock's one thread: it brings the log to disk, and when the session must stop it does what the program's threads cannot be trusted
 * with. It holds no lock of the program's, is exempt from hooks for all its life, and halts the JVM itself, so the program's answer to
 * the error does not matter.
 */
final class Guard extends Thread {
    /** How long an abort waits for operations of the program that are under way, before it says so and goes on. */
    static final long QUIET_NS = 10_000_000_000L;
    private static final long TICK_MS = 200;

    private final Session session;
    private final Object lock = new Object();

    Guard(Session session) {
        super(null, null, "klock", 0, false);
        this.session = session;
        setDaemon(true);
        setContextClassLoader(null);
    }

    @Override
    public void run() {
        session.observer().enter();
        while (true) {
            synchronized (lock) {
                if (!session.isStopping()) {
                    try {
                        lock.wait(TICK_MS);
                    } catch (InterruptedException e) {
                        // the program interrupts threads it does not know; the guard goes on
                    }
                }
            }
            if (session.isStopping()) {
                halt();
            }
            try {
                session.tick();
            } catch (Throwable e) {
                Stderr.error("the log could not be written: " + e);
            }
        }
    }

    private void halt() {
        int code = Session.EXIT_ABORTED;
        try {
            code = session.wind();
        } catch (Throwable e) {
            Stderr.error("the session could not be wound up: " + e + "; its images are kept, finish with: java -jar klock.jar recover");
        } finally {
            Runtime.getRuntime().halt(code);
        }
    }

    void wake() {
        synchronized (lock) {
            lock.notifyAll();
        }
    }

    /** Parks the calling thread for good: the guard is about to halt the JVM. */
    void await() {
        while (true) {
            pause(1000);
        }
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            // not ours to keep: the JVM ends
        }
    }
}
