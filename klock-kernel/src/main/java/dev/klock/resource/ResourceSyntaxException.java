package dev.klock.resource;

/** A resource that is not canonical (K1-14) or not well formed (C16, C18). */
public final class ResourceSyntaxException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String remedy;

    private final String remedyInAManifest;

    ResourceSyntaxException(String problem, String remedy) {
        this(problem, remedy, remedy);
    }

    /** {@code remedyInAManifest}: where there are variables. */
    ResourceSyntaxException(String problem, String remedy, String remedyInAManifest) {
        super(Shown.message(problem + "; " + remedy));
        this.problem = Shown.message(problem);
        this.remedy = Shown.message(remedy);
        this.remedyInAManifest = Shown.message(remedyInAManifest);
    }

    /** What is wrong, naming the value. */
    public String problem() {
        return problem;
    }

    /** What would be right. */
    public String remedy() {
        return remedy;
    }

    /** What would be right in a manifest, where variables stand for directories. */
    public String remedyInAManifest() {
        return remedyInAManifest;
    }
}
