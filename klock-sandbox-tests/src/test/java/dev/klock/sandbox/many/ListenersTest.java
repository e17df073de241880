package dev.klock.sandbox.many;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import dev.klock.Klock;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Listens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

/** What a program's listeners are told, and by whom. */
class ListenersTest {
    private static final String BY = " by klock listener, a java.lang.Thread, for the process";

    @TempDir
    Path directory;

    private Outcome run(Jdk jdk, String options, String how, String agents) throws IOException {
        Workspace w = Workspace.in(directory);
        for (String below : List.of("w/a", "w/b")) {
            Files.createDirectories(w.root().resolve(below));
        }
        return Child.on(jdk).in(w.root()).main(Listens.class, how).with(Klock.class, JsonFactory.class, Yaml.class).manifest("""
                ver: "1.0"
                agent_id: app
                scope:
                  - CONSUMES FILE:%1$s/w/in/**
                """.formatted(w.root()) + agents.formatted(w.root())).klock(options).run();
    }

    private static List<String> told(Outcome done) {
        return done.out().lines().filter(line -> line.endsWith(BY)).map(line -> line.replaceAll("sessionId=[^,]+, ", "").replace(BY, "")).toList();
    }

    /** Also where the manifest declares no agents. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void listener_isToldOfViolations_onceEach_andItsFailuresAreSaidOnce(Jdk jdk) throws IOException {
        Outcome done = run(jdk, "mode=block", "process", "");

        assertThat(done.exit()).as(done.toString()).isZero();
        String first = "Violation[agentId=app, decision=deny, predicate=PROVIDES, resource=FILE:" + directory.toRealPath() + "/w/b/";
        assertThat(told(done)).as(done.toString()).hasSize(2);
        assertThat(told(done).get(0)).startsWith(first + "x, operation=").contains(", decidedBy=mode, caller=" + Listens.class.getName() + ".stray(",
                ", thread=main, message=Agent attempted PROVIDES on FILE:", "|  to allow it, add to scope: - PROVIDES FILE:");
        assertThat(told(done).get(1)).startsWith(first + "y, operation=");
        assertThat(done.out().lines()).contains("told true", "fields 0").containsSequence("caught dev.klock.ScopeViolationError");
        assertThat(done.err().split("klock: warning: a listener has failed, and is told on: java.lang.IllegalStateException: it fails", -1)).as(done.err()).hasSize(2);
    }

    @Test
    void listener_thatAnAgentRegisters_worksForTheProcess_andIsToldOfAllAgents() throws IOException {
        Outcome done = run(Jdks.newest(), "", "agent", """
                agents:
                  - agent_id: builder
                    scope:
                      - MUTATES FILE:%1$s/w/a/**
                      - PROVIDES FILE:%1$s/w/a/**
                """);

        assertThat(done.exit()).as(done.toString()).isZero();
        assertThat(told(done)).as(done.toString()).hasSize(3);
        assertThat(told(done).get(0)).isEqualTo("Leases[agentId=builder, state=granted, waitedMs=0, detail=null]");
        assertThat(told(done).get(1)).startsWith("Violation[agentId=builder, decision=deny, predicate=PROVIDES, ");
        assertThat(told(done).get(2)).isEqualTo("Rollback[agentId=builder, reason=aborted, restored=1, notRestored=0]");
    }
}
