package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;

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
    static final int FILE_BITS = 0100000;
    static final int DIRECTORY_BITS = 0040000;
    static final int LINK_BITS = 0120000;
    static final int FIFO_BITS = 0010000;
    private static final int SOCKET_BITS = 0140000;
    private static final int CHARACTER_BITS = 0020000;
    private static final int BLOCK_BITS = 0060000;

    /**
     * File times advance with the kernel's tick (4 ms, 10 ms on some kernels): a change within one tick of the look leaves times as they
     * were, so equal times prove nothing when the look came this soon after the last change ("racily clean").
     */
    private static final long SHORTLY_NS = 10_000_000_000L;
    private static final long RACY_NS = 20_000_000L;

    private static final int SHA = 1;
    private static final int TEXT = 2;
    private static final int EXACT = 4;
    private static final int ATTRIBUTES = 8;
    private static final int INFERRED = 16;
    private static final int MAX_ATTRIBUTES = 1 << 16;

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
    /** The kernel stamps the next change after a look with a time of its own (multigrain times), so equal times prove everything. */
    final boolean exact;
    /** Extended attributes as name, value, name, value …, sorted by name; null where they were not asked for or cannot be. */
    final byte[][] attributes;
    /** Looked at only a while after the session left it: a change by others within a tick of that would not have been told from its own. */
    final boolean inferred;

    private FileState(int kind, int mode, int uid, int gid, int nlink, long dev, long ino, long rdev, long size, long mtime, long ctime,
            long atime, long taken, byte[] link, byte[] sha, boolean exact, byte[][] attributes, boolean inferred) {
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
        this.exact = exact;
        this.attributes = attributes;
        this.inferred = inferred;
    }

    static FileState absent() {
        return new FileState(ABSENT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, now(), null, null, false, null, false);
    }

    FileState withSha(byte[] digest) {
        return new FileState(kind, mode, uid, gid, nlink, dev, ino, rdev, size, mtime, ctime, atime, taken, link, digest, exact, attributes, inferred);
    }

    FileState withNames(int names) {
        return new FileState(kind, mode, uid, gid, names, dev, ino, rdev, size, mtime, ctime, atime, taken, link, sha, exact, attributes, inferred);
    }

    static long now() {
        return System.currentTimeMillis() * 1_000_000L;
    }

    /** Looks at {@code name} itself (lstat; a link's text is read); never opens anything. */
    static FileState look(HostFiles files, Name name) throws IOException {
        long taken = now();
        long[] s = files.status(name.bytes);
        if (s == null) {
            return absent();
        }
        byte[] text = null;
        if ((s[HostFiles.MODE] & TYPE_BITS) == LINK_BITS) {
            text = files.readLink(name.bytes);
            if (text == null) {
                throw new IOException("cannot read the link " + name);
            }
        }
        return of(s, taken, text, false);
    }

    /** Taken where times are exact. */
    FileState exact() {
        return new FileState(kind, mode, uid, gid, nlink, dev, ino, rdev, size, mtime, ctime, atime, taken, link, sha, true, attributes, inferred);
    }

    FileState withAttributes(byte[][] pairs) {
        return new FileState(kind, mode, uid, gid, nlink, dev, ino, rdev, size, mtime, ctime, atime, taken, link, sha, exact, pairs, inferred);
    }

    /** Whether it is the same regular file, of one name, and something of it was changed since, be it a mode, an owner or an attribute alone. */
    boolean isChangedSince(FileState earlier) {
        return kind == FILE && earlier.kind == FILE && sameInode(earlier) && nlink == 1 && earlier.nlink == 1 && ctime != earlier.ctime;
    }

    FileState withOwnerAndMode(int owner, int group, int newMode) {
        return new FileState(kind, newMode, owner, group, nlink, dev, ino, rdev, size, mtime, ctime, atime, taken, link, sha, exact, attributes, inferred);
    }

    /** Taken at rest for what was left earlier. */
    FileState inferred() {
        return new FileState(kind, mode, uid, gid, nlink, dev, ino, rdev, size, mtime, ctime, atime, taken, link, sha, exact, attributes, true);
    }

    /** A state of the same file that it is not in, whose times are not after {@code ns}. */
    FileState before(long ns) {
        return new FileState(kind, mode, uid, gid, nlink, dev, ino, rdev, -1, Math.min(mtime, ns), Math.min(ctime, ns), atime, taken, link, null,
                exact, attributes, false);
    }

    /** From what {@link HostFiles#status} answered at {@code taken}. */
    static FileState of(long[] s, long taken, byte[] link, boolean exact) throws IOException {
        int mode = (int) s[HostFiles.MODE];
        return new FileState(kind(mode), mode & 07777, (int) s[HostFiles.UID], (int) s[HostFiles.GID], (int) s[HostFiles.NLINK],
                s[HostFiles.DEV], s[HostFiles.INO], s[HostFiles.RDEV], s[HostFiles.SIZE], s[HostFiles.MTIME], s[HostFiles.CTIME],
                s[HostFiles.ATIME], taken, link, null, exact, null, false);
    }

    /** Whether {@code s} is a regular file and this one, in this state. */
    boolean is(long[] s) {
        return kind == FILE && s[HostFiles.INO] == ino && s[HostFiles.MTIME] == mtime && s[HostFiles.CTIME] == ctime
                && s[HostFiles.SIZE] == size && s[HostFiles.DEV] == dev && (s[HostFiles.MODE] & TYPE_BITS) == FILE_BITS
                && (s[HostFiles.MODE] & 07777) == mode;
    }

    private static int kind(int mode) throws IOException {
        switch (mode & TYPE_BITS) {
            case FILE_BITS: return FILE;
            case DIRECTORY_BITS: return DIRECTORY;
            case LINK_BITS: return LINK;
            case FIFO_BITS: return FIFO;
            case SOCKET_BITS: return SOCKET;
            case CHARACTER_BITS: return CHARACTER_DEVICE;
            case BLOCK_BITS: return BLOCK_DEVICE;
            default: throw new IOException("a file of unknown type: mode 0" + Integer.toOctalString(mode));
        }
    }

    /** Of st_mode. */
    int typeBits() {
        switch (kind) {
            case FILE: return FILE_BITS;
            case DIRECTORY: return DIRECTORY_BITS;
            case LINK: return LINK_BITS;
            case FIFO: return FIFO_BITS;
            case SOCKET: return SOCKET_BITS;
            case CHARACTER_DEVICE: return CHARACTER_BITS;
            default: return BLOCK_BITS;
        }
    }

    boolean sameInode(FileState o) {
        return kind == o.kind && kind != ABSENT && dev == o.dev && ino == o.ino;
    }

    /** Same object, and nothing has changed it as far as its times can tell. */
    boolean sameStat(FileState o) {
        return sameInode(o) && size == o.size && mtime == o.mtime && ctime == o.ctime && mode == o.mode;
    }

    /** Whether this is what became of the same file shortly after {@code o}; what a clock that was set back says is no proof. */
    boolean isShortlyAfter(FileState o) {
        long since = ctime - o.ctime;
        return since > 0 && since < SHORTLY_NS;
    }

    /** Whether equal times do not prove that the file is as it was when this state was taken. */
    boolean racy() {
        return !exact && ctime > taken - RACY_NS;
    }

    boolean sameOwner(FileState o) {
        return uid == o.uid && gid == o.gid;
    }

    boolean sameOwnerAndMode(FileState o) {
        return sameOwner(o) && (mode == o.mode || kind == LINK);
    }

    /** Same file under whatever name: a rename keeps all of these. */
    boolean couldBeMoved(FileState o) {
        return sameInode(o) && (kind == DIRECTORY || (size == o.size && mtime == o.mtime && Arrays.equals(link, o.link)));
    }

    /** Whether this is one of several names of something. */
    boolean hasOtherNames() {
        return nlink > 1 && kind != DIRECTORY;
    }

    /** Whether both are the same but for owner, mode, times and, of files, what is in them. */
    boolean isLike(FileState o) {
        switch (kind) {
            case LINK: return o.kind == LINK && Arrays.equals(link, o.link);
            case CHARACTER_DEVICE:
            case BLOCK_DEVICE: return o.kind == kind && rdev == o.rdev;
            default: return o.kind == kind;
        }
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
        int length = 2 + 4 * 4 + 8 * 8 + (sha == null ? 0 : Sha256.LENGTH) + (link == null ? 0 : 4 + link.length);
        if (attributes != null) {
            length += 4;
            for (byte[] one : attributes) {
                length += 4 + one.length;
            }
        }
        return length;
    }

    void encode(ByteBuffer out) {
        out.put((byte) kind).put((byte) ((sha == null ? 0 : SHA) | (link == null ? 0 : TEXT) | (exact ? EXACT : 0)
                | (attributes == null ? 0 : ATTRIBUTES) | (inferred ? INFERRED : 0)));
        out.putInt(mode).putInt(uid).putInt(gid).putInt(nlink);
        out.putLong(dev).putLong(ino).putLong(rdev).putLong(size).putLong(mtime).putLong(ctime).putLong(atime).putLong(taken);
        if (sha != null) {
            out.put(sha);
        }
        if (link != null) {
            out.putInt(link.length).put(link);
        }
        if (attributes != null) {
            out.putInt(attributes.length);
            for (byte[] one : attributes) {
                out.putInt(one.length).put(one);
            }
        }
    }

    /** Reads what {@link #encode} wrote; @throws BufferUnderflowException if it is cut short */
    static FileState decode(ByteBuffer in) {
        int kind = in.get();
        int has = in.get();
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
        if ((has & SHA) != 0) {
            sha = new byte[Sha256.LENGTH];
            in.get(sha);
        }
        if ((has & TEXT) != 0) {
            link = bytes(in);
        }
        byte[][] attributes = null;
        if ((has & ATTRIBUTES) != 0) {
            int count = in.getInt();
            if (count < 0 || count > MAX_ATTRIBUTES) {
                throw new BufferUnderflowException();
            }
            attributes = new byte[count][];
            for (int i = 0; i < count; i++) {
                attributes[i] = bytes(in);
            }
        }
        return new FileState(kind, mode, uid, gid, nlink, dev, ino, rdev, size, mtime, ctime, atime, taken, link, sha, (has & EXACT) != 0,
                attributes, (has & INFERRED) != 0);
    }

    private static byte[] bytes(ByteBuffer in) {
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }
}
