package dev.klock.agent.observe;

import java.io.IOException;

/**
 * The session's answer to what is outside its manifest. Called on the program's thread with klock's own I/O exempt; must not block on
 * anything that the program's thread may hold.
 */
public interface Verdicts {
    /**
     * An access is not declared. Records it, warns, aborts the session: whatever the mode says.
     *
     * @return true if the access must not happen (strict, block; in every mode if {@link Denial#isProtected()}), false to let it go on
     */
    boolean denied(Denial denial);

    /** The message of the error that stops {@code denial}: what was attempted, what is declared, what to do. */
    String explain(Denial denial);

    /**
     * The image of what {@code access} is about to change could not be made.
     *
     * @return true if the access must not happen (strict, block), false to let it go on
     */
    boolean unsaved(Denial access, IOException cause);

    /** Whether what is not declared does not happen (strict, block). */
    boolean denies();

    /**
     * klock itself failed while it judged {@code op}.
     *
     * @return true if the operation must not happen
     */
    boolean failed(Op op, Throwable cause);

    /**
     * Whether the session may no longer change anything: aborted, lease lost, over. Once true, always true. Asked on every mutating call. Where
     * it may not by the clock, this asks whether it holds its leases still, which is renewing them (C46).
     */
    boolean hasEnded();

    /**
     * Whether {@link #hasEnded} is known to be so, without a look at the clock; once it is, this may keep the calling thread, so that others get
     * on. So never called where the end waits for the caller.
     */
    boolean ended();

    /** A write to {@code file}, which was open before the end, does not happen: {@link #hasEnded}. The file may be half written. */
    void cutShort(String file);
}
