package dev.klock.agent.resolve;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Walks a name as the kernel will and answers with the object it will touch.
 *
 * <p>How it works. The walk holds a real directory (no links in it) and the rest of the name. Each component that is a link has
 * its text take its place in the rest. So {@code ..} always leaves the real directory, {@code a/link/../b} is not
 * {@code a/b}, and a dangling final link ends where a create would land. A component that does not exist is no link either, so a missing
 * tail stays as it was written. Lexical normalising, {@code toRealPath} and {@code getCanonicalPath} were each measured to be wrong for
 * one of these (D02, D04, D07, D08).
 *
 * <p>Links under {@code /proc/PID} are not text but doors: {@code fd/N}, {@code cwd}, {@code root} and {@code exe} lead to an object
 * whose name the link only shows. That name is already real; it is taken as it is if the process shares our mount namespace, else the
 * name stays under {@code /proc}, where no manifest reaches it by accident. What it shows may be no file at all.
 *
 * <p>A directory once resolved is remembered until {@link #bump} tells that a link or a directory has changed, so that the many files of
 * one directory cost one system call each. Creating or removing a true directory or a plain file changes no answer: where it was missing
 * the answer was the name as written, and that is what it is when it is there.
 *
 * <p>Thread-safe; takes no lock. Its only system calls are those of {@link HostFiles}.
 */
public final class Resolver {
    /** Links followed in one name before the kernel gives up. */
    static final int MAX_LINKS = 40;
    /** Longest name the kernel takes, in bytes, its final NUL included. */
    static final int MAX_NAME = 4096;
    /** Directories remembered; a power of two. */
    private static final int DIRECTORIES = 1024;
    /** What links under {@code /proc} put behind the name of what was removed. */
    private static final String DELETED = " (deleted)";
    private static final int S_IFMT = 0170000;
    private static final int S_IFLNK = 0120000;
    private static final int S_IFREG = 0100000;
    private static final int S_IFDIR = 0040000;

    private final HostFiles files;
    private final AtomicInteger epoch = new AtomicInteger();
    private final Directory[] directories = new Directory[DIRECTORIES];
    private final Place[] places = new Place[DIRECTORIES];

    public Resolver(HostFiles files) {
        this.files = files;
    }

    /** A number that changes with every {@link #bump}: an answer that {@link Resolved#isLasting()} holds while it stays the same. */
    public int epoch() {
        return epoch.get();
    }

    /** A link, or a directory with what is in it, has just changed its name, or something unseen may have done so: a child has ended. */
    public void bump() {
        epoch.incrementAndGet();
    }

    /** {@link #resolve(String, String, boolean)} relative to the process's working directory. */
    public Resolved resolve(String name, boolean follow) {
        if (!name.isEmpty() && name.charAt(0) == '/') {
            return resolve(name, "/", follow);
        }
        String working = workingDirectory();
        return working == null ? Resolved.UNREACHABLE : resolve(name, working, follow);
    }

    /** The working directory, or what it was called when it was removed: names may lead out of it still. Null if that cannot be seen. */
    public String workingDirectory() {
        byte[] directory = files.workingDirectory();
        if (directory != null) {
            return Names.real(directory);
        }
        byte[] shown = files.readLink(Names.bytes("/proc/self/cwd"));
        return shown == null ? null : removed(Names.real(shown));
    }

    /**
     * The object that the real name {@code name} leads to. {@code base}, a real path without links, is where it starts if it is
     * relative; without {@code follow} a final link is itself the object, unless a slash behind it says otherwise.
     */
    public Resolved resolve(String name, String base, boolean follow) {
        int end = name.length();
        if (end == 0 || end >= MAX_NAME || name.indexOf('\0') >= 0) {
            return Resolved.UNREACHABLE;
        }
        while (end > 1 && name.charAt(end - 1) == '/') {
            end--;
        }
        boolean followLast = follow || end < name.length();
        int slash = name.lastIndexOf('/', end - 1);
        if (slash <= 0 || isDots(name, slash + 1, end)) {
            return new Walk(base, true, 0).run(name, followLast);
        }
        int now = epoch.get();
        String text = name.substring(0, slash);
        Directory directory = text.charAt(0) == '/' ? known(text, now) : null;
        if (directory == null) {
            Walk walk = new Walk(base, true, 0);
            Resolved parent = walk.run(text, true);
            if (parent.path() == null) {
                return Resolved.UNREACHABLE;
            }
            directory = new Directory(text, parent.path(), parent.isLasting(), walk.links, now);
            if (parent.isLasting() && text.charAt(0) == '/') {
                directories[slot(text)] = directory;
            }
        }
        return new Walk(directory.real, directory.lasting, directory.links).run(name.substring(slash + 1, end), followLast);
    }

    /** {@link #resolve(String, boolean)} by a walk of its own, trusting nothing that was seen before. */
    public Resolved walk(String name, boolean follow) {
        if (name.isEmpty() || name.length() >= MAX_NAME || name.indexOf('\0') >= 0) {
            return Resolved.UNREACHABLE;
        }
        String base = "/";
        if (name.charAt(0) != '/') {
            base = workingDirectory();
            if (base == null) {
                return Resolved.UNREACHABLE;
            }
        }
        return new Walk(base, true, 0).run(name, follow || name.endsWith("/"));
    }

    /**
     * Whether the directory that the real name {@code real} lies in is still the one that its name led to, without links, when it was
     * last walked: another process may have put a link in the place of any component since. One lstat when it is; a walk when the
     * directory is new here or is another one.
     */
    public boolean stands(String real) {
        int slash = real.lastIndexOf('/');
        if (slash <= 0) {
            return true;
        }
        String directory = real.substring(0, slash);
        long identity = identity(directory);
        if (identity == 0) {
            return false;
        }
        Place known = places[slot(directory)];
        if (known != null && known.identity == identity && known.directory.equals(directory)) {
            return true;
        }
        if (!directory.equals(walk(directory, true).path()) || identity(directory) != identity) {
            return false;
        }
        places[slot(directory)] = new Place(directory, identity);
        return true;
    }

    /** Which directory {@code name} itself is; 0 if it is none. */
    private long identity(String name) {
        long[] status;
        try {
            status = files.status(Names.bytes(name));
        } catch (IOException e) {
            return 0;
        }
        if (status == null || (status[HostFiles.MODE] & S_IFMT) != S_IFDIR) {
            return 0;
        }
        return status[HostFiles.INO] * 31 + status[HostFiles.DEV] | 1L << 63;
    }

    /** The object behind the open descriptor {@code fd}; null if that cannot be seen. */
    public Resolved descriptor(int fd) {
        byte[] text = files.readLink(Names.bytes("/proc/self/fd/".concat(Integer.toString(fd))));
        return text == null ? null : shown("/proc/self/fd/".concat(Integer.toString(fd)), Names.real(text));
    }

    /**
     * The directory behind the open descriptor {@code fd}, for names to start from: a removed one by what it was called, since {@code ..}
     * leads out of it still. No path if it is no directory; null if it cannot be seen.
     */
    public Resolved directory(int fd) {
        Resolved object = descriptor(fd);
        return object == null || object.was() == null ? object : Resolved.file(object.was(), false);
    }

    /**
     * What a removed directory was called, from what a link to it shows; null if that is not of a directory that was removed. The directories
     * above are shown by what they are called now, removed or not, and nothing is left below those that are.
     */
    private static String removed(String shown) {
        boolean removed = shown.startsWith("/") && shown.endsWith(DELETED);
        return removed ? shown.substring(0, shown.length() - DELETED.length()) : null;
    }

    private static boolean isDots(String name, int from, int to) {
        int length = to - from;
        return length == 1 && name.charAt(from) == '.' || length == 2 && name.charAt(from) == '.' && name.charAt(from + 1) == '.';
    }

    private Directory known(String text, int now) {
        Directory d = directories[slot(text)];
        return d != null && d.epoch == now && d.text.equals(text) ? d : null;
    }

    private static int slot(String text) {
        int h = text.hashCode();
        return (h ^ h >>> 15) & DIRECTORIES - 1;
    }

    /** What {@code text} means, the name shown by a descriptor's or a process's link {@code door}. */
    private Resolved shown(String door, String text) {
        if (text.isEmpty() || text.charAt(0) != '/') {
            return Resolved.notAFile();
        }
        if (text.startsWith("/dev/pts/") || text.startsWith("/dev/tty") || text.equals("/dev/console")) {
            // the terminal that standard input, output or error is
            return Resolved.notAFile();
        }
        if (text.endsWith(DELETED)) {
            long[] open = files.followed(Names.bytes(door));
            int kind = open == null ? S_IFREG : (int) open[HostFiles.MODE] & S_IFMT;
            // a file whose name truly ends so is still there under it
            if (!isAt(text, open)) {
                return kind == S_IFREG || kind == S_IFDIR ? Resolved.removed(removed(text), open) : Resolved.notAFile();
            }
        }
        return Resolved.file(text, false);
    }

    private boolean isAt(String name, long[] open) {
        try {
            long[] there = files.status(Names.bytes(name));
            return there != null && open != null && there[HostFiles.INO] == open[HostFiles.INO] && there[HostFiles.DEV] == open[HostFiles.DEV];
        } catch (IOException unknown) {
            return false;
        }
    }

    /** A directory whose real name was walked. Safe to publish without a lock since all is final. */
    private static final class Place {
        final String directory;
        final long identity;

        Place(String directory, long identity) {
            this.directory = directory;
            this.identity = identity;
        }
    }

    /** A remembered directory. Safe to publish without a lock since all is final. */
    private static final class Directory {
        final String text;
        final String real;
        final boolean lasting;
        final int links;
        final int epoch;

        Directory(String text, String real, boolean lasting, int links, int epoch) {
            this.text = text;
            this.real = real;
            this.lasting = lasting;
            this.links = links;
            this.epoch = epoch;
        }
    }

    /** One walk; not reused. */
    private final class Walk {
        private final StringBuilder real;
        private boolean lasting;
        private int links;
        /** The last component is not there; then nothing below it is. */
        private boolean missing;

        Walk(String base, boolean lasting, int links) {
            real = new StringBuilder(128);
            if (!base.equals("/")) {
                real.append(base);
            }
            this.lasting = lasting;
            this.links = links;
        }

        Resolved run(String start, boolean follow) {
            String rest = start;
            int at = 0;
            if (rest.charAt(at) == '/') {
                real.setLength(0);
            }
            while (true) {
                while (at < rest.length() && rest.charAt(at) == '/') {
                    at++;
                }
                if (at == rest.length()) {
                    return done();
                }
                int end = rest.indexOf('/', at);
                end = end < 0 ? rest.length() : end;
                if (isDots(rest, at, end)) {
                    if (end - at == 2) {
                        missing = false;
                        real.setLength(Math.max(0, real.lastIndexOf("/")));
                    }
                    at = end;
                    continue;
                }
                int parent = real.length();
                real.append('/').append(rest, at, end);
                boolean last = isLast(rest, end);
                if (last && !follow) {
                    return done();
                }
                at = end;
                if (missing) {
                    continue;
                }
                byte[] here = Names.bytes(real.toString());
                int mode = files.mode(here);
                // lstat of what is there costs half of a readlink that fails
                missing = mode == 0;
                byte[] link = (mode & S_IFMT) == S_IFLNK ? files.readLink(here) : null;
                if (link == null) {
                    continue;
                }
                if (++links > MAX_LINKS) {
                    return Resolved.UNREACHABLE;
                }
                String text = Names.real(link);
                if (isProc(real)) {
                    if (isDoor(parent)) {
                        lasting = false;
                        if (!isOurView(parent)) {
                            continue;
                        }
                        Resolved object = shown(real.toString(), text);
                        String name = object.path() == null ? object.was() : text;
                        if (object.path() == null && (last || name == null)) {
                            return last ? object : Resolved.UNREACHABLE;
                        }
                        real.setLength(0);
                        if (!name.equals("/")) {
                            real.append(name);
                        }
                        continue;
                    }
                    // "self" is the same for the life of the process; "thread-self" is not
                    lasting = lasting && !isThreadSelf();
                }
                if (text.isEmpty()) {
                    return Resolved.UNREACHABLE;
                }
                real.setLength(text.charAt(0) == '/' ? 0 : parent);
                rest = last ? text : text.concat(rest.substring(end));
                at = 0;
            }
        }

        private Resolved done() {
            return Resolved.file(real.length() == 0 ? "/" : real.toString(), lasting);
        }

        /** Whether nothing but slashes follows; then a slash behind a link has already decided that it is followed. */
        private boolean isLast(String rest, int end) {
            for (int i = end; i < rest.length(); i++) {
                if (rest.charAt(i) != '/') {
                    return false;
                }
            }
            return true;
        }

        private boolean isProc(StringBuilder path) {
            return path.length() > 6 && path.indexOf("/proc/") == 0;
        }

        private boolean isThreadSelf() {
            return real.indexOf("/proc/thread-self") == 0;
        }

        /** Whether the link just met, whose directory is the first {@code parent} chars, leads to an object and not to a name. */
        private boolean isDoor(int parent) {
            int at = afterNumber("/proc/".length());
            if (at < 0) {
                return false;
            }
            if (real.indexOf("/task/", at) == at) {
                int thread = afterNumber(at + "/task/".length());
                at = thread < 0 ? at : thread;
            }
            if (at == parent) {
                String name = real.substring(parent + 1);
                return name.equals("cwd") || name.equals("root") || name.equals("exe");
            }
            String directory = real.substring(at, parent);
            return directory.equals("/fd") || directory.equals("/map_files") || directory.equals("/ns");
        }

        private int afterNumber(int from) {
            int at = from;
            while (at < real.length() && real.charAt(at) >= '0' && real.charAt(at) <= '9') {
                at++;
            }
            return at > from && at < real.length() && real.charAt(at) == '/' ? at : -1;
        }

        /** Whether the process that the door belongs to sees the same mounts, so that names it shows are names of ours. */
        private boolean isOurView(int parent) {
            String process = real.substring(0, real.indexOf("/", "/proc/".length()));
            byte[] self = files.readLink(Names.bytes("/proc/self"));
            if (self != null && process.equals("/proc/".concat(Names.real(self)))) {
                return true;
            }
            byte[] ours = files.readLink(Names.bytes("/proc/self/ns/mnt"));
            byte[] theirs = files.readLink(Names.bytes(process.concat("/ns/mnt")));
            return ours != null && theirs != null && Names.real(ours).equals(Names.real(theirs));
        }
    }
}
