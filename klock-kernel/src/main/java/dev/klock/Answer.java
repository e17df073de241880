package dev.klock;

import java.util.List;

/**
 * What came of asking for leases: a value, since waiting and dying are part of the protocol and not failures. Immutable.
 *
 * @param verdict how it ended
 * @param leases what was granted, each {@code lease_… PREDICATE RESOURCE}; for GONE, what of it is held still; empty otherwise
 * @param conflicts what stood in the way, a line each; empty if granted
 * @param changes what others may have changed since this session last worked, a line each (K5-11); empty if nothing is known
 * @param retryAfterMs when to try again, in milliseconds from now; 0 if there is no hint
 * @param reason one line on why not; {@code null} if granted
 * @param waits how often the session has had to wait since it was opened, for this answer or one before
 * @param deaths how often it has died since then (K4-6), of waits that ran out, too (K4-5)
 * @param handle names these leases to {@link KlockSession#release}; {@code null} if there are none
 */
public record Answer(
        Verdict verdict,
        List<String> leases,
        List<String> conflicts,
        List<String> changes,
        long retryAfterMs,
        String reason,
        long waits,
        long deaths,
        Object handle) {
    /** How asking ended. */
    public enum Verdict {
        /** All leases were given, at once (K2-5). */
        GRANTED,
        /** Nothing was taken; the session is suspended, or it would have had to wait and was told not to (C4). */
        PAUSED,
        /** Somebody older is in the way, or the wait ran out: everything the session held is gone; roll back and try again (K4-6, C43). */
        DIE,
        /**
         * It was granted and is not held any more, or not all of it: given back, run out, revoked, or the session is over; {@link Answer#reason}
         * names what went first. {@link KlockSession#retry} gets back what a session that goes on has lost. One that is over, which its
         * {@link KlockSession#state} tells, answers so to whatever is asked: open another one.
         */
        GONE,
        /** What was asked for cannot be asked for: {@link Answer#reason} says why. Nothing has changed. */
        REFUSED
    }

    public Answer {
        leases = List.copyOf(leases);
        conflicts = List.copyOf(conflicts);
        changes = List.copyOf(changes);
    }

    public boolean isGranted() {
        return verdict == Verdict.GRANTED;
    }
}
