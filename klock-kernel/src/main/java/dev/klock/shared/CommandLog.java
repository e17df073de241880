package dev.klock.shared;

import java.io.Closeable;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * A file that processes append records to and read them from, all in the same order and without waiting for each other: the order is that of
 * the file system, which carries out one append after the other. Whoever is killed or stopped, in whatever moment, is in nobody's way.
 *
 * <pre>
 *   header ({@link LogHeader}), then records:
 *   u32 mark | u32 length of body | u32 CRC32C of (salt, body) | body: u64 writer | u64 number | u32 part | u32 parts | u64 time, ms | bytes
 * </pre>
 *
 * What is too long for one append is several records, the parts of one entry; its place is that of the last. An append that a kill or a full
 * disk cut short leaves bytes that are no record: readers pass over them, and over an entry of which parts are missing, all in the same way.
 *
 * <p>Nothing is synced: a log lives as long as the machine is up, and the page cache outlives every process.
 *
 * <p>Not thread-safe. Plain streams and not channels, which an interrupt of the program's thread would close.
 */
final class CommandLog implements Closeable {
    /** What one append holds at most: java.io writes that much by one call. */
    private static final int MAX_APPEND = 8000;
    private static final int MARK = 0x4B4C4B43;
    private static final int FIXED = 12;
    private static final int BODY = 32;
    private static final int PART = MAX_APPEND - FIXED - BODY;
    /** The longest entry: a manifest of the most triples with the longest paths is below it. */
    private static final int MAX_PARTS = (1 << 26) / PART;
    private static final int READ = 1 << 16;

    /** One entry in its place. */
    static final class Entry {
        final long writer;
        final long number;
        final long timeMs;
        final byte[] bytes;

        Entry(long writer, long number, long timeMs, byte[] bytes) {
            this.writer = writer;
            this.number = number;
            this.timeMs = timeMs;
            this.bytes = bytes;
        }
    }

    /** The parts so far of the entry that a writer is about to append. */
    private static final class Parts {
        final long number;
        final byte[][] parts;
        int next;

        Parts(long number, int count) {
            this.number = number;
            this.parts = new byte[count][];
        }

        byte[] joined() {
            int length = 0;
            for (byte[] p : parts) {
                length += p.length;
            }
            ByteBuffer all = ByteBuffer.allocate(length);
            for (byte[] p : parts) {
                all.put(p);
            }
            return all.array();
        }
    }

    private final File file;
    private final LogHeader header;
    private final FileOutputStream out;
    private final RandomAccessFile in;
    private final Map<Long, Parts> unfinished = new HashMap<>();
    /** What was read and not yet looked at: {@code buffer[from..to)}, which is at {@code at} in the file. */
    private byte[] buffer = new byte[READ];
    private int from;
    private int to;
    private long at;

    private CommandLog(File file, LogHeader header, FileOutputStream out, RandomAccessFile in) {
        this.file = file;
        this.header = header;
        this.out = out;
        this.in = in;
        this.at = header.length();
    }

    /** Opens an existing one, to be read from its first record on. */
    static CommandLog open(File file) throws IOException {
        RandomAccessFile in = new RandomAccessFile(file, "r");
        try {
            byte[] head = new byte[LogHeader.maxBytes()];
            int n = 0;
            for (int got = in.read(head, 0, head.length); got > 0; got = in.read(head, n, head.length - n)) {
                n += got;
            }
            LogHeader header = LogHeader.decode(head, n, file);
            // appends: each write goes to the end, wherever that is by then
            return new CommandLog(file, header, new FileOutputStream(file, true), in);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    LogHeader header() {
        return header;
    }

    File file() {
        return file;
    }

    /** Whether the file of that name has all that was read, and so is this one. */
    boolean isInPlace() {
        return file.length() >= at;
    }

    /** Bytes that it has by now. */
    long size() throws IOException {
        return in.length();
    }

    /**
     * Appends an entry. {@link #next} comes to it after all that was appended before.
     *
     * @param number unlike that of any other entry of {@code writer}
     * @throws IOException it could not be appended whole; nobody will ever read it then
     */
    void append(long writer, long number, long timeMs, byte[] bytes) throws IOException {
        int parts = Math.max(1, (bytes.length + PART - 1) / PART);
        if (parts > MAX_PARTS) {
            throw new IOException("an entry of " + bytes.length + " bytes is too long for " + file);
        }
        for (int i = 0; i < parts; i++) {
            int offset = i * PART;
            int length = Math.min(PART, bytes.length - offset);
            ByteBuffer record = ByteBuffer.allocate(FIXED + BODY + length);
            record.putInt(MARK).putInt(BODY + length).putInt(0).putLong(writer).putLong(number).putInt(i).putInt(parts).putLong(timeMs);
            record.put(bytes, offset, length);
            record.putInt(8, sum(record.array(), FIXED, BODY + length));
            out.write(record.array());
        }
    }

    /**
     * The next entry.
     *
     * @return null if there is none yet
     * @throws IOException the log cannot be read, or is shorter than it was
     */
    Entry next() throws IOException {
        while (true) {
            int length = record();
            if (length == 0) {
                return null;
            }
            if (length < 0) {
                skip();
                continue;
            }
            Entry e = part(ByteBuffer.wrap(buffer, from + FIXED, length));
            from += FIXED + length;
            if (e != null) {
                return e;
            }
        }
    }

    /** The length of the body of the record at {@code from}; 0 if it may not be all there yet, -1 if there is none and never will be. */
    private int record() throws IOException {
        if (!has(FIXED)) {
            return 0;
        }
        int length = length(from);
        if (length < 0 || has(FIXED + length)) {
            return length >= 0 && isRecord(from, length) ? length : -1;
        }
        // one append comes after the other: where one is to be seen behind it, this one will not go on
        return isFollowed() ? -1 : 0;
    }

    /** What the record at {@code i} says that its body is long; -1 if none begins there. */
    private int length(int i) {
        ByteBuffer head = ByteBuffer.wrap(buffer);
        int length = head.getInt(i) == MARK ? head.getInt(i + 4) : -1;
        return length < BODY || length > BODY + PART ? -1 : length;
    }

    private boolean isRecord(int i, int length) {
        return ByteBuffer.wrap(buffer).getInt(i + 8) == sum(buffer, i + FIXED, length);
    }

    private boolean isFollowed() {
        for (int i = from + 1; i + FIXED <= to; i++) {
            int length = length(i);
            if (length >= 0 && i + FIXED + length <= to && isRecord(i, length)) {
                return true;
            }
        }
        return false;
    }

    /** Goes on behind bytes that are no record: to the next mark, or to what may be the beginning of one. */
    private void skip() throws IOException {
        from++;
        while (has(Integer.BYTES)) {
            if (ByteBuffer.wrap(buffer).getInt(from) == MARK) {
                return;
            }
            from++;
        }
    }

    /** What a record adds: the whole entry if it is the last part of one whose others were there, else null. */
    private Entry part(ByteBuffer body) {
        long writer = body.getLong();
        long number = body.getLong();
        int part = body.getInt();
        int parts = body.getInt();
        long timeMs = body.getLong();
        byte[] bytes = new byte[body.remaining()];
        body.get(bytes);
        if (part == 0 && parts == 1) {
            unfinished.remove(writer);
            return new Entry(writer, number, timeMs, bytes);
        }
        Parts so = unfinished.get(writer);
        if (part == 0 && parts > 0 && parts <= MAX_PARTS) {
            so = new Parts(number, parts);
            unfinished.put(writer, so);
        }
        if (so == null || so.number != number || so.next != part || so.parts.length != parts) {
            unfinished.remove(writer);
            return null;
        }
        so.parts[so.next++] = bytes;
        if (so.next < parts) {
            return null;
        }
        unfinished.remove(writer);
        return new Entry(writer, number, timeMs, so.joined());
    }

    /** Whether there are so many bytes from {@code from} on, after reading what there is. */
    private boolean has(int bytes) throws IOException {
        if (to - from >= bytes) {
            return true;
        }
        if (from > 0) {
            System.arraycopy(buffer, from, buffer, 0, to - from);
            to -= from;
            from = 0;
        }
        if (in.length() < at) {
            throw new IOException(file + " is shorter than it was: somebody else than klock has changed it");
        }
        in.seek(at);
        for (int got = in.read(buffer, to, buffer.length - to); got > 0; got = in.read(buffer, to, buffer.length - to)) {
            to += got;
            at += got;
        }
        return to - from >= bytes;
    }

    private int sum(byte[] bytes, int offset, int length) {
        CRC32C sum = new CRC32C();
        byte[] salt = ByteBuffer.allocate(Long.BYTES).putLong(header.salt()).array();
        sum.update(salt, 0, salt.length);
        sum.update(bytes, offset, length);
        return (int) sum.getValue();
    }

    @Override
    public void close() throws IOException {
        try {
            in.close();
        } finally {
            out.close();
        }
    }
}
