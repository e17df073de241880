package dev.klock.digest;

import dev.klock.kernel.Command;
import dev.klock.kernel.SessionKey;

/**
 * What came of reading a digest: either the digest, or why it is not used. Immutable.
 *
 * @param digest {@code null} if refused
 * @param vouched whether its timestamp may be believed: the signature was verified, or it comes from a place the caller trusts (K8-9)
 * @param refusal {@code null} if it may be used
 */
public record Restored(StateDigest digest, boolean vouched, DigestRefusal refusal) {
    static Restored refused(DigestRefusal.Code code, String message) {
        return new Restored(null, false, new DigestRefusal(code, DigestReader.oneLine(message)));
    }

    public boolean isRefused() {
        return refusal != null;
    }

    /**
     * The command with which the agent comes back (K8-5): its first timestamp (K8-2), the next epoch, and PAUSED until it has looked at
     * what changed (K5-7, K5-8). A digest without an identity (C6) makes a session as young as {@code nowMs}.
     *
     * @param nowMs the kernel's clock, milliseconds
     * @param rollsBack as in {@link Command.Register}
     * @throws IllegalStateException if the digest was refused, or is of another agent or session: its age is for one (K8-10)
     */
    public Command.Register register(String namespace, String agentId, String sessionId, long nowMs, boolean rollsBack) {
        if (refusal != null) {
            throw new IllegalStateException("a refused digest restores nothing: " + refusal);
        }
        if (digest.hasIdentity() && !digest.agentId().equals(agentId)) {
            throw new IllegalStateException("the digest is of " + digest.agentId() + ", not of " + agentId);
        }
        SessionKey session = new SessionKey(namespace, agentId, sessionId);
        if (digest.session() != null && !digest.session().equals(session)) {
            throw new IllegalStateException("the digest is of session " + digest.session() + ", not of " + session);
        }
        boolean retries = digest.checkpoint() == null || digest.checkpoint().resolution() != Resolution.ABORT;
        return new Command.Register(
                session,
                digest.hasIdentity() ? digest.priorityMs() : nowMs,
                vouched,
                digest.epoch() + 1,
                true,
                rollsBack,
                retries);
    }
}
