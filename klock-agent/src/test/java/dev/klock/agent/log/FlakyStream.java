package dev.klock.agent.log;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;

/** A file on a disk that is full at times: then half of each write arrives. */
final class FlakyStream extends FileOutputStream {
    boolean full;

    FlakyStream(File file) throws IOException {
        super(file, true);
    }

    @Override
    public void write(byte[] bytes) throws IOException {
        if (full) {
            super.write(bytes, 0, bytes.length / 2);
            throw new IOException("No space left on device");
        }
        super.write(bytes);
    }
}
