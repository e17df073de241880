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
 * For what lies below, a node counts per predicate, twice: the children at or below which it occurs, and the children on which it
 * occurs themselves (without {@code /*}, which does not touch the child). A change goes up only as far as a count leaves or reaches
 * zero. So there are at most these places where something can overlap a request:
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
 * <p>With a million leases the cost is the number of places in memory that a request touches for the first time, a tenth of a
 * microsecond and more each. So a node is a record of 64 bytes in a {@link Slab} that has its short name in it, and a directory has one
 * more, with its counts and a hash table of its children: their hashes and numbers side by side. A step is one probe, a name that is
 * not there costs one line, and names in one directory are looked for in one place. The hash has a seed, so that whoever chooses paths
 * cannot choose collisions.
 *
 * <p>A walk from the root waits for memory at each step, as only what it finds there says where to go on. So a path is read once, all
 * names are hashed before anything is looked at, and its directory is looked up by the hash of its whole path ({@link Directories}): then
 * the directory's node, its counts and the slot of the name that is asked for are on their way at the same time, whatever the depth. The
 * names are compared, and the subtree lists looked at, on the way up through the parents, which are few and mostly at hand. Only where
 * there is no such directory, the walk begins at the root.
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
    private static final int NOT_THERE = -1;

    /** A node's ints. PARENT comes first: it is what a freed record is linked by. */
    private static final int PARENT = 0;

    private static final int HASH = 1;
    /** Length and kind of the name; the characters of a short one are in the four ints from TEXT on. */
    private static final int NAME = 2;

    private static final int TEXT = 3;
    /** The record of its children and its number of slots as a power of two. */
    private static final int DIR = 7;

    private static final int SLOT_BITS = 8;
    /** Which lists are not empty: bit form + predicate. */
    private static final int OWN = 9;
    /** Which counts are not zero. */
    private static final int BELOW = 10;
    /** Lists of claims by predicate; one record for each form. */
    private static final int LISTS = 11;
    /** Of the whole path, root included; what the node is found by in {@link #directories}. */
    private static final int PATH_HASH = 14;
    /** NODES or INNER_NODES. */
    private static final int KIND = 15;

    /** Kinds of record; a directory's is its SLOT_BITS. */
    private static final int NODES = 0;

    private static final int HEADS = 1;
    /** A node that was made on the way to another. */
    private static final int INNER_NODES = 28;

    private static final int KINDS = 29;

    private static final int SHORT_NAME = 16;
    private static final int LENGTH_BITS = 0x7FFF;
    /** The name is a part of a path: TEXT is where it begins there, the next int the path's number in {@link #texts}. */
    private static final int LONG = 0x8000;
    /** A first name without a slash in front, which is another thing than one with. */
    private static final int BARE = 0x10000;

    /**
     * A directory's ints: for each predicate, side by side, how many children have it at or below them and how many have it themselves;
     * between the third pair and the fourth, how many children there are, so that this and the pair of a request are mostly in one line
     * of the cache. From SLOTS on, open addressing, at least a quarter empty: a child's hash, and its number, which is NONE in a free
     * slot.
     */
    private static final int CHILD_COUNT = 6;

    /** What a count is of, and the bit of BELOW that says whether it is not zero: this and the predicate. */
    private static final int INSIDE = 0;

    private static final int THEMSELVES = 6;

    private static final int SLOTS = 16;
    private static final int MIN_SLOT_BITS = 2;

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
    private final long longSeed;
    /** Of long names' hashes; never a small number, under which names of the same characters would have one hash. */
    private final long factor;
    /** How many claims {@link #collect} has looked at, all in all. */
    long looked;

    private final Slab slab = new Slab(units(), areas());
    private final Roll roll;
    /** All nodes that have children, but for the roots. */
    private final Directories directories = new Directories();

    /** Paths that hold the long names, by the numbers that nodes have for them. */
    private String[] texts = new String[16];

    private int[] freeTexts = new int[16];
    private int freeTextCount;
    private int usedTexts;

    private int nodeCount;

    /** The directory that the last walk to the end came through; NONE when that may be wrong now. */
    private int dir;

    private int dirRoot;
    /** Its path is the first characters of this one. */
    private String dirPath;

    private int dirLength;
    /** How many segments it has. */
    private int dirLevel;
    /** Which subtree lists above it are not empty. */
    private int dirAbove;

    /** The path that was read last, its segments from {@link #readFrom} on, and whether they are all that lies below {@link #dir}. */
    private String read;

    private int readFrom;
    private boolean isInDir;
    /** Whether no segment that was read is empty, begins with a dot, or holds anything but the printable characters of ASCII. */
    private boolean isPlain;

    private int depth;
    /** Of each segment: where it begins and ends, its hash, its NAME, and its characters if they are few and Latin. */
    private int[] starts = new int[16];

    private int[] ends = new int[16];
    private int[] hashes = new int[16];
    private int[] names = new int[16];
    private long[] firsts = new long[16];
    private long[] seconds = new long[16];

    /** Where a walk begins: a directory's level, the subtree lists above it that are not empty, and its child on the way or NONE. */
    private int level;

    private int above;
    private int child;

    /** @param roll where claims get their numbers while they are in here */
    LeaseIndex(Roll roll, int seed) {
        this.roll = roll;
        this.seed = seed;
        this.longSeed = seed * 0x9E3779B97F4A7C15L;
        this.factor = (2L * seed + 1) * 0x9E3779B97F4A7C15L;
    }

    /** The sizes of the slab's kinds of record. */
    private static int[] units() {
        int[] units = new int[KINDS];
        units[NODES] = 2;
        units[INNER_NODES] = 2;
        units[HEADS] = 1;
        for (int bits = MIN_SLOT_BITS; bits < INNER_NODES; bits++) {
            units[bits] = SLOTS + (2 << bits) >> 3;
        }
        return units;
    }

    /** Directories apart from what is in them: requests walk through the former, mostly to names that are not there yet. */
    private static int[] areas() {
        int[] areas = new int[KINDS];
        Arrays.fill(areas, 1);
        areas[NODES] = 0;
        areas[HEADS] = 0;
        return areas;
    }

    int nodes() {
        return nodeCount;
    }

    /** How many records there are, of all kinds, and how many paths are kept for their names; for tests that look for leaks. */
    int records() {
        return slab.size() + usedTexts - freeTextCount;
    }

    /** Frees the trees of {@code space}, in which there is no claim any more. */
    void free(Space space) {
        for (int i = 0; i < space.trees; i++) {
            free(space.roots[i]);
        }
        space.trees = 0;
        dir = NONE;
    }

    private int root(Space space, String scheme, boolean create) {
        int root = space.root(scheme);
        if (root == NONE && create) {
            root = slab.allocate(INNER_NODES);
            int[] n = slab.chunk(root);
            n[Slab.at(root) + PATH_HASH] = hashBelow(seed, root);
            n[Slab.at(root) + KIND] = INNER_NODES;
            space.add(scheme, root);
        }
        return root;
    }

    /** The path hash of what is called {@code hash} in the directory of path hash {@code above}. */
    private static int hashBelow(int above, int hash) {
        return (Integer.rotateLeft(above, 15) ^ hash) * 0x9E3779B1;
    }

    /** A place of a node: the thing itself, its direct children, the subtree. */
    static int form(Resource resource) {
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
        return slab.chunk(node)[Slab.at(node) + field];
    }

    /** The child of {@code node} that is called as the segment at {@code level}; NONE if there is none. */
    private int find(int node, String path, int level) {
        int[] n = slab.chunk(node);
        int nodeAt = Slab.at(node);
        int record = n[nodeAt + DIR];
        return record == NONE ? NONE : find(record, n[nodeAt + SLOT_BITS], path, level);
    }

    private int find(int record, int slotBits, String path, int level) {
        int[] d = slab.chunk(record);
        int slots = Slab.at(record) + SLOTS;
        // a directory always has a child: asking brings the record's counts, which a grant needs next, while the slots are on their way
        if (d[slots - SLOTS + CHILD_COUNT] == 0) {
            return NONE;
        }
        int mask = (1 << slotBits) - 1;
        int hash = hashes[level];
        for (int slot = hash & mask; ; slot = slot + 1 & mask) {
            int candidate = d[slots + 2 * slot + 1];
            if (candidate == NONE || d[slots + 2 * slot] == hash && isNamed(candidate, path, level)) {
                return candidate;
            }
        }
    }

    /** Reads all segments of {@code path}. */
    private void read(String path) {
        if (path == read && readFrom == 0) {
            return;
        }
        isPlain = true;
        int k = 0;
        int length = path.length();
        for (int from = start(path); from <= length; from = ends[k++] + 1) {
            if (k == starts.length) {
                starts = Arrays.copyOf(starts, k * 2);
                ends = Arrays.copyOf(ends, k * 2);
                hashes = Arrays.copyOf(hashes, k * 2);
                names = Arrays.copyOf(names, k * 2);
                firsts = Arrays.copyOf(firsts, k * 2);
                seconds = Arrays.copyOf(seconds, k * 2);
            }
            readSegment(path, from, k);
        }
        depth = k;
        read = path;
        readFrom = 0;
        isInDir = false;
    }

    private void readSegment(String path, int from, int level) {
        int length = path.length();
        int i = from;
        int seen = 0;
        // below zero once there was a character before the space or behind the tilde
        int odd = 0;
        char c;
        long a = 0;
        int stop = Math.min(length, from + SHORT_NAME / 2);
        while (i < stop && (c = path.charAt(i)) != '/') {
            a = a << 8 | c;
            seen |= c;
            odd |= c - ' ' | '~' - c;
            i++;
        }
        long b = 0;
        if (i == from + SHORT_NAME / 2) {
            stop = Math.min(length, from + SHORT_NAME);
            while (i < stop && (c = path.charAt(i)) != '/') {
                b = b << 8 | c;
                seen |= c;
                odd |= c - ' ' | '~' - c;
                i++;
            }
        }
        boolean isLong = seen > 0xFF || i == from + SHORT_NAME && i < length && path.charAt(i) != '/';
        if (isLong) {
            a = 0;
            for (i = from; i < length && (c = path.charAt(i)) != '/'; i++) {
                a = a * factor + c;
                odd |= c - ' ' | '~' - c;
            }
            b = 0;
        }
        if (i == from || odd < 0 || path.charAt(from) == '.') {
            isPlain = false;
        }
        long m = (a + longSeed) * 0xD6E8FEB86659FD93L;
        m = (m ^ m >>> 32) + b + (i - from);
        m = (m ^ longSeed) * 0x9E3779B97F4A7C15L;
        starts[level] = from;
        ends[level] = i;
        hashes[level] = (int) (m >>> 32);
        names[level] = i - from | (isLong ? LONG : 0) | (from == 0 ? BARE : 0);
        firsts[level] = a;
        seconds[level] = b;
    }

    private boolean isNamed(int node, String path, int level) {
        int[] n = slab.chunk(node);
        int at = Slab.at(node);
        int name = names[level];
        if (n[at + NAME] != name) {
            return false;
        }
        if ((name & LONG) != 0) {
            return texts[n[at + TEXT + 1]].regionMatches(n[at + TEXT], path, starts[level], name & LENGTH_BITS);
        }
        long first = firsts[level];
        long second = seconds[level];
        return n[at + TEXT] == (int) first
                && n[at + TEXT + 1] == (int) (first >>> 32)
                && n[at + TEXT + 2] == (int) second
                && n[at + TEXT + 3] == (int) (second >>> 32);
    }

    /**
     * Reads {@code path} as far as a walk needs it.
     *
     * @return whether it is certain that it is a canonical file if it begins with a slash, provided that every path that was walked
     *     before is one
     */
    boolean isPlain(Space space, Resource resource) {
        String path = resource.path();
        if (!isInDir(root(space, resource.scheme(), false), path)) {
            read(path);
        }
        return isPlain;
    }

    /** Whether {@code path} is in the directory that the last walk came through; if so, its last segment has been read. */
    private boolean isInDir(int root, String path) {
        if (dir == NONE || dirRoot != root) {
            return false;
        }
        if (path == read) {
            return isInDir;
        }
        int from = dirLength + 1;
        if (path.length() <= from || path.charAt(dirLength) != '/' || !path.regionMatches(0, dirPath, 0, dirLength)) {
            return false;
        }
        isPlain = true;
        readSegment(path, from, dirLevel);
        isInDir = ends[dirLevel] == path.length();
        depth = dirLevel + 1;
        read = isInDir ? path : null;
        readFrom = dirLevel;
        return isInDir;
    }

    /**
     * The node that a walk to {@code path} begins at, as far down as can be told at once: {@link #level}, {@link #above} and
     * {@link #child} say how to go on.
     */
    private int begin(int root, String path) {
        if (isInDir(root, path)) {
            level = dirLevel;
            above = dirAbove;
            child = find(dir, path, level);
            return dir;
        }
        isInDir = false;
        read(path);
        int last = depth - 1;
        if (last > 0) {
            int hash = field(root, PATH_HASH);
            for (int k = 0; k < last; k++) {
                hash = hashBelow(hash, hashes[k]);
            }
            for (int entry = directories.first(hash); entry != Directories.NONE; entry = directories.next(entry, hash)) {
                int node = directories.node(entry);
                // before the names are compared, so that the processor fetches the directory while it still waits for its node
                child = find(directories.record(entry), directories.slotBits(entry), path, last);
                above = above(node, root, path, last - 1);
                if (above != NOT_THERE) {
                    level = last;
                    return node;
                }
            }
        }
        level = 0;
        above = 0;
        child = last < 0 ? NONE : find(root, path, 0);
        return root;
    }

    /** Which subtree lists above {@code node} are not empty; NOT_THERE if its path from {@code root} is not that up to {@code level}. */
    private int above(int node, int root, String path, int level) {
        int above = 0;
        int at = node;
        for (int k = level; k >= 0; k--) {
            int parent = field(at, PARENT);
            if (parent == NONE || !isNamed(at, path, k)) {
                return NOT_THERE;
            }
            above |= field(parent, OWN) >> SUBTREE;
            at = parent;
        }
        return at == root ? above : NOT_THERE;
    }

    /** That {@code parent} has the last segment of the path that was read. */
    private void remember(int root, int parent, int above) {
        int from = starts[depth - 1];
        if (from > 0) {
            dir = parent;
            dirRoot = root;
            dirPath = read;
            dirLength = from - 1;
            dirLevel = depth - 1;
            dirAbove = above;
            isInDir = true;
        }
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
        node = begin(root, path);
        int above = this.above;
        for (int k = level; k < depth; k++) {
            int own = field(node, OWN);
            above |= own >> SUBTREE;
            if ((above & mask) != 0) {
                return true;
            }
            int next = k == level ? child : find(node, path, k);
            if (k == depth - 1) {
                if (!isInDir) {
                    remember(root, node, above);
                }
                if (form != CHILDREN && (own >> CHILDREN & mask) != 0) {
                    return true;
                }
            }
            if (next == NONE) {
                return false;
            }
            node = next;
        }
        int own = field(node, OWN);
        int below = field(node, BELOW);
        switch (form) {
            case EXACT:
                return ((own | own >> SUBTREE) & mask) != 0;
            case CHILDREN:
                return ((own >> CHILDREN | own >> SUBTREE | below >> THEMSELVES) & mask) != 0;
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
        read(path);
        for (int k = 0; k < depth; k++) {
            if (add(node, SUBTREE, mask, mine, place, what, found)) {
                return;
            }
            int next = find(node, path, k);
            if (k == depth - 1 && form != CHILDREN && add(node, CHILDREN, mask, mine, place, what, found)) {
                return;
            }
            if (next == NONE) {
                return;
            }
            node = next;
        }
        if (add(node, SUBTREE, mask, mine, place, what, found)
                || form != CHILDREN && add(node, EXACT, mask, mine, place, what, found)
                || form != EXACT && add(node, CHILDREN, mask, mine, place, what, found)
                || form == EXACT) {
            return;
        }
        if (form == CHILDREN) {
            if ((field(node, BELOW) >> THEMSELVES & mask) != 0) {
                for (int child = child(node, 0); child != NONE; child = sibling(child)) {
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
            int next = (field(at, BELOW) & mask & ANY) != 0 ? child(at, 0) : NONE;
            while (next == NONE && at != node) {
                next = sibling(at);
                if (next == NONE) {
                    at = field(at, PARENT);
                }
            }
            if (next == NONE) {
                return;
            }
            at = next;
            if (add(at, EXACT, mask, mine, place, what, found)
                    || add(at, CHILDREN, mask, mine, place, what, found)
                    || add(at, SUBTREE, mask, mine, place, what, found)) {
                return;
            }
        }
    }

    /** Whether {@code own} is at a place that covers {@code resource} with what excludes all of {@code mask}. */
    boolean isHeld(Space space, Resource resource, int mask, Held own) {
        int node = root(space, resource.scheme(), false);
        if (node == NONE) {
            return false;
        }
        String path = resource.path();
        int form = form(resource);
        read(path);
        for (int k = 0; k < depth; k++) {
            if (own.isAt(node, SUBTREE, mask) || k == depth - 1 && form == EXACT && own.isAt(node, CHILDREN, mask)) {
                return true;
            }
            node = find(node, path, k);
            if (node == NONE) {
                return false;
            }
        }
        return own.isAt(node, SUBTREE, mask) || form != SUBTREE && own.isAt(node, form, mask);
    }

    /** The child in the first slot from {@code slot} on that is not free; NONE after the last. */
    private int child(int node, int slot) {
        int record = field(node, DIR);
        if (record == NONE) {
            return NONE;
        }
        int bits = field(node, SLOT_BITS);
        int[] d = slab.chunk(record);
        int slots = Slab.at(record) + SLOTS;
        for (int i = slot; i < 1 << bits; i++) {
            if (d[slots + 2 * i + 1] != NONE) {
                return d[slots + 2 * i + 1];
            }
        }
        return NONE;
    }

    /** The next child of the same directory, in the order of slots. */
    private int sibling(int node) {
        return child(field(node, PARENT), slotOf(node) + 1);
    }

    private int slotOf(int node) {
        int parent = field(node, PARENT);
        int bits = field(parent, SLOT_BITS);
        int record = field(parent, DIR);
        int[] d = slab.chunk(record);
        int slots = Slab.at(record) + SLOTS;
        int mask = (1 << bits) - 1;
        int slot = field(node, HASH) & mask;
        while (d[slots + 2 * slot + 1] != node) {
            slot = slot + 1 & mask;
        }
        return slot;
    }

    /** Adds the claims of one form at one node; true when the search may end. */
    private boolean add(int node, int form, int mask, Session mine, long place, int what, ArrayList<Claim> found) {
        int hits = field(node, OWN) >> form & mask;
        for (; hits != 0; hits &= hits - 1) {
            for (Claim c = head(node, form, Integer.numberOfTrailingZeros(hits)); c != null; c = roll.claim(c.next)) {
                looked++;
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
        return list == NONE ? null : roll.claim(slab.chunk(list)[Slab.at(list) + predicate]);
    }

    /**
     * Places {@code claim}. If a claim of the same manifest is already on the same resource, that one is made the severest of
     * both instead (K1-16) and returned.
     */
    Claim insert(Space space, Claim claim) {
        Resource resource = claim.resource();
        String path = resource.path();
        int root = root(space, resource.scheme(), true);
        int node = begin(root, path);
        int above = this.above;
        for (int k = level; k < depth; k++) {
            above |= field(node, OWN) >> SUBTREE;
            int next = k == level ? child : find(node, path, k);
            if (next == NONE) {
                next = make(node, path, k);
            }
            if (k == depth - 1 && !isInDir) {
                remember(root, node, above);
            }
            node = next;
        }
        int form = form(resource);
        for (int hits = field(node, OWN) >> form & ANY; hits != 0; hits &= hits - 1) {
            // the newest is first in its list, and what a session has there without a number is of the manifest that is being placed
            Claim twin = head(node, form, Integer.numberOfTrailingZeros(hits));
            if (twin.session == claim.session && twin.number == 0) {
                twin.merge(claim.triple);
                if (twin.triple.predicate() != twin.predicate) {
                    unlink(twin, form);
                    twin.predicate = twin.triple.predicate();
                    link(twin, node, form);
                }
                return twin;
            }
        }
        roll.add(claim);
        link(claim, node, form);
        return claim;
    }

    private void link(Claim claim, int node, int form) {
        int predicate = claim.predicate.ordinal();
        int[] n = slab.chunk(node);
        int at = Slab.at(node);
        int list = n[at + listOf(form)];
        if (list == NONE) {
            list = slab.allocate(HEADS);
            n[at + listOf(form)] = list;
        }
        int[] heads = slab.chunk(list);
        int headAt = Slab.at(list) + predicate;
        int head = heads[headAt];
        heads[headAt] = claim.id;
        claim.node = node;
        claim.previous = NONE;
        claim.next = head;
        if (head != NONE) {
            roll.claim(head).previous = claim.id;
            return;
        }
        int own = n[at + OWN];
        n[at + OWN] = own | 1 << form + predicate;
        int parent = n[at + PARENT];
        if (form == SUBTREE) {
            dir = NONE;
        }
        if (parent == NONE) {
            return;
        }
        if (form != CHILDREN && !isTouched(own, predicate)) {
            count(parent, THEMSELVES, predicate);
        }
        int inside = own | own >> CHILDREN | own >> SUBTREE | n[at + BELOW];
        while ((inside >> predicate & 1) == 0 && parent != NONE) {
            inside = inside(parent);
            count(parent, INSIDE, predicate);
            parent = field(parent, PARENT);
        }
    }

    /** The predicates of any form at or below {@code node}, in the lowest six bits. */
    private int inside(int node) {
        int own = field(node, OWN);
        return own | own >> CHILDREN | own >> SUBTREE | field(node, BELOW);
    }

    /** Whether a node with the mask {@code own} has itself a claim of {@code predicate}. */
    private static boolean isTouched(int own, int predicate) {
        return ((own | own >> SUBTREE) >> predicate & 1) != 0;
    }

    private void unlink(Claim claim, int form) {
        int node = claim.node;
        int[] n = slab.chunk(node);
        int at = Slab.at(node);
        int predicate = claim.predicate.ordinal();
        int next = claim.next;
        int previous = claim.previous;
        if (next != NONE) {
            roll.claim(next).previous = previous;
        }
        if (previous != NONE) {
            roll.claim(previous).next = next;
            return;
        }
        int list = n[at + listOf(form)];
        slab.chunk(list)[Slab.at(list) + predicate] = next;
        if (next != NONE) {
            return;
        }
        int own = n[at + OWN] & ~(1 << form + predicate);
        n[at + OWN] = own;
        int parent = n[at + PARENT];
        if (form == SUBTREE) {
            dir = NONE;
        }
        if (parent == NONE) {
            return;
        }
        if (form != CHILDREN && !isTouched(own, predicate)) {
            uncount(parent, THEMSELVES, predicate);
        }
        int inside = own | own >> CHILDREN | own >> SUBTREE | n[at + BELOW];
        while ((inside >> predicate & 1) == 0 && parent != NONE) {
            uncount(parent, INSIDE, predicate);
            inside = inside(parent);
            parent = field(parent, PARENT);
        }
    }

    private static int countOf(int what, int predicate) {
        int pair = 2 * predicate + (predicate < 3 ? 0 : 2);
        return what == INSIDE ? pair : pair + 1;
    }

    private void count(int node, int what, int predicate) {
        int[] n = slab.chunk(node);
        int at = Slab.at(node);
        int record = n[at + DIR];
        if (slab.chunk(record)[Slab.at(record) + countOf(what, predicate)]++ == 0) {
            n[at + BELOW] |= 1 << what + predicate;
        }
    }

    private void uncount(int node, int what, int predicate) {
        int[] n = slab.chunk(node);
        int at = Slab.at(node);
        int record = n[at + DIR];
        if (--slab.chunk(record)[Slab.at(record) + countOf(what, predicate)] == 0) {
            n[at + BELOW] &= ~(1 << what + predicate);
        }
    }

    /** Takes {@code claim} out, and the nodes that only it needed; it has no number any more. */
    void remove(Claim claim) {
        int node = claim.node;
        unlink(claim, form(claim.resource()));
        roll.remove(claim);
        while (true) {
            int[] n = slab.chunk(node);
            int at = Slab.at(node);
            int parent = n[at + PARENT];
            if (n[at + OWN] != 0 || n[at + DIR] != NONE || parent == NONE) {
                return;
            }
            drop(node, n, at);
            node = parent;
        }
    }

    /** Makes the child for the segment at {@code level} that {@link #find} did not find. */
    private int make(int parent, String path, int level) {
        int kind = level < depth - 1 ? INNER_NODES : NODES;
        int id = slab.allocate(kind);
        int[] n = slab.chunk(id);
        int at = Slab.at(id);
        int hash = hashes[level];
        int name = names[level];
        n[at + PARENT] = parent;
        n[at + KIND] = kind;
        n[at + HASH] = hash;
        n[at + NAME] = name;
        if ((name & LONG) != 0) {
            n[at + TEXT] = starts[level];
            n[at + TEXT + 1] = keep(path);
        } else {
            n[at + TEXT] = (int) firsts[level];
            n[at + TEXT + 1] = (int) (firsts[level] >>> 32);
            n[at + TEXT + 2] = (int) seconds[level];
            n[at + TEXT + 3] = (int) (seconds[level] >>> 32);
        }
        nodeCount++;
        int[] p = slab.chunk(parent);
        int parentAt = Slab.at(parent);
        n[at + PATH_HASH] = hashBelow(p[parentAt + PATH_HASH], hash);
        if (p[parentAt + DIR] == NONE) {
            p[parentAt + SLOT_BITS] = MIN_SLOT_BITS;
            p[parentAt + DIR] = slab.allocate(MIN_SLOT_BITS);
            if (p[parentAt + PARENT] != NONE) {
                directories.add(p[parentAt + PATH_HASH], parent, p[parentAt + DIR], MIN_SLOT_BITS);
            }
        }
        int bits = p[parentAt + SLOT_BITS];
        int[] d = slab.chunk(p[parentAt + DIR]);
        int dirAt = Slab.at(p[parentAt + DIR]);
        if (++d[dirAt + CHILD_COUNT] > 3 << bits - 2) {
            resize(parent, bits + 1);
            bits++;
            d = slab.chunk(p[parentAt + DIR]);
            dirAt = Slab.at(p[parentAt + DIR]);
        }
        place(d, dirAt + SLOTS, bits, hash, id);
        return id;
    }

    private int keep(String path) {
        int number = freeTextCount == 0 ? usedTexts++ : freeTexts[--freeTextCount];
        if (number == texts.length) {
            texts = Arrays.copyOf(texts, number * 2);
        }
        texts[number] = path;
        return number;
    }

    private void forget(int number) {
        texts[number] = null;
        if (freeTextCount == freeTexts.length) {
            freeTexts = Arrays.copyOf(freeTexts, freeTextCount * 2);
        }
        freeTexts[freeTextCount++] = number;
    }

    private static void place(int[] d, int slots, int bits, int hash, int child) {
        int mask = (1 << bits) - 1;
        int slot = hash & mask;
        while (d[slots + 2 * slot + 1] != NONE) {
            slot = slot + 1 & mask;
        }
        d[slots + 2 * slot] = hash;
        d[slots + 2 * slot + 1] = child;
    }

    private void resize(int node, int newBits) {
        int[] n = slab.chunk(node);
        int at = Slab.at(node);
        int bits = n[at + SLOT_BITS];
        int record = n[at + DIR];
        int[] from = slab.chunk(record);
        int fromAt = Slab.at(record);
        int newRecord = slab.allocate(newBits);
        int[] to = slab.chunk(newRecord);
        int toAt = Slab.at(newRecord);
        for (int i = 0; i < SLOTS; i++) {
            to[toAt + i] = from[fromAt + i];
        }
        for (int slot = 0; slot < 1 << bits; slot++) {
            int child = from[fromAt + SLOTS + 2 * slot + 1];
            if (child != NONE) {
                place(to, toAt + SLOTS, newBits, from[fromAt + SLOTS + 2 * slot], child);
            }
        }
        slab.free(record, bits);
        n[at + SLOT_BITS] = newBits;
        n[at + DIR] = newRecord;
        if (n[at + PARENT] != NONE) {
            directories.change(n[at + PATH_HASH], node, newRecord, newBits);
        }
    }

    private void drop(int node, int[] n, int at) {
        if (node == dir) {
            dir = NONE;
        }
        int parent = n[at + PARENT];
        int[] p = slab.chunk(parent);
        int parentAt = Slab.at(parent);
        int bits = p[parentAt + SLOT_BITS];
        int record = p[parentAt + DIR];
        int[] d = slab.chunk(record);
        int dirAt = Slab.at(record);
        int left = --d[dirAt + CHILD_COUNT];
        if (left == 0) {
            slab.free(record, bits);
            p[parentAt + DIR] = NONE;
            if (p[parentAt + PARENT] != NONE) {
                directories.remove(p[parentAt + PATH_HASH], parent);
            }
        } else {
            clear(d, dirAt + SLOTS, (1 << bits) - 1, slotOf(node));
            if (left < 1 << bits - 3) {
                resize(parent, bits - 1);
            }
        }
        if ((n[at + NAME] & LONG) != 0) {
            forget(n[at + TEXT + 1]);
        }
        free(node);
        nodeCount--;
    }

    private void free(int node) {
        int[] n = slab.chunk(node);
        int at = Slab.at(node);
        for (int form = LISTS; form < LISTS + 3; form++) {
            if (n[at + form] != NONE) {
                slab.free(n[at + form], HEADS);
            }
        }
        slab.free(node, n[at + KIND]);
    }

    /** Frees a slot and closes the gap, so that no probe of another name ends too early. */
    private static void clear(int[] d, int slots, int mask, int slot) {
        int gap = slot;
        for (int i = slot + 1 & mask; d[slots + 2 * i + 1] != NONE; i = i + 1 & mask) {
            int home = d[slots + 2 * i] & mask;
            if ((i - home & mask) >= (i - gap & mask)) {
                d[slots + 2 * gap] = d[slots + 2 * i];
                d[slots + 2 * gap + 1] = d[slots + 2 * i + 1];
                gap = i;
            }
        }
        d[slots + 2 * gap + 1] = NONE;
    }
}
