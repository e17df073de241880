package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

/** A writing lease that ran out without a word blocks a little longer (C46). */
class LockDelayTest {
    private final Worlds w = new Worlds(KernelOptions.standard().withLockDelayMs(500));
    private final SessionKey a = w.session("a", 1);
    private final SessionKey b = w.session("b", 2);
    private final SessionKey c = w.session("c", 3);

    @Test
    void expiry_ofAWritingLease_blocksUntilTheDelayIsOverAndNotLonger() {
        Lease lost = w.submitFor(b, 100, "MUTATES /x").leases().get(0);
        Outcome out = w.at(100);
        assertThat(Worlds.kinds(out)).containsExactly(Event.Kind.LEASE_EXPIRED);
        assertThat(w.state(b)).as("dead at once, whatever still blocks").isEqualTo(LifeCycle.ABORTED);
        assertThat(w.kernel.lease(lost.fencingToken()).state()).isEqualTo(LeaseState.LOCK_DELAY);
        assertThat(w.submit(c, "CONSUMES /x").verdict()).isEqualTo(Verdict.DIE);
        assertThat(w.submit(a, "MUTATES /x").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.at(599).events()).isEmpty();
        assertThat(Worlds.kinds(w.at(600))).startsWith(Event.Kind.LEASE_FREED, Event.Kind.LEASE_GRANTED);
    }

    @Test
    void expiry_ofAReadingLeaseOrOneThatWasNeverConfirmed_freesAtOnce() {
        w.submitFor(a, 100, "CONSUMES /x");
        w.apply(new Command.Submit(b, Worlds.triples("MUTATES /y"), 100, 0, true));
        w.at(100);
        assertThat(w.kernel.leaseCount()).isZero();
    }

    @Test
    void expiry_ofALeaseThatWasRollingBack_leavesNothingToRollBack() {
        SessionKey d = w.rollingBack("d", 4);
        w.submitFor(d, 100, "MUTATES /x");
        w.apply(new Command.Abort(d, "test"));
        w.at(100);
        assertThat(w.kernel.leasesOf(d)).extracting(Lease::state).containsExactly(LeaseState.LOCK_DELAY);
        assertThat(w.apply(new Command.RolledBack(d)).refusal().code()).isEqualTo(Refusal.Code.ILLEGAL_TRANSITION);
    }

    @Test
    void release_orRevoke_isCleanAndHasNoDelay() {
        w.submit(a, "MUTATES /x");
        w.release(a);
        Lease y = w.submit(b, "MUTATES /y").leases().get(0);
        w.apply(new Command.Revoke(y.fencingToken()));
        assertThat(w.kernel.leaseCount()).isZero();
    }

    @Test
    void delayedLease_canOnlyBeReleased() {
        Lease lost = w.submitFor(b, 100, "MUTATES /x").leases().get(0);
        w.at(100);
        assertThat(w.heartbeat(b, lost).refusal().code()).isEqualTo(Refusal.Code.LEASE_GONE);
        Outcome reconciled = w.apply(new Command.Reconcile(b, Worlds.tokens(lost)));
        assertThat(reconciled.leases()).isEmpty();
        assertThat(reconciled.rejections())
                .containsExactly(new Outcome.Rejection(
                        lost.fencingToken(),
                        new Refusal(Refusal.Code.LEASE_GONE, "lease " + lost.fencingToken() + " has expired")));
        assertThat(w.apply(new Command.Register(b, 2, true, 1, false, false, true)).refusal().code())
                .as("its old process may still be about to write").isEqualTo(Refusal.Code.ROLLING_BACK);
        assertThat(Worlds.kinds(w.release(b))).containsExactly(Event.Kind.LEASE_FREED);
        assertThat(w.apply(new Command.Register(b, 2, true, 1, false, false, true)).isRefused()).isFalse();
        assertThat(w.submit(c, "MUTATES /x").verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    void delayedLease_doesNotStandForATripleAnyMore() {
        SessionKey middle = w.session("middle", 2);
        SessionKey young = w.session("young", 9);
        w.submit(young, "MUTATES /z");
        w.submitFor(middle, 50_000, "MUTATES /other");
        w.submitFor(middle, 100, "MUTATES /r");
        assertThat(w.submit(a, "MUTATES /r").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.submit(middle, "CONSUMES /r", "MUTATES /z").verdict()).as("holds r").isEqualTo(Verdict.WAIT);
        Outcome out = w.at(100);
        assertThat(Worlds.event(out, Event.Kind.DIED).session()).as("a is older and waits for r").isEqualTo(middle);
    }

    @Test
    void grace_longerThanTheDelay_hasNoneAfterIt() {
        Lease l = w.submitFor(b, 100, "MUTATES /x").leases().get(0);
        w.apply(new Command.AnnounceRestart(b));
        w.at(100);
        assertThat(w.kernel.lease(l.fencingToken()).state()).isEqualTo(LeaseState.GRACE);
        w.at(15_100);
        assertThat(w.kernel.leaseCount()).isZero();
    }

    @Test
    void grace_endedByReconcileInTime_leavesTheRestOfTheDelay() {
        Outcome granted = w.submitFor(b, 100, "MUTATES /x", "MUTATES /y");
        w.apply(new Command.AnnounceRestart(b));
        w.at(100);
        w.apply(new Command.Reconcile(b, Worlds.tokens(granted.leases().get(0))));
        assertThat(w.kernel.lease(granted.leases().get(1).fencingToken()).state()).isEqualTo(LeaseState.LOCK_DELAY);
        w.at(600);
        assertThat(w.kernel.lease(granted.leases().get(1).fencingToken())).isNull();
    }

    @Test
    void options_delayOutOfRange_areRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> KernelOptions.standard().withLockDelayMs(-1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> KernelOptions.standard().withLockDelayMs(Limits.MAX_LOCK_DELAY_MS + 1));
    }
}
