package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * The append-only file of one session: records, each with its own checksums.
 *
 * <pre>
 *   u32 mark 'KLKR' | u32 type | u32 length of head | u64 length of data | u32 CRC32C of (offset of this record, the fields before, head)
 *   head
 *   data, u32 CRC32C of data             (only when the length of data is not 0)
 * </pre>
 *
 * All numbers are big-endian. The offset is part of the checksum, so that a record inside a backed-up file (a pack inside an image, say)
 * is never mistaken for a record of this one. A record is valid from its last byte on; what a crash tore off is cut when the pack is
 * opened again. A damaged record in the middle is skipped: the next mark whose checksum fits goes on.
 *
 * <p>Bytes count as safe after {@link #sync}. Threads that sync at the same time share one fdatasync. After a failed fdatasync nobody
 * knows what is on disk, so the pack takes no more records (a second fdatasync would report success for pages the kernel has dropped).
 *
 * <p>An interrupt closes a FileChannel under its user, and first touches run on the program's threads: the channel is then opened
 * again, the step repeated (records are written at known positions, so repeating is harmless), and the interrupt handed on.
 *
 * <p>A child of the program may have been given the place that the pack lies in. While one is at work ({@link #watch}) the pack looks at its
 * file's inode, length and times around each of its own writes, and {@link #look} says what has come of it: what the kernel's times only
 * hint at, such as one more name by a session beside, is read and passed over; a pack that is not there as it was written is put back from
 * the file that is still open, and is another file from then on, which nobody else has open.
 *
 * <p>Locks: the pack's monitor guards the tail; {@code commit} guards the group commit and is never held together with it. Monitors,
 * not java.util.concurrent locks: whoever holds one is running or in a system call, never an unmounted virtual thread.
 */
final class Pack implements Closeable {
    static final int FIXED = 24;
    private static final int MARK = 0x4B4C4B52;
    /** Longest head accepted when reading: names and link texts are at most a few KiB, lists of directories stay below this. */
    private static final int MAX_HEAD = 1 << 26;
    private static final int BUFFER = 1 << 18;
    /** Zeros of this length are left out where they may be. */
    static final int SPARSE = 1 << 12;

    /** Called for each record, in order. */
    interface Reader {
        /**
         * One record. {@code dataAt} is the position of its data in the pack.
         *
         * @param intact false if the data's checksum is wrong
         */
        void record(int type, ByteBuffer head, long dataAt, long dataLength, boolean intact) throws IOException;
    }

    /** The source of a streamed record did not have the announced length. */
    static final class Unstable extends IOException {
        private static final long serialVersionUID = 1;

        Unstable(String message) {
            super(message);
        }
    }

    /** What has been done to a pack's file while a child was at work. */
    enum Found {
        /** Nothing that matters. */
        WHOLE,
        /** It was changed, replaced or removed; it is back, byte by byte. */
        PUT_BACK,
        /** Of what was written something is gone; what could be read is in the pack, at the same positions. */
        DAMAGED
    }

    private final Path file;
    private final boolean readOnly;
    private final Object commit = new Object();
    private FileChannel channel;
    private ByteBuffer buffer;
    /** Where the buffer's bytes go; only inside a record ahead of {@link #end}. */
    private long tail;
    /** Start of the first record of which something is in the buffer only; -1 if there is none. */
    private long deferred = -1;
    /** End of the last whole record: never goes back, so that what was durable stays so. */
    private volatile long end;
    private volatile long durable;
    private volatile IOException broken;
    private boolean syncing;
    /** Where {@link #durable} is written down beside the pack; null where it is not. Guarded by the one who syncs. */
    private volatile RandomAccessFile mark;
    /** Null while no child is at work. */
    private HostFiles watched;
    /** lstat of the pack's name after the last write of its own; null where there was nothing. */
    private long[] seen;
    /** The inode of the file that is open. */
    private long ino;
    /** Somebody else has been at the file, and what has come of it is not known yet. */
    private boolean suspect;
    /** The worst that was found since {@link #look} was asked. */
    private Found found = Found.WHOLE;
    /** Bytes that are no record lie between two that are. */
    private boolean holed;

    private Pack(Path file, boolean readOnly, FileChannel channel, long end) {
        this.file = file;
        this.readOnly = readOnly;
        this.channel = channel;
        this.tail = end;
        this.end = end;
        this.durable = end;
    }

    /** A new, empty pack, mode 0600, whose name is durable when this returns. */
    static Pack create(Path file) throws IOException {
        java.util.Set<StandardOpenOption> options = java.util.EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileChannel channel = FileChannel.open(file, options, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Pack pack = new Pack(file, false, channel, 0);
        syncDirectory(file.getParent());
        return pack;
    }

    /**
     * An existing pack, replayed into {@code reader}.
     *
     * @param readOnly leave a torn tail where it is, append nothing
     * @param deep     check the data's checksums too, not only the heads' (reads everything)
     */
    static Pack open(Path file, boolean readOnly, boolean deep, Reader reader) throws IOException {
        FileChannel channel = readOnly ? FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)
                : FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        try {
            Pack pack = new Pack(file, readOnly, channel, channel.size());
            pack.replay(deep, reader);
            return pack;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** A file of which nothing but bytes at known positions is wanted, as long as it is now. */
    static Pack openToRead(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        try {
            return new Pack(file, true, channel, channel.size());
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    static void syncDirectory(Path directory) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try (FileChannel c = FileChannel.open(directory, StandardOpenOption.READ)) {
                    c.force(true);
                    return;
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * From here on, what is safe is also written to {@code file}, as eight bytes and without waiting for the disk: never more than there is,
     * so that a pack that is shorter has been damaged. Closed with the pack.
     */
    void marks(RandomAccessFile file) {
        mark = file;
    }

    /** The file given to {@link #marks} was replaced by {@code file}. */
    void marksAgain(RandomAccessFile file) throws IOException {
        RandomAccessFile before = mark;
        mark = file;
        note(durable);
        if (before != null) {
            before.close();
        }
    }

    /** Whether it is written down beside the pack what is safe. */
    boolean isMarked() {
        return mark != null;
    }

    /** A child begins its work, which may be done on the pack. Costs two looks at the file for each write until {@link #unwatch}. */
    void watch(HostFiles files) throws IOException {
        synchronized (this) {
            if (watched == null) {
                flushDeferred();
                watched = files;
                seen = status();
                ino = seen == null ? 0 : seen[HostFiles.INO];
            }
        }
    }

    /** No child is at work any more, and {@link #look} was asked. */
    void unwatch() {
        synchronized (this) {
            watched = null;
        }
    }

    /**
     * What others have done to the file since {@link #watch}, or since this was asked before. One lstat, unless they have done something.
     *
     * @throws IOException if that, or the pack put back, cannot be had; then the pack takes no more records
     */
    Found look() throws IOException {
        synchronized (this) {
            if (watched != null && (suspect || !isAsSeen())) {
                flushDeferred();
                mend();
            }
            Found result = found;
            found = Found.WHOLE;
            return result;
        }
    }

    /**
     * Says by the file's time that the process is alive.
     *
     * @return what the kernel took for the time when it was said, in nanoseconds since the epoch: by the clock of the file system that the pack
     *         is on. {@link Long#MAX_VALUE} if that is not known, as it is while nobody {@linkplain #watch watches}
     */
    long touch(long nowMs) throws IOException {
        synchronized (this) {
            suspect |= watched != null && !isAsSeen();
            if (suspect) {
                return Long.MAX_VALUE;
            }
            Files.setLastModifiedTime(file, FileTime.fromMillis(nowMs));
            seen = watched == null ? null : status();
            return seen == null ? Long.MAX_VALUE : seen[HostFiles.CTIME];
        }
    }

    /** Null also where a child lets nobody look. */
    private long[] status() {
        try {
            return watched.status(watched.name(file));
        } catch (IOException shut) {
            return null;
        }
    }

    private boolean isAsSeen() {
        long[] now = status();
        if (now == null || seen == null) {
            return now == seen;
        }
        return now[HostFiles.INO] == seen[HostFiles.INO] && now[HostFiles.SIZE] == seen[HostFiles.SIZE]
                && now[HostFiles.CTIME] == seen[HostFiles.CTIME] && now[HostFiles.MTIME] == seen[HostFiles.MTIME];
    }

    /** Finds out what has come of the file, and has it back. Nothing is in the buffer. Holds the monitor. */
    private void mend() throws IOException {
        suspect = false;
        if (!Files.isDirectory(file.getParent(), LinkOption.NOFOLLOW_LINKS)) {
            // all is gone: what is open can still be read, and there is no place for another
            seen = null;
            return;
        }
        boolean interrupted = Thread.interrupted();
        try {
            long[] now = status();
            boolean isFile = exists(file);
            boolean whole = isWhole(channel());
            if (whole && isFile && now[HostFiles.INO] == ino) {
                if (now[HostFiles.SIZE] > end) {
                    channel().truncate(end);
                }
            } else if (!isFile || now[HostFiles.INO] == ino || !adopt(whole)) {
                putBack();
                found = whole && found != Found.DAMAGED ? Found.PUT_BACK : Found.DAMAGED;
            }
            seen = status();
            ino = seen == null ? 0 : seen[HostFiles.INO];
        } catch (IOException | RuntimeException e) {
            found = Found.DAMAGED;
            broken = new IOException("a child of the program has changed " + file + ", and it could not be put back: " + e.getMessage(), e);
            throw e;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Whether {@code of} holds every record that was written. */
    private boolean isWhole(FileChannel of) throws IOException {
        if (of.size() < end) {
            return false;
        }
        Pack reader = new Pack(file, true, of, end);
        ByteBuffer fixed = ByteBuffer.allocate(FIXED);
        long at = 0;
        while (at + FIXED <= end) {
            ByteBuffer head = reader.head(at, end, fixed);
            long dataLength = fixed.getLong(12);
            long dataAt = head == null ? 0 : at + FIXED + head.capacity();
            if (head == null || dataLength > 0 && (dataLength > end - dataAt - 4 || !reader.intact(dataAt, dataLength))) {
                return false;
            }
            at = dataAt + (dataLength == 0 ? 0 : dataLength + 4);
        }
        return at == end;
    }

    /**
     * Goes on with the other file that is at the name now, if it holds the same: tools that change files put a copy in their place, changed
     * or not.
     *
     * @param whole the file that is open holds every record, so that the other one has to hold the same bytes
     */
    private boolean adopt(boolean whole) throws IOException {
        FileChannel other = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        boolean adopted = false;
        try {
            if (isWhole(other) && (!whole || isSame(channel(), other))) {
                other.truncate(end);
                other.force(true);
                syncDirectory(file.getParent());
                goOnWith(other);
                adopted = true;
            }
            return adopted;
        } finally {
            if (!adopted) {
                other.close();
            }
        }
    }

    private boolean isSame(FileChannel a, FileChannel b) throws IOException {
        ByteBuffer one = ByteBuffer.allocate(BUFFER);
        ByteBuffer two = ByteBuffer.allocate(BUFFER);
        for (long at = 0; at < end; at += one.limit()) {
            readChunk(a, one, at);
            readChunk(b, two, at);
            if (!one.equals(two) || one.limit() == 0) {
                return false;
            }
        }
        return true;
    }

    /** As much as there is before {@link #end}. */
    private void readChunk(FileChannel from, ByteBuffer chunk, long at) throws IOException {
        chunk.clear().limit((int) Math.min(chunk.capacity(), end - at));
        while (chunk.hasRemaining() && from.read(chunk, at + chunk.position()) > 0) {
            continue;
        }
        chunk.flip();
    }

    /** A file of its own with what can still be read, each byte where it was, in the place of whatever is at the name. */
    private void putBack() throws IOException {
        Path draft = file.resolveSibling("pack-again");
        Files.deleteIfExists(draft);
        FileChannel fresh = FileChannel.open(draft, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        boolean placed = false;
        try {
            ByteBuffer chunk = ByteBuffer.allocate(BUFFER);
            long at = 0;
            for (boolean more = true; more && at < end; ) {
                readChunk(channel(), chunk, at);
                int n = chunk.limit();
                if (!isZero(chunk.array(), n)) {
                    for (long to = at; chunk.hasRemaining(); ) {
                        to += fresh.write(chunk, to);
                    }
                }
                at += n;
                more = n > 0;
            }
            if (fresh.size() < end) {
                fresh.write(ByteBuffer.allocate(1), end - 1);
            }
            fresh.force(true);
            if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                Files.move(file, file.resolveSibling("pack-by-a-child"), StandardCopyOption.ATOMIC_MOVE);
            }
            Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
            syncDirectory(file.getParent());
            goOnWith(fresh);
            placed = true;
        } finally {
            if (!placed) {
                fresh.close();
            }
        }
    }

    private void goOnWith(FileChannel other) throws IOException {
        FileChannel before;
        synchronized (commit) {
            before = channel;
            channel = other;
        }
        before.close();
    }

    /** When it was opened: whether something that cannot be read lay before its last record. */
    boolean isHoled() {
        return holed;
    }

    /** Position after the last record. */
    long end() {
        return end;
    }

    /** Everything before this position is safe. */
    long durable() {
        return durable;
    }

    /**
     * Appends one record whose data is in memory; it survives the death of the process when this returns, and power loss after
     * {@link #sync}. On an error the pack is as before.
     *
     * @return position of the data
     */
    long append(int type, byte[] head, byte[] data, int dataLength) throws IOException {
        return append(type, head, data, dataLength, false);
    }

    /**
     * {@link #append(int, byte[], byte[], int)}; with {@code later} it may stay in memory until {@link #flushDeferred}, {@link #sync} or
     * the next record that does not, so that many small ones share a system call. If they then cannot be written the pack takes no more.
     */
    long append(int type, byte[] head, byte[] data, int dataLength, boolean later) throws IOException {
        synchronized (this) {
            long start = begin();
            try {
                putHead(start, type, head, dataLength);
                if (dataLength > 0) {
                    CRC32C crc = new CRC32C();
                    crc.update(data, 0, dataLength);
                    put(data, 0, dataLength);
                    putInt((int) crc.getValue());
                }
                if (!later) {
                    flush();
                } else if (deferred < 0 && buffer.position() > 0) {
                    deferred = start;
                }
                end = tail + buffer.position();
                return start + FIXED + head.length;
            } catch (IOException | RuntimeException e) {
                cut(start, e);
                throw e;
            }
        }
    }

    /** Writes what {@link #append(int, byte[], byte[], int, boolean)} kept in memory; not yet durable. */
    void flushDeferred() throws IOException {
        synchronized (this) {
            if (deferred >= 0) {
                try {
                    flush();
                } catch (IOException | RuntimeException e) {
                    cut(deferred, e);
                    throw e;
                }
            }
        }
    }

    /**
     * Appends a record with {@code size} bytes of {@code in} followed by their SHA-256.
     *
     * @param sha receives the digest
     * @return position of the data
     * @throws Unstable if {@code in} has more or fewer bytes
     */
    long appendContent(int type, byte[] head, InputStream in, long size, byte[] sha) throws IOException {
        synchronized (this) {
            flushDeferred();
            long start = begin();
            try {
                putHead(start, type, head, size + Sha256.LENGTH);
                CRC32C crc = new CRC32C();
                MessageDigest digest = Sha256.digest();
                byte[] chunk = new byte[BUFFER];
                long left = size;
                while (left > 0) {
                    int n = in.read(chunk, 0, (int) Math.min(left, chunk.length));
                    if (n < 0) {
                        throw new Unstable("it became shorter");
                    }
                    crc.update(chunk, 0, n);
                    digest.update(chunk, 0, n);
                    if (n >= SPARSE && isZero(chunk, n)) {
                        // a hole reads as zeros, and what comes behind it is written in any case
                        flush();
                        tail += n;
                    } else {
                        put(chunk, 0, n);
                    }
                    left -= n;
                }
                if (in.read() >= 0) {
                    throw new Unstable("it became longer");
                }
                System.arraycopy(digest.digest(), 0, sha, 0, Sha256.LENGTH);
                crc.update(sha, 0, Sha256.LENGTH);
                put(sha, 0, Sha256.LENGTH);
                putInt((int) crc.getValue());
                flush();
                end = tail;
                return start + FIXED + head.length;
            } catch (IOException | RuntimeException e) {
                cut(start, e);
                throw e;
            }
        }
    }

    static boolean isZero(byte[] bytes, int length) {
        for (int i = 0; i < length; i++) {
            if (bytes[i] != 0) {
                return false;
            }
        }
        return true;
    }

    /** Returns once everything appended before {@code position} is safe. Uninterruptible. */
    void sync(long position) throws IOException {
        boolean interrupted = false;
        try {
            synchronized (commit) {
                while (true) {
                    if (durable >= position) {
                        return;
                    }
                    if (broken != null) {
                        throw new IOException("the backups' disk failed before: " + broken.getMessage(), broken);
                    }
                    if (!syncing) {
                        syncing = true;
                        break;
                    }
                    try {
                        commit.wait();
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                }
            }
            lead();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void lead() throws IOException {
        long target = 0;
        IOException failure = null;
        try {
            synchronized (this) {
                flushDeferred();
                if (suspect) {
                    // safe is only what is where it will be looked for
                    mend();
                }
                target = end;
            }
            force();
            note(target);
        } catch (IOException e) {
            failure = e;
        }
        synchronized (commit) {
            syncing = false;
            if (failure == null) {
                durable = target;
            } else if (broken == null) {
                broken = failure;
            }
            commit.notifyAll();
        }
        if (failure != null) {
            throw new IOException("the backups could not be made durable: " + failure.getMessage(), failure);
        }
    }

    private void note(long safe) {
        RandomAccessFile to = mark;
        if (to != null) {
            try {
                to.seek(0);
                to.write(ByteBuffer.allocate(Long.BYTES).putLong(safe).array());
            } catch (IOException unwritten) {
                // less is known to be safe than is: a pack that is damaged may be taken for one that a crash has cut
                mark = null;
            }
        }
    }

    private void force() throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                FileChannel c = channel();
                try {
                    c.force(false);
                    return;
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    reopen(c, e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Copies {@code length} bytes at {@code position} to {@code out} and, if not null, into {@code digest}. */
    void copy(long position, long length, OutputStream out, MessageDigest digest) throws IOException {
        flushDeferred();
        ByteBuffer chunk = ByteBuffer.allocate((int) Math.min(Math.max(length, 1), BUFFER));
        long at = position;
        long left = length;
        while (left > 0) {
            chunk.clear().limit((int) Math.min(left, chunk.capacity()));
            int n = readAt(chunk, at);
            if (n <= 0) {
                throw new IOException("the pack ends inside an image");
            }
            if (digest != null) {
                digest.update(chunk.array(), 0, n);
            }
            if (out != null) {
                out.write(chunk.array(), 0, n);
            }
            at += n;
            left -= n;
        }
    }

    /** The {@code length} bytes at {@code position}. */
    byte[] read(long position, int length) throws IOException {
        flushDeferred();
        byte[] bytes = new byte[length];
        readFully(ByteBuffer.wrap(bytes), position);
        return bytes;
    }

    @Override
    public void close() throws IOException {
        synchronized (this) {
            try {
                flushDeferred();
            } finally {
                if (broken == null) {
                    broken = new IOException("the session's backups are closed");
                }
                channel.close();
                if (mark != null) {
                    mark.close();
                }
            }
        }
    }

    private long begin() throws IOException {
        if (broken != null) {
            throw new IOException("the backups take no more images: " + broken.getMessage(), broken);
        }
        if (readOnly) {
            throw new IOException("this session was opened for reading");
        }
        if (buffer == null) {
            buffer = ByteBuffer.allocateDirect(BUFFER);
        }
        if (suspect) {
            flushDeferred();
            mend();
        }
        return end;
    }

    private void putHead(long start, int type, byte[] head, long dataLength) throws IOException {
        if (buffer.remaining() < FIXED) {
            flush();
        }
        buffer.putInt(MARK).putInt(type).putInt(head.length).putLong(dataLength).putInt(headCheck(start, type, head, dataLength));
        put(head, 0, head.length);
    }

    private static int headCheck(long start, int type, byte[] head, long dataLength) {
        CRC32C crc = new CRC32C();
        byte[] fields = new byte[24];
        ByteBuffer.wrap(fields).putLong(start).putInt(type).putInt(head.length).putLong(dataLength);
        crc.update(fields, 0, fields.length);
        crc.update(head, 0, head.length);
        return (int) crc.getValue();
    }

    private void putInt(int value) throws IOException {
        if (buffer.remaining() < 4) {
            flush();
        }
        buffer.putInt(value);
    }

    private void put(byte[] bytes, int from, int length) throws IOException {
        int at = from;
        int left = length;
        while (left > 0) {
            if (!buffer.hasRemaining()) {
                flush();
            }
            int n = Math.min(left, buffer.remaining());
            buffer.put(bytes, at, n);
            at += n;
            left -= n;
        }
    }

    private void flush() throws IOException {
        suspect |= watched != null && !isAsSeen();
        buffer.flip();
        boolean interrupted = Thread.interrupted();
        try {
            while (buffer.hasRemaining()) {
                FileChannel c = channel();
                int before = buffer.position();
                try {
                    tail += c.write(buffer, tail);
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    buffer.position(before);
                    reopen(c, e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        buffer.clear();
        deferred = -1;
        if (watched != null) {
            seen = status();
        }
    }

    /**
     * Takes back a record that could not be written whole. If others that their callers take for appended went with it, nothing can be
     * made durable any more: {@link #sync} says so to each of them.
     */
    private void cut(long start, Exception cause) {
        long from = deferred < 0 ? start : Math.min(start, deferred);
        if (deferred >= 0 && broken == null) {
            broken = cause instanceof IOException ? (IOException) cause : new IOException(cause);
        }
        deferred = -1;
        buffer.clear();
        tail = from;
        boolean interrupted = Thread.interrupted();
        try {
            channel().truncate(from);
        } catch (IOException e) {
            broken = e;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private FileChannel channel() {
        synchronized (commit) {
            return channel;
        }
    }

    /** Replaces a channel that an interrupt closed; {@code cause} is thrown on if the pack itself was closed. */
    private void reopen(FileChannel closed, ClosedChannelException cause) throws IOException {
        synchronized (commit) {
            if (broken != null) {
                throw cause;
            }
            if (channel == closed) {
                channel = readOnly ? FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)
                        : FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
            }
        }
    }

    private int readAt(ByteBuffer target, long position) throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                FileChannel c = channel();
                int before = target.position();
                try {
                    return c.read(target, position);
                } catch (ClosedChannelException e) {
                    interrupted |= Thread.interrupted();
                    target.position(before);
                    reopen(c, e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void replay(boolean deep, Reader reader) throws IOException {
        long size = end;
        long at = 0;
        long valid = 0;
        boolean skipped = false;
        ByteBuffer fixed = ByteBuffer.allocate(FIXED);
        while (at + FIXED <= size) {
            ByteBuffer head = head(at, size, fixed);
            if (head == null) {
                skipped = true;
                at = nextMark(at + 1, size);
                continue;
            }
            int type = fixed.getInt(4);
            long dataLength = fixed.getLong(12);
            long dataAt = at + FIXED + head.capacity();
            long next = dataAt + (dataLength == 0 ? 0 : dataLength + 4);
            if (next > size) {
                skipped = true;
                at = nextMark(at + 1, size);
                continue;
            }
            holed |= skipped;
            reader.record(type, head, dataAt, dataLength, !deep || dataLength == 0 || intact(dataAt, dataLength));
            at = next;
            valid = next;
        }
        if (!readOnly && valid < size) {
            channel.truncate(valid);
            channel.force(true);
        }
        tail = valid;
        end = valid;
        durable = valid;
    }

    /** The head of the record at {@code at}, null if there is no valid one. */
    private ByteBuffer head(long at, long size, ByteBuffer fixed) throws IOException {
        fixed.clear();
        readFully(fixed, at);
        int length = fixed.getInt(8);
        long dataLength = fixed.getLong(12);
        if (fixed.getInt(0) != MARK || length < 0 || length > MAX_HEAD || length > size - at - FIXED || dataLength < 0 || dataLength > size) {
            return null;
        }
        ByteBuffer head = ByteBuffer.allocate(length);
        readFully(head, at + FIXED);
        head.flip();
        return headCheck(at, fixed.getInt(4), head.array(), dataLength) == fixed.getInt(20) ? head : null;
    }

    private boolean intact(long dataAt, long dataLength) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer chunk = ByteBuffer.allocate((int) Math.min(dataLength, BUFFER));
        long left = dataLength;
        long at = dataAt;
        while (left > 0) {
            chunk.clear().limit((int) Math.min(left, chunk.capacity()));
            readFully(chunk, at);
            crc.update(chunk.array(), 0, chunk.limit());
            at += chunk.limit();
            left -= chunk.limit();
        }
        ByteBuffer sum = ByteBuffer.allocate(4);
        readFully(sum, at);
        return sum.getInt(0) == (int) crc.getValue();
    }

    private long nextMark(long from, long size) throws IOException {
        ByteBuffer chunk = ByteBuffer.allocate(BUFFER);
        long at = from;
        while (at + FIXED <= size) {
            chunk.clear().limit((int) Math.min(chunk.capacity(), size - at));
            readFully(chunk, at);
            int last = chunk.limit() - 4;
            for (int i = 0; i <= last; i++) {
                if (chunk.getInt(i) == MARK) {
                    return at + i;
                }
            }
            at += last + 1;
        }
        return size;
    }

    private void readFully(ByteBuffer target, long position) throws IOException {
        long at = position;
        while (target.hasRemaining()) {
            int n = readAt(target, at);
            if (n < 0) {
                throw new IOException("the pack became shorter while it was read");
            }
            at += n;
        }
    }

    static boolean exists(Path file) {
        return Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    }
}
