package dev.klock.sandbox.suites;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.suites.Suite.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The tests of libraries that do much with files have the same outcomes under klock, strict and permissive, as without it: the same tests
 * pass, and those that fail here without it (as root, without a network) fail with the same error.
 */
class SuitesTest {
    private static final int FEWEST = 300;

    @TempDir
    Path temporary;

    static Stream<Arguments> each() throws IOException {
        List<Arguments> all = new ArrayList<>();
        for (String suite : List.of("commons-io", "commons-compress")) {
            for (Jdk jdk : Jdks.all()) {
                all.add(Arguments.of(Suite.named(suite), jdk));
            }
        }
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("each")
    void suite_underKlock_hasTheSameOutcomes(Suite suite, Jdk jdk) throws IOException {
        Run bare = run(suite, jdk, "bare", null, suite.classes());
        assertThat(bare.outcome().exit()).as(bare.outcome().toString()).isZero();
        assertThat(bare.tests()).as("enough to tell: %s", bare.outcome()).hasSizeGreaterThanOrEqualTo(FEWEST);
        StringBuilder told = new StringBuilder(suite + " on " + jdk + ": " + bare.tests().size() + " tests, " + bare.outcome().took().toSeconds() + " s");
        List<String> differences = new ArrayList<>();
        for (String mode : List.of("permissive", "strict")) {
            Run watched = run(suite, jdk, mode, mode, suite.classes());
            told.append("; ").append(mode).append(' ').append(watched.outcome().took().toSeconds()).append(" s, ")
                    .append(watched.log().records().size()).append(" records");
            List<String> once = differences(mode, bare, watched);
            once.forEach(difference -> told.append("\n  once: ").append(difference));
            differences.addAll(confirmed(suite, jdk, mode, once));
            assertThat(watched.log().triples("deny")).as("denied: %s", watched.outcome()).isEmpty();
            assertThat(watched.log().triples("warn")).as("not in the manifest: %s %s", watched.log().decided("warn"), watched.outcome()).isEmpty();
            assertThat(watched.outcome().exit()).as(watched.outcome().toString()).isZero();
        }
        System.out.println(told);
        assertThat(differences).as("not as without klock").isEmpty();
    }

    private static List<String> differences(String mode, Run bare, Run watched) {
        List<String> differences = new ArrayList<>();
        Set<String> names = new TreeSet<>(bare.tests().keySet());
        names.addAll(watched.tests().keySet());
        for (String name : names) {
            String without = bare.tests().getOrDefault(name, "not run");
            String with = watched.tests().getOrDefault(name, "not run");
            if (!without.equals(with)) {
                differences.add(name + ": " + without + ", " + mode + ": " + with);
            }
        }
        return differences;
    }

    /**
     * A test that waits for a clock fails at times, by itself. So the classes of those with another outcome run by themselves, without klock and
     * with it, as often as they differ and thrice at most; what differs by klock does so each time.
     */
    private List<String> confirmed(Suite suite, Jdk jdk, String mode, List<String> differences) throws IOException {
        List<String> left = differences;
        for (int n = 1; n <= 3 && !left.isEmpty(); n++) {
            Set<String> classes = left.stream().map(difference -> difference.split("[/:]", 2)[0]).collect(Collectors.toCollection(TreeSet::new));
            Run bare = run(suite, jdk, mode + "-bare-" + n, null, classes);
            left = differences(mode, bare, run(suite, jdk, mode + "-again-" + n, mode, classes));
        }
        return left;
    }

    private Run run(Suite suite, Jdk jdk, String name, String mode, Collection<String> classes) throws IOException {
        return suite.run(jdk, Files.createDirectories(temporary.toRealPath().resolve(jdk.home().getFileName() + "-" + name)), mode, classes);
    }
}
