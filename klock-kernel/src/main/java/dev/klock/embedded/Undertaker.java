package dev.klock.embedded;

import dev.klock.kernel.SessionKey;

/** Undoes what sessions have left half done whose processes have ended, before what they held goes to others (C45). */
public interface Undertaker {
    /**
     * Rolls back what {@code gone} has changed. Others that share the kernel may do the same at the same time. Called on the thread of somebody
     * who asks for what it held, without the kernel's lock; its leases are renewed meanwhile.
     *
     * @return whether it is done, or there was nothing to do; if not, its leases stay until they run out
     */
    boolean rollBack(SessionKey gone);
}
