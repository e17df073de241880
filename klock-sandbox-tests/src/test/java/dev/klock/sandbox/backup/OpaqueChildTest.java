package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Script;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What programs do that klock cannot see into: the difference that they leave is told, judged and undone. */
@Tag("K6-7")
class OpaqueChildTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String[] WORK = {"run /usr/bin/touch w/out/made", "run /usr/bin/rm w/out/b", "run /usr/bin/cp w/in/a w/out/a",
        "run /usr/bin/mkdir -p w/out/new/deep"};

    @TempDir
    Path directory;

    private Outcome run(Jdk jdk, Workspace workspace, String more, String... then) {
        StringBuilder manifest = new StringBuilder("ver: \"1.0\"\nsession_id: opaque\nagent_id: tester\nscope:\n");
        for (String tool : new String[] {"touch", "rm", "cp", "mkdir"}) {
            manifest.append("  - predicate: PROVIDES\n    resource: PROCESS:/usr/bin/").append(tool).append("\n    effects: [MUTATES FILE:")
                    .append(workspace.root()).append("/w/out/**]\n");
        }
        List<String> steps = new ArrayList<>(List.of(WORK));
        steps.addAll(List.of(then));
        return Child.on(jdk).in(directory).main(Script.class, steps.toArray(new String[0])).klock("").manifest(manifest + more).run();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void difference_ofChildrenInsideTheirEffects_isLoggedAsTriples(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);

        Outcome outcome = run(jdk, workspace, "");

        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        List<String> triples = new ArrayList<>();
        for (JsonNode event : outcome.log().decided("allow")) {
            triples.add(event.path("predicate").asText() + " " + event.path("resource").asText().replace("FILE:" + workspace.root() + "/", ""));
        }
        assertThat(triples).contains("PROVIDES w/out/made", "DELETES w/out/b", "MUTATES w/out/a", "PROVIDES w/out/new", "PROVIDES w/out/new/deep");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-5")
    void difference_ofChildren_isRolledBackWithTheSession(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();

        Outcome outcome = run(jdk, workspace, "", "write w/x stray");

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    @Tag("K6-5")
    void difference_thatADenyLineForbids_isAViolationAndRolledBack(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();

        Outcome outcome = run(jdk, workspace, "deny:\n  - MUTATES FILE:" + workspace.root() + "/w/out/a\n");

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("Agent attempted MUTATES on FILE:" + workspace.root() + "/w/out/a");
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
    }
}
