package dev.klock.kernel;

import dev.klock.resource.Resource;
import dev.klock.resource.ResourceSyntaxException;
import dev.klock.resource.Shown;
import java.util.Set;
import java.util.TreeSet;

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
     * Why the resource is refused, or {@code null}. What is let in is what {@link Resource#parse} makes of its own text, so that nothing
     * has two keys, and a StateDigest can hold everything that was granted (K1-7 to K1-9, K1-14, C16 to C18).
     *
     * @param schemes those that are known
     * @param isPlain whether it is known already that its path, if it begins with a slash, is a canonical one of a file
     */
    static Refusal check(Resource resource, Set<String> schemes, boolean isPlain) {
        String scheme = resource.scheme();
        String path = resource.path();
        String known = schemes.contains(scheme) ? scheme : Resource.canonicalScheme(scheme);
        if (known == null || !schemes.contains(known)) {
            return new Refusal(Refusal.Code.UNKNOWN_SCHEME, Shown.value(scheme) + ": scheme must be one of " + new TreeSet<>(schemes));
        }
        if (path.isEmpty()) {
            return new Refusal(Refusal.Code.NOT_CANONICAL, scheme + ": names nothing");
        }
        if (tooLong(path, Limits.MAX_PATH_BYTES)) {
            return new Refusal(Refusal.Code.TOO_LONG, "a path of " + scheme + " is longer than " + Limits.MAX_PATH_BYTES + " bytes");
        }
        if (scheme.equals("FILE") && path.charAt(0) == '/' && (isPlain || isCanonicalFile(path))) {
            return null;
        }
        Resource right;
        try {
            right = Resource.parse(resource.toString());
        } catch (ResourceSyntaxException e) {
            Resource.Form form = resource.form();
            boolean mayBe = form == Resource.Form.EXACT || known.equals("FILE") || known.equals("URL") && form == Resource.Form.SUBTREE;
            return new Refusal(mayBe ? Refusal.Code.NOT_CANONICAL : Refusal.Code.BAD_PATTERN, e.getMessage());
        }
        return right.equals(resource) ? null : new Refusal(Refusal.Code.NOT_CANONICAL, resource + " is not canonical; write " + right);
    }

    /** Whether a path that begins with a slash has no name that is empty or dots, no slash at its end, and no character that no name has. */
    private static boolean isCanonicalFile(String path) {
        int length = path.length();
        // looked for at each slash only
        for (int slash = 0; slash >= 0; slash = path.indexOf('/', slash + 1)) {
            int next = slash + 1;
            if (next == length) {
                if (length > 1) {
                    return false;
                }
                break;
            }
            char c = path.charAt(next);
            if (c == '/' || c == '.' && isDots(path, next)) {
                return false;
            }
        }
        for (int i = 0; i < length; i++) {
            char c = path.charAt(i);
            if (c >= ' ' && c <= '~') {
                continue;
            }
            if (c < 0xa0 || c == '\u2028' || c == '\u2029') {
                return false;
            }
            if (Character.isSurrogate(c)) {
                if (Character.charCount(path.codePointAt(i)) == 1) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    private static boolean isDots(String path, int from) {
        int end = path.indexOf('/', from);
        int length = (end < 0 ? path.length() : end) - from;
        return length == 1 || length == 2 && path.charAt(from + 1) == '.';
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
