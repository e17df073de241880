package dev.klock.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.Answer;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.kernel.Command;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LeaseState;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What whoever holds a session to its manifest is told, and in which state its leases are then. */
class EnforcementTest {
    private final EmbeddedKernel kernel = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, null);
    private final SessionKey key = SessionKey.of("a", "s");
    private final Recorder told = new Recorder();

    @AfterEach
    void close() {
        kernel.close();
    }

    /** Notes each call with the states of the session's leases. */
    private final class Recorder implements Enforcement {
        final List<String> calls = Collections.synchronizedList(new ArrayList<>());
        Exception failure;
        Runnable atBegin;

        private void note(String call) {
            StringBuilder b = new StringBuilder(call);
            for (Lease lease : kernel.leasesOf(key)) {
                b.append(' ').append(lease.resource().path()).append('=').append(lease.state());
            }
            calls.add(b.toString());
        }

        @Override
        public void begin() throws IOException {
            note("begin");
            if (atBegin != null) {
                atBegin.run();
            }
            if (failure instanceof IOException) {
                throw (IOException) failure;
            }
            if (failure != null) {
                throw (RuntimeException) failure;
            }
        }

        @Override
        public void rollBack() {
            note("rollBack");
        }

        @Override
        public void lost(String why) {
            calls.add("lost");
        }

        @Override
        public void validUntil(long nanos) {}

        @Override
        public void end() {
            note("end");
        }
    }

    private LocalSession session(long priorityMs, String... paths) throws InterruptedException {
        LocalSession s = new LocalSession(kernel, key, priorityMs, triples(paths), 0, told);
        s.ask(Duration.ZERO);
        return s;
    }

    private static List<Triple> triples(String... paths) {
        return Arrays.stream(paths).map(p -> Triple.of(Predicate.MUTATES, Resource.file(p))).toList();
    }

    private EmbeddedSession other(String id, long priorityMs, String... paths) throws InterruptedException {
        EmbeddedSession s = kernel.open(SessionKey.of("b", id), priorityMs, null, null);
        assertThat(s.acquire(triples(paths), 0, 0, false).isGranted()).isTrue();
        return s;
    }

    @Test
    @Tag("C50")
    void grant_isReservedUntilItHasBegun_andEndsBeforeTheLeasesGo() throws Exception {
        LocalSession s = session(2_000_000, "/x");
        assertThat(s.isEnforced()).isTrue();
        assertThat(s.answer().isGranted()).isTrue();
        s.close();
        s.close();
        assertThat(told.calls).containsExactly("begin /x=PENDING", "end /x=ACTIVE");
        assertThat(kernel.state(key)).isEqualTo(LifeCycle.COMPLETED);
    }

    @Test
    void begin_thatFails_givesTheLeasesBackAndSaysWhy() throws Exception {
        for (Exception failure : List.of(new IOException("no room for images"), new IllegalStateException("no room for images"))) {
            told.failure = failure;
            try (LocalSession s = new LocalSession(kernel, SessionKey.of("a", failure.getClass().getSimpleName()), 2_000_000, triples("/x"), 0, told)) {
                s.ask(Duration.ZERO);
                assertThat(s.answer().verdict()).isEqualTo(Answer.Verdict.REFUSED);
                assertThat(s.answer().reason()).isEqualTo("no room for images");
                assertThat(kernel.holders("default", Resource.file("/x"))).isEmpty();
                assertThat(s.isValid()).isFalse();
                told.failure = null;
                assertThat(s.retry(Duration.ZERO).isGranted()).as("asked again").isTrue();
            }
        }
    }

    @Test
    void begin_thatThrowsAnError_leavesNoLeaseBehind() throws Exception {
        told.atBegin = () -> {
            throw new StackOverflowError();
        };
        LocalSession s = new LocalSession(kernel, key, 2_000_000, triples("/x"), 0, told);
        assertThatThrownBy(() -> s.ask(Duration.ZERO)).isInstanceOf(StackOverflowError.class);
        assertThat(kernel.leasesOf(key)).isEmpty();
    }

    @Test
    @Tag("K1-1")
    void begin_duringWhichALeaseIsLost_isNotGranted() throws Exception {
        told.atBegin = () -> kernel.perform(new Command.Revoke(kernel.leasesOf(key).get(0).fencingToken()));
        try (LocalSession s = session(2_000_000, "/x", "/y")) {
            assertThat(s.answer().verdict()).isEqualTo(Answer.Verdict.GONE);
            told.atBegin = null;
            assertThat(s.retry(Duration.ZERO).isGranted()).isTrue();
            assertThat(kernel.leasesOf(key)).extracting(Lease::state).containsOnly(LeaseState.ACTIVE).hasSize(2);
        }
    }

    @Test
    @Tag("K4-7")
    @Tag("C43")
    void retry_thatDiesWithWhatItHeldStill_isUndoneBeforeTheNextAttempt() throws Exception {
        try (LocalSession s = session(2_000_000, "/x", "/y")) {
            kernel.perform(new Command.Revoke(kernel.leasesOf(key).get(0).fencingToken()));
            EmbeddedSession older = other("older", 1_000_000, "/x");
            Thread gives = new Thread(() -> {
                while (!told.calls.contains("rollBack /y=ROLLING_BACK")) {
                    Thread.onSpinWait();
                }
                older.close();
            });
            gives.setDaemon(true);
            gives.start();
            assertThat(s.retry(Duration.ofSeconds(20)).isGranted()).isTrue();
            gives.join();
            told.calls.removeIf("lost"::equals);
            assertThat(told.calls).startsWith("begin /x=PENDING /y=PENDING", "rollBack /y=ROLLING_BACK").endsWith("begin /x=PENDING /y=PENDING");
        }
    }

    @Test
    @Tag("C43")
    void acquire_thatDies_isUndone() throws Exception {
        try (LocalSession s = session(2_000_000, "/x")) {
            other("older", 1_000_000, "/z");
            assertThat(s.acquire(Duration.ZERO, "MUTATES FILE:/z").verdict()).isEqualTo(Answer.Verdict.DIE);
            assertThat(told.calls).containsExactly("begin /x=PENDING", "rollBack /x=ROLLING_BACK");
            assertThat(kernel.leasesOf(key)).isEmpty();
        }
    }

    @Test
    void abort_isUndoneOnceAndBeforeItsLeasesGo() throws Exception {
        LocalSession s = session(2_000_000, "/x");
        s.abort("enough");
        s.abort("enough");
        assertThat(kernel.leasesOf(key)).isEmpty();
        assertThat(told.calls).containsExactly("begin /x=PENDING", "rollBack /x=ROLLING_BACK");
        s.close();
        assertThat(told.calls).as("it did not end well").hasSize(2);
    }

    @Test
    void abort_afterClose_undoesNothing() throws Exception {
        LocalSession s = session(2_000_000, "/x");
        s.close();
        s.abort("too late");
        assertThat(told.calls).containsExactly("begin /x=PENDING", "end /x=ACTIVE");
        assertThat(s.state()).isEqualTo(dev.klock.KlockSession.State.COMPLETED);
    }

    @Test
    @Tag("K5-11")
    void retry_afterDie_isToldWhatOthersHadMeanwhile() throws Exception {
        EmbeddedSession older = other("older", 1_000_000, "/x");
        try (LocalSession s = session(2_000_000, "/x")) {
            assertThat(s.answer().verdict()).isEqualTo(Answer.Verdict.DIE);
            older.close();

            Answer now = s.retry(Duration.ofSeconds(5));

            assertThat(now.isGranted()).as(now.toString()).isTrue();
            assertThat(now.changes()).containsExactly("b/older MUTATES FILE:/x");
            assertThat(s.answer().changes()).isEqualTo(now.changes());
        }
    }
}
