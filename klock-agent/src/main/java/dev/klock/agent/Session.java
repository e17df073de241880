package dev.klock.agent;

import dev.klock.agent.backup.Backups;
import dev.klock.agent.backup.RollbackReport;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.Mode;
import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.library.LibraryHooks;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Denials;
import dev.klock.agent.log.Event;
import dev.klock.agent.log.Messages;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.log.Summary;
import dev.klock.agent.log.VerificationLog;
import dev.klock.agent.observe.Denial;
import dev.klock.agent.observe.Ending;
import dev.klock.agent.observe.Observer;
import dev.klock.agent.observe.Op;
import dev.klock.agent.observe.Rewrites;
import dev.klock.agent.observe.Trail;
import dev.klock.agent.observe.Unseen;
import dev.klock.agent.observe.Verdicts;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.weave.Installation;
import dev.klock.agent.weave.Losses;
import dev.klock.bridge.Fence;
import dev.klock.bridge.HostFiles;
import dev.klock.digest.StateDigest;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Scope;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The life of one enforced session: what its mode makes of a violation, and how it ends.
 *
 * <p>After a violation in strict the session's state is the enforcement, not the error that the program was thrown: {@link #ended} is
 * true for every later hook, the {@link Fence} stops writes through streams that were open before, and the {@link Guard}, a thread of
 * klock's own that holds none of the program's locks, ends the children, waits for operations under way, rolls back, and halts the JVM.
 * A program that swallows the error, calls {@code System.exit}, or hangs changes nothing of that (K6-5).
 *
 * <p>Ways to end: completed (the program ended), aborted (violation: rolled back, 108), lease lost (changes kept, 109; C45). Exactly one
 * is taken, decided by one compare-and-set.
 */
final class Session implements Verdicts, Trail, Targets.Retirement, Ending, Rewrites, Losses {
    /** What the JVM ends with when klock itself has failed. */
    static final int EXIT_FAILED = 1;
    /** What the JVM ends with when strict aborts the session. */
    static final int EXIT_ABORTED = 108;
    /** What the JVM ends with when a lease is lost. */
    static final int EXIT_LEASE_LOST = 109;

    /** So many ticks lie between two looks at the classes that are loaded, each of which takes a few ms in a large program. */
    private static final int TICKS_A_LOOK = 25;
    /** And between two at the mappings, which takes as long where there are any. */
    private static final int TICKS_A_LOOK_AT_MAPPINGS = 5;
    /** On stderr a denial is named as the program sees it. */
    private static final String ERROR = "dev.klock.ScopeViolationError: ";
    /** Declared lines that a denial names. */
    private static final int NEAREST = 3;
    /** How long a thread of a session that is over is kept before it is told so. */
    private static final long TRIES_AGAIN_NS = 1_000_000;
    private static final int OPEN = 0;
    private static final int STOPPING = 1;
    private static final int OVER = 2;
    private static final Predicate[] PREDICATES = Predicate.values();

    private final Launch launch;
    private final Mode mode;
    private final String agentId;
    private final String sessionId;
    private final List<Line> scopeLines;
    private final List<Line> denyLines;
    private final boolean[] used;
    private final VerificationLog log;
    private final Backups backups;
    private final Fence fence;
    private final Denials denials = new Denials();
    private final Set<String> violated = new LinkedHashSet<>();
    private final AtomicInteger state = new AtomicInteger(OPEN);
    private final Guard guard;
    private volatile BooleanSupplier begun;
    /** Programs of which it was said what klock does not see of them, and which of them are JVMs. */
    private final Set<String> unseen = ConcurrentHashMap.newKeySet();
    private final Set<String> unmonitored = ConcurrentHashMap.newKeySet();
    /** What was said to be missing since another agent took it out, in a mode that lets it. */
    private final Set<String> takenOut = ConcurrentHashMap.newKeySet();
    private final Surroundings.Found strays = new Strays();
    private final Images.Differences differences = new ChildrensWork();
    /** Held while what children did is looked at: who starts the next one waits for it, or its changes would be taken for others'. */
    private final Object settling = new Object();
    /** Threads that are putting a violation on record: the log stays open for them. */
    private final AtomicInteger telling = new AtomicInteger();
    /** It was said that something changes without an image, in a mode that lets it. */
    private final AtomicBoolean unsavedSaid = new AtomicBoolean();
    private final AtomicBoolean leaseSaid = new AtomicBoolean();
    private volatile boolean ended;
    private volatile String stopReason;
    private volatile int stopCode;
    private Leases leases;
    private Images images;
    private Surroundings surroundings;
    private Observer observer;
    private Targets targets;
    /** Null if the manifest has no hooks on libraries. */
    private volatile LibraryHooks libraryHooks;
    /** Null until the hooks are in. */
    private volatile Installation installation;
    /** For the guard alone. */
    private int ticks;

    Session(Launch launch, String agentId, String sessionId, VerificationLog log, Backups backups, Fence fence, HostFiles files) {
        this.launch = launch;
        this.mode = launch.options().mode();
        this.agentId = agentId;
        this.sessionId = sessionId;
        this.scopeLines = launch.manifest() == null ? new ArrayList<>() : launch.manifest().scope();
        this.denyLines = launch.manifest() == null ? new ArrayList<>() : launch.manifest().deny();
        this.used = new boolean[scopeLines.size()];
        this.log = log;
        this.backups = backups;
        this.fence = fence;
        this.guard = new Guard(this, files);
    }

    /** Ends the construction: the observer needs the session and the session the observer. */
    void observedBy(Observer newObserver, Targets newTargets) {
        observer = newObserver;
        targets = newTargets;
    }

    void keeps(Images newImages) {
        images = newImages;
        newImages.settledBy(this);
    }

    void looksAfter(Surroundings newSurroundings) {
        surroundings = newSurroundings;
        images.lookedAfterBy(newSurroundings);
    }

    void hookedBy(Installation newInstallation) {
        installation = newInstallation;
    }

    void hooksLibraries(LibraryHooks newHooks) {
        libraryHooks = newHooks;
    }

    void holds(Leases newLeases) {
        leases = newLeases;
    }

    /**
     * From here on the guard flushes the log and carries out an abort.
     *
     * @param programBegun whether the launcher has got as far as the program
     */
    void begin(BooleanSupplier programBegun) {
        begun = programBegun;
        guard.start();
    }

    Observer observer() {
        return observer;
    }

    // ---- verdicts

    @Override
    public boolean hasEnded() {
        return ended || fence.isUp() && isLeaseLost();
    }

    /** Whether it has ended by what klock knows of it; looks at no lease. */
    boolean isOver() {
        return ended;
    }

    /** The fence is up by the clock: the process was stopped for long, or its heartbeats came to nothing. */
    private boolean isLeaseLost() {
        if (!ended && !leases.areHeld()) {
            leases.lost("its leases were not renewed for too long: the program was paused, or the machine was asleep");
        }
        return ended;
    }

    /** Ends the session, which may not act under its leases any more: what it has changed stays (C45). */
    void loseLease(String why) {
        if (stop("lease-lost", EXIT_LEASE_LOST)) {
            Stderr.error(why + "; changes made so far are kept, and the session ends");
        }
    }

    /** Says that the session goes on without its leases; once. */
    void lostLease(String why) {
        if (leaseSaid.compareAndSet(false, true)) {
            Stderr.warn(why + "; the program goes on without its leases");
        }
    }

    /** Where a session is over because the program has ended, a thread of its that still works waits here for the JVM's last moment. */
    @Override
    public boolean ended() {
        if (ended) {
            if (state.get() == OVER) {
                guard.await();
            }
            // virtual threads that try again and again must not keep those from their carriers that are in the middle of a change; when they
            // yield they come again before those that waited for a monitor
            LockSupport.parkNanos(TRIES_AGAIN_NS);
        }
        return ended;
    }

    @Override
    public boolean denied(Denial denial) {
        boolean stops = mode.denies() || denial.isProtected();
        if (ended()) {
            return stops;
        }
        boolean stopped;
        telling.incrementAndGet();
        try {
            // else another thread's violation, or the program's own end, came first: stopped all the same, and not this session's story
            stopped = mode == Mode.STRICT && stops && !stop("aborted", EXIT_ABORTED) || tell(denial, stops);
        } finally {
            telling.decrementAndGet();
        }
        if (stopped && state.get() == STOPPING && Thread.currentThread() != guard && begun != null && !begun.getAsBoolean()) {
            // an error in another agent, or in what the VM starts before main, ends the JVM in its own way, before the guard has wound up
            guard.await();
        }
        return stopped;
    }

    /** Puts a violation on record and says it; answers whether it is stopped. */
    private boolean tell(Denial denial, boolean stops) {
        Resource resource = resource(denial);
        Decision decision = stops ? Decision.DENY : mode == Mode.LEARN ? Decision.LEARN : Decision.WARN;
        if (decision == Decision.WARN && launch.options().amend() && leases.amend(denial.predicate(), resource)) {
            record(denial, resource, Decision.ALLOW, Event.LEASE);
            denials.count(agentId, denial.predicate(), resource, explain(denial) + "\n  it has a lease now, since amend is true", true);
            return false;
        }
        record(denial, resource, decision, decidedBy(denial.decision()));
        if (decision == Decision.LEARN) {
            return false;
        }
        String text = denial.predicate().name() + ' ' + resource;
        boolean warning = decision == Decision.WARN;
        String message = warning ? explain(denial) : ERROR + explain(denial);
        long times = denials.count(agentId, denial.predicate(), resource, message, warning);
        if (times == 1) {
            synchronized (violated) {
                violated.add(text);
            }
        }
        if (mode == Mode.BLOCK) {
            String initialised = stops ? Initialisers.running() : null;
            if (initialised != null && stop("aborted", EXIT_ABORTED)) {
                Stderr.error(text + " was denied while the class " + initialised + " was initialised, which cannot be used any more: the session ends");
            } else if (times >= launch.options().denialsLimit() && stop("aborted", EXIT_ABORTED)) {
                Stderr.error(text + " was attempted " + times + " times although it is denied: the session ends");
            }
        }
        return stops;
    }

    @Override
    public String explain(Denial denial) {
        Resource resource = resource(denial);
        if (denial.isProtected()) {
            return Messages.ownFile(denial.predicate(), resource);
        }
        int decision = denial.decision();
        Line denying = Scope.isDenied(decision) ? denyLines.get(Scope.denyLine(decision)) : null;
        Target target = denial.target();
        List<Line> near = new ArrayList<>();
        int[] nearest = targets.scope().nearest(target.scheme(), target.path(), NEAREST);
        for (int i = 0; i < nearest.length; i++) {
            near.add(scopeLines.get(nearest[i]));
        }
        String message = Messages.violation(denial.predicate(), resource, differing(denial.requested(), target.path()), target.declared(), denying,
                near, launch.manifest() == null ? null : launch.manifest().file());
        if (denial.op() == Op.START_PROCESS && denial.predicate() == Predicate.MUTATES && denying == null) {
            // K6-7: what a child does is not seen, so without a word it is taken to change all it works in
            message += Messages.NO_EFFECTS;
        } else if (denial.op() == Op.START_PROCESS && denial.predicate() == Predicate.MUTATES && denial.isTree()) {
            message += Messages.EFFECTS_BESIDE_DENY;
        } else if (denial.op() == Op.START_PROCESS && denial.predicate() == Predicate.PROVIDES && denying == null) {
            message += Messages.effects(resource);
        } else if (denial.op() == Op.START_PROCESS && denial.predicate() == Predicate.CONSUMES && denying == null) {
            message += Messages.OWN_PROGRAM;
        }
        if (denial.isLate() && denial.op() != Op.START_PROCESS) {
            message += "\n  another process led the name there between klock's look and the open: it may be empty now, and klock has no image of it";
        }
        return message;
    }

    @Override
    public boolean unsaved(Denial access, IOException cause) {
        if (ended()) {
            return mode.denies();
        }
        if (mode.denies() || unsavedSaid.compareAndSet(false, true)) {
            boolean isShut = cause instanceof AccessDeniedException;
            Stderr.error("the image of " + access.resource() + " could not be made before it changes: "
                    + (isShut ? "permission denied on " + cause.getMessage() : cause.getMessage())
                    + (!mode.denies() ? "; it cannot be undone (said once: others may follow)" : "; the change is refused"
                            + (isShut ? "" : " (if klock's home is full: klock.jar backups prune, or home=DIRECTORY elsewhere)")));
        }
        return mode.denies();
    }

    @Override
    public boolean denies() {
        return mode.denies();
    }

    @Override
    public boolean failed(Op op, Throwable cause) {
        Stderr.error("klock failed while it judged " + op.name().toLowerCase(Locale.ROOT) + ": " + cause
                + (mode.denies() ? "; the operation is refused" : ""));
        return mode.denies();
    }

    /** A hook is missing from here on: strict and block must not go on without it. */
    @Override
    public void lost(String gap) {
        lost(gap, EXIT_FAILED);
    }

    /** Not klock's failure: another agent, or a program that uses one, takes the hooks out. */
    @Override
    public void rewritten(ClassLoader loader, String name, byte[] before, byte[] after) {
        String gap = installation == null ? null : installation.lostIn(loader, name, before, after);
        if (gap == null && isOurs(loader, name) && !Arrays.equals(before, after)) {
            gap = "another agent changes ".concat(name.replace('/', '.'));
        }
        if (gap == null && libraryHooks != null) {
            gap = libraryHooks.lostIn(name, before, after);
        }
        if (gap != null && (mode.denies() || takenOut.add(gap))) {
            lost(gap, EXIT_ABORTED);
        }
    }

    /** Of klock itself, or what woven code calls. */
    private static boolean isOurs(ClassLoader loader, String name) {
        return loader == Session.class.getClassLoader() || loader == null && name != null
                && (name.startsWith("dev/klock/") || name.startsWith("sun/nio/fs/Klock") || name.equals("java/lang/KlockCalls"));
    }

    private void lost(String gap, int exitCode) {
        Stderr.error("a hook is lost: " + gap + (mode.denies() ? "; the session ends" : ""));
        if (mode.denies()) {
            stop("hook-lost", exitCode);
            if (Thread.currentThread() != guard) {
                // what this thread is about to do has no hook, so it must not get there
                guard.await();
            }
        }
    }

    // ---- trail

    @Override
    public void first(Target target, Predicate predicate, int decision, String requested) {
        first(target, predicate, decision, requested, null);
    }

    private void first(Target target, Predicate predicate, int decision, String requested, String operation) {
        if (decision >= 0 && decision < used.length) {
            used[decision] = true;
        }
        Resource resource = Resource.of(target.scheme(), target.path(), Resource.Form.EXACT);
        log.record(new Event(System.currentTimeMillis(), agentId, Thread.currentThread().getName(), operation, predicate, resource,
                differing(requested, target.path()), Decision.ALLOW, decidedBy(decision), null));
    }

    @Override
    public void firstCall(Target target, Predicate predicate, int decision, String hook) {
        first(target, predicate, decision, null, Denial.HOOK.concat(hook));
    }

    @Override
    public void unseen(Target program, String requested, Unseen why) {
        if (!unseen.add(program.real())) {
            return;
        }
        Resource resource = Resource.of(program.scheme(), program.path(), Resource.Form.EXACT);
        String note = why == Unseen.UNMONITORED_JVM ? Messages.unmonitored(resource) : Messages.openEnded(resource);
        if (why == Unseen.UNMONITORED_JVM) {
            unmonitored.add(resource.toString());
        }
        int decision = program.decide(Predicate.PROVIDES);
        log.record(new Event(System.currentTimeMillis(), agentId, Thread.currentThread().getName(),
                Op.START_PROCESS.name().toLowerCase(Locale.ROOT), Predicate.PROVIDES, resource, differing(requested, program.path()),
                Scope.isAllowed(decision) ? Decision.ALLOW : mode == Mode.LEARN ? Decision.LEARN : Decision.WARN, decidedBy(decision), caller(), 1,
                note));
        if (mode != Mode.LEARN) {
            Stderr.warn(note);
        }
    }

    @Override
    public void retired(Target target) {
        repeats(target);
    }

    /** One record for the accesses that followed the first of each kind. */
    private void repeats(Target target) {
        for (int i = 0; i < PREDICATES.length; i++) {
            long more = target.count(PREDICATES[i]) - 1;
            if (more > 0) {
                Resource resource = Resource.of(target.scheme(), target.path(), Resource.Form.EXACT);
                log.record(new Event(System.currentTimeMillis(), agentId, null, null, PREDICATES[i], resource, null, Decision.ALLOW,
                        decidedBy(target.decide(PREDICATES[i])), null, more));
            }
        }
    }

    // ---- the end

    @Override
    public void halting(int status) {
        complete(status);
    }

    @Override
    public void ending() {
        complete(Summary.UNKNOWN);
    }

    /** The program has ended by itself. If the session is being aborted, the calling thread waits here until the guard halts the JVM. */
    private void complete(int status) {
        if (Thread.currentThread() == guard) {
            return;
        }
        if (state.get() == OPEN) {
            observer.enter();
            try {
                boolean areRunning = (images.openToChildren() > 0 || surroundings.isOpen()) && Children.any();
                if (areRunning) {
                    Stderr.warn("a child of the program is still running: " + Children.named() + "; what it changes from here on is not covered");
                }
                childrenOver(Integer.MAX_VALUE, areRunning ? Long.MAX_VALUE : backups.alive());
                surroundings.over();
                surroundings.look(strays, true);
                lookAtHooks();
            } finally {
                observer.leave();
            }
        }
        if (!state.compareAndSet(OPEN, OVER)) {
            if (state.get() == STOPPING) {
                guard.await();
            }
            return;
        }
        ended = true;
        String end = "completed";
        try {
            backups.done();
        } catch (IOException e) {
            Stderr.error("the session's backups could not be closed: " + e.getMessage());
        }
        leases.release();
        close(end, status, null);
    }

    /** The session has no lease, and its program does not begin: its log is closed (K4-5). */
    void died() {
        ended = true;
        state.set(OVER);
        try {
            backups.done();
        } catch (IOException e) {
            Stderr.error("the session's backups could not be closed: " + e.getMessage());
        }
        leases.close();
        log.close(new Summary("died", StateDigest.EXIT_CODE, texts(scopeLines), new ArrayList<>(), texts(scopeLines), new ArrayList<>(), new ArrayList<>(),
                new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
    }

    private static List<String> texts(List<Line> lines) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            texts.add(lines.get(i).toString());
        }
        return texts;
    }

    /** Begins the end from any thread; the guard does the rest. Returns at once: true if it was this call that began it. */
    boolean stop(String reason, int exitCode) {
        if (!state.compareAndSet(OPEN, STOPPING)) {
            return false;
        }
        ended = true;
        fence.raised = true;
        stopReason = reason;
        stopCode = exitCode;
        guard.wake();
        return true;
    }

    boolean isStopping() {
        return stopCode != 0;
    }

    /** Called by the guard again and again while the session is open. */
    void tick() {
        if (ticks == 0) {
            FirstUses.soon();
        }
        if (ticks++ % TICKS_A_LOOK == 0) {
            lookAtHooks();
        }
        if (ticks % TICKS_A_LOOK_AT_MAPPINGS == 0) {
            backups.lookAtMappings();
        }
        log.flush();
        backups.flush();
        if (images.openToChildren() > 0) {
            backups.alive();
        }
        settleChildren(0);
        lookAround();
        lookAtOwn();
    }

    /** While a child runs, and when the last one is over, whether one has been at klock's own files. */
    private void lookAtOwn() {
        int since = backups.watches();
        boolean isOver = images.openToChildren() == 0 && !surroundings.isOpen() && observer.inMutation() == 0;
        images.lookAtOwn(differences);
        if (isOver) {
            backups.unwatchOwn(since);
        }
    }

    private void lookAtHooks() {
        String gap = installation == null ? null : installation.unwoven();
        if (gap != null) {
            lost(gap);
        }
    }

    /**
     * If the children started so far are over, looks at what they did. {@code own}: operations of the calling thread that are under way.
     * In this order: whatever start opened a place by now is over, and its child can be seen, once no other operation is under way.
     */
    void settleChildren(int own) {
        synchronized (settling) {
            int open = images.openToChildren();
            if (open > 0 && observer.inMutation() == own && !Children.any()) {
                childrenOver(open, backups.alive());
            }
        }
    }

    /** Whether children may be changing something, so that {@link #settleEnded} is worth calling often. */
    boolean hasChildren() {
        return images.openToChildren() > 0;
    }

    /** The guard is to look for its end, however soon that comes. */
    void childStarted() {
        guard.wake();
    }

    /** {@link #settleChildren} as soon as those that the program has started itself are over; nothing before. */
    void settleEnded() {
        if (images.areEnded()) {
            settleChildren(0);
            images.looked();
        }
    }

    /** If no child is running, looks at what those that ran have changed outside of their effects. */
    private void lookAround() {
        if (surroundings.isOpen() && observer.inMutation() == 0 && !Children.any()) {
            surroundings.over();
        }
        surroundings.look(strays, false);
    }

    /**
     * Compares what children could change with what it was, records the differences, and stops at one that is out of scope (K6-7).
     *
     * @param until as for {@link Images#childrenOver}
     */
    private void childrenOver(int count, long until) {
        synchronized (settling) {
            observer.childEnded();
            images.childrenOver(count, until, differences);
        }
    }

    /** What children did, be it to the program's files or to klock's own. */
    private final class ChildrensWork implements Images.Differences {
        @Override
        public void differs(Backups.Change change, boolean declared) {
            Session.this.differs(change, declared);
        }

        @Override
        public void homeGone(Path home) {
            Stderr.error("klock's home " + home + ", or its images, were removed or moved while a child ran: what was kept of earlier sessions is gone"
                    + " from there, and this one can be rolled back until it ends, not undone later");
        }

        @Override
        public void ownAltered(Backups.Altered what) {
            String lost = what.lost() == 0 ? ": it is put back, and nothing of this session is lost"
                    : ": the images of " + what.lost() + (what.lost() == 1 ? " file" : " files") + " are lost, which cannot be put back any more: "
                            + String.join(", ", what.names()) + (what.lost() > what.names().size() ? " and others" : "");
            Stderr.error("klock's own " + what.file() + " was changed while a child ran" + lost);
        }
    }

    private void differs(Backups.Change change, boolean declared) {
        observer.childDid(change.path(), !change.existed() ? Predicate.PROVIDES : change.exists() ? Predicate.MUTATES : Predicate.DELETES,
                declared);
    }

    /** Called by the guard once the session is stopping: everything up to, but not including, the halt. Answers the exit code. */
    int wind() {
        int code = stopCode;
        endChildren();
        boolean quiet = awaitQuiet();
        // one whose start was under way
        endChildren();
        childrenOver(Integer.MAX_VALUE, Long.MAX_VALUE);
        surroundings.over();
        surroundings.look(strays, true);
        RollbackReport report = null;
        if (code == EXIT_LEASE_LOST) {
            try {
                backups.keep();
            } catch (IOException e) {
                Stderr.error("the session's backups could not be closed: " + e.getMessage());
            }
        } else {
            observer.tellOpen();
            report = backups.rollback();
            if (!quiet) {
                report = backups.rollback();
            }
        }
        leases.abort();
        close(stopReason, code, report);
        return code;
    }

    private static void endChildren() {
        try {
            Children.end();
        } catch (RuntimeException unlisted) {
            Stderr.warn("the processes that the program started cannot be listed (" + unlisted.getMessage() + "): those that are running are not ended, and what"
                    + " they change from here on is not rolled back");
        }
    }

    /** Waits until no operation is between its decision and its end, so that nothing changes behind the rollback; false if one does not end. */
    private boolean awaitQuiet() {
        long deadline = System.nanoTime() + Guard.QUIET_NS;
        while (observer.inMutation() > 0 || telling.get() > 0) {
            if (System.nanoTime() - deadline > 0) {
                Stderr.warn("an operation of the program has not ended; what it changes from here on is not rolled back");
                return false;
            }
            Guard.pause(1);
        }
        return true;
    }

    private void close(String end, int code, RollbackReport report) {
        Target[] all = targets.all();
        for (int i = 0; i < all.length; i++) {
            repeats(all[i]);
        }
        List<String> declared = texts(scopeLines);
        List<String> usedLines = new ArrayList<>();
        List<String> unused = new ArrayList<>();
        for (int i = 0; i < used.length; i++) {
            (used[i] ? usedLines : unused).add(declared.get(i));
        }
        RolledBack rolledBack = new RolledBack(sessionId, report);
        List<String> violations;
        synchronized (violated) {
            violations = new ArrayList<>(violated);
        }
        denials.sayRepeats(!mode.denies());
        rolledBack.say(log.file().getPath());
        List<String> unusedHooks = libraryHooks == null ? List.of() : libraryHooks.unused();
        for (int i = 0; i < unusedHooks.size(); i++) {
            Stderr.warn(unusedHooks.get(i));
        }
        Summary summary = new Summary(end, code, declared, usedLines, unused, violations, rolledBack.back, rolledBack.conflicts,
                rolledBack.notes, new ArrayList<>(unmonitored),
                unusedHooks);
        log.close(summary);
        Stderr.announce(Messages.end(agentId, sessionId, mode.word(), summary, log));
    }

    /** What children changed outside of their effects is put on record; it is not put back, and may have been another process's doing. */
    private final class Strays implements Surroundings.Found {
        @Override
        public void changed(Set<String> programs, String real) {
            Target target = targets.file(real);
            targets.changed(target);
            Resource resource = Resource.of("FILE", target.path(), Resource.Form.EXACT);
            log.record(new Event(System.currentTimeMillis(), agentId, null, Op.START_PROCESS.name().toLowerCase(Locale.ROOT),
                    Predicate.MUTATES, resource, null, mode == Mode.LEARN ? Decision.LEARN : Decision.WARN, "child", null));
            if (mode == Mode.LEARN) {
                return;
            }
            String message = Messages.stray(resource, programs);
            if (denials.countFound(agentId, Predicate.MUTATES, resource, message) == 1) {
                synchronized (violated) {
                    violated.add(Predicate.MUTATES.name() + ' ' + resource);
                }
            }
        }

        @Override
        public void tooLarge(Set<String> programs, String directory) {
            Stderr.warn(Messages.notLookedThrough(Resource.of("FILE", Names.text(directory), Resource.Form.SUBTREE), programs));
        }

        @Override
        public boolean isHurried() {
            return state.get() == OPEN && isStopping();
        }
    }

    // ---- texts

    private void record(Denial denial, Resource resource, Decision decision, String decidedBy) {
        log.record(new Event(System.currentTimeMillis(), agentId, Thread.currentThread().getName(),
                denial.operation(), denial.predicate(), resource,
                differing(denial.requested(), denial.target().path()), decision, decidedBy, caller()));
    }

    private static Resource resource(Denial denial) {
        return Resource.of(denial.target().scheme(), denial.target().path(),
                denial.isTree() ? Resource.Form.SUBTREE : Resource.Form.EXACT);
    }

    private String decidedBy(int decision) {
        if (decision >= 0 && decision < scopeLines.size()) {
            return place(scopeLines.get(decision));
        }
        if (decision == Target.BASELINE) {
            return "baseline";
        }
        if (decision == Target.PROTECTED) {
            return "klock";
        }
        if (decision == Target.PASSED) {
            return "child";
        }
        if (Scope.isDenied(decision) && Scope.denyLine(decision) < denyLines.size()) {
            return place(denyLines.get(Scope.denyLine(decision)));
        }
        if (decision == Scope.ANCESTOR || decision == Target.REPLACING) {
            return "manifest";
        }
        return "mode";
    }

    private String place(Line line) {
        return launch.manifest().file() + ':' + line.line();
    }

    private static String differing(String requested, String path) {
        return requested == null || requested.equals(path) ? null : requested;
    }

    /** The first frame that is neither the JDK's nor klock's. */
    private static String caller() {
        StackTraceElement[] frames = new Throwable().getStackTrace();
        for (int i = 0; i < frames.length; i++) {
            String module = frames[i].getModuleName();
            boolean jdk = module != null && (module.startsWith("java.") || module.startsWith("jdk."));
            if (!jdk && !"klock".equals(frames[i].getClassLoaderName())) {
                return frames[i].toString();
            }
        }
        return null;
    }
}
