package dev.klock.bridge;

/**
 * What woven JDK methods call, by way of the bridge class inside java.base, just before they touch the machine.
 *
 * <p>Defined into the boot loader, so that java.base can link to it; it has no state. Every method either returns, and the JDK method
 * goes on, or throws {@code ScopeViolationError} and the effect does not happen. {@code op} is the {@code Op} constant of the hook
 * table's row. Names are what the kernel will be given: relative ones are relative to the process's working directory, or to the
 * open directory {@code dirFd}. Arrays belong to the caller and are neither kept nor changed.
 */
public interface Hooks {
    /** An operation of java.io on a name that may be relative; {@code arg} depends on {@code op} (open mode, append flag). Null name: the JDK method will throw. */
    void name(int op, String name, int arg);

    /** A java.io rename. */
    void names(int op, String from, String to);

    /** An operation of java.nio.file on the bytes of a name; {@code arg} depends on {@code op} (open flags, access mode). */
    void path(int op, byte[] name, int arg);

    /** A java.nio.file rename or hard link; for a symbolic link {@code from} is the link's text. */
    void paths(int op, byte[] from, byte[] to);

    /** An operation relative to an open directory; {@code dirFd} is AT_FDCWD (-100) for the working directory. */
    void at(int op, int dirFd, byte[] name, int arg);

    /** A rename between two open directories. */
    void ats(int op, int fromFd, byte[] from, int toFd, byte[] to);

    /** An operation that changes what the open descriptor {@code fd} refers to (mode, owner, times, attributes). */
    void fd(int op, int fd, int arg);

    /** Called for writes through descriptors that are already open, only while {@link Fence#isUp}. */
    void fenced(int op, int fd);

    /** Start of a child process with the arguments of the JDK's fork: NUL-terminated blocks; {@code dir} is null for the working directory. */
    void start(int op, byte[] program, byte[] arguments, int argumentCount, byte[] environment, int environmentCount, byte[] dir, int[] fds);

    /** A signal to the process {@code pid} that started at {@code startTime} (ms since the epoch, or a value below 1 when unknown). */
    void signal(int op, long pid, long startTime, boolean force);

    /**
     * Beginning of a JDK method that reaches its goal by several steps which mean one thing (copy and move with REPLACE_EXISTING unlink
     * first). {@code arg} is 1 when the target may be replaced.
     */
    void begin(int op, byte[] from, byte[] to, int arg);

    /**
     * End of an operation that a call above let through, normal or not: {@code result} is the JDK method's int result (a descriptor for
     * opens, otherwise 0), -1 when it threw or failed.
     */
    void end(int op, int result);

    /** {@link #end} of the start of {@code process}. */
    void started(int op, Process process);

    /** The file that {@code fd} is open on is about to be mapped, maybe for writing: what changes it from then on is no call. */
    void mapping(int op, int fd);

    /** The descriptor {@code fd} is about to be closed. */
    void closing(int op, int fd);

    /**
     * A connect, bind, listen, send or join: {@code address} is 4 or 16 bytes, {@code host} the name it was looked up by or null, {@code
     * port} may be 0 (bind: any), {@code fd} the socket where the call has one, else -1.
     */
    void endPoint(int op, byte[] address, String host, int port, int fd);

    /**
     * The next bind or connect on this thread is a datagram socket's; {@code again}: it only restores what was bound before, so that it
     * means nothing.
     */
    void datagram(boolean again);

    /** The name {@code host} is about to be looked up or, if it is null, the name of {@code address}. */
    void lookUp(int op, String host, byte[] address);

    /** A datagram has come in by the descriptor {@code fd}, from there. */
    void received(int fd, byte[] address, int port);

    /** What looking {@code host} up gave. */
    void resolved(String host, byte[][] addresses);

    /** What looking an address up gave: the JDK goes on to look that name up by itself. */
    void named(String host);

    /** A request of one of the JDK's HTTP clients; {@code port} is below 0 for the protocol's own, {@code path} is raw. */
    void request(int op, String method, String protocol, String host, int port, String path);

    /**
     * A value of the environment variable {@code name} is about to reach the program; {@code name} null: of all of them. {@code value}: which,
     * null if that is not known yet; what the program itself has put there in place of the JVM's own is no secret to it.
     */
    void variable(int op, String name, String value);

    /** Whether the value that {@code name} had before the program set it anew or removed it is kept from it. */
    boolean keeps(String name, String value);

    /** Whether the flight recorder may be told to record its event {@code name}, which may hold what the program is not to know. */
    boolean event(int op, String name);

    /** A native library is about to be loaded by its path or, if it has none, found by the system's loader; null: native code is linked. */
    void library(int op, String name);

    /**
     * The member {@code member} of the JDK's class {@code owner}, which no public method stands before, is about to be handed to the
     * program; null: a class is about to be defined in the JDK's package {@code owner}.
     */
    void reached(int op, String owner, String member);

    /** Code of an agent is about to come into this JVM. */
    void agent(int op);

    /**
     * An agent, klock or another, has made {@code after} of a class that is loaded or changed; throwing leaves it as it was before.
     * {@code name} is internal, null if the class was defined without one.
     */
    void changed(ClassLoader loader, String name, byte[] before, byte[] after);

    /** Something is asked of a service of the host by native code of its own, where no hook sees what it does: {@code NATIVE:name}. */
    void service(int op, String name);

    /** Another JVM, whose process id is {@code pid}, is about to be attached to. */
    void attach(int op, String pid);

    /** The VM is about to carry out a diagnostic command. */
    void command(int op, String command);

    /** The JVM is about to halt with {@code status} (Runtime.halt, System.exit), after all shutdown hooks and deletions on exit. */
    void halting(int status);

    /** The JVM's shutdown sequence has ended because the last non-daemon thread ended; the process exits right after this returns. */
    void ending();
}
