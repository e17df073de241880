package dev.klock.embedded;

import dev.klock.kernel.Change;
import dev.klock.kernel.Lease;
import java.util.List;

/** What a session is told. Called on threads that do nothing else meanwhile, without the kernel's lock: in order, one call after the other but where it says so. */
public interface SessionListener {
    /** A lease ran out or was revoked while the session held it: it must not act under it any more (C46). */
    void leaseLost(Lease lease);

    /**
     * What others may have changed while the session was paused, before it goes on (K5-10, K5-11). Blocking acquires return it, too.
     */
    void observationUpdate(List<Change> changes);

    /**
     * What is held is not known any more: the session must not act any more. May come while another call is under way. {@code why}: what has
     * become of the kernel, or of what several share.
     */
    default void kernelLost(KernelLostException why) {
    }

    /**
     * How long the session may act under its leases from now on, {@link System#nanoTime} ({@link EmbeddedSession#validUntilNanos}); a moment that
     * is past where it may not. Called under the kernel's lock, so that it is told in order and at once: only keep it.
     */
    default void validUntil(long nanos) {
    }
}
