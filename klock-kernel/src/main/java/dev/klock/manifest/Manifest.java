package dev.klock.manifest;

import dev.klock.kernel.ConflictMatrix;
import dev.klock.kernel.Predicate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** An agent's declared intents (K1-11), read and judged valid by {@link ManifestReader}. Immutable. */
public final class Manifest {
    /** The only value of {@code ver}. */
    public static final String VERSION = "1.0";
    /** Largest file, bytes. */
    public static final int MAX_BYTES = 4 << 20;
    /** Most triples in scope, deny, effects and tests together. */
    public static final int MAX_TRIPLES = 10_000;
    /** Most hooks on libraries. */
    public static final int MAX_HOOKS = 200;
    /** Longest session and agent id, bytes of UTF-8. */
    public static final int MAX_ID_BYTES = 256;
    /** {@link #priorityTimestamp()} when the manifest has none. */
    public static final long NO_TIMESTAMP = -1;

    /** How far a predicate reaches (K1-16): what conflicts with more is severer. By {@link Predicate#ordinal()}. */
    private static final int[] SEVERITY = {
        /* PROVIDES   */ 2,
        /* CONSUMES   */ 1,
        /* MUTATES    */ 3,
        /* DELETES    */ 5,
        /* DEPENDS_ON */ 0,
        /* RENAMES    */ 4,
    };

    private final String file;
    private final String sessionId;
    private final String agentId;
    private final long priorityTimestamp;
    private final List<Line> scope;
    private final List<Line> deny;
    private final List<Line> testAllows;
    private final List<Line> testDenies;
    private final List<LibraryHook> hooks;
    private final List<Setting> settings;
    private final List<String> warnings;
    private final List<Manifest> agents;
    private final String[] consulted;

    Manifest(String file, String sessionId, String agentId, long priorityTimestamp, List<Line> scope, List<Line> deny,
            List<Line> testAllows, List<Line> testDenies, List<LibraryHook> hooks, List<Setting> settings,
            List<String> warnings, List<Manifest> agents, String[] consulted) {
        this.file = file;
        this.sessionId = sessionId;
        this.agentId = agentId;
        this.priorityTimestamp = priorityTimestamp;
        this.scope = List.copyOf(scope);
        this.deny = List.copyOf(deny);
        this.testAllows = List.copyOf(testAllows);
        this.testDenies = List.copyOf(testDenies);
        this.hooks = List.copyOf(hooks);
        this.settings = List.copyOf(settings);
        this.warnings = List.copyOf(warnings);
        this.agents = List.copyOf(agents);
        this.consulted = consulted;
    }

    /** The file's name as the reader was given it. */
    public String file() {
        return file;
    }

    /** The session id; null when the manifest has none: the run generates one (C47). */
    public String sessionId() {
        return sessionId;
    }

    /** The agent id: the one given from outside, else the manifest's; never null. */
    public String agentId() {
        return agentId;
    }

    /** Milliseconds since 1970, small is old; {@link #NO_TIMESTAMP} when missing: the start of the run counts (C47). */
    public long priorityTimestamp() {
        return priorityTimestamp;
    }

    /** The scope, in the file's order; a line's index here is its identity in decisions and logs. */
    public List<Line> scope() {
        return scope;
    }

    /** What is denied whatever the scope says, in the file's order. */
    public List<Line> deny() {
        return deny;
    }

    /** Triples that {@code validate} must find allowed. */
    public List<Line> testAllows() {
        return testAllows;
    }

    /** Triples that {@code validate} must find not allowed. */
    public List<Line> testDenies() {
        return testDenies;
    }

    /** The hooks on libraries, in the file's order; empty if it has none. */
    public List<LibraryHook> hooks() {
        return hooks;
    }

    /** The {@code klock:} section, in the file's order; keys are known ones, values are not yet judged. */
    public List<Setting> settings() {
        return settings;
    }

    /** What is valid but probably not meant, one line each, with file, line and column. */
    public List<String> warnings() {
        return warnings;
    }

    /** The agents that may have sessions of their own in the process, each with its own scope; empty if it is the only one. */
    public List<Manifest> agents() {
        return agents;
    }

    /** What is declared for the agent {@code id}: this, if that is its own or null; null if it is nobody's here. */
    public Manifest agent(String id) {
        if (id == null || id.equals(agentId)) {
            return this;
        }
        for (int i = 0; i < agents.size(); i++) {
            if (agents.get(i).agentId().equals(id)) {
                return agents.get(i);
            }
        }
        return null;
    }

    /** Whom {@link #agent} knows, for messages. */
    public String agentIds() {
        StringBuilder ids = new StringBuilder(agentId);
        for (int i = 0; i < agents.size(); i++) {
            ids.append(", ").append(agents.get(i).agentId());
        }
        return ids.toString();
    }

    /** Whether one cannot be leased to another session while the other is. */
    static boolean meet(Line a, Line b) {
        return (ConflictMatrix.conflictMask(a.predicate()) & b.predicate().bit()) != 0 && a.resource().overlaps(b.resource())
                && !(a.resource().scheme().equals("PROCESS") && a.predicate() == Predicate.PROVIDES && b.predicate() == Predicate.PROVIDES);
    }

    /** What {@link Consulted} noted while this was read. */
    String[] consulted() {
        return consulted;
    }

    /**
     * The triples to take leases for: scope and effects, one per resource, with the severest predicate declared for it (K1-16), in
     * the order of first mention. Starting a program takes no lease here: it is taken on each instance when it starts (C48). Nor does what
     * the process only looks at and one of its {@link #agents} may change: it would keep them from it as long as it runs.
     */
    public List<Line> leases() {
        Map<String, Integer> places = new HashMap<>();
        List<Line> leases = new ArrayList<>();
        addLeases(scope, places, leases);
        return agents.isEmpty() ? List.copyOf(leases) : withoutThoseOfAgents(leases);
    }

    private List<Line> withoutThoseOfAgents(List<Line> leases) {
        List<Line> theirs = new ArrayList<>();
        for (int i = 0; i < agents.size(); i++) {
            theirs.addAll(agents.get(i).leases());
        }
        List<Line> left = new ArrayList<>(leases.size());
        for (int i = 0; i < leases.size(); i++) {
            if (leases.get(i).predicate().changes() || !isMet(leases.get(i), theirs)) {
                left.add(leases.get(i));
            }
        }
        return List.copyOf(left);
    }

    private static boolean isMet(Line line, List<Line> theirs) {
        for (int i = 0; i < theirs.size(); i++) {
            if (meet(line, theirs.get(i))) {
                return true;
            }
        }
        return false;
    }

    private static void addLeases(List<Line> lines, Map<String, Integer> places, List<Line> leases) {
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            if (line.predicate() != Predicate.PROVIDES || !line.resource().scheme().equals("PROCESS")) {
                String key = line.resource().toString();
                Integer place = places.get(key);
                if (place == null) {
                    places.put(key, leases.size());
                    leases.add(line);
                } else if (severity(line.predicate()) > severity(leases.get(place).predicate())) {
                    leases.set(place, line);
                }
            }
            if (line.effects() != null) {
                addLeases(line.effects(), places, leases);
            }
        }
    }

    /** How severe holding {@code predicate} is (K1-16): DEPENDS_ON, CONSUMES, PROVIDES, MUTATES, RENAMES, DELETES, rising. */
    public static int severity(Predicate predicate) {
        return SEVERITY[predicate.ordinal()];
    }
}
