package dev.klock.sandbox.launch;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A directory to stray in.
 *
 * <pre>
 *  w/in/a            may be read
 *  w/out/a, b, c/d   may be changed, created, deleted and renamed
 *  w/x, w/private/p  not declared
 *  klock.yaml        says so
 * </pre>
 */
public final class Workspace {
    private final Path root;

    private Workspace(Path root) {
        this.root = root;
    }

    /** Makes one below {@code directory}, which may reach there through links. */
    public static Workspace in(Path directory) {
        try {
            Path root = directory.toRealPath();
            for (String below : new String[] {"w/in", "w/out/c", "w/private"}) {
                Files.createDirectories(root.resolve(below));
            }
            for (String file : new String[] {"w/in/a", "w/out/a", "w/out/b", "w/out/c/d", "w/x", "w/private/p"}) {
                Files.writeString(root.resolve(file), "first of " + file + "\n");
            }
            return new Workspace(root);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public Path root() {
        return root;
    }

    /** The manifest of M0, wide enough for everything below {@code w/out}. */
    public String manifest() {
        return """
                ver: "1.0"
                session_id: straying
                agent_id: tester
                scope:
                  - CONSUMES FILE:%1$s/w/in/**
                  - MUTATES FILE:%1$s/w/out/**
                  - PROVIDES FILE:%1$s/w/out/**
                  - DELETES FILE:%1$s/w/out/**
                  - RENAMES FILE:%1$s/w/out/**
                """.formatted(root);
    }

    /** Everything in it but {@code .klock}. */
    public Tree tree() {
        return Tree.of(root.resolve("w"));
    }

    /** A script run in it, without klock. Names in the steps are relative to it. */
    public Child bare(Jdk jdk, String... steps) {
        return Child.on(jdk).in(root).main(Script.class, steps);
    }

    /** The same under klock with the manifest above. */
    public Child watched(Jdk jdk, String options, String... steps) {
        return bare(jdk, steps).klock(options).manifest(manifest());
    }
}
