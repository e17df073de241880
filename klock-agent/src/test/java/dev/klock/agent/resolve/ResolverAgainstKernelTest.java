package dev.klock.agent.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Random trees with links, random names: where the kernel lets a create land is where the resolver says it lands. */
class ResolverAgainstKernelTest {
    private static final List<String> COMPONENTS = List.of("a", "b", "c", "d", "l", "m", "..", ".", "");

    @Provide
    Arbitrary<List<String>> links() {
        Arbitrary<String> where = Arbitraries.of("l", "m", "a/l", "a/m", "b/l", "a/b/l", "b/m", "c");
        Arbitrary<String> text = names(false);
        return Combinators.combine(where, text).as((w, t) -> w + " " + t).list().ofMinSize(1).ofMaxSize(6);
    }

    @Provide
    Arbitrary<List<String>> requests() {
        return names(true).list().ofSize(20);
    }

    private static Arbitrary<String> names(boolean mayEndWithSlash) {
        Arbitrary<String> relative = Arbitraries.of(COMPONENTS).list().ofMinSize(1).ofMaxSize(6).map(c -> String.join("/", c));
        return Combinators.combine(relative, Arbitraries.of(true, false)).as((r, absolute) -> {
            String name = (absolute ? "ROOT/" : "") + r;
            while (!absolute && name.startsWith("/")) {
                name = name.substring(1);
            }
            while (!mayEndWithSlash && name.endsWith("/")) {
                name = name.substring(0, name.length() - 1);
            }
            return name.isEmpty() ? "a" : name;
        });
    }

    @Property(tries = 150)
    void a_create_lands_where_the_resolver_says(@ForAll("links") List<String> links, @ForAll("requests") List<String> requests)
            throws IOException {
        Path root = Files.createTempDirectory("resolver").toRealPath();
        try {
            Files.createDirectories(root.resolve("a/b/c"));
            Files.createDirectories(root.resolve("b/d"));
            for (String link : links) {
                String[] parts = link.split(" ", 2);
                try {
                    Files.createSymbolicLink(root.resolve(parts[0]), Path.of(parts[1].replace("ROOT", root.toString())));
                } catch (IOException placeIsTakenOrMissing) {
                    continue;
                }
            }
            TestHostFiles files = new TestHostFiles();
            Resolver resolver = new Resolver(files);
            for (String request : requests) {
                // a name may lead out of the tree by "..": what is there is not ours to create
                String name = request.startsWith("ROOT") ? request.replace("ROOT", root.toString()) : root + "/" + request;
                Resolved resolved = resolver.resolve(name, true);
                compareWithKernel(root, name, resolved);
                Resolved handle = request.startsWith("ROOT") ? resolved : resolver.resolve(request, root.toString(), true);
                assertThat(handle.path()).isEqualTo(resolved.path());
                compareUnfollowed(name, resolver.resolve(name, false));
            }
        } finally {
            delete(root);
        }
    }

    private static void compareWithKernel(Path root, String name, Resolved resolved) throws IOException {
        Path kernels;
        try {
            kernels = realPath(name);
        } catch (IOException missingOrLoop) {
            if (resolved.path() == null || !resolved.path().startsWith(root + "/") || name.endsWith("/")) {
                return;
            }
            try {
                Files.write(rawPath(name), new byte[0], StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            } catch (IOException kernelRefuses) {
                return;
            }
            kernels = realPath(name);
            assertThat(resolved.path()).as(name).isEqualTo(kernels.toString());
            Files.delete(kernels);
            return;
        }
        assertThat(resolved.path()).as(name).isEqualTo(kernels.toString());
    }

    private static void compareUnfollowed(String name, Resolved resolved) throws IOException {
        if (name.endsWith("/") || name.endsWith("/.") || name.endsWith("..")) {
            return;
        }
        int slash = name.lastIndexOf('/');
        Path parent;
        try {
            parent = realPath(name.substring(0, slash));
        } catch (IOException missingOrLoop) {
            return;
        }
        if (Files.isDirectory(parent)) {
            assertThat(resolved.path()).as(name).isEqualTo(parent.resolve(name.substring(slash + 1)).toString());
        }
    }

    /** java.nio keeps dots, as the kernel needs them. */
    private static Path rawPath(String name) {
        return Path.of(name);
    }

    private static Path realPath(String name) throws IOException {
        return rawPath(name).toRealPath();
    }

    private static void delete(Path root) {
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes a) throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
                    Files.delete(dir);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
