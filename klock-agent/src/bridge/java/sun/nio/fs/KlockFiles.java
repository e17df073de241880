package sun.nio.fs;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import jdk.internal.misc.Unsafe;

/** {@link HostFiles} by the JDK's own calls, which take bytes. */
public final class KlockFiles implements HostFiles {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** The accessors make a FileTime each. */
    private static final long MTIME_S = time("st_mtime_sec");
    private static final long MTIME_NS = time("st_mtime_nsec");
    private static final long CTIME_S = time("st_ctime_sec");
    private static final long CTIME_NS = time("st_ctime_nsec");
    private static final long ATIME_S = time("st_atime_sec");
    private static final long ATIME_NS = time("st_atime_nsec");
    private static final long NS_PER_S = 1_000_000_000L;

    private final UnixFileSystem system = (UnixFileSystem) FileSystems.getDefault();

    public KlockFiles() {
    }

    @Override
    public Path path(byte[] name) {
        return new UnixPath(system, name);
    }

    @Override
    public byte[] name(Path path) {
        return ((UnixPath) path).getByteArrayForSysCalls().clone();
    }

    @Override
    public byte[] readLink(byte[] name) {
        try {
            return UnixNativeDispatcher.readlink(new UnixPath(system, name));
        } catch (UnixException notALink) {
            return null;
        }
    }

    @Override
    public int mode(byte[] name) {
        try {
            return UnixFileAttributes.get(new UnixPath(system, name), false).mode();
        } catch (UnixException absent) {
            return 0;
        }
    }

    @Override
    public long[] status(byte[] name) throws IOException {
        UnixPath path = new UnixPath(system, name);
        try {
            return status(UnixFileAttributes.get(path, false));
        } catch (UnixException e) {
            if (e.errno() == UnixConstants.ENOENT || e.errno() == UnixConstants.ENOTDIR) {
                return null;
            }
            throw e.asIOException(path);
        }
    }

    @Override
    public long[] status(int fd) {
        try {
            return status(UnixFileAttributes.get(fd));
        } catch (UnixException notOpen) {
            return null;
        }
    }

    private static long[] status(UnixFileAttributes a) {
        return new long[] {a.mode(), a.ino(), a.dev(), a.nlink(), a.uid(), a.gid(), a.size(), time(a, MTIME_S, MTIME_NS),
            time(a, CTIME_S, CTIME_NS), time(a, ATIME_S, ATIME_NS), a.rdev()};
    }

    private static long time(UnixFileAttributes a, long seconds, long nanos) {
        return UNSAFE.getLong(a, seconds) * NS_PER_S + UNSAFE.getLong(a, nanos);
    }

    private static long time(String field) {
        return UNSAFE.objectFieldOffset(UnixFileAttributes.class, field);
    }

    @Override
    public Exception absent() {
        return new UnixException(UnixConstants.ENOENT);
    }

    @Override
    public byte[] workingDirectory() {
        return UnixNativeDispatcher.getcwd();
    }
}
