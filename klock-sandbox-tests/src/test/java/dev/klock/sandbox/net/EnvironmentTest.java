package dev.klock.sandbox.net;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The environment: one decision by whatever door a value is read. */
@Tag("K6-1")
class EnvironmentTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String CHILD = "{predicate: PROVIDES, resource: \"PROCESS:/usr/bin/env\", effects: []}";

    @TempDir
    Path directory;

    private Steps steps(Jdk jdk, String... lines) {
        return new Steps(jdk, directory, NativeSteps.class).declaring(lines);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F13")
    void variable_byEveryDoor_isDecidedAlike(Jdk jdk) {
        String[] doors = {"getenv SECRET", "reference SECRET", "map SECRET", "builder SECRET", "entry SECRET", "builder-entry SECRET",
            "copy SECRET", "values", "has-value", "proc", "entry-set SECRET", "entry-hash SECRET", "entry-equals SECRET", "guess SECRET", "values-contain", "values-remove",
            "values-equal", "values-hash", "entries-remove SECRET", "entries-equal", "entries-hash"};
        Steps steps = steps(jdk, "CONSUMES ENV:DECLARED");
        Map<String, String> results = steps.watched("block", doors);
        assertThat(results.values()).as(results.toString())
                .allMatch(result -> result.startsWith("ScopeViolationError Agent attempted CONSUMES on "));
        for (String door : new String[] {"getenv SECRET", "reference SECRET", "map SECRET", "builder SECRET", "entry SECRET", "builder-entry SECRET",
            "entry-set SECRET", "entry-hash SECRET", "entry-equals SECRET"}) {
            assertThat(results.get(door)).contains("ENV:SECRET but declared nothing");
        }
        String[] free = {"getenv DECLARED", "map DECLARED", "builder DECLARED", "entry DECLARED", "getenv NOT_SET_ANYWHERE", "map NOT_SET_ANYWHERE",
            "names SECRET", "put", "replace DECLARED", "remove DECLARED", "getenv PATH", "getenv HOME", "jdk-reads"};
        assertThat(steps.watched("block", free)).isEqualTo(steps.bare(free));
        assertThat(steps.watched("permissive", doors)).isEqualTo(steps.bare(doors));
        // what takes a secret out of a child's environment does not ask for it
        String[] scrubs = {"replace SECRET", "remove SECRET"};
        assertThat(steps.watched("block", scrubs).values()).containsOnly("null");
        assertThat(steps.watched("permissive", scrubs)).isEqualTo(steps.bare(scrubs));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-F13")
    @Tag("K6-3")
    void variable_undeclaredInStrict_endsTheSessionAndItsValueIsNowhere(Jdk jdk) {
        Outcome outcome = steps(jdk).strict("getenv SECRET");
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("CONSUMES ENV:SECRET");
        assertThat(outcome.toString()).doesNotContain("s3cret");
        JsonNode denial = outcome.log().decided("deny").get(0);
        assertThat(denial.toString()).contains("ENV:SECRET").doesNotContain("s3cret");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-E09")
    @Tag("FIELD-E18")
    void child_getsWhatTheProgramGives_butNoNewLoaderVariable(Jdk jdk) {
        Steps steps = steps(jdk, CHILD, "CONSUMES ENV:DECLARED");
        Map<String, String> results = steps.watched("block", "child", "child OWN value", "child LD_PRELOAD /nowhere.so",
                "child JAVA_TOOL_OPTIONS -Dx=y", "child GCONV_PATH /nowhere", "child BASH_FUNC_true%% (){}", "child PYTHONHOME /nowhere",
                "child GIT_EXTERNAL_DIFF /nowhere", "child CLASSPATH /nowhere");
        for (String name : new String[] {"GCONV_PATH", "BASH_FUNC_true%%", "PYTHONHOME", "GIT_EXTERNAL_DIFF", "CLASSPATH"}) {
            assertThat(results).as(name).anySatisfy((step, result) -> {
                assertThat(step).contains(name);
                assertThat(result).contains("ScopeViolationError Agent attempted MUTATES on ENV:" + name.replace("%%", ""));
            });
        }
        assertThat(results.get("child")).isEqualTo("ran true");
        assertThat(results.get("child OWN value")).isEqualTo("ran true");
        assertThat(results.get("child LD_PRELOAD /nowhere.so")).contains("ScopeViolationError Agent attempted MUTATES on ENV:LD_PRELOAD");
        assertThat(results.get("child JAVA_TOOL_OPTIONS -Dx=y")).contains("ScopeViolationError Agent attempted MUTATES on ENV:JAVA_TOOL_OPTIONS");
        Outcome outcome = steps.outcome("", "child");
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.log().decided("allow")).anyMatch(record -> record.path("resource").asText().equals("ENV:SECRET")
                && record.path("decided_by").asText().equals("child"));
    }

    /** A line for files is none for the environment, nor for memory. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-F13")
    void environmentOfAProcess_byItsFile_needsALineForEachVariable(Jdk jdk) throws IOException {
        String[] ways = {"file /proc/self/environ", "file /proc/thread-self/environ", "file /proc/self/mem"};
        Map<String, String> results = new Steps(jdk, directory, NativeSteps.class).declaring("CONSUMES FILE:/**").watched("block", ways);
        assertThat(results.get(ways[0])).contains("ScopeViolationError Agent attempted CONSUMES on ENV:");
        assertThat(results.get(ways[1])).contains("ScopeViolationError Agent attempted CONSUMES on ");
        assertThat(results.get(ways[2])).contains("ScopeViolationError Agent attempted CONSUMES on NATIVE:ffm");
    }
}
