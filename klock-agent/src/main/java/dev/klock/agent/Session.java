package dev.klock.agent;

import dev.klock.agent.backup.Backups;
import dev.klock.agent.backup.RollbackReport;
import dev.klock.agent.backup.Undo;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.Mode;
import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Denials;
import dev.klock.agent.log.Event;
import dev.klock.agent.log.Messages;
import dev.klock.agent.log.PlaceNames;
import dev.klock.agent.log.Secrets;
import dev.klock.agent.log.Stack;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.log.Summary;
import dev.klock.agent.log.VerificationLog;
import dev.klock.agent.notice.Notice;
import dev.klock.agent.observe.Denial;
import dev.klock.agent.observe.Exemption;
import dev.klock.agent.observe.Observer;
import dev.klock.agent.observe.Op;
import dev.klock.agent.observe.Trail;
import dev.klock.agent.observe.Unseen;
import dev.klock.agent.observe.Verdicts;
import dev.klock.agent.resolve.Names;
import dev.klock.bridge.Fence;
import dev.klock.digest.StateDigest;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.kernel.Command;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The life of one enforced session: what its mode makes of a violation, and how it ends. The process has one ({@link ProcessSession}), and
 * each agent in it may have one of its own ({@link AgentSession}).
 *
 * <p>After a violation in strict the session's state is the enforcement, not the error that the program was thrown: {@link #ended} is
 * true for every later hook, the {@link Fence} stops writes through streams that were open before, and the {@link Guard}, a thread of
 * klock's own that holds none of the program's locks, ends the children, waits for operations under way, and rolls back. A program that
 * swallows the error, calls {@code System.exit}, or hangs changes nothing of that (K6-5).
 *
 * <p>Ways to end: completed, aborted (violation: rolled back), lease lost (changes kept; C45). Exactly one is taken, decided by one
 * compare-and-set.
 */
abstract class Session implements Verdicts, Trail, Targets.Retirement {
    static final String COMPLETED = "completed";
    static final String ABORTED = "aborted";
    private static final String BY_MODE = "mode";
    /** What was handed to a child, or done by one within its effects. */
    private static final String BY_CHILD = "child";
    static final String LEASE_LOST = "lease-lost";
    /** What the JVM ends with when strict aborts the session. */
    static final int EXIT_ABORTED = 108;
    /** What the JVM ends with when a lease is lost. */
    static final int EXIT_LEASE_LOST = 109;
    private static final int MAX_CUT_SHORT = 5;

    /** So many ticks lie between two looks at the mappings, each of which takes a few ms where there are any. */
    private static final int TICKS_A_LOOK_AT_MAPPINGS = 5;
    /** On stderr a denial is named as the program sees it. */
    private static final String ERROR = "dev.klock.ScopeViolationError: ";
    /** Declared lines that a denial names. */
    private static final int NEAREST = 3;
    /** How long a thread of a session that is over is kept before it is told so. */
    private static final long TRIES_AGAIN_NS = 1_000_000;
    static final int OPEN = 0;
    static final int STOPPING = 1;
    static final int OVER = 2;
    /** How long a rollback trusts its last look at the leases. */
    private static final long LOOKS_AT_LEASES_NS = 50_000_000;
    private static final Predicate[] PREDICATES = Predicate.values();

    final Sessions sessions;
    final Mode mode;
    final String agentId;
    final String sessionId;
    private final LaunchOptions options;
    /** Null in learn. */
    private final Manifest manifest;
    private final List<Line> scopeLines;
    private final List<Line> denyLines;
    private final boolean[] used;
    final VerificationLog log;
    final Backups backups;
    private final PlaceNames places;
    private final Fence fence = new Fence();
    private final Denials denials = new Denials();
    private final Set<String> violated = new LinkedHashSet<>();
    /** Files that it was writing when it had lost its leases. Guarded by itself. */
    private final Set<String> cutShort = new LinkedHashSet<>();
    final AtomicInteger state = new AtomicInteger(OPEN);
    /** Programs of which it was said what klock does not see of them, and which of them are JVMs. */
    private final Set<String> unseen = ConcurrentHashMap.newKeySet();
    private final Set<String> unmonitored = ConcurrentHashMap.newKeySet();
    final Surroundings.Found strays = new Strays();
    private final Images.Differences differences = new ChildrensWork();
    /** Held while what children did is looked at: who starts the next one waits for it, or its changes would be taken for others'. */
    private final Object settling = new Object();
    /** Threads that are putting a violation on record: the log stays open for them. */
    private final AtomicInteger telling = new AtomicInteger();
    /** It was said that something changes without an image, in a mode that lets it. */
    private final AtomicBoolean unsavedSaid = new AtomicBoolean();
    private final AtomicBoolean leaseSaid = new AtomicBoolean();
    private final AtomicBoolean leaseLogged = new AtomicBoolean();
    volatile boolean ended;
    private volatile String stopReason;
    private volatile int stopCode;
    private volatile boolean wound;
    /** Ending it well was tried by the thread that does so. */
    private volatile boolean completed;
    private final Children children;
    private Images images;
    /** Under which leases it acts, as {@link LostLeases#of} has it, and whose they are; null before that is known. */
    private List<String> actsUnder;
    private EmbeddedKernel kernel;
    private Surroundings surroundings;
    private Observer observer;
    private Targets targets;
    /** For the guard alone. */
    private int ticks;

    /** @param manifest null in learn */
    Session(Sessions sessions, LaunchOptions options, Manifest manifest, String agentId, Tools.Records records, Children children) {
        this.sessions = sessions;
        this.options = options;
        this.mode = options.mode();
        this.manifest = manifest;
        this.agentId = agentId;
        this.sessionId = records.sessionId;
        this.scopeLines = manifest == null ? new ArrayList<>() : manifest.scope();
        this.denyLines = manifest == null ? new ArrayList<>() : manifest.deny();
        this.used = new boolean[scopeLines.size()];
        this.log = records.log;
        this.backups = records.backups;
        this.places = records.places;
        this.children = children;
    }

    // ---- what the session acts under

    /** Whether it holds its leases still, though its fence is up: asks the kernel, which renews them. */
    abstract boolean holdsLeases();

    /** Takes a lease on what was not declared, if nothing conflicts (K6-3). */
    abstract boolean amend(Predicate predicate, Resource resource);

    /** Gives its leases back: it is over; {@code failed}: its changes are undone, or given up. */
    abstract void giveBack(boolean failed);

    /** Keeps a thread that works for the session after it is over, if nobody needs that thread any more. */
    abstract void keep();

    /** What its log says that the JVM ends with. */
    int exit(int code) {
        return code;
    }

    /** A denial has been thrown, or is about to be, by the calling thread. */
    void thrown() {
    }

    /** Something was done or tried that is not declared; called once for each, with what stderr says of it. */
    void violated(String message) {
    }

    /** Says how it ended. */
    abstract void tellEnd(Summary summary);

    /** The line about its end. {@code quiet}: as for {@link Messages#end}. */
    String end(Summary summary, long quiet) {
        return Messages.end(agentId, sessionId, mode.word(), summary, log, quiet);
    }

    /** One line for each hook of the manifest's on libraries that was of no use. */
    List<String> unusedHooks() {
        return List.of();
    }

    /** Ends the construction: the observer needs the session and the session the observer. */
    void observedBy(Observer newObserver, Targets newTargets) {
        observer = newObserver;
        targets = newTargets;
    }

    /** What it does is done under the leases of {@code sessions}; before its first image. */
    void actsUnder(EmbeddedKernel newKernel, List<SessionKey> sessions) throws IOException {
        kernel = newKernel;
        actsUnder = LostLeases.of(newKernel, sessions);
        backups.actsUnder(actsUnder);
    }

    /** Whether others may have been granted what it has changed. */
    private boolean areLeasesLost() {
        if (actsUnder == null) {
            return false;
        }
        try {
            holdsLeases();
            kernel.perform(new Command.Expire());
            return LostLeases.hasLost(kernel, actsUnder);
        } catch (IllegalStateException kernelLost) {
            // with klock's home, say, which a child has moved away: nobody has been granted anything by what is gone
            return false;
        }
    }

    /** {@link #areLeasesLost}; asks nobody as long as they last by the clock, so it may be asked for each change. */
    boolean hasLostLeases() {
        return isStoppedFor(LEASE_LOST) || fence.isUp() && mode.denies() && (ended ? areLeasesLost() : isLeaseLost());
    }

    void keeps(Images newImages) {
        images = newImages;
        newImages.settledBy(this);
    }

    void looksAfter(Surroundings newSurroundings) {
        surroundings = newSurroundings;
        images.lookedAfterBy(newSurroundings);
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
        if (!ended && !holdsLeases()) {
            leaseLost("its leases were not renewed for too long: the program was paused, or the machine was asleep");
        }
        return ended;
    }

    /** What it acted under is gone: ends it, unless its mode goes on without. */
    void leaseLost(String why) {
        if (ended) {
            return;
        }
        if (leaseLogged.compareAndSet(false, true)) {
            // on a thread of the kernel's, and the log may go on in another file
            Exemption own = sessions.subjects().exemption();
            own.depth++;
            try {
                lease("lost", 0, new ArrayList<>(), why);
            } finally {
                own.depth--;
            }
        }
        if (!mode.denies()) {
            if (leaseSaid.compareAndSet(false, true)) {
                Stderr.warn(why + "; the program goes on without its leases");
            }
        } else if (stop(LEASE_LOST, EXIT_LEASE_LOST)) {
            // what it has changed stays (C45)
            Stderr.error(why + "; changes made so far are kept, and the session" + called() + " ends");
        }
    }

    /** Puts on record what became of its leases, as {@link VerificationLog#lease}, and tells who wants to know. */
    void lease(String what, long waitedMs, List<String> triples, String detail) {
        log.lease(what, waitedMs, triples, detail);
        if (sessions.areTold()) {
            sessions.tell(new Notice.Lease(agentId, sessionId, what, waitedMs, detail));
        }
    }

    /** From {@code nanos} of {@link System#nanoTime} on the session may act no longer, unless it asks (C46). */
    void validUntil(long nanos) {
        if (mode.denies() && !ended) {
            sessions.fences().until(fence, nanos);
        }
    }

    Fence fence() {
        return fence;
    }

    /** The agent's name, for messages, if it is one of several; else null. */
    String name() {
        return null;
    }

    private String called() {
        return name() == null ? "" : " of ".concat(name());
    }

    /** Where a session is over because the program has ended, a thread of its that still works waits here for the JVM's last moment. */
    @Override
    public boolean ended() {
        if (ended) {
            keep();
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
            stopped = mode == Mode.STRICT && stops && !stop(ABORTED, EXIT_ABORTED) || tell(denial, stops);
        } finally {
            telling.decrementAndGet();
        }
        if (stopped) {
            thrown();
        }
        return stopped;
    }

    /** Puts a violation on record and says it; answers whether it is stopped. */
    private boolean tell(Denial denial, boolean stops) {
        Resource resource = resource(denial);
        Decision decision = stops ? Decision.DENY : mode == Mode.LEARN ? Decision.LEARN : Decision.WARN;
        if (decision == Decision.WARN && options.amend() && amend(denial.predicate(), resource)) {
            String caller = record(denial, resource, Decision.ALLOW, Event.LEASE);
            String amended = text(denial) + "\n  it has a lease now, since amend is true";
            if (denials.count(agentId, denial.predicate(), resource, amended, true) == 1) {
                violated(amended);
                tell(Decision.ALLOW, denial.predicate(), resource, denial.operation(), Event.LEASE, caller, Thread.currentThread().getName(), amended);
            }
            return false;
        }
        String decidedBy = decidedBy(denial.decision());
        String caller = record(denial, resource, decision, decidedBy);
        if (decision == Decision.LEARN) {
            return false;
        }
        String text = denial.predicate().name() + ' ' + resource;
        boolean warning = decision == Decision.WARN;
        String message = text(denial);
        long times = denials.count(agentId, denial.predicate(), resource, warning ? message : ERROR + message, warning);
        if (times == 1) {
            violated(message);
            tell(decision, denial.predicate(), resource, denial.operation(), decidedBy, caller, Thread.currentThread().getName(), message);
            synchronized (violated) {
                violated.add(text);
            }
        }
        if (mode == Mode.BLOCK) {
            String initialised = stops ? Initialisers.running() : null;
            if (initialised != null && stop(ABORTED, EXIT_ABORTED)) {
                Stderr.error(text + " was denied while the class " + initialised + " was initialised, which cannot be used any more: the session" + called() + " ends");
            } else if (times >= options.denialsLimit() && stop(ABORTED, EXIT_ABORTED)) {
                Stderr.error(text + " was attempted " + times + " times although it is denied: the session" + called() + " ends");
            }
        }
        return stops;
    }

    /** As on stderr, and for a model that drives the program what it can work with. */
    @Override
    public String explain(Denial denial) {
        Line denying = denying(denial);
        return text(denial).concat(Messages.tail(denial.predicate(), resource(denial), denial.isProtected() ? 0 : denial.target().declared(), denying,
                denial.isProtected() ? List.of() : nearest(denial.target()), denying != null || denial.isProtected() ? Set.of() : byAgents(denial).keySet(), isStopping()));
    }

    /** Null if no line denies it. */
    private Line denying(Denial denial) {
        int decision = denial.decision();
        return !denial.isProtected() && Scope.isDenied(decision) ? denyLines.get(Scope.denyLine(decision)) : null;
    }

    /** The lines that declare it for agents of this session's process, by their names; empty if there are none, or this session is such an agent's. */
    Map<String, Line> byAgents(Denial denial) {
        return Map.of();
    }

    private List<Line> nearest(Target target) {
        List<Line> near = new ArrayList<>();
        int[] nearest = targets.scope().nearest(target.scheme(), target.path(), NEAREST);
        for (int i = 0; i < nearest.length; i++) {
            near.add(scopeLines.get(nearest[i]));
        }
        return near;
    }

    private String text(Denial denial) {
        Resource resource = resource(denial);
        if (denial.isProtected()) {
            return Messages.ownFile(name(), denial.predicate(), resource);
        }
        Line denying = denying(denial);
        Target target = denial.target();
        String message = Messages.violation(name(), denial.predicate(), resource, differing(denial.requested(), target.path()), target.declared(), denying,
                nearest(target), byAgents(denial), manifest == null ? null : manifest.file(), places);
        if (denial.op() == Op.START_PROCESS && denial.predicate() == Predicate.MUTATES && denying == null) {
            // K6-7: what a child does is not seen, so without a word it is taken to change all it works in
            message += Messages.NO_EFFECTS;
        } else if (denial.op() == Op.START_PROCESS && denial.predicate() == Predicate.MUTATES && denial.isTree()) {
            message += Messages.EFFECTS_BESIDE_DENY;
        } else if (denial.op() == Op.START_PROCESS && denial.predicate() == Predicate.PROVIDES && denying == null) {
            message += Messages.effects(resource, places);
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
                Scope.isAllowed(decision) ? Decision.ALLOW : mode == Mode.LEARN ? Decision.LEARN : Decision.WARN, decidedBy(decision), Stack.caller(new Throwable().getStackTrace()), 1,
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
                String by = decidedBy(target.decide(PREDICATES[i]));
                log.record(new Event(System.currentTimeMillis(), agentId, null, null, PREDICATES[i], resource, null, Decision.ALLOW,
                        by.equals(BY_MODE) ? BY_CHILD : by, null, more));
            }
        }
    }

    // ---- the end

    /**
     * What is to be known before the session ends by itself: what children did last, and what lies about.
     *
     * @return false if it is over, or ends in another way
     */
    boolean settle() {
        if (state.get() != OPEN) {
            return false;
        }
        Exemption own = sessions.subjects().exemption();
        own.depth++;
        try {
            boolean areRunning = (images.openToChildren() > 0 || surroundings.isOpen()) && children.any();
            if (areRunning) {
                Stderr.warn("a child of the program is still running: " + children.named() + "; what it changes from here on is not covered");
            }
            childrenOver(Integer.MAX_VALUE, areRunning ? Long.MAX_VALUE : backups.alive());
            surroundings.over();
            surroundings.look(strays, true);
        } finally {
            own.depth--;
        }
        return true;
    }

    /** Ends the session well; false if it is over, or ends in another way. */
    boolean complete(int status) {
        if (!state.compareAndSet(OPEN, OVER)) {
            return false;
        }
        ended = true;
        try {
            try {
                backups.done();
            } catch (IOException e) {
                Stderr.error("the session's backups could not be closed: " + e.getMessage());
            }
            giveBack(false);
            close(COMPLETED, status, null);
            wound = true;
        } finally {
            completed = true;
        }
        return true;
    }

    /** Another thread has begun to {@link #complete} it: until it is through, in whatever way. */
    void awaitCompleted() {
        while (!completed) {
            Guard.pause(1);
        }
    }

    /** The session has no lease, and its program does not begin: its log is closed (K4-5). */
    void died() {
        ended = true;
        state.set(OVER);
        completed = true;
        try {
            backups.done();
        } catch (IOException e) {
            Stderr.error("the session's backups could not be closed: " + e.getMessage());
        }
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
        sessions.fences().raise(fence);
        stopReason = reason;
        stopCode = exitCode;
        sessions.guard().wake();
        return true;
    }

    boolean isStoppedFor(String reason) {
        return reason.equals(stopReason);
    }

    boolean isStopping() {
        return stopCode != 0;
    }

    /** It is stopping, and the guard has not wound it up. */
    boolean isToBeWound() {
        return stopCode != 0 && !wound;
    }

    /** The program is over, and the session with it. */
    void finish(int status) {
        settle();
        complete(status);
    }

    /** Nothing of it is open any more: what is kept of it is not held any more either. */
    void putAway() {
        try {
            backups.close();
        } catch (IOException e) {
            Stderr.error("the images of session " + sessionId + " could not be closed: " + e.getMessage());
        }
    }

    /** Winding it up has failed, and is not tried again. */
    void unwound() {
        wound = true;
    }

    /** It is over, and nothing is left to be done for it. */
    boolean isWound() {
        return wound;
    }

    /** Called by the guard again and again while the session is open. */
    void tick() {
        if (++ticks % TICKS_A_LOOK_AT_MAPPINGS == 0) {
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

    /**
     * If the children started so far are over, looks at what they did. {@code own}: operations of the calling thread that are under way, at most one.
     * In this order: whatever start opened a place by now is over, and its child can be seen, once no other operation is under way. None that moves a
     * directory begins meanwhile, so that nothing that it moves counts as the children's work.
     */
    void settleChildren(int own) {
        synchronized (settling) {
            int open = images.openToChildren();
            if (open == 0 || own > 0 && observer.inMutation() != own || own == 0 && !observer.beginIfQuiet()) {
                return;
            }
            try {
                if (!children.any()) {
                    childrenOver(open, backups.alive());
                }
            } finally {
                if (own == 0) {
                    observer.endQuiet();
                }
            }
        }
    }

    /** Whether children may be changing something, so that {@link #settleEnded} is worth calling often. */
    boolean hasChildren() {
        return images.openToChildren() > 0;
    }

    void childStarted(Process process) {
        children.started(process);
    }

    /** Somebody has started a child whose end is to be noticed, however soon that comes. */
    void wakeGuard() {
        sessions.guard().wake();
    }

    /** {@link #settleChildren} as soon as those that the program has started itself are over; nothing before. */
    void settleEnded() {
        if (images.areEnded()) {
            settleChildren(0);
            images.looked();
        }
    }

    /** Whether what children change around them is being looked for, or will be. */
    boolean looksAround() {
        return surroundings.isWatching();
    }

    /** If no child is running, looks at what those that ran have changed outside of their effects. */
    private void lookAround() {
        if (surroundings.isOpen() && observer.inMutation() == 0 && !children.any()) {
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
        if (!quiet) {
            Stderr.warn("an operation of the program has not ended; what it changes from here on is not rolled back");
        }
        // one whose start was under way
        endChildren();
        childrenOver(Integer.MAX_VALUE, Long.MAX_VALUE);
        surroundings.over();
        surroundings.look(strays, true);
        RollbackReport report = null;
        boolean keeps = code == EXIT_LEASE_LOST;
        if (!keeps && areLeasesLost()) {
            keeps = true;
            Stderr.error("the session" + called() + " had lost its leases when it was stopped, so its changes stay, since others may have worked on them; to undo what nobody changed since: "
                    + "java -jar klock.jar undo --session " + sessionId);
        }
        if (keeps) {
            tellCutShort();
            try {
                backups.keep();
            } catch (IOException e) {
                Stderr.error("the session's backups could not be closed: " + e.getMessage());
            }
        } else {
            observer.tellOpen();
            backups.markUntilTold();
            Undo undo = Undo.all(new WhileLeased());
            report = backups.rollback(undo);
            if (!quiet && backups.state() != Backups.State.KEPT) {
                report = backups.rollback(undo);
            }
        }
        giveBack(true);
        close(stopReason, exit(code), report);
        backups.told();
        wound = true;
        return code;
    }

    /** A rollback goes on as long as nobody else may have been granted what the session has changed: the process may be stopped in its middle, too. */
    private final class WhileLeased implements Undo.Progress {
        private long lookedNs = System.nanoTime();

        @Override
        public void done(int paths, int of) {
            // nobody looks
        }

        @Override
        public boolean goesOn() {
            if (System.nanoTime() - lookedNs < LOOKS_AT_LEASES_NS) {
                return true;
            }
            boolean held = !areLeasesLost();
            lookedNs = System.nanoTime();
            return held;
        }
    }

    @Override
    public void cutShort(String file) {
        synchronized (cutShort) {
            cutShort.add(file);
        }
    }

    /** What it has changed stays, and so does what it had not written to the end. */
    private void tellCutShort() {
        observer.tellCutShort();
        List<String> files;
        synchronized (cutShort) {
            files = new ArrayList<>(cutShort);
        }
        for (int i = 0; i < Math.min(files.size(), MAX_CUT_SHORT); i++) {
            Stderr.error("what was being written may end in the middle: " + files.get(i));
        }
        if (!files.isEmpty()) {
            Stderr.error((files.size() > MAX_CUT_SHORT ? files.size() - MAX_CUT_SHORT + " more were being written; " : "")
                    + "to see what was there before: java -jar klock.jar diff --session " + sessionId + "; to put one of them back, and keep what is there beside it: java -jar klock.jar undo --force --session "
                    + sessionId + " FILE");
        }
    }

    private void endChildren() {
        try {
            children.end();
        } catch (RuntimeException unlisted) {
            Stderr.warn("the processes that the program started cannot be listed (" + unlisted.getMessage() + "): those that are running are not ended, and what"
                    + " they change from here on is not rolled back");
        }
    }

    /** Waits until no operation is between its decision and its end, so that nothing changes behind the rollback; false if one does not end. */
    boolean awaitQuiet() {
        long deadline = System.nanoTime() + Guard.QUIET_NS;
        while (observer.inMutation() > 0 || telling.get() > 0) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            Guard.pause(1);
        }
        return true;
    }

    /** Waits until the violations that have stopped a thread by now are on record. */
    void awaitTold() {
        boolean interrupted = Thread.interrupted();
        long deadline = System.nanoTime() + Guard.QUIET_NS;
        while (telling.get() > 0 && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(TRIES_AGAIN_NS);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
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
        if (report != null && sessions.areTold()) {
            sessions.tell(new Notice.Rollback(agentId, sessionId, end, rolledBack.back.size(), rolledBack.conflicts.size()));
        }
        List<String> violations;
        synchronized (violated) {
            violations = new ArrayList<>(violated);
        }
        denials.sayRepeats(!mode.denies());
        rolledBack.say(log.file().getPath());
        List<String> unusedHooks = unusedHooks();
        for (int i = 0; i < unusedHooks.size(); i++) {
            Stderr.warn(unusedHooks.get(i));
        }
        Summary summary = new Summary(end, code, declared, usedLines, unused, violations, rolledBack.back, rolledBack.conflicts,
                rolledBack.notes, new ArrayList<>(unmonitored), unusedHooks, backups.touched());
        log.close(summary);
        tellEnd(summary);
    }

    /** What children changed outside of their effects is put on record; it is not put back, and may have been another process's doing. */
    private final class Strays implements Surroundings.Found {
        @Override
        public void changed(Set<String> programs, String real) {
            Target target = targets.file(real);
            targets.changed(target);
            Resource resource = Resource.of("FILE", target.path(), Resource.Form.EXACT);
            log.record(new Event(System.currentTimeMillis(), agentId, null, Op.START_PROCESS.name().toLowerCase(Locale.ROOT),
                    Predicate.MUTATES, resource, null, mode == Mode.LEARN ? Decision.LEARN : Decision.WARN, BY_CHILD, null, 1,
                    Messages.whileRan(programs)));
            if (mode == Mode.LEARN) {
                return;
            }
            String message = Messages.stray(resource, programs);
            if (denials.countFound(agentId, Predicate.MUTATES, resource, message) == 1) {
                synchronized (violated) {
                    violated.add(Predicate.MUTATES.name() + ' ' + resource);
                }
                violated(message);
                tell(Decision.WARN, Predicate.MUTATES, resource, Op.START_PROCESS.name().toLowerCase(Locale.ROOT), BY_CHILD, null, null, message);
            }
        }

        @Override
        public boolean isOthers(String real) {
            return sessions.haveOthersLeft(Session.this, Names.bytes(real));
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

    private void tell(Decision decision, Predicate predicate, Resource resource, String operation, String decidedBy, String caller, String thread, String message) {
        if (sessions.areTold()) {
            sessions.tell(new Notice.Violation(agentId, sessionId, decision.word(), predicate.name(), Secrets.maskedTriple(resource.toString()), operation,
                    decidedBy, caller, thread, message));
        }
    }

    /** Answers the first frame outside the JDK. */
    private String record(Denial denial, Resource resource, Decision decision, String decidedBy) {
        StackTraceElement[] stack = new Throwable().getStackTrace();
        String caller = Stack.caller(stack);
        log.record(new Event(System.currentTimeMillis(), agentId, Thread.currentThread().getName(),
                denial.operation(), denial.predicate(), resource,
                differing(denial.requested(), denial.target().path()), decision, decidedBy, caller, 1, denial.isWithoutEffect() ? Messages.WITHOUT_EFFECT : null, stack));
        return caller;
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
            return BY_CHILD;
        }
        if (Scope.isDenied(decision) && Scope.denyLine(decision) < denyLines.size()) {
            return place(denyLines.get(Scope.denyLine(decision)));
        }
        if (decision == Scope.ANCESTOR || decision == Target.REPLACING) {
            return "manifest";
        }
        return BY_MODE;
    }

    private String place(Line line) {
        return manifest.file() + ':' + line.line();
    }

    private static String differing(String requested, String path) {
        return requested == null || requested.equals(path) ? null : requested;
    }
}
