package sun.nio.fs;

import dev.klock.bridge.HostFiles;
import java.io.FileDescriptor;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.Unsafe;
import sun.nio.ch.DirectBuffer;
import sun.nio.ch.FileChannelImpl;
import sun.nio.ch.Util;

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

    /** A constant of the machine this runs on, not of the one it was compiled on. */
    private static final boolean ARM = "aarch64".equals(System.getProperty("os.arch"));
    private static final int O_NOFOLLOW = ARM ? 0100000 : 0400000;
    private static final int O_DIRECTORY = ARM ? 040000 : 0200000;
    private static final int O_PATH = 010000000;
    private static final int O_CLOEXEC = 02000000;
    /** So that a FIFO put in place of a file does not hold us up; the same on x86-64 and aarch64. */
    private static final int O_NONBLOCK = 04000;
    private static final int AT_FDCWD = -100;
    private static final int AT_SYMLINK_NOFOLLOW = 0x100;
    /** No list of names and no value is larger (XATTR_LIST_MAX, XATTR_SIZE_MAX). */
    private static final int LARGEST = 1 << 16;
    /** Read at once. */
    private static final int CHUNK = 1 << 16;
    private static final int ENOTSUP = 95;
    private static final int ELOOP = 40;
    private static final int EBADF = 9;
    private static final long CHANNEL_FD = UNSAFE.objectFieldOffset(FileChannelImpl.class, "fd");

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
    public long[] followed(byte[] name) {
        try {
            return status(UnixFileAttributes.get(new UnixPath(system, name), true));
        } catch (UnixException absent) {
            return null;
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
    public byte[][] attributes(byte[] name) throws IOException {
        int fd = open(new UnixPath(system, name));
        if (fd < 0) {
            return null;
        }
        try {
            return attributes(fd);
        } finally {
            close(fd);
        }
    }

    @Override
    public byte[][] attributes(int fd) throws IOException {
        ByteBuffer temporary = Util.getTemporaryDirectBuffer(LARGEST);
        long buffer = ((DirectBuffer) temporary).address();
        try {
            int length = UnixNativeDispatcher.flistxattr(fd, buffer, LARGEST);
            byte[] names = read(buffer, length);
            List<byte[]> found = new ArrayList<>();
            int from = 0;
            for (int i = 0; i < length; i++) {
                if (names[i] == 0) {
                    insert(found, Arrays.copyOfRange(names, from, i));
                    from = i + 1;
                }
            }
            List<byte[]> pairs = new ArrayList<>(found.size() * 2);
            for (int i = 0; i < found.size(); i++) {
                byte[] value = value(fd, found.get(i), buffer);
                if (value != null) {
                    pairs.add(found.get(i));
                    pairs.add(value);
                }
            }
            return pairs.toArray(new byte[0][]);
        } catch (UnixException e) {
            if (e.errno() == ENOTSUP) {
                return new byte[0][];
            }
            throw new IOException(e.errorString());
        } finally {
            Util.releaseTemporaryDirectBuffer(temporary);
        }
    }

    @Override
    public int read(int fd, byte[] target, int length) throws IOException {
        ByteBuffer buffer = Util.getTemporaryDirectBuffer(Math.min(length, CHUNK));
        try {
            int done = 0;
            while (done < length) {
                int wanted = Math.min(length - done, CHUNK);
                int n = UnixNativeDispatcher.read(fd, ((DirectBuffer) buffer).address(), wanted);
                buffer.clear();
                buffer.get(target, done, Math.max(n, 0));
                done += Math.max(n, 0);
                // a regular file gives less only at its end
                if (n < wanted) {
                    break;
                }
            }
            return done;
        } catch (UnixException e) {
            throw new IOException(e.errorString());
        } finally {
            Util.releaseTemporaryDirectBuffer(buffer);
        }
    }

    /** Sorted; no class of its own for an order, since this one is defined alone. */
    private static void insert(List<byte[]> sorted, byte[] name) {
        int at = sorted.size();
        while (at > 0 && Arrays.compare(sorted.get(at - 1), name) > 0) {
            at--;
        }
        sorted.add(at, name);
    }

    private static byte[] value(int fd, byte[] attribute, long buffer) {
        try {
            return read(buffer, UnixNativeDispatcher.fgetxattr(fd, attribute, buffer, LARGEST));
        } catch (UnixException notOurs) {
            return null;
        }
    }

    private static byte[] read(long from, int length) {
        byte[] bytes = new byte[length];
        // byte by byte: the type of the array's base offset is not the same in all releases
        for (int i = 0; i < length; i++) {
            bytes[i] = UNSAFE.getByte(from + i);
        }
        return bytes;
    }

    @Override
    public void setAttribute(byte[] name, byte[] attribute, byte[] value) throws IOException {
        UnixPath path = new UnixPath(system, name);
        int fd = open(path);
        if (fd < 0) {
            throw new IOException("cannot be opened");
        }
        try {
            set(fd, attribute, value);
        } catch (UnixException e) {
            throw e.asIOException(path);
        } finally {
            close(fd);
        }
    }

    @Override
    public void setAttribute(int fd, byte[] attribute, byte[] value) throws IOException {
        try {
            set(fd, attribute, value);
        } catch (UnixException e) {
            throw new FileSystemException(null, null, e.errorString());
        }
    }

    private static void set(int fd, byte[] attribute, byte[] value) throws UnixException {
        if (value == null) {
            UnixNativeDispatcher.fremovexattr(fd, attribute);
            return;
        }
        long buffer = UNSAFE.allocateMemory(Math.max(1, value.length));
        try {
            for (int i = 0; i < value.length; i++) {
                UNSAFE.putByte(buffer + i, value[i]);
            }
            UnixNativeDispatcher.fsetxattr(fd, attribute, buffer, value.length);
        } finally {
            UNSAFE.freeMemory(buffer);
        }
    }

    @Override
    public int open(byte[] name) {
        return descriptor(new UnixPath(system, name));
    }

    private static int descriptor(UnixPath path) {
        try {
            return UnixNativeDispatcher.open(path, UnixConstants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
        } catch (UnixException e) {
            return -1;
        }
    }

    /** A descriptor for a regular file or directory; -1 if it is neither, or cannot be read. */
    private static int open(UnixPath path) {
        try {
            UnixFileAttributes a = UnixFileAttributes.get(path, false);
            return a.isRegularFile() || a.isDirectory() ? descriptor(path) : -1;
        } catch (UnixException e) {
            return -1;
        }
    }

    @Override
    public int hold(byte[] name, boolean directory) throws IOException {
        UnixPath path = new UnixPath(system, name);
        try {
            return UnixNativeDispatcher.open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC | (directory ? O_DIRECTORY : 0), 0);
        } catch (UnixException e) {
            if (e.errno() == UnixConstants.ENOENT || e.errno() == UnixConstants.ENOTDIR || e.errno() == ELOOP) {
                return -1;
            }
            throw e.asIOException(path);
        }
    }

    @Override
    public int reopen(int fd) {
        try {
            UnixFileAttributes a = UnixFileAttributes.get(fd);
            return a.isRegularFile() || a.isDirectory()
                    ? UnixNativeDispatcher.open(link(fd), UnixConstants.O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0) : -1;
        } catch (UnixException e) {
            return -1;
        }
    }

    /** The name that leads to what a descriptor stands for, whatever became of its own. */
    private UnixPath link(int fd) {
        return new UnixPath(system, "/proc/self/fd/".concat(Integer.toString(fd)));
    }

    @Override
    public int descriptor(FileChannel channel) {
        if (!(channel instanceof FileChannelImpl)) {
            return -1;
        }
        return SharedSecrets.getJavaIOFileDescriptorAccess().get((FileDescriptor) UNSAFE.getReference(channel, CHANNEL_FD));
    }

    @Override
    public void close(int fd) {
        try {
            UnixNativeDispatcher.close(fd);
        } catch (Exception onlyFromNewerReleases) {
            // nothing was written through it
            return;
        }
    }

    @Override
    public void setTimes(byte[] name, long accessedNs, long modifiedNs) throws IOException {
        UnixPath path = new UnixPath(system, name);
        if (!utimensat(path, accessedNs, modifiedNs, AT_SYMLINK_NOFOLLOW)) {
            setTimes17(path, accessedNs, modifiedNs);
        }
    }

    @Override
    public void setTimes(int fd, long accessedNs, long modifiedNs) throws IOException {
        if (!utimensat(link(fd), accessedNs, modifiedNs, 0)) {
            setTimes17(fd, accessedNs, modifiedNs);
        }
    }

    /** Whether there is such a call: since JDK 22. */
    private static boolean utimensat(UnixPath path, long accessedNs, long modifiedNs, int flags) throws IOException {
        try {
            Method utimensat = UnixNativeDispatcher.class.getDeclaredMethod("utimensat", int.class, UnixPath.class, long.class, long.class,
                    int.class);
            utimensat.invoke(null, AT_FDCWD, path, accessedNs, modifiedNs, flags);
            return true;
        } catch (NoSuchMethodException before22) {
            return false;
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof UnixException) {
                throw ((UnixException) e.getCause()).asIOException(path);
            }
            throw new IOException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IOException(e);
        }
    }

    private void setTimes17(int fd, long accessedNs, long modifiedNs) throws IOException {
        int again = -1;
        try {
            try {
                UnixNativeDispatcher.futimens(fd, accessedNs, modifiedNs);
                return;
            } catch (UnixException e) {
                if (e.errno() != EBADF) {
                    throw e;
                }
            }
            // one that nothing is opened with
            again = reopen(fd);
            if (again >= 0) {
                UnixNativeDispatcher.futimens(again, accessedNs, modifiedNs);
                return;
            }
            Method utimes = UnixNativeDispatcher.class.getDeclaredMethod("utimes", UnixPath.class, long.class, long.class);
            utimes.invoke(null, link(fd), accessedNs / 1000, modifiedNs / 1000);
        } catch (UnixException e) {
            throw e.asIOException(link(fd));
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof UnixException) {
                throw ((UnixException) e.getCause()).asIOException(link(fd));
            }
            throw new IOException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IOException(e);
        } finally {
            if (again >= 0) {
                close(again);
            }
        }
    }

    private void setTimes17(UnixPath path, long accessedNs, long modifiedNs) throws IOException {
        int fd = open(path);
        try {
            if (fd >= 0) {
                UnixNativeDispatcher.futimens(fd, accessedNs, modifiedNs);
                return;
            }
            Method lutimes = UnixNativeDispatcher.class.getDeclaredMethod("lutimes", UnixPath.class, long.class, long.class);
            lutimes.invoke(null, path, accessedNs / 1000, modifiedNs / 1000);
        } catch (UnixException e) {
            throw e.asIOException(path);
        } catch (ReflectiveOperationException e) {
            throw new IOException(e.getCause() == null ? e : e.getCause());
        } finally {
            if (fd >= 0) {
                close(fd);
            }
        }
    }

    @Override
    public void makeSpecial(byte[] name, int mode, long rdev) throws IOException {
        UnixPath path = new UnixPath(system, name);
        try {
            UnixNativeDispatcher.mknod(path, mode, rdev);
        } catch (UnixException e) {
            throw e.asIOException(path);
        }
    }

    @Override
    public void holdReads() {
        KlockBridge.holdReads();
    }

    @Override
    public Exception absent() {
        return new UnixException(UnixConstants.ENOENT);
    }

    @Override
    public byte[] workingDirectory() {
        try {
            return UnixNativeDispatcher.getcwd();
        } catch (Exception e) {
            // it has been removed: a UnixException, which the native throws without declaring it
            return null;
        }
    }

    @Override
    public boolean resolvesNames(String hostsFile) {
        try {
            Field field = InetAddress.class.getDeclaredField(Runtime.version().feature() < 18 ? "nameService" : "resolver");
            Object service = UNSAFE.getReferenceVolatile(UNSAFE.staticFieldBase(field), UNSAFE.staticFieldOffset(field));
            String name = service == null ? "" : service.getClass().getName();
            if (name.startsWith("java.net.InetAddress$HostsFile")) {
                return UNSAFE.getReference(service, UNSAFE.objectFieldOffset(service.getClass(), "hostsFile")).equals(hostsFile);
            }
            return name.startsWith("java.net.InetAddress$Platform");
        } catch (NoSuchFieldException otherJdk) {
            return false;
        }
    }
}
