package dev.klock.agent.resolve;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/**
 * The three forms of a file's name and the ways between them.
 *
 * <ul>
 *   <li><b>Real</b>: a string with one char per byte (0 to 255). The kernel's name without loss; what resolution works on.
 *   <li><b>Text</b>: the name decoded as UTF-8, the form of manifests and logs. A byte that is not part of valid UTF-8 becomes the lone
 *       surrogate U+DC00 plus the byte, so that two names never have the same text and none is ever taken for a declared one.
 *   <li><b>Requested</b>: the string that a program gave java.io, which the JDK encodes with {@code sun.jnu.encoding} (D13, and LANG=C).
 * </ul>
 *
 * <p>Immutable.
 */
public final class Names {
    private static final int UTF_8 = 0;
    private static final int LATIN_1 = 1;
    private static final int OTHER = 2;

    private final Charset charset;
    private final int kind;

    /** Names for a JVM whose {@code sun.jnu.encoding} is {@code jnuEncoding}; null or unknown counts as UTF-8. */
    public Names(String jnuEncoding) {
        Charset c;
        try {
            c = jnuEncoding == null ? StandardCharsets.UTF_8 : Charset.forName(jnuEncoding);
        } catch (IllegalArgumentException e) {
            c = StandardCharsets.UTF_8;
        }
        charset = c;
        kind = c.equals(StandardCharsets.UTF_8) ? UTF_8 : c.equals(StandardCharsets.ISO_8859_1) ? LATIN_1 : OTHER;
    }

    /** The real form of a name's bytes. */
    public static String real(byte[] name) {
        return new String(name, StandardCharsets.ISO_8859_1);
    }

    /** The bytes of a real name. */
    public static byte[] bytes(String real) {
        return real.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** The real form of a string given to java.io: what the JDK will hand to the kernel. A character that does not fit becomes '?'. */
    public String encode(String requested) {
        if (isAscii(requested)) {
            return requested;
        }
        if (kind == UTF_8) {
            return real(requested.getBytes(StandardCharsets.UTF_8));
        }
        if (kind == LATIN_1) {
            // the JDK's own loop is by char, so that a surrogate pair becomes two question marks
            char[] chars = requested.toCharArray();
            for (int i = 0; i < chars.length; i++) {
                if (chars[i] > 0xFF) {
                    chars[i] = '?';
                }
            }
            return new String(chars);
        }
        return real(requested.getBytes(charset));
    }

    /** The text of a real name. */
    public static String text(String real) {
        return isAscii(real) ? real : decode(real);
    }

    /** {@code text} as far as code in C reads it: up to a zero. */
    public static String beforeZero(String text) {
        int zero = text.indexOf('\0');
        return zero < 0 ? text : text.substring(0, zero);
    }

    /** The real form of a text; undoes {@link #text}. A lone surrogate that stands for no byte becomes '?'. */
    public static String ofText(String text) {
        if (isAscii(text)) {
            return text;
        }
        StringBuilder real = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x80) {
                real.append(c);
            } else if (c < 0x800) {
                real.append((char) (0xC0 | c >> 6)).append((char) (0x80 | c & 0x3F));
            } else if (!Character.isSurrogate(c)) {
                real.append((char) (0xE0 | c >> 12)).append((char) (0x80 | c >> 6 & 0x3F)).append((char) (0x80 | c & 0x3F));
            } else if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                int cp = Character.toCodePoint(c, text.charAt(++i));
                real.append((char) (0xF0 | cp >> 18)).append((char) (0x80 | cp >> 12 & 0x3F))
                        .append((char) (0x80 | cp >> 6 & 0x3F)).append((char) (0x80 | cp & 0x3F));
            } else {
                real.append(c >= 0xDC80 && c <= 0xDCFF ? (char) (c - 0xDC00) : '?');
            }
        }
        return real.toString();
    }

    /**
     * A text for a message or a terminal: control characters, and bytes that are not UTF-8, are written as {@code \n} or {@code \x1b},
     * a backslash stays as it is (D25).
     */
    public static String shown(String text) {
        StringBuilder shown = null;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean escaped = c >= 0xDC80 && c <= 0xDCFF && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
            boolean plain = c >= 0x20 && c != 0x7F && !(c >= 0x80 && c < 0xA0) && !escaped && c != 0x2028 && c != 0x2029
                    && !(c >= 0x202A && c <= 0x202E) && !(c >= 0x2066 && c <= 0x2069);
            if (plain) {
                if (shown != null) {
                    shown.append(c);
                }
                continue;
            }
            if (shown == null) {
                shown = new StringBuilder(text.length() + 16).append(text, 0, i);
            }
            if (c == '\n') {
                shown.append("\\n");
            } else if (c == '\r') {
                shown.append("\\r");
            } else if (c == '\t') {
                shown.append("\\t");
            } else if (c > 0xFF && !escaped) {
                shown.append("\\u").append(Integer.toHexString(c));
            } else {
                int b = c & 0xFF;
                shown.append("\\x").append(Character.forDigit(b >> 4, 16)).append(Character.forDigit(b & 15, 16));
            }
        }
        return shown == null ? text : shown.toString();
    }

    /**
     * A name for people: as it is where it is UTF-8 without control characters; else each byte that is not printable ASCII is {@code \xNN}, as is a
     * backslash that would be taken for the beginning of one. {@link #ofExact} undoes the latter.
     */
    public static String printed(byte[] name) {
        String text = new String(name, StandardCharsets.UTF_8);
        boolean plain = text.indexOf('\ufffd') < 0;
        for (int i = 0; plain && i < text.length(); i++) {
            plain = !Character.isISOControl(text.charAt(i));
        }
        if (plain) {
            return text;
        }
        String real = real(name);
        StringBuilder printed = new StringBuilder(real.length() + 16);
        for (int i = 0; i < real.length(); i++) {
            char c = real.charAt(i);
            if (c >= 0x20 && c < 0x7f && !isEscape(real, i)) {
                printed.append(c);
            } else {
                escape(printed, c);
            }
        }
        return printed.toString();
    }

    /**
     * A name for programs, such that no two names have the same: as it is where it is UTF-8, whatever the characters; each other byte is {@code \xNN},
     * as is a backslash that would be taken for the beginning of one. {@link #ofExact} undoes it.
     */
    public static String exact(byte[] name) {
        String text = text(real(name));
        StringBuilder exact = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean stray = Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
            if (stray || isEscape(text, i)) {
                escape(exact, c);
            } else {
                exact.append(c);
            }
        }
        return exact.toString();
    }

    /** The bytes of the name that {@link #exact} or {@link #printed} gave. */
    public static byte[] ofExact(String exact) {
        StringBuilder text = new StringBuilder(exact.length());
        for (int i = 0; i < exact.length(); i++) {
            if (isEscape(exact, i)) {
                int b = Integer.parseInt(exact.substring(i + 2, i + 4), 16);
                text.append((char) (b < 0x80 ? b : 0xDC00 + b));
                i += 3;
            } else {
                text.append(exact.charAt(i));
            }
        }
        return bytes(ofText(text.toString()));
    }

    /** Whether {@code \xNN} stands at {@code at}. */
    private static boolean isEscape(String text, int at) {
        return text.startsWith("\\x", at) && at + 3 < text.length() && Character.digit(text.charAt(at + 2), 16) >= 0 && text.charAt(at + 2) < 0x80
                && Character.digit(text.charAt(at + 3), 16) >= 0 && text.charAt(at + 3) < 0x80;
    }

    private static void escape(StringBuilder to, char c) {
        to.append("\\x").append(Character.forDigit(c >> 4 & 15, 16)).append(Character.forDigit(c & 15, 16));
    }

    private static boolean isAscii(String s) {
        for (int i = 0; i < s.length(); i++) {
            if (s.charAt(i) >= 0x80) {
                return false;
            }
        }
        return true;
    }

    private static String decode(String real) {
        StringBuilder text = new StringBuilder(real.length());
        int i = 0;
        while (i < real.length()) {
            int b = real.charAt(i);
            int more = b < 0x80 ? 0 : b >= 0xC2 && b < 0xE0 ? 1 : b >= 0xE0 && b < 0xF0 ? 2 : b >= 0xF0 && b < 0xF5 ? 3 : -1;
            int cp = more == 0 ? b : more == 1 ? b & 0x1F : more == 2 ? b & 0x0F : b & 0x07;
            boolean valid = more >= 0 && i + more < real.length();
            for (int k = 1; valid && k <= more; k++) {
                int next = real.charAt(i + k);
                valid = (next & 0xC0) == 0x80;
                cp = cp << 6 | next & 0x3F;
            }
            // no form longer than needed, no encoded surrogate, nothing beyond Unicode: else the way back would not be unique
            valid = valid && (more < 2 || cp >= (more == 2 ? 0x800 : 0x10000)) && (cp < 0xD800 || cp > 0xDFFF) && cp <= 0x10FFFF;
            if (valid) {
                text.appendCodePoint(cp);
                i += more + 1;
            } else {
                text.append((char) (0xDC00 + b));
                i++;
            }
        }
        return text.toString();
    }
}
