package dev.klock.agent.observe;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * What is known of tasks, by their identity, for as long as they live: values for each task and place, first in, first out. A task of which there
 * is one for each submission has the place null; one that may wait several times has the pool that it waits in as its place.
 *
 * <p>How it works. A trie of the identity hash: a wide root, and below it arrays of {@value #WIDTH} that grow where a slot becomes crowded and are
 * kept. A slot holds an immutable chain of nodes; whoever changes something makes another chain and puts it in the place of the first by one
 * compare-and-set. So nobody ever waits: a thread that is stopped in the middle of this has changed nothing yet or everything, and it may be called
 * where no lock can be taken and no thread may park (virtual threads, {@code LockSupport.unpark}). A ConcurrentHashMap takes locks and yields.
 *
 * <p>Tasks are held weakly, but with no ReferenceQueue: to poll one takes a lock, and the JVM's thread that fills it would have to handle every
 * task. Instead each put looks at the chain it goes into and at {@value #LOOKS} more, at random, and takes out what it finds dead there. So what is
 * dead is at most proportional to what has lived at the same time, however long this goes on; and what is {@linkplain #forget forgotten} in time
 * costs the garbage collector nothing.
 *
 * <p>A place is told from others by its identity hash alone. Two pools that have the same one, once in 2^31, share what is known of a task that both
 * are given.
 *
 * @param <V> compared by identity
 */
public final class Carried<V> {
    private static final int ROOT_BITS = 10;
    private static final int BITS = 4;
    private static final int WIDTH = 1 << BITS;
    private static final int HASH_BITS = 31;
    /** A chain this long is spread over an array. */
    private static final int MAX_CHAIN = 8;
    /** Slots that each put looks through for what is dead, besides its own. */
    private static final int LOOKS = 2;
    private static final int GOLDEN = 0x9E3779B9;
    /** What {@link #find} takes away. */
    private static final int NONE = 0;
    private static final int FIRST = 1;
    private static final int LAST = 2;
    private static final int NEWEST = 3;
    private static final int ALL = 4;
    /** So many threads may be about to run the same task at the same time. */
    private static final int MAX_DOUBTS = 64;

    private final AtomicReferenceArray<Object> root = new AtomicReferenceArray<>(1 << ROOT_BITS);

    private static final class Key extends WeakReference<Object> {
        final int hash;
        final int place;

        Key(Object task, int hash, int place) {
            super(task);
            this.hash = hash;
            this.place = place;
        }

        boolean isDead() {
            return refersTo(null);
        }
    }

    private static final class Node {
        final Key key;
        /** A value, or the {@link Line} of several. */
        final Object values;
        final Node next;

        Node(Key key, Object values, Node next) {
            this.key = key;
            this.values = values;
            this.next = next;
        }
    }

    /** As often as {@code count} says, one after the other. Immutable. */
    private static final class Run {
        final Object value;
        final int count;
        final Run next;

        Run(Object value, int count, Run next) {
            this.value = value;
            this.count = count;
            this.next = next;
        }
    }

    /** Values in their order: those of {@code front}, then those of {@code back} from its end. Never empty in front. Immutable. */
    private static final class Line {
        final Run front;
        final Run back;

        Line(Run front, Run back) {
            this.front = front;
            this.back = back;
        }

        static Object of(Run front, Run back) {
            if (front == null) {
                return back == null ? null : new Line(reversed(back, null), null);
            }
            return new Line(front, back);
        }

        Line with(Object value) {
            if (back != null && back.value == value) {
                return new Line(front, new Run(value, back.count + 1, back.next));
            }
            if (back == null && front.next == null && front.value == value) {
                return new Line(new Run(value, front.count + 1, null), null);
            }
            return new Line(front, new Run(value, 1, back));
        }

        boolean isMixed() {
            return differs(front.next) || differs(back);
        }

        private boolean differs(Run from) {
            Run at = from;
            while (at != null && at.value == front.value) {
                at = at.next;
            }
            return at != null;
        }

        int size() {
            int size = 0;
            for (Run at = front; at != null; at = at.next) {
                size += at.count;
            }
            for (Run at = back; at != null; at = at.next) {
                size += at.count;
            }
            return size;
        }

        Object last() {
            Run at = back != null ? back : front;
            while (back == null && at.next != null) {
                at = at.next;
            }
            return at.value;
        }

        Object withoutFirst() {
            return of(front.count > 1 ? new Run(front.value, front.count - 1, front.next) : front.next, back);
        }

        /** Without the last that is {@code value}; this if there is none. */
        Object withoutLast(Object value) {
            Run left = without(back, value);
            if (left != back) {
                return of(front, left);
            }
            Run newestFirst = reversed(front, null);
            left = without(newestFirst, value);
            return left == newestFirst ? this : of(reversed(left, null), back);
        }

        private static Run without(Run run, Object value) {
            Run before = null;
            for (Run at = run; at != null; at = at.next) {
                if (at.value == value) {
                    return reversed(before, at.count > 1 ? new Run(value, at.count - 1, at.next) : at.next);
                }
                before = new Run(at.value, at.count, before);
            }
            return run;
        }

        private static Run reversed(Run run, Run behind) {
            Run result = behind;
            for (Run at = run; at != null; at = at.next) {
                result = new Run(at.value, at.count, result);
            }
            return result;
        }
    }

    /** Adds {@code value} behind what is known of {@code task} at {@code place}. */
    public void put(Object task, Object place, V value) {
        add(task, place(place), value, false);
    }

    /** Notes {@code value} for {@code task}, at no place, unless something is known of it. */
    public void putFirst(Object task, V value) {
        add(task, 0, value, true);
    }

    /**
     * The first of what is known of {@code task} at {@code place}, which is taken away; what is {@linkplain #doubt doubtful} comes behind all that
     * is not, the last of it first. Null if there is nothing.
     */
    public V take(Object task, Object place) {
        int at = place(place);
        V known = find(task, at, FIRST, null);
        return known != null ? known : find(task, ~at, NEWEST, null);
    }

    /** How many values are known of {@code task} at {@code place}, what is doubtful not counted; 0 where all are the same. */
    public int mixed(Object task, Object place) {
        Object values = values(task, place(place));
        return values instanceof Line && ((Line) values).isMixed() ? ((Line) values).size() : 0;
    }

    /**
     * Nobody can tell whether {@code task} still is at {@code place} for the first of what is known of it. Of what is doubtful already no more than
     * {@value #MAX_DOUBTS} stay.
     */
    public void doubtFirst(Object task, Object place) {
        int at = place(place);
        V first = find(task, at, NONE, null);
        if (first == null) {
            return;
        }
        Object doubtful = values(task, ~at);
        if (doubtful instanceof Line && ((Line) doubtful).size() >= MAX_DOUBTS) {
            find(task, ~at, FIRST, null);
        }
        // in this order, as in doubt
        add(task, ~at, first, false);
        V taken = find(task, at, FIRST, null);
        if (taken != first) {
            find(task, ~at, LAST, first);
            if (taken != null) {
                add(task, ~at, taken, false);
            }
        }
    }

    /** The first of what is known of {@code task}, at no place, which stays; null if there is nothing. */
    public V get(Object task) {
        return find(task, 0, NONE, null);
    }

    /** Takes away the last of what is known of {@code task} at {@code place} that is {@code value}, if there is one. */
    public void remove(Object task, Object place, V value) {
        find(task, place(place), LAST, value);
    }

    /** Nobody can tell whether {@code task} still is at {@code place} for the last of what is known of it that is {@code value}. */
    public void doubt(Object task, Object place, V value) {
        int at = place(place);
        // in this order: who takes it meanwhile finds it once at least, and is not told from who took it before
        add(task, ~at, value, false);
        if (find(task, at, LAST, value) == null) {
            find(task, ~at, LAST, value);
        }
    }

    /** Takes away whatever is known of {@code task} at no place. */
    public void forget(Object task) {
        find(task, 0, ALL, null);
    }

    private static int place(Object place) {
        return place == null ? 0 : System.identityHashCode(place);
    }

    @SuppressWarnings("unchecked")
    private void add(Object task, int place, Object value, boolean onlyFirst) {
        int hash = System.identityHashCode(task);
        AtomicReferenceArray<Object> array = root;
        int index = hash & (1 << ROOT_BITS) - 1;
        int used = ROOT_BITS;
        Key key = null;
        while (true) {
            Object content = array.get(index);
            if (content instanceof AtomicReferenceArray) {
                array = (AtomicReferenceArray<Object>) content;
                index = hash >>> used & WIDTH - 1;
                used += BITS;
                continue;
            }
            Node chain = (Node) content;
            Node known = null;
            boolean dead = false;
            int length = 0;
            for (Node node = chain; node != null; node = node.next) {
                length++;
                if (node.key.hash == hash && node.key.place == place && node.key.refersTo(task)) {
                    known = node;
                } else if (node.key.isDead()) {
                    dead = true;
                }
            }
            if (known != null && onlyFirst) {
                return;
            }
            Node replacement;
            if (known != null) {
                Object values = known.values instanceof Line ? ((Line) known.values).with(value)
                        : new Line(new Run(known.values, 1, null), null).with(value);
                replacement = new Node(known.key, values, alive(chain, known));
            } else if (length >= MAX_CHAIN && !dead && used + BITS <= HASH_BITS) {
                array.compareAndSet(index, content, spread(chain, used));
                continue;
            } else {
                if (key == null) {
                    key = new Key(task, hash, place);
                }
                replacement = new Node(key, value, dead ? alive(chain, null) : chain);
            }
            if (array.compareAndSet(index, content, replacement)) {
                if (known == null) {
                    clean(hash);
                }
                return;
            }
        }
    }

    /** The nodes of {@code chain} without {@code left} and without dead ones. */
    private static Node alive(Node chain, Node left) {
        Node result = null;
        for (Node node = chain; node != null; node = node.next) {
            if (node != left && !node.key.isDead()) {
                result = new Node(node.key, node.values, result);
            }
        }
        return result;
    }

    private static AtomicReferenceArray<Object> spread(Node chain, int used) {
        AtomicReferenceArray<Object> array = new AtomicReferenceArray<>(WIDTH);
        for (Node node = chain; node != null; node = node.next) {
            int index = node.key.hash >>> used & WIDTH - 1;
            array.setPlain(index, new Node(node.key, node.values, (Node) array.getPlain(index)));
        }
        return array;
    }

    /** @return what is taken away, or the first of what stays */
    @SuppressWarnings("unchecked")
    private V find(Object task, int place, int taken, Object value) {
        int hash = System.identityHashCode(task);
        AtomicReferenceArray<Object> array = root;
        int index = hash & (1 << ROOT_BITS) - 1;
        int used = ROOT_BITS;
        while (true) {
            Object content = array.get(index);
            if (content instanceof AtomicReferenceArray) {
                array = (AtomicReferenceArray<Object>) content;
                index = hash >>> used & WIDTH - 1;
                used += BITS;
                continue;
            }
            Node known = known((Node) content, task, hash, place);
            if (known == null) {
                return null;
            }
            Object values = known.values;
            Line line = values instanceof Line ? (Line) values : null;
            Object first = line != null ? line.front.value : values;
            if (taken == NONE) {
                return (V) first;
            }
            Object found = taken == LAST ? value : taken == NEWEST && line != null ? line.last() : first;
            Object left = taken == ALL ? null : line == null ? values == found ? null : values : taken == FIRST ? line.withoutFirst() : line.withoutLast(found);
            if (left == values) {
                // there is none that is value
                return null;
            }
            Node others = (Node) content == known ? known.next : alive((Node) content, known);
            if (array.compareAndSet(index, content, left == null ? others : new Node(known.key, left, others))) {
                return (V) found;
            }
        }
    }

    /** A value, the {@link Line} of several, or null. */
    @SuppressWarnings("unchecked")
    private Object values(Object task, int place) {
        int hash = System.identityHashCode(task);
        Object content = root.get(hash & (1 << ROOT_BITS) - 1);
        for (int used = ROOT_BITS; content instanceof AtomicReferenceArray; used += BITS) {
            content = ((AtomicReferenceArray<Object>) content).get(hash >>> used & WIDTH - 1);
        }
        Node known = known((Node) content, task, hash, place);
        return known == null ? null : known.values;
    }

    private static Node known(Node chain, Object task, int hash, int place) {
        Node known = chain;
        while (known != null && (known.key.hash != hash || known.key.place != place || !known.key.refersTo(task))) {
            known = known.next;
        }
        return known;
    }

    private void clean(int seed) {
        int random = seed;
        for (int i = 0; i < LOOKS; i++) {
            random = (random ^ random >>> 15) * GOLDEN;
            clean(root, random >>> HASH_BITS + 1 - ROOT_BITS, random);
        }
    }

    /** Takes the dead out of one of the slots at or below {@code index} of {@code array}. */
    @SuppressWarnings("unchecked")
    private static void clean(AtomicReferenceArray<Object> array, int index, int random) {
        Object content = array.get(index);
        if (content instanceof AtomicReferenceArray) {
            clean((AtomicReferenceArray<Object>) content, random & WIDTH - 1, random >>> BITS);
            return;
        }
        for (Node node = (Node) content; node != null; node = node.next) {
            if (node.key.isDead()) {
                // if that fails, another thread is at work here, and this is for the next
                array.compareAndSet(index, content, alive((Node) content, null));
                return;
            }
        }
    }

    /** How many tasks and places something is known of, dead ones too; for tests, as it goes through all. */
    int size() {
        return size(root);
    }

    @SuppressWarnings("unchecked")
    private static int size(AtomicReferenceArray<Object> array) {
        int size = 0;
        for (int i = 0; i < array.length(); i++) {
            Object content = array.get(i);
            if (content instanceof AtomicReferenceArray) {
                size += size((AtomicReferenceArray<Object>) content);
            } else {
                for (Node node = (Node) content; node != null; node = node.next) {
                    size++;
                }
            }
        }
        return size;
    }
}
