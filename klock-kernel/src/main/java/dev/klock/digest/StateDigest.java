package dev.klock.digest;

import dev.klock.kernel.Limits;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.SessionView;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;

/**
 * One digest (K8-1). Immutable. Made at a DIE, at any suspension, and before ending with code {@link #EXIT_CODE} (K8-3, C7).
 *
 * @param agentId whose; {@code null} only when it was read from KLIS-5's form, which names nobody (C6)
 * @param session which of the agent's sessions; {@code null} if it does not say, and then any of the agent's may come back by it
 * @param priorityMs the first timestamp, which never changes (K8-2), milliseconds since 1970; {@link #NO_TIMESTAMP} as above
 * @param epoch how often the agent had been restarted before
 * @param lastPhase what it was at
 * @param pendingIntents what it was trying to lock, as resource ids without predicates; whoever wants those reads
 *     {@link Checkpoint#intentBacklog} (C6)
 * @param createdAtMs when it was made, milliseconds since 1970; made anew at each DIE, so that a long fight does not outlive it (C38);
 *     0 if not known
 * @param retryAfterMs when to try again at the earliest, milliseconds since 1970; 0 if it does not say
 * @param checkpoint KLIS-5's part, or {@code null}
 */
public record StateDigest(
        String agentId,
        SessionKey session,
        long priorityMs,
        long epoch,
        Phase lastPhase,
        List<String> pendingIntents,
        long createdAtMs,
        long retryAfterMs,
        Checkpoint checkpoint) {
    /** The only value of {@code version}. */
    public static final String VERSION = "1.0";

    /** With this code a process ends that died of a conflict and left a digest (K8-3). */
    public static final int EXIT_CODE = 107;

    /** How long a digest counts, unless the reader says otherwise (K8-6), milliseconds. */
    public static final long DEFAULT_LIFE_MS = 300_000;

    /** The largest digest, bytes: the largest manifest twice, once with predicates and once without, with room for the rest. */
    public static final int MAX_BYTES = 16 << 20;

    /** {@link #priorityMs} of a digest that has none. */
    public static final long NO_TIMESTAMP = -1;

    /**
     * @throws IllegalArgumentException for a number out of range, an id or resource id that cannot be one, or a backlog that names more
     *     than {@code pendingIntents}
     */
    public StateDigest {
        if (agentId == null ? priorityMs != NO_TIMESTAMP : priorityMs < 0) {
            throw new IllegalArgumentException("a digest has an agent and its timestamp or neither, not " + agentId + " and " + priorityMs);
        }
        if (session != null) {
            if (!session.agentId().equals(agentId)) {
                throw new IllegalArgumentException("session " + session + " is not one of agent " + agentId);
            }
            checkId("namespace", session.namespace());
            checkId("session id", session.sessionId());
        }
        if (epoch < 0 || createdAtMs < 0 || retryAfterMs < 0) {
            throw new IllegalArgumentException(
                    "epoch and times must not be negative: " + epoch + ", " + createdAtMs + ", " + retryAfterMs);
        }
        if (agentId == null) {
            // KLIS-5's form says nothing else
            if (checkpoint == null) {
                throw new IllegalArgumentException("a digest without an agent needs a checkpoint");
            }
            epoch = 0;
            lastPhase = Phase.REQUESTING;
            pendingIntents = uris(checkpoint.intentBacklog());
        } else {
            checkId("agent id", agentId);
        }
        Objects.requireNonNull(lastPhase, "lastPhase");
        if (pendingIntents.size() > Limits.MAX_TRIPLES) {
            throw new IllegalArgumentException("pending_intents has more than " + Limits.MAX_TRIPLES + " entries");
        }
        ArrayList<String> uris = new ArrayList<>(pendingIntents.size());
        for (String uri : pendingIntents) {
            uris.add(Resource.parse(uri).toString());
        }
        pendingIntents = List.copyOf(uris);
        if (checkpoint != null && !new HashSet<>(uris).containsAll(uris(checkpoint.intentBacklog()))) {
            throw new IllegalArgumentException("intent_backlog names what pending_intents does not");
        }
    }

    /**
     * The digest of a session as the kernel knows it now: after a DIE, or while it is suspended.
     *
     * @param nowMs the wall clock, milliseconds since 1970
     * @param retryAfterMs the hint that DIE gave, a duration in milliseconds; 0 for none
     * @param resumePoint where the agent wants to go on; may be {@code null}
     * @param contextJson what it wants to find again, a JSON object; may be {@code null}
     */
    public static StateDigest of(
            SessionView session, long nowMs, long retryAfterMs, String resumePoint, String contextJson, Resolution resolution) {
        Checkpoint checkpoint = new Checkpoint(
                session.session().sessionId() + "#" + session.epoch(), resumePoint, contextJson, session.pending(), resolution);
        return new StateDigest(
                session.session().agentId(),
                session.session(),
                session.priorityMs(),
                session.epoch(),
                Phase.of(session.phase()),
                uris(checkpoint.intentBacklog()),
                nowMs,
                retryAfterMs == 0 ? 0 : nowMs + retryAfterMs,
                checkpoint);
    }

    private static void checkId(String what, String id) {
        String wrong = Texts.wrongId(id);
        if (wrong != null) {
            throw new IllegalArgumentException("the " + what + " " + wrong);
        }
    }

    /** The resource ids of {@code triples}, each once. */
    static List<String> uris(List<Triple> triples) {
        LinkedHashSet<String> uris = new LinkedHashSet<>();
        for (Triple t : triples) {
            uris.add(t.object().toString());
        }
        return List.copyOf(uris);
    }

    /** Whether it says who it is of. */
    public boolean hasIdentity() {
        return agentId != null;
    }

    /** The manifest to ask for again; empty if the digest has no predicates and the agent must take its own manifest. */
    public List<Triple> backlog() {
        return checkpoint == null ? List.of() : checkpoint.intentBacklog();
    }

    /** The same, made at {@code nowMs} (C38). */
    public StateDigest renewed(long nowMs, long retryAfterMs) {
        return new StateDigest(
                agentId,
                session,
                priorityMs,
                epoch,
                lastPhase,
                pendingIntents,
                nowMs,
                retryAfterMs == 0 ? 0 : nowMs + retryAfterMs,
                checkpoint);
    }
}
