package dev.klock.agent;

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
import java.util.ArrayList;
import java.util.List;

/**
 * What the manifest declares, in terms of what the kernel will touch: each FILE path and executable with its symbolic links followed
 * once, at the start, so that a program that comes by the link and one that comes by the real path are judged alike, and both images and
 * leases have one name (D21).
 */
final class Declared {
    private static final int WRITES =
            Predicate.PROVIDES.bit() | Predicate.MUTATES.bit() | Predicate.DELETES.bit() | Predicate.RENAMES.bit();

    private final Scope scope;
    private final List<byte[]> exact = new ArrayList<>();
    private final List<byte[]> trees = new ArrayList<>();

    private Declared(Scope scope) {
        this.scope = scope;
    }

    /** Compiles {@code manifest}; null stands for one that declares nothing (learn without a manifest). */
    static Declared of(Manifest manifest, Resolver resolver) {
        Scope.Builder builder = Scope.builder();
        List<Line> scopeLines = manifest == null ? new ArrayList<>() : manifest.scope();
        List<Line> denyLines = manifest == null ? new ArrayList<>() : manifest.deny();
        List<Resource> written = new ArrayList<>();
        for (int i = 0; i < scopeLines.size(); i++) {
            Line line = scopeLines.get(i);
            Resource declared = line.resource();
            Resource real = real(declared, resolver);
            builder.allow(line.predicate(), real, i);
            if (!real.equals(declared)) {
                // the way to it may be looked at too; what is reached by it is judged by its real path
                builder.allow(Predicate.DEPENDS_ON, Resource.of(declared.scheme(), declared.path(), Resource.Form.EXACT), i);
                if (declared.form() == Resource.Form.EXACT && declared.scheme().equals("FILE")) {
                    link(builder, line, i, resolver, real);
                }
            }
            note(line, real, written);
        }
        for (int i = 0; i < denyLines.size(); i++) {
            Resource declared = denyLines.get(i).resource();
            Resource real = real(declared, resolver);
            builder.deny(denyLines.get(i).predicate(), real, i);
            if (!real.equals(declared)) {
                builder.deny(denyLines.get(i).predicate(), declared, i);
            }
        }
        Declared result = new Declared(builder.build());
        for (int i = 0; i < written.size(); i++) {
            Resource resource = written.get(i);
            byte[] name = Names.bytes(Names.ofText(resource.path()));
            (resource.form() == Resource.Form.EXACT ? result.exact : result.trees).add(name);
        }
        return result;
    }

    Scope scope() {
        return scope;
    }

    /** Exact paths that may be changed, to be imaged before the grant (K6-8). */
    List<byte[]> exact() {
        return exact;
    }

    /** Directories below which things may be changed, to be imaged at first touch. */
    List<byte[]> trees() {
        return trees;
    }

    private static void note(Line line, Resource real, List<Resource> written) {
        if (real.scheme().equals("FILE") && (line.predicate().bit() & WRITES) != 0 && !written.contains(real)) {
            written.add(real);
        }
    }

    /** A declared path that is itself a symbolic link: the link and what it leads to are declared; the latter is said where it can be changed. */
    private static void link(Scope.Builder builder, Line line, int index, Resolver resolver, Resource real) {
        Resolved itself = resolver.resolve(Names.ofText(line.resource().path()), false);
        if (itself.path() == null) {
            return;
        }
        Resource link = Resource.file(Names.text(itself.path()));
        if (link.equals(real)) {
            return;
        }
        builder.allow(line.predicate(), link, index);
        if ((line.predicate().bit() & WRITES) != 0) {
            Stderr.warn(Escapes.line(line.resource().toString()) + " is a symbolic link to " + Escapes.line(real.path())
                    + ": the manifest's line " + line.line() + " covers that file");
        }
    }

    static Resource real(Resource declared, Resolver resolver) {
        if (!declared.scheme().equals("FILE") && !declared.scheme().equals("PROCESS")) {
            return declared;
        }
        Resolved resolved = resolver.resolve(Names.ofText(declared.path()), true);
        String path = resolved.path();
        if (path == null) {
            return declared;
        }
        return Resource.of(declared.scheme(), Names.text(path), declared.form());
    }
}
