package dev.klock.agent.observe;

/** Hears what other agents make of classes. Called on the thread that loads or changes the class, with klock's own I/O exempt. */
public interface Rewrites {
    /**
     * An agent's transformers have made {@code after} of {@code before}; the class is not changed yet, and is not while this does not
     * return.
     *
     * @param name internal, null if the class was defined without one
     */
    void rewritten(ClassLoader loader, String name, byte[] before, byte[] after);
}
