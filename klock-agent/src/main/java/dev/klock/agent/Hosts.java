package dev.klock.agent;

import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.embedded.SessionListener;
import dev.klock.kernel.Change;
import dev.klock.kernel.Conflict;
import dev.klock.kernel.ConflictMatrix;
import dev.klock.kernel.Lease;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.shared.Ancestors;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The sessions of the processes that have started this one: a build that runs its tests in another JVM, say. What they hold is held for their
 * children, too, so this session acts under their leases where these cover what it declares, and as long as they last.
 */
public final class Hosts {
    private static final long NONE = Long.MAX_VALUE;

    private final EmbeddedKernel kernel;
    private final Leases leases;
    private final List<Host> hosts = new CopyOnWriteArrayList<>();
    private Set<String> ancestors;

    /** For whoever asks {@link #areValid} before each step. */
    public Hosts(EmbeddedKernel kernel) {
        this(kernel, null);
    }

    /** @param leases is told when it changes how long they last; null for nobody */
    Hosts(EmbeddedKernel kernel, Leases leases) {
        this.kernel = kernel;
        this.leases = leases;
    }

    /** One of them. */
    private final class Host implements SessionListener {
        /** Null until it is followed. */
        private EmbeddedSession session;
        private volatile long untilNanos = NONE;

        @Override
        public void leaseLost(Lease lease) {
            // what follows is told by time: it may have been the last moment of what it needs no more
        }

        @Override
        public void observationUpdate(List<Change> changes) {
            // told to the session itself
        }

        @Override
        public void validUntil(long nanos) {
            untilNanos = nanos;
            if (leases != null) {
                leases.changed();
            }
        }
    }

    /** Follows those of this process's ancestors that are in the way; whether that was any which was not followed yet. */
    public boolean find(List<Conflict> inTheWay) {
        boolean any = false;
        for (int i = 0; i < inTheWay.size(); i++) {
            SessionKey holder = inTheWay.get(i).holder();
            if (!isFollowed(holder) && isAncestor(holder)) {
                Host host = new Host();
                host.session = kernel.follow(holder, host);
                if (host.session != null) {
                    hosts.add(host);
                    any = true;
                }
            }
        }
        return any;
    }

    void addKeys(List<SessionKey> keys) {
        for (int i = 0; i < hosts.size(); i++) {
            keys.add(hosts.get(i).session.key());
        }
    }

    private boolean isFollowed(SessionKey key) {
        for (int i = 0; i < hosts.size(); i++) {
            if (hosts.get(i).session.key().equals(key)) {
                return true;
            }
        }
        return false;
    }

    private boolean isAncestor(SessionKey holder) {
        String process = kernel.processOf(holder);
        if (process != null && ancestors == null) {
            ancestors = Ancestors.names();
        }
        return process != null && ancestors.contains(process);
    }

    /** Those of {@code triples} that the hosts' leases do not cover: whatever conflicts with the others conflicts with a host's. */
    public List<Triple> uncovered(List<Triple> triples) {
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < hosts.size(); i++) {
            held.addAll(hosts.get(i).session.leases());
        }
        List<Triple> rest = new ArrayList<>();
        for (int i = 0; i < triples.size(); i++) {
            Triple triple = triples.get(i);
            int open = ConflictMatrix.conflictMask(triple.predicate());
            for (int j = 0; j < held.size() && open != 0; j++) {
                if (held.get(j).resource().covers(triple.object())) {
                    open &= ~ConflictMatrix.conflictMask(held.get(j).predicate());
                }
            }
            if (open != 0) {
                rest.add(triple);
            }
        }
        return rest;
    }

    /** The first moment of {@link System#nanoTime} at which one of them may have lost what it holds; {@code own} if that is earlier, or there are none. */
    long validUntil(long own) {
        long first = own;
        for (int i = 0; i < hosts.size(); i++) {
            long until = hosts.get(i).untilNanos;
            if (until != NONE && until - first < 0) {
                first = until;
            }
        }
        return first;
    }

    /** Whether all of them hold what they held. */
    public boolean areValid() {
        for (int i = 0; i < hosts.size(); i++) {
            EmbeddedSession host = hosts.get(i).session;
            // looks at what the others have done meanwhile
            host.leases();
            if (!host.isValid()) {
                return false;
            }
        }
        return true;
    }
}
