package dev.klock.agent.library.silent;

/** Stands for {@code java.util.logging.Level}. */
public final class Level {
    public static final Level SEVERE = new Level();
    public static final Level WARNING = new Level();
    public static final Level INFO = new Level();
    public static final Level CONFIG = new Level();
    public static final Level FINE = new Level();
    public static final Level FINER = new Level();
    public static final Level FINEST = new Level();

    private Level() {
    }
}
