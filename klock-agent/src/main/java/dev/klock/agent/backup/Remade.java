package dev.klock.agent.backup;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * Directories that are made again since what somebody else did in them stays, or comes back: with the owner, the mode and the attributes that they
 * had. Whoever worked there could not reach it otherwise. For the thread that rolls back.
 */
final class Remade {
    private static final int OPEN = 0700;

    private final Anchored files;
    private final Identities known;
    private final Metadata metadata;
    private final Map<Name, Plan> plans;
    /** What each is to be like at the end. */
    private final TreeMap<Name, FileState> all = new TreeMap<>();

    /** @param plans all of them by name */
    Remade(Anchored files, Identities known, Metadata metadata, Map<Name, Plan> plans) {
        this.files = files;
        this.known = known;
        this.metadata = metadata;
        this.plans = plans;
    }

    /**
     * The directory, just made, is given all that it had, and stays open to us until {@link #finish}.
     *
     * @param p what comes back into it, or into a directory in it
     */
    void made(Name directory, Plan p) throws IOException {
        FileState now = FileState.look(files, directory);
        FileState was = was(directory, p.e.name.parent());
        try (Held there = files.hold(directory.bytes, now)) {
            boolean owned = metadata.owner(p, there, was, now);
            metadata.attributes(p, there, was);
            int mode = owned ? was.mode : was.mode & 01777;
            there.chmod(mode | OPEN);
            if ((mode | OPEN) != mode) {
                all.put(directory, was.withOwnerAndMode(was.uid, was.gid, mode));
            }
        }
    }

    /** Whether it looks as one that was made by a rollback which was interrupted before {@link #made}. */
    boolean isHalfMade(Name directory) throws IOException {
        Plan p = plans.get(directory);
        if (p != null && p.e.image.kind != FileState.ABSENT) {
            return false;
        }
        FileState now = FileState.look(files, directory);
        return now.kind == FileState.DIRECTORY && (now.mode & 0777) == OPEN && files.isOwn(now) && files.list(directory).isEmpty();
    }

    /** The directory stays, though it was opened to be removed: it is to be as it was. */
    void stays(Name directory, FileState was) {
        if ((was.mode | OPEN) != was.mode) {
            all.put(directory, was);
        }
    }

    /** What is to be closed again, and comes after {@code name}, or, if that is null, all: from the leaves up. */
    void finish(Name name) {
        while (!all.isEmpty() && (name == null || all.lastKey().compareTo(name) > 0)) {
            Map.Entry<Name, FileState> last = all.pollLastEntry();
            try {
                FileState now = FileState.look(files, last.getKey());
                if (now.kind == FileState.DIRECTORY && (now.mode | OPEN) == (last.getValue().mode | OPEN)) {
                    files.chmod(last.getKey().bytes, now, last.getValue().mode);
                }
            } catch (IOException others) {
                // somebody else has put something else there, or given it another mode
                continue;
            }
        }
    }

    /** What the directory was like when there was something at {@code deepest} in it, or is to be like. */
    private FileState was(Name directory, Name deepest) throws IOException {
        for (int move = known.moves.count(); move > 0; move--) {
            if (isDirectory(known.originOf(deepest, move))) {
                Entry origin = known.originOf(directory, move);
                if (isDirectory(origin)) {
                    return origin.image;
                }
                break;
            }
        }
        for (int move = known.moves.count(); move > 0; move--) {
            Entry origin = known.originOf(directory, move);
            if (isDirectory(origin)) {
                return origin.image;
            }
        }
        Plan p = plans.get(directory);
        FileState last = p == null ? null : p.e.lastDirectory();
        return last == null ? FileState.look(files, directory.parent()) : last;
    }

    private static boolean isDirectory(Entry e) {
        return e != null && e.image != null && e.image.kind == FileState.DIRECTORY;
    }
}
