package dev.klock.agent.observe;

import dev.klock.ScopeViolationError;
import dev.klock.agent.decide.DecisionCache;
import dev.klock.agent.decide.Own;
import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.bridge.Hooks;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Scope;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Judges each hooked JDK call before its effect.
 *
 * <p>How it works. Each call sets its thread's depth flag first and clears it in a {@code finally}; a hook that finds the flag set, or
 * that runs in klock's own code ({@link #enter}), returns at once, so klock never judges itself and never recurses (C09, G01). The name
 * is looked up in the {@link DecisionCache} and only on a miss walked by the {@link Resolver}. If the {@link Target} allows the
 * predicate, it is counted and the JDK goes on: no allocation, no lock, no system call. Everything else is the slow path.
 *
 * <p>A call that changes something runs in this order: decide all its sides; mark the thread as in mutation; look whether the session
 * may still change anything; image what is there (K6-8); return. {@link #end} takes the mark away. Since the mark comes before the
 * look, a session that has ended and then sees no thread in mutation ({@link #inMutation}) knows that nothing more will change.
 *
 * <p>Calls nest: a copy is one intent made of several steps, and any step may load classes. Each mutating call that returns normally
 * leaves one frame on its thread's stack, be it an empty one, and its {@code end} takes that frame off. While a copy's or move's frame
 * is there, its steps on the same two files are part of it: they are not judged again, but still imaged (C34, A11, A27).
 *
 * <p>What has no effect needs only DEPENDS_ON: creating what exists, removing what does not (the JDK reports it, and programs rely on
 * that: {@code createDirectories} makes first and asks afterwards). Names the kernel will refuse are let through for the JDK to report.
 *
 * <p>Races. In this JVM, a change of links or directories raises {@code changing} before and the resolver's epoch after its effect; an
 * open for writing that saw either move, and each first one of a file, is compared with what {@code /proc/self/fd} says was opened
 * (D06).
 *
 * <p>A failed image surfaces as {@code FileNotFoundException} or {@code IOException} where the hooked method's callers declare it (opens
 * of java.io, {@code createNewFile}, all of java.nio.file, process start), else as {@link ScopeViolationError}.
 *
 * <p>Thread-safe. The only locks, taken on first touches and opens for writing, guard nothing that mounting a virtual thread needs.
 */
public final class Observer implements Hooks {
    private static final int AT_FDCWD = -100;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;

    private static final int O_ACCMODE = 3;
    private static final int O_CREAT = 0100;
    private static final int O_EXCL = 0200;
    private static final int O_TRUNC = 01000;
    private static final int O_NOFOLLOW = System.getProperty("os.arch", "").startsWith("a") && !isAmd64() ? 0100000 : 0400000;

    /** RandomAccessFile's mode bit for reading and writing. */
    private static final int RANDOM_WRITE = 2;

    /** {@link #begin}: the target may be replaced. */
    private static final int MAY_REPLACE = 1;
    /** {@link #begin}: a source that is a link is itself copied. */
    private static final int SOURCE_NOFOLLOW = 2;

    private static final int S_IFMT = 0170000;
    private static final int S_IFDIR = 0040000;
    private static final int S_IFREG = 0100000;
    private static final int S_IFLNK = 0120000;

    private static final int PROVIDES = Predicate.PROVIDES.ordinal();
    private static final int CONSUMES = Predicate.CONSUMES.ordinal();
    private static final int MUTATES = Predicate.MUTATES.ordinal();
    private static final int DELETES = Predicate.DELETES.ordinal();
    private static final int DEPENDS_ON = Predicate.DEPENDS_ON.ordinal();
    private static final int RENAMES = Predicate.RENAMES.ordinal();
    private static final Predicate[] PREDICATES = Predicate.values();

    private static final int OPEN_READ = Op.OPEN_READ.code();
    private static final int OPEN_WRITE = Op.OPEN_WRITE.code();
    private static final int OPEN_RANDOM = Op.OPEN_RANDOM.code();
    private static final int OPEN_FLAGS = Op.OPEN_FLAGS.code();
    private static final int CREATE = Op.CREATE.code();
    private static final int MAKE_DIRECTORY = Op.MAKE_DIRECTORY.code();
    private static final int MAKE_NODE = Op.MAKE_NODE.code();
    private static final int DELETE = Op.DELETE.code();
    private static final int RENAME = Op.RENAME.code();
    private static final int LINK = Op.LINK.code();
    private static final int SYMLINK = Op.SYMLINK.code();
    private static final int CHANGE_ATTRIBUTES = Op.CHANGE_ATTRIBUTES.code();
    private static final int CHANGE_ATTRIBUTES_NO_FOLLOW = Op.CHANGE_ATTRIBUTES_NO_FOLLOW.code();
    private static final int START_PROCESS = Op.START_PROCESS.code();
    private static final int COPY = Op.COPY.code();
    private static final int MOVE = Op.MOVE.code();

    /** By op: the ordinal of the one predicate of an operation that changes nothing, -1 for the others. */
    private static final int[] ACCESS = access();
    private static final boolean[] FOLLOWS = follows();

    /** Denials of one target that still get a stack trace; later ones of a storm cost less to describe. */
    private static final int TRACED_DENIALS = 20;
    /** Files below a renamed directory that are judged one by one when no subtree line covers it. */
    private static final int TREE_LIMIT = 100_000;
    private static final int STRIPES = 64;

    private final ThreadLocal<State> states = new States();
    private final HostFiles files;
    private final Names names;
    private final Resolver resolver;
    private final Targets targets;
    private final List<Line> lines;
    private final Programs programs;
    private final PreImages images;
    private final Verdicts verdicts;
    private final Trail trail;
    private final Ending ending;
    private final DecisionCache cache = new DecisionCache();
    private final Descriptors descriptors = new Descriptors();
    private final AtomicInteger inMutation = new AtomicInteger();
    private final AtomicInteger changing = new AtomicInteger();
    private final ReentrantLock[] stripes = new ReentrantLock[STRIPES];

    /**
     * @param lines the manifest's scope, by the index that {@link Scope}'s decisions name
     * @param searchPath PATH as this process was started with it, null if it has none
     */
    public Observer(HostFiles files, Names names, Resolver resolver, Targets targets, List<Line> lines, String searchPath,
            PreImages images, Verdicts verdicts, Trail trail, Ending ending) {
        this.files = files;
        this.names = names;
        this.resolver = resolver;
        this.targets = targets;
        this.lines = lines;
        this.programs = new Programs(files, resolver, searchPath == null ? null : names.encode(searchPath));
        this.images = images;
        this.verdicts = verdicts;
        this.trail = trail;
        this.ending = ending;
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new ReentrantLock();
        }
        // the classes that every hook needs are loaded here, where loading them cannot meet a hook
        State st = states.get();
        st.push(OPEN_READ, 0);
        pop(st, st.frames[0]);
    }

    /** klock's own code begins on this thread: until {@link #leave}, nothing it does is judged. Nests. */
    public void enter() {
        states.get().depth++;
    }

    /** Undoes one {@link #enter}; for {@code finally}. */
    public void leave() {
        states.get().depth--;
    }

    /** Operations of the session now between their decision and their end, on any thread: for an abort to wait until there are none. */
    public int inMutation() {
        return inMutation.get();
    }

    /** A child has ended: it may have changed any link or directory. */
    public void childEnded() {
        resolver.bump();
    }

    @Override
    public void name(int op, String name, int arg) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            int access = ACCESS[op];
            if (access >= 0) {
                if (name != null) {
                    access(st, op, find(name, FOLLOWS[op]), access, name, null);
                }
            } else {
                f = st.push(op, resolver.epoch());
                f.byName = true;
                if (name != null) {
                    change(st, f, find(name, follows(op, arg)), arg, name, null);
                }
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void path(int op, byte[] name, int arg) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            int access = ACCESS[op];
            if (access >= 0) {
                if (name != null) {
                    access(st, op, find(name, FOLLOWS[op]), access, null, name);
                }
            } else {
                f = st.push(op, resolver.epoch());
                if (name != null) {
                    change(st, f, find(name, follows(op, arg)), arg, null, name);
                }
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void at(int op, int dirFd, byte[] name, int arg) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            int access = ACCESS[op];
            boolean follow = op == OPEN_FLAGS ? follows(op, arg) : FOLLOWS[op] && (arg & AT_SYMLINK_NOFOLLOW) == 0;
            if (access >= 0) {
                if (name != null) {
                    access(st, op, find(dirFd, name, follow), access, null, name);
                }
            } else {
                f = st.push(op, resolver.epoch());
                if (name != null) {
                    change(st, f, find(dirFd, name, follow), arg, null, name);
                }
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void names(int op, String from, String to) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            f = st.push(op, resolver.epoch());
            f.byName = true;
            if (from != null && to != null) {
                pair(st, f, find(from, false), find(to, false), from, to);
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void paths(int op, byte[] from, byte[] to) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            f = st.push(op, resolver.epoch());
            if (op == SYMLINK) {
                if (to != null) {
                    change(st, f, find(to, false), 0, null, to);
                }
            } else if (from != null && to != null) {
                pair(st, f, find(from, false), find(to, false), text(from), text(to));
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void ats(int op, int fromFd, byte[] from, int toFd, byte[] to) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            f = st.push(op, resolver.epoch());
            if (from != null && to != null) {
                pair(st, f, find(fromFd, from, false), find(toFd, to, false), text(from), text(to));
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void fd(int op, int fd, int arg) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            Resolved object = resolver.descriptor(fd);
            Target target = object == null ? descriptors.get(fd) : object.path() == null ? null : targets.file(object.path());
            int access = ACCESS[op];
            if (access >= 0) {
                access(st, op, target, access, null, null);
            } else {
                f = st.push(op, resolver.epoch());
                change(st, f, target, arg, null, null);
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void begin(int op, byte[] from, byte[] to, int arg) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            f = st.push(op, resolver.epoch());
            if (from != null && to != null) {
                boolean follow = op == COPY && (arg & SOURCE_NOFOLLOW) == 0;
                whole(st, f, find(from, follow), find(to, false), (arg & MAY_REPLACE) != 0, from, to);
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void start(int op, byte[] program, byte[] arguments, int argumentCount, byte[] environment, int environmentCount, byte[] dir,
            int[] fds) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        Frame f = null;
        boolean through = false;
        try {
            f = st.push(op, resolver.epoch());
            if (program != null) {
                child(st, f, cString(program), dir == null ? null : cString(dir));
            }
            through = true;
        } catch (RuntimeException e) {
            failed(op, e, f);
            through = true;
        } finally {
            if (!through && f != null) {
                pop(st, f);
            }
            st.depth = 0;
        }
    }

    @Override
    public void signal(int op, long pid, long startTime, boolean force) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        try {
            if (Descent.isOurs(pid) || !Descent.exists(pid)) {
                return;
            }
            byte[] exe = files.readLink(Names.bytes("/proc/" + pid + "/exe"));
            Target target = targets.process(exe == null ? "pid/" + pid : Names.real(exe));
            access(st, op, target, DELETES, Long.toString(pid), null);
            if (verdicts.ended()) {
                throw over();
            }
        } catch (RuntimeException e) {
            failed(op, e, null);
        } finally {
            st.depth = 0;
        }
    }

    @Override
    public void fenced(int op, int fd) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        try {
            Target opened = descriptors.get(fd);
            if (opened == null && fd >= 0 && fd <= 2) {
                return;
            }
            Resolved object = resolver.descriptor(fd);
            boolean regular = object == null ? opened != null
                    : object.path() != null && (files.mode(Names.bytes(object.path())) & S_IFMT) == S_IFREG;
            if (regular) {
                throw over();
            }
        } finally {
            st.depth = 0;
        }
    }

    @Override
    public void closing(int op, int fd) {
        Target target = descriptors.get(fd);
        if (target == null) {
            return;
        }
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        st.depth = 1;
        try {
            descriptors.closed(fd);
            Resolved moved = target.isGone() ? resolver.descriptor(fd) : null;
            if (!target.isGone()) {
                images.left(target.bytes());
            } else if (moved != null && moved.path() != null) {
                images.left(Names.bytes(moved.path()));
            }
        } catch (RuntimeException e) {
            verdicts.failed(Op.of(op), e);
        } finally {
            st.depth = 0;
        }
    }

    @Override
    public void halting(int status) {
        State st = states.get();
        st.depth++;
        try {
            ending.halting(status);
        } finally {
            st.depth--;
        }
    }

    @Override
    public void ending() {
        State st = states.get();
        st.depth++;
        try {
            ending.ending();
        } finally {
            st.depth--;
        }
    }

    @Override
    public void end(int op, int result) {
        State st = states.get();
        if (st.depth != 0) {
            return;
        }
        Frame f = st.top(op);
        if (f == null) {
            return;
        }
        st.depth = 1;
        try {
            if (result != -1) {
                done(f, result);
            }
        } catch (RuntimeException e) {
            failed(op, e, null);
        } finally {
            pop(st, f);
            st.depth = 0;
        }
    }

    // what a name leads to

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

    private Target find(int dirFd, byte[] name, boolean follow) {
        if (dirFd == AT_FDCWD || name.length > 0 && name[0] == '/') {
            return find(name, follow);
        }
        Resolved directory = resolver.descriptor(dirFd);
        if (directory == null || directory.path() == null) {
            return null;
        }
        return settle(resolver.resolve(Names.real(name), directory.path(), follow), "");
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

    // deciding

    /** An operation that changes nothing. */
    private void access(State st, int op, Target target, int predicate, String name, byte[] bytes) {
        if (target == null) {
            return;
        }
        if ((target.allowed() & 1 << predicate) != 0) {
            if (target.counted(predicate)) {
                trail.first(target, PREDICATES[predicate], target.decide(PREDICATES[predicate]), name == null ? text(bytes) : name);
            }
            return;
        }
        refuse(st, op, target, predicate, name == null ? text(bytes) : name);
    }

    /** Lets pass what is declared for {@code predicate}; else has the session decide. */
    private void require(State st, int op, Target target, int predicate, String requested) {
        if ((target.allowed() & 1 << predicate) != 0) {
            if (target.counted(predicate)) {
                trail.first(target, PREDICATES[predicate], target.decide(PREDICATES[predicate]), requested);
            }
            return;
        }
        refuse(st, op, target, predicate, requested);
    }

    /** Last look at what is not allowed by line: part of a copy, moved here whole, the JVM's own; else the session's verdict. */
    private void refuse(State st, int op, Target target, int predicate, String requested) {
        if ((st.within(target) & 1 << predicate) != 0) {
            return;
        }
        if (targets.cameWithTree(target) && (target.allowed() & 1 << predicate) != 0) {
            target.counted(predicate);
            return;
        }
        if ((predicate == CONSUMES || predicate == DEPENDS_ON) && !target.isProtected() && Causes.isClassLoading()) {
            target.allowCause(Predicate.CONSUMES.bit() | Predicate.DEPENDS_ON.bit());
            if (target.counted(predicate)) {
                trail.first(target, PREDICATES[predicate], Target.BASELINE, requested);
            }
            return;
        }
        deny(op, target, predicate, false, false, requested);
    }

    /** Asks the session; returns only if it lets the operation go on. */
    private void deny(int op, Target target, int predicate, boolean tree, boolean late, String requested) {
        Denial denial = new Denial(Op.of(op), PREDICATES[predicate], target, tree, late, requested, targets.scope(), lines);
        if (verdicts.denied(denial) || denial.isProtected() || verdicts.ended()) {
            throw new ScopeViolationError(denial.message(), target.deniedBefore() < TRACED_DENIALS);
        }
    }

    /** An operation that changes nothing because of what exists: it tells whether it does, so DEPENDS_ON is enough. */
    private void withoutEffect(State st, Frame f, Target target, int attempted, String requested) {
        if ((target.allowed() & 1 << attempted) != 0 || (st.within(target) & 1 << attempted) != 0) {
            return;
        }
        if ((target.allowed() & 1 << DEPENDS_ON) != 0) {
            if (target.counted(DEPENDS_ON)) {
                trail.first(target, Predicate.DEPENDS_ON, target.decide(Predicate.DEPENDS_ON), requested);
            }
            return;
        }
        refuse(st, f.op, target, attempted, requested);
    }

    // changing

    private void change(State st, Frame f, Target target, int arg, String name, byte[] bytes) {
        if (target == null) {
            return;
        }
        int op = f.op;
        if (op == OPEN_FLAGS) {
            if ((arg & O_ACCMODE) == 0 && (arg & (O_CREAT | O_TRUNC)) == 0) {
                access(st, op, target, CONSUMES, name, bytes);
            } else {
                openForWriting(st, f, target, (arg & O_CREAT) != 0, (arg & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL), name, bytes);
            }
        } else if (op == OPEN_WRITE) {
            openForWriting(st, f, target, true, false, name, bytes);
        } else if (op == OPEN_RANDOM) {
            if ((arg & RANDOM_WRITE) == 0) {
                access(st, op, target, CONSUMES, name, bytes);
            } else {
                openForWriting(st, f, target, true, false, name, bytes);
            }
        } else if (op == CREATE || op == MAKE_DIRECTORY || op == MAKE_NODE || op == SYMLINK) {
            if (create(st, f, target, op == SYMLINK, requested(name, bytes))) {
                mark(f);
                image(f, target);
            }
        } else if (op == DELETE) {
            remove(st, f, target, requested(name, bytes));
        } else if (op == CHANGE_ATTRIBUTES || op == CHANGE_ATTRIBUTES_NO_FOLLOW) {
            String requested = requested(name, bytes);
            if (mode(target) == 0) {
                withoutEffect(st, f, target, MUTATES, requested);
                return;
            }
            require(st, op, target, MUTATES, requested);
            f.a = target;
            f.leavesA = true;
            mark(f);
            image(f, target);
        }
    }

    /** C34: PROVIDES if absent at this moment, MUTATES if it exists. Looks only where that could make a difference. */
    private void openForWriting(State st, Frame f, Target target, boolean creates, boolean exclusive, String name, byte[] bytes) {
        int both = 1 << PROVIDES | 1 << MUTATES;
        int allowed = target.allowed();
        boolean first = !target.isImaged();
        boolean absent = false;
        int predicate = MUTATES;
        if (first || exclusive || target.isGone() || (allowed & both) != both) {
            absent = mode(target) == 0;
            if (absent ? !creates : exclusive) {
                withoutEffect(st, f, target, absent ? MUTATES : PROVIDES, requested(name, bytes));
                return;
            }
            predicate = absent ? PROVIDES : MUTATES;
            if (absent && target.isReplaced() && (allowed & 1 << PROVIDES) == 0) {
                predicate = MUTATES;
            }
        }
        if ((allowed & 1 << predicate) != 0) {
            if (target.counted(predicate)) {
                trail.first(target, PREDICATES[predicate], target.decide(PREDICATES[predicate]), requested(name, bytes));
            }
        } else if (!absent && target.real().equals("/dev/null")) {
            // nothing written there changes anything
            return;
        } else {
            refuse(st, f.op, target, predicate, requested(name, bytes));
        }
        f.a = target;
        f.createsA = absent;
        f.opens = true;
        f.checked = first || changing.get() != 0;
        mark(f);
        if (first) {
            image(f, target);
        }
    }

    /** Decides on bringing {@code target} into being; false if it exists, so that nothing will happen. The frame's A or, for a pair, B. */
    private boolean create(State st, Frame f, Target target, boolean link, String requested) {
        int allowed = target.allowed();
        if ((!target.isImaged() || (allowed & 1 << PROVIDES) == 0) && mode(target) != 0) {
            withoutEffect(st, f, target, PROVIDES, requested);
            return false;
        }
        boolean back = target.isReplaced() && (allowed & 1 << PROVIDES) == 0;
        require(st, f.op, target, back ? MUTATES : PROVIDES, requested);
        if (f.a == null) {
            f.a = target;
            f.createsA = true;
            f.leavesA = true;
        } else {
            f.b = target;
            f.createsB = true;
        }
        f.links |= link;
        return true;
    }

    private void remove(State st, Frame f, Target target, String requested) {
        int mode = mode(target);
        if (mode == 0) {
            withoutEffect(st, f, target, DELETES, requested);
            return;
        }
        int allowed = target.allowed();
        if ((allowed & 1 << DELETES) != 0) {
            require(st, f.op, target, DELETES, requested);
        } else if ((st.within(target) & 1 << DELETES) != 0) {
            f.replaces = true;
        } else if ((allowed & 1 << MUTATES) != 0 && Causes.isReplacing()) {
            f.replaces = true;
            if (target.counted(MUTATES)) {
                trail.first(target, Predicate.MUTATES, Target.REPLACING, requested);
            }
        } else {
            refuse(st, f.op, target, DELETES, requested);
        }
        f.a = target;
        f.removesA = true;
        f.leavesA = true;
        f.links = (mode & S_IFMT) == S_IFLNK;
        mark(f);
        image(f, target);
    }

    /** Rename and hard link: both sides are decided before either effect. */
    private void pair(State st, Frame f, Target from, Target to, String requestedFrom, String requestedTo) {
        if (from == null || to == null) {
            return;
        }
        if (f.op == LINK) {
            link(st, f, from, to, requestedFrom, requestedTo);
            return;
        }
        int mode = mode(from);
        if (mode == 0) {
            withoutEffect(st, f, from, RENAMES, requestedFrom);
            return;
        }
        boolean part = (st.within(from) & 1 << RENAMES) != 0;
        require(st, f.op, from, RENAMES, requestedFrom);
        if (from == to) {
            return;
        }
        int toMode = mode(to);
        requireTarget(st, f.op, to, toMode == 0, requestedTo);
        boolean directory = (mode & S_IFMT) == S_IFDIR;
        if (directory && !part) {
            requireTree(st, f.op, from, to);
        }
        f.a = from;
        f.removesA = true;
        f.leavesA = true;
        f.b = to;
        f.createsB = toMode == 0;
        f.tree = directory;
        f.links = directory || (mode & S_IFMT) == S_IFLNK || (toMode & S_IFMT) == S_IFLNK;
        mark(f);
        if (directory) {
            imageTree(f, from);
        } else {
            image(f, from);
        }
        image(f, to);
    }

    private void link(State st, Frame f, Target existing, Target name, String requestedExisting, String requestedName) {
        int mode = mode(existing);
        if (mode == 0) {
            withoutEffect(st, f, existing, MUTATES, requestedExisting);
            return;
        }
        // through its new name it can be read and changed (A15)
        require(st, f.op, existing, MUTATES, requestedExisting);
        require(st, f.op, existing, CONSUMES, requestedExisting);
        f.a = existing;
        if (!create(st, f, name, (mode & S_IFMT) == S_IFLNK, requestedName)) {
            f.a = null;
            return;
        }
        f.leavesA = true;
        mark(f);
        image(f, existing);
        image(f, name);
    }

    private void requireTarget(State st, int op, Target to, boolean absent, String requested) {
        boolean back = absent && to.isReplaced() && (to.allowed() & 1 << PROVIDES) == 0;
        require(st, op, to, absent && !back ? PROVIDES : MUTATES, requested);
    }

    /** A directory's rename counts for everything below it, under its old name and under its new one. */
    private void requireTree(State st, int op, Target from, Target to) {
        String own = targets.own().within(from.real());
        if (own != null) {
            deny(op, targets.file(own), RENAMES, false, false, null);
            return;
        }
        Scope scope = targets.scope();
        if (Scope.isAllowed(scope.decideTree(Predicate.RENAMES, from.path(), false))
                && Scope.isAllowed(scope.decideTree(Predicate.PROVIDES, to.path(), false))) {
            return;
        }
        TreeWalk walk = new TreeWalk(files, from.real(), TREE_LIMIT);
        String below;
        while ((below = walk.next()) != null) {
            Target old = targets.file(below);
            if ((old.allowed() & 1 << RENAMES) == 0
                    && !(targets.cameWithTree(old) && (old.allowed() & 1 << RENAMES) != 0)) {
                deny(op, old, RENAMES, false, false, null);
                return;
            }
            Target next = targets.file(to.real().concat(below.substring(from.real().length())));
            if ((next.allowed() & 1 << PROVIDES) == 0) {
                deny(op, next, PROVIDES, false, false, null);
                return;
            }
        }
        if (!walk.isComplete()) {
            deny(op, from, RENAMES, true, false, null);
        }
    }

    /** The pair of a copy or move, decided before its first step. */
    private void whole(State st, Frame f, Target from, Target to, boolean mayReplace, byte[] requestedFrom, byte[] requestedTo) {
        if (from == null || to == null) {
            return;
        }
        boolean move = f.op == MOVE;
        int mode = mode(from);
        if (mode == 0) {
            withoutEffect(st, f, from, move ? RENAMES : CONSUMES, text(requestedFrom));
            return;
        }
        boolean directory = (mode & S_IFMT) == S_IFDIR;
        require(st, f.op, from, move ? RENAMES : directory ? DEPENDS_ON : CONSUMES, text(requestedFrom));
        if (from == to) {
            return;
        }
        int toMode = mode(to);
        if (toMode != 0 && !mayReplace) {
            // the JDK will say so; an atomic move, which replaces all the same, is judged at its rename
            withoutEffect(st, f, to, MUTATES, text(requestedTo));
        } else {
            requireTarget(st, f.op, to, toMode == 0, text(requestedTo));
            if (move && directory) {
                requireTree(st, f.op, from, to);
            }
            f.partB = 1 << PROVIDES | 1 << MUTATES | 1 << DELETES | 1 << CONSUMES | 1 << DEPENDS_ON;
            if (move) {
                f.partA = 1 << RENAMES | 1 << DELETES;
            }
        }
        f.partA |= 1 << CONSUMES | 1 << DEPENDS_ON;
        f.partB |= 1 << DEPENDS_ON;
        f.a = from;
        f.b = to;
    }

    private void child(State st, Frame f, String program, String dir) {
        byte[] working = files.workingDirectory();
        if (working == null) {
            return;
        }
        String directory = Names.real(working);
        if (dir != null) {
            Resolved resolved = resolver.resolve(dir, directory, true);
            if (resolved.path() == null) {
                return;
            }
            directory = resolved.path();
        }
        String executable = programs.find(program, directory);
        if (executable == null) {
            // nothing will run; the JDK says so
            return;
        }
        Target target = targets.process(executable);
        String requested = Names.text(program);
        require(st, f.op, target, PROVIDES, requested);
        int decision = target.decide(Predicate.PROVIDES);
        List<Line> effects = decision >= 0 && decision < lines.size() ? lines.get(decision).effects() : null;
        boolean declared = Scope.isAllowed(decision);
        if (declared && effects == null) {
            Target tree = targets.file(directory);
            if (!Scope.isAllowed(targets.scope().decideTree(Predicate.MUTATES, tree.path(), false))) {
                deny(f.op, tree, MUTATES, true, false, requested);
                declared = false;
            } else if (tree.counted(MUTATES)) {
                trail.first(tree, Predicate.MUTATES, tree.decide(Predicate.MUTATES), requested);
            }
        }
        f.links = true;
        mark(f);
        if (declared) {
            try {
                images.beforeChild(Names.bytes(executable), Names.bytes(directory), effects);
            } catch (IOException e) {
                unsaved(f, target, PROVIDES, e);
            }
        }
    }

    // effects

    /** From here until {@link #end} an abort waits for this thread; so the look at the session comes after. */
    private void mark(Frame f) {
        inMutation.incrementAndGet();
        f.marked = true;
        if (f.links) {
            changing.incrementAndGet();
            f.counted = true;
        }
        if (verdicts.ended()) {
            throw over();
        }
    }

    private void image(Frame f, Target target) {
        if (target.isImaged()) {
            return;
        }
        ReentrantLock stripe = stripes[target.real().hashCode() & STRIPES - 1];
        stripe.lock();
        try {
            if (!target.isImaged()) {
                images.before(target.bytes());
                targets.imaged(target);
            }
        } catch (IOException e) {
            unsaved(f, target, predicateOf(f, target), e);
        } finally {
            stripe.unlock();
        }
    }

    private void imageTree(Frame f, Target target) {
        try {
            images.beforeTree(target.bytes());
        } catch (IOException e) {
            unsaved(f, target, RENAMES, e);
        }
    }

    private static int predicateOf(Frame f, Target target) {
        Predicate fixed = Op.of(f.op).predicate();
        if (target == f.a && fixed != null) {
            return fixed.ordinal();
        }
        return (target == f.a ? f.createsA : f.createsB) ? PROVIDES : MUTATES;
    }

    private void unsaved(Frame f, Target target, int predicate, IOException cause) {
        Denial access = new Denial(Op.of(f.op), PREDICATES[predicate], target, false, false, null, targets.scope(), lines);
        if (!verdicts.unsaved(access, cause)) {
            return;
        }
        String message = target.shown() + ": klock could not keep what is there, so it must not change: " + cause.getMessage();
        if (f.byName && (f.op == OPEN_WRITE || f.op == OPEN_RANDOM)) {
            FileNotFoundException e = new FileNotFoundException(message);
            e.initCause(cause);
            throw Observer.<RuntimeException>sneak(e);
        }
        if (!f.byName || f.op == CREATE) {
            throw Observer.<RuntimeException>sneak(new IOException(message, cause));
        }
        throw new ScopeViolationError(message);
    }

    private static ScopeViolationError over() {
        return new ScopeViolationError("klock has ended this session: nothing can be changed any more.", false);
    }

    /** The operation has succeeded. */
    private void done(Frame f, int result) {
        Target a = f.a;
        if (a == null) {
            return;
        }
        if (f.opens) {
            if (f.createsA) {
                made(a, false);
            }
            descriptors.opened(result, a);
            if (f.checked || f.epoch != resolver.epoch() || changing.get() != 0) {
                recheck(f, a, result);
            }
            return;
        }
        if (f.removesA) {
            targets.gone(a, f.replaces, f.tree);
        } else if (f.createsA) {
            made(a, false);
        }
        if (f.createsB) {
            made(f.b, f.tree);
        }
        if (f.leavesA) {
            images.left(a.bytes());
            if (f.b != null) {
                images.left(f.b.bytes());
            }
        }
    }

    private void made(Target target, boolean tree) {
        if (target.isReplaced()) {
            targets.putBack(target);
        } else {
            targets.created(target, tree);
            images.created(target.bytes());
        }
    }

    /** Compares what was opened with what was decided (D06). A file renamed or removed meanwhile by another thread is no mistake of the name. */
    private void recheck(Frame f, Target expected, int fd) {
        Resolved object = resolver.descriptor(fd);
        if (object == null || object.path() == null || object.path().equals(expected.real())) {
            return;
        }
        Target actual = targets.file(object.path());
        int either = 1 << MUTATES | 1 << PROVIDES;
        if ((actual.allowed() & either) == 0) {
            descriptors.opened(fd, actual);
            deny(f.op, actual, MUTATES, false, true, expected.path());
        }
    }

    private void pop(State st, Frame f) {
        while (st.depthOfFrames > 0) {
            Frame top = st.frames[--st.depthOfFrames];
            if (top.links) {
                // after the effect, so that nobody keeps an answer from before it
                resolver.bump();
            }
            if (top.counted) {
                changing.decrementAndGet();
            }
            if (top.marked) {
                inMutation.decrementAndGet();
            }
            top.clear();
            if (top == f) {
                return;
            }
        }
    }

    private void failed(int op, RuntimeException e, Frame f) {
        if (verdicts.failed(Op.of(op), e)) {
            ScopeViolationError error = new ScopeViolationError("klock could not judge " + Op.of(op) + ": " + e);
            error.initCause(e);
            throw error;
        }
    }

    private int mode(Target target) {
        return files.mode(target.bytes());
    }

    private static String requested(String name, byte[] bytes) {
        return name != null ? name : text(bytes);
    }

    private static String text(byte[] name) {
        return name == null ? null : Names.text(Names.real(name));
    }

    private static String cString(byte[] block) {
        int length = 0;
        while (length < block.length && block[length] != 0) {
            length++;
        }
        return new String(block, 0, length, StandardCharsets.ISO_8859_1);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneak(Throwable e) throws T {
        throw (T) e;
    }

    private static boolean isAmd64() {
        return System.getProperty("os.arch", "").equals("amd64");
    }

    private static int[] access() {
        int[] access = new int[Op.values().length];
        for (int i = 0; i < access.length; i++) {
            Op op = Op.of(i);
            access[i] = op.mutates() || op.predicate() == null ? -1 : op.predicate().ordinal();
        }
        return access;
    }

    private static boolean[] follows() {
        boolean[] follows = new boolean[Op.values().length];
        for (int i = 0; i < follows.length; i++) {
            follows[i] = Op.of(i).follows();
        }
        return follows;
    }

    private static final class States extends ThreadLocal<State> {
        @Override
        protected State initialValue() {
            return new State();
        }
    }

    /** What one thread is doing. */
    private static final class State {
        int depth;
        int depthOfFrames;
        Frame[] frames = new Frame[4];

        Frame push(int op, int epoch) {
            if (depthOfFrames == frames.length) {
                frames = java.util.Arrays.copyOf(frames, depthOfFrames * 2);
            }
            Frame f = frames[depthOfFrames];
            if (f == null) {
                f = new Frame();
                frames[depthOfFrames] = f;
            }
            depthOfFrames++;
            f.op = op;
            f.epoch = epoch;
            return f;
        }

        /** The innermost frame of {@code op}; null if there is none. */
        Frame top(int op) {
            for (int i = depthOfFrames - 1; i >= 0; i--) {
                if (frames[i].op == op) {
                    return frames[i];
                }
            }
            return null;
        }

        /** What a copy or move that is under way has decided for {@code target}, as a mask of {@link Predicate#bit()}. */
        int within(Target target) {
            int mask = 0;
            for (int i = depthOfFrames - 1; i >= 0; i--) {
                Frame f = frames[i];
                if (f.a == target) {
                    mask |= f.partA;
                }
                if (f.b == target) {
                    mask |= f.partB;
                }
            }
            return mask;
        }
    }

    /** One mutating operation between its decision and its end; reused. */
    private static final class Frame {
        int op;
        int epoch;
        Target a;
        Target b;
        int partA;
        int partB;
        boolean byName;
        boolean opens;
        boolean createsA;
        boolean createsB;
        boolean removesA;
        boolean leavesA;
        boolean replaces;
        boolean tree;
        boolean links;
        boolean checked;
        boolean marked;
        boolean counted;

        void clear() {
            a = null;
            b = null;
            partA = 0;
            partB = 0;
            byName = false;
            opens = false;
            createsA = false;
            createsB = false;
            removesA = false;
            leavesA = false;
            replaces = false;
            tree = false;
            links = false;
            checked = false;
            marked = false;
            counted = false;
        }
    }
}
