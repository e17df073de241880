package dev.klock.local;

import java.io.IOException;

/**
 * Who holds a session to its manifest while it has its leases. Called by the thread that asks, but for {@link #lost} and {@link #validUntil}.
 * What was begun is rolled back or ended, once; or begun anew, when the manifest is granted again after some of its leases were lost.
 */
public interface Enforcement {
    /**
     * The manifest's leases are reserved: from here on they are acted under. An exception gives them back: they are
     * REFUSED, with its message.
     */
    void begin() throws IOException;

    /** The session has died, or was aborted: returns when what it did is undone. */
    void rollBack();

    /** A lease is gone. On a thread of the kernel's; must be quick. */
    void lost(String why);

    /** As {@link dev.klock.embedded.SessionListener#validUntil}. */
    void validUntil(long nanos);

    /** The session is closed, and has neither died nor been aborted since it began: returns when nothing acts under its leases any more. */
    void end();
}
