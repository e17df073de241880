package dev.klock.agent.library;

import dev.klock.agent.resolve.Names;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * What SQLite makes of a name that it is told to open: a file, or none. A name that begins with {@code file:} is a URI, whose path has
 * escapes and whose parameters say how it is opened.
 *
 * @param file null if nothing is opened that has a name
 * @param writes it is opened to be written
 */
record SqliteName(String file, boolean writes) {
    static final int READ = 0x1;
    static final int READ_WRITE = 0x2;
    static final int CREATE = 0x4;
    static final int URI = 0x40;
    private static final int MEMORY = 0x80;
    private static final int MODES = READ | READ_WRITE | CREATE | MEMORY;

    private static final String SCHEME = "file:";
    private static final String LOCAL = "//localhost/";
    private static final SqliteName NONE = new SqliteName(null, false);

    /** {@code flags}: as {@code sqlite3_open_v2} has them. */
    static SqliteName of(String name, int flags) {
        String text = Names.beforeZero(name);
        return text.startsWith(SCHEME) ? ofUri(text, flags) : plain(text, flags);
    }

    /** The same where names that look like a URI are none. */
    static SqliteName plain(String name, int flags) {
        String file = Names.beforeZero(name);
        boolean none = (flags & MEMORY) != 0 || file.isEmpty() || file.equals(":memory:");
        return none ? NONE : new SqliteName(file, (flags & (READ_WRITE | CREATE)) != 0);
    }

    private static SqliteName ofUri(String uri, int flags) {
        int fragment = uri.indexOf('#');
        String whole = uri.substring(0, fragment < 0 ? uri.length() : fragment);
        int question = whole.indexOf('?');
        String path = whole.substring(SCHEME.length(), question < 0 ? whole.length() : question);
        if (path.startsWith(LOCAL)) {
            path = path.substring(LOCAL.length() - 1);
        } else if (path.startsWith("///")) {
            path = path.substring(2);
        }
        int mode = flags;
        boolean memoryFiles = false;
        String immutable = null;
        String[] parameters = question < 0 ? new String[0] : whole.substring(question + 1).split("&");
        for (int i = 0; i < parameters.length; i++) {
            int equals = parameters[i].indexOf('=');
            String key = decoded(equals < 0 ? parameters[i] : parameters[i].substring(0, equals));
            String value = equals < 0 ? "" : decoded(parameters[i].substring(equals + 1));
            if (key.equals("mode")) {
                mode = mode & ~MODES | mode(value);
            } else if (key.equals("vfs")) {
                memoryFiles = value.equals("memdb");
            } else if (key.equals("immutable")) {
                immutable = immutable == null ? value : "0";
            }
        }
        if (memoryFiles) {
            return NONE;
        }
        return plain(decoded(path), "1".equals(immutable) ? mode & ~(READ_WRITE | CREATE) : mode);
    }

    /** SQLite takes no mode that is more than the flags allow; it opens nothing then, so that need not be known here. */
    private static int mode(String value) {
        switch (value) {
            case "ro":
                return READ;
            case "memory":
                return MEMORY;
            default:
                return READ_WRITE | CREATE;
        }
    }

    /** Without escapes. */
    private static String decoded(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream b = new ByteArrayOutputStream();
        for (int i = 0; i < bytes.length; i++) {
            int high = bytes[i] == '%' && i + 2 < bytes.length ? Character.digit(bytes[i + 1], 16) : -1;
            int low = high < 0 ? -1 : Character.digit(bytes[i + 2], 16);
            if (low < 0) {
                b.write(bytes[i]);
            } else {
                b.write(high << 4 | low);
                i += 2;
            }
        }
        return Names.beforeZero(b.toString(StandardCharsets.UTF_8));
    }
}
