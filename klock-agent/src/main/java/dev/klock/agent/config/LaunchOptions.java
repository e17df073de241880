package dev.klock.agent.config;

import dev.klock.agent.log.Level;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Names;
import dev.klock.manifest.Setting;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings of this launch, each with where it came from. Immutable.
 *
 * <p>From strong to weak: the agent's argument, {@code -Dklock.KEY}, {@code KLOCK_KEY}, the manifest's {@code klock:} section, the
 * default. The argument is {@code key=value,key=value}; a value may contain {@code =}; {@code \,} is a comma and {@code \\} a backslash
 * inside a value, any other backslash is itself.
 *
 * <p>An empty environment variable counts as unset. An environment variable {@code KLOCK_…} of another name is an error only where it is
 * a typing error's distance from a known one: container platforms make up such variables for a service that happens to be called klock.
 * Properties {@code klock.…} of another name are errors.
 */
public final class LaunchOptions {
    private final String[] values;
    private final Origin[] origins;

    private LaunchOptions(String[] values, Origin[] origins) {
        this.values = values;
        this.origins = origins;
    }

    /**
     * The options of a launch before its manifest is known. {@code agentArgument} is what stands behind {@code klock.jar=}, null or empty
     * if nothing does.
     *
     * @throws UsageException an unknown key, a key given twice, or a value that is none
     */
    public static LaunchOptions read(String agentArgument, LaunchEnvironment environment) throws UsageException {
        Option[] all = Option.all();
        String[] values = new String[all.length];
        Origin[] origins = new Origin[all.length];
        if (agentArgument != null) {
            readArgument(agentArgument, values, origins);
        }
        refuseUnknownProperties(environment);
        refuseMistypedVariables(environment);
        for (int i = 0; i < all.length; i++) {
            Option option = all[i];
            String property = environment.property(option.property());
            String variable = environment.variable(option.variable());
            if (values[i] == null && property != null) {
                check(option, property, "-D".concat(option.property()));
                values[i] = property;
                origins[i] = Origin.PROPERTY;
            }
            if (values[i] == null && variable != null && !variable.isEmpty()) {
                check(option, variable, option.variable());
                values[i] = variable;
                origins[i] = Origin.ENVIRONMENT;
            }
            if (values[i] == null) {
                values[i] = option.byDefault();
                origins[i] = Origin.DEFAULT;
            }
        }
        return new LaunchOptions(values, origins);
    }

    private static void readArgument(String argument, String[] values, Origin[] origins) throws UsageException {
        StringBuilder item = new StringBuilder();
        for (int i = 0; i <= argument.length(); i++) {
            char c = i < argument.length() ? argument.charAt(i) : ',';
            if (c == '\\' && i + 1 < argument.length() && (argument.charAt(i + 1) == ',' || argument.charAt(i + 1) == '\\')) {
                item.append(argument.charAt(++i));
            } else if (c == ',') {
                if (item.length() > 0) {
                    readItem(item.toString(), values, origins);
                }
                item.setLength(0);
            } else {
                item.append(c);
            }
        }
    }

    /** The value that the agent's argument {@code argument} gives {@code option}; null if none, or if it is no argument that klock takes. */
    public static String given(Option option, String argument) {
        String[] values = new String[Option.all().length];
        try {
            readArgument(argument, values, new Origin[values.length]);
        } catch (UsageException refused) {
            return null;
        }
        return values[option.ordinal()];
    }

    /** The agent argument that gives {@code option} this value, escaped; several are joined by commas. */
    public static String argument(Option option, String value) {
        StringBuilder item = new StringBuilder(option.key()).append('=');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            boolean mark = c == ',' || c == '\\' && (i + 1 == value.length() || value.charAt(i + 1) == ',' || value.charAt(i + 1) == '\\');
            if (mark) {
                item.append('\\');
            }
            item.append(c);
        }
        return item.toString();
    }

    private static void readItem(String item, String[] values, Origin[] origins) throws UsageException {
        int equals = item.indexOf('=');
        if (equals < 0) {
            if (Option.of(item) != null) {
                throw new UsageException("agent argument " + item + " needs a value: " + item + "=" + Option.of(item).example());
            }
            if (Mode.of(item) != null) {
                throw new UsageException("agent argument " + Quoted.of(item) + " is not of the form key=value; did you mean mode=" + item + "?");
            }
            boolean file = item.endsWith(".yaml") || item.endsWith(".yml") || item.endsWith(".json");
            throw new UsageException("agent argument " + Quoted.of(item) + " is not of the form key=value"
                    + (file ? "; did you mean manifest=" + item + "?" : didYouMean(item)));
        }
        String key = item.substring(0, equals);
        Option option = Option.of(key);
        if (option == null) {
            throw new UsageException("unknown agent argument " + Quoted.of(key) + didYouMean(key));
        }
        if (values[option.ordinal()] != null) {
            throw new UsageException("agent argument " + key + " is given twice");
        }
        String value = item.substring(equals + 1);
        check(option, value, "agent argument ".concat(key));
        values[option.ordinal()] = value;
        origins[option.ordinal()] = Origin.ARGUMENT;
    }

    private static String didYouMean(String key) {
        String[] known = Option.keys();
        String nearest = Names.nearest(key, known);
        if (nearest != null) {
            return "; did you mean " + nearest + "?";
        }
        StringBuilder line = new StringBuilder("; known are ");
        for (int i = 0; i < known.length; i++) {
            line.append(i == 0 ? "" : ", ").append(known[i]);
        }
        return line.toString();
    }

    private static void refuseUnknownProperties(LaunchEnvironment environment) throws UsageException {
        for (String name : environment.propertyNames()) {
            if (name.startsWith("klock.") && !name.startsWith("klock.test.") && Option.of(name.substring("klock.".length())) == null) {
                throw new UsageException("unknown system property " + Quoted.of(name) + didYouMean(name.substring("klock.".length())));
            }
        }
    }

    private static void refuseMistypedVariables(LaunchEnvironment environment) throws UsageException {
        Option[] all = Option.all();
        String[] known = new String[all.length];
        for (int i = 0; i < all.length; i++) {
            known[i] = all[i].variable();
        }
        for (String name : environment.variableNames()) {
            if (name.startsWith("KLOCK_") && !contains(known, name)) {
                String nearest = Names.nearest(name, known);
                if (nearest != null) {
                    throw new UsageException("unknown environment variable " + Quoted.of(name) + "; did you mean " + nearest + "?");
                }
            }
        }
    }

    private static boolean contains(String[] names, String name) {
        for (String each : names) {
            if (each.equals(name)) {
                return true;
            }
        }
        return false;
    }

    private static void check(Option option, String value, String where) throws UsageException {
        String objection = option.objection(value);
        if (objection != null) {
            throw new UsageException(where + " " + objection);
        }
    }

    /**
     * These options with what the manifest's {@code klock:} section adds where nothing stronger was given.
     *
     * @throws UsageException an unknown key, one that a manifest cannot hold, a value that is none, or one that protects less than the
     *     default: a manifest may only tighten, whatever else was given
     */
    public LaunchOptions withManifest(Manifest manifest) throws UsageException {
        String[] newValues = values.clone();
        Origin[] newOrigins = origins.clone();
        for (Setting setting : manifest.settings()) {
            String key = setting.key();
            String value = setting.value();
            String place = manifest.file() + ":" + setting.line() + ":" + setting.column() + ": klock." + key;
            Option option = Option.of(key);
            if (option == null) {
                throw new UsageException(place + " is not a known setting" + didYouMean(key));
            }
            if (option.inManifest == Option.InManifest.NO) {
                throw new UsageException(place + " cannot be set in a manifest; "
                        + (option == Option.AGENT ? "write agent_id" : elsewhere(option, "...")));
            }
            check(option, value, place);
            if (option.inManifest == Option.InManifest.NOT_LOOSER && option.isLooser(value)) {
                throw new UsageException(place + ": " + value + " is looser than the default " + option.byDefault()
                        + " and a manifest may only tighten; " + elsewhere(option, value));
            }
            int i = option.ordinal();
            if (newOrigins[i] == Origin.DEFAULT) {
                newValues[i] = value;
                newOrigins[i] = Origin.MANIFEST;
            }
        }
        return new LaunchOptions(newValues, newOrigins);
    }

    private static String elsewhere(Option option, String value) {
        return "give " + option.key() + "=" + value + " as agent argument, or -D" + option.property() + " or " + option.variable();
    }

    /** One line for each option that protects less than the default, or would in another mode; to be shown on stderr whatever {@code log.level} is. Empty if there is none. */
    public List<String> loosened() {
        List<String> lines = new ArrayList<>(2);
        Option[] all = Option.all();
        for (int i = 0; i < all.length; i++) {
            Option option = all[i];
            if (option == Option.AMEND && amend() && mode() != Mode.PERMISSIVE) {
                lines.add("amend is true, by " + where(option) + ", but does something in permissive mode only");
            } else if (option.inManifest == Option.InManifest.NOT_LOOSER && option.isLooser(values[i])) {
                lines.add(option.key() + " is " + values[i] + " instead of " + option.byDefault() + ", by " + where(option));
            }
        }
        return lines;
    }

    /** Where the value comes from, in words, with the name that it has there. */
    public String where(Option option) {
        Origin origin = origin(option);
        if (origin == Origin.PROPERTY) {
            return origin.words() + " " + option.property();
        }
        return origin == Origin.ENVIRONMENT ? origin.words() + " " + option.variable() : origin.words();
    }

    /** The value as text, null if it has none. */
    public String text(Option option) {
        return values[option.ordinal()];
    }

    /** Where the value comes from. */
    public Origin origin(Option option) {
        return origins[option.ordinal()];
    }

    /** What happens to an access outside the scope. */
    public Mode mode() {
        return Mode.of(text(Option.MODE));
    }

    /** The agent id that replaces the manifest's, null if it stays. */
    public String agent() {
        return text(Option.AGENT);
    }

    /** Milliseconds of such a text as {@code 30s}, {@code 500ms}, {@code 2m}, {@code 1h} or {@code 0}; -1 if it is not one or above 24 h. */
    public static long durationMs(String text) {
        return Option.durationMs(text);
    }

    /** How long to wait for a lease, in milliseconds. */
    public long waitTimeoutMs() {
        return Option.durationMs(text(Option.WAIT_TIMEOUT));
    }

    /** How long leases last without a heartbeat, milliseconds. */
    public long leaseTtlMs() {
        return Option.durationMs(text(Option.LEASE_TTL));
    }

    /** Whether permissive mode takes a lease for what was not declared when nothing conflicts (K6-3). */
    public boolean amend() {
        return text(Option.AMEND).equals("true");
    }

    /** How much klock says on stderr. */
    public Level logLevel() {
        return Level.of(text(Option.LOG_LEVEL));
    }

    /** Block mode: how many times one denied intent may come before the session ends as in strict mode. */
    public int denialsLimit() {
        return count(Option.DENIALS_LIMIT);
    }

    /** The most bytes imaged before one opaque child starts. */
    public long backupMaxBytes() {
        return Option.bytes(text(Option.BACKUP_MAX_BYTES));
    }

    /** The most files imaged before one opaque child starts. */
    public int backupMaxFiles() {
        return count(Option.BACKUP_MAX_FILES);
    }

    private int count(Option option) {
        String text = text(option);
        return (int) Option.number(text, 0, text.length());
    }
}
