package dev.klock.agent.observe;

import dev.klock.ScopeViolationError;
import dev.klock.agent.decide.DecisionCache;
import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Scope;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Judges each hooked JDK call before its effect.
 *
 * <p>How it works. {@link Subjects} has exempted the calling thread. The name
 * is looked up in the {@link DecisionCache} and only on a miss walked by the {@link Resolver}. If the {@link Target} allows the
 * predicate, it is counted and the JDK goes on: no allocation, no lock, no system call. Everything else is the slow path.
 *
 * <p>Calls nest: a copy is one intent made of several steps, and any step may load classes. Each mutating call that returns normally
 * leaves one {@link Frame} on its thread's stack, be it an empty one, and its {@link #end} takes that frame off. What the calls mean and
 * whether they may happen is the {@link Judge}'s.
 *
 * <p>Names the kernel will refuse, null and empty ones are let through for the JDK to report as it always does.
 *
 * <p>Thread-safe. No lock is taken for an allowed, repeated access.
 */
public final class Observer {
    private static final int AT_FDCWD = -100;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;

    private static final int O_CREAT = 0100;
    private static final int O_EXCL = 0200;
    private static final int O_NOFOLLOW = isArm64() ? 0100000 : 0400000;

    /** {@link #begin}: REPLACE_EXISTING or ATOMIC_MOVE, so that the target may be replaced. */
    private static final int MAY_REPLACE = 1 | 4;
    /** {@link #begin}: NOFOLLOW_LINKS, so that a source that is a link is itself copied. */
    private static final int SOURCE_NOFOLLOW = 2;

    /**
     * So long a change believes that a name leads where a look has found it to lead. A look and the change that follows it are some
     * microseconds apart in any case; here many changes of one file share a look.
     */
    private static final long SEEN_NS = 1_000_000L;

    /** So often a name that leads elsewhere after each image is followed. */
    private static final int LOOKS = 8;

    private static final int S_IFMT = 0170000;
    private static final int S_IFLNK = 0120000;
    private static final int S_IFREG = 0100000;

    private static final int CONSUMES = Predicate.CONSUMES.ordinal();
    private static final int DELETES = Predicate.DELETES.ordinal();

    /** RandomAccessFile's mode bit for reading and writing. */
    private static final int RANDOM_WRITE = 2;

    private static final int OPEN_READ = Op.OPEN_READ.code();
    private static final int OPEN_RANDOM = Op.OPEN_RANDOM.code();
    private static final int OPEN_FLAGS = Op.OPEN_FLAGS.code();
    private static final int SYMLINK = Op.SYMLINK.code();
    private static final int COPY = Op.COPY.code();
    private static final int CONNECT_SOCKET_FILE = Op.CONNECT_SOCKET_FILE.code();
    /** The socket by which a JVM takes commands, and what its process's number follows. */
    private static final String ATTACH_SOCKET = "/.java_pid";

    /** By op: the ordinal of the one predicate of an operation that changes nothing, -1 for the others. */
    private static final int[] ACCESS = access();
    private static final boolean[] FOLLOWS = follows();
    /** Ops of rows that all tell their end. */
    private static final boolean[] LOOKS_BY_NAME = looksByName();

    private final Subjects subjects;
    private final HostFiles files;
    private final Names names;
    private final Resolver resolver;
    private final Targets targets;
    private final Verdicts verdicts;
    private final Ending ending;
    private final Rewrites rewrites;
    private final DecisionCache cache = new DecisionCache();
    private final Descriptors descriptors = new Descriptors();
    private final Judge judge;
    private final Network network;
    private final Variables variables;
    private final NativeCode nativeCode;
    private volatile boolean isGivenUp;

    /**
     * @param lines the manifest's scope, by the index that {@link Scope}'s decisions name
     * @param searchPath PATH as this process was started with it, null if it has none
     */
    public Observer(Subjects subjects, HostFiles files, Names names, Resolver resolver, Targets targets, List<Line> lines, String searchPath,
            PreImages images, Verdicts verdicts, Trail trail, Ending ending, Rewrites rewrites, Doors doors) {
        this.subjects = subjects;
        this.files = files;
        this.names = names;
        this.resolver = resolver;
        this.targets = targets;
        this.verdicts = verdicts;
        this.ending = ending;
        this.rewrites = rewrites;
        Programs programs = new Programs(files, resolver, searchPath == null ? null : names.encode(searchPath));
        judge = new Judge(files, resolver, targets, lines, programs, descriptors, images, verdicts, trail);
        network = new Network(files, targets, judge, verdicts);
        variables = new Variables(targets, judge, trail);
        nativeCode = new NativeCode(resolver, targets, judge, doors);
        // the classes that every hook needs are loaded here, where loading them cannot meet a hook
        Work work = subjects.work();
        judge.close(work, push(work, OPEN_READ, 0));
    }

    /**
     * A call of a library is about to happen that {@code hook} of the manifest means {@code predicate} on {@code scheme:path} by. Returns if
     * it may go on, else throws.
     *
     * @param path not escaped
     * @param whole the path of what it is a part of, whose own line covers it too; null if there is nothing like that
     * @return the resource, for {@link #made}; null if klock could not judge and the mode lets it go on
     */
    Target called(Work work, String hook, Predicate predicate, String scheme, String path, String whole) {
        try {
            if (verdicts.hasEnded() && verdicts.ended()) {
                throw Judge.over();
            }
            Target target = whole == null ? targets.other(scheme, path) : targets.part(scheme, path, whole);
            judge.call(target, predicate, hook);
            return target;
        } catch (RuntimeException e) {
            calledInVain(hook, e);
            return null;
        }
    }

    /** A call that {@code hook} means nothing by which was not judged before: throws if the session is over. */
    void calledAgain(String hook) {
        if (verdicts.hasEnded() && verdicts.ended()) {
            throw Judge.over();
        }
    }

    /** What a call that {@code hook} matches means cannot be told: throws where the mode denies. */
    void calledInVain(String hook, RuntimeException cause) {
        if (verdicts.failed(Op.LIBRARY_CALL, cause)) {
            ScopeViolationError error = new ScopeViolationError("klock could not judge a call by the hook " + hook + ": " + cause.getMessage());
            error.initCause(cause);
            throw error;
        }
    }

    /**
     * Native code of a library is about to open the file {@code name}, where no hook sees it, and may change it until the session ends.
     * Judged and imaged as an open by java.io.
     *
     * @param beside what is put behind the file's real name for those that such code makes beside it, and removes again: imaged too, since they
     *     are worth nothing without it
     * @return the file's real name; null if klock did not look
     */
    String openedUnseen(Work work, String name, boolean writes, String[] beside) {
        Frame f = null;
        int op = writes ? OPEN_RANDOM : OPEN_READ;
        try {
            if (!writes) {
                Target target = find(name, true);
                judge.access(work, op, target, CONSUMES, name, null);
                return target == null ? null : Names.text(target.real());
            }
            f = push(work, op, resolver.epoch());
            f.byName = true;
            change(work, f, AT_FDCWD, name, null, true, RANDOM_WRITE);
            if (f.a == null) {
                return null;
            }
            String real = f.a.real();
            // nothing will tell when it is closed
            judge.mapping(f.a);
            for (int i = 0; i < beside.length; i++) {
                judge.mapping(targets.file(real.concat(beside[i])));
            }
            judge.done(f, 0);
            return Names.text(real);
        } catch (RuntimeException e) {
            failed(op, e);
            return null;
        } finally {
            over(work, f);
        }
    }

    /** A call of a library has brought these into being. */
    void made(List<Target> made) {
        for (int i = 0; i < made.size(); i++) {
            targets.created(made.get(i), false);
        }
    }

    /** Before a rollback, by a thread that has entered: tells of the descriptors that are still open for writing. */
    public void tellOpen() {
        judge.tellOpen();
    }

    /**
     * Whether no operation is under way. Then none that moves a directory begins before {@link #endQuiet}, which is to follow, unless it has waited for
     * too long.
     */
    public boolean beginIfQuiet() {
        return judge.beginIfQuiet();
    }

    /** See {@link #beginIfQuiet}. */
    public void endQuiet() {
        judge.endQuiet();
    }

    /** Operations of the session now between their decision and their end, on any thread: for an abort to wait until there are none. */
    public int inMutation() {
        return judge.inMutation();
    }

    /**
     * A child that is over has done something to the file {@code path} (bytes of a real path): told like the program's own, and a
     * violation, late, if it is denied or not declared (K6-7). {@code declared}: the child's effects cover it, so only a deny line counts.
     */
    public void childDid(byte[] path, Predicate predicate, boolean declared) {
        Target target = targets.file(Names.real(path));
        targets.changed(target);
        int decision = target.decide(predicate);
        boolean covered = Scope.isAllowed(decision) || !Scope.isDenied(decision)
                && (declared || Scope.isAllowed(target.decide(Predicate.MUTATES)));
        if (!covered) {
            verdicts.denied(new Denial(Op.START_PROCESS, predicate, target, true, null));
        } else if (target.counted(predicate.ordinal())) {
            judge.trail().first(target, predicate, Scope.isAllowed(decision) ? decision : Target.PASSED, null);
        }
    }

    /** What names lead to is looked at anew: other processes may have changed it. Called again and again, it bounds how old an answer is. */
    public void forgetNames() {
        resolver.bump();
    }

    /** A child has ended: it may have changed any link or directory. */
    public void childEnded() {
        resolver.bump();
    }

    void name(Work work, int op, String name, int arg) {
        Frame f = null;
        boolean through = false;
        try {
            int access = ACCESS[op];
            if (access >= 0) {
                if (name != null) {
                    f = held(work, op);
                    Target target = find(name, FOLLOWS[op]);
                    judge.access(work, op, target, access, name, null);
                    if (f != null && op == OPEN_READ) {
                        judge.letGo(f, target);
                    }
                }
            } else {
                f = push(work, op, resolver.epoch());
                f.byName = true;
                if (name != null) {
                    change(work, f, AT_FDCWD, name, null, follows(op, arg), arg);
                }
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    void path(Work work, int op, byte[] name, int arg) {
        Frame f = null;
        boolean through = false;
        try {
            int access = ACCESS[op];
            if (access >= 0) {
                if (name != null) {
                    f = held(work, op);
                    Target target = find(name, FOLLOWS[op]);
                    judge.access(work, op, target, access, null, name);
                    if (op == CONNECT_SOCKET_FILE) {
                        reaches(work, op, target);
                    }
                }
            } else if (op == OPEN_FLAGS && !Judge.changes(op, arg) && !judge.holdsReads()) {
                // nothing to be told at its end, so no frame
                if (name != null) {
                    judge.access(work, op, find(name, follows(op, arg)), CONSUMES, null, name);
                }
            } else {
                f = push(work, op, resolver.epoch());
                if (name != null) {
                    change(work, f, AT_FDCWD, null, name, follows(op, arg), arg);
                }
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    void at(Work work, int op, int dirFd, byte[] name, int arg) {
        Frame f = null;
        boolean through = false;
        try {
            int access = ACCESS[op];
            boolean follow = op == OPEN_FLAGS ? follows(op, arg) : FOLLOWS[op] && (arg & AT_SYMLINK_NOFOLLOW) == 0;
            if (access >= 0) {
                if (name != null) {
                    f = held(work, op);
                    judge.access(work, op, find(work, dirFd, name, follow), access, null, name);
                }
            } else {
                f = push(work, op, resolver.epoch());
                if (name != null) {
                    change(work, f, dirFd, null, name, follow, arg);
                }
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    /** A frame for a look by name whose end will be told, once the session has changed where a link leads; else null. */
    private Frame held(Work work, int op) {
        if (!LOOKS_BY_NAME[op] || !judge.holdsReads()) {
            return null;
        }
        Frame f = push(work, op, resolver.epoch());
        judge.hold(work, f, false);
        return f;
    }

    void names(Work work, int op, String from, String to) {
        Frame f = null;
        boolean through = false;
        try {
            f = push(work, op, resolver.epoch());
            f.byName = true;
            if (from != null && to != null) {
                pair(work, f, AT_FDCWD, from, null, AT_FDCWD, to, null);
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    void paths(Work work, int op, byte[] from, byte[] to) {
        Frame f = null;
        boolean through = false;
        try {
            f = push(work, op, resolver.epoch());
            if (op == SYMLINK) {
                if (to != null) {
                    change(work, f, AT_FDCWD, null, to, false, 0);
                }
            } else if (from != null && to != null) {
                pair(work, f, AT_FDCWD, null, from, AT_FDCWD, null, to);
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    void ats(Work work, int op, int fromFd, byte[] from, int toFd, byte[] to) {
        Frame f = null;
        boolean through = false;
        try {
            f = push(work, op, resolver.epoch());
            if (from != null && to != null) {
                pair(work, f, fromFd, null, from, toFd, null, to);
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    void fd(Work work, int op, int fd, int arg) {
        Frame f = null;
        boolean through = false;
        try {
            Target target = find(work, fd);
            int access = ACCESS[op];
            if (access >= 0) {
                judge.access(work, op, target, access, null, null);
            } else {
                f = push(work, op, resolver.epoch());
                f.fd = fd;
                judge.change(work, f, target, arg, null, null);
                for (int n = 0; f.waited && find(work, fd) != target; n++) {
                    target = find(work, fd);
                    again(work, f, n);
                    f.fd = fd;
                    judge.change(work, f, target, arg, null, null);
                }
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    void begin(Work work, int op, byte[] from, byte[] to, int arg) {
        Frame f = null;
        boolean through = false;
        try {
            f = push(work, op, resolver.epoch());
            if (from != null && to != null) {
                boolean follow = op == COPY && (arg & SOURCE_NOFOLLOW) == 0;
                judge.whole(work, f, findNow(work, from, follow), findNow(work, to, false), (arg & MAY_REPLACE) != 0, from, to);
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    void start(Work work, int op, byte[] program, byte[] arguments, int argumentCount, byte[] environment, int environmentCount, byte[] dir, int[] fds) {
        Frame f = null;
        boolean through = false;
        try {
            f = push(work, op, resolver.epoch());
            if (program != null) {
                judge.child(work, f, cString(program), dir == null ? null : cString(dir), arguments, environment);
                variables.pass(work, environment == null ? null : Names.text(Names.real(environment)));
                for (int i = 0; fds != null && i < fds.length; i++) {
                    Target lent = descriptors.get(fds[i]);
                    if (lent != null) {
                        judge.lend(lent);
                    }
                }
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    void signal(Work work, int op, long pid, long startTime, boolean force) {
        try {
            if (Descent.isOurs(pid) || !Descent.exists(pid)) {
                return;
            }
            Target target = judge.programOf(Long.toString(pid));
            judge.access(work, op, target, Op.of(op).predicate().ordinal(), Long.toString(pid), null);
            if (verdicts.ended()) {
                throw Judge.over();
            }
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    void endPoint(Work work, int op, byte[] address, String host, int port, int fd) {
        try {
            network.endPoint(work, op, address, host, port, fd);
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    void lookUp(Work work, int op, String host, byte[] address) {
        try {
            network.lookUp(work, op, host, address);
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    void received(int fd, byte[] address, int port) {
        network.received(fd, address, port);
    }

    void resolved(String host, byte[][] addresses) {
        network.resolved(host, addresses);
    }

    void named(Work work, String host) {
        network.named(work, host);
    }

    void request(Work work, int op, String method, String protocol, String host, int port, String path) {
        if (method == null || protocol == null) {
            return;
        }
        try {
            network.request(work, op, method, protocol, host, port, path);
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    void variable(Work work, int op, String name, String value) {
        try {
            if (value == null || value.equals(System.getenv(name))) {
                variables.read(work, op, name);
            }
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    boolean keeps(String name, String value) {
        return verdicts.denies() && variables.keeps(name, value);
    }

    boolean event(int op, String name) {
        if (!verdicts.denies()) {
            return true;
        }
        try {
            return name.equals("jdk.InitialEnvironmentVariable") ? variables.isAllDeclared() : !name.equals("jdk.SystemProcess");
        } catch (RuntimeException e) {
            failed(op, e);
            return false;
        }
    }

    void library(Work work, int op, String name) {
        try {
            nativeCode.library(work, op, name == null ? null : names.encode(name));
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    void reached(Work work, int op, String owner, String member) {
        try {
            nativeCode.reached(work, op, owner, member);
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    void agent(Work work, int op) {
        try {
            nativeCode.agent(work, op);
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    /** Whoever changes the class, and on whatever thread: also while klock's own code runs. */
    void changed(Work work, ClassLoader loader, String name, byte[] before, byte[] after) {
        work.depth++;
        try {
            rewrites.rewritten(loader, name, before, after);
        } catch (RuntimeException e) {
            failed(Op.LOAD_AGENT.code(), e);
        } finally {
            work.depth--;
        }
    }

    void service(Work work, int op, String name) {
        try {
            nativeCode.service(work, op, name);
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    void attach(Work work, int op, String pid) {
        try {
            nativeCode.attach(work, op, pid);
        } catch (RuntimeException e) {
            failed(op, e);
        }
    }

    void command(Work work, int op, String command) {
        Frame f = null;
        boolean through = false;
        try {
            f = push(work, op, resolver.epoch());
            nativeCode.command(work, f, command);
            through = true;
        } catch (RuntimeException e) {
            failed(op, e);
            through = true;
        } finally {
            over(work, through ? null : f);
        }
    }

    /** A write through {@code fd}, by a thread that works for this session, or by any through what this session has opened. */
    void fenced(int fd) {
        Target opened = descriptors.get(fd);
        if (opened == null && fd >= 0 && fd <= 2 || !verdicts.hasEnded()) {
            return;
        }
        Resolved object = resolver.descriptor(fd);
        boolean regular = object == null ? opened != null
                : object.path() == null ? object.was() != null : (files.mode(Names.bytes(object.path())) & S_IFMT) == S_IFREG;
        if (regular) {
            if (opened != null) {
                verdicts.cutShort(opened.shown());
            }
            throw Judge.over();
        }
    }

    /** The session is over, and what it has changed stays: {@link Verdicts#cutShort} of each file that it still has open for writing. */
    public void tellCutShort() {
        for (int fd = descriptors.next(0); fd >= 0; fd = descriptors.next(fd + 1)) {
            Target open = descriptors.get(fd);
            if (open != null) {
                verdicts.cutShort(open.shown());
            }
        }
    }

    /** The session is over, and all is well: whoever works for it still works for the process. Never undone. */
    public void giveUp() {
        isGivenUp = true;
    }

    boolean isGivenUp() {
        return isGivenUp;
    }

    Judge judge() {
        return judge;
    }

    /** Whether the session has {@code fd} open for writing on a file. */
    boolean hasOpen(int fd) {
        return descriptors.get(fd) != null;
    }

    /** Whether the session has any file open for writing. */
    public boolean hasOpen() {
        return descriptors.next(0) >= 0;
    }

    void forget(int fd) {
        network.closing(fd);
    }

    void closing(int op, int fd) {
        try {
            judge.closing(fd);
        } catch (RuntimeException e) {
            verdicts.failed(Op.of(op), e);
        }
    }

    void mapping(int op, int fd) {
        try {
            judge.mapping(descriptors.get(fd));
        } catch (RuntimeException e) {
            verdicts.failed(Op.of(op), e);
        }
    }

    void halting(int status) {
        ending.halting(status);
    }

    void ending() {
        ending.ending();
    }

    void started(Process process) {
        judge.started(process);
    }

    /** {@code f} is one of its frames. */
    void end(Work work, Frame f, int result) {
        try {
            if (result != -1) {
                judge.done(f, result);
            } else {
                f.failed = Op.of(f.op).isOneCall();
            }
        } catch (RuntimeException e) {
            failed(f.op, e);
        } finally {
            judge.close(work, f);
        }
    }

    /** The innermost of the thread's frames is this session's from here on. */
    private Frame push(Work work, int op, int epoch) {
        Frame f = work.push(op, epoch);
        f.observer = this;
        return f;
    }

    /**
     * An operation that may change what {@code name}, or {@code bytes} relative to {@code dirFd}, leads to. Imaging what is there takes long
     * enough for others to lead the name elsewhere, so after an image it is looked at again, and judged again if it leads elsewhere.
     */
    private void change(Work work, Frame f, int dirFd, String name, byte[] bytes, boolean follow, int arg) {
        if (!Judge.changes(f.op, arg)) {
            boolean held = judge.holdsReads();
            if (held) {
                judge.hold(work, f, false);
            }
            Target target = name != null ? find(name, follow) : isRelative(dirFd, bytes) ? find(work, dirFd, bytes, follow) : find(bytes, follow);
            judge.change(work, f, target, arg, name, bytes);
            if (held) {
                judge.letGo(f, target);
            }
            return;
        }
        work.nowNs = 0;
        int moves = judge.moves();
        Target target = name != null ? findNow(work, name, follow) : find(work, dirFd, bytes, follow);
        f.nowNs = work.nowNs;
        for (int n = 0; ; n++) {
            f.nameA = led(work, f, dirFd, name, bytes);
            f.followA = follow;
            judge.change(work, f, target, arg, name, bytes);
            boolean moved = f.marked && moves != judge.moves();
            moves = judge.moves();
            Target now = f.waited || moved ? findAgain(work, target, dirFd, name, bytes, follow) : target;
            if (now == target && (!moved || n == LOOKS)) {
                return;
            }
            again(work, f, n);
            if (moved) {
                judge.hold(work, f, false);
                now = name != null ? findNow(work, name, follow) : find(work, dirFd, bytes, follow);
                moves = judge.moves();
            }
            target = now;
        }
    }

    /** {@link #change} of two names. */
    private void pair(Work work, Frame f, int fromFd, String from, byte[] fromBytes, int toFd, String to, byte[] toBytes) {
        String shownFrom = from != null ? from : Judge.text(fromBytes);
        String shownTo = to != null ? to : Judge.text(toBytes);
        for (int n = 0; ; n++) {
            int moves = judge.moves();
            Target a = from != null ? findNow(work, from, false) : find(work, fromFd, fromBytes, false);
            f.nameA = led(work, f, fromFd, from, fromBytes);
            Target b = to != null ? findNow(work, to, false) : find(work, toFd, toBytes, false);
            f.nameB = led(work, f, toFd, to, toBytes);
            judge.pair(work, f, a, b, shownFrom, shownTo);
            // by another name it would be nobody's
            reaches(work, f.op, a);
            boolean moved = f.marked && moves != judge.moves();
            if (!f.waited && !moved || findAgain(work, a, fromFd, from, fromBytes, false) == a && findAgain(work, b, toFd, to, toBytes, false) == b
                    && (!moved || n == LOOKS)) {
                return;
            }
            boolean alone = f.tree || f.leads;
            again(work, f, n);
            if (moved) {
                judge.hold(work, f, alone);
            }
        }
    }

    /** Whoever has a JVM's socket can have it do what an attached tool can. */
    private void reaches(Work work, int op, Target target) {
        String real = target == null ? "" : target.real();
        int at = real.lastIndexOf('/');
        if (real.startsWith(ATTACH_SOCKET, at)) {
            nativeCode.attach(work, op, real.substring(at + ATTACH_SOCKET.length()));
        }
    }

    private Target findAgain(Work work, Target target, int dirFd, String name, byte[] bytes, boolean follow) {
        if (name == null && isRelative(dirFd, bytes)) {
            return find(work, dirFd, bytes, follow);
        }
        return confirmed(work, target, name != null ? names.encode(name) : Names.real(bytes), follow);
    }

    /** The name that was just looked at, if it leads through a link. */
    private String led(Work work, Frame f, int dirFd, String name, byte[] bytes) {
        if (!work.linked || name == null && isRelative(dirFd, bytes)) {
            return null;
        }
        f.sinceNs = System.currentTimeMillis() * 1_000_000L;
        return name != null ? names.encode(name) : Names.real(bytes);
    }

    /** What was judged is not what would be changed; the frame begins anew. */
    private void again(Work work, Frame f, int attempt) {
        if (attempt == LOOKS) {
            throw new IllegalStateException("what the name leads to changes each time it is looked at");
        }
        int op = f.op;
        boolean byName = f.byName;
        judge.close(work, f);
        // the innermost one again, so the same object
        push(work, op, resolver.epoch()).byName = byName;
    }

    private Target find(String name, boolean follow) {
        int epoch = resolver.epoch();
        Target target = cache.get(name, follow, epoch);
        if (target != null) {
            return target;
        }
        String real = names.encode(name);
        Resolved object = resolver.resolve(real, follow);
        target = settle(object, real);
        if (target != null && object.isLasting()) {
            cache.put(name, follow, epoch, target);
        }
        return target;
    }

    private Target find(byte[] name, boolean follow) {
        int epoch = resolver.epoch();
        Target target = cache.get(name, follow, epoch);
        if (target != null) {
            return target;
        }
        String real = Names.real(name);
        Resolved object = resolver.resolve(real, follow);
        target = settle(object, real);
        if (target != null && object.isLasting()) {
            cache.put(name, follow, epoch, target);
        }
        return target;
    }

    /**
     * {@link #find} for what changes something. What the cache remembers of a name is as old as the last {@link Resolver#bump}; another
     * process may have put a link into its way since, and what is then changed is not what was decided on. So the way is looked at once
     * more, unless that was just done: one or two lstats where nothing has happened. A name that leads through a link is always looked at,
     * and what it opened is looked at too ({@link Work#linked}): such a name can be led elsewhere by a single call of anybody's.
     */
    private Target findNow(Work work, String name, boolean follow) {
        long now = System.nanoTime();
        work.nowNs = now;
        Target target = cache.get(name, follow, resolver.epoch(), now - SEEN_NS);
        work.linked = false;
        work.removed = null;
        if (target == null) {
            target = confirmed(work, find(name, follow), names.encode(name), follow);
            if (!work.linked) {
                cache.seen(name, follow, resolver.epoch(), target, now);
            }
        }
        return target;
    }

    private Target findNow(Work work, byte[] name, boolean follow) {
        long now = System.nanoTime();
        work.nowNs = now;
        Target target = cache.get(name, follow, resolver.epoch(), now - SEEN_NS);
        work.linked = false;
        work.removed = null;
        if (target == null) {
            target = confirmed(work, find(name, follow), Names.real(name), follow);
            if (!work.linked) {
                cache.seen(name, follow, resolver.epoch(), target, now);
            }
        }
        return target;
    }

    private Target confirmed(Work work, Target target, String name, boolean follow) {
        if (target == null) {
            // nothing that has a name: it may have lost it
            return settle(work, resolver.walk(name, follow), name);
        }
        if (!target.isFile()) {
            return target;
        }
        String real = target.real();
        boolean link = follow && isLink(target);
        if (!link && isDirect(name, real) && resolver.stands(real)) {
            return target;
        }
        Resolved object = resolver.walk(name, follow);
        work.linked = link || object.path() == null || !isDirect(name, object.path());
        if (real.equals(object.path())) {
            return target;
        }
        resolver.bump();
        return settle(object, name);
    }

    /** Whether the name is the real one, or the real one as seen from the working directory: then it leads through no link. */
    private boolean isDirect(String name, String real) {
        if (name.equals(real)) {
            return true;
        }
        if (name.isEmpty() || name.charAt(0) == '/') {
            return false;
        }
        int from = name.startsWith("./") ? 2 : 0;
        int length = real.length() - (name.length() - from) - 1;
        if (length < 0 || real.charAt(length) != '/' || !real.startsWith(name.substring(from), length + 1)) {
            return false;
        }
        byte[] working = files.workingDirectory();
        if (working == null) {
            return false;
        }
        String directory = Names.real(working);
        return directory.length() == length ? real.startsWith(directory) : length == 0 && directory.equals("/");
    }

    private boolean isLink(Target target) {
        return (files.mode(target.bytes()) & S_IFMT) == S_IFLNK;
    }

    private Target find(Work work, int dirFd, byte[] name, boolean follow) {
        if (!isRelative(dirFd, name)) {
            return findNow(work, name, follow);
        }
        // what has been resolved against a descriptor is compared with what was opened, as if it had gone through a link
        work.linked = true;
        Resolved directory = resolver.directory(dirFd);
        if (directory == null) {
            throw unseen(dirFd);
        }
        if (directory.path() == null) {
            return null;
        }
        return settle(work, resolver.resolve(Names.real(name), directory.path(), follow), "");
    }

    private static boolean isRelative(int dirFd, byte[] name) {
        return dirFd != AT_FDCWD && (name.length == 0 || name[0] != '/');
    }

    private Target find(Work work, int fd) {
        Resolved object = resolver.descriptor(fd);
        if (object != null) {
            return settle(work, object, "");
        }
        work.removed = null;
        Target opened = descriptors.get(fd);
        if (opened == null) {
            throw unseen(fd);
        }
        return opened;
    }

    /** The JDK does not use closed descriptors, so /proc does not show what it should: what cannot be seen is not let through. */
    private static IllegalStateException unseen(int fd) {
        return new IllegalStateException("/proc/self/fd does not show descriptor ".concat(Integer.toString(fd)));
    }

    /** As below, for what is to be changed. */
    private Target settle(Work work, Resolved object, String requested) {
        work.removed = object.was() == null ? null : object;
        return settle(object, requested);
    }

    /** The target; null where nothing in the file system is touched or the kernel will refuse the name: the JDK reports that. */
    private Target settle(Resolved object, String requested) {
        if (object.path() == null) {
            return null;
        }
        Target target = targets.file(object.path());
        if (targets.baseline().isInJavaHome(requested)) {
            target.allowCause(Predicate.CONSUMES.bit() | Predicate.DEPENDS_ON.bit());
        }
        return target;
    }

    private static boolean follows(int op, int arg) {
        if (op == OPEN_FLAGS) {
            // an exclusive create does not follow a final link, it fails on it
            return (arg & O_NOFOLLOW) == 0 && (arg & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
        }
        return FOLLOWS[op];
    }

    /** The hook returns or throws; {@code denied} is the frame of a call that will not happen, null if there is none. */
    private void over(Work work, Frame denied) {
        if (denied != null) {
            judge.close(work, denied);
        }
    }

    private void failed(int op, RuntimeException e) {
        if (verdicts.failed(Op.of(op), e)) {
            ScopeViolationError error = new ScopeViolationError("klock could not judge " + Op.of(op) + ": " + e);
            error.initCause(e);
            throw error;
        }
    }

    private static String cString(byte[] block) {
        int length = 0;
        while (length < block.length && block[length] != 0) {
            length++;
        }
        return new String(block, 0, length, StandardCharsets.ISO_8859_1);
    }

    private static boolean isArm64() {
        return System.getProperty("os.arch", "").equals("aarch64");
    }

    private static int[] access() {
        int[] access = new int[Op.values().length];
        for (int i = 0; i < access.length; i++) {
            Op op = Op.of(i);
            access[i] = op.mutates() || op.predicate() == null ? -1 : op.predicate().ordinal();
        }
        return access;
    }

    private static boolean[] looksByName() {
        boolean[] looks = new boolean[Op.values().length];
        Op[] all = {Op.PROBE, Op.PROBE_NO_FOLLOW, Op.PROBE_AT, Op.LIST, Op.OPEN_READ};
        for (int i = 0; i < all.length; i++) {
            looks[all[i].code()] = true;
        }
        return looks;
    }

    private static boolean[] follows() {
        boolean[] follows = new boolean[Op.values().length];
        for (int i = 0; i < follows.length; i++) {
            follows[i] = Op.of(i).follows();
        }
        return follows;
    }
}
