package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.log.ThisProcess;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where the flight recorder keeps what it has recorded: a directory of this process in the temporary directory, which it makes itself. What a
 * recording is dumped to, and a repository elsewhere, is the program's to choose and to declare. Thread-safe.
 */
final class Recorder {
    private static final int MAKE_DIRECTORY = Op.MAKE_DIRECTORY.code();
    /** Length of a date and time as the flight recorder writes it, with the line behind it. */
    private static final int STAMP_LENGTH = 20;

    private final String temporary;
    private final Set<String> made = ConcurrentHashMap.newKeySet();

    /** {@code temporary}: the real name of the directory for temporary files when the JVM was started; null if there is none. */
    Recorder(String temporary) {
        this.temporary = temporary;
    }

    /** Whether the recorder is doing {@code op} for itself, to its directory or in it. Looks at the stack only where that may be. */
    boolean isItsOwn(int op, Target target) {
        if (!target.scheme().equals("FILE")) {
            return false;
        }
        String real = target.real();
        for (String directory : made) {
            if (real.startsWith(directory) && (real.length() == directory.length() || real.charAt(directory.length()) == '/')) {
                return Causes.isFlightRecorder();
            }
        }
        if (op != MAKE_DIRECTORY || !isRepository(real) || !Causes.isFlightRecorder()) {
            return false;
        }
        made.add(real);
        return true;
    }

    /** {@code temporary/2025_06_30_23_59_59_4711}: date, time and this process's id. */
    private boolean isRepository(String real) {
        int from = real.lastIndexOf('/') + 1;
        if (temporary == null || real.length() - from <= STAMP_LENGTH || !real.substring(0, from - 1).equals(temporary)) {
            return false;
        }
        for (int i = 0; i < STAMP_LENGTH; i++) {
            char c = real.charAt(from + i);
            boolean line = i >= 4 && (i - 4) % 3 == 0;
            if (line ? c != '_' : c < '0' || c > '9') {
                return false;
            }
        }
        return real.substring(from + STAMP_LENGTH).equals(String.valueOf(ThisProcess.pid()));
    }
}
