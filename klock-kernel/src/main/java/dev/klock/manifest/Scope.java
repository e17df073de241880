package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A manifest compiled for deciding: which line, if any, allows an access to a resource. Immutable, safe for any thread without a lock;
 * looking up allocates nothing.
 *
 * <p>How it works. Every declared FILE path and every directory above one is a node, so nodes are closed under "directory of". All
 * that lines say about a node is combined when the scope is built, into three {@link Grant}s: for the path itself, for a child of it
 * that is no node, and for anything deeper that is no node. A lookup walks the path once with a rolling 64-bit hash and probes one
 * table at each component's end; the first miss ends it, since no node can lie below one that is missing. Only the deepest hit is
 * compared as text: if it is the true prefix, so are all above it; if it is not (two paths with one hash), an exact walk decides.
 * The cost grows with the depth that lines declare, not with their number. The order of lines never matters to what is allowed (J08,
 * D19), only to which of several equal lines is named.
 *
 * <p>Of several lines that allow, the one that names the attempted predicate itself is reported before one that implies it, then the
 * most specific, then the first. Deny lines beat all of them; the most specific is reported.
 *
 * <p>Paths must be resolved by the caller, those of lines as those of accesses: nothing here does I/O, follows links or folds case.
 */
public final class Scope {
    /** No line allows it. */
    public static final int NONE = -1;
    /** DEPENDS_ON on a directory above a declared path: allowed without a line of its own. */
    public static final int ANCESTOR = -2;
    private static final int FIRST_DENY = -3;

    private static final String FILE = "FILE";
    private static final int PREDICATES = 6;
    private static final long HASH_SEED = 0x9E3779B97F4A7C15L;
    private static final long HASH_FACTOR = 0x100000001B3L;

    private final long[] hashes;
    private final Node[] nodes;
    private final int mask;
    private final Grant nothing;
    private final HashMap<String, HashMap<String, Grant>> others;
    private final Rule[] allows;
    private final Rule[] denies;

    private Scope(Builder builder) {
        allows = builder.allows.toArray(new Rule[0]);
        denies = builder.denies.toArray(new Rule[0]);
        HashMap<String, Node> byPath = new HashMap<>();
        List<Node> ordered = new ArrayList<>();
        others = new HashMap<>();
        HashMap<String, Map<String, Combination>> otherLines = new HashMap<>();
        place(allows, false, byPath, ordered, otherLines);
        place(denies, true, byPath, ordered, otherLines);

        for (Map.Entry<String, Map<String, Combination>> scheme : otherLines.entrySet()) {
            HashMap<String, Grant> grants = new HashMap<>();
            for (Map.Entry<String, Combination> e : scheme.getValue().entrySet()) {
                grants.put(e.getKey(), e.getValue().grant(false));
            }
            others.put(scheme.getKey(), grants);
        }

        nothing = new Combination().grant(false);
        int size = Integer.highestOneBit(Math.max(4, ordered.size()) * 4 - 1);
        hashes = new long[size];
        nodes = new Node[size];
        mask = size - 1;
        for (int i = 0; i < ordered.size(); i++) {
            Node node = ordered.get(i);
            node.compile(nothing);
            int slot = slot(node.hash);
            while (hashes[slot] != 0) {
                slot = (slot + 1) & mask;
            }
            hashes[slot] = node.hash;
            nodes[slot] = node;
        }
        for (int i = 0; i < ordered.size(); i++) {
            ordered.get(i).forgetLines();
        }
    }

    private static void place(Rule[] rules, boolean deny, HashMap<String, Node> byPath, List<Node> ordered,
            HashMap<String, Map<String, Combination>> otherLines) {
        for (int i = 0; i < rules.length; i++) {
            Rule rule = rules[i];
            if (rule.resource.scheme().equals(FILE)) {
                Node node = node(rule.resource.path(), byPath, ordered);
                node.lines(rule.resource.form()).add(rule, deny);
                if (!deny) {
                    // a node that is itself declared by /** covers its own path; by /* it is only above what is declared
                    markAbove(rule.resource.form() == Resource.Form.CHILDREN ? node : node.parent);
                }
            } else {
                Map<String, Combination> paths = otherLines.get(rule.resource.scheme());
                if (paths == null) {
                    paths = new HashMap<>();
                    otherLines.put(rule.resource.scheme(), paths);
                }
                Combination lines = paths.get(rule.resource.path());
                if (lines == null) {
                    lines = new Combination();
                    paths.put(rule.resource.path(), lines);
                }
                lines.add(rule, deny);
            }
        }
    }

    private static void markAbove(Node node) {
        for (Node n = node; n != null && !n.aboveDeclared; n = n.parent) {
            n.aboveDeclared = true;
        }
    }

    private static Node node(String path, HashMap<String, Node> byPath, List<Node> ordered) {
        Node known = byPath.get(path);
        if (known != null) {
            return known;
        }
        int slash = path.lastIndexOf('/');
        Node parent = path.equals("/") ? null : node(slash == 0 ? "/" : path.substring(0, slash), byPath, ordered);
        Node node = new Node(path, parent);
        byPath.put(path, node);
        ordered.add(node);
        return node;
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
     * resolved. Never null; the same instance again for the same path.
     */
    public Grant lookup(String scheme, String path) {
        if (scheme.equals(FILE)) {
            return lookupFile(path);
        }
        HashMap<String, Grant> paths = others.get(scheme);
        Grant grant = paths == null ? null : paths.get(path);
        return grant == null ? nothing : grant;
    }

    /** {@link #lookup} for the scheme FILE. */
    public Grant lookupFile(String path) {
        int length = path.length();
        Node deepest = probe(HASH_SEED);
        if (deepest == null || length == 0 || path.charAt(0) != '/') {
            return nothing;
        }
        if (length == 1) {
            return deepest.self;
        }
        long hash = HASH_SEED;
        int end = 0;
        int i = 0;
        int stop = length;
        while (i < length) {
            // one component with the slash before it
            hash = (hash ^ '/') * HASH_FACTOR;
            i++;
            char c;
            while (i < length && (c = path.charAt(i)) != '/') {
                hash = (hash ^ c) * HASH_FACTOR;
                i++;
            }
            Node node = probe(hash);
            if (node == null) {
                stop = i;
                break;
            }
            deepest = node;
            end = i;
        }
        if (end != 0 && (deepest.path.length() != end || !path.startsWith(deepest.path))) {
            return lookupExactly(path);
        }
        if (end == length) {
            return deepest.self;
        }
        return stop == length ? deepest.child : deepest.deeper;
    }

    /** {@link #lookupFile} that compares every prefix as text. */
    Grant lookupExactly(String path) {
        Node deepest = find("/", HASH_SEED);
        long hash = HASH_SEED;
        int i = 0;
        while (i < path.length()) {
            int from = i++;
            while (i < path.length() && path.charAt(i) != '/') {
                i++;
            }
            for (int k = from; k < i; k++) {
                hash = (hash ^ path.charAt(k)) * HASH_FACTOR;
            }
            Node node = find(path.substring(0, i), hash);
            if (node == null) {
                return i == path.length() ? deepest.child : deepest.deeper;
            }
            deepest = node;
        }
        return deepest.self;
    }

    private static int fold(long hash) {
        return (int) (hash ^ (hash >>> 32));
    }

    private int slot(long hash) {
        return fold(hash) & mask;
    }

    /** The first node with this hash; null when there is none. 0 marks an empty slot, so a path that hashes to 0 is stored as 1. */
    private Node probe(long hash) {
        long key = hash == 0 ? 1 : hash;
        int slot = slot(key);
        long found;
        while ((found = hashes[slot]) != 0) {
            if (found == key) {
                return nodes[slot];
            }
            slot = (slot + 1) & mask;
        }
        return null;
    }

    private Node find(String path, long hash) {
        long key = hash == 0 ? 1 : hash;
        int slot = slot(key);
        long found;
        while ((found = hashes[slot]) != 0) {
            if (found == key && nodes[slot].path.equals(path)) {
                return nodes[slot];
            }
            slot = (slot + 1) & mask;
        }
        return null;
    }

    /** {@link #lookup} and {@link Grant#decide} in one. */
    public int decide(Predicate predicate, String scheme, String path, boolean createdBySession) {
        return lookup(scheme, path).decide(predicate, createdBySession);
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
     * that share most leading components, then the shorter, then the first. Line indices; only lines of the same scheme.
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

    private static final class Rule {
        final Predicate predicate;
        final Resource resource;
        final int line;

        Rule(Predicate predicate, Resource resource, int line) {
            if (line < 0) {
                throw new IllegalArgumentException("line index " + line);
            }
            if (resource.form() != Resource.Form.EXACT && !resource.scheme().equals(FILE)) {
                throw new IllegalArgumentException("pattern outside FILE: " + resource);
            }
            this.predicate = predicate;
            this.resource = resource;
            this.line = line;
        }
    }

    /** A path that lines name or that lies above one. */
    private static final class Node {
        final String path;
        final Node parent;
        final long hash;
        Grant self;
        Grant child;
        Grant deeper;
        boolean aboveDeclared;
        private Combination exact;
        private Combination children;
        private Combination subtree;
        /** What lines say of everything below this node, own subtree lines included. */
        private Combination inherited;

        Node(String path, Node parent) {
            this.path = path;
            this.parent = parent;
            long h = HASH_SEED;
            if (parent != null) {
                h = parent.hashed;
                for (int i = parent.parent == null ? 0 : parent.path.length(); i < path.length(); i++) {
                    h = (h ^ path.charAt(i)) * HASH_FACTOR;
                }
            }
            this.hashed = h;
            this.hash = h == 0 ? 1 : h;
        }

        private final long hashed;

        Combination lines(Resource.Form form) {
            if (form == Resource.Form.EXACT) {
                return exact == null ? exact = new Combination() : exact;
            }
            if (form == Resource.Form.CHILDREN) {
                return children == null ? children = new Combination() : children;
            }
            return subtree == null ? subtree = new Combination() : subtree;
        }

        /** Parents are compiled before their children. */
        void compile(Grant nothing) {
            Combination above = parent == null ? null : parent.inherited;
            inherited = subtree == null ? above : subtree.over(above);
            deeper = subtree == null ? (parent == null ? nothing : parent.deeper) : inherited.grant(false);
            child = children == null ? deeper : children.over(inherited).grant(false);
            Combination asChild = parent == null || parent.children == null ? above : parent.children.over(above);
            Combination own = subtree == null ? asChild : subtree.over(asChild);
            own = exact == null ? own : exact.over(own);
            if (aboveDeclared) {
                self = (own == null ? new Combination() : own).grant(true);
            } else {
                self = own == null ? nothing : own == above ? parent.deeper : own == asChild ? parent.child : own.grant(false);
            }
        }

        void forgetLines() {
            exact = null;
            children = null;
            subtree = null;
            inherited = null;
        }
    }

    /** Per attempted predicate, the line that decides; lines added first win over later equal ones. */
    private static final class Combination {
        private final int[] direct = none();
        private final int[] implied = none();
        private final int[] made = none();
        private final int[] denied = none();
        private int declared;

        private static int[] none() {
            int[] lines = new int[PREDICATES];
            Arrays.fill(lines, NONE);
            return lines;
        }

        void add(Rule rule, boolean deny) {
            int p = rule.predicate.ordinal();
            if (deny) {
                fill(denied, Cover.stops(rule.predicate), rule.line);
                return;
            }
            declared |= rule.predicate.bit();
            if (direct[p] == NONE) {
                direct[p] = rule.line;
            }
            fill(implied, Cover.allows(rule.predicate, false), rule.line);
            fill(made, Cover.allows(rule.predicate, true), rule.line);
        }

        private static void fill(int[] lines, int covered, int line) {
            for (int i = 0; i < PREDICATES; i++) {
                if ((covered & 1 << i) != 0 && lines[i] == NONE) {
                    lines[i] = line;
                }
            }
        }

        /** This, more specific, laid over {@code base}; either stays as it is. */
        Combination over(Combination base) {
            if (base == null) {
                return this;
            }
            Combination c = new Combination();
            for (int i = 0; i < PREDICATES; i++) {
                c.direct[i] = direct[i] != NONE ? direct[i] : base.direct[i];
                c.implied[i] = implied[i] != NONE ? implied[i] : base.implied[i];
                c.made[i] = made[i] != NONE ? made[i] : base.made[i];
                c.denied[i] = denied[i] != NONE ? denied[i] : base.denied[i];
            }
            c.declared = declared | base.declared;
            return c;
        }

        Grant grant(boolean aboveDeclared) {
            int[] onExisting = new int[PREDICATES];
            int[] onCreated = new int[PREDICATES];
            for (int i = 0; i < PREDICATES; i++) {
                int decision;
                if (denied[i] != NONE) {
                    decision = FIRST_DENY - denied[i];
                } else if (direct[i] != NONE) {
                    decision = direct[i];
                } else if (implied[i] != NONE) {
                    decision = implied[i];
                } else if (aboveDeclared && i == Predicate.DEPENDS_ON.ordinal()) {
                    decision = ANCESTOR;
                } else {
                    decision = NONE;
                }
                onExisting[i] = decision;
                onCreated[i] = (decision == NONE || decision == ANCESTOR) && made[i] != NONE ? made[i] : decision;
            }
            return new Grant(onExisting, onCreated, declared);
        }
    }
}
