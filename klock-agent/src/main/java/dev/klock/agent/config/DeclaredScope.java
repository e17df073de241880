package dev.klock.agent.config;

import dev.klock.agent.log.Escapes;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import dev.klock.resource.Resource;
import java.util.List;

/** Makes a manifest's lines, which are names, into a scope over the objects that those names lead to when the session starts. */
public final class DeclaredScope {
    private DeclaredScope() {
    }

    /**
     * The scope of a manifest: line indices are those of {@link Manifest#scope} and {@link Manifest#deny}.
     *
     * <p>A FILE or PROCESS line counts for the object its name leads to and, where the name itself is a link, for that link too: who may
     * read {@code /etc/localtime} needs the file behind it. To remove or rename is about the last name itself, which no system call follows: a line that
     * allows that of one name allows it of that name, and to look at what it leads to; one that denies it denies both. A name that leads in a circle stays
     * as it is written.
     */
    public static Scope of(Manifest manifest, Resolver resolver) {
        Scope.Builder builder = Scope.builder();
        List<Line> scope = manifest.scope();
        for (int i = 0; i < scope.size(); i++) {
            Line line = scope.get(i);
            Resource object = object(line.resource(), resolver, true);
            Resource name = object(line.resource(), resolver, false);
            boolean isAboutTheName = isAboutTheName(line);
            builder.allow(isAboutTheName ? Predicate.DEPENDS_ON : line.predicate(), object, i);
            if (isAboutTheName || !name.equals(object)) {
                builder.allow(line.predicate(), name, i);
            }
            if (!isAboutTheName && !name.equals(object)) {
                warn(line, object);
            }
            if (!line.resource().equals(object) && line.resource().scheme().equals("FILE")) {
                // the links on the way there may be looked at, as the directories above a declared path may
                builder.allow(Predicate.DEPENDS_ON, Resource.file(line.resource().path()), i);
            }
        }
        for (int i = 0; i < scope.size(); i++) {
            Line line = scope.get(i);
            if (line.resource().scheme().equals("NATIVE") && line.resource().path().startsWith("/")) {
                // who may load a library may look whether it is there
                builder.allow(Predicate.DEPENDS_ON, Resource.file(line.resource().path()), i);
                builder.allow(Predicate.DEPENDS_ON, Resource.file(real(line.resource(), resolver).path()), i);
            }
        }
        List<Line> deny = manifest.deny();
        for (int i = 0; i < deny.size(); i++) {
            Line line = deny.get(i);
            Resource object = object(line.resource(), resolver, true);
            Resource name = object(line.resource(), resolver, false);
            builder.deny(line.predicate(), object, i);
            if (!name.equals(object)) {
                builder.deny(line.predicate(), name, i);
            }
        }
        return builder.build();
    }

    private static boolean isAboutTheName(Line line) {
        boolean removes = line.predicate() == Predicate.DELETES || line.predicate() == Predicate.RENAMES;
        return removes && line.resource().scheme().equals("FILE") && line.resource().form() == Resource.Form.EXACT;
    }

    /** What {@code declared} leads to now: the same resource, or, through symbolic links, another of the same form. */
    public static Resource real(Resource declared, Resolver resolver) {
        return object(declared, resolver, true);
    }

    /** A line that can change what a symbolic link leads to is said: whoever made the link chose what the line covers. */
    private static void warn(Line line, Resource object) {
        if (line.predicate().changes() && line.resource().scheme().equals("FILE")) {
            Stderr.warn(Escapes.line(line.resource().toString()) + " is a symbolic link: line " + line.line() + " of the manifest covers "
                    + Escapes.line(object.toString()));
        }
    }

    private static Resource object(Resource resource, Resolver resolver, boolean follow) {
        String scheme = resource.scheme();
        if (!scheme.equals("FILE") && !scheme.equals("PROCESS") && !scheme.equals("NATIVE") || !resource.path().startsWith("/")) {
            return resource;
        }
        Resolved resolved = resolver.resolve(Names.ofText(resource.path()), "/", follow);
        return resolved.path() == null ? resource : Resource.of(scheme, Names.text(resolved.path()), resource.form());
    }
}
