package dev.klock.bridge;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
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

    /** The same of the open descriptor {@code fd} (fstat); null if that cannot be asked here, or {@code fd} is not open. */
    default long[] status(int fd) {
        return null;
    }

    /**
     * What the calls of java.nio.file's own implementation throw where a name does not exist, for them to turn into a
     * NoSuchFileException; elsewhere that exception itself.
     */
    default Exception absent() {
        return new NoSuchFileException(null);
    }

    /** The process's true working directory. */
    byte[] workingDirectory();
}
