package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Arrays;

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
 * <h2>Why it looks like this</h2>
 *
 * <p>With a million leases the cost is the number of lines of memory that a request touches for the first time, a tenth of a
 * microsecond each. So a node is a record of 64 bytes in a {@link Slab} that has its short name in it; lists and counts are records
 * of their own that only nodes with claims or children have. Children are found through one hash table for the whole index, keyed by
 * parent and segment, whose entries hold hash and node number side by side: a step is one probe, and a name that is not there costs
 * one line. The hash has a seed, so that whoever chooses paths cannot choose collisions.
 *
 * <p>Requests come in the company of others from the same directory, and each is asked about before it is placed. So the directory of
 * the last walk is remembered with what the walk there has seen ({@link #dir}): the next walk to a name in it is one step.
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

    private static final int NONE = 0;

    /** A node's ints. PARENT comes first: it is what a freed record is linked by. */
    private static final int PARENT = 0;

    private static final int HASH = 1;
    /** Length and kind of the name; the characters of a short one are in the four ints from TEXT on. */
    private static final int NAME = 2;

    private static final int TEXT = 3;
    private static final int FIRST_CHILD = 7;
    private static final int NEXT = 8;
    private static final int PREVIOUS = 9;
    /** Which lists are not empty: bit form + predicate. */
    private static final int OWN = 10;
    /** Which counts are not zero. */
    private static final int BELOW = 11;
    /** Lists of claims by predicate; one record for each form. */
    private static final int LISTS = 12;
    /** Claims per predicate below (0 to 5) and on direct children (6 to 11). */
    private static final int COUNTS = 15;

    private static final int SHORT_NAME = 16;
    private static final int LENGTH_BITS = 0x7FFF;
    /** The name is a part of a path in {@link #texts}, from the offset in TEXT on. */
    private static final int LONG = 0x8000;
    /** A first name without a slash in front, which is another thing than one with. */
    private static final int BARE = 0x10000;

    /** The trees of one namespace (K7-10). */
    static final class Space {
        final String namespace;
        int sessions;
        private String[] schemes = new String[2];
        private int[] roots = new int[2];
        private int trees;

        Space(String namespace) {
            this.namespace = namespace;
        }

        private int root(String scheme) {
            for (int i = 0; i < trees; i++) {
                if (schemes[i].equals(scheme)) {
                    return roots[i];
                }
            }
            return NONE;
        }

        private void add(String scheme, int root) {
            if (trees == roots.length) {
                schemes = Arrays.copyOf(schemes, trees * 2);
                roots = Arrays.copyOf(roots, trees * 2);
            }
            schemes[trees] = scheme;
            roots[trees++] = root;
        }
    }

    private final int seed;
    private final Slab nodes = new Slab(4);
    private final Slab lists = new Slab(3);
    private final Slab counts = new Slab(4);

    /** Paths that hold the long names, by node. */
    private String[] texts = new String[64];
    /** All claims by the number that lists know them by. */
    private Claim[] claims = new Claim[64];

    private int[] freeClaims = new int[64];
    private int freeClaimCount;
    private int usedClaims = 1;

    /** Open addressing, at least a third empty: a node's hash in the upper half, its number in the lower; 0 is free. */
    private long[] table = new long[64];

    private int nodeCount;

    /** The directory that the last walk to the end came through; NONE when that may be wrong now. */
    private int dir;

    private int dirRoot;
    /** Its path is the first characters of this one. */
    private String dirPath;

    private int dirLength;
    /** Which subtree lists above it are not empty. */
    private int dirAbove;

    /** Where the last step's segment ended, and its hash. */
    private int end;

    private int hash;

    LeaseIndex(int seed) {
        this.seed = seed | 1;
    }

    int nodes() {
        return nodeCount;
    }

    private int root(Space space, String scheme, boolean create) {
        int root = space.root(scheme);
        if (root == NONE && create) {
            root = nodes.allocate();
            nodes.chunk(root)[nodes.at(root) + HASH] = (space.namespace.hashCode() * 31 + scheme.hashCode()) * seed;
            space.add(scheme, root);
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

    private int field(int node, int field) {
        return nodes.chunk(node)[nodes.at(node) + field];
    }

    /**
     * The child of {@code node} for the segment at {@code from}; NONE if there is none. The segment's end goes to {@link #end}, its hash
     * to {@link #hash}.
     */
    private int step(int node, String path, int from) {
        int h = field(node, HASH);
        int length = path.length();
        int i = from;
        for (; i < length; i++) {
            char c = path.charAt(i);
            if (c == '/') {
                break;
            }
            h = h * seed + c;
        }
        h = (h + (from == 0 ? 7 : 3)) * 0x9E3779B1;
        h ^= h >>> 15;
        end = i;
        hash = h;
        long[] entries = table;
        int mask = entries.length - 1;
        for (int at = h & mask; ; at = at + 1 & mask) {
            long entry = entries[at];
            if (entry == 0) {
                return NONE;
            }
            if ((int) (entry >>> 32) == h && isNamed((int) entry, node, path, from, i)) {
                return (int) entry;
            }
        }
    }

    private boolean isNamed(int node, int parent, String path, int from, int to) {
        int[] n = nodes.chunk(node);
        int at = nodes.at(node);
        int name = n[at + NAME];
        if (n[at + PARENT] != parent || (name & LENGTH_BITS) != to - from || (name & BARE) != 0 != (from == 0)) {
            return false;
        }
        if ((name & LONG) != 0) {
            return texts[node].regionMatches(n[at + TEXT], path, from, to - from);
        }
        for (int i = from; i < to; i++) {
            int k = i - from;
            if ((n[at + TEXT + (k >> 2)] >>> ((k & 3) << 3) & 0xFF) != path.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** Whether {@code path} is in the directory that the last walk came through. */
    private boolean isInDir(int root, String path) {
        return dir != NONE
                && dirRoot == root
                && path.length() > dirLength + 1
                && path.charAt(dirLength) == '/'
                && path.indexOf('/', dirLength + 1) < 0
                && path.regionMatches(0, dirPath, 0, dirLength);
    }

    private void remember(int root, int parent, String path, int length, int above) {
        dir = parent;
        dirRoot = root;
        dirPath = path;
        dirLength = length;
        dirAbove = above;
    }

    /** Whether anything at all, the asker's own claims included, may conflict with {@code resource} under {@code mask}. */
    boolean mayConflict(Space space, Resource resource, int mask) {
        int node = root(space, resource.scheme(), false);
        if (node == NONE) {
            return false;
        }
        int root = node;
        String path = resource.path();
        int form = form(resource);
        int length = path.length();
        int from = start(path);
        int above = 0;
        if (isInDir(root, path)) {
            node = dir;
            from = dirLength + 1;
            above = dirAbove;
        }
        while (from <= length) {
            int own = field(node, OWN);
            above |= own >> SUBTREE;
            if ((above & mask) != 0) {
                return true;
            }
            int child = step(node, path, from);
            if (end >= length) {
                if (from > 0 && node != dir) {
                    remember(root, node, path, from - 1, above);
                }
                if (form != CHILDREN && (own >> CHILDREN & mask) != 0) {
                    return true;
                }
            }
            if (child == NONE) {
                return false;
            }
            node = child;
            from = end + 1;
        }
        int own = field(node, OWN);
        int below = field(node, BELOW);
        switch (form) {
            case EXACT:
                return ((own | own >> SUBTREE) & mask) != 0;
            case CHILDREN:
                return ((own >> CHILDREN | own >> SUBTREE | below >> 6) & mask) != 0;
            default:
                return ((own | own >> CHILDREN | own >> SUBTREE | below) & mask) != 0;
        }
    }

    /**
     * Adds to {@code found} the claims that conflict with {@code resource} under {@code mask}, those of {@code mine} and those queued
     * behind number {@code place} left out.
     *
     * @param what ALL, or some of FIRST_ONLY, QUEUED_ONLY, HELD_ONLY
     */
    void collect(Space space, Resource resource, int mask, Session mine, long place, int what, ArrayList<Claim> found) {
        int node = root(space, resource.scheme(), false);
        if (node == NONE) {
            return;
        }
        String path = resource.path();
        int form = form(resource);
        int length = path.length();
        for (int from = start(path); from <= length; from = end + 1) {
            if (add(node, SUBTREE, mask, mine, place, what, found)) {
                return;
            }
            int child = step(node, path, from);
            if (end >= length && form != CHILDREN && add(node, CHILDREN, mask, mine, place, what, found)) {
                return;
            }
            if (child == NONE) {
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
            if ((field(node, BELOW) >> 6 & mask) != 0) {
                for (int child = field(node, FIRST_CHILD); child != NONE; child = field(child, NEXT)) {
                    if (add(child, EXACT, mask, mine, place, what, found) || add(child, SUBTREE, mask, mine, place, what, found)) {
                        return;
                    }
                }
            }
            return;
        }
        // depth first without recursion: a path may have two thousand segments
        int at = node;
        while (true) {
            if ((field(at, BELOW) & mask & ANY) != 0 && field(at, FIRST_CHILD) != NONE) {
                at = field(at, FIRST_CHILD);
            } else {
                while (at != node && field(at, NEXT) == NONE) {
                    at = field(at, PARENT);
                }
                if (at == node) {
                    return;
                }
                at = field(at, NEXT);
            }
            if (add(at, EXACT, mask, mine, place, what, found)
                    || add(at, CHILDREN, mask, mine, place, what, found)
                    || add(at, SUBTREE, mask, mine, place, what, found)) {
                return;
            }
        }
    }

    /** Adds the claims of one form at one node; true when the search may end. */
    private boolean add(int node, int form, int mask, Session mine, long place, int what, ArrayList<Claim> found) {
        int hits = field(node, OWN) >> form & mask;
        for (; hits != 0; hits &= hits - 1) {
            for (Claim c = head(node, form, Integer.numberOfTrailingZeros(hits)); c != null; c = c.next) {
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

    private static int listOf(int form) {
        return form == EXACT ? LISTS : form == CHILDREN ? LISTS + 1 : LISTS + 2;
    }

    /** The first claim of a list, or {@code null}. */
    private Claim head(int node, int form, int predicate) {
        int list = field(node, listOf(form));
        return list == NONE ? null : claims[lists.chunk(list)[lists.at(list) + predicate]];
    }

    /**
     * Places {@code claim}. If a claim of the same session and batch is already on the same resource, that one is made the severest of
     * both instead (K1-16) and returned.
     */
    Claim insert(Space space, Claim claim) {
        Resource resource = claim.resource;
        String path = resource.path();
        int root = root(space, resource.scheme(), true);
        int node = root;
        int length = path.length();
        int from = start(path);
        int above = 0;
        if (isInDir(root, path)) {
            node = dir;
            from = dirLength + 1;
            above = dirAbove;
        }
        while (from <= length) {
            above |= field(node, OWN) >> SUBTREE;
            int child = step(node, path, from);
            if (child == NONE) {
                child = make(node, path, from);
            }
            if (end >= length && from > 0 && node != dir) {
                remember(root, node, path, from - 1, above);
            }
            node = child;
            from = end + 1;
        }
        int form = form(resource);
        for (int hits = field(node, OWN) >> form & ANY; hits != 0; hits &= hits - 1) {
            // the newest is first in its list, so a claim of this batch can only be there
            Claim twin = head(node, form, Integer.numberOfTrailingZeros(hits));
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
        number(claim);
        link(claim, node, form);
        return claim;
    }

    private void number(Claim claim) {
        int id = freeClaimCount == 0 ? usedClaims++ : freeClaims[--freeClaimCount];
        if (id == claims.length) {
            claims = Arrays.copyOf(claims, id * 2);
        }
        claims[id] = claim;
        claim.listed = id;
    }

    private void link(Claim claim, int node, int form) {
        int predicate = claim.predicate.ordinal();
        int[] n = nodes.chunk(node);
        int at = nodes.at(node);
        int list = n[at + listOf(form)];
        if (list == NONE) {
            list = lists.allocate();
            n[at + listOf(form)] = list;
        }
        int[] heads = lists.chunk(list);
        int headAt = lists.at(list) + predicate;
        int head = heads[headAt];
        claim.node = node;
        claim.previous = null;
        if (head == NONE) {
            claim.next = null;
            n[at + OWN] |= 1 << form + predicate;
        } else {
            claim.next = claims[head];
            claim.next.previous = claim;
        }
        heads[headAt] = claim.listed;
        if (form == SUBTREE) {
            dir = NONE;
        }
        int parent = n[at + PARENT];
        if (parent != NONE) {
            if (form != CHILDREN) {
                count(parent, 6 + predicate);
            }
            for (; parent != NONE; parent = field(parent, PARENT)) {
                count(parent, predicate);
            }
        }
    }

    private void unlink(Claim claim, int form) {
        int node = claim.node;
        int[] n = nodes.chunk(node);
        int at = nodes.at(node);
        int predicate = claim.predicate.ordinal();
        if (claim.next != null) {
            claim.next.previous = claim.previous;
        }
        if (claim.previous != null) {
            claim.previous.next = claim.next;
        } else {
            int list = n[at + listOf(form)];
            if (claim.next == null) {
                lists.chunk(list)[lists.at(list) + predicate] = NONE;
                n[at + OWN] &= ~(1 << form + predicate);
            } else {
                lists.chunk(list)[lists.at(list) + predicate] = claim.next.listed;
            }
        }
        if (form == SUBTREE) {
            dir = NONE;
        }
        int parent = n[at + PARENT];
        if (parent != NONE) {
            if (form != CHILDREN) {
                uncount(parent, 6 + predicate);
            }
            for (; parent != NONE; parent = field(parent, PARENT)) {
                uncount(parent, predicate);
            }
        }
        claim.previous = null;
        claim.next = null;
    }

    private void count(int node, int what) {
        int[] n = nodes.chunk(node);
        int at = nodes.at(node);
        int record = n[at + COUNTS];
        if (record == NONE) {
            record = counts.allocate();
            n[at + COUNTS] = record;
        }
        if (counts.chunk(record)[counts.at(record) + what]++ == 0) {
            n[at + BELOW] |= 1 << what;
        }
    }

    private void uncount(int node, int what) {
        int[] n = nodes.chunk(node);
        int at = nodes.at(node);
        int record = n[at + COUNTS];
        if (--counts.chunk(record)[counts.at(record) + what] == 0) {
            n[at + BELOW] &= ~(1 << what);
        }
    }

    /** Takes {@code claim} out, and the nodes that only it needed. */
    void remove(Claim claim) {
        int node = claim.node;
        unlink(claim, form(claim.resource));
        claims[claim.listed] = null;
        if (freeClaimCount == freeClaims.length) {
            freeClaims = Arrays.copyOf(freeClaims, freeClaimCount * 2);
        }
        freeClaims[freeClaimCount++] = claim.listed;
        while (true) {
            int[] n = nodes.chunk(node);
            int at = nodes.at(node);
            int parent = n[at + PARENT];
            if (n[at + OWN] != 0 || n[at + FIRST_CHILD] != NONE || parent == NONE) {
                return;
            }
            int next = n[at + NEXT];
            int previous = n[at + PREVIOUS];
            if (previous == NONE) {
                nodes.chunk(parent)[nodes.at(parent) + FIRST_CHILD] = next;
            } else {
                nodes.chunk(previous)[nodes.at(previous) + NEXT] = next;
            }
            if (next != NONE) {
                nodes.chunk(next)[nodes.at(next) + PREVIOUS] = previous;
            }
            drop(node, n, at);
            node = parent;
        }
    }

    /** Makes the child that the last {@link #step} did not find. */
    private int make(int parent, String path, int from) {
        int id = nodes.allocate();
        int[] n = nodes.chunk(id);
        int at = nodes.at(id);
        n[at + PARENT] = parent;
        n[at + HASH] = hash;
        int length = end - from;
        int name = from == 0 ? length | BARE : length;
        boolean isShort = length <= SHORT_NAME;
        for (int k = 0; isShort && k < length; k++) {
            char c = path.charAt(from + k);
            isShort = c <= 0xFF;
            n[at + TEXT + (k >> 2)] |= c << ((k & 3) << 3);
        }
        if (!isShort) {
            name |= LONG;
            n[at + TEXT] = from;
            if (id >= texts.length) {
                texts = Arrays.copyOf(texts, Math.max(id + 1, texts.length * 2));
            }
            texts[id] = path;
        }
        n[at + NAME] = name;
        int first = field(parent, FIRST_CHILD);
        n[at + NEXT] = first;
        if (first != NONE) {
            nodes.chunk(first)[nodes.at(first) + PREVIOUS] = id;
        }
        nodes.chunk(parent)[nodes.at(parent) + FIRST_CHILD] = id;
        if (++nodeCount * 3L > table.length * 2L) {
            grow();
        }
        place((long) hash << 32 | id);
        return id;
    }

    private void grow() {
        long[] old = table;
        table = new long[old.length * 2];
        for (long entry : old) {
            if (entry != 0) {
                place(entry);
            }
        }
    }

    private void place(long entry) {
        int mask = table.length - 1;
        int at = (int) (entry >>> 32) & mask;
        while (table[at] != 0) {
            at = at + 1 & mask;
        }
        table[at] = entry;
    }

    private void drop(int node, int[] n, int at) {
        if (node == dir) {
            dir = NONE;
        }
        int mask = table.length - 1;
        int h = n[at + HASH];
        long entry = (long) h << 32 | node;
        int i = h & mask;
        while (table[i] != entry) {
            i = i + 1 & mask;
        }
        nodeCount--;
        // close the gap, so that no probe of another name ends too early
        for (int j = i + 1 & mask; ; j = j + 1 & mask) {
            long other = table[j];
            if (other == 0) {
                break;
            }
            if ((j - ((int) (other >>> 32) & mask) & mask) >= (j - i & mask)) {
                table[i] = other;
                i = j;
            }
        }
        table[i] = 0;
        if ((n[at + NAME] & LONG) != 0) {
            texts[node] = null;
        }
        for (int form = LISTS; form < LISTS + 3; form++) {
            if (n[at + form] != NONE) {
                lists.free(n[at + form]);
            }
        }
        if (n[at + COUNTS] != NONE) {
            counts.free(n[at + COUNTS]);
        }
        nodes.free(node);
    }
}
