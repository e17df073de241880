package dev.klock.kernel;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * The answer to one command, and everything that happened because of it, to others too. Complete when {@link Kernel#apply} returns, and
 * not changed after.
 */
public final class Outcome {
    /** A lease of a bulk command that was not treated. */
    public record Rejection(long lease, Refusal refusal) {}

    /** Whose command it was. */
    Session session;

    Refusal refusal;
    Verdict verdict;
    List<Lease> leases = Collections.emptyList();
    List<Conflict> conflicts = Collections.emptyList();
    List<Rejection> rejections = Collections.emptyList();
    List<Change> changes = Collections.emptyList();
    long request;
    int queuePosition;
    long retryAfterMs;
    long priorityMs;
    private List<Event> events = Collections.emptyList();

    Outcome() {}

    /** The answer to a command that is refused before it comes to a kernel. */
    public static Outcome refused(Refusal refusal) {
        Outcome out = new Outcome();
        out.refusal = Objects.requireNonNull(refusal);
        return out;
    }

    void refuse(Refusal.Code code, String message) {
        refusal = new Refusal(code, message);
    }

    void reject(long lease, Refusal.Code code, String message) {
        if (rejections.isEmpty()) {
            rejections = new ArrayList<>(2);
        }
        rejections.add(new Rejection(lease, new Refusal(code, message)));
    }

    void add(Event event) {
        if (events.isEmpty()) {
            events = new ArrayList<>(4);
        }
        events.add(event);
    }

    /** Why nothing was done, or {@code null} if the command was carried out. */
    public Refusal refusal() {
        return refusal;
    }

    public boolean isRefused() {
        return refusal != null;
    }

    /** For a manifest or a dry run; {@code null} for other commands and for refused ones. */
    public Verdict verdict() {
        return verdict;
    }

    /** The leases the command was about, as they are after it: granted, confirmed, renewed, released, still valid. */
    public List<Lease> leases() {
        return Collections.unmodifiableList(leases);
    }

    /** Everything that stands in the way (C20), the first {@link Limits#MAX_CONFLICTS} of it, in a fixed order whatever the order in which it came there (K2-8). */
    public List<Conflict> conflicts() {
        return Collections.unmodifiableList(conflicts);
    }

    /** For bulk commands: the leases that were not treated, and why. */
    public List<Rejection> rejections() {
        return Collections.unmodifiableList(rejections);
    }

    /**
     * What may have changed since the session was paused or told that it would have to wait, if it goes on with this (K5-10): first what ended meanwhile, in the order in which it
     * ended, then what is held still, by what it is (K2-8).
     */
    public List<Change> changes() {
        return Collections.unmodifiableList(changes);
    }

    /** For WAIT: the number under which the manifest waits, as in the events that follow; else 0. */
    public long request() {
        return request;
    }

    /** For WAIT: 1 if nobody waits in front for the same things, else one more for each who does; else 0. */
    public int queuePosition() {
        return queuePosition;
    }

    /** For DIE and PAUSED: in how many milliseconds the first thing in the way ends by itself at the latest, unless it is renewed; else 0. */
    public long retryAfterMs() {
        return retryAfterMs;
    }

    /** For a registration: the timestamp that counts, milliseconds since 1970. */
    public long priorityMs() {
        return priorityMs;
    }

    /** What happened, to anybody, in order. */
    public List<Event> events() {
        return Collections.unmodifiableList(events);
    }
}
