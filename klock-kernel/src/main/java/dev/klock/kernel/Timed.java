package dev.klock.kernel;

/** Something that is due at a time; a link of the {@link TimerWheel}. */
abstract class Timed {
    static final int UNSCHEDULED = -1;

    Timed earlier;
    Timed later;
    /** Kernel clock, milliseconds. */
    long dueMs;
    int slot = UNSCHEDULED;
}
