package dev.klock.kernel;

/** Something that is due at a time; a link of the {@link TimerWheel}. Known by its number in the {@link Roll}, as all links are. */
abstract class Timed {
    static final int UNSCHEDULED = -1;

    int id;
    int earlier;
    int later;
    int slot = UNSCHEDULED;
    /** Kernel clock, milliseconds. */
    long dueMs;
}
