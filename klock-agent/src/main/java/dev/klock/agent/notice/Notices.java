package dev.klock.agent.notice;

import dev.klock.agent.log.Stderr;
import dev.klock.agent.observe.Subjects;
import java.util.ArrayDeque;
import java.util.function.Function;

/**
 * Takes notices, and has them told by a thread of its own, which begins with the first of them: neither the program's threads nor the guard wait for
 * whatever a recorder locks. What comes faster than it can be told is dropped; the log has it. Thread-safe; its lock is held for moments only.
 */
public final class Notices {
    /** The most that wait to be told. */
    static final int MAX_WAITING = 1_000;

    private final Subjects subjects;
    private final Listeners listeners = new Listeners();
    private final ArrayDeque<Notice> waiting = new ArrayDeque<>();
    /** Null before the first notice; guarded by {@link #waiting}. */
    private Teller teller;

    /** @param subjects where the thread is told to be klock's own */
    public Notices(Subjects subjects) {
        this.subjects = subjects;
    }

    /** Where the program's listeners ask. */
    public Function<Object[], Object> listeners() {
        return listeners;
    }

    /** Whether the program has listeners. */
    public boolean areHeard() {
        return listeners.areThere();
    }

    /** For the program's listeners. As {@link #record}. */
    public void tell(Notice notice) {
        try {
            listeners.tell(notice);
        } catch (OutOfMemoryError | StackOverflowError e) {
            // as there: what cannot be told is in the log
            return;
        }
    }

    /** For Flight Recorder. Returns at once; never fails, be it for want of memory or of stack. */
    public void record(Notice notice) {
        try {
            Teller next = null;
            synchronized (waiting) {
                if (waiting.size() < MAX_WAITING) {
                    waiting.add(notice);
                }
                if (teller == null) {
                    next = new Teller();
                    teller = next;
                }
                waiting.notifyAll();
            }
            if (next != null) {
                next.start();
            }
        } catch (OutOfMemoryError | StackOverflowError e) {
            // whoever was denied is to be told that, not this; the next one starts it
            synchronized (waiting) {
                if (teller != null && !teller.isAlive()) {
                    teller = null;
                }
            }
        }
    }

    private final class Teller extends Thread {
        private boolean failed;

        Teller() {
            // beside the JVM's own threads, as the guard
            super(top(), null, "klock notices", 0, false);
            setDaemon(true);
            setContextClassLoader(null);
        }

        @Override
        public void run() {
            if (Thread.currentThread() != this) {
                // a program has found us among the threads
                return;
            }
            subjects.enter();
            while (true) {
                try {
                    Notice notice = next();
                    if (notice != null && !failed) {
                        FlightEvents.write(notice);
                    }
                } catch (OutOfMemoryError e) {
                    continue;
                } catch (Throwable e) {
                    failed = true;
                    Stderr.warn("no further events for Flight Recorder: " + e);
                }
            }
        }

        /** Null if there is none after all. */
        private Notice next() {
            synchronized (waiting) {
                if (waiting.isEmpty()) {
                    try {
                        waiting.wait();
                    } catch (InterruptedException e) {
                        // nobody can
                        return null;
                    }
                }
                return waiting.poll();
            }
        }

        @Override
        public void interrupt() {
            return;
        }
    }

    private static ThreadGroup top() {
        ThreadGroup group = Thread.currentThread().getThreadGroup();
        while (group != null && group.getParent() != null) {
            group = group.getParent();
        }
        return group;
    }
}
