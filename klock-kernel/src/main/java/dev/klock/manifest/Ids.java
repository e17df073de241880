package dev.klock.manifest;

import java.nio.charset.StandardCharsets;

/** What the id of an agent or session may be: it becomes part of names and of lines of text. */
public final class Ids {
    private Ids() {}

    /** What is wrong with {@code id}, to follow its field's name, and what would be right; null if nothing is. */
    public static String[] objection(String id) {
        int bytes = id.getBytes(StandardCharsets.UTF_8).length;
        if (id.isEmpty() || bytes > Manifest.MAX_ID_BYTES) {
            return new String[] {"has " + bytes + " bytes", "write 1 to " + Manifest.MAX_ID_BYTES + " bytes"};
        }
        for (int i = 0; i < id.length(); i++) {
            char c = id.charAt(i);
            if (c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == '\u2028' || c == '\u2029' || c == '/' || c == '\\') {
                return new String[] {"holds the character U+" + ManifestText.hex(c), "write an id without slashes and control characters"};
            }
            if (Character.isSurrogate(c)) {
                if (Character.charCount(id.codePointAt(i)) == 1) {
                    return new String[] {"holds half of a surrogate pair, U+" + ManifestText.hex(c), "write whole characters"};
                }
                i++;
            }
        }
        if (id.equals(".") || id.equals("..") || id.charAt(0) == ' ' || id.charAt(id.length() - 1) == ' ') {
            return new String[] {"is '" + id + "'", "write an id that is not . or .. and has no spaces at its ends"};
        }
        return null;
    }

    /** As many of the first characters of {@code id} as take at most {@code maxBytes} bytes of UTF-8; no half characters. */
    public static String shortened(String id, int maxBytes) {
        int bytes = 0;
        int end = 0;
        while (end < id.length()) {
            int c = id.codePointAt(end);
            bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
            if (bytes > maxBytes) {
                break;
            }
            end += Character.charCount(c);
        }
        return id.substring(0, end);
    }
}
