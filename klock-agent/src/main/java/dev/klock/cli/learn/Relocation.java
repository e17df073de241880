package dev.klock.cli.learn;

import dev.klock.manifest.Variables;
import dev.klock.resource.Resource;

/**
 * Where the files of one log would lie if its program had had the directories of another, so that what both did in {@code ${tmp}} is found in one place
 * though it was another directory to each. What no variable stood for stays where it is; if it would be taken for one's there, it is set apart
 * ({@link Places#LITERAL}) and keeps its path in the manifest. Immutable.
 */
public final class Relocation {
    /** Everything stays where it is. */
    public static final Relocation NONE = new Relocation(null, null);

    private final Places there;
    private final Places reference;

    private Relocation(Places there, Places reference) {
        this.there = there;
        this.reference = reference;
    }

    /**
     * Of a log whose program had {@code there} to where one with {@code reference} would have had it; the manifest's directory, which is no
     * program's, is to be the same in both.
     */
    public static Relocation of(Variables there, Variables reference) {
        Places its = new Places(there);
        Places other = new Places(reference);
        return its.isAs(other) ? NONE : new Relocation(its, other);
    }

    /** {@code path}, absolute and canonical, as the reference would have it. */
    String path(String path) {
        if (there == null) {
            return path;
        }
        String name = there.variable(path);
        String moved = name == null ? path : reference.value(name) == null ? null : reference.value(name) + path.substring(there.value(name).length());
        boolean same = moved != null && (name == null ? reference.variable(moved) == null : name.equals(reference.variable(moved)));
        return same ? moved : Places.LITERAL + path;
    }

    /** A resource of the log; only of a program's the path is another. */
    String program(String resource) {
        if (there == null || !resource.startsWith("PROCESS:/")) {
            return resource;
        }
        return "PROCESS:" + Resource.escape(path(Name.of(resource).path()));
    }
}
