package dev.klock.shared;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * The beginning of a log: what all kernels that carry it out have to have in common. Immutable.
 *
 * <pre>
 *   8 bytes 'KLOCKLOG' | u32 format | u32 length of what follows | salt, kernel id, first fencing token, start times, version | u32 CRC32C of all before
 * </pre>
 *
 * @param salt part of every record's checksum, so that nobody who has only a say in what records hold can make one
 * @param kernelId of {@link dev.klock.kernel.KernelOptions}
 * @param firstFencingToken the first lease's number
 * @param startMs where the kernel's clock starts, milliseconds since 1970
 * @param startNanos the machine's monotonic clock at that moment
 * @param startUptimeMs how long the machine had been up at that moment, time asleep included
 * @param version of the klock that made the log: another one might carry out the same commands differently
 */
record LogHeader(long salt, String kernelId, long firstFencingToken, long startMs, long startNanos, long startUptimeMs, String version) {
    private static final byte[] MARK = "KLOCKLOG".getBytes(StandardCharsets.US_ASCII);
    private static final int FORMAT = 2;
    private static final int FIXED = 16;
    private static final int MAX_BYTES = 4096;
    /** What to do about a log that nobody can go by any more. */
    static final String REMOVE = "; where nothing of this home runs any more, remove it";

    byte[] encode() {
        byte[] id = kernelId.getBytes(StandardCharsets.UTF_8);
        byte[] of = version.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(FIXED + 5 * Long.BYTES + 2 * Integer.BYTES + id.length + of.length + Integer.BYTES);
        out.put(MARK).putInt(FORMAT).putInt(out.capacity() - FIXED);
        out.putLong(salt).putLong(firstFencingToken).putLong(startMs).putLong(startNanos).putLong(startUptimeMs);
        out.putInt(id.length).put(id).putInt(of.length).put(of);
        out.putInt(sum(out.array(), out.position()));
        return out.array();
    }

    /**
     * Reads one from the beginning of {@code bytes}, of which {@code length} count.
     *
     * @param file for the message
     * @throws IOException it is none, or another format's, or damaged
     */
    static LogHeader decode(byte[] bytes, int length, Object file) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(bytes, 0, length);
        try {
            byte[] mark = new byte[MARK.length];
            in.get(mark);
            int format = in.getInt();
            int size = in.getInt();
            if (!java.util.Arrays.equals(mark, MARK)) {
                throw new IOException(file + " is no kernel log" + REMOVE);
            }
            if (format != FORMAT) {
                throw new IOException(file + " is a kernel log of format " + format + ", and this klock reads " + FORMAT + ": another version of klock is at work, or was" + REMOVE);
            }
            if (size < 0 || FIXED + size > length || bytes.length < FIXED + size
                    || ByteBuffer.wrap(bytes).getInt(FIXED + size - Integer.BYTES) != sum(bytes, FIXED + size - Integer.BYTES)) {
                throw new IOException(file + " is damaged at its beginning" + REMOVE);
            }
            long salt = in.getLong();
            long token = in.getLong();
            long startMs = in.getLong();
            long startNanos = in.getLong();
            long uptimeMs = in.getLong();
            return new LogHeader(salt, text(in), token, startMs, startNanos, uptimeMs, text(in));
        } catch (RuntimeException e) {
            throw new IOException(file + " is damaged at its beginning" + REMOVE, e);
        }
    }

    private static String text(ByteBuffer in) {
        byte[] bytes = new byte[in.getInt()];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** How many bytes {@link #encode} makes of it. */
    int length() {
        return encode().length;
    }

    /** So many bytes are enough to read any. */
    static int maxBytes() {
        return MAX_BYTES;
    }

    private static int sum(byte[] bytes, int length) {
        CRC32C sum = new CRC32C();
        sum.update(bytes, 0, length);
        return (int) sum.getValue();
    }
}
