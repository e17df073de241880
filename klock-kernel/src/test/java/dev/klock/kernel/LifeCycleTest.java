package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.klock.resource.Resource;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The seven states of a session, and what it is told when it goes on. */
class LifeCycleTest {
    private final Worlds w = new Worlds();
    private final SessionKey a = w.session("a", 1);
    private final SessionKey b = w.session("b", 2);

    @Tag("K5-1")
    @Tag("K5-2")
    @ParameterizedTest
    @CsvSource({
        "PLANNING,   ACQUIRING PAUSED COMPLETED ABORTED",
        "ACQUIRING,  PLANNING EXECUTING PAUSED ABORTED",
        "EXECUTING,  PLANNING ACQUIRING PAUSED VERIFYING ABORTED",
        "PAUSED,     ACQUIRING ABORTED",
        "VERIFYING,  PLANNING ACQUIRING EXECUTING PAUSED COMPLETED ABORTED",
        "COMPLETED,  ''",
        "ABORTED,    ''",
    })
    void lifeCycle_fromEach_onlyTheLegalSteps(LifeCycle from, String next) {
        assertThat(LifeCycle.values()).hasSize(7);
        for (LifeCycle to : LifeCycle.values()) {
            assertThat(from.mayBecome(to)).as("%s to %s", from, to).isEqualTo(List.of(next.split(" ")).contains(to.name()));
        }
        assertThat(from.isTerminal()).isEqualTo(next.isEmpty());
    }

    @Test
    @Tag("K5-2")
    void session_wholeLife_goesThroughItsStates() {
        assertThat(w.state(a)).isEqualTo(LifeCycle.PLANNING);
        Outcome granted = w.submit(a, "MUTATES /x");
        assertThat(granted.events()).filteredOn(e -> e.kind() == Event.Kind.STATE_CHANGED).extracting(Event::to)
                .containsExactly(LifeCycle.ACQUIRING, LifeCycle.EXECUTING);
        assertThat(w.apply(new Command.Verify(a)).isRefused()).isFalse();
        assertThat(w.state(a)).isEqualTo(LifeCycle.VERIFYING);
        assertThat(w.kernel.leasesOf(a)).as("still held while checking").hasSize(1);
        w.apply(new Command.Complete(a));
        assertThat(w.state(a)).isEqualTo(LifeCycle.COMPLETED);
        assertThat(w.kernel.leaseCount()).isZero();
        for (Command late : new Command[] {
            Command.Submit.of(a, List.of()), new Command.Verify(a), new Command.Complete(a), new Command.Abort(a, "x"),
            new Command.Pause(a), new Command.Resume(a), new Command.Confirm(a, null), new Command.Heartbeat(a, null),
            new Command.AnnounceRestart(a), new Command.Withdraw(a), new Command.DryRun(a, List.of()),
        }) {
            assertThat(w.apply(late).refusal().code()).as(late.toString()).isEqualTo(Refusal.Code.SESSION_ENDED);
        }
    }

    @Test
    void session_stepsThatDoNotExist_areRefused() {
        assertThat(w.apply(new Command.Verify(a)).refusal().code()).isEqualTo(Refusal.Code.ILLEGAL_TRANSITION);
        assertThat(w.apply(new Command.Resume(a)).refusal().code()).isEqualTo(Refusal.Code.ILLEGAL_TRANSITION);
        assertThat(w.apply(new Command.Withdraw(a)).refusal().code()).isEqualTo(Refusal.Code.ILLEGAL_TRANSITION);
        assertThat(w.apply(new Command.RolledBack(a)).refusal().code()).isEqualTo(Refusal.Code.ILLEGAL_TRANSITION);
        w.submit(b, "MUTATES /x");
        w.submit(a, "MUTATES /x");
        assertThat(w.apply(new Command.Complete(a)).refusal().code()).isEqualTo(Refusal.Code.ILLEGAL_TRANSITION);
        assertThat(w.state(a)).isEqualTo(LifeCycle.PAUSED);
        assertThat(w.kernel.queue()).containsExactly(a);
    }

    @Test
    @Tag("K5-2")
    void verifying_leasesGivenBack_isPlanningAgain() {
        w.submit(a, "MUTATES /x", "MUTATES /y");
        w.apply(new Command.Verify(a));
        w.apply(new Command.Release(a, Worlds.tokens(w.kernel.leasesOf(a).get(0))));
        assertThat(w.state(a)).as("holds one still").isEqualTo(LifeCycle.VERIFYING);
        w.release(a);
        assertThat(w.state(a)).isEqualTo(LifeCycle.PLANNING);
        assertThat(w.apply(new Command.Complete(a)).refusal()).isNull();
    }

    @Test
    @Tag("K5-3")
    void conflict_notSettledAtOnce_pausesTheSession() {
        w.submit(b, "MUTATES /x");
        w.submit(a, "MUTATES /x");
        assertThat(w.state(a)).as("waits").isEqualTo(LifeCycle.PAUSED);
        SessionKey c = w.session("c", 3);
        w.submit(c, "MUTATES /x");
        assertThat(w.state(c)).as("died, retries").isEqualTo(LifeCycle.PAUSED);
        SessionKey d = SessionKey.of("d", "s");
        w.apply(new Command.Register(d, 4, true, 0, false, false, false));
        w.submit(d, "MUTATES /x");
        assertThat(w.state(d)).as("died, does not retry").isEqualTo(LifeCycle.ABORTED);
    }

    @Test
    @Tag("K5-9")
    @Tag("K5-10")
    @Tag("K5-11")
    void retry_afterDie_isToldWhatOthersMayHaveChanged() {
        w.submit(a, "MUTATES /x/1", "CONSUMES /x/2", "MUTATES /y");
        assertThat(w.submit(b, "MUTATES /x/**").verdict()).isEqualTo(Verdict.DIE);
        w.now = 50;
        w.release(a);
        Outcome out = w.submit(b, "MUTATES /x/**");
        assertThat(out.verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(out.changes()).containsExactly(new Change(a, Predicate.MUTATES, Worlds.triples("MUTATES /x/1").get(0).object(), 50));
        assertThat(Worlds.event(out, Event.Kind.OBSERVATION_UPDATE).changes()).isEqualTo(out.changes());
        assertThat(w.submit(b, "MUTATES /z").changes()).as("told once").isEmpty();
    }

    @Test
    @Tag("K5-11")
    void resume_afterMoreChangesThanAreRemembered_saysThatAnythingMayHaveChanged() {
        w.submit(b, "CONSUMES /b");
        w.apply(new Command.Pause(b));
        for (int i = 0; i <= Limits.MAX_CHANGES; i++) {
            w.submit(a, "MUTATES /other");
            w.release(a);
        }
        Outcome out = w.apply(new Command.Resume(b));
        assertThat(out.changes()).extracting(Change::by).containsExactly((SessionKey) null);
    }

    @Test
    @Tag("K5-11")
    void retry_afterAsManyChangesAsAreRemembered_namesEachOfThemAndNoneOfAnEarlierPause() {
        w.submit(b, "CONSUMES /b");
        w.apply(new Command.Pause(b));
        w.submit(a, "MUTATES /other", "PROVIDES /other/1");
        w.release(a);
        w.apply(new Command.Resume(b));
        w.release(b);
        w.apply(new Command.Pause(b));
        for (int i = 0; i < Limits.MAX_CHANGES; i++) {
            w.submit(a, "MUTATES /other");
            w.release(a);
        }
        w.apply(new Command.Resume(b));
        Outcome out = w.submit(b, "CONSUMES /other");
        assertThat(out.changes()).hasSize(Limits.MAX_CHANGES).extracting(Change::by).containsOnly(a);
    }

    @Test
    @Tag("K5-11")
    void resume_whileItHoldsMoreThanItLastAskedFor_isToldOfThatToo() {
        w.submit(b, "CONSUMES /held");
        w.submit(b, "CONSUMES /last");
        w.apply(new Command.Pause(b));
        w.submit(a, "PROVIDES /held", "PROVIDES /other");
        w.release(a);
        assertThat(w.apply(new Command.Resume(b)).changes()).extracting(c -> c.resource().path()).containsExactly("/held");
    }

    /** A lease that rolls back ends in each way there is. */
    @Test
    @Tag("K5-11")
    void rollback_thatIsNeverReported_countsAsAChange() {
        for (String end : List.of("reported", "runs out", "runs out, delayed", "runs out after its grace", "revoked", "released", "released by name")) {
            boolean delayed = end.equals("runs out, delayed");
            Worlds world = new Worlds(KernelOptions.standard().withLockDelayMs(delayed ? 1000 : 0));
            SessionKey writer = world.rollingBack("writer", 1);
            SessionKey reader = world.session("reader", 2);
            Lease lease = world.submitFor(writer, 1000, "MUTATES /d").leases().get(0);
            assertThat(world.submit(reader, "CONSUMES /d").verdict()).isEqualTo(Verdict.DIE);
            if (end.equals("runs out after its grace")) {
                world.apply(new Command.AnnounceRestart(writer));
            }
            world.apply(new Command.Abort(writer, "test"));
            switch (end) {
                case "reported" -> world.apply(new Command.RolledBack(writer));
                case "revoked" -> world.apply(new Command.Revoke(lease.fencingToken()));
                case "released" -> world.release(writer);
                case "released by name" -> world.apply(new Command.Release(writer, Worlds.tokens(lease)));
                default -> world.at(1000);
            }
            world.at(1000 + Limits.GRACE_MS);
            Outcome out = world.submit(reader, "CONSUMES /d");
            assertThat(out.verdict()).as(end).isEqualTo(Verdict.GRANTED);
            assertThat(out.changes()).extracting(Change::by).as(end).isEqualTo(end.equals("reported") ? List.of() : List.of(writer));
        }
    }

    @Test
    @Tag("K5-11")
    void lease_thatWasNeverConfirmed_isNoChangeAfterItsGraceEither() {
        Lease lease = w.apply(new Command.Submit(a, Worlds.triples("MUTATES /d"), 1000, 0, true)).leases().get(0);
        w.apply(new Command.AnnounceRestart(a));
        w.submit(b, "CONSUMES /d");
        w.at(1000);
        assertThat(w.kernel.lease(lease.fencingToken()).state()).isEqualTo(LeaseState.GRACE);
        w.at(1000 + Limits.GRACE_MS);
        assertThat(w.submit(b, "CONSUMES /d").changes()).isEmpty();
    }

    @Test
    @Tag("K5-11")
    void resume_besideSomebodyWhoStillCreates_namesIt() {
        w.submit(b, "CONSUMES /b/**");
        w.apply(new Command.Pause(b));
        w.submit(a, "PROVIDES /b/new");
        assertThat(w.apply(new Command.Resume(b)).changes()).extracting(Change::by).containsExactly(a);
    }

    private Outcome askWithoutTime(SessionKey key, String... triples) {
        return w.apply(new Command.Submit(key, Worlds.triples(triples), 0, 0, false));
    }

    @Test
    @Tag("K0-3")
    @Tag("K5-2")
    void askWithoutTimeToWait_inEachState_leavesItAsItWas() {
        w.submit(b, "MUTATES /x");
        Outcome out = askWithoutTime(a, "MUTATES /x");
        assertThat(out.verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.CONTENTION_DETECTED);
        assertThat(w.state(a)).as("held nothing").isEqualTo(LifeCycle.PLANNING);
        Outcome reserved = w.apply(new Command.Submit(a, Worlds.triples("MUTATES /mine"), 0, 0, true));
        assertThat(askWithoutTime(a, "MUTATES /x").verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(w.state(a)).as("has leases to confirm").isEqualTo(LifeCycle.ACQUIRING);
        w.apply(new Command.Confirm(a, null));
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
        assertThat(askWithoutTime(a, "MUTATES /x").verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(w.state(a)).as("goes on under what it holds").isEqualTo(LifeCycle.EXECUTING);
        assertThat(w.kernel.leasesOf(a)).extracting(Lease::fencingToken).containsExactly(reserved.leases().get(0).fencingToken());
        assertThat(w.apply(new Command.Verify(a)).refusal()).isNull();
        assertThat(askWithoutTime(a, "MUTATES /x").verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(w.state(a)).as("is being checked").isEqualTo(LifeCycle.VERIFYING);
        assertThat(w.apply(new Command.Complete(a)).refusal()).isNull();
        assertThat(w.state(a)).isEqualTo(LifeCycle.COMPLETED);
        assertThat(w.kernel.leasesOf(a)).isEmpty();
    }

    /** A manifest without triples, and one that only starts a program. */
    @Test
    @Tag("K5-2")
    @Tag("K1-12")
    void manifest_thatNeedsNoLease_isGrantedAndLeavesTheSessionWhatItsLeasesMakeIt() {
        Triple git = Triple.of(Predicate.PROVIDES, Resource.parse("PROCESS:/usr/bin/git"));
        for (List<Triple> manifest : List.of(List.<Triple>of(), List.of(git))) {
            Worlds world = new Worlds();
            SessionKey old = world.session("old", 1);
            SessionKey s = world.session("s", 2);
            world.submit(old, "MUTATES /taken");
            assertThat(needsNothing(world, s, manifest)).isEqualTo(LifeCycle.PLANNING);
            assertThat(world.kernel.session(s).pending()).isEqualTo(manifest);
            world.apply(new Command.Submit(s, Worlds.triples("MUTATES /x"), 0, 0, true));
            assertThat(needsNothing(world, s, manifest)).as("a lease to confirm").isEqualTo(LifeCycle.ACQUIRING);
            world.apply(new Command.Confirm(s, null));
            assertThat(needsNothing(world, s, manifest)).as("a lease").isEqualTo(LifeCycle.EXECUTING);
            world.apply(new Command.Verify(s));
            assertThat(needsNothing(world, s, manifest)).isEqualTo(LifeCycle.VERIFYING);
            assertThat(world.submit(s, "CONSUMES /taken").verdict()).isEqualTo(Verdict.DIE);
            assertThat(needsNothing(world, s, manifest)).as("after DIE").isEqualTo(LifeCycle.PLANNING);
            world.apply(new Command.Pause(s));
            world.apply(new Command.Resume(s));
            assertThat(needsNothing(world, s, manifest)).as("after a pause").isEqualTo(LifeCycle.PLANNING);
            assertThat(world.apply(new Command.Complete(s)).refusal()).isNull();
        }
    }

    private static LifeCycle needsNothing(Worlds world, SessionKey key, List<Triple> manifest) {
        Outcome out = world.apply(Command.Submit.of(key, manifest));
        assertThat(out.verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(out.leases()).isEmpty();
        return world.state(key);
    }

    @Test
    @Tag("K5-2")
    void askWithoutTimeToWait_thenGivesBackOrCompletes_endsWell() {
        SessionKey holder = w.session("holder", 9);
        w.submit(holder, "MUTATES /x");
        w.submit(a, "MUTATES /a");
        askWithoutTime(a, "MUTATES /x");
        w.release(a);
        assertThat(w.state(a)).isEqualTo(LifeCycle.PLANNING);
        askWithoutTime(b, "MUTATES /x");
        for (SessionKey key : List.of(a, b)) {
            assertThat(w.apply(new Command.Complete(key)).refusal()).isNull();
            assertThat(w.state(key)).isEqualTo(LifeCycle.COMPLETED);
        }
        assertThat(w.kernel.session(a).pending()).isEmpty();
    }

    @Test
    @Tag("K5-2")
    void complete_afterAPauseOfWhoHoldsNothing_endsWell() {
        w.apply(new Command.Pause(a));
        w.apply(new Command.Resume(a));
        assertThat(w.apply(new Command.Complete(a)).refusal()).isNull();
        assertThat(w.state(a)).isEqualTo(LifeCycle.COMPLETED);
    }

    @Test
    @Tag("K5-11")
    @Tag("K8-1")
    void askWithoutTimeToWait_grantedLater_isToldWhatChanged_andADigestInBetweenNamesIt() {
        w.submit(b, "MUTATES /x");
        w.submit(a, "MUTATES /mine");
        askWithoutTime(a, "MUTATES /x");
        assertThat(w.kernel.session(a).pending()).isEqualTo(Worlds.triples("MUTATES /mine", "MUTATES /x"));
        w.release(b);
        Outcome out = askWithoutTime(a, "MUTATES /x");
        assertThat(out.changes()).extracting(Change::by).containsExactly(b);
        assertThat(w.kernel.session(a).pending()).isEqualTo(Worlds.triples("MUTATES /mine", "MUTATES /x"));
        assertThat(askWithoutTime(a, "MUTATES /y").changes()).as("told once").isEmpty();
    }

    @Test
    @Tag("K5-2")
    void askWithoutTimeToWait_thenLosesOneOfItsLeases_goesOnUnderTheOther() {
        w.submit(b, "MUTATES /x");
        w.submitFor(a, 100, "MUTATES /short");
        w.apply(new Command.Submit(a, Worlds.triples("MUTATES /long"), 50_000, 0, true));
        askWithoutTime(a, "MUTATES /x");
        w.at(100);
        w.apply(new Command.Confirm(a, null));
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    @Tag("K0-3")
    void pause_byAnOperator_answersPausedUntilResumed() {
        w.submit(a, "MUTATES /x");
        w.apply(new Command.Pause(a));
        assertThat(w.state(a)).isEqualTo(LifeCycle.PAUSED);
        assertThat(w.submit(a, "MUTATES /y").verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(w.dry(a, "MUTATES /y").verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(w.kernel.leasesOf(a)).hasSize(1);
        Outcome out = w.apply(new Command.Resume(a));
        assertThat(out.events()).filteredOn(e -> e.kind() == Event.Kind.STATE_CHANGED).extracting(Event::to)
                .containsExactly(LifeCycle.ACQUIRING, LifeCycle.EXECUTING);
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.OBSERVATION_UPDATE);
    }

    @Test
    @Tag("K0-3")
    @Tag("K5-9")
    void pause_whileAManifestWaits_takesItBackAndLetsThoseBehindIn() {
        SessionKey c = w.session("c", 3);
        w.submit(c, "MUTATES /x");
        w.submit(a, "CONSUMES /mine");
        assertThat(w.submit(a, "MUTATES /x", "MUTATES /y").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.dry(b, "MUTATES /y").verdict()).as("kept away by who waits").isEqualTo(Verdict.DIE);
        Outcome pause = w.apply(new Command.Pause(a));
        assertThat(Worlds.kinds(pause)).containsExactly(Event.Kind.WAIT_WITHDRAWN);
        assertThat(w.kernel.queue()).isEmpty();
        assertThat(w.submit(b, "MUTATES /y").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(Worlds.kinds(w.release(c))).as("nothing is granted to who is paused").doesNotContain(Event.Kind.LEASE_GRANTED);
        assertThat(w.state(a)).isEqualTo(LifeCycle.PAUSED);
        assertThat(w.kernel.leasesOf(a)).as("what it held stays").hasSize(1);
        w.apply(new Command.Resume(a));
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
        assertThat(w.submit(a, "MUTATES /x", "MUTATES /y").verdict()).as("as old as before").isEqualTo(Verdict.WAIT);
    }

    @Test
    @Tag("K0-3")
    void pause_ofWhoBlocksOthersByWaiting_handsWhatItWaitedForOn() {
        SessionKey c = w.session("c", 3);
        w.submit(c, "MUTATES /x");
        w.submit(b, "MUTATES /x", "CONSUMES /y");
        assertThat(w.submit(a, "MUTATES /y").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(Worlds.kinds(w.apply(new Command.Pause(b)))).contains(Event.Kind.LEASE_GRANTED);
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    @Tag("K5-7")
    @Tag("K5-9")
    void resume_afterALeaseWasLost_needsTheManifestAgain() {
        w.submitFor(a, 100, "MUTATES /x");
        w.submitFor(a, 10_000, "MUTATES /y");
        w.apply(new Command.Pause(a));
        w.at(100);
        w.apply(new Command.Resume(a));
        assertThat(w.state(a)).isEqualTo(LifeCycle.ACQUIRING);
        w.submit(a, "MUTATES /x");
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    @Tag("K5-7")
    @Tag("K5-8")
    void register_resumedFromADigest_isPausedUntilRevalidated_withItsFirstTimestampAndTheNextEpoch() {
        w.now = 10_000;
        SessionKey r = SessionKey.of("r", "s");
        Outcome out = w.apply(new Command.Register(r, 500, true, 1, true, true, true));
        assertThat(out.priorityMs()).isEqualTo(500);
        assertThat(w.state(r)).isEqualTo(LifeCycle.PAUSED);
        assertThat(w.submit(r, "MUTATES /x").verdict()).isEqualTo(Verdict.PAUSED);
        w.apply(new Command.Resume(r));
        assertThat(w.submit(r, "MUTATES /x").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.state(r)).isEqualTo(LifeCycle.EXECUTING);
    }

    /** Whoever knows nothing of what happened says so, and not that nothing did. */
    @Test
    @Tag("K5-8")
    @Tag("K5-10")
    @Tag("K5-11")
    void register_resumedWhereNobodyWatchedForIt_isToldThatAnythingMayHaveChanged() {
        w.submitFor(b, 1000, "CONSUMES /d");
        w.apply(new Command.Pause(b));
        w.at(1000);
        assertThat(w.state(b)).as("its process is gone, and so are its leases").isEqualTo(LifeCycle.ABORTED);
        w.submit(a, "MUTATES /d");
        w.release(a);
        w.apply(new Command.Register(b, 2, true, 1, true, false, true));
        w.apply(new Command.Resume(b));
        Outcome out = w.submit(b, "CONSUMES /d");
        assertThat(out.changes()).containsExactly(new Change(null, Predicate.MUTATES, Worlds.triples("CONSUMES /d").get(0).object(), 1000));
        assertThat(w.submit(b, "CONSUMES /e").changes()).as("told once").isEmpty();
    }

    @Test
    @Tag("K5-11")
    void register_resumedAfterADeathThatTheKernelRemembers_isToldWhatChangedSinceThen() {
        w.submit(a, "MUTATES /d", "MUTATES /other");
        assertThat(w.submit(b, "MUTATES /d").verdict()).isEqualTo(Verdict.DIE);
        w.release(a);
        w.apply(new Command.Register(b, 2, true, 1, true, false, true));
        w.apply(new Command.Resume(b));
        assertThat(w.submit(b, "MUTATES /d").changes()).extracting(Change::by, c -> c.resource().path()).containsExactly(tuple(a, "/d"));
    }

    @Test
    void register_again_changesNothing() {
        Overview before = w.kernel.overview(null, 10);
        assertThat(w.apply(new Command.Register(a, 7, true, 0, true, true, false)).priorityMs()).isEqualTo(1);
        assertThat(w.kernel.overview(null, 10)).isEqualTo(before);
        w.submit(a, "MUTATES /x");
        before = w.kernel.overview(null, 10);
        w.apply(new Command.Register(a, 1, true, 0, true, false, true));
        assertThat(w.kernel.overview(null, 10)).isEqualTo(before);
    }

    @Test
    void register_endedSession_comesBackOnlyWithAHigherEpoch() {
        w.submitFor(a, 100, "MUTATES /x");
        w.at(100);
        assertThat(w.state(a)).as("declared dead").isEqualTo(LifeCycle.ABORTED);
        assertThat(w.submit(a, "MUTATES /x").refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
        assertThat(w.apply(new Command.Register(a, 1, true, 0, false, false, true)).refusal().code())
                .isEqualTo(Refusal.Code.SESSION_ENDED);
        assertThat(w.apply(new Command.Register(a, 1, true, 1, false, false, true)).isRefused()).isFalse();
        assertThat(w.state(a)).isEqualTo(LifeCycle.PLANNING);
        assertThat(w.apply(new Command.Register(a, 1, true, 0, false, false, true)).refusal().code())
                .isEqualTo(Refusal.Code.STALE_EPOCH);
    }

    @Test
    void register_again_keepsEverythingAndAHigherEpochEndsTheWait() {
        w.submit(b, "MUTATES /x");
        w.submit(a, "MUTATES /mine");
        w.submit(a, "MUTATES /x");
        w.apply(new Command.Register(a, 1, true, 0, false, false, true));
        assertThat(w.kernel.queue()).containsExactly(a);
        Outcome out = w.apply(new Command.Register(a, 1, true, 1, false, false, true));
        assertThat(Worlds.kinds(out)).contains(Event.Kind.WAIT_WITHDRAWN);
        assertThat(w.kernel.leasesOf(a)).hasSize(1);
    }

    @Test
    void withdraw_waitingManifest_keepsTheLeases() {
        w.submit(b, "MUTATES /x");
        w.submit(a, "MUTATES /mine");
        w.submit(a, "MUTATES /x");
        assertThat(w.apply(new Command.Withdraw(a)).isRefused()).isFalse();
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
        assertThat(w.kernel.queue()).isEmpty();
    }

    @Test
    void waiting_sessionWhoseLeasesRunOut_isDeadAndLeavesTheQueue() {
        w.submitFor(b, 100_000, "MUTATES /x");
        w.submitFor(a, 100, "MUTATES /mine");
        w.submit(a, "MUTATES /x");
        Outcome out = w.at(100);
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.LEASE_EXPIRED, Event.Kind.WAIT_WITHDRAWN);
        assertThat(w.state(a)).isEqualTo(LifeCycle.ABORTED);
    }

    @Test
    void dryRun_anyVerdict_changesNothing() {
        w.submit(a, "MUTATES /x");
        LifeCycle before = w.state(b);
        Outcome out = w.dry(b, "MUTATES /x");
        assertThat(out.verdict()).isEqualTo(Verdict.DIE);
        assertThat(out.events()).isEmpty();
        assertThat(w.state(b)).isEqualTo(before);
        assertThat(w.dry(b, "MUTATES /y").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.kernel.leaseCount()).isEqualTo(1);
    }
}
