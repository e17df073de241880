package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Limits at their very number, answers to commands that come at an odd moment, and the events that each command must leave. */
class EdgesTest {
    private final Worlds w = new Worlds();

    private static Refusal.Code code(Outcome out) {
        return out.refusal() == null ? null : out.refusal().code();
    }

    private static Command.Register register(SessionKey key, long priorityMs, long epoch, boolean resumed) {
        return new Command.Register(key, priorityMs, true, epoch, resumed, true, true);
    }

    @Test
    void sessions_oneMoreThanTheLimit_isRefused() {
        for (int i = 0; i < Limits.MAX_SESSIONS; i++) {
            w.session("a" + i, i);
        }
        assertThat(code(w.apply(register(SessionKey.of("one more", "s"), 0, 0, false)))).isEqualTo(Refusal.Code.TOO_MANY);
        assertThat(w.kernel.sessionCount()).isEqualTo(Limits.MAX_SESSIONS);

        SessionKey ended = SessionKey.of("a0", "s");
        w.apply(new Command.Abort(ended, "test"));
        assertThat(w.kernel.liveSessionCount()).isEqualTo(Limits.MAX_SESSIONS - 1);
        w.session("one more", 0);
        assertThat(code(w.apply(register(ended, 0, 1, false)))).isEqualTo(Refusal.Code.TOO_MANY);
        assertThat(w.state(ended)).isEqualTo(LifeCycle.ABORTED);
        w.apply(new Command.Complete(SessionKey.of("a1", "s")));
        assertThat(w.apply(register(ended, 0, 1, false)).isRefused()).isFalse();
        assertThat(w.kernel.liveSessionCount()).isEqualTo(Limits.MAX_SESSIONS);
    }

    /** Ends so many that one more of that kind is remembered than may be. */
    private void endTooMany(boolean well) {
        for (int i = 0; i <= Limits.MAX_ENDED_SESSIONS; i++) {
            SessionKey key = w.session((well ? "well" : "ill") + i, 0);
            w.apply(well ? new Command.Complete(key) : new Command.Abort(key, "test"));
        }
    }

    @Test
    @Tag("C13")
    void endedSessions_moreThanAreRemembered_keepNobodyOutAndTheFirstOfTheirKindIsForgotten() {
        SessionKey holder = w.session("holder", 0);
        w.submit(holder, "MUTATES /d");
        SessionKey rollingBack = w.rollingBack("rolls back", 0);
        w.submit(rollingBack, "MUTATES /e");
        w.apply(new Command.Abort(rollingBack, "test"));
        SessionKey comesBack = w.session("comes back", 5);
        w.apply(new Command.Abort(comesBack, "test"));
        endTooMany(true);

        assertThat(w.kernel.liveSessionCount()).isEqualTo(2);
        assertThat(w.kernel.sessionCount()).isEqualTo(3 + Limits.MAX_ENDED_SESSIONS);
        assertThat(w.state(SessionKey.of("well0", "s"))).isNull();
        assertThat(w.state(SessionKey.of("well1", "s"))).isEqualTo(LifeCycle.COMPLETED);
        w.now = 10;
        assertThat(w.apply(register(comesBack, 10, 1, false)).priorityMs()).isEqualTo(5);
        w.apply(new Command.Abort(comesBack, "test"));

        endTooMany(false);
        assertThat(w.state(comesBack)).isNull();
        assertThat(w.state(SessionKey.of("ill0", "s"))).isNull();
        assertThat(w.state(SessionKey.of("ill1", "s"))).isEqualTo(LifeCycle.ABORTED);
        assertThat(w.state(holder)).isEqualTo(LifeCycle.EXECUTING);
        assertThat(w.state(rollingBack)).isEqualTo(LifeCycle.ABORTED);
        assertThat(w.kernel.leasesOf(rollingBack)).extracting(Lease::state).containsExactly(LeaseState.ROLLING_BACK);

        // only now does it count as over; the first of the others makes room for it
        w.apply(new Command.RolledBack(rollingBack));
        assertThat(w.kernel.liveSessionCount()).isEqualTo(1);
        assertThat(w.state(rollingBack)).isEqualTo(LifeCycle.ABORTED);
        assertThat(w.state(SessionKey.of("ill1", "s"))).isNull();
        assertThat(w.apply(register(rollingBack, 10, 1, false)).priorityMs()).isZero();
        assertThat(w.kernel.sessionCount()).isEqualTo(2 * Limits.MAX_ENDED_SESSIONS + 1);
    }

    @Test
    @Tag("C13")
    void endedSession_thatWasForgotten_isANewOneWhoseOlderTimestampMustBeVouchedFor() {
        SessionKey first = w.session("first", 5);
        w.apply(new Command.Abort(first, "test"));
        w.at(10);
        endTooMany(false);
        assertThat(code(w.apply(new Command.Heartbeat(first, null)))).isEqualTo(Refusal.Code.UNKNOWN_SESSION);
        assertThat(code(w.apply(new Command.Register(first, 5, false, 1, false, true, true)))).isEqualTo(Refusal.Code.FORGED_PRIORITY);
        assertThat(w.apply(new Command.Register(first, 5, true, 1, true, true, true)).priorityMs()).isEqualTo(5);
    }

    @Test
    void endedSessions_thatWereForgotten_leaveNothingThatIsDue() {
        endTooMany(true);
        w.at(Limits.SESSION_MEMORY_MS - 1);
        assertThat(w.kernel.sessionCount()).isEqualTo(Limits.MAX_ENDED_SESSIONS);
        w.at(Limits.SESSION_MEMORY_MS);
        assertThat(w.kernel.sessionCount()).isZero();
        assertThat(w.kernel.liveSessionCount()).isZero();
        assertThat(w.kernel.nextDueMs()).isEqualTo(Long.MAX_VALUE);
        SessionKey next = w.session("next", w.now);
        assertThat(w.submit(next, "MUTATES /d").verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    void waiters_oneMoreThanTheLimit_isRefusedAndOneThatCannotWaitIsPaused() {
        w.submit(w.session("holder", 1_000_000), "MUTATES /d/**");
        for (int i = 0; i < Limits.MAX_WAITERS; i++) {
            assertThat(w.submit(w.session("a" + i, i), "MUTATES /d/" + i).verdict()).isEqualTo(Verdict.WAIT);
        }
        SessionKey last = w.session("last", 500_000);
        Outcome out = w.submit(last, "MUTATES /d/last");
        assertThat(code(out)).isEqualTo(Refusal.Code.TOO_MANY);
        assertThat(out.conflicts()).isEmpty();
        assertThat(w.kernel.waiterCount()).isEqualTo(Limits.MAX_WAITERS);
        assertThat(w.apply(new Command.Submit(last, Worlds.triples("MUTATES /d/last"), 0, 0, false)).verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(w.submit(last, "MUTATES /e").verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    void session_neverHeardOfAgain_isForgottenAtItsVeryMillisecond() {
        SessionKey quiet = w.session("quiet", 0);
        SessionKey busy = w.session("busy", 0);
        w.at(10);
        w.heartbeat(busy);
        w.at(Limits.SESSION_MEMORY_MS - 1);
        assertThat(w.state(quiet)).isEqualTo(LifeCycle.PLANNING);
        w.at(Limits.SESSION_MEMORY_MS);
        assertThat(w.state(quiet)).isNull();
        assertThat(w.state(busy)).isEqualTo(LifeCycle.PLANNING);
        w.at(Limits.SESSION_MEMORY_MS + 9);
        assertThat(w.state(busy)).isEqualTo(LifeCycle.PLANNING);
        w.at(Limits.SESSION_MEMORY_MS + 10);
        assertThat(w.kernel.sessionCount()).isZero();
        assertThat(w.kernel.nowMs()).isEqualTo(Limits.SESSION_MEMORY_MS + 10);
    }

    /** As after a night of the machine's sleep: the lease's end and the session's are found at the same time. */
    @Test
    @Tag("C13")
    void session_whoseLeaseAndMemoryRanOutAtOnce_isForgottenOnce() {
        for (int lockDelayMs : new int[] {0, 1000}) {
            Worlds worlds = new Worlds(KernelOptions.standard().withLockDelayMs(lockDelayMs));
            SessionKey holder = worlds.session("holder", 0);
            worlds.submit(holder, "MUTATES /d");
            worlds.apply(new Command.Pause(holder));
            Outcome out = worlds.at(2 * Limits.SESSION_MEMORY_MS);
            assertThat(Worlds.kinds(out)).contains(Event.Kind.LEASE_EXPIRED);
            assertThat(worlds.state(holder)).isNull();
            assertThat(worlds.kernel.sessionCount()).isZero();
            assertThat(worlds.kernel.liveSessionCount()).isZero();
            assertThat(worlds.kernel.nextDueMs()).isEqualTo(Long.MAX_VALUE);
        }
    }

    @Test
    @Tag("K7-6")
    void holders_ofALeaseWhosePathIsAtTheLimit_areFound() {
        SessionKey a = w.session("a", 0);
        Resource longest = Resource.file("/" + "d".repeat(Limits.MAX_PATH_BYTES - 1));
        Command submit = new Command.Submit(a, List.of(Triple.of(Predicate.MUTATES, longest)), 0, 0, false);
        assertThat(w.apply(submit).verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.kernel.holders("default", longest)).extracting(Lease::session).containsExactly(a);
    }

    /** Leases that are freed, waits that are granted, withdrawn, run out or die, sessions that end or are forgotten. */
    @Test
    void kernel_whenAllIsOver_keepsNoNumberAndNoRecord() {
        SessionKey holder = w.session("holder", 10);
        SessionKey granted = w.session("granted", 5);
        SessionKey withdrawn = w.session("withdrawn", 4);
        SessionKey late = w.session("late", 3);
        w.submit(holder, "MUTATES /d", "CONSUMES /e");
        w.submit(granted, "MUTATES /d");
        w.submit(withdrawn, "CONSUMES /d");
        w.apply(new Command.Submit(late, Worlds.triples("MUTATES /e"), 0, 100, false));
        assertThat(w.kernel.waiterCount()).isEqualTo(3);
        assertThat(w.kernel.rollSize()).as("4 sessions, 3 waits, 2 leases, 3 queued triples").isEqualTo(12);
        assertThat(w.kernel.indexRecords()).isPositive();
        w.at(100);
        assertThat(w.kernel.rollSize()).as("without the wait that ran out").isEqualTo(10);
        w.apply(new Command.Withdraw(withdrawn));
        assertThat(w.kernel.rollSize()).isEqualTo(8);
        w.release(holder);
        assertThat(w.state(granted)).isEqualTo(LifeCycle.EXECUTING);
        assertThat(w.kernel.rollSize()).as("4 sessions and a lease").isEqualTo(5);
        w.apply(new Command.Complete(granted));
        w.apply(new Command.Pause(late));
        w.at(100 + Limits.SESSION_MEMORY_MS);
        assertThat(w.kernel.sessionCount()).isZero();
        assertThat(w.kernel.rollSize()).isZero();
        assertThat(w.kernel.indexRecords()).isZero();
    }

    @Test
    @Tag("C8")
    void session_thatEnds_wasAtWhatItWasAtLast() {
        SessionKey aborted = w.session("aborted", 1);
        w.submit(aborted, "MUTATES /d");
        w.apply(new Command.Abort(aborted, "test"));
        assertThat(w.kernel.session(aborted).phase()).isEqualTo(LifeCycle.EXECUTING);
        SessionKey completed = w.session("completed", 2);
        w.submit(completed, "MUTATES /d");
        w.apply(new Command.Complete(completed));
        assertThat(w.kernel.session(completed).phase()).isEqualTo(LifeCycle.VERIFYING);
    }

    /** Whoever takes nanoseconds for milliseconds gets an answer, and not after looking at each half second of some thousand years. */
    @Test
    void time_thatJumpsFarAhead_isPassedAtOnce() {
        SessionKey a = w.session("a", 0);
        w.submit(a, "MUTATES /d");
        long before = System.nanoTime();
        assertThat(Worlds.kinds(w.at(1L << 60))).containsExactly(Event.Kind.LEASE_EXPIRED);
        assertThat(System.nanoTime() - before).isLessThan(2_000_000_000L);
        assertThat(w.kernel.sessionCount()).isZero();
        SessionKey b = w.session("b", w.now);
        w.submit(b, "MUTATES /d");
        w.at(w.now + Limits.DEFAULT_TTL_MS - 1);
        assertThat(w.kernel.leaseCount()).isEqualTo(1);
        w.at(w.now + 1);
        assertThat(w.kernel.leaseCount()).isZero();
    }

    /** The index keeps what it read a path into: that must not grow with what is refused. */
    @Test
    @Tag("K1-8")
    void path_farBeyondTheLimit_isRefusedWithoutBeingTakenApart() {
        SessionKey a = w.session("a", 0);
        Resource huge = Resource.of("FILE", "/".repeat(4_000_000), Resource.Form.EXACT);
        Command submit = new Command.Submit(a, List.of(Triple.of(Predicate.MUTATES, huge)), 0, 0, false);
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        assertThat(code(w.apply(submit))).isEqualTo(Refusal.Code.TOO_LONG);
        assertThat(w.kernel.holders("default", huge)).isEmpty();
        assertThat(threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before).isLessThan(1_000_000);
    }

    @Test
    void session_thatHoldsOrWaits_isNotForgotten() {
        SessionKey holder = w.session("holder", 1);
        Lease lease = w.submitFor(holder, Limits.MAX_TTL_MS, "MUTATES /d").leases().get(0);
        SessionKey older = w.session("older", 0);
        assertThat(w.apply(new Command.Submit(older, Worlds.triples("MUTATES /d"), 0, Limits.MAX_WAIT_MS, false)).verdict())
                .isEqualTo(Verdict.WAIT);
        for (long ms = 200_000; ms <= 1_200_000; ms += 200_000) {
            w.at(ms);
            assertThat(w.heartbeat(holder, lease).isRefused()).isFalse();
        }
        assertThat(w.state(older)).isEqualTo(LifeCycle.PAUSED);
        assertThat(w.kernel.waiterCount()).isEqualTo(1);
    }

    @Test
    @Tag("K3-12")
    void heartbeat_ofAllLeasesWhileOneIsInItsGrace_renewsTheOthersAndRejectsThatOne() {
        SessionKey a = w.session("a", 0);
        Lease brief = w.submitFor(a, 1000, "MUTATES /d").leases().get(0);
        Lease lasting = w.submitFor(a, 10_000, "MUTATES /e").leases().get(0);
        w.apply(new Command.AnnounceRestart(a));
        w.at(1000);
        Outcome out = w.apply(new Command.Heartbeat(a, null));
        assertThat(out.leases()).extracting(Lease::fencingToken).containsExactly(lasting.fencingToken());
        assertThat(out.leases().get(0).expiresAtMs()).isEqualTo(11_000);
        assertThat(out.rejections()).extracting(Outcome.Rejection::lease).containsExactly(brief.fencingToken());
        assertThat(out.rejections().get(0).refusal().code()).isEqualTo(Refusal.Code.LEASE_GONE);
    }

    @Test
    @Tag("K3-13")
    void release_ofSeveral_returnsThoseAndRejectsTheRest() {
        SessionKey a = w.session("a", 0);
        Lease other = w.submit(w.session("b", 1), "MUTATES /b").leases().get(0);
        Lease one = w.submit(a, "MUTATES /d").leases().get(0);
        Lease two = w.submit(a, "MUTATES /e").leases().get(0);
        Outcome out = w.apply(new Command.Release(a, Worlds.tokens(one, other, two)));
        assertThat(out.leases()).extracting(Lease::fencingToken).containsExactly(one.fencingToken(), two.fencingToken());
        assertThat(out.leases()).extracting(Lease::state).containsOnly(LeaseState.RELEASED);
        assertThat(out.rejections()).extracting(r -> r.refusal().code()).containsExactly(Refusal.Code.NOT_OWNER);
        assertThat(w.kernel.leaseCount()).isEqualTo(1);
    }

    @Test
    @Tag("K7-5")
    void reconcile_aReservedLeaseInItsGrace_isReservedAgain() {
        SessionKey a = w.session("a", 0);
        Lease lease = w.apply(new Command.Submit(a, Worlds.triples("MUTATES /d"), 1000, 0, true)).leases().get(0);
        w.apply(new Command.AnnounceRestart(a));
        w.at(1000);
        Outcome out = w.apply(new Command.Reconcile(a, Worlds.tokens(lease)));
        assertThat(out.leases()).extracting(Lease::state).containsExactly(LeaseState.PENDING);
        assertThat(Worlds.kinds(w.apply(new Command.Confirm(a, null)))).containsExactly(Event.Kind.LEASE_CONFIRMED);
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
    }

    /** Neither the one that was dead before its restart nor the one that died in its grace. */
    @Test
    @Tag("K7-5")
    @Tag("K3-12")
    @Tag("C45")
    void reconcile_leaseThatIsToBeRolledBack_isNotValidButBlocksUntilThatIsDone() {
        for (boolean diesInItsGrace : new boolean[] {false, true}) {
            Worlds world = new Worlds();
            SessionKey a = world.rollingBack("a", 5);
            Lease lease = world.submitFor(a, 1000, "MUTATES /d").leases().get(0);
            long[] token = Worlds.tokens(lease);
            if (diesInItsGrace) {
                world.apply(new Command.AnnounceRestart(a));
                assertThat(Worlds.kinds(world.at(1000))).containsExactly(Event.Kind.LEASE_IN_GRACE);
            }
            world.submit(world.session("older", 1), "MUTATES /e");
            assertThat(Worlds.kinds(world.submit(a, "MUTATES /e"))).contains(Event.Kind.DIED, Event.Kind.ROLLBACK_REQUIRED);
            if (!diesInItsGrace) {
                Outcome early = world.apply(new Command.Reconcile(a, token));
                assertThat(early.leases()).as("nothing that is valid").isEmpty();
                assertThat(early.rejections()).extracting(r -> r.refusal().code()).containsExactly(Refusal.Code.LEASE_GONE);
                assertThat(early.events()).isEmpty();
                assertThat(world.kernel.lease(token[0]).expiresAtMs()).as("and nothing is renewed").isEqualTo(1000);
                world.apply(new Command.AnnounceRestart(a));
                world.at(1000);
            }
            assertThat(world.kernel.lease(token[0]).state()).isEqualTo(LeaseState.GRACE);
            world.now = 9000;
            Outcome out = world.apply(new Command.Reconcile(a, token));
            assertThat(out.leases()).as("nothing that is valid").isEmpty();
            assertThat(out.rejections()).extracting(r -> r.refusal().code()).containsExactly(Refusal.Code.LEASE_GONE);
            assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.ROLLBACK_REQUIRED);
            assertThat(Worlds.event(out, Event.Kind.ROLLBACK_REQUIRED).leases()).extracting(Lease::state).containsExactly(LeaseState.ROLLING_BACK);
            assertThat(world.kernel.lease(token[0]).expiresAtMs()).isEqualTo(10_000);
            assertThat(world.submit(world.session("younger", 9), "MUTATES /d").verdict()).isEqualTo(Verdict.DIE);
            assertThat(Worlds.kinds(world.apply(new Command.RolledBack(a)))).containsExactly(Event.Kind.LEASE_FREED);
            assertThat(world.submit(SessionKey.of("younger", "s"), "MUTATES /d").verdict()).isEqualTo(Verdict.GRANTED);
        }
    }

    @Test
    @Tag("K7-5")
    void reconcile_ofNone_endsAllThatAreInTheirGraceAndTheSession() {
        SessionKey a = w.session("a", 0);
        w.submitFor(a, 1000, "MUTATES /d");
        w.apply(new Command.AnnounceRestart(a));
        w.at(1000);
        Outcome out = w.apply(new Command.Reconcile(a, new long[0]));
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.LEASE_EXPIRED);
        assertThat(w.state(a)).isEqualTo(LifeCycle.ABORTED);
    }

    @Test
    @Tag("K5-7")
    void register_aLiveSessionAgainFromADigest_isPausedUntilResumed() {
        SessionKey a = w.session("a", 5);
        w.submit(a, "MUTATES /d");
        Outcome out = w.apply(register(a, 5, 1, true));
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.SESSION_REGISTERED);
        assertThat(w.state(a)).isEqualTo(LifeCycle.PAUSED);
        assertThat(w.submit(a, "MUTATES /e").verdict()).isEqualTo(Verdict.PAUSED);
        w.apply(new Command.Resume(a));
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    @Tag("K5-2")
    void register_orComplete_beforeTheRollbackIsDone_isRefused() {
        SessionKey a = w.rollingBack("a", 5);
        w.submit(a, "MUTATES /d");
        w.apply(new Command.Abort(a, "test"));
        assertThat(code(w.apply(register(a, 5, 1, false)))).isEqualTo(Refusal.Code.ROLLING_BACK);
        Outcome out = w.apply(new Command.RolledBack(a));
        assertThat(Worlds.event(out, Event.Kind.LEASE_FREED).leases()).hasSize(1);
        assertThat(w.apply(register(a, 5, 1, false)).isRefused()).isFalse();

        SessionKey b = w.rollingBack("b", 6);
        w.submit(b, "MUTATES /e");
        w.submit(a, "MUTATES /f");
        assertThat(w.submit(b, "MUTATES /f").verdict()).isEqualTo(Verdict.DIE);
        assertThat(code(w.apply(new Command.Complete(b)))).isEqualTo(Refusal.Code.ROLLING_BACK);
    }

    @Test
    @Tag("K5-2")
    void complete_leavesAnEventOfItsLeasesAndPassesThroughVerifying() {
        SessionKey a = w.session("a", 0);
        w.submit(a, "MUTATES /d");
        Outcome out = w.apply(new Command.Complete(a));
        assertThat(out.events()).extracting(Event::kind)
                .containsExactly(Event.Kind.STATE_CHANGED, Event.Kind.LEASE_FREED, Event.Kind.STATE_CHANGED);
        assertThat(out.events().get(0).to()).isEqualTo(LifeCycle.VERIFYING);
        assertThat(out.events().get(2).to()).isEqualTo(LifeCycle.COMPLETED);
        SessionKey b = w.session("b", 0);
        assertThat(Worlds.kinds(w.apply(new Command.Complete(b)))).isEmpty();
        assertThat(w.state(b)).isEqualTo(LifeCycle.COMPLETED);
    }

    @Test
    void abort_whileItWaits_leavesTheQueue() {
        w.submit(w.session("holder", 1), "MUTATES /d");
        SessionKey older = w.session("older", 0);
        w.submit(older, "MUTATES /d");
        assertThat(Worlds.kinds(w.apply(new Command.Abort(older, "test")))).contains(Event.Kind.WAIT_WITHDRAWN);
        assertThat(w.kernel.waiterCount()).isZero();
        assertThat(w.kernel.queue()).isEmpty();
        assertThat(w.at(40_000).events()).extracting(Event::kind).doesNotContain(Event.Kind.WAIT_TIMED_OUT);
    }

    @Test
    @Tag("K7-14")
    void death_ofAWaiter_isToldWithWhomItMeetsAndCounted() {
        SessionKey old = w.session("old", 1);
        SessionKey middle = w.session("middle", 2);
        SessionKey young = w.session("young", 3);
        w.submit(young, "MUTATES /z");
        w.submit(middle, "MUTATES /r");
        w.submit(old, "MUTATES /r");
        w.submit(middle, "CONSUMES /r", "MUTATES /z");
        Event died = Worlds.event(w.release(middle), Event.Kind.DIED);
        assertThat(died.session()).isEqualTo(middle);
        assertThat(died.conflicts()).extracting(Conflict::holder).containsExactly(old, young);
        assertThat(w.kernel.session(middle).counts().deaths()).isEqualTo(1);
        assertThat(w.kernel.waiterCount()).isZero();
        assertThat(w.kernel.contention(null, 10)).anySatisfy(h -> assertThat(h.deaths()).isEqualTo(1));
    }

    @Test
    void dryRun_saysWhenToTryAgainOnlyWhereItWouldDie() {
        SessionKey old = w.session("old", 1);
        SessionKey young = w.session("young", 2);
        w.submitFor(old, 700, "MUTATES /d");
        w.submitFor(young, 700, "MUTATES /e");
        Outcome dies = w.dry(young, "CONSUMES /d");
        assertThat(dies.verdict()).isEqualTo(Verdict.DIE);
        assertThat(dies.retryAfterMs()).isEqualTo(700);
        Outcome waits = w.dry(old, "CONSUMES /e");
        assertThat(waits.verdict()).isEqualTo(Verdict.WAIT);
        assertThat(waits.retryAfterMs()).isZero();
        assertThat(waits.conflicts()).hasSize(1).noneMatch(Conflict::isQueued);
    }

    @Test
    @Tag("C50")
    void confirm_ofAll_returnsThoseThatWereReserved() {
        SessionKey a = w.session("a", 0);
        w.submit(a, "MUTATES /d");
        Lease reserved = w.apply(new Command.Submit(a, Worlds.triples("MUTATES /e"), 0, 0, true)).leases().get(0);
        assertThat(w.apply(new Command.Confirm(a, null)).leases()).extracting(Lease::fencingToken).containsExactly(reserved.fencingToken());
    }

    @Test
    void lease_nextToBeGiven_isNotKnownYetAndTheLastOneIsGone() {
        SessionKey a = w.session("a", 0);
        Lease last = w.submit(a, "MUTATES /d").leases().get(0);
        w.release(a);
        assertThat(w.heartbeat(a, last).rejections().get(0).refusal().code()).isEqualTo(Refusal.Code.LEASE_GONE);
        Outcome next = w.apply(new Command.Heartbeat(a, new long[] {last.fencingToken() + 1}));
        assertThat(next.rejections().get(0).refusal().code()).isEqualTo(Refusal.Code.UNKNOWN_LEASE);
    }

    @Test
    @Tag("K5-2")
    void session_thatCameBack_isNotForgottenWhenItsFirstLifeWouldHaveBeen() {
        SessionKey a = w.session("a", 0);
        w.apply(new Command.Abort(a, "test"));
        w.at(10);
        w.apply(register(a, 10, 1, false));
        w.at(Limits.SESSION_MEMORY_MS + 9);
        assertThat(w.state(a)).isEqualTo(LifeCycle.PLANNING);
        w.at(Limits.SESSION_MEMORY_MS + 10);
        assertThat(w.state(a)).isNull();
    }

    @Test
    @Tag("K5-11")
    void pausedSession_whileAnotherComesBack_isStillToldWhatChanged() {
        SessionKey paused = w.session("paused", 1);
        SessionKey other = w.session("other", 2);
        w.submit(paused, "CONSUMES /d");
        w.release(paused);
        w.apply(new Command.Pause(paused));
        w.apply(new Command.Abort(other, "test"));
        w.apply(register(other, 2, 1, false));
        w.submit(other, "MUTATES /d");
        w.release(other);
        w.apply(new Command.Resume(paused));
        assertThat(w.submit(paused, "CONSUMES /d").changes()).extracting(Change::by).containsExactly(other);
    }

    @Test
    @Tag("K2-8")
    void conflicts_onOneResource_areInTheOrderOfPredicateThenAge() {
        SessionKey a = w.session("a", 4);
        SessionKey b = w.session("b", 3);
        SessionKey c = w.session("c", 2);
        w.submit(a, "DEPENDS_ON /d");
        w.submit(a, "CONSUMES /d");
        w.submit(b, "CONSUMES /d");
        w.submit(c, "DEPENDS_ON /d");
        Outcome out = w.submit(w.session("old", 1), "DELETES /d");
        assertThat(out.conflicts()).extracting(x -> x.heldPredicate() + " " + x.holder().agentId())
                .containsExactly("CONSUMES b", "CONSUMES a", "DEPENDS_ON c", "DEPENDS_ON a");
    }

    @Test
    void heartbeat_ofNoLease_isNotRefused() {
        assertThat(w.apply(new Command.Heartbeat(w.session("a", 0), new long[0])).isRefused()).isFalse();
    }

    @Test
    void release_ofAllWhenThereAreNone_leavesNoEvent() {
        SessionKey a = w.session("a", 0);
        Outcome out = w.release(a);
        assertThat(out.isRefused()).isFalse();
        assertThat(out.events()).isEmpty();
    }

    @Test
    @Tag("C50")
    void heartbeat_ofAllByAnEndedSession_keepsWhatItRollsBack() {
        SessionKey a = w.rollingBack("a", 0);
        w.submitFor(a, 1000, "MUTATES /d");
        w.apply(new Command.Abort(a, "test"));
        w.at(900);
        assertThat(w.apply(new Command.Heartbeat(a, null)).leases()).extracting(Lease::expiresAtMs).containsExactly(1900L);
        w.apply(new Command.RolledBack(a));
        assertThat(code(w.apply(new Command.Heartbeat(a, null)))).isEqualTo(Refusal.Code.SESSION_ENDED);
    }

    @Test
    @Tag("K2-8")
    void death_ofAWaiter_namesThoseInItsWayInTheirFixedOrder() {
        SessionKey old = w.session("old", 1);
        SessionKey middle = w.session("middle", 2);
        for (int i = 0; i < 5; i++) {
            w.submit(w.session("reader" + i, 10 + i * 3 % 5), "CONSUMES /z/" + "dbeca".charAt(i));
        }
        w.submit(middle, "MUTATES /r");
        w.submit(old, "MUTATES /r");
        assertThat(w.submit(middle, "CONSUMES /r", "MUTATES /z/**").verdict()).isEqualTo(Verdict.WAIT);
        Event died = Worlds.event(w.release(middle), Event.Kind.DIED);
        assertThat(died.conflicts()).extracting(c -> c.heldResource().path()).containsExactly("/r", "/z/a", "/z/b", "/z/c", "/z/d", "/z/e");
    }

    @Test
    @Tag("C42")
    void waiter_thatLostItsLease_diesOfALaterTripleThoughAnEarlierOneWouldOnlyWait() {
        SessionKey old = w.session("old", 1);
        SessionKey middle = w.session("middle", 2);
        w.submit(w.session("young", 3), "MUTATES /z");
        w.submit(middle, "MUTATES /r");
        w.submit(old, "MUTATES /r");
        assertThat(w.submit(middle, "MUTATES /z", "CONSUMES /r").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(Worlds.event(w.release(middle), Event.Kind.DIED).session()).isEqualTo(middle);
    }

    @Test
    @Tag("K7-12")
    void overview_anAgentsSessions_areCountedTogether() {
        w.session(SessionKey.of("a", "one"), 0, false);
        w.session(SessionKey.of("a", "two"), 0, false);
        assertThat(w.kernel.overview(null, 1).agents()).singleElement().satisfies(a -> assertThat(a.sessions()).isEqualTo(2));
    }

    @Test
    void texts_nameTheLeaseAndTheReason() {
        SessionKey a = w.session("a", 0);
        Lease lease = w.submit(a, "MUTATES /d").leases().get(0);
        assertThat(lease).hasToString("lease_0_1 ACTIVE MUTATES FILE:/d a/s");
        assertThat(w.apply(new Command.Withdraw(a)).refusal()).hasToString("ILLEGAL_TRANSITION: a/s does not wait");
    }

    @Test
    @Tag("K2-8")
    void views_whateverTheOrderOfArrival_areInTheirFixedOrder() {
        List<SessionKey> byAge = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            byAge.add(SessionKey.of("a" + (char) ('a' + i), "s"));
        }
        for (int i = 0; i < 20; i++) {
            int n = i * 7 % 20;
            w.session(byAge.get(n), n, false);
            w.submit(byAge.get(n), "CONSUMES /d/" + (char) ('a' + n));
        }
        assertThat(w.kernel.sessions()).isEqualTo(byAge);
        assertThat(w.kernel.overview(null, 1).sessions()).extracting(SessionView::session).isEqualTo(byAge);
        assertThat(w.kernel.holders("default", KernelModelTest.resource("/d/**"))).extracting(Lease::session).isEqualTo(byAge);
        assertThat(w.kernel.indexNodes()).isEqualTo(21);
    }

    /** So many holders that one more stands in the way than is reported, beside as many as are. */
    private void holders(int count) {
        SessionKey[] sessions = {w.session("h0", 100), w.session("h1", 101)};
        for (int s = 0; s < sessions.length; s++) {
            List<String> triples = new ArrayList<>();
            for (int i = s; i < count; i += sessions.length) {
                triples.add("CONSUMES /d/f" + i);
            }
            assertThat(w.submit(sessions[s], triples.toArray(new String[0])).verdict()).isEqualTo(Verdict.GRANTED);
        }
    }

    @Test
    @Tag("C20")
    void conflicts_oneMoreThanTheLimit_isNotReportedAndStillCounts() {
        holders(Limits.MAX_CONFLICTS + 1);
        Outcome out = w.dry(w.session("younger", 200), "MUTATES /d/**");
        assertThat(out.verdict()).isEqualTo(Verdict.DIE);
        assertThat(out.conflicts()).hasSize(Limits.MAX_CONFLICTS);
        SessionKey older = w.session("older", 1);
        assertThat(w.submit(older, "MUTATES /d/**").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.kernel.blockers(older)).hasSize(Limits.MAX_CONFLICTS);
    }

    @Test
    void phase_ofASessionThatEndsWhilePaused_isWhatItWasAtBefore() {
        SessionKey works = w.session("works", 1);
        w.submit(works, "MUTATES /d");
        w.apply(new Command.Pause(works));
        w.apply(new Command.Pause(works));
        assertThat(w.kernel.session(works).phase()).isEqualTo(LifeCycle.EXECUTING);
        w.apply(new Command.Abort(works, "test"));
        assertThat(w.kernel.session(works).phase()).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    void waitersThatDieOfOneNewcomer_dieInTheOrderOfTheQueue() {
        // only without C23 can a newcomer be granted what others wait for
        Worlds overtaking = new Worlds(new Kernel(KernelOptions.standard(), 0, true, true));
        SessionKey first = overtaking.session("first", 5);
        SessionKey second = overtaking.session("second", 6);
        overtaking.submit(overtaking.session("holder", 9), "MUTATES /x", "MUTATES /y");
        assertThat(overtaking.submit(first, "MUTATES /x", "MUTATES /d/b").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(overtaking.submit(second, "MUTATES /y", "MUTATES /d/a").verdict()).isEqualTo(Verdict.WAIT);
        Outcome out = overtaking.submit(overtaking.session("older", 1), "MUTATES /d/a", "MUTATES /d/b");
        assertThat(out.verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(out.events()).filteredOn(e -> e.kind() == Event.Kind.DIED).extracting(Event::session).containsExactly(first, second);
    }
}
