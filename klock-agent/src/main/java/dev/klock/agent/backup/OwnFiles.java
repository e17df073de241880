package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What klock keeps of this session — the pack, the files beside it that hold images ({@link Sources}), the mark that says how much is safe, the
 * lock — while children are at work that were given the place where all that lies: they can do to it what they like, as a {@code sed -i} over a
 * whole project does. Before the first one starts each of them is looked at; what is another than it was is read, and had back from the file
 * that is still open where that can be.
 *
 * <p>Thread-safe; its monitor comes before the entries' and the pack's.
 */
final class OwnFiles {
    private static final int NAMED = 3;

    private final Backups backups;
    private final HostFiles files;
    private final Path directory;
    private volatile boolean watching;
    private int watches;
    /** The inode of the lock's file; 0 while none is known. */
    private long lockIno;

    OwnFiles(Backups backups) {
        this.backups = backups;
        this.files = backups.files;
        this.directory = backups.directory;
    }

    /** A child is about to start. */
    void watch() throws IOException {
        synchronized (this) {
            watches++;
            if (!watching) {
                watching = true;
                lockIno = ino(directory.resolve("lock"));
                backups.sources.note();
                Pack pack = backups.packOrNull();
                if (pack != null) {
                    pack.watch(files);
                }
            }
        }
    }

    /** The first record is about to be written. */
    void created(Pack pack) throws IOException {
        if (watching) {
            pack.watch(files);
        }
    }

    /** Changes with each {@link #watch}. */
    int watches() {
        synchronized (this) {
            return watches;
        }
    }

    /** No child is at work any more, unless one was {@linkplain #watch about to start} since {@code since}. */
    void unwatch(int since) {
        synchronized (this) {
            if (watching && watches == since) {
                watching = false;
                Pack pack = backups.packOrNull();
                if (pack != null) {
                    pack.unwatch();
                }
            }
        }
    }

    /**
     * What was done to these files since {@link #watch}, or since this was asked before: null if it is nothing that matters. What has had to be
     * put back is, as far as that was possible, when this returns.
     */
    Backups.Altered look() {
        synchronized (this) {
            Pack pack = backups.packOrNull();
            if (!watching || pack == null || !Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                return null;
            }
            Path altered = null;
            List<String> lost = new ArrayList<>();
            int count = 0;
            try {
                Pack.Found found = pack.look();
                if (found != Pack.Found.WHOLE) {
                    altered = directory.resolve("pack");
                    count += found == Pack.Found.DAMAGED ? findLost(lost, 0) : 0;
                    tellAgain(found == Pack.Found.DAMAGED);
                }
            } catch (IOException cannot) {
                altered = directory.resolve("pack");
                count += findLost(lost, 0);
                backups.damage = "its journal was changed by a child of the program and could not be put back (" + Plan.reason(cannot) + ")";
            }
            List<Integer> others = backups.sources.altered();
            for (int i = 0; i < others.size(); i++) {
                int source = others.get(i);
                int gone = findLost(lost, source);
                if (gone > 0 && backups.sources.putBack(source)) {
                    altered = backups.sources.file(source);
                    lost.subList(Math.max(0, lost.size() - Math.min(gone, NAMED)), lost.size()).clear();
                    gone = findLost(lost, source);
                }
                altered = gone > 0 ? backups.sources.file(source) : altered;
                count += gone;
            }
            altered = mark(pack) && altered == null ? Store.markOf(directory) : altered;
            lock();
            if (count > 0 && backups.damage == null) {
                backups.damage = "a child of the program has changed " + altered + ": the images of " + count + (count == 1 ? " file" : " files")
                        + " are lost";
                backups.noteDamage();
            }
            return altered == null ? null : new Backups.Altered(altered, count, lost);
        }
    }

    /** Tries the images that are in one file, 0 for the pack; names the first few that cannot be read, and answers how many these are. */
    private int findLost(List<String> names, int source) {
        int count = 0;
        for (Entry e : backups.known.all()) {
            synchronized (e) {
                boolean here = e.role != Entry.NONE && e.image.kind == FileState.FILE && e.contentAt >= 0 && Sources.source(e.contentAt) == source;
                if (here) {
                    e.damaged = !isReadable(e.image, e.contentAt);
                    if (e.damaged && count++ < NAMED) {
                        names.add(e.name.toString());
                    }
                }
            }
        }
        return count;
    }

    private boolean isReadable(FileState image, long contentAt) {
        try {
            backups.copy(image, contentAt, OutputStream.nullOutputStream());
            return true;
        } catch (IOException damaged) {
            return false;
        }
    }

    /**
     * Writes down once more what is known of the session: after a crash its journal says all but what the images held that are lost. What can
     * still be read of it is left as it is.
     */
    private void tellAgain(boolean damaged) throws IOException {
        if (!damaged) {
            return;
        }
        backups.forgetContents();
        Set<Name> imaged = new HashSet<>();
        Pack.open(directory.resolve("pack"), true, false, new Pack.Reader() {
            @Override
            public void record(int type, ByteBuffer head, long dataAt, long dataLength, boolean intact) {
                if (type == Backups.IMAGE) {
                    byte[] path = new byte[head.getInt()];
                    head.get(path);
                    if (head.getInt() != Entry.BESIDE) {
                        imaged.add(new Name(path));
                    }
                }
            }
        }).close();
        backups.writeBeginning();
        backups.sources.writeAll();
        for (Entry e : backups.sorted()) {
            synchronized (e) {
                backups.writeAgain(e, imaged.contains(e.name));
            }
        }
        backups.sync();
    }

    /** Has the mark say what is safe; false if it did. */
    private boolean mark(Pack pack) {
        try {
            long safe = pack.durable();
            long said = Store.safe(directory);
            // asked last: the mark of a session that ends goes, and must not come again
            if (!pack.isMarked() || said >= safe && said <= pack.end() || backups.isEnding()) {
                return false;
            }
            pack.marksAgain(Store.markOpen(directory));
            return true;
        } catch (IOException unmarked) {
            // another process may take the session for one that has ended
            return true;
        }
    }

    /** Whoever asks whether this session lives asks the file that is there now. */
    private void lock() {
        try {
            if (ino(directory.resolve("lock")) != lockIno) {
                backups.lockAgain();
                lockIno = ino(directory.resolve("lock"));
            }
        } catch (IOException unlocked) {
            // the next look tries again; until then another process may take the session for one that has crashed
            return;
        }
    }

    private long ino(Path file) throws IOException {
        long[] now = files.status(files.name(file));
        return now == null ? 0 : now[HostFiles.INO];
    }
}
