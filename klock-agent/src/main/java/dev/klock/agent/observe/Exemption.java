package dev.klock.agent.observe;

/**
 * Of one thread, which alone uses it: whether what it does is klock's own, and not judged. Held in the frame that counts it up, and counted down there without
 * any call: where a thread's stack ends a call fails, and the thread would be exempt from then on.
 */
public class Exemption {
    /** Above 0 while a hook or klock's own code runs. */
    public int depth;

    Exemption() {
    }
}
