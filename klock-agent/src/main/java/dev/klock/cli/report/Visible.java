package dev.klock.cli.report;

/**
 * Text that somebody else chose, so that a reader sees what it is: whatever is invisible, moves what stands beside it or cannot be encoded is
 * written as a backslash, {@code u} and four hex digits, and what is too long is cut.
 */
final class Visible {
    /** The most of one name that is shown, in UTF-16 units. */
    static final int MAX_NAME = 4_200;
    /** The most of a text of several lines, such as one line of a file. */
    static final int MAX_LINE = 400;
    /** What numbers are grouped by. */
    private static final int THIN_SPACE = 0x2009;
    private static final String HEX = "0123456789abcdef";

    private Visible() {
    }

    /** A name, at most {@link #MAX_NAME} long; "" for null. */
    static String name(String text) {
        return of(text, MAX_NAME, false);
    }

    /** One line of a file: tabs stay. */
    static String line(String text) {
        return of(text, MAX_LINE, true);
    }

    /** At most {@code max} units of {@code text}, and how many there were if there were more. */
    static String of(String text, int max, boolean tabs) {
        if (text == null) {
            return "";
        }
        int end = Math.min(text.length(), max);
        if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
            end--;
        }
        StringBuilder shown = new StringBuilder(end + 16);
        for (int i = 0; i < end;) {
            int c = text.codePointAt(i);
            i += Character.charCount(c);
            if (!isHidden(c) || tabs && c == '\t') {
                shown.appendCodePoint(c);
            } else if (c == '\n') {
                shown.append("\\n");
            } else if (c == '\r') {
                shown.append("\\r");
            } else if (c == '\t') {
                shown.append("\\t");
            } else {
                for (char unit : Character.toChars(c)) {
                    shown.append("\\u").append(HEX.charAt(unit >> 12)).append(HEX.charAt(unit >> 8 & 15)).append(HEX.charAt(unit >> 4 & 15)).append(HEX.charAt(unit & 15));
                }
            }
        }
        if (end < text.length()) {
            shown.append("\u2026 (").append(text.length()).append(" characters)");
        }
        return shown.toString();
    }

    /** The first {@code max} units of {@code text} as they are, for keeping; the same instance if it is no longer. Null for null. */
    static String kept(String text, int max) {
        return text == null || text.length() <= max ? text : text.substring(0, max) + "\u2026 (" + text.length() + " characters)";
    }

    private static boolean isHidden(int c) {
        switch (Character.getType(c)) {
            case Character.CONTROL:
            case Character.FORMAT:
            case Character.SURROGATE:
            case Character.LINE_SEPARATOR:
            case Character.PARAGRAPH_SEPARATOR:
            case Character.UNASSIGNED:
            case Character.PRIVATE_USE:
                return true;
            case Character.SPACE_SEPARATOR:
                return c != ' ' && c != THIN_SPACE;
            default:
                // look like nothing at all, or only change how their neighbour looks
                return c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0 || c >= 0xfe00 && c <= 0xfe0f || c >= 0xe0100 && c <= 0xe01ef;
        }
    }
}
