package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Goes through the triples of a manifest. Once they have met very many others, only through the widest of the rest: what meets a triple
 * meets one that covers it and excludes as much, too, so that nothing is looked at ten thousand times.
 */
final class Widest {
    /** With a path's ancestors before it, and nothing in between that is not below them. */
    private static final class FromTheTop implements Comparator<Triple> {
        @Override
        public int compare(Triple a, Triple b) {
            int c = a.object().scheme().compareTo(b.object().scheme());
            if (c == 0) {
                c = a.object().path().replace('/', '\0').compareTo(b.object().path().replace('/', '\0'));
            }
            return c == 0 ? b.object().form().compareTo(a.object().form()) : c;
        }
    }

    /** A triple, and all that it or one that covers it excludes. */
    private static final class Above {
        final Resource resource;
        final int mask;

        Above(Resource resource, int mask) {
            this.resource = resource;
            this.mask = mask;
        }
    }

    private List<Triple> rest;
    private int at;
    private boolean all = true;

    Widest(List<Triple> triples) {
        this.rest = triples;
    }

    /**
     * The next one, {@code null} after the last.
     *
     * @param looked how many leases and waiting triples have been looked at for the ones before
     */
    Triple next(long looked) {
        if (all && looked > Limits.MAX_CONFLICTS && rest.size() - at > 1) {
            all = false;
            rest = widest();
            at = 0;
        }
        return at == rest.size() ? null : rest.get(at++);
    }

    private List<Triple> widest() {
        List<Triple> sorted = new ArrayList<>(rest.subList(at, rest.size()));
        sorted.sort(new FromTheTop());
        List<Triple> widest = new ArrayList<>();
        ArrayDeque<Above> above = new ArrayDeque<>();
        for (Triple t : sorted) {
            while (!above.isEmpty() && !above.peek().resource.covers(t.object())) {
                above.pop();
            }
            int covered = above.isEmpty() ? 0 : above.peek().mask;
            int mask = ConflictMatrix.conflictMask(t.predicate());
            if ((mask & ~covered) != 0) {
                widest.add(t);
                above.push(new Above(t.object(), mask | covered));
            }
        }
        return widest;
    }
}
