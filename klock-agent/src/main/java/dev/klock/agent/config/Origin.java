package dev.klock.agent.config;

/** Where a setting's value comes from, the strongest first. */
public enum Origin {
    ARGUMENT("agent argument"),
    PROPERTY("system property"),
    ENVIRONMENT("environment variable"),
    MANIFEST("manifest"),
    DEFAULT("default");

    private final String words;

    Origin(String words) {
        this.words = words;
    }

    /** How it is called in messages. */
    public String words() {
        return words;
    }
}
