package dev.klock.embedded;

import dev.klock.kernel.Change;
import dev.klock.kernel.Conflict;
import dev.klock.kernel.Lease;
import dev.klock.kernel.Refusal;
import dev.klock.kernel.Verdict;
import java.util.List;

/**
 * How an acquire ended. Immutable.
 *
 * @param verdict GRANTED, DIE, or PAUSED, which a wait also ends with when its manifest is taken back, by a pause for one; {@code null} if
 *     refused, as a wait is whose session ends
 * @param timedOut whether it is a DIE because the wait ran out (K4-5)
 * @param leases what was granted; empty otherwise
 * @param conflicts what stood in the way; empty if granted
 * @param changes what others may have changed meanwhile (K5-11)
 * @param retryAfterMs a hint in milliseconds for when to try again; 0 if there is none
 * @param refusal why nothing was judged, or {@code null}
 */
public record Acquisition(
        Verdict verdict,
        boolean timedOut,
        List<Lease> leases,
        List<Conflict> conflicts,
        List<Change> changes,
        long retryAfterMs,
        Refusal refusal) {
    public boolean isGranted() {
        return verdict == Verdict.GRANTED;
    }
}
