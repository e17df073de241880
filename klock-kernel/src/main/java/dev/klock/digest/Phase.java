package dev.klock.digest;

import dev.klock.kernel.LifeCycle;

/** Where an agent was when it stopped (K8-1): the three of KLIS-8 for the seven of KLIS-5. */
public enum Phase {
    PLANNING,
    /** KLIS-5 says ACQUIRING. */
    REQUESTING,
    EXECUTING;

    /**
     * The phase for a state (C8). A paused or ended session has the phase it had before: ask with
     * {@link dev.klock.kernel.SessionView#phase}.
     *
     * @throws IllegalArgumentException for PAUSED, COMPLETED and ABORTED, which are no phases
     */
    public static Phase of(LifeCycle state) {
        switch (state) {
            case PLANNING:
                return PLANNING;
            case ACQUIRING:
                return REQUESTING;
            case EXECUTING:
            case VERIFYING:
                return EXECUTING;
            default:
                throw new IllegalArgumentException(state + " is not a phase; give the state before it");
        }
    }
}
