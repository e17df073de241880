package dev.klock.local;

import java.io.IOException;

/**
 * Who holds a session to its manifest while it has its leases. Called by the thread that asks, but for {@link #lost} and {@link #validUntil}.
 */
public interface Enforcement {
    /** The manifest's leases are reserved: from here on they are acted under. What this throws is the reason for which they are not taken. */
    void begin() throws IOException;

    /** The session has died, or was aborted: returns when what it did is undone. */
    void rollBack();

    /** A lease is gone. On a thread of the kernel's; must be quick. */
    void lost(String why);

    /** As {@link dev.klock.embedded.SessionListener#validUntil}. */
    void validUntil(long nanos);

    /** The session is closed: returns when nothing acts under its leases any more. */
    void end();
}
