package dev.klock.agent.decide;

import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.kernel.Predicate;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;

/**
 * What the JVM itself reads to run any program at all, so that no manifest has to say it: for reading only, never for writing.
 *
 * <p>Rows name a path, or a system property or two that hold paths; each with its reason, for {@code baseline} to print. The directories
 * above a row may be looked at, as those above a declared path may. A deny line does not reach these rows: it would keep the JVM from
 * loading its own classes.
 *
 * <p>Immutable after construction but for what links in {@code java.home} lead to, which is learned when they are used; thread-safe.
 */
public final class Baseline {
    /** Reading and looking. */
    static final int READ = Predicate.CONSUMES.bit() | Predicate.DEPENDS_ON.bit();
    private static final int LOOK = Predicate.DEPENDS_ON.bit();

    private static final char EXACT = '=';
    private static final char SUBTREE = '*';
    /** A list of paths separated by colons; a directory in it counts with all below, but see {@link #CLASSES}. */
    private static final char LIST = ':';
    /**
     * A class path entry that is the working directory or lies above it, as with {@code java -cp .}: to read everything there would
     * take away the manifest's say about the very files it is for. What the class loaders read there besides is allowed by cause.
     */
    private static final char CLASSES = 'c';

    /** A list of directories in which names may be looked for, without being read. */
    private static final char LOOKED_IN = 'l';

    /**
     * Environment variables that say where and in which language a program runs, or that the JDK itself asks for (F14): no secrets. A name
     * that ends in {@code _} stands for all that begin with it.
     */
    private static final String[] VARIABLES = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "HOSTNAME", "LANG", "LANGUAGE",
        "LC_", "TZ", "TERM", "TERM_PROGRAM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CI", "TMPDIR", "TMP",
        "TEMP", "DISPLAY", "WAYLAND_DISPLAY", "XDG_", "GNOME_DESKTOP_SESSION_ID", "XMODIFIERS", "JAVA2D_USEPLATFORMFONT", "KRB5CCNAME",
        "SOURCE_DATE_EPOCH", "INSIDE_EMACS", "OSTYPE", "JAVA_HOME", "CLASSPATH", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
        "JDK_JAVAC_OPTIONS"};

    /** kind, path with ${property}, reason. */
    private static final String[][] ROWS = {
        {"*", "${java.home}", "the JDK: classes, tzdb.dat, java.security, cacerts, native libraries"},
        {":", "${java.class.path}", "class path"},
        {":", "${jdk.module.path}", "module path"},
        {":", "${jdk.module.upgrade.path}", "upgraded modules"},
        {"l", "${java.library.path}", "where System.loadLibrary looks"},
        {"l", "${sun.boot.library.path}", "where System.loadLibrary looks"},
        {":", "${jdk.boot.class.path.append}", "boot class path of agents"},
        {"=", "/dev/random", "SecureRandom seeds"},
        {"=", "/dev/urandom", "SecureRandom"},
        {"=", "/dev/null", "ProcessBuilder.Redirect.DISCARD; writing there changes nothing"},
        {"=", "${proc}/cgroup", "container limits: which cgroup"},
        {"=", "${proc}/mountinfo", "container limits and file stores: where it is mounted"},
        {"=", "${proc}/mounts", "file stores (/etc/mtab and /proc/mounts are links to it)"},
        {"=", "${proc}/stat", "ProcessHandle: start time"},
        {"=", "${proc}/status", "memory use"},
        {"=", "${proc}/maps", "diagnostics"},
        {"=", "${proc}/limits", "diagnostics"},
        {"=", "${proc}/exe", "ProcessHandle: program"},
        {"=", "/etc/fedora-release", "font configuration: which distribution"},
        {"=", "/etc/redhat-release", "font configuration: which distribution"},
        {"=", "/etc/turbolinux-release", "font configuration: which distribution"},
        {"=", "/etc/SuSE-release", "font configuration: which distribution"},
        {"=", "/etc/lsb-release", "font configuration: which distribution"},
        {"=", "/etc/os-release", "font configuration: which distribution"},
        {"=", "/etc/debian_version", "font configuration: which distribution"},
        {"=", "/proc/cgroups", "container limits"},
        {"=", "/proc/stat", "processor count and start times"},
        {"=", "/proc/meminfo", "memory size"},
        {"=", "/proc/cpuinfo", "processor features"},
        {"=", "/proc/loadavg", "OperatingSystemMXBean"},
        {"=", "/proc/sys/net/core/somaxconn", "ServerSocket backlog"},
        {"*", "/sys/fs/cgroup", "container limits"},
        {"=", "/etc/resolv.conf", "name service"},
        {"=", "/etc/hosts", "name service"},
        {"=", "/etc/nsswitch.conf", "name service"},
        {"=", "/etc/host.conf", "name service"},
        {"=", "/etc/localtime", "default time zone"},
        {"=", "/etc/timezone", "default time zone"},
        {"=", "/etc/mtab", "file stores, where it is not a link"},
        {"=", "/etc/mime.types", "Files.probeContentType"},
        {"=", "${user.home}/.mime.types", "Files.probeContentType"},
        {"=", "${user.home}/.accessibility.properties", "AWT start"},
        {"*", "${user.home}/.java/fonts", "font configuration: its cache"},
        {"*", "/usr/share/fonts", "fonts"},
        {"*", "/usr/local/share/fonts", "fonts"},
        {"*", "/usr/share/X11/fonts", "fonts"},
        {"*", "/usr/X11R6/lib/X11/fonts", "fonts"},
        {"*", "/usr/lib/X11/fonts", "fonts"},
        {"*", "/var/lib/defoma", "fonts"},
        {"*", "${user.home}/.fonts", "fonts"},
        {"*", "${user.home}/.local/share/fonts", "fonts"},
        {"*", "/var/cache/fontconfig", "fonts: whether they have changed"},
        {"*", "${user.home}/.cache/fontconfig", "fonts: whether they have changed"},
        {"*", "${user.home}/.fontconfig", "fonts: whether they have changed"},
        {"=", "${user.home}/.java.login.config", "JAAS: its configuration"},
        {"=", "${user.home}/.java.policy", "the default security policy (17)"},
        {"=", "${java.security.properties}", "named by the launcher: security properties"},
        {"=", "${java.security.auth.login.config}", "named by the launcher: JAAS"},
        {"=", "${java.security.krb5.conf}", "named by the launcher: Kerberos"},
        {"=", "${java.util.logging.config.file}", "named by the launcher: logging"},
        {"=", "${java.util.currency.data}", "named by the launcher: currencies"},
        {"=", "${java.xml.config.file}", "named by the launcher: XML processing"},
        {"=", "${javax.net.ssl.trustStore}", "named by the launcher: TLS, whom to trust"},
        {"=", "${jdk.net.hosts.file}", "named by the launcher: name service"},
        {"=", "${content.types.user.table}", "named by the launcher: URLConnection's types"},
    };

    /** One row as it stands on this machine. */
    public static final class Row {
        private final String path;
        private final char kind;
        private final String reason;

        Row(String path, char kind, String reason) {
            this.path = path;
            this.kind = kind;
            this.reason = reason;
        }

        /** {@code FILE:/dir/**}, {@code FILE:/dir/*} or {@code FILE:/file}, as a manifest would say it. */
        public String resource() {
            String text = Names.text(path);
            return "FILE:".concat(text).concat(kind == EXACT ? "" : kind == LOOKED_IN ? "/*" : "/**");
        }

        /** Whether it may be read and not only looked for. */
        public boolean isRead() {
            return kind != LOOKED_IN;
        }

        /** Why the JVM needs it. */
        public String reason() {
            return kind == CLASSES ? reason.concat("; only .class files, since the program works there, too")
                    : kind == LOOKED_IN ? reason.concat("; only lib*.so, and not to be read") : reason;
        }
    }

    private final String javaHome;
    private String classPath = "";
    private Resolver resolver;
    private Names names;
    private String working;
    private String temporary;
    private String home;
    private FileTime made;
    private volatile Baseline named;
    private final List<Row> rows = new ArrayList<>();
    private final HashMap<String, Row> exact = new HashMap<>();
    private final HashMap<String, Row> subtrees = new HashMap<>();
    private final HashMap<String, Boolean> above = new HashMap<>();

    private Baseline(String javaHome) {
        this.javaHome = javaHome;
    }

    /** The baseline of nothing at all. */
    public static Baseline none() {
        return new Baseline(null);
    }

    /** The baseline of this JVM. Reads system properties, and the links on the way to each path. */
    public static Baseline ofThisJvm(Resolver resolver, Names names) {
        String home = System.getProperty("java.home");
        Baseline baseline = new Baseline(home == null ? null : names.encode(home));
        String process = resolver.resolve("/proc/self", true).path();
        String working = resolver.resolve(".", true).path();
        baseline.resolver = resolver;
        baseline.names = names;
        baseline.working = working;
        baseline.temporary = real(resolver, names, System.getProperty("java.io.tmpdir"));
        baseline.home = real(resolver, names, System.getProperty("user.home"));
        baseline.classPath = System.getProperty("java.class.path", "");
        baseline.made = FileTime.fromMillis(System.currentTimeMillis());
        for (int i = 0; i < ROWS.length; i++) {
            String path = ROWS[i][1];
            if (path.startsWith("${")) {
                int end = path.indexOf('}');
                String property = path.substring(2, end);
                String value = property.equals("proc") ? process : System.getProperty(property);
                if (value == null || value.isEmpty()) {
                    continue;
                }
                path = names.encode(value.concat(path.substring(end + 1)));
            }
            char kind = ROWS[i][0].charAt(0);
            if (kind != LIST && kind != LOOKED_IN) {
                baseline.add(resolver, path, kind, null, ROWS[i][2]);
                continue;
            }
            int start = 0;
            while (start <= path.length()) {
                int colon = path.indexOf(':', start);
                colon = colon < 0 ? path.length() : colon;
                String entry = colon == start ? "." : path.substring(start, colon);
                if (kind == LIST) {
                    baseline.add(resolver, entry, SUBTREE, working, ROWS[i][2]);
                } else if (colon > start) {
                    baseline.add(resolver, entry, LOOKED_IN, null, ROWS[i][2]);
                }
                start = colon + 1;
            }
        }
        return baseline;
    }

    private static String real(Resolver resolver, Names names, String directory) {
        return directory == null ? null : resolver.resolve(names.encode(directory), true).path();
    }

    /** The real name of the user's home; null if there is none. */
    public String home() {
        return home;
    }

    /** The real name of the directory for temporary files; null if there is none. */
    public String temporary() {
        return temporary;
    }

    private void add(Resolver resolver, String path, char wanted, String working, String reason) {
        Resolved resolved = resolver.resolve(path, true);
        String real = resolved.path();
        if (real == null || real.equals("/")) {
            return;
        }
        char kind = working != null && Own.isAtOrBelow(real, working) ? CLASSES : wanted;
        HashMap<String, Row> map = kind == EXACT ? exact : subtrees;
        if (map.containsKey(real)) {
            return;
        }
        Row row = new Row(real, kind, reason);
        rows.add(row);
        map.put(real, row);
        markAbove(real);
        if (path.charAt(0) == '/' && !path.equals(real)) {
            // the way there passes links, which are looked at as well
            markAbove(path);
        }
    }

    private void markAbove(String path) {
        for (int slash = path.lastIndexOf('/'); slash >= 0; slash = path.lastIndexOf('/', slash - 1)) {
            above.put(slash == 0 ? "/" : path.substring(0, slash), Boolean.TRUE);
            if (slash == 0) {
                return;
            }
        }
    }

    /** What the JVM may do with the file {@code real} by itself, as a mask of {@link Predicate#bit()}. */
    public int allowed(String real) {
        if (exact.containsKey(real)) {
            return READ;
        }
        Row row = subtrees.get(real);
        if (row != null) {
            return row.kind == CLASSES || row.kind == LOOKED_IN ? LOOK : READ;
        }
        int last = real.lastIndexOf('/');
        int look = 0;
        for (int slash = real.lastIndexOf('/'); slash > 0; slash = real.lastIndexOf('/', slash - 1)) {
            row = subtrees.get(real.substring(0, slash));
            if (row != null && row.kind == LOOKED_IN) {
                look |= slash == last && real.startsWith("lib", last + 1) && real.indexOf(".so", last) > 0 ? LOOK : 0;
            } else if (row != null && (row.kind != CLASSES || real.endsWith(".class"))) {
                return READ;
            }
        }
        return above.containsKey(real) ? LOOK : look;
    }

    /**
     * As {@link #allowed}, for what the jars of the class path name in their manifests. Reads them all when it is first asked, which is
     * therefore done only before something would be denied.
     */
    int allowedByJars(String real, JarClassPath.Changed changed) {
        if (resolver == null) {
            return 0;
        }
        Baseline jars = named;
        if (jars == null) {
            // several threads may do this at once: a lock here could be waited for by one that holds what this needs
            jars = new Baseline(null);
            List<String> entries = new ArrayList<>(Arrays.asList(classPath.split(":")));
            // the JVM puts the jars of agents on the class path, too, klock's own among them
            for (String agent : Agents.jars()) {
                entries.add(agent);
                jars.add(resolver, names.encode(agent), SUBTREE, working, "the jar of an agent");
            }
            for (String path : JarClassPath.namedBy(entries, changed, made)) {
                jars.add(resolver, names.encode(path), SUBTREE, working, "Class-Path of a jar on the class path");
            }
            named = jars;
        }
        return jars.allowed(real);
    }

    /** Whether it is an entry of the class path or the module path, of the JDK, or lies below one. */
    public boolean isBelowClassPath(String real) {
        String name = real;
        while (true) {
            Row row = subtrees.get(name);
            if (row != null && row.kind != LOOKED_IN) {
                return true;
            }
            int slash = name.lastIndexOf('/');
            if (slash <= 0) {
                return false;
            }
            name = name.substring(0, slash);
        }
    }

    /** The real name of a file of this machine; null if there is none. */
    String realOf(String file) {
        return resolver.resolve(names.encode(file), true).path();
    }

    /**
     * Whether the real name {@code requested}, as it was given, lies in {@code java.home}: then what it leads to belongs to the JDK too,
     * wherever links have it (Debian keeps {@code conf} and {@code cacerts} in /etc).
     */
    public boolean isInJavaHome(String requested) {
        return javaHome != null && Own.isAtOrBelow(javaHome, requested) && !requested.contains("/../") && !requested.endsWith("/..");
    }

    /** Whether a program may read the environment variable {@code name} though nothing says so. */
    public static boolean isVariable(String name) {
        for (int i = 0; i < VARIABLES.length; i++) {
            String row = VARIABLES[i];
            if (row.equals(name) || row.endsWith("_") && name.startsWith(row)) {
                return true;
            }
        }
        return false;
    }

    /** Names of environment variables that may be read, {@code _} at the end for all that begin so. */
    public static String[] variables() {
        return VARIABLES.clone();
    }

    /** The rows that hold on this machine, in the table's order. */
    public List<Row> rows() {
        return new ArrayList<>(rows);
    }
}
