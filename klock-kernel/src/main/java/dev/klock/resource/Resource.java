package dev.klock.resource;

import java.util.Objects;

/**
 * The identity of what a triple is about: {@code SCHEME:path} (K1-7), or for files one of two patterns (C18): {@code FILE:/dir/*}, the
 * direct children, and {@code FILE:/dir/**}, the directory itself and all below.
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

    private final String scheme;
    private final String path;
    private final Form form;

    private Resource(String scheme, String path, Form form) {
        this.scheme = Objects.requireNonNull(scheme);
        this.path = Objects.requireNonNull(path);
        this.form = Objects.requireNonNull(form);
    }

    /** A resource from parts that are already canonical. {@code scheme} is upper case. */
    public static Resource of(String scheme, String path, Form form) {
        return new Resource(scheme, path, form);
    }

    /** The file {@code path}, canonical and absolute. */
    public static Resource file(String path) {
        return new Resource("FILE", path, Form.EXACT);
    }

    public String scheme() {
        return scheme;
    }

    public String path() {
        return path;
    }

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

    /** The form a manifest uses. */
    @Override
    public String toString() {
        switch (form) {
            case EXACT:
                return scheme + ":" + path;
            case CHILDREN:
                return scheme + ":" + (path.equals("/") ? "" : path) + "/*";
            default:
                return scheme + ":" + (path.equals("/") ? "" : path) + "/**";
        }
    }
}
