package dev.klock.cli.learn;

import dev.klock.kernel.Predicate;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;

/** A name in the tree of all files that were seen. */
final class Node {
    final Node parent;
    /** The last component; "" of the root. */
    final String name;
    /** A manifest cannot write the name. */
    boolean unwritable;
    private TreeMap<String, Node> children;
    private final Seen[] itself = new Seen[Predicate.values().length];
    private final Seen[] tree = new Seen[Predicate.values().length];

    Node(Node parent, String name) {
        this.parent = parent;
        this.name = name;
    }

    /** The node of {@code path}, absolute and canonical, below this root. */
    Node at(String path) {
        Node node = this;
        int from = 1;
        while (from < path.length()) {
            int slash = path.indexOf('/', from);
            int to = slash < 0 ? path.length() : slash;
            node = node.child(path.substring(from, to));
            from = to + 1;
        }
        return node;
    }

    /** Whether {@code path}, absolute and canonical, or anything below it was seen. */
    boolean isKnown(String path) {
        Node node = this;
        for (String name : path.substring(1).split("/")) {
            node = name.isEmpty() || node == null ? node : node.children == null ? null : node.children.get(name);
        }
        return node != null && (node.parent != null || node.children != null);
    }

    private Node child(String called) {
        if (children == null) {
            children = new TreeMap<>();
        }
        Node child = children.get(called);
        if (child == null) {
            child = new Node(this, called);
            children.put(called, child);
        }
        return child;
    }

    Collection<Node> children() {
        return children == null ? List.of() : children.values();
    }

    boolean has(String called) {
        return children != null && children.containsKey(called);
    }

    /** What was done to it; null if nothing. */
    Seen itself(Predicate predicate) {
        return itself[predicate.ordinal()];
    }

    /** What was done to it with all that is below, at once; null if nothing. */
    Seen tree(Predicate predicate) {
        return tree[predicate.ordinal()];
    }

    Seen see(Predicate predicate, boolean withAllBelow) {
        Seen[] seen = withAllBelow ? tree : itself;
        if (seen[predicate.ordinal()] == null) {
            seen[predicate.ordinal()] = new Seen();
        }
        return seen[predicate.ordinal()];
    }

    String path() {
        if (parent == null) {
            return "/";
        }
        StringBuilder path = new StringBuilder();
        for (Node up = this; up.parent != null; up = up.parent) {
            path.insert(0, up.name).insert(0, '/');
        }
        return path.toString();
    }

    int depth() {
        int depth = 0;
        for (Node up = this; up.parent != null; up = up.parent) {
            depth++;
        }
        return depth;
    }
}
