package dev.klock.kernel;

import dev.klock.resource.Shown;

/**
 * Why a command was not carried out. A refused command changes nothing. Immutable.
 *
 * @param code the kind, for programs
 * @param message one line with the value that was wrong and what would be right, as {@link Shown} shows what others wrote
 */
public record Refusal(Code code, String message) {
    public Refusal {
        message = Shown.message(message);
    }

    /** The kinds of refusal. */
    public enum Code {
        /** An id is empty, too long, has control characters, or half of a surrogate pair. */
        BAD_ID,
        /** No session of that name is registered (or it was forgotten). */
        UNKNOWN_SESSION,
        /** The session is over; it may register again with a higher epoch. */
        SESSION_ENDED,
        /** Registered with a lower epoch than is known: a process from before a restart. */
        STALE_EPOCH,
        /** An older timestamp than the kernel can vouch for (K8-10, C13). */
        FORGED_PRIORITY,
        /** The session already waits for a manifest. */
        ALREADY_WAITING,
        /** The session has a rollback to finish first. */
        ROLLING_BACK,
        /** The life cycle has no such step. */
        ILLEGAL_TRANSITION,
        /** No lease with that number was ever given. */
        UNKNOWN_LEASE,
        /** The lease has expired, or was released or revoked (K3-12). */
        LEASE_GONE,
        /** The lease belongs to another session. */
        NOT_OWNER,
        /** A negative time to live or wait, or a time that makes no sense. */
        BAD_TIME,
        /** The clock of this command is behind the one before. */
        TIME_WENT_BACKWARDS,
        /** A predicate this kernel was told not to know (C2). */
        BAD_PREDICATE,
        /** A triple speaks for another agent. */
        BAD_SUBJECT,
        /** Not one of the configured schemes (C16). */
        UNKNOWN_SCHEME,
        /** Not what {@link dev.klock.resource.Resource#parse} makes of it: relative, or another spelling (K1-9, K1-14); the message says what is. */
        NOT_CANONICAL,
        /** A pattern where only an exact name is allowed (C18). */
        BAD_PATTERN,
        /** Longer than a limit of {@link Limits}. */
        TOO_LONG,
        /** More than a limit of {@link Limits}. */
        TOO_MANY,
        /** The policy does not allow it (K1-18, K2-10), or failed. */
        POLICY,
        /** The session's quota is used up (K7-11). */
        QUOTA
    }

    @Override
    public String toString() {
        return code + ": " + message;
    }
}
