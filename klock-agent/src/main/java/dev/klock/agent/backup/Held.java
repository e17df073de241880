package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * One file, directory, link or special file that is about to be given owner, mode, times, attributes or bytes: the object itself, whatever
 * others put at its name meanwhile. Where descriptors cannot be had it is what is at its name. For one thread.
 */
final class Held implements AutoCloseable {
    private static final OpenOption[] NOFOLLOW = {LinkOption.NOFOLLOW_LINKS};
    private static final OpenOption[] FOLLOW = {};

    private final HostFiles files;
    /** -1 where it is reached by its name. */
    private final int fd;
    private final boolean toBeClosed;
    private final Path path;

    /** @param toBeClosed whether the descriptor {@code fd} is this object's own */
    Held(HostFiles files, int fd, boolean toBeClosed) {
        this.files = files;
        this.fd = fd;
        this.toBeClosed = toBeClosed;
        this.path = files.path(Anchored.link(fd));
    }

    /** What is at {@code name}, at the time of each use. */
    Held(HostFiles files, byte[] name) {
        this.files = files;
        this.fd = -1;
        this.toBeClosed = false;
        this.path = files.path(name);
    }

    /** What it is like now; without the text of a link. */
    FileState look() throws IOException {
        if (fd < 0) {
            return FileState.look(files, new Name(files.name(path)));
        }
        long taken = FileState.now();
        long[] s = files.status(fd);
        if (s == null) {
            throw new IOException("cannot be looked at");
        }
        return FileState.of(s, taken, null, false);
    }

    void chown(int uid, int gid) throws IOException {
        // the links followed lead from the descriptor to what it stands for, no further
        LinkOption[] options = fd < 0 ? new LinkOption[] {LinkOption.NOFOLLOW_LINKS} : new LinkOption[0];
        Files.setAttribute(path, "unix:uid", uid, options);
        Files.setAttribute(path, "unix:gid", gid, options);
    }

    /** Of no symbolic link. */
    void chmod(int mode) throws IOException {
        Files.setAttribute(path, "unix:mode", mode);
    }

    /** {@link #chmod} of what will be read and written: who may do so without owning it needs no other mode. */
    void open(int mode) {
        try {
            chmod(mode);
        } catch (IOException notTheOwner) {
            // what is not permitted by the mode that there is fails by itself
            return;
        }
    }

    /** Nanoseconds since the epoch. */
    void times(long accessedNs, long modifiedNs) throws IOException {
        if (fd < 0) {
            files.setTimes(files.name(path), accessedNs, modifiedNs);
        } else {
            files.setTimes(fd, accessedNs, modifiedNs);
        }
    }

    /** A descriptor for its extended attributes, to be given to {@link HostFiles#close}; -1 if it has none that could be read. */
    int forAttributes() {
        return fd < 0 ? -1 : files.reopen(fd);
    }

    boolean isByName() {
        return fd < 0;
    }

    /** The name by which it is reached. */
    byte[] name() {
        return files.name(path);
    }

    /** Of a regular file. */
    InputStream read() throws IOException {
        return Files.newInputStream(path, fd < 0 ? NOFOLLOW : FOLLOW);
    }

    /** Of a regular file. */
    FileChannel write() throws IOException {
        return fd < 0 ? FileChannel.open(path, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS) : FileChannel.open(path, StandardOpenOption.WRITE);
    }

    @Override
    public void close() {
        if (toBeClosed) {
            files.close(fd);
        }
    }
}
