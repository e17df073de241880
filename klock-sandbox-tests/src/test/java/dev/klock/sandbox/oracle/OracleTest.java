package dev.klock.sandbox.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.ManyWays;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * klock misses nothing: a program gets at files in many ways, once without klock under {@code strace} and once under klock. What the
 * system was asked for is what klock has on record, path by path; the rest is the JVM's own, and each of it is in a reviewed list.
 */
class OracleTest {
    private static final int TIMES = 70;
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    /** Names that the JDK makes up. */
    private static final Pattern MADE_UP = Pattern.compile("(Temp\\w+/\\d+/[a-z]+)\\d+.*");

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-1")
    void everyPathThatTheSystemWasAskedFor_isOnRecord(Jdk jdk, @TempDir Path temporary) throws IOException {
        assumeThat(Trace.isPossible()).as("strace is missing or may not trace here: there is no other witness").isTrue();
        Path directory = temporary.toRealPath();
        Path bare = prepared(directory.resolve("bare"));
        Path watched = prepared(directory.resolve("watched"));

        Path file = directory.resolve("trace");
        Outcome plain = Child.on(jdk).in(bare).main(ManyWays.class, bare.resolve("tree").toString(), "" + TIMES).through(Trace.to(file))
                .patience(PATIENCE).run();
        assertThat(plain.out()).as(plain.toString()).isEqualTo("done\n");
        Trace trace = Trace.of(file, bare);
        Outcome outcome = Child.on(jdk).in(watched).main(ManyWays.class, watched.resolve("tree").toString(), "" + TIMES)
                .klock("mode=permissive").manifest("""
                        ver: "1.0"
                        agent_id: many
                        scope:
                          - CONSUMES FILE:${workspace}/tree/**
                          - MUTATES FILE:${workspace}/tree/**
                          - PROVIDES FILE:${workspace}/tree/**
                          - DELETES FILE:${workspace}/tree/**
                          - RENAMES FILE:${workspace}/tree/**
                          - predicate: PROVIDES
                            resource: PROCESS:/bin/true
                            effects: []
                        """).patience(PATIENCE).run();
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("done\n");

        Map<String, Integer> others = new TreeMap<>();
        Set<String> asked = new TreeSet<>();
        int calls = 0;
        for (Map.Entry<String, Integer> entry : trace.calls().entrySet()) {
            String own = own(entry.getKey(), bare.resolve("tree"));
            if (own == null) {
                others.put(entry.getKey(), entry.getValue());
            } else if (!own.isEmpty()) {
                asked.add(own);
                calls += entry.getValue();
            }
        }
        Set<String> recorded = new TreeSet<>();
        Set<String> elsewhere = new TreeSet<>();
        for (JsonNode record : outcome.log().records()) {
            String resource = record.path("resource").asText();
            if (resource.startsWith("FILE:")) {
                String own = own(resource.substring("FILE:".length()), watched.resolve("tree"));
                if (own == null) {
                    elsewhere.add(resource.substring("FILE:".length()));
                } else if (!own.isEmpty()) {
                    recorded.add(own);
                }
            }
        }
        Set<String> missed = new TreeSet<>(asked);
        missed.removeAll(recorded);
        Set<String> invented = new TreeSet<>(recorded);
        invented.removeAll(asked);
        JvmInternals internals = new JvmInternals(jdk, bare);
        Map<String, Integer> internal = internals.take(others);
        others.keySet().removeAll(elsewhere);
        System.out.println("oracle on " + jdk + ": " + ManyWays.ways() + " ways, " + asked.size() + " paths in " + calls
                + " system calls, missed " + missed.size() + ", on record without one " + invented.size() + "; the JVM's own: " + internal);

        assertThat(asked).as("enough to tell").hasSizeGreaterThanOrEqualTo(5_000);
        assertThat(missed).as("paths that the system was asked for and klock has not on record").isEmpty();
        assertThat(invented).as("paths on record that the system was never asked for").isEmpty();
        assertThat(others).as("neither on record nor in the list of what a JVM does by itself").isEmpty();
        for (String reason : internals.reasons()) {
            assertThat(KlockJar.module().resolveSibling("docs/security.md")).content().contains("| " + reason + " |");
        }
    }

    private static Path prepared(Path root) throws IOException {
        Files.createDirectories(root.resolve("tree"));
        ManyWays.prepare(root.resolve("tree"), TIMES);
        return root;
    }

    /** The way and what is below it; empty for the directories in which the ways work; null if it is elsewhere. */
    private static String own(String path, Path tree) {
        Path p = Path.of(path);
        if (!p.startsWith(tree)) {
            return tree.startsWith(p) ? "" : null;
        }
        Path relative = tree.relativize(p);
        return relative.getNameCount() < 2 ? "" : MADE_UP.matcher(relative.toString()).replaceFirst("$1*");
    }
}
