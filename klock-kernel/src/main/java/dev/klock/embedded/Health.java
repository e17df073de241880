package dev.klock.embedded;

/** Whether a session is still at work. Asked before each heartbeat, so that leases end with the session and not with a thread (K3-1). */
public interface Health {
    /**
     * Whether the session's leases should go on. Called on the kernel's thread, without its lock; must be quick. {@code false}, or anything
     * thrown, skips one heartbeat; the leases run out if that goes on for a time to live.
     */
    boolean isAlive();
}
