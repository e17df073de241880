package dev.klock.cli;

import dev.klock.agent.config.AgentScopes;
import dev.klock.agent.config.DeclaredScope;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchVariables;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.decide.Baseline;
import dev.klock.agent.decide.Own;
import dev.klock.agent.decide.Target;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.log.Escapes;
import dev.klock.agent.log.Messages;
import dev.klock.agent.log.PlaceNames;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.cli.learn.Local;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Cover;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Decides triples by a manifest with the very parts that a session decides with: the same resolution of names, the same scope, the same
 * baseline and the same protection of klock's own files. What a session has made itself is not known here.
 */
final class Judge {
    /** By what a triple is allowed or not. */
    enum By {
        /** A line of the scope allows it. */
        SCOPE,
        /** It looks at what lies above something declared. */
        ANCESTOR,
        /** The JVM reads it for itself. */
        BASELINE,
        /** Nothing allows it. */
        NOTHING,
        /** A line of the deny list stops it. */
        DENY,
        /** It is klock's own. */
        PROTECTED
    }

    /** What was decided about a triple. */
    final class Answer {
        final By by;
        /** Of what was decided: what was asked, or what a program without {@code effects:} is taken to do as well (K6-7). */
        final Predicate predicate;
        /** The line of the scope or of the deny list that decides, null if none does. */
        final Line line;
        /** On what, resolved. */
        final Resource resource;
        /** The predicates that scope lines name for it, a mask of {@link Predicate#bit()}. */
        final int declared;
        /** The nearest lines of the scope; empty if it is allowed. */
        final List<Line> nearest;

        /** The lines that declare it for agents of the process, by their names; empty if it is allowed, or an agent was asked about. */
        final Map<String, Line> byAgents;

        private Answer(By by, Predicate predicate, Line line, Resource resource, int declared, List<Line> nearest) {
            this.by = by;
            this.predicate = predicate;
            this.line = line;
            this.resource = resource;
            this.declared = declared;
            this.nearest = nearest;
            byAgents = by == By.NOTHING && !manifest.agents().isEmpty()
                    ? agents().declaring(predicate, resource.scheme(), resource.path(), resource.form() == Resource.Form.SUBTREE) : Map.of();
        }

        boolean allowed() {
            return by == By.SCOPE || by == By.ANCESTOR || by == By.BASELINE;
        }

        /** By what it is allowed, on one line; or why it is not and what would allow it, on several. Safe to look at. */
        String text(Manifest manifest, Predicate asked, Resource about) {
            if (allowed()) {
                return Escapes.line(by == By.ANCESTOR ? "being above something declared" : by == By.BASELINE ? "baseline: the JVM reads it for itself"
                        : manifest.file() + ":" + line.line() + ": " + line);
            }
            String why = by == By.PROTECTED ? Messages.ownFile(null, asked, resource)
                    : Messages.violation(null, predicate, resource, null, declared, line, nearest, byAgents, manifest.file(), names);
            boolean process = resource.scheme().equals("PROCESS");
            return about.scheme().equals("PROCESS") && !process ? why + (by == By.DENY ? Messages.EFFECTS_BESIDE_DENY : Messages.NO_EFFECTS)
                    : process && asked == Predicate.PROVIDES && by == By.NOTHING ? why + Messages.effects(resource, names) : why;
        }
    }

    private static final int NEAREST = 3;

    private final Manifest manifest;
    /** What the lines that would allow something are written with. */
    private final PlaceNames names;
    private final String workingDirectory;
    private final Resolver resolver;
    private final Scope scope;
    private final Targets targets;
    private final Own own;
    /** Null before it is asked for. */
    private AgentScopes agents;

    Judge(Given given, Manifest manifest, LaunchEnvironment environment) {
        this.manifest = manifest;
        names = new PlaceNames(new LaunchVariables(environment, given.manifestFile.getAbsoluteFile().getParentFile()).directories());
        workingDirectory = environment.workingDirectory();
        resolver = new Resolver(new NioFiles(environment.workingDirectory()));
        scope = DeclaredScope.of(manifest, resolver);
        own = new Own(real(given.home.getPath()), real(given.manifestFile.getPath()));
        targets = new Targets(scope, Baseline.ofThisJvm(resolver, new Names(environment.property("sun.jnu.encoding"))), own, target -> { });
    }

    private AgentScopes agents() {
        if (agents == null) {
            agents = AgentScopes.of(manifest, resolver);
        }
        return agents;
    }

    private String real(String path) {
        String real = resolver.resolve(Names.ofText(path), "/", true).path();
        return real == null ? Names.ofText(path) : real;
    }

    /**
     * Decides one triple.
     *
     * @throws UsageException the resource is a pattern that no operation has, or a name that leads nowhere
     */
    Answer decide(Predicate predicate, Resource asked) throws UsageException {
        if (asked.form() == Resource.Form.CHILDREN) {
            throw new UsageException("cannot judge " + asked + " as one; ask about one file, or about " + asked + "* for all below");
        }
        String scheme = asked.scheme();
        if (scheme.equals("ENV")) {
            return answer(predicate, targets.other(scheme, asked.path()).decide(predicate), asked);
        }
        if (scheme.equals("URL") && asked.form() == Resource.Form.EXACT) {
            return answer(predicate, decideUrl(predicate, asked.path()), asked);
        }
        if (!scheme.equals("FILE") && !scheme.equals("PROCESS")) {
            return answer(predicate, scope.decide(predicate, scheme, asked.path(), false), asked);
        }
        // removing or renaming a link is about the link
        boolean follow = predicate != Predicate.DELETES && predicate != Predicate.RENAMES;
        Resolved resolved = resolver.resolve(Names.ofText(asked.path()), "/", follow);
        if (resolved.path() == null) {
            throw new UsageException(asked + " leads nowhere: a circle of links, or no file");
        }
        String real = resolved.path();
        Resource resource = Resource.of(scheme, Names.text(real), asked.form());
        if (asked.form() == Resource.Form.SUBTREE) {
            boolean changes = predicate != Predicate.CONSUMES && predicate != Predicate.DEPENDS_ON;
            boolean ours = changes && own.within(real) != null || (own.forbidden(real) & predicate.bit()) != 0;
            return answer(predicate, ours ? Target.PROTECTED : scope.decideTree(predicate, resource.path(), false), resource);
        }
        Target target = scheme.equals("FILE") ? targets.file(real) : targets.process(real);
        Answer answer = answer(predicate, target.decide(predicate), resource);
        Answer missing = answer.allowed() && answer.line != null ? missingForEffects(answer.line) : null;
        return missing == null ? answer : missing;
    }

    /** To a session {@code localhost} and the two addresses that it stands for are one: a deny line for any of them stops, else any line allows. */
    private int decideUrl(Predicate predicate, String url) {
        int best = scope.decide(predicate, "URL", url, false);
        for (String name : Local.names(url)) {
            int decision = scope.decide(predicate, "URL", name, false);
            if (!Scope.isDenied(best) && (Scope.isDenied(decision) || !Scope.isAllowed(best) && Scope.isAllowed(decision))) {
                best = decision;
            }
        }
        return best;
    }

    /**
     * What else a program started here needs whose line does not say what it may touch: it is taken to change all of its working directory
     * (K6-7). Null if it needs nothing else, or that is allowed.
     */
    Answer missingForEffects(Line line) {
        if (line.predicate() != Predicate.PROVIDES || !line.resource().scheme().equals("PROCESS") || line.effects() != null) {
            return null;
        }
        String here = real(workingDirectory);
        Answer all = answer(Predicate.MUTATES, scope.decideTree(Predicate.MUTATES, Names.text(here), false),
                Resource.of("FILE", Names.text(here), Resource.Form.SUBTREE));
        return all.allowed() ? null : all;
    }

    /** The deny line that what a program may touch, by its own line, reaches over; null if there is none. */
    Line deniedEffect(Line line) {
        if (line.effects() == null) {
            return null;
        }
        for (Line effect : line.effects()) {
            for (Line denied : manifest.deny()) {
                if (effect.resource().overlaps(denied.resource()) && (Cover.stops(denied.predicate()) & effect.predicate().bit()) != 0) {
                    return denied;
                }
            }
        }
        return null;
    }

    private Answer answer(Predicate predicate, int decision, Resource resource) {
        if (decision == Target.BASELINE) {
            return new Answer(By.BASELINE, predicate, null, resource, 0, List.of());
        }
        if (decision == Target.PROTECTED) {
            return new Answer(By.PROTECTED, predicate, null, resource, 0, List.of());
        }
        if (Scope.isAllowed(decision)) {
            return decision == Scope.ANCESTOR ? new Answer(By.ANCESTOR, predicate, null, resource, 0, List.of())
                    : new Answer(By.SCOPE, predicate, manifest.scope().get(decision), resource, 0, List.of());
        }
        List<Line> nearest = new ArrayList<>();
        for (int index : scope.nearest(resource.scheme(), resource.path(), NEAREST)) {
            nearest.add(manifest.scope().get(index));
        }
        int declared = scope.declaredPredicates(resource.scheme(), resource.path());
        return Scope.isDenied(decision) ? new Answer(By.DENY, predicate, manifest.deny().get(Scope.denyLine(decision)), resource, declared, nearest)
                : new Answer(By.NOTHING, predicate, null, resource, declared, nearest);
    }
}
