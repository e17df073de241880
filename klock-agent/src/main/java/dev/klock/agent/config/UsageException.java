package dev.klock.agent.config;

/**
 * Something the user gave is wrong: an argument, a setting, the manifest's place, klock's home. The message is one line that says what
 * was given and what would be right; whoever catches it prints it and ends with {@link #EXIT_CODE}.
 */
public class UsageException extends Exception {
    private static final long serialVersionUID = 1L;

    /** The exit code of bad usage, of a bad manifest, and of hooks that could not be installed. */
    public static final int EXIT_CODE = 2;

    /** An error with this one line. */
    public UsageException(String line) {
        super(line);
    }
}
