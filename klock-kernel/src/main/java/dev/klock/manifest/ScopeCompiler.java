package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.Arrays;
import java.util.HashMap;

/** Builds a {@link Scope}'s tables. Used once, by one thread. */
final class ScopeCompiler {
    /** Per attempted predicate the line that names it, implies it, covers it on what the session created, denies it; then the mask. */
    private static final int DIRECT = 0;
    private static final int IMPLIED = 6;
    private static final int MADE = 12;
    private static final int DENIED = 18;
    private static final int DECLARED = 24;
    private static final int LAYER = 25;
    private static final int PREDICATES = 6;
    private static final int[] EMPTY = empty();

    /** Nodes in the order they were met, so that a directory always stands before what is in it. */
    private Node[] ordered = new Node[16];
    private int count;
    private Node[] table = new Node[64];

    private int[] decisions = new int[Grant.SIZE * 16];
    private int grants;

    /** The grant of a resource no line speaks of. */
    final int nothing = add(EMPTY, false);
    final HashMap<String, HashMap<String, Integer>> others = new HashMap<>();
    int[] slots;
    int[] nodes;
    int root = Scope.ABSENT;

    private static int[] empty() {
        int[] layer = new int[LAYER];
        Arrays.fill(layer, 0, DECLARED, Scope.NONE);
        return layer;
    }

    void compile(Scope.Rule[] allows, Scope.Rule[] denies) {
        HashMap<String, HashMap<String, Said>> saidOfOthers = new HashMap<>();
        // later lines are put before earlier ones, so that the first is laid on last and stays
        for (int i = 0; i < allows.length; i++) {
            place(allows[i], false, saidOfOthers);
        }
        for (int i = 0; i < denies.length; i++) {
            place(denies[i], true, saidOfOthers);
        }
        for (String scheme : saidOfOthers.keySet()) {
            HashMap<String, Integer> indices = new HashMap<>();
            HashMap<String, Said> paths = saidOfOthers.get(scheme);
            for (String path : paths.keySet()) {
                indices.put(path, add(lay(paths.get(path), EMPTY), false));
            }
            others.put(scheme, indices);
        }
        for (int i = 0; i < count; i++) {
            combine(ordered[i]);
        }
        fillTables();
    }

    int[] decisions() {
        return Arrays.copyOf(decisions, grants * Grant.SIZE);
    }

    int grants() {
        return grants;
    }

    private void place(Scope.Rule rule, boolean deny, HashMap<String, HashMap<String, Said>> saidOfOthers) {
        Resource resource = rule.resource;
        if (resource.scheme().equals(Scope.URL)) {
            // UrlRules keeps those
            return;
        }
        if (!resource.scheme().equals(Scope.FILE)) {
            HashMap<String, Said> paths = saidOfOthers.get(resource.scheme());
            if (paths == null) {
                paths = new HashMap<>();
                saidOfOthers.put(resource.scheme(), paths);
            }
            paths.put(resource.path(), new Said(rule, deny, paths.get(resource.path())));
            return;
        }
        Node node = node(resource.path());
        if (resource.form() == Resource.Form.EXACT) {
            node.exact = new Said(rule, deny, node.exact);
        } else if (resource.form() == Resource.Form.CHILDREN) {
            node.children = new Said(rule, deny, node.children);
        } else {
            node.subtree = new Said(rule, deny, node.subtree);
        }
        if (!deny) {
            // /** covers its own directory; of /* and of a file the directory is only above what is declared
            Node above = resource.form() == Resource.Form.CHILDREN ? node : node.parent;
            while (above != null && !above.aboveDeclared) {
                above.aboveDeclared = true;
                above = above.parent;
            }
        }
    }

    private Node node(String path) {
        Node node = findOrAdd(null, path, 1, Scope.HASH_SEED);
        long hash = Scope.HASH_SEED;
        int end = path.length() == 1 ? 1 : 0;
        while (end < path.length()) {
            hash = Scope.mix(hash, '/');
            end++;
            while (end < path.length() && path.charAt(end) != '/') {
                hash = Scope.mix(hash, path.charAt(end));
                end++;
            }
            node = findOrAdd(node, path, end, hash);
        }
        return node;
    }

    private Node findOrAdd(Node parent, String path, int length, long hash) {
        int slot = Scope.slot(hash, table.length - 1);
        while (table[slot] != null) {
            Node node = table[slot];
            if (node.hash == hash && node.length == length && node.path.regionMatches(0, path, 0, length)) {
                return node;
            }
            slot = (slot + 1) & (table.length - 1);
        }
        Node node = new Node(parent, path, length, hash);
        table[slot] = node;
        if (count == ordered.length) {
            ordered = Arrays.copyOf(ordered, count * 2);
        }
        ordered[count++] = node;
        if (count * 2 > table.length) {
            grow();
        }
        return node;
    }

    private void grow() {
        table = new Node[table.length * 2];
        for (int i = 0; i < count; i++) {
            int slot = Scope.slot(ordered[i].hash, table.length - 1);
            while (table[slot] != null) {
                slot = (slot + 1) & (table.length - 1);
            }
            table[slot] = ordered[i];
        }
    }

    /** All that lines say about a node, once what they say about its directory is known. */
    private void combine(Node node) {
        Node dir = node.parent;
        int[] above = dir == null ? EMPTY : dir.below;
        int aboveGrant = dir == null ? nothing : dir.deeperGrant;
        node.below = lay(node.subtree, above);
        node.deeperGrant = node.subtree == null ? aboveGrant : add(node.below, false);
        node.childGrant = node.children == null ? node.deeperGrant : add(lay(node.children, node.below), false);

        // most general first: subtrees above, the directory's children, the own subtree, the path itself
        int[] own = lay(node.exact, lay(node.subtree, dir == null ? above : lay(dir.children, above)));
        if (node.exact == null && node.subtree == null && !node.aboveDeclared) {
            node.selfGrant = dir == null ? nothing : dir.childGrant;
        } else {
            node.selfGrant = add(own, node.aboveDeclared);
        }
    }

    /** {@code said}, more specific, laid over {@code base}, which stays as it is. */
    private static int[] lay(Said said, int[] base) {
        if (said == null) {
            return base;
        }
        int[] layer = base.clone();
        for (Said s = said; s != null; s = s.earlier) {
            if (s.deny) {
                fill(layer, DENIED, Cover.stops(s.predicate), s.line);
            } else {
                layer[DECLARED] |= s.predicate.bit();
                layer[DIRECT + s.predicate.ordinal()] = s.line;
                fill(layer, IMPLIED, Cover.allows(s.predicate, false), s.line);
                fill(layer, MADE, Cover.allows(s.predicate, true), s.line);
            }
        }
        return layer;
    }

    private static void fill(int[] layer, int part, int predicates, int line) {
        for (int i = 0; i < PREDICATES; i++) {
            if ((predicates & 1 << i) != 0) {
                layer[part + i] = line;
            }
        }
    }

    private int add(int[] layer, boolean aboveDeclared) {
        int start = grants * Grant.SIZE;
        if (start + Grant.SIZE > decisions.length) {
            decisions = Arrays.copyOf(decisions, decisions.length * 2);
        }
        for (int i = 0; i < PREDICATES; i++) {
            int decision = layer[DIRECT + i];
            if (layer[DENIED + i] != Scope.NONE) {
                decision = Scope.FIRST_DENY - layer[DENIED + i];
            } else if (decision == Scope.NONE) {
                decision = layer[IMPLIED + i];
                if (decision == Scope.NONE && aboveDeclared && i == Predicate.DEPENDS_ON.ordinal()) {
                    decision = Scope.ANCESTOR;
                }
            }
            decisions[start + i] = decision;
            boolean open = decision == Scope.NONE || decision == Scope.ANCESTOR;
            decisions[start + PREDICATES + i] = open && layer[MADE + i] != Scope.NONE ? layer[MADE + i] : decision;
        }
        decisions[start + Grant.SIZE - 1] = layer[DECLARED];
        return grants++;
    }

    private void fillTables() {
        // from 1 on, since 0 is no node
        long length = 1;
        for (int i = 0; i < count; i++) {
            length += size(ordered[i]);
        }
        if (count > Scope.MAX_NODES || length > Integer.MAX_VALUE - 8) {
            throw new IllegalArgumentException(count + " declared paths and directories above them");
        }
        nodes = new int[(int) length];
        int mask = Integer.highestOneBit(Math.max(4, count) * 4 - 1) - 1;
        slots = new int[2 * (mask + 1)];
        int at = 1;
        for (int i = 0; i < count; i++) {
            Node node = ordered[i];
            int slot = Scope.slot(node.hash, mask);
            while (slots[2 * slot + 1] != Scope.ABSENT) {
                slot = slot + 1 & mask;
            }
            slots[2 * slot] = (int) node.hash;
            slots[2 * slot + 1] = at;
            fill(at, node);
            if (node.parent == null) {
                root = at;
            }
            at += size(node);
        }
    }

    private static int size(Node node) {
        return Scope.TEXT + (node.length + 1) / 2;
    }

    private void fill(int at, Node node) {
        nodes[at + Scope.LENGTH] = node.length;
        nodes[at + Scope.SELF] = node.selfGrant;
        nodes[at + Scope.CHILD] = node.childGrant;
        nodes[at + Scope.DEEPER] = node.deeperGrant;
        System.arraycopy(decisions, node.selfGrant * Grant.SIZE, nodes, at + Scope.OWN, Grant.DECISIONS);
        for (int i = 0; i < node.length; i++) {
            nodes[at + Scope.TEXT + i / 2] |= node.path.charAt(i) << 16 * (i & 1);
        }
    }

    /** One line about one resource; the list runs from the last line to the first. */
    private static final class Said {
        final Predicate predicate;
        final int line;
        final boolean deny;
        final Said earlier;

        Said(Scope.Rule rule, boolean deny, Said earlier) {
            this.predicate = rule.predicate;
            this.line = rule.line;
            this.deny = deny;
            this.earlier = earlier;
        }
    }

    /** A path that lines name or that lies above one: the first {@code length} characters of {@code path}. */
    private static final class Node {
        final Node parent;
        final String path;
        final int length;
        final long hash;
        Said exact;
        Said children;
        Said subtree;
        boolean aboveDeclared;
        /** What is said of everything below, own subtree lines included. */
        int[] below;
        int selfGrant;
        int childGrant;
        int deeperGrant;

        Node(Node parent, String path, int length, long hash) {
            this.parent = parent;
            this.path = path;
            this.length = length;
            this.hash = hash;
        }
    }
}
