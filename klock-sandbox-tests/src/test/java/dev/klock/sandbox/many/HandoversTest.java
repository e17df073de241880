package dev.klock.sandbox.many;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.Klock;
import dev.klock.sandbox.frameworks.Framework;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Explicit;
import dev.klock.sandbox.subject.Handovers;
import dev.klock.sandbox.subject.Ways;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/**
 * Work that is handed to others is theirs who handed it over, whichever way, by threads that all share: each event is in the log of the right
 * session, and no thread of a pool stays anybody's. {@link Ways} says what the programs do.
 */
class HandoversTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final List<String> WHO = List.of("app", "builder", "third");

    @TempDir
    Path directory;

    private Workspace workspace() throws IOException {
        Workspace w = Workspace.in(directory);
        for (String below : List.of("w/a", "w/b")) {
            Files.createDirectories(w.root().resolve(below));
        }
        return w;
    }

    private static Child program(Workspace w, Jdk jdk) {
        return alone(w, jdk).klock("mode=block,denials.limit=100000");
    }

    /** Without klock. */
    private static Child alone(Workspace w, Jdk jdk) {
        String manifest = """
                ver: "1.0"
                agent_id: app
                scope:
                  - PROVIDES FILE:%1$s/w/out/**
                  - MUTATES FILE:%1$s/w/out/**
                agents:
                  - agent_id: builder
                    scope: ["MUTATES FILE:%1$s/w/a/**", "PROVIDES FILE:%1$s/w/a/**"]
                  - agent_id: third
                    scope: ["MUTATES FILE:%1$s/w/b/**", "PROVIDES FILE:%1$s/w/b/**"]
                """.formatted(w.root());
        return Child.on(jdk).in(w.root()).with(Klock.class, JsonFactory.class, Yaml.class).manifest(manifest)
                .patience(Duration.ofMinutes(2));
    }

    private Child framework(Workspace w, Jdk jdk, String framework, String main, String... arguments) throws IOException {
        List<Path> classPath = Framework.compiled(framework, directory.resolve("classes"), Child.placeOf(Ways.class), Child.placeOf(Klock.class));
        // the framework's own Jackson comes first
        return program(w, jdk).onlyClassPath(classPath).with(JsonFactory.class, Yaml.class).main(main, arguments);
    }

    /** @param atLeast how many ways there are on every JDK, so that none of them gets lost */
    private static void everyPieceOfWorkWasTheirs(Workspace w, Outcome done, int atLeast) {
        assertThat(done.exit()).as(done.toString()).isZero();
        List<String> lines = done.out().lines().toList();
        assertThat(lines.get(lines.size() - 1)).as(done.toString()).matches("threads [1-9]\\d*: clean");
        List<String> said = lines.subList(0, lines.size() - 1);
        assertThat(said).as(done.toString()).hasSizeGreaterThanOrEqualTo(WHO.size() * atLeast).allSatisfy(line -> assertThat(line).matches("\\w+ \\w+ did caught"));

        Map<String, TreeSet<String>> written = new TreeMap<>();
        Map<String, TreeSet<String>> denied = new TreeMap<>();
        for (JsonNode record : done.log().records()) {
            String resource = record.path("resource").asText();
            if (resource.startsWith("FILE:" + w.root() + "/w/")) {
                String agent = record.path("agent_id").asText();
                boolean allowed = record.path("decision").asText().equals("allow");
                (allowed ? written : denied).computeIfAbsent(agent, key -> new TreeSet<>()).add(Path.of(resource).getFileName().toString());
            }
        }
        Map<String, TreeSet<String>> expected = new TreeMap<>();
        for (String line : said) {
            String[] words = line.split(" ");
            expected.computeIfAbsent(words[0], key -> new TreeSet<>()).add(words[0] + "-" + words[1]);
        }
        assertThat(written).isEqualTo(expected);
        assertThat(denied).isEqualTo(expected);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void work_thatIsHandedOver_byTheJdk_isTheirsWhoHandedItOver(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child program = program(w, jdk);
        List<String> more = new ArrayList<>();
        if (jdk.feature() == 25) {
            // structured scopes are a preview there, and were others before
            program.jvm("--enable-preview");
            more.add("preview");
        }

        Outcome done = program.main(Handovers.class, more.toArray(String[]::new)).run();

        everyPieceOfWorkWasTheirs(w, done, 25);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void work_thatIsSaidToBeAnAgents_isThatAgents_whoeverHasMadeItsTasks_withKlockAndWithout(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome held = program(w, jdk).main(Explicit.class).run();
        Outcome alone = alone(w, jdk).main(Explicit.class).run();

        assertThat(held.exit()).as(held.toString()).isZero();
        List<String> lines = held.out().lines().toList();
        assertThat(lines).as(held.toString()).filteredOn(line -> line.endsWith(" third")).hasSize(2 * 2 * 18);
        assertThat(lines).as(held.toString()).filteredOn(line -> !line.endsWith(" third")).containsExactly("builder's, as the process app", "app's, as the process app",
                "between tasks app", "builder's, as the process app", "app's, as the process app", "between tasks app", "builder's, completed by third builder",
                "no agent is named: where no manifest is named, name one that the manifest that klock holds this process to declares under agents:, as in"
                        + " Klock.open(null, \"builder\", wait); the process itself needs no session, what it declares it has from its start");
        assertThat(alone.out().lines().toList().subList(0, lines.size() - 1)).as(alone.toString()).isEqualTo(lines.subList(0, lines.size() - 1));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void work_thatIsHandedOver_byReactor_isTheirsWhoHandedItOver(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = framework(w, jdk, "reactor", "ReactorWays").run();

        everyPieceOfWorkWasTheirs(w, done, 70);
    }

    /** Signals, too, are their subscriber's then, whoever sends them. */
    @ParameterizedTest
    @MethodSource(JDKS)
    void work_thatIsHandedOver_byReactorWithItsContext_isTheirsWhoHandedItOver(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = framework(w, jdk, "reactor", "ReactorWays", "context").run();

        everyPieceOfWorkWasTheirs(w, done, 72);
    }

    /** There its own queue stands before a new thread for each task, which the one before starts. */
    @ParameterizedTest
    @MethodSource("withVirtualThreads")
    void work_thatIsHandedOver_byReactorOnVirtualThreads_isTheirsWhoHandedItOver_whereItIsWrapped(Jdk jdk, String how) throws IOException {
        Workspace w = workspace();

        Outcome done = framework(w, jdk, "reactor", "ReactorWays", how)
                .jvm("-Dreactor.schedulers.defaultBoundedElasticOnVirtualThreads=true", "-Dreactor.schedulers.defaultBoundedElasticSize=1").run();

        everyPieceOfWorkWasTheirs(w, done, 70);
    }

    static List<Arguments> withVirtualThreads() {
        return Jdks.from(21).stream().flatMap(jdk -> Stream.of("wrap", "context").map(how -> Arguments.of(jdk, how))).toList();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void work_thatIsHandedOver_byRxJava_isTheirsWhoHandedItOver(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = framework(w, jdk, "rxjava", "RxJavaWays").run();

        everyPieceOfWorkWasTheirs(w, done, 120);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void work_thatIsHandedOver_byLangChain4j_isTheirsWhoHandedItOver(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = framework(w, jdk, "langchain4j-agents", "LangChain4jWays").run();

        everyPieceOfWorkWasTheirs(w, done, 8);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void agents_ofLangChain4j_workAsTheSessionOfTheirName_whereTheListenerIsTold(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = framework(w, jdk, "langchain4j-agents", "NamedAgents").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        List<String> lines = done.out().lines().distinct().toList();
        assertThat(lines.subList(0, 3)).as(done.toString()).containsExactlyInAnyOrder("builder in parallel w/a - -", "third in parallel - w/b -", "other in parallel - - w/out");
        assertThat(lines.subList(3, lines.size())).as(done.toString()).containsExactly("pool works for the process", "builder in sequence w/a - -",
                "third in sequence - w/b -", "other in sequence - - w/out", "main works for the process", "model works for third", "main after a failure works for the process",
                "third in seen - - w/out", "main suspended works for third", "main after it was suspended works for the process",
                "main after what it was not in works for the process", "agent builder is not invoked", "main after an abort works for the process");
    }
}
