package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.klock.kernel.ConflictMatrix;
import dev.klock.kernel.Predicate;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Manifests of several agents. */
class AgentsTest {
    private static final String TWO = """
            ver: "1.0"
            agent_id: app
            scope: [CONSUMES FILE:/w/**, MUTATES FILE:/w/log]
            agents:
              - agent_id: builder
                scope:
                  - MUTATES FILE:/w/src/**
                  - predicate: PROVIDES
                    resource: PROCESS:/bin/make
                    effects: [MUTATES FILE:/w/build/**]
                deny: [MUTATES FILE:/w/src/keep]
              - {agent_id: reviewer, session_id: r, priority_timestamp: 7, scope: []}
            """;
    private static final Map<String, String> VARIABLES = Map.of("workspace", "/w");

    private static ManifestReader reader() {
        return new ManifestReader(VARIABLES::get, new ReadOptions());
    }

    private static Manifest read(String text) throws ManifestException {
        return reader().read("k.yaml", text.getBytes(StandardCharsets.UTF_8));
    }

    private static String shown(Manifest m) {
        return m.agentId() + " " + m.sessionId() + " " + m.priorityTimestamp() + " " + m.file() + " " + m.scope() + " " + m.deny() + " " + m.leases() + " "
                + m.scope().stream().map(line -> line.line() + ":" + line.column() + line.effects()).collect(Collectors.joining()) + m.agents().stream().map(AgentsTest::shown).toList();
    }

    @Test
    void agents_haveTheirOwnScopes() throws ManifestException {
        Manifest m = read(TWO);

        assertThat(m.agents()).extracting(Manifest::agentId).containsExactly("builder", "reviewer");
        Manifest builder = m.agents().get(0);
        assertThat(builder.scope().get(0)).hasToString("MUTATES FILE:/w/src/**");
        assertThat(builder.scope().get(0).line()).isEqualTo(7);
        assertThat(builder.deny()).hasSize(1);
        assertThat(builder.leases()).hasToString("[MUTATES FILE:/w/src/**, MUTATES FILE:/w/build/**]");
        assertThat(m.agents().get(1).sessionId()).isEqualTo("r");
        assertThat(m.agents().get(1).priorityTimestamp()).isEqualTo(7);
        assertThat(m.agents().get(1).agents()).isEmpty();
    }

    /** What the process only reads would keep its agents from changing it, since it holds that as long as it runs. */
    @Test
    void leases_ofTheProcess_leaveOutWhatItOnlyReadsAndAnAgentMayChange() throws ManifestException {
        assertThat(read(TWO).leases()).hasToString("[MUTATES FILE:/w/log]");
        assertThat(read(TWO.replace("CONSUMES FILE:/w/**", "CONSUMES FILE:/w/in/**")).leases()).hasToString("[CONSUMES FILE:/w/in/**, MUTATES FILE:/w/log]");
    }

    @Test
    void agents_inJson_areTheSame() throws ManifestException {
        Manifest m = reader().read("k.json", "{\"ver\":\"1.0\",\"agent_id\":\"app\",\"scope\":[],\"agents\":[{\"agent_id\":\"b\",\"scope\":[\"MUTATES FILE:/w/a\"]}]}"
                .getBytes(StandardCharsets.UTF_8));

        assertThat(m.agents().get(0).scope()).hasToString("[MUTATES FILE:/w/a]");
    }

    @Test
    void agents_packed_areTheSame() throws ManifestException {
        byte[] source = TWO.getBytes(StandardCharsets.UTF_8);
        Manifest m = read(TWO);

        assertThat(shown(reader().unpack("k.yaml", source, reader().pack(m, source)))).isEqualTo(shown(m));
    }

    @Test
    void agents_thatOverlapEachOther_arePartedByLeases() throws ManifestException {
        assertThat(read(TWO.replace("scope: []", "scope: [MUTATES FILE:/w/src/**]")).agents()).hasSize(2);
    }

    /** As many lines as there may be, each with an effect: nothing is compared more often than once with each other. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void agents_asLargeAsTheyMayBe_areReadInReasonableTime() throws ManifestException {
        StringBuilder b = new StringBuilder("agent_id: app\nscope:\n");
        String line = "{predicate: PROVIDES, resource: PROCESS:/bin/%1$s%2$d, effects: [MUTATES FILE:/w/%1$s/%2$d]}\n";
        for (int i = 0; i < 2_000; i++) {
            b.append("- ").append(String.format(line, "p", i)).append("- CONSUMES FILE:/w/in/").append(i).append('\n');
        }
        b.append("agents:\n- agent_id: b\n  scope:\n");
        for (int i = 0; i < 2_000; i++) {
            b.append("  - ").append(String.format(line, "a", i));
        }
        assertThat(read(b.toString()).leases()).hasSize(4_000);
    }

    /** No lease that the process has for as long as it runs keeps an agent from one of its own. */
    @Property(tries = 500)
    void leases_ofProcessAndAgents_neverMeet(@ForAll("lineLists") List<String> process, @ForAll("lineLists") List<String> builder,
            @ForAll("lineLists") List<String> reviewer) {
        String text = "agent_id: app\nscope: " + process + "\nagents:\n- {agent_id: b, scope: " + builder + "}\n- {agent_id: r, scope: " + reviewer + "}\n";
        Manifest m;
        try {
            m = read(text);
        } catch (ManifestException e) {
            assertThat(e.getMessage()).containsAnyOf("of the process itself (line 2)", "contradicts DELETES");
            return;
        }
        for (Manifest agent : m.agents()) {
            for (Line theirs : agent.leases()) {
                for (Line own : m.leases()) {
                    assertThat(ConflictMatrix.conflicts(own.predicate(), theirs.predicate()) && own.resource().overlaps(theirs.resource()))
                            .as("%s of the process and %s of %s", own, theirs, agent.agentId()).isFalse();
                }
            }
        }
        List<Line> without = new Manifest("k", null, "app", 0, m.scope(), m.deny(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), new String[0])
                .leases();
        assertThat(without).containsAll(m.leases());
        assertThat(m.leases()).containsAll(without.stream().filter(line -> line.predicate().changes()).toList());
    }

    @Provide
    Arbitrary<List<String>> lineLists() {
        Arbitrary<String> path = Arbitraries.of("/w/a", "/w/a/*", "/w/a/**", "/w/a/b", "/w/b", "/w/b/**", "/w/c/d");
        Arbitrary<Predicate> predicate = Arbitraries.of(Predicate.CONSUMES, Predicate.CONSUMES, Predicate.DEPENDS_ON, Predicate.MUTATES, Predicate.PROVIDES,
                Predicate.DELETES, Predicate.RENAMES);
        return Combinators.combine(predicate, path).as((p, at) -> p + " FILE:" + at).list().ofMaxSize(3);
    }

    @Test
    void warnings_areOfAgentsToo() throws ManifestException {
        List<String> warnings = read(TWO.replace("scope: []", "scope: [RENAMES ENV:HOME]")).warnings();

        assertThat(warnings).hasSize(1);
        assertThat(warnings.get(0)).startsWith("k.yaml:12:").contains("RENAMES ENV:HOME means nothing");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "agents: []|k.yaml:4:10: agents is empty; leave it out where the process is the only agent",
        "agents: x|agents is the text",
        "agents: [x]|an entry of agents is the text",
        "agents: [{scope: []}]|k.yaml:4:10: an agent has no agent_id; write agent_id: NAME",
        "agents: [{agent_id: b}]|an agent has no scope; write scope: [] to declare nothing",
        "agents: [{agent_id: b, scop: []}]|unknown field of an agent 'scop'; did you mean scope?",
        "agents: [{agent_id: b, agents: []}]|k.yaml:4:24: agents stands under an agent; write it once, at the top level: it is for the whole process",
        "agents: [{agent_id: b, klock: {}}]|k.yaml:4:24: klock stands under an agent; write it once",
        "agents: [{agent_id: b, hooks: []}]|hooks stands under an agent; write it once",
        "agents: [{agent_id: b, tests: {}}]|tests stands under an agent; write it once",
        "agents: [{agent_id: b, ver: '1.0'}]|ver stands under an agent; write it once",
        "agents: [{agent_id: b, intents: []}]|intents stands under an agent; write its triples under scope",
        "agents: [{agent_id: b, priority: 1}]|priority stands under an agent; write priority_timestamp",
        "agents: [{agent_id: b, scope: [], scope: []}]|the field of an agent scope is there twice",
        "agents: [{agent_id: b, scope: []}, {agent_id: b, scope: []}]|k.yaml:4:47: agents has b twice, first on line 4",
        "agents: [{agent_id: app, scope: []}]|k.yaml:4:21: agents has another app",
        "agents: [{agent_id: b, scope: [{predicate: PROVIDES, resource: PROCESS:/bin/x, effects: [DELETES FILE:/w/log]}]}]|DELETES FILE:/w/log of agent b meets",
        "agents: [{agent_id: ../b, scope: []}]|U+002F",
        "agents: [{agent_id: b, scope: [MUTATES FILE:/]}]|reaches",
        "agents: [{agent_id: b, scope: [DELETES FILE:/w/a, MUTATES FILE:/w/a]}]|contradicts DELETES",
        "agents: [{agent_id: b, scope: [CONSUMES FILE:/w/log]}]|k.yaml:4:32: CONSUMES FILE:/w/log of agent b meets MUTATES FILE:/w/log of the process itself (line 3)",
        "agents: [{agent_id: b, scope: [MUTATES FILE:/w/**]}]|which holds that as long as it runs; declare it for one of them"})
    void agents_thatCannotBeMeant_areRefusedInOneLine(String agents, String message) {
        String text = "ver: \"1.0\"\nagent_id: app\nscope: [CONSUMES FILE:/w/in/**, MUTATES FILE:/w/log]\n" + agents + "\n";

        assertThatExceptionOfType(ManifestException.class).isThrownBy(() -> read(text)).withMessageContaining(message).satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1));
    }
}
