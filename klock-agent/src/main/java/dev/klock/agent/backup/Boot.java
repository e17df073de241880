package dev.klock.agent.backup;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Which boot of the machine this is, and since when. */
final class Boot {
    private static final long NS_PER_S = 1_000_000_000L;
    /** Clocks are put right after a boot: so much nearer to it nothing is told of a time. */
    private static final long MARGIN_S = 2;

    private Boot() {
    }

    /** The kernel's name for it; empty if it has none. */
    static byte[] id() {
        try {
            return Files.readAllBytes(Path.of("/proc/sys/kernel/random/boot_id"));
        } catch (IOException unknown) {
            return new byte[0];
        }
    }

    /**
     * Nanoseconds since the epoch before which this boot had surely not begun, if it is another one than {@code id}; else, or if nothing is
     * known, {@link Long#MIN_VALUE}.
     */
    static long after(byte[] id) {
        if (id == null || id.length == 0 || Arrays.equals(id, id())) {
            return Long.MIN_VALUE;
        }
        try {
            String stat = new String(Files.readAllBytes(Path.of("/proc/stat")), StandardCharsets.US_ASCII);
            int at = stat.indexOf("\nbtime ");
            return at < 0 ? Long.MIN_VALUE
                    : (Long.parseLong(stat.substring(at + "\nbtime ".length(), stat.indexOf('\n', at + 1)).trim()) - MARGIN_S) * NS_PER_S;
        } catch (IOException | RuntimeException unknown) {
            return Long.MIN_VALUE;
        }
    }
}
