package dev.klock.agent.library;

import dev.klock.agent.observe.Subjects;

/**
 * Weaves what a thread that has hardly any stack left is about to define: the JVM defines a class as it is when that fails, and without its hooks it
 * would not be judged from then on. To hand it over takes a few small frames. Never ends before the JVM; others wait while it is at work for one.
 */
final class SpareThread extends Thread {
    /** What there is to do. */
    interface Work {
        byte[] woven(String className, byte[] bytes);
    }

    private final Work work;
    private final Subjects subjects;
    private String className;
    private byte[] bytes;
    private byte[] woven;
    private Throwable failure;
    private boolean taken;
    private boolean done;

    SpareThread(Work work, Subjects subjects) {
        super(Thread.currentThread().getThreadGroup().getParent(), null, "klock hooks", 0, false);
        this.work = work;
        this.subjects = subjects;
        setDaemon(true);
    }

    /**
     * The class with its hooks, null if it has none.
     *
     * @throws IllegalStateException it could not be woven there either
     */
    synchronized byte[] weave(String name, byte[] classFile) {
        boolean interrupted = false;
        while (taken) {
            interrupted |= isWaitInterrupted();
        }
        taken = true;
        done = false;
        className = name;
        bytes = classFile;
        notifyAll();
        while (!done) {
            interrupted |= isWaitInterrupted();
        }
        byte[] result = woven;
        Throwable cause = failure;
        woven = null;
        failure = null;
        taken = false;
        notifyAll();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (cause != null) {
            throw new IllegalStateException(cause);
        }
        return result;
    }

    private boolean isWaitInterrupted() {
        try {
            wait();
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    @Override
    public void run() {
        subjects.exemption().depth++;
        while (true) {
            take();
            byte[] result = null;
            Throwable cause = null;
            try {
                result = work.woven(className, bytes);
            } catch (Throwable e) {
                cause = e;
            }
            give(result, cause);
        }
    }

    private synchronized void take() {
        while (!taken || done) {
            isWaitInterrupted();
        }
    }

    private synchronized void give(byte[] result, Throwable cause) {
        woven = result;
        failure = cause;
        className = null;
        bytes = null;
        done = true;
        notifyAll();
    }
}
