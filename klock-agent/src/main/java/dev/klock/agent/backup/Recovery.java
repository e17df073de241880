package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Finishes what crashed sessions left: whoever starts next replays their journals before it uses anything of theirs (C45).
 *
 * <p>A session is crashed when it is marked as open and no process holds its lock. Strict ones are rolled back (K6-5); those of modes in
 * which a violation undoes nothing keep their changes, and their images for undo. Either way only what still is as the session left it is
 * touched (C32), so that others may be at work beside it.
 *
 * <p>One that was killed before its journal was there has changed nothing: its mark is taken away, and nothing is said.
 *
 * <p>One recovery at a time for a home, across processes: a second one waits for the first and then finds nothing to do.
 */
public final class Recovery {
    /** So long another recovery of the home is waited for that does not get on. Tests wait for less. */
    static long maxWaitMs = 60_000;
    /** How often a recovery says that it gets on, at most. */
    private static final long SAYS_SO_NS = 1_000_000_000L;
    private static final long LOOK_AGAIN_MS = 20;
    private static final int MAX_PID = 20;

    private Recovery() {
    }

    /** What became of one crashed session. */
    public static final class Result {
        private final String sessionId;
        private final RollbackReport report;
        private final String failure;
        private final boolean again;
        private final boolean told;
        private final boolean withChildren;
        /** An earlier recovery has done it, and was killed before it had told. */
        private final boolean late;
        /** Others may have been granted what it has changed, before its process ended. */
        private boolean hasLostLeases;
        /** Nothing is left to be done for it but to be told. */
        private boolean isUntold;

        Result(String sessionId, RollbackReport report, String failure, boolean again) {
            this(sessionId, report, failure, again, false, false, false);
        }

        private Result(String sessionId, RollbackReport report, String failure, boolean again, boolean told, boolean withChildren, boolean late) {
            this.late = late;
            this.told = told;
            this.withChildren = withChildren;
            this.sessionId = sessionId;
            this.report = report;
            this.failure = failure;
            this.again = again;
        }

        public String sessionId() {
            return sessionId;
        }

        /** What the rollback did; null if the session's changes were kept, or nothing could be done. */
        public RollbackReport report() {
            return report;
        }

        /** Why nothing could be done; null as a rule. */
        public String failure() {
            return failure;
        }

        /** Whether all that the session changed is known, and nothing is left to be done for it. */
        public boolean complete() {
            return failure == null && (report == null || report.complete() && report.damage() == null);
        }

        /** One line for people. */
        public String line() {
            if (failure != null) {
                return told ? failure : "session ".concat(sessionId).concat(" crashed and could not be recovered: ").concat(failure)
                        .concat("; its images are kept, finish with: java -jar klock.jar recover");
            }
            if (hasLostLeases) {
                return "session ".concat(sessionId).concat(" had lost its leases before it crashed, so its changes stay, since others may have worked on them; its images are kept:"
                        + " java -jar klock.jar undo --session ").concat(sessionId);
            }
            if (report == null) {
                return "session ".concat(sessionId).concat(" crashed; its mode undoes nothing, so its changes are kept, and so are the images: java -jar klock.jar undo --session ")
                        .concat(sessionId);
            }
            if (report.damage() != null && report.entries().isEmpty()) {
                return "session ".concat(sessionId).concat(" crashed, and nothing of it could be put back: ").concat(report.damage());
            }
            if (late) {
                return "session ".concat(sessionId).concat(" was rolled back, and what came of it was not told before: ").concat(report.summary());
            }
            return "session ".concat(sessionId).concat(again ? ", whose rollback was not complete, was rolled back again: " : " crashed and was rolled back: ")
                    .concat(report.summary())
                    .concat(withChildren ? "; a child was at work: what one that still runs changes from here on stays" : "");
        }
    }

    /**
     * Recovers the crashed sessions of {@code home} (its {@code .klock} directory, which need not exist). Waits for another process that
     * does so. One failing session does not keep others from being recovered.
     *
     * @param only this session, null for all
     * @param thorough also looks for crashed sessions that are not marked as running any more, through all there are
     * @return what became of each, by id; empty, at the cost of one listing, when none crashed
     * @throws IOException if the lock cannot be taken
     */
    public static List<Result> run(Path home, String only, boolean thorough, HostFiles files) throws IOException {
        return run(home, only, thorough, files, null, null);
    }

    /** Another process recovers the home and is not done in time; it may be stopped. What it is about must not be used meanwhile. */
    public static final class Busy extends IOException {
        private static final long serialVersionUID = 1;

        Busy(String by) {
            super("another process" + by + " is rolling back crashed sessions, and has not got on for " + maxWaitMs / 1000
                    + " s; if it is stopped, let it go on (kill -CONT) or end it (kill -9), and start again");
        }
    }

    /** @param crashed for whom it is locked */
    private static FileChannel locked(Path file, List<String> crashed) throws IOException {
        FileChannel channel = null;
        boolean done = false;
        try {
            channel = FileChannel.open(file, Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            lock(file, channel);
            done = true;
            return channel;
        } catch (FileSystemException refused) {
            throw new IOException((crashed.size() == 1 ? "session " : "sessions ") + String.join(", ", crashed) + " crashed, and cannot be rolled back yet: "
                    + Plan.reason(refused) + "; the images are in " + file.getParent() + ", and none is lost: make room there, or let it be written to, and run: java -jar klock.jar recover", refused);
        } finally {
            if (!done && channel != null) {
                channel.close();
            }
        }
    }

    /** Waits for the lock as long as whoever has it gets on. */
    private static void lock(Path file, FileChannel channel) throws IOException {
        long since = System.nanoTime();
        FileTime seen = null;
        while (!isLocked(channel)) {
            FileTime said = Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS);
            if (!said.equals(seen)) {
                seen = said;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > maxWaitMs * 1_000_000) {
                ByteBuffer by = ByteBuffer.allocate(MAX_PID);
                int length = channel.read(by, 0);
                String pid = length <= 0 ? "" : new String(by.array(), 0, length, StandardCharsets.US_ASCII).trim();
                throw new Busy(pid.matches("[0-9]+") ? ", " + pid + "," : "");
            }
            try {
                Thread.sleep(LOOK_AGAIN_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while it waited for another process to roll back crashed sessions");
            }
        }
        channel.truncate(0);
        try {
            getsOn(channel);
        } catch (IOException full) {
            // it may free some room; others may take it for stopped, and say so
            return;
        }
    }

    private static boolean isLocked(FileChannel channel) throws IOException {
        try {
            return channel.tryLock() != null;
        } catch (OverlappingFileLockException anotherThread) {
            return false;
        }
    }

    private static void getsOn(FileChannel channel) throws IOException {
        channel.write(ByteBuffer.wrap(Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)), 0);
    }

    /** Says that it gets on, to others that wait, and to {@code next}. */
    private static final class GettingOn implements Undo.Progress {
        private final FileChannel channel;
        private final Undo.Progress next;
        private long saidNs = System.nanoTime();

        GettingOn(FileChannel channel, Undo.Progress next) {
            this.channel = channel;
            this.next = next;
        }

        @Override
        public void done(int paths, int of) {
            if (next != null) {
                next.done(paths, of);
            }
        }

        @Override
        public boolean goesOn() {
            if (System.nanoTime() - saidNs > SAYS_SO_NS) {
                saidNs = System.nanoTime();
                try {
                    getsOn(channel);
                } catch (IOException full) {
                    // others may take it for stopped, and say so
                    return true;
                }
            }
            return true;
        }
    }

    /** Tells, to whom it concerns, what became of crashed sessions. */
    public interface Teller {
        void tell(List<Result> results) throws IOException;
    }

    /**
     * As above; {@code progress} is told how far the rollback of each session is, null for nobody.
     *
     * @param teller is given what is answered, unless it is empty: a process that is killed before all is told leaves that to the next recovery. Null if
     *               it is told otherwise
     */
    public static List<Result> run(Path home, String only, boolean thorough, HostFiles files, Undo.Progress progress, Teller teller) throws IOException {
        List<Result> results = new ArrayList<>();
        List<String> found = crashed(home, thorough, files);
        if (found.isEmpty()) {
            return results;
        }
        Path lock = home.resolve("backups").resolve(".recover.lock");
        try (FileChannel channel = locked(lock, found)) {
            Undo.Progress gettingOn = new GettingOn(channel, progress);
            List<String> crashed = crashed(home, thorough, files);
            for (int i = 0; i < crashed.size(); i++) {
                String id = crashed.get(i);
                if (only == null || only.equals(id)) {
                    Result result = recover(home, id, files, gettingOn);
                    if (result != null) {
                        results.add(result);
                    }
                }
            }
            if (teller != null && !results.isEmpty()) {
                teller.tell(results);
            }
            for (int i = 0; i < results.size(); i++) {
                if (results.get(i).isUntold) {
                    Store.unmarkOpen(Store.directory(home, results.get(i).sessionId));
                }
            }
        }
        return results;
    }

    private static List<String> crashed(Path home, boolean thorough, HostFiles files) throws IOException {
        List<String> ids = Store.marked(home);
        if (thorough) {
            List<Store.Session> all = Store.sessions(home, files);
            for (int i = 0; i < all.size(); i++) {
                if (all.get(i).hasCrashed() && !ids.contains(all.get(i).id())) {
                    ids.add(all.get(i).id());
                }
            }
        }
        return ids;
    }

    private static Result recover(Path home, String id, HostFiles files, Undo.Progress progress) {
        try (Backups backups = Backups.openCrashed(home, id, files)) {
            if (backups == null) {
                Path directory = Store.directory(home, id);
                if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                    return null;
                }
                boolean lost = Store.safe(directory) > 0;
                Files.deleteIfExists(Store.mark(home, id));
                return lost ? new Result(id, null, "session " + id + " crashed, and nothing of it can be put back: its images are gone, there is no " + directory
                        + " any more", false, true, false, false) : null;
            }
            Result result = recover(id, backups, progress);
            if (result == null) {
                backups.told();
            } else {
                result.isUntold = backups.isUntold();
            }
            return result;
        } catch (Store.Elsewhere elsewhere) {
            return new Result(id, null, elsewhere.getMessage(), false, true, false, false);
        } catch (IOException | RuntimeException e) {
            return new Result(id, null, e.getMessage() == null ? e.toString() : e.getMessage(), false);
        }
    }

    private static Result recover(String id, Backups backups, Undo.Progress progress) throws IOException {
        if (backups.hasImagedNothing()) {
            Store.unmarkOpen(backups.directory());
            return null;
        }
        backups.markUntilTold();
        if (backups.state() == Backups.State.OPEN && backups.isRestoredAfterCrash() && backups.hasLostLeases()) {
            boolean changed = backups.summary(false).touched() > 0;
            backups.keepCrashed();
            Result result = new Result(id, null, null, false);
            result.hasLostLeases = true;
            return changed ? result : null;
        }
        if (backups.state() == Backups.State.OPEN && backups.isRestoredAfterCrash()) {
            boolean again = backups.begun;
            return new Result(id, backups.rollback(Undo.all(progress)), null, again, false, backups.hadChildrenAtWork(), false);
        }
        boolean isRolledBack = backups.state() == Backups.State.ROLLED_BACK;
        boolean isKept = backups.state() == Backups.State.OPEN || backups.endsUnknown;
        backups.keepCrashed();
        if (isRolledBack) {
            return new Result(id, backups.recorded(), null, false, false, false, true);
        }
        Result kept = new Result(id, null, null, false);
        kept.hasLostLeases = backups.hasLostLeases();
        return isKept ? kept : null;
    }
}
