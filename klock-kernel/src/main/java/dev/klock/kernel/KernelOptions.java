package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a kernel is told once, when it is made. Immutable; each {@code with} method returns a copy.
 *
 * @param kernelId the first part of every lease id; give each kernel of a place its own
 * @param hashSeed any number; one that nobody else knows keeps hash collisions out of the hands of those who choose paths, and no answer
 *     depends on it (K2-8). {@link #NO_HASH_SEED} for none: then a {@link Kernel}, which draws no random numbers, takes one that everybody
 *     can read, so that whoever makes one for others gives it a seed; an {@code EmbeddedKernel} draws one by itself
 * @param firstFencingToken the first lease's number, from 1 to {@link Limits#MAX_FIRST_FENCING_TOKEN}; one above the highest number any
 *     kernel before gave
 * @param schemes the schemes that are known (C16), in any case or by their alias; some of those that {@link Resource#parse} knows
 * @param policy what may be asked for at all
 * @param renames whether RENAMES is known; without it the kernel is one of the five core predicates (C2)
 * @param leasesPerSession the most live leases of one session (K7-11), not triples
 * @param submitsPerWindow the most manifests of one session in a window (K7-11); one that was refused or only tried changed nothing, and
 *     is not counted
 * @param quotaWindowMs that window, milliseconds
 * @param lockDelayMs how long a writing lease that ran out blocks others still, because its holder may have been stopped just before a
 *     write (C46), milliseconds; 0 for not at all, which is right when the holder's death is certain, as inside one process
 */
public record KernelOptions(
        String kernelId,
        int hashSeed,
        long firstFencingToken,
        Set<String> schemes,
        Policy policy,
        boolean renames,
        int leasesPerSession,
        int submitsPerWindow,
        long quotaWindowMs,
        long lockDelayMs) {
    /** That no seed was given. */
    public static final int NO_HASH_SEED = 0;

    /** Everything the documents name: KLIS-1's schemes, RS-6's types (DATABASE_TABLE is DB, C16), and NATIVE (C49). */
    public static final Set<String> SCHEMES =
            Set.of("FILE", "URL", "PROCESS", "DB", "ENV", "NATIVE", "SYMBOL", "API_ENDPOINT", "CONFIG_KEY");

    /** @throws IllegalArgumentException for an unknown scheme, a number out of its range, and what is missing */
    public KernelOptions {
        if (kernelId == null || kernelId.isEmpty() || policy == null) {
            throw new IllegalArgumentException("a kernel needs an id and a policy; the policy that refuses nothing answers null");
        }
        if (leasesPerSession < 1 || submitsPerWindow < 1 || quotaWindowMs < 1) {
            throw new IllegalArgumentException("a quota must be at least 1, and its window 1 ms, not " + leasesPerSession + " leases, " + submitsPerWindow
                    + " manifests in " + quotaWindowMs + " ms; Integer.MAX_VALUE is for none");
        }
        HashSet<String> known = new HashSet<>();
        for (String scheme : schemes) {
            String canonical = Resource.canonicalScheme(scheme);
            if (canonical == null) {
                throw new IllegalArgumentException("unknown scheme " + scheme + "; known are " + new TreeSet<>(SCHEMES));
            }
            known.add(canonical);
        }
        schemes = Set.copyOf(known);
        if (firstFencingToken < 1 || firstFencingToken > Limits.MAX_FIRST_FENCING_TOKEN) {
            throw new IllegalArgumentException(
                    "first fencing token must be from 1 to " + Limits.MAX_FIRST_FENCING_TOKEN + ", not " + firstFencingToken);
        }
        if (lockDelayMs < 0 || lockDelayMs > Limits.MAX_LOCK_DELAY_MS) {
            throw new IllegalArgumentException("lock delay must be from 0 to " + Limits.MAX_LOCK_DELAY_MS + " ms, not " + lockDelayMs);
        }
    }

    /** No quotas, all schemes, no writing on the root directory, no hash seed. */
    public static KernelOptions standard() {
        return new KernelOptions(
                "0", NO_HASH_SEED, 1, SCHEMES, new GlobalScopePolicy(1, List.of()), true, Integer.MAX_VALUE, Integer.MAX_VALUE, 1000, 0);
    }

    public KernelOptions withKernelId(String id) {
        return new KernelOptions(
                id, hashSeed, firstFencingToken, schemes, policy, renames, leasesPerSession, submitsPerWindow, quotaWindowMs, lockDelayMs);
    }

    public KernelOptions withHashSeed(int seed) {
        return new KernelOptions(
                kernelId, seed, firstFencingToken, schemes, policy, renames, leasesPerSession, submitsPerWindow, quotaWindowMs, lockDelayMs);
    }

    public KernelOptions withFirstFencingToken(long token) {
        return new KernelOptions(kernelId, hashSeed, token, schemes, policy, renames, leasesPerSession, submitsPerWindow, quotaWindowMs, lockDelayMs);
    }

    public KernelOptions withSchemes(Set<String> known) {
        return new KernelOptions(
                kernelId, hashSeed, firstFencingToken, known, policy, renames, leasesPerSession, submitsPerWindow, quotaWindowMs, lockDelayMs);
    }

    public KernelOptions withPolicy(Policy other) {
        return new KernelOptions(
                kernelId, hashSeed, firstFencingToken, schemes, other, renames, leasesPerSession, submitsPerWindow, quotaWindowMs, lockDelayMs);
    }

    /** The five predicates of the core only: RENAMES is refused (C2). */
    public KernelOptions core5() {
        return new KernelOptions(
                kernelId, hashSeed, firstFencingToken, schemes, policy, false, leasesPerSession, submitsPerWindow, quotaWindowMs, lockDelayMs);
    }

    public KernelOptions withQuota(int leases, int submits, long windowMs) {
        return new KernelOptions(kernelId, hashSeed, firstFencingToken, schemes, policy, renames, leases, submits, windowMs, lockDelayMs);
    }

    /** With a lock-delay (C46). */
    public KernelOptions withLockDelayMs(long delayMs) {
        return new KernelOptions(
                kernelId, hashSeed, firstFencingToken, schemes, policy, renames, leasesPerSession, submitsPerWindow, quotaWindowMs, delayMs);
    }
}
