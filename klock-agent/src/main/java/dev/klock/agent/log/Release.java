package dev.klock.agent.log;

/** Which klock this is. */
public final class Release {
    /** The version of the build. */
    public static final String VERSION = "0.1.0";

    private Release() {
    }
}
