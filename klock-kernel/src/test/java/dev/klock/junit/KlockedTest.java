package dev.klock.junit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.Klock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Disabled;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** In a JVM that has no agent; what it does with one is tested with the finished jar. */
class KlockedTest {
    private static final String NOTHING = "nothing would hold this test to its manifest: klock is not in this JVM; start it with -javaagent:klock.jar (of Surefire: argLine)";

    @Klocked(agent = "builder")
    static class Guarded {
        @Test
        void works() {
            assertThat(Klock.current()).isNull();
        }
    }

    @Klocked(agent = "builder")
    static class HalfDisabled {
        @Test
        @Disabled
        void off() {}

        @Test
        void works() {}
    }

    @Klocked(agent = "builder")
    static class AllDisabled {
        @Test
        @Disabled
        void off() {}
    }

    static class Waits {
        @Test
        @Klocked(waitSeconds = -1)
        void works() {}
    }

    private static List<String> run(Class<?> test, Map<String, String> parameters) {
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request().selectors(DiscoverySelectors.selectClass(test))
                .configurationParameters(parameters).build();
        List<String> outcomes = new ArrayList<>();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionSkipped(TestIdentifier one, String reason) {
                outcomes.add("SKIPPED");
            }

            @Override
            public void executionFinished(TestIdentifier one, TestExecutionResult result) {
                if (one.isTest()) {
                    outcomes.add(result.getStatus() + result.getThrowable().map(thrown -> " " + thrown.getMessage()).orElse(""));
                }
            }
        });
        return outcomes;
    }

    @Test
    void test_thatNothingGuards_failsAndSaysSo() {
        assertThat(run(Guarded.class, Map.of())).containsExactly("FAILED " + NOTHING
                + "; or choose what is to become of such tests: dev.klock.junit.unguarded=skip, or =run");
    }

    @Test
    void test_thatNothingGuards_isSkippedOrRuns_whereThatIsChosen() {
        assertThat(run(Guarded.class, Map.of(Klocked.UNGUARDED, "skip"))).containsExactly("ABORTED " + NOTHING);
        assertThat(run(Guarded.class, Map.of(Klocked.UNGUARDED, "run"))).containsExactly("SUCCESSFUL");
        assertThat(run(Guarded.class, Map.of(Klocked.UNGUARDED, "Skip"))).containsExactly("FAILED dev.klock.junit.unguarded=Skip: fail, skip or run would be right");
    }

    @Test
    void test_thatIsDisabled_isSkipped_whereNothingWouldGuardIt() {
        assertThat(run(AllDisabled.class, Map.of())).containsExactly("SKIPPED");
        assertThat(run(AllDisabled.class, Map.of(Klocked.UNGUARDED, "skip"))).containsExactly("SKIPPED");
        assertThat(run(HalfDisabled.class, Map.of(Klocked.UNGUARDED, "skip"))).containsExactlyInAnyOrder("SKIPPED", "ABORTED " + NOTHING);
        assertThat(run(HalfDisabled.class, Map.of())).hasSize(2).contains("SKIPPED").anyMatch(outcome -> outcome.startsWith("FAILED " + NOTHING));
    }

    @Test
    void wait_thatCannotBe_isSaid() {
        assertThat(run(Waits.class, Map.of())).containsExactly("FAILED @Klocked(waitSeconds = -1): 0 to 3600 would be right");
    }
}
