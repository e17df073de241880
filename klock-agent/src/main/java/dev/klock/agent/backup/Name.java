package dev.klock.agent.backup;

import dev.klock.agent.resolve.Names;
import java.util.Arrays;

/** An absolute name as bytes, usable as a key; its order puts a directory just before everything below it. Immutable: the array is never changed. */
final class Name implements Comparable<Name> {
    /** Bytes in a component, at most. */
    static final int MAX = 255;
    /** Bytes in a path, at most, with the NUL that ends it. */
    private static final int PATH_MAX = 4096;

    final byte[] bytes;
    private final int hash;

    Name(byte[] bytes) {
        this.bytes = bytes;
        this.hash = Arrays.hashCode(bytes);
    }

    /** Null if the kernel cannot have a file of that name: there is nothing to image, and the operation will fail by itself. */
    static Name of(byte[] path) {
        if (path.length == 0 || path[0] != '/') {
            throw new IllegalArgumentException("not an absolute path: " + show(path));
        }
        if (path.length >= PATH_MAX) {
            return null;
        }
        int start = 0;
        for (int i = 1; i <= path.length; i++) {
            if (i == path.length || path[i] == '/') {
                if (i - start - 1 > MAX) {
                    return null;
                }
                start = i;
            }
        }
        int end = path.length;
        while (end > 1 && path[end - 1] == '/') {
            end--;
        }
        return new Name(Arrays.copyOf(path, end));
    }

    /** The directory that holds this name, null for the root. */
    Name parent() {
        int slash = lastSlash();
        if (bytes.length <= 1) {
            return null;
        }
        return new Name(slash <= 0 ? new byte[] {'/'} : Arrays.copyOf(bytes, slash));
    }

    /** The last component. */
    byte[] last() {
        return Arrays.copyOfRange(bytes, lastSlash() + 1, bytes.length);
    }

    /** Whether the last component begins with these bytes. */
    boolean lastBeginsWith(byte[] prefix) {
        int start = lastSlash() + 1;
        return bytes.length - start >= prefix.length && Arrays.equals(bytes, start, start + prefix.length, prefix, 0, prefix.length);
    }

    /** {@code this/child}. */
    Name child(byte[] child) {
        int length = bytes.length == 1 ? 0 : bytes.length;
        byte[] joined = Arrays.copyOf(bytes, length + 1 + child.length);
        joined[length] = '/';
        System.arraycopy(child, 0, joined, length + 1, child.length);
        return new Name(joined);
    }

    /** This name, which is below {@code from}, when that has become {@code to}. */
    Name moved(Name from, Name to) {
        int head = from.bytes.length == 1 ? 0 : from.bytes.length;
        int length = to.bytes.length == 1 ? 0 : to.bytes.length;
        byte[] joined = Arrays.copyOf(to.bytes, length + bytes.length - head);
        System.arraycopy(bytes, head, joined, length, bytes.length - head);
        return new Name(joined);
    }

    /** Whether this name is strictly below {@code directory}. */
    boolean below(Name directory) {
        byte[] d = directory.bytes;
        int length = d.length == 1 ? 0 : d.length;
        return bytes.length > length + 1 && bytes[length] == '/' && Arrays.equals(bytes, 0, length, d, 0, length);
    }

    private int lastSlash() {
        int i = bytes.length - 1;
        while (i >= 0 && bytes[i] != '/') {
            i--;
        }
        return i;
    }

    /** Component by component, so that {@code /a/b} comes before {@code /a/b/c} and both before {@code /a/b-}. */
    @Override
    public int compareTo(Name other) {
        byte[] a = bytes;
        byte[] b = other.bytes;
        int n = Math.min(a.length, b.length);
        for (int i = 0; i < n; i++) {
            if (a[i] != b[i]) {
                int x = a[i] == '/' ? 0 : 1 + (a[i] & 0xff);
                int y = b[i] == '/' ? 0 : 1 + (b[i] & 0xff);
                return x - y;
            }
        }
        return a.length - b.length;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof Name && hash == ((Name) o).hash && Arrays.equals(bytes, ((Name) o).bytes);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** For people, as {@link Names#printed}. */
    @Override
    public String toString() {
        return show(bytes);
    }

    static String show(byte[] bytes) {
        return Names.printed(bytes);
    }
}
