package dev.klock.agent.log;

/** How much klock says on stderr; the earlier, the graver. */
public enum Level {
    ERROR("error"),
    WARN("warn"),
    INFO("info"),
    DEBUG("debug");

    private static final Level[] ALL = values();

    private final String word;

    Level(String word) {
        this.word = word;
    }

    /** The word a user writes. */
    public String word() {
        return word;
    }

    /** The level with this {@link #word()}, null if there is none. */
    public static Level of(String word) {
        for (Level level : ALL) {
            if (level.word.equals(word)) {
                return level;
            }
        }
        return null;
    }
}
