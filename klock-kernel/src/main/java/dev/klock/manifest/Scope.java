package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;

/**
 * A manifest compiled for deciding: which line, if any, allows an access to a resource. Immutable, safe for any thread without a lock;
 * looking up allocates nothing.
 *
 * <p>How it works. Every declared FILE path and every directory above one is a node, so nodes are closed under "directory of". All
 * that lines say about a node is combined when the scope is built, into three {@link Grant}s: for the path itself, for a child of it
 * that is no node, and for anything deeper that is no node. A lookup walks the path once with a rolling 64-bit hash and probes one
 * table at each component's end; the first miss ends it, since no node can lie below one that is missing. Only the deepest hit is
 * compared as text: if it is the true prefix, so are all above it; if it is not (two paths with one hash), an exact walk decides.
 * The cost grows with the depth that lines declare, not with their number.
 *
 * <p>With many lines each read that needs the answer of the one before is a wait for memory. So a lookup reads two places in flat
 * arrays: the table, which is small, and the node, where its path and its decisions lie side by side; and the path is looked for as a
 * whole first, with a hash that takes four characters at a time.
 *
 * <p>The order of lines never matters to what is allowed (J08, D19), only to which of several equal lines is named. Of several lines
 * that allow, the one that names the attempted predicate itself is reported before one that implies it, then the most specific, then
 * the first. Deny lines beat all of them; the most specific is reported.
 *
 * <p>Paths must be resolved by the caller, those of lines as those of accesses: nothing here does I/O, follows links or folds case.
 */
public final class Scope {
    /** No line allows it. */
    public static final int NONE = -1;
    /** DEPENDS_ON on a directory above a declared path: allowed without a line of its own. */
    public static final int ANCESTOR = -2;
    static final int FIRST_DENY = -3;

    static final String FILE = "FILE";
    static final String URL = "URL";
    static final long HASH_SEED = 0x9E3779B97F4A7C15L;
    private static final long FACTOR = 0xD6E8FEB86659FD93L;
    private static final long FACTOR_2 = FACTOR * FACTOR;
    private static final long FACTOR_3 = FACTOR_2 * FACTOR;
    private static final long FACTOR_4 = FACTOR_3 * FACTOR;

    /**
     * What a node has in {@link #nodes}: its path's length, its three grants, the decisions of the first of them once more, and from TEXT
     * on its path, two characters to an int.
     */
    static final int LENGTH = 0;

    static final int SELF = 1;
    static final int CHILD = 2;
    static final int DEEPER = 3;
    static final int OWN = 4;
    static final int TEXT = OWN + Grant.DECISIONS;
    /** No node. */
    static final int ABSENT = 0;
    /** More slots than this are more than the processor's inner caches hold: then a path is first looked for as a whole. */
    private static final int MANY = 1 << 14;
    /** So that the table's length in ints is one. */
    static final int MAX_NODES = 1 << 25;

    /** A hash table of nodes, open addressing, at least half empty: half of the hash and where the node begins in {@link #nodes}. */
    private final int[] slots;

    private final int mask;
    private final int[] nodes;
    /** The node of {@code /}; {@link #ABSENT} without FILE lines. */
    private final int root;
    private final int[] decisions;
    private final Grant[] grants;
    private final int nothing;
    private final HashMap<String, HashMap<String, Integer>> others;
    /** Null without lines about URLs. */
    private final UrlRules urls;
    private final Rule[] allows;
    private final Rule[] denies;

    private Scope(Builder builder) {
        allows = builder.allows.toArray(new Rule[0]);
        denies = builder.denies.toArray(new Rule[0]);
        ScopeCompiler compiler = new ScopeCompiler();
        compiler.compile(allows, denies);
        slots = compiler.slots;
        mask = slots.length / 2 - 1;
        nodes = compiler.nodes;
        root = compiler.root;
        nothing = compiler.nothing;
        others = compiler.others;
        urls = UrlRules.of(allows, denies);
        decisions = compiler.decisions();
        grants = new Grant[compiler.grants()];
        for (int i = 0; i < grants.length; i++) {
            grants[i] = new Grant(decisions, i);
        }
    }

    /** A builder for a scope. */
    public static Builder builder() {
        return new Builder();
    }

    /** Whether a decision allows. */
    public static boolean isAllowed(int decision) {
        return decision >= 0 || decision == ANCESTOR;
    }

    /** Whether a decision is a deny line's, rather than that nothing is declared. */
    public static boolean isDenied(int decision) {
        return decision <= FIRST_DENY;
    }

    /** The index of the deny line that decided; only when {@link #isDenied}. */
    public static int denyLine(int decision) {
        return FIRST_DENY - decision;
    }

    /**
     * What the manifest says about one resource. {@code scheme} is upper case; {@code path} is canonical and, for FILE, absolute and
     * resolved. Never null; the same instance again for the same path, except for URL, whose lines count at several levels: as a
     * request, {@code https://host/path}; as an end point, {@code tcp://host:port} or {@code udp://host:port}; and as a name to look up,
     * {@code dns://host} (C49).
     */
    public Grant lookup(String scheme, String path) {
        if (urls != null && scheme.equals(URL)) {
            return urls.grant(path);
        }
        return grants[index(scheme, path)];
    }

    /** {@link #lookup} for the scheme FILE. */
    public Grant lookupFile(String path) {
        return grants[fileIndex(path)];
    }

    /** {@link #lookup} and {@link Grant#decide} in one. */
    public int decide(Predicate predicate, String scheme, String path, boolean createdBySession) {
        if (urls != null && scheme.equals(URL)) {
            return urls.grant(path).decide(predicate, createdBySession);
        }
        if (scheme.equals(FILE)) {
            int node = whole(path);
            if (node != ABSENT) {
                return nodes[node + OWN + Grant.place(predicate, createdBySession)];
            }
            return Grant.decide(decisions, walk(path), predicate, createdBySession);
        }
        return Grant.decide(decisions, indexOfOther(scheme, path), predicate, createdBySession);
    }

    /** Whether a scope line names {@code host} (as {@link dev.klock.resource.Host} spells it) in a URL. */
    public boolean namesHost(String host) {
        return urls != null && urls.names(host);
    }

    Grant grant(int index) {
        return grants[index];
    }

    private int index(String scheme, String path) {
        return scheme.equals(FILE) ? fileIndex(path) : indexOfOther(scheme, path);
    }

    private int indexOfOther(String scheme, String path) {
        HashMap<String, Integer> paths = others.get(scheme);
        Integer index = paths == null ? null : paths.get(path);
        return index == null ? nothing : index;
    }

    private int fileIndex(String path) {
        int node = whole(path);
        return node == ABSENT ? walk(path) : nodes[node + SELF];
    }

    /** The node whose path {@code path} is; ABSENT if there is none, if another has its hash, or if a walk is as quick. */
    private int whole(String path) {
        if (mask <= MANY) {
            return ABSENT;
        }
        int node = probe(hash(path));
        return node != ABSENT && isAt(node, path, path.length()) ? node : ABSENT;
    }

    private int walk(String path) {
        int length = path.length();
        if (root == ABSENT || length == 0 || path.charAt(0) != '/') {
            return nothing;
        }
        if (length == 1) {
            return nodes[root + SELF];
        }
        long hash = HASH_SEED;
        int node = ABSENT;
        int end = 0;
        int i = 0;
        while (i < length) {
            // one component with the slash before it
            hash = mix(hash, '/');
            i++;
            char c;
            while (i < length && (c = path.charAt(i)) != '/') {
                hash = mix(hash, c);
                i++;
            }
            int next = probe(hash);
            if (next == ABSENT) {
                break;
            }
            node = next;
            end = i;
        }
        if (node == ABSENT) {
            return nodes[root + (i == length ? CHILD : DEEPER)];
        }
        if (!isAt(node, path, end)) {
            return fileIndexExactly(path);
        }
        return nodes[node + (end == length ? SELF : i == length ? CHILD : DEEPER)];
    }

    /** {@link #walk} that compares every prefix. {@code path} is not {@code /}, and there are FILE lines. */
    int fileIndexExactly(String path) {
        int node = root;
        long hash = HASH_SEED;
        int i = 0;
        while (i < path.length()) {
            int from = i++;
            while (i < path.length() && path.charAt(i) != '/') {
                i++;
            }
            for (int k = from; k < i; k++) {
                hash = mix(hash, path.charAt(k));
            }
            int next = find(path, i, hash);
            if (next == ABSENT) {
                return nodes[node + (i == path.length() ? CHILD : DEEPER)];
            }
            node = next;
        }
        return nodes[node + SELF];
    }

    /** The hash of a path that is one character longer: a polynomial, so that a path's beginnings are hashed on the way. */
    static long mix(long hash, char c) {
        return hash * FACTOR + c;
    }

    /** What {@link #mix} makes of all of {@code path}, with one multiplication in four waiting for another. */
    private static long hash(String path) {
        int length = path.length();
        long hash = HASH_SEED;
        int i = 0;
        for (; i < length - 3; i += 4) {
            hash = hash * FACTOR_4
                    + path.charAt(i) * FACTOR_3
                    + path.charAt(i + 1) * FACTOR_2
                    + path.charAt(i + 2) * FACTOR
                    + path.charAt(i + 3);
        }
        for (; i < length; i++) {
            hash = mix(hash, path.charAt(i));
        }
        return hash;
    }

    /** Which of {@code mask + 1} slots a hash is looked for in first; of the hash itself the lower bits are less mixed. */
    static int slot(long hash, int mask) {
        return (int) (hash ^ hash >>> 32) & mask;
    }

    /** The first node with this hash. */
    private int probe(long hash) {
        int slot = slot(hash, mask);
        int node;
        while ((node = slots[2 * slot + 1]) != ABSENT && slots[2 * slot] != (int) hash) {
            slot = slot + 1 & mask;
        }
        return node;
    }

    /** The node whose path is the first {@code length} characters of {@code path}. */
    private int find(String path, int length, long hash) {
        int slot = slot(hash, mask);
        int node;
        while ((node = slots[2 * slot + 1]) != ABSENT && !isAt(node, path, length)) {
            slot = slot + 1 & mask;
        }
        return node;
    }

    /** Whether the node's path is the first {@code length} characters of {@code path}. */
    private boolean isAt(int node, String path, int length) {
        if (nodes[node + LENGTH] != length) {
            return false;
        }
        int at = node + TEXT;
        int i = 0;
        for (; i < length - 1; i += 2) {
            if (nodes[at++] != (path.charAt(i) | path.charAt(i + 1) << 16)) {
                return false;
            }
        }
        return i == length || nodes[at] == path.charAt(i);
    }

    /**
     * A decision about the FILE {@code path} and everything that may lie below it, as renaming or removing a whole directory needs: a
     * {@code /**} line must cover it, and no deny line may stop {@code predicate} at, above or below it. {@code createdBySession} is
     * whether this very session created all of it. Slower than {@link #decide}: it looks at every line.
     */
    public int decideTree(Predicate predicate, String path, boolean createdBySession) {
        int decision = lookupFile(path).decide(predicate, createdBySession);
        if (isDenied(decision)) {
            return decision;
        }
        for (int i = 0; i < denies.length; i++) {
            Resource denied = denies[i].resource;
            if ((Cover.stops(denies[i].predicate) & predicate.bit()) != 0 && denied.scheme().equals(FILE)
                    && overlapsTree(path, denied)) {
                return FIRST_DENY - denies[i].line;
            }
        }
        int allowing = NONE;
        int bestLength = -1;
        boolean bestDirect = false;
        for (int i = 0; i < allows.length; i++) {
            Rule rule = allows[i];
            if (rule.resource.form() != Resource.Form.SUBTREE || !rule.resource.scheme().equals(FILE)
                    || (Cover.allows(rule.predicate, createdBySession) & predicate.bit()) == 0 || !isAtOrBelow(rule.resource.path(), path)) {
                continue;
            }
            boolean direct = rule.predicate == predicate;
            int ruleLength = rule.resource.path().length();
            if (allowing == NONE || (direct && !bestDirect) || (direct == bestDirect && ruleLength > bestLength)) {
                allowing = rule.line;
                bestDirect = direct;
                bestLength = ruleLength;
            }
        }
        return allowing;
    }

    private static boolean overlapsTree(String path, Resource denied) {
        return isAtOrBelow(path, denied.path()) || (denied.form() == Resource.Form.SUBTREE && isAtOrBelow(denied.path(), path));
    }

    private static boolean isAtOrBelow(String dir, String path) {
        if (dir.equals("/") || path.equals(dir)) {
            return true;
        }
        return path.length() > dir.length() && path.charAt(dir.length()) == '/' && path.startsWith(dir);
    }

    /** The predicates that scope lines name for a resource, as a mask of {@link Predicate#bit()}: for "only declared CONSUMES". */
    public int declaredPredicates(String scheme, String path) {
        return lookup(scheme, path).declaredPredicates();
    }

    /**
     * Up to {@code count} scope lines whose resources are nearest to a resource, for messages: those that cover it first, then those
     * that share most leading components, then the shorter, then the first. Line indices, each once; only lines of the same scheme.
     */
    public int[] nearest(String scheme, String path, int count) {
        int[] lines = new int[Math.min(count, allows.length)];
        int[] scores = new int[lines.length];
        int found = 0;
        for (int i = 0; i < allows.length; i++) {
            Resource resource = allows[i].resource;
            if (!resource.scheme().equals(scheme)) {
                continue;
            }
            int score = nearness(resource, path);
            int same = 0;
            while (same < found && lines[same] != allows[i].line) {
                same++;
            }
            if (same < found) {
                // one line can stand for a link and for what it leads to
                if (scores[same] >= score) {
                    continue;
                }
                found--;
                System.arraycopy(lines, same + 1, lines, same, found - same);
                System.arraycopy(scores, same + 1, scores, same, found - same);
            }
            int at = found;
            while (at > 0 && scores[at - 1] < score) {
                at--;
            }
            if (at == lines.length) {
                continue;
            }
            int last = Math.min(found, lines.length - 1);
            System.arraycopy(lines, at, lines, at + 1, last - at);
            System.arraycopy(scores, at, scores, at + 1, last - at);
            lines[at] = allows[i].line;
            scores[at] = score;
            found = Math.min(found + 1, lines.length);
        }
        return Arrays.copyOf(lines, found);
    }

    private static int nearness(Resource resource, String path) {
        String other = resource.path();
        int shared = 0;
        int common = 0;
        int shorter = Math.min(other.length(), path.length());
        while (common < shorter && other.charAt(common) == path.charAt(common)) {
            if (path.charAt(common) == '/') {
                shared++;
            }
            common++;
        }
        if (common == shorter && (common == path.length() || path.charAt(common) == '/')
                && (common == other.length() || other.charAt(common) == '/')) {
            shared++;
        }
        int covers = resource.covers(Resource.of(resource.scheme(), path, Resource.Form.EXACT)) ? 1 : 0;
        return ((covers << 12 | Math.min(shared, 0xFFF)) << 16) + (0xFFFF - Math.min(other.length(), 0xFFFF));
    }

    /** Collects lines. Not thread-safe. */
    public static final class Builder {
        private final List<Rule> allows = new ArrayList<>();
        private final List<Rule> denies = new ArrayList<>();

        private Builder() {
        }

        /** A scope line; {@code line}, 0 or more, is what decisions will name. A resource may be added again with another path. */
        public Builder allow(Predicate predicate, Resource resource, int line) {
            allows.add(new Rule(predicate, resource, line));
            return this;
        }

        /** A deny line; beats every scope line (UX). {@code line} counts apart from scope lines. */
        public Builder deny(Predicate predicate, Resource resource, int line) {
            denies.add(new Rule(predicate, resource, line));
            return this;
        }

        public Scope build() {
            return new Scope(this);
        }
    }

    static final class Rule {
        final Predicate predicate;
        final Resource resource;
        final int line;

        Rule(Predicate predicate, Resource resource, int line) {
            if (line < 0) {
                throw new IllegalArgumentException("line index " + line);
            }
            boolean url = resource.scheme().equals(URL) && resource.form() == Resource.Form.SUBTREE;
            if (resource.form() != Resource.Form.EXACT && !url && !resource.scheme().equals(FILE)) {
                throw new IllegalArgumentException("pattern outside FILE and URL: " + resource);
            }
            this.predicate = predicate;
            this.resource = resource;
            this.line = line;
        }
    }
}
