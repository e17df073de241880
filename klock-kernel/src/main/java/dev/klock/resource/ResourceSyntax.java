package dev.klock.resource;

import java.util.ArrayList;
import java.util.List;

/**
 * The grammar of a resource's text and each scheme's canonical form (C16 to C18). One grammar for all schemes, so that escaping never
 * depends on where a path is used; what differs is a row of {@link #canonicalPath}.
 */
final class ResourceSyntax {
    private static final String KNOWN = "FILE, PROCESS, URL, ENV, NATIVE, DB, SYMBOL, API_ENDPOINT, CONFIG_KEY";
    private static final String[] SCHEMES = {"FILE", "PROCESS", "URL", "ENV", "NATIVE", "DB", "SYMBOL", "API_ENDPOINT", "CONFIG_KEY"};

    /** Pattern tails, as they are found after escapes are resolved. */
    private static final int NO_STAR = 0;
    private static final int ONE_STAR = 1;
    private static final int TWO_STARS = 2;

    private ResourceSyntax() {
    }

    static Resource parse(String text) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            throw new ResourceSyntaxException(quote(text) + " has no scheme",
                    text.startsWith("/") ? "write FILE:" + Shown.value(text) : "write SCHEME:path, such as FILE:/w/in/** (known: " + KNOWN + ")");
        }
        return parse(text.substring(0, colon), text.substring(colon + 1));
    }

    static Resource parse(String givenScheme, String text) {
        return build(givenScheme, text, null);
    }

    static Resource normalise(String text, String root) {
        int colon = text.indexOf(':');
        if (colon < 0) {
            return build("FILE", text, root);
        }
        return build(text.substring(0, colon), text.substring(colon + 1), root);
    }

    /** {@code root} null: strict. */
    private static Resource build(String givenScheme, String text, String root) {
        String scheme = canonicalScheme(givenScheme);
        if (scheme == null) {
            throw new ResourceSyntaxException("unknown scheme " + quote(givenScheme), "known: " + KNOWN + " (alias DATABASE_TABLE)");
        }
        refuseControls(scheme, text);
        StringBuilder literal = new StringBuilder(text.length());
        int stars = unescape(scheme, text, literal);
        String path = literal.toString();
        if (path.isEmpty() && stars == NO_STAR) {
            throw new ResourceSyntaxException(scheme + ": has no path", "write " + example(scheme));
        }
        if (stars != NO_STAR && scheme.equals("FILE")) {
            // the slash before the stars is gone: nothing left is the root, a slash left was doubled
            path = path.isEmpty() ? "/" : path.equals("/") ? "//" : path;
        }
        String canonical;
        if (root != null && scheme.equals("FILE")) {
            canonical = canonicalFile(path.startsWith("/") ? path : root + "/" + path);
        } else {
            canonical = stars != NO_STAR && scheme.equals("URL") ? UrlSyntax.canonicalTree(path) : canonicalPath(scheme, path, text);
        }
        if (utf8Length(canonical) > Resource.MAX_PATH_BYTES) {
            throw new ResourceSyntaxException(scheme + " path of " + utf8Length(canonical) + " bytes, starting " + quote(text),
                    "at most " + Resource.MAX_PATH_BYTES + " bytes");
        }
        Resource.Form form = stars == NO_STAR ? Resource.Form.EXACT : stars == ONE_STAR ? Resource.Form.CHILDREN : Resource.Form.SUBTREE;
        Resource resource = Resource.of(scheme, canonical, form);
        if (root == null && !canonical.equals(path)) {
            boolean directory = stars == NO_STAR && scheme.equals("FILE") && path.endsWith("/");
            throw new ResourceSyntaxException(quote(scheme + ":" + text) + " is not canonical", "write " + resource
                    + (directory ? ", or " + Resource.of(scheme, canonical, Resource.Form.SUBTREE) + " for all below" : ""));
        }
        return resource;
    }

    static Resource url(String givenProtocol, String host, int port, String path) {
        String protocol = Host.lower(givenProtocol);
        StringBuilder b = new StringBuilder(64).append(protocol).append("://").append(Host.canonical(host));
        if (port >= 0 && port != UrlSyntax.defaultPort(protocol)) {
            b.append(':').append(port);
        }
        String rest = UrlSyntax.withoutDots(UrlSyntax.decoded(path));
        return Resource.of("URL", b.append(rest.isEmpty() && UrlSyntax.isWeb(protocol) ? "/" : rest).toString(), Resource.Form.EXACT);
    }

    static String canonicalScheme(String scheme) {
        String upper = upper(scheme);
        if (upper.equals("DATABASE_TABLE")) {
            return "DB";
        }
        for (int i = 0; i < SCHEMES.length; i++) {
            if (SCHEMES[i].equals(upper)) {
                return SCHEMES[i];
            }
        }
        return null;
    }

    /** ASCII only: a locale or a Turkish i must not make one scheme into another. */
    private static String upper(String s) {
        StringBuilder b = null;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c >= 'a' && c <= 'z') {
                if (b == null) {
                    b = new StringBuilder(s);
                }
                b.setCharAt(i, (char) (c - 32));
            }
        }
        return b == null ? s : b.toString();
    }

    static String escape(String literal) {
        StringBuilder b = null;
        for (int i = 0; i < literal.length(); i++) {
            char c = literal.charAt(i);
            if (c == '*' || c == '\\' || (c == '$' && i + 1 < literal.length() && literal.charAt(i + 1) == '{')) {
                if (b == null) {
                    b = new StringBuilder(literal.length() + 8).append(literal, 0, i);
                }
                b.append('\\');
            }
            if (b != null) {
                b.append(c);
            }
        }
        return b == null ? literal : b.toString();
    }

    private static void refuseControls(String scheme, String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Resource.isControl(c)) {
                throw new ResourceSyntaxException(scheme + " path " + quote(text) + " holds the control character " + codePoint(c)
                        + " at position " + (i + 1), "take it out");
            }
            boolean loneSurrogate = Character.isHighSurrogate(c)
                    ? i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1))
                    : Character.isLowSurrogate(c) && (i == 0 || !Character.isHighSurrogate(text.charAt(i - 1)));
            if (loneSurrogate) {
                throw new ResourceSyntaxException(scheme + " path " + quote(text) + " holds half a surrogate pair at position " + (i + 1),
                        scheme.equals("FILE") ? "a name that is not UTF-8 cannot be written here: name its directory, with /*" : "take it out");
            }
        }
    }

    /** Appends {@code text} without its escapes and without a pattern's tail to {@code literal}; answers the tail. */
    private static int unescape(String scheme, String text, StringBuilder literal) {
        int length = text.length();
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                if (i + 1 == length) {
                    throw new ResourceSyntaxException(quote(scheme + ":" + text) + " ends in a single \\", "write \\\\ for a backslash");
                }
                i++;
                c = text.charAt(i);
                if (c != '*' && c != '\\' && c != '$') {
                    throw new ResourceSyntaxException(quote(scheme + ":" + text) + " has \\ before " + quote(String.valueOf(c)),
                            "\\ only goes before *, \\ and $; write \\\\ for a backslash");
                }
                literal.append(c);
            } else if (c == '*') {
                int stars = i + 1 < length && text.charAt(i + 1) == '*' ? TWO_STARS : ONE_STAR;
                boolean pattern = scheme.equals("FILE") || scheme.equals("URL") && stars == TWO_STARS;
                if (pattern && i + stars == length && i > 0 && text.charAt(i - 1) == '/') {
                    literal.setLength(literal.length() - 1);
                    return stars;
                }
                throw misplacedStar(scheme, text, i, stars);
            } else {
                literal.append(c);
            }
        }
        return NO_STAR;
    }

    private static ResourceSyntaxException misplacedStar(String scheme, String text, int at, int stars) {
        String whole = scheme + ":" + text;
        if (scheme.equals("URL")) {
            return new ResourceSyntaxException(quote(whole) + " has a * that is not a whole path's end",
                    "write URL:https://host/path/** for all below a path, and each host by its name");
        }
        if (!scheme.equals("FILE")) {
            return new ResourceSyntaxException(quote(whole) + " has a *, but patterns are for FILE and URL only",
                    "name each resource, or write \\* for a star in the name");
        }
        if (!text.startsWith("/")) {
            return new ResourceSyntaxException(quote(whole) + " is relative, so where it would count from is unclear",
                    "write an absolute path",
                    "write an absolute path: FILE:${workspace}/** is all below the manifest's directory");
        }
        int next = at + stars;
        if (at > 0 && text.charAt(at - 1) == '/' && next + 1 == text.length() && text.charAt(next) == '/') {
            return new ResourceSyntaxException(quote(whole) + " is not canonical", "write " + scheme + ":" + text.substring(0, next));
        }
        int slash = text.lastIndexOf('/', at);
        return new ResourceSyntaxException(quote(whole) + " has a * that is not a whole last component",
                "write " + scheme + ":" + (slash <= 0 ? "" : text.substring(0, slash)) + "/* for children or /** for all below, or \\* for a star in the name");
    }

    private static String canonicalPath(String scheme, String path, String text) {
        switch (scheme) {
            case "FILE":
                requireAbsolute(scheme, path, text);
                return canonicalFile(path);
            case "PROCESS":
                if (path.indexOf('/') < 0) {
                    throw new ResourceSyntaxException(quote(scheme + ":" + text) + " names a program without its directory",
                            "write its absolute path, such as PROCESS:/usr/bin/" + Shown.value(text));
                }
                requireAbsolute(scheme, path, text);
                return canonicalFile(path);
            case "NATIVE":
                if (isNativeWord(path) || isJavaName(path)) {
                    return path;
                }
                if (path.charAt(0) != '/') {
                    throw new ResourceSyntaxException(quote(scheme + ":" + text) + " is neither an absolute path, nor ffm, agent, vm, cups, desktop or sqlite",
                            "write the library's absolute path, such as NATIVE:/usr/lib/libz.so, or NATIVE:ffm");
                }
                return canonicalFile(path);
            case "URL":
                return UrlSyntax.canonical(path);
            case "ENV":
                return canonicalEnv(path);
            default:
                return path;
        }
    }

    /** Native code that has no file of its own. */
    private static boolean isNativeWord(String path) {
        return path.equals("ffm") || path.equals("agent") || path.equals("desktop") || path.equals("cups") || path.equals("vm")
                || path.equals("sqlite") || path.equals("sound") || path.equals("fontconfig");
    }

    /** A member or package of the JDK, such as {@code java.io.FileOutputStream.open0}, that is reached past the public methods. */
    private static boolean isJavaName(String path) {
        boolean ofTheJdk = path.startsWith("java.") || path.startsWith("jdk.") || path.startsWith("sun.") || path.startsWith("com.sun.");
        boolean begins = true;
        for (int i = 0; i < path.length(); i++) {
            char c = path.charAt(i);
            boolean letter = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$';
            if (c == '.') {
                if (begins) {
                    return false;
                }
                begins = true;
            } else if (letter || !begins && c >= '0' && c <= '9') {
                begins = false;
            } else {
                return false;
            }
        }
        return ofTheJdk && !begins;
    }

    private static void requireAbsolute(String scheme, String path, String text) {
        if (path.charAt(0) == '/') {
            return;
        }
        String whole = quote(scheme + ":" + text);
        if (path.charAt(0) == '~') {
            throw new ResourceSyntaxException(whole + " starts with ~, which nothing expands", "write the home directory's path",
                    "write ${user.home}" + Shown.value(text.substring(1)));
        }
        if (path.startsWith("$") && !path.startsWith("${")) {
            throw new ResourceSyntaxException(whole + " uses a shell variable", "write what it stands for", "write ${env:NAME}");
        }
        if (path.charAt(0) == ' ') {
            throw new ResourceSyntaxException(whole + " has a space after the colon", "take it out");
        }
        if (path.startsWith("${")) {
            throw new ResourceSyntaxException(whole + " begins with a variable, which only a manifest has", "write the path that it stands for");
        }
        String tidy = canonicalFile("/" + path);
        String below = tidy.equals("/") ? "" : escape(Shown.value(tidy));
        throw new ResourceSyntaxException(whole + " is relative", "write an absolute path, such as " + scheme + ":/w" + below,
                "write an absolute path, such as " + scheme + ":${workspace}" + below);
    }

    /** Resolves {@code .}, {@code ..}, doubled and trailing slashes as text. {@code path} starts with a slash. */
    private static String canonicalFile(String path) {
        if (isCanonicalFile(path)) {
            return path;
        }
        List<String> parts = new ArrayList<>();
        int from = 1;
        while (from <= path.length()) {
            int slash = path.indexOf('/', from);
            int to = slash < 0 ? path.length() : slash;
            String part = path.substring(from, to);
            if (part.equals("..")) {
                if (!parts.isEmpty()) {
                    parts.remove(parts.size() - 1);
                }
            } else if (!part.isEmpty() && !part.equals(".")) {
                parts.add(part);
            }
            from = to + 1;
        }
        if (parts.isEmpty()) {
            return "/";
        }
        StringBuilder b = new StringBuilder(path.length());
        for (int i = 0; i < parts.size(); i++) {
            b.append('/').append(parts.get(i));
        }
        return b.toString();
    }

    private static boolean isCanonicalFile(String path) {
        int length = path.length();
        if (length == 1) {
            return true;
        }
        int from = 1;
        for (int i = 1; i <= length; i++) {
            if (i == length || path.charAt(i) == '/') {
                int size = i - from;
                if (size == 0 || (size == 1 && path.charAt(from) == '.')
                        || (size == 2 && path.charAt(from) == '.' && path.charAt(from + 1) == '.')) {
                    return false;
                }
                from = i + 1;
            }
        }
        return true;
    }

    /** {@code [namespace/]NAME}: components without slashes at the ends or doubled (C49). */
    private static String canonicalEnv(String path) {
        String tidy = canonicalFile("/" + path);
        if (tidy.equals("/")) {
            throw new ResourceSyntaxException("ENV: has no name", "write " + example("ENV"));
        }
        String name = tidy.substring(1);
        if (name.indexOf('=') >= 0) {
            throw new ResourceSyntaxException(quote("ENV:" + path) + " holds a =", "write the variable's name only: ENV:"
                    + name.substring(0, name.indexOf('=')));
        }
        return name;
    }

    private static String example(String scheme) {
        switch (scheme) {
            case "PROCESS":
                return "PROCESS:/usr/bin/git";
            case "URL":
                return "URL:https://example.com/api";
            case "ENV":
                return "ENV:NAME";
            case "NATIVE":
                return "NATIVE:/usr/lib/libz.so";
            case "FILE":
                return "FILE:/w/in/**";
            default:
                return scheme + ":name";
        }
    }

    static int utf8Length(String s) {
        int bytes = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            // each half of a surrogate pair counts two of the pair's four bytes
            bytes += c < 0x80 ? 1 : c < 0x800 || Character.isSurrogate(c) ? 2 : 3;
        }
        return bytes;
    }

    /** {@code text} for a message: in quotes, as {@link Shown#value} shows it. */
    static String quote(String text) {
        return "'" + Shown.value(text) + "'";
    }

    static String codePoint(char c) {
        String hex = Integer.toHexString(c);
        StringBuilder b = new StringBuilder("U+");
        for (int i = hex.length(); i < 4; i++) {
            b.append('0');
        }
        return b.append(hex).toString();
    }
}
