package dev.klock.agent.log;

/** Takes out of names what is likely to be secret, before they are written anywhere. */
public final class Secrets {
    private static final String HIDDEN = "***";

    private Secrets() {
    }

    /**
     * {@code name} without a URL's query, fragment and user, and without a variable's value. {@code scheme} is that of the resource it
     * stands for: a {@code ?} in a file's name is an ordinary character, and so is the {@code #} of a symbol.
     */
    static String masked(String scheme, String name) {
        if (name == null) {
            return null;
        }
        if (scheme.equals("ENV")) {
            int equals = name.indexOf('=');
            return equals < 0 ? name : name.substring(0, equals + 1).concat(HIDDEN);
        }
        if (scheme.equals("FILE") || scheme.equals("PROCESS") || scheme.equals("SYMBOL")) {
            return name;
        }
        String masked = name;
        int query = firstOf(masked, '?', '#');
        if (query >= 0) {
            masked = masked.substring(0, query + 1).concat(HIDDEN);
        }
        int authority = masked.indexOf("//");
        if (authority >= 0) {
            int end = masked.indexOf('/', authority + 2);
            int at = masked.lastIndexOf('@', end < 0 ? masked.length() : end);
            if (at > authority) {
                masked = masked.substring(0, authority + 2).concat(HIDDEN).concat(masked.substring(at));
            }
        }
        return masked;
    }

    /** {@link #masked} for a triple's short form, {@code PREDICATE SCHEME:path}, or a resource alone. */
    public static String maskedTriple(String triple) {
        int colon = triple.indexOf(':');
        int space = triple.indexOf(' ');
        boolean predicate = space >= 0 && space < colon;
        return colon < 0 ? triple : masked(triple.substring(predicate ? space + 1 : 0, colon), triple);
    }

    private static int firstOf(String text, char a, char b) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == a || text.charAt(i) == b) {
                return i;
            }
        }
        return -1;
    }
}
