package dev.klock.resource;

/**
 * Text that somebody else wrote, as messages show it. Control characters and those that turn the direction of writing around, by which one
 * line would look like two or like another one, are shown as {@code <U+000a>}; so is half of a surrogate pair.
 */
public final class Shown {
    /** The most characters of one value in a message. */
    public static final int VALUE = 120;

    /** The most characters of a message; two of the longest paths, one wrong and one right, have room in it. */
    public static final int MESSAGE = 10_000;

    private Shown() {
    }

    /** {@code text} with at most {@link #VALUE} of its characters, and {@code ...} if it has more. */
    public static String value(String text) {
        return shown(text, VALUE);
    }

    /** {@code text} with at most {@link #MESSAGE} of its characters, and {@code ...} if it has more. */
    public static String message(String text) {
        return shown(text, MESSAGE);
    }

    private static String shown(String text, int max) {
        int end = Math.min(text.length(), max);
        if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
            end--;
        }
        StringBuilder b = null;
        for (int i = 0; i < end; i++) {
            char c = text.charAt(i);
            if (isPlain(c) || isHalfOfAPair(text, i)) {
                if (b != null) {
                    b.append(c);
                }
                continue;
            }
            if (b == null) {
                b = new StringBuilder(end + 16).append(text, 0, i);
            }
            b.append('<').append(ResourceSyntax.codePoint(c)).append('>');
        }
        if (b == null && end == text.length()) {
            return text;
        }
        String shown = b == null ? text.substring(0, end) : b.toString();
        return end == text.length() ? shown : shown.concat("...");
    }

    private static boolean isPlain(char c) {
        if (c < 0x20 || c >= 0x7F && c <= 0x9F || Character.isSurrogate(c)) {
            return false;
        }
        // the marks, embeddings, overrides and isolates of Unicode's bidirectional algorithm, and its two line breaks
        return c != '\u061c' && c != '\u200e' && c != '\u200f' && (c < '\u2028' || c > '\u202e') && (c < '\u2066' || c > '\u2069');
    }

    /** Whether there is a half on that side of the one at {@code i} with which it is a character. */
    private static boolean isHalfOfAPair(String text, int i) {
        return Character.isHighSurrogate(text.charAt(i))
                ? i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))
                : Character.isLowSurrogate(text.charAt(i)) && i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
    }
}
