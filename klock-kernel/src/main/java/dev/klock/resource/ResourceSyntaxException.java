package dev.klock.resource;

/** A resource that is not canonical (K1-14) or not well formed (C16, C18). */
public final class ResourceSyntaxException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    ResourceSyntaxException(String problem, String remedy) {
        super(problem + "; " + remedy);
        this.problem = problem;
        this.remedy = remedy;
    }

    /** What is wrong, naming the value. */
    public String problem() {
        return problem;
    }

    /** What would be right. */
    public String remedy() {
        return remedy;
    }
}
