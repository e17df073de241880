package dev.klock.agent.resolve;

/** What a name leads to. Immutable. */
public final class Resolved {
    /** The kernel itself will refuse the name (loop, too long, empty, NUL in it): nothing happens, and the JDK reports it. */
    static final Resolved UNREACHABLE = new Resolved(null, false, true);

    private final String path;
    private final boolean lasting;
    private final boolean unreachable;

    private Resolved(String path, boolean lasting, boolean unreachable) {
        this.path = path;
        this.lasting = lasting;
        this.unreachable = unreachable;
    }

    static Resolved file(String path, boolean lasting) {
        return new Resolved(path, lasting, false);
    }

    static Resolved notAFile() {
        return new Resolved(null, false, false);
    }

    /** The real name ({@link Names}) of the object, absolute and free of links, existing or not; null if it is not in the file system. */
    public String path() {
        return path;
    }

    /** Whether the name leads to something that is not in the file system: a pipe, a socket, a file without a name. */
    public boolean isNotAFile() {
        return path == null && !unreachable;
    }

    /** Whether the kernel will refuse the name. */
    public boolean isUnreachable() {
        return unreachable;
    }

    /** Whether the answer holds until a link or a directory changes; false if it came by way of a descriptor or of a process's state. */
    public boolean isLasting() {
        return lasting;
    }
}
