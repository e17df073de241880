package dev.klock;

/** A session could not be opened: the manifest cannot be used. The message is one line with file, line, column and what would be right. */
public final class KlockException extends Exception {
    private static final long serialVersionUID = 1L;

    public KlockException(String message) {
        super(message);
    }

    public KlockException(String message, Throwable cause) {
        super(message, cause);
    }
}
