package dev.klock.embedded;

import dev.klock.kernel.Command;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.SessionKey;

/**
 * Puts the commands of several kernels in one order, which all of them carry out: what an {@link EmbeddedKernel} has in common with those of
 * other processes. Called under the kernel's lock.
 */
public interface CommandOrder extends AutoCloseable {
    /** The kernel that carries the commands out. */
    interface Replica {
        /**
         * Carries out a command in its place.
         *
         * @param timeMs when it was given, by the clock of whoever gave it; a kernel's time never goes back
         * @param own whether it is the one that {@link #put} was asked for
         */
        Outcome carryOut(Command command, long timeMs, boolean own);

        /** Whether nobody holds or waits for anything at {@code timeMs}, and no session is under way. */
        boolean isIdle(long timeMs);

        /** Forgets everything, and begins as {@link CommandOrder#beginning} says now. It was idle. */
        void beginAnew();

        /** The first number that no lease has had yet. */
        long nextFencingToken();

        /** Whether it remembers the session. */
        boolean isKnown(SessionKey session);

        /** Its clock's time, milliseconds since 1970; not before that of the last command. */
        long timeMs();
    }

    /**
     * How all kernels begin.
     *
     * @param kernelId the first part of every lease id
     * @param firstFencingToken the first lease's number
     * @param startMs where the kernel's clock starts, milliseconds since 1970
     * @param startNanos that moment by this process's {@link System#nanoTime}
     */
    record Beginning(String kernelId, long firstFencingToken, long startMs, long startNanos) {
    }

    Beginning beginning();

    /**
     * Gives {@code replica} everything that there is. Asked once, first.
     *
     * @throws KernelLostException as for {@link #put}
     */
    void begin(Replica replica) throws KernelLostException;

    /**
     * Gives {@code command} its place, and {@code replica} everything up to it.
     *
     * @return what the replica answered to it
     * @throws KernelLostException it has no place, or what is before it cannot be known: the replica is of no use any more
     */
    Outcome put(Command command, long timeMs, Replica replica) throws KernelLostException;

    /**
     * Gives {@code replica} what others have put since.
     *
     * @return whether that was anything
     * @throws KernelLostException as for {@link #put}
     */
    boolean follow(Replica replica) throws KernelLostException;

    /** Whether the process that registered {@code session} has ended. */
    boolean isGone(SessionKey session);

    /** A name of the process that registered {@code session}, if it is another than this one and has not ended; else null. */
    String processOf(SessionKey session);

    /** Lets go of it; nothing is asked of it any more. */
    @Override
    void close();
}
