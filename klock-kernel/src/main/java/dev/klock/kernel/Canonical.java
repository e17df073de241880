package dev.klock.kernel;

import dev.klock.resource.Resource;

/** What an id and a resource must look like to be let in. */
final class Canonical {
    private Canonical() {}

    /** What is wrong with an id, or {@code null}. */
    static String badId(String id) {
        if (id.isEmpty()) {
            return "is empty";
        }
        if (tooLong(id, Limits.MAX_ID_BYTES)) {
            return "is longer than " + Limits.MAX_ID_BYTES + " bytes";
        }
        for (int i = 0; i < id.length(); i++) {
            if (id.charAt(i) < ' ' || id.charAt(i) == 0x7f) {
                return "has a control character at " + i;
            }
            if (Character.isSurrogate(id.charAt(i))) {
                if (Character.charCount(id.codePointAt(i)) == 1) {
                    return "has half of a surrogate pair at " + i;
                }
                i++;
            }
        }
        return null;
    }

    /**
     * Why the resource is refused, or {@code null} (K1-8, K1-9, K1-14, C17, C18).
     *
     * @param isPlain whether it is known already that no name in its path is empty or begins with a dot
     */
    static Refusal check(Resource resource, boolean isPlain) {
        String path = resource.path();
        int length = path.length();
        if (length == 0) {
            return new Refusal(Refusal.Code.NOT_CANONICAL, resource.scheme() + ": names nothing");
        }
        if (tooLong(path, Limits.MAX_PATH_BYTES)) {
            return new Refusal(Refusal.Code.TOO_LONG, "a path of " + resource.scheme() + " is longer than " + Limits.MAX_PATH_BYTES + " bytes");
        }
        if (!resource.scheme().equals("FILE")) {
            boolean fine = resource.form() == Resource.Form.EXACT
                    || resource.form() == Resource.Form.SUBTREE && resource.scheme().equals("URL");
            return fine ? null : new Refusal(Refusal.Code.BAD_PATTERN, resource + ": patterns are for FILE, and /** for URL");
        }
        if (path.charAt(0) != '/') {
            return new Refusal(Refusal.Code.NOT_CANONICAL, resource + " is relative; file paths begin with a slash");
        }
        // two adjacent slashes, a dot segment or a slash at the end; looked for at each slash only
        for (int slash = isPlain ? -1 : 0; slash >= 0; slash = path.indexOf('/', slash + 1)) {
            int next = slash + 1;
            if (next == length) {
                if (length > 1) {
                    return notCanonical(resource);
                }
                break;
            }
            char c = path.charAt(next);
            if (c == '/' || c == '.' && isDots(path, next)) {
                return notCanonical(resource);
            }
        }
        return path.indexOf('\0') < 0 ? null : new Refusal(Refusal.Code.NOT_CANONICAL, "a file path has a NUL at " + path.indexOf('\0'));
    }

    private static boolean isDots(String path, int from) {
        int end = path.indexOf('/', from);
        int length = (end < 0 ? path.length() : end) - from;
        return length == 1 || length == 2 && path.charAt(from + 1) == '.';
    }

    private static Refusal notCanonical(Resource resource) {
        Resource right = Resource.of(resource.scheme(), canonical(resource.path()), resource.form());
        return new Refusal(Refusal.Code.NOT_CANONICAL, resource + " is not canonical; write " + right);
    }

    /** Without dot segments, doubled and trailing slashes; {@code ..} goes up one name, at the root nowhere. */
    private static String canonical(String path) {
        StringBuilder out = new StringBuilder(path.length());
        int from = 1;
        while (from <= path.length()) {
            int end = path.indexOf('/', from);
            if (end < 0) {
                end = path.length();
            }
            String name = path.substring(from, end);
            if (name.equals("..")) {
                out.setLength(Math.max(0, out.lastIndexOf("/")));
            } else if (!name.isEmpty() && !name.equals(".")) {
                out.append('/').append(name);
            }
            from = end + 1;
        }
        return out.length() == 0 ? "/" : out.toString();
    }

    private static boolean tooLong(String s, int maxBytes) {
        if (s.length() * 3 <= maxBytes) {
            return false;
        }
        if (s.length() > maxBytes) {
            return true;
        }
        int bytes = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            // a surrogate pair is four bytes, so two for each half
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return bytes > maxBytes;
    }
}
