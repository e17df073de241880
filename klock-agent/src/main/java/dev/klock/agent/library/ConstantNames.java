package dev.klock.agent.library;

import java.nio.charset.StandardCharsets;
import java.util.Set;

/** Looks into the constant pool of a class file, without reading the class. */
final class ConstantNames {
    private static final int FIRST = 10;
    private static final int UTF8 = 1;
    /** By tag of a constant, how many bytes stand behind it; 0 where there is no such tag. */
    private static final int[] SIZES = {0, 0, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2};

    private ConstantNames() {
    }

    /** Whether one of {@code names} is among the texts of the class; true too where that cannot be told. */
    static boolean hasOneOf(byte[] bytes, Set<String> names) {
        if (bytes.length < FIRST) {
            return true;
        }
        int count = two(bytes, FIRST - 2);
        int at = FIRST;
        for (int i = 1; i < count; i++) {
            if (at + 2 >= bytes.length) {
                return true;
            }
            int tag = bytes[at];
            if (tag == UTF8) {
                int length = two(bytes, at + 1);
                if (at + 3 + length > bytes.length) {
                    return true;
                }
                if (isAscii(bytes, at + 3, length) ? names.contains(new String(bytes, at + 3, length, StandardCharsets.ISO_8859_1))
                        : mayBe(names)) {
                    return true;
                }
                at += 3 + length;
            } else {
                int size = tag > 0 && tag < SIZES.length ? SIZES[tag] : 0;
                if (size == 0) {
                    return true;
                }
                at += 1 + size;
                // long and double take two places
                i += tag == 5 || tag == 6 ? 1 : 0;
            }
        }
        return false;
    }

    private static boolean isAscii(byte[] bytes, int from, int length) {
        for (int i = from; i < from + length; i++) {
            if (bytes[i] < 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether a text that is not ASCII may be one of the names. */
    private static boolean mayBe(Set<String> names) {
        for (String name : names) {
            for (int i = 0; i < name.length(); i++) {
                if (name.charAt(i) > 127) {
                    return true;
                }
            }
        }
        return false;
    }

    private static int two(byte[] bytes, int at) {
        return (bytes[at] & 0xFF) << 8 | bytes[at + 1] & 0xFF;
    }
}
