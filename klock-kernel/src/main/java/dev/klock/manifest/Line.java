package dev.klock.manifest;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.List;

/** One triple of a manifest, whose subject is the manifest's agent (K1-11), and where in the file it stands. Immutable. */
public final class Line {
    private final Predicate predicate;
    private final Resource resource;
    private final double confidence;
    private final int line;
    private final int column;
    private final String text;
    private final List<Line> effects;

    /**
     * @param line 1-based, 0 when it does not come from a file
     * @param text the resource as the file has it, before variables
     * @param effects what an opaque thing may touch (K6-7), null when the manifest does not say
     */
    public Line(Predicate predicate, Resource resource, double confidence, int line, int column, String text, List<Line> effects) {
        this.predicate = predicate;
        this.resource = resource;
        this.confidence = confidence;
        this.line = line;
        this.column = column;
        this.text = text;
        this.effects = effects == null ? null : List.copyOf(effects);
    }

    public Predicate predicate() {
        return predicate;
    }

    public Resource resource() {
        return resource;
    }

    /** 0 to 1; informative only, it never changes a verdict (C14). 1 when the manifest does not say. */
    public double confidence() {
        return confidence;
    }

    /** 1-based line in the file; 0 when it does not come from a file. */
    public int line() {
        return line;
    }

    /** 1-based column in the file; 0 when it does not come from a file. */
    public int column() {
        return column;
    }

    /** The resource as the file has it, before variables. */
    public String text() {
        return text;
    }

    /**
     * What the opaque thing this line starts or loads may touch (K6-7); empty: nothing; null: the manifest does not say, so that it
     * counts as MUTATES on the working directory's subtree.
     */
    public List<Line> effects() {
        return effects;
    }

    /** The short form a manifest could use, variables resolved: {@code CONSUMES FILE:/w/in/**}. */
    @Override
    public String toString() {
        return predicate.name().concat(" ").concat(resource.toString());
    }
}
