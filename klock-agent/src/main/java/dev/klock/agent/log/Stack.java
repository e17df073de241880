package dev.klock.agent.log;

/**
 * Whence an access was tried, as the log tells it: the JDK's frames next to the effect, and the program's; what the JDK has between the program's is left
 * out, and so is klock itself. Bounded, since a program may be as deep as it likes.
 */
public final class Stack {
    /** The most frames of the JDK. */
    static final int MAX_JDK = 4;
    /** The most frames of the program. */
    static final int MAX_PROGRAM = 24;

    private Stack() {
    }

    /** Appends {@code frames}, the innermost first, as a JSON array of texts. */
    static void json(StringBuilder to, StackTraceElement[] frames) {
        to.append('[');
        int jdk = 0;
        int program = 0;
        boolean first = true;
        for (int i = 0; i < frames.length && program < MAX_PROGRAM; i++) {
            boolean counts = false;
            if (isOfTheJdk(frames[i])) {
                counts = program == 0 && !isOfKlock(frames[i]) && jdk++ < MAX_JDK;
            } else if (!isOfKlock(frames[i])) {
                program++;
                counts = true;
            }
            if (counts) {
                if (!first) {
                    to.append(',');
                }
                first = false;
                Escapes.json(to, frames[i].toString());
            }
        }
        to.append(']');
    }

    /** The first frame that is neither the JDK's nor klock's; null if there is none. */
    public static String caller(StackTraceElement[] frames) {
        for (int i = 0; i < frames.length; i++) {
            if (!isOfTheJdk(frames[i]) && !isOfKlock(frames[i])) {
                return frames[i].toString();
            }
        }
        return null;
    }

    private static boolean isOfTheJdk(StackTraceElement frame) {
        String module = frame.getModuleName();
        return module != null && (module.startsWith("java.") || module.startsWith("jdk."));
    }

    /** What woven code calls is in the JDK's own packages. */
    private static boolean isOfKlock(StackTraceElement frame) {
        String type = frame.getClassName();
        return "klock".equals(frame.getClassLoaderName()) || type.startsWith("sun.nio.fs.Klock") || type.startsWith("java.lang.Klock") || type.startsWith("dev.klock.bridge.");
    }
}
