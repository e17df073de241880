package dev.klock.agent.backup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * What has to give way: moved whole into {@code displaced/} below the session's directory and looked at there, so that nothing of anybody's
 * is lost; and the image's way into the place that is free then, never over anything.
 */
final class Displaced {
    /** Largest content that is copied, not linked, before an attributed file gives way. */
    static final long MAX_DISPLACED_COPY = 64L << 20;

    static final String WHILE_A_CHILD_RAN = "changed while a child ran, by it or by somebody else; what was there is kept";

    /** How often what changes again and again while it is to give way is looked at. */
    static final int MAX_LOOKS = 3;

    private final Backups backups;
    private final Anchored files;
    private final Decisions decisions;
    private final Aside asides;
    private final Undo undo;
    private int kept;
    private Path keptIn;

    Displaced(Backups backups, Anchored files, Decisions decisions, Aside asides, Undo undo) {
        this.backups = backups;
        this.files = files;
        this.decisions = decisions;
        this.asides = asides;
        this.undo = undo;
    }

    /** Files that stay in {@link #keptIn} although they are the session's for certain. */
    int kept() {
        return kept;
    }

    Path keptIn() {
        return keptIn;
    }

    /**
     * Takes what is at the path away, into {@code displaced/}: what is surely the session's, too, since another process may have it open or
     * mapped, and what that writes must not be in a file without a name. It is moved whole and looked at there, so that what others put in
     * its place in the last moment is met and put back.
     *
     * @return whether nothing is there now; else it is somebody else's, and the plan says so
     */
    boolean takeAway(Plan p) throws IOException {
        for (int attempt = 1; p.now.kind != FileState.ABSENT; attempt++) {
            Path path = files.path(p.e.name.bytes);
            if (p.owner == Plan.ATTRIBUTED && p.now.kind == FileState.FILE && p.now.nlink > 1) {
                keepCopy(p, path);
            }
            Path away = unused(backups.aside("displaced", p.index, p.e.name));
            Path own = files.own(away);
            try {
                Files.move(path, own, StandardCopyOption.ATOMIC_MOVE);
            } catch (NoSuchFileException gone) {
                // not if its directory was led elsewhere for a moment
                FileState now = FileState.look(files, p.e.name);
                if (now.kind != FileState.ABSENT && attempt < MAX_LOOKS) {
                    continue;
                }
                if (now.kind != FileState.ABSENT) {
                    throw gone;
                }
                p.now = now;
                return true;
            } catch (AtomicMoveNotSupportedException elsewhere) {
                return removeInPlace(p, path);
            }
            FileState moved = FileState.look(files, new Name(files.name(own)));
            if (moved.couldBeMoved(p.now) || p.e.isMapped() && moved.kind == FileState.FILE && moved.sameInode(p.now)) {
                keep(p, moved, away);
                return true;
            }
            putBack(p, path, away);
            if (attempt == MAX_LOOKS || !decisions.isStillOurs(p)) {
                asides.keepTheirs(p, "changed by someone else while it was put back");
                return false;
            }
        }
        return true;
    }

    /**
     * Takes away what the session brought to {@code name} with a directory and is, or will be, back where it was; not what others put in its place
     * in the last moment.
     *
     * @param attributed whether others may have made it while a child was at work, so that it is kept, and named
     * @param other      whether it holds something else than is put back, so that a file is kept, as by {@link #takeAway}
     */
    void remove(Plan origin, Name name, FileState now, boolean attributed, boolean other) throws IOException {
        Path path = files.path(name.bytes);
        boolean stays = attributed && now.nlink == 1 && (now.kind == FileState.LINK || now.size > 0);
        if (attributed && !stays && now.kind == FileState.FILE) {
            keepCopy(origin, path, now);
        }
        Path away = unused(backups.aside("displaced", origin.index, name));
        Path own = files.own(away);
        try {
            Files.move(path, own, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException gone) {
            return;
        } catch (AtomicMoveNotSupportedException elsewhere) {
            if (FileState.look(files, name).couldBeMoved(now)) {
                if (stays && now.kind == FileState.FILE) {
                    keepCopy(origin, path, now);
                } else if (stays) {
                    Files.createSymbolicLink(own, files.text(now.link));
                    origin.keeps(away, WHILE_A_CHILD_RAN);
                }
                Files.delete(path);
            }
            return;
        }
        if (!FileState.look(files, new Name(files.name(own))).couldBeMoved(now)) {
            putBack(origin, path, away);
        } else if (stays) {
            origin.keeps(away, WHILE_A_CHILD_RAN);
        } else if (other && now.kind == FileState.FILE && now.nlink == 1) {
            kept++;
            keptIn = away.getParent();
        } else {
            Files.delete(own);
            if (attributed && now.kind == FileState.LINK) {
                // not one name more of something that may stay
                Files.createSymbolicLink(own, files.text(now.link));
                origin.keeps(away, WHILE_A_CHILD_RAN);
            }
        }
    }

    /** What was moved away is not what was decided on. */
    private void putBack(Plan p, Path path, Path away) throws IOException {
        Path own = files.own(away);
        try {
            Files.createLink(path, own);
            Files.delete(own);
        } catch (FileAlreadyExistsException another) {
            p.note("another version of theirs is kept as " + away.getFileName());
        } catch (IOException | UnsupportedOperationException noLinks) {
            Files.move(own, path);
        }
    }

    /** What stays in {@code displaced/}: files, and links that may be somebody else's; named in the report where they may. */
    private void keep(Plan p, FileState moved, Path away) throws IOException {
        if (moved.kind == FileState.LINK && p.owner == Plan.ATTRIBUTED) {
            if (moved.nlink > 1) {
                // it would be one name too many of something that stays
                Files.delete(away);
                Files.createSymbolicLink(away, files.path(moved.link));
            }
            p.keeps(away, why(p));
            return;
        }
        if (moved.kind == FileState.FILE && moved.nlink == 1 && (moved.size > 0 || p.owner == Plan.OURS)) {
            if (p.owner == Plan.ATTRIBUTED) {
                p.keeps(away, why(p));
            } else {
                kept++;
                keptIn = away.getParent();
            }
            return;
        }
        Files.delete(files.own(away));
        if (p.owner == Plan.ATTRIBUTED && moved.kind != FileState.FILE) {
            p.note("it gave way to the image: " + moved.describe());
        }
    }

    /** {@link #takeAway} where klock's own directory is on another file system. */
    private boolean removeInPlace(Plan p, Path path) throws IOException {
        if (!decisions.isAsDecided(p) && !decisions.isStillOurs(p)) {
            asides.keepTheirs(p, "changed by someone else while it was put back");
            return false;
        }
        if (p.owner == Plan.ATTRIBUTED && p.now.kind == FileState.FILE && p.now.nlink == 1 && p.now.size > 0) {
            keepCopy(p, path);
        } else if (p.owner == Plan.ATTRIBUTED && p.now.kind == FileState.LINK) {
            Path away = unused(backups.aside("displaced", p.index, p.e.name));
            Files.createSymbolicLink(files.own(away), files.text(p.now.link));
            p.keeps(away, why(p));
        } else if (p.owner == Plan.ATTRIBUTED && p.now.kind != FileState.FILE) {
            p.note("it gave way to the image: " + p.now.describe());
        }
        Files.deleteIfExists(path);
        return true;
    }

    /** Puts a copy of an attributed file aside, for where it cannot be moved there, or is about to be written in place. */
    void keepCopy(Plan p, Path path) throws IOException {
        keepCopy(p, path, p.now);
    }

    /** {@link #keepCopy(Plan, Path)} of what p's file is now, {@code now}, at another path. */
    void keepCopy(Plan p, Path path, FileState now) throws IOException {
        if (now.size == 0) {
            return;
        }
        Path wanted = backups.aside("displaced", p.index, p.e.name);
        Path aside = unused(wanted);
        if (p.e.inPlace && !aside.equals(wanted)) {
            // kept by a run that was interrupted when it may have begun to write here
            p.keeps(latest(wanted), why(p));
            return;
        }
        if (now.size > MAX_DISPLACED_COPY && !undo.force()) {
            p.note("what was there was too large to be kept");
            return;
        }
        try {
            copy(path, files.own(aside));
        } catch (AccessDeniedException unreadable) {
            files.chmod(files.name(path), now, now.mode | 0600);
            copy(path, files.own(aside));
        }
        p.keeps(aside, why(p));
    }

    private String why(Plan p) {
        if (undo.force()) {
            return "what was there is kept";
        }
        if (p.e.byChild || p.ofAChild) {
            return WHILE_A_CHILD_RAN;
        }
        if (p.e.left == null || p.e.users > 0 || p.e.isMapped()) {
            return "the session was still changing it; what was there is kept";
        }
        return "somebody else may have put it there, with the bytes that the session left; what was there is kept";
    }

    private static Path unused(Path wanted) {
        int n = 1;
        while (Files.exists(numbered(wanted, n), LinkOption.NOFOLLOW_LINKS)) {
            n++;
        }
        return numbered(wanted, n);
    }

    /** The last that {@link #unused} has given; there is one. */
    private static Path latest(Path wanted) {
        int n = 1;
        while (Files.exists(numbered(wanted, n + 1), LinkOption.NOFOLLOW_LINKS)) {
            n++;
        }
        return numbered(wanted, n);
    }

    private static Path numbered(Path wanted, int n) {
        return n == 1 ? wanted : wanted.resolveSibling(wanted.getFileName() + "." + n);
    }

    /**
     * Gives what was written beside its place, and is safe, its name, where nothing is now; never in the place of anything.
     *
     * @param made what that is
     * @return whether it is there now; else it is somebody else's that is, and the plan says so
     */
    boolean putInPlace(Plan p, Path temporary, Path path, FileState made) throws IOException {
        try {
            Files.createLink(path, temporary);
        } catch (FileAlreadyExistsException theirs) {
            Files.deleteIfExists(temporary);
            return isTheirs(p, "others made it again while it was put back");
        } catch (IOException | UnsupportedOperationException noLinks) {
            Files.move(temporary, path);
            return isIt(p, path, made) || isTheirs(p, "others put something else in its place while it was put back");
        }
        Files.delete(temporary);
        return isIt(p, path, made) || isTheirs(p, "others put something else in its place while it was put back");
    }

    private boolean isTheirs(Plan p, String why) throws IOException {
        p.now = FileState.look(files, p.e.name);
        p.owner = Plan.THEIRS;
        asides.keepTheirs(p, why);
        return false;
    }

    /** Whether what has the name now is what was made: who may write in the directory could give the name it had before to something else. */
    private boolean isIt(Plan p, Path path, FileState made) throws IOException {
        Name name = new Name(files.name(path));
        FileState now = FileState.look(files, name);
        if (now.kind != made.kind || !now.sameOwnerAndMode(made)) {
            return false;
        }
        if (now.kind == FileState.LINK) {
            return Arrays.equals(now.link, p.e.image.link);
        }
        // not every file system keeps the number when a file gets another name
        return now.sameInode(made) || now.kind == FileState.FILE && Arrays.equals(Sha256.of(path), p.e.image.sha);
    }

    static void copy(Path from, Path aside) throws IOException {
        try (InputStream in = Files.newInputStream(from, LinkOption.NOFOLLOW_LINKS)) {
            Files.deleteIfExists(aside);
            try (FileChannel out = FileChannel.open(aside, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                in.transferTo(Channels.newOutputStream(out));
                out.force(true);
            }
        }
    }
}
