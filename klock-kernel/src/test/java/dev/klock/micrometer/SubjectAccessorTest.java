package dev.klock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.Klock;
import dev.klock.KlockSession;
import io.micrometer.context.ContextExecutorService;
import io.micrometer.context.ContextRegistry;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With Micrometer's own registry, which finds it by itself. */
class SubjectAccessorTest {
    @TempDir
    Path directory;

    private KlockSession open(String agent) throws Exception {
        Path manifest = directory.resolve(agent + ".yaml");
        Files.writeString(manifest, "ver: \"1.0\"\nagent_id: " + agent + "\nscope: [\"CONSUMES FILE:/w/" + agent + "\"]\n");
        return Klock.open(manifest, Duration.ZERO);
    }

    @Test
    void registry_findsItByItself() {
        assertThat(ContextRegistry.getInstance().getThreadLocalAccessors()).hasAtLeastOneElementOfType(SubjectAccessor.class);
    }

    @Test
    void executor_ofMicrometers_worksAsWhoeverSubmits_alsoAsTheProcess() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(1);
        // as most have it: what a snapshot has no value for is left as it is
        ContextSnapshotFactory factory = ContextSnapshotFactory.builder().clearMissing(false).build();
        ExecutorService carrying = ContextExecutorService.wrap(pool, factory::captureAll);
        try (KlockSession one = open("accessor-one"); KlockSession two = open("accessor-two")) {
            List<KlockSession> seen = new ArrayList<>();
            for (KlockSession session : List.of(one, two)) {
                seen.add(session.call(() -> carrying.submit(Klock::current)).get());
                seen.add(pool.submit(Klock::current).get());
            }
            Runnable look = () -> seen.add(Klock.current());
            Runnable byProcess = factory.captureAll().wrap(look);
            two.run(byProcess);
            assertThat(seen).containsExactly(one, null, two, null, null);
            assertThat(Klock.current()).isNull();
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void scopes_thatNest_getBackToWhatWasBefore() throws Exception {
        ContextSnapshotFactory clearing = ContextSnapshotFactory.builder().clearMissing(true).build();
        try (KlockSession one = open("accessor-three"); KlockSession two = open("accessor-four")) {
            ContextSnapshot ofOne = one.call(clearing::captureAll);
            ContextSnapshot ofTwo = two.call(clearing::captureAll);
            try (ContextSnapshot.Scope outer = ofOne.setThreadLocals()) {
                assertThat(Klock.current()).isSameAs(one);
                try (ContextSnapshot.Scope inner = ofTwo.setThreadLocals()) {
                    assertThat(Klock.current()).isSameAs(two);
                }
                assertThat(Klock.current()).isSameAs(one);
            }
            assertThat(Klock.current()).isNull();
            two.run(() -> {
                ContextSnapshot without = clearing.captureFrom();
                try (ContextSnapshot.Scope nobody = without.setThreadLocals()) {
                    assertThat(Klock.current()).as("what it has no value for is cleared").isNull();
                }
                assertThat(Klock.current()).isSameAs(two);
            });
        }
    }
}
