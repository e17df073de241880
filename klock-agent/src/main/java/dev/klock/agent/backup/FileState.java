package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What a name was at one moment: its type, metadata and, where known, link text and SHA-256. "Nothing there" is a state too (C31).
 * Times are nanoseconds since the epoch. Immutable.
 */
final class FileState {
    static final int ABSENT = 0;
    static final int FILE = 1;
    static final int DIRECTORY = 2;
    static final int LINK = 3;
    static final int FIFO = 4;
    static final int SOCKET = 5;
    static final int CHARACTER_DEVICE = 6;
    static final int BLOCK_DEVICE = 7;

    static final int TYPE_BITS = 0170000;
    static final int DIRECTORY_BITS = 0040000;
    static final int LINK_BITS = 0120000;

    /**
     * File times advance with the kernel's tick (4 ms, 10 ms on some kernels): a change within one tick of the look leaves times as they
     * were, so equal times prove nothing when the look came this soon after the last change ("racily clean").
     */
    private static final long RACY_NS = 20_000_000L;

    private static final String WANTED = "unix:mode,ino,dev,rdev,nlink,uid,gid,size,lastModifiedTime,lastAccessTime,ctime";

    final int kind;
    final int mode;
    final int uid;
    final int gid;
    final int nlink;
    final long dev;
    final long ino;
    final long rdev;
    final long size;
    final long mtime;
    final long ctime;
    final long atime;
    /** Wall clock of the look. */
    final long taken;
    /** Text of a symbolic link, else null. */
    final byte[] link;
    /** SHA-256 of a regular file's content, null when it was not computed. */
    final byte[] sha;

    private FileState(int kind, int mode, int uid, int gid, int nlink, long dev, long ino, long rdev, long size, long mtime, long ctime,
            long atime, long taken, byte[] link, byte[] sha) {
        this.kind = kind;
        this.mode = mode;
        this.uid = uid;
        this.gid = gid;
        this.nlink = nlink;
        this.dev = dev;
        this.ino = ino;
        this.rdev = rdev;
        this.size = size;
        this.mtime = mtime;
        this.ctime = ctime;
        this.atime = atime;
        this.taken = taken;
        this.link = link;
        this.sha = sha;
    }

    static FileState absent() {
        return new FileState(ABSENT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, now(), null, null);
    }

    FileState withSha(byte[] digest) {
        return new FileState(kind, mode, uid, gid, nlink, dev, ino, rdev, size, mtime, ctime, atime, taken, link, digest);
    }

    private static long now() {
        return System.currentTimeMillis() * 1_000_000L;
    }

    /** Looks at {@code name} itself (lstat; a link's text is read); never opens anything. */
    static FileState look(HostFiles files, Name name) throws IOException {
        return look(files, name, files.path(name.bytes));
    }

    static FileState look(HostFiles files, Name name, Path path) throws IOException {
        long taken = now();
        Map<String, Object> a;
        try {
            a = Files.readAttributes(path, WANTED, LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException e) {
            return absent();
        } catch (FileSystemException e) {
            if (belowSomethingElse(files, name)) {
                return absent();
            }
            throw e;
        }
        int mode = (Integer) a.get("mode");
        int kind = kind(mode);
        byte[] text = null;
        if (kind == LINK) {
            text = files.readLink(name.bytes);
            if (text == null) {
                throw new IOException("cannot read the link " + name);
            }
        }
        return new FileState(kind, mode & 07777, (Integer) a.get("uid"), (Integer) a.get("gid"), (Integer) a.get("nlink"),
                (Long) a.get("dev"), (Long) a.get("ino"), (Long) a.get("rdev"), (Long) a.get("size"),
                ns(a.get("lastModifiedTime")), ns(a.get("ctime")), ns(a.get("lastAccessTime")), taken, text, null);
    }

    /** Whether a component above {@code name} is there but is not a directory, so that nothing can be at {@code name} (ENOTDIR). */
    private static boolean belowSomethingElse(HostFiles files, Name name) {
        for (Name up = name.parent(); up != null; up = up.parent()) {
            int mode = files.mode(up.bytes);
            if (mode != 0) {
                return (mode & TYPE_BITS) != DIRECTORY_BITS && (mode & TYPE_BITS) != LINK_BITS;
            }
        }
        return false;
    }

    private static long ns(Object time) {
        return ((FileTime) time).to(TimeUnit.NANOSECONDS);
    }

    private static int kind(int mode) throws IOException {
        switch (mode & TYPE_BITS) {
            case 0100000: return FILE;
            case DIRECTORY_BITS: return DIRECTORY;
            case LINK_BITS: return LINK;
            case 0010000: return FIFO;
            case 0140000: return SOCKET;
            case 0020000: return CHARACTER_DEVICE;
            case 0060000: return BLOCK_DEVICE;
            default: throw new IOException("a file of unknown type: mode 0" + Integer.toOctalString(mode));
        }
    }

    boolean sameInode(FileState o) {
        return kind == o.kind && kind != ABSENT && dev == o.dev && ino == o.ino;
    }

    /** Same object, and nothing has changed it as far as its times can tell. */
    boolean sameStat(FileState o) {
        return sameInode(o) && size == o.size && mtime == o.mtime && ctime == o.ctime && mode == o.mode;
    }

    /** Whether equal times do not prove that the file is as it was when this state was taken. */
    boolean racy() {
        return ctime > taken - RACY_NS;
    }

    boolean sameOwnerAndMode(FileState o) {
        return uid == o.uid && gid == o.gid && (mode == o.mode || kind == LINK);
    }

    /** Same file under whatever name: a rename keeps all of these. */
    boolean couldBeMoved(FileState o) {
        return sameInode(o) && (kind == DIRECTORY || (size == o.size && mtime == o.mtime && Arrays.equals(link, o.link)));
    }

    String describe() {
        switch (kind) {
            case ABSENT: return "nothing";
            case FILE: return "a file of " + size + " bytes";
            case DIRECTORY: return "a directory";
            case LINK: return "a symbolic link to " + Name.show(link);
            case FIFO: return "a FIFO";
            case SOCKET: return "a socket";
            default: return "a device";
        }
    }

    int encodedLength() {
        return 3 + 4 * 4 + 8 * 8 + (sha == null ? 0 : Sha256.LENGTH) + (link == null ? 0 : 4 + link.length);
    }

    void encode(ByteBuffer out) {
        out.put((byte) kind).put((byte) (sha == null ? 0 : 1)).put((byte) (link == null ? 0 : 1));
        out.putInt(mode).putInt(uid).putInt(gid).putInt(nlink);
        out.putLong(dev).putLong(ino).putLong(rdev).putLong(size).putLong(mtime).putLong(ctime).putLong(atime).putLong(taken);
        if (sha != null) {
            out.put(sha);
        }
        if (link != null) {
            out.putInt(link.length).put(link);
        }
    }

    /** Reads what {@link #encode} wrote; @throws BufferUnderflowException if it is cut short */
    static FileState decode(ByteBuffer in) {
        int kind = in.get();
        boolean hasSha = in.get() != 0;
        boolean hasLink = in.get() != 0;
        int mode = in.getInt();
        int uid = in.getInt();
        int gid = in.getInt();
        int nlink = in.getInt();
        long dev = in.getLong();
        long ino = in.getLong();
        long rdev = in.getLong();
        long size = in.getLong();
        long mtime = in.getLong();
        long ctime = in.getLong();
        long atime = in.getLong();
        long taken = in.getLong();
        byte[] sha = null;
        byte[] link = null;
        if (hasSha) {
            sha = new byte[Sha256.LENGTH];
            in.get(sha);
        }
        if (hasLink) {
            int length = in.getInt();
            if (length < 0 || length > in.remaining()) {
                throw new BufferUnderflowException();
            }
            link = new byte[length];
            in.get(link);
        }
        return new FileState(kind, mode, uid, gid, nlink, dev, ino, rdev, size, mtime, ctime, atime, taken, link, sha);
    }
}
