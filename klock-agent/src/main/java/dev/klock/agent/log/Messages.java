package dev.klock.agent.log;

import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Reach;
import dev.klock.manifest.ReadOptions;
import dev.klock.resource.Resource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The texts people read when an access was outside the scope, and at the end of a session. */
public final class Messages {
    private static final String PROGRAM = "PROCESS:";
    private static final String WHILE = "while ";
    private static final String RAN = " ran";
    private static final Predicate[] PREDICATES = Predicate.values();
    /** What stands before the line that would allow it. */
    public static final String TO_ALLOW = "  to allow it, add to scope: - ";
    /** The note of a record about what would change nothing: making what is there, removing what is not. Never told to the program, which may not know. */
    public static final String WITHOUT_EFFECT = "without effect: what it would make was there, or what it would remove was not";
    /** What stands before the nearest lines. */
    public static final String NEAREST = "  nearest declared: ";
    /** Added where a program was to be started that the session, or a child of it, has changed or made itself. */
    public static final String OWN_PROGRAM = "\n  (this session has changed or made that program, so to start it is to let in whatever was written there;"
            + " or take it out of what may be changed)";
    /** More than a date, a time or a process id has in a row; temporary names have up to twenty. */
    private static final int RANDOM_DIGITS = 15;
    /** Agents of the process that declare what it was denied, in a message. */
    private static final int AGENTS_NAMED = 3;

    private Messages() {
    }

    /**
     * Why an access is outside the scope, naming what was attempted and what was declared (K6-2): the first line says so, then
     * comes whose it is if agents of the process declare it, then what would allow it in the manifest's own syntax, unless the manifest would be
     * refused for it, then the nearest declared scopes. Names are written so that they stay in
     * their line and can be pasted.
     *
     * @param attempted what was attempted
     * @param resource on what, resolved
     * @param requested the name as the program gave it, null if it is the resource's or there is none
     * @param declared the predicates that scope lines name for it, as a mask of {@link Predicate#bit()}
     * @param denying the manifest's deny line that stops it, null if it is only not declared
     * @param nearest the nearest lines of the scope, the nearest first; may be empty
     * @param byAgents the lines that declare it for agents of the process that attempted it, by their names; may be empty
     * @param manifest the manifest's name, for places; null if there is none
     * @param names what the manifest's variables stand for, for the line that would allow it
     */
    public static String violation(String agent, Predicate attempted, Resource resource, String requested, int declared, Line denying, List<Line> nearest,
            Map<String, Line> byAgents, String manifest, PlaceNames names) {
        StringBuilder text = attempt(agent, attempted, resource);
        if (denying != null) {
            text.append("the manifest denies it.");
            requested(text, requested);
            text.append("\n  denied by ");
            place(text, denying, manifest);
            return text.toString();
        }
        declared(text, declared);
        requested(text, requested);
        byAgents(text, byAgents, manifest, attempted, resource);
        if (byAgents.isEmpty() || !isKeptFromProcess(attempted, resource)) {
            toAllow(text, attempted, resource, names);
        }
        if (!nearest.isEmpty()) {
            text.append('\n').append(NEAREST);
            for (int i = 0; i < nearest.size(); i++) {
                if (i > 0) {
                    text.append(", ");
                }
                place(text, nearest.get(i), manifest);
            }
        }
        return text.toString();
    }

    /** Whether a process that has an agent with such a line cannot have one as well: it would keep the agent from it as long as it runs. */
    private static boolean isKeptFromProcess(Predicate attempted, Resource resource) {
        return attempted.changes() && !resource.scheme().equals("PROCESS");
    }

    private static void byAgents(StringBuilder text, Map<String, Line> byAgents, String manifest, Predicate attempted, Resource resource) {
        int named = 0;
        for (Map.Entry<String, Line> one : byAgents.entrySet()) {
            if (named++ == AGENTS_NAMED) {
                text.append("\n  and so do ").append(byAgents.size() - AGENTS_NAMED).append(" more of its agents");
                break;
            }
            text.append("\n  agent ").append(Escapes.line(one.getKey())).append(" declares it: ");
            place(text, one.getValue(), manifest);
        }
        if (!byAgents.isEmpty()) {
            text.append("\n  what is done when its session is closed, or by work that was handed on unseen (Klock.wrap), is the process's")
                    .append(isKeptFromProcess(attempted, resource) ? ", which cannot declare it as well" : "");
        }
    }

    private static void toAllow(StringBuilder text, Predicate attempted, Resource resource, PlaceNames names) {
        boolean unwritable = isUnwritable(resource);
        Resource directory = unwritable || isRandomName(resource) ? directoryOf(resource) : null;
        String broad = directory == null ? null : Reach.refusal(attempted, directory, new ReadOptions().homes(names.value("user.home")));
        if (broad != null) {
            text.append("\n  (no line can allow it: ").append(unwritable ? "a manifest takes no such name" : "the name looks random").append(", and a line for all names there would reach ").append(broad)
                    .append("; have the file made elsewhere)");
            return;
        }
        text.append('\n').append(TO_ALLOW);
        text.append(Escapes.yaml(attempted.name().concat(" ").concat(names.text(lasting(directory == null ? resource : directory)))));
        if (directory != null) {
            text.append(unwritable ? "\n  (a manifest takes no control characters, nor what is not UTF-8" : "\n  (the name looks random")
                    .append(": /* stands for every name in that directory)");
        }
    }

    /**
     * The last line of an error's message: the same in JSON, for a model that reads it. It says what may be done there instead, and that to try again
     * is useless; only a person can change the manifest.
     *
     * @param byAgents the agents of the process that it is declared for
     * @param ended whether the session is over
     */
    public static String tail(Predicate attempted, Resource resource, int declared, Line denying, List<Line> nearest, Set<String> byAgents, boolean ended) {
        StringBuilder text = new StringBuilder(256).append("\n  {\"klock\":\"denied\",\"attempted\":\"").append(attempted.name()).append("\",\"resource\":");
        Escapes.json(text, resource.toString());
        text.append(",\"declared\":[");
        String separator = "";
        for (int i = 0; i < PREDICATES.length; i++) {
            if ((declared & PREDICATES[i].bit()) != 0) {
                text.append(separator).append('"').append(PREDICATES[i].name()).append('"');
                separator = ",";
            }
        }
        text.append(']');
        if (denying != null) {
            text.append(",\"denied_by\":");
            Escapes.json(text, denying.toString());
        }
        separator = ",\"declared_by\":[";
        for (String agent : byAgents) {
            text.append(separator);
            Escapes.json(text, agent);
            separator = ",";
        }
        text.append(byAgents.isEmpty() ? "" : "]").append(",\"nearest\":[");
        for (int i = 0; i < nearest.size(); i++) {
            text.append(i == 0 ? "" : ",");
            Escapes.json(text, nearest.get(i).toString());
        }
        return text.append("],\"retry\":false,\"session\":\"").append(ended ? "over" : "goes on").append("\"}").toString();
    }

    /** Whether a line with this very name would be of no use the next time: the JDK's temporary files carry a random number. */
    private static boolean isRandomName(Resource resource) {
        if (!resource.scheme().equals("FILE") || resource.form() != Resource.Form.EXACT) {
            return false;
        }
        String path = resource.path();
        int digits = 0;
        for (int i = path.length() - 1; i > 0 && path.charAt(i) != '/' && digits < RANDOM_DIGITS; i--) {
            char c = path.charAt(i);
            digits = c >= '0' && c <= '9' ? digits + 1 : 0;
        }
        return digits == RANDOM_DIGITS;
    }

    /** The same of this process, whatever number the next one has. */
    private static Resource lasting(Resource resource) {
        String own = "/proc/" + ThisProcess.pid();
        String path = resource.path();
        boolean mine = resource.scheme().equals("FILE") && path.startsWith(own) && (path.length() == own.length() || path.charAt(own.length()) == '/');
        return mine ? Resource.of("FILE", "/proc/self" + path.substring(own.length()), resource.form()) : resource;
    }

    /** Whether no manifest can name the file; its directory may be named. */
    private static boolean isUnwritable(Resource resource) {
        String path = resource.path();
        return resource.scheme().equals("FILE") && resource.form() == Resource.Form.EXACT && Resource.isUnwritable(path, path.lastIndexOf('/') + 1);
    }

    private static Resource directoryOf(Resource file) {
        int slash = file.path().lastIndexOf('/');
        return slash <= 0 ? null : Resource.of("FILE", file.path().substring(0, slash), Resource.Form.CHILDREN);
    }

    /** Behind the message that a program's working directory is not declared to be changed. */
    public static final String NO_EFFECTS = "\n  or say in its PROVIDES line what the program may touch: effects: [], for nothing";

    /** Behind the message that something in a program's working directory is denied. */
    public static final String EFFECTS_BESIDE_DENY = "\n  its PROVIDES line does not say what the program may touch, so it is taken to change all of its working directory;"
            + " say there what it may: effects: [...], or effects: [], for nothing";

    /** Behind the message about a program that no line lets start: what such a line should say beside its name. */
    public static String effects(Resource program, PlaceNames names) {
        StringBuilder text = new StringBuilder("\n  if it is to change nothing: - {predicate: PROVIDES, resource: ");
        Escapes.json(text, names.text(program));
        return text.append(", effects: []}\n  (without effects it is taken to change all of its working directory)").toString();
    }

    /** Why an access to klock's own home, manifest or jar is stopped in every mode. */
    public static String ownFile(String agent, Predicate attempted, Resource resource) {
        return attempt(agent, attempted, resource).append("it is klock's own, which no manifest gives away.").toString();
    }

    /** A JVM has been started that klock is not in. */
    public static String unmonitored(Resource program) {
        return "unmonitored child JVM ".concat(Escapes.line(program.toString())).concat(": it runs without klock");
    }

    /** A declared program can run anything. */
    public static String openEnded(Resource program) {
        return Escapes.line(program.toString()).concat(" is open-ended: its line covers whatever it is told to run, and none of that is judged");
    }

    /** What was changed while children ran that say they do not touch it. {@code programs}: their paths in a manifest's form. */
    public static String stray(Resource resource, Set<String> programs) {
        StringBuilder text = new StringBuilder(256).append(Escapes.line(resource.toString())).append(" was changed while ");
        programs(text, programs);
        return text.append(" ran, outside of the effects declared there; it is not put back (another process may have changed it)").toString();
    }

    /** Of a record of what changed while {@code programs} (their paths in a manifest's form) ran: {@link #ran} reads it. */
    public static String whileRan(Set<String> programs) {
        StringBuilder text = new StringBuilder(WHILE);
        String separator = "";
        for (String program : programs) {
            text.append(separator).append(PROGRAM).append(program);
            separator = ", ";
        }
        return text.append(RAN).toString();
    }

    /** The resources of the programs that ran, by the record's note; empty if it does not say. */
    public static Set<String> ran(String note) {
        if (note == null || !note.startsWith(WHILE) || !note.endsWith(RAN)) {
            return Set.of();
        }
        Set<String> programs = new TreeSet<>();
        for (String program : note.substring(WHILE.length(), note.length() - RAN.length()).split(", (?=PROCESS:)")) {
            programs.add(program);
        }
        return programs;
    }

    /** Nobody will tell what children change in {@code directory}. */
    public static String notLookedThrough(Resource directory, Set<String> programs) {
        StringBuilder text = new StringBuilder(256).append(Escapes.line(directory.toString())).append(" is too large to be looked through: what ");
        programs(text, programs);
        return text.append(" may have changed there outside of the effects declared is not told").toString();
    }

    private static void programs(StringBuilder text, Set<String> programs) {
        String separator = "";
        for (String program : programs) {
            text.append(separator).append(Escapes.line(PROGRAM.concat(program)));
            separator = ", ";
        }
    }

    private static StringBuilder attempt(String agent, Predicate attempted, Resource resource) {
        return new StringBuilder(256).append("Agent ").append(agent == null ? "" : Escapes.line(agent).concat(" ")).append("attempted ").append(attempted.name()).append(" on ").append(Escapes.line(resource.toString()))
                .append(" but ");
    }

    private static void requested(StringBuilder text, String requested) {
        if (requested != null) {
            text.append("\n  asked for as ").append(Escapes.line(requested));
        }
    }

    private static void declared(StringBuilder text, int declared) {
        if (declared == 0) {
            text.append("declared nothing.");
            return;
        }
        text.append("only declared ");
        boolean first = true;
        for (Predicate predicate : PREDICATES) {
            if ((declared & predicate.bit()) != 0) {
                if (!first) {
                    text.append(", ");
                }
                text.append(predicate.name());
                first = false;
            }
        }
        text.append('.');
    }

    private static void place(StringBuilder text, Line line, String manifest) {
        text.append(Escapes.line(line.toString()));
        if (manifest != null && line.line() > 0) {
            text.append(" (").append(Escapes.line(manifest)).append(':').append(line.line()).append(')');
        }
    }

    /**
     * The one line at the end of a session: who, how it ended, what was decided, what was put back, and where the log is. How much was
     * allowed is in the log: that number is the JDK's as much as the program's.
     *
     * @param log the session's log, for its counts; closed or not
     * @param mode the mode's word
     * @param quiet how many sessions of its agents have ended that had nothing to tell, and so no line of their own
     */
    public static String end(String agentId, String sessionId, String mode, Summary summary, VerificationLog log, long quiet) {
        StringBuilder line = new StringBuilder(200);
        line.append(Escapes.line(agentId)).append(" session ").append(Escapes.line(sessionId)).append(" (").append(mode).append(") ")
                .append(summary.end()).append(": ")
                .append(log.count(Decision.DENY)).append(" denied");
        if (log.count(Decision.WARN) > 0) {
            line.append(", ").append(log.count(Decision.WARN)).append(" warned");
        }
        if (log.amended() > 0) {
            line.append(", ").append(log.amended()).append(" allowed by added leases");
        }
        if (log.count(Decision.LEARN) > 0) {
            line.append(", ").append(log.count(Decision.LEARN)).append(" learnt");
        }
        if (!summary.declared().isEmpty()) {
            line.append("; ").append(summary.used().size()).append(" of ").append(summary.declared().size()).append(" declared lines used");
        }
        if (!summary.rolledBack().isEmpty()) {
            line.append("; rolled back ").append(summary.rolledBack().size());
        }
        if (!summary.conflicts().isEmpty()) {
            line.append("; NOT rolled back ").append(summary.conflicts().size());
        }
        if (!summary.unmonitored().isEmpty()) {
            line.append("; ").append(summary.unmonitored().size()).append(summary.unmonitored().size() == 1 ? " child JVM" : " child JVMs")
                    .append(" unmonitored");
        }
        if (quiet > 0) {
            line.append("; ").append(quiet).append(quiet == 1 ? " session" : " sessions").append(" of its agents completed with nothing denied");
        }
        if (summary.exitCode() != Summary.UNKNOWN) {
            line.append("; exit ").append(summary.exitCode());
        }
        return line.append("; log ").append(Escapes.line(log.file().getPath())).append(log.file().exists() ? "" : " is gone").toString();
    }
}
