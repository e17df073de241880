package dev.klock.agent.backup;

import dev.klock.agent.backup.Backups.State;
import dev.klock.bridge.HostFiles;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The directories of a home's sessions, {@code <home>/backups/<session>/}: their names, who holds them, which are marked as running, and
 * which have been kept long enough. What is in one is {@link Backups}' matter. Stateless but for what this process holds; thread-safe.
 */
public final class Store {

    /** Session directories this process holds: probing their locks would release them (POSIX locks die with any close). */
    private static final Set<String> HELD = ConcurrentHashMap.newKeySet();

    /** In a session's directory: under which leases it acts. */
    private static final String LEASES = "leases";
    /** In a session's directory: that it has lost some of them while it ran. */
    private static final String LOST = "lost-leases";

    private Store() {
    }

    /** Some process has the session: it runs, or is being recovered. */
    public static final class InUse extends IOException {
        private static final long serialVersionUID = 1;

        InUse(String message) {
            super(message);
        }
    }

    /** A session's directory, held by this process: nobody else can open it. Closing it lets it go. */
    static final class Hold implements Closeable {
        /** Another one after {@link #again}. */
        volatile FileChannel lock;
        private final String key;

        private Hold(FileChannel lock, String key) {
            this.lock = lock;
            this.key = key;
        }

        /** Another file, or none, is where the lock's was: locks the one that is there, for whoever asks next whether the session lives. */
        void again(Path directory) throws IOException {
            FileChannel before = lock;
            lock = locked(directory.getFileName().toString(), directory);
            before.close();
        }

        @Override
        public void close() throws IOException {
            try {
                lock.close();
            } finally {
                HELD.remove(key);
            }
        }
    }

    /** @throws InUse if this process or another one has it */
    static Hold hold(String sessionId, Path directory) throws IOException {
        String key = directory.toRealPath().toString();
        if (!HELD.add(key)) {
            throw new InUse("session " + sessionId + " is already open in this process");
        }
        try {
            return new Hold(locked(sessionId, directory), key);
        } catch (IOException | RuntimeException e) {
            HELD.remove(key);
            throw e;
        }
    }

    private static FileChannel locked(String sessionId, Path directory) throws IOException {
        FileChannel lock = FileChannel.open(directory.resolve("lock"),
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            if (lock.tryLock() == null) {
                throw new InUse("session " + sessionId + " is in use by another process");
            }
            return lock;
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    /** All sessions of this home, by name. Reads only the records' heads. */
    public static List<Session> sessions(Path home, HostFiles files) throws IOException {
        List<Session> found = new ArrayList<>();
        Path sessions = home.resolve("backups");
        if (!Files.isDirectory(sessions, LinkOption.NOFOLLOW_LINKS)) {
            return found;
        }
        List<Path> directories = new ArrayList<>();
        try (DirectoryStream<Path> list = Files.newDirectoryStream(sessions)) {
            for (Path p : list) {
                if (Files.isDirectory(p, LinkOption.NOFOLLOW_LINKS) && !p.getFileName().toString().startsWith(".")) {
                    directories.add(p);
                }
            }
        }
        Collections.sort(directories);
        for (Path p : directories) {
            Session session = session(home, p, files);
            if (session != null) {
                found.add(session);
            }
        }
        return measured(home, found);
    }

    /** One that cannot be read is listed as damaged, so that no other is taken for it; null if it was removed meanwhile. */
    private static Session session(Path home, Path directory, HostFiles files) {
        String id = sessionId(directory.getFileName().toString());
        boolean live = false;
        try {
            live = live(directory);
            try (Backups b = Backups.read(home, id, files)) {
                return b.summary(live);
            }
        } catch (IOException | RuntimeException unreadable) {
            if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                return null;
            }
            return new Session(id, isMarked(directory) ? State.OPEN : State.KEPT, live, 0, 0, begunAbout(directory), null, false, null,
                    "it cannot be read: " + Plan.reason(unreadable));
        }
    }

    /** When a session began at the latest: its lock is made first, and written to by each who holds it. In milliseconds since the epoch. */
    static long begunAbout(Path directory) {
        try {
            Path lock = directory.resolve("lock");
            return Files.getLastModifiedTime(Pack.exists(lock) ? lock : directory, LinkOption.NOFOLLOW_LINKS).toMillis();
        } catch (IOException removed) {
            return System.currentTimeMillis();
        }
    }

    private static boolean isMarked(Path directory) {
        return Files.exists(openSessions(directory.getParent()).resolve(directory.getFileName()), LinkOption.NOFOLLOW_LINKS);
    }

    /** The same with their bytes: what several have is the oldest one's. */
    private static List<Session> measured(Path home, List<Session> sessions) throws IOException {
        List<Session> oldestFirst = new ArrayList<>(sessions);
        oldestFirst.sort(Comparator.comparingLong(Session::startedMs));
        List<Session> measured = new ArrayList<>(sessions);
        Set<Object> counted = new HashSet<>();
        for (Session s : oldestFirst) {
            measured.set(sessions.indexOf(s), s.withBytes(bytes(directory(home, s.id), counted)));
        }
        return measured;
    }

    /**
     * One session of a home.
     *
     * @param live      some process holds it
     * @param touched   paths it changed
     * @param bytes     of all that is kept of it, and not for an older session already
     * @param startedMs when it first imaged something, since the epoch, about where its journal does not say; 0 if it never did
     * @param notBack   paths, for people, that its last rollback left as they were; null if none was carried out
     * @param halfUndone it has ended, and an undo of it was begun that has not come to its end
     * @param elsewhere the home that its images are of, if that is not this one; else null
     * @param damage    what is missing of its journal, for people; null if nothing is
     */
    public record Session(String id, State state, boolean live, int touched, long bytes, long startedMs, List<String> notBack,
            boolean halfUndone, String elsewhere, String damage) {
        Session withBytes(long count) {
            return new Session(id, state, live, touched, count, startedMs, notBack, halfUndone, elsewhere, damage);
        }

        /** The same of a session that is known, from elsewhere, to have begun then and to have lost something. */
        public Session damaged(String loss, long begunMs) {
            return new Session(id, state, live, touched, bytes, begunMs, notBack, halfUndone, elsewhere, loss);
        }

        /** Whether it ended without having said so, and is to be recovered here. */
        public boolean hasCrashed() {
            return state == State.OPEN && !live && elsewhere == null && (startedMs != 0 || damage != null);
        }
    }

    /** A home that was copied or moved: the images name files of the place where it was, and nothing of theirs is to be changed from here. */
    public static final class Elsewhere extends IOException {
        private static final long serialVersionUID = 1;

        Elsewhere(String sessionId, String was, String is) {
            super("session " + sessionId + " changed files where its home was, " + was + ", and " + is + " is a copy of that home, or it was moved here:"
                    + " nothing is compared or put back from here. Undo it from there (--home " + was + "), or move it back; "
                    + "forget it here with: java -jar klock.jar backups prune --older-than 0");
        }
    }

    /**
     * Removes sessions that are over: first those begun before {@code beforeMs}, then the oldest of the others until all together take at
     * most {@code maxBytes}. Never one that some process holds, nor one that crashed here and is not recovered yet, or is half undone.
     *
     * @return the removed ones, oldest first, each with the bytes that are free now: not those that other sessions refer to
     */
    public static List<Session> prune(Path home, long beforeMs, long maxBytes, HostFiles files) throws IOException {
        List<Session> all = sessions(home, files);
        all.sort(Comparator.comparingLong(Session::startedMs));
        long bytes = 0;
        for (Session s : all) {
            bytes += s.bytes;
        }
        try (DirectoryStream<Path> interrupted = Files.newDirectoryStream(home.resolve("backups"), ".pruned-*")) {
            for (Path p : interrupted) {
                erase(p);
            }
        } catch (NoSuchFileException none) {
            return new ArrayList<>();
        }
        List<Session> removed = new ArrayList<>();
        for (Session s : all) {
            if (s.live || s.hasCrashed() || s.halfUndone || s.startedMs >= beforeMs && bytes <= maxBytes) {
                continue;
            }
            long alone = bytesOfItsOwn(directory(home, s.id));
            if (remove(home, s.id)) {
                bytes -= alone;
                removed.add(s.withBytes(alone));
            }
        }
        if (!removed.isEmpty()) {
            forget(sessions(home), files);
        }
        return removed;
    }

    /** What is known of files whose images are gone is not kept longer than they were. */
    private static void forget(Path sessions, HostFiles files) throws IOException {
        Path known = sessions.resolve(StatCache.FILE);
        long[] status = files.status(files.name(sessions));
        if (status == null || !Pack.exists(known)) {
            return;
        }
        Settled settled = Settled.at(sessions.toRealPath(), status[HostFiles.DEV]);
        StatCache before = StatCache.read(known, status[HostFiles.UID], settled);
        Set<String> gone = Sources.gone(sessions, before);
        if (before == null || gone.size() == before.sources().length) {
            Files.deleteIfExists(known);
        } else if (!gone.isEmpty()) {
            StatCache.write(known, sessions.resolve(".known-draft"), new ArrayList<>(), before, gone, settled);
        }
    }

    private static boolean remove(Path home, String sessionId) throws IOException {
        Path directory = directory(home, sessionId);
        Path away = directory.resolveSibling(".pruned-" + directory.getFileName());
        Hold held;
        try {
            held = hold(sessionId, directory);
        } catch (IOException inUse) {
            return false;
        }
        try (held) {
            unmarkOpen(directory);
            Files.move(directory, away);
        }
        erase(away);
        return true;
    }

    private static void erase(Path tree) throws IOException {
        Files.walkFileTree(tree, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path d, IOException e) throws IOException {
                Files.delete(d);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    static Path sessions(Path home) throws IOException {
        Path sessions = home.resolve("backups");
        if (makeDirectory(sessions)) {
            Pack.syncDirectory(home);
            try {
                // the home may be as new
                Pack.syncDirectory(home.toAbsolutePath().getParent());
            } catch (AccessDeniedException unreadable) {
                // a directory that may not be read cannot be opened for fsync; the file system's own commit has to do
                return sessions;
            }
        }
        return sessions;
    }

    /**
     * Where sessions that have changed something and not ended are named, so that a start finds the crashed ones without looking through
     * all that ever were. A session id never becomes a name with a leading dot.
     */
    private static Path openSessions(Path sessions) {
        return sessions.resolve(".open");
    }

    /**
     * Durable before there is a pack, so that what is not marked has ended. In it, as eight bytes, how much of the pack is safe.
     *
     * @return the mark, open for writing
     */
    static RandomAccessFile markOpen(Path directory) throws IOException {
        Path open = openSessions(directory.getParent());
        if (makeDirectory(open)) {
            Pack.syncDirectory(directory.getParent());
        }
        Path mark = open.resolve(directory.getFileName());
        try {
            Files.createFile(mark, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException marked) {
            return new RandomAccessFile(mark.toFile(), "rw");
        }
        RandomAccessFile file = new RandomAccessFile(mark.toFile(), "rw");
        Pack.syncDirectory(open);
        return file;
    }

    static Path markOf(Path directory) {
        return openSessions(directory.getParent()).resolve(directory.getFileName());
    }

    /** How much of the session's pack was safe at least when its process was last heard of, in bytes; -1 if it is not marked as running. */
    static long safe(Path directory) throws IOException {
        try {
            byte[] mark = Files.readAllBytes(openSessions(directory.getParent()).resolve(directory.getFileName()));
            return mark.length == Long.BYTES ? ByteBuffer.wrap(mark).getLong() : 0;
        } catch (NoSuchFileException ended) {
            return -1;
        }
    }

    /** Whether the session's log has its last record, and that says that it was completed. Reads all of the log. */
    static boolean endedWell(Path home, String sessionId) throws IOException {
        String name = fileName(sessionId) + ".jsonl";
        File[] logs = home.resolve("log").toFile().listFiles((dir, other) -> other.equals(name) || other.startsWith(name + "."));
        for (int i = 0; logs != null && i < logs.length; i++) {
            if (!Files.isRegularFile(logs[i].toPath(), LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            try (BufferedReader lines = Files.newBufferedReader(logs[i].toPath(), StandardCharsets.ISO_8859_1)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    // not in anything that a program has a say in: there a quotation mark has a backslash before it
                    if (line.contains(",\"summary\":{\"end\":\"completed\"")) {
                        return true;
                    }
                }
            }
        }
        return false;
    }

    /** Bytes of all files in a session's directory that are not {@code counted} yet, which they are then. */
    private static long bytes(Path directory, Set<Object> counted) throws IOException {
        long[] sum = new long[1];
        Files.walkFileTree(directory, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) {
                sum[0] += counted.add(a.fileKey()) ? a.size() : 0;
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException gone) {
                return FileVisitResult.CONTINUE;
            }
        });
        return sum[0];
    }

    /** Bytes of the files that have no name outside of a session's directory. */
    private static long bytesOfItsOwn(Path directory) throws IOException {
        long[] sum = new long[1];
        Map<Object, Integer> names = new HashMap<>();
        Files.walkFileTree(directory, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
                int links = (Integer) Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
                sum[0] += names.merge(a.fileKey(), 1, Integer::sum) == links ? a.size() : 0;
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException gone) {
                return FileVisitResult.CONTINUE;
            }
        });
        return sum[0];
    }

    /** After the end is durable; a mark that stays only makes the next start look. */
    static void unmarkOpen(Path directory) {
        try {
            Files.deleteIfExists(openSessions(directory.getParent()).resolve(directory.getFileName()));
        } catch (IOException stays) {
            return;
        }
    }

    /** The sessions of {@code home} that are marked as running: live or crashed. Costs one listing, nothing where there are none. */
    static List<String> marked(Path home) {
        String[] names = openSessions(home.resolve("backups")).toFile().list();
        List<String> ids = new ArrayList<>();
        if (names != null) {
            Arrays.sort(names);
            for (String name : names) {
                ids.add(sessionId(name));
            }
        }
        return ids;
    }

    /**
     * Beside the images, under which leases they are made, for other processes: each as {@link #leases} gives it back. What is lost of it with the
     * machine nobody needs.
     */
    static void actsUnder(Path directory, List<String> leases) throws IOException {
        Files.write(directory.resolve(LEASES), leases, StandardCharsets.UTF_8);
    }

    /** The sessions of {@code home} that have changed something, or may, and that another process holds. */
    public static List<String> othersAtWork(Path home) throws IOException {
        List<String> others = new ArrayList<>();
        for (String id : marked(home)) {
            Path directory = directory(home, id);
            if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) && !HELD.contains(directory.toRealPath().toString()) && live(directory)) {
                others.add(id);
            }
        }
        return others;
    }

    /** Under which leases the session acts; empty where that is not known. */
    public static List<String> leases(Path home, String sessionId) throws IOException {
        try {
            return Files.readAllLines(directory(home, sessionId).resolve(LEASES), StandardCharsets.UTF_8);
        } catch (NoSuchFileException unknown) {
            return new ArrayList<>();
        }
    }

    /**
     * Durable before others change what it has changed: the session has lost leases that it acted under, so that nothing of it is put back if its
     * process ends without a word (C45).
     */
    public static void loseLeases(Path home, String sessionId) throws IOException {
        Path directory = directory(home, sessionId);
        try {
            Files.createFile(directory.resolve(LOST), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        } catch (FileAlreadyExistsException known) {
            // maybe a moment ago, by another process
            Pack.syncDirectory(directory);
            return;
        } catch (NoSuchFileException over) {
            return;
        }
        Pack.syncDirectory(directory);
    }

    /** Whether a file of that name, in a session's directory, tells nothing of whether it has imaged something. */
    static boolean isThereBeforeImages(String name) {
        return name.equals("lock") || name.equals(LEASES) || name.equals(LOST);
    }

    /** See {@link #loseLeases}. */
    static boolean hasLostLeases(Path directory) {
        return Files.exists(directory.resolve(LOST), LinkOption.NOFOLLOW_LINKS);
    }

    /** Where all that is kept of a session is; it need not be there. */
    public static Path directory(Path home, String sessionId) throws IOException {
        return home.resolve("backups").resolve(fileName(sessionId));
    }

    static Path mark(Path home, String sessionId) throws IOException {
        return openSessions(home.resolve("backups")).resolve(fileName(sessionId));
    }

    static boolean live(Path directory) throws IOException {
        if (HELD.contains(directory.toRealPath().toString())) {
            return true;
        }
        Path file = directory.resolve("lock");
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        // for reading, as the home's file system may be: a shared lock is refused as well while somebody holds the session
        try (FileChannel probe = FileChannel.open(file, StandardOpenOption.READ)) {
            FileLock got = probe.tryLock(0, Long.MAX_VALUE, true);
            return got == null;
        } catch (OverlappingFileLockException e) {
            return true;
        }
    }

    static boolean makeDirectory(Path directory) throws IOException {
        try {
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return true;
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                throw new NotDirectoryException(directory.toString());
            }
            return false;
        }
    }

    /** A session id as one safe file name: everything but {@code A-Z a-z 0-9 . _ -}, and a leading dot, is percent-encoded. */
    static String fileName(String sessionId) throws IOException {
        StringBuilder out = new StringBuilder();
        for (byte b : sessionId.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xff);
            boolean plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' && out.length() > 0;
            if (plain) {
                out.append(c);
            } else {
                out.append('%').append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            }
        }
        if (out.length() == 0 || out.length() > Name.MAX) {
            throw new IOException("a session id needs 1 to " + Name.MAX + " characters: " + sessionId);
        }
        return out.toString();
    }

    static String sessionId(String fileName) {
        byte[] out = new byte[fileName.length()];
        int n = 0;
        for (int i = 0; i < fileName.length(); i++) {
            char c = fileName.charAt(i);
            if (c == '%' && i + 2 < fileName.length()) {
                out[n++] = (byte) (Character.digit(fileName.charAt(i + 1), 16) << 4 | Character.digit(fileName.charAt(i + 2), 16));
                i += 2;
            } else {
                out[n++] = (byte) c;
            }
        }
        return new String(out, 0, n, StandardCharsets.UTF_8);
    }
}
