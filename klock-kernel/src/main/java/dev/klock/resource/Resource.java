package dev.klock.resource;

import java.util.Objects;

/**
 * The identity of what a triple is about: {@code SCHEME:path} (K1-7), or for files one of two patterns (C18): {@code FILE:/dir/*}, the
 * direct children, and {@code FILE:/dir/**}, the directory itself and all below; for URLs the second: {@code URL:https://host/**}.
 *
 * <p>Immutable. {@link #path()} is canonical: for FILE absolute, without {@code .}, {@code ..}, doubled or trailing slashes.
 */
public final class Resource implements Comparable<Resource> {
    /** How many things one resource stands for. */
    public enum Form {
        /** The thing itself. */
        EXACT,
        /** The direct children of the directory {@link Resource#path()}. */
        CHILDREN,
        /** The directory {@link Resource#path()} and everything below it. */
        SUBTREE
    }

    /** Longest path, bytes of UTF-8: the kernel's PATH_MAX. */
    public static final int MAX_PATH_BYTES = 4096;

    private final String scheme;
    private final String path;
    private final Form form;

    private Resource(String scheme, String path, Form form) {
        this.scheme = Objects.requireNonNull(scheme);
        this.path = Objects.requireNonNull(path);
        this.form = Objects.requireNonNull(form);
    }

    /**
     * A resource from parts that are canonical already, as {@link #parse} leaves them; {@code scheme} is upper case. Nothing is looked at
     * here: the kernel refuses to lease what {@link #parse} would refuse or write differently.
     */
    public static Resource of(String scheme, String path, Form form) {
        return new Resource(scheme, path, form);
    }

    /** The file {@code path}, which is canonical and absolute already; like {@link #of}. */
    public static Resource file(String path) {
        return new Resource("FILE", path, Form.EXACT);
    }

    /** Whether {@code c} ends lines or moves what is shown: no manifest can name what has it in its name. */
    public static boolean isControl(int c) {
        return Character.isISOControl(c) || c == '\u2028' || c == '\u2029';
    }

    /** Whether {@code text} has, from {@code from} on, what no manifest can write: a control character, or half of a surrogate pair, which stands for a byte that is not UTF-8. */
    public static boolean isUnwritable(String text, int from) {
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (isControl(c) || Character.isSurrogate(c)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The resource that {@code text} writes, strictly: {@code SCHEME:path}, the scheme in any case, the path canonical (K1-7 to K1-9,
     * K1-14, C16 to C18). {@code \} before {@code *}, {@code \} and {@code $} takes that character as it is (a <code>\${</code> is no
     * manifest's variable); a {@code *} without it is only allowed as the whole last component of a FILE path, alone or doubled, and
     * doubled of a URL's.
     *
     * @throws ResourceSyntaxException when it is not canonical, with the canonical form; its scheme is unknown; it is too long; or it
     *     holds control characters
     */
    public static Resource parse(String text) {
        return ResourceSyntax.parse(text);
    }

    /** {@link #parse(String)} of a scheme and a path given apart, as other dialects of a manifest have them (C15). */
    public static Resource parse(String scheme, String path) {
        return ResourceSyntax.parse(scheme, path);
    }

    /**
     * The resource that {@code text} means, for tools that take what a person types (C17): a relative FILE path counts from
     * {@code root} (absolute and canonical), doubled and trailing slashes, {@code .} and {@code ..} are resolved as text, without
     * following links. What {@link #parse} refuses otherwise is refused here too.
     *
     * @throws ResourceSyntaxException when it stays wrong
     */
    public static Resource normalise(String text, String root) {
        return ResourceSyntax.normalise(text, root);
    }

    /** {@code literal} as a part of a resource's text that stands for exactly these characters. */
    public static String escape(String literal) {
        return ResourceSyntax.escape(literal);
    }

    /** The port that {@code protocol}, in lower case, means when a URL gives none; -1 if it has none. */
    public static int defaultPort(String protocol) {
        return UrlSyntax.defaultPort(protocol);
    }

    /**
     * How some servers read the path of a URL otherwise than {@link #url} does: those that drop parameters and doubled slashes before they look for
     * dots. Null if it makes no difference.
     */
    public static String readOtherwise(String urlPath) {
        return UrlSyntax.collapsed(urlPath);
    }

    /**
     * A URL as rules compare it, from its parts as a program gives them: the host in any spelling, the port below 0 for the protocol's
     * own, the path raw and without its query.
     */
    public static Resource url(String protocol, String host, int port, String path) {
        return ResourceSyntax.url(protocol, host, port, path);
    }

    /**
     * The scheme's one name: upper case, {@code DB} for {@code DATABASE_TABLE} (C16); null when there is no such scheme.
     */
    public static String canonicalScheme(String scheme) {
        return ResourceSyntax.canonicalScheme(scheme);
    }

    /** Upper case: {@code FILE}. */
    public String scheme() {
        return scheme;
    }

    /** The path, escapes resolved and without the pattern's {@code /*} or {@code /**}. */
    public String path() {
        return path;
    }

    /** What {@link #path()} stands for; other than {@link Form#EXACT} only for FILE and, {@link Form#SUBTREE}, for URL (C18). */
    public Form form() {
        return form;
    }

    /** Whether every thing that {@code other} stands for is one that this stands for. */
    public boolean covers(Resource other) {
        if (!scheme.equals(other.scheme)) {
            return false;
        }
        switch (form) {
            case EXACT:
                return other.form == Form.EXACT && path.equals(other.path);
            case CHILDREN:
                return other.form == Form.EXACT ? isChild(path, other.path) : other.form == Form.CHILDREN && path.equals(other.path);
            default:
                return isAtOrBelow(path, other.path);
        }
    }

    /** Whether there can be a thing that both stand for; symmetric. Decides what may conflict (K2-1). */
    public boolean overlaps(Resource other) {
        if (!scheme.equals(other.scheme)) {
            return false;
        }
        if (form == Form.SUBTREE) {
            return isAtOrBelow(path, other.path)
                    || (other.form == Form.SUBTREE && isAtOrBelow(other.path, path))
                    || (other.form == Form.CHILDREN && isChild(other.path, path));
        }
        if (other.form == Form.SUBTREE) {
            return other.overlaps(this);
        }
        return covers(other) || other.covers(this);
    }

    private static boolean isChild(String dir, String path) {
        int slash = path.lastIndexOf('/');
        if (slash < 0 || slash == path.length() - 1) {
            return false;
        }
        return dir.equals(slash == 0 ? "/" : path.substring(0, slash));
    }

    private static boolean isAtOrBelow(String dir, String path) {
        if (dir.equals("/") || path.equals(dir)) {
            return true;
        }
        return path.length() > dir.length() && path.startsWith(dir) && path.charAt(dir.length()) == '/';
    }

    @Override
    public int compareTo(Resource other) {
        int c = scheme.compareTo(other.scheme);
        if (c == 0) {
            c = path.compareTo(other.path);
        }
        return c == 0 ? form.compareTo(other.form) : c;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Resource && compareTo((Resource) o) == 0;
    }

    @Override
    public int hashCode() {
        return (scheme.hashCode() * 31 + path.hashCode()) * 31 + form.ordinal();
    }

    /** The form a manifest uses; {@link #parse} of it is this again. */
    @Override
    public String toString() {
        StringBuilder s = new StringBuilder(scheme.length() + path.length() + 4);
        s.append(scheme).append(':');
        if (form == Form.EXACT) {
            return s.append(escape(path)).toString();
        }
        if (!path.equals("/")) {
            s.append(escape(path));
        }
        return s.append(form == Form.CHILDREN ? "/*" : "/**").toString();
    }
}
