package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What one session answers for to the others of its JVM: what is there because it has left it so, so that nobody takes it for the work of another's
 * child. A path that has changed since is not its own. Thread-safe; does I/O.
 */
public final class Accounts {
    private final Backups backups;

    Accounts(Backups backups) {
        this.backups = backups;
    }

    /**
     * Whether what is at {@code path} now is as the session has left it, or its rollback, or is being changed by it, or lies where a child of the
     * session may make what it likes. Costs a look. May be asked after the session was closed.
     *
     * @return false too if that is not known
     */
    public boolean answersFor(byte[] path) {
        Name name = new Name(path);
        if (backups.children.isOpen(name)) {
            return true;
        }
        Entry e = backups.known.get(name);
        try {
            return e != null && answersFor(e, backups.look(name));
        } catch (IOException unknown) {
            return false;
        }
    }

    private boolean answersFor(Entry e, FileState now) {
        synchronized (e) {
            if (e.role != Entry.TOUCHED && e.role != Entry.IMPLIED || now.kind == FileState.ABSENT) {
                return false;
            }
            if (e.users > 0 || backups.begun && isBack(e, now)) {
                return true;
            }
            backups.see(e);
            return e.left != null && now.sameStat(e.left) || isByNames(e, now);
        }
    }

    /** Whether a rollback has made it what it was: that sets all times but the ctime. Holds e. */
    private static boolean isBack(Entry e, FileState now) {
        FileState was = e.image;
        return now.kind == was.kind && now.mtime == was.mtime && now.sameOwnerAndMode(was) && (now.kind == FileState.DIRECTORY || now.size == was.size);
    }

    /** Whether it is a directory in which a name came or went last by the session's own work, and that is as it was otherwise. Holds e. */
    private static boolean isByNames(Entry e, FileState now) {
        FileState was = e.left == null ? e.lastKnown() : e.left;
        return now.kind == FileState.DIRECTORY && now.mtime != 0 && now.sameOwnerAndMode(was) && (now.mtime == e.ownMtime || now.mtime == e.rolledBackMtime);
    }

    /** A rollback of this session is over: notes how it has left the directories that it had to do with. */
    void rolledBack() {
        for (Entry e : backups.known.all()) {
            try {
                FileState now = e.role == Entry.IMPLIED || e.role == Entry.TOUCHED && e.image.kind == FileState.DIRECTORY ? backups.look(e.name) : null;
                synchronized (e) {
                    e.rolledBackMtime = now != null && now.kind == FileState.DIRECTORY ? now.mtime : 0;
                }
            } catch (IOException unknown) {
                // then it may be told as somebody else's work
                continue;
            }
        }
    }

    /** What sessions have left that are closed. Thread-safe. */
    public static final class Closed {
        /** As many paths are kept; of more, those of the sessions that were closed first go. */
        private static final int MAX_PATHS = 100_000;

        private final Map<Name, FileState> left = new LinkedHashMap<>();
        private HostFiles files;

        /** What {@code accounts} answers for now is kept. */
        public synchronized void add(Accounts accounts) {
            Backups backups = accounts.backups;
            files = backups.files;
            for (Entry e : backups.known.all()) {
                try {
                    FileState now = backups.look(e.name);
                    if (accounts.answersFor(e, now)) {
                        left.remove(e.name);
                        left.put(e.name, now);
                    }
                } catch (IOException unknown) {
                    // then it may be told as somebody else's work
                    continue;
                }
            }
            Iterator<Name> eldest = left.keySet().iterator();
            while (left.size() > MAX_PATHS) {
                eldest.next();
                eldest.remove();
            }
        }

        /** Whether what is at {@code path} now is as one of them had left it when it was closed. */
        public synchronized boolean answersFor(byte[] path) {
            Name name = new Name(path);
            FileState was = left.get(name);
            try {
                return was != null && FileState.look(files, name).sameStat(was);
            } catch (IOException unknown) {
                return false;
            }
        }

        /** Whether none of them has left anything. */
        public synchronized boolean isEmpty() {
            return left.isEmpty();
        }

        /** Nobody asks about any of them any more. */
        public synchronized void clear() {
            left.clear();
        }
    }
}
