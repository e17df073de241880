package dev.klock.agent.observe;

/** Why the line that lets a child start says little of what the child does. */
public enum Unseen {
    /** It is a JVM that could have been watched. */
    UNMONITORED_JVM,
    /** It runs whatever it is told to. */
    OPEN_ENDED
}
