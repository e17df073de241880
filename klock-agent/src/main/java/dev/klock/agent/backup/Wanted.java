package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Which paths the rollback of a part is about: what is at and below the path asked for, and what the session moved there from elsewhere.
 * The new name of what was moved goes at a rollback, for there was nothing; if the old one did not come back with it, the file would be
 * nowhere. Used by the thread that rolls back, before anything is changed.
 */
final class Wanted {
    private final Backups backups;
    private final Identities known;
    private final HostFiles files;
    /** What is at and below each of these; empty for everything. */
    private final List<Name> tops = new ArrayList<>();

    /** @param only null for everything */
    Wanted(Name only, List<Entry> all, Backups backups) {
        this.backups = backups;
        known = backups.known;
        files = backups.files;
        if (only == null) {
            return;
        }
        tops.add(only);
        // each may bring others, which may have come to where something else was moved from
        for (int i = 0; i < tops.size(); i++) {
            Name top = tops.get(i);
            for (Entry e : all) {
                if (e.role == Entry.TOUCHED && isWithin(e.name, top)) {
                    addOrigins(e);
                }
            }
        }
    }

    boolean has(Entry e) {
        boolean has = tops.isEmpty();
        for (int i = 0; i < tops.size() && !has; i++) {
            Name top = tops.get(i);
            has = isWithin(e.name, top) || top.below(e.name) && (e.role == Entry.IMPLIED || isGone(e));
        }
        return has;
    }

    /** A directory that has to come back for what comes back in it, with its own mode and times. */
    private boolean isGone(Entry e) {
        return e.image.kind == FileState.DIRECTORY && files.mode(e.name.bytes) == 0 && known.blocked(e.name) == null;
    }

    private void addOrigins(Entry e) {
        try {
            FileState now = known.blocked(e.name) == null ? FileState.look(files, e.name) : FileState.absent();
            if (now.kind != FileState.ABSENT && !now.sameInode(e.image)) {
                addOrigins(e.name, now);
            }
        } catch (IOException unreadable) {
            // the rollback meets it again and says so
            return;
        }
    }

    /** Of what is at {@code name} and gives way, and of what came with it. */
    private void addOrigins(Name name, FileState now) throws IOException {
        for (Entry from : known.imagedAs(now)) {
            if (!isCovered(from.name) && !known.holds(from.name, now) && wasMoved(from, name, now)) {
                tops.add(from.name);
            }
        }
        if (now.kind == FileState.DIRECTORY) {
            for (Name child : backups.list(name)) {
                addOrigins(child, FileState.look(files, child));
            }
        }
    }

    /**
     * Whether what was imaged at {@code from} is what is at {@code to} now. An inode number may have been given to something else since; where
     * that is not known, and nothing is at the old name, it counts as moved, as what came back in vain can be removed again.
     */
    private boolean wasMoved(Entry from, Name to, FileState now) throws IOException {
        if (now.kind != FileState.DIRECTORY) {
            return now.couldBeMoved(from.image) || files.mode(from.name.bytes) == 0;
        }
        if (now.mtime == from.image.mtime) {
            return true;
        }
        for (Name child : backups.list(to)) {
            Entry at = known.get(from.name.child(child.last()));
            if (at != null && at.role != Entry.NONE && FileState.look(files, child).sameInode(at.image)) {
                return true;
            }
        }
        return false;
    }

    private boolean isCovered(Name name) {
        for (int i = 0; i < tops.size(); i++) {
            if (isWithin(name, tops.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isWithin(Name name, Name top) {
        return name.equals(top) || name.below(top);
    }
}
