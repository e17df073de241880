package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.log.Escapes;
import java.io.Console;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Where a verb writes: its answer to {@link #out}, everything else to stderr. */
final class Terminal {
    final PrintWriter out;
    final PrintWriter err;
    private final boolean colours;
    /** Beneath {@link #out}; null if that is all there is. */
    private final OutputStream bytes;
    private final boolean shown;

    Terminal(PrintWriter out, PrintWriter err, boolean colours) {
        this(out, err, colours, null, colours);
    }

    /**
     * Writes to {@code out}, and, where bytes matter, to {@code bytes} beneath it.
     *
     * @param shown a terminal would act on what is written there
     */
    Terminal(PrintWriter out, PrintWriter err, boolean colours, OutputStream bytes, boolean shown) {
        this.out = out;
        this.err = err;
        this.colours = colours;
        this.bytes = bytes;
        this.shown = shown;
    }

    /** Whether this process's stdout is a terminal, or that cannot be told. Stdin, which the console asks for too, may be a pipe. */
    static boolean isStdoutShown() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
            return target.startsWith("/dev/") && !target.equals("/dev/null");
        } catch (IOException | RuntimeException unknown) {
            return true;
        }
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

    /**
     * A unified diff: safe to look at on a terminal, else as it is, byte for byte, so that patch takes it.
     *
     * @param lines without their ends; a mark for a missing end of line stays on a line of its own
     */
    void diff(List<String> lines) throws IOException {
        if (shown) {
            for (String line : lines) {
                coloured(line);
            }
            return;
        }
        StringBuilder text = new StringBuilder();
        for (String line : lines) {
            text.append(line).append('\n');
        }
        if (bytes == null) {
            out.print(text);
            return;
        }
        out.flush();
        try {
            bytes.write(text.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IOException("the answer could not be written to stdout", e);
        }
    }

    /** One line of a unified diff, safe to look at. */
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
