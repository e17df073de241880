package dev.klock.cli;

import dev.klock.agent.backup.Undo;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets what undoes come to an end by itself when the process is interrupted (Ctrl-C, SIGTERM): it stops between two files, leaves none half written
 * and nothing beside its place, and says how to go on. For one thread.
 */
final class Interruption implements Undo.Progress, AutoCloseable {
    /** How long an end waits for that: a large file may be in the middle of being written. */
    private static final long PATIENCE_S = 10;

    private final Undo.Progress shown;
    private final CountDownLatch over = new CountDownLatch(1);
    private final Thread hook = new Thread(this::await, "klock-interrupted");
    private volatile boolean isWanted;

    /** @param shown is told how far it is */
    Interruption(Undo.Progress shown) {
        this.shown = shown;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private void await() {
        isWanted = true;
        try {
            over.await(PATIENCE_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void done(int paths, int of) {
        shown.done(paths, of);
    }

    @Override
    public boolean goesOn() {
        return !isWanted && shown.goesOn();
    }

    @Override
    public boolean isInterrupted() {
        return isWanted;
    }

    /** All has been said: the process may go. */
    @Override
    public void close() {
        over.countDown();
        if (!isWanted) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
            } catch (IllegalStateException ends) {
                // then there is no more to wait for
            }
        }
    }
}
