package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * When equal times prove that a file holds what it held when it was read, however long ago: asked before an image of it is made without
 * reading it. Immutable.
 *
 * <p>Three things can change a file and leave its times alone, and each is ruled out:
 * <ul>
 *   <li>A change within one tick of the clock of the one before. A file counts only if it had been at rest long before it was read.
 *   <li>A store to a mapped page. The kernel gives it a time when the page was clean, and then no more until it has written the page back,
 *       which it begins within {@code dirty_expire_centisecs} and one round of {@code dirty_writeback_centisecs} (35 s as a rule). Two such
 *       times, and never less than a minute, must lie between the last time of the file and its reading. File systems that give such stores
 *       no time at all (tmpfs, FUSE, network, overlay) never count.
 *   <li>A power loss that keeps the bytes and loses the time. What was known counts only until the next boot.
 * </ul>
 * And only on the file system that klock's home is on: one that is put back to an earlier state takes what is known of it along.
 */
final class Settled {
    /** Nothing is ever settled. */
    static final Settled NEVER = new Settled(0, 0, 0, 0, Long.MAX_VALUE);

    private static final long MIN_REST_NS = 60_000_000_000L;
    private static final long NS_PER_CENTISECOND = 10_000_000L;
    private static final long NS_PER_S = 1_000_000_000L;

    /** st_dev of the file system; 0 for none. */
    final long dev;
    /** The two halves of the boot's id; 0 if it is not known. */
    final long bootHigh;
    final long bootLow;
    /** The process's capabilities, on which it depends what extended attributes it sees. */
    final long capabilities;
    private final long restNs;

    Settled(long dev, long bootHigh, long bootLow, long capabilities, long restNs) {
        this.dev = dev;
        this.bootHigh = bootHigh;
        this.bootLow = bootLow;
        this.capabilities = capabilities;
        this.restNs = restNs;
    }

    /** For the file system that {@code home}, a real path, is on and that has the number {@code dev}. */
    static Settled at(Path home, long dev) {
        try {
            String boot = kernel("random/boot_id").replace("-", "");
            long expire = Long.parseLong(kernel("vm/dirty_expire_centisecs"));
            long round = Long.parseLong(kernel("vm/dirty_writeback_centisecs"));
            // without such rounds nothing says when a page is written back
            if (round <= 0 || expire <= 0 || boot.length() != 32 || !givesTimes(FileSystemType.of(home))) {
                return NEVER;
            }
            long restNs = Math.max(MIN_REST_NS, Math.multiplyExact(2 * NS_PER_CENTISECOND, Math.addExact(expire, round)));
            return new Settled(dev, Long.parseUnsignedLong(boot.substring(0, 16), 16), Long.parseUnsignedLong(boot.substring(16), 16),
                    ownCapabilities(), restNs);
        } catch (IOException | RuntimeException unknown) {
            return NEVER;
        }
    }

    private static long ownCapabilities() throws IOException {
        String status = new String(Files.readAllBytes(Path.of("/proc/self/status")), StandardCharsets.ISO_8859_1);
        int at = status.indexOf("\nCapEff:");
        if (at < 0) {
            throw new IOException("the kernel does not tell the capabilities");
        }
        return Long.parseUnsignedLong(status.substring(at + "\nCapEff:".length(), status.indexOf('\n', at + 1)).trim(), 16);
    }

    private static String kernel(String name) throws IOException {
        return new String(Files.readAllBytes(Path.of("/proc/sys/".concat(name.startsWith("vm/") ? name : "kernel/".concat(name)))),
                StandardCharsets.ISO_8859_1).trim();
    }

    private static boolean givesTimes(String type) {
        switch (type) {
            case "ext2": case "ext3": case "ext4": case "xfs": case "btrfs": return true;
            default: return false;
        }
    }

    /** Whether a file that was read after the look {@code seen} holds the same as long as its times are these. */
    boolean proves(FileState seen) {
        long latest = seen.taken - restNs;
        // times in whole seconds are those of a file system that has no others, on which a clock that was set back may meet one again
        return dev != 0 && seen.dev == dev && seen.ctime < latest && seen.mtime < latest && seen.ctime % NS_PER_S != 0;
    }
}
