package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.log.ThisProcess;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Files that the JDK keeps for itself, in places that are not the program's to choose. What the flight recorder has recorded: in a directory of
 * this process in the temporary directory, which it makes itself; what a recording is dumped to, and a repository elsewhere, is the program's.
 * And what the fonts' configuration found out: below the user's home. Thread-safe.
 */
final class JdkFiles {
    private static final int MAKE_DIRECTORY = Op.MAKE_DIRECTORY.code();
    /** Length of a date and time as the flight recorder writes it, with the line behind it. */
    private static final int STAMP_LENGTH = 20;

    private final String temporary;
    private final String fonts;
    private final Set<String> made = ConcurrentHashMap.newKeySet();

    /** The real names of the directory for temporary files and of the user's home when the JVM was started; null if there is none. */
    JdkFiles(String temporary, String home) {
        this.temporary = temporary;
        fonts = home == null ? null : home.concat("/.java/fonts");
    }

    /** Whether the JDK is doing {@code op} for itself, to such a file. Looks at the stack only where that may be. */
    boolean isItsOwn(int op, Target target) {
        if (!target.scheme().equals("FILE")) {
            return false;
        }
        String real = target.real();
        if (fonts != null && (isIn(fonts, real) || op == MAKE_DIRECTORY && fonts.startsWith(real.concat("/")))) {
            return Causes.isFontConfiguration();
        }
        for (String directory : made) {
            if (isIn(directory, real)) {
                return Causes.isFlightRecorder();
            }
        }
        if (op != MAKE_DIRECTORY || !isRepository(real) || !Causes.isFlightRecorder()) {
            return false;
        }
        made.add(real);
        return true;
    }

    private static boolean isIn(String directory, String real) {
        return real.startsWith(directory) && (real.length() == directory.length() || real.charAt(directory.length()) == '/');
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
