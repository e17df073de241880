package dev.klock.agent.observe;

import dev.klock.kernel.Predicate;

/**
 * What a hooked JDK method is about to do. The hook table gives each row one of these; woven code passes its {@link #code()}.
 *
 * <p>{@code predicate} is what the operation means for its (first) resource, or null where that depends on the arguments or on what
 * exists: an open for writing PROVIDES what is absent and MUTATES what is there (C34).
 */
public enum Op {
    /** Open for reading. */
    OPEN_READ(Predicate.CONSUMES, true, false),
    /** {@code FileOutputStream}: create or truncate; arg 1 appends. */
    OPEN_WRITE(null, true, true),
    /** {@code RandomAccessFile}: arg has bit 1 for read only, bit 2 for read and write (java.io's own mode bits). */
    OPEN_RANDOM(null, true, true),
    /** NIO: arg is open(2)'s flags; O_NOFOLLOW keeps a final link from being followed. */
    OPEN_FLAGS(null, true, true),
    /** Create a file that must not exist; an existing one is left alone and reported by the JDK. */
    CREATE(Predicate.PROVIDES, false, true),
    MAKE_DIRECTORY(Predicate.PROVIDES, false, true),
    MAKE_NODE(Predicate.PROVIDES, false, true),
    /** Remove a name: file, link or empty directory. */
    DELETE(Predicate.DELETES, false, true),
    /** RENAMES on the source; PROVIDES or MUTATES on the target. */
    RENAME(Predicate.RENAMES, false, true),
    /** Hard link: the existing file gains a name through which it can be changed: CONSUMES and MUTATES on it; PROVIDES on the new name. */
    LINK(null, false, true),
    /** Symbolic link: PROVIDES on the link. */
    SYMLINK(Predicate.PROVIDES, false, true),
    /** Read a directory's entries. */
    LIST(Predicate.CONSUMES, true, false),
    /** Be told of a directory's changes. */
    WATCH(Predicate.CONSUMES, true, false),
    /** Existence, type, size, permissions, times, free space: of what a link points to. */
    PROBE(Predicate.DEPENDS_ON, true, false),
    /** The same of the name itself. */
    PROBE_NO_FOLLOW(Predicate.DEPENDS_ON, false, false),
    /** Relative to a directory handle; arg is AT_SYMLINK_NOFOLLOW (0x100) or 0. */
    PROBE_AT(Predicate.DEPENDS_ON, true, false),
    /** Change of mode, owner, times or attributes. */
    CHANGE_ATTRIBUTES(Predicate.MUTATES, true, true),
    CHANGE_ATTRIBUTES_NO_FOLLOW(Predicate.MUTATES, false, true),
    /** Read extended attributes through a descriptor. */
    READ_ATTRIBUTES(Predicate.CONSUMES, true, false),
    /** Write, truncate, map or transfer through an open descriptor. */
    WRITE_DESCRIPTOR(Predicate.MUTATES, true, false),
    CLOSE(null, true, false),
    START_PROCESS(Predicate.PROVIDES, true, true),
    /** Signal a process one did not start (C48). */
    SIGNAL_PROCESS(Predicate.DELETES, true, false),
    /** Ask for the program, the arguments and the user of a process one did not start. */
    READ_PROCESS(Predicate.CONSUMES, true, false),
    /** A copy whose steps mean CONSUMES on the source and PROVIDES or MUTATES on the target. */
    COPY(null, false, true),
    /** A move whose steps mean RENAMES on the source and PROVIDES or MUTATES on the target. */
    MOVE(null, false, true),
    /** Connect to a Unix-domain socket: whoever serves it may be told to do anything, so it is MUTATES and not CONSUMES of its file. */
    CONNECT_SOCKET_FILE(Predicate.MUTATES, true, false),
    /** Ask for the addresses of a name, or for the name of an address. */
    LOOK_UP(Predicate.CONSUMES, false, false),
    /** Connect over TCP (or SCTP). */
    CONNECT(Predicate.CONSUMES, false, false),
    /** Give a datagram socket its peer. */
    CONNECT_DATAGRAM(Predicate.CONSUMES, false, false),
    SEND_DATAGRAM(Predicate.CONSUMES, false, false),
    /** Receive what is sent to a multicast group. */
    JOIN_GROUP(Predicate.CONSUMES, false, false),
    /** See whether a host answers. */
    REACH(Predicate.CONSUMES, false, false),
    /** Take a local port; port 0 is none yet. */
    BIND(Predicate.PROVIDES, false, false),
    BIND_DATAGRAM(Predicate.PROVIDES, false, false),
    LISTEN(Predicate.PROVIDES, false, false),
    /** A request of one of the JDK's HTTP clients: its method decides. */
    REQUEST(null, false, false),
    /** Read an environment variable. */
    READ_VARIABLE(Predicate.CONSUMES, false, false),
    /** Give a child a variable that makes its loader or its VM load code. */
    SET_VARIABLE(Predicate.MUTATES, false, false),
    LOAD_LIBRARY(Predicate.CONSUMES, false, false),
    /** Call native code without JNI. */
    LINK_NATIVE(Predicate.CONSUMES, false, false),
    /** Get at a native of the JDK itself, past the methods that stand before it. */
    REACH_NATIVE(Predicate.CONSUMES, false, false),
    /** An agent that comes into this JVM after klock. */
    LOAD_AGENT(Predicate.CONSUMES, false, false),
    /** Attach to another JVM, which then does what it is told. */
    ATTACH(Predicate.MUTATES, false, false),
    /** The VM will write a file when something happens. */
    VM_WRITE(Predicate.PROVIDES, true, false),
    /** A diagnostic command of the VM: its name and arguments decide. */
    VM_COMMAND(null, false, true),
    /** A call of a library that a hook of the manifest matches: the hook says what it means. */
    LIBRARY_CALL(null, false, false),
    /** The JVM ends. */
    HALT(null, false, false);

    private static final Op[] ALL = values();

    private final Predicate predicate;
    private final boolean follows;
    private final boolean mutates;

    Op(Predicate predicate, boolean follows, boolean mutates) {
        this.predicate = predicate;
        this.follows = follows;
        this.mutates = mutates;
    }

    /** The predicate, null where arguments or existence decide. */
    public Predicate predicate() {
        return predicate;
    }

    /** Whether the kernel follows a final symbolic link (flags may say otherwise). */
    public boolean follows() {
        return follows;
    }

    /** Whether it can change something, so that {@link dev.klock.bridge.Hooks#end} is called when it is over. */
    public boolean mutates() {
        return mutates;
    }

    /** Whether it is one system call that changes files, and so changes nothing when it fails. */
    boolean isOneCall() {
        return mutates && this != START_PROCESS && this != COPY && this != MOVE && this != VM_COMMAND;
    }

    /** Whether the file that the first name leads to stays under that name. */
    boolean keepsFirst() {
        return this == LINK || this == CHANGE_ATTRIBUTES || this == CHANGE_ATTRIBUTES_NO_FOLLOW;
    }

    /** The int that woven code passes. */
    public int code() {
        return ordinal();
    }

    /** The operation with this {@link #code()}. */
    public static Op of(int code) {
        return ALL[code];
    }
}
