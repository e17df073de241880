package dev.klock.kernel;

import java.util.Objects;

/**
 * Who asks: one run of an agent in a namespace. Immutable.
 *
 * <p>Agent and session together are what never conflicts with itself (RS-7, C29); namespaces never meet (K7-10).
 */
public final class SessionKey {
    /** The namespace of those who name none. */
    public static final String DEFAULT_NAMESPACE = "default";

    private final String namespace;
    private final String agentId;
    private final String sessionId;
    private final int hash;

    public SessionKey(String namespace, String agentId, String sessionId) {
        this.namespace = Objects.requireNonNull(namespace, "namespace");
        this.agentId = Objects.requireNonNull(agentId, "agentId");
        this.sessionId = Objects.requireNonNull(sessionId, "sessionId");
        this.hash = (namespace.hashCode() * 31 + agentId.hashCode()) * 31 + sessionId.hashCode();
    }

    /** A session in the default namespace. */
    public static SessionKey of(String agentId, String sessionId) {
        return new SessionKey(DEFAULT_NAMESPACE, agentId, sessionId);
    }

    public String namespace() {
        return namespace;
    }

    public String agentId() {
        return agentId;
    }

    public String sessionId() {
        return sessionId;
    }

    @Override
    public boolean equals(Object o) {
        if (this == o) {
            return true;
        }
        if (!(o instanceof SessionKey)) {
            return false;
        }
        SessionKey other = (SessionKey) o;
        return hash == other.hash
                && sessionId.equals(other.sessionId)
                && agentId.equals(other.agentId)
                && namespace.equals(other.namespace);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** {@code agent/session}, with the namespace in front when it is not the default one. */
    @Override
    public String toString() {
        String name = agentId.concat("/").concat(sessionId);
        return namespace.equals(DEFAULT_NAMESPACE) ? name : namespace.concat(":").concat(name);
    }
}
