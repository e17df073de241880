package dev.klock.agent.backup;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;

/**
 * Writes a new file and leaves out blocks of zeros, so that sparse files come back sparse (the JDK tells neither where holes are nor how
 * many blocks a file has). {@link #finish} gives it its length.
 */
final class SparseOutput extends OutputStream {
    private static final long LARGEST_BLOCK = 1 << 16;
    private static final byte[] ZEROS = new byte[Pack.SPARSE];

    private final FileChannel channel;
    private long at;

    SparseOutput(FileChannel channel) {
        this.channel = channel;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        int start = from;
        int end = from + length;
        int i = from;
        while (i < end) {
            // blocks as the file system has them, not as they come
            int next = Math.min(end, i + (int) (Pack.SPARSE - (at + i - from) % Pack.SPARSE));
            // the part of a block, too: nothing was written there, so zeros it holds already
            if (Arrays.equals(bytes, i, next, ZEROS, 0, next - i)) {
                put(bytes, start, i, from);
                start = next;
            }
            i = next;
        }
        put(bytes, start, end, from);
        at += length;
    }

    private void put(byte[] bytes, int start, int end, int from) throws IOException {
        ByteBuffer part = ByteBuffer.wrap(bytes, start, end - start);
        long position = at + start - from;
        while (part.hasRemaining()) {
            position += channel.write(part, position);
        }
    }

    /** Makes holes at the end count. */
    void finish() throws IOException {
        if (channel.size() < at) {
            // behind the last block, which else would be there
            channel.write(ByteBuffer.wrap(new byte[1]), (at + LARGEST_BLOCK - 1) / LARGEST_BLOCK * LARGEST_BLOCK);
            channel.truncate(at);
        }
    }
}
