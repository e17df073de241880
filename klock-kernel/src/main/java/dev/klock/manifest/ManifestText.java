package dev.klock.manifest;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;

/** A manifest's bytes as characters: strictly UTF-8, without control characters, which no parser's leniency may let through. */
final class ManifestText {
    /**
     * Stand-ins for the braces of <code>${name}</code> while YAML is parsed, private-use characters: inside {@code [...]} YAML ends a
     * plain text at a brace, and nobody should have to know that. One for one, so that lines and columns stay true.
     */
    private static final char OPEN = '\uF5A4';
    private static final char CLOSE = '\uF5A5';

    private final String file;
    private char[] chars;
    private int start;
    private int length;

    ManifestText(String file) {
        this.file = file;
    }

    char[] chars() {
        return chars;
    }

    /** Where the text starts in {@link #chars()}: after a byte order mark. */
    int start() {
        return start;
    }

    int length() {
        return length;
    }

    void decode(byte[] bytes) throws ManifestException {
        if (bytes.length >= 2 && ((bytes[0] == (byte) 0xFE && bytes[1] == (byte) 0xFF) || (bytes[0] == (byte) 0xFF && bytes[1] == (byte) 0xFE))) {
            throw new ManifestException(file, 1, 1, "is not UTF-8 but UTF-16", "save it as UTF-8");
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(bytes.length);
        CoderResult result = decoder.decode(in, out, true);
        chars = out.array();
        length = out.position();
        if (result.isError()) {
            int value = bytes[in.position()] & 0xFF;
            throw at(length, "is not UTF-8: byte 0x".concat(Integer.toHexString(value)), "save it as UTF-8");
        }
        if (length > 0 && chars[0] == '\uFEFF') {
            start = 1;
            length--;
        }
        for (int i = start; i < start + length; i++) {
            char c = chars[i];
            if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t') || (c >= 0x7F && c <= 0x9F) || c == '\u2028' || c == '\u2029'
                    || c == '\uFEFF' || c == OPEN || c == CLOSE || isUnseen(c) || c == '\r' && (i + 1 == start + length || chars[i + 1] != '\n')) {
                throw at(i, "holds the character U+".concat(hex(c)), "take it out, or write it as a \\u escape in quotes");
            }
        }
    }

    /** What is not shown, or turns the direction in which text is shown: a reader takes the line for another one. */
    private static boolean isUnseen(char c) {
        return c >= '\u200B' && c <= '\u200F' || c >= '\u202A' && c <= '\u202E' || c >= '\u2060' && c <= '\u2069' || c == '\u061C';
    }

    boolean isBlank() {
        for (int i = start; i < start + length; i++) {
            if (chars[i] > ' ') {
                return false;
            }
        }
        return true;
    }

    /** Whether it is JSON: by the file's ending, else by its first character. */
    boolean isJson() {
        if (file.endsWith(".json")) {
            return true;
        }
        if (file.endsWith(".yaml") || file.endsWith(".yml")) {
            return false;
        }
        for (int i = start; i < start + length; i++) {
            if (chars[i] > ' ') {
                return chars[i] == '{' || chars[i] == '[';
            }
        }
        return false;
    }

    /** Hides the braces of variables from YAML. */
    void hideBraces() {
        int end = start + length;
        for (int i = start; i + 1 < end; i++) {
            if (chars[i] == '$' && chars[i + 1] == '{') {
                int k = i + 2;
                while (k < end && isNamePart(chars[k])) {
                    k++;
                }
                if (k < end && chars[k] == '}') {
                    chars[i + 1] = OPEN;
                    chars[k] = CLOSE;
                    i = k;
                }
            }
        }
    }

    private static boolean isNamePart(char c) {
        return c > ' ' && c != '{' && c != '}' && c != '"' && c != '\'' && c != '[' && c != ']' && c != ',' && c != '#';
    }

    /** Undoes {@link #hideBraces} in a piece of text. */
    static String showBraces(String text) {
        return text == null || text.indexOf(OPEN) < 0 ? text : text.replace(OPEN, '{').replace(CLOSE, '}');
    }

    private ManifestException at(int index, String problem, String remedy) {
        int line = 1;
        int column = 1;
        for (int i = 0; i < index; i++) {
            if (chars[i] == '\n' || (chars[i] == '\r' && (i + 1 == index || chars[i + 1] != '\n'))) {
                line++;
                column = 1;
            } else if (chars[i] != '\uFEFF' && !Character.isLowSurrogate(chars[i])) {
                column++;
            }
        }
        return new ManifestException(file, line, column, problem, remedy);
    }

    static String hex(char c) {
        String hex = Integer.toHexString(c).toUpperCase(java.util.Locale.ROOT);
        return "0000".substring(hex.length()).concat(hex);
    }
}
