package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.HashMap;

/**
 * Who is in the way of a triple, in time that depends on the depth of its path and not on how many leases there are (C18, C19).
 *
 * <h2>How it works</h2>
 *
 * <p>Per namespace and scheme a tree of path segments. A node keeps, per form (the thing itself, its direct children {@code /*}, the
 * subtree {@code /**}) and per predicate, a linked list of the claims placed there. Whether a list is empty is a bit of an 18-bit mask.
 * For what lies below, a node counts claims per predicate, twice: in all of its subtree, and (without the {@code /*} ones, which do not
 * touch the child itself) on its direct children. So there are at most these places where something can overlap a request:
 *
 * <table>
 * <caption>where a request looks</caption>
 * <tr><th>asked</th><th>at strict ancestors</th><th>at the parent</th><th>at the node itself</th><th>below</th></tr>
 * <tr><td>{@code /d}</td><td>{@code /**}</td><td>{@code /*}</td><td>{@code /d}, {@code /d/**}</td><td>nothing</td></tr>
 * <tr><td>{@code /d/*}</td><td>{@code /**}</td><td>nothing</td><td>{@code /d/*}, {@code /d/**}</td><td>children's counts</td></tr>
 * <tr><td>{@code /d/**}</td><td>{@code /**}</td><td>{@code /*}</td><td>all three</td><td>subtree's counts</td></tr>
 * </table>
 *
 * <p>A request walks down once and ands its conflict mask with these. Only if a bit is set are claims looked at, and then only those in
 * lists of conflicting predicates; below a node only branches whose counts are not zero.
 *
 * <p>Children are found through one hash table for the whole index, keyed by parent and segment, instead of a map per node: a leaf costs
 * no map, a step is one probe. The hash has a seed, so that whoever chooses paths cannot choose collisions.
 *
 * <p>Not thread-safe; the kernel is one thread's at a time.
 */
final class LeaseIndex {
    private static final int EXACT = 0;
    private static final int CHILDREN = 6;
    private static final int SUBTREE = 12;

    /** What a search may leave out. */
    static final int ALL = 0;

    static final int FIRST_ONLY = 1;
    static final int QUEUED_ONLY = 2;
    static final int HELD_ONLY = 4;

    /** The mask of every predicate. */
    static final int ANY = 0b111111;

    /** A directory or file that somebody claims, or that lies on the way to one. */
    static final class Node {
        final Node parent;
        /** The name is {@code text[from, to)}: the path of whoever came first, so that no name is ever copied. */
        final String text;

        final int from;
        final int to;
        final int hash;
        Node firstChild;
        Node nextSibling;
        Node previousSibling;

        Claim[] exact;
        Claim[] children;
        Claim[] subtree;
        /** Which lists are not empty: bit form + predicate. */
        int own;

        /** Claims per predicate below (0 to 5) and on direct children (6 to 11). */
        int[] counts;
        /** Which counts are not zero. */
        int below;

        Node(Node parent, String text, int from, int to, int hash) {
            this.parent = parent;
            this.text = text;
            this.from = from;
            this.to = to;
            this.hash = hash;
        }

        private Claim[] heads(int form) {
            return form == EXACT ? exact : form == CHILDREN ? children : subtree;
        }

        private void count(int index) {
            if (counts == null) {
                counts = new int[12];
            }
            if (counts[index]++ == 0) {
                below |= 1 << index;
            }
        }

        private void uncount(int index) {
            if (--counts[index] == 0) {
                below &= ~(1 << index);
            }
        }
    }

    /** The trees of one namespace (K7-10). */
    static final class Space {
        final String namespace;
        int sessions;
        private final HashMap<String, Node> roots = new HashMap<>(4);

        Space(String namespace) {
            this.namespace = namespace;
        }
    }

    private final int seed;
    private Node[] table = new Node[64];
    private int nodes;

    LeaseIndex(int seed) {
        this.seed = seed | 1;
    }

    int nodes() {
        return nodes;
    }

    private Node root(Space space, String scheme, boolean create) {
        Node root = space.roots.get(scheme);
        if (root == null && create) {
            root = new Node(null, "", 0, 0, (space.namespace.hashCode() * 31 + scheme.hashCode()) * seed);
            space.roots.put(scheme, root);
        }
        return root;
    }

    private static int form(Resource resource) {
        Resource.Form form = resource.form();
        return form == Resource.Form.EXACT ? EXACT : form == Resource.Form.CHILDREN ? CHILDREN : SUBTREE;
    }

    /** The offset of the first segment; beyond the path's end for the root itself. */
    private static int start(String path) {
        if (path.isEmpty() || path.charAt(0) != '/') {
            return 0;
        }
        return path.length() == 1 ? 2 : 1;
    }

    /**
     * The child of {@code node} for the segment at {@code from}; {@code null} if there is none. The segment's end goes to {@link #end},
     * its hash to {@link #hash}.
     */
    private Node step(Node node, String path, int from) {
        int h = node.hash;
        int length = path.length();
        int i = from;
        for (; i < length; i++) {
            char c = path.charAt(i);
            if (c == '/') {
                break;
            }
            h = h * seed + c;
        }
        // a first name without a slash in front is another thing than one with
        h = (h + (from == 0 ? 7 : 3)) * 0x9E3779B1;
        h ^= h >>> 15;
        end = i;
        hash = h;
        Node[] slots = table;
        int mask = slots.length - 1;
        for (int at = h & mask; ; at = at + 1 & mask) {
            Node n = slots[at];
            if (n == null) {
                return null;
            }
            if (n.hash == h
                    && n.parent == node
                    && n.to - n.from == i - from
                    && n.text.regionMatches(n.from, path, from, i - from)
                    && (n.from == 0) == (from == 0)) {
                return n;
            }
        }
    }

    private int end;
    private int hash;

    /** Whether anything at all, the asker's own claims included, may conflict with {@code resource} under {@code mask}. */
    boolean mayConflict(Space space, Resource resource, int mask) {
        Node node = root(space, resource.scheme(), false);
        if (node == null) {
            return false;
        }
        String path = resource.path();
        int form = form(resource);
        int length = path.length();
        for (int from = start(path); from <= length; from = end + 1) {
            if ((node.own >> SUBTREE & mask) != 0) {
                return true;
            }
            Node child = step(node, path, from);
            if (end >= length && form != CHILDREN && (node.own >> CHILDREN & mask) != 0) {
                return true;
            }
            if (child == null) {
                return false;
            }
            node = child;
        }
        switch (form) {
            case EXACT:
                return ((node.own | node.own >> SUBTREE) & mask) != 0;
            case CHILDREN:
                return ((node.own >> CHILDREN | node.own >> SUBTREE | node.below >> 6) & mask) != 0;
            default:
                return ((node.own | node.own >> CHILDREN | node.own >> SUBTREE | node.below) & mask) != 0;
        }
    }

    /**
     * Adds to {@code found} the claims that conflict with {@code resource} under {@code mask}, those of {@code mine} and those queued
     * behind number {@code place} left out.
     *
     * @param what ALL, or some of FIRST_ONLY, QUEUED_ONLY, HELD_ONLY
     */
    void collect(Space space, Resource resource, int mask, Session mine, long place, int what, ArrayList<Claim> found) {
        Node node = root(space, resource.scheme(), false);
        if (node == null) {
            return;
        }
        String path = resource.path();
        int form = form(resource);
        int length = path.length();
        for (int from = start(path); from <= length; from = end + 1) {
            if (add(node, SUBTREE, mask, mine, place, what, found)) {
                return;
            }
            Node child = step(node, path, from);
            if (end >= length && form != CHILDREN && add(node, CHILDREN, mask, mine, place, what, found)) {
                return;
            }
            if (child == null) {
                return;
            }
            node = child;
        }
        if (add(node, SUBTREE, mask, mine, place, what, found)
                || form != CHILDREN && add(node, EXACT, mask, mine, place, what, found)
                || form != EXACT && add(node, CHILDREN, mask, mine, place, what, found)
                || form == EXACT) {
            return;
        }
        if (form == CHILDREN) {
            if ((node.below >> 6 & mask) != 0) {
                for (Node child = node.firstChild; child != null; child = child.nextSibling) {
                    if (add(child, EXACT, mask, mine, place, what, found) || add(child, SUBTREE, mask, mine, place, what, found)) {
                        return;
                    }
                }
            }
            return;
        }
        // depth first without recursion: a path may have two thousand segments
        Node at = node;
        while (true) {
            if ((at.below & mask & ANY) != 0 && at.firstChild != null) {
                at = at.firstChild;
            } else {
                while (at != node && at.nextSibling == null) {
                    at = at.parent;
                }
                if (at == node) {
                    return;
                }
                at = at.nextSibling;
            }
            if (add(at, EXACT, mask, mine, place, what, found)
                    || add(at, CHILDREN, mask, mine, place, what, found)
                    || add(at, SUBTREE, mask, mine, place, what, found)) {
                return;
            }
        }
    }

    /** Adds the claims of one form at one node; true when the search may end. */
    private static boolean add(
            Node node, int form, int mask, Session mine, long place, int what, ArrayList<Claim> found) {
        int hits = node.own >> form & mask;
        if (hits == 0) {
            return false;
        }
        Claim[] heads = node.heads(form);
        for (; hits != 0; hits &= hits - 1) {
            for (Claim c = heads[Integer.numberOfTrailingZeros(hits)]; c != null; c = c.next) {
                if (c.session == mine || (c.request == null ? (what & QUEUED_ONLY) != 0 : c.request.number > place || (what & HELD_ONLY) != 0)) {
                    continue;
                }
                found.add(c);
                if ((what & FIRST_ONLY) != 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Places {@code claim}. If a claim of the same session and batch is already on the same resource, that one is made the severest of
     * both instead (K1-16) and returned.
     */
    Claim insert(Space space, Claim claim) {
        Resource resource = claim.resource;
        String path = resource.path();
        Node node = root(space, resource.scheme(), true);
        int length = path.length();
        for (int from = start(path); from <= length; from = end + 1) {
            Node child = step(node, path, from);
            if (child == null) {
                child = new Node(node, path, from, end, hash);
                Node first = node.firstChild;
                child.nextSibling = first;
                if (first != null) {
                    first.previousSibling = child;
                }
                node.firstChild = child;
                put(child);
            }
            node = child;
        }
        int form = form(resource);
        Claim[] heads = node.heads(form);
        if (heads == null) {
            heads = new Claim[6];
            if (form == EXACT) {
                node.exact = heads;
            } else if (form == CHILDREN) {
                node.children = heads;
            } else {
                node.subtree = heads;
            }
        } else {
            for (int hits = node.own >> form & ANY; hits != 0; hits &= hits - 1) {
                // the newest is first in its list, so a claim of this batch can only be there
                Claim twin = heads[Integer.numberOfTrailingZeros(hits)];
                if (twin.batch == claim.batch && twin.session == claim.session) {
                    Predicate severest = ConflictMatrix.severest(twin.predicate, claim.predicate);
                    if (severest != twin.predicate) {
                        unlink(twin, form);
                        twin.predicate = severest;
                        link(twin, node, form);
                    }
                    return twin;
                }
            }
        }
        link(claim, node, form);
        return claim;
    }

    private static void link(Claim claim, Node node, int form) {
        int predicate = claim.predicate.ordinal();
        Claim[] heads = node.heads(form);
        Claim head = heads[predicate];
        claim.node = node;
        claim.previous = null;
        claim.next = head;
        if (head == null) {
            node.own |= 1 << form + predicate;
        } else {
            head.previous = claim;
        }
        heads[predicate] = claim;
        Node parent = node.parent;
        if (parent != null) {
            if (form != CHILDREN) {
                parent.count(6 + predicate);
            }
            for (; parent != null; parent = parent.parent) {
                parent.count(predicate);
            }
        }
    }

    private static void unlink(Claim claim, int form) {
        Node node = claim.node;
        int predicate = claim.predicate.ordinal();
        if (claim.next != null) {
            claim.next.previous = claim.previous;
        }
        if (claim.previous != null) {
            claim.previous.next = claim.next;
        } else {
            node.heads(form)[predicate] = claim.next;
            if (claim.next == null) {
                node.own &= ~(1 << form + predicate);
            }
        }
        Node parent = node.parent;
        if (parent != null) {
            if (form != CHILDREN) {
                parent.uncount(6 + predicate);
            }
            for (; parent != null; parent = parent.parent) {
                parent.uncount(predicate);
            }
        }
        claim.node = null;
        claim.previous = null;
        claim.next = null;
    }

    /** Takes {@code claim} out, and the nodes that only it needed. */
    void remove(Claim claim) {
        Node node = claim.node;
        unlink(claim, form(claim.resource));
        while (node.own == 0 && node.firstChild == null && node.parent != null) {
            Node parent = node.parent;
            if (node.previousSibling == null) {
                parent.firstChild = node.nextSibling;
            } else {
                node.previousSibling.nextSibling = node.nextSibling;
            }
            if (node.nextSibling != null) {
                node.nextSibling.previousSibling = node.previousSibling;
            }
            drop(node);
            node = parent;
        }
    }

    private void put(Node node) {
        if (nodes * 2 >= table.length) {
            Node[] old = table;
            table = new Node[old.length * 2];
            for (Node n : old) {
                if (n != null) {
                    place(n);
                }
            }
        }
        place(node);
        nodes++;
    }

    private void place(Node node) {
        int mask = table.length - 1;
        int at = node.hash & mask;
        while (table[at] != null) {
            at = at + 1 & mask;
        }
        table[at] = node;
    }

    private void drop(Node node) {
        int mask = table.length - 1;
        int i = node.hash & mask;
        while (table[i] != node) {
            i = i + 1 & mask;
        }
        nodes--;
        for (int j = i + 1 & mask; ; j = j + 1 & mask) {
            Node n = table[j];
            if (n == null) {
                break;
            }
            if ((j - (n.hash & mask) & mask) >= (j - i & mask)) {
                table[i] = n;
                i = j;
            }
        }
        table[i] = null;
    }
}
