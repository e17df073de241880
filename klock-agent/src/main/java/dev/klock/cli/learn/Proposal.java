package dev.klock.cli.learn;

import dev.klock.kernel.Predicate;
import dev.klock.manifest.Cover;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import dev.klock.manifest.Variables;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What a manifest has to declare so that it allows all that was seen. Immutable. */
public final class Proposal {
    /** In a manifest nothing follows DELETES on the same resource. */
    private static final List<Predicate> ORDER = List.of(Predicate.DEPENDS_ON, Predicate.CONSUMES, Predicate.PROVIDES, Predicate.MUTATES, Predicate.RENAMES,
            Predicate.DELETES);

    private static final String CONNECT = "URL:tcp:";

    final List<ProposedLine> lines;
    final Places places;
    /** What changed while programs ran that are declared already, by those. */
    final Map<Set<String>, List<ProposedLine>> beside;

    private final Set<String> beyond;

    private Proposal(List<ProposedLine> lines, Places places, Map<Set<String>, List<ProposedLine>> beside, Set<String> beyond) {
        this.beyond = beyond;
        this.lines = lines;
        this.places = places;
        this.beside = beside;
    }

    /**
     * @param several so many names in one directory are taken together; more where the manifest would be too long
     * @param whole   directories of which all is declared if anything was seen there; absolute
     * @param variables the values of the manifest's variables
     */
    public static Proposal of(Observations seen, int several, Set<String> whole, Variables variables) {
        Places places = new Places(variables);
        for (String file : seen.left) {
            if (!Generaliser.isRandom(places.below(file))) {
                seen.findsAgain(file);
            }
        }
        int from = several;
        List<ProposedLine> lines = lines(seen, new Generaliser(from, whole, places));
        while (lines.size() > Manifest.MAX_TRIPLES && from > 2) {
            from--;
            lines = lines(seen, new Generaliser(from, whole, places));
        }
        Map<Set<String>, List<ProposedLine>> beside = new LinkedHashMap<>();
        for (Map.Entry<Set<String>, Node> ran : seen.effects.entrySet()) {
            if (Collections.disjoint(ran.getKey(), seen.programs) && !(ran.getKey().isEmpty() && !seen.programs.isEmpty())) {
                beside.put(ran.getKey(), files(ran.getValue(), new Generaliser(from, whole, places)));
            }
        }
        Set<String> beyond = new TreeSet<>();
        for (Predicate predicate : ORDER) {
            new Generaliser(from, whole, places).beyond(seen.files, predicate, beyond);
        }
        return new Proposal(lines, places, beside, beyond);
    }

    private static List<ProposedLine> lines(Observations seen, Generaliser together) {
        List<ProposedLine> lines = files(seen.files, together);
        Scope requests = requests(seen);
        for (Predicate predicate : ORDER) {
            List<String> urls = new ArrayList<>();
            List<Seen> theirs = new ArrayList<>();
            for (Map.Entry<String, Map<Predicate, Seen>> other : seen.others.entrySet()) {
                Seen evidence = other.getValue().get(predicate);
                String resource = other.getKey();
                if (evidence == null || predicate == Predicate.CONSUMES && isCarried(resource, requests)) {
                    continue;
                }
                if (resource.startsWith("URL:")) {
                    urls.add(resource);
                    theirs.add(evidence);
                } else {
                    List<ProposedLine> effects = seen.started.contains(resource) && predicate == Predicate.PROVIDES ? effects(seen, resource, together) : null;
                    lines.add(new ProposedLine(predicate, Name.resource(resource), evidence, null, effects));
                }
            }
            lines.addAll(together.urls(predicate, urls, theirs));
        }
        return lines;
    }

    /** What was asked of servers, as a manifest would allow it. */
    private static Scope requests(Observations seen) {
        Scope.Builder requests = Scope.builder();
        for (Map.Entry<String, Map<Predicate, Seen>> other : seen.others.entrySet()) {
            String resource = other.getKey();
            if (resource.startsWith("URL:") && !resource.startsWith(CONNECT) && !resource.startsWith("URL:udp:") && !resource.startsWith("URL:dns:")) {
                for (Predicate predicate : other.getValue().keySet()) {
                    requests.allow(predicate, Resource.parse(resource), 0);
                }
            }
        }
        return requests.build();
    }

    /** Whether it is a connect that the line of a request brings along: a line of its own would allow any request there. */
    private static boolean isCarried(String resource, Scope requests) {
        if (resource.startsWith(CONNECT)) {
            for (String url : Local.names(resource.substring("URL:".length()))) {
                if (Scope.isAllowed(requests.decide(Predicate.CONSUMES, "URL", url, false))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** What changed while the program ran: that another one that ran, too, may have done it, nobody can tell. */
    private static List<ProposedLine> effects(Observations seen, String program, Generaliser together) {
        List<ProposedLine> lines = new ArrayList<>();
        for (Map.Entry<Set<String>, Node> ran : seen.effects.entrySet()) {
            if (ran.getKey().isEmpty() || ran.getKey().contains(program)) {
                lines.addAll(files(ran.getValue(), together));
            }
        }
        return without(lines);
    }

    private static List<ProposedLine> files(Node root, Generaliser together) {
        List<ProposedLine> lines = new ArrayList<>();
        for (Predicate predicate : ORDER) {
            lines.addAll(together.lines(root, predicate));
        }
        return without(lines);
    }

    /** Those that others do not cover. */
    private static List<ProposedLine> without(List<ProposedLine> lines) {
        List<ProposedLine> sorted = new ArrayList<>(lines);
        sorted.sort(Comparator.comparing((ProposedLine line) -> line.resource().path()).thenComparing(line -> ORDER.indexOf(line.predicate())));
        List<ProposedLine> patterns = new ArrayList<>();
        Map<Resource, Integer> named = new HashMap<>();
        for (ProposedLine line : sorted) {
            named.merge(line.resource(), Cover.allows(line.predicate(), false) & ~line.predicate().bit(), (a, b) -> a | b);
            if (line.resource().form() != Resource.Form.EXACT) {
                patterns.add(line);
            }
        }
        List<ProposedLine> kept = new ArrayList<>();
        for (ProposedLine line : sorted) {
            if ((named.get(line.resource()) & line.predicate().bit()) == 0 && !isCovered(line, patterns)) {
                kept.add(line);
            }
        }
        Scope.Builder builder = Scope.builder();
        for (int i = 0; i < kept.size(); i++) {
            if (kept.get(i).predicate() != Predicate.DEPENDS_ON) {
                builder.allow(kept.get(i).predicate(), kept.get(i).resource(), i);
            }
        }
        Scope scope = builder.build();
        // what lies above something declared may be looked at without a line
        kept.removeIf(line -> line.predicate() == Predicate.DEPENDS_ON && line.resource().form() == Resource.Form.EXACT
                && Scope.isAllowed(scope.decide(Predicate.DEPENDS_ON, "FILE", line.resource().path(), false)));
        return kept;
    }

    private static boolean isCovered(ProposedLine line, List<ProposedLine> patterns) {
        for (ProposedLine pattern : patterns) {
            if (pattern != line && (Cover.allows(pattern.predicate(), false) & line.predicate().bit()) != 0
                    && !pattern.resource().equals(line.resource()) && pattern.resource().covers(line.resource())) {
                return true;
            }
        }
        return false;
    }

    /** What was seen and no manifest can declare, {@code PREDICATE RESOURCE}: a name that cannot be written, where all names of its directory may not be. */
    public Set<String> beyond() {
        return beyond;
    }

    /** How many lines of the scope. */
    public int size() {
        return lines.size();
    }
}
