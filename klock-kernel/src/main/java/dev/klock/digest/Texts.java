package dev.klock.digest;

import dev.klock.kernel.Limits;
import java.nio.charset.StandardCharsets;

/** What may stand in a digest as text. */
final class Texts {
    /** Characters of a checkpoint's name or resume point. */
    static final int MAX_CHARS = 1 << 16;

    private Texts() {}

    /** What is wrong with an id, as the end of a sentence, or {@code null}. */
    static String wrongId(String id) {
        if (id.isEmpty()) {
            return "is empty";
        }
        if (id.getBytes(StandardCharsets.UTF_8).length > Limits.MAX_ID_BYTES) {
            return "is longer than " + Limits.MAX_ID_BYTES + " bytes";
        }
        for (int i = 0; i < id.length(); i++) {
            if (id.charAt(i) < ' ' || id.charAt(i) == 0x7f) {
                return "has a control character";
            }
        }
        return wrong(id);
    }

    /** What is wrong with a text, or {@code null}: half of a surrogate pair has no UTF-8. */
    static String wrong(String text) {
        if (text.length() > MAX_CHARS) {
            return "is longer than " + MAX_CHARS + " characters";
        }
        return hasHalfCharacter(text) ? "has half of a surrogate pair" : null;
    }

    static boolean hasHalfCharacter(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                boolean pair = Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1));
                if (!pair) {
                    return true;
                }
                i++;
            }
        }
        return false;
    }
}
