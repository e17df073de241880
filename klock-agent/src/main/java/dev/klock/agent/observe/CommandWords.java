package dev.klock.agent.observe;

/**
 * The words of a diagnostic command, cut as the VM does it: at blanks, with an option before each {@code =} and a value behind it, both of
 * which may stand in quotes.
 */
final class CommandWords {
    private final String line;
    private final boolean more;
    private final String name;
    private int at;
    private String key;
    private String value;

    CommandWords(String command) {
        int end = command.indexOf('\n');
        more = end >= 0 && !command.substring(end).isBlank();
        line = end < 0 ? command : command.substring(0, end);
        int from = 0;
        while (from < line.length() && isSpace(line.charAt(from))) {
            from++;
        }
        at = from;
        while (at < line.length() && !isSpace(line.charAt(at))) {
            at++;
        }
        name = line.substring(from, at);
    }

    /** The command's. */
    String name() {
        return name;
    }

    /** Whether other lines follow, of which a VM takes none that comes this way. */
    boolean hasMoreLines() {
        return more;
    }

    /** Goes on to the next word; false if there is none, or none that the VM takes. */
    boolean next() {
        while (at < line.length() && line.charAt(at) == ' ') {
            at++;
        }
        if (at >= line.length()) {
            return false;
        }
        key = part(true);
        value = "";
        if (at < line.length() && line.charAt(at) == '=') {
            at++;
            value = part(false);
        }
        return !key.isEmpty();
    }

    /** What stands before the {@code =}, or the whole word. */
    String key() {
        return key;
    }

    /** What stands behind the {@code =}; empty if there is none. */
    String value() {
        return value;
    }

    /** Up to a blank, or to a {@code =} if that ends it. The VM begins one character later for a quote, wherever that stands. */
    private String part(boolean option) {
        int from = at;
        for (; at < line.length() && line.charAt(at) != ' ' && !(option && line.charAt(at) == '='); at++) {
            char c = line.charAt(at);
            if (c != '"' && c != '\'') {
                continue;
            }
            int end = at + 1;
            while (end < line.length() && (line.charAt(end) != c || line.charAt(end - 1) == '\\')) {
                end++;
            }
            String quoted = line.substring(from + 1, Math.min(end, line.length()));
            at = Math.min(end + 1, line.length());
            return quoted;
        }
        return line.substring(from, at);
    }

    private static boolean isSpace(char c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }
}
