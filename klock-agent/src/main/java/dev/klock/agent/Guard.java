package dev.klock.agent;

import dev.klock.agent.log.Stderr;
import dev.klock.bridge.HostFiles;

/**
 * klock's one thread: it brings the log to disk, and when the session must stop it does what the program's threads cannot be trusted
 * with. It holds no lock of the program's, is exempt from hooks for all its life, and halts the JVM itself, so the program's answer to
 * the error does not matter.
 */
final class Guard extends Thread {
    /** How long an abort waits for operations of the program that are under way, before it says so and goes on. */
    static final long QUIET_NS = 10_000_000_000L;
    /** How long a name that another process leads elsewhere may still be read by its old meaning. */
    private static final long TICK_MS = 50;
    /** How long the end of the last child may go unnoticed. */
    private static final long CHILDREN_MS = 10;
    /** The log is brought to disk at every fourth tick. */
    private static final int FLUSH_TICKS = 4;
    private static final int WIND_TRIES = 20;
    private static final int RESERVE_BYTES = 4 << 20;
    private static final int RESERVE_DESCRIPTORS = 8;

    private final Sessions sessions;
    private final HostFiles files;
    private final Object lock = new Object();
    /** Given up when the session must be wound up, which takes memory that the program may have used up. */
    private volatile byte[] reserve = new byte[RESERVE_BYTES];
    /** Likewise. */
    private final int[] descriptors = new int[RESERVE_DESCRIPTORS];

    Guard(Sessions sessions, HostFiles files) {
        // beside the JVM's own threads: a program counts and joins those of its own group. premain runs in that group
        super(Thread.currentThread().getThreadGroup().getParent(), null, "klock", 0, false);
        this.sessions = sessions;
        this.files = files;
        for (int i = 0; i < descriptors.length; i++) {
            descriptors[i] = files.open(new byte[] {'/'});
        }
        setDaemon(true);
        setContextClassLoader(null);
    }

    @Override
    public void run() {
        if (Thread.currentThread() != this) {
            // a program has found us among the threads
            return;
        }
        sessions.subjects().enter();
        for (int ticks = 1; true; ticks++) {
            try {
                rest();
                if (sessions.isAnyStopping()) {
                    wind();
                }
                sessions.process().observer().forgetNames();
                if (ticks % FLUSH_TICKS == 0) {
                    sessions.tick();
                }
            } catch (Throwable e) {
                // out of memory, most likely, and it is the program's memory: whatever it is, this thread goes on; even the first use of
                // a string constant takes memory
                try {
                    complain("klock's thread", e);
                } catch (Throwable silenced) {
                    continue;
                }
            }
        }
    }

    /** The program may interrupt threads that it does not know; a file channel would close, in the middle of a rollback. */
    @Override
    public void interrupt() {
        return;
    }

    /** Until the next tick. Meanwhile children may end: what they left is to be noted before others come. */
    private void rest() {
        long until = System.nanoTime() + TICK_MS * 1_000_000;
        for (long leftMs = TICK_MS; leftMs > 0 && !sessions.isAnyStopping(); leftMs = (until - System.nanoTime()) / 1_000_000) {
            boolean haveChildren = sessions.haveChildren();
            synchronized (lock) {
                if (!sessions.isAnyStopping()) {
                    try {
                        lock.wait(haveChildren ? Math.min(leftMs, CHILDREN_MS) : leftMs);
                    } catch (InterruptedException e) {
                        // nobody can; the guard goes on
                        return;
                    }
                }
            }
            if (haveChildren) {
                sessions.settleEnded();
            }
        }
    }

    /**
     * Winds up what is stopping and, if that is the process's session, halts the JVM; out of memory, it tries again while the program's threads
     * die of the same.
     */
    private void wind() {
        if (!sessions.process().isStopping()) {
            sessions.windOthers();
            return;
        }
        reserve = null;
        for (int i = 0; i < descriptors.length; i++) {
            if (descriptors[i] >= 0) {
                files.close(descriptors[i]);
            }
        }
        int code = Session.EXIT_ABORTED;
        for (int tries = 0; tries < WIND_TRIES; tries++) {
            try {
                sessions.windOthers();
                code = sessions.process().wind();
                break;
            } catch (OutOfMemoryError e) {
                pause(TICK_MS);
            } catch (Throwable e) {
                complain("the session could not be wound up; its images are kept, finish with: java -jar klock.jar recover", e);
                break;
            }
        }
        Runtime.getRuntime().halt(code);
    }

    private static void complain(String what, Throwable cause) {
        try {
            Stderr.error(what + ": " + cause);
        } catch (Throwable silenced) {
            // not even memory for a message
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
            try {
                pause(1000);
            } catch (Throwable outOfMemory) {
                continue;
            }
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
