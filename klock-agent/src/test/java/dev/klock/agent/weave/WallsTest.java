package dev.klock.agent.weave;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.kernel.Kernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class WallsTest {
    /** In the boot loader, on the program's class path, or called by libraries only; and the glue, which the agent's jar has not. */
    private static final Set<String> OUTSIDE = Set.of("dev.klock.bridge", "dev.klock.boot", "dev.klock.logging", "dev.klock.agent.library.silent",
            "dev.klock.junit", "dev.klock.langchain4j", "dev.klock.micrometer");

    @Test
    void packages_areAllThatKlockHas() throws Exception {
        Set<String> found = new TreeSet<>(packages(Walls.Inside.class));
        found.addAll(packages(Kernel.class));
        found.removeAll(OUTSIDE);
        assertThat(Walls.Inside.PACKAGES).containsExactlyInAnyOrderElementsOf(found);
    }

    private static Set<String> packages(Class<?> one) throws Exception {
        Path root = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
        if (Files.isRegularFile(root)) {
            root = root.resolveSibling("classes");
        }
        Set<String> packages = new TreeSet<>();
        Path top = root;
        try (Stream<Path> files = Files.walk(root)) {
            files.filter(file -> file.toString().endsWith(".class") && !file.endsWith("package-info.class") && file.getNameCount() > top.getNameCount() + 1)
                    .forEach(file -> packages.add(top.relativize(file.getParent()).toString().replace('/', '.')));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return packages;
    }
}
