package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Names by way of the public API; good for names that are UTF-8. */
class TestFiles implements HostFiles {
    private final AtomicInteger next = new AtomicInteger(1_000_000);
    private final Map<Integer, RandomAccessFile> open = new ConcurrentHashMap<>();
    private final Map<Integer, byte[]> names = new ConcurrentHashMap<>();

    @Override
    public Path path(byte[] name) {
        return Path.of(new String(name, StandardCharsets.UTF_8));
    }

    @Override
    public byte[] name(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] readLink(byte[] name) {
        try {
            return name(Files.readSymbolicLink(path(name)));
        } catch (IOException | UnsupportedOperationException e) {
            return null;
        }
    }

    @Override
    public int mode(byte[] name) {
        try {
            return (Integer) Files.getAttribute(path(name), "unix:mode", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public int open(byte[] name) {
        try {
            RandomAccessFile file = new RandomAccessFile(path(name).toFile(), "r");
            int fd = next.incrementAndGet();
            open.put(fd, file);
            names.put(fd, name);
            return fd;
        } catch (IOException e) {
            return -1;
        }
    }

    @Override
    public long[] status(int fd) {
        try {
            return names.containsKey(fd) ? status(names.get(fd)) : null;
        } catch (IOException e) {
            return null;
        }
    }

    @Override
    public int read(int fd, byte[] target, int length) throws IOException {
        int done = 0;
        for (int n = 0; n >= 0 && done < length; done += Math.max(n, 0)) {
            n = open.get(fd).read(target, done, length - done);
        }
        return done;
    }

    @Override
    public void close(int fd) {
        names.remove(fd);
        try {
            open.remove(fd).close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** FIFOs only. */
    @Override
    public void makeSpecial(byte[] name, int mode, long rdev) throws IOException {
        if ((mode & FileState.TYPE_BITS) != FileState.FIFO_BITS) {
            throw new IOException("nothing but FIFOs can be made here");
        }
        try {
            Process made = new ProcessBuilder("mkfifo", path(name).toString()).inheritIO().start();
            if (made.waitFor() != 0) {
                throw new IOException("mkfifo: exit " + made.exitValue());
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        Files.setAttribute(path(name), "unix:mode", mode & 07777);
    }

    /** The public API opens what it gives times to, and would wait for somebody to write into a FIFO. */
    @Override
    public void setTimes(byte[] name, long accessedNs, long modifiedNs) throws IOException {
        if ((mode(name) & FileState.TYPE_BITS) == FileState.FIFO_BITS) {
            String[] touch = {"touch", "-h", "-m", "-d", "@" + modifiedNs / 1_000_000_000 + "." + String.format("%09d", modifiedNs % 1_000_000_000),
                path(name).toString()};
            try {
                if (new ProcessBuilder(touch).inheritIO().start().waitFor() != 0) {
                    throw new IOException("touch failed");
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            return;
        }
        HostFiles.super.setTimes(name, accessedNs, modifiedNs);
    }

    @Override
    public byte[] workingDirectory() {
        return name(Path.of("").toAbsolutePath());
    }
}
