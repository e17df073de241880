package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32C;

/**
 * What the sessions of a home have imaged, in {@code <home>/backups/.known}: where the bytes of a file are, by its path and the times that it
 * had, and by its SHA-256. A session that ends well writes it; one that images many files, or large ones, reads it.
 *
 * <pre>
 *   u32 mark 'KLKN' | u32 version | u32 length of the file | u32 number of sources | u32 number of entries | u32 slots of a table
 *   u64 u64 id of the boot | u64 st_dev | u64 capabilities | u64 when written, ns since the epoch | u32 CRC32C of all this and of the sources
 *   sources:  u64 inode | u64 size | u64 mtime | u16 length, name of a session or of a blob ({@link Sources})
 *   by path:  slots × u32, position of an entry or 0
 *   by hash:  the same
 *   entries:  u32 CRC32C of (position, the entry) | u16 length of path | u16 flags | u32 source | u64 offset | u64 size | u64 inode
 *             u64 mtime | u64 ctime | SHA-256 | path
 * </pre>
 *
 * All numbers are big-endian. Nothing in it is relied on: what does not check is not there, what is found is looked up where it says that the
 * bytes are ({@link Sources#contentAt}), and what comes back is compared with the hash. So it is made without fsync: after a power loss it is
 * whole, old, or worth nothing. Immutable; thread-safe.
 */
final class StatCache {
    static final String FILE = ".known";
    /** Most entries that are kept; of those of earlier sessions the rest is forgotten. */
    static final int MAX_ENTRIES = 100_000;
    static final int MAX_BYTES = 24 << 20;

    /** It is not read where it would take more of the heap. */
    private static final int SHARE_OF_ROOM = 8;
    private static final int MARK = 0x4B4C4B4E;
    private static final int VERSION = 1;
    private static final int HEAD = 68;
    private static final int SOURCE = 3 * Long.BYTES + 2;
    private static final int SETTLED = 1;
    private static final int BARE = 2;
    private static final int FIXED = 52 + Sha256.LENGTH;
    /** So far a table, at most half of which is full, is searched from where something should be. */
    private static final int MAX_STEPS = 128;

    /** A file that holds contents, as it was when it was told of. */
    static final class Source {
        /** A session's or a blob's. */
        final String name;
        final long ino;
        final long size;
        final long mtime;
        private final String key;

        Source(String name, long ino, long size, long mtime) {
            this.name = name;
            this.ino = ino;
            this.size = size;
            this.mtime = mtime;
            this.key = new StringBuilder(name).append('/').append(ino).append('/').append(size).append('/').append(mtime).toString();
        }

        /** Whether nothing has been done to it, as far as its time tells. A name may be another session's by now. */
        boolean isSame(Source o) {
            return o != null && key.equals(o.key);
        }

    }

    /** Where the bytes of a file are. */
    static final class Content {
        final Source source;
        /** Position in it. */
        final long offset;
        final long size;
        final byte[] sha;

        Content(Source source, long offset, long size, byte[] sha) {
            this.source = source;
            this.offset = offset;
            this.size = size;
            this.sha = sha;
        }
    }

    /** One file as it was imaged, to be written. */
    static final class Entry {
        final byte[] path;
        final Content content;
        final long ino;
        final long mtime;
        final long ctime;
        /** Whether equal times prove that it holds the same ({@link Settled}). */
        final boolean settled;
        /** Whether it had no extended attributes. */
        final boolean bare;

        Entry(byte[] path, Content content, long ino, long mtime, long ctime, boolean settled, boolean bare) {
            this.path = path;
            this.content = content;
            this.ino = ino;
            this.mtime = mtime;
            this.ctime = ctime;
            this.settled = settled;
            this.bare = bare;
        }
    }

    private final byte[] bytes;
    private final ByteBuffer in;
    private final Source[] sources;
    private final int entries;
    private final int slots;
    private final int byPath;
    /** Whether times count: the same boot, file system, and no clock that was set back. */
    private final boolean timesCount;
    /** Whether who wrote it saw the extended attributes that this process sees. */
    private final boolean sameEyes;

    private StatCache(byte[] bytes, Source[] sources, int entries, int slots, int byPath, boolean timesCount, boolean sameEyes) {
        this.bytes = bytes;
        this.in = ByteBuffer.wrap(bytes);
        this.sources = sources;
        this.entries = entries;
        this.slots = slots;
        this.byPath = byPath;
        this.timesCount = timesCount;
        this.sameEyes = sameEyes;
    }

    /** What is in {@code file}; null if that is not there, or not {@code owner}'s, or damaged, or of another version. */
    static StatCache read(Path file, long owner, Settled settled) {
        byte[] bytes;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            long size = channel.size();
            if (size < HEAD || size > MAX_BYTES || (Integer) Files.getAttribute(file, "unix:uid", LinkOption.NOFOLLOW_LINKS) != owner
                    || size > room() / SHARE_OF_ROOM) {
                return null;
            }
            bytes = new byte[(int) size];
            ByteBuffer target = ByteBuffer.wrap(bytes);
            while (target.hasRemaining()) {
                if (channel.read(target) < 0) {
                    return null;
                }
            }
        } catch (IOException | RuntimeException none) {
            return null;
        }
        return of(bytes, settled);
    }

    /** Bytes of the heap that are free or may still be had. */
    private static long room() {
        Runtime jvm = Runtime.getRuntime();
        return jvm.maxMemory() - jvm.totalMemory() + jvm.freeMemory();
    }

    static StatCache of(byte[] bytes, Settled settled) {
        if (bytes.length < HEAD) {
            return null;
        }
        ByteBuffer in = ByteBuffer.wrap(bytes);
        int count = in.getInt(12);
        int entries = in.getInt(16);
        int slots = in.getInt(20);
        if (in.getInt(0) != MARK || in.getInt(4) != VERSION || in.getInt(8) != bytes.length || count < 0 || count > bytes.length / SOURCE
                || entries < 0 || entries > MAX_ENTRIES || Integer.bitCount(slots) != 1 || slots < 0 || slots > 4 * MAX_ENTRIES) {
            return null;
        }
        Source[] sources = new Source[count];
        int at = HEAD;
        for (int i = 0; i < count; i++) {
            int length = at <= bytes.length - SOURCE ? in.getShort(at + SOURCE - 2) & 0xffff : bytes.length;
            if (length > bytes.length - at - SOURCE) {
                return null;
            }
            String name = new String(bytes, at + SOURCE, length, StandardCharsets.US_ASCII);
            sources[i] = new Source(name, in.getLong(at), in.getLong(at + 8), in.getLong(at + 16));
            at += SOURCE + length;
        }
        if (in.getInt(HEAD - 4) != headCheck(bytes, at) || at > bytes.length - 8L * slots) {
            return null;
        }
        boolean timesCount = settled.dev != 0 && in.getLong(24) == settled.bootHigh && in.getLong(32) == settled.bootLow
                && in.getLong(40) == settled.dev && in.getLong(56) <= FileState.now();
        return new StatCache(bytes, sources, entries, slots, at, timesCount, in.getLong(48) == settled.capabilities);
    }

    private static int headCheck(byte[] bytes, int end) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, HEAD - 4);
        crc.update(bytes, HEAD, end - HEAD);
        return (int) crc.getValue();
    }

    private static int check(byte[] bytes, int at, int length) {
        CRC32C crc = new CRC32C();
        crc.update(at >>> 24);
        crc.update(at >>> 16);
        crc.update(at >>> 8);
        crc.update(at);
        crc.update(bytes, at + 4, length - 4);
        return (int) crc.getValue();
    }

    /** What is known of the file at {@code path} if it is still as it was imaged; null if that is not known. */
    Entry unchanged(byte[] path, FileState now, Settled settled) {
        if (!timesCount || now.kind != FileState.FILE || now.dev != settled.dev) {
            return null;
        }
        int at = entry(path);
        boolean same = at != 0 && (in.getShort(at + 6) & SETTLED) != 0 && in.getLong(at + 20) == now.size && in.getLong(at + 28) == now.ino
                && in.getLong(at + 36) == now.mtime && in.getLong(at + 44) == now.ctime;
        return same ? entryAt(at, path) : null;
    }

    /** Where bytes with this hash are; null if that is not known. */
    Content holding(byte[] sha, long size) {
        for (int i = 0, slot = shaSlot(sha); i < MAX_STEPS; i++, slot = slot + 1 & slots - 1) {
            int at = in.getInt(byPath + 4 * slots + 4 * slot);
            if (at == 0) {
                return null;
            }
            if (isEntry(at) && in.getLong(at + 20) == size && isSha(at, sha)) {
                return content(at);
            }
        }
        return null;
    }

    /** The size that the file at {@code path} had when it was imaged last; -1 if that is not known. */
    long sizeOf(byte[] path) {
        int at = entry(path);
        return at == 0 ? -1 : in.getLong(at + 20);
    }

    /** Position of what is known of the path; 0 if nothing is. */
    private int entry(byte[] path) {
        for (int i = 0, slot = slot(path); i < MAX_STEPS; i++, slot = slot + 1 & slots - 1) {
            int at = in.getInt(byPath + 4 * slot);
            if (at == 0 || isEntry(at) && isPath(at, path)) {
                return at;
            }
        }
        return 0;
    }

    private int slot(byte[] path) {
        return spread(Arrays.hashCode(path)) & slots - 1;
    }

    private int shaSlot(byte[] sha) {
        return ((sha[0] & 0xff) << 24 | (sha[1] & 0xff) << 16 | (sha[2] & 0xff) << 8 | sha[3] & 0xff) & slots - 1;
    }

    private static int spread(int hash) {
        return (hash ^ hash >>> 16) * 0x9E3779B1 >>> 8;
    }

    /** Whether a whole entry that checks begins there. */
    private boolean isEntry(int at) {
        if (at < byPath + 8 * slots || at > bytes.length - FIXED) {
            return false;
        }
        int length = FIXED + (in.getShort(at + 4) & 0xffff);
        int source = in.getInt(at + 8);
        return at <= bytes.length - length && source >= 0 && source < sources.length && in.getInt(at) == check(bytes, at, length);
    }

    private boolean isPath(int at, byte[] path) {
        return (in.getShort(at + 4) & 0xffff) == path.length && Arrays.equals(bytes, at + FIXED, at + FIXED + path.length, path, 0, path.length);
    }

    private boolean isSha(int at, byte[] sha) {
        return Arrays.equals(bytes, at + FIXED - Sha256.LENGTH, at + FIXED, sha, 0, Sha256.LENGTH);
    }

    private Entry entryAt(int at, byte[] path) {
        int flags = in.getShort(at + 6);
        return new Entry(path, content(at), in.getLong(at + 28), in.getLong(at + 36), in.getLong(at + 44), timesCount && (flags & SETTLED) != 0,
                sameEyes && (flags & BARE) != 0);
    }

    private Content content(int at) {
        return new Content(sources[in.getInt(at + 8)], in.getLong(at + 12), in.getLong(at + 20), Arrays.copyOfRange(bytes, at + FIXED - Sha256.LENGTH, at + FIXED));
    }

    /** All entries that check, in the order in which they were written. */
    private void into(Map<ByteBuffer, Entry> target, Set<String> gone) {
        int at = byPath + 8 * slots;
        for (int i = 0; i < entries && isEntry(at) && target.size() < MAX_ENTRIES; i++) {
            int length = in.getShort(at + 4) & 0xffff;
            byte[] path = Arrays.copyOfRange(bytes, at + FIXED, at + FIXED + length);
            Entry known = entryAt(at, path);
            if (!gone.contains(known.content.source.name)) {
                target.putIfAbsent(ByteBuffer.wrap(path), known);
            }
            at += FIXED + length;
        }
    }

    Source[] sources() {
        return sources.clone();
    }

    /**
     * Puts {@code fresh}, and what {@code before} knows of other paths and of sources that are not {@code gone}, in the place of {@code file}.
     *
     * @param draft where it is written first, on the same file system
     * @param before null if nothing was known
     * @param gone names of sources that are nowhere any more
     */
    static void write(Path file, Path draft, List<Entry> fresh, StatCache before, Set<String> gone, Settled settled) throws IOException {
        Map<ByteBuffer, Entry> all = new LinkedHashMap<>();
        for (int i = 0; i < fresh.size() && all.size() < MAX_ENTRIES; i++) {
            all.put(ByteBuffer.wrap(fresh.get(i).path), fresh.get(i));
        }
        if (before != null) {
            before.into(all, gone);
        }
        byte[] bytes = encode(new ArrayList<>(all.values()), settled);
        Files.deleteIfExists(draft);
        try (FileChannel out = FileChannel.open(draft, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            ByteBuffer left = ByteBuffer.wrap(bytes);
            while (left.hasRemaining()) {
                out.write(left);
            }
        }
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** As many of the first as there is room for. */
    private static byte[] encode(List<Entry> list, Settled settled) {
        Map<String, Integer> sources = new LinkedHashMap<>();
        List<Source> named = new ArrayList<>();
        int head = HEAD;
        int count = 0;
        long length = 0;
        int slots = 2;
        for (Entry e : list) {
            boolean isNew = !sources.containsKey(e.content.source.key);
            int more = isNew ? SOURCE + e.content.source.name.length() : 0;
            int wider = count + 1 > slots / 2 ? slots * 2 : slots;
            if (head + more + length + FIXED + e.path.length + 8L * wider > MAX_BYTES) {
                break;
            }
            if (isNew) {
                sources.put(e.content.source.key, named.size());
                named.add(e.content.source);
                head += more;
            }
            slots = wider;
            length += FIXED + e.path.length;
            count++;
        }
        byte[] bytes = new byte[(int) (head + length + 8L * slots)];
        ByteBuffer out = ByteBuffer.wrap(bytes);
        out.putInt(MARK).putInt(VERSION).putInt(bytes.length).putInt(named.size()).putInt(count).putInt(slots);
        out.putLong(settled.bootHigh).putLong(settled.bootLow).putLong(settled.dev).putLong(settled.capabilities).putLong(FileState.now()).putInt(0);
        for (int i = 0; i < named.size(); i++) {
            Source source = named.get(i);
            out.putLong(source.ino).putLong(source.size).putLong(source.mtime);
            out.putShort((short) source.name.length()).put(source.name.getBytes(StandardCharsets.US_ASCII));
        }
        out.putInt(HEAD - 4, headCheck(bytes, head));
        StatCache tables = new StatCache(bytes, new Source[0], count, slots, head, false, false);
        out.position(head + 8 * slots);
        for (int i = 0; i < count; i++) {
            Entry e = list.get(i);
            int at = out.position();
            out.putInt(0).putShort((short) e.path.length).putShort((short) ((e.settled ? SETTLED : 0) | (e.bare ? BARE : 0)));
            out.putInt(sources.get(e.content.source.key));
            out.putLong(e.content.offset).putLong(e.content.size).putLong(e.ino).putLong(e.mtime).putLong(e.ctime).put(e.content.sha).put(e.path);
            out.putInt(at, check(bytes, at, FIXED + e.path.length));
            int slot = tables.slot(e.path);
            while (out.getInt(head + 4 * slot) != 0) {
                slot = slot + 1 & slots - 1;
            }
            out.putInt(head + 4 * slot, at);
            tables.putSha(e.content, at);
        }
        return bytes;
    }

    /** One of those that hold the same is enough. */
    private void putSha(Content content, int at) {
        int slot = shaSlot(content.sha);
        while (true) {
            int there = in.getInt(byPath + 4 * slots + 4 * slot);
            if (there == 0) {
                in.putInt(byPath + 4 * slots + 4 * slot, at);
                return;
            }
            if (isSha(there, content.sha)) {
                return;
            }
            slot = slot + 1 & slots - 1;
        }
    }
}
