package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.Objects;

/**
 * One intent: subject, predicate, object (K0-1), with how sure the declarer is and when it said so (RS-1). Immutable.
 *
 * <p>Confidence and timestamp are for people and audits: no verdict depends on them (C11, C14).
 *
 * @param subject the agent's id; {@code null} stands for the agent of the session that submits it
 * @param object what it is about, canonical
 * @param confidence from 0 to 1
 * @param timestampMs when the intent was declared, milliseconds since 1970; 0 if not known
 */
public record Triple(String subject, Predicate predicate, Resource object, double confidence, long timestampMs) {
    /** What {@code High}, {@code Medium} and {@code Low} stand for (C14). */
    public static final double HIGH = 1.0;

    public static final double MEDIUM = 0.6;
    public static final double LOW = 0.3;

    public Triple {
        Objects.requireNonNull(predicate, "predicate");
        Objects.requireNonNull(object, "object");
        if (!(confidence >= 0 && confidence <= 1)) {
            throw new IllegalArgumentException("confidence must be from 0 to 1, not " + confidence);
        }
    }

    /** An intent of the submitting agent, with full confidence. */
    public static Triple of(Predicate predicate, Resource object) {
        return new Triple(null, predicate, object, HIGH, 0);
    }

    // written out: a record's own equals and hashCode are made by method handles at their first call, which costs 60 ms CPU before main
    @Override
    public boolean equals(Object other) {
        if (!(other instanceof Triple)) {
            return false;
        }
        Triple that = (Triple) other;
        return predicate == that.predicate && object.equals(that.object) && Objects.equals(subject, that.subject)
                && Double.compare(confidence, that.confidence) == 0 && timestampMs == that.timestampMs;
    }

    @Override
    public int hashCode() {
        return ((Objects.hashCode(subject) * 31 + predicate.ordinal()) * 31 + object.hashCode()) * 31 + Long.hashCode(timestampMs);
    }

    /** {@code MUTATES FILE:/a}, the short form of a manifest. */
    @Override
    public String toString() {
        return predicate + " " + object;
    }
}
