package dev.klock.agent.log;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * klock's own lines on stderr, each beginning with {@code klock: }.
 *
 * <p>Written straight to file descriptor 2: {@code System.err} belongs to the program, which may replace it, hold its lock, or have it
 * print elsewhere. One line is one write without a lock, so that no thread waits for another here. A stderr that cannot be written is
 * given up silently. stdout belongs to the program alone.
 */
public final class Stderr {
    private static final String PREFIX = "klock: ";
    private static final boolean UTF_8 = isUtf8();

    private static volatile OutputStream out = new FileOutputStream(FileDescriptor.err);
    private static volatile Level level = Level.WARN;
    private static volatile String home;

    private Stderr() {
    }

    private static boolean isUtf8() {
        String encoding = System.getProperty("native.encoding");
        return encoding == null || encoding.equalsIgnoreCase("UTF-8");
    }

    /** Sets what is said from now on; {@code warn} until then. */
    public static void level(Level newLevel) {
        level = newLevel;
    }

    /** What is advised from now on names the home {@code directory}, since a verb would not find it from where the program was started. */
    public static void advise(String directory) {
        home = directory;
    }

    /** Whether lines of this level are said. */
    public static boolean says(Level ofLine) {
        return ofLine.compareTo(level) <= 0;
    }

    /** Something klock could not do, or did not let happen. */
    public static void error(String text) {
        say(Level.ERROR, "", text);
    }

    /** Something that should be known. */
    public static void warn(String text) {
        say(Level.WARN, "warning: ", text);
    }

    /** What klock does. */
    public static void info(String text) {
        say(Level.INFO, "info: ", text);
    }

    /** What klock does, in detail. */
    public static void debug(String text) {
        say(Level.DEBUG, "debug: ", text);
    }

    /** What no level may hide: loosened protection, and the session's summary. */
    public static void announce(String text) {
        write("", text);
    }

    private static void say(Level ofLine, String kind, String text) {
        if (says(ofLine)) {
            write(kind, text);
        }
    }

    /** Each line of {@code text} gets the prefix; what a terminal could act on is escaped. */
    private static void write(String kind, String said) {
        String text = home == null ? said : Advice.at(home, said);
        StringBuilder lines = new StringBuilder(text.length() + 32);
        int from = 0;
        while (from <= text.length()) {
            int end = text.indexOf('\n', from);
            int to = end < 0 ? text.length() : end;
            if (to > from || end < 0 && from == 0) {
                lines.append(PREFIX).append(from == 0 ? kind : "").append(Escapes.line(text.substring(from, to))).append('\n');
            }
            from = to + 1;
        }
        try {
            out.write(lines.toString().getBytes(UTF_8 ? StandardCharsets.UTF_8 : StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // there is no other place to say it
        }
    }

    /** Sends the lines to {@code other}, for tests of what is said; returns where they went before. */
    static OutputStream redirect(OutputStream other) {
        OutputStream before = out;
        out = other;
        return before;
    }
}
