package dev.klock.kernel;

/** Every limit of the kernel, in one place. What goes beyond one is refused with the limit in the message. */
public final class Limits {
    /** Namespace, agent and session ids, in UTF-8 bytes. */
    public static final int MAX_ID_BYTES = 256;

    /** The path of a resource, in UTF-8 bytes. */
    public static final int MAX_PATH_BYTES = 4096;

    /** Triples of one manifest. */
    public static final int MAX_TRIPLES = 10_000;

    /** Lease numbers of one command: as many as ten of the largest manifests get. Whoever holds more names none, and so all, or asks twice. */
    public static final int MAX_NUMBERS = 100_000;

    /** Waiting manifests of one kernel. */
    public static final int MAX_WAITERS = 10_000;

    /** Conflicts that one answer lists; the verdict is over all. */
    public static final int MAX_CONFLICTS = 10_000;

    /** Whom one view of a waiting session names of those it waits for. */
    public static final int MAX_WAITS_FOR = 100;

    /** Leases and waiting triples that are looked at to say in one answer who waits for whom; beyond it, one of those is named. */
    public static final int MAX_LOOKED_AT = 1_000_000;

    /** Sessions of one kernel that are not over, or still hold leases. */
    public static final int MAX_SESSIONS = 100_000;

    /**
     * Ended sessions without leases that are remembered: so many COMPLETED ones, and so many ABORTED ones. Beyond it nothing is refused;
     * the one of its kind that ended first is forgotten, before {@link #SESSION_MEMORY_MS} is over.
     */
    public static final int MAX_ENDED_SESSIONS = 100_000;

    /** Live leases and queued triples of one kernel. */
    public static final int MAX_CLAIMS = 50_000_000;

    /** What a lease gets that asks for no time of its own (K3-4). */
    public static final long DEFAULT_TTL_MS = 60_000;

    /** The longest a lease lasts without a heartbeat (K3-5, C28). */
    public static final long MAX_TTL_MS = 300_000;

    /** How long a lease outlives its end while its agent restarts (K3-6, C25). */
    public static final long GRACE_MS = 15_000;

    /** The longest a lease that ran out may still block (C46): as long as the grace, so that a restart has had both. */
    public static final long MAX_LOCK_DELAY_MS = 15_000;

    /** How long a manifest waits unless it says otherwise (K4-5). */
    public static final long DEFAULT_WAIT_MS = 30_000;

    /** The longest a manifest waits. */
    public static final long MAX_WAIT_MS = 3_600_000;

    /** How long a session without leases is remembered after it last gave a command that was carried out: well over a StateDigest's life (C38). */
    public static final long SESSION_MEMORY_MS = 900_000;

    /** Ended writing leases that are remembered for sessions that are paused (K5-11). */
    public static final int MAX_CHANGES = 4096;

    /** The latest time that a kernel takes for one, milliseconds: what is added to it stays a time, too. */
    public static final long MAX_CLOCK_MS = 1L << 62;

    /** The highest {@link KernelOptions#firstFencingToken}: so many are left that none is ever given twice. */
    public static final long MAX_FIRST_FENCING_TOKEN = 1L << 62;

    private Limits() {}
}
