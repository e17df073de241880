package dev.klock.shared;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** What the processes of a machine have in common until it is started anew: its boot, and its clock. */
final class Machine {
    private static final String BOOT_ID = "/proc/sys/kernel/random/boot_id";
    private static final String UPTIME = "/proc/uptime";
    private static final String RANDOM = "/dev/urandom";
    /** By so much two readings of one clock may differ that are written down in hundredths of seconds. */
    private static final long SLACK_MS = 1000;

    private static final int MIN_ID = 8;
    private static final int MAX_ID = 64;

    private Machine() {
    }

    /** Letters, digits and dashes. */
    static String bootId() throws IOException {
        String id = text(BOOT_ID);
        if (!isId(id)) {
            throw new IOException(BOOT_ID + " holds no id: " + id);
        }
        return id;
    }

    /** Letters, digits and dashes; no pattern, which would be the first one before a program's main. */
    private static boolean isId(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-')) {
                return false;
            }
        }
        return text.length() >= MIN_ID && text.length() <= MAX_ID;
    }

    /** How long the machine has been up, time asleep included, milliseconds. */
    static long uptimeMs() throws IOException {
        String text = text(UPTIME);
        int dot = text.indexOf('.');
        try {
            int hundredths = Integer.parseInt(text.substring(dot + 1, dot + 3));
            return Long.parseLong(text.substring(0, dot)) * 1000 + hundredths * 10L;
        } catch (RuntimeException e) {
            throw new IOException(UPTIME + " holds no time: " + text, e);
        }
    }

    /** A number that nobody can guess. Not SecureRandom's, which loads its providers before a program's main. */
    static long random() throws IOException {
        byte[] bytes = new byte[Long.BYTES];
        try (InputStream in = new FileInputStream(RANDOM)) {
            if (in.readNBytes(bytes, 0, bytes.length) < bytes.length) {
                throw new IOException(RANDOM + " gives nothing");
            }
        }
        return ByteBuffer.wrap(bytes).getLong();
    }

    /**
     * The moment at which a log began, by this process's {@link System#nanoTime}. That is the machine's own clock, unless somebody has this
     * process see another one; then it cannot be right by the time that the machine has been up, and that is taken instead.
     */
    static long began(LogHeader header) throws IOException {
        long now = System.nanoTime();
        long byClockMs = (now - header.startNanos()) / 1_000_000;
        long byUptimeMs = Math.max(0, uptimeMs() - header.startUptimeMs());
        boolean fits = byClockMs >= -SLACK_MS && byClockMs <= byUptimeMs + SLACK_MS;
        return fits ? header.startNanos() : now - byUptimeMs * 1_000_000;
    }

    private static String text(String file) throws IOException {
        try (InputStream in = new FileInputStream(file)) {
            byte[] bytes = new byte[256];
            return new String(bytes, 0, in.readNBytes(bytes, 0, bytes.length), StandardCharsets.US_ASCII).trim();
        }
    }
}
