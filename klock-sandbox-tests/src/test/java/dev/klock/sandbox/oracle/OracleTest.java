package dev.klock.sandbox.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.audit.AlteredJar;
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

    private static final String MANIFEST = """
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
            """;

    @TempDir
    Path temporary;

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-1")
    void everyPathThatTheSystemWasAskedFor_isOnRecord(Jdk jdk) throws IOException {
        Path directory = temporary.toRealPath();
        Map<String, Integer> calls = traced(jdk, directory, TIMES);
        Set<String> asked = new TreeSet<>();
        int own = takeOwn(calls, directory.resolve("bare/tree"), asked);
        JvmInternals internals = new JvmInternals(jdk, directory.resolve("bare"));
        Map<String, Integer> internal = internals.take(calls);
        Set<String> recorded = new TreeSet<>();
        calls.keySet().removeAll(recorded(watched(jdk, directory, KlockJar.path(), TIMES), directory.resolve("watched/tree"), recorded));

        Set<String> missed = without(asked, recorded);
        Set<String> invented = without(recorded, asked);
        System.out.println("oracle on " + jdk + ": " + ManyWays.ways() + " ways, " + asked.size() + " paths in " + own
                + " system calls, missed " + missed.size() + ", on record without one " + invented.size() + "; the JVM's own: " + internal);
        assertThat(asked).as("enough to tell").hasSizeGreaterThanOrEqualTo(5_000);
        assertThat(missed).as("paths that the system was asked for and klock has not on record").isEmpty();
        assertThat(invented).as("paths on record that the system was never asked for").isEmpty();
        assertThat(calls).as("neither on record nor in the list of what a JVM does by itself").isEmpty();
        for (String reason : internals.reasons()) {
            assertThat(KlockJar.module().resolveSibling("docs/security.md")).content().contains("| " + reason + " |");
        }
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void aHookThatIsMissing_isMissed(Jdk jdk) throws IOException {
        Path directory = temporary.toRealPath();
        Set<String> asked = new TreeSet<>();
        takeOwn(traced(jdk, directory, 1), directory.resolve("bare/tree"), asked);
        Path jar = new AlteredJar().hooks(lines -> lines.filter(line -> !line.contains("java/io/FileInputStream\topen\t"))).in(directory);
        Set<String> recorded = new TreeSet<>();
        recorded(watched(jdk, directory, jar, 1), directory.resolve("watched/tree"), recorded);

        assertThat(without(asked, recorded)).contains("FileInputStream/0", "FileReader/0", "Scanner/0").doesNotContain("FileChannel-read/0");
    }

    /** Runs it without klock: calls by path. */
    private static Map<String, Integer> traced(Jdk jdk, Path directory, int times) throws IOException {
        assumeThat(Trace.isPossible()).as("strace is missing or may not trace here: there is no other witness").isTrue();
        Path bare = prepared(directory.resolve("bare"), times);
        Path file = directory.resolve("trace");
        Outcome outcome = Child.on(jdk).in(bare).main(ManyWays.class, bare.resolve("tree").toString(), "" + times).through(Trace.to(file))
                .patience(PATIENCE).run();
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("done\n");
        return Trace.of(file, bare).calls();
    }

    private static Outcome watched(Jdk jdk, Path directory, Path jar, int times) throws IOException {
        Path watched = prepared(directory.resolve("watched"), times);
        Outcome outcome = Child.on(jdk).in(watched).main(ManyWays.class, watched.resolve("tree").toString(), "" + times)
                .jvmBefore("-javaagent:" + jar + "=mode=permissive").manifest(MANIFEST).patience(PATIENCE).run();
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("done\n");
        return outcome;
    }

    /** Moves the program's own paths from {@code calls} to {@code own}, and answers in how many calls they were. */
    private static int takeOwn(Map<String, Integer> calls, Path tree, Set<String> own) {
        int count = 0;
        for (Map.Entry<String, Integer> call : Map.copyOf(calls).entrySet()) {
            String path = own(call.getKey(), tree);
            if (path != null) {
                calls.remove(call.getKey());
                if (!path.isEmpty()) {
                    own.add(path);
                    count += call.getValue();
                }
            }
        }
        return count;
    }

    /** Adds the program's own paths on record to {@code own}, and answers the others. */
    private static Set<String> recorded(Outcome outcome, Path tree, Set<String> own) {
        Set<String> elsewhere = new TreeSet<>();
        for (JsonNode record : outcome.log().records()) {
            String resource = record.path("resource").asText();
            if (resource.startsWith("FILE:")) {
                String path = own(resource.substring("FILE:".length()), tree);
                if (path == null) {
                    elsewhere.add(resource.substring("FILE:".length()));
                } else if (!path.isEmpty()) {
                    own.add(path);
                }
            }
        }
        return elsewhere;
    }

    private static Set<String> without(Set<String> all, Set<String> some) {
        Set<String> rest = new TreeSet<>(all);
        rest.removeAll(some);
        return rest;
    }

    private static Path prepared(Path root, int times) throws IOException {
        Files.createDirectories(root.resolve("tree"));
        ManyWays.prepare(root.resolve("tree"), times);
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
