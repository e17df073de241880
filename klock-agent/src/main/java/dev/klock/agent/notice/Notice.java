package dev.klock.agent.notice;

/** One thing that others may want to know, in texts that anybody may read. Immutable. */
public abstract class Notice {
    final String agentId;
    final String sessionId;

    private Notice(String agentId, String sessionId) {
        this.agentId = agentId;
        this.sessionId = sessionId;
    }

    /** What listeners are told, each time anew: its name, and its parts in the order of the API's. */
    abstract Object[] told();

    /** Something was done or tried that the manifest does not declare; told of once, however often it is repeated. */
    public static final class Violation extends Notice {
        final String decision;
        final String predicate;
        final String resource;
        final String operation;
        final String decidedBy;
        final String caller;
        final String thread;
        final String message;

        /**
         * @param decision the log's word for it
         * @param operation the log's word for it
         * @param caller the first frame outside the JDK; null if not known
         * @param thread null if it was none of this JVM's
         * @param resource without what is likely to be secret
         * @param message as stderr says it
         */
        public Violation(String agentId, String sessionId, String decision, String predicate, String resource, String operation, String decidedBy, String caller,
                String thread, String message) {
            super(agentId, sessionId);
            this.decision = decision;
            this.predicate = predicate;
            this.resource = resource;
            this.operation = operation;
            this.decidedBy = decidedBy;
            this.caller = caller;
            this.thread = thread;
            this.message = message;
        }

        @Override
        Object[] told() {
            return new Object[] {"violation", agentId, sessionId, decision, predicate, resource, operation, decidedBy, caller, thread, message};
        }
    }

    /** What became of a session's leases. */
    public static final class Lease extends Notice {
        final String state;
        final long waitedMs;
        final String detail;

        /**
         * @param state the log's word for it
         * @param detail null if there is no more to be known
         */
        public Lease(String agentId, String sessionId, String state, long waitedMs, String detail) {
            super(agentId, sessionId);
            this.state = state;
            this.waitedMs = waitedMs;
            this.detail = detail;
        }

        @Override
        Object[] told() {
            return new Object[] {"lease", agentId, sessionId, state, waitedMs, detail};
        }
    }

    /** What a session has changed was undone. */
    public static final class Rollback extends Notice {
        final String reason;
        final int restored;
        final int notRestored;

        /** @param reason how the session ended, in the log's words */
        public Rollback(String agentId, String sessionId, String reason, int restored, int notRestored) {
            super(agentId, sessionId);
            this.reason = reason;
            this.restored = restored;
            this.notRestored = notRestored;
        }

        @Override
        Object[] told() {
            return new Object[] {"rollback", agentId, sessionId, reason, restored, notRestored};
        }
    }
}
