package dev.klock.agent.config;

/** What happens to an access outside the scope. Declared from loose to strict, so that {@link #compareTo} tells which of two is tighter. */
public enum Mode {
    /** Nothing is woven. */
    OFF("off"),
    /** Recorded, without a warning. */
    LEARN("learn"),
    /** One warning a distinct violation, then the call goes on (K6-3, C33). */
    PERMISSIVE("permissive"),
    /** The call is denied and the program goes on. */
    BLOCK("block"),
    /** The call is denied, the session aborted and rolled back, the JVM ended with 108 (K6-3, K6-5). */
    STRICT("strict");

    private static final Mode[] ALL = values();

    private final String word;

    Mode(String word) {
        this.word = word;
    }

    /** The word a user writes. */
    public String word() {
        return word;
    }

    /** Whether an access outside the scope is stopped before its effect (K6-2). */
    public boolean denies() {
        return this == STRICT || this == BLOCK;
    }

    /** The mode with this {@link #word()}, null if there is none. */
    public static Mode of(String word) {
        for (Mode mode : ALL) {
            if (mode.word.equals(word)) {
                return mode;
            }
        }
        return null;
    }
}
