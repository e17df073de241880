package dev.klock.embedded;

import java.util.ArrayDeque;

/** Does one piece of work after the other, in the order given, on threads that may be held up by it. Thread-safe. */
final class Turns implements Runnable {
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private boolean runs;

    /** {@code work} waits for its turn from here on; {@link #begin} is owed. */
    void add(Runnable work) {
        synchronized (waiting) {
            waiting.add(work);
        }
    }

    /** Sees that what waits is done. After an error, such as that there is no memory for a thread, it waits still: begin again. */
    void begin() {
        synchronized (waiting) {
            if (!runs && !waiting.isEmpty()) {
                EmbeddedKernel.later(this);
                runs = true;
            }
        }
    }

    /** By a thread of the kernels'. */
    @Override
    public void run() {
        for (Runnable next = next(); next != null; next = next()) {
            try {
                next.run();
            } catch (Throwable failed) {
                // a listener's failure is its own; what comes after it is not
                continue;
            }
        }
    }

    private Runnable next() {
        synchronized (waiting) {
            Runnable next = waiting.poll();
            runs = next != null;
            return next;
        }
    }
}
