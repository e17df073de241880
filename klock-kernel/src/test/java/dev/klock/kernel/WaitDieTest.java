package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Who waits, who dies, and who is next. */
class WaitDieTest {
    private final Worlds w = new Worlds();
    private final SessionKey a = w.session("a", 1);
    private final SessionKey b = w.session("b", 2);
    private final SessionKey c = w.session("c", 3);

    @Test
    @Tag("K4-1")
    @Tag("K4-4")
    @Tag("RS-3")
    @Tag("K0-3")
    void submit_olderThanTheHolder_waitsInTheQueue() {
        w.submit(b, "MUTATES /x");
        Outcome out = w.submit(a, "MUTATES /x");
        assertThat(out.verdict()).isEqualTo(Verdict.WAIT);
        assertThat(out.queuePosition()).isEqualTo(1);
        assertThat(out.request()).isPositive();
        assertThat(w.kernel.queue()).containsExactly(a);
        assertThat(w.kernel.blockers(a)).extracting(Conflict::holder).containsExactly(b);
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.CONTENTION_DETECTED, Event.Kind.WAITING);
    }

    @Test
    @Tag("K7-14")
    @Tag("K2-11")
    @Tag("K1-16")
    void blockers_ofSeveralTriplesOnOneResource_nameTheOneThatConflicts() {
        w.submit(b, "CONSUMES /x");
        Outcome out = w.submit(a, "DEPENDS_ON /x", "MUTATES /x", "CONSUMES /x");
        assertThat(w.kernel.blockers(a)).isEqualTo(out.conflicts());
        Conflict why = w.kernel.blockers(a).get(0);
        assertThat(why.asked().predicate()).isEqualTo(Predicate.MUTATES);
        assertThat(why.type()).isEqualTo(ConflictType.STALE_READ_RISK);
    }

    @Test
    @Tag("K4-6")
    @Tag("K7-14")
    @Tag("RS-3")
    void submit_youngerThanTheHolder_diesAtOnceAndSaysOfWhat() {
        Lease held = w.submitFor(a, 700, "MUTATES /x").leases().get(0);
        w.now = 100;
        Outcome out = w.submit(b, "CONSUMES /x");
        assertThat(out.verdict()).isEqualTo(Verdict.DIE);
        assertThat(out.retryAfterMs()).isEqualTo(600);
        Event died = Worlds.event(out, Event.Kind.DIED);
        assertThat(died.session()).isEqualTo(b);
        assertThat(died.priorityMs()).isEqualTo(2);
        Conflict why = died.conflicts().get(0);
        assertThat(why.holder()).isEqualTo(a);
        assertThat(why.holderPriorityMs()).isEqualTo(1);
        assertThat(why.heldPredicate()).isEqualTo(Predicate.MUTATES);
        assertThat(why.asked().predicate()).isEqualTo(Predicate.CONSUMES);
        assertThat(why.heldResource()).isEqualTo(held.resource());
        assertThat(why.untilMs()).isEqualTo(700);
        assertThat(w.state(b)).isEqualTo(LifeCycle.PAUSED);
    }

    @Test
    @Tag("K4-3")
    @Tag("K0-4")
    void order_equalTimestamps_isDecidedByAgentThenSession_neverBothDie() {
        SessionKey x = w.session("x", 7);
        SessionKey y = w.session("y", 7);
        w.submit(y, "MUTATES /r");
        assertThat(w.submit(x, "MUTATES /r").verdict()).isEqualTo(Verdict.WAIT);
        SessionKey y2 = w.session(SessionKey.of("y", "t"), 7, false);
        assertThat(w.submit(y2, "MUTATES /r").verdict()).isEqualTo(Verdict.DIE);
        w.submit(y2, "MUTATES /q");
        assertThat(w.dry(y, "MUTATES /q").verdict()).isEqualTo(Verdict.WAIT);
    }

    @Test
    @Tag("K4-10")
    @Tag("K4-12")
    @Tag("K7-1")
    void release_withSeveralWaiting_handsOverToOneOfThem() {
        w.submit(c, "MUTATES /x");
        w.submit(b, "MUTATES /x");
        assertThat(w.submit(a, "MUTATES /x").queuePosition()).isEqualTo(2);
        Outcome out = w.release(c);
        assertThat(Worlds.kinds(out)).startsWith(Event.Kind.LEASE_FREED, Event.Kind.LEASE_GRANTED).hasSize(3);
        assertThat(Worlds.event(out, Event.Kind.LEASE_GRANTED).session()).isEqualTo(b);
        assertThat(w.kernel.queue()).containsExactly(a);
        assertThat(Worlds.event(w.release(b), Event.Kind.LEASE_GRANTED).session()).isEqualTo(a);
    }

    @Test
    @Tag("K4-11")
    void queue_compatibleWaiters_areGrantedTogetherInTheOrderTheyCame() {
        w.submit(c, "MUTATES /x");
        w.submit(b, "CONSUMES /x");
        w.submit(a, "CONSUMES /x");
        assertThat(w.kernel.queue()).containsExactly(b, a);
        Outcome out = w.release(c);
        assertThat(out.events()).filteredOn(e -> e.kind() == Event.Kind.LEASE_GRANTED).extracting(Event::session).containsExactly(b, a);
    }

    @Test
    void queue_newcomerCompatibleWithTheHolderButNotWithAWaiter_doesNotOvertake() {
        SessionKey oldest = w.session("oldest", 0);
        w.submit(c, "CONSUMES /x");
        assertThat(w.submit(b, "MUTATES /x").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.submit(w.session("young", 9), "CONSUMES /x").verdict()).as("younger reader").isEqualTo(Verdict.DIE);
        Outcome older = w.submit(oldest, "CONSUMES /x");
        assertThat(older.verdict()).as("older reader queues behind the writer").isEqualTo(Verdict.WAIT);
        assertThat(older.conflicts()).hasSize(1).allSatisfy(q -> assertThat(q.isQueued()).isTrue());
        assertThat(Worlds.event(w.release(c), Event.Kind.LEASE_GRANTED).session()).isEqualTo(b);
    }

    @Test
    @Tag("K4-5")
    @Tag("K4-2")
    void wait_runOut_endsAtThatMillisecondWithEverythingReleased() {
        w.submit(b, "MUTATES /x");
        w.submit(a, "MUTATES /mine");
        w.apply(new Command.Submit(a, Worlds.triples("MUTATES /x"), 0, 500, false));
        assertThat(w.at(499).events()).isEmpty();
        Outcome out = w.at(500);
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.WAIT_TIMED_OUT, Event.Kind.LEASE_FREED);
        assertThat(w.kernel.queue()).isEmpty();
        assertThat(w.kernel.leasesOf(a)).isEmpty();
        assertThat(w.state(a)).isEqualTo(LifeCycle.PAUSED);
    }

    @Test
    @Tag("K4-5")
    void wait_longerThanTheCap_isCut() {
        w.submit(b, "MUTATES /x");
        w.apply(new Command.Submit(a, Worlds.triples("MUTATES /x"), 0, Long.MAX_VALUE, false));
        Lease held = w.kernel.leasesOf(b).get(0);
        for (long t = 50_000; t < Limits.MAX_WAIT_MS; t += 50_000) {
            w.now = t;
            w.heartbeat(b, held);
        }
        assertThat(w.kernel.queue()).containsExactly(a);
        w.now = Limits.MAX_WAIT_MS;
        w.heartbeat(b, held);
        assertThat(w.kernel.queue()).isEmpty();
    }

    @Test
    void wait_ofAClientThatCannot_isPausedAndNotQueued() {
        w.submit(b, "MUTATES /x");
        Outcome out = w.apply(new Command.Submit(a, Worlds.triples("MUTATES /x"), 0, 0, false));
        assertThat(out.verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(out.retryAfterMs()).isEqualTo(60_000);
        assertThat(w.kernel.queue()).isEmpty();
    }

    @Test
    @Tag("K4-7")
    void die_andRetry_keepsTheFirstTimestampAndGetsIn() {
        w.submit(a, "MUTATES /x");
        for (int i = 0; i < 5; i++) {
            assertThat(w.submit(b, "MUTATES /x").verdict()).isEqualTo(Verdict.DIE);
        }
        Outcome forged = w.apply(new Command.Register(b, 0, true, 1, false, false, true));
        assertThat(forged.refusal().code()).isEqualTo(Refusal.Code.FORGED_PRIORITY);
        Outcome fresher = w.apply(new Command.Register(b, 99, true, 1, false, false, true));
        assertThat(fresher.priorityMs()).isEqualTo(2);
        w.release(a);
        w.submit(c, "MUTATES /x");
        assertThat(w.submit(b, "MUTATES /x").verdict()).as("by now the older one").isEqualTo(Verdict.WAIT);
    }

    @Test
    @Tag("K3-7")
    void timestamp_whileItWaits_isWhatItWas() {
        w.submit(b, "MUTATES /x");
        assertThat(w.submit(a, "MUTATES /x").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.apply(new Command.Register(a, 99, true, 0, false, false, true)).priorityMs()).isEqualTo(1);
        assertThat(w.kernel.session(a).priorityMs()).isEqualTo(1);
        assertThat(w.submit(c, "MUTATES /x").conflicts()).extracting(Conflict::holder, Conflict::holderPriorityMs)
                .containsExactlyInAnyOrder(tuple(a, 1L), tuple(b, 2L));
        assertThat(w.kernel.queue()).as("waits as before").containsExactly(a);
    }

    /** Neither another name for the same session nor its next life is one: only another session, once this one was given up (C10). */
    @Test
    @Tag("K3-7")
    @Tag("K3-8")
    @Tag("K0-9")
    void timestamp_another_takesAnAbortAndANewSession() {
        w.submit(b, "MUTATES /x");
        w.submit(a, "MUTATES /x");
        w.apply(new Command.Abort(a, "wants to be younger"));
        assertThat(w.kernel.queue()).isEmpty();
        assertThat(w.apply(new Command.Register(a, 99, true, 1, false, false, true)).priorityMs()).as("its next life").isEqualTo(1);
        assertThat(w.apply(new Command.Register(a, 0, true, 2, false, false, true)).refusal().code()).isEqualTo(Refusal.Code.FORGED_PRIORITY);
        SessionKey fresh = w.session(SessionKey.of("a", "s2"), 99, false);
        assertThat(w.submit(fresh, "MUTATES /x").verdict()).as("the youngest now").isEqualTo(Verdict.DIE);
        assertThat(w.kernel.session(fresh).priorityMs()).isEqualTo(99);
    }

    @Test
    @Tag("K8-10")
    @Tag("K8-2")
    void register_olderThanNowWithoutAVoucher_isRefused() {
        w.now = 1000;
        SessionKey d = SessionKey.of("d", "s");
        assertThat(w.apply(new Command.Register(d, 999, false, 0, false, false, true)).refusal().code())
                .isEqualTo(Refusal.Code.FORGED_PRIORITY);
        assertThat(w.state(d)).isNull();
        assertThat(w.apply(new Command.Register(d, 1000, false, 0, false, false, true)).priorityMs()).isEqualTo(1000);
        SessionKey e = SessionKey.of("e", "s");
        assertThat(w.apply(new Command.Register(e, 5, true, 0, false, false, true)).priorityMs()).isEqualTo(5);
    }

    @Test
    void die_withLeasesHeld_releasesThemInTheSameStep() {
        w.submit(b, "MUTATES /mine");
        w.submit(a, "MUTATES /x");
        SessionKey oldest = w.session("oldest", 0);
        assertThat(w.submit(oldest, "MUTATES /mine").verdict()).isEqualTo(Verdict.WAIT);
        Outcome out = w.submit(b, "MUTATES /x");
        assertThat(out.verdict()).isEqualTo(Verdict.DIE);
        assertThat(Worlds.event(out, Event.Kind.LEASE_GRANTED).session()).isEqualTo(oldest);
    }

    @Test
    @Tag("K4-8")
    void die_withWritesToUndo_blocksUntilRolledBackAndNoRetryBefore() {
        SessionKey d = w.rollingBack("d", 4);
        w.submit(d, "MUTATES /mine", "CONSUMES /read");
        w.submit(a, "MUTATES /x");
        Outcome out = w.submit(d, "MUTATES /x");
        assertThat(Worlds.kinds(out)).contains(Event.Kind.DIED, Event.Kind.ROLLBACK_REQUIRED, Event.Kind.LEASE_FREED);
        assertThat(w.submit(d, "MUTATES /y").refusal().code()).isEqualTo(Refusal.Code.ROLLING_BACK);
        assertThat(w.submit(b, "MUTATES /read").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.dry(b, "MUTATES /mine").verdict()).isEqualTo(Verdict.WAIT);
        w.apply(new Command.RolledBack(d));
        assertThat(w.dry(b, "MUTATES /mine").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.submit(d, "MUTATES /y").verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    void upgrade_byTwoReaders_theYoungerDiesAndDropsItsRead() {
        w.submit(a, "CONSUMES /x");
        w.submit(b, "CONSUMES /x");
        assertThat(w.submit(a, "MUTATES /x").verdict()).isEqualTo(Verdict.WAIT);
        Outcome out = w.submit(b, "MUTATES /x");
        assertThat(out.verdict()).isEqualTo(Verdict.DIE);
        assertThat(Worlds.event(out, Event.Kind.LEASE_GRANTED).session()).isEqualTo(a);
        SessionKey alone = w.session("alone", 5);
        w.submit(alone, "CONSUMES /z");
        assertThat(w.submit(alone, "MUTATES /z").verdict()).as("own lease is never in the way").isEqualTo(Verdict.GRANTED);
    }

    /** What it loses first stood for nothing; that the other one stands for what it waits for is known still. */
    @Test
    @Tag("K4-1")
    void waiting_ownLeasesGoOneByOne_diesWhenTheOneGoesThatStoodForATriple() {
        w.submit(c, "MUTATES /x");
        List<Lease> own = w.submit(b, "MUTATES /else", "MUTATES /r").leases();
        assertThat(w.submit(a, "MUTATES /r").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.submit(b, "MUTATES /r", "MUTATES /x").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.kernel.session(b).waitsFor()).as("not for who waits for its own lease").containsExactly(c);
        w.apply(new Command.Release(b, Worlds.tokens(own.get(0))));
        assertThat(w.kernel.queue()).containsExactly(a, b);
        Outcome out = w.apply(new Command.Release(b, Worlds.tokens(own.get(1))));
        assertThat(Worlds.event(out, Event.Kind.DIED).session()).isEqualTo(b);
        assertThat(Worlds.event(out, Event.Kind.LEASE_GRANTED).session()).isEqualTo(a);
    }

    @Test
    @Tag("K4-13")
    @Tag("K7-14")
    void die_ofSeveralWithDifferentTimes_mayTryAgainWhenTheFirstIsOver() {
        w.submitFor(a, 900, "MUTATES /1");
        w.submitFor(b, 400, "MUTATES /2");
        w.submitFor(a, 700, "MUTATES /3");
        w.now = 100;
        Outcome dry = w.dry(c, "MUTATES /1", "MUTATES /2", "MUTATES /3");
        Outcome out = w.submit(c, "MUTATES /1", "MUTATES /2", "MUTATES /3");
        assertThat(out.conflicts()).extracting(Conflict::untilMs).containsExactly(900L, 400L, 700L);
        assertThat(out.retryAfterMs()).isEqualTo(300).isEqualTo(dry.retryAfterMs());
    }

    /** Of those who wait only those count who are in its way, each once however many of its triples they meet. */
    @Test
    @Tag("K4-4")
    void wait_besideOthersWhoWaitForSomethingElse_isTheFirstInItsOwnQueue() {
        w.submit(c, "MUTATES /x", "MUTATES /y");
        assertThat(w.submit(b, "CONSUMES /x").queuePosition()).isEqualTo(1);
        assertThat(w.dry(a, "MUTATES /y").queuePosition()).isEqualTo(1);
        assertThat(w.submit(a, "MUTATES /y").queuePosition()).as("nobody waits for that").isEqualTo(1);
        SessionKey first = w.session("first", 0);
        assertThat(w.submit(first, "CONSUMES /y", "MUTATES /x", "DEPENDS_ON /x").queuePosition()).as("behind both").isEqualTo(3);
    }

    /** The five steps of C42, at whose end the protocol as written has two sessions waiting for each other. */
    @Test
    @Tag("K4-1")
    void deadlockTrace_ofFiveSteps_everybodyGetsThrough() {
        SessionKey a0 = w.session("a0", 0);
        SessionKey a1 = w.session("a1", 1);
        SessionKey a2 = w.session("a2", 2);
        w.submit(a1, "MUTATES /r0");
        w.submit(a2, "MUTATES /r1");
        assertThat(w.submit(a1, "MUTATES /r1", "MUTATES /r2").verdict()).isEqualTo(Verdict.WAIT);
        // the free r2 is promised to a1: a0 waits for it instead of taking it, and so cannot come to wait for r0 while it holds r2
        assertThat(w.submit(a0, "MUTATES /r2").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.submit(a0, "MUTATES /r0").refusal().code()).isEqualTo(Refusal.Code.ALREADY_WAITING);
        assertThat(Worlds.event(w.release(a2), Event.Kind.LEASE_GRANTED).session()).isEqualTo(a1);
        assertThat(Worlds.event(w.release(a1), Event.Kind.LEASE_GRANTED).session()).isEqualTo(a0);
        assertThat(w.submit(a0, "MUTATES /r0").verdict()).isEqualTo(Verdict.GRANTED);
    }

    /** The same with a kernel in which older sessions overtake: then only judging waiters again saves it. */
    @Test
    void deadlockTrace_whereOlderOvertake_theWaiterDiesWhenSomebodyOlderComesIntoItsWay() {
        for (boolean rejudges : new boolean[] {true, false}) {
            Worlds o = new Worlds(new Kernel(KernelOptions.standard(), 0, rejudges, true));
            SessionKey a0 = o.session("a0", 0);
            SessionKey a1 = o.session("a1", 1);
            SessionKey a2 = o.session("a2", 2);
            o.submit(a1, "MUTATES /r0");
            o.submit(a2, "MUTATES /r1");
            o.submit(a1, "MUTATES /r1", "MUTATES /r2");
            Outcome out = o.submit(a0, "MUTATES /r2");
            assertThat(out.verdict()).isEqualTo(Verdict.GRANTED);
            if (rejudges) {
                assertThat(Worlds.event(out, Event.Kind.DIED).session()).isEqualTo(a1);
                assertThat(o.submit(a0, "MUTATES /r0").verdict()).isEqualTo(Verdict.GRANTED);
            } else {
                assertThat(o.submit(a0, "MUTATES /r0").verdict()).isEqualTo(Verdict.WAIT);
                o.release(a2);
                assertThat(o.kernel.blockers(a0)).extracting(Conflict::holder).containsExactly(a1);
                assertThat(o.kernel.blockers(a1)).extracting(Conflict::holder).containsExactly(a0);
            }
        }
    }

    /** A triple that an own lease stands for does not queue; once that lease goes, it does, and may be too young to. */
    @Test
    void waiting_ownLeaseThatStoodForATripleGoes_isJudgedAgainAndDies() {
        for (String[] manifest : new String[][] {{"CONSUMES /r", "MUTATES /z"}, {"MUTATES /z", "CONSUMES /r"}}) {
            Worlds v = new Worlds();
            SessionKey old = v.session("old", 1);
            SessionKey middle = v.session("middle", 2);
            SessionKey young = v.session("young", 3);
            v.submit(young, "MUTATES /z");
            v.submit(middle, "MUTATES /r");
            assertThat(v.submit(old, "MUTATES /r").verdict()).as("waits for middle").isEqualTo(Verdict.WAIT);
            assertThat(v.submit(middle, manifest).verdict()).as("waits for young only").isEqualTo(Verdict.WAIT);
            assertThat(v.kernel.blockers(middle)).extracting(Conflict::holder).containsExactly(young);
            Outcome out = v.release(middle);
            assertThat(Worlds.event(out, Event.Kind.LEASE_GRANTED).session()).isEqualTo(old);
            assertThat(Worlds.event(out, Event.Kind.DIED).session()).isEqualTo(middle);
        }
    }

    @Test
    void waiting_ownLeaseThatStandsForATripleStays_isGrantedPastThoseWhoWaitForThatLease() {
        w.submit(c, "MUTATES /z");
        w.submit(b, "MUTATES /r");
        w.submit(a, "MUTATES /r");
        w.submit(b, "CONSUMES /r", "MUTATES /z");
        Outcome out = w.release(c);
        assertThat(Worlds.event(out, Event.Kind.LEASE_GRANTED).session()).isEqualTo(b);
        assertThat(w.kernel.queue()).containsExactly(a);
    }

    @Test
    @Tag("K4-13")
    @Tag("K4-14")
    void backoff_doublesToItsCapAndAddsJitter() {
        Backoff backoff = new Backoff(10, 1000, 7);
        assertThat(List.of(0, 1, 2, 6, 7, 1000).stream().map(n -> backoff.delayMs(n, 0))).containsExactly(10L, 20L, 40L, 640L, 1000L, 1000L);
        assertThat(backoff.delayMs(0, 0.999)).isEqualTo(17);
        assertThat(backoff.delayMs(0, 0.5)).isEqualTo(14);
        assertThat(new Backoff(1, Long.MAX_VALUE / 2, 0).delayMs(1000, 0)).isEqualTo(Long.MAX_VALUE / 2);
    }

    @Test
    @Tag("RS-5")
    void verdict_worstOf_isTheLaterInTheOrder() {
        assertThat(Verdict.values()).containsExactly(Verdict.GRANTED, Verdict.WAIT, Verdict.PAUSED, Verdict.DIE);
        assertThat(Verdict.WAIT.worst(Verdict.DIE)).isEqualTo(Verdict.DIE);
        assertThat(Verdict.DIE.worst(Verdict.GRANTED)).isEqualTo(Verdict.DIE);
    }

    /** Judging all three thousand again at each of three thousand releases would take minutes. */
    @Test
    @Tag("C42")
    @Tag("K4-12")
    void release_thousandsWaitForOneThing_handsItFromOneToTheNextInNoTime() {
        int waiting = 3000;
        SessionKey[] keys = new SessionKey[waiting + 1];
        for (int i = 0; i <= waiting; i++) {
            keys[i] = w.session("agent" + i, 10_000 - i);
            Outcome out = w.apply(new Command.Submit(keys[i], Worlds.triples("MUTATES /d"), Limits.MAX_TTL_MS, Limits.MAX_WAIT_MS, false));
            assertThat(out.verdict()).isEqualTo(i == 0 ? Verdict.GRANTED : Verdict.WAIT);
        }
        assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
            for (int i = 0; i < waiting; i++) {
                Outcome out = w.release(keys[i]);
                assertThat(Worlds.event(out, Event.Kind.LEASE_GRANTED).session()).isEqualTo(keys[i + 1]);
                assertThat(w.kernel.waiterCount()).isEqualTo(waiting - 1 - i);
            }
        });
    }

    /** A lease that is given back, one that runs out, and a manifest that is taken back out of the queue, in each order. */
    @Test
    @Tag("C42")
    @Tag("K4-10")
    void waiter_whatIsInItsWayGoesOneByOne_isGrantedWithTheLastAndNotBefore() {
        int[][] orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        for (int[] order : orders) {
            for (String[] asked : new String[][] {{"MUTATES /d/**"}, {"MUTATES /d/*"}, {"MUTATES /d/0", "DELETES /d/1", "RENAMES /d/2", "CONSUMES /f"}}) {
                Worlds world = new Worlds();
                SessionKey gives = world.session("gives", 9);
                SessionKey runsOut = world.session("runs out", 8);
                SessionKey elsewhere = world.session("elsewhere", 7);
                SessionKey queued = world.session("queued", 6);
                SessionKey one = world.session("one", 5);
                world.submitFor(gives, Limits.MAX_TTL_MS, "CONSUMES /d/0");
                world.submitFor(runsOut, 1000, "CONSUMES /d/1");
                world.submitFor(elsewhere, Limits.MAX_TTL_MS, "MUTATES /e");
                assertThat(world.submit(queued, "MUTATES /e", "CONSUMES /d/2").verdict()).isEqualTo(Verdict.WAIT);
                assertThat(world.submit(one, asked).verdict()).isEqualTo(Verdict.WAIT);
                for (int gone : order) {
                    assertThat(world.kernel.queue()).contains(one);
                    if (gone == 0) {
                        world.release(gives);
                    } else if (gone == 1) {
                        world.at(1000);
                    } else {
                        world.apply(new Command.Withdraw(queued));
                    }
                }
                assertThat(world.kernel.queue()).as("%s", List.of(asked)).isEmpty();
                assertThat(world.state(one)).isEqualTo(LifeCycle.EXECUTING);
            }
        }
    }
}
