package dev.klock.agent;

import dev.klock.agent.config.AgentScopes;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.library.LibraryHooks;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.log.Summary;
import dev.klock.agent.observe.Denial;
import dev.klock.agent.observe.Ending;
import dev.klock.agent.observe.Exemption;
import dev.klock.agent.observe.Rewrites;
import dev.klock.agent.weave.Installation;
import dev.klock.agent.weave.Losses;
import dev.klock.agent.weave.Propagation;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * The session of the process: of all threads that work for no other. It ends with the program, and when it is stopped, or a hook is lost, the
 * JVM ends with it: 108 after a violation, 109 after a lost lease, 1 after a failure of klock's.
 */
final class ProcessSession extends Session implements Ending, Rewrites, Losses {
    /** What the JVM ends with when klock itself has failed. */
    private static final int EXIT_FAILED = 1;
    /** So many ticks lie between two looks at the classes that are loaded, each of which takes a few ms in a large program. */
    private static final int TICKS_A_LOOK = 25;

    /** What was said to be missing since another agent took it out, in a mode that lets it. */
    private final Set<String> takenOut = ConcurrentHashMap.newKeySet();
    /** Sessions of its agents that have ended without a line of their own. */
    private final AtomicLong quiet = new AtomicLong();
    private volatile BooleanSupplier begun;
    private final Meanwhile meanwhile;
    private Leases leases;
    /** Null if the manifest has no hooks on libraries. */
    private volatile LibraryHooks libraryHooks;
    /** Null if the manifest declares no agents. */
    private volatile Propagation propagation;
    /** As {@link #propagation}. */
    private volatile AgentScopes agents;
    /** Null until the hooks are in. */
    private volatile Installation installation;
    /** For the guard alone. */
    private int ticks;
    /** As {@link #ticks}. */
    private boolean isPrepared;

    /** @param manifest null in learn */
    ProcessSession(Sessions sessions, LaunchOptions options, Manifest manifest, String agentId, Tools.Records records, Home home) {
        super(sessions, options, manifest, agentId, records, Children.ofJvm());
        meanwhile = new Meanwhile(home, agentId, records.sessionId);
    }

    /** What others may have changed before the program began. */
    Meanwhile meanwhile() {
        return meanwhile;
    }

    void holds(Leases newLeases) {
        leases = newLeases;
    }

    Leases leases() {
        return leases;
    }

    void hookedBy(Installation newInstallation) {
        installation = newInstallation;
    }

    /** Whether somebody may be recording events. */
    boolean isRecorderLoaded() {
        Installation hooks = installation;
        return hooks != null && hooks.isRecorderLoaded();
    }

    void propagates(Propagation newPropagation) {
        propagation = newPropagation;
    }

    void declaresFor(AgentScopes newAgents) {
        agents = newAgents;
    }

    @Override
    Map<String, Line> byAgents(Denial denial) {
        AgentScopes its = agents;
        return its == null ? Map.of() : its.declaring(denial.predicate(), denial.target().scheme(), denial.target().path(), denial.isTree());
    }

    void hooksLibraries(LibraryHooks newHooks) {
        libraryHooks = newHooks;
    }

    /**
     * From here on the guard flushes the logs and carries out an abort.
     *
     * @param programBegun whether the launcher has got as far as the program
     */
    void begin(BooleanSupplier programBegun) {
        begun = programBegun;
        sessions.guard().start();
    }

    @Override
    boolean holdsLeases() {
        return leases.areHeld();
    }

    @Override
    boolean amend(Predicate predicate, Resource resource) {
        return leases.amend(predicate, resource);
    }

    @Override
    void giveBack(boolean failed) {
        meanwhile.forget();
        if (failed) {
            leases.abort();
        } else {
            leases.release();
        }
    }

    @Override
    void keep() {
        if (state.get() == OVER) {
            sessions.guard().await();
        }
    }

    /** An error in another agent, or in what the VM starts before main, ends the JVM in its own way, before the guard has wound up. */
    @Override
    void thrown() {
        if (state.get() == STOPPING && Thread.currentThread() != sessions.guard() && begun != null && !begun.getAsBoolean()) {
            sessions.guard().await();
        }
    }

    @Override
    void tellEnd(Summary summary) {
        Stderr.announce(end(summary, quiet.get()));
    }

    /** A session of an agent's has ended, and is counted in the line about the end of this one. */
    void endedQuietly() {
        quiet.incrementAndGet();
    }

    @Override
    List<String> unusedHooks() {
        return libraryHooks == null ? List.of() : libraryHooks.unused();
    }

    // ---- the hooks themselves

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
        if (gap == null && propagation != null) {
            gap = propagation.lostIn(loader, name, before, after);
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
        return loader == ProcessSession.class.getClassLoader() || loader == null && name != null
                && (name.startsWith("dev/klock/") || name.startsWith("sun/nio/fs/Klock") || name.equals("java/lang/KlockCalls"));
    }

    private void lost(String gap, int exitCode) {
        Stderr.error("a hook is lost: " + gap + (mode.denies() ? "; the session ends" : ""));
        if (mode.denies()) {
            stop("hook-lost", exitCode);
            if (Thread.currentThread() != sessions.guard()) {
                // what this thread is about to do has no hook, so it must not get there
                sessions.guard().await();
            }
        }
    }

    @Override
    void tick() {
        if (!isPrepared) {
            isPrepared = FirstUses.soon();
        }
        String failure = libraryHooks == null ? null : libraryHooks.failure();
        if (failure != null && (mode.denies() || takenOut.add(failure))) {
            lost(failure);
        }
        if (ticks++ % TICKS_A_LOOK == 0) {
            lookAtHooks();
        }
        super.tick();
    }

    private void lookAtHooks() {
        String gap = installation == null ? null : installation.unwoven();
        if (gap != null) {
            lost(gap);
        }
    }

    // ---- the end

    @Override
    public void halting(int status) {
        programEnded(status);
    }

    @Override
    public void ending() {
        programEnded(Summary.UNKNOWN);
    }

    /** The program has ended by itself. If the session is being aborted, the calling thread waits here until the guard halts the JVM. */
    private void programEnded(int status) {
        if (Thread.currentThread() == sessions.guard()) {
            return;
        }
        sessions.completeOthers(status);
        if (settle()) {
            Exemption own = sessions.subjects().exemption();
            own.depth++;
            try {
                lookAtHooks();
            } finally {
                own.depth--;
            }
        }
        if (complete(status)) {
            return;
        }
        if (state.get() == STOPPING) {
            sessions.guard().await();
        }
        // a second signal, or another thread's exit: it must not end the JVM in the middle of that
        awaitCompleted();
    }

    /** The session has no lease, and its program does not begin: its log is closed (K4-5). */
    @Override
    void died() {
        super.died();
        leases.close();
    }
}
