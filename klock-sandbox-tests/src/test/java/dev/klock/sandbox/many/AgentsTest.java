package dev.klock.sandbox.many;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import dev.klock.Klock;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Agents;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/** Several agents in one JVM, each held to what is declared for it, and none in another's way. */
class AgentsTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final int ABORTED = 108;
    private static final String ERROR = "dev.klock.ScopeViolationError";

    @TempDir
    Path directory;

    private Workspace workspace() {
        Workspace w = Workspace.in(directory);
        try {
            for (String below : List.of("w/a", "w/b", "w/both")) {
                Files.createDirectories(w.root().resolve(below));
                Files.writeString(w.root().resolve(below).resolve("f"), "first\n");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return w;
    }

    private static String manifest(Workspace w) {
        return """
                ver: "1.0"
                agent_id: app
                scope:
                  - CONSUMES FILE:%1$s/w/in/**
                  - PROVIDES FILE:%1$s/w/out/**
                  - MUTATES FILE:%1$s/w/out/**
                  - CONSUMES FILE:%1$s/w/a/**
                agents:
                  - agent_id: builder
                    scope:
                      - MUTATES FILE:%1$s/w/a/**
                      - PROVIDES FILE:%1$s/w/a/**
                      - MUTATES FILE:%1$s/w/both/**
                  - agent_id: tester
                    scope:
                      - MUTATES FILE:%1$s/w/b/**
                      - PROVIDES FILE:%1$s/w/b/**
                      - MUTATES FILE:%1$s/w/both/**
                  - agent_id: third
                    scope:
                      - MUTATES FILE:%1$s/w/b/**
                """.formatted(w.root());
    }

    private static Child program(Workspace w, Jdk jdk, String options, String... steps) {
        return Child.on(jdk).in(w.root()).main(Agents.class, steps).with(Klock.class, JsonFactory.class, Yaml.class).manifest(manifest(w)).klock(options);
    }

    private static List<String> lines(Outcome outcome) {
        return outcome.out().lines().filter(line -> !line.startsWith("main ")).toList();
    }

    private static String logs(Workspace w, String agent) throws IOException {
        try (Stream<Path> files = Files.list(w.root().resolve(".klock/log"))) {
            return files.map(AgentsTest::text).filter(text -> text.contains("\"agent_id\":\"" + agent + "\"")).collect(Collectors.joining());
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void eachAgent_isHeldToItsOwnScope_andTheProcessToThatOfItsOwn(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "mode=block", "open builder 0", "as builder write w/a/x 1", "as builder write w/b/x 1", "as builder read w/b/f",
                "plain try write w/a/y 1", "plain write w/out/y 1", "plain try read w/b/f", "as builder write w/out/y 2", "close builder").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("builder GRANTED", "builder did write w/a/x 1", "builder caught " + ERROR, "builder caught " + ERROR,
                "caught " + ERROR, "caught " + ERROR, "builder caught " + ERROR);
        assertThat(done.err()).contains("Agent builder attempted MUTATES on ").contains("Agent attempted PROVIDES on ").contains("Agent attempted CONSUMES on ");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void violationOfOneAgent_undoesWhatItDid_andNothingElse(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "", "open builder 0", "as builder write w/a/x 1", "as builder write w/a/f 2", "plain write w/out/p 1", "open third 0",
                "as third write w/b/f 2", "as third write w/x 3", "as third write w/b/f 4", "plain sleep 300", "as builder write w/a/z 5", "state third",
                "state builder", "close builder", "close third").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("builder GRANTED", "builder did write w/a/x 1", "builder did write w/a/f 2", "third GRANTED",
                "third did write w/b/f 2", "third caught " + ERROR, "third may not: session third/" + id(done) + " may not work: it was aborted after a violation, and what it did is undone; open another one",
                "builder did write w/a/z 5", "third false ABORTED true", "builder true EXECUTING true");
        assertThat(w.root().resolve("w/b/f")).hasContent("first\n");
        assertThat(w.root().resolve("w/a/f")).hasContent("2\n");
        assertThat(w.root().resolve("w/a/z")).hasContent("5\n");
        assertThat(w.root().resolve("w/out/p")).hasContent("1\n");
    }

    private static String id(Outcome done) {
        return done.out().replaceAll("(?s).*third may not: session third/(\\S+) may.*", "$1");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void violationOfTheProcess_undoesWhatAllOfThemDid(Jdk jdk) throws IOException {
        Workspace w = workspace();
        String before = w.tree().timed();

        Outcome done = program(w, jdk, "", "open builder 0", "as builder write w/a/x 1", "plain write w/out/p 1", "open tester 0", "open third 0",
                "as third write w/b/f 2", "plain try write w/x 3", "plain sleep 5000").run();

        assertThat(done.exit()).as(done.toString()).isEqualTo(ABORTED);
        assertThat(w.tree().timed()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void agents_thatDeclareTheSame_haveItOneAfterTheOther(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "", "open builder 0", "open tester 0", "as tester write w/both/f 2", "as builder write w/both/f 1", "close builder",
                "retry tester 5000", "as tester append w/both/f 2", "close tester").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).hasSize(6);
        assertThat(lines(done).get(1)).startsWith("tester DIE: ").contains("of builder/");
        assertThat(lines(done).get(2)).startsWith("tester may not: ");
        assertThat(lines(done).subList(3, 6)).containsExactly("builder did write w/both/f 1", "tester GRANTED", "tester did append w/both/f 2");
        assertThat(w.root().resolve("w/both/f")).hasContent("1\n2\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void killedProgram_isUndoneForAllItsAgents(Jdk jdk) throws IOException {
        Workspace w = workspace();
        String before = w.tree().timed();
        Child.Running running = program(w, jdk, "", "open builder 0", "as builder write w/a/x 1", "open third 0", "as third write w/b/f 2", "plain write w/out/ready 1",
                "plain sleep 60000").begin().until(w.root().resolve("w/out/ready"));
        running.process().destroyForcibly();
        running.await();

        Outcome recovered = Child.on(jdk).in(w.root()).jar(KlockJar.path(), "recover").run();

        assertThat(recovered.exit()).as(recovered.toString()).isZero();
        assertThat(w.tree().timed()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void manifestOfAnAgentsOwn_mayDeclareLessThanTheProcessDoesForIt_andNotMore(Jdk jdk) throws IOException {
        Workspace w = workspace();
        String less = "ver: \"1.0\"\nagent_id: builder\nscope: [\"MUTATES FILE:" + w.root() + "/w/a/f\"]\n";
        String more = "ver: \"1.0\"\nagent_id: builder\nscope: [\"MUTATES FILE:" + w.root() + "/w/a/f\", \"DELETES FILE:" + w.root() + "/w/a/f\"]\n";

        Outcome done = program(w, jdk, "mode=block", "open builder 0 w/in/less.yaml", "as builder write w/a/f 2", "as builder write w/a/x 2", "close builder",
                "open builder 0 w/in/more.yaml").file("w/in/less.yaml", less).file("w/in/more.yaml", more).run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).hasSize(4);
        assertThat(lines(done).subList(0, 3)).containsExactly("builder GRANTED", "builder did write w/a/f 2", "builder caught " + ERROR);
        assertThat(lines(done).get(3)).startsWith("builder refused: ").contains("more.yaml:3").contains("DELETES FILE:").contains("is more than klock.yaml declares for builder");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void permissive_goesOn_andNamesTheAgent(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "mode=permissive", "open builder 0", "as builder write w/b/f 2", "close builder").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("builder GRANTED", "builder did write w/b/f 2");
        assertThat(done.err()).contains("Agent builder attempted");
        assertThat(logs(w, "builder")).contains("w/b/f").contains("\"decision\":\"warn\"");
    }
}
