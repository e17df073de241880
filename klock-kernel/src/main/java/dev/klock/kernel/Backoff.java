package dev.klock.kernel;

/**
 * How long to wait after DIE before the next attempt: {@code min(cap, base * 2^attempts) + jitter} (K4-13, K4-14). Immutable; randomness
 * comes from the caller.
 *
 * @param baseMs the delay of the first retry, milliseconds
 * @param capMs the longest delay before jitter, milliseconds, at most half of what a long holds; well under the life of a StateDigest (C38)
 * @param jitterMs the largest jitter, milliseconds, at most the same
 */
public record Backoff(long baseMs, long capMs, long jitterMs) {
    /** For the cap and for the jitter, so that their sum is one that can be slept. */
    private static final long LONGEST_MS = Long.MAX_VALUE / 2;

    /** 50 ms, doubled up to 10 s, with up to 50 ms of jitter. */
    public static final Backoff STANDARD = new Backoff(50, 10_000, 50);

    /** 50 ms, doubled up to 2 s, with up to 200 ms of jitter: for who need not be started again, and leaves no lease idle for long. */
    public static final Backoff WITHIN_PROCESS = new Backoff(50, 2_000, 200);

    public Backoff {
        if (baseMs <= 0 || capMs < baseMs || capMs > LONGEST_MS || jitterMs < 0 || jitterMs > LONGEST_MS) {
            throw new IllegalArgumentException("need 0 < base <= cap and jitter >= 0, neither over " + LONGEST_MS + ", not " + baseMs + ", " + capMs + ", "
                    + jitterMs);
        }
    }

    /**
     * The delay in milliseconds before the retry that follows {@code attempts} earlier ones.
     *
     * @param attempts 0 for the first retry
     * @param random from 0 (inclusive) to 1 (exclusive)
     */
    public long delayMs(int attempts, double random) {
        int doublings = Math.min(Math.max(attempts, 0), 62);
        long delay = baseMs > capMs >> doublings ? capMs : baseMs << doublings;
        return delay + Math.min(jitterMs, (long) (random * (jitterMs + 1)));
    }
}
