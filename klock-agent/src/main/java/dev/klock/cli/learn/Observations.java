package dev.klock.cli.learn;

import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Messages;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogVisitor;
import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What programs did, by the logs of their sessions, as far as a manifest has to say it: not what the JVM reads for itself, nor what was klock's own,
 * nor what a session did with files that it had made itself. What it made and left behind the next run will find, and change.
 *
 * <p>What was denied is counted, and only taken in if asked for. Memory grows with the distinct names, not with the events. Not thread-safe.
 */
public final class Observations implements LogVisitor {
    private static final String FILE = "FILE:";
    private static final String PROCESS = "PROCESS:";
    private static final String MAKE_DIRECTORY = "make_directory";
    private static final String START = "start_process";
    /** What these make nobody changes: a link has only its name, and what is written by that name is its target's. May be asked for null: not each record has one. */
    private static final Set<String> MADE_ONCE = new HashSet<>(List.of(MAKE_DIRECTORY, "symlink"));

    /** What a manifest declares, so that there is nothing to say about it. */
    public interface Declared {
        /** Whether a line of the scope allows it. */
        boolean byLine(Predicate predicate, String resource);

        /** Whether the effects of one of these programs, or of any if there is none, name it. */
        boolean byEffects(Set<String> programs, Predicate predicate, String resource);

        /** The line that stops it, as {@code file:line: triple}: of the deny list, so that one more in the scope is of no use; null if none does. */
        String denyLine(Predicate predicate, String resource);

        /** The line of the scope, as {@code file:line: triple}, that would let the program start if it said what that may touch; null if none does. */
        String withoutEffects(Predicate predicate, String resource);
    }

    private final boolean takesDenied;
    /** What needs no line any more; null where nothing is declared. */
    private Declared declared;
    private Relocation relocation = Relocation.NONE;
    final Node files = new Node(null, "");
    /** What else was seen, by resource. */
    final Map<String, Map<Predicate, Seen>> others = new TreeMap<>();
    /** What programs that were started changed: by the programs that ran, in a manifest's form. */
    final Map<Set<String>, Node> effects = new HashMap<>();
    final Set<String> programs = new TreeSet<>();
    /** Those of them that ran. */
    final Set<String> started = new HashSet<>();
    private final Set<String> agents = new TreeSet<>();
    private final Set<String> madeFiles = new HashSet<>();
    /** What sessions have made and not removed, and no line lets the next one change. */
    final Set<String> left = new HashSet<>();
    private final Set<String> made = new HashSet<>();
    private int session = -1;
    private long events;
    private long denied;
    private final Set<String> undeclared = new LinkedHashSet<>();
    private final Map<String, Set<String>> denyLines = new TreeMap<>();
    private final Map<String, Set<String>> withoutEffects = new TreeMap<>();
    private long lost;
    private long unreadable;
    private boolean tells;
    private String current;

    /**
     * @param takesDenied whether what was denied shall be declared
     * @param declared null for no manifest
     */
    public Observations(boolean takesDenied, Declared declared) {
        this.takesDenied = takesDenied;
        this.declared = declared;
    }

    /**
     * The log that is read next is of another program.
     *
     * @param its        what the manifest declares as that program saw it, null for none
     * @param relocation where its files are looked for
     */
    public void next(Declared its, Relocation relocation) {
        end();
        declared = its;
        this.relocation = relocation;
    }

    @Override
    public void header(LogHeader header) {
        if (header.sessionId() == null || !header.sessionId().equals(current)) {
            end();
            current = header.sessionId();
            session++;
        }
        if (header.agentId() != null) {
            agents.add(header.agentId());
        }
    }

    @Override
    public void lost(long records) {
        lost += records;
    }

    @Override
    public void unreadable() {
        unreadable++;
    }

    @Override
    public void event(LogEvent event) {
        tells = true;
        Predicate predicate = isThere(event) ? Predicate.DEPENDS_ON : predicate(event.predicate());
        String by = event.decidedBy();
        boolean own = "baseline".equals(by) || "klock".equals(by) || "child".equals(by) && event.decision() == Decision.ALLOW;
        if (predicate == null || event.resource() == null || own) {
            return;
        }
        if (event.decision() == Decision.DENY) {
            denied += event.count();
            if (!takesDenied) {
                return;
            }
        }
        events += event.count();
        if ("child".equals(by)) {
            Set<String> ran = Messages.ran(event.note());
            if (declared == null || !declared.byEffects(ran, predicate, event.resource())) {
                undeclared.add(predicate + " " + event.resource());
                Set<String> programs = new TreeSet<>();
                ran.forEach(program -> programs.add(relocation.program(program)));
                file(effects.computeIfAbsent(programs, none -> new Node(null, "")), predicate, event);
            }
        } else if (event.resource().startsWith(FILE)) {
            own(predicate, event);
        } else if (!isDeclared(predicate, event)) {
            String resource = relocation.program(event.resource());
            if (event.resource().startsWith(PROCESS) && predicate == Predicate.PROVIDES) {
                programs.add(resource);
                if (event.decision() != Decision.DENY) {
                    started.add(resource);
                }
            }
            others.computeIfAbsent(resource, none -> new TreeMap<>()).computeIfAbsent(predicate, none -> new Seen())
                    .add(event.count(), session, event.caller());
        }
    }

    /** Who makes sure that a directory is there, and finds it, has to be allowed to look and no more. */
    private static boolean isThere(LogEvent event) {
        return Messages.WITHOUT_EFFECT.equals(event.note()) && MAKE_DIRECTORY.equals(event.op()) && Predicate.PROVIDES.name().equals(event.predicate());
    }

    private boolean isDeclared(Predicate predicate, LogEvent event) {
        if (declared != null && declared.byLine(predicate, event.resource())) {
            return true;
        }
        undeclared.add(predicate + " " + event.resource());
        return declared != null && isBeyondTheScope(predicate, event);
    }

    /** Whether it is another line of the manifest that has to be changed for it, and none to be added. */
    private boolean isBeyondTheScope(Predicate predicate, LogEvent event) {
        if (isOfAStart(predicate, event)) {
            // the program's own line is named
            return true;
        }
        String denied = declared.denyLine(predicate, event.resource());
        String mute = declared.withoutEffects(predicate, event.resource());
        if (denied != null) {
            denyLines.computeIfAbsent(denied, none -> new LinkedHashSet<>()).add(predicate + " " + event.resource());
        } else if (mute != null) {
            withoutEffects.computeIfAbsent(mute, none -> new LinkedHashSet<>()).add(predicate + " " + event.resource());
        }
        return denied != null || mute != null;
    }

    /** Whether a program was not started since its line does not say what it may touch, so that it was taken to change all of its working directory. */
    private static boolean isOfAStart(Predicate predicate, LogEvent event) {
        return predicate == Predicate.MUTATES && event.decision() == Decision.DENY && START.equals(event.op()) && Name.of(event.resource()).withAllBelow();
    }

    /** What was made in the session may be done with as it likes. */
    private void own(Predicate predicate, LogEvent event) {
        String path = event.resource();
        if (made.contains(path)) {
            if (predicate == Predicate.DELETES || predicate == Predicate.RENAMES) {
                madeFiles.remove(Name.of(path).path());
            }
            if (predicate != Predicate.PROVIDES) {
                return;
            }
        }
        if (!isDeclared(predicate, event)) {
            file(files, predicate, event);
        }
        if (predicate == Predicate.PROVIDES) {
            made.add(path);
            if (!MADE_ONCE.contains(event.op()) && event.decision() != Decision.DENY) {
                madeFiles.add(Name.of(path).path());
            }
        }
    }

    private Node file(Node root, Predicate predicate, LogEvent event) {
        Name name = Name.of(event.resource());
        Node node = root.at(relocation.path(name.path()));
        node.unwritable |= name.isUnwritable();
        node.see(predicate, name.withAllBelow()).add(event.count(), session, event.caller());
        return node;
    }

    /** All logs have been read. */
    public void end() {
        for (String file : madeFiles) {
            String resource = FILE + Resource.escape(file);
            if (declared == null || !declared.byLine(Predicate.MUTATES, resource) && declared.denyLine(Predicate.MUTATES, resource) == null) {
                left.add(relocation.path(file));
            }
        }
        madeFiles.clear();
        made.clear();
    }

    /** The next run finds {@code file}, which a session has made and left there. */
    void findsAgain(String file) {
        Node node = files.at(file);
        if (node.itself(Predicate.MUTATES) == null) {
            node.see(Predicate.MUTATES, false).implied = true;
            node.see(Predicate.MUTATES, false).names = 1;
        }
    }

    private static Predicate predicate(String word) {
        for (Predicate each : Predicate.values()) {
            if (each.name().equals(word)) {
                return each;
            }
        }
        return null;
    }

    /** Whether anything was seen in {@code directory}, be it by a child. */
    public boolean isSeen(String directory) {
        boolean seen = isKnown(files, directory);
        for (Node changed : effects.values()) {
            seen |= isKnown(changed, directory);
        }
        return seen;
    }

    private static boolean isKnown(Node root, String directory) {
        return root.isKnown(directory) || root.isKnown(Places.LITERAL + directory);
    }

    /** Whose logs they are. */
    public Set<String> agents() {
        return agents;
    }

    public int sessions() {
        return session + 1;
    }

    /** Accesses that a manifest has a say about. */
    public long events() {
        return events;
    }

    /** What was seen and is not declared, {@code PREDICATE RESOURCE}. */
    public Set<String> undeclared() {
        return undeclared;
    }

    /** What no line of the scope could allow: the lines that deny it, each with what it denies, {@code PREDICATE RESOURCE}. */
    public Map<String, Set<String>> denyLines() {
        return denyLines;
    }

    /** Programs that would be denied though a line starts them: these lines, which do not say what they may touch, each with what it would start. */
    public Map<String, Set<String>> withoutEffects() {
        return withoutEffects;
    }

    /** Accesses that were denied. */
    public long denied() {
        return denied;
    }

    /** Whether the logs say nothing of what was done, since they cannot be read. */
    public boolean isIllegible() {
        return !tells && (unreadable > 0 || session < 0);
    }

    /** Records that cannot be read. */
    public long unread() {
        return unreadable;
    }

    /** Records that could not be written. */
    public long lost() {
        return lost;
    }
}
