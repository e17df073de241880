package dev.klock.digest;

import dev.klock.kernel.Limits;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The part of a digest that is KLIS-5's (K5-4, C6): what an agent needs to go on where it stopped. Immutable.
 *
 * @param checkpointId its name; any text
 * @param resumePoint where to go on; any text, {@code null} if there is none
 * @param contextJson whatever the agent wants to find again: one JSON object, canonical after construction; {@code null} stands for an
 *     empty one. Its numbers are kept as they were written
 * @param intentBacklog the manifest to ask for again, with predicates; their subject is the digest's agent and not written
 * @param resolution what to do about it
 */
public record Checkpoint(
        String checkpointId, String resumePoint, String contextJson, List<Triple> intentBacklog, Resolution resolution) {
    /** The agent's own context, characters. */
    public static final int MAX_CONTEXT_CHARS = 1 << 20;

    /**
     * @throws IllegalArgumentException if {@code contextJson} is not one JSON object without duplicate keys, something is longer than it
     *     may be, or a resource has no text form
     */
    public Checkpoint {
        Objects.requireNonNull(checkpointId, "checkpointId");
        Objects.requireNonNull(resolution, "resolution");
        refuse("checkpoint_id", Texts.wrong(checkpointId));
        refuse("resume_point", resumePoint == null ? null : Texts.wrong(resumePoint));
        refuse("context", contextJson != null && contextJson.length() > MAX_CONTEXT_CHARS
                ? "is longer than " + MAX_CONTEXT_CHARS + " characters"
                : null);
        refuse("intent_backlog", intentBacklog.size() > Limits.MAX_TRIPLES ? "has more than " + Limits.MAX_TRIPLES + " triples" : null);
        contextJson = contextJson == null ? "{}" : DigestFormat.canonicalObject(contextJson);
        ArrayList<Triple> list = new ArrayList<>(intentBacklog.size());
        for (Triple t : intentBacklog) {
            list.add(new Triple(null, t.predicate(), Resource.parse(t.object().toString()), rounded(t.confidence()), t.timestampMs()));
        }
        intentBacklog = List.copyOf(list);
    }

    private static void refuse(String field, String wrong) {
        if (wrong != null) {
            throw new IllegalArgumentException(field + " " + wrong);
        }
    }

    /** To six decimals, so that every Java writes the same digits. */
    private static double rounded(double confidence) {
        return Math.round(confidence * 1e6) / 1e6;
    }
}
