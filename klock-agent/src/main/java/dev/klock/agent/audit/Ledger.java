package dev.klock.agent.audit;

import dev.klock.agent.weave.HookTable;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What people have judged each native method of the run-time image to be: a door, whose every Java caller must be hooked, or benign for
 * a reason. Two tables beside the hook table hold it: {@code natives.tsv} names natives one by one, {@code natives-image.tsv} covers the
 * rest of the image, by a trailing {@code *} where nothing that could be a path, an address or a descriptor goes in.
 */
public final class Ledger {
    static final String[] TABLES = {"natives.tsv", "natives-image.tsv"};
    private static final int LEAST_COLUMNS = 3;

    /** One row. Immutable. */
    public static final class Entry {
        /** {@code class.method}, or the beginning of such names with a trailing {@code *}. */
        public final String pattern;
        /** Whether its callers must be hooked. */
        public final boolean door;
        /** Why it is benign; "-" for a door. */
        public final String reason;
        private final boolean ints;
        private final boolean longs;

        private Entry(String pattern, boolean door, String reason, String numbers) {
            this.pattern = pattern;
            this.door = door;
            this.reason = reason;
            ints = contains(numbers, "int");
            longs = contains(numbers, "long");
        }

        /** Whether it covers more than one name. */
        public boolean isPattern() {
            return pattern.endsWith("*");
        }

        private boolean covers(String descriptor) {
            return !isPattern() || !takesName(descriptor) && (ints || !takes(descriptor, 'I')) && (longs || !takes(descriptor, 'J'));
        }

        private static boolean contains(String list, String word) {
            for (String one : HookTable.split(list, ',')) {
                if (one.equals(word)) {
                    return true;
                }
            }
            return false;
        }
    }

    private final Map<String, Entry> exact = new HashMap<>();
    private final List<Entry> patterns = new ArrayList<>();
    private final Set<String> doorMethods = new HashSet<>();
    private int entries;

    private Ledger() {
    }

    /** Reads the rows for {@code release}, which is one that the hook table lists ({@link HookTable#release()}). */
    public static Ledger forRelease(int release) {
        Ledger ledger = new Ledger();
        for (String table : TABLES) {
            ledger.read(table, Integer.toString(release));
        }
        return ledger;
    }

    private void read(String table, String release) {
        try (InputStream in = HookTable.open(table);
             BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.isEmpty() || line.charAt(0) == '#') {
                    continue;
                }
                String[] row = HookTable.split(line, '\t');
                if (row.length < LEAST_COLUMNS) {
                    throw new IllegalStateException(table + ": too few columns: " + line);
                }
                for (String listed : HookTable.split(row[0], ',')) {
                    if (listed.equals(release)) {
                        add(table, line, row);
                    }
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(table + " cannot be read", e);
        }
    }

    private void add(String table, String line, String[] row) {
        boolean door = row[2].equals("door");
        String reason = row.length > 3 ? row[3] : "-";
        if (!door && (!row[2].equals("benign") || reason.length() < 2)) {
            throw new IllegalStateException(table + ": a native is a door, or benign for a reason: " + line);
        }
        Entry entry = new Entry(row[1], door, reason, row.length > 4 ? row[4] : "-");
        entries++;
        if (entry.isPattern()) {
            if (door) {
                throw new IllegalStateException(table + ": a door is named in full: " + line);
            }
            patterns.add(entry);
        } else {
            if (exact.put(entry.pattern, entry) != null) {
                throw new IllegalStateException(table + ": judged twice: " + line);
            }
            if (door) {
                doorMethods.add(entry.pattern.substring(entry.pattern.indexOf('.') + 1));
            }
        }
    }

    /**
     * The row that judges a native: the one of its own name, else the longest beginning, if that one was reviewed for what this native
     * takes; null if nobody has judged it.
     */
    public Entry judge(String owner, String method, String descriptor) {
        String name = owner.concat(".").concat(method);
        Entry own = exact.get(name);
        if (own != null) {
            return own;
        }
        Entry longest = null;
        for (int i = 0; i < patterns.size(); i++) {
            Entry entry = patterns.get(i);
            int length = entry.pattern.length() - 1;
            if (name.regionMatches(0, entry.pattern, 0, length) && (longest == null || length >= longest.pattern.length())) {
                longest = entry;
            }
        }
        return longest != null && longest.covers(descriptor) ? longest : null;
    }

    /** The doors, {@code class.method} with the class's internal name. */
    public List<String> doors() {
        List<String> doors = new ArrayList<>();
        for (Entry entry : exact.values()) {
            if (entry.door) {
                doors.add(entry.pattern);
            }
        }
        return doors;
    }

    /** How many rows the release has. */
    public int entries() {
        return entries;
    }

    /** The simple names of all doors' methods, to look for. */
    Set<String> doorMethods() {
        return doorMethods;
    }

    /** Whether a parameter could name something outside the JVM: a text, bytes, a file, a descriptor or an address object. */
    static boolean takesName(String descriptor) {
        int end = descriptor.indexOf(')');
        for (int i = 1; i < end; i++) {
            char c = descriptor.charAt(i);
            if (c == 'L') {
                int semicolon = descriptor.indexOf(';', i);
                if (names(descriptor.substring(i + 1, semicolon))) {
                    return true;
                }
                i = semicolon;
            } else if (c == '[' && descriptor.charAt(i + 1) == 'B') {
                return true;
            }
        }
        return false;
    }

    private static boolean names(String type) {
        return type.equals("java/lang/String") || type.equals("java/nio/ByteBuffer") || type.equals("java/nio/MappedByteBuffer")
                || type.startsWith("java/io/") || type.startsWith("java/nio/file/") || type.startsWith("java/net/")
                || type.startsWith("sun/nio/fs/");
    }

    private static boolean takes(String descriptor, char number) {
        int end = descriptor.indexOf(')');
        for (int i = 1; i < end; i++) {
            char c = descriptor.charAt(i);
            if (c == 'L') {
                i = descriptor.indexOf(';', i);
            } else if (c == number) {
                return true;
            }
        }
        return false;
    }
}
