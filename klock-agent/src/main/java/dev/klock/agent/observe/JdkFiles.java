package dev.klock.agent.observe;

import dev.klock.agent.decide.Target;
import dev.klock.agent.log.ThisProcess;

/**
 * Files that the JDK keeps for itself, in places that are not the program's to choose. What the flight recorder has recorded: in a directory of
 * this process in the temporary directory; what a recording is dumped to, and a repository elsewhere, is the program's.
 * And what the fonts' configuration found out: below the user's home. Immutable.
 */
final class JdkFiles {
    private static final int MAKE_DIRECTORY = Op.MAKE_DIRECTORY.code();
    /** Length of a date and time as the flight recorder writes it, with the line behind it. */
    private static final int STAMP_LENGTH = 20;

    private final String temporary;
    private final String fonts;

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
        return isInRepository(real) && Causes.isFlightRecorder();
    }

    private static boolean isIn(String directory, String real) {
        return real.startsWith(directory) && (real.length() == directory.length() || real.charAt(directory.length()) == '/');
    }

    /** At or below {@code temporary/2025_06_30_23_59_59_4711}: date, time and this process's id. */
    private boolean isInRepository(String real) {
        if (temporary == null || !isIn(temporary, real) || real.length() == temporary.length()) {
            return false;
        }
        int from = temporary.length() + 1;
        int slash = real.indexOf('/', from);
        int end = slash < 0 ? real.length() : slash;
        if (end - from <= STAMP_LENGTH) {
            return false;
        }
        for (int i = 0; i < STAMP_LENGTH; i++) {
            char c = real.charAt(from + i);
            boolean line = i >= 4 && (i - 4) % 3 == 0;
            if (line ? c != '_' : c < '0' || c > '9') {
                return false;
            }
        }
        return real.substring(from + STAMP_LENGTH, end).equals(String.valueOf(ThisProcess.pid()));
    }
}
