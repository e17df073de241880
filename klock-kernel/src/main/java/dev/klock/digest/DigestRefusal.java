package dev.klock.digest;

/**
 * Why a digest is not used. Immutable.
 *
 * @param message one line: what is wrong, with the value
 */
public record DigestRefusal(Code code, String message) {
    /** The kinds of refusal. */
    public enum Code {
        /** There is none, or nothing in it. */
        ABSENT,
        /** Too old; counts as absent (K8-7). */
        EXPIRED,
        /** Larger than {@link StateDigest#MAX_BYTES}. */
        OVERSIZE,
        /** It ends in the middle. */
        TRUNCATED,
        /** Not JSON in UTF-8, or something after it. */
        MALFORMED,
        DUPLICATE_KEY,
        UNKNOWN_FIELD,
        MISSING_FIELD,
        /** A field has a value it cannot have. */
        BAD_VALUE,
        WRONG_VERSION,
        /** It is another agent's. */
        FOREIGN_AGENT,
        /** The reader wants a signature and there is none. */
        UNSIGNED,
        /** The signature is not one of this text by this key (K8-10). */
        FORGED,
        /** It claims an older timestamp than the agent is known to have (K8-10). */
        OLDER_TIMESTAMP,
        /** It is of an earlier life of the agent than the last one known. */
        STALE_EPOCH,
        /** Made later than now: its clock or ours is wrong, or its expiry is being put off. */
        FROM_THE_FUTURE
    }

    /** Whether to go on as if there had never been one (K8-7), rather than to tell somebody. */
    public boolean countsAsAbsent() {
        return code == Code.ABSENT || code == Code.EXPIRED;
    }

    @Override
    public String toString() {
        return code + ": " + message;
    }
}
