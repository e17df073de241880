package dev.klock.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.kernel.Backoff;
import dev.klock.kernel.Change;
import dev.klock.kernel.Command;
import dev.klock.kernel.Event;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LeaseState;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.Refusal;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class EmbeddedKernelTest {
    private final List<Event> events = new CopyOnWriteArrayList<>();
    private final EmbeddedKernel kernel = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, events::add);

    @AfterEach
    void close() {
        kernel.close();
    }

    private static List<Triple> mutates(String... paths) {
        List<Triple> list = new ArrayList<>();
        for (String path : paths) {
            list.add(Triple.of(Predicate.MUTATES, Resource.file(path)));
        }
        return list;
    }

    private EmbeddedSession session(String name, long priority) {
        return kernel.open(SessionKey.of(name, "s"), priority, null, null);
    }

    private static class Lost implements SessionListener {
        final CountDownLatch lost = new CountDownLatch(1);
        final List<Change> changes = new CopyOnWriteArrayList<>();

        @Override
        public void leaseLost(Lease lease) {
            lost.countDown();
        }

        @Override
        public void observationUpdate(List<Change> news) {
            changes.addAll(news);
        }
    }

    @Test
    void acquire_nothingInTheWay_isGrantedAndReleased() throws Exception {
        EmbeddedSession a = session("a", 1);
        Acquisition got = a.acquire(mutates("/x", "/y"), 1000, 0, false);
        assertThat(got.verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(got.leases()).hasSize(2);
        assertThat(a.isValid()).isTrue();
        assertThat(a.state()).isEqualTo(LifeCycle.EXECUTING);
        a.releaseAll();
        assertThat(a.isValid()).isFalse();
        assertThat(a.state()).isEqualTo(LifeCycle.PLANNING);
    }

    @Test
    @Tag("K4-10")
    @Tag("K5-10")
    @Tag("K5-11")
    void acquire_olderWaits_isHandedTheLeaseWithWhatChanged() throws Exception {
        EmbeddedSession young = session("young", 2);
        Lost told = new Lost();
        EmbeddedSession old = kernel.open(SessionKey.of("old", "s"), 1, null, told);
        young.acquire(mutates("/x"), 1000, 0, false);
        CompletableFuture<Acquisition> waiting = old.acquireLater(mutates("/x"), 20_000, 0, false);
        assertThat(waiting.isDone()).isFalse();
        assertThat(old.state()).isEqualTo(LifeCycle.PAUSED);
        young.releaseAll();
        Acquisition got = waiting.get(10, TimeUnit.SECONDS);
        assertThat(got.isGranted()).isTrue();
        assertThat(got.changes()).extracting(Change::by).containsExactly(young.key());
        waitUntil(() -> !told.changes.isEmpty());
    }

    @Test
    @Tag("K2-10")
    @Tag("K4-5")
    @Tag("K4-10")
    void policy_thatThrows_leavesTheKernelAndThoseWhoWaitUnharmed() throws Exception {
        AtomicLong clock = new AtomicLong();
        KernelOptions options = KernelOptions.standard().withPolicy((s, p, r) -> {
            if (r.path().equals("/boom")) {
                throw new IllegalStateException("policy");
            }
            return null;
        });
        try (EmbeddedKernel own = new EmbeddedKernel(options, 1000, null, clock::get)) {
            EmbeddedSession young = own.open(SessionKey.of("young", "s"), 3, () -> false, null);
            EmbeddedSession old = own.open(SessionKey.of("old", "s"), 2, null, null);
            EmbeddedSession asks = own.open(SessionKey.of("asks", "s"), 1, null, null);
            young.acquire(mutates("/a"), 0, 300, false);
            CompletableFuture<Acquisition> waits = old.acquireLater(mutates("/a"), 5000, 0, false);
            clock.set(TimeUnit.MILLISECONDS.toNanos(300));
            assertThat(asks.acquire(mutates("/boom"), 0, 0, false).refusal().code()).isEqualTo(Refusal.Code.POLICY);
            assertThat(waits.get(10, TimeUnit.SECONDS).isGranted()).isTrue();
            assertThat(old.isValid()).isTrue();
        }
    }

    @Test
    @Tag("K2-10")
    void policy_thatCallsItsKernel_isRefusedAndBreaksNothing() throws Exception {
        EmbeddedKernel[] own = new EmbeddedKernel[1];
        EmbeddedSession[] asks = new EmbeddedSession[1];
        AtomicReference<Runnable> does = new AtomicReference<>(() -> {});
        KernelOptions options = KernelOptions.standard().withPolicy((s, p, r) -> {
            does.get().run();
            return null;
        });
        own[0] = new EmbeddedKernel(options, 1000, null);
        try {
            EmbeddedSession young = own[0].open(SessionKey.of("young", "s"), 3, null, null);
            EmbeddedSession old = own[0].open(SessionKey.of("old", "s"), 2, null, null);
            asks[0] = own[0].open(SessionKey.of("asks", "s"), 1, null, null);
            young.acquire(mutates("/a"), 0, 0, false);
            CompletableFuture<Acquisition> waits = old.acquireLater(mutates("/a"), 50_000, 0, false);
            List<Runnable> all = List.of(
                    () -> own[0].close(),
                    () -> asks[0].close(),
                    () -> own[0].open(SessionKey.of("new", "s"), 1, null, null),
                    () -> asks[0].acquireLater(mutates("/c"), 0, 0, false),
                    () -> own[0].queue(),
                    () -> asks[0].abort("by the policy"));
            for (Runnable one : all) {
                does.set(one);
                assertThat(asks[0].acquire(mutates("/b"), 0, 0, false).refusal().code()).isEqualTo(Refusal.Code.POLICY);
                assertThat(asks[0].state()).isEqualTo(LifeCycle.PLANNING);
            }
            does.set(() -> waits.cancel(false));
            assertThat(asks[0].acquire(mutates("/b"), 0, 0, false).isGranted()).isTrue();
            waitUntil(() -> own[0].queue().isEmpty());
            does.set(() -> {});
            young.releaseAll();
            assertThat(old.leases()).as("nobody knows of it any more").isEmpty();
            assertThat(asks[0].acquire(mutates("/a"), 0, 0, false).isGranted()).isTrue();
        } finally {
            own[0].close();
        }
    }

    @Test
    @Tag("K0-3")
    @Tag("K5-2")
    void close_afterAnAskWithoutTimeToWait_endsWellAndFreesEverything() throws Exception {
        EmbeddedSession young = session("young", 2);
        EmbeddedSession old = session("old", 1);
        young.acquire(mutates("/x"), 0, 0, false);
        old.acquire(mutates("/mine"), 0, 0, false);
        assertThat(old.acquire(mutates("/x"), 0, 0, false).verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(old.isValid()).isTrue();
        assertThat(old.state()).isEqualTo(LifeCycle.EXECUTING);
        old.close();
        assertThat(old.state()).isEqualTo(LifeCycle.COMPLETED);
        assertThat(kernel.leasesOf(old.key())).isEmpty();
    }

    @Test
    @Tag("K4-2")
    @Tag("K4-5")
    void acquire_holderStays_timesOutInTime() throws Exception {
        EmbeddedSession young = session("young", 2);
        EmbeddedSession old = session("old", 1);
        young.acquire(mutates("/x"), 0, 0, false);
        long start = System.nanoTime();
        Acquisition got = old.acquire(mutates("/x"), 150, 0, false);
        long tookMs = (System.nanoTime() - start) / 1_000_000;
        assertThat(got.verdict()).isEqualTo(Verdict.DIE);
        assertThat(got.timedOut()).isTrue();
        assertThat(tookMs).isBetween(149L, 5_000L);
        assertThat(kernel.queue()).isEmpty();
    }

    @Test
    @Tag("K4-6")
    void acquire_youngerThanHolder_diesAtOnceWithTheHolder() throws Exception {
        EmbeddedSession old = session("old", 1);
        EmbeddedSession young = session("young", 2);
        old.acquire(mutates("/x"), 0, 0, false);
        Acquisition got = young.acquire(mutates("/x"), 20_000, 0, false);
        assertThat(got.verdict()).isEqualTo(Verdict.DIE);
        assertThat(got.conflicts().get(0).holder()).isEqualTo(old.key());
        assertThat(got.retryAfterMs()).isBetween(1L, 60_000L);
    }

    @Test
    void acquire_interruptedWhileWaiting_takesTheManifestBack() throws Exception {
        EmbeddedSession young = session("young", 2);
        EmbeddedSession old = session("old", 1);
        young.acquire(mutates("/x"), 0, 0, false);
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread t = new Thread(() -> {
            try {
                old.acquire(mutates("/x"), 20_000, 0, false);
            } catch (InterruptedException e) {
                interrupted.set(true);
            }
        });
        t.start();
        waitUntil(() -> !kernel.queue().isEmpty());
        t.interrupt();
        t.join(10_000);
        assertThat(interrupted).isTrue();
        assertThat(kernel.queue()).isEmpty();
        assertThat(old.state()).isEqualTo(LifeCycle.PLANNING);
    }

    @Test
    @Tag("K3-9")
    @Tag("K3-11")
    void heartbeat_healthySession_keepsItsLeasesBeyondTheirTimeToLive() throws Exception {
        EmbeddedSession a = session("a", 1);
        // long enough that a busy machine's daemon thread gets its turn three times in it
        a.acquire(mutates("/x"), 0, 1500, false);
        Thread.sleep(3500);
        assertThat(a.isValid()).isTrue();
        assertThat(a.leases()).hasSize(1);
    }

    @Test
    @Tag("K3-10")
    void heartbeat_ofALease_comesAtEachThirdOfItsTime() throws Exception {
        AtomicLong clock = new AtomicLong();
        AtomicInteger beats = new AtomicInteger();
        EmbeddedKernel timed = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, null, clock::get);
        try {
            EmbeddedSession a = timed.open(SessionKey.of("a", "s"), 1, () -> beats.incrementAndGet() > 0, null);
            a.acquire(mutates("/x"), 0, 300, false);
            for (int third = 1; third <= 5; third++) {
                clock.set(TimeUnit.MILLISECONDS.toNanos(third * 100) - 1);
                Thread.sleep(150);
                assertThat(beats.get()).as("just before third %s", third).isEqualTo(third - 1);
                clock.set(TimeUnit.MILLISECONDS.toNanos(third * 100));
                int due = third;
                waitUntil(() -> beats.get() == due);
            }
            assertThat(a.leases()).hasSize(1);
        } finally {
            timed.close();
        }
    }

    /** The lease that was in the way runs out in the very command that takes the manifest back. */
    @Test
    @Tag("K3-1")
    void wait_thatIsCutShortAsItIsGranted_leavesNoLeaseThatNobodyKnowsOf() throws Exception {
        for (boolean thread : new boolean[] {true, false}) {
            AtomicLong clock = new AtomicLong();
            EmbeddedKernel timed = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, null, clock::get);
            try {
                EmbeddedSession young = timed.open(SessionKey.of("young", "s"), 9, () -> false, null);
                EmbeddedSession old = timed.open(SessionKey.of("old", "s"), 1, null, null);
                young.acquire(mutates("/x"), 0, 20_000, false);
                if (thread) {
                    AtomicReference<Object> end = new AtomicReference<>();
                    Thread waits = new Thread(() -> {
                        try {
                            end.set(old.acquire(mutates("/x"), 50_000, 0, false));
                        } catch (InterruptedException e) {
                            end.set(e);
                        }
                    });
                    waits.start();
                    waitUntil(() -> !timed.queue().isEmpty());
                    synchronized (timed.lock) {
                        clock.set(TimeUnit.MILLISECONDS.toNanos(20_000));
                        waits.interrupt();
                    }
                    waits.join();
                    assertThat(((Acquisition) end.get()).leases()).extracting(Lease::fencingToken)
                            .containsExactly(old.leases().get(0).fencingToken());
                } else {
                    CompletableFuture<Acquisition> waits = old.acquireLater(mutates("/x"), 50_000, 0, false);
                    synchronized (timed.lock) {
                        clock.set(TimeUnit.MILLISECONDS.toNanos(20_000));
                        waits.cancel(false);
                    }
                    assertThat(old.leases()).isEmpty();
                    assertThat(old.state()).isEqualTo(LifeCycle.PLANNING);
                }
            } finally {
                timed.close();
            }
        }
    }

    @Test
    void handle_fromBefore_actsOnNothingAfterTheLaterOneWasClosedEither() throws Exception {
        EmbeddedSession first = session("a", 1);
        first.close();
        EmbeddedSession second = kernel.open(new Command.Register(first.key(), 1, true, 1, false, true, true), null, null);
        second.acquire(mutates("/x"), 0, 0, false);
        second.abort("test");
        second.close();
        assertThat(first.state()).isEqualTo(LifeCycle.COMPLETED);
        assertThat(first.releaseAll().refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
        assertThat(first.rolledBack().refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
        assertThat(kernel.holders(SessionKey.DEFAULT_NAMESPACE, Resource.file("/x"))).hasSize(1);
        assertThat(second.rolledBack().leases()).as("its own business still").hasSize(1);
    }

    @Test
    void holds_isAboutLeasesThatItMayActUnder_withoutAskingTheKernel() throws Exception {
        EmbeddedSession a = session("a", 1);
        List<Lease> reserved = a.acquire(mutates("/a", "/b"), 0, 0, true).leases();
        assertThat(a.holds(reserved)).as("not confirmed").isFalse();
        a.confirm();
        assertThat(a.holds(reserved)).isTrue();
        List<Lease> more = a.acquire(mutates("/c"), 0, 0, false).leases();
        assertThat(a.holds(more)).isTrue();
        assertThat(a.holds(reserved)).isTrue();
        assertThat(session("b", 2).holds(more)).as("another's").isFalse();
        a.release(List.of(reserved.get(1)));
        assertThat(a.holds(reserved)).isFalse();
        assertThat(a.holds(List.of(reserved.get(0)))).isTrue();
        assertThat(a.holds(more)).isTrue();
        kernel.perform(new Command.Revoke(more.get(0).fencingToken()));
        assertThat(a.holds(more)).isFalse();
        a.abort("enough");
        assertThat(a.holds(reserved.subList(0, 1))).isFalse();
        assertThat(a.holds(List.of())).isTrue();
    }

    @Test
    @Tag("K3-11")
    void grant_thatTookItsTime_isValidFromBeforeIt() throws Exception {
        AtomicLong clock = new AtomicLong();
        KernelOptions slow = KernelOptions.standard().withPolicy((s, p, r) -> {
            clock.addAndGet(TimeUnit.SECONDS.toNanos(3));
            return null;
        });
        EmbeddedKernel timed = new EmbeddedKernel(slow, 1_000_000, null, clock::get);
        try {
            EmbeddedSession a = timed.open(SessionKey.of("a", "s"), 1, () -> false, null);
            a.acquire(mutates("/x"), 0, 2000, false);
            assertThat(a.isValid()).isFalse();
        } finally {
            timed.close();
        }
    }

    @Test
    @Tag("K5-2")
    void wait_whoseSessionEnds_saysThatItIsOver() throws Exception {
        for (String end : List.of("aborted", "closed", "its leases run out")) {
            EmbeddedSession young = session("young " + end, 9);
            young.acquire(mutates("/" + end), 0, 0, false);
            AtomicBoolean alive = new AtomicBoolean(true);
            EmbeddedSession old = kernel.open(SessionKey.of("old " + end, "s"), 1, alive::get, null);
            old.acquire(mutates("/own " + end), 0, 300, false);
            CompletableFuture<Acquisition> waits = old.acquireLater(mutates("/" + end), 50_000, 0, false);
            switch (end) {
                case "aborted" -> old.abort("test");
                case "closed" -> old.close();
                default -> alive.set(false);
            }
            Acquisition answer = waits.get(10, TimeUnit.SECONDS);
            assertThat(answer.verdict()).as(end).isNull();
            assertThat(answer.refusal().code()).as(end).isEqualTo(Refusal.Code.SESSION_ENDED);
            assertThat(answer.refusal().message()).endsWith("became ABORTED while it waited");
        }
    }

    @Test
    void wait_whoseSessionIsPaused_isPaused() throws Exception {
        EmbeddedSession young = session("young", 9);
        young.acquire(mutates("/x"), 0, 0, false);
        EmbeddedSession old = session("old", 1);
        CompletableFuture<Acquisition> waits = old.acquireLater(mutates("/x"), 50_000, 0, false);
        old.perform(new Command.Pause(old.key()));
        assertThat(waits.get(10, TimeUnit.SECONDS).verdict()).isEqualTo(Verdict.PAUSED);
    }

    @Test
    @Tag("K3-1")
    @Tag("FIELD-I15")
    void heartbeat_sessionNoLongerHealthy_losesItsLeaseAndIsTold() throws Exception {
        Lost listener = new Lost();
        AtomicBoolean alive = new AtomicBoolean(true);
        EmbeddedSession a = kernel.open(SessionKey.of("a", "s"), 1, alive::get, listener);
        a.acquire(mutates("/x"), 0, 200, false);
        EmbeddedSession older = session("older", 0);
        CompletableFuture<Acquisition> next = older.acquireLater(mutates("/x"), 20_000, 0, false);
        alive.set(false);
        assertThat(listener.lost.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(a.isValid()).isFalse();
        assertThat(a.state()).isEqualTo(LifeCycle.ABORTED);
        assertThat(next.get(10, TimeUnit.SECONDS).isGranted()).isTrue();
    }

    @Test
    void acquire_reserved_blocksOthersAndIsActiveOnceConfirmed() throws Exception {
        EmbeddedSession a = session("a", 1);
        a.acquire(mutates("/x"), 0, 0, true);
        assertThat(a.state()).isEqualTo(LifeCycle.ACQUIRING);
        assertThat(session("b", 2).acquire(mutates("/x"), 0, 0, false).verdict()).isEqualTo(Verdict.DIE);
        a.confirm();
        assertThat(a.state()).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    void close_withSomebodyWaiting_endsTheWait() throws Exception {
        EmbeddedSession young = session("young", 2);
        EmbeddedSession old = session("old", 1);
        young.acquire(mutates("/x"), 0, 0, false);
        CompletableFuture<Acquisition> waiting = old.acquireLater(mutates("/x"), 20_000, 0, false);
        old.close();
        assertThat(waiting.get(10, TimeUnit.SECONDS).isGranted()).isFalse();
        assertThat(old.state()).isEqualTo(LifeCycle.ABORTED);
        young.close();
        assertThat(young.state()).isEqualTo(LifeCycle.COMPLETED);
    }

    @Test
    @Tag("K3-1")
    void acquireLater_cancelledWhileItWaits_leavesTheQueueAndIsNeverGranted() throws Exception {
        EmbeddedSession young = session("young", 2);
        EmbeddedSession old = session("old", 1);
        for (boolean cancel : new boolean[] {true, false}) {
            young.acquire(mutates("/x"), 0, 0, false);
            old.acquire(mutates("/mine"), 0, 0, false);
            CompletableFuture<Acquisition> waiting = old.acquireLater(mutates("/x"), 20_000, 0, false);
            if (cancel) {
                assertThat(waiting.cancel(true)).isTrue();
            } else {
                waiting.orTimeout(10, TimeUnit.MILLISECONDS);
                waitUntil(waiting::isDone);
            }
            waitUntil(() -> kernel.queue().isEmpty());
            young.releaseAll();
            assertThat(old.leases()).as("what it held stays").extracting(l -> l.resource().path()).containsExactly("/mine");
            assertThat(old.state()).isEqualTo(LifeCycle.EXECUTING);
            old.releaseAll();
        }
    }

    @Test
    @Tag("K3-1")
    void acquireLater_cancelledInTheMomentOfTheGrant_keepsNothing() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        EventSink slow = e -> {
            if (e.kind() == Event.Kind.LEASE_FREED) {
                told.countDown();
                try {
                    goOn.await();
                } catch (InterruptedException interrupted) {
                    throw new IllegalStateException(interrupted);
                }
            }
        };
        try (EmbeddedKernel other = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, slow)) {
            EmbeddedSession young = other.open(SessionKey.of("young", "s"), 2, null, null);
            EmbeddedSession old = other.open(SessionKey.of("old", "s"), 1, null, null);
            young.acquire(mutates("/x"), 0, 0, false);
            CompletableFuture<Acquisition> waiting = old.acquireLater(mutates("/x"), 20_000, 0, false);
            young.releaseAll();
            told.await();
            assertThat(old.leases()).as("granted, and not told yet").hasSize(1);
            assertThat(waiting.cancel(true)).isTrue();
            assertThat(old.leases()).isEmpty();
            assertThat(young.acquire(mutates("/x"), 0, 0, false).isGranted()).isTrue();
            goOn.countDown();
        }
    }

    @Test
    @Tag("K4-2")
    @Tag("K4-5")
    void close_ofTheKernel_failsWhoeverWaitsAndAllThatIsAskedLater() throws Exception {
        EmbeddedSession young = session("young", 3);
        EmbeddedSession old = session("old", 1);
        EmbeddedSession blocked = session("blocked", 2);
        young.acquire(mutates("/x", "/y"), 0, 0, false);
        CompletableFuture<Acquisition> waiting = old.acquireLater(mutates("/x"), 20_000, 0, false);
        CompletableFuture<Acquisition> blocking = CompletableFuture.supplyAsync(() -> {
            try {
                return blocked.acquire(mutates("/y"), 20_000, 0, false);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        waitUntil(() -> kernel.queue().size() == 2);
        kernel.close();
        CompletableFuture<Acquisition> late = old.acquireLater(mutates("/x"), 300, 0, false);
        for (CompletableFuture<Acquisition> f : List.of(waiting, blocking, late)) {
            assertThatThrownBy(() -> f.get(10, TimeUnit.SECONDS)).hasRootCauseInstanceOf(IllegalStateException.class)
                    .hasRootCauseMessage("the kernel is closed");
        }
        assertThat(young.isValid()).as("nothing renews its leases").isFalse();
        List<Callable<?>> calls = List.of(
                () -> young.acquire(mutates("/z"), 0, 0, false),
                () -> young.acquireRetrying(mutates("/z"), 100, 0, false, Backoff.STANDARD, new Random(1)),
                () -> young.dryRun(mutates("/z")),
                young::confirm,
                () -> young.release(List.of()),
                young::releaseAll,
                young::rolledBack,
                () -> young.abort("why"),
                young::verify,
                () -> young.perform(new Command.Heartbeat(young.key(), null)),
                young::state,
                young::leases,
                () -> session("new", 4),
                () -> kernel.perform(new Command.Expire()),
                () -> kernel.holders("default", Resource.file("/x")),
                kernel::queue,
                () -> kernel.blockers(young.key()),
                () -> kernel.session(young.key()),
                () -> kernel.contention(null, 1),
                () -> kernel.overview(null, 1));
        for (Callable<?> call : calls) {
            assertThatThrownBy(call::call).isInstanceOf(IllegalStateException.class).hasMessage("the kernel is closed");
        }
        assertThat(old.key().agentId()).isEqualTo("old");
        young.close();
        kernel.close();
    }

    @Test
    @Tag("K0-3")
    void pause_ofWhoWaits_isToldPausedAndNotGranted() throws Exception {
        EmbeddedSession young = session("young", 2);
        EmbeddedSession old = session("old", 1);
        young.acquire(mutates("/x"), 0, 0, false);
        CompletableFuture<Acquisition> waiting = old.acquireLater(mutates("/x"), 20_000, 0, false);
        old.perform(new Command.Pause(old.key()));
        young.releaseAll();
        assertThat(waiting.get(10, TimeUnit.SECONDS).verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(old.leases()).isEmpty();
        old.perform(new Command.Resume(old.key()));
        assertThat(old.acquire(mutates("/x"), 0, 0, false).isGranted()).isTrue();
    }

    @Test
    void open_twice_isRefused() {
        session("a", 1);
        assertThatThrownBy(() -> session("a", 1)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("open already");
    }

    @Test
    void abort_withWritingLeases_blocksUntilRolledBack() throws Exception {
        EmbeddedSession young = session("young", 2);
        EmbeddedSession old = session("old", 1);
        young.acquire(mutates("/x"), 0, 0, false);
        CompletableFuture<Acquisition> waiting = old.acquireLater(mutates("/x"), 20_000, 0, false);
        young.abort("scope violation");
        assertThat(waiting.isDone()).isFalse();
        assertThat(young.isValid()).isFalse();
        assertThat(young.validUntilNanos() - System.nanoTime()).as("time for the rollback").isPositive();
        young.rolledBack();
        assertThat(waiting.get(10, TimeUnit.SECONDS).isGranted()).isTrue();
    }

    @Test
    @Tag("K7-8")
    @Tag("K4-8")
    @Tag("K4-13")
    void acquireRetrying_manyThreadsOverTheSameFiles_neverTwoInsideAndAllGetThrough() throws Exception {
        int agents = 8;
        AtomicInteger[] inside = {new AtomicInteger(), new AtomicInteger(), new AtomicInteger()};
        AtomicInteger done = new AtomicInteger();
        List<Throwable> failures = new CopyOnWriteArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < agents; i++) {
            EmbeddedSession s = kernel.open(
                    new Command.Register(SessionKey.of("agent" + i, "s"), i, true, 0, false, false, true), null, null);
            Random random = new Random(i);
            Thread t = new Thread(() -> {
                try {
                    for (int round = 0; round < 100; round++) {
                        int first = random.nextInt(3);
                        int second = random.nextInt(3);
                        Acquisition got = s.acquireRetrying(
                                mutates("/f" + first, "/f" + second), 30_000, 0, false, new Backoff(1, 8, 2), random);
                        if (!got.isGranted()) {
                            throw new AssertionError(got.toString());
                        }
                        if (inside[first].incrementAndGet() != 1 || first != second && inside[second].incrementAndGet() != 1) {
                            throw new AssertionError("two inside");
                        }
                        inside[first].decrementAndGet();
                        if (first != second) {
                            inside[second].decrementAndGet();
                        }
                        s.release(got.leases());
                        done.incrementAndGet();
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            });
            threads.add(t);
            t.start();
        }
        for (Thread t : threads) {
            t.join(50_000);
        }
        assertThat(failures).isEmpty();
        assertThat(done).hasValue(agents * 100);
        waitUntil(() -> events.stream().filter(e -> e.kind() == Event.Kind.LEASE_GRANTED).count() == agents * 100);
    }

    @Test
    @Tag("K2-8")
    void kernel_withoutASeedForItsHashes_drawsOneThatNobodyKnows() {
        try (EmbeddedKernel other = new EmbeddedKernel(KernelOptions.standard(), 0, null);
                EmbeddedKernel given = new EmbeddedKernel(KernelOptions.standard().withHashSeed(5), 0, null)) {
            assertThat(KernelOptions.standard().hashSeed()).isEqualTo(KernelOptions.NO_HASH_SEED);
            assertThat(kernel.options.hashSeed()).isNotEqualTo(KernelOptions.NO_HASH_SEED).isNotEqualTo(other.options.hashSeed());
            assertThat(given.options.hashSeed()).isEqualTo(5);
        }
    }

    @Test
    @Tag("K0-3")
    @Tag("C50")
    void close_ofAPausedSession_abortsItAndLeavesItNothingButItsRollback() throws Exception {
        for (boolean reports : new boolean[] {true, false}) {
            EmbeddedSession a = session("a " + reports, 1);
            Acquisition got = a.acquire(mutates("/" + reports), 0, 0, false);
            a.perform(new Command.Pause(a.key()));
            a.close();
            assertThat(a.state()).isEqualTo(LifeCycle.ABORTED);
            assertThat(a.isValid()).isFalse();
            List<Callable<Refusal>> calls = List.of(
                    () -> a.acquire(mutates("/y"), 20_000, 0, false).refusal(),
                    () -> a.acquireLater(mutates("/y"), 20_000, 0, false).get(10, TimeUnit.SECONDS).refusal(),
                    () -> a.acquireRetrying(mutates("/y"), 20_000, 0, false, Backoff.STANDARD, new Random(1)).refusal(),
                    () -> a.dryRun(mutates("/y")).refusal(),
                    () -> a.confirm().refusal(),
                    () -> a.verify().refusal(),
                    () -> a.abort("again").refusal(),
                    () -> a.release(got.leases()).refusal(),
                    () -> a.perform(new Command.Heartbeat(a.key(), null)).refusal(),
                    () -> a.perform(new Command.Register(a.key(), 1, true, 1, false, true, true)).refusal(),
                    () -> a.perform(new Command.RolledBack(SessionKey.of("other", "s"))).refusal());
            for (Callable<Refusal> call : calls) {
                assertThat(call.call().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
            }
            assertThat(a.leases()).extracting(Lease::state).containsExactly(LeaseState.ROLLING_BACK);
            assertThat((reports ? a.rolledBack() : a.releaseAll()).leases()).hasSize(1);
            assertThat(a.leases()).isEmpty();
        }
    }

    @Test
    @Tag("K4-2")
    void handle_whoseKeyWasRegisteredAgainByACommand_isRefusedAtOnceAndStaysWhatItWas() throws Exception {
        for (boolean closed : new boolean[] {true, false}) {
            EmbeddedSession before = session("a " + closed, 1);
            if (closed) {
                before.close();
            } else {
                before.perform(new Command.Complete(before.key()));
            }
            kernel.perform(new Command.Register(before.key(), 1, true, 1, false, true, true));
            kernel.perform(Command.Submit.of(before.key(), mutates("/" + closed)));
            assertThat(before.acquire(mutates("/y"), 20_000, 0, false).refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
            assertThat(before.rolledBack().refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
            assertThat(before.isValid()).isFalse();
            assertThat(before.isValidWithoutLeases()).isFalse();
            assertThat(before.leases()).isEmpty();
            assertThat(before.state()).isEqualTo(LifeCycle.COMPLETED);
            before.close();
            assertThat(kernel.state(before.key())).as("its successor is none of its business").isEqualTo(LifeCycle.EXECUTING);
        }
    }

    /** The deadline is that of the leases, a fifth of their time early, and never counts from later than they do (C46). */
    @Test
    @Tag("K3-11")
    void validity_afterAGrantAndAHeartbeat_endsAFifthBeforeTheLeases() throws Exception {
        AtomicLong clock = new AtomicLong();
        // each look at the clock is a second later than the one before
        EmbeddedKernel timed = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, null, () -> clock.getAndAdd(TimeUnit.SECONDS.toNanos(1)));
        try {
            EmbeddedSession a = timed.open(SessionKey.of("a", "s"), 1, () -> false, null);
            long start = a.validUntilNanos();
            assertThat(start).isZero();
            long ttlMs = 300_000;
            Lease granted = a.acquire(mutates("/x"), 0, ttlMs, false).leases().get(0);
            assertThat(a.validUntilNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(granted.expiresAtMs() - 1_000_000 - ttlMs / 5));
            synchronized (timed.lock) {
                Lease renewed = a.perform(new Command.Heartbeat(a.key(), null)).leases().get(0);
                assertThat(renewed.expiresAtMs()).isGreaterThan(granted.expiresAtMs());
                assertThat(a.validUntilNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(renewed.expiresAtMs() - 1_000_000 - ttlMs / 5));
            }
        } finally {
            timed.close();
        }
    }

    /** The daemon thread means to sleep for twenty seconds when the wait begins, and nobody but it can end this one. */
    @Test
    @Tag("K4-2")
    @Tag("K4-5")
    void acquireLater_holderStays_timesOutInTime() throws Exception {
        try (EmbeddedKernel quiet = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, null)) {
            EmbeddedSession young = quiet.open(SessionKey.of("young", "s"), 2, null, null);
            EmbeddedSession old = quiet.open(SessionKey.of("old", "s"), 1, null, null);
            young.acquire(mutates("/x"), 0, 0, false);
            waitUntil(() -> sleepsFor(quiet) > TimeUnit.SECONDS.toNanos(12));
            Acquisition got = old.acquireLater(mutates("/x"), 50, 0, false).get(10, TimeUnit.SECONDS);
            assertThat(got.verdict()).isEqualTo(Verdict.DIE);
            assertThat(got.timedOut()).isTrue();
        }
    }

    /** How long the daemon thread will sleep yet, nanoseconds; 0 while it does not. */
    private static long sleepsFor(EmbeddedKernel kernel) {
        synchronized (kernel.lock) {
            return kernel.keeperSleeps ? kernel.keeperWakesNanos - System.nanoTime() : 0;
        }
    }

    @Test
    @Tag("RS-4")
    void lease_thatIsRevoked_isToldToItsListener() throws Exception {
        Lost listener = new Lost();
        EmbeddedSession a = kernel.open(SessionKey.of("a", "s"), 1, null, listener);
        Lease lease = a.acquire(mutates("/x"), 0, 0, false).leases().get(0);
        kernel.perform(new Command.Revoke(lease.fencingToken()));
        assertThat(listener.lost.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** Whatever a program does when it is told. */
    @Test
    @Tag("K3-9")
    void listener_thatIsHeldUp_holdsUpNeitherHeartbeatsNorOtherListeners() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Lost held = new Lost() {
            @Override
            public void leaseLost(Lease lease) {
                told.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                super.leaseLost(lease);
            }
        };
        Lost other = new Lost();
        EmbeddedSession a = kernel.open(SessionKey.of("a", "s"), 1, null, held);
        EmbeddedSession b = kernel.open(SessionKey.of("b", "s"), 2, null, other);
        Lease lease = a.acquire(mutates("/x"), 0, 0, false).leases().get(0);
        Lease lasting = b.acquire(mutates("/y"), 0, 1_000, false).leases().get(0);
        Lease short1 = b.acquire(mutates("/z"), 0, 1_000, false).leases().get(0);
        kernel.perform(new Command.Revoke(lease.fencingToken()));
        assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();

        kernel.perform(new Command.Revoke(short1.fencingToken()));

        assertThat(other.lost.await(10, TimeUnit.SECONDS)).as("the other listener is told meanwhile").isTrue();
        waitUntil(() -> b.leases().stream().anyMatch(one -> one.fencingToken() == lasting.fencingToken() && one.expiresAtMs() > lasting.expiresAtMs()));
        go.countDown();
        assertThat(held.lost.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** The time stands still, so that what is left of it is what it was: it ends with the first delay that is as long. */
    @Test
    @Tag("K4-13")
    @Tag("K4-14")
    void acquireRetrying_alwaysInTheWay_doublesItsDelayAndAddsItsJitter() throws Exception {
        try (EmbeddedKernel timed = new EmbeddedKernel(KernelOptions.standard(), 1_000_000, null, () -> 0)) {
            EmbeddedSession old = timed.open(SessionKey.of("old", "s"), 1, null, null);
            EmbeddedSession young = timed.open(SessionKey.of("young", "s"), 2, null, null);
            old.acquire(mutates("/x"), 0, 0, false);
            for (int jitterMs : new int[] {0, 1000}) {
                AtomicInteger asked = new AtomicInteger();
                // of the delays 1, 2, 4, 8, 16, 32 and 64 ms the last is too long; with the jitter of each third already the first third one
                RandomGenerator random = () -> asked.incrementAndGet() % 3 == 0 ? -1L : 0;
                long deaths = timed.session(young.key()).counts().deaths();
                Acquisition got = young.acquireRetrying(mutates("/x"), 50, 0, false, new Backoff(1, 1000, jitterMs), random);
                assertThat(got.verdict()).isEqualTo(Verdict.DIE);
                assertThat(timed.session(young.key()).counts().deaths() - deaths).isEqualTo(jitterMs == 0 ? 7 : 3);
            }
        }
    }

    private EmbeddedSession again(EmbeddedSession before, long epoch) {
        return kernel.open(new Command.Register(before.key(), 1, true, epoch, false, false, true), null, null);
    }

    @Test
    void close_ofAHandleWhoseSessionWasOpenedAgain_leavesItsSuccessorAlone() throws Exception {
        EmbeddedSession before = session("a", 1);
        before.abort("failed");
        EmbeddedSession after = again(before, 1);
        assertThat(after.acquire(mutates("/x"), 0, 0, false).isGranted()).isTrue();
        before.close();
        assertThat(after.state()).isEqualTo(LifeCycle.EXECUTING);
        assertThat(after.isValid()).isTrue();
        assertThat(before.state()).isEqualTo(LifeCycle.ABORTED);
        assertThat(before.leases()).isEmpty();
        assertThat(before.abort("again").refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
        assertThat(before.releaseAll().refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
        assertThat(before.acquire(mutates("/y"), 0, 0, false).refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
        assertThat(after.leases()).hasSize(1);
    }

    @Test
    void close_twice_leavesTheSuccessorAlone() throws Exception {
        EmbeddedSession before = session("a", 1);
        before.close();
        EmbeddedSession after = again(before, 1);
        assertThat(after.acquire(mutates("/x"), 0, 0, false).isGranted()).isTrue();
        before.close();
        assertThat(after.leases()).hasSize(1);
        assertThat(before.state()).isEqualTo(LifeCycle.COMPLETED);
    }

    @Test
    @Tag("K3-9")
    void acquireLater_workOnItsFuture_doesNotStopHeartbeats() throws Exception {
        EmbeddedSession young = session("young", 2);
        EmbeddedSession old = session("old", 1);
        EmbeddedSession bystander = session("bystander", 3);
        bystander.acquire(mutates("/z"), 0, 600, false);
        young.acquire(mutates("/x"), 0, 0, false);
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch began = new CountDownLatch(1);
        old.acquireLater(mutates("/x"), 20_000, 600, false).thenRun(() -> {
            began.countDown();
            try {
                over.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        young.releaseAll();
        assertThat(began.await(10, TimeUnit.SECONDS)).isTrue();
        Thread.sleep(1500);
        assertThat(old.isValid()).isTrue();
        assertThat(bystander.leases()).hasSize(1);
        assertThat(bystander.isValid()).isTrue();
        EmbeddedSession second = session("second", 0);
        CompletableFuture<Acquisition> other = second.acquireLater(mutates("/z"), 20_000, 0, false);
        bystander.releaseAll();
        assertThat(other.get(10, TimeUnit.SECONDS).isGranted()).as("other futures do not wait for that work").isTrue();
        over.countDown();
    }

    private interface Condition {
        boolean holds();
    }

    private static void waitUntil(Condition condition) throws InterruptedException {
        for (int i = 0; i < 2000 && !condition.holds(); i++) {
            Thread.sleep(5);
        }
        assertThat(condition.holds()).isTrue();
    }
}
