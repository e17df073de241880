package dev.klock.cli;

import dev.klock.agent.Hosts;
import dev.klock.agent.LostLeases;
import dev.klock.agent.backup.Backups;
import dev.klock.agent.backup.Recovery;
import dev.klock.agent.backup.RollbackReport;
import dev.klock.agent.backup.Store;
import dev.klock.agent.backup.Undo;
import dev.klock.agent.log.Release;
import dev.klock.agent.resolve.Names;
import dev.klock.bridge.HostFiles;
import dev.klock.embedded.Acquisition;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.kernel.Conflict;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.manifest.Ids;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import dev.klock.resource.ResourceSyntaxException;
import dev.klock.shared.Ancestors;
import dev.klock.shared.SharedKernel;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The leases of an undo on what it is about to change, from the kernel that the sessions of the home share: nobody else works there meanwhile.
 *
 * <p>An undo waits for nobody: what somebody alive holds is left alone. What has ended is rolled back first, as before any start (C45). To others the
 * undo is younger than all sessions, so that a program which starts meanwhile waits for it, and does not die of it (C10).
 *
 * <p>Used by one thread. Closing it gives the leases back; so does the end of the process.
 */
final class UndoLeases implements AutoCloseable {
    static final String AGENT = "klock-undo";

    /** So many things are leased at most; beyond it, directories with all that is below. Each is some 100 bytes that every start reads. */
    static final int MOST = 256;

    private static final long NO_WAIT = 0;
    private static final long DEFAULT_TTL = 0;
    /** Nobody who starts while it runs is as young as this. */
    private static final long YOUNGER_MS = TimeUnit.DAYS.toMillis(365);
    /** A dash and the digits of a long. */
    private static final int MAX_SUFFIX = 17;

    private final Terminal terminal;
    /** Null where nothing is leased. */
    private EmbeddedKernel kernel;
    private EmbeddedSession session;
    private Hosts hosts;
    private boolean hasOwn;
    private boolean lost;

    private UndoLeases(Terminal terminal) {
        this.terminal = terminal;
    }

    /** Somebody is at work on what was to be undone. The message is for people. */
    static final class Refused extends Exception {
        private static final long serialVersionUID = 1;

        Refused(String message) {
            super(message);
        }
    }

    /** For what changes nothing. */
    static UndoLeases none(Terminal terminal) {
        return new UndoLeases(terminal);
    }

    /**
     * Leases what an undo of session {@code id} may change.
     *
     * @param only  as for {@link Undo}
     * @param force goes on without a lease if there is none to be had, and says so
     * @throws Refused         somebody else has it in hand; nothing was changed, but that what crashed sessions had left there was rolled back
     * @throws Store.InUse     it is the session itself that does, since it still runs
     * @throws Store.Elsewhere as for {@link Backups#reopen}
     */
    static UndoLeases take(Path home, String id, byte[] only, boolean force, HostFiles files, Terminal terminal) throws IOException, Refused {
        UndoLeases leases = new UndoLeases(terminal);
        List<Triple> wanted;
        try (Backups images = Backups.readHere(home, id, files)) {
            wanted = wanted(images.touched(only));
        }
        if (wanted.isEmpty()) {
            return leases;
        }
        String inTheWay = leases.acquire(wanted, home, id, files);
        if (inTheWay == null) {
            return leases;
        }
        leases.close();
        if (!force) {
            // one that is still at work itself is told so
            Backups.reopen(home, id, files).close();
            throw new Refused("undo has changed nothing: " + inTheWay + "; --force goes on without a lease, and puts back what others changed since, too");
        }
        terminal.complain("undo goes on without a lease: " + inTheWay);
        return none(terminal);
    }

    /** Null if it is leased, or nobody is there to lease it from; else what is in the way, for people. */
    private String acquire(List<Triple> wanted, Path home, String id, HostFiles files) throws IOException {
        Acquisition now;
        try {
            kernel = SharedKernel.open(home.toFile(), SharedKernel.OPTIONS, Release.VERSION, gone -> recover(home, files), null);
            session = kernel.open(key(id), kernel.nowMs() + YOUNGER_MS, null, null);
            hosts = new Hosts(kernel);
            now = acquire(wanted);
            if (now.isGranted()) {
                LostLeases.note(home, kernel);
                return null;
            }
            return now.refusal() != null ? "what it would change cannot be leased: " + now.refusal().message() : inTheWay(now.conflicts());
        } catch (IOException | IllegalStateException | IllegalArgumentException e) {
            return unknown(home, e);
        }
    }

    private Acquisition acquire(List<Triple> wanted) throws IOException {
        try {
            List<Triple> open = wanted;
            Acquisition now = session.acquire(open, NO_WAIT, DEFAULT_TTL, false);
            while (hosts.find(now.conflicts())) {
                open = hosts.uncovered(wanted);
                now = session.acquire(open, NO_WAIT, DEFAULT_TTL, false);
            }
            hasOwn = !open.isEmpty();
            return now;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while it asked for leases");
        }
    }

    /** A name that no other undo has. */
    private static SessionKey key(String id) {
        return SessionKey.of(AGENT, Ids.shortened(id, Manifest.MAX_ID_BYTES - MAX_SUFFIX) + '-' + Long.toHexString(ThreadLocalRandom.current().nextLong()));
    }

    /** What crashed sessions have left is put back before what they held is anybody's; whether nothing is left to be done. */
    private boolean recover(Path home, HostFiles files) {
        try {
            boolean complete = true;
            for (Recovery.Result result : Recovery.run(home, null, false, files, null, this::tell)) {
                complete &= result.complete();
            }
            return complete;
        } catch (IOException e) {
            terminal.complain("crashed sessions could not be rolled back: " + e.getMessage() + "; finish with: java -jar klock.jar recover");
            return false;
        }
    }

    private void tell(List<Recovery.Result> results) {
        for (Recovery.Result result : results) {
            terminal.complain(result.line());
            if (result.report() == null) {
                continue;
            }
            for (RollbackReport.Entry entry : result.report().conflicts()) {
                terminal.complain("not rolled back: " + entry.line());
            }
            for (RollbackReport.Entry entry : result.report().notes()) {
                if (!entry.isWhole()) {
                    terminal.complain("rolled back, but not whole: " + entry.line());
                }
            }
            if (result.report().displacedLine() != null) {
                terminal.complain(result.report().displacedLine());
            }
        }
    }

    /** Who holds what, and what to do about it. */
    private String inTheWay(List<Conflict> conflicts) {
        Conflict first = conflicts.get(0);
        Set<SessionKey> holders = new LinkedHashSet<>();
        for (Conflict conflict : conflicts) {
            holders.add(conflict.holder());
        }
        int more = holders.size() - 1;
        String process = kernel.processOf(first.holder());
        String what = first.holder() + (process == null ? "" : " (process " + Ancestors.number(process) + ')') + (first.isQueued() ? " waits for " : " holds ")
                + first.heldPredicate() + ' ' + first.heldResource() + ", and the undo would change " + first.asked().object()
                + (more == 0 ? "" : "; " + more + (more == 1 ? " more session is" : " more sessions are") + " in the way");
        return process == null ? what + "; its process has ended, and what it left is not put back yet: java -jar klock.jar recover"
                : what + "; wait until " + (more == 0 ? "it has" : "they have") + " ended, or stop " + (more == 0 ? "it" : "them") + " (java -jar klock.jar status shows "
                + (more == 0 ? "it" : "them") + ')';
    }

    /** A disk that is full must not keep an undo from making room, and a home that cannot be written is told by the undo itself. */
    private String unknown(Path home, Exception why) throws IOException {
        String unknown = "the leases that the sessions of " + home + " share cannot be known: " + why.getMessage();
        List<String> others = Store.othersAtWork(home);
        if (!others.isEmpty()) {
            return unknown + "; session " + others.get(0) + " is at work: wait until it has ended, or stop it";
        }
        terminal.complain("undo goes on without a lease: " + unknown + "; no session is at work");
        close();
        return null;
    }

    /** {@code progress}, which ends the undo, too, when what it changes is not its own any more. */
    Undo.Progress over(Undo.Progress progress) {
        return new Undo.Progress() {
            @Override
            public void done(int paths, int of) {
                progress.done(paths, of);
            }

            @Override
            public boolean goesOn() {
                return progress.goesOn() && areHeld();
            }

            @Override
            public boolean isInterrupted() {
                return lost || progress.isInterrupted();
            }
        };
    }

    /** Once they are lost, others may have been granted what the undo changes, so it does not get them back. */
    private boolean areHeld() {
        if (session == null || lost) {
            return !lost;
        }
        try {
            lost = !hosts.areValid() || hasOwn && !session.isValid() && !session.renew();
        } catch (IllegalStateException gone) {
            lost = true;
        }
        if (lost) {
            terminal.complain("undo stops: its leases were lost, since it was stopped for longer than they last, or klock's files were removed; what is back stays so");
        }
        return !lost;
    }

    @Override
    public void close() {
        if (kernel == null) {
            return;
        }
        try {
            if (session != null) {
                session.close();
            }
        } catch (IllegalStateException gone) {
            // with the kernel went all that there was to give back
        }
        kernel.close();
        session = null;
        kernel = null;
    }

    /** MUTATES on each of {@code paths}, with what is in directories that go; above {@link #MOST} on the deepest directories that are few enough, with all that is below them. */
    static List<Triple> wanted(List<Backups.Touched> paths) {
        TreeSet<String> exact = new TreeSet<>();
        TreeSet<String> trees = new TreeSet<>();
        for (Backups.Touched path : paths) {
            String name = Names.text(Names.real(path.path()));
            if (!isLeasable(name)) {
                trees.add(nearestLeasable(name));
            } else if (path.tree()) {
                trees.add(name);
            } else {
                exact.add(name);
            }
        }
        dropCovered(exact, trees);
        for (int depth = Math.max(deepest(exact), deepest(trees)); depth > 1 && exact.size() + trees.size() > MOST; depth--) {
            List<String> raised = new ArrayList<>();
            take(exact, depth, raised);
            take(trees, depth, raised);
            for (String name : raised) {
                trees.add(parent(name));
            }
            dropCovered(exact, trees);
        }
        List<Triple> wanted = new ArrayList<>();
        for (String name : exact) {
            wanted.add(Triple.of(Predicate.MUTATES, Resource.file(name)));
        }
        for (String name : trees) {
            wanted.add(Triple.of(Predicate.MUTATES, tree(name)));
        }
        return wanted;
    }

    private static Resource tree(String directory) {
        return Resource.of("FILE", directory, Resource.Form.SUBTREE);
    }

    /** Whether a manifest could name it; what it could not, no kernel leases. */
    private static boolean isLeasable(String path) {
        try {
            Resource.parse(Resource.file(path).toString());
            return true;
        } catch (ResourceSyntaxException odd) {
            return false;
        }
    }

    private static String nearestLeasable(String path) {
        String directory = parent(path);
        while (!isLeasable(directory)) {
            directory = parent(directory);
        }
        return directory;
    }

    private static void dropCovered(Set<String> exact, Set<String> trees) {
        exact.removeIf(name -> trees.contains(name) || isBelow(name, trees));
        // what is above one that is taken away covers what that did
        trees.removeIf(name -> isBelow(name, trees));
    }

    private static boolean isBelow(String name, Set<String> trees) {
        for (String above = name; !above.equals("/"); ) {
            above = parent(above);
            if (trees.contains(above)) {
                return true;
            }
        }
        return false;
    }

    /** Moves the names of this depth. */
    private static void take(Set<String> names, int depth, List<String> taken) {
        names.removeIf(name -> depth(name) == depth && taken.add(name));
    }

    private static int deepest(Set<String> names) {
        int deepest = 0;
        for (String name : names) {
            deepest = Math.max(deepest, depth(name));
        }
        return deepest;
    }

    /** How many names a path is made of. */
    private static int depth(String path) {
        return path.equals("/") ? 0 : (int) path.chars().filter(c -> c == '/').count();
    }

    private static String parent(String path) {
        return path.substring(0, Math.max(1, path.lastIndexOf('/')));
    }
}
