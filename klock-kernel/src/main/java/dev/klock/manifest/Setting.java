package dev.klock.manifest;

/** One entry of a manifest's {@code klock:} section and where it stands. Immutable. */
public final class Setting {
    private final String key;
    private final String value;
    private final int line;
    private final int column;

    Setting(String key, String value, int line, int column) {
        this.key = key;
        this.value = value;
        this.line = line;
        this.column = column;
    }

    /** The full key: nested mappings are joined by dots ({@code log: {level: warn}} is {@code log.level}). */
    public String key() {
        return key;
    }

    /** The value as text; numbers and booleans as the file writes them. */
    public String value() {
        return value;
    }

    /** 1-based line of the value. */
    public int line() {
        return line;
    }

    /** 1-based column of the value. */
    public int column() {
        return column;
    }
}
