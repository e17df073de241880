package dev.klock.agent.library.silent;

/** Stands for {@code java.util.logging.Logger}; has of its methods those that the parser calls, and does nothing. */
public final class Logger {
    private static final Logger ONLY = new Logger();

    private Logger() {
    }

    public static Logger getLogger(String name) {
        return ONLY;
    }

    public boolean isLoggable(Level level) {
        return false;
    }

    public void log(Level level, String message) {
    }

    public void log(Level level, String message, Throwable thrown) {
    }

    public void warning(String message) {
    }
}
