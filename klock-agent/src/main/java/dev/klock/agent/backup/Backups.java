package dev.klock.agent.backup;

import dev.klock.agent.config.Home;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.resolve.Names;
import dev.klock.bridge.HostFiles;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The pre-images of one session, and the way back (K6-5, K6-8, C30, C31).
 *
 * <h2>The rule</h2>
 * No byte may change before its image is safe: {@link #image} returns after the record is written and one fdatasync has covered it;
 * only then may the caller let the effect happen. When it throws, the effect must not happen. What the session did is over with
 * {@link #left}, which notes the state it left behind; a rollback touches only what still is in that state (C32).
 *
 * <p><b>Pairing.</b> Each {@code image} or {@code imageTree} call that returned is followed by exactly one {@code left} of the same path:
 * when the operation has returned (normally or not), or, for an open, when the descriptor is closed. In between, whatever is found at
 * the path counts as the session's, so concurrent streams on one file are safe. A missing {@code left} is harmless for the restore but
 * gives up noticing other people's edits of that path; a rollback then keeps a copy of what it displaces.
 *
 * A writable mapping outlives its descriptor: call {@link #mapped} for it, and {@code left} only for the descriptor.
 *
 * <p><b>Others in between.</b> When the session touches a path again and finds that somebody else changed it since it left, their
 * version is imaged too: a rollback brings back theirs, and puts the first image aside. A file of several names is one: whatever name the
 * session touches, what is there is compared with how it left the file last, and what others have made of it comes back under all names.
 *
 * <h2>What is on disk when</h2>
 * Images: durable before the effect. {@code left}: written without fsync, and for a path that is changed again and again only now and
 * then ({@link #flush} writes the rest). After a crash, a path whose last {@code left} is missing counts as changed by the session
 * under its lease; what a rollback displaces there is kept beside, in {@code displaced/}. After a power loss an older {@code left} may
 * be what is found: then the file is taken for somebody else's, kept, and our image put aside. Nothing is lost either way.
 *
 * <h2>Names</h2>
 * Paths are bytes, absolute and real (no component but the last is a link; the last is never followed). Two sessions never share a
 * directory: {@link #open} holds a lock that ends with the process.
 *
 * <h2>What does not come back</h2>
 * Attributes of symbolic links and special files (nothing but regular files and directories is ever opened); before JDK 22 the
 * nanoseconds of links' and special files' times; who listened on a socket; a device where making one is not permitted. Holes come back
 * as holes except in files that are restored in place because they have several names; a block of zeros that was allocated becomes a
 * hole. A name of a hard-linked file that was replaced or deleted joins its group again only if another name of it is known to the
 * session or found in its scopes.
 *
 * <p>Thread-safe. Lock order: entry (child before parent) → pack. Nothing is locked while program code runs.
 */
public final class Backups implements Closeable {
    /** Life of a session's backups. */
    public enum State {
        /** Running, or crashed: a rollback is due before anybody uses its resources (C45). */
        OPEN,
        /** Ended well; images are kept for undo. */
        DONE,
        /** Rolled back completely. */
        ROLLED_BACK,
        /** Its lease expired: changes kept, unconfirmed; images kept (C45). */
        KEPT
    }

    /** Most entries below one directory that {@link #imageTree} takes. */
    public static final int MAX_TREE_FILES = 500_000;
    /** Most bytes below one directory that {@link #imageTree} takes. */
    public static final long MAX_TREE_BYTES = 8L << 30;

    static final int BEGIN = 1;
    static final int SCOPE = 2;
    static final int IMAGE = 3;
    static final int TOUCH = 4;
    static final int LEFT = 5;
    static final int END = 6;
    static final int ROLLBACK = 8;
    static final int IN_PLACE = 9;
    static final int OUTCOME = 10;
    static final int OWN_MTIME = 12;
    static final int COMMIT = 13;
    static final int TREE = 14;
    static final int SEEN = 15;
    static final int MET = 16;
    static final int HOME = 17;
    static final int DAMAGE = 18;
    static final int OPEN = 19;
    static final int SOURCE = 20;
    static final int BOOT = 21;
    static final int MOVED = 22;
    static final int PLACE = 23;
    static final int MOVES = 24;
    static final int MAPPED = 25;
    /** From 3 on an image may be in another file than the session's own pack. */
    static final int FORMAT = 3;
    private static final int OLDEST_FORMAT = 2;

    /** Content up to this size is read before the pack is locked. */
    private static final int SMALL = 1 << 18;
    /** Files up to this size are hashed when the session leaves them. */
    private static final int HASHED_WHEN_LEFT = 1 << 16;
    /** At most one such hash per path in this time, after the first few where times do not tell. */
    private static final long HASH_PAUSE_NS = 1_000_000_000L;
    /** So long one {@link #flush} may hash. */
    private static final long HASHING_NS = 20_000_000L;
    /** The same when the session ends: what it left a moment before is known to a later undo by its bytes only. */
    private static final long LAST_HASHING_NS = 500_000_000L;
    /**
     * So many {@code left} of one path are written at once; later ones when the path has been at rest for {@link #REST_NS}. A path that
     * is changed again and again costs no records: until it rests it counts as being changed.
     */
    private static final int WRITTEN_AT_ONCE = 2;
    private static final int OPEN_ATTEMPTS = 10;
    private static final long REST_NS = 100_000_000L;
    /**
     * A file that is changed again within this time is not looked at in between: a look costs more than a hook may. When it has come to
     * rest its times tell whether others have changed it since, and what a rollback displaces there is kept.
     */
    private static final long BUSY_NS = 1_000_000L;
    /** What an operation can have done to what a name leads to. */
    private static final int ANYTHING = 0;
    private static final int IN_ITS_PLACE = 1;
    private static final int NOTHING = 2;
    /** It has another name now: what is at this one others have put there. */
    private static final int AWAY = 3;
    /** What so many files, or bytes, held that were read is noted for later sessions; for fewer the file is not written again. */
    private static final int WORTH_FILES = 64;
    private static final long WORTH_BYTES = 1L << 20;
    /** A power of two. */
    private static final int RECENT = 256;
    /** Changes and looks in turn, each of which must get a time of its own, before a file system's times are taken to be exact. */
    private static final int TIME_PROBES = 12;
    /** How often a file that changes while it is read is tried. */
    private static final int READ_ATTEMPTS = 3;

    private static final byte[][] NO_ATTRIBUTES = {};

    final HostFiles files;
    private final Mappings mappings;
    final Path directory;
    final Name home;
    private final String sessionId;
    private final boolean readOnly;
    /** Null where it was opened for reading. */
    private final Store.Hold held;
    /** By SHA-256: where small content already is in the pack, so that equal files are kept once. */
    private final ConcurrentHashMap<ByteBuffer, Long> contents = new ConcurrentHashMap<>();
    /** By the identity of the array, which a caller keeps for a path: most changes are of what was changed just before. */
    private final Recent[] recent = new Recent[RECENT];
    final Identities known;
    final Sources sources;
    final ChildWork children;
    private final Accounts accounts = new Accounts(this);
    private final OwnFiles own;
    private final List<byte[]> scopes = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong order = new AtomicLong();
    private final ArrayList<Entry> collected = new ArrayList<>();
    /** Directories that are about to be renamed. */
    private final ConcurrentHashMap<Name, Tree> moving = new ConcurrentHashMap<>();
    /** Status of what this process was started with as its standard streams, where that is a file. */
    private final List<long[]> streams = new ArrayList<>();
    /** st_dev of the file system whose times are known to be exact; 0 for none. */
    private final long exactDev;
    private volatile Pack pack;
    /** What earlier sessions have imaged, null where nothing is known; read when {@link #earlierRead}. Both guarded by {@link #sources}. */
    private StatCache earlier;
    private boolean earlierRead;
    /** Null before it is asked for; guarded by {@link #sources}. */
    private Settled settled;
    /** Files, and bytes, whose content was read for an image: what a later session need not read again. Guarded by {@link #sources}. */
    private int readFiles;
    private long readBytes;
    volatile State state = State.OPEN;
    volatile boolean restoredAfterCrash = true;
    volatile long startedMs;
    private volatile boolean ending;
    /** A rollback was begun before, and files it wrote beside their places may be left. */
    boolean begun;
    /** The last rollback that was begun has not come to its end. */
    boolean isHalfUndone;
    /** Bytes of the real path of the home when the session began; null where the pack does not say. */
    byte[] recordedHome;
    /** What is missing of the journal, for people; null if nothing is. */
    String damage;
    private boolean damageOnDisk;
    /** Its directory was gone, and was made again for what a rollback puts aside. */
    private boolean madeAgain;
    /** It was marked as running when it was opened. */
    private boolean marked;
    /** Nothing is left to be done, and the mark stays until {@link #told}. */
    private boolean marksUntold;
    private boolean isUntold;
    /** This object continues what another process began. */
    private boolean recovered;
    /** It crashed and its changes were kept: how it left directories is not known. */
    boolean endsUnknown;
    /** The boot that the session ran in; null if it is not known. */
    byte[] boot;

    private Backups(Path home, String sessionId, Path directory, HostFiles files, boolean readOnly, Store.Hold held) throws IOException {
        this.files = files;
        this.mappings = new Mappings(files);
        this.known = new Identities(files);
        this.directory = directory;
        this.home = new Name(files.name(home.toRealPath()));
        this.sessionId = sessionId;
        this.readOnly = readOnly;
        this.held = held;
        this.children = new ChildWork(this);
        this.sources = new Sources(this, directory);
        this.own = new OwnFiles(this);
        this.exactDev = probeTimes();
        for (int fd = 0; fd <= 2 && !readOnly; fd++) {
            long[] s = files.status(fd);
            if (s != null && (s[HostFiles.MODE] & FileState.TYPE_BITS) == FileState.FILE_BITS) {
                streams.add(s);
            }
        }
    }

    /** Whether the program's own output goes there, so that changes of it while a child runs are nobody's in particular. */
    boolean isStream(FileState file) {
        for (int i = 0; i < streams.size() && file.kind == FileState.FILE; i++) {
            if (streams.get(i)[HostFiles.INO] == file.ino && streams.get(i)[HostFiles.DEV] == file.dev) {
                return true;
            }
        }
        return false;
    }

    /**
     * Creates or opens {@code <home>/backups/<sessionId>/} (0700); {@code home} exists. A directory left by another process is replayed:
     * a torn tail is cut, and {@link #rollback} finishes what it began.
     *
     * @throws IOException if another process (or this one) has the session open, or the directory cannot be used
     */
    public static Backups open(Path home, String sessionId, HostFiles files) throws IOException {
        return open(home, sessionId, files, null);
    }

    /** @param settled when times prove content; null to ask the kernel, once that is needed */
    static Backups open(Path home, String sessionId, HostFiles files, Settled settled) throws IOException {
        Path directory = Store.sessions(home).resolve(Store.fileName(sessionId));
        for (int attempt = 1; ; attempt++) {
            Store.makeDirectory(directory);
            try {
                Backups b = hold(home, sessionId, directory, files);
                b.settled = settled;
                return b;
            } catch (NoSuchFileException pruned) {
                // by another process, which found a directory with nothing in it
                if (attempt == OPEN_ATTEMPTS) {
                    throw pruned;
                }
            }
        }
    }

    /**
     * Opens a session that has ended, for {@link #rollback(Undo)}.
     *
     * @throws NoSuchFileException if there is none of that name
     * @throws Store.Elsewhere if its images are of another place, of which this home is a copy
     */
    public static Backups reopen(Path home, String sessionId, HostFiles files) throws IOException {
        Path directory = Store.directory(home, sessionId);
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            throw new NoSuchFileException(directory.toString(), null, "no such session");
        }
        return holdHere(home, sessionId, directory, files);
    }

    private static Backups holdHere(Path home, String sessionId, Path directory, HostFiles files) throws IOException {
        return here(hold(home, sessionId, directory, files));
    }

    private static Backups here(Backups b) throws IOException {
        if (b.isElsewhere()) {
            b.close();
            throw new Store.Elsewhere(b.sessionId, Name.show(b.recordedHome), b.home.toString());
        }
        return b;
    }

    /**
     * {@link #read} for a comparison with what is there now.
     *
     * @throws Store.Elsewhere if its images are of another place, of which this home is a copy
     */
    public static Backups readHere(Path home, String sessionId, HostFiles files) throws IOException {
        return here(read(home, sessionId, files));
    }

    /** Opens a session's backups for reading, whoever holds it. {@link #image} and {@link #rollback} refuse. */
    public static Backups read(Path home, String sessionId, HostFiles files) throws IOException {
        Path directory = Store.directory(home, sessionId);
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            throw new NoSuchFileException(directory.toString(), null, "no such session");
        }
        Backups b = new Backups(home, sessionId, directory, files, true, null);
        b.replay(false);
        return b;
    }

    private static Backups hold(Path home, String sessionId, Path directory, HostFiles files) throws IOException {
        Store.Hold held = Store.hold(sessionId, directory);
        try {
            Backups b = new Backups(home, sessionId, directory, files, false, held);
            b.replay(true);
            return b;
        } catch (IOException | RuntimeException e) {
            held.close();
            throw e;
        }
    }

    /** Of how many paths there are images because the session changed them, or was about to. */
    public int touched() {
        int touched = 0;
        for (Entry e : known.all()) {
            touched += e.role == Entry.TOUCHED ? 1 : 0;
        }
        return touched;
    }

    /** What a list of sessions says of this one, but for its bytes. */
    Store.Session summary(boolean live) throws IOException {
        List<String> notBack = new ArrayList<>();
        for (Entry e : sorted()) {
            if (e.outcome != null && (e.outcome.outcome() == RollbackReport.Outcome.KEPT_THEIRS
                    || e.outcome.outcome() == RollbackReport.Outcome.FAILED)) {
                notBack.add(Names.exact(e.name.bytes));
            }
        }
        // the newest session must not pass for the oldest because its first record is lost
        long started = startedMs != 0 || damage == null ? startedMs : Store.begunAbout(directory);
        State known = pack == null && damage != null && !marked ? State.KEPT : state;
        return new Store.Session(sessionId, known, live, touched(), 0, started, begun ? notBack : null, isHalfUndone && known != State.OPEN,
                isElsewhere() ? Name.show(recordedHome) : null, damage);
    }

    /** Whether the home was copied or moved since the session began: the names in the pack are of another place. */
    private boolean isElsewhere() {
        return recordedHome != null && !Arrays.equals(recordedHome, home.bytes);
    }

    static boolean isReadable(int format) {
        return format >= OLDEST_FORMAT && format <= FORMAT;
    }

    /** Whether this is klock's own directory, in which no file is anybody's. */
    boolean isHome(Name name) {
        return name.equals(home);
    }

    /** Opens a session that has crashed; null if some process, this one included, holds it, or there is none of that name. */
    static Backups openCrashed(Path home, String sessionId, HostFiles files) throws IOException {
        Path directory = Store.directory(home, sessionId);
        if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) || Store.live(directory)) {
            return null;
        }
        long lastAliveNs = ChildWork.lastAliveNs(directory);
        Backups b = holdHere(home, sessionId, directory, files);
        if (b.state == State.OPEN && !b.begun) {
            b.children.afterCrash(lastAliveNs);
        }
        return b;
    }

    /** Has the JDK load what it needs to hash, so that the first image need not wait for it. */
    public static void prepareHashing() {
        Sha256.prepare();
    }

    /** For other processes, under which leases the session acts; before its first image. See {@link Store#leases}. */
    public void actsUnder(List<String> leases) throws IOException {
        Store.actsUnder(directory, leases);
    }

    /** Whether others may have been granted what the session has changed, since it has lost leases while it ran. */
    boolean hasLostLeases() {
        return Store.hasLostLeases(directory);
    }

    /** What it answers for to other sessions of this JVM. */
    public Accounts accounts() {
        return accounts;
    }

    /** Whether it has come to no journal, and so changed nothing: what is marked as safe of one that is gone is {@link #damage}. */
    boolean hasImagedNothing() {
        return pack == null && damage == null;
    }

    /** The id these backups are kept under. */
    public String sessionId() {
        return sessionId;
    }

    /** Where they are: {@code <home>/backups/<sessionId>}. */
    public Path directory() {
        return directory;
    }

    /** klock's home, which they are in. */
    public Path homeDirectory() {
        return directory.getParent().getParent();
    }

    public State state() {
        return state;
    }

    /** What is missing of the journal, for people; null as a rule. */
    public String damage() {
        return damage;
    }

    /**
     * Before the grant (K6-8, C30): notes {@code scopes} (the directories of subtree and children patterns, whose files are imaged at first
     * touch) and images {@code exactPaths}, all made durable by one fdatasync.
     */
    public void preflight(List<byte[]> exactPaths, List<byte[]> scopes) throws IOException {
        running();
        for (byte[] scope : scopes) {
            append(SCOPE, named(scope, 0));
            this.scopes.add(scope.clone());
        }
        Seen each = new Seen(exactPaths.size() >= WORTH_FILES);
        for (byte[] path : exactPaths) {
            Name name = Name.of(path);
            if (name == null) {
                continue;
            }
            Entry e = known.entry(name);
            synchronized (e) {
                if (e.role == Entry.NONE || e.role == Entry.PREFLIGHT) {
                    each.state = look(name);
                    take(e, Entry.PREFLIGHT, each);
                }
            }
        }
        // the first record opens the pack, so the field is read after it
        long committed = append(COMMIT, new byte[0]);
        if (!exactPaths.isEmpty()) {
            // scopes alone become durable with the first image in them
            pack.sync(committed);
        }
    }

    /**
     * First touch (K6-8, C31): takes the image of {@code path} itself — content and metadata, link text, a directory without its entries,
     * or that nothing is there — and returns when it is durable. Cheap when done before; concurrent first touches of one path make one
     * image and all wait for it. An image taken before the grant is taken again if the file changed since (H21). Must be followed by
     * {@link #left}. {@code path} is kept and must not be changed afterwards.
     *
     * @return whether it had to wait until an image was durable
     * @throws IOException if the image cannot be taken or made durable: the effect must not happen
     */
    public boolean image(byte[] path) throws IOException {
        return image(path, System.nanoTime());
    }

    /** {@link #image(byte[])} where the clock has just been read: {@code nowNs} is a {@link System#nanoTime()}. */
    public boolean image(byte[] path, long nowNs) throws IOException {
        return settle(begin(path, nowNs), null);
    }

    /**
     * {@link #image(byte[], long)} of both sides of a rename or hard link, which wait for one fdatasync (C31). Each is followed by a
     * {@link #left} of its own; if this throws, neither has begun.
     */
    public boolean image(byte[] path, byte[] other, long nowNs) throws IOException {
        Entry e = begin(path, nowNs);
        Entry second;
        try {
            second = begin(other, nowNs);
        } catch (IOException | RuntimeException | Error failed) {
            giveUp(e);
            throw failed;
        }
        return settle(e, second);
    }

    /** Takes the image of a path that is about to be changed, if it is the first time. Null for what no kernel can have as a name. */
    private Entry begin(byte[] path, long nowNs) throws IOException {
        Entry e = recent(path);
        if (e == null) {
            Name name = Name.of(path);
            if (name == null) {
                return null;
            }
            e = known.entry(name);
            recent[System.identityHashCode(path) & RECENT - 1] = new Recent(path, e);
        }
        synchronized (e) {
            touch(e, null, nowNs);
            e.touchedNs = nowNs;
            if (e.users > 0) {
                e.overlapped = true;
                // what a descriptor is open on may lose this name now
                meet(e, -1);
            }
            e.users++;
        }
        if (e.theirs != null) {
            try {
                supersedeOthers(e);
            } catch (IOException | RuntimeException | Error failed) {
                giveUp(e);
                throw failed;
            }
        }
        return e;
    }

    /** What was to be changed stays as it is, since its image, or that of another, cannot be had. */
    private void giveUp(Entry e) {
        if (e != null) {
            left(e.name.bytes);
        }
    }

    /** Waits until the images of both, of which each may be null, are durable, and true. Answers whether it had to. */
    private boolean settle(Entry e, Entry other) throws IOException {
        boolean waited = false;
        try {
            for (int attempt = 1; ; attempt++) {
                long due = due(e);
                long otherDue = due(other);
                if (due == 0 && otherDue == 0) {
                    return waited;
                }
                waited = true;
                pack.sync(Math.max(due, otherDue));
                boolean again = due > 0 && takenAgain(e, attempt);
                again |= otherDue > 0 && takenAgain(other, attempt);
                if (!again) {
                    return true;
                }
            }
        } catch (IOException | RuntimeException | Error failed) {
            giveUp(e);
            giveUp(other);
            throw failed;
        }
    }

    /** Up to where the pack has to be durable for this image; 0 if it is. */
    private long due(Entry e) {
        return e != null && e.recordEnd > pack.durable() ? e.recordEnd : 0;
    }

    /** Whether others changed e while its image was made durable, so that it was taken once more. */
    private boolean takenAgain(Entry e, int attempt) throws IOException {
        boolean again = attempt < READ_ATTEMPTS && takeAgain(e);
        supersedeOthers(e);
        return again;
    }

    private boolean takeAgain(Entry e) throws IOException {
        synchronized (e) {
            if (e.users > 1 || e.overlapped) {
                boolean again = supersedeReplaced(e);
                if (again) {
                    meet(e, -1);
                }
                return again;
            }
            if (!changedSinceImaged(e)) {
                return false;
            }
            e.superseded();
            take(e, Entry.TOUCHED);
            return true;
        }
    }

    /** {@link #image} of what a child is about to change: which file it has open is not seen here. */
    public void imageForChild(byte[] path) throws IOException {
        image(path);
        Entry e = known.get(new Name(path));
        if (e != null) {
            e.lent = true;
        }
    }

    /**
     * {@link #image} of a file that is about to be mapped for writing: no {@link #left} follows. Until the process is gone its bytes may
     * change without a call.
     */
    public void mapped(byte[] path) throws IOException {
        image(path);
        Entry e = known.get(new Name(path));
        if (e != null) {
            FileState held = mappings.begin(e);
            synchronized (e) {
                if (held == null) {
                    e.unheld = true;
                } else {
                    e.mappedTo(held);
                }
                e.mapped = true;
            }
        }
    }

    /** Looks for mappings that are gone: how they left their files is known from then on. To be called now and then. */
    public void lookAtMappings() {
        List<Mappings.Mapping> over = mappings.over();
        for (int i = 0; i < over.size(); i++) {
            Mappings.Mapping mapping = over.get(i);
            synchronized (mapping.entry) {
                // the file may have another name by now
                mapping.entry.overlapped |= mapping.entry.users > 0;
                mapping.entry.unmapping(mapping.times);
            }
            for (int n = 0; n < mapping.times; n++) {
                left(mapping.entry.name.bytes, mapping.fd);
            }
            synchronized (mapping.entry) {
                mapping.entry.unmapped(mapping.file);
            }
            files.close(mapping.fd);
        }
    }

    /**
     * Whether others have changed what is at the path while its image was made durable, which takes a thousand times as long as a look.
     * Holds e, whose image was just taken and which nobody of ours is changing yet.
     */
    private boolean changedSinceImaged(Entry e) throws IOException {
        FileState was = e.image;
        if (!e.fresh) {
            return false;
        }
        FileState now = FileState.look(files, e.name);
        if (was.kind == FileState.FILE && was.nlink > 1) {
            // the image is that of another name, perhaps, of what is being changed by that
            return now.sameInode(was) && known.changedByOthers(e, now);
        }
        switch (was.kind) {
            case FileState.ABSENT:
                return now.kind != FileState.ABSENT && !e.moved;
            case FileState.FILE:
                // another thread's work through a stream or a mapping that was made under another name is no stranger's
                return !now.sameStat(was) && !(now.sameInode(was) && known.openElsewhere(e, now));
            case FileState.LINK:
                return now.kind != FileState.LINK || !Arrays.equals(now.link, was.link);
            default:
                return !now.sameInode(was);
        }
    }

    /**
     * Images everything at and below {@code path}, before a directory is renamed or deleted or an opaque child starts (K6-7); one
     * fdatasync. Links are not followed; klock's own directory is left out. Must be followed by {@link #left} of the same path (or
     * {@link #leftTree} after a child).
     *
     * @throws IOException also if it holds more than {@link #MAX_TREE_FILES} entries or {@link #MAX_TREE_BYTES} bytes; the message says how much
     */
    public void imageTree(byte[] path) throws IOException {
        imageTree(path, MAX_TREE_FILES, MAX_TREE_BYTES);
    }

    /** {@link #imageTree(byte[])} with limits of the caller's. */
    public void imageTree(byte[] path, int maxFiles, long maxBytes) throws IOException {
        imageTree(path, null, maxFiles, maxBytes);
    }

    /**
     * {@link #imageTree(byte[], int, long)} of a directory that is about to be renamed to {@code to}, which is imaged by itself. To be followed by
     * {@link #moved}, or, if it was not, by a {@link #leftAsMet} of each.
     */
    public void imageTree(byte[] path, byte[] to, int maxFiles, long maxBytes) throws IOException {
        running();
        Name root = Name.of(path);
        if (root == null) {
            return;
        }
        List<Name> names = new ArrayList<>();
        List<FileState> seen = new ArrayList<>();
        long bytes = 0;
        int count = 0;
        ArrayDeque<Name> open = new ArrayDeque<>();
        open.add(root);
        while (!open.isEmpty()) {
            Name n = open.poll();
            FileState s = look(n);
            if (s.kind == FileState.ABSENT && n != root || isStream(s)) {
                continue;
            }
            count++;
            bytes += s.kind == FileState.FILE ? s.size : 0;
            if (count <= maxFiles) {
                names.add(n);
                seen.add(s);
            }
            if (s.kind == FileState.DIRECTORY) {
                for (Name c : list(n)) {
                    if (!c.equals(home)) {
                        open.add(c);
                    }
                }
            }
        }
        if (count > maxFiles || bytes > maxBytes) {
            throw new IOException(root + " holds " + count + " entries and " + bytes + " bytes, more than can be imaged before it is changed ("
                    + maxFiles + " entries, " + maxBytes + " bytes)");
        }
        long at = next();
        boolean atWork = openTree(root);
        if (to != null && !atWork) {
            findLost(root, names, seen);
        }
        Seen each = new Seen(count >= WORTH_FILES || bytes >= WORTH_BYTES);
        boolean opened = false;
        try {
            for (int i = 0; i < names.size(); i++) {
                Name n = names.get(i);
                Entry e = known.entry(n);
                synchronized (e) {
                    if (e.role == Entry.TOUCHED) {
                        see(e);
                        if (!atWork || e.left != null) {
                            seen.set(i, again(e));
                        }
                    } else {
                        each.state = seen.get(i);
                        touch(e, each, System.nanoTime());
                        // as another name of it was imaged is not how it is now
                        boolean own = e.image.kind != FileState.ABSENT && (e.image.kind != FileState.FILE || e.image.nlink == 1);
                        seen.set(i, own ? e.image : seen.get(i));
                    }
                    if (n == root) {
                        e.overlapped = true;
                        e.users++;
                        e.withTree = true;
                        e.withTreeAt = at;
                        opened = true;
                    }
                }
                supersedeOthers(e);
            }
            synchronized (sources) {
                earlier = null;
                earlierRead = false;
            }
            // behind the notes of what each was, which it makes things of the past
            ByteBuffer head = named(root.bytes, to == null ? 0 : 4 + to.length);
            append(TREE, to == null ? head : head.putInt(to.length).put(to));
            boolean again = true;
            for (int attempt = 1; again; attempt++) {
                again = false;
                long durable = pack.durable();
                pack.sync(pack.end());
                for (int i = 0; i < names.size() && !atWork && attempt < READ_ATTEMPTS; i++) {
                    Entry e = known.entry(names.get(i));
                    synchronized (e) {
                        if (e.recordEnd > durable && e.users == (i == 0 ? 1 : 0) && changedSinceImaged(e)) {
                            e.superseded();
                            take(e, Entry.TOUCHED);
                            seen.set(i, e.image);
                            again = true;
                        }
                    }
                    supersedeOthers(e);
                }
            }
            if (to != null && !atWork) {
                Tree tree = new Tree(new Name(to), next());
                for (int i = 0; i < names.size(); i++) {
                    tree.states.put(names.get(i), seen.get(i));
                }
                moving.put(root, tree);
            }
        } catch (IOException | RuntimeException failed) {
            if (opened) {
                left(root.bytes);
            }
            throw failed;
        }
    }

    /** What a directory that is renamed held when it was imaged. */
    private static final class Tree {
        final Name to;
        final Map<Name, FileState> states = new HashMap<>();
        /** Order, as {@link Entry#leftAt}: what the session has left since it has changed itself. */
        final long at;
        /** Set by the thread that renames it, when that was done: whether the new name is that of this directory … */
        boolean came;
        /** … and what has come along; null if that is not known. */
        Map<Name, FileState> arrived;
        private boolean noted;

        Tree(Name to, long at) {
            this.to = to;
            this.at = at;
        }

        synchronized boolean isNoted() {
            return noted;
        }

        /** Answers whether the rename is to be noted now, which is so once. */
        synchronized boolean note() {
            boolean first = !noted;
            noted = true;
            return first;
        }
    }

    /** What the session has brought to below {@code root} and is not there, or not as it was, was taken away, or changed, by somebody else. */
    private void findLost(Name root, List<Name> names, List<FileState> seen) throws IOException {
        Map<Name, FileState> there = null;
        for (Entry e : known.all()) {
            Name place = e.place;
            if (place != null && place.below(root) && e.lost == 0 && known.isFollowed(e)) {
                if (there == null) {
                    there = new HashMap<>();
                    for (int i = 0; i < names.size(); i++) {
                        there.put(names.get(i), seen.get(i));
                    }
                }
                FileState now = there.get(place);
                if (now == null) {
                    lose(e, Rollback.GONE);
                } else if (!known.isBroughtAsItWas(e, place, now)) {
                    lose(e, Rollback.CHANGED);
                }
            }
        }
    }

    /** What an earlier rename has brought to {@code place} is gone from there. */
    private void loseBrought(Name place) throws IOException {
        for (Entry e : known.all()) {
            if (e.role == Entry.TOUCHED && e.lost == 0 && place.equals(e.place)) {
                lose(e, Rollback.GONE);
            }
        }
    }

    private void lose(Entry e, int how) throws IOException {
        e.lost = how;
        append(PLACE, placed(e));
    }

    private static ByteBuffer placed(Entry e) {
        Name place = e.place;
        ByteBuffer head = named(e.name.bytes, place == null ? 1 : 5 + place.bytes.length).put((byte) e.lost);
        return place == null ? head : head.putInt(place.bytes.length).put(place.bytes);
    }

    /** Whether everything at and below {@code root} is open to a child already. */
    private boolean openTree(Name root) {
        for (Name up = root; up != null; up = up.parent()) {
            Entry e = known.get(up);
            if (e != null && e.withTree && e.users > 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * One change of {@code path} is over: its descriptor was closed or the operation returned. Notes what is there now, so that a
     * rollback can tell the session's work from other people's (C32). Never throws. Costs a stat, the first times also a hash of at most
     * 64 KiB; nothing for a file that is changed again within a millisecond.
     */
    public void left(byte[] path) {
        left(path, -1);
    }

    /**
     * {@link #left(byte[])} of an operation that failed, and had no effect: what differs from what was there when it began is somebody else's. It
     * took long enough for that where it had all of a directory imaged.
     */
    public void leftAsMet(byte[] path) {
        left(path, -1, NOTHING);
    }

    /**
     * A directory has just been renamed with all below it, after {@link #imageTree(byte[], byte[], int, long)}. Imaging takes its time, and what others did
     * meanwhile has travelled along: what is not as it was imaged is imaged now, as what was there before the rename. To be followed by
     * {@link #moved}, and called before any other change below the new name is begun. Never throws.
     */
    public void renamed(byte[] from, byte[] to) {
        Tree tree = moving.get(new Name(from));
        if (tree == null || tree.isNoted()) {
            return;
        }
        Name source = new Name(from);
        Name target = new Name(to);
        try {
            tree.came = look(target).sameInode(tree.states.get(source));
            if (tree.came && !ending) {
                Map<Name, FileState> arrived = new HashMap<>();
                complete(tree, source, target, arrived);
                tree.arrived = arrived;
            }
        } catch (IOException unknown) {
            // what is not as it was imaged is others', and stays where it is
            tree.arrived = null;
        }
        // what a rollback that has begun meets at the new name it has to know, too
        if (tree.came && tree.note()) {
            carried(source, target);
        }
    }

    /**
     * {@link #left(byte[])} of both names of a directory that was {@link #renamed}. What the session knows at the new name from before, when the
     * directory was there already, is back. Never throws.
     */
    public void moved(byte[] from, byte[] to) {
        renamed(from, to);
        Name source = new Name(from);
        Name target = new Name(to);
        Tree tree = moving.remove(source);
        if (tree != null && !tree.came) {
            // it was not carried out after all
            leftAsMet(from);
            leftAsMet(to);
            return;
        }
        if (tree == null && !ending && isMoved(source, target)) {
            carried(source, target);
        }
        left(from, -1, tree != null ? AWAY : ANYTHING);
        left(to);
        if (tree != null && tree.arrived != null) {
            noteArrived(target, tree.arrived, tree.at);
        } else if (!ending) {
            noteBelow(target, false, false);
        }
    }

    /** Where that cannot be written down it is known again after a crash only if it was the last of these. */
    void carried(Name from, Name to) {
        Entry root = known.get(from);
        known.carried(from, to, root == null ? 0 : root.withTreeAt);
        try {
            if (readOnly) {
                return;
            }
            append(MOVED, named(from.bytes, 4 + to.bytes.length).putInt(to.bytes.length).put(to.bytes));
        } catch (IOException unwritten) {
            return;
        }
    }

    /** Whether the session, which was ended after it had begun to rename a directory and before that was noted, has renamed it. */
    private boolean isMoved(Name from, Name to) {
        try {
            Entry e = known.get(from);
            return e != null && e.role == Entry.TOUCHED && known.blocked(to) == null && known.isNow(to, e) && !known.isNow(from, e);
        } catch (IOException unreadable) {
            // what is there stays
            return false;
        }
    }

    /**
     * What was done to a directory by others between its image and its rename is imaged where it came to.
     *
     * @param arrived is given what is there, and known to have come along
     */
    private void complete(Tree tree, Name from, Name to, Map<Name, FileState> arrived) throws IOException {
        ArrayDeque<Name> open = new ArrayDeque<>();
        open.add(to);
        Set<Name> met = new HashSet<>();
        while (!open.isEmpty()) {
            for (Name at : list(open.poll())) {
                FileState now = look(at);
                if (now.kind == FileState.ABSENT || at.equals(home) || isStream(now)) {
                    continue;
                }
                Name was = at.moved(to, from);
                met.add(was);
                boolean own = isChangedSince(known.get(was), tree.at) || isChangedSince(known.get(at), tree.at);
                arrived.put(at, own ? now : complete(known.entry(was), tree.states.get(was), at, now));
                if (now.kind == FileState.DIRECTORY) {
                    open.add(at);
                }
            }
        }
        for (Map.Entry<Name, FileState> gone : tree.states.entrySet()) {
            Name was = gone.getKey();
            if (gone.getValue() != null && gone.getValue().kind != FileState.ABSENT && !was.equals(from) && !met.contains(was)) {
                Name at = was.moved(from, to);
                boolean own = isChangedSince(known.get(was), tree.at) || isChangedSince(known.get(at), tree.at);
                if (!own && !children.isOpen(was) && !children.isOpen(at)) {
                    lose(known.entry(was), Rollback.GONE);
                    loseBrought(was);
                }
            }
        }
    }

    /** Whether another thread of the session's is changing it, or has left it since: not all of them may have been waited for. */
    private static boolean isChangedSince(Entry e, long at) {
        if (e == null) {
            return false;
        }
        synchronized (e) {
            return e.users > 0 || e.role == Entry.TOUCHED && e.leftAt > at;
        }
    }

    /**
     * @param e   of its old name
     * @param was what was imaged, null if nothing was there
     * @return what has come along; nothing if what is there changes all the time
     */
    private FileState complete(Entry e, FileState was, Name at, FileState now) throws IOException {
        synchronized (e) {
            if (children.isOpen(e.name) || children.isOpen(at)) {
                return now;
            }
            if (was != null && hasCome(was, at, now)) {
                return now.kind == FileState.FILE && was.sha != null && was.sameStat(now) ? now.withSha(was.sha) : now;
            }
            if (known.openElsewhere(now) || known.leftAsIs(now)) {
                return now;
            }
            for (int attempt = 1; attempt <= READ_ATTEMPTS; attempt++) {
                try {
                    if (take(e, at)) {
                        return e.image;
                    }
                } catch (Pack.Unstable | NoSuchFileException changed) {
                    continue;
                }
            }
            return FileState.absent();
        }
    }

    /** Whether nothing shows that what was imaged was changed before it came to {@code at}. */
    private boolean hasCome(FileState was, Name at, FileState now) throws IOException {
        if (was.kind != FileState.FILE || !was.sameInode(now)) {
            return now.sameInode(was) && (now.kind != FileState.DIRECTORY || now.sameOwnerAndMode(was));
        }
        boolean same = was.nlink > 1 || now.nlink > 1 ? now.couldBeMoved(was) && now.mode == was.mode : now.sameStat(was);
        return same && (!was.racy() || was.sha == null || Arrays.equals(Sha256.of(files.path(at.bytes)), was.sha));
    }

    /** Images what is at {@code at} as what was at e's name. Answers whether there is anything. Holds e. */
    private boolean take(Entry e, Name at) throws IOException {
        FileState now = look(at);
        if (now.kind == FileState.ABSENT) {
            return false;
        }
        Entry.Earlier[] before = e.earlier;
        if (e.role == Entry.TOUCHED) {
            e.superseded();
        }
        try {
            if (now.kind != FileState.FILE) {
                record(e, Entry.TOUCHED, now.kind == FileState.DIRECTORY ? now.withAttributes(files.attributes(at.bytes)) : now, -1);
            } else if (now.size > SMALL || !small(e, at, Entry.TOUCHED, now, null, false)) {
                content(e, at, Entry.TOUCHED, now.withAttributes(files.attributes(at.bytes)));
            }
        } catch (IOException | RuntimeException failed) {
            e.earlier = before;
            throw failed;
        }
        e.open();
        return true;
    }

    /** Where a directory has come to with what is {@code arrived}: that, and nothing else, is what the session has left there. */
    private void noteArrived(Name root, Map<Name, FileState> arrived, long since) {
        if (ending) {
            return;
        }
        Map<Name, Boolean> ways = new HashMap<>();
        for (Entry e : known.all()) {
            if (e.role == Entry.TOUCHED && e.name.below(root)) {
                FileState come = arrived.get(e.name);
                boolean blocked = known.isBlocked(e.name, ways);
                synchronized (e) {
                    see(e);
                    if (e.users > 0 || e.left != null && (come == null || e.leftAt > since || come.sameStat(e.left))) {
                        continue;
                    }
                    if (blocked || children.isOpen(e.name)) {
                        noteIf(e, blocked, true);
                        continue;
                    }
                    // not as what the session has left itself, under whatever name: it has only come along
                    e.fresh = false;
                    e.left(come == null ? FileState.absent() : come, next());
                    e.moved = false;
                    known.index(e.left, e);
                    e.leftCount++;
                    writeLeft(e, true);
                }
            }
        }
        flushNotes();
    }

    /** {@link #left(byte[])} of an operation that has changed the file that was there, and put none in its place: another one is somebody else's. */
    public void leftInPlace(byte[] path) {
        left(path, -1, IN_ITS_PLACE);
    }

    /** {@link #leftInPlace(byte[])} of what was changed by a descriptor, whose file may have another name by now. */
    public void leftInPlace(byte[] path, int fd) {
        try {
            Entry e = known.get(new Name(path));
            if (e != null && e.role == Entry.TOUCHED && !ending) {
                saw(fd, FileState.look(files, e.name));
            }
        } catch (IOException unknown) {
            // it is known by its name only
        }
        leftInPlace(path);
    }

    /** {@link #left(byte[])} for a descriptor that is about to be closed; -1 for none. */
    public void left(byte[] path, int fd) {
        left(path, fd, ANYTHING);
    }

    /** @param effect what the operation can have done to what the name leads to */
    private void left(byte[] path, int fd, int effect) {
        Entry e = recent(path);
        e = e == null ? known.get(new Name(path)) : e;
        if (e == null || e.role != Entry.TOUCHED || ending) {
            return;
        }
        boolean tree = false;
        boolean child = false;
        synchronized (e) {
            if (e.users > 1) {
                e.users--;
                meet(e, fd);
                noteMapped(e);
            } else {
                if (e.othersNow) {
                    e.othersNow = false;
                } else if (effect == AWAY) {
                    noteIf(e, true, false);
                    noteParent(e.name.parent());
                } else if (effect != ANYTHING && leaveAsMet(e, effect, false)) {
                    e.leftNs = System.nanoTime();
                } else if (fd < 0 || !leaveUnseen(e)) {
                    note(e, fd);
                }
                // not before: until it is known how it was left, its other names are those of something that is being changed
                e.users = 0;
                e.lent = false;
                child = e.openDepth > 0;
                children.closed(e);
                e.overlapped = false;
                tree = e.withTree && e.left != null && e.left.kind != FileState.ABSENT;
                if (e.withTree) {
                    moving.remove(e.name);
                }
                e.withTree = false;
            }
        }
        if (tree) {
            noteBelow(e.name, child, effect == NOTHING);
        }
    }

    /**
     * Leaves e as it was known before somebody else changed it, if anybody has. Only where what the session itself does to it is over. Holds e.
     */
    private boolean leaveAsMet(Entry e, int effect, boolean later) {
        FileState before = e.lastKnown();
        if (e.overlapped || e.hurried || e.isMapped() || children.isOpen(e.name)) {
            return false;
        }
        try {
            FileState now = look(e.name);
            if (effect == IN_ITS_PLACE && (before.kind != FileState.FILE || now.sameInode(before))) {
                return false;
            }
            left(e, before, next());
            // one that failed has changed no mode, owner or attribute, either
            if (known.foreign(e, now) || effect == NOTHING && now.isChangedSince(before)) {
                e.leftCount++;
                writeLeft(e, later);
                return true;
            }
        } catch (IOException unknown) {
            e.leftUnknown();
            return false;
        }
        e.left = null;
        return false;
    }

    /**
     * An opaque child is over (it and its descendants have ended): notes what it left at and below {@code path}, which was imaged by
     * {@link #imageTree}. What was not there then counts as created by the session.
     */
    public List<Change> leftTree(byte[] path) {
        return leftTree(path, Integer.MAX_VALUE, Long.MAX_VALUE);
    }

    /**
     * {@link #leftTree(byte[])} down to {@code depth}: 0 for the path alone, 1 for it and what is directly below.
     *
     * @param until when the child was over, as {@link #alive} tells it: a file that changed later on the home's file system was changed by
     *        somebody else; {@link Long#MAX_VALUE} if that is not known
     * @return how what is there differs from what was there before the child, apart from what the program itself was changing; empty while
     *         another child is still at work on the same path
     */
    public List<Change> leftTree(byte[] path, int depth, long until) {
        return children.left(path, depth, until);
    }

    /**
     * {@link #imageTree(byte[], int, long)} before an opaque child starts that may change everything at and below {@code path} (K6-7); to be
     * followed by {@link #leftTree(byte[])}. What comes into being there until then is the session's: the child has made it.
     */
    public void openTree(byte[] path, int maxFiles, long maxBytes) throws IOException {
        children.openTree(path, maxFiles, maxBytes);
    }

    /**
     * {@link #openTree} for what is directly in the directory {@code path}: to be followed by {@link #leftTree(byte[], int, long)} with depth 1, and by a
     * {@link #left(byte[])} of each that is answered.
     */
    public List<byte[]> openChildren(byte[] path) throws IOException {
        return children.openChildren(path);
    }

    /**
     * Children may be at work: says when this session was last seen alive, since what they make is in no journal before they are over. To be
     * called several times a second. Never throws.
     *
     * @return the time of that, in nanoseconds since the epoch, by the clock of the file system that klock's home is on;
     *         {@link Long#MAX_VALUE} if it is not known
     */
    public long alive() {
        return children.alive();
    }

    /** A child is about to start that may be let change, or just change, what klock keeps here: {@link #lookAtOwn} tells if one does. */
    public void watchOwn() throws IOException {
        own.watch();
    }

    /** Changes with each {@link #watchOwn}, to be given to {@link #unwatchOwn}. */
    public int watches() {
        return own.watches();
    }

    /** No child is at work, unless one was about to start since {@link #watches} answered {@code since}. */
    public void unwatchOwn(int since) {
        own.unwatch(since);
    }

    /**
     * What children have done to what klock keeps here since {@link #watchOwn}, or since this was asked before; null if it is nothing that
     * matters. It is put back as far as that can be. Cheap if they have done nothing. Never throws.
     */
    public Altered lookAtOwn() {
        return own.look();
    }

    /**
     * What a child has done to what klock keeps.
     *
     * @param file  what it has changed, or removed; with others, maybe
     * @param lost  files whose images cannot be read any more; 0 if all was put back
     * @param names the first few of these
     */
    public record Altered(Path file, int lost, List<String> names) {
    }

    /** Whether children were at work when the session crashed. */
    boolean hadChildrenAtWork() {
        return children.wereAtWork();
    }

    /** What is directly in {@code directory}, in no order. */
    List<Name> list(Name directory) throws IOException {
        List<Name> children = new ArrayList<>();
        try (DirectoryStream<Path> list = Files.newDirectoryStream(files.path(directory.bytes))) {
            for (Path child : list) {
                children.add(directory.child(files.name(child.getFileName())));
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return children;
    }

    /** Null before the first record. */
    Pack packOrNull() {
        return pack;
    }

    /** See {@link Store.Hold#again}. */
    void lockAgain() throws IOException {
        held.again(directory);
    }

    /** From now on nothing is imaged any more, and the session's mark may go. */
    boolean isEnding() {
        return ending;
    }

    /** What is in the pack may be there no longer: it is written once more for the next file that holds the same. */
    void forgetContents() {
        contents.clear();
    }

    /** What a reader needs first. */
    void writeBeginning() throws IOException {
        writeBeginning(pack);
        for (byte[] scope : scopes()) {
            append(SCOPE, named(scope, 0));
        }
        if (!known.moves.isEmpty()) {
            append(MOVES, known.moves.encode());
        }
    }

    private void writeBeginning(Pack to) throws IOException {
        byte[] id = sessionId.getBytes(StandardCharsets.UTF_8);
        byte[] head = new byte[13 + id.length];
        ByteBuffer.wrap(head).putInt(FORMAT).putLong(startedMs).put((byte) (restoredAfterCrash ? 1 : 0)).put(id);
        to.append(BEGIN, head, null, 0);
        // with what says that renames of directories are noted
        to.append(HOME, named(home.bytes, 1).array(), null, 0);
        to.append(BOOT, Boot.id(), null, 0);
    }

    /**
     * Writes down once more what is known of e. Holds it.
     *
     * @param imaged a record of its image can still be read
     */
    void writeAgain(Entry e, boolean imaged) throws IOException {
        for (int i = 0; i < e.earlier.length && !imaged; i++) {
            pack.append(IMAGE, imageHead(e.name, e.role, e.earlier[i].image, e.earlier[i].contentAt), null, 0, true);
        }
        if (!imaged) {
            pack.append(IMAGE, imageHead(e.name, e.role, e.image, e.contentAt), null, 0, true);
        } else if (e.role == Entry.TOUCHED) {
            pack.append(TOUCH, named(e.name.bytes, 0).array(), null, 0, true);
        }
        for (Entry.Earlier one : imaged ? Entry.NO_EARLIER : e.beside) {
            pack.append(IMAGE, imageHead(e.name, Entry.BESIDE, one.image, one.contentAt), null, 0, true);
        }
        if (e.place != null || e.lost != 0) {
            pack.append(PLACE, placed(e).array(), null, 0, true);
        }
        for (FileState met : e.met) {
            writeMet(e, met, true);
        }
        if (e.left != null) {
            writeLeft(e, true);
        }
        if (e.openDepth > 0) {
            pack.append(OPEN, named(e.name.bytes, Integer.BYTES).putInt(e.openDepth).array(), null, 0, true);
        }
    }

    /** What a child did to one path. {@code existed}, {@code exists}: before and after. */
    public record Change(byte[] path, boolean existed, boolean exists) {
    }

    /**
     * The directory stayed (its rename failed, or a child worked in it), or came here: what is below is open no longer.
     *
     * @param child a child could put there what it liked
     */
    private void noteBelow(Name root, boolean child, boolean failed) {
        Entry top = known.get(root);
        long since = top == null ? 0 : top.withTreeAt;
        Map<Name, Boolean> ways = new HashMap<>();
        for (Entry e : known.all()) {
            if (e.role == Entry.TOUCHED && e.name.below(root)) {
                boolean blocked = known.isBlocked(e.name, ways);
                synchronized (e) {
                    see(e);
                    if (e.users == 0 && e.left == null) {
                        if (child) {
                            // whatever is there by now
                            e.leftAt = next();
                        }
                        if (!failed || child || blocked || !leaveAsMet(e, NOTHING, true)) {
                            noteIf(e, blocked, true);
                        }
                    } else if (e.users == 0 && e.leftAt < since && (e.left.kind == FileState.ABSENT || known.isLast(e.left))) {
                        // it was not there to be opened with the directory, but the record of that has opened all that was known below
                        writeLeft(e, true);
                    }
                }
            }
        }
        flushNotes();
    }

    /** {@link #note} of what was not just changed. Holds e. */
    void noteIf(Entry e, boolean blocked, boolean later) {
        if (!blocked) {
            note(e, -1, later);
            return;
        }
        left(e, FileState.absent(), next());
        e.leftCount++;
        writeLeft(e, later);
    }

    /**
     * Writes the {@code left} notes of paths that have been at rest for a while (no fsync). Cheap when there are none; to be called several
     * times a second.
     */
    public void flush() {
        flush(System.nanoTime() - REST_NS, HASHING_NS);
    }

    void flushAll() {
        flush(Long.MAX_VALUE, 0);
    }

    /**
     * @param before only those left before this System.nanoTime(); MAX_VALUE for all
     * @param hashingNs for how long files that were not hashed yet are
     */
    private void flush(long before, long hashingNs) {
        List<Entry> late = new ArrayList<>();
        synchronized (collected) {
            int kept = 0;
            for (int i = 0; i < collected.size(); i++) {
                Entry e = collected.get(i);
                if (before == Long.MAX_VALUE || e.leftNs - before < 0) {
                    late.add(e);
                } else {
                    collected.set(kept++, e);
                }
            }
            collected.subList(kept, collected.size()).clear();
        }
        long start = System.nanoTime();
        for (int i = 0; i < late.size(); i++) {
            Entry e = late.get(i);
            FileState left;
            synchronized (e) {
                e.collected = false;
                see(e);
                left = e.left;
            }
            byte[] sha = System.nanoTime() - start < hashingNs ? hash(e, left) : null;
            synchronized (e) {
                if (sha != null && e.left == left && unchanged(e, left)) {
                    left(e, left.withSha(sha), e.leftAt);
                    e.leftOnDisk = false;
                }
                if (e.left != null && !e.leftOnDisk) {
                    writeLeft(e, true);
                } else if (e.left == null && e.onlyMapped == null) {
                    writeMapped(e, true);
                }
            }
        }
        flushNotes();
    }

    /** Writes the notes that wait for each other. Where that fails they are missed after a crash only, and the pack takes no more images. */
    void flushNotes() {
        Pack p = pack;
        if (p != null) {
            try {
                p.flushDeferred();
            } catch (IOException unwritten) {
                return;
            }
        }
    }

    /** What a file that has come to rest holds, so that a later change of its times alone is not taken for other people's work (C32). */
    private byte[] hash(Entry e, FileState left) {
        long now = System.nanoTime();
        if (left == null || left.kind != FileState.FILE || left.sha != null || left.size > HASHED_WHEN_LEFT || !unchanged(e, left)) {
            return null;
        }
        e.hashedAtNs = now;
        try {
            return Sha256.of(files.path(e.name.bytes));
        } catch (IOException gone) {
            return null;
        }
    }

    private boolean unchanged(Entry e, FileState left) {
        try {
            long[] now = files.status(e.name.bytes);
            return now != null && left.is(now);
        } catch (IOException unknown) {
            return false;
        }
    }

    /**
     * Puts back everything this session changed and nobody else changed since (K6-5, C32), verifies it and marks the session
     * {@link State#ROLLED_BACK}. Never throws for a single path, never follows a link, touches only recorded paths. Can be called again:
     * after a crash or a failure it finishes; once complete it only reports. From its start on {@link #image} refuses. For a thread that
     * holds none of the program's locks; durable on return if {@link RollbackReport#complete}.
     */
    public synchronized RollbackReport rollback() {
        return rollback(Undo.ALL);
    }

    /**
     * {@link #rollback()} as a user asks for it afterwards: of a part, as a mere list, or with what others changed put aside instead of
     * left in place. Only a whole one that was carried out ends the session as {@link State#ROLLED_BACK}.
     */
    public synchronized RollbackReport rollback(Undo undo) {
        if (readOnly) {
            throw new IllegalStateException("session " + sessionId + " was opened for reading");
        }
        flushAll();
        if (!undo.dry() && pack != null && state != State.ROLLED_BACK && !(recovered && state == State.OPEN)) {
            children.lookIntoWhatIsShut();
        }
        ending = true;
        for (Map.Entry<Name, Tree> begun : moving.entrySet()) {
            if (isMoved(begun.getKey(), begun.getValue().to) && begun.getValue().note()) {
                carried(begun.getKey(), begun.getValue().to);
            }
        }
        Rollback rollback = new Rollback(this, recovered && state == State.OPEN, undo);
        if (pack == null || state == State.ROLLED_BACK && !recovered) {
            if (pack == null && damage != null && !undo.dry()) {
                // said once: nothing can be done about it
                unmark();
            }
            return rollback.report(true);
        }
        if (damage != null && !damageOnDisk && !undo.dry()) {
            noteDamage();
        }
        RollbackReport report = rollback.run();
        if (!recovered) {
            accounts.rolledBack();
        }
        if (rollback.wasInterrupted()) {
            return report;
        }
        if (rollback.wasStopped()) {
            keepStopped();
            return report;
        }
        if (undo.whole() && report.complete() && state != State.ROLLED_BACK) {
            state = State.ROLLED_BACK;
        }
        if (state == State.ROLLED_BACK) {
            unmark();
        }
        if (madeAgain) {
            tellEnd(report.complete());
        }
        return report;
    }

    /** It ends as {@link State#KEPT}, and how it left what it was still changing is not known. */
    private void endUnknown() throws IOException {
        if (pack != null) {
            pack.sync(append(END, new byte[] {(byte) State.KEPT.ordinal(), 1}));
        }
        state = State.KEPT;
        endsUnknown = true;
    }

    /** A rollback was given up in its middle, since the session has lost its leases: what is not back stays, until somebody undoes it. */
    private void keepStopped() {
        try {
            Store.loseLeases(homeDirectory(), sessionId);
            endUnknown();
        } catch (IOException full) {
            // whoever recovers it finds the mark of whoever was granted what it changed
            return;
        }
        unmark();
    }

    /** Later runs find the journal as this one leaves it, without a sign of what is missing. */
    void noteDamage() {
        try {
            append(DAMAGE, named(damage.getBytes(StandardCharsets.UTF_8), 0));
            damageOnDisk = true;
        } catch (IOException full) {
            // it is said now, at least
            return;
        }
    }

    /** The session ended well: what it left is noted for every path, images stay for undo, the session is durably {@link State#DONE}. */
    public void done() throws IOException {
        end(State.DONE);
    }

    /**
     * The session's leases are gone: its changes stay, unconfirmed, and so do the images (C45). Others may have been granted what it changed, so how it is
     * now is not what the session left: what it was still changing counts as theirs from here on.
     */
    public synchronized void keep() throws IOException {
        running();
        Store.loseLeases(homeDirectory(), sessionId);
        if (pack != null) {
            flush(Long.MAX_VALUE, LAST_HASHING_NS);
            ending = true;
        }
        endUnknown();
        Store.unmarkOpen(directory);
    }

    private synchronized void end(State as) throws IOException {
        running();
        if (pack != null) {
            Map<Name, Boolean> ways = new HashMap<>();
            for (Entry e : known.all()) {
                boolean blocked = e.role == Entry.TOUCHED && known.isBlocked(e.name, ways);
                synchronized (e) {
                    see(e);
                    if (e.role == Entry.TOUCHED && (e.left == null || e.users > 0)) {
                        if (e.users > 0 && !blocked && isReplaced(e)) {
                            // as it was before it was opened it is not any more, and how it is can be seen nowhere
                            left(e, e.lastKnown().before(FileState.now()), next());
                            writeLeft(e, false);
                        } else {
                            noteIf(e, blocked, false);
                        }
                        e.users = 0;
                    }
                }
            }
            for (Entry e : known.all()) {
                // what was noted last has told of its directory, too
                if (e.ownMtime != 0) {
                    append(OWN_MTIME, named(e.name.bytes, 8).putLong(e.ownMtime));
                }
            }
            flush(Long.MAX_VALUE, LAST_HASHING_NS);
        }
        ending = true;
        pack().sync(append(END, new byte[] {(byte) as.ordinal()}));
        state = as;
        Store.unmarkOpen(directory);
        tellLater();
    }

    /** Notes what this session has imaged for those that come after it, if that is worth it. What cannot be written is only imaged again. */
    private void tellLater() {
        try {
            Settled times;
            StatCache before;
            Path file = directory.resolveSibling(StatCache.FILE);
            synchronized (sources) {
                earlier = null;
                if (recovered || readFiles < WORTH_FILES && readBytes < WORTH_BYTES) {
                    return;
                }
                times = settled();
                // another session may have ended since
                before = Pack.exists(file) ? StatCache.read(file, owner(), times) : null;
            }
            List<StatCache.Entry> fresh = new ArrayList<>();
            Map<Long, StatCache.Source> told = new HashMap<>();
            for (Entry e : known.all()) {
                synchronized (e) {
                    FileState image = e.image;
                    boolean whole = e.role != Entry.NONE && image.kind == FileState.FILE && e.contentAt >= 0 && image.sha != null;
                    StatCache.Source source = whole ? sources.told(e.contentAt, told) : null;
                    if (source != null) {
                        fresh.add(new StatCache.Entry(e.name.bytes, new StatCache.Content(source, Sources.offset(e.contentAt), image.size, image.sha),
                                image.ino, image.mtime, image.ctime, times.proves(image), image.attributes != null && image.attributes.length == 0));
                    }
                }
            }
            StatCache.write(file, directory.resolve(StatCache.FILE), fresh, before, Sources.gone(file.getParent(), before), times);
        } catch (IOException | RuntimeException | OutOfMemoryError unwritten) {
            // the session has ended well all the same
            return;
        }
    }

    /**
     * Says, before anything is imaged, whether a crash of this session means that its changes are undone (strict: the default) or that they
     * stay, with their images (the modes in which the program goes on after a violation).
     */
    public void restoredAfterCrash(boolean restored) {
        restoredAfterCrash = restored;
    }

    /** Whether this object continues what another began: what that one has told is not told as done by this one. */
    boolean isReopened() {
        return recovered;
    }

    /** See {@link #restoredAfterCrash(boolean)}; true too when a rollback had begun. */
    boolean isRestoredAfterCrash() {
        return restoredAfterCrash || begun;
    }

    /** A crashed session's changes stay; what its last ones left is not known, and is not looked at now: others may have come since. */
    void keepCrashed() throws IOException {
        if (state == State.OPEN) {
            endUnknown();
        }
        unmark();
    }

    /**
     * From here on the session stays marked when nothing is left to be done for it, until what has come of it is {@link #told}: else that would be lost
     * with a process that is killed in between.
     */
    public void markUntilTold() {
        marksUntold = true;
    }

    /** What has come of the session was told to whom it concerns. */
    public void told() {
        if (isUntold) {
            isUntold = false;
            Store.unmarkOpen(directory);
        }
    }

    /** Whether it is marked only because it is not {@link #told} what has come of it. */
    boolean isUntold() {
        return isUntold;
    }

    private void unmark() {
        if (marksUntold) {
            isUntold = true;
        } else {
            Store.unmarkOpen(directory);
        }
    }

    /** What earlier rollbacks have recorded. */
    RollbackReport recorded() {
        return new Rollback(this, false, Undo.ALL).report(true);
    }

    /** The paths recorded so far, sorted. Those with {@link Image#touched} are what a rollback cares for. */
    public List<Image> images() {
        List<Entry> sorted = sorted();
        List<Image> list = new ArrayList<>(sorted.size());
        for (Entry e : sorted) {
            if (e.role == Entry.TOUCHED || e.role == Entry.PREFLIGHT) {
                FileState image = e.first().image;
                list.add(new Image(e.name.bytes, e.name.toString(), e.role == Entry.TOUCHED, image.describe(), image.kind == FileState.FILE,
                        image.size, image.mode, image.uid, image.gid, image.mtime, image.sha, e.left == null ? null : e.left.describe()));
            }
        }
        return list;
    }

    /** What a rollback of {@code only} (as in {@link Undo}) may change, sorted; without directories of which it puts back the times alone. */
    public List<Touched> touched(byte[] only) {
        List<Entry> sorted = sorted();
        Wanted wanted = new Wanted(only == null ? null : new Name(only), sorted, this);
        List<Touched> touched = new ArrayList<>();
        for (Entry e : sorted) {
            if (e.role == Entry.TOUCHED && wanted.has(e)) {
                touched.add(new Touched(e.name.bytes, goesWhole(e)));
            }
        }
        return touched;
    }

    private boolean goesWhole(Entry e) {
        try {
            FileState now = known.blocked(e.name) == null ? look(e.name) : FileState.absent();
            FileState before = e.first().image;
            return now.kind == FileState.DIRECTORY && (before.kind != FileState.DIRECTORY || !now.sameInode(before));
        } catch (IOException unreadable) {
            // the rollback meets it again and says so
            return false;
        }
    }

    /**
     * A path that a rollback may change.
     *
     * @param path bytes
     * @param tree there is a directory that was not there: what is in it goes with it, or back to where it came from
     */
    public record Touched(byte[] path, boolean tree) {
    }

    /**
     * One recorded path.
     *
     * @param path    its bytes
     * @param name    for people
     * @param touched false: imaged before the grant and not changed by the session
     * @param was     what was there, in words
     * @param file    a regular file, so that {@link #copy} gives its content
     * @param size    bytes
     * @param mode    permission bits
     * @param uid     its owner
     * @param gid     its group
     * @param mtimeNs modification time, ns since the epoch
     * @param sha256  of the content, null if not a file
     * @param left    what the session left there, in words; null while unknown
     */
    public record Image(byte[] path, String name, boolean touched, String was, boolean file, long size, int mode, int uid, int gid, long mtimeNs, byte[] sha256, String left) {
    }

    /** The directories whose subtrees were declared (see {@link #preflight}). */
    public List<byte[]> scopes() {
        synchronized (scopes) {
            return new ArrayList<>(scopes);
        }
    }

    /**
     * Writes the imaged content of {@code path} to {@code out}.
     *
     * @throws NoSuchFileException if there is no image of a file of that name
     * @throws IOException         also if the image does not have its SHA-256 any more
     */
    public void copy(byte[] path, OutputStream out) throws IOException {
        Entry e = known.get(new Name(path));
        Entry.Earlier first = e == null || e.image == null ? null : e.first();
        if (first == null || first.contentAt < 0) {
            throw new NoSuchFileException(Name.show(path), null, "no image of a file");
        }
        copy(first.image, first.contentAt, out);
    }

    void copy(Entry e, OutputStream out) throws IOException {
        copy(e.image, e.contentAt, out);
    }

    void copy(FileState image, long contentAt, OutputStream out) throws IOException {
        MessageDigest digest = Sha256.digest();
        if (Sources.isOwn(contentAt)) {
            pack.copy(contentAt, image.size, out, digest);
        } else {
            copyFromSource(image, contentAt, out, digest);
        }
        if (!Arrays.equals(digest.digest(), image.sha)) {
            throw new IOException("the image is damaged: its SHA-256 is not the recorded one".concat(Sources.isOwn(contentAt) ? ""
                    : " (in ".concat(sources.file(contentAt).toString()).concat(")")));
        }
    }

    private void copyFromSource(FileState image, long contentAt, OutputStream out, MessageDigest digest) throws IOException {
        if (!sources.reaches(contentAt, image.size)) {
            throw new IOException("the image is gone with ".concat(sources.file(contentAt).toString()));
        }
        sources.copy(contentAt, image.size, out, digest);
    }

    /** Releases the session; what it is stays on disk. A session that is still OPEN is one that crashed, for whoever comes next. */
    @Override
    public void close() throws IOException {
        if (!readOnly) {
            flushAll();
        }
        Pack p = pack;
        sources.close();
        if (p != null) {
            p.close();
        }
        if (held != null) {
            held.close();
        }
    }

    /** Safe to publish without a lock since all is final. */
    private static final class Recent {
        final byte[] path;
        final Entry entry;

        Recent(byte[] path, Entry entry) {
            this.path = path;
            this.entry = entry;
        }
    }

    // --- taking images

    private void running() throws IOException {
        if (readOnly) {
            throw new IOException("session " + sessionId + " was opened for reading");
        }
        if (ending || state != State.OPEN) {
            throw new IOException("session " + sessionId + " has ended; nothing can be changed under it any more");
        }
    }

    /** The entry of the same array as {@link #image} was called with a short while ago, or null. */
    private Entry recent(byte[] path) {
        Recent r = recent[System.identityHashCode(path) & RECENT - 1];
        return r != null && r.path == path ? r.entry : null;
    }

    /** Makes {@code e} TOUCHED and its change open. Holds e. */
    private void touch(Entry e) throws IOException {
        touch(e, null, System.nanoTime());
    }

    /**
     * @param seen as for {@link #take(Entry, int, Seen)}
     * @param nowNs a {@link System#nanoTime()} of a moment ago
     */
    private void touch(Entry e, Seen seen, long nowNs) throws IOException {
        running();
        if (e.role == Entry.TOUCHED) {
            if (e.damaged) {
                throw new IOException("the image of " + e.name + " is lost: a child of the program has changed what klock keeps");
            }
            if (e.unseen && nowNs - e.leftNs >= 0 && nowNs - e.leftNs < BUSY_NS) {
                e.unseen = false;
                e.hurried = true;
                return;
            }
            see(e);
            leaveIfGone(e);
            FileState was = e.left;
            if (was != null) {
                long[] now = was.kind == FileState.FILE ? files.status(e.name.bytes) : null;
                FileState there = now != null && was.is(now) ? null : FileState.look(files, e.name);
                if (there != null && !children.isOpen(e.name) && known.foreign(e, there)) {
                    e.isChilds = false;
                    e.superseded();
                    take(e, Entry.TOUCHED);
                    open(e);
                } else {
                    if (e.isChilds || there != null && !there.sameStat(was) && children.isOpen(e.name)) {
                        keepBeside(e);
                    }
                    openAgain(e);
                }
                found(e, there);
            } else if (e.users == 0) {
                // opened with a tree that has gone since, perhaps: it is here again
                FileState there = FileState.look(files, e.name);
                if (e.isChilds || !there.sameStat(e.lastKnown()) && children.isOpen(e.name)) {
                    keepBeside(e);
                }
                append(TOUCH, named(e.name.bytes, 0));
                e.isLeftByRecord = false;
                open(e);
                found(e, there);
            } else {
                if (e.onlyMapped != null) {
                    append(TOUCH, named(e.name.bytes, 0));
                    e.onlyMapped = null;
                }
                supersedeReplaced(e);
            }
            return;
        }
        if (e.name.equals(home) || e.name.below(home)) {
            throw new IOException(e.name + " belongs to klock");
        }
        if (children.isOpen(e.name)) {
            FileState made = look(e.name);
            if (!isStream(made)) {
                // it was not there when everything was imaged: the child has made it, or the program is about to
                above(e.name);
                record(e, Entry.TOUCHED, FileState.absent(), -1);
                e.moved = made.kind != FileState.ABSENT;
                if (e.moved && (known.isChilds(made) || !known.isOfSession(e.name, made))) {
                    keepBeside(e);
                }
                found(e, made);
                return;
            }
        }
        if (e.role == Entry.IMPLIED && e.image.kind == FileState.ABSENT && isStillBrought(e)) {
            above(e.name);
            record(e, Entry.TOUCHED, e.image, -1);
            return;
        }
        if (e.role != Entry.NONE && (e.image.kind != FileState.FILE || e.contentAt >= 0) && stillAsImaged(e)) {
            above(e.name);
            if (e.image.kind == FileState.DIRECTORY && e.image.attributes == null) {
                // until now only its times mattered
                record(e, Entry.TOUCHED, e.image.withAttributes(files.attributes(e.name.bytes)), -1);
                return;
            }
            e.recordEnd = append(TOUCH, named(e.name.bytes, 0));
            e.role = Entry.TOUCHED;
            return;
        }
        take(e, Entry.TOUCHED, seen);
    }

    /** {@link #open}, on record: what is there is not what the journal says that it was left as. Holds e. */
    void openAgain(Entry e) throws IOException {
        if (e.isLeftByRecord || e.onlyMapped != null) {
            append(TOUCH, named(e.name.bytes, 0));
            e.isLeftByRecord = false;
        }
        open(e);
    }

    /** The path is being changed from here on. Holds e. */
    void open(Entry e) {
        e.open();
        e.leftAt = next();
    }

    /** What went with a directory above was left as nothing at its name, where others may have come since. Holds e. */
    private void leaveIfGone(Entry e) {
        if (e.left == null && e.users == 0 && known.isGoneWithDirectory(e)) {
            left(e, FileState.absent(), next());
        }
    }

    /**
     * Others may have put another file where the session has one open: it is imaged before the session changes it, too. Answers whether they
     * have. Holds e.
     */
    private boolean supersedeReplaced(Entry e) throws IOException {
        return supersedeReplaced(e, FileState.look(files, e.name));
    }

    private boolean supersedeReplaced(Entry e, FileState there) throws IOException {
        if (there.kind != FileState.FILE || children.isOpen(e.name) || !known.isReplaced(e, there)) {
            return false;
        }
        e.superseded();
        take(e, Entry.TOUCHED);
        return true;
    }

    /**
     * {@link #touch} for what is TOUCHED already and now goes with its directory: what it was is written down, to be known again elsewhere. Answers
     * what that is.
     */
    private FileState again(Entry e) throws IOException {
        leaveIfGone(e);
        long at = next();
        FileState now = FileState.look(files, e.name);
        if (e.users > 0 && supersedeReplaced(e, now)) {
            // not what others have put there since
            now = e.image;
        }
        if (e.left != null && !children.isOpen(e.name) && known.foreign(e, now)) {
            e.superseded();
            take(e, Entry.TOUCHED);
            open(e);
            return e.image;
        }
        FileState before = e.users > 0 ? e.lastKnown() : null;
        if (e.users == 0 && !now.sameStat(e.left == null ? e.lastKnown() : e.left) && children.isOpen(e.name)) {
            e.byChild();
        }
        if (!e.leftOnDisk || !now.sameStat(e.left)) {
            left(e, now, at);
            known.index(now, e);
            writeLeft(e, true);
        }
        // the tree's own record opens what is known below it
        e.open();
        // a descriptor of the name may be open on what was there before
        found(e, before);
        e.moved = true;
        return now;
    }

    /** Whether a directory that was found to have come along, with one that the session has renamed, is as the session has left it by what it did in it. */
    private boolean isStillBrought(Entry e) throws IOException {
        if (e.ownMtime == 0 || !known.isBelowMoved(e.name)) {
            return false;
        }
        FileState now = FileState.look(files, e.name);
        return now.kind == FileState.DIRECTORY && now.mtime == e.ownMtime;
    }

    private boolean stillAsImaged(Entry e) throws IOException {
        FileState now = FileState.look(files, e.name);
        FileState was = e.image;
        if (now.kind == FileState.ABSENT || was.kind == FileState.ABSENT) {
            return now.kind == was.kind;
        }
        if (now.kind == FileState.DIRECTORY) {
            return now.sameInode(was) && now.sameOwnerAndMode(was) && (e.role == Entry.IMPLIED || now.mtime == was.mtime);
        }
        return now.sameStat(was) && !was.racy();
    }

    /** Images e.name in the given role. Holds e. */
    private void take(Entry e, int role) throws IOException {
        take(e, role, null);
    }

    /**
     * @param seen what a caller who takes many has just seen there, and who syncs the pack before anything else, so that small records may
     *             wait for each other; null to look, and to write at once
     */
    private void take(Entry e, int role, Seen seen) throws IOException {
        boolean later = seen != null;
        e.fresh = true;
        if (role == Entry.TOUCHED) {
            above(e.name);
        }
        for (int attempt = 1; ; attempt++) {
            FileState now = later && attempt == 1 ? seen.state : look(e.name);
            FileState moved = null;
            if (now.kind != FileState.ABSENT && role == Entry.TOUCHED && (movedHere(e.name, now, seen) || known.movedAlong(e, now))) {
                e.moved = true;
                moved = now;
                now = FileState.absent();
            }
            if (now.kind == FileState.DIRECTORY) {
                now = now.withAttributes(files.attributes(e.name.bytes));
            }
            Entry twin = role == Entry.TOUCHED && now.kind != FileState.DIRECTORY ? known.twin(e, now) : null;
            boolean theirs = role == Entry.TOUCHED && now.kind == FileState.FILE && (twin != null || now.hasOtherNames()) && known.changedByOthers(e, now);
            if (twin != null && !theirs) {
                recordAs(e, twin, later);
                return;
            }
            if (now.kind != FileState.FILE) {
                record(e, role, now, -1, later);
                if (moved != null) {
                    // its other names must know of it, which are changed by this one, and so must the place that it may go on to
                    meets(e, moved, later);
                    if (known.isChilds(moved)) {
                        keepBeside(e);
                    }
                }
                return;
            }
            try {
                if (theirs) {
                    takeTheirs(e, twin, now, seen);
                } else {
                    takeFile(e, role, now, seen);
                }
                return;
            } catch (Pack.Unstable changed) {
                if (attempt == READ_ATTEMPTS) {
                    throw new IOException("no image of " + e.name + " can be taken: it changes while it is read (" + changed.getMessage() + ")");
                }
            } catch (NoSuchFileException gone) {
                if (attempt == READ_ATTEMPTS) {
                    throw gone;
                }
            }
        }
    }

    /**
     * What is there came while a child ran, so it goes with a rollback as the child's work, and is kept for whoever else may have made it. It is about
     * to be changed by the program: what it is now is kept beside the image. It is written before the effect and not waited for, as an image is: a child
     * may have made thousands of files that the program then removes, and a copy is lost with the power only. Holds e, which is TOUCHED.
     */
    private void keepBeside(Entry e) throws IOException {
        e.isChilds = false;
        for (int attempt = 1; ; attempt++) {
            FileState now = look(e.name);
            if (now.kind == FileState.LINK) {
                record(e, Entry.BESIDE, now, -1);
                return;
            }
            if (now.kind != FileState.FILE || now.size == 0) {
                return;
            }
            if (now.size > Displaced.MAX_DISPLACED_COPY && !sources.isCloned(now)) {
                record(e, Entry.BESIDE, now, -1);
                return;
            }
            try {
                takeFile(e, Entry.BESIDE, now, null);
                return;
            } catch (Pack.Unstable changed) {
                if (attempt == READ_ATTEMPTS) {
                    // somebody, the child as a rule, is at work on it still
                    return;
                }
            } catch (NoSuchFileException | AccessDeniedException gone) {
                // or it cannot be read, and what it holds is not known to the session either
                return;
            }
        }
    }

    private void takeFile(Entry e, int role, FileState now, Seen seen) throws IOException {
        boolean later = seen != null;
        boolean isMuch = later && seen.many || now.size > SMALL;
        if (isMuch && isUnchanged(e, role, now, later)) {
            return;
        }
        if (now.size > SMALL || !small(e, e.name, role, now, seen, isMuch)) {
            content(e, e.name, role, now.withAttributes(files.attributes(e.name.bytes)));
        }
    }

    /** e is one more name of the file of {@code twin}: what was there before is what was there, whatever became of it since. Holds e. */
    private void recordAs(Entry e, Entry twin, boolean later) throws IOException {
        Entry.Earlier[] before = e.role == Entry.TOUCHED ? Entry.NO_EARLIER : twin.earlier;
        for (int i = 0; i < before.length; i++) {
            record(e, Entry.TOUCHED, before[i].image, before[i].contentAt, later);
            e.superseded();
        }
        record(e, Entry.TOUCHED, twin.image, twin.contentAt, later);
    }

    /**
     * Somebody else has changed what is in a file of several names since the session left it: by whatever name that was, it is the file as they left
     * it that has to come back under this one, and, by {@link #supersedeOthers}, under those that the session knows already. Holds e.
     *
     * @param twin one of these, null if there is none
     */
    private void takeTheirs(Entry e, Entry twin, FileState now, Seen seen) throws IOException {
        int role = e.role;
        Entry.Earlier image = new Entry.Earlier(e.image, e.contentAt);
        Entry.Earlier[] before = e.earlier;
        try {
            if (role != Entry.TOUCHED && twin != null) {
                recordAs(e, twin, seen != null);
                e.superseded();
            }
            // those that the session has made go with a rollback
            FileState theirs = now.withNames(Math.max(1, now.nlink - known.namesMade(e, now)));
            takeFile(e, Entry.TOUCHED, theirs, seen);
            e.theirs = theirs;
        } catch (IOException | RuntimeException failed) {
            e.role = role;
            e.image = image.image;
            e.contentAt = image.contentAt;
            e.earlier = before;
            throw failed;
        }
    }

    /** What others have made of a file is what comes back under all its names. Holds no entry. */
    private void supersedeOthers(Entry e) throws IOException {
        FileState theirs;
        Entry.Earlier image;
        synchronized (e) {
            theirs = e.theirs;
            image = new Entry.Earlier(e.image, e.contentAt);
            e.theirs = null;
        }
        if (theirs == null) {
            return;
        }
        for (Entry other : known.otherNames(e, theirs)) {
            synchronized (other) {
                if (other.role != Entry.TOUCHED || !other.image.sameInode(theirs) || other.image.sameStat(theirs)) {
                    continue;
                }
                leaveIfGone(other);
                FileState left = other.left;
                long leftAt = other.leftAt;
                other.superseded();
                record(other, Entry.TOUCHED, image.image, image.contentAt, true);
                if (left != null) {
                    // of which the record of an image makes something that is being changed
                    other.leftAt = leftAt;
                    writeLeft(other, true);
                }
            }
        }
        synchronized (e) {
            e.recordEnd = Math.max(e.recordEnd, pack.end());
        }
    }

    /**
     * Refers to the image of an earlier session, if the file is as it was then: it is not read. Holds e. Not asked for a few small files,
     * which are imaged sooner than another session's pack is given a name.
     */
    private boolean isUnchanged(Entry e, int role, FileState now, boolean later) throws IOException {
        StatCache known = earlier();
        StatCache.Entry as = known == null ? null : known.unchanged(e.name.bytes, now, settled);
        if (as == null) {
            return false;
        }
        pack();
        long at = sources.contentAt(as.content);
        if (at < 0) {
            return false;
        }
        FileState whole = as.bare ? now.withAttributes(NO_ATTRIBUTES) : withAttributes(e.name, now);
        record(e, role, whole.withSha(as.content.sha), at, later);
        return true;
    }

    private FileState withAttributes(Name name, FileState now) throws IOException {
        int fd = files.open(name.bytes);
        if (fd < 0) {
            FileState whole = now.withAttributes(files.attributes(name.bytes));
            stable(name, now, files.path(name.bytes));
            return whole;
        }
        try {
            requireSame(now, files.status(fd));
            return now.withAttributes(files.attributes(fd));
        } finally {
            files.close(fd);
        }
    }

    /** Read when many files, or a large one, are to be imaged for the first time. */
    private StatCache earlier() throws IOException {
        synchronized (sources) {
            if (!earlierRead) {
                earlierRead = true;
                Path file = directory.resolveSibling(StatCache.FILE);
                earlier = Pack.exists(file) ? StatCache.read(file, owner(), settled()) : null;
            }
            return earlier;
        }
    }

    /** Of the session's directory; -1 if it is gone. */
    private long owner() throws IOException {
        long[] status = files.status(files.name(directory));
        return status == null ? -1 : status[HostFiles.UID];
    }

    /** Holds {@link #sources}. */
    private Settled settled() throws IOException {
        if (settled == null) {
            long[] status = files.status(files.name(directory));
            settled = status == null ? Settled.NEVER : Settled.at(directory, status[HostFiles.DEV]);
        }
        return settled;
    }

    private boolean movedHere(Name name, FileState now, Seen seen) throws IOException {
        return seen == null ? known.isBelowMoved(name) && known.isOfSession(name, now) : seen.isBelowMoved(name) && known.isOfSession(name, now);
    }

    /** By one descriptor: half of the system calls. False if none can be had; then another way tells why. */
    private boolean small(Entry e, Name at, int role, FileState was, Seen seen, boolean isMuch) throws IOException {
        int fd = files.open(at.bytes);
        if (fd < 0) {
            return false;
        }
        try {
            requireSame(was, files.status(fd));
            FileState now = was.withAttributes(files.attributes(fd));
            int size = (int) now.size;
            byte[] data = seen == null ? new byte[size + Sha256.LENGTH] : seen.room(size + Sha256.LENGTH);
            // one byte more than there should be tells a file that grew
            int got = files.read(fd, data, size + 1);
            if (got != size) {
                throw new Pack.Unstable(got < size ? "it became shorter" : "it became longer");
            }
            requireSame(was, files.status(fd));
            keep(e, role, now, data, size, seen != null, isMuch);
            return true;
        } finally {
            files.close(fd);
        }
    }

    /** What was seen of one path after the other, by a thread that images many; those of a directory come in a row. */
    private final class Seen {
        /** Whether it is so much that it is worth to look at what earlier sessions have. */
        final boolean many;
        FileState state;
        /** What was read last, and what comes behind it. */
        private byte[] room = new byte[1 << 14];
        private Name directory;
        private boolean moved;

        Seen(boolean many) {
            this.many = many;
        }

        /** For one file after the other, so that not each of thousands takes memory that was never used. */
        byte[] room(int size) {
            if (room.length < size) {
                room = new byte[size];
            }
            return room;
        }

        /** {@link Identities#isBelowMoved}, asked once for all of a directory. */
        boolean isBelowMoved(Name name) throws IOException {
            Name parent = name.parent();
            if (parent == null) {
                return false;
            }
            if (!parent.equals(directory)) {
                directory = null;
                moved = known.isBelowMoved(name);
                directory = parent;
            }
            return moved;
        }
    }

    private static void requireSame(FileState seen, long[] status) throws IOException {
        if (status == null || !seen.is(status)) {
            throw new Pack.Unstable("size or times changed");
        }
    }

    private void content(Entry e, Name from, int role, FileState now) throws IOException {
        Path path = files.path(from.bytes);
        if (now.size > SMALL) {
            byte[] sha = new byte[Sha256.LENGTH];
            Unchanged file = new Unchanged(from, now, path);
            if (isTouchedOnly(e, role, now, file)) {
                return;
            }
            long at = -1;
            if (sources.isCloned(now)) {
                pack();
                at = sources.clone(path, now.size, file, sha);
            }
            if (at >= 0) {
                hasRead(now.size);
                record(e, role, now.withSha(sha), at);
                return;
            }
            try (InputStream in = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS)) {
                at = pack().appendContent(IMAGE, imageHead(e.name, role, now, -1), new Checked(in, file), now.size, sha);
            }
            hasRead(now.size);
            publish(e, role, now.withSha(sha), at);
            return;
        }
        int size = (int) now.size;
        byte[] data = new byte[size + Sha256.LENGTH];
        try (InputStream in = Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS)) {
            int n = 0;
            while (n < size) {
                int got = in.read(data, n, size - n);
                if (got < 0) {
                    throw new Pack.Unstable("it became shorter");
                }
                n += got;
            }
            if (in.read() >= 0) {
                throw new Pack.Unstable("it became longer");
            }
        }
        stable(from, now, path);
        keep(e, role, now, data, size, false, false);
    }

    /**
     * Appends what a small file holds, once for all that hold the same. {@code data} has room for the hash behind the content.
     *
     * @param isMuch whether to look at what earlier sessions have
     */
    private void keep(Entry e, int role, FileState now, byte[] data, int size, boolean later, boolean isMuch) throws IOException {
        hasRead(size);
        MessageDigest digest = Sha256.digest();
        digest.update(data, 0, size);
        byte[] sha = digest.digest();
        ByteBuffer key = ByteBuffer.wrap(sha);
        Long same = contents.get(key);
        if (same != null) {
            record(e, role, now.withSha(sha), same, later);
            return;
        }
        long earlierAt = isMuch ? earlier(sha, size) : -1;
        if (earlierAt >= 0) {
            contents.putIfAbsent(key, earlierAt);
            record(e, role, now.withSha(sha), earlierAt, later);
            return;
        }
        System.arraycopy(sha, 0, data, size, sha.length);
        long at = pack().append(IMAGE, imageHead(e.name, role, now, -1), data, size + sha.length, later);
        contents.putIfAbsent(key, at);
        publish(e, role, now.withSha(sha), at);
    }

    /** Refers to the image of an earlier session, if a large file that has got other times since then holds the same. Holds e. */
    private boolean isTouchedOnly(Entry e, int role, FileState now, Unchanged file) throws IOException {
        StatCache known = earlier();
        if (known == null || known.sizeOf(e.name.bytes) != now.size) {
            return false;
        }
        byte[] sha = Sha256.of(file.path);
        file.check();
        long at = earlier(sha, now.size);
        if (at < 0) {
            return false;
        }
        hasRead(now.size);
        record(e, role, now.withSha(sha), at);
        return true;
    }

    private void hasRead(long bytes) {
        synchronized (sources) {
            readFiles++;
            readBytes += bytes;
        }
    }

    /** Where an earlier session has kept the same bytes; -1 if none is known to have. */
    private long earlier(byte[] sha, long size) throws IOException {
        StatCache known = earlier();
        StatCache.Content content = known == null ? null : known.holding(sha, size);
        if (content == null) {
            return -1;
        }
        pack();
        return sources.contentAt(content);
    }

    private void stable(Name name, FileState before, Path path) throws IOException {
        FileState after = FileState.look(files, name);
        if (!after.sameStat(before)) {
            throw new Pack.Unstable("size or times changed");
        }
    }

    /** A file that was looked at, and is to be the same still when all of it has been copied. */
    private final class Unchanged implements Sources.Stability {
        private final Name name;
        private final FileState before;
        private final Path path;

        Unchanged(Name name, FileState before, Path path) {
            this.name = name;
            this.before = before;
            this.path = path;
        }

        @Override
        public void check() throws IOException {
            stable(name, before, path);
        }
    }

    /** At its end, makes sure that the file is the one that was looked at: before the record that holds it is complete. */
    private static final class Checked extends InputStream {
        private final InputStream in;
        private final Unchanged file;

        Checked(InputStream in, Unchanged file) {
            this.in = in;
            this.file = file;
        }

        @Override
        public int read() throws IOException {
            int b = in.read();
            if (b < 0) {
                file.check();
            }
            return b;
        }

        @Override
        public int read(byte[] b, int from, int length) throws IOException {
            return in.read(b, from, length);
        }
    }

    /** Notes the directories above something touched: the nearest one there is, and every one there is not. Holds the child's entry. */
    private void above(Name name) throws IOException {
        for (Name up = name.parent(); up != null; up = up.parent()) {
            Entry e = known.entry(up);
            synchronized (e) {
                if (e.role >= Entry.IMPLIED) {
                    return;
                }
                FileState s = FileState.look(files, up);
                if (s.kind != FileState.DIRECTORY && s.kind != FileState.ABSENT) {
                    // nothing can be below it; if it is changed itself, it is imaged then
                    return;
                }
                record(e, Entry.IMPLIED, s.kind == FileState.DIRECTORY && known.movedHere(up, s) ? FileState.absent() : s, -1);
                if (s.kind != FileState.ABSENT) {
                    return;
                }
            }
        }
    }

    /** The order of touches and of what was left, among all paths. */
    long next() {
        return order.incrementAndGet();
    }

    /** {@link #next} will answer more than {@code at}, which was recorded by an earlier process. */
    void passed(long at) {
        order.set(Math.max(order.get(), at));
    }

    void addScope(byte[] path) {
        scopes.add(path);
    }

    /** The session has left e so. Holds e. */
    void left(Entry e, FileState now, long at) {
        e.fresh = false;
        if (now.kind != FileState.ABSENT) {
            known.leftSo(now, !now.sameStat(e.image));
        }
        e.left(now, at);
    }

    void record(Entry e, int role, FileState state, long contentAt) throws IOException {
        record(e, role, state, contentAt, false);
    }

    void record(Entry e, int role, FileState state, long contentAt, boolean later) throws IOException {
        pack().append(IMAGE, imageHead(e.name, role, state, contentAt), null, 0, later);
        publish(e, role, state, contentAt);
    }

    private void publish(Entry e, int role, FileState state, long contentAt) {
        if (role == Entry.BESIDE) {
            e.isBeside(state, contentAt);
            return;
        }
        e.image = state;
        e.contentAt = contentAt;
        e.recordEnd = pack.end();
        e.leftAt = next();
        e.isLeftByRecord = false;
        e.onlyMapped = null;
        known.index(state, e);
        e.role = role;
    }

    // --- what was left

    /**
     * One of several changes of e is over, so how it leaves the path is not known yet; but which file was changed is: another one, if it was
     * renamed to here, or made anew, while an earlier one of the name is open still. Holds e.
     */
    private void meet(Entry e, int fd) {
        try {
            FileState now = fd < 0 ? look(e.name) : openOn(fd);
            if (now == null || now.kind != FileState.FILE || now.nlink == 0) {
                return;
            }
            // by whatever other name it is found later, if nothing is written to it until then
            known.leftSo(now);
            meets(e, now, false);
        } catch (IOException unknown) {
            // as before: the file is known by its other names only
            return;
        }
    }

    /** What is about to be changed is not what the session left at the path, or it is not known: a descriptor may outlive the name. Holds e. */
    private void found(Entry e, FileState there) throws IOException {
        if (there != null && there.kind == FileState.FILE) {
            meets(e, there, false);
        }
    }

    /** {@code file} was found at the path of e, which is being changed. Holds e. */
    private void meets(Entry e, FileState file, boolean later) throws IOException {
        if (!e.meets(file)) {
            return;
        }
        known.index(file, e);
        writeMet(e, file, later);
    }

    private void writeMet(Entry e, FileState file, boolean later) throws IOException {
        ByteBuffer head = named(e.name.bytes, file.encodedLength());
        file.encode(head);
        pack().append(MET, head.array(), null, 0, later);
    }

    /** One of several changes of e is over: mappings may be all that there is now, and they put nothing in the place of what is at the name. Holds e. */
    private void noteMapped(Entry e) {
        if (e.onlyMapped != null || e.onlyMappedTo() == null) {
            return;
        }
        if (e.onlyMappedCount < WRITTEN_AT_ONCE) {
            e.onlyMappedCount++;
            writeMapped(e, false);
        } else {
            e.leftNs = System.nanoTime();
            collect(e);
        }
    }

    /** Not where the name leads to something else already, which the session may have put there. Holds e. A note that cannot be written is only missed after a crash. */
    private void writeMapped(Entry e, boolean later) {
        FileState[] to = e.onlyMappedTo();
        if (to == null || children.isOpen(e.name)) {
            return;
        }
        try {
            FileState now = known.at(e.name);
            boolean there = false;
            int length = 0;
            for (FileState file : to) {
                there |= now.sameInode(file);
                length += file.encodedLength();
            }
            if (!there) {
                return;
            }
            ByteBuffer head = named(e.name.bytes, length);
            for (FileState file : to) {
                file.encode(head);
            }
            pack().append(MAPPED, head.array(), null, 0, later);
            e.onlyMapped = to;
        } catch (IOException unwritten) {
            e.onlyMapped = null;
        }
    }

    /** Leaves a plain file whose descriptor is being closed for later, if it is one that is changed again and again. Holds e. */
    private boolean leaveUnseen(Entry e) {
        FileState before = e.prior;
        if (e.leftCount < WRITTEN_AT_ONCE || before == null || before.kind != FileState.FILE || before.nlink != 1 || e.moved || e.overlapped
                || e.withTree) {
            return false;
        }
        if (e.touchedNs - e.leftNs >= BUSY_NS) {
            return false;
        }
        e.unseen = true;
        e.leftMs = System.currentTimeMillis();
        // a third reading of the clock would cost as much as all the rest
        e.leftNs = e.touchedNs;
        e.leftAt = order.get();
        collect(e);
        return true;
    }

    /** Looks at what was left unseen (C32): what has changed later than the session left it was changed by others. Holds e. */
    void see(Entry e) {
        if (!e.unseen || e.users > 0) {
            return;
        }
        e.unseen = false;
        long latest = (e.leftMs + 1) * 1_000_000L;
        try {
            FileState now = known.blocked(e.name) == null ? look(e.name) : FileState.absent();
            if (now.kind != FileState.FILE) {
                now = e.prior.before(latest);
            } else {
                now = now.ctime > latest ? now.before(latest) : now.inferred();
                known.index(now, e);
            }
            left(e, now, e.leftAt);
            collect(e);
        } catch (IOException unknown) {
            // as if it had not been left: a rollback keeps what it displaces
            e.leftUnknown();
            return;
        }
    }

    /** Whether the session still has a file open that is not at its name any more, as somebody else has put another there. Holds e. */
    private boolean isReplaced(Entry e) {
        try {
            return known.isReplaced(e, look(e.name));
        } catch (IOException unknown) {
            return false;
        }
    }

    private void collect(Entry e) {
        if (!e.collected) {
            e.collected = true;
            synchronized (collected) {
                collected.add(e);
            }
        }
    }

    /** Holds e. {@code fd}: a descriptor opened on it that is about to be closed, or -1. */
    private void note(Entry e, int fd) {
        note(e, fd, false);
    }

    /** @param later the caller flushes the pack when it has noted many */
    void note(Entry e, int fd, boolean later) {
        FileState now;
        FileState before = e.lastKnown();
        // before the look: what other threads do to the directories above meanwhile comes after it
        long at = next();
        try {
            now = look(e, fd);
            if (fd >= 0 && e.overlapped) {
                saw(fd, now);
                FileState open = openOn(fd);
                now = open != null && !now.sameInode(open) && known.isReplaced(e, now) ? open : now;
            } else if (e.users == 0 && !children.isOpen(e.name) && known.isNew(e, now)) {
                now = FileState.absent();
            }
            if (before.sha != null && now.sameStat(before) && !before.racy()) {
                now = now.withSha(before.sha);
            } else if (now.kind == FileState.FILE && now.size <= HASHED_WHEN_LEFT) {
                // the first time it is little against the image that was just made durable
                if (e.leftCount < WRITTEN_AT_ONCE || now.racy() && System.nanoTime() - e.hashedAtNs > HASH_PAUSE_NS) {
                    e.hashedAtNs = System.nanoTime();
                    now = hashed(e.name, now);
                }
            }
        } catch (IOException unknown) {
            e.leftUnknown();
            return;
        }
        boolean sameName = now.kind == FileState.ABSENT ? before.kind == FileState.ABSENT : now.sameInode(before);
        boolean wasGone = e.gone;
        left(e, now, at);
        if (!sameName || e.moved || e.overlapped) {
            e.moved = false;
            known.index(now, e);
            noteParent(e.name.parent());
        }
        // that it was gone must be known after a crash: what comes in its place may have its inode number
        // an operation that has failed, or changed nothing, is not to keep a later one's end from being known at once
        boolean same = sameName && (now.kind == FileState.ABSENT || now.sameStat(before));
        if ((same ? e.sameCount : e.leftCount) < WRITTEN_AT_ONCE || now.nlink > 1 && now.kind == FileState.FILE || e.gone && !wasGone) {
            e.sameCount += same ? 1 : 0;
            e.leftCount += same ? 0 : 1;
            writeLeft(e, later);
            if (now.sha != null || now.kind != FileState.FILE || now.size > HASHED_WHEN_LEFT) {
                return;
            }
        }
        e.leftNs = System.nanoTime();
        collect(e);
    }

    /** {@code now} with the hash of what the file holds, if that can be read and is the same still. */
    private FileState hashed(Name name, FileState now) throws IOException {
        byte[] sha;
        try {
            sha = Sha256.of(files.path(name.bytes));
        } catch (IOException unreadable) {
            // the session may have made it so: its times tell as much
            return now;
        }
        return FileState.look(files, name).sameStat(now) ? now.withSha(sha) : now;
    }

    /**
     * A descriptor outlives the name that it was opened by: notes how the session leaves a file that is not at that name any more, for
     * whatever other names it has.
     */
    private void saw(int fd, FileState atName) throws IOException {
        FileState state = openOn(fd);
        if (state == null || state.nlink == 0 || atName != null && atName.ino == state.ino && atName.dev == state.dev) {
            return;
        }
        known.leftSo(state);
        ByteBuffer head = ByteBuffer.allocate(state.encodedLength());
        state.encode(head);
        append(SEEN, head);
    }

    /**
     * A file that is open for writing was renamed to {@code path}, whose change has begun: from here on it is known which file is being changed
     * there, so that its other names are not taken for names of something else. It is written down at once, without fsync: when the process is
     * killed after this name has gone as well, nothing else tells that a descriptor went on changing the file (C45). Never throws.
     */
    public void carriedTo(byte[] path, int fd) {
        Entry e = known.get(new Name(path));
        if (e == null) {
            return;
        }
        long taken = FileState.now();
        long[] s = files.status(fd);
        if (s == null || (s[HostFiles.MODE] & FileState.TYPE_BITS) != FileState.FILE_BITS) {
            return;
        }
        synchronized (e) {
            if (e.left == null && e.users > 0) {
                try {
                    FileState carried = FileState.of(s, taken, null, isExact(s[HostFiles.DEV]));
                    meets(e, carried, false);
                    FileState before = e.users > 1 ? e.lastKnown() : null;
                    e.prior = carried;
                    // another descriptor of the name may be open on it still
                    found(e, before);
                } catch (IOException unwritten) {
                    // after a crash the file is known by its other names only
                    return;
                }
            }
        }
    }

    /** Before a rollback: {@code fd} is still open for writing. What it has written by now is the session's, under whatever name. */
    public void stillOpen(int fd) {
        try {
            saw(fd, null);
        } catch (IOException unwritten) {
            // what it wrote is told from other people's work by its names only
            return;
        }
    }

    /**
     * By the descriptor where it surely is what the session left: asking it costs half. If it has no name any more, others have put
     * something else in its place, or nothing, and what the name leads to is theirs.
     */
    private FileState look(Entry e, int fd) throws IOException {
        if (fd >= 0 && !e.overlapped) {
            FileState open = openOn(fd);
            if (open != null && open.nlink <= 1) {
                return open;
            }
        }
        return look(e.name);
    }

    /** The regular file that a descriptor is open on; null if it is open on something else, or that cannot be told. */
    private FileState openOn(int fd) throws IOException {
        long taken = FileState.now();
        long[] s = files.status(fd);
        return s == null || (s[HostFiles.MODE] & FileState.TYPE_BITS) != FileState.FILE_BITS ? null
                : FileState.of(s, taken, null, isExact(s[HostFiles.DEV]));
    }

    FileState look(Name name) throws IOException {
        FileState s = FileState.look(files, name);
        return s.kind != FileState.ABSENT && isExact(s.dev) ? s.exact() : s;
    }

    /**
     * Whether the kernel gives each change after a look a time of its own there (multigrain times: Linux 6.13, on ext4, xfs, btrfs and
     * tmpfs). Known only for the file system that klock's own files are on, by trying; elsewhere hashes decide.
     */
    private boolean isExact(long dev) {
        return dev == exactDev;
    }

    /** On the thread that opens the session: an interrupt would close the lock's channel, and with it give up the lock. */
    private long probeTimes() {
        if (held == null) {
            return 0;
        }
        byte[] name = files.name(directory.resolve("lock"));
        try {
            long[] last = null;
            for (int i = 0; i < TIME_PROBES; i++) {
                held.lock.write(ByteBuffer.wrap(new byte[] {(byte) i}), 0);
                long[] now = files.status(name);
                if (now == null || last != null && (last[HostFiles.MTIME] == now[HostFiles.MTIME] || last[HostFiles.CTIME] == now[HostFiles.CTIME])) {
                    return 0;
                }
                last = now;
            }
            return last[HostFiles.DEV];
        } catch (IOException e) {
            return 0;
        }
    }

    private void noteParent(Name parent) {
        Entry p = parent == null ? null : known.get(parent);
        if (p == null) {
            return;
        }
        synchronized (p) {
            try {
                FileState s = FileState.look(files, parent);
                p.ownMtime = s.kind == FileState.DIRECTORY ? s.mtime : 0;
            } catch (IOException unknown) {
                p.ownMtime = 0;
            }
        }
    }

    /** Holds e. A note that cannot be written is only missed after a crash. */
    void writeLeft(Entry e, boolean later) {
        try {
            ByteBuffer head = named(e.name.bytes, e.left.encodedLength() + Long.BYTES + 1);
            e.left.encode(head);
            head.putLong(e.leftAt).put((byte) (e.byChild ? 1 : 0));
            pack().append(LEFT, head.array(), null, 0, later);
            e.leftOnDisk = true;
            e.isLeftByRecord = true;
        } catch (IOException unwritten) {
            e.leftOnDisk = false;
        }
    }

    // --- the pack

    private Pack pack() throws IOException {
        Pack p = pack;
        if (p != null) {
            return p;
        }
        synchronized (known) {
            if (pack == null) {
                RandomAccessFile mark = Store.markOpen(directory);
                Pack fresh = Pack.create(directory.resolve("pack"));
                fresh.marks(mark);
                Pack.syncDirectory(directory.getParent());
                startedMs = System.currentTimeMillis();
                writeBeginning(fresh);
                pack = fresh;
                own.created(fresh);
            }
            return pack;
        }
    }

    /** @return the pack's end after the record */
    long append(int type, ByteBuffer head) throws IOException {
        return append(type, head.array());
    }

    long append(int type, byte[] head) throws IOException {
        Pack p = pack();
        p.append(type, head, null, 0);
        return p.end();
    }

    void sync() throws IOException {
        pack.sync(pack.end());
    }

    /** A head that begins with a path, with room for {@code more} bytes. */
    static ByteBuffer named(byte[] path, int more) {
        return ByteBuffer.allocate(4 + path.length + more).putInt(path.length).put(path);
    }

    private static byte[] imageHead(Name name, int role, FileState state, long contentAt) {
        ByteBuffer head = named(name.bytes, 12 + state.encodedLength());
        head.putInt(role).putLong(contentAt);
        state.encode(head);
        return head.array();
    }

    List<Entry> sorted() {
        List<Entry> sorted = new ArrayList<>();
        for (Entry e : known.all()) {
            if (e.role != Entry.NONE) {
                sorted.add(e);
            }
        }
        sorted.sort(new java.util.Comparator<Entry>() {
            @Override
            public int compare(Entry a, Entry b) {
                return a.name.compareTo(b.name);
            }
        });
        return sorted;
    }

    Path aside(String kind, int index, Name name) throws IOException {
        Path directory = this.directory.resolve(kind);
        if (!Files.isDirectory(this.directory, LinkOption.NOFOLLOW_LINKS)) {
            makeAgain();
        }
        Store.makeDirectory(directory);
        String last = Name.show(name.last());
        StringBuilder file = new StringBuilder();
        file.append(index).append('-');
        for (int i = 0; i < last.length() && i < 60; i++) {
            char c = last.charAt(i);
            file.append(c < 0x80 && (Character.isLetterOrDigit(c) || c == '.' || c == '_' || c == '-') ? c : '_');
        }
        return directory.resolve(file.toString());
    }

    /** A child has removed klock's own, or moved it; what is rolled back needs a place all the same, and whoever comes next a home. */
    private void makeAgain() throws IOException {
        Path home = homeDirectory();
        try {
            Home.open(home.toFile());
            Pack.syncDirectory(home);
        } catch (UsageException others) {
            // what stands there now is not klock's, or cannot be written; if it is a directory it will do
            Store.makeDirectory(home);
        }
        Store.sessions(home);
        Store.makeDirectory(directory);
        Pack.syncDirectory(directory.getParent());
        madeAgain = true;
    }

    /** The journal is gone with the directory that it was in: a new one says what became of the session, so that it can be listed. */
    private void tellEnd(boolean complete) {
        Path file = directory.resolve("pack");
        if (Pack.exists(file)) {
            return;
        }
        try (Pack fresh = Pack.create(file)) {
            writeBeginning(fresh);
            if (!complete) {
                fresh.append(DAMAGE, named("its images were removed while it ran, and not all was put back".getBytes(StandardCharsets.UTF_8), 0).array(), null, 0);
            }
            fresh.append(END, new byte[] {(byte) (complete ? State.ROLLED_BACK : State.KEPT).ordinal()}, null, 0);
            fresh.sync(fresh.end());
        } catch (IOException unwritten) {
            // then it is one whose journal is gone
            return;
        }
    }

    // --- replay

    private void replay(boolean deep) throws IOException {
        Path file = directory.resolve("pack");
        // before the pack: a process that is at work makes more of it safe
        long safe = Store.safe(directory);
        marked = safe >= 0;
        if (!Pack.exists(file)) {
            damage = safe > 0 || hasMoreThanItsLock() ? "its journal " + file + " is gone: what it changed is not known any more" : null;
            return;
        }
        Replay replay = new Replay(this);
        pack = Pack.open(file, readOnly, deep, replay);
        if (replay.moving() != null && isMoved(replay.moving(), replay.movingTo())) {
            carried(replay.moving(), replay.movingTo());
        }
        recovered = true;
        damageOnDisk = damage != null;
        if (damage == null) {
            damage = missing(file, safe);
        }
        if (safe < 0 && state == State.OPEN && Store.endedWell(homeDirectory(), sessionId)) {
            // it is not marked as running either: what is gone of its journal said the same, and its changes were accepted
            state = State.DONE;
        }
        if (damage == null) {
            damage = missingElsewhere();
        }
        for (Entry e : known.all()) {
            if (e.contentAt >= 0 && Sources.isOwn(e.contentAt)) {
                e.image = e.image.withSha(shaOf(e.image, e.contentAt));
            }
            readHashes(e.earlier);
            readHashes(e.beside);
        }
    }

    private void readHashes(Entry.Earlier[] images) throws IOException {
        for (int i = 0; i < images.length; i++) {
            Entry.Earlier was = images[i];
            if (was.contentAt >= 0 && Sources.isOwn(was.contentAt)) {
                images[i] = new Entry.Earlier(was.image.withSha(shaOf(was.image, was.contentAt)), was.contentAt);
            }
        }
    }

    /** A session that has not come to its first image has made nothing but its lock, and what tells others of its leases. */
    private boolean hasMoreThanItsLock() throws IOException {
        try (DirectoryStream<Path> list = Files.newDirectoryStream(directory)) {
            for (Path inside : list) {
                if (!Store.isThereBeforeImages(inside.getFileName().toString())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** What of the pack is not there any more although it was safe: nothing that a crash does. */
    private String missing(Path file, long safe) {
        String loss = pack.end() < safe ? "the last " + (safe - pack.end()) + " bytes of its journal are gone"
                : pack.isHoled() ? "a part of its journal cannot be read" : safe < 0 && state == State.OPEN ? "the end of its journal is gone" : null;
        return loss == null ? null : loss + " (" + file + "): what it changed is not known whole, and may be as it left it";
    }

    /** What of the images in other files than the pack is not there any more. */
    private String missingElsewhere() {
        Path gone = null;
        int count = 0;
        for (Entry e : known.all()) {
            boolean lost = e.role == Entry.TOUCHED && e.contentAt >= 0 && !Sources.isOwn(e.contentAt) && !sources.reaches(e.contentAt, e.image.size);
            if (lost) {
                count++;
                gone = sources.file(e.contentAt);
            }
        }
        return gone == null ? null : "the images of " + count + (count == 1 ? " file" : " files") + " are gone with " + gone
                + ": what it changed there cannot be put back";
    }

    private byte[] shaOf(FileState image, long contentAt) throws IOException {
        ByteArrayOutputStream sha = new ByteArrayOutputStream(Sha256.LENGTH);
        pack.copy(contentAt + image.size, Sha256.LENGTH, sha, null);
        return sha.toByteArray();
    }

}
