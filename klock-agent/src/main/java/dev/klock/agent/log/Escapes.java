package dev.klock.agent.log;

/** Writes text that somebody else chose so that it stays what it is: one JSON string, one line, one YAML scalar. */
public final class Escapes {
    private static final String HEX = "0123456789abcdef";

    private Escapes() {
    }

    /**
     * Appends {@code text} as a JSON string with its quotes; null as {@code null}. Besides what JSON asks for, everything that could
     * move a terminal's cursor, turn the reading direction, break a line or not be seen is escaped, and so is half of a surrogate pair, which UTF-8
     * cannot hold.
     */
    public static void json(StringBuilder to, String text) {
        if (text == null) {
            to.append("null");
            return;
        }
        to.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                to.append('\\').append(c);
            } else if (isSeenPair(text, i)) {
                to.append(c).append(text.charAt(++i));
            } else {
                visible(to, c);
            }
        }
        to.append('"');
    }

    /**
     * {@code text} with everything that a terminal could act on, or would not show, written as {@code \n}, {@code \t} or a backslash, {@code u} and four hex
     * digits; the same instance if there is nothing of the kind. A backslash stays as it is.
     */
    public static String line(String text) {
        int i = 0;
        while (i < text.length() && !isUnsafe(text.charAt(i))) {
            i++;
        }
        if (i == text.length()) {
            return text;
        }
        StringBuilder line = new StringBuilder(text.length() + 16).append(text, 0, i);
        for (; i < text.length(); i++) {
            if (isSeenPair(text, i)) {
                line.append(text.charAt(i)).append(text.charAt(++i));
            } else {
                visible(line, text.charAt(i));
            }
        }
        return line.toString();
    }

    /** {@code text} as an item of a YAML list: as it is where YAML reads that as one string, else in double quotes. */
    public static String yaml(String text) {
        if (isPlain(text)) {
            return text;
        }
        StringBuilder quoted = new StringBuilder(text.length() + 8);
        json(quoted, text);
        return quoted.toString();
    }

    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean mark = c == ':' && (i + 1 == text.length() || text.charAt(i + 1) == ' ') || c == '#' && i > 0 && text.charAt(i - 1) == ' ';
            if (mark || isUnsafe(c) && !isSeenPair(text, i) && !(i > 0 && isSeenPair(text, i - 1))) {
                return false;
            }
        }
        return !text.isEmpty() && Character.isLetterOrDigit(text.charAt(0)) && !text.endsWith(" ");
    }

    /** Whether at {@code at} a character of two halves begins that can be seen. */
    private static boolean isSeenPair(String text, int at) {
        return Character.isHighSurrogate(text.charAt(at)) && at + 1 < text.length() && Character.isLowSurrogate(text.charAt(at + 1))
                && Character.getType(text.codePointAt(at)) != Character.FORMAT;
    }

    private static boolean isUnsafe(char c) {
        return c < 0x20 || c >= 0x7f && c < 0xa0 || c >= 0xad
                && (Character.getType(c) == Character.FORMAT || c >= 0x2028 && c <= 0x202e || c >= 0x2060 && c <= 0x2069 || c >= 0xd800 && c < 0xe000);
    }

    private static void visible(StringBuilder to, char c) {
        if (!isUnsafe(c)) {
            to.append(c);
        } else if (c == '\n') {
            to.append("\\n");
        } else if (c == '\r') {
            to.append("\\r");
        } else if (c == '\t') {
            to.append("\\t");
        } else {
            unicode(to, c);
        }
    }

    static void unicode(StringBuilder to, char c) {
        to.append("\\u").append(HEX.charAt(c >> 12)).append(HEX.charAt(c >> 8 & 15)).append(HEX.charAt(c >> 4 & 15)).append(HEX.charAt(c & 15));
    }
}
