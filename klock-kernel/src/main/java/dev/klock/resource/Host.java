package dev.klock.resource;

/**
 * The one spelling of a host, so that no other spelling of the same address gets round a rule (FIELD F06): names in lower case without a
 * dot at the end, IPv4 addresses in four decimal parts, IPv6 addresses in brackets, shortened as RFC 5952 says and without a zone.
 *
 * <p>Numbers are read as the JDK reads them: {@code 127.1} and {@code 2130706433} are 127.0.0.1, a leading zero is no octal. An IPv6
 * address that stands for an IPv4 one ({@code ::ffff:127.0.0.1}) is that one. Nothing here looks a name up.
 */
public final class Host {
    private static final int GROUPS = 8;

    private Host() {
    }

    /** The one spelling of {@code host}, with or without brackets; what is no address is taken for a name. Never null. */
    public static String canonical(String host) {
        String text = lower(host);
        boolean bracketed = text.length() > 2 && text.charAt(0) == '[' && text.charAt(text.length() - 1) == ']';
        String inner = bracketed ? text.substring(1, text.length() - 1) : text;
        if (inner.indexOf(':') >= 0) {
            byte[] address = ipv6(inner);
            return address == null ? text : ofAddress(address);
        }
        byte[] address = bracketed ? null : ipv4(inner);
        if (address != null) {
            return ofAddress(address);
        }
        return text.length() > 1 && text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
    }

    /** The one spelling of an address of 4 or 16 bytes. */
    public static String ofAddress(byte[] address) {
        if (address.length == 4) {
            return dotted(address, 0);
        }
        if (isMapped(address)) {
            return dotted(address, 12);
        }
        int[] groups = new int[GROUPS];
        for (int i = 0; i < GROUPS; i++) {
            groups[i] = (address[2 * i] & 0xFF) << 8 | address[2 * i + 1] & 0xFF;
        }
        int bestStart = -1;
        int bestLength = 1;
        for (int i = 0; i < GROUPS; i++) {
            int n = i;
            while (n < GROUPS && groups[n] == 0) {
                n++;
            }
            if (n - i > bestLength) {
                bestStart = i;
                bestLength = n - i;
            }
        }
        StringBuilder b = new StringBuilder(41).append('[');
        for (int i = 0; i < GROUPS; i++) {
            if (i == bestStart) {
                b.append("::");
                i += bestLength - 1;
                continue;
            }
            if (i > 0 && i != bestStart + bestLength) {
                b.append(':');
            }
            b.append(Integer.toHexString(groups[i]));
        }
        return b.append(']').toString();
    }

    /** Whether a canonical host is an address and not a name. */
    public static boolean isAddress(String canonical) {
        return canonical.startsWith("[") || ipv4(canonical) != null;
    }

    /** Whether a canonical host is this machine's own, by {@code localhost}'s name or by address: 127.0.0.0/8 or ::1. */
    public static boolean isLoopback(String canonical) {
        return canonical.equals("localhost") || canonical.equals("[::1]") || canonical.startsWith("127.") && ipv4(canonical) != null;
    }

    private static boolean isMapped(byte[] address) {
        for (int i = 0; i < 10; i++) {
            if (address[i] != 0) {
                return false;
            }
        }
        return address[10] == -1 && address[11] == -1;
    }

    private static String dotted(byte[] address, int from) {
        StringBuilder b = new StringBuilder(15);
        for (int i = 0; i < 4; i++) {
            if (i > 0) {
                b.append('.');
            }
            b.append(address[from + i] & 0xFF);
        }
        return b.toString();
    }

    /** One to four decimal parts, the last one filling what is left; null if it is none. */
    private static byte[] ipv4(String text) {
        byte[] address = new byte[4];
        int parts = 0;
        int from = 0;
        while (true) {
            int dot = text.indexOf('.', from);
            int to = dot < 0 ? text.length() : dot;
            long value = 0;
            if (to == from || to - from > 10 || parts == 4) {
                return null;
            }
            for (int i = from; i < to; i++) {
                char c = text.charAt(i);
                if (c < '0' || c > '9') {
                    return null;
                }
                value = value * 10 + (c - '0');
            }
            if (dot >= 0) {
                if (value > 255) {
                    return null;
                }
                address[parts++] = (byte) value;
                from = dot + 1;
                continue;
            }
            int left = 4 - parts;
            if (value >= 1L << 8 * left) {
                return null;
            }
            for (int i = 3; i >= parts; i--) {
                address[i] = (byte) value;
                value >>= 8;
            }
            return address;
        }
    }

    private static byte[] ipv6(String zoned) {
        int percent = zoned.indexOf('%');
        String text = percent < 0 ? zoned : zoned.substring(0, percent);
        byte[] address = new byte[16];
        int size = 0;
        int gap = -1;
        int i = 0;
        if (text.startsWith("::")) {
            gap = 0;
            i = 2;
        }
        while (i < text.length()) {
            int colon = text.indexOf(':', i);
            int to = colon < 0 ? text.length() : colon;
            if (size == 16 || to == i) {
                return null;
            }
            String part = text.substring(i, to);
            if (part.indexOf('.') >= 0) {
                byte[] last = colon < 0 && size <= 12 ? ipv4(part) : null;
                if (last == null) {
                    return null;
                }
                System.arraycopy(last, 0, address, size, 4);
                size += 4;
                break;
            }
            int value = 0;
            if (part.length() > 4) {
                return null;
            }
            for (int k = 0; k < part.length(); k++) {
                int digit = Character.digit(part.charAt(k), 16);
                if (digit < 0 || part.charAt(k) > 'f') {
                    return null;
                }
                value = value << 4 | digit;
            }
            address[size++] = (byte) (value >> 8);
            address[size++] = (byte) value;
            if (colon < 0) {
                break;
            }
            i = colon + 1;
            if (i < text.length() && text.charAt(i) == ':') {
                if (gap >= 0) {
                    return null;
                }
                gap = size;
                i++;
            } else if (i == text.length()) {
                return null;
            }
        }
        if (gap < 0) {
            return size == 16 ? address : null;
        }
        if (size == 16) {
            return null;
        }
        byte[] whole = new byte[16];
        System.arraycopy(address, 0, whole, 0, gap);
        System.arraycopy(address, gap, whole, 16 - (size - gap), size - gap);
        return whole;
    }

    static String lower(String s) {
        StringBuilder b = null;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c >= 'A' && c <= 'Z') {
                if (b == null) {
                    b = new StringBuilder(s);
                }
                b.setCharAt(i, (char) (c + 32));
            }
        }
        return b == null ? s : b.toString();
    }
}
