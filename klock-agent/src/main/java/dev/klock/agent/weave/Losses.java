package dev.klock.agent.weave;

/** Hears of a hook that could not be put in place after {@code main} began: its class was loaded only then, or another agent changed it. */
public interface Losses {
    /** Called on the thread that loads the class; must not throw. {@code gap} is one line on what is missing. */
    void lost(String gap);
}
