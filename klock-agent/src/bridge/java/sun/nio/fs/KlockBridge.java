package sun.nio.fs;

import dev.klock.bridge.Fence;
import dev.klock.bridge.Hooks;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.CopyOption;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import jdk.internal.access.JavaIOFileDescriptorAccess;
import jdk.internal.access.SharedSecrets;
import jdk.internal.misc.Unsafe;

/**
 * The one class that woven JDK methods call. It lives inside java.base, in the package of the JDK's own file calls, because only there
 * the real arguments can be seen: a UnixPath's bytes, a File's path field, a descriptor's number. It takes them out and hands them to
 * klock's loader through {@link Hooks}; it decides nothing.
 *
 * <p>Both references are final before the first woven method runs, so compiled code folds the calls away to klock's own. Reflection
 * does not list its members ({@code Reflection.registerFieldsToFilter}).
 */
public final class KlockBridge {
    /** The directory that klock keeps its own files in, wherever it is. */
    private static final String HOME = ".klock";
    private static final Hooks HOOKS;
    private static final Fence FENCE;
    private static final JavaIOFileDescriptorAccess DESCRIPTORS = SharedSecrets.getJavaIOFileDescriptorAccess();
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** A File's own path field: what natives open on 17, whatever an overridden getPath() answers. */
    private static final long FILE_PATH = UNSAFE.objectFieldOffset(File.class, "path");

    static {
        HOOKS = KlockPort.hooks;
        FENCE = KlockPort.fence;
        KlockPort.hooks = null;
        KlockPort.fence = null;
    }

    private KlockBridge() {
    }

    public static void name(int op, String name, int arg) {
        HOOKS.name(op, name, arg);
    }

    public static void append(int op, String name, boolean append) {
        HOOKS.name(op, name, append ? 1 : 0);
    }

    public static void file(int op, File file, int arg) {
        HOOKS.name(op, nameOf(file), arg);
    }

    public static void files(int op, File from, File to) {
        HOOKS.names(op, nameOf(from), nameOf(to));
    }

    public static void path(int op, Path path, int arg) {
        HOOKS.path(op, bytesOf(path), arg);
    }

    public static void bytes(int op, byte[] name, int arg) {
        HOOKS.path(op, name, arg);
    }

    public static void paths(int op, Path from, Path to) {
        HOOKS.paths(op, bytesOf(from), bytesOf(to));
    }

    public static void symlink(int op, byte[] text, Path link) {
        HOOKS.paths(op, text, bytesOf(link));
    }

    public static void at(int op, int directory, byte[] name, int arg) {
        HOOKS.at(op, directory, name, arg);
    }

    /** On 25 some handle-relative calls take a path; it is relative to the handle unless absolute. */
    public static void atPath(int op, int directory, Path name, int arg) {
        HOOKS.at(op, directory, name == null ? null : ((UnixPath) name).asByteArray(), arg);
    }

    public static void ats(int op, int fromDirectory, byte[] from, int toDirectory, byte[] to) {
        HOOKS.ats(op, fromDirectory, from, toDirectory, to);
    }

    public static void fd(int op, int fd, int arg) {
        HOOKS.fd(op, fd, arg);
    }

    public static void write(int op, FileDescriptor descriptor) {
        if (FENCE.raised) {
            HOOKS.fenced(op, descriptor == null ? -1 : DESCRIPTORS.get(descriptor));
        }
    }

    public static void writeFd(int op, int fd) {
        if (FENCE.raised) {
            HOOKS.fenced(op, fd);
        }
    }

    public static void close(int op, FileDescriptor descriptor) {
        HOOKS.closing(op, descriptor == null ? -1 : DESCRIPTORS.get(descriptor));
    }

    public static void closeFd(int op, int fd) {
        HOOKS.closing(op, fd);
    }

    public static void start(int op, byte[] program, byte[] arguments, int argumentCount, byte[] environment, int environmentCount,
                             byte[] directory, int[] fds) {
        HOOKS.start(op, program, arguments, argumentCount, environment, environmentCount, directory, fds);
    }

    public static void signal(int op, long pid, long startTime, boolean force) {
        HOOKS.signal(op, pid, startTime, force);
    }

    /** Argument bits: 1 REPLACE_EXISTING, 2 NOFOLLOW_LINKS, 4 ATOMIC_MOVE. */
    public static void begin(int op, Path from, Path to, CopyOption[] options) {
        int arg = 0;
        if (options != null) {
            for (CopyOption option : options) {
                if (option == StandardCopyOption.REPLACE_EXISTING) {
                    arg |= 1;
                } else if (option == StandardCopyOption.ATOMIC_MOVE) {
                    arg |= 4;
                } else if (option == LinkOption.NOFOLLOW_LINKS) {
                    arg |= 2;
                }
            }
        }
        HOOKS.begin(op, bytesOf(from), bytesOf(to), arg);
    }

    public static void halt(int op, int status) {
        HOOKS.halting(status);
    }

    public static void end(int op) {
        HOOKS.end(op, 0);
    }

    public static void endInt(int result, int op) {
        HOOKS.end(op, result);
    }

    public static void endBoolean(boolean result, int op) {
        HOOKS.end(op, result ? 0 : -1);
    }

    public static void endStream(FileOutputStream stream, int op) {
        int fd = -1;
        try {
            fd = DESCRIPTORS.get(stream.getFD());
        } catch (IOException impossibleRightAfterOpen) {
            fd = -1;
        }
        HOOKS.end(op, fd);
    }

    public static void endRandom(RandomAccessFile file, int op) {
        int fd = -1;
        try {
            fd = DESCRIPTORS.get(file.getFD());
        } catch (IOException impossibleRightAfterOpen) {
            fd = -1;
        }
        HOOKS.end(op, fd);
    }

    public static void endThrown(int op) {
        HOOKS.end(op, -1);
    }

    public static void ended(int op) {
        HOOKS.ending();
    }

    /** Listings leave klock's own directory out. */
    public static boolean hides(boolean selfOrParent, byte[] name) {
        return selfOrParent || isHome(name);
    }

    /** The same for java.io; the array is the caller's to keep. */
    public static String[] without(String[] names) {
        if (names == null) {
            return null;
        }
        for (int i = 0; i < names.length; i++) {
            if (HOME.equals(names[i])) {
                String[] rest = new String[names.length - 1];
                System.arraycopy(names, 0, rest, 0, i);
                System.arraycopy(names, i + 1, rest, i, rest.length - i);
                return rest;
            }
        }
        return names;
    }

    private static boolean isHome(byte[] name) {
        if (name.length != HOME.length()) {
            return false;
        }
        for (int i = 0; i < name.length; i++) {
            if (name[i] != HOME.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    private static String nameOf(File file) {
        return file == null ? null : (String) UNSAFE.getReference(file, FILE_PATH);
    }

    private static byte[] bytesOf(Path path) {
        return path instanceof UnixPath ? ((UnixPath) path).getByteArrayForSysCalls() : null;
    }
}
