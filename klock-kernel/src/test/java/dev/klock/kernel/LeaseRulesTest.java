package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The life of a lease. */
class LeaseRulesTest {
    private final Worlds w = new Worlds();
    private final SessionKey a = w.session("a", 1);
    private final SessionKey b = w.session("b", 2);

    @Test
    @Tag("K0-5")
    @Tag("K3-2")
    @Tag("K3-4")
    @Tag("RS-4")
    void lease_granted_hasAllItsFields() {
        w.now = 1000;
        Lease l = w.submit(a, "MUTATES /x").leases().get(0);
        assertThat(l.id()).isEqualTo("lease_0_1");
        assertThat(l.resource()).isEqualTo(Resource.file("/x"));
        assertThat(l.predicate()).isEqualTo(Predicate.MUTATES);
        assertThat(l.session().agentId()).isEqualTo("a");
        assertThat(l.acquiredAtMs()).isEqualTo(1000);
        assertThat(l.ttlMs()).isEqualTo(60_000);
        assertThat(l.expiresAtMs()).isEqualTo(61_000);
        assertThat(l.state()).isEqualTo(LeaseState.ACTIVE);
    }

    @Test
    @Tag("K3-5")
    @Tag("K2-9")
    void ttl_aboveTheCap_isCutAndReported() {
        assertThat(w.submitFor(a, Long.MAX_VALUE, "MUTATES /x").leases().get(0).ttlMs()).isEqualTo(300_000);
        assertThat(w.submitFor(a, 300_000, "MUTATES /y").leases().get(0).ttlMs()).isEqualTo(300_000);
        assertThat(w.submitFor(a, 299_999, "MUTATES /z").leases().get(0).ttlMs()).isEqualTo(299_999);
    }

    @Test
    @Tag("K0-5")
    @Tag("K3-1")
    @Tag("K7-1")
    @Tag("RS-4")
    void expiry_atTheVeryMillisecond_endsTheLeaseAndNotBefore() {
        Lease l = w.submitFor(a, 100, "MUTATES /x").leases().get(0);
        assertThat(Worlds.kinds(w.at(99))).isEmpty();
        assertThat(w.submit(b, "MUTATES /x").verdict()).isEqualTo(Verdict.DIE);
        Outcome out = w.at(100);
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.LEASE_EXPIRED);
        assertThat(out.events().get(0).leases().get(0).state()).isEqualTo(LeaseState.EXPIRED);
        assertThat(w.kernel.lease(l.fencingToken())).isNull();
        assertThat(w.submit(b, "MUTATES /x").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.state(a)).isEqualTo(LifeCycle.ABORTED);
    }

    @Test
    @Tag("K0-5")
    @Tag("K3-9")
    @Tag("K3-11")
    @Tag("K7-3")
    void heartbeat_bulk_renewsEachFromNow() {
        Outcome granted = w.submitFor(a, 100, "MUTATES /x", "MUTATES /y");
        w.now = 60;
        Outcome out = w.heartbeat(a, granted.leases().get(0), granted.leases().get(1));
        assertThat(out.leases()).extracting(Lease::expiresAtMs).containsExactly(160L, 160L);
        assertThat(w.at(159).events()).isEmpty();
        assertThat(w.kernel.leasesOf(a)).hasSize(2);
    }

    @Test
    @Tag("K3-12")
    @Tag("FIELD-I11")
    void heartbeat_expiredOrReleasedOrStrangersLease_isRefused() {
        Lease expired = w.submitFor(a, 100, "MUTATES /x").leases().get(0);
        Lease live = w.submitFor(a, 1000, "MUTATES /y").leases().get(0);
        Lease released = w.submitFor(a, 1000, "MUTATES /z").leases().get(0);
        w.apply(new Command.Release(a, Worlds.tokens(released)));
        w.now = 100;
        Outcome out = w.heartbeat(a, expired, live, released);
        assertThat(out.isRefused()).isFalse();
        assertThat(out.leases()).extracting(Lease::fencingToken).containsExactly(live.fencingToken());
        assertThat(out.rejections()).extracting(r -> r.refusal().code())
                .containsExactly(Refusal.Code.LEASE_GONE, Refusal.Code.LEASE_GONE);
        assertThat(w.heartbeat(a, expired).refusal().code()).isEqualTo(Refusal.Code.LEASE_GONE);
        assertThat(w.heartbeat(b, live).refusal().code()).isEqualTo(Refusal.Code.NOT_OWNER);
        assertThat(w.apply(new Command.Heartbeat(a, new long[] {99})).refusal().code()).isEqualTo(Refusal.Code.UNKNOWN_LEASE);
    }

    @Test
    @Tag("K3-13")
    @Tag("K7-4")
    @Tag("K2-7")
    @Tag("FIELD-I11")
    void release_byItsOwner_freesIt_andByNobodyElse() {
        Lease l = w.submit(a, "MUTATES /x").leases().get(0);
        Outcome stranger = w.apply(new Command.Release(b, Worlds.tokens(l)));
        assertThat(stranger.refusal().code()).isEqualTo(Refusal.Code.NOT_OWNER);
        assertThat(w.submit(b, "MUTATES /x").verdict()).isEqualTo(Verdict.DIE);
        Outcome out = w.apply(new Command.Release(a, Worlds.tokens(l)));
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.LEASE_FREED);
        assertThat(w.submit(b, "MUTATES /x").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.apply(new Command.Release(a, Worlds.tokens(l))).refusal().code()).isEqualTo(Refusal.Code.LEASE_GONE);
    }

    @Test
    @Tag("RS-4")
    void revoke_byAnOperator_endsTheLease() {
        Lease l = w.submit(a, "MUTATES /x").leases().get(0);
        Outcome out = w.apply(new Command.Revoke(l.fencingToken()));
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.LEASE_REVOKED);
        assertThat(out.leases().get(0).state()).isEqualTo(LeaseState.REVOKED);
        assertThat(w.heartbeat(a, l).refusal().code()).isEqualTo(Refusal.Code.LEASE_GONE);
        assertThat(w.apply(new Command.Revoke(l.fencingToken())).isRefused()).isTrue();
    }

    @Test
    void fencingToken_overAllGrants_onlyRises() {
        long last = 0;
        for (int i = 0; i < 20; i++) {
            Lease l = w.submit(i % 2 == 0 ? a : b, "MUTATES /x").leases().get(0);
            assertThat(l.fencingToken()).isGreaterThan(last);
            last = l.fencingToken();
            w.release(i % 2 == 0 ? a : b);
        }
        Kernel next = new Kernel(KernelOptions.standard().withFirstFencingToken(w.kernel.nextFencingToken()), 0);
        Worlds after = new Worlds(next);
        assertThat(after.submit(after.session("c", 1), "MUTATES /x").leases().get(0).fencingToken()).isGreaterThan(last);
    }

    @Test
    void reserve_untilConfirmed_blocksOthersAndItsSessionIsNotExecuting() {
        Outcome out = w.apply(new Command.Submit(a, Worlds.triples("MUTATES /x", "MUTATES /y"), 0, 0, true));
        assertThat(out.leases()).extracting(Lease::state).containsOnly(LeaseState.PENDING);
        assertThat(w.state(a)).isEqualTo(LifeCycle.ACQUIRING);
        assertThat(w.submit(b, "CONSUMES /x").verdict()).isEqualTo(Verdict.DIE);
        w.apply(new Command.Confirm(a, Worlds.tokens(out.leases().get(0))));
        assertThat(w.state(a)).isEqualTo(LifeCycle.ACQUIRING);
        Outcome confirmed = w.apply(new Command.Confirm(a, null));
        assertThat(confirmed.leases()).extracting(Lease::state).containsOnly(LeaseState.ACTIVE);
        assertThat(w.state(a)).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    void reserve_whoseImageFails_isReleasedWithoutRollback() {
        SessionKey c = w.rollingBack("c", 3);
        w.apply(new Command.Submit(c, Worlds.triples("MUTATES /x"), 0, 0, true));
        w.apply(new Command.Abort(c, "no space for the pre-image"));
        assertThat(w.kernel.leaseCount()).isZero();
    }

    @Test
    void abort_withWrites_blocksUntilRolledBack_readsGoAtOnce() {
        SessionKey c = w.rollingBack("c", 3);
        w.submit(c, "MUTATES /x", "CONSUMES /y");
        Outcome out = w.apply(new Command.Abort(c, "scope violation"));
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.ROLLBACK_REQUIRED, Event.Kind.LEASE_FREED);
        assertThat(w.state(c)).isEqualTo(LifeCycle.ABORTED);
        assertThat(w.submit(a, "MUTATES /y").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.submit(a, "MUTATES /x").verdict()).as("older than the one that rolls back").isEqualTo(Verdict.WAIT);
        Lease rolling = w.kernel.leasesOf(c).get(0);
        assertThat(rolling.state()).isEqualTo(LeaseState.ROLLING_BACK);
        w.now = 50_000;
        assertThat(w.heartbeat(c, rolling).isRefused()).as("a long rollback keeps its lease").isFalse();
        assertThat(w.submit(c, "MUTATES /z").refusal().code()).isEqualTo(Refusal.Code.SESSION_ENDED);
    }

    @Test
    void rolledBack_afterAbort_handsOverToTheWaiter() {
        SessionKey c = w.rollingBack("c", 3);
        w.submit(c, "MUTATES /x");
        w.apply(new Command.Abort(c, "scope violation"));
        w.submit(a, "MUTATES /x");
        Outcome out = w.apply(new Command.RolledBack(c));
        assertThat(Worlds.event(out, Event.Kind.LEASE_GRANTED).session()).isEqualTo(a);
        assertThat(w.apply(new Command.RolledBack(c)).refusal().code()).isEqualTo(Refusal.Code.ILLEGAL_TRANSITION);
    }

    @Test
    @Tag("K3-6")
    @Tag("K7-5")
    void grace_agentThatAnnouncedItsRestart_keepsItsLeasesForFifteenSeconds() {
        Outcome granted = w.submitFor(a, 1000, "MUTATES /x", "MUTATES /y");
        Lease x = granted.leases().get(0);
        Lease y = granted.leases().get(1);
        w.apply(new Command.AnnounceRestart(a));
        assertThat(Worlds.kinds(w.at(1000))).containsExactly(Event.Kind.LEASE_IN_GRACE, Event.Kind.LEASE_IN_GRACE);
        w.at(15_999);
        assertThat(w.submit(b, "MUTATES /x").verdict()).isEqualTo(Verdict.DIE);
        assertThat(w.heartbeat(a, x).refusal().code()).as("a heartbeat is late, grace or not").isEqualTo(Refusal.Code.LEASE_GONE);
        Outcome back = w.apply(new Command.Reconcile(a, Worlds.tokens(x)));
        assertThat(back.leases()).extracting(Lease::fencingToken).containsExactly(x.fencingToken());
        assertThat(back.leases()).extracting(Lease::state).containsExactly(LeaseState.ACTIVE);
        assertThat(back.leases()).extracting(Lease::expiresAtMs).containsExactly(16_999L);
        assertThat(w.kernel.lease(y.fencingToken())).as("reconcile ends the grace").isNull();
    }

    @Test
    @Tag("K3-6")
    void grace_overOrNeverAnnounced_doesNotHold() {
        w.submitFor(a, 1000, "MUTATES /x");
        w.submitFor(b, 1000, "MUTATES /y");
        w.apply(new Command.AnnounceRestart(a));
        w.at(1000);
        assertThat(w.kernel.leaseCount()).isEqualTo(1);
        assertThat(Worlds.kinds(w.at(16_000))).containsExactly(Event.Kind.LEASE_EXPIRED);
        assertThat(w.kernel.leaseCount()).isZero();
        SessionKey late = w.session("late", 3);
        w.submitFor(late, 1000, "MUTATES /x");
        w.apply(new Command.AnnounceRestart(late));
        assertThat(Worlds.kinds(w.at(w.now + 16_000))).as("nobody looked in between").containsExactly(Event.Kind.LEASE_EXPIRED);
    }

    @Test
    @Tag("K7-5")
    void reconcile_leasesOfOthersOrGone_areNotValid() {
        Lease mine = w.submit(a, "MUTATES /x").leases().get(0);
        Lease other = w.submit(b, "MUTATES /y").leases().get(0);
        Outcome out = w.apply(new Command.Reconcile(a, new long[] {mine.fencingToken(), other.fencingToken(), 77}));
        assertThat(out.leases()).extracting(Lease::fencingToken).containsExactly(mine.fencingToken());
        assertThat(out.rejections()).hasSize(2);
    }

    @Test
    @Tag("K7-6")
    void holders_ofAResource_areAllThatOverlapIt() {
        w.submit(a, "CONSUMES /x/**", "MUTATES /y");
        w.submit(b, "CONSUMES /x/1", "CONSUMES /x/2");
        assertThat(w.kernel.holders("default", Resource.file("/x/1"))).extracting(Lease::session).containsExactlyInAnyOrder(a, b);
        assertThat(w.kernel.holders("default", Resource.of("FILE", "/x", Resource.Form.SUBTREE))).hasSize(3);
        assertThat(w.kernel.holders("other", Resource.file("/x/1"))).isEmpty();
    }

    @Test
    void time_goingBackwards_isRefused() {
        w.at(1000);
        assertThat(w.kernel.apply(Command.Submit.of(a, Worlds.triples("MUTATES /x")), 999).refusal().code())
                .isEqualTo(Refusal.Code.TIME_WENT_BACKWARDS);
        assertThat(w.kernel.leaseCount()).isZero();
    }

    // What the public reference gets wrong; each of these would fail on it.

    @Test
    void knownDefect_onlyTheFirstConflictingHolderLookedAt() {
        SessionKey c = w.session("c", 3);
        SessionKey old = w.session("old", 0);
        w.submit(c, "CONSUMES /x");
        w.submit(old, "CONSUMES /x");
        assertThat(w.submit(b, "MUTATES /x").verdict()).as("older than c, younger than old").isEqualTo(Verdict.DIE);
    }

    @Test
    void knownDefect_leaseIdsCollideWithinOneMillisecond() {
        Set<String> ids = new HashSet<>();
        for (int i = 0; i < 1000; i++) {
            ids.add(w.submit(a, "CONSUMES /x/" + i).leases().get(0).id());
        }
        assertThat(ids).hasSize(1000);
    }

    @Test
    void knownDefect_finishedLeasesNeverDropped() {
        for (int i = 0; i < 10_000; i++) {
            w.submitFor(a, 10, "MUTATES /d" + i + "/e/f");
            if (i % 2 == 0) {
                w.release(a);
            } else {
                w.at(w.now + 10);
                w.kernel.apply(new Command.Register(a, 1, true, i, false, false, true), w.now);
            }
        }
        assertThat(w.kernel.leaseCount()).isZero();
        assertThat(w.kernel.indexNodes()).isZero();
        w.at(w.now + Limits.SESSION_MEMORY_MS);
        assertThat(w.kernel.sessionCount()).isZero();
        assertThat(w.kernel.nextDueMs()).isEqualTo(Long.MAX_VALUE);
        assertThat(w.kernel.indexRecords()).isZero();
    }

    @Test
    void namespaces_thatComeAndGo_leaveNothing() {
        for (int i = 0; i < 100; i++) {
            SessionKey key = new SessionKey("space" + i, "a", "s");
            w.session(key, 1, false);
            w.submit(key, "CONSUMES /", "CONSUMES /**", "MUTATES /d/e");
            w.apply(new Command.Complete(key));
        }
        w.at(w.now + Limits.SESSION_MEMORY_MS);
        w.session(new SessionKey("other", "a", "s"), 1, false);
        assertThat(w.kernel.indexRecords()).isZero();
    }

    @Test
    void knownDefect_holderWithoutARegisteredPriorityGranted() {
        Outcome out = w.apply(Command.Submit.of(SessionKey.of("ghost", "s"), Worlds.triples("MUTATES /x")));
        assertThat(out.refusal().code()).isEqualTo(Refusal.Code.UNKNOWN_SESSION);
        assertThat(out.refusal().message()).contains("ghost/s");
    }

    @Test
    void ids_tooLongEmptyOrWithControls_areRefused() {
        for (String bad : List.of("", "x".repeat(257), "a\nb", "\u00e9".repeat(129))) {
            Outcome out = w.apply(Command.Register.of(SessionKey.of(bad, "s"), 1));
            assertThat(out.refusal().code()).as(bad).isEqualTo(Refusal.Code.BAD_ID);
        }
        assertThat(w.apply(Command.Register.of(SessionKey.of("\u00e9".repeat(128), "s"), 1)).refusal()).isNull();
        assertThat(w.apply(Command.Register.of(SessionKey.of("c", "s"), -1)).refusal().code()).isEqualTo(Refusal.Code.BAD_TIME);
    }
}
