package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import java.util.List;

/**
 * One entry of a manifest's {@code hooks:}: calls of a library's methods that count as accesses, and what each of them means. Either a
 * {@linkplain #preset preset} or a type, a method, a predicate and a template. Immutable.
 */
public final class LibraryHook {
    /** The ready-made hooks. */
    static final String[] PRESETS = {"jdbc"};
    /** The schemes that a template may have: the others are resources of the machine, which klock observes itself. */
    static final String[] SCHEMES = {"SYMBOL", "API_ENDPOINT", "CONFIG_KEY", "DB"};
    /** {@link #part}: the class that the called method stands in. */
    public static final int TYPE = -1;
    /** {@link #part}: the name of the called method. */
    public static final int METHOD = -2;

    private final String name;
    private final String preset;
    private final String type;
    private final String method;
    private final List<String> parameters;
    private final Predicate predicate;
    private final String scheme;
    private final List<String> literals;
    private final int[] parts;
    private final int line;
    private final int column;

    LibraryHook(String name, String preset, String type, String method, List<String> parameters, Predicate predicate, String scheme,
            List<String> literals, int[] parts, int line, int column) {
        this.name = name;
        this.preset = preset;
        this.type = type;
        this.method = method;
        this.parameters = parameters == null ? null : List.copyOf(parameters);
        this.predicate = predicate;
        this.scheme = scheme;
        this.literals = List.copyOf(literals);
        this.parts = parts;
        this.line = line;
        this.column = column;
    }

    /** What logs call it; unique in its manifest. */
    public String name() {
        return name;
    }

    /** The ready-made hook that it stands for; null if it has a type and a method of its own, and then all that follows is there. */
    public String preset() {
        return preset;
    }

    /** The binary name of the class or interface: it counts, and whatever extends or implements it. */
    public String type() {
        return type;
    }

    /** The method's simple name. */
    public String method() {
        return method;
    }

    /** The types of the method's parameters as Java source has them, binary names for classes; null: every method of that name. */
    public List<String> parameters() {
        return parameters;
    }

    public Predicate predicate() {
        return predicate;
    }

    /** The resource's scheme, upper case. */
    public String scheme() {
        return scheme;
    }

    /** How many variables the template has: the path is {@code literal(0) part(0) literal(1) … literal(parts())}. */
    public int parts() {
        return parts.length;
    }

    /** What stands behind {@link #literal} {@code i}: the argument of this index, from 0, or {@link #TYPE} or {@link #METHOD}. */
    public int part(int i) {
        return parts[i];
    }

    /** The characters before {@link #part} {@code i}, no escapes in them. */
    public String literal(int i) {
        return literals.get(i);
    }

    /** The highest index of an argument that the template names; -1 if it names none. */
    public int lastArgument() {
        int last = -1;
        for (int i = 0; i < parts.length; i++) {
            last = Math.max(last, parts[i]);
        }
        return last;
    }

    /** 1-based line in the file. */
    public int line() {
        return line;
    }

    /** 1-based column in the file. */
    public int column() {
        return column;
    }

    /** What a call means, for people: {@code com.acme.Flags.set means MUTATES CONFIG_KEY:${arg:0}}, or {@code preset jdbc}. */
    public String meaning() {
        if (preset != null) {
            return "preset ".concat(preset);
        }
        StringBuilder b = new StringBuilder(toString()).append(" means ").append(predicate).append(' ').append(scheme).append(':');
        for (int i = 0; i < parts.length; i++) {
            b.append(literals.get(i)).append(parts[i] == TYPE ? "${type}" : parts[i] == METHOD ? "${method}" : "${arg:" + parts[i] + "}");
        }
        return b.append(literals.get(parts.length)).toString();
    }

    /** The calls that it matches, for messages: {@code com.acme.Flags.set(java.lang.String)} or the preset's name. */
    @Override
    public String toString() {
        if (preset != null) {
            return preset;
        }
        return type + '.' + method + (parameters == null ? "" : "(" + String.join(", ", parameters) + ")");
    }
}
