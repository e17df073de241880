package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What somebody else has moved to where the session has done nothing: looked for below what is declared, once, and only where something of the
 * session's is not where it left it. Changes nothing. Used by the thread that rolls back.
 */
final class Strays {
    /** So many names are looked at. */
    private static final int MAX_LOOKS = 2_000_000;

    private final Backups backups;
    private final Identities known;
    /** By inode number, of those that the session knows; null before the first question. */
    private Map<Long, List<Name>> found;

    Strays(Backups backups) {
        this.backups = backups;
        this.known = backups.known;
    }

    /** Where what was at e's name is now, as the session left it; null if it is not known to be anywhere. */
    Name of(Entry e) {
        if (found == null) {
            found = new HashMap<>();
            look();
        }
        Name at = of(e, e.left);
        at = at == null ? of(e, e.prior) : at;
        at = at == null ? of(e, e.image) : at;
        for (FileState met : e.met) {
            at = at == null ? of(e, met) : at;
        }
        return at;
    }

    private Name of(Entry e, FileState last) {
        List<Name> names = last == null || last.kind == FileState.ABSENT ? null : found.get(last.ino);
        for (int i = 0; names != null && i < names.size(); i++) {
            Name name = names.get(i);
            try {
                FileState now = FileState.look(backups.files, name);
                if (now.sameInode(last) && known.knownElsewhere(name, now) == null
                        && (now.kind == FileState.DIRECTORY ? isDirectoryOf(e, name, now) : now.couldBeMoved(last) || known.leftAsIs(now))) {
                    return name;
                }
            } catch (IOException gone) {
                continue;
            }
        }
        return null;
    }

    /** The number of a directory that is gone may be given to another one, whose times, and whatever is in it, are others. */
    private boolean isDirectoryOf(Entry e, Name name, FileState now) throws IOException {
        if (now.mtime == e.image.mtime || now.mtime == e.ownMtime || e.left != null && now.mtime == e.left.mtime
                || e.prior != null && now.mtime == e.prior.mtime) {
            return true;
        }
        for (Name child : backups.list(name)) {
            Entry was = known.get(e.name.child(child.last()));
            if (was != null && was.role == Entry.TOUCHED && known.isKnown(was, FileState.look(backups.files, child))) {
                return true;
            }
        }
        return false;
    }

    private void look() {
        ArrayDeque<Name> open = new ArrayDeque<>();
        for (byte[] scope : backups.scopes()) {
            open.add(new Name(scope));
        }
        int looks = 0;
        while (!open.isEmpty() && looks < MAX_LOOKS) {
            try {
                Name directory = open.poll();
                if ((backups.files.mode(directory.bytes) & FileState.TYPE_BITS) != FileState.DIRECTORY_BITS) {
                    continue;
                }
                for (Name name : backups.list(directory)) {
                    long[] now = backups.isHome(name) ? null : backups.files.status(name.bytes);
                    looks++;
                    if (now == null) {
                        continue;
                    }
                    Entry e = known.get(name);
                    long ino = now[HostFiles.INO];
                    if ((e == null || e.role != Entry.TOUCHED) && known.isKnown(ino)) {
                        List<Name> names = found.get(ino);
                        if (names == null) {
                            names = new ArrayList<>(1);
                            found.put(ino, names);
                        }
                        names.add(name);
                    }
                    if ((now[HostFiles.MODE] & FileState.TYPE_BITS) == FileState.DIRECTORY_BITS) {
                        open.add(name);
                    }
                }
            } catch (IOException unreadable) {
                continue;
            }
        }
    }
}
