package dev.klock.agent.config;

import dev.klock.agent.log.Level;
import dev.klock.manifest.Ids;
import dev.klock.manifest.Names;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The options of a launch: the table behind the agent's arguments, {@code -Dklock.KEY}, {@code KLOCK_KEY} and the manifest's
 * {@code klock:} section. A new one is one row here.
 */
public enum Option {
    MANIFEST("manifest", null, Kind.TEXT, InManifest.NO),
    MODE("mode", "strict", Kind.MODE, InManifest.NOT_LOOSER),
    HOME("home", null, Kind.TEXT, InManifest.NO),
    AGENT("agent", null, Kind.ID, InManifest.NO),
    WAIT_TIMEOUT("wait-timeout", "30s", Kind.DURATION, InManifest.YES),
    /** How long leases last that nobody renews: a program that is stopped for longer has lost them. The kernel cuts what is above its cap. */
    LEASE_TTL("lease-ttl", "60s", Kind.DURATION, InManifest.YES),
    /** The file with the public keys of whom a manifest has to be signed by. */
    REQUIRE_SIGNED("require-signed", null, Kind.TEXT, InManifest.NO),
    AMEND("amend", "false", Kind.FLAG, InManifest.NOT_LOOSER),
    LOG_LEVEL("log.level", "warn", Kind.LEVEL, InManifest.YES),
    /** Block mode: how often the same denied intent may come again before the session ends as in strict mode. */
    DENIALS_LIMIT("denials.limit", "20", Kind.COUNT, InManifest.NOT_LOOSER),
    /** The most that is imaged before one opaque child starts; above it the child is denied. */
    BACKUP_MAX_BYTES("backup.max-bytes", "4g", Kind.SIZE, InManifest.YES),
    /** The same for the number of files. */
    BACKUP_MAX_FILES("backup.max-files", "200000", Kind.COUNT, InManifest.YES);

    /** What a value looks like. */
    enum Kind { TEXT, ID, MODE, FLAG, LEVEL, DURATION, SIZE, COUNT }

    /** Whether the manifest's section may hold it: a manifest found by walking up must not be able to weaken the protection. */
    enum InManifest { YES, NOT_LOOSER, NO }

    /** The longest duration one may ask for. */
    static final long MAX_DURATION_MS = 24L * 60 * 60 * 1000;

    private static final Option[] ALL = values();
    private static final String[] MODES = {"strict", "block", "permissive", "learn", "off"};
    private static final String[] LEVELS = {"error", "warn", "info", "debug"};
    private static final String[] FLAGS = {"true", "false"};

    final Kind kind;
    final InManifest inManifest;
    private final String key;
    private final String byDefault;

    Option(String key, String byDefault, Kind kind, InManifest inManifest) {
        this.key = key;
        this.byDefault = byDefault;
        this.kind = kind;
        this.inManifest = inManifest;
    }

    /** The key of the agent's arguments and of the manifest's section. */
    public String key() {
        return key;
    }

    /** The system property. */
    public String property() {
        return "klock.".concat(key);
    }

    /** The environment variable. */
    public String variable() {
        StringBuilder name = new StringBuilder("KLOCK_");
        for (int i = 0; i < key.length(); i++) {
            char c = key.charAt(i);
            name.append(c >= 'a' && c <= 'z' ? (char) (c - 'a' + 'A') : '_');
        }
        return name.toString();
    }

    /** The text of the default, null where there is none or it depends on the others. */
    public String byDefault() {
        return byDefault;
    }

    /** The option with this {@link #key()}, null if there is none. */
    public static Option of(String key) {
        for (Option option : ALL) {
            if (option.key.equals(key)) {
                return option;
            }
        }
        return null;
    }

    /** All keys. */
    public static String[] keys() {
        String[] keys = new String[ALL.length];
        for (int i = 0; i < ALL.length; i++) {
            keys[i] = ALL[i].key;
        }
        return keys;
    }

    static Option[] all() {
        return ALL;
    }

    /** The values, if there are only a few; else empty. */
    public List<String> words() {
        return kind == Kind.MODE ? Arrays.asList(MODES) : kind == Kind.LEVEL ? Arrays.asList(LEVELS) : kind == Kind.FLAG ? Arrays.asList(FLAGS) : new ArrayList<>();
    }

    /** What is wrong with {@code text} as a value of this option and what would be right, null if nothing is. */
    String objection(String text) {
        if (text.isEmpty()) {
            return "needs a value: ".concat(key).concat("=").concat(example());
        }
        if (kind == Kind.ID) {
            String[] objection = Ids.objection(text);
            return objection == null ? null : objection[0] + "; " + objection[1];
        }
        if (kind == Kind.MODE) {
            return Mode.of(text) != null ? null : oneOf(text, MODES);
        }
        if (kind == Kind.LEVEL) {
            return Level.of(text) != null ? null : oneOf(text, LEVELS);
        }
        if (kind == Kind.FLAG) {
            return text.equals("true") || text.equals("false") ? null : oneOf(text, FLAGS);
        }
        if (kind == Kind.DURATION) {
            return durationMs(text) >= 0 ? null : "must be a duration of at most 24h such as 30s, 500ms, 2m or 1h, not " + Quoted.of(text);
        }
        if (kind == Kind.SIZE) {
            return bytes(text) >= 0 ? null : "must be a size such as 512m, 4g or a number of bytes, not " + Quoted.of(text);
        }
        if (kind == Kind.COUNT) {
            long count = number(text, 0, text.length());
            return count >= 1 && count <= Integer.MAX_VALUE ? null : "must be a whole number from 1 on, not " + Quoted.of(text);
        }
        return text.indexOf('\0') < 0 ? null : "must not contain a NUL character";
    }

    /** A value, for a message that asks for one. */
    String example() {
        if (kind == Kind.TEXT) {
            return "PATH";
        }
        return byDefault == null ? "NAME" : byDefault;
    }

    private static String oneOf(String text, String[] words) {
        StringBuilder line = new StringBuilder("must be ");
        for (int i = 0; i < words.length; i++) {
            line.append(i == 0 ? "" : i == words.length - 1 ? " or " : ", ").append(words[i]);
        }
        line.append(", not ").append(Quoted.of(text));
        String nearest = Names.nearest(text, words);
        if (nearest != null) {
            line.append(" (did you mean ").append(nearest).append("?)");
        }
        return line.toString();
    }

    /** Whether {@code text} protects less than the default. Both are valid values. */
    boolean isLooser(String text) {
        if (this == MODE) {
            return Mode.of(text).compareTo(Mode.of(byDefault)) < 0;
        }
        if (this == AMEND) {
            return text.equals("true");
        }
        if (this == DENIALS_LIMIT) {
            return number(text, 0, text.length()) > number(byDefault, 0, byDefault.length());
        }
        return false;
    }

    /** Milliseconds of {@code 30s}, {@code 500ms}, {@code 2m}, {@code 1h} or {@code 0}; -1 if it is not such a text or above 24 h. */
    static long durationMs(String text) {
        int digits = digits(text);
        long value = number(text, 0, digits);
        String unit = text.substring(digits);
        long factor;
        if (unit.equals("ms")) {
            factor = 1;
        } else if (unit.equals("s")) {
            factor = 1000;
        } else if (unit.equals("m")) {
            factor = 60_000;
        } else if (unit.equals("h")) {
            factor = 3_600_000;
        } else {
            return value == 0 && unit.isEmpty() ? 0 : -1;
        }
        return value < 0 || value > MAX_DURATION_MS / factor ? -1 : value * factor;
    }

    /** Bytes of {@code 4096}, {@code 64k}, {@code 512m} or {@code 4g} (powers of 1024); -1 if it is not such a text. */
    static long bytes(String text) {
        int digits = digits(text);
        long value = number(text, 0, digits);
        String unit = text.substring(digits);
        int shift = unit.isEmpty() ? 0 : unit.equals("k") ? 10 : unit.equals("m") ? 20 : unit.equals("g") ? 30 : -1;
        return shift < 0 || value < 0 || value > Long.MAX_VALUE >> shift ? -1 : value << shift;
    }

    /** The decimal number {@code text[from, to)}; -1 if it has no or other characters than digits, or more than 15 of them. */
    static long number(String text, int from, int to) {
        if (to <= from || to - from > 15) {
            return -1;
        }
        long value = 0;
        for (int i = from; i < to; i++) {
            char c = text.charAt(i);
            if (c < '0' || c > '9') {
                return -1;
            }
            value = value * 10 + (c - '0');
        }
        return value;
    }

    private static int digits(String text) {
        int i = 0;
        while (i < text.length() && text.charAt(i) >= '0' && text.charAt(i) <= '9') {
            i++;
        }
        return i;
    }
}
