package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.log.Escapes;
import java.io.Console;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;

/** Where a verb writes: its answer to {@link #out}, everything else to stderr. */
final class Terminal {
    final PrintWriter out;
    private final PrintWriter err;
    private final boolean colours;

    Terminal(PrintWriter out, PrintWriter err, boolean colours) {
        this.out = out;
        this.err = err;
        this.colours = colours;
    }

    /** Whether this process's output is read by a person who wants colours. */
    static boolean wantsColours(LaunchEnvironment environment) {
        String refused = environment.variable("NO_COLOR");
        String kind = environment.variable("TERM");
        return (refused == null || refused.isEmpty()) && kind != null && !kind.equals("dumb") && isTerminal(System.console());
    }

    /** From 22 on there is a console even where there is no terminal, and a method that tells. */
    private static boolean isTerminal(Console console) {
        if (console == null) {
            return false;
        }
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (IllegalAccessException | InvocationTargetException e) {
            return false;
        }
    }

    boolean hasColours() {
        return colours;
    }

    /** One line of the answer, safe to look at whatever names are in it. */
    void line(String text) {
        out.println(Escapes.line(text));
    }

    /** One line of a unified diff; a mark for a missing end of line stays on a line of its own. */
    void coloured(String line) {
        int cut = line.indexOf('\n');
        String first = Escapes.line(cut < 0 ? line : line.substring(0, cut));
        boolean head = first.startsWith("---") || first.startsWith("+++");
        out.println(first.startsWith("+") && !head ? good(first) : first.startsWith("-") && !head ? bad(first) : first);
        if (cut >= 0) {
            out.println(line.substring(cut + 1));
        }
    }

    String good(String text) {
        return colours ? "\u001b[32m" + text + "\u001b[0m" : text;
    }

    String bad(String text) {
        return colours ? "\u001b[31m" + text + "\u001b[0m" : text;
    }

    /** Begins a new picture: an empty screen, or a line where there is none. */
    void clear() {
        out.print(colours ? "\u001b[H\u001b[2J" : System.lineSeparator());
    }

    /** Replaces the terminal's last line on stderr; "" takes it away. */
    void status(String text) {
        err.print("\r\u001b[K" + text);
        err.flush();
    }

    /** One line on stderr. */
    void complain(String text) {
        err.println("klock: " + Escapes.line(text));
        err.flush();
    }
}
