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
import dev.klock.sandbox.subject.Late;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/** Several agents in one JVM, each held to what is declared for it, and none in another's way. */
class AgentsTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final int ABORTED = 108;
    private static final String ERROR = "dev.klock.ScopeViolationError";

    /** Of two programs, whose builders want the same. */
    private static final String SAME = """
            ver: "1.0"
            agent_id: %2$s
            scope:
              - CONSUMES FILE:%1$s/w/in/**
              - PROVIDES FILE:%1$s/w/out/%2$s
            agents:
              - agent_id: builder-%2$s
                scope: ["MUTATES FILE:%1$s/w/both/**"]
            """;

    /** Two have children, each of which may change something else. */
    private static final String CHILDREN = """
            ver: "1.0"
            agent_id: app
            scope:
              - MUTATES FILE:%1$s/w/out/**
              - PROVIDES FILE:%1$s/w/out/**
              - {predicate: PROVIDES, resource: "PROCESS:/bin/sh", effects: ["MUTATES FILE:%1$s/w/out/**"]}
            agents:
              - agent_id: builder
                scope:
                  - MUTATES FILE:%1$s/w/a/**
                  - PROVIDES FILE:%1$s/w/a/**
                  - {predicate: PROVIDES, resource: "PROCESS:/bin/sh", effects: ["MUTATES FILE:%1$s/w/a/**"]}
              - agent_id: tester
                scope:
                  - MUTATES FILE:%1$s/w/b/**
                  - PROVIDES FILE:%1$s/w/b/**
                  - DELETES FILE:%1$s/w/b/**
              - agent_id: linker
                scope: ["PROVIDES FILE:%1$s/w/links/**"]
              - agent_id: late
                scope: ["MUTATES FILE:%1$s/w/links/late/**"]
            """;

    @TempDir
    Path directory;

    private Workspace workspace() {
        Workspace w = Workspace.in(directory);
        try {
            for (String below : List.of("w/a", "w/b", "w/both", "w/links")) {
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
                  - agent_id: linker
                    scope: ["PROVIDES FILE:%1$s/w/links/**"]
                  - agent_id: late
                    scope: ["MUTATES FILE:%1$s/w/links/late/**"]
                  - agent_id: third
                    scope:
                      - MUTATES FILE:%1$s/w/b/**
                      - PROVIDES FILE:%1$s/w/b/**
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
    @Tag("K6-2")
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
    @Tag("K6-5")
    @Tag("K5-2")
    void violationOfOneAgent_undoesWhatItDid_andNothingElse(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "", "open builder 0", "as builder write w/a/x 1", "as builder write w/a/f 2", "plain write w/out/p 1", "open third 0",
                "as third write w/b/f 2", "as third write w/x 3", "retry third 0", "state third", "as third write w/b/f 4", "plain sleep 300", "as builder write w/a/z 5", "state third",
                "state builder", "close builder", "close third").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done).stream().map(line -> line.replace("is being undone", "is undone"))).containsExactly("builder GRANTED", "builder did write w/a/x 1", "builder did write w/a/f 2", "third GRANTED",
                "third did write w/b/f 2", "third caught " + ERROR, "third GONE: it was aborted, and what it did is undone; open another one", "third false ABORTED true",
                "third may not: session third/" + id(done) + " may not work: it was aborted, and what it did is undone; open another one",
                "builder did write w/a/z 5", "third false ABORTED true", "builder true EXECUTING true");
        assertThat(w.root().resolve("w/b/f")).hasContent("first\n");
        assertThat(w.root().resolve("w/a/f")).hasContent("2\n");
        assertThat(w.root().resolve("w/a/z")).hasContent("5\n");
        assertThat(w.root().resolve("w/out/p")).hasContent("1\n");
    }

    private static String id(Outcome done) {
        return done.out().replaceAll("(?s).*third may not: session third/(\\S+) may.*", "$1");
    }

    /** The error leaves the block in which the session was opened, long before the guard is done. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-I14")
    @Tag("C45")
    @Tag("K5-2")
    void sessionThatIsClosedRightAfterItsViolation_keepsItsLeasesUntilAllIsUndone(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "", "open builder 0", "as builder write w/both/f 1", "as builder write w/x 1", "close builder", "plain read w/both/f").manifest(
                manifest(w).replace("  - CONSUMES FILE:" + w.root() + "/w/a/**\n", "  - CONSUMES FILE:" + w.root() + "/w/**\n")).run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("builder GRANTED", "builder did write w/both/f 1", "builder caught " + ERROR, "first");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
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
    @Tag("FIELD-I09")
    @Tag("FIELD-I17")
    @Tag("K4-6")
    @Tag("K4-7")
    @Tag("K4-8")
    @Tag("K5-9")
    @Tag("K7-12")
    void agents_thatDeclareTheSame_haveItOneAfterTheOther(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "", "open builder 0", "open tester 0", "as tester write w/both/f 2", "as builder write w/both/f 1", "close builder",
                "retry tester 5000", "as tester append w/both/f 2", "counts tester", "close tester").run();
        Outcome status = Child.on(jdk).in(w.root()).jar(KlockJar.path(), "status", "--all").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).hasSize(7);
        assertThat(lines(done).get(1)).startsWith("tester DIE: ").contains("of builder/");
        assertThat(lines(done).get(2)).startsWith("tester may not: ");
        assertThat(lines(done).subList(3, 7)).containsExactly("builder did write w/both/f 1", "tester GRANTED", "tester did append w/both/f 2", "tester waited 0, died 1");
        assertThat(status.out()).as(status.toString()).containsPattern("(?m)^tester/tester-\\S+  COMPLETED .*  died 1 time$");
        assertThat(w.root().resolve("w/both/f")).hasContent("1\n2\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void work_thatAPoolDoes_isTheirsWhoHandedItIn(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "mode=block", "open builder 0", "open third 0", "off builder write w/a/x 1", "off third write w/a/x 1", "off third write w/b/f 1",
                "off builder write w/b/f 1", "close builder", "close third").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("builder GRANTED", "third GRANTED", "builder did write w/a/x 1", "third caught " + ERROR, "third did write w/b/f 1",
                "builder caught " + ERROR);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-I05")
    @Tag("C45")
    void killedProgram_isUndoneForAllItsAgents(Jdk jdk) throws IOException {
        Workspace w = workspace();
        String before = w.tree().timed();
        Child.Running running = program(w, jdk, "", "open builder 0", "as builder write w/a/x 1", "open third 0", "as third write w/b/f 2", "plain write w/out/ready 1",
                "plain sleep 60000").begin().until(w.root().resolve("w/out/ready"));
        running.kill();
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

    /** What a line of the manifest leads to is told at the start: a link that the program has made since widens nothing. */
    @ParameterizedTest
    @MethodSource(JDKS)
    void linkThatTheProgramMakes_widensNoAgentsScope(Jdk jdk) throws IOException {
        Workspace w = workspace();
        String own = "ver: \"1.0\"\nagent_id: builder\nscope: [\"MUTATES FILE:" + w.root() + "/w/a/link/**\"]\n";

        Outcome done = program(w, jdk, "mode=block", "open linker 0", "as linker symlink w/links/late ../private", "close linker", "open late 0", "as late write w/private/p 2",
                "as late write w/links/late/p 2", "close late", "open builder 0", "as builder symlink w/a/link ../private", "close builder", "open builder 0 w/in/own.yaml")
                .file("w/in/own.yaml", own).run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).hasSize(8);
        assertThat(lines(done).subList(0, 7)).containsExactly("linker GRANTED", "linker did symlink w/links/late ../private", "late GRANTED", "late caught " + ERROR,
                "late caught " + ERROR, "builder GRANTED", "builder did symlink w/a/link ../private");
        assertThat(lines(done).get(7)).startsWith("builder refused: ").contains("is more than klock.yaml declares for builder");
        assertThat(w.root().resolve("w/private/p")).hasContent("first of w/private/p\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-I02")
    @Tag("FIELD-I06")
    @Tag("C10")
    @Tag("C45")
    @Tag("C46")
    @Tag("K3-12")
    @Tag("K3-8")
    void agent_thatHasLostItsLeases_keepsWhatItDid_andComesBack(Jdk jdk) throws Exception {
        Workspace w = workspace();
        String alone = """
                ver: "1.0"
                agent_id: app
                scope: []
                agents:
                  - agent_id: builder
                    scope: ["MUTATES FILE:%1$s/w/both/**", "PROVIDES FILE:%1$s/w/both/**"]
                """.formatted(w.root());
        Child.Running running = Child.on(jdk).in(w.root()).main(Agents.class, "open builder 0", "as builder write w/both/f 1", "as builder write w/both/ready 1",
                "plain sleep 2000", "as builder write w/both/f 2", "retry builder 0", "age builder", "close builder", "open builder 0", "age builder", "retry builder 10000", "age builder", "as builder append w/both/f 3", "close builder")
                .with(Klock.class, JsonFactory.class, Yaml.class).manifest(alone).klock("lease-ttl=2s").begin().until(w.root().resolve("w/both/ready"));
        running.signal("STOP");
        Thread.sleep(3_000);
        running.signal("CONT");

        Outcome done = running.await();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).hasSize(11);
        assertThat(lines(done).get(3)).startsWith("builder may not: ").endsWith("it has lost its leases, and what it did stays; open another one");
        assertThat(lines(done).get(4)).isEqualTo("builder GONE: it has lost its leases, and what it did stays; open another one");
        // two seconds pass between the end of a lease and the next grant
        assertThat(lines(done).get(6)).matches("builder (GRANTED|DIE: .*)");
        assertThat(since(done, 7)).as("another session is as young as its beginning").isGreaterThan(since(done, 5));
        assertThat(since(done, 9)).as("and stays that old, whatever it dies of").isEqualTo(since(done, 7));
        assertThat(lines(done).get(8)).isEqualTo("builder GRANTED");
        assertThat(lines(done).get(10)).isEqualTo("builder did append w/both/f 3");
        assertThat(w.root().resolve("w/both/f")).hasContent("1\n3\n");
    }

    /** Nobody waits for ever for what was queued before. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    void work_thatComesToItsSessionAfterAViolation_fails(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = Child.on(jdk).in(w.root()).main(Late.class).with(Klock.class, JsonFactory.class, Yaml.class).manifest(manifest(w)).klock("").run();

        assertThat(done.out()).as(done.toString()).isEqualTo("failed by ScopeViolationError\n".repeat(3) + "pool ended\n");
        assertThat(w.root().resolve("w/a/f")).hasContent("first\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-6")
    void session_thatEndsWell_isCountedInTheLastLine_andOneThatStrayedHasItsOwn(Jdk jdk) throws IOException {
        Workspace w = workspace();
        String[] steps = {"open builder 0", "as builder write w/a/x 1", "close builder", "open third 0", "as third write w/b/f 1", "close third", "open tester 0", "as tester write w/x 1",
            "close tester"};

        Outcome done = program(w, jdk, "mode=block", steps).run();
        Outcome detailed = program(w, jdk, "mode=block,log.level=info", steps).run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(done.err().lines().filter(line -> line.contains(" session "))).as(done.err()).satisfiesExactly(
                line -> assertThat(line).startsWith("klock: tester session ").contains(" completed: 1 denied; "),
                line -> assertThat(line).startsWith("klock: app session ").contains(" completed: 0 denied; ").contains("; 2 sessions of its agents completed with nothing denied; "));
        assertThat(logs(w, "builder")).contains("\"end\":\"completed\"");
        assertThat(detailed.err()).contains("klock: info: builder session ").contains("klock: info: third session ");
    }

    /** Neither is a lock left taken that all others need, nor is the thread left exempt from what klock holds it to. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void session_askedWhereTheStackEnds_leavesAllOthersAtWork_andTheThreadHeld(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "mode=block", "open builder 0", "open third 0", "dive builder 20", "plain try write w/x 1", "as builder write w/b/f 1", "as third write w/b/f 2",
                "state third", "close builder", "close third", "open builder 0", "as builder write w/a/f 3", "close builder").jvm("-Xss400k").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("builder GRANTED", "third GRANTED", "caught " + ERROR, "builder caught " + ERROR, "third did write w/b/f 2",
                "third true EXECUTING true", "builder GRANTED", "builder did write w/a/f 3");
    }

    private static long since(Outcome done, int line) {
        return Long.parseLong(lines(done).get(line).substring("builder since ".length()));
    }

    /** klock's own reading is nobody's, and its message would tell of what stands there. */
    @ParameterizedTest
    @MethodSource(JDKS)
    void manifestThatTheProgramMayNotRead_isNotReadForItEither(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "mode=block", "try open builder 0 w/private/p").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("caught " + ERROR);
        assertThat(done.err()).contains("attempted CONSUMES on FILE:" + w.root() + "/w/private/p").doesNotContain("first of");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void permissive_goesOn_andNamesTheAgent(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "mode=permissive", "open builder 0", "as builder write w/b/f 2", "close builder").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("builder GRANTED", "builder did write w/b/f 2");
        assertThat(done.err()).contains("Agent builder attempted");
        assertThat(logs(w, "builder")).contains("w/b/f").contains("\"decision\":\"warn\"");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-I13")
    @Tag("K5-2")
    void agent_thatItsProgramAborts_isUndone_andWhatItHeldIsFree(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "", "open builder 0", "as builder write w/both/f 1", "as builder write w/a/x 1", "abort builder", "state builder", "open tester 0",
                "as tester append w/both/f 2", "as builder write w/a/y 1", "close tester", "close builder").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).hasSize(7);
        assertThat(lines(done).subList(0, 6)).containsExactly("builder GRANTED", "builder did write w/both/f 1", "builder did write w/a/x 1", "builder false ABORTED true",
                "tester GRANTED", "tester did append w/both/f 2");
        assertThat(lines(done).get(6)).startsWith("builder may not: ").contains("what it did is undone; open another one");
        assertThat(w.root().resolve("w/both/f")).hasContent("first\n2\n");
        assertThat(w.root().resolve("w/a")).isDirectoryNotContaining("glob:**/{x,y}");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void streamThatAnAgentHasOpened_cannotBeWrittenToOnceItsSessionIsClosed(Jdk jdk) throws IOException {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "", "open builder 0", "as builder hold w/a/f", "as builder put one", "plain put two", "close builder", "open third 0",
                "plain try put three", "as third put four", "as third write w/b/f 5", "close third", "plain write w/out/p 1").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("builder GRANTED", "builder did hold w/a/f", "builder did put one", "third GRANTED", "caught " + ERROR,
                "third caught " + ERROR, "third did write w/b/f 5");
        assertThat(w.root().resolve("w/a/f")).hasContent("first\none\ntwo\n");
        assertThat(w.root().resolve("w/b/f")).hasContent("5\n");
    }

    /** Whatever else it holds: what it declares may be another's by then. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K3-13")
    @Tag("K1-1")
    void agent_thatGivesItsManifestsLeasesBack_doesNotWorkOn(Jdk jdk) {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "mode=block", "open builder 0", "more builder CONSUMES FILE:" + w.root() + "/w/a/f", "as builder write w/a/f 1", "release builder",
                "as builder write w/a/f 2", "retry builder 5000", "as builder append w/a/f 3", "close builder").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).hasSize(6);
        assertThat(lines(done).get(3)).startsWith("builder may not: ").endsWith("is not held any more");
        assertThat(lines(done).subList(4, 6)).containsExactly("builder GRANTED", "builder did append w/a/f 3");
        assertThat(w.root().resolve("w/a/f")).hasContent("1\n3\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K3-3")
    void leases_onWhatTheAgentDoesNotDeclare_areRefused(Jdk jdk) {
        Workspace w = workspace();

        Outcome done = program(w, jdk, "", "open builder 0", "more builder MUTATES FILE:" + w.root() + "/w/b/f", "more builder CONSUMES FILE:" + w.root() + "/w/a/f",
                "more builder CHANGES FILE:/x", "close builder", "more builder CONSUMES FILE:" + w.root() + "/w/a/f").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).hasSize(5);
        assertThat(lines(done).get(1)).startsWith("builder REFUSED: MUTATES FILE:").endsWith("is more than builder declares: declare it in klock.yaml");
        assertThat(lines(done).get(2)).isEqualTo("builder GRANTED");
        assertThat(lines(done).get(3)).startsWith("builder REFUSED: \"CHANGES FILE:/x\" is not an intent");
        assertThat(lines(done).get(4)).isEqualTo("builder GONE: the session is closed; open another one");
    }

    /** Who has no session of its own in the process's manifest has none that is enforced. */
    @ParameterizedTest
    @MethodSource(JDKS)
    void agent_thatTheProcessDoesNotDeclare_isNotHeldToAScopeOfItsOwn_andKlockSaysSo(Jdk jdk) {
        Workspace w = workspace();
        String other = "ver: \"1.0\"\nagent_id: other\nscope: [\"MUTATES FILE:" + w.root() + "/w/out/o\"]\n";

        Outcome done = program(w, jdk, "mode=block", "open other 0 w/in/other.yaml", "state other", "as other write w/x 2", "as other write w/out/n 2", "open nobody 0 w/in/other.yaml")
                .file("w/in/other.yaml", other).run();

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(lines(done)).containsExactly("other GRANTED", "other true EXECUTING false", "other caught " + ERROR, "other did write w/out/n 2",
                "nobody refused: w/in/other.yaml: has no agent nobody; it has other");
        assertThat(done.err()).contains("declare it there under agents:");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K4-6")
    @Tag("K4-7")
    @Tag("K4-8")
    void agentsOfTwoJvms_thatDeclareTheSame_haveItOneAfterTheOther(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Child.Running first = two(w, jdk, SAME, "one", "open builder-one 0", "as builder-one write w/both/f 1", "plain write w/out/one 1", "plain await w/in/go", "close builder-one")
                .begin().until(w.root().resolve("w/out/one"));
        Child.Running second = two(w, jdk, SAME, "two", "open builder-two 0", "plain write w/out/two 1", "retry builder-two 20000", "as builder-two append w/both/f 2",
                "close builder-two").begin().until(w.root().resolve("w/out/two"));
        Files.createFile(w.root().resolve("w/in/go"));

        Outcome one = first.await();
        Outcome two = second.await();

        assertThat(one.exit()).as(one.toString()).isZero();
        assertThat(two.exit()).as(two.toString()).isZero();
        assertThat(lines(two).get(0)).startsWith("builder-two DIE: ").contains("of builder-one/");
        assertThat(lines(two)).endsWith("builder-two GRANTED", "builder-two did append w/both/f 2");
        assertThat(w.root().resolve("w/both/f")).hasContent("1\n2\n");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("C45")
    @Tag("FIELD-I05")
    @Tag("FIELD-I14")
    void agentOfAKilledJvm_isUndoneBeforeOneOfARunningJvmHasItsLeases(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Files.writeString(w.root().resolve("w/both/f"), "start\n");
        Child.Running first = two(w, jdk, SAME, "one", "open builder-one 0", "as builder-one write w/both/f half", "plain write w/out/one 1", "plain await w/in/never").begin()
                .until(w.root().resolve("w/out/one"));
        Child.Running second = two(w, jdk, SAME, "two", "open builder-two 0", "plain write w/out/two 1", "retry builder-two 60000", "as builder-two read w/both/f",
                "close builder-two").begin().until(w.root().resolve("w/out/two"));
        first.kill();

        Outcome two = second.await();

        assertThat(two.exit()).as(two.toString()).isZero();
        assertThat(two.out()).as(two.toString()).contains("builder-two DIE: ", "builder-two GRANTED", "start\n").doesNotContain("half");
        assertThat(w.root().resolve("w/both/f")).hasContent("start\n");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void program_thatEndsWhileItsAgentsAreAtWork_endsWithItsOwnCode_andTheirWorkStays(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Files.createDirectories(w.root().resolve("w/both"));
        String manifest = """
                ver: "1.0"
                agent_id: app
                scope: []
                agents:
                  - agent_id: builder
                    scope: ["PROVIDES FILE:%1$s/w/both/**", "MUTATES FILE:%1$s/w/both/**"]
                """.formatted(w.root());
        Outcome outcome = Child.on(jdk).in(w.root()).main(Agents.class, "open builder 0", "as builder write w/both/f 0", "as builder thread times 1000000 append w/both/f 1",
                "as builder thread times 1000000 append w/both/g 1", "plain sleep 500", "plain exit 3").with(Klock.class, JsonFactory.class, Yaml.class).klock("").manifest(manifest).run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(3);
        assertThat(outcome.err()).doesNotContain("ScopeViolationError", "rolled back");
        assertThat(w.root().resolve("w/both/f")).content().startsWith("0\n1\n");
    }

    private static Child two(Workspace w, Jdk jdk, String manifest, String name, String... steps) {
        for (int i = 0; i < steps.length; i++) {
            steps[i] = steps[i].startsWith("open ") ? steps[i] + " " + name + ".yaml" : steps[i];
        }
        return Child.on(jdk).in(w.root()).main(Agents.class, steps).with(Klock.class, JsonFactory.class, Yaml.class)
                .file(name + ".yaml", manifest.formatted(w.root(), name)).klock("manifest=" + name + ".yaml");
    }

    /** After its session was closed: whoever adds what an agent declares to the process's scope has a manifest that is refused. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    void denialOfTheProcess_namesTheAgentsThatDeclareIt_andNoLineThatWouldBeRefused(Jdk jdk) {
        Workspace w = workspace();
        Outcome outcome = program(w, jdk, "mode=block", "open tester 1000", "close tester", "plain write w/b/f late").run();

        String line = "declares it: MUTATES FILE:" + w.root() + "/w/b/** (klock.yaml:";
        assertThat(outcome.err()).as(outcome.toString()).contains("agent tester " + line, "agent third " + line, "Klock.wrap").doesNotContain("to allow it");
        assertThat(outcome.err()).contains("\"declared\":[],\"declared_by\":[\"tester\",\"third\"],\"nearest\"");
        Outcome explained = Child.on(jdk).in(w.root()).verb("explain").run();
        assertThat(explained.out()).as(explained.toString()).contains("agent tester " + line).doesNotContain("to allow it");
        assertThat(Child.on(jdk).in(w.root()).verb("explain", "--json").run().out()).contains("\"declared_by\" : [ \"tester\", \"third\" ]");
    }

    /** Of two that have a child at work all the while, the process and the builder; the others come and go. */
    private static Outcome withChildren(Workspace w, Jdk jdk, String... steps) throws IOException {
        Files.createDirectories(w.root().resolve("w/out"));
        Files.createDirectories(w.root().resolve("w/links/late"));
        Files.writeString(w.root().resolve("w/links/late/f"), "first\n");
        String begin = "thread run /bin/sh -c " + words("echo > w/%1$s/began; until test -e w/out/go; do sleep 0.05; done; %2$s; echo > w/%1$s/over");
        List<String> all = new ArrayList<>(List.of("open builder 1000", "open tester 1000", "plain " + begin.formatted("out", ":"),
                "as builder " + begin.formatted("a", words("test -e w/b/new && echo more >> w/b/new")), "as builder await w/a/began", "plain await w/out/began"));
        all.addAll(List.of(steps));
        all.addAll(List.of("plain write w/out/go go", "as builder await w/a/over", "plain await w/out/over", "plain sleep 300", "close builder", "close tester"));
        return Child.on(jdk).in(w.root()).main(Agents.class, all.toArray(new String[0])).with(Klock.class, JsonFactory.class, Yaml.class).manifest(CHILDREN.formatted(w.root())).klock("").run();
    }

    private static String words(String text) {
        return text.replace(' ', Script.BLANK);
    }

    private static List<String> strays(String text) {
        return text.lines().filter(line -> line.contains("was changed while")).toList();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-7")
    void childOfOne_isNotBlamedForWhatKlockKnowsThatOthersDid(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Outcome outcome = withChildren(w, jdk, "as tester write w/b/made now", "as tester write w/b/f now", "as tester mkdir w/b/d", "as tester write w/b/d/x now", "as tester delete w/b/d/x", "plain write w/out/f now",
                "open linker 1000", "as linker symlink w/links/to f", "abort linker", "open late 1000", "as late write w/links/late/f now", "close late", "plain sleep 500");

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(strays(outcome.err())).as(outcome.toString()).isEmpty();
        for (String agent : List.of("app", "builder", "tester")) {
            assertThat(logs(w, agent)).as(agent).doesNotContain("while PROCESS");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-7")
    void childOfOne_isToldOfWhereItChangedWhatAnotherHadLeft(Jdk jdk) throws IOException {
        Workspace w = workspace();
        Outcome outcome = withChildren(w, jdk, "as tester write w/b/new now");

        assertThat(strays(outcome.err())).as(outcome.toString()).isNotEmpty().allSatisfy(line -> assertThat(line).contains("FILE:" + w.root() + "/w/b/new was changed"));
        assertThat(logs(w, "builder")).contains("while PROCESS");
    }
}
