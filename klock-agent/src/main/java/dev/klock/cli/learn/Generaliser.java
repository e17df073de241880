package dev.klock.cli.learn;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Takes names together: a few stay what they are, more in one directory become its {@code /*}, and where several of its directories have
 * something, its {@code /**}. Never at or above the workspace, the user's home or the directory of temporary files, nor near the root, unless it is
 * told to: a manifest that allows everything is worth nothing. Names chosen at random become {@code /*} there, too, unless the manifest would be
 * refused for it. Immutable.
 */
final class Generaliser {
    /** Directories of tools, which are theirs as a whole: the name, what has to lie beside it (null for nothing), and whose it is. */
    private static final String[][] UNITS = {
        {".git", null, "git: a repository"},
        {"target", "pom.xml", "Maven: what it builds"},
        {"build", "build.gradle", "Gradle: what it builds"},
        {"build", "build.gradle.kts", "Gradle: what it builds"},
        {".gradle", null, "Gradle: its caches"},
        {"node_modules", null, "npm: modules"},
    };
    private static final int LEAST_DEPTH = 2;
    /** More than a date, a time or a process id has in a row. */
    private static final int RANDOM_DIGITS = 15;
    private static final int RANDOM_HEX = 16;

    private final int several;
    private final Set<String> whole;
    /** At or above one of these nothing is taken together. */
    private final List<String> kept;
    private final String tmp;
    private final String workspace;
    private final Places places;
    /** The workspace or the home is the directory of temporary files, or lies in it. */
    private final boolean tmpHoldsPlaces;
    private final String mavenRepo;

    /**
     * @param several so many names are taken together; at least 2
     * @param whole   directories that are, with all below, if anything in them was seen
     * @param places  the workspace, and the variables
     */
    Generaliser(int several, Set<String> whole, Places places) {
        this.several = several;
        this.whole = whole;
        this.kept = places.kept();
        this.tmp = places.value("tmp");
        this.workspace = places.value("workspace");
        this.places = places;
        this.tmpHoldsPlaces = tmp != null && (Collections.frequency(kept, tmp) > 1 || kept.stream().anyMatch(place -> place.startsWith(tmp + "/")));
        this.mavenRepo = places.value("maven.repo");
    }

    /** What {@code predicate} was seen on, of {@code root} and below. */
    List<ProposedLine> lines(Node root, Predicate predicate) {
        List<ProposedLine> lines = below(root, predicate);
        if (root.itself(predicate) != null) {
            lines.add(exact(root, predicate));
        }
        return lines;
    }

    private List<ProposedLine> below(Node directory, Predicate predicate) {
        List<ProposedLine> below = new ArrayList<>();
        List<Node> names = new ArrayList<>();
        int branches = 0;
        boolean isRandom = false;
        for (Node child : directory.children()) {
            List<ProposedLine> its = below(child, predicate);
            branches += its.isEmpty() ? 0 : 1;
            isRandom |= !its.isEmpty() && isRandom(child.name) && !isKept(child.path());
            below.addAll(its);
            if (child.itself(predicate) != null) {
                names.add(child);
            }
        }
        boolean hasTree = directory.tree(predicate) != null;
        if (names.isEmpty() && below.isEmpty() && !hasTree) {
            return below;
        }
        String path = directory.path();
        String reason = reason(directory, path, predicate, branches, isRandom, names.size() + below.size());
        if (reason != null || hasTree) {
            return all(directory, path, predicate, names, below, reason);
        }
        List<ProposedLine> lines = new ArrayList<>();
        children(directory, path, predicate, names, lines);
        lines.addAll(below);
        return lines;
    }

    /** Why all of the directory is one line; null if it is not. */
    private String reason(Node directory, String path, Predicate predicate, int branches, boolean isRandom, int items) {
        if (whole.contains(Places.itself(path))) {
            return "as asked for";
        }
        String unit = items > 1 ? unit(directory, path) : null;
        if (unit != null) {
            return unit;
        }
        if (isRandom && (path.equals(tmp) && !tmpHoldsPlaces || mayBeTaken(directory, path))) {
            return "directories with names chosen at random";
        }
        return branches >= several && mayBeTaken(directory, path) ? "in " + branches + " directories" : null;
    }

    private String unit(Node directory, String path) {
        if (path.equals(mavenRepo)) {
            return "Maven: its repository";
        }
        for (String[] unit : UNITS) {
            if (directory.name.equals(unit[0]) && (unit[1] == null || directory.parent.has(unit[1]))) {
                return unit[2];
            }
        }
        return null;
    }

    private static List<ProposedLine> all(Node directory, String path, Predicate predicate, List<Node> names, List<ProposedLine> below, String reason) {
        Seen together = new Seen();
        for (Node name : names) {
            together.join(name.itself(predicate));
        }
        for (ProposedLine line : below) {
            together.join(line.evidence());
        }
        if (directory.tree(predicate) != null) {
            together.join(directory.tree(predicate));
        }
        List<ProposedLine> lines = new ArrayList<>();
        lines.add(new ProposedLine(predicate, Resource.of("FILE", path, Resource.Form.SUBTREE), together, reason, null));
        return lines;
    }

    private void children(Node directory, String path, Predicate predicate, List<Node> names, List<ProposedLine> lines) {
        boolean isRandom = false;
        boolean unwritable = false;
        for (Node name : names) {
            isRandom |= isRandom(name.name) && !isKept(name.path());
            unwritable |= name.unwritable;
        }
        unwritable &= !isBeyond(path, predicate);
        boolean taken = names.size() >= several && mayBeTaken(directory, path) || unwritable || isRandom && mayHaveAnyName(directory, path);
        if (!taken) {
            for (Node name : names) {
                if (!name.unwritable) {
                    lines.add(exact(name, predicate));
                }
            }
            return;
        }
        Seen together = new Seen();
        for (Node name : names) {
            together.join(name.itself(predicate));
        }
        String reason = unwritable ? "a name with control characters, which no manifest can write" : isRandom ? "names chosen at random" : null;
        lines.add(new ProposedLine(predicate, Resource.of("FILE", path, Resource.Form.CHILDREN), together, reason, null));
    }

    /** Whether no line can stand for a name in it that no manifest can write. */
    private boolean isBeyond(String path, Predicate predicate) {
        return predicate.changes() && places.isBroad(path);
    }

    /** What of {@code directory} and below no line can stand for, {@code PREDICATE RESOURCE}. */
    void beyond(Node directory, Predicate predicate, Set<String> found) {
        boolean broad = isBeyond(directory.path(), predicate);
        for (Node child : broad ? directory.children() : List.<Node>of()) {
            if (child.unwritable && child.itself(predicate) != null) {
                found.add(predicate + " FILE:" + Resource.escape(Places.itself(child.path())));
            }
            beyond(child, predicate, found);
        }
    }

    private static ProposedLine exact(Node node, Predicate predicate) {
        return new ProposedLine(predicate, Resource.file(node.path()), node.itself(predicate), null, null);
    }

    private boolean mayBeTaken(Node directory, String path) {
        return directory.depth() >= (Places.isApart(path) ? LEAST_DEPTH + 1 : LEAST_DEPTH) && !isKept(path);
    }

    /** Whether {@code /*} of it may stand for names chosen at random: also of a workspace, and above one; not where a manifest would be refused that lets write there. */
    private boolean mayHaveAnyName(Node directory, String path) {
        boolean deep = directory.depth() >= (Places.isApart(path) ? LEAST_DEPTH + 1 : LEAST_DEPTH);
        return (deep || path.equals(tmp) || path.equals(workspace)) && !places.isBroad(path);
    }

    private boolean isKept(String path) {
        for (String keep : kept) {
            if (keep.equals(path) || keep.startsWith(path + "/")) {
                return true;
            }
        }
        return false;
    }

    /** Whether nobody would give a file that name, or that name to a directory above it, twice. */
    static boolean isRandom(String name) {
        int digits = 0;
        int hex = 0;
        int hexDigits = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean digit = c >= '0' && c <= '9';
            digits = digit ? digits + 1 : 0;
            if (digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
                hex++;
                hexDigits += digit ? 1 : 0;
            } else if (c != '-') {
                // a slash, too
                hex = 0;
                hexDigits = 0;
            }
            if (digits == RANDOM_DIGITS || hex >= RANDOM_HEX && hexDigits > 2) {
                return true;
            }
        }
        return false;
    }

    /** URLs of one server: one by one, or if there are several, all of it. */
    List<ProposedLine> urls(Predicate predicate, List<String> urls, List<Seen> seen) {
        Map<String, List<Integer>> servers = new LinkedHashMap<>();
        for (int i = 0; i < urls.size(); i++) {
            servers.computeIfAbsent(origin(urls.get(i)), none -> new ArrayList<>()).add(i);
        }
        List<ProposedLine> lines = new ArrayList<>();
        for (Map.Entry<String, List<Integer>> server : servers.entrySet()) {
            boolean taken = server.getValue().size() >= several;
            Seen together = new Seen();
            for (int i : server.getValue()) {
                if (taken) {
                    together.join(seen.get(i));
                } else {
                    lines.add(new ProposedLine(predicate, Resource.parse(urls.get(i)), seen.get(i), null, null));
                }
            }
            if (taken) {
                lines.add(new ProposedLine(predicate, Resource.parse(server.getKey() + "/**"), together, null, null));
            }
        }
        return lines;
    }

    private static String origin(String url) {
        int authority = url.indexOf("://");
        int slash = authority < 0 ? -1 : url.indexOf('/', authority + 3);
        return slash < 0 ? url : url.substring(0, slash);
    }
}
