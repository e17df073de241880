package dev.klock.cli;

import dev.klock.agent.config.UsageException;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;

/** Decides triples by a manifest as a session would, its lines and what is asked about resolved to the objects they name. */
final class Judge {
    /** What was decided about a triple. */
    static final class Answer {
        final boolean allowed;
        /** The line that allows, or the deny line that stops; null if nothing does. */
        final Line line;
        /** On what, resolved. */
        final Resource resource;
        /** The predicates that scope lines name for it, a mask. */
        final int declared;
        /** The nearest lines of the scope; empty if allowed. */
        final List<Line> nearest;

        private Answer(boolean allowed, Line line, Resource resource, int declared, List<Line> nearest) {
            this.allowed = allowed;
            this.line = line;
            this.resource = resource;
            this.declared = declared;
            this.nearest = nearest;
        }

        /** Allowed only because it lies above something declared. */
        boolean isAncestor() {
            return allowed && line == null;
        }
    }

    private static final int NEAREST = 3;

    private final Manifest manifest;
    private final Scope scope;

    Judge(Manifest manifest) throws UsageException {
        this.manifest = manifest;
        Scope.Builder builder = Scope.builder();
        for (int i = 0; i < manifest.scope().size(); i++) {
            Line line = manifest.scope().get(i);
            for (Resource resource : meant(line.resource())) {
                builder.allow(line.predicate(), resource, i);
            }
        }
        for (int i = 0; i < manifest.deny().size(); i++) {
            Line line = manifest.deny().get(i);
            for (Resource resource : meant(line.resource())) {
                builder.deny(line.predicate(), resource, i);
            }
        }
        scope = builder.build();
    }

    /** A line is about the name it writes and about what a link of that name leads to. */
    private static List<Resource> meant(Resource written) throws UsageException {
        List<Resource> meant = new ArrayList<>(2);
        if (!written.scheme().equals("FILE")) {
            meant.add(written);
            return meant;
        }
        meant.add(resolved(written, false));
        Resource target = resolved(written, true);
        if (!target.equals(meant.get(0))) {
            meant.add(target);
        }
        return meant;
    }

    private static Resource resolved(Resource resource, boolean follow) throws UsageException {
        return Resource.of(resource.scheme(), RealPath.of(resource.path(), follow), resource.form());
    }

    /**
     * Decides one triple.
     *
     * @throws UsageException the resource is a pattern that no operation has, or leads in a circle
     */
    Answer decide(Predicate predicate, Resource asked) throws UsageException {
        Resource resource = asked;
        if (asked.scheme().equals("FILE")) {
            // removing or renaming a link is about the link
            boolean follow = predicate != Predicate.DELETES && predicate != Predicate.RENAMES || asked.form() != Resource.Form.EXACT;
            resource = resolved(asked, follow);
        }
        if (resource.form() == Resource.Form.CHILDREN) {
            throw new UsageException("cannot judge " + asked + " as one; ask about one file, or about " + asked + "* for all below");
        }
        int decision = resource.form() == Resource.Form.SUBTREE ? scope.decideTree(predicate, resource.path(), false)
                : scope.decide(predicate, resource.scheme(), resource.path(), false);
        if (Scope.isAllowed(decision)) {
            return new Answer(true, decision >= 0 ? manifest.scope().get(decision) : null, resource, 0, List.of());
        }
        int declared = scope.declaredPredicates(resource.scheme(), resource.path());
        Line denying = Scope.isDenied(decision) ? manifest.deny().get(Scope.denyLine(decision)) : null;
        List<Line> nearest = new ArrayList<>();
        for (int index : scope.nearest(resource.scheme(), resource.path(), NEAREST)) {
            nearest.add(manifest.scope().get(index));
        }
        return new Answer(false, denying, resource, declared, nearest);
    }
}
