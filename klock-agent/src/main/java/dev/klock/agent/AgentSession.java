package dev.klock.agent;

import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.log.Summary;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;

/**
 * What one agent of several in this JVM does from the grant of its leases until they are gone. When it is stopped, its operations fail from
 * then on, what it has changed is undone, and its leases go; its neighbours, and the JVM, go on.
 */
final class AgentSession extends Session {
    static final String DIED = "died";

    private final AgentLeases leases;

    AgentSession(Sessions sessions, LaunchOptions options, Manifest manifest, Tools.Records records, AgentLeases leases) {
        super(sessions, options, manifest, manifest.agentId(), records, Children.ofSession());
        this.leases = leases;
    }

    @Override
    boolean holdsLeases() {
        return leases.renew();
    }

    @Override
    boolean amend(Predicate predicate, Resource resource) {
        return leases.amend(predicate, resource);
    }

    @Override
    void giveBack(boolean failed) {
        if (failed && isStoppedFor(ABORTED)) {
            leases.failed();
        } else if (failed && isStoppedFor(LEASE_LOST)) {
            leases.letGo();
        }
        // else whoever ends it gives them back next
    }

    @Override
    int exit(int code) {
        return Summary.UNKNOWN;
    }

    /** A program may open thousands: one that ended well, and nobody needs to look at, has a line only where {@code log.level} is info. */
    @Override
    void tellEnd(Summary summary) {
        if (isQuiet(summary)) {
            sessions.process().endedQuietly();
            Stderr.info(end(summary, 0));
        } else {
            Stderr.announce(end(summary, 0));
        }
    }

    private boolean isQuiet(Summary summary) {
        return summary.end().equals(COMPLETED) && log.count(Decision.DENY) == 0 && log.count(Decision.WARN) == 0 && log.amended() == 0
                && summary.violated().isEmpty() && summary.unmonitored().isEmpty();
    }

    /** Where the program itself is over, a thread that still works waits for the JVM's last moment. */
    @Override
    void keep() {
        if (sessions.isEnding()) {
            sessions.guard().await();
        }
        sessions.process().keep();
    }

    @Override
    void violated(String message) {
        leases.violated(message);
    }

    @Override
    String name() {
        return agentId;
    }

    /** Why it is over, for people; null if it is not, or was closed. */
    String why() {
        return isStoppedFor(ABORTED) ? "it was aborted, and what it did is " + (isWound() ? "undone" : "being undone") + "; open another one"
                : isStoppedFor(LEASE_LOST) ? "it has lost its leases, and what it did stays; open another one" : isStoppedFor(DIED) ? "it has died, and what it did is undone; ask again" : null;
    }

    /** Its leases go, too. Its threads that still work have nobody to work for any more, and wait for the JVM's last moment. */
    @Override
    void finish(int status) {
        if (settle()) {
            ended = true;
            awaitQuiet();
            complete(Summary.UNKNOWN);
        }
        if (isStopping()) {
            awaitWound();
        }
        leases.held().close();
    }

    /** The program closes it. Its threads that still work do so for the process from here on; what they have begun for it ends first. */
    void end() {
        if (settle()) {
            observer().giveUp();
            if (!awaitQuiet()) {
                Stderr.warn("an operation of " + agentId + " had not ended when its session was closed");
            }
            if (mode.denies() && observer().hasOpen()) {
                // what is written there from here on would be written without a lease
                sessions.fences().raise(fence());
            }
            complete(Summary.UNKNOWN);
        }
        if (isStopping()) {
            // its leases go when this returns: until then what it did is to be undone
            awaitWound();
        }
    }

    /** Ends it, and waits until all that it has changed is undone. */
    void rollBack(String reason) {
        stop(reason, EXIT_ABORTED);
        awaitWound();
    }

    private void awaitWound() {
        if (Thread.currentThread() == sessions.guard()) {
            return;
        }
        boolean interrupted = Thread.interrupted();
        while (!isWound()) {
            Guard.pause(1);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
