package dev.klock.agent.resolve;

/** What a name leads to. Immutable. */
public final class Resolved {
    /** The kernel itself will refuse the name (loop, too long, empty, NUL in it): nothing happens, and the JDK reports it. */
    static final Resolved UNREACHABLE = new Resolved(null, false, true, null, null);

    private final String path;
    private final boolean lasting;
    private final boolean unreachable;
    private final String was;
    private final long[] status;

    private Resolved(String path, boolean lasting, boolean unreachable, String was, long[] status) {
        this.path = path;
        this.lasting = lasting;
        this.unreachable = unreachable;
        this.was = was;
        this.status = status;
    }

    static Resolved file(String path, boolean lasting) {
        return new Resolved(path, lasting, false, null, null);
    }

    static Resolved notAFile() {
        return new Resolved(null, false, false, null, null);
    }

    static Resolved removed(String was, long[] status) {
        return new Resolved(null, false, false, was, status);
    }

    /** The real name ({@link Names}) of the object, absolute and free of links, existing or not; null if it is not in the file system. */
    public String path() {
        return path;
    }

    /** Whether the name leads to something that is not in the file system: a pipe, a socket, a file without a name. */
    public boolean isNotAFile() {
        return path == null && !unreachable;
    }

    /** The real name, as of {@link #path()}, of a file or directory that was removed under it and is still open; null if it is nothing like that. */
    public String was() {
        return was;
    }

    /** For what has been removed, its {@link dev.klock.bridge.HostFiles#followed}: shared, not to be changed; null if that could not be asked. */
    public long[] status() {
        return status;
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
