package dev.klock.bridge;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Names as the kernel sees them: bytes. java.nio.file's public API goes through characters and loses names that are not valid in the
 * platform's encoding; the implementation inside java.base does not. Throws nothing but what its callers' arguments deserve.
 */
public interface HostFiles {
    /** Place of st_mode (type and permission bits) in what {@link #status(byte[])} answers; the following ones likewise. */
    int MODE = 0;
    int INO = 1;
    int DEV = 2;
    int NLINK = 3;
    int UID = 4;
    int GID = 5;
    /** Bytes. */
    int SIZE = 6;
    /** Nanoseconds since the epoch. */
    int MTIME = 7;
    /** Nanoseconds since the epoch. */
    int CTIME = 8;
    /** Nanoseconds since the epoch. */
    int ATIME = 9;
    int RDEV = 10;

    /** The Path with exactly these bytes. */
    Path path(byte[] name);

    /** The bytes of a Path of the default file system. */
    byte[] name(Path path);

    /** The text of the symbolic link {@code name}, null if it is not a link or cannot be read. */
    byte[] readLink(byte[] name);

    /** st_mode of {@code name} itself (lstat), 0 if there is nothing of that name or it cannot be looked at. */
    int mode(byte[] name);

    /**
     * What lstat tells of {@code name}, at the places named above; null if nothing can be there (the name is absent, or a component above
     * it is not a directory).
     *
     * @throws IOException if it cannot be looked at
     */
    default long[] status(byte[] name) throws IOException {
        Map<String, Object> a;
        try {
            a = Files.readAttributes(path(name), "unix:mode,ino,dev,nlink,uid,gid,size,lastModifiedTime,ctime,lastAccessTime,rdev",
                    LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return null;
        } catch (FileSystemException e) {
            for (Path up = path(name).getParent(); up != null; up = up.getParent()) {
                if (Files.exists(up, LinkOption.NOFOLLOW_LINKS)) {
                    if (Files.isDirectory(up)) {
                        break;
                    }
                    return null;
                }
            }
            throw e;
        }
        return new long[] {(Integer) a.get("mode"), (Long) a.get("ino"), (Long) a.get("dev"), (Integer) a.get("nlink"),
            (Integer) a.get("uid"), (Integer) a.get("gid"), (Long) a.get("size"),
            ((FileTime) a.get("lastModifiedTime")).to(TimeUnit.NANOSECONDS), ((FileTime) a.get("ctime")).to(TimeUnit.NANOSECONDS),
            ((FileTime) a.get("lastAccessTime")).to(TimeUnit.NANOSECONDS), (Long) a.get("rdev")};
    }

    /** The same of what {@code name} leads to (stat), be it by a link that shows no name; null if that cannot be looked at. */
    default long[] followed(byte[] name) {
        return null;
    }

    /** The same of the open descriptor {@code fd} (fstat); null if that cannot be asked here, or {@code fd} is not open. */
    default long[] status(int fd) {
        return null;
    }

    /**
     * A descriptor for reading {@code name} itself, which was just seen to be a regular file or a directory, to be given to {@link #close};
     * {@link #status(int)} tells whether it still was. -1 if it cannot be read, or descriptors cannot be had here.
     */
    default int open(byte[] name) {
        return -1;
    }

    /** {@link #attributes(byte[])} by a descriptor of {@link #open}. */
    default byte[][] attributes(int fd) throws IOException {
        return null;
    }

    /** Reads on until {@code length} bytes are in {@code target} or the file ends; how many there are. */
    default int read(int fd, byte[] target, int length) throws IOException {
        throw new IOException("descriptors cannot be read here");
    }

    /** Gives back a descriptor of {@link #open}, {@link #hold} or {@link #reopen}. */
    default void close(int fd) {
    }

    /**
     * A descriptor that stands for {@code name} itself, whatever it is, and with which nothing is opened (O_PATH): what becomes of the name does
     * not concern it. To be given to {@link #close}. -1 if nothing is there, if it is no directory and {@code directory} asks for one, or if
     * such descriptors cannot be had here.
     *
     * @throws IOException if there is something that cannot be reached, or no descriptor is left
     */
    default int hold(byte[] name, boolean directory) throws IOException {
        return -1;
    }

    /** A descriptor for reading the regular file or directory that {@code fd} stands for, to be given to {@link #close}; -1 if there is none. */
    default int reopen(int fd) {
        return -1;
    }

    /** The descriptor that {@code channel} uses and keeps; -1 if that cannot be told here. */
    default int descriptor(FileChannel channel) {
        return -1;
    }

    /** {@link #setTimes(byte[], long, long)} of what the descriptor {@code fd} stands for, be it one of {@link #hold}. */
    default void setTimes(int fd, long accessedNs, long modifiedNs) throws IOException {
        throw new IOException("descriptors cannot be given times here");
    }

    /** {@link #setAttribute(byte[], byte[], byte[])} by a descriptor for reading. */
    default void setAttribute(int fd, byte[] attribute, byte[] value) throws IOException {
        throw new IOException("extended attributes cannot be set here");
    }

    /**
     * All extended attributes of the regular file or directory {@code name} that may be read (user., security., trusted. and the ACLs in
     * system.), as name, value, name, value …, sorted by name; null if they cannot be asked for here. Nothing else is ever opened.
     */
    default byte[][] attributes(byte[] name) throws IOException {
        return null;
    }

    /** Sets, or with {@code value} null removes, one extended attribute of a regular file or directory. */
    default void setAttribute(byte[] name, byte[] attribute, byte[] value) throws IOException {
        throw new IOException("extended attributes cannot be set here");
    }

    /**
     * Sets the times of {@code name} itself, in nanoseconds since the epoch. To the nanosecond, but for symbolic links and special files
     * before JDK 22, whose times are set to the microsecond.
     */
    default void setTimes(byte[] name, long accessedNs, long modifiedNs) throws IOException {
        Files.getFileAttributeView(path(name), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .setTimes(FileTime.from(modifiedNs, TimeUnit.NANOSECONDS), FileTime.from(accessedNs, TimeUnit.NANOSECONDS), null);
    }

    /** Makes a FIFO, socket or device: {@code mode} has the type bits; the umask applies. */
    default void makeSpecial(byte[] name, int mode, long rdev) throws IOException {
        throw new IOException("special files cannot be made here");
    }

    /**
     * What the calls of java.nio.file's own implementation throw where a name does not exist, for them to turn into a
     * NoSuchFileException; elsewhere that exception itself.
     */
    default Exception absent() {
        return new NoSuchFileException(null);
    }

    /** From here on {@link Hooks#end} is called for looks by name as well. */
    default void holdReads() {
    }

    /**
     * Whether the JVM has names resolved by the operating system or from {@code hostsFile}, which may be null: not from another file that the program
     * named in time, nor by a class of its own, which must not be asked from within klock.
     */
    default boolean resolvesNames(String hostsFile) {
        return true;
    }

    /** The process's true working directory. */
    byte[] workingDirectory();
}
