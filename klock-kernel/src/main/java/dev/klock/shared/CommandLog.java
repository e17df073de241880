package dev.klock.shared;

import java.io.Closeable;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * A file that processes append records to and read them from, all in the same order and without waiting for each other: the order is that of
 * the file system, which carries out one append after the other. Whoever is killed or stopped, in whatever moment, is in nobody's way.
 *
 * <pre>
 *   header ({@link LogHeader}), then records:
 *   u32 mark | u16 length of body | u16 the same, each bit turned over | u32 CRC32C of (salt, body) | body: u64 writer | u64 number | u32 part | u32 parts | u64 time, ms | bytes
 * </pre>
 *
 * What is too long for one append is several records, the parts of one entry; its place is that of the last. An append that a kill or a full
 * disk cut short leaves the beginning of a record, with the next record right behind: readers pass over it, and over an entry of which parts are
 * missing, all in the same way. Whatever else is no record was changed by somebody else: what it was nobody knows, and nobody goes on.
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
    /** Where the last record that was read is, and its first bytes; 0 if none was. */
    private long lastAt;
    private final byte[] last = new byte[FIXED];

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
            // appends: each write goes to the end, wherever that is by then
            return new CommandLog(file, header(in, file), new FileOutputStream(file, true), in);
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }

    private static LogHeader header(RandomAccessFile in, File file) throws IOException {
        byte[] head = new byte[LogHeader.maxBytes()];
        int n = 0;
        for (int got = in.read(head, 0, head.length); got > 0; got = in.read(head, n, head.length - n)) {
            n += got;
        }
        return LogHeader.decode(head, n, file);
    }

    LogHeader header() {
        return header;
    }

    File file() {
        return file;
    }

    /** Whether the file of that name has all that was read, and so is this one, unless somebody has begun another that is as long by now. */
    boolean isInPlace() {
        return file.length() >= at;
    }

    /** Whether the file of that name begins as this one does, and has the record that was read last where it was. Opens it. */
    boolean isSame() {
        try (RandomAccessFile there = new RandomAccessFile(file, "r")) {
            if (header(there, file).salt() != header.salt()) {
                return false;
            }
            byte[] now = last.clone();
            if (lastAt > 0) {
                there.seek(lastAt);
                there.readFully(now);
            }
            return Arrays.equals(now, last);
        } catch (FileNotFoundException unopened) {
            // maybe only since the program has no descriptor left: that tells nothing of the file
            return file.isFile();
        } catch (IOException another) {
            return false;
        }
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
            record.putInt(MARK).putInt(coded(BODY + length)).putInt(0).putLong(writer).putLong(number).putInt(i).putInt(parts).putLong(timeMs);
            record.put(bytes, offset, length);
            record.putInt(8, sum(record.array(), FIXED, BODY + length));
            out.write(record.array());
        }
    }

    /**
     * The next entry.
     *
     * @return null if there is none yet
     * @throws IOException the log cannot be read, is shorter than it was, or damaged
     */
    Entry next() throws IOException {
        while (true) {
            int length = record();
            if (length == 0) {
                return null;
            }
            lastAt = at - to + from;
            System.arraycopy(buffer, from, last, 0, FIXED);
            Entry e = part(ByteBuffer.wrap(buffer, from + FIXED, length));
            from += FIXED + length;
            if (e != null) {
                return e;
            }
        }
    }

    /** The length of the body of the record at {@code from}, behind what was cut short; 0 if it may not be all there yet. */
    private int record() throws IOException {
        while (has(FIXED)) {
            int length = length(from);
            boolean whole = length >= 0 && has(FIXED + length);
            if (whole && isRecord(from, length)) {
                return length;
            }
            // what decides is within two records
            has(2 * MAX_APPEND);
            if (length >= 0 && !whole && !isFollowed()) {
                return 0;
            }
            // one append comes after the other: where one is to be seen behind it, this one will not go on
            int next = next(from + 1);
            if (!isCutShort(next < 0 ? to : next, length)) {
                throw new IOException(file + " is damaged at byte " + (at - to + from) + ": somebody else than klock has changed it" + LogHeader.REMOVE);
            }
            if (!isFollowed()) {
                return 0;
            }
            from = next;
        }
        return 0;
    }

    /** Whether what is between {@code from} and {@code end} can be the beginning of a record whose body was to be {@code length} long. */
    private boolean isCutShort(int end, int length) {
        int left = end - from;
        for (int i = 0; i < Math.min(left, Integer.BYTES); i++) {
            if (buffer[from + i] != (byte) (MARK >>> 8 * (Integer.BYTES - 1 - i))) {
                return false;
            }
        }
        return left < 2 * Integer.BYTES || length >= 0 && left < FIXED + length;
    }

    /** The length of a record's body with what tells that it is one. */
    private static int coded(int length) {
        return length << Short.SIZE | ~length & 0xFFFF;
    }

    /** What the record at {@code i} says that its body is long; -1 if none begins there. */
    private int length(int i) {
        ByteBuffer head = ByteBuffer.wrap(buffer);
        int length = head.getInt(i) == MARK ? head.getInt(i + 4) >>> Short.SIZE : -1;
        return length < BODY || length > BODY + PART || head.getInt(i + 4) != coded(length) ? -1 : length;
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

    /** Where the next record seems to begin, at {@code first} or later; -1 if none is to be seen. */
    private int next(int first) {
        ByteBuffer bytes = ByteBuffer.wrap(buffer);
        for (int i = first; i + Integer.BYTES <= to; i++) {
            if (bytes.getInt(i) == MARK && (i + 2 * Integer.BYTES > to || length(i) >= 0)) {
                return i;
            }
        }
        return -1;
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
