package dev.klock.kernel;

import dev.klock.resource.Resource;

/**
 * What may be asked for at all, before any conflict is looked at (K1-18, K2-10). Must be pure and quick: it runs inside the kernel,
 * and under the lock of whoever guards that. What it throws refuses what was asked for; a command that it gives to the kernel that asks it
 * throws {@link IllegalStateException}.
 */
public interface Policy {
    /**
     * Why {@code session} may not ask for {@code predicate} on {@code resource}, as the end of a sentence, or {@code null} if it may.
     */
    String refuse(SessionKey session, Predicate predicate, Resource resource);
}
