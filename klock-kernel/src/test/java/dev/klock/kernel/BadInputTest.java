package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.manifest.ManifestException;
import dev.klock.manifest.ManifestReader;
import dev.klock.manifest.ReadOptions;
import dev.klock.resource.Resource;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Each command with what it cannot accept: a typed refusal, in one line, that changes nothing. */
class BadInputTest {
    private final Worlds w = new Worlds(KernelOptions.standard().core5());
    private final SessionKey a = w.session("a", 1);
    private final SessionKey b = w.session("b", 2);
    private final SessionKey ended = w.session("ended", 3);
    private final SessionKey unknown = SessionKey.of("nobody", "s");
    private long released;
    private long ofB;
    private long live;

    BadInputTest() {
        w.now = 1000;
        released = w.submit(a, "MUTATES /gone").leases().get(0).fencingToken();
        w.release(a);
        live = w.submit(a, "MUTATES /x").leases().get(0).fencingToken();
        ofB = w.submit(b, "MUTATES /y").leases().get(0).fencingToken();
        w.apply(new Command.Complete(ended));
    }

    private record Bad(Refusal.Code code, Command command) {}

    private static Triple triple(Predicate p, Resource r) {
        return Triple.of(p, r);
    }

    private List<Bad> bad() {
        List<Bad> list = new ArrayList<>();
        for (SessionKey s : List.of(unknown, ended)) {
            Refusal.Code code = s == unknown ? Refusal.Code.UNKNOWN_SESSION : Refusal.Code.SESSION_ENDED;
            list.add(new Bad(code, Command.Submit.of(s, Worlds.triples("MUTATES /z"))));
            list.add(new Bad(code, new Command.DryRun(s, Worlds.triples("MUTATES /z"))));
            list.add(new Bad(code, new Command.Withdraw(s)));
            list.add(new Bad(code, new Command.Confirm(s, null)));
            list.add(new Bad(code, new Command.Heartbeat(s, null)));
            list.add(new Bad(code, new Command.AnnounceRestart(s)));
            list.add(new Bad(code, new Command.Pause(s)));
            list.add(new Bad(code, new Command.Resume(s)));
            list.add(new Bad(code, new Command.Verify(s)));
            list.add(new Bad(code, new Command.Complete(s)));
            list.add(new Bad(code, new Command.Abort(s, "why")));
        }
        list.add(new Bad(Refusal.Code.UNKNOWN_SESSION, new Command.Release(unknown, null)));
        list.add(new Bad(Refusal.Code.UNKNOWN_SESSION, new Command.Reconcile(unknown, new long[] {live})));
        list.add(new Bad(Refusal.Code.UNKNOWN_SESSION, new Command.RolledBack(unknown)));
        list.add(new Bad(Refusal.Code.UNKNOWN_SESSION, new Command.Verify(null)));
        list.add(new Bad(Refusal.Code.ILLEGAL_TRANSITION, new Command.RolledBack(a)));
        list.add(new Bad(Refusal.Code.ILLEGAL_TRANSITION, new Command.Resume(a)));
        list.add(new Bad(Refusal.Code.ILLEGAL_TRANSITION, new Command.Withdraw(a)));
        for (long[] lease : new long[][] {{released}, {ofB}, {0}, {-1}, {Long.MIN_VALUE}, {Long.MAX_VALUE}}) {
            Refusal.Code code = lease[0] == released ? Refusal.Code.LEASE_GONE : lease[0] == ofB ? Refusal.Code.NOT_OWNER : Refusal.Code.UNKNOWN_LEASE;
            list.add(new Bad(code, new Command.Confirm(a, lease)));
            list.add(new Bad(code, new Command.Heartbeat(a, lease)));
            list.add(new Bad(code, new Command.Release(a, lease)));
            if (lease[0] != ofB) {
                list.add(new Bad(code, new Command.Revoke(lease[0])));
            }
        }
        long[] numbers = new long[Limits.MAX_NUMBERS + 1];
        numbers[0] = live;
        list.add(new Bad(Refusal.Code.TOO_MANY, new Command.Confirm(a, numbers)));
        list.add(new Bad(Refusal.Code.TOO_MANY, new Command.Heartbeat(a, numbers)));
        list.add(new Bad(Refusal.Code.TOO_MANY, new Command.Release(a, numbers)));
        list.add(new Bad(Refusal.Code.TOO_MANY, new Command.Reconcile(a, numbers)));
        list.add(new Bad(Refusal.Code.BAD_ID, Command.Register.of(SessionKey.of("", "s"), 1)));
        list.add(new Bad(Refusal.Code.BAD_ID, Command.Register.of(SessionKey.of("c", "x".repeat(257)), 1)));
        list.add(new Bad(Refusal.Code.BAD_ID, Command.Register.of(new SessionKey("n\u0000", "c", "s"), 1)));
        list.add(new Bad(Refusal.Code.BAD_TIME, Command.Register.of(SessionKey.of("c", "s"), -1)));
        list.add(new Bad(Refusal.Code.BAD_TIME, new Command.Register(SessionKey.of("c", "s"), 1, true, -1, false, false, true)));
        list.add(new Bad(Refusal.Code.FORGED_PRIORITY, new Command.Register(SessionKey.of("c", "s"), 999, false, 0, false, false, true)));
        list.add(new Bad(Refusal.Code.FORGED_PRIORITY, new Command.Register(b, 1, true, 1, false, false, true)));
        list.add(new Bad(Refusal.Code.SESSION_ENDED, new Command.Register(ended, 3, true, 0, false, false, true)));
        for (boolean dry : new boolean[] {false, true}) {
            add(list, Refusal.Code.BAD_PREDICATE, dry, triple(Predicate.RENAMES, Resource.file("/z")));
            add(list, Refusal.Code.UNKNOWN_SCHEME, dry, triple(Predicate.CONSUMES, Resource.of("GOPHER", "z", Resource.Form.EXACT)));
            add(list, Refusal.Code.UNKNOWN_SCHEME, dry, triple(Predicate.CONSUMES, Resource.of("A\nB", "z", Resource.Form.EXACT)));
            add(list, Refusal.Code.NOT_CANONICAL, dry, triple(Predicate.CONSUMES, Resource.of("file", "/z", Resource.Form.EXACT)));
            add(list, Refusal.Code.NOT_CANONICAL, dry, triple(Predicate.CONSUMES, Resource.of("DB", "a\nb", Resource.Form.EXACT)));
            add(list, Refusal.Code.BAD_PATTERN, dry, triple(Predicate.CONSUMES, Resource.of("DB", "a\nb", Resource.Form.CHILDREN)));
            add(list, Refusal.Code.BAD_PATTERN, dry, triple(Predicate.CONSUMES, Resource.of("URL", "https://h", Resource.Form.CHILDREN)));
            add(list, Refusal.Code.BAD_PATTERN, dry, triple(Predicate.CONSUMES, Resource.of("ENV", "X", Resource.Form.SUBTREE)));
            add(list, Refusal.Code.NOT_CANONICAL, dry, triple(Predicate.CONSUMES, Resource.file("z")));
            add(list, Refusal.Code.NOT_CANONICAL, dry, triple(Predicate.CONSUMES, Resource.file("/z/../y")));
            add(list, Refusal.Code.NOT_CANONICAL, dry, triple(Predicate.CONSUMES, Resource.file("")));
            add(list, Refusal.Code.NOT_CANONICAL, dry, triple(Predicate.CONSUMES, Resource.file("/a\u0000b")));
            add(list, Refusal.Code.TOO_LONG, dry, triple(Predicate.CONSUMES, Resource.file("/" + "z".repeat(Limits.MAX_PATH_BYTES))));
            add(list, Refusal.Code.POLICY, dry, triple(Predicate.MUTATES, Resource.of("FILE", "/", Resource.Form.SUBTREE)));
            add(list, Refusal.Code.BAD_SUBJECT, dry, new Triple("b", Predicate.CONSUMES, Resource.file("/z"), 1, 0));
            Triple[] many = new Triple[Limits.MAX_TRIPLES + 1];
            java.util.Arrays.fill(many, triple(Predicate.CONSUMES, Resource.file("/z")));
            add(list, Refusal.Code.TOO_MANY, dry, many);
        }
        list.add(new Bad(Refusal.Code.BAD_TIME, new Command.Submit(a, Worlds.triples("CONSUMES /z"), -1, 0, false)));
        list.add(new Bad(Refusal.Code.BAD_TIME, new Command.Submit(a, Worlds.triples("CONSUMES /z"), Long.MIN_VALUE, 0, false)));
        list.add(new Bad(Refusal.Code.BAD_TIME, new Command.Submit(a, Worlds.triples("CONSUMES /z"), 0, -1, false)));
        return list;
    }

    private void add(List<Bad> list, Refusal.Code code, boolean dry, Triple... triples) {
        List<Triple> manifest = List.of(triples);
        list.add(new Bad(code, dry ? new Command.DryRun(a, manifest) : new Command.Submit(a, manifest, 0, 0, false)));
    }

    @Test
    void commands_withBadInput_areRefusedInOneLineAndChangeNothing() {
        String before = snapshot();
        Set<Class<?>> seen = new HashSet<>();
        for (Bad bad : bad()) {
            seen.add(bad.command.getClass());
            Outcome out = w.apply(bad.command);
            assertThat(out.refusal()).as("%s", bad.command).isNotNull();
            assertThat(out.refusal().code()).as("%s", bad.command).isEqualTo(bad.code);
            assertThat(out.refusal().message()).as("%s", bad.command).isNotBlank().doesNotContain("\n", "\u0000");
            assertThat(out.events()).as("%s", bad.command).isEmpty();
            assertThat(out.verdict()).isNull();
            assertThat(out.leases()).isEmpty();
            assertThat(snapshot()).as("%s", bad.command).isEqualTo(before);
        }
        Set<Class<?>> all = new HashSet<>(List.of(Command.class.getPermittedSubclasses()));
        all.remove(Command.Expire.class);
        assertThat(seen).as("every command has a case").isEqualTo(all);
    }

    /** Messages go to logs and to other programs: nobody forges a line of them, or makes them huge, by what it asks for. */
    @Test
    void refusals_ofWhatNobodyHasChecked_showItShortAndInOneLine() {
        String bad = "\n\u202e\u2067\u0085x\ud800";
        String huge = bad.repeat(100_000);
        SessionKey stranger = SessionKey.of(huge, huge);
        List<Command> commands = new ArrayList<>();
        for (String text : new String[] {bad, huge}) {
            commands.add(new Command.Heartbeat(SessionKey.of("x", text), null));
            commands.add(new Command.Release(SessionKey.of(text, "s"), new long[] {1}));
            commands.add(Command.Submit.of(SessionKey.of(text, "s"), List.of()));
            commands.add(Command.Submit.of(a, List.of(new Triple(text, Predicate.CONSUMES, Resource.file("/" + text), 1, 0))));
            for (Predicate p : Predicate.values()) {
                for (Resource.Form form : Resource.Form.values()) {
                    for (String scheme : new String[] {"FILE", "DB", "URL", "ENV", "PROCESS", "NATIVE", text}) {
                        commands.add(Command.Submit.of(a, List.of(triple(p, Resource.of(scheme, "/" + text, form)))));
                        commands.add(Command.Submit.of(a, List.of(triple(p, Resource.of(scheme, "/\u202e/../a", form)))));
                    }
                }
            }
        }
        commands.add(new Command.Verify(stranger));
        int refused = 0;
        for (Command command : commands) {
            Outcome out = w.apply(command);
            if (out.isRefused()) {
                refused++;
                assertThat(out.refusal().message()).doesNotContain("\n", "\u202e", "\u2067", "\u0085", "\ud800").hasSizeLessThan(2 * dev.klock.resource.Shown.MESSAGE);
            }
        }
        assertThat(refused).isGreaterThan(200);
        assertThat(w.apply(new Command.Verify(SessionKey.of(bad, "s"))).refusal().message())
                .isEqualTo("no session <U+000a><U+202e><U+2067><U+0085>x<U+d800>/s is registered");
    }

    @Test
    void commands_withAsManyNumbersAsMayBe_areCarriedOut() {
        long[] many = new long[Limits.MAX_NUMBERS];
        java.util.Arrays.fill(many, live);
        assertThat(w.apply(new Command.Heartbeat(a, many)).refusal()).isNull();
        assertThat(w.apply(new Command.Confirm(a, many)).refusal()).isNull();
        assertThat(w.apply(new Command.Reconcile(a, many)).refusal()).isNull();
        Outcome released = w.apply(new Command.Release(a, many));
        assertThat(released.leases()).hasSize(1);
        assertThat(released.rejections()).hasSize(Limits.MAX_NUMBERS - 1);
    }

    @Test
    void commands_atAnEarlierTime_areRefusedAndChangeNothing() {
        String before = snapshot();
        for (Command c : List.of(
                new Command.Expire(), Command.Register.of(SessionKey.of("c", "s"), 1), Command.Submit.of(a, List.of()),
                new Command.Release(a, null), new Command.Heartbeat(a, null), new Command.Revoke(live))) {
            for (long earlier : new long[] {999, 0, -1, Long.MIN_VALUE}) {
                assertThat(w.kernel.apply(c, earlier).refusal().code()).isEqualTo(Refusal.Code.TIME_WENT_BACKWARDS);
            }
            assertThat(snapshot()).isEqualTo(before);
        }
    }

    @Test
    @Tag("C27")
    void commands_atATimeThatCannotBe_areRefusedAndChangeNothing() {
        String before = snapshot();
        for (Command c : List.of(
                new Command.Expire(), Command.Register.of(SessionKey.of("c", "s"), 1), Command.Submit.of(a, Worlds.triples("MUTATES /z")),
                new Command.Release(a, null), new Command.Heartbeat(a, null), new Command.Revoke(live))) {
            for (long absurd : new long[] {Limits.MAX_CLOCK_MS + 1, Long.MAX_VALUE - 1000, Long.MAX_VALUE}) {
                assertThat(w.kernel.apply(c, absurd).refusal().code()).isEqualTo(Refusal.Code.BAD_TIME);
            }
            assertThat(snapshot()).isEqualTo(before);
        }
        assertThat(w.submit(a, "MUTATES /z").verdict()).as("and the clock has not moved").isEqualTo(Verdict.GRANTED);
    }

    @Test
    @Tag("C27")
    @Tag("K3-11")
    void leases_atTheLatestTime_endAfterItAndAreDue() {
        w.now = Limits.MAX_CLOCK_MS;
        SessionKey late = w.session("late", 5);
        Lease lease = w.submit(late, "MUTATES /late").leases().get(0);
        assertThat(lease.expiresAtMs()).isEqualTo(Limits.MAX_CLOCK_MS + Limits.DEFAULT_TTL_MS);
        assertThat(w.apply(new Command.Heartbeat(late, null)).leases()).hasSize(1);
        assertThat(w.kernel.nextDueMs()).isGreaterThan(Limits.MAX_CLOCK_MS);
        assertThat(w.submit(w.session("older", 4), "MUTATES /late").verdict()).isEqualTo(Verdict.WAIT);
    }

    @Test
    void kernel_thatWouldBeginAtATimeThatCannotBe_isNotMade() {
        for (long absurd : new long[] {-1, Long.MIN_VALUE, Limits.MAX_CLOCK_MS + 1, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> new Kernel(KernelOptions.standard(), absurd))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(Long.toString(absurd));
        }
    }

    @Test
    void reconcile_leasesThatAreNotItsOwn_areRejectedOneByOne() {
        Outcome out = w.apply(new Command.Reconcile(a, new long[] {released, ofB, 77_777, live}));
        assertThat(out.leases()).extracting(Lease::fencingToken).containsExactly(live);
        assertThat(out.rejections()).extracting(r -> r.refusal().code())
                .containsExactly(Refusal.Code.LEASE_GONE, Refusal.Code.NOT_OWNER, Refusal.Code.UNKNOWN_LEASE);
    }

    @Test
    void command_notOfTheKernels_isNothing() {
        String before = snapshot();
        assertThat(w.apply(null).events()).isEmpty();
        assertThat(snapshot()).isEqualTo(before);
    }

    // What the public reference gets wrong; each of these would fail on it. Its other defects are in LeaseRulesTest.

    @Test
    void knownDefect_anyoneReleasesAnyonesLeaseOrChangesAnyonesPriority() {
        assertThat(w.apply(new Command.Release(b, new long[] {live})).refusal().code()).isEqualTo(Refusal.Code.NOT_OWNER);
        assertThat(w.kernel.lease(live)).isNotNull();
        w.apply(new Command.Register(b, 0, true, 0, false, false, true));
        assertThat(w.kernel.session(b).priorityMs()).isEqualTo(2);
    }

    @Test
    void knownDefect_equalPrioritiesKillEachOtherForEver() {
        SessionKey x = w.session("x", 5);
        SessionKey y = w.session("y", 5);
        assertThat(w.submit(x, "MUTATES /p").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.submit(y, "MUTATES /q").verdict()).isEqualTo(Verdict.GRANTED);
        Verdict one = w.dry(x, "MUTATES /q").verdict();
        Verdict other = w.dry(y, "MUTATES /p").verdict();
        assertThat(List.of(one, other)).as("one waits, one dies").containsExactlyInAnyOrder(Verdict.WAIT, Verdict.DIE);
    }

    @Test
    void knownDefect_heartbeatRevivesAnExpiredLease() {
        w.at(61_000);
        assertThat(w.apply(new Command.Heartbeat(a, new long[] {live})).refusal().code()).isEqualTo(Refusal.Code.LEASE_GONE);
        assertThat(w.dry(w.session("later", 9), "MUTATES /x").verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    void knownDefect_unknownPredicateIsReadAsConsumes() {
        for (String name : List.of("READS", "consumes", "CONSUME")) {
            byte[] manifest = ("{\"ver\":\"1.0\",\"agent_id\":\"a\",\"scope\":[\"" + name + " FILE:/x\"]}").getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> new ManifestReader(variable -> null, new ReadOptions()).read("m.json", manifest))
                    .isInstanceOf(ManifestException.class).hasMessageContaining(name);
        }
    }

    /** A scan over all leases would make the second a thousand times as long as the first; twenty leaves room for a busy machine. */
    @Test
    void knownDefect_costPerCheckGrowsWithTheNumberOfLeases() {
        long few = checkTime(100);
        long many = checkTime(100_000);
        assertThat((double) many / few).as("%s ns with 100 leases, %s ns with 100 000", few, many).isLessThan(20);
    }

    /** The shortest of several rounds of checks, nanoseconds. */
    private static long checkTime(int leases) {
        Worlds world = new Worlds();
        SessionKey holder = world.session("holder", 1);
        SessionKey asker = world.session("asker", 2);
        for (int i = 0; i < leases; i++) {
            world.submit(holder, "MUTATES /d" + i % 100 + "/f" + i);
        }
        Command free = new Command.DryRun(asker, Worlds.triples("MUTATES /d7/other"));
        Command taken = new Command.DryRun(asker, Worlds.triples("CONSUMES /d7/f7"));
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 30; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < 500; i++) {
                assert world.apply(free).verdict() == Verdict.GRANTED;
                assert world.apply(taken).verdict() == Verdict.DIE;
            }
            best = Math.min(best, System.nanoTime() - start);
        }
        return best;
    }

    private String snapshot() {
        StringBuilder all = new StringBuilder();
        for (SessionKey key : w.kernel.sessions()) {
            SessionView v = w.kernel.session(key);
            all.append(key).append(v.priorityMs()).append(' ').append(v.epoch()).append(v.state()).append(v.suspended())
                    .append(v.restarting()).append(v.counts()).append(w.kernel.leasesOf(key)).append('\n');
            for (Lease l : w.kernel.leasesOf(key)) {
                all.append(l.expiresAtMs()).append(' ');
            }
        }
        return all.append(w.kernel.queue()).append(w.kernel.nextFencingToken()).append(w.kernel.contention(null, 10)).toString();
    }
}
