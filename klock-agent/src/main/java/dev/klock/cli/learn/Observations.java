package dev.klock.cli.learn;

import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Messages;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogVisitor;
import dev.klock.kernel.Predicate;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;

/**
 * What programs did, by the logs of their sessions, as far as a manifest has to say it: not what the JVM reads for itself, nor what was klock's own,
 * nor what a session did with files that it had made itself. What it made and left behind the next run will find, and change.
 *
 * <p>What was denied is counted, and only taken in if asked for. Memory grows with the distinct names, not with the events. Not thread-safe.
 */
public final class Observations implements LogVisitor {
    private static final String FILE = "FILE:";
    private static final String PROCESS = "PROCESS:";

    private final boolean takesDenied;
    /** What needs no line any more; null where nothing is declared. */
    private final BiPredicate<Predicate, String> declared;
    final Node files = new Node(null, "");
    /** What else was seen, by resource. */
    final Map<String, Map<Predicate, Seen>> others = new TreeMap<>();
    /** What programs that were started changed: by the programs that ran, in a manifest's form. */
    final Map<Set<String>, Node> effects = new HashMap<>();
    final Set<String> programs = new TreeSet<>();
    private final Set<String> agents = new TreeSet<>();
    private final Set<String> madeFiles = new HashSet<>();
    private final Set<String> made = new HashSet<>();
    private int session = -1;
    private long events;
    private long denied;
    private long lost;
    private String current;

    /**
     * @param takesDenied whether what was denied shall be declared
     * @param declared whether a manifest declares a predicate on a resource, so that there is nothing to say about it; null for no manifest
     */
    public Observations(boolean takesDenied, BiPredicate<Predicate, String> declared) {
        this.takesDenied = takesDenied;
        this.declared = declared;
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
    public void event(LogEvent event) {
        Predicate predicate = predicate(event.predicate());
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
            if (!isDeclared(predicate, event)) {
                file(effects.computeIfAbsent(Messages.ran(event.note()), none -> new Node(null, "")), predicate, event);
            }
        } else if (event.resource().startsWith(FILE)) {
            own(predicate, event);
        } else if (!isDeclared(predicate, event)) {
            if (event.resource().startsWith(PROCESS) && predicate == Predicate.PROVIDES) {
                programs.add(event.resource());
            }
            others.computeIfAbsent(event.resource(), none -> new TreeMap<>()).computeIfAbsent(predicate, none -> new Seen())
                    .add(event.count(), session, event.caller());
        }
    }

    private boolean isDeclared(Predicate predicate, LogEvent event) {
        return declared != null && declared.test(predicate, event.resource());
    }

    /** What was made in the session may be done with as it likes. */
    private void own(Predicate predicate, LogEvent event) {
        String path = event.resource();
        if (made.contains(path)) {
            if (predicate == Predicate.DELETES || predicate == Predicate.RENAMES) {
                madeFiles.remove(path);
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
            if (!"make_directory".equals(event.op()) && event.decision() != Decision.DENY) {
                madeFiles.add(path);
            }
        }
    }

    private Node file(Node root, Predicate predicate, LogEvent event) {
        Name name = Name.of(event.resource());
        Node node = root.at(name.path());
        node.unwritable |= name.isUnwritable();
        node.see(predicate, name.withAllBelow()).add(event.count(), session, event.caller());
        return node;
    }

    /** All logs have been read. */
    public void end() {
        for (String left : madeFiles) {
            Name name = Name.of(left);
            boolean comesBack = !name.withAllBelow() && !Generaliser.isRandom(name.path());
            if (comesBack && (declared == null || !declared.test(Predicate.MUTATES, left))) {
                Node node = files.at(name.path());
                if (node.itself(Predicate.MUTATES) == null) {
                    node.see(Predicate.MUTATES, false).implied = true;
                    node.see(Predicate.MUTATES, false).names = 1;
                }
            }
        }
        madeFiles.clear();
        made.clear();
    }

    private static Predicate predicate(String word) {
        for (Predicate each : Predicate.values()) {
            if (each.name().equals(word)) {
                return each;
            }
        }
        return null;
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

    /** Accesses that were denied. */
    public long denied() {
        return denied;
    }

    /** Records that could not be written. */
    public long lost() {
        return lost;
    }
}
