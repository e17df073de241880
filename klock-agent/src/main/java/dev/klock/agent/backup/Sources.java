package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The files beside a session's pack that hold contents of its images: packs of earlier sessions that hold the same, under names of their own
 * in {@code <session>/from/}, and clones of large files in {@code <session>/blob/}.
 *
 * <p>A pack, or blob, that a session refers to has one more name, made and synced before the first record that refers to it. So it stays until
 * the last session that needs it is removed; the file system counts. What is referred to is always the file that the bytes were first written
 * to, never another reference.
 *
 * <p>A position of content is one number: the upper bits which of these files, 0 for the session's own pack, the lower where in it. Each file is
 * announced by a {@link Backups#SOURCE} record before it is used. At every position are the bytes and then their SHA-256, in packs and blobs
 * alike, so that one look tells whether they are there.
 *
 * <p>Names are of the form {@code session} or {@code session~number}, where {@code session} is a file name of {@link Store#fileName}; what
 * another name says is nowhere. Links are never followed, and files of other owners not used.
 *
 * <p>Thread-safe. Its monitor comes after the entries' and before the pack's.
 */
final class Sources {
    /** The directory of the earlier packs' names. */
    static final String FROM = "from";
    /** The directory of the clones. */
    static final String BLOB = "blob";

    private static final int SHIFT = 48;
    private static final int MAX = (1 << Long.SIZE - 1 - SHIFT) - 1;
    /** Files from this size on are cloned where that is possible. */
    private static final long MIN_CLONE = 1 << 20;
    /** The first JDK whose {@link FileChannel#transferTo} leaves a copy to the kernel. */
    private static final int CLONES_FROM = 20;
    private static final int CHUNK = 1 << 18;
    /** So many other sessions are asked for a file whose own session is gone. */
    private static final int MAX_HOLDERS = 1000;

    /** One file. */
    private static final class Source {
        /** Below the session's directory; null where the record names nothing that may be used. */
        final String file;
        /** What every session knows it by. */
        final String name;
        /** Null until it is read. */
        Pack pack;
        /** The file that was open when another came to its name; else null. */
        Pack open;
        /** What it was when it was given its name here; null for what a record names. */
        StatCache.Source linked;
        /** What it was when it was last known to hold what it should. */
        StatCache.Source seen;

        Source(String file, String name) {
            this.file = file;
            this.name = name;
        }
    }

    private final Backups backups;
    private final HostFiles files;
    private final Path directory;
    /** From 1 on. */
    private final List<Source> list = new ArrayList<>();
    private final Map<String, Integer> byName = new HashMap<>();
    /** Names that cannot be had. */
    private final Set<String> refused = new HashSet<>();
    private boolean directorySafe;
    private boolean blobsSafe;
    /** Number of the last clone. */
    private int clones;
    /** st_dev of the files that can be cloned; 0 for none, -1 before it is asked for. */
    private long cloneableDev = -1;
    private boolean closed;

    Sources(Backups backups, Path directory) {
        this.backups = backups;
        this.files = backups.files;
        this.directory = directory;
        list.add(null);
    }

    /** Which file a position is in; 0 for the session's own pack. */
    static int source(long contentAt) {
        return (int) (contentAt >>> SHIFT);
    }

    private static long at(int source, long offset) {
        return (long) source << SHIFT | offset;
    }

    static boolean isOwn(long contentAt) {
        return contentAt >>> SHIFT == 0;
    }

    static long offset(long contentAt) {
        return contentAt & (1L << SHIFT) - 1;
    }

    /** The session's own name, which its pack has elsewhere. */
    private String own() {
        return directory.getFileName().toString();
    }

    /** What other sessions know the file of a position by, as it is now; null if it is gone. {@code told}: those that were asked for before. */
    StatCache.Source told(long contentAt, Map<Long, StatCache.Source> told) throws IOException {
        Long source = contentAt >>> SHIFT;
        StatCache.Source before = told.get(source);
        if (before != null) {
            return before;
        }
        synchronized (this) {
            String name = source == 0 ? own() : list.get((int) (long) source).name;
            StatCache.Source one = look(name, file(contentAt));
            told.put(source, one);
            return one;
        }
    }

    private StatCache.Source look(String name, Path file) throws IOException {
        long[] now = files.status(files.name(file));
        return now == null ? null : new StatCache.Source(name, now[HostFiles.INO], now[HostFiles.SIZE], now[HostFiles.MTIME]);
    }

    /** Whether a session with images of its own may have this file: no name leads out of the home's directory. */
    static boolean isName(String name) {
        int tilde = name.indexOf('~');
        String session = tilde < 0 ? name : name.substring(0, tilde);
        for (int i = tilde + 1; tilde >= 0 && i <= name.length(); i++) {
            if (i == name.length() ? i == tilde + 1 : name.charAt(i) < '0' || name.charAt(i) > '9') {
                return false;
            }
        }
        try {
            return name.length() <= Name.MAX && !session.isEmpty() && session.equals(Store.fileName(Store.sessionId(session)));
        } catch (IOException tooLong) {
            return false;
        }
    }

    /** The file of a name, in the directory of the session that made it. */
    private static Path original(Path sessions, String name) {
        int tilde = name.indexOf('~');
        return tilde < 0 ? sessions.resolve(name).resolve("pack")
                : sessions.resolve(name.substring(0, tilde)).resolve(BLOB).resolve(name.substring(tilde + 1));
    }

    /**
     * The position of what an earlier session has kept, as this one refers to it: durable as soon as this session's pack is. -1 if it is not
     * there, or not as it should be, or cannot be given another name; then the bytes have to be kept once more.
     */
    long contentAt(StatCache.Content content) {
        String name = content.source.name;
        synchronized (this) {
            Integer known = byName.get(name);
            if (known == null && (closed || refused.contains(name))) {
                return -1;
            }
            try {
                int source = known != null ? known : link(content.source);
                return holds(source, content) ? at(source, content.offset) : -1;
            } catch (IOException | RuntimeException notThere) {
                refused.add(name);
                return -1;
            }
        }
    }

    /** Whether the bytes are there. They are looked at if anything has been done to the file since it was told of, or it is another one. */
    private boolean holds(int source, StatCache.Content content) throws IOException {
        Pack pack = pack(source);
        if (content.offset < 0 || content.size < 0 || content.offset >>> SHIFT != 0
                || content.size > pack.end() - content.offset - Sha256.LENGTH) {
            return false;
        }
        if (content.source.isSame(list.get(source).linked)) {
            return true;
        }
        MessageDigest digest = Sha256.digest();
        pack.copy(content.offset, content.size, null, digest);
        return Arrays.equals(digest.digest(), content.sha);
    }

    private int link(StatCache.Source told) throws IOException {
        String name = told.name;
        if (!isName(name) || list.size() > MAX || name.equals(own())) {
            throw new IOException("no such session");
        }
        Path from = directory.resolve(FROM);
        if (!directorySafe) {
            Store.makeDirectory(from);
            Pack.syncDirectory(directory);
            directorySafe = true;
        }
        Path link = from.resolve(name);
        if (!linkOriginal(link, name) && !linkOther(link, name)) {
            throw new IOException("its images are gone");
        }
        Pack pack = null;
        try {
            pack = openOwn(link);
            Pack.syncDirectory(from);
            StatCache.Source linked = look(name, link);
            int source = announce(FROM.concat("/").concat(name), name);
            list.get(source).linked = linked;
            list.get(source).pack = pack;
            return source;
        } catch (IOException | RuntimeException unusable) {
            if (pack != null) {
                pack.close();
            }
            Files.deleteIfExists(link);
            throw unusable;
        }
    }

    private boolean linkOriginal(Path link, String name) {
        return link(link, original(directory.getParent(), name));
    }

    /** The session that made it has been removed, but others may have kept it. */
    private boolean linkOther(Path link, String name) throws IOException {
        int asked = 0;
        try (DirectoryStream<Path> sessions = Files.newDirectoryStream(directory.getParent())) {
            for (Path session : sessions) {
                if (++asked > MAX_HOLDERS) {
                    return false;
                }
                if (!session.equals(directory) && link(link, session.resolve(FROM).resolve(name))) {
                    return true;
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return false;
    }

    private boolean link(Path link, Path file) {
        if (!Pack.exists(file)) {
            return false;
        }
        for (Path up = file.getParent(); !up.equals(directory.getParent()); up = up.getParent()) {
            if (!Files.isDirectory(up, LinkOption.NOFOLLOW_LINKS)) {
                return false;
            }
        }
        try {
            Files.createLink(link, file);
            return true;
        } catch (FileAlreadyExistsException ofAnEarlierProcess) {
            return true;
        } catch (IOException | UnsupportedOperationException no) {
            return false;
        }
    }

    /** The sources of {@code known}, which may be null, that nothing in {@code sessions} has a name for any more. */
    static Set<String> gone(Path sessions, StatCache known) throws IOException {
        Set<String> gone = new HashSet<>();
        StatCache.Source[] named = known == null ? new StatCache.Source[0] : known.sources();
        for (int i = 0; i < named.length; i++) {
            String name = named[i].name;
            if (!isName(name) || !Pack.exists(original(sessions, name))) {
                gone.add(name);
            }
        }
        if (gone.isEmpty()) {
            return gone;
        }
        try (DirectoryStream<Path> list = Files.newDirectoryStream(sessions)) {
            for (Path session : list) {
                String[] kept = session.resolve(FROM).toFile().list();
                for (int i = 0; kept != null && i < kept.length; i++) {
                    gone.remove(kept[i]);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return gone;
    }

    /** For reading; only a regular file of whom the session's own directory belongs to. */
    private Pack openOwn(Path file) throws IOException {
        long[] status = files.status(files.name(file));
        long[] ours = files.status(files.name(directory));
        if (status == null || ours == null || (status[HostFiles.MODE] & FileState.TYPE_BITS) != FileState.FILE_BITS
                || status[HostFiles.UID] != ours[HostFiles.UID]) {
            throw new IOException(file + " is not klock's");
        }
        return Pack.openToRead(file);
    }

    /**
     * Whether a file of {@code size} bytes is cloned: it is large, and on the same file system as klock's home, which shares what is copied in
     * the kernel. The JDK asks for that from 20 on.
     */
    boolean isCloned(FileState file) {
        if (file.size < MIN_CLONE || Runtime.version().feature() < CLONES_FROM) {
            return false;
        }
        synchronized (this) {
            if (cloneableDev < 0) {
                cloneableDev = 0;
                try {
                    String type = FileSystemType.of(directory);
                    long[] status = files.status(files.name(directory));
                    cloneableDev = status != null && (type.equals("btrfs") || type.equals("xfs")) ? status[HostFiles.DEV] : 0;
                } catch (IOException | RuntimeException unknown) {
                    return false;
                }
            }
            return cloneableDev != 0 && file.dev == cloneableDev;
        }
    }

    /**
     * Clones a large file: what is in it is shared, not copied, and becomes safe with the clone's own fsync, before the pack says so. The hash
     * is the clone's, which nobody changes any more.
     *
     * @param source is asked, when it is cloned, whether it was all the while as it was looked at
     * @param sha receives the hash
     * @return the position of the content; -1 if it cannot be cloned, and has to be copied
     * @throws Pack.Unstable if it changed meanwhile
     */
    long clone(Path file, long size, Stability source, byte[] sha) throws IOException {
        Path clone = null;
        boolean interrupted = Thread.interrupted();
        boolean kept = false;
        try {
            synchronized (this) {
                if (list.size() > MAX || closed) {
                    return -1;
                }
                if (!blobsSafe) {
                    Store.makeDirectory(directory.resolve(BLOB));
                    Pack.syncDirectory(directory);
                    blobsSafe = true;
                }
                do {
                    clone = directory.resolve(BLOB).resolve(Integer.toString(++clones));
                } while (Files.exists(clone, LinkOption.NOFOLLOW_LINKS));
                if (!isName(own().concat("~").concat(Integer.toString(clones)))) {
                    clone = null;
                    return -1;
                }
            }
            share(file, size, clone, source, sha);
            Pack.syncDirectory(clone.getParent());
            synchronized (this) {
                String number = clone.getFileName().toString();
                int index = announce(BLOB.concat("/").concat(number), own().concat("~").concat(number));
                kept = true;
                return at(index, 0);
            }
        } catch (Pack.Unstable changed) {
            throw changed;
        } catch (ClosedChannelException byAnInterrupt) {
            interrupted |= Thread.interrupted();
            return -1;
        } catch (IOException | RuntimeException cannot) {
            return -1;
        } finally {
            if (clone != null && !kept) {
                Files.deleteIfExists(clone);
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Told after a file was copied. */
    interface Stability {
        /** @throws Pack.Unstable if it is not as it was */
        void check() throws IOException;
    }

    private static void share(Path file, long size, Path clone, Stability source, byte[] sha) throws IOException {
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
                FileChannel out = FileChannel.open(clone, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            for (long done = 0; done < size; ) {
                long n = in.transferTo(done, size - done, out);
                if (n <= 0) {
                    throw new Pack.Unstable("it became shorter");
                }
                done += n;
            }
            source.check();
            MessageDigest digest = Sha256.digest();
            ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
            for (long at = 0; at < size; ) {
                chunk.clear().limit((int) Math.min(chunk.capacity(), size - at));
                int n = out.read(chunk, at);
                if (n <= 0) {
                    throw new IOException("the clone is shorter than the file");
                }
                digest.update(chunk.array(), 0, n);
                at += n;
            }
            System.arraycopy(digest.digest(), 0, sha, 0, Sha256.LENGTH);
            ByteBuffer end = ByteBuffer.wrap(sha);
            for (long at = size; end.hasRemaining(); ) {
                at += out.write(end, at);
            }
            out.force(true);
        }
    }

    /** Takes up a file and writes down that it is used. */
    private int announce(String file, String name) throws IOException {
        int source = list.size();
        byte[] bytes = file.getBytes(StandardCharsets.US_ASCII);
        backups.append(Backups.SOURCE, Backups.named(bytes, Integer.BYTES).putInt(source).array());
        Source added = new Source(file, name);
        added.seen = look(name, directory.resolve(file));
        add(added);
        return source;
    }

    /** From here on {@link #altered} tells of what is done to the files. */
    void note() throws IOException {
        synchronized (this) {
            for (int i = 1; i < list.size(); i++) {
                Source s = list.get(i);
                s.seen = s.file == null ? null : look(s.name, directory.resolve(s.file));
            }
        }
    }

    /** The numbers of the files that are others, or other files, than when they were noted; told once. Another name is no change. */
    List<Integer> altered() {
        List<Integer> altered = new ArrayList<>();
        synchronized (this) {
            for (int i = 1; i < list.size(); i++) {
                Source s = list.get(i);
                if (s.seen == null) {
                    continue;
                }
                StatCache.Source now = null;
                try {
                    now = look(s.name, directory.resolve(s.file));
                } catch (IOException shut) {
                    now = null;
                }
                if (!s.seen.isSame(now)) {
                    altered.add(i);
                    s.seen = now;
                    s.linked = null;
                    s.open = s.open == null ? s.pack : s.open;
                    s.pack = null;
                }
            }
        }
        return altered;
    }

    /** Has the file back that was open under this number before it was {@linkplain #altered}; false if it was not, or cannot be had. */
    boolean putBack(int source) {
        synchronized (this) {
            Source s = list.get(source);
            Pack open = s.open;
            s.open = null;
            if (open == null) {
                return false;
            }
            Path file = directory.resolve(s.file);
            Path draft = directory.resolve("source-again");
            try {
                Files.deleteIfExists(draft);
                try (OutputStream out = Files.newOutputStream(draft, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                    Files.setPosixFilePermissions(draft, PosixFilePermissions.fromString("rw-------"));
                    open.copy(0, open.end(), out, null);
                }
                try (FileChannel written = FileChannel.open(draft, StandardOpenOption.WRITE)) {
                    written.force(true);
                }
                Store.makeDirectory(file.getParent());
                Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
                Pack.syncDirectory(file.getParent());
                if (s.pack != null) {
                    s.pack.close();
                }
                s.pack = null;
                s.seen = look(s.name, file);
                return true;
            } catch (IOException cannot) {
                return false;
            }
        }
    }

    /** Writes down once more which files are used. */
    void writeAll() throws IOException {
        synchronized (this) {
            for (int i = 1; i < list.size(); i++) {
                if (list.get(i).file != null) {
                    byte[] bytes = list.get(i).file.getBytes(StandardCharsets.US_ASCII);
                    backups.append(Backups.SOURCE, Backups.named(bytes, Integer.BYTES).putInt(i).array());
                }
            }
        }
    }

    private void add(Source source) {
        if (source.name != null) {
            byName.put(source.name, list.size());
        }
        list.add(source);
    }

    /** Of a record: {@code file} is used as number {@code source}. */
    void replayed(String file, int source) {
        synchronized (this) {
            String name = null;
            if (file.startsWith(FROM.concat("/"))) {
                name = file.substring(FROM.length() + 1);
            } else if (file.startsWith(BLOB.concat("/"))) {
                name = own().concat("~").concat(file.substring(BLOB.length() + 1));
            }
            while (list.size() < source && source <= MAX) {
                // its record could not be read
                add(new Source(null, null));
            }
            if (source == list.size() && source <= MAX) {
                add(name != null && isName(name) ? new Source(file, name) : new Source(null, null));
            }
        }
    }

    /** Whether a record has named the file of the position. */
    boolean isKnown(long contentAt) {
        synchronized (this) {
            int source = (int) (contentAt >>> SHIFT);
            return source == 0 || source < list.size() && list.get(source).file != null;
        }
    }

    /** The path of the file that holds what is at a position, of which {@link #isKnown} is true. */
    Path file(long contentAt) {
        return file(source(contentAt));
    }

    Path file(int source) {
        synchronized (this) {
            return source == 0 ? directory.resolve("pack") : directory.resolve(list.get(source).file);
        }
    }

    /** Whether a file can hold {@code size} bytes and their hash at a position: it is there, and long enough. */
    boolean reaches(long contentAt, long size) {
        synchronized (this) {
            try {
                return offset(contentAt) + size + Sha256.LENGTH <= pack((int) (contentAt >>> SHIFT)).end();
            } catch (IOException gone) {
                return false;
            }
        }
    }

    private Pack pack(int source) throws IOException {
        Source s = list.get(source);
        if (s.pack == null) {
            if (closed || s.file == null) {
                throw new IOException("it is not known where the image is");
            }
            s.pack = openOwn(directory.resolve(s.file));
        }
        return s.pack;
    }

    /** {@link Pack#copy} from another file than the session's own pack. */
    void copy(long contentAt, long length, OutputStream out, MessageDigest digest) throws IOException {
        Pack from;
        synchronized (this) {
            from = pack((int) (contentAt >>> SHIFT));
        }
        from.copy(offset(contentAt), length, out, digest);
    }

    void close() throws IOException {
        synchronized (this) {
            closed = true;
            for (int i = 1; i < list.size(); i++) {
                if (list.get(i).pack != null) {
                    list.get(i).pack.close();
                }
                if (list.get(i).open != null) {
                    list.get(i).open.close();
                }
            }
        }
    }
}
