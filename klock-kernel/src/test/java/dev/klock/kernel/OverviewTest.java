package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What an operator can ask: who is blocked, what is hot, who is a ghost. */
class OverviewTest {
    private final Worlds w = new Worlds();
    private final SessionKey a = w.session("a", 1);
    private final SessionKey b = w.session("b", 2);
    private final SessionKey c = w.session("c", 3);

    @Test
    @Tag("K7-12")
    @Tag("K3-12")
    void lastSeen_afterRefusedAndTriedCommands_isThatOfTheLastOneThatWasCarriedOut() {
        Lease others = w.submitFor(b, 300_000, "MUTATES /x").leases().get(0);
        w.now = 1000;
        w.submit(a, "CONSUMES /a");
        w.release(a);
        w.now = 2000;
        SessionView before = w.kernel.session(a);
        for (Command command : new Command[] {
            new Command.Heartbeat(a, new long[] {99}), new Command.Release(a, Worlds.tokens(others)), new Command.Confirm(a, new long[] {0}),
            new Command.Withdraw(a), new Command.Resume(a), new Command.Verify(a), new Command.RolledBack(a),
            new Command.Submit(a, Worlds.triples("MUTATES /y"), -1, 0, false), new Command.Submit(a, Worlds.triples("MUTATES /"), 0, 0, false),
            new Command.Register(a, 0, true, 0, false, false, true), new Command.DryRun(a, Worlds.triples("MUTATES /x")),
        }) {
            w.apply(command);
            assertThat(w.kernel.session(a)).as(command.toString()).isEqualTo(before);
        }
        assertThat(w.heartbeat(a).refusal()).isNull();
        assertThat(w.kernel.session(a).lastSeenMs()).isEqualTo(2000);
    }

    @Test
    @Tag("K7-7")
    void contention_ofSeveralResources_namesTheHottestFirst() {
        w.submit(a, "MUTATES /hot", "MUTATES /warm");
        for (int i = 0; i < 5; i++) {
            w.submit(b, "CONSUMES /hot");
        }
        w.submit(c, "MUTATES /warm", "MUTATES /cold");
        assertThat(w.kernel.contention(null, 10)).extracting(HotSpot::resource)
                .containsExactly(Resource.file("/hot"), Resource.file("/warm"));
        HotSpot hot = w.kernel.contention("default", 1).get(0);
        assertThat(hot.conflicts()).isEqualTo(5);
        assertThat(hot.deaths()).isEqualTo(5);
        assertThat(w.kernel.contention("default", 1)).hasSize(1);
        assertThat(w.kernel.contention("other", 10)).isEmpty();
        w.dry(b, "CONSUMES /hot");
        assertThat(w.kernel.contention(null, 1).get(0).conflicts()).as("a dry run is no conflict").isEqualTo(5);
    }

    @Test
    @Tag("K7-7")
    void contention_thatWasLongAgo_isColderThanWhatIsFoughtOverNow() {
        w.submitFor(a, 300_000, "MUTATES /old");
        for (int i = 0; i < 4; i++) {
            w.submit(b, "CONSUMES /old");
        }
        w.at(180_000);
        w.submit(a, "MUTATES /new");
        w.submit(b, "CONSUMES /new");
        assertThat(w.kernel.contention(null, 2)).extracting(h -> h.resource().path()).containsExactly("/new", "/old");
        assertThat(w.kernel.contention(null, 2).get(1).heat()).isEqualTo(0.5);
    }

    @Test
    @Tag("K7-7")
    void contention_overMoreResourcesThanAreCounted_keepsTheHotOne() {
        w.submit(a, "MUTATES /d/**");
        for (int i = 0; i < 20_000; i++) {
            w.submit(b, "CONSUMES /d/" + i);
            if (i % 10 == 0) {
                w.submit(b, "CONSUMES /d/hot");
            }
        }
        HotSpot hot = w.kernel.contention(null, 1).get(0);
        assertThat(hot.resource().path()).isEqualTo("/d/hot");
        assertThat(hot.conflicts()).isEqualTo(2000);
        assertThat(w.kernel.contention(null, Integer.MAX_VALUE)).hasSizeLessThanOrEqualTo(2048);
    }

    @Test
    @Tag("K7-12")
    void overview_whoIsBlocked_namesWhomTheyWaitForAndTheirPlace() {
        w.submit(c, "MUTATES /x");
        w.submit(b, "MUTATES /x");
        w.submit(a, "MUTATES /x");
        Overview all = w.kernel.overview(null, 10);
        assertThat(all.sessions()).extracting(SessionView::session).containsExactly(a, b, c);
        assertThat(all.blocked()).extracting(SessionView::session).containsExactly(a, b);
        SessionView first = all.blocked().get(0);
        assertThat(first.place()).isEqualTo(2);
        assertThat(first.waitsFor()).as("oldest first").containsExactly(b, c);
        assertThat(first.waitUntilMs()).isEqualTo(30_000);
        assertThat(first).isEqualTo(w.kernel.session(a));
        assertThat(all.hotSpots()).hasSize(1);
        assertThat(w.kernel.overview("other", 10).sessions()).isEmpty();
    }

    @Test
    @Tag("K7-12")
    void overview_agentWhoseLeasesMostlyRunOut_isAGhost() {
        for (int i = 0; i < 6; i++) {
            w.apply(new Command.Register(b, 2, true, i, false, false, true));
            w.submitFor(b, 100, "CONSUMES /g", "CONSUMES /h");
            if (i % 2 == 0) {
                w.at(w.now + 100);
            } else {
                w.release(b);
            }
            w.submitFor(a, 100, "CONSUMES /f");
            w.release(a);
        }
        Overview all = w.kernel.overview(null, 10);
        assertThat(all.ghosts()).extracting(Overview.Agent::agentId).containsExactly("b");
        assertThat(all.ghosts().get(0).counts()).isEqualTo(new SessionView.Counts(6, 0, 0, 0, 3));
        assertThat(all.agents()).extracting(Overview.Agent::agentId).containsExactly("a", "b", "c");
    }

    @Test
    void counts_afterDeathAndTimeout_areKeptOverEpochs() {
        w.submit(a, "MUTATES /x");
        w.submit(b, "MUTATES /x");
        w.submit(c, "MUTATES /y");
        w.apply(new Command.Submit(b, Worlds.triples("MUTATES /y"), 0, 50, false));
        w.at(50);
        w.apply(new Command.Abort(b, "enough"));
        w.apply(new Command.Register(b, 2, true, 1, false, false, true));
        assertThat(w.kernel.session(b).counts()).isEqualTo(new SessionView.Counts(0, 1, 1, 1, 0));
        assertThat(w.kernel.session(SessionKey.of("nobody", "s"))).isNull();
    }

    @Test
    void pending_afterDie_isWhatWasAskedForAndWhatDieTook() {
        w.submit(b, "MUTATES /mine", "CONSUMES /read");
        w.submit(a, "MUTATES /x");
        w.submit(b, "MUTATES /x");
        SessionView died = w.kernel.session(b);
        assertThat(died.phase()).isEqualTo(LifeCycle.ACQUIRING);
        assertThat(died.pending()).containsExactlyElementsOf(Worlds.triples("MUTATES /mine", "CONSUMES /read", "MUTATES /x"));
        w.release(a);
        w.submit(b, "MUTATES /mine", "MUTATES /x");
        assertThat(w.kernel.session(b).pending()).containsExactlyElementsOf(Worlds.triples("MUTATES /mine", "MUTATES /x"));
        assertThat(w.kernel.session(b).phase()).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    @Tag("K7-12")
    void overview_ofALongQueueForOneResource_namesAFewForEachAndLooksAtEachOnce() {
        int many = 2000;
        SessionKey holder = w.session("holder", many);
        w.submit(holder, "MUTATES /x/y");
        for (int i = 0; i < many; i++) {
            // each older than all who came before
            SessionKey key = w.session(SessionKey.of("w", "s" + i), many - 1 - i, false);
            assertThat(w.submit(key, "MUTATES /x/**").verdict()).isEqualTo(Verdict.WAIT);
        }
        long before = w.kernel.looked();
        Overview all = w.kernel.overview(null, 10);
        assertThat(w.kernel.looked() - before).isLessThan(2L * many);
        assertThat(all.blocked()).hasSize(many);
        for (SessionView view : all.blocked()) {
            assertThat(view.waitsFor()).as(view.toString()).hasSize(Math.min(view.place(), Limits.MAX_WAITS_FOR)).contains(holder);
        }
        assertThat(w.kernel.session(SessionKey.of("w", "s500")).waitsFor()).as("those who came first")
                .startsWith(SessionKey.of("w", "s98"), SessionKey.of("w", "s97")).endsWith(SessionKey.of("w", "s0"), holder);
    }

    @Test
    @Tag("K7-12")
    void overview_whereVeryManyAreInTheWayOfManyDifferentOnes_namesOneForTheLast() {
        SessionKey young = w.session("young", 1000);
        int leases = Limits.MAX_LOOKED_AT / 50;
        for (int from = 0; from < leases; from += Limits.MAX_TRIPLES) {
            String[] below = new String[Limits.MAX_TRIPLES];
            for (int i = 0; i < below.length; i++) {
                below[i] = "CONSUMES /" + "d/".repeat(60) + (from + i);
            }
            w.submit(young, below);
        }
        for (int i = 0; i < 60; i++) {
            SessionKey key = w.session(SessionKey.of("w", "s" + i), 999 - i, false);
            assertThat(w.submit(key, "MUTATES " + "/d".repeat(60 - i) + "/**").verdict()).isEqualTo(Verdict.WAIT);
        }
        long before = w.kernel.looked();
        Overview all = w.kernel.overview(null, 10);
        assertThat(w.kernel.looked() - before).isLessThan(Limits.MAX_LOOKED_AT + 2L * leases);
        assertThat(all.blocked()).allSatisfy(view -> assertThat(view.waitsFor()).isNotEmpty());
        assertThat(all.blocked()).anySatisfy(view -> assertThat(view.waitsFor()).hasSize(1));
        assertThat(all.blocked()).anySatisfy(view -> assertThat(view.waitsFor()).hasSizeGreaterThan(5));
    }
}
