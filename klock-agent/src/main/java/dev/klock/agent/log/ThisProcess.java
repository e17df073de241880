package dev.klock.agent.log;

import dev.klock.shared.Ancestors;
import java.io.IOException;

/**
 * The process that klock is in. Read from {@code /proc}: {@code ProcessHandle} would load more than a hundred classes before {@code main},
 * and if the stack ended while it is initialised it could never be used again.
 */
public final class ThisProcess {
    private static final long PID = read();

    private ThisProcess() {
    }

    /** Its id; -1 if that cannot be told. */
    public static long pid() {
        return PID;
    }

    private static long read() {
        try {
            return Ancestors.ownNumber();
        } catch (IOException e) {
            return -1;
        }
    }
}
