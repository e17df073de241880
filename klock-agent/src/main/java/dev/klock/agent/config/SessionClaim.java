package dev.klock.agent.config;

import dev.klock.manifest.Ids;
import dev.klock.manifest.Manifest;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The id of this run, nobody else's in this home (C47): claimed by creating its log file, which only one can do.
 *
 * <p>The id is the manifest's {@code session_id} if no session of this home has it, else {@code ID-2}, {@code ID-3} and so on, with an ID
 * cut where there is no room for the number; without one it is made of the time and a random number.
 */
public final class SessionClaim {
    /** The most characters of an id in a file's name, so that an ending still fits. */
    private static final int MAX_NAME_LENGTH = 200;

    private static final int ATTEMPTS = 1000;
    private static final String HEX = "0123456789abcdef";

    private final String id;
    private final File log;

    private SessionClaim(String id, File log) {
        this.id = id;
        this.log = log;
    }

    /**
     * Claims an id. {@code declared} is the manifest's, null if it has none.
     *
     * @throws UsageException the log directory cannot be made or written
     */
    public static SessionClaim claim(Home home, String declared) throws UsageException {
        File dir = home.directory("log");
        String base = declared == null ? generated() : declared;
        long number = firstUnused(home, dir, base);
        try {
            for (int i = 0; i < ATTEMPTS; i++, number++) {
                String id = numbered(base, number);
                File log = logFile(dir, id);
                if (!backups(home, id).exists() && log.createNewFile()) {
                    return new SessionClaim(id, log);
                }
            }
        } catch (IOException e) {
            throw new UsageException("klock's log directory " + dir + " cannot be written: " + Home.reason(e));
        }
        throw new UsageException("no unused session id in " + dir + " after " + ATTEMPTS + " attempts from " + numbered(base, 1));
    }

    /** A number of which there is neither a log nor images, found in few looks however many sessions came before. */
    private static long firstUnused(Home home, File dir, String base) {
        long used = 0;
        long unused = 1;
        while (isUsed(home, dir, numbered(base, unused))) {
            used = unused;
            unused *= 2;
        }
        while (unused - used > 1) {
            long middle = (used + unused) >>> 1;
            if (isUsed(home, dir, numbered(base, middle))) {
                used = middle;
            } else {
                unused = middle;
            }
        }
        return unused;
    }

    /** {@code base} with the number behind it, and shorter by as much if there is no room for it; the first has none. */
    private static String numbered(String base, long number) {
        if (number == 1) {
            return base;
        }
        String suffix = "-".concat(Long.toString(number));
        return Ids.shortened(base, Manifest.MAX_ID_BYTES - suffix.length()).concat(suffix);
    }

    private static boolean isUsed(Home home, File dir, String id) {
        return logFile(dir, id).exists() || backups(home, id).exists();
    }

    /** Where a session's images are, which may outlive its log; their directory's name is encoded once more. */
    private static File backups(Home home, String id) {
        return new File(home.directory(), "backups/".concat(fileName(id).replace("%", "%25").replace("~", "%7e")));
    }

    private static File logFile(File dir, String id) {
        return new File(dir, fileName(id).concat(".jsonl"));
    }

    /**
     * The name of session {@code id}'s files, without ending: letters, digits, {@code - _ .} as they are, all else as {@code %XX} of its
     * UTF-8 bytes; a long one is cut and ends in {@code ~} and a hash.
     */
    public static String fileName(String id) {
        StringBuilder name = new StringBuilder();
        byte[] bytes = id.getBytes(StandardCharsets.UTF_8);
        long hash = 0xcbf29ce484222325L;
        for (int i = 0; i < bytes.length; i++) {
            char c = (char) (bytes[i] & 0xff);
            hash = (hash ^ c) * 0x100000001b3L;
            boolean plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' && i > 0;
            if (plain) {
                name.append(c);
            } else {
                name.append('%').append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
            }
        }
        if (name.length() > MAX_NAME_LENGTH) {
            name.setLength(MAX_NAME_LENGTH - 17);
            name.append('~');
            hex(name, hash, 16);
        }
        return name.toString();
    }

    private static void hex(StringBuilder to, long value, int digits) {
        for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4) {
            to.append(HEX.charAt((int) (value >>> shift) & 15));
        }
    }

    /** Sorts by time when sorted by name; the random part keeps two starts of one millisecond apart. */
    private static String generated() {
        StringBuilder id = new StringBuilder("s");
        hex(id, System.currentTimeMillis(), 11);
        id.append('-');
        long random = System.nanoTime() ^ (long) System.identityHashCode(id) << 32;
        random = (random ^ random >>> 33) * 0xff51afd7ed558ccdL;
        hex(id, random ^ random >>> 33, 8);
        return id.toString();
    }

    /** The session's id. */
    public String id() {
        return id;
    }

    /** The session's log file, empty and this session's alone. */
    public File log() {
        return log;
    }
}
