package dev.klock.agent.log;

/** What was decided about an access. */
public enum Decision {
    /** Inside the scope, or the JVM's own. */
    ALLOW("allow"),
    /** Outside; stopped before its effect (K6-2). */
    DENY("deny"),
    /** Outside; went on with a warning (K6-3). */
    WARN("warn"),
    /** Outside; went on and was only recorded. */
    LEARN("learn");

    private final String word;

    Decision(String word) {
        this.word = word;
    }

    /** The word in the log. */
    public String word() {
        return word;
    }
}
