package dev.klock.agent.observe;

import dev.klock.ScopeViolationError;
import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Scope;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What each operation on resolved targets means, whether it may happen, and what must be safe before it does.
 *
 * <p>An operation that changes something runs in this order: decide all its sides; mark the thread as in mutation; look whether the
 * session may still change anything; image what is there (K6-8); return. {@link #close} takes the mark away. Since the mark comes before
 * the look, a session that has ended and then sees nothing in mutation knows that nothing more will change.
 *
 * <p>While a copy's or move's frame is on the thread's stack, its steps on the same two files are part of it: they are not judged again,
 * but still imaged (C34, A11, A27).
 *
 * <p>What has no effect needs only DEPENDS_ON: creating what exists, removing what does not (the JDK reports it, and programs rely on
 * that: {@code createDirectories} makes first and asks afterwards).
 *
 * <p>Races. In this JVM, a change of links or directories raises {@code changing} before and the resolver's epoch after its effect; an
 * open for writing that saw either move, and each first one of a file, is compared with what {@code /proc/self/fd} says was opened
 * (D06).
 *
 * <p>A failed image surfaces as {@code FileNotFoundException} or {@code IOException} where the hooked method's callers declare it (opens
 * of java.io, {@code createNewFile}, all of java.nio.file, process start), else as {@link ScopeViolationError}.
 *
 * <p>Thread-safe; a {@link Work} and its frames belong to the calling thread, which has exempted itself. Takes no lock but
 * those of {@link PreImages}.
 */
final class Judge {
    private static final int O_ACCMODE = 3;
    private static final int O_CREAT = 0100;
    private static final int O_EXCL = 0200;
    private static final int O_TRUNC = 01000;

    /** RandomAccessFile's mode bit for reading and writing. */
    private static final int RANDOM_WRITE = 2;

    private static final int S_IFMT = 0170000;
    private static final int S_IFIFO = 0010000;
    private static final int S_IFCHR = 0020000;
    private static final int S_IFDIR = 0040000;
    private static final int S_IFLNK = 0120000;

    private static final int PROVIDES = Predicate.PROVIDES.ordinal();
    private static final int CONSUMES = Predicate.CONSUMES.ordinal();
    private static final int MUTATES = Predicate.MUTATES.ordinal();
    private static final int DELETES = Predicate.DELETES.ordinal();
    private static final int DEPENDS_ON = Predicate.DEPENDS_ON.ordinal();
    private static final int RENAMES = Predicate.RENAMES.ordinal();
    private static final Predicate[] PREDICATES = Predicate.values();

    private static final int OPEN_WRITE = Op.OPEN_WRITE.code();
    private static final int OPEN_READ = Op.OPEN_READ.code();
    private static final int OPEN_RANDOM = Op.OPEN_RANDOM.code();
    private static final int COPY = Op.COPY.code();
    private static final int WATCH = Op.WATCH.code();
    private static final int OPEN_FLAGS = Op.OPEN_FLAGS.code();
    private static final int CREATE = Op.CREATE.code();
    private static final int MAKE_DIRECTORY = Op.MAKE_DIRECTORY.code();
    private static final int MAKE_NODE = Op.MAKE_NODE.code();
    private static final int DELETE = Op.DELETE.code();
    private static final int LINK = Op.LINK.code();
    private static final int SYMLINK = Op.SYMLINK.code();
    private static final int CHANGE_ATTRIBUTES = Op.CHANGE_ATTRIBUTES.code();
    private static final int CHANGE_ATTRIBUTES_NO_FOLLOW = Op.CHANGE_ATTRIBUTES_NO_FOLLOW.code();
    private static final int MOVE = Op.MOVE.code();

    /** Denials of one target that still get a stack trace; later ones of a storm cost less to describe. */
    private static final int TRACED_DENIALS = 20;
    /** Files below a renamed directory that are judged one by one when no subtree line covers it. */
    private static final int TREE_LIMIT = 100_000;

    /** More than the kernel's coarse clock, which files' times are taken from, is behind. */
    private static final long CLOCK_TICK_NS = 20_000_000L;

    static final String NATIVE = "NATIVE";

    private final HostFiles files;
    private final Resolver resolver;
    private final Targets targets;
    private final List<Line> lines;
    private final Programs programs;
    private final Launchers launchers;
    private final Descriptors descriptors;
    private final PreImages images;
    private final Verdicts verdicts;
    private final Trail trail;
    private final JdkFiles jdkFiles;
    private final ProcessFiles processFiles;
    /** The session has changed where a link leads, or moved a directory with whatever links are in it; never false again. */
    private volatile boolean led;
    private final Mutations mutations = new Mutations();
    private final Claims claims = new Claims();
    private final AtomicInteger changing = new AtomicInteger();

    Judge(HostFiles files, Resolver resolver, Targets targets, List<Line> lines, Programs programs, Descriptors descriptors,
            PreImages images, Verdicts verdicts, Trail trail) {
        this.files = files;
        this.resolver = resolver;
        this.targets = targets;
        this.lines = lines;
        this.programs = programs;
        this.launchers = new Launchers(files, resolver, targets.own());
        this.descriptors = descriptors;
        this.images = images;
        this.verdicts = verdicts;
        this.trail = trail;
        this.processFiles = new ProcessFiles(targets, this);
        this.jdkFiles = new JdkFiles(targets.baseline().temporary(), targets.baseline().home());
    }

    /** See {@link Mutations#moves}. */
    int moves() {
        return mutations.moves();
    }

    boolean beginIfQuiet() {
        return mutations.beginIfQuiet();
    }

    void endQuiet() {
        mutations.end(false);
    }

    /** Operations between their decision and their end, on any thread. */
    int inMutation() {
        return mutations.count();
    }

    /** Whether an open, or any other operation, can change something by the name it is given. */
    static boolean changes(int op, int arg) {
        if (op == OPEN_FLAGS) {
            return (arg & O_ACCMODE) != 0 || (arg & (O_CREAT | O_TRUNC)) != 0;
        }
        return op != OPEN_RANDOM || (arg & RANDOM_WRITE) != 0;
    }

    /** The program that a process runs; one that nobody declares where it does not say. */
    Target programOf(String pid) {
        byte[] exe = files.readLink(Names.bytes("/proc/" + pid + "/exe"));
        return targets.process(exe == null ? "pid/" + pid : Names.real(exe));
    }

    /** An operation that changes nothing. */
    void access(Work work, int op, Target target, int predicate, String name, byte[] bytes) {
        if (target == null) {
            return;
        }
        if (target.isOfAProcess() && predicate == CONSUMES) {
            processFiles.opens(work, op, target);
        }
        if ((target.allowed() & 1 << predicate) != 0) {
            if (target.counted(predicate)) {
                trail.first(target, PREDICATES[predicate], target.decide(PREDICATES[predicate]), name == null ? text(bytes) : name);
            }
            return;
        }
        try {
            refuse(work, op, target, predicate, name == null ? text(bytes) : name);
        } catch (ScopeViolationError e) {
            if (bytes != null && Causes.isOnAThreadOfTheJdk()) {
                // an error would end the thread, and whoever waits for its answer would wait for ever
                throw Judge.<RuntimeException>sneak(files.absent());
            }
            throw e;
        }
    }

    /** A call of a library that {@code hook} of the manifest means; nothing but lines and the mode decides. */
    void call(Target target, Predicate predicate, String hook) {
        if ((target.allowed() & predicate.bit()) != 0) {
            if (target.counted(predicate.ordinal())) {
                trail.firstCall(target, predicate, target.decide(predicate), hook);
            }
            return;
        }
        deny(Denial.ofCall(predicate, target, hook));
    }

    /** Lets pass what is declared for {@code predicate}; else has the session decide. */
    private void require(Work work, int op, Target target, int predicate, String requested) {
        if ((target.allowed() & 1 << predicate) != 0) {
            if (target.counted(predicate)) {
                trail.first(target, PREDICATES[predicate], target.decide(PREDICATES[predicate]), requested);
            }
            return;
        }
        refuse(work, op, target, predicate, requested);
    }

    private void refuse(Work work, int op, Target target, int predicate, String requested) {
        if (!isAllowedAllTheSame(work, op, target, predicate, requested)) {
            deny(op, target, predicate, false, requested);
        }
    }

    /** Last look at what is not allowed by line: part of a copy, moved here whole, the JVM's own; else the session's verdict is asked for. */
    private boolean isAllowedAllTheSame(Work work, int op, Target target, int predicate, String requested) {
        if (target.isHidden() && (predicate == CONSUMES || predicate == DEPENDS_ON)) {
            absent(op, predicate, requested);
            return true;
        }
        if ((work.within(target) & 1 << predicate) != 0) {
            return true;
        }
        if (targets.cameWithTree(target) && (target.allowed() & 1 << predicate) != 0) {
            target.counted(predicate);
            return true;
        }
        if ((predicate == CONSUMES || predicate == DEPENDS_ON) && !target.isHidden() && isOnClassPath(target, predicate, requested)) {
            if (target.counted(predicate)) {
                trail.first(target, PREDICATES[predicate], Target.BASELINE, requested);
            }
            return true;
        }
        if (predicate == DEPENDS_ON && !target.isProtected() && Causes.isListingMounts()) {
            target.allowCause(Predicate.DEPENDS_ON.bit());
            if (target.counted(predicate)) {
                trail.first(target, Predicate.DEPENDS_ON, Target.BASELINE, requested);
            }
            return true;
        }
        if (jdkFiles.isItsOwn(op, target)) {
            if (target.counted(predicate)) {
                trail.first(target, PREDICATES[predicate], Target.BASELINE, requested);
            }
            return true;
        }
        return false;
    }

    /**
     * Whether the class loaders read it or the manifest of a jar on the class path names it; then it may be read from now on. Not what a link
     * on the class path leads to that the program may have made.
     */
    private boolean isOnClassPath(Target target, int predicate, String requested) {
        boolean loaded = target.isFile() && Causes.isClassLoading()
                && (targets.baseline().isBelowClassPath(target.real()) || !targets.isOpenToChange(absolute(requested)));
        int allowed = loaded ? Predicate.CONSUMES.bit() | Predicate.DEPENDS_ON.bit() : targets.onClassPath(target);
        target.allowCause(allowed);
        return (allowed & 1 << predicate) != 0;
    }

    private String absolute(String requested) {
        String real = requested == null ? "" : Names.ofText(requested);
        if (real.startsWith("/")) {
            return real;
        }
        byte[] working = files.workingDirectory();
        return (working == null ? "/.." : Names.real(working)).concat("/").concat(real);
    }

    /**
     * klock's own directory: what is in it cannot be read, in any mode, and reads get what they would get if it were not there. Looking
     * whether a name exists passes, since not every method of the JDK that looks can be made to say no.
     */
    private void absent(int op, int predicate, String requested) {
        if (predicate == DEPENDS_ON) {
            return;
        }
        String shown = requested == null ? "" : requested;
        if (op == OPEN_READ || op == OPEN_RANDOM) {
            throw Judge.<RuntimeException>sneak(new FileNotFoundException(shown.concat(" (No such file or directory)")));
        }
        if (op == OPEN_FLAGS) {
            throw Judge.<RuntimeException>sneak(files.absent());
        }
        if (op == COPY || op == WATCH) {
            throw Judge.<RuntimeException>sneak(new NoSuchFileException(shown));
        }
        // a list of names: those of logs and images, not what is in them
    }

    /** Asks the session; returns only if it lets the operation go on. */
    private void deny(int op, Target target, int predicate, boolean late, String requested) {
        deny(new Denial(Op.of(op), PREDICATES[predicate], target, late, requested));
    }

    /** The same about all at and below {@code root}. */
    private void denyTree(int op, Target root, int predicate, String requested) {
        deny(Denial.ofTree(Op.of(op), PREDICATES[predicate], root, targets.scope(), requested));
    }

    private void deny(Denial denial) {
        if (verdicts.denied(denial) || denial.isProtected() || verdicts.ended()) {
            Op op = denial.op();
            if ((op == Op.OPEN_READ || op == Op.OPEN_WRITE || op == Op.OPEN_RANDOM) && Causes.isOnAThreadOfTheJdk()) {
                // an error would end the thread, and whoever waits for its answer would wait for ever
                throw Judge.<RuntimeException>sneak(new FileNotFoundException(verdicts.explain(denial)));
            }
            throw new ScopeViolationError(verdicts.explain(denial), denial.target().deniedBefore() < TRACED_DENIALS);
        }
    }

    /**
     * Whether {@code target} is still absent, or there, as it was when it was looked at, so that the operation will change nothing: then it stays
     * so for the session's other threads until the operation has ended. Else they were quicker.
     */
    private boolean stays(Work work, Frame f, Target target, boolean absent) {
        count(work, f, false);
        if (!f.claimed) {
            claims.claim(f, target);
        }
        boolean stays = mode(target) == 0 == absent;
        if (!stays) {
            claims.release(f);
        }
        return stays;
    }

    /** The mode of what an operation cannot do without; below 0 if it is not there, so that nothing will happen, which has been judged. */
    private int present(Work work, Frame f, Target target, int attempted, String requested) {
        int mode = mode(target);
        if (mode != 0) {
            return mode;
        }
        if (stays(work, f, target, true)) {
            withoutEffect(work, f, target, attempted, requested);
            return -1;
        }
        return mode(target);
    }

    /** An operation that changes nothing because of what exists: it tells whether it does, so DEPENDS_ON is enough. */
    private void withoutEffect(Work work, Frame f, Target target, int attempted, String requested) {
        if ((target.allowed() & 1 << attempted) != 0 || (work.within(target) & 1 << attempted) != 0) {
            return;
        }
        if ((target.allowed() & 1 << DEPENDS_ON) != 0) {
            if (target.counted(DEPENDS_ON)) {
                trail.first(target, Predicate.DEPENDS_ON, target.decide(Predicate.DEPENDS_ON), requested);
            }
            return;
        }
        if (!isAllowedAllTheSame(work, f.op, target, attempted, requested)) {
            deny(Denial.withoutEffect(Op.of(f.op), PREDICATES[attempted], target, requested));
        }
    }

    void change(Work work, Frame f, Target target, int arg, String name, byte[] bytes) {
        if (target == null) {
            if (work.removed != null && changes(f.op, arg)) {
                changeRemoved(work, f, work.removed, requested(name, bytes));
            }
            return;
        }
        int op = f.op;
        if (op == OPEN_FLAGS) {
            if ((arg & O_ACCMODE) == 0 && (arg & (O_CREAT | O_TRUNC)) == 0) {
                access(work, op, target, CONSUMES, name, bytes);
            } else {
                openForWriting(work, f, target, (arg & O_CREAT) != 0, (arg & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL), name, bytes);
            }
        } else if (op == OPEN_WRITE) {
            openForWriting(work, f, target, true, false, name, bytes);
        } else if (op == OPEN_RANDOM) {
            if ((arg & RANDOM_WRITE) == 0) {
                access(work, op, target, CONSUMES, name, bytes);
            } else {
                openForWriting(work, f, target, true, false, name, bytes);
            }
        } else if (op == CREATE || op == MAKE_DIRECTORY || op == MAKE_NODE || op == SYMLINK) {
            if (create(work, f, target, op == SYMLINK, requested(name, bytes))) {
                mark(work, f);
                image(f, target);
            }
        } else if (op == DELETE) {
            remove(work, f, target, requested(name, bytes));
        } else if (op == CHANGE_ATTRIBUTES || op == CHANGE_ATTRIBUTES_NO_FOLLOW) {
            String requested = requested(name, bytes);
            if (present(work, f, target, MUTATES, requested) < 0) {
                return;
            }
            require(work, op, target, MUTATES, requested);
            f.a = target;
            mark(work, f);
            image(f, target);
        }
    }

    /**
     * A change of a file that has lost the name it was opened by, through {@code /proc} or by a descriptor. What the session has open for writing
     * it can change anyway: an unlinked temporary file. All else is judged by the name it had; should that be declared, it does not go for other
     * names the file may have.
     */
    private void changeRemoved(Work work, Frame f, Resolved removed, String requested) {
        long[] status = removed.status();
        if (status != null && (status[HostFiles.MODE] & S_IFMT) == S_IFDIR) {
            return;
        }
        Target target = targets.file(removed.was());
        if (!isOpen(target, status)) {
            if (status != null && status[HostFiles.NLINK] == 0 && (isSame(status, files.status(1)) || isSame(status, files.status(2)))) {
                // where the program's own output goes
                return;
            }
            boolean declared = (target.allowed() & 1 << MUTATES) != 0;
            require(work, f.op, target, MUTATES, requested);
            // what has no name any more can get none: another thread has deleted it, and nobody will see what is changed in it
            if (declared && (status == null || status[HostFiles.NLINK] > 0)) {
                throw new IllegalStateException(target.shown().concat(" was removed: what else the file is called is not known"));
            }
            mark(work, f);
            return;
        }
        f.a = target;
        f.opens = f.op == OPEN_WRITE || f.op == OPEN_RANDOM || f.op == OPEN_FLAGS;
        f.checked = true;
        f.removed = status;
        mark(work, f);
        image(f, target);
    }

    /** Whether the session opened as {@code target}, and has open for writing, the file that {@code status} is of. */
    private boolean isOpen(Target target, long[] status) {
        for (int fd = descriptors.next(0); fd >= 0; fd = descriptors.next(fd + 1)) {
            Target opened = descriptors.get(fd);
            if (opened != null && opened.real().equals(target.real()) && isSame(status, files.status(fd))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isSame(long[] a, long[] b) {
        return a != null && b != null && a[HostFiles.INO] == b[HostFiles.INO] && a[HostFiles.DEV] == b[HostFiles.DEV];
    }

    /** The VM itself writes what was {@code found}: as an open for writing, but nothing can be compared with it afterwards. */
    void written(Work work, Frame f, Resolved found, String requested) {
        if (found.was() != null) {
            changeRemoved(work, f, found, requested);
        } else if (found.path() != null) {
            openForWriting(work, f, targets.file(found.path()), true, false, requested, null);
        }
        f.checked = false;
        // there is no descriptor whose close would say that it is over
        f.opens = false;
    }

    /** Something whose effects cannot be told: MUTATES on the working directory's subtree (K6-7). */
    void opaque(Work work, Frame f, String requested) {
        requireAll(f.op, workingDirectory(), requested);
    }

    /** MUTATES on everything at and below {@code directory}, a real name; false if that is not declared and the session lets it go on. */
    private boolean requireAll(int op, String directory, String requested) {
        Target tree = targets.file(directory);
        if (!Scope.isAllowed(targets.scope().decideTree(Predicate.MUTATES, tree.path(), false))) {
            denyTree(op, tree, MUTATES, requested);
            return false;
        }
        if (tree.counted(MUTATES)) {
            trail.first(tree, Predicate.MUTATES, tree.decide(Predicate.MUTATES), requested);
        }
        return true;
    }

    /** C34: PROVIDES if absent at this moment, MUTATES if it exists. Looks only where that could make a difference. */
    private void openForWriting(Work work, Frame f, Target target, boolean creates, boolean exclusive, String name, byte[] bytes) {
        if (target.isOfAProcess()) {
            processFiles.opens(work, f.op, target);
        }
        int both = 1 << PROVIDES | 1 << MUTATES;
        int allowed = target.allowed();
        boolean first = !target.isImaged();
        boolean absent = false;
        int predicate = MUTATES;
        if (first || exclusive || target.isGone() || (allowed & both) != both) {
            int mode = mode(target);
            if (mode == 0 ? !creates : exclusive) {
                if (stays(work, f, target, mode == 0)) {
                    withoutEffect(work, f, target, mode == 0 ? MUTATES : PROVIDES, requested(name, bytes));
                    return;
                }
                mode = mode(target);
            }
            absent = mode == 0;
            target.mayBlock((mode & S_IFMT) == S_IFIFO || (mode & S_IFMT) == S_IFCHR);
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
            refuse(work, f.op, target, predicate, requested(name, bytes));
        }
        f.a = target;
        f.createsA = absent;
        f.opens = true;
        f.checked = first || work.linked || changing.get() != 0;
        mark(work, f);
        image(f, target);
        if (target.mayBlock() && f.marked) {
            // until somebody reads there, which nobody is to wait for
            if (f.claimed) {
                claims.release(f);
            }
            mutations.end(false);
            f.marked = false;
        }
    }

    /** Decides on bringing {@code target} into being; false if it exists, so that nothing will happen. The frame's A or, for a pair, B. */
    private boolean create(Work work, Frame f, Target target, boolean link, String requested) {
        int allowed = target.allowed();
        if ((!target.isImaged() || (allowed & 1 << PROVIDES) == 0) && mode(target) != 0 && stays(work, f, target, false)) {
            withoutEffect(work, f, target, PROVIDES, requested);
            return false;
        }
        boolean back = target.isReplaced() && (allowed & 1 << PROVIDES) == 0;
        require(work, f.op, target, back ? MUTATES : PROVIDES, requested);
        if (f.a == null) {
            f.a = target;
            f.createsA = true;
        } else {
            f.b = target;
            f.createsB = true;
        }
        f.links |= link;
        f.leads |= link;
        return true;
    }

    private void remove(Work work, Frame f, Target target, String requested) {
        int mode = present(work, f, target, DELETES, requested);
        if (mode < 0) {
            return;
        }
        int allowed = target.allowed();
        if ((allowed & 1 << DELETES) != 0) {
            require(work, f.op, target, DELETES, requested);
        } else if ((work.within(target) & 1 << DELETES) != 0) {
            f.replaces = true;
        } else if ((allowed & 1 << MUTATES) != 0 && Causes.isReplacing()) {
            f.replaces = true;
            if (target.counted(MUTATES)) {
                trail.first(target, Predicate.MUTATES, Target.REPLACING, requested);
            }
        } else {
            refuse(work, f.op, target, DELETES, requested);
        }
        f.a = target;
        f.removesA = true;
        f.leads = (mode & S_IFMT) == S_IFLNK;
        f.links = f.leads;
        mark(work, f);
        image(f, target);
    }

    /** Rename and hard link: both sides are decided before either effect. */
    void pair(Work work, Frame f, Target from, Target to, String requestedFrom, String requestedTo) {
        if (from == null || to == null) {
            return;
        }
        if (f.op == LINK) {
            link(work, f, from, to, requestedFrom, requestedTo);
            return;
        }
        int mode = present(work, f, from, RENAMES, requestedFrom);
        if (mode < 0) {
            return;
        }
        boolean part = (work.within(from) & 1 << RENAMES) != 0;
        require(work, f.op, from, RENAMES, requestedFrom);
        if (from == to) {
            return;
        }
        int toMode = mode(to);
        requireTarget(work, f.op, to, toMode == 0, requestedTo);
        boolean directory = (mode & S_IFMT) == S_IFDIR;
        if (directory && !part) {
            requireTree(work, f.op, from, to);
        }
        f.a = from;
        f.removesA = true;
        f.b = to;
        f.createsB = toMode == 0;
        f.tree = directory;
        f.leads = (mode & S_IFMT) == S_IFLNK || (toMode & S_IFMT) == S_IFLNK;
        f.links = directory || f.leads;
        mark(work, f);
        if (directory) {
            imageTree(f, from, to);
            image(f, to);
        } else {
            images(f, from, to);
        }
    }

    private void link(Work work, Frame f, Target existing, Target name, String requestedExisting, String requestedName) {
        int mode = present(work, f, existing, MUTATES, requestedExisting);
        if (mode < 0) {
            return;
        }
        // through its new name it can be read and changed (A15)
        require(work, f.op, existing, MUTATES, requestedExisting);
        require(work, f.op, existing, CONSUMES, requestedExisting);
        if (existing == name) {
            // it exists, and the JDK will say so
            return;
        }
        f.a = existing;
        if (!create(work, f, name, (mode & S_IFMT) == S_IFLNK, requestedName)) {
            f.a = null;
            return;
        }
        mark(work, f);
        images(f, existing, name);
    }

    private void requireTarget(Work work, int op, Target to, boolean absent, String requested) {
        boolean back = absent && to.isReplaced() && (to.allowed() & 1 << PROVIDES) == 0;
        require(work, op, to, absent && !back ? PROVIDES : MUTATES, requested);
    }

    /** A directory's rename counts for everything below it, under its old name and under its new one. */
    private void requireTree(Work work, int op, Target from, Target to) {
        String own = targets.own().within(from.real());
        if (own != null) {
            deny(op, targets.file(own), RENAMES, false, null);
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
                deny(op, old, RENAMES, false, null);
                return;
            }
            Target next = targets.file(to.real().concat(below.substring(from.real().length())));
            if ((next.allowed() & 1 << PROVIDES) == 0) {
                deny(op, next, PROVIDES, false, null);
                return;
            }
        }
        if (!walk.isComplete()) {
            denyTree(op, from, RENAMES, null);
        }
    }

    /** The pair of a copy or move, decided before its first step. */
    void whole(Work work, Frame f, Target from, Target to, boolean mayReplace, byte[] requestedFrom, byte[] requestedTo) {
        if (from == null || to == null) {
            return;
        }
        boolean move = f.op == MOVE;
        int mode = mode(from);
        if (mode == 0) {
            withoutEffect(work, f, from, move ? RENAMES : CONSUMES, text(requestedFrom));
            return;
        }
        boolean directory = (mode & S_IFMT) == S_IFDIR;
        require(work, f.op, from, move ? RENAMES : directory ? DEPENDS_ON : CONSUMES, text(requestedFrom));
        if (from == to) {
            return;
        }
        int toMode = mode(to);
        if (toMode != 0 && !mayReplace) {
            // the JDK will say so; an atomic move, which replaces all the same, is judged at its rename
            withoutEffect(work, f, to, MUTATES, text(requestedTo));
        } else {
            requireTarget(work, f.op, to, toMode == 0, text(requestedTo));
            if (move && directory) {
                requireTree(work, f.op, from, to);
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

    /** {@code arguments} and {@code environment} as for {@link Launchers#isJvmWithoutKlock}. */
    void child(Work work, Frame f, String program, String dir, byte[] arguments, byte[] environment) {
        String working = workingDirectory();
        String directory = directory(dir, working);
        String executable = directory == null ? null : programs.find(program, directory);
        if (executable == null) {
            // nothing will run, and the JDK will say so: if no other thread makes it meanwhile
            count(work, f, true);
            resolver.bump();
            directory = directory(dir, working);
            executable = directory == null ? null : programs.find(program, directory);
            if (executable == null) {
                return;
            }
        }
        Target target = targets.process(executable);
        String requested = Names.text(program);
        require(work, f.op, target, PROVIDES, requested);
        if (targets.isChanged(targets.file(executable)) || images.isChangedByChild(Names.bytes(executable))) {
            // else whoever may start it and write it may start anything (E08)
            require(work, f.op, targets.other(NATIVE, Names.text(executable)), CONSUMES, requested);
        }
        int decision = target.decide(Predicate.PROVIDES);
        List<Line> effects = decision >= 0 && decision < lines.size() ? lines.get(decision).effects() : null;
        boolean declared = Scope.isAllowed(decision);
        if (declared && effects == null) {
            declared = requireAll(f.op, directory, requested);
        }
        f.links = true;
        mark(work, f);
        if (declared) {
            try {
                images.beforeChild(Names.bytes(executable), Names.bytes(directory), effects);
            } catch (IOException e) {
                unsaved(f, target, PROVIDES, e);
            }
            requireGoingOn();
            // imaging takes long enough for others to lead the names elsewhere
            resolver.bump();
            if (!executable.equals(programs.find(program, directory)) || !directory.equals(directory(dir, working))) {
                throw new IllegalStateException("the program or its directory was led elsewhere meanwhile");
            }
        } else {
            images.beforeUndeclaredChild(Names.bytes(executable), Names.bytes(directory));
        }
        if (launchers.isJvmWithoutKlock(executable, arguments, environment, directory)) {
            trail.unseen(target, requested, Unseen.UNMONITORED_JVM);
        } else if (Scope.isAllowed(decision) && Launchers.isOpenEnded(executable)) {
            trail.unseen(target, requested, Unseen.OPEN_ENDED);
        }
    }

    /** The child that {@link #child} has judged runs. */
    void started(Process process) {
        images.started(process);
    }

    /** The real path of the directory that a child gets, which may have been removed; null if there is none. */
    private String directory(String dir, String working) {
        if (dir == null) {
            return working;
        }
        Resolved found = resolver.resolve(dir, working, true);
        return found.was() != null ? found.was() : found.path();
    }

    private String workingDirectory() {
        String working = resolver.workingDirectory();
        if (working == null) {
            throw new IllegalStateException("the working directory cannot be seen");
        }
        return working;
    }

    /** A child is given a descriptor that the session has open for writing: what it writes there is the session's until it is over. */
    void lend(Target target) {
        try {
            images.lent(target.bytes());
        } catch (IOException e) {
            // its image was made when it was opened; without this one, what the child writes may be taken for other people's
            return;
        }
    }

    /**
     * Counts a fresh frame among the operations under way before its names are looked up, so that no directory can be moved, and no link led
     * elsewhere, in between: for one to which that has happened. {@code alone}: it will do that itself.
     */
    void hold(Work work, Frame f, boolean alone) {
        count(work, f, alone);
    }

    /**
     * Whether an open or a look that changes nothing counts as well: once the session has made, removed or renamed a link, or moved a directory, so that
     * none of its threads leads a name elsewhere between the decision and the effect.
     */
    boolean holdsReads() {
        return led;
    }

    /** An open for reading that may wait for somebody who writes, which nobody is to wait for. */
    void letGo(Frame f, Target target) {
        int kind = target == null || !f.marked || f.alone ? 0 : mode(target) & S_IFMT;
        if (kind == S_IFIFO || kind == S_IFCHR) {
            mutations.end(false);
            f.marked = false;
        }
    }

    private void count(Work work, Frame f, boolean alone) {
        if (f.marked && alone && !f.alone) {
            mutations.end(false);
            f.marked = false;
        }
        if (!f.marked) {
            f.alone = alone && mutations.beginAlone(work.marked());
            if (!alone) {
                mutations.begin();
            }
            f.marked = true;
        }
    }

    /** From here until {@link #close} an abort waits for this thread; so the look at the session comes after. */
    private void mark(Work work, Frame f) {
        if (verdicts.ended()) {
            throw over();
        }
        if ((f.leads || f.tree) && !led) {
            files.holdReads();
            led = true;
        }
        count(work, f, f.tree || f.leads);
        if (f.links) {
            changing.incrementAndGet();
            f.counted = true;
        }
        if (!f.alone && f.a != null && !f.claimed) {
            claims.claim(f, f.removesA && f.b != null);
        }
        requireGoingOn();
    }

    private void image(Frame f, Target target) {
        try {
            f.waited |= f.nowNs == 0 ? images.before(target.bytes()) : images.before(target.bytes(), f.nowNs);
            held(f, target);
        } catch (IOException e) {
            unsaved(f, target, predicateOf(f, target), e);
        }
        requireGoingOn();
    }

    /** The leases may have been lost while the image was made: the process was stopped, say. A look at the clock as a rule. */
    private void requireGoingOn() {
        if (verdicts.hasEnded()) {
            throw over();
        }
    }

    private void images(Frame f, Target a, Target b) {
        try {
            f.waited |= images.before(a.bytes(), b.bytes(), f.nowNs == 0 ? System.nanoTime() : f.nowNs);
            held(f, a);
            held(f, b);
            requireGoingOn();
        } catch (IOException oneOfThem) {
            // which of them it was has to be told, and the other one's image is kept where the change goes on all the same
            image(f, a);
            image(f, b);
        }
    }

    private void imageTree(Frame f, Target target, Target to) {
        try {
            images.beforeTree(target.bytes(), to.bytes());
            f.waited = true;
            held(f, target);
        } catch (IOException e) {
            unsaved(f, target, RENAMES, e);
        }
        requireGoingOn();
    }

    private void held(Frame f, Target target) {
        boolean absent;
        if (target == f.a) {
            f.heldA = true;
            absent = f.createsA;
        } else {
            f.heldB = true;
            absent = f.createsB;
        }
        if (!target.isImaged()) {
            // should the operation fail, nothing is there for the next one either
            targets.imaged(target, absent);
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
        Denial access = new Denial(Op.of(f.op), PREDICATES[predicate], target, false, null);
        if (!verdicts.unsaved(access, cause)) {
            return;
        }
        boolean permission = cause instanceof AccessDeniedException;
        String why = "klock could not keep what is there, so it must not change: " + (permission ? "it may not be read" : cause.getMessage());
        String message = target.shown() + ": " + why;
        if (f.byName && (f.op == OPEN_WRITE || f.op == OPEN_RANDOM)) {
            FileNotFoundException e = new FileNotFoundException(message);
            e.initCause(cause);
            throw Judge.<RuntimeException>sneak(e);
        }
        if (!f.byName || f.op == CREATE) {
            IOException e = permission ? new AccessDeniedException(target.path(), null, why) : new IOException(message);
            e.initCause(cause);
            throw Judge.<RuntimeException>sneak(e);
        }
        throw new ScopeViolationError(message);
    }

    static ScopeViolationError over() {
        return new ScopeViolationError("klock has ended this session: nothing can be changed any more.", false);
    }

    Trail trail() {
        return trail;
    }

    /** The operation has succeeded. */
    void done(Frame f, int result) {
        Target a = f.a;
        if (a == null) {
            return;
        }
        // what is moved stays what it was: the session's own, or not
        boolean own = !f.removesA || a.isCreated();
        if (f.removesA) {
            if (f.b != null) {
                if (f.tree && f.heldA && f.heldB) {
                    images.renamed(a.bytes(), f.b.bytes());
                }
                carryOver(f);
            }
            targets.gone(a, f.replaces, f.tree);
        } else if (f.createsA) {
            made(a, false);
        }
        if (f.createsB && own) {
            made(f.b, f.tree);
        } else if (f.createsB) {
            targets.broughtHere(f.b);
        }
        if (f.tree && f.b != null) {
            targets.changed(f.b);
        }
        // a result that cannot be the descriptor is of a caller that opens by other means
        if (f.opens && result > 2) {
            if (f.heldA) {
                f.heldA = false;
                Target missed = descriptors.opened(result, a);
                if (missed != null) {
                    images.left(missed.bytes());
                }
            }
            if (f.checked || f.epoch != resolver.epoch() || changing.get() != 0) {
                recheck(f, a, result);
            }
        }
        landed(f);
    }

    /**
     * After an operation by a name through a link: tells if it did not happen where it was allowed to, and the name leads elsewhere by now
     * (D06). An open is told by its descriptor instead ({@link #recheck}).
     */
    private void landed(Frame f) {
        if (f.nameA != null && !f.opens && f.partA == 0) {
            boolean elsewhere = f.removesA ? mode(f.a) != 0 : f.createsA ? mode(f.a) == 0 : f.b == null && isUntouched(f);
            if (elsewhere) {
                strayed(f, f.a, f.nameA, f.followA, f.removesA ? f.b == null ? DELETES : RENAMES : f.createsA ? PROVIDES : MUTATES);
            }
        }
        if (f.nameB != null && f.partB == 0 && mode(f.b) == 0) {
            strayed(f, f.b, f.nameB, false, f.createsB ? PROVIDES : MUTATES);
        }
    }

    /** Whether nothing can have changed the attributes of a since the operation began: its own time would tell. */
    private boolean isUntouched(Frame f) {
        try {
            long[] status = files.status(f.a.bytes());
            return status == null || status[HostFiles.CTIME] < f.sinceNs - CLOCK_TICK_NS;
        } catch (IOException unknown) {
            return false;
        }
    }

    private void strayed(Frame f, Target expected, String name, boolean follow, int predicate) {
        String real = resolver.walk(name, follow).path();
        if (real == null || real.equals(expected.real())) {
            return;
        }
        Target actual = targets.file(real);
        if ((actual.allowed() & 1 << predicate) == 0) {
            deny(f.op, actual, predicate, true, Names.text(name));
        }
    }

    /** A renamed file that is open for writing goes on being changed, under its new name. */
    private void carryOver(Frame f) {
        String below = f.a.real().concat("/");
        for (int fd = descriptors.next(0); fd >= 0; fd = descriptors.next(fd + 1)) {
            Target old = descriptors.get(fd);
            boolean inside = old != null && f.tree && old.real().startsWith(below);
            if (old == null || !inside && !old.real().equals(f.a.real())) {
                continue;
            }
            Target renamed = inside ? targets.file(f.b.real().concat(old.real().substring(f.a.real().length()))) : f.b;
            if (!leadsTo(renamed, fd)) {
                // it was opened on a file that has given way to the renamed one before
                continue;
            }
            try {
                images.before(renamed.bytes());
            } catch (IOException e) {
                // its image has been made with the rename's; should this fail all the same, the old name keeps the descriptor
                continue;
            }
            descriptors.opened(fd, renamed);
            images.carriedTo(renamed.bytes(), fd);
            images.left(old.bytes());
        }
    }

    /**
     * Whether the name is one of the file that {@code fd} is open on; true too where that cannot be told. Not where nothing is there: the file
     * had been removed before its directory was moved.
     */
    private boolean leadsTo(Target target, int fd) {
        try {
            long[] open = files.status(fd);
            long[] there = files.status(target.bytes());
            return open == null || isSame(open, there);
        } catch (IOException unknown) {
            return true;
        }
    }

    void tellOpen() {
        for (int fd = descriptors.next(0); fd >= 0; fd = descriptors.next(fd + 1)) {
            images.stillOpen(fd);
        }
    }

    /** The descriptor of a file that was opened for writing on {@code target} is about to be closed. */
    void closing(int fd) {
        // a directory that is moved meanwhile gives the descriptor's file another name
        mutations.begin();
        try {
            Target target;
            while ((target = descriptors.get(fd)) != null) {
                claims.enter(target);
                try {
                    // it may have been renamed before
                    if (descriptors.get(fd) == target) {
                        descriptors.closed(fd);
                        images.left(target.bytes(), fd);
                        break;
                    }
                } finally {
                    claims.leave(target);
                }
            }
        } finally {
            mutations.end(false);
        }
    }

    /**
     * A file that is open for writing is about to be mapped. A mapping outlives the descriptor and nothing tells its end, so from here on
     * the file counts as being changed by the session.
     */
    void mapping(Target target) {
        try {
            images.mapped(target.bytes());
        } catch (IOException e) {
            // its image was made when it was opened; without this one, what the mapping changes later may be taken for other people's
            return;
        }
    }

    private void made(Target target, boolean tree) {
        if (target.isReplaced()) {
            targets.putBack(target);
        } else {
            targets.created(target, tree);
        }
    }

    /** Compares what was opened with what was decided (D06). A file renamed or removed meanwhile by another thread is no mistake of the name. */
    private void recheck(Frame f, Target expected, int fd) {
        Resolved object = resolver.descriptor(fd);
        boolean another = object != null && f.removed != null && !isSame(f.removed, files.status(fd));
        if (object == null || !another && (object.path() == null || object.path().equals(expected.real()))) {
            return;
        }
        Target actual = object.path() == null ? expected : targets.file(object.path());
        int either = 1 << MUTATES | 1 << PROVIDES;
        if (object.path() == null || (actual.allowed() & either) == 0) {
            deny(f.op, actual, MUTATES, true, expected.path());
        }
    }

    private void over(Frame frame, Target target) {
        if (frame.failed) {
            images.failed(target.bytes());
        } else if (target == frame.a && frame.fd >= 0) {
            images.kept(target.bytes(), frame.fd);
        } else if (target == frame.a && Op.of(frame.op).keepsFirst()) {
            images.kept(target.bytes());
        } else {
            images.left(target.bytes());
        }
    }

    /** {@code frame}, and whatever was left above it, is over, with or without effect. */
    void close(Work work, Frame frame) {
        Frame top;
        while ((top = work.pop()) != null) {
            top.observer.judge().over(top);
            top.clear();
            if (top == frame) {
                return;
            }
        }
    }

    private void over(Frame f) {
        if (f.tree && f.heldA && f.heldB && !f.failed) {
            images.moved(f.a.bytes(), f.b.bytes());
        } else {
            // the new name first: until the file is known by it, it is that of the old one, which is being changed still
            if (f.heldB) {
                over(f, f.b);
            }
            if (f.heldA) {
                over(f, f.a);
            }
        }
        if (f.links) {
            // after the effect, so that nobody keeps an answer from before it
            resolver.bump();
        }
        if (f.counted) {
            changing.decrementAndGet();
        }
        if (f.claimed) {
            claims.release(f);
        }
        if (f.marked) {
            mutations.end(f.alone);
        }
    }

    private int mode(Target target) {
        return files.mode(target.bytes());
    }

    private static String requested(String name, byte[] bytes) {
        return name != null ? name : text(bytes);
    }

    static String text(byte[] name) {
        return name == null ? null : Names.text(Names.real(name));
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneak(Throwable e) throws T {
        throw (T) e;
    }
}
