package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import dev.klock.resource.ResourceSyntaxException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;

/** One reading of one manifest: the parser's tokens from top to bottom, each judged where it stands, then the whole. */
final class ManifestParse {
    static final String[] TOP = {"ver", "session_id", "agent_id", "priority_timestamp", "scope", "deny", "tests", "klock", "agents",
        "hooks", "intents", "priority", "$schema"};
    static final String[] AGENT = {"agent_id", "session_id", "priority_timestamp", "scope", "deny"};
    static final String[] HOOK = {"name", "preset", "type", "method", "predicate", "resource"};
    static final String[] TRIPLE = {"predicate", "resource", "confidence", "effects", "matches", "rejects"};
    static final String[] EFFECT = {"predicate", "resource", "confidence", "matches", "rejects"};
    /** Of {@code tests}, which are samples themselves. */
    static final String[] TEST = {"predicate", "resource", "confidence"};
    static final String[] INTENT = {"predicate", "resource_type", "resource_path", "confidence", "subject", "object", "timestamp",
        "session_id", "id"};
    static final String[] OBJECT = {"resource_type", "path", "type", "resource_path"};
    /** Schemes, and the predicates that mean something of them. */
    private static final String[][] KNOWN = {{"PROCESS", "PROVIDES", "CONSUMES", "DELETES", "MUTATES", "DEPENDS_ON"}, {"ENV", "CONSUMES", "MUTATES", "DEPENDS_ON"},
        {"NATIVE", "CONSUMES"}, {"URL", "CONSUMES", "MUTATES", "DELETES", "PROVIDES", "DEPENDS_ON"}};
    private static final String[] TESTS = {"allows", "denies"};
    private static final String[] PREDICATES = {"PROVIDES", "CONSUMES", "MUTATES", "DELETES", "DEPENDS_ON", "RENAMES"};
    private static final String[] CORE_PREDICATES = {"PROVIDES", "CONSUMES", "MUTATES", "DELETES", "DEPENDS_ON"};
    private static final Predicate[] PREDICATE_VALUES = Predicate.values();
    /** A predicate, and what people write for it. */
    private static final String[][] OTHER_WORDS = {{"CONSUMES", "READ", "READS"}, {"MUTATES", "WRITE", "WRITES", "EDITS", "CHANGES", "MODIFIES", "UPDATES"},
        {"PROVIDES", "CREATE", "CREATES", "MAKES", "RUN", "RUNS", "STARTS", "EXECUTES"}, {"DELETES", "REMOVE", "REMOVES"}, {"RENAMES", "MOVE", "MOVES"}};
    private static final String LEARN = "or, to see what a run needs, move the file away and start with -javaagent:klock.jar=mode=learn: its log tells";

    private static final int MAX_NESTING = 16;
    private static final double HIGH = 1.0;
    private static final double MEDIUM = 0.6;
    private static final double LOW = 0.3;

    private final String file;
    private final Consulted world;
    private final ReadOptions options;
    private final List<String> warnings = new ArrayList<>();
    private Tokens tokens;
    private Token token;
    private int line;
    private int column;
    private int triples;

    private String sessionId;
    private String agentId;
    private long priorityTimestamp = Manifest.NO_TIMESTAMP;
    private List<Line> scope;
    private List<Line> deny = List.of();
    private List<Line> testAllows = List.of();
    private List<Line> testDenies = List.of();
    private final List<Manifest> agents = new ArrayList<>();
    /** Line and column of each agent's id. */
    private final List<int[]> agentPlaces = new ArrayList<>();
    private final List<LibraryHook> hooks = new ArrayList<>();
    private final List<Setting> settings = new ArrayList<>();
    /** Who the triples of the third dialect say their subject is; the first one's place for messages. */
    private String subject;
    private int subjectLine;
    private int subjectColumn;
    private String tripleSession;
    private int tripleSessionLine;
    private int tripleSessionColumn;

    ManifestParse(String file, Variables variables, ReadOptions options) {
        this.file = ManifestException.oneLine(file);
        this.world = new Consulted(variables, options.programs);
        this.options = options;
    }

    Manifest read(byte[] bytes) throws ManifestException {
        if (bytes.length > options.maxBytes) {
            throw whole("is larger than " + options.maxBytes + " bytes", "use patterns (/dir/**) instead of single files");
        }
        ManifestText text = new ManifestText(file);
        text.decode(bytes);
        if (text.isBlank()) {
            throw whole("is empty", "write agent_id and scope, " + LEARN);
        }
        tokens = open(text);
        document();
        return new Manifest(file, sessionId, agentId, priorityTimestamp, scope, deny, testAllows, testDenies, hooks, settings, warnings,
                agents, world.answers());
    }

    private Tokens open(ManifestText text) throws ManifestException {
        if (!text.isJson()) {
            text.hideBraces();
            return new YamlTokens(text, MAX_NESTING);
        }
        try {
            return new JsonTokens(text, MAX_NESTING);
        } catch (Tokens.Problem e) {
            throw broken(e);
        }
    }

    private void document() throws ManifestException {
        next();
        if (token == null || token == Token.NULL) {
            throw at(Math.max(1, line), Math.max(1, column), "is empty", "write agent_id and scope, " + LEARN);
        }
        if (token != Token.MAPPING) {
            throw here("is " + kind() + " where the manifest's fields should be", "write agent_id: ... and scope: [...] at the top level");
        }
        int startLine = line;
        int startColumn = column;
        boolean[] seen = new boolean[TOP.length];
        String timestampField = null;
        String scopeField = null;
        while (next() != Token.MAPPING_END) {
            String field = field(TOP, seen, "field");
            int fieldLine = line;
            int fieldColumn = column;
            switch (field) {
                case "agents":
                    next();
                    agents();
                    break;
                case "hooks":
                    next();
                    hooks();
                    break;
                case "scope":
                case "intents":
                    if (scopeField != null) {
                        throw here("has both " + scopeField + " and " + field, "write all triples under scope");
                    }
                    scopeField = field;
                    next();
                    scope = lines(field);
                    break;
                case "deny":
                    next();
                    deny = lines(field);
                    break;
                case "tests":
                    next();
                    tests();
                    break;
                case "klock":
                    next();
                    settings();
                    break;
                case "priority_timestamp":
                case "priority":
                    if (timestampField != null) {
                        throw here("has both " + timestampField + " and " + field, "write priority_timestamp only");
                    }
                    timestampField = field;
                    next();
                    priorityTimestamp = timestamp(field);
                    break;
                case "session_id":
                    next();
                    sessionId = id(field);
                    break;
                case "agent_id":
                    next();
                    agentId = id(field);
                    break;
                case "ver":
                    next();
                    version();
                    break;
                default:
                    next();
                    if (token != Token.TEXT) {
                        throw wrongType(field, "the schema's address as text");
                    }
                    break;
            }
            if (field.equals("agent_id") || field.equals("session_id")) {
                checkTripleIdentity(fieldLine, fieldColumn);
            }
        }
        next();
        if (token != null) {
            throw here("has more than one document", "keep one manifest in one file");
        }
        judge(startLine, startColumn);
    }

    /** What only the whole document can show. */
    private void judge(int startLine, int startColumn) throws ManifestException {
        if (scope == null) {
            throw at(startLine, startColumn, "has no scope", "write scope: [] to declare nothing, " + LEARN);
        }
        checkTripleIdentity(startLine, startColumn);
        if (agentId == null) {
            agentId = subject;
        }
        if (sessionId == null) {
            sessionId = tripleSession;
        }
        if (options.agentId != null) {
            agentId = options.agentId;
        }
        if (agentId == null) {
            throw at(startLine, startColumn, "has no agent_id", "write agent_id: NAME");
        }
        judge(scope, deny);
        List<Line> held = new ArrayList<>();
        addAll(scope, true, held);
        for (int i = 0; i < agents.size(); i++) {
            Manifest agent = agents.get(i);
            if (agent.agentId().equals(agentId)) {
                throw at(agentPlaces.get(i)[0], agentPlaces.get(i)[1], "agents has another " + agentId,
                        "that is the process's own name: give each agent one of its own");
            }
            judge(agent.scope(), agent.deny());
            List<Line> declared = new ArrayList<>();
            addAll(agent.scope(), false, declared);
            checkApart(agent.agentId(), declared, held);
        }
    }

    /** Adds {@code lines} and their effects; if {@code changing}, only those that change what they are about. */
    private static void addAll(List<Line> lines, boolean changing, List<Line> all) {
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            if (!changing || line.predicate().changes()) {
                all.add(line);
            }
            if (line.effects() != null) {
                addAll(line.effects(), changing, all);
            }
        }
    }

    private void judge(List<Line> allowed, List<Line> denied) throws ManifestException {
        checkContradictions(allowed);
        for (int i = 0; i < allowed.size(); i++) {
            judgeReach(allowed.get(i));
        }
        warnOfDeniedLines(allowed, denied);
        warnOfMeaninglessLines(allowed);
    }

    /** What the process itself may change it holds as long as it runs, so no agent of its own would ever get it. */
    private void checkApart(String agent, List<Line> declared, List<Line> held) throws ManifestException {
        for (int i = 0; i < declared.size(); i++) {
            Line line = declared.get(i);
            for (int k = 0; k < held.size(); k++) {
                Line own = held.get(k);
                if (Manifest.meet(own, line)) {
                    throw at(line.line(), line.column(), line + " of agent " + agent + " meets " + own + " of the process itself (line " + own.line()
                            + "), which holds that as long as it runs", "declare it for one of them");
                }
            }
        }
    }

    /** Several agents in one JVM (KLIS-1): each with its own scope. */
    private void agents() throws ManifestException {
        if (token != Token.LIST) {
            throw wrongType("agents", "a list of agents, each with agent_id and scope");
        }
        while (next() != Token.LIST_END) {
            if (token != Token.MAPPING) {
                throw here("an entry of agents is " + kind(), "write agent_id: ... and scope: [...]");
            }
            agents.add(agent());
        }
        if (agents.isEmpty()) {
            throw here("agents is empty", "leave it out where the process is the only agent");
        }
    }

    private Manifest agent() throws ManifestException {
        int startLine = line;
        int startColumn = column;
        int idLine = line;
        int idColumn = column;
        boolean[] seen = new boolean[AGENT.length];
        String id = null;
        String session = null;
        long age = Manifest.NO_TIMESTAMP;
        List<Line> allowed = null;
        List<Line> denied = List.of();
        while (next() != Token.MAPPING_END) {
            checkIsOfAnAgent(fieldName());
            String field = field(AGENT, seen, "field of an agent");
            next();
            switch (field) {
                case "agent_id":
                    idLine = line;
                    idColumn = column;
                    id = id(field);
                    break;
                case "session_id":
                    session = id(field);
                    break;
                case "priority_timestamp":
                    age = timestamp(field);
                    break;
                case "scope":
                    allowed = lines(field);
                    break;
                default:
                    denied = lines(field);
                    break;
            }
        }
        if (id == null || allowed == null) {
            throw at(startLine, startColumn, "an agent has no " + (id == null ? "agent_id" : "scope"),
                    id == null ? "write agent_id: NAME" : "write scope: [] to declare nothing");
        }
        for (int i = 0; i < agents.size(); i++) {
            if (agents.get(i).agentId().equals(id)) {
                throw at(idLine, idColumn, "agents has " + id + " twice, first on line " + agentPlaces.get(i)[0], "give each agent a name of its own");
            }
        }
        agentPlaces.add(new int[] {idLine, idColumn});
        return new Manifest(file, session, id, age, allowed, denied, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), new String[0]);
    }

    /** What there is once for the whole process is known, and yet no field of an agent. */
    private void checkIsOfAnAgent(String name) throws ManifestException {
        if (isOneOf(name, TOP) && !isOneOf(name, AGENT)) {
            throw here(name + " stands under an agent", name.equals("intents") ? "write its triples under scope"
                    : name.equals("priority") ? "write priority_timestamp" : "write it once, at the top level: it is for the whole process");
        }
    }

    /** A triple's subject and session must be the manifest's: nobody declares for another (KLIS-1 part 7, intent spoofing). */
    private void checkTripleIdentity(int atLine, int atColumn) throws ManifestException {
        if (subject != null && agentId != null && !subject.equals(agentId)) {
            throw at(subjectLine, subjectColumn, "the subject '" + subject + "' is not the manifest's agent '" + agentId + "'",
                    "keep one agent's triples in one manifest");
        }
        if (tripleSession != null && sessionId != null && !tripleSession.equals(sessionId)) {
            throw at(tripleSessionLine, tripleSessionColumn, "the session_id '" + tripleSession + "' is not the manifest's '" + sessionId + "'",
                    "keep one session's triples in one manifest");
        }
    }

    /**
     * DELETES is terminal (K1-6): on one and the same thing nothing may come after it (K1-15). Before it anything may; the lease is
     * then the severest, DELETES. A pattern stands for many things, so there nothing contradicts.
     */
    private void checkContradictions(List<Line> lines) throws ManifestException {
        HashMap<String, Line> deleted = new HashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            Line l = lines.get(i);
            if (l.resource().form() == Resource.Form.EXACT && !deleted.isEmpty() || l.predicate() == Predicate.DELETES) {
                String key = l.resource().toString();
                Line before = deleted.get(key);
                if (l.predicate() == Predicate.DELETES) {
                    if (l.resource().form() == Resource.Form.EXACT && before == null) {
                        deleted.put(key, l);
                    }
                } else if (before != null) {
                    throw at(l.line(), l.column(), l.predicate() + " " + key + " contradicts DELETES on line " + before.line()
                            + ", after which nothing may follow", "write DELETES last, or leave one of them out");
                }
            }
            if (l.effects() != null) {
                checkContradictions(l.effects());
            }
        }
    }

    private void judgeReach(Line l) throws ManifestException {
        String refusal = Reach.refusal(l.predicate(), l.resource(), options);
        if (refusal != null) {
            throw at(l.line(), l.column(), l + " reaches " + refusal, "declare the directories below it that are meant");
        }
        String warning = Reach.warning(l.predicate(), l.resource(), options);
        if (warning != null) {
            warnings.add(ManifestException.message(file, l.line(), l.column(), l + " may read " + warning,
                    "declare the directories that are meant"));
        }
        if (l.effects() != null) {
            for (int i = 0; i < l.effects().size(); i++) {
                judgeReach(l.effects().get(i));
            }
        }
    }

    /** Predicates that nothing a program does to a resource of the scheme is ever mapped to (C49). */
    private void warnOfMeaninglessLines(List<Line> lines) {
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            String scheme = line.resource().scheme();
            for (int k = 0; k < KNOWN.length; k++) {
                String[] known = KNOWN[k];
                if (known[0].equals(scheme) && !Arrays.asList(known).contains(line.predicate().name())) {
                    warnings.add(ManifestException.message(file, line.line(), line.column(), line + " means nothing that a program can do",
                            "of " + scheme + " there is " + String.join(", ", Arrays.asList(known).subList(1, known.length))));
                }
            }
        }
    }

    private void warnOfDeniedLines(List<Line> allows, List<Line> denies) {
        if ((long) allows.size() * denies.size() > 100_000) {
            return;
        }
        for (int i = 0; i < allows.size(); i++) {
            Line allowed = allows.get(i);
            for (int k = 0; k < denies.size(); k++) {
                Line denied = denies.get(k);
                if ((Cover.stops(denied.predicate()) & allowed.predicate().bit()) != 0 && denied.resource().covers(allowed.resource())) {
                    warnings.add(ManifestException.message(file, allowed.line(), allowed.column(), allowed + " can never allow anything",
                            "it is denied on line " + denied.line()));
                    break;
                }
            }
        }
    }

    private List<Line> lines(String section) throws ManifestException {
        if (token == Token.NULL) {
            throw here(section + " has no value", "write " + section + ": [] for none");
        }
        if (token != Token.LIST) {
            throw wrongType(section, "a list of triples");
        }
        List<Line> lines = new ArrayList<>();
        while (next() != Token.LIST_END) {
            if (++triples > options.maxTriples) {
                throw here("has more than " + options.maxTriples + " triples", "use patterns (/dir/**) instead of single files");
            }
            if (token == Token.TEXT && !section.equals("intents")) {
                lines.add(shortForm());
            } else if (token == Token.MAPPING) {
                lines.add(section.equals("intents") ? intent() : triple(section, section.equals("scope") ? TRIPLE : isOneOf(section, TESTS) ? TEST : EFFECT));
            } else {
                throw here("an entry of " + section + " is " + kind(), section.equals("intents")
                        ? "write {\"predicate\": ..., \"resource_type\": ..., \"resource_path\": ...}"
                        : "write PREDICATE SCHEME:path, or predicate: and resource:");
            }
        }
        return lines;
    }

    private Line shortForm() throws ManifestException {
        int atLine = line;
        int atColumn = column;
        String text = oneLineText("a triple");
        int space = text.indexOf(' ');
        if (space <= 0) {
            throw here("'" + shorten(text) + "' is not a triple", "write PREDICATE SCHEME:path, such as CONSUMES FILE:${workspace}/**");
        }
        Predicate predicate = predicate(text.substring(0, space));
        int from = space;
        while (from < text.length() && text.charAt(from) == ' ') {
            from++;
        }
        String written = text.substring(from);
        return new Line(predicate, resource(written, atLine, atColumn), HIGH, atLine, atColumn, written, null);
    }

    private Line triple(String section, String[] fields) throws ManifestException {
        int atLine = line;
        int atColumn = column;
        boolean[] seen = new boolean[fields.length];
        Predicate predicate = null;
        Resource resource = null;
        String written = null;
        double confidence = HIGH;
        List<Line> effects = null;
        int effectsLine = 0;
        int effectsColumn = 0;
        Samples samples = null;
        while (next() != Token.MAPPING_END) {
            String field = field(fields, seen, "field of a triple");
            int fieldLine = line;
            int fieldColumn = column;
            next();
            switch (field) {
                case "predicate":
                    predicate = predicate(oneLineText(field));
                    break;
                case "resource":
                    written = oneLineText(field);
                    resource = resource(written, line, column);
                    break;
                case "confidence":
                    confidence = confidence();
                    break;
                case "matches":
                case "rejects":
                    samples = samples == null ? new Samples() : samples;
                    samples(field, samples);
                    break;
                default:
                    effectsLine = fieldLine;
                    effectsColumn = fieldColumn;
                    effects = lines(field);
                    break;
            }
        }
        if (predicate == null) {
            throw at(atLine, atColumn, "a triple has no predicate", "write predicate: CONSUMES (or another of the " + predicates().length + ")");
        }
        if (resource == null) {
            throw at(atLine, atColumn, "a triple has no resource", "write resource: SCHEME:path");
        }
        if (effects != null && !isOpaque(predicate, resource)) {
            throw at(effectsLine, effectsColumn, "effects on " + predicate + " " + resource + ", which runs nothing",
                    "effects belong to PROVIDES PROCESS:... and CONSUMES NATIVE:...; write its triples under scope");
        }
        Samples.Failed failed = samples == null ? null : samples.firstFailed(predicate, resource, section.equals("deny"));
        if (failed != null) {
            throw at(failed.line, failed.column, failed.message, failed.remedy);
        }
        return new Line(predicate, resource, confidence, atLine, atColumn, written, effects);
    }

    /** {@code SCHEME:path} for the line's own predicate, or {@code PREDICATE SCHEME:path}. */
    private void samples(String field, Samples samples) throws ManifestException {
        if (token != Token.LIST) {
            throw wrongType(field, "a list of resources, each a sample of what the line " + (field.equals("matches") ? "is about" : "is not about"));
        }
        while (next() != Token.LIST_END) {
            if (++triples > options.maxTriples) {
                throw here("has more than " + options.maxTriples + " triples", "keep the samples that tell something");
            }
            String text = oneLineText("a sample");
            int space = text.indexOf(' ');
            int colon = text.indexOf(':');
            Predicate predicate = null;
            if (space > 0 && space < colon) {
                predicate = predicate(text.substring(0, space));
                while (space < text.length() && text.charAt(space) == ' ') {
                    space++;
                }
                text = text.substring(space);
            }
            Resource resource = resource(text, line, column);
            if (resource.form() != Resource.Form.EXACT) {
                throw here("the sample " + resource + " stands for many", "write one that a program might name");
            }
            samples.add(field.equals("matches"), predicate, resource, line, column);
        }
    }

    private static boolean isOpaque(Predicate predicate, Resource resource) {
        return predicate == Predicate.PROVIDES ? resource.scheme().equals("PROCESS")
                : predicate == Predicate.CONSUMES && resource.scheme().equals("NATIVE");
    }

    /** A triple of the two other dialects: {@code resource_type} and {@code resource_path}, or a nested {@code object} (C15). */
    private Line intent() throws ManifestException {
        int atLine = line;
        int atColumn = column;
        boolean[] seen = new boolean[INTENT.length];
        Predicate predicate = null;
        String[] typeAndPath = new String[2];
        double confidence = HIGH;
        while (next() != Token.MAPPING_END) {
            String field = field(INTENT, seen, "field of an intent");
            next();
            switch (field) {
                case "predicate":
                    predicate = predicate(oneLineText(field));
                    break;
                case "resource_type":
                    give(typeAndPath, 0, field);
                    break;
                case "resource_path":
                    give(typeAndPath, 1, field);
                    break;
                case "object":
                    object(typeAndPath);
                    break;
                case "confidence":
                    confidence = confidence();
                    break;
                case "subject":
                    String s = id(field);
                    if (subject == null) {
                        subject = s;
                        subjectLine = line;
                        subjectColumn = column;
                    } else if (!subject.equals(s)) {
                        throw here("the subject '" + s + "' is not '" + subject + "' as on line " + subjectLine,
                                "keep one agent's triples in one manifest");
                    }
                    break;
                case "session_id":
                    String session = id(field);
                    if (tripleSession == null) {
                        tripleSession = session;
                        tripleSessionLine = line;
                        tripleSessionColumn = column;
                    } else if (!tripleSession.equals(session)) {
                        throw here("the session_id '" + session + "' is not '" + tripleSession + "' as on line " + tripleSessionLine,
                                "keep one session's triples in one manifest");
                    }
                    break;
                case "timestamp":
                    // audit only, never used for ordering (C11)
                    timestamp(field);
                    break;
                default:
                    oneLineText(field);
                    break;
            }
        }
        if (predicate == null) {
            throw at(atLine, atColumn, "an intent has no predicate", "write \"predicate\": \"CONSUMES\" (or another of the "
                    + predicates().length + ")");
        }
        if (typeAndPath[0] == null || typeAndPath[1] == null) {
            throw at(atLine, atColumn, typeAndPath[0] == null ? "an intent has no resource_type" : "an intent has no resource_path",
                    "write \"resource_type\": \"FILE\" and \"resource_path\": \"/w/in/**\"");
        }
        return new Line(predicate, resource(typeAndPath[0] + ":" + typeAndPath[1], atLine, atColumn), confidence, atLine, atColumn,
                typeAndPath[0] + ":" + typeAndPath[1], null);
    }

    private void object(String[] typeAndPath) throws ManifestException {
        if (token != Token.MAPPING) {
            throw wrongType("object", "{\"resource_type\": ..., \"path\": ...}");
        }
        boolean[] seen = new boolean[OBJECT.length];
        while (next() != Token.MAPPING_END) {
            String field = field(OBJECT, seen, "field of an object");
            next();
            give(typeAndPath, field.endsWith("type") ? 0 : 1, field);
        }
    }

    private void give(String[] typeAndPath, int index, String field) throws ManifestException {
        if (typeAndPath[index] != null) {
            throw here("a second " + (index == 0 ? "type" : "path") + " for one intent: " + field, "leave one of them out");
        }
        typeAndPath[index] = oneLineText(field);
    }

    private void tests() throws ManifestException {
        if (token != Token.MAPPING) {
            throw wrongType("tests", "{allows: [...], denies: [...]}");
        }
        boolean[] seen = new boolean[TESTS.length];
        while (next() != Token.MAPPING_END) {
            String field = field(TESTS, seen, "field of tests");
            next();
            if (field.equals("allows")) {
                testAllows = lines(field);
            } else {
                testDenies = lines(field);
            }
        }
    }

    private void hooks() throws ManifestException {
        if (token != Token.LIST) {
            throw wrongType("hooks", "a list of hooks, such as - {preset: jdbc}");
        }
        while (next() != Token.LIST_END) {
            if (hooks.size() == Manifest.MAX_HOOKS) {
                throw here("has more than " + Manifest.MAX_HOOKS + " hooks", "hook an interface rather than each class that implements it");
            }
            if (token != Token.MAPPING) {
                throw here("an entry of hooks is " + kind(), "write {preset: jdbc}, or type:, method:, predicate: and resource:");
            }
            LibraryHook hook = hook();
            for (int i = 0; i < hooks.size(); i++) {
                if (hooks.get(i).name().equals(hook.name())) {
                    throw at(hook.line(), hook.column(), "the hook " + hook.name() + " is there twice, first on line " + hooks.get(i).line(),
                            hook.preset() != null ? "leave one of them out" : "give one of them another name: ...");
                }
            }
            hooks.add(hook);
        }
    }

    /** Each field is judged where it stands; what they say together, when all are there. */
    private LibraryHook hook() throws ManifestException {
        int atLine = line;
        int atColumn = column;
        boolean[] seen = new boolean[HOOK.length];
        String name = null;
        String preset = null;
        String type = null;
        String method = null;
        List<String> parameters = null;
        Predicate predicate = null;
        Resource resource = null;
        HookParse.Template template = null;
        int resourceLine = 0;
        int resourceColumn = 0;
        while (next() != Token.MAPPING_END) {
            String field = field(HOOK, seen, "field of a hook");
            next();
            String text = oneLineText(field);
            try {
                switch (field) {
                    case "name":
                        HookParse.requireName(text);
                        name = text;
                        break;
                    case "preset":
                        if (!text.equals(LibraryHook.PRESETS[0])) {
                            throw here("unknown preset '" + shorten(text) + "'", Names.suggest(text, LibraryHook.PRESETS));
                        }
                        preset = text;
                        break;
                    case "type":
                        HookParse.requireType(text);
                        type = text;
                        break;
                    case "method":
                        method = HookParse.method(text);
                        parameters = HookParse.parameters(text);
                        break;
                    case "predicate":
                        predicate = predicate(text);
                        break;
                    default:
                        resourceLine = line;
                        resourceColumn = column;
                        template = HookParse.template(text);
                        resource = resource(template.text, line, column);
                        break;
                }
            } catch (HookParse.Problem e) {
                throw here(e.getMessage(), e.remedy);
            }
        }
        if (preset != null) {
            if (type != null || method != null || predicate != null || resource != null) {
                throw at(atLine, atColumn, "a hook has both a preset and a type, method, predicate or resource", "write them as two hooks");
            }
            return new LibraryHook(name == null ? preset : name, preset, null, null, null, null, null, List.of(), new int[0], atLine, atColumn);
        }
        String missing = type == null ? "type" : method == null ? "method" : predicate == null ? "predicate" : resource == null ? "resource" : null;
        if (missing != null) {
            throw at(atLine, atColumn, "a hook has no " + missing, "write type: com.acme.Flags, method: set, predicate: MUTATES, resource: CONFIG_KEY:${arg:0}, or preset: jdbc");
        }
        if (!isOneOf(resource.scheme(), LibraryHook.SCHEMES)) {
            throw at(resourceLine, resourceColumn, "a hook's resource is " + resource.scheme() + ", which klock observes itself",
                    "write one of SYMBOL, API_ENDPOINT, CONFIG_KEY and DB");
        }
        int[] parts = new int[template.parts.size()];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = template.parts.get(i);
            if (parameters != null && parts[i] >= parameters.size()) {
                throw at(resourceLine, resourceColumn, "${arg:" + parts[i] + "} is none of the " + parameters.size() + " arguments of " + method,
                        parameters.isEmpty() ? "name no argument" : "write an index from 0 to " + (parameters.size() - 1));
            }
        }
        String given = name != null ? name : shortName(type) + '.' + method;
        return new LibraryHook(given, null, type, method, parameters, predicate, resource.scheme(), HookParse.Template.literals(resource), parts,
                atLine, atColumn);
    }

    private static String shortName(String type) {
        return type.substring(type.lastIndexOf('.') + 1);
    }

    private static boolean isOneOf(String word, String[] words) {
        for (int i = 0; i < words.length; i++) {
            if (words[i].equals(word)) {
                return true;
            }
        }
        return false;
    }

    private void settings() throws ManifestException {
        if (token != Token.MAPPING) {
            throw wrongType("klock", "key: value pairs");
        }
        settings("", new HashSet<>());
    }

    private void settings(String prefix, HashSet<String> seen) throws ManifestException {
        while (next() != Token.MAPPING_END) {
            String key = prefix + fieldName();
            int keyLine = line;
            int keyColumn = column;
            next();
            if (token == Token.MAPPING) {
                settings(key + ".", seen);
                continue;
            }
            if (!isSetting(key)) {
                throw at(keyLine, keyColumn, "unknown key '" + shorten(key) + "' under klock", Names.suggest(key, options.settingKeys));
            }
            if (!seen.add(key)) {
                throw at(keyLine, keyColumn, "the key " + key + " is there twice", "leave one of them out");
            }
            if (token == null || !token.isScalar() || token == Token.NULL) {
                throw wrongType(key, "one value");
            }
            settings.add(new Setting(key, withVariables(oneLineScalar(key), false, line, column), line, column));
        }
    }

    private boolean isSetting(String key) {
        return isOneOf(key, options.settingKeys);
    }

    private void version() throws ManifestException {
        if (token != Token.TEXT && token != Token.FRACTION && token != Token.INTEGER) {
            throw wrongType("ver", "\"" + Manifest.VERSION + "\"");
        }
        if (!text().equals(Manifest.VERSION)) {
            throw here("ver is '" + shorten(text()) + "', which this klock does not know", "write ver: \"" + Manifest.VERSION + "\"");
        }
    }

    private long timestamp(String field) throws ManifestException {
        String digits = token == Token.INTEGER ? text() : "";
        long value = 0;
        boolean fine = !digits.isEmpty() && digits.length() <= 18;
        for (int i = 0; fine && i < digits.length(); i++) {
            char c = digits.charAt(i);
            fine = c >= '0' && c <= '9' && (c != '0' || i > 0 || digits.length() == 1);
            value = value * 10 + (c - '0');
        }
        if (!fine) {
            throw wrongType(field, "milliseconds since 1970 as a whole number, such as 1735000000000");
        }
        return value;
    }

    private double confidence() throws ManifestException {
        if (token == Token.TEXT) {
            switch (text()) {
                case "High":
                    return HIGH;
                case "Medium":
                    return MEDIUM;
                case "Low":
                    return LOW;
                default:
                    break;
            }
        } else if (token == Token.INTEGER || token == Token.FRACTION) {
            try {
                double value = Double.parseDouble(text());
                if (value >= 0 && value <= 1) {
                    return value;
                }
            } catch (NumberFormatException e) {
                // YAML writes numbers in ways that are none here (0x1, 1_0): refused below like any other value
                throw badConfidence();
            }
        }
        throw badConfidence();
    }

    private ManifestException badConfidence() throws ManifestException {
        return here("confidence is " + (token != null && token.isScalar() ? "'" + shorten(text()) + "'" : kind()),
                "write a number from 0 to 1, or High, Medium or Low");
    }

    private String id(String field) throws ManifestException {
        String id = withVariables(oneLineText(field), false, line, column);
        String[] objection = Ids.objection(id);
        if (objection != null) {
            throw here(field + " " + objection[0], objection[1]);
        }
        return id;
    }

    private Predicate predicate(String name) throws ManifestException {
        String[] known = predicates();
        for (int i = 0; i < known.length; i++) {
            if (known[i].equals(name)) {
                return PREDICATE_VALUES[i];
            }
        }
        if (name.equals("RENAMES")) {
            throw here("RENAMES is not one of the five predicates of the core", "write DELETES for the old name and PROVIDES for the new one");
        }
        for (String[] words : OTHER_WORDS) {
            for (int i = 1; i < words.length; i++) {
                if (words[i].equalsIgnoreCase(name)) {
                    throw here("unknown predicate '" + name + "'", "did you mean " + words[0] + "?");
                }
            }
        }
        throw here("unknown predicate '" + shorten(name) + "'", Names.suggest(name, known));
    }

    private String[] predicates() {
        return options.core5 ? CORE_PREDICATES : PREDICATES;
    }

    private Resource resource(String written, int atLine, int atColumn) throws ManifestException {
        String text = withVariables(written, true, atLine, atColumn);
        int colon = text.indexOf(':');
        if (colon > 0 && text.indexOf('/', colon) < 0 && "PROCESS".equals(Resource.canonicalScheme(text.substring(0, colon)))
                && options.programs != null) {
            String name = text.substring(colon + 1);
            if (!name.isEmpty() && name.indexOf('*') < 0 && name.indexOf('\\') < 0) {
                String path = world.find(name);
                if (path == null) {
                    throw at(atLine, atColumn, "there is no program '" + shorten(name) + "' on the PATH",
                            "write its absolute path: PROCESS:/...");
                }
                text = "PROCESS:" + Resource.escape(path);
            }
        }
        try {
            return Resource.parse(text);
        } catch (ResourceSyntaxException e) {
            throw at(atLine, atColumn, e.problem(), e.remedyInAManifest());
        }
    }

    private String withVariables(String text, boolean asResource, int atLine, int atColumn) throws ManifestException {
        try {
            return VariableText.resolve(text, world, asResource);
        } catch (VariableText.Problem e) {
            throw at(atLine, atColumn, e.getMessage(), e.remedy);
        }
    }

    /** The field at hand, judged: known, and not there before. */
    private String field(String[] known, boolean[] seen, String what) throws ManifestException {
        String name = fieldName();
        for (int i = 0; i < known.length; i++) {
            if (known[i].equals(name)) {
                if (seen[i]) {
                    throw here("the " + what + " " + name + " is there twice", "leave one of them out");
                }
                seen[i] = true;
                return known[i];
            }
        }
        throw here("unknown " + what + " '" + shorten(name) + "'", misreadShortForm(name) ? "write a short triple with one space and no other: "
                + "CONSUMES FILE:/w/in/**, in quotes if YAML reads it otherwise" : Names.suggest(name, known));
    }

    /** {@code - CONSUMES FILE: /x} and {@code - CONSUMES: FILE:/x} are mappings to YAML. */
    private boolean misreadShortForm(String name) {
        for (int i = 0; i < PREDICATES.length; i++) {
            if (name.startsWith(PREDICATES[i])) {
                return true;
            }
        }
        return false;
    }

    private String fieldName() throws ManifestException {
        if (token != Token.KEY) {
            throw here("is cut short", "close what is open there");
        }
        return text();
    }

    private String oneLineText(String what) throws ManifestException {
        if (token != Token.TEXT) {
            throw wrongType(what, "text");
        }
        return oneLineScalar(what);
    }

    /** A text that YAML folds from several lines is refused: a forgotten dash would make two triples one strange path. */
    private String oneLineScalar(String what) throws ManifestException {
        if (tokens.endLine() != line) {
            throw here(what + " goes on over several lines", "write it on one line");
        }
        return text();
    }

    private String text() throws ManifestException {
        try {
            return ManifestText.showBraces(tokens.text());
        } catch (Tokens.Problem e) {
            throw broken(e);
        }
    }

    private Token next() throws ManifestException {
        try {
            token = tokens.next();
            line = tokens.line();
            column = tokens.column();
            return token;
        } catch (Tokens.Problem e) {
            throw broken(e);
        } catch (RuntimeException e) {
            // a parser's own bug must still end in one line that says where
            throw at(line, column, "cannot be parsed after this: " + e, "write the rest in a simpler way");
        }
    }

    private ManifestException broken(Tokens.Problem e) {
        return e.line > 0 ? at(e.line, e.column, e.getMessage(), e.remedy) : here(e.getMessage(), e.remedy);
    }

    private ManifestException wrongType(String what, String right) throws ManifestException {
        String quotes = right.equals("text") && token != null && token.isScalar() && token != Token.NULL
                ? " in quotes: \"" + shorten(text()) + "\"" : "";
        return here(what + " is " + kind(), "write " + right + quotes);
    }

    private String kind() throws ManifestException {
        if (token == null) {
            return "missing";
        }
        if (token == Token.MAPPING) {
            return "a mapping";
        }
        if (token == Token.LIST) {
            return "a list";
        }
        if (token == Token.NULL) {
            return "empty";
        }
        if (token == Token.TEXT) {
            return "the text '" + shorten(text()) + "'";
        }
        if (token == Token.TRUE || token == Token.FALSE) {
            return "the truth value " + shorten(text());
        }
        return token.isNumber() ? "the number " + shorten(text()) : "not a value";
    }

    private ManifestException here(String problem, String remedy) {
        return at(line, column, problem, remedy);
    }

    private ManifestException whole(String problem, String remedy) {
        return at(0, 0, problem, remedy);
    }

    private ManifestException at(int atLine, int atColumn, String problem, String remedy) {
        return new ManifestException(file, atLine, atColumn, ManifestException.oneLine(problem), ManifestException.oneLine(remedy));
    }

    static String shorten(String text) {
        return text.length() <= 120 ? text : text.substring(0, 120).concat("...");
    }
}
