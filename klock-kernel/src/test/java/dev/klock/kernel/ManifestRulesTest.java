package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a manifest may ask for, and what conflicts with what. */
class ManifestRulesTest {
    private final Worlds w = new Worlds();
    private final SessionKey a = w.session("a", 1);
    private final SessionKey b = w.session("b", 2);

    @Test
    @Tag("K1-1")
    @Tag("K7-2")
    @Tag("K3-3")
    @Tag("K2-5")
    void submit_oneTripleOfManyConflicts_grantsNone() {
        w.submit(a, "MUTATES /x/3");
        Outcome out = w.submit(b, "MUTATES /x/1", "MUTATES /x/2", "MUTATES /x/3", "MUTATES /x/4");
        assertThat(out.verdict()).isEqualTo(Verdict.DIE);
        assertThat(w.kernel.leasesOf(b)).isEmpty();
        assertThat(w.submit(a, "MUTATES /x/1").verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    @Tag("K2-6")
    @Tag("RS-5")
    void submit_manyConflicts_areAllReportedAndTheWorstDecides() {
        SessionKey oldest = w.session("oldest", 0);
        SessionKey middle = w.session("middle", 5);
        SessionKey youngest = w.session("youngest", 9);
        w.submit(youngest, "MUTATES /x/1");
        w.submit(oldest, "CONSUMES /x/2");
        w.submit(a, "CONSUMES /x/2");
        Outcome out = w.dry(middle, "CONSUMES /x/1", "MUTATES /x/2", "MUTATES /x/3");
        assertThat(out.verdict()).isEqualTo(Verdict.DIE);
        assertThat(out.conflicts()).extracting(Conflict::holder).containsExactly(youngest, oldest, a);
        assertThat(out.conflicts()).extracting(Conflict::type).containsExactly(
                ConflictType.STALE_READ_RISK, ConflictType.STALE_READ_RISK, ConflictType.STALE_READ_RISK);
        assertThat(w.dry(middle, "CONSUMES /x/1").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(w.dry(middle, "CONSUMES /x/2").verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    @Tag("K1-16")
    void submit_severalTriplesOnOneResource_takeOneLeaseOfTheSeverest() {
        Outcome out = w.submit(a, "CONSUMES /x", "MUTATES /x", "DEPENDS_ON /x", "CONSUMES /y", "PROVIDES /y");
        assertThat(out.leases()).extracting(Lease::predicate).containsExactly(Predicate.MUTATES, Predicate.PROVIDES);
        assertThat(w.submit(b, "CONSUMES /x").verdict()).isEqualTo(Verdict.DIE);
    }

    @Test
    @Tag("K1-6")
    @Tag("K1-15")
    void submit_deletesBesideOthers_isModelledAsDeletes() {
        Outcome out = w.submit(a, "MUTATES /x", "DELETES /x", "PROVIDES /x");
        assertThat(out.leases()).extracting(Lease::predicate).containsExactly(Predicate.DELETES);
    }

    @Test
    @Tag("RS-7")
    void submit_sameAgentAndSession_neverConflictsWithItself() {
        w.submit(a, "MUTATES /x/**");
        assertThat(w.submit(a, "DELETES /x/y").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.submit(a, "MUTATES /x/**").verdict()).isEqualTo(Verdict.GRANTED);
        SessionKey other = w.session(SessionKey.of("a", "other"), 1, false);
        assertThat(w.submit(other, "CONSUMES /x/y").verdict()).as("another session of the agent").isIn(Verdict.DIE, Verdict.WAIT);
    }

    @Tag("K2-12")
    @ParameterizedTest
    @CsvSource({
        "/a,/a,true", "/a,/b,false", "/a,/a/b,false", "/a/b,/a,false",
        "/a/*,/a,false", "/a/*,/a/b,true", "/a/*,/a/b/c,false", "/a/*,/a/*,true", "/a/*,/a/b/*,false",
        "/a/**,/a,true", "/a/**,/a/b,true", "/a/**,/a/b/c,true", "/a/**,/a/*,true", "/a/**,/a/b/*,true", "/a/**,/a/b/**,true",
        "/a/*,/a/b/**,true", "/a/b,/a/b/**,true", "/a/b/*,/a/**,true", "/a/**,/ab,false", "/a/**,/ab/c,false", "/a/*,/ab,false",
        "/a/**,/**,true", "/*,/a,true", "/*,/a/b,false", "/*,/a/**,true", "/*,/a/*,false", "/,/**,true", "/,/*,false", "/,/a,false",
    })
    void submit_patterns_conflictExactlyWhereTheyOverlap(String held, String asked, boolean overlap) {
        for (boolean swapped : new boolean[] {false, true}) {
            Worlds open = new Worlds(KernelOptions.standard().withPolicy((s, p, r) -> null));
            SessionKey first = open.session("first", 1);
            SessionKey second = open.session("second", 2);
            open.submit(first, "MUTATES " + (swapped ? asked : held));
            assertThat(open.submit(second, "MUTATES " + (swapped ? held : asked)).verdict())
                    .isEqualTo(overlap ? Verdict.DIE : Verdict.GRANTED);
        }
    }

    @Test
    @Tag("K7-10")
    void submit_otherNamespace_neverMeets() {
        w.submit(a, "MUTATES /x/**");
        SessionKey tenant = w.session(new SessionKey("tenant", "a", "t"), 9, false);
        assertThat(w.submit(tenant, "MUTATES /x/y").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.kernel.holders("tenant", Resource.file("/x/y"))).hasSize(1);
    }

    @Test
    @Tag("K2-8")
    void submit_sameLeasesInAnyOrder_givesTheSameAnswer() {
        String[][] manifests = {
            {"CONSUMES /x/**"}, {"DEPENDS_ON /x/a", "CONSUMES /x/b"}, {"CONSUMES /x/a"}, {"PROVIDES /y/*"}, {"MUTATES /z"}, {"CONSUMES /x/*"},
        };
        Set<String> answers = new HashSet<>();
        for (int seed = 0; seed < 50; seed++) {
            Worlds world = new Worlds(KernelOptions.standard().withHashSeed(seed));
            List<Integer> order = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5));
            Collections.shuffle(order, new Random(seed));
            for (int i : order) {
                SessionKey key = world.session("agent" + i, i);
                assertThat(world.submit(key, manifests[i]).verdict()).isEqualTo(Verdict.GRANTED);
            }
            SessionKey late = world.session("late", 3);
            StringBuilder answer = new StringBuilder();
            for (Conflict c : world.dry(late, "MUTATES /x/a", "PROVIDES /y/**", "RENAMES /z").conflicts()) {
                answer.append(c.asked()).append(' ').append(c.holder()).append(' ').append(c.heldPredicate()).append(' ')
                        .append(c.heldResource()).append('\n');
            }
            answers.add(answer.toString());
        }
        assertThat(answers).hasSize(1);
        assertThat(answers.iterator().next().lines()).hasSize(6);
    }

    @Tag("K1-8")
    @Tag("K1-9")
    @Tag("K1-14")
    @ParameterizedTest
    @CsvSource({
        "/a/../b,/b", "/a//b,/a/b", "/a/,/a", "/./a,/a", "/a/.,/a", "/a/..,/", "//,/", "/..,/", "/a/b/../../..,/",
    })
    void submit_pathNotCanonical_isRefusedWithTheCanonicalForm(String path, String canonical) {
        Outcome out = w.apply(Command.Submit.of(a, List.of(Triple.of(Predicate.CONSUMES, Resource.file(path)))));
        assertThat(out.refusal().code()).isEqualTo(Refusal.Code.NOT_CANONICAL);
        // for what ends in a slash, the subtree is named too
        assertThat(out.refusal().message()).matches("'FILE:.*' is not canonical; write FILE:" + canonical + "(, or FILE:.*/\\*\\* for all below)?");
    }

    @Test
    @Tag("K1-7")
    @Tag("K1-9")
    void submit_relativeOrOddButCanonicalPath_isToldApart() {
        assertThat(w.submit(a, "CONSUMES a/b").refusal().code()).isEqualTo(Refusal.Code.NOT_CANONICAL);
        assertThat(w.submit(a, "CONSUMES /a/..b", "CONSUMES /a/.b", "CONSUMES /a/...", "CONSUMES /a/b.").refusal()).isNull();
        assertThat(w.submit(a, "CONSUMES /a\0b").refusal().code()).isEqualTo(Refusal.Code.NOT_CANONICAL);
    }

    @Tag("K1-18")
    @ParameterizedTest
    @CsvSource({"MUTATES,/", "MUTATES,/*", "MUTATES,/**", "DELETES,/**", "PROVIDES,/*", "RENAMES,/**"})
    void submit_writingOnTheWholeMachine_isRefusedByPolicy(Predicate predicate, String pattern) {
        Outcome out = w.submit(a, predicate + " " + pattern);
        assertThat(out.refusal().code()).isEqualTo(Refusal.Code.POLICY);
        assertThat(w.submit(a, "CONSUMES " + pattern).verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    @Tag("K2-10")
    void policy_whoMayMutateWhat_isAskedWithWhoAsks() {
        Worlds own = new Worlds(KernelOptions.standard().withPolicy((session, predicate, resource) ->
                predicate == Predicate.MUTATES && resource.path().startsWith("/billing") && !session.agentId().equals("billing")
                        ? "only billing changes that" : null));
        SessionKey billing = own.session("billing", 1);
        SessionKey tidy = own.session("tidy", 2);
        Refusal refusal = own.submit(tidy, "CONSUMES /x", "MUTATES /billing/2026").refusal();
        assertThat(refusal.code()).isEqualTo(Refusal.Code.POLICY);
        assertThat(refusal.message()).contains("MUTATES FILE:/billing/2026").endsWith("only billing changes that");
        assertThat(own.kernel.leasesOf(tidy)).isEmpty();
        assertThat(own.submit(tidy, "MUTATES /x").verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(own.submit(billing, "MUTATES /billing/2026").verdict()).isEqualTo(Verdict.GRANTED);
    }

    @Test
    @Tag("K2-10")
    @Tag("K1-18")
    void policy_guardedOrShallowDirectory_refusesWritingThere() {
        Worlds strict = new Worlds(KernelOptions.standard().withPolicy(new GlobalScopePolicy(2, List.of("/home/me"))));
        SessionKey key = strict.session("a", 1);
        assertThat(strict.submit(key, "MUTATES /home/me/**").refusal().code()).isEqualTo(Refusal.Code.POLICY);
        assertThat(strict.submit(key, "MUTATES /home/*").refusal().code()).isEqualTo(Refusal.Code.POLICY);
        assertThat(strict.submit(key, "MUTATES /home/me/*").refusal().code()).isEqualTo(Refusal.Code.POLICY);
        assertThat(strict.submit(key, "MUTATES /etc/**").refusal().code()).isEqualTo(Refusal.Code.POLICY);
        for (String writes : new String[] {"MUTATES", "DELETES", "RENAMES", "PROVIDES"}) {
            assertThat(strict.submit(key, writes + " /home/me").refusal().code()).as(writes).isEqualTo(Refusal.Code.POLICY);
            assertThat(strict.submit(key, writes + " /home").refusal().code()).as(writes).isEqualTo(Refusal.Code.POLICY);
            assertThat(strict.dry(key, writes + " /home/me/file", writes + " /home/me/dir/**", writes + " /home/me2", writes + " /hom").refusal()).as(writes).isNull();
        }
        assertThat(strict.submit(key, "CONSUMES /home/me", "DEPENDS_ON /home").refusal()).isNull();
        assertThat(strict.submit(key, "MUTATES /etc/hosts").refusal()).isNull();
        assertThat(strict.submit(key, "MUTATES /srv/me/jobs/**").refusal()).isNull();
        assertThat(strict.submit(key, "CONSUMES /home/me/**").refusal()).isNull();
    }

    @Test
    @Tag("K2-10")
    @Tag("K4-10")
    void policy_thatFails_refusesAndWhatTimeBroughtIsTold() {
        for (Throwable failure : new Throwable[] {new IllegalStateException("x"), new StackOverflowError(), new Exception("sneaky")}) {
            Worlds world = new Worlds(KernelOptions.standard().withPolicy((s, p, r) -> {
                if (r.path().equals("/boom")) {
                    ManifestRulesTest.<RuntimeException>sneak(failure);
                }
                return null;
            }));
            SessionKey old = world.session("old", 1);
            SessionKey young = world.session("young", 2);
            SessionKey asks = world.session("asks", 3);
            world.submitFor(young, 300, "MUTATES /a");
            assertThat(world.submit(old, "MUTATES /a").verdict()).isEqualTo(Verdict.WAIT);
            world.now = 300;
            Outcome out = world.submit(asks, "MUTATES /b", "MUTATES /boom");
            assertThat(out.refusal().code()).isEqualTo(Refusal.Code.POLICY);
            assertThat(out.refusal().message()).contains("MUTATES FILE:/boom", failure.getClass().getName());
            assertThat(Worlds.kinds(out)).contains(Event.Kind.LEASE_EXPIRED, Event.Kind.LEASE_GRANTED);
            assertThat(world.kernel.leasesOf(asks)).isEmpty();
            assertThat(world.dry(asks, "MUTATES /boom").refusal().code()).isEqualTo(Refusal.Code.POLICY);
            assertThat(world.submit(asks, "MUTATES /b").verdict()).isEqualTo(Verdict.GRANTED);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    @Tag("K2-10")
    void policy_thatGivesCommandsToItsKernel_refusesAndChangesNothing() {
        Worlds[] world = new Worlds[1];
        SessionKey key = SessionKey.of("a", "s");
        world[0] = new Worlds(KernelOptions.standard().withPolicy((s, p, r) -> {
            world[0].apply(new Command.Complete(key));
            return null;
        }));
        world[0].session("a", 1);
        assertThat(world[0].submit(key, "MUTATES /x").refusal().code()).isEqualTo(Refusal.Code.POLICY);
        assertThat(world[0].state(key)).isEqualTo(LifeCycle.PLANNING);
    }

    /** Nobody keeps the kernel from the others with one manifest: what is asked for twice, or within something else that is, is looked for once. */
    @Test
    @Tag("K1-16")
    void manifest_thatMeetsVeryManyInEachTriple_looksAtThemAFewTimes() {
        int many = 2 * Limits.MAX_CONFLICTS;
        Worlds crowded = new Worlds();
        SessionKey young = crowded.session("young", 9);
        List<Triple> small = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            small.add(Triple.of(Predicate.MUTATES, Resource.file("/d/" + i)));
        }
        crowded.apply(Command.Submit.of(young, small.subList(0, many / 2)));
        crowded.apply(Command.Submit.of(young, small.subList(many / 2, many)));
        List<Triple> asked = new ArrayList<>();
        for (int i = 0; i < Limits.MAX_TRIPLES; i++) {
            asked.add(Triple.of(i % 3 == 0 ? Predicate.CONSUMES : Predicate.DEPENDS_ON, Resource.of("FILE", i % 2 == 0 ? "/d" : "/", Resource.Form.SUBTREE)));
        }
        SessionKey old = crowded.session("old", 1);
        SessionKey youngest = crowded.session("youngest", 99);
        long before = crowded.kernel.looked();
        Outcome waits = crowded.apply(new Command.DryRun(old, asked));
        assertThat(waits.verdict()).isEqualTo(Verdict.WAIT);
        assertThat(waits.conflicts()).hasSize(Limits.MAX_CONFLICTS);
        assertThat(crowded.apply(new Command.DryRun(youngest, asked)).verdict()).isEqualTo(Verdict.DIE);
        assertThat(crowded.apply(new Command.DryRun(young, asked)).verdict()).as("meets only itself").isEqualTo(Verdict.GRANTED);
        assertThat(crowded.kernel.looked() - before).isLessThan(10L * many);
        crowded.apply(new Command.Submit(old, asked, 0, 30_000, false));
        before = crowded.kernel.looked();
        assertThat(crowded.kernel.blockers(old)).hasSize(Limits.MAX_CONFLICTS);
        crowded.apply(new Command.Release(young, new long[] {crowded.kernel.leasesOf(young).get(0).fencingToken()}));
        assertThat(crowded.state(old)).isEqualTo(LifeCycle.PAUSED);
        assertThat(crowded.kernel.looked() - before).isLessThan(10L * many);
        crowded.release(young);
        assertThat(crowded.state(old)).isEqualTo(LifeCycle.EXECUTING);
    }

    /** Of what is in a waiter's way each is younger, so one is enough to know that it waits still, whatever it holds besides. */
    @Test
    @Tag("K4-1")
    void waiter_withALeaseOfItsOwn_isJudgedAgainByOneThingInItsWay() {
        int many = Limits.MAX_TRIPLES;
        Worlds crowded = new Worlds();
        SessionKey young = crowded.session("young", 9);
        List<Triple> small = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            small.add(Triple.of(Predicate.MUTATES, Resource.file("/d/" + i)));
        }
        List<Lease> held = crowded.apply(Command.Submit.of(young, small)).leases();
        SessionKey old = crowded.session("old", 1);
        Lease own = crowded.submit(old, "CONSUMES /else", "CONSUMES /other").leases().get(0);
        assertThat(crowded.submit(old, "CONSUMES /d/**").verdict()).isEqualTo(Verdict.WAIT);
        long before = crowded.kernel.looked();
        for (Lease lease : held.subList(0, many - 1)) {
            crowded.apply(new Command.Release(young, Worlds.tokens(lease)));
        }
        assertThat(crowded.kernel.looked() - before).as("once or a few times each time that what it was judged by goes").isLessThan(many / 10);
        before = crowded.kernel.looked();
        crowded.apply(new Command.Release(old, Worlds.tokens(own)));
        assertThat(crowded.kernel.looked() - before).as("it stood for nothing that is in the way").isZero();
        assertThat(crowded.state(old)).isEqualTo(LifeCycle.PAUSED);
        crowded.release(young);
        assertThat(crowded.state(old)).isEqualTo(LifeCycle.EXECUTING);
    }

    @Test
    @Tag("K7-11")
    void quota_ofLeases_countsLeasesAndNotTriples() {
        Worlds small = new Worlds(KernelOptions.standard().withQuota(2, 100, 1000));
        SessionKey key = small.session("a", 1);
        Triple start = Triple.of(Predicate.PROVIDES, Resource.parse("PROCESS:/bin/x"));
        List<Triple> oneLease = new ArrayList<>(Worlds.triples("CONSUMES /1", "MUTATES /1", "DELETES /1"));
        oneLease.add(start);
        assertThat(small.apply(Command.Submit.of(key, oneLease)).leases()).hasSize(1);
        assertThat(small.submit(key, "CONSUMES /2", "CONSUMES /3").refusal().message()).isEqualTo("more than 2 leases of one session");
        assertThat(small.submit(key, "CONSUMES /2", "MUTATES /2").leases()).hasSize(1);
        assertThat(small.apply(Command.Submit.of(key, List.of(start))).verdict()).as("takes none").isEqualTo(Verdict.GRANTED);
    }

    @Test
    @Tag("K7-11")
    void quota_usedUp_refusesUntilTheWindowIsOver() {
        Worlds small = new Worlds(KernelOptions.standard().withQuota(3, 2, 1000));
        SessionKey key = small.session("a", 1);
        small.now = 5000;
        assertThat(small.submit(key, "CONSUMES /1", "CONSUMES /2", "CONSUMES /3", "CONSUMES /4").refusal().code())
                .isEqualTo(Refusal.Code.QUOTA);
        assertThat(small.submit(key, "CONSUMES /1").refusal()).isNull();
        assertThat(small.submit(key, "CONSUMES /2").refusal()).isNull();
        assertThat(small.submit(key, "CONSUMES /3").refusal().code()).isEqualTo(Refusal.Code.QUOTA);
        small.now = 6000;
        assertThat(small.submit(key, "CONSUMES /3").refusal()).isNull();
    }

    @Test
    void submit_badInput_isRefusedAndChangesNothing() {
        w.submit(a, "MUTATES /x");
        String before = snapshot();
        assertThat(code(a, 0, 0, Triple.of(Predicate.CONSUMES, Resource.of("GOPHER", "x", Resource.Form.EXACT))))
                .isEqualTo(Refusal.Code.UNKNOWN_SCHEME);
        assertThat(code(a, 0, 0, Triple.of(Predicate.CONSUMES, Resource.of("ENV", "X", Resource.Form.SUBTREE))))
                .isEqualTo(Refusal.Code.BAD_PATTERN);
        assertThat(code(a, 0, 0, Triple.of(Predicate.CONSUMES, Resource.file("/" + "x".repeat(4096)))))
                .isEqualTo(Refusal.Code.TOO_LONG);
        assertThat(code(a, 0, 0, Triple.of(Predicate.CONSUMES, Resource.file("/" + "\u00e9".repeat(2048)))))
                .isEqualTo(Refusal.Code.TOO_LONG);
        assertThat(code(a, 0, 0, Triple.of(Predicate.CONSUMES, Resource.file("")))).isEqualTo(Refusal.Code.NOT_CANONICAL);
        assertThat(code(a, -1, 0, Triple.of(Predicate.CONSUMES, Resource.file("/y")))).isEqualTo(Refusal.Code.BAD_TIME);
        assertThat(code(a, 0, -1, Triple.of(Predicate.CONSUMES, Resource.file("/y")))).isEqualTo(Refusal.Code.BAD_TIME);
        assertThat(code(SessionKey.of("nobody", "s"), 0, 0, Triple.of(Predicate.CONSUMES, Resource.file("/y"))))
                .isEqualTo(Refusal.Code.UNKNOWN_SESSION);
        Triple[] many = new Triple[Limits.MAX_TRIPLES + 1];
        java.util.Arrays.fill(many, Triple.of(Predicate.CONSUMES, Resource.file("/y")));
        assertThat(code(a, 0, 0, many)).isEqualTo(Refusal.Code.TOO_MANY);
        assertThat(snapshot()).isEqualTo(before);
        assertThat(code(a, 0, 0, Triple.of(Predicate.CONSUMES, Resource.file("/" + "x".repeat(4095))))).isNull();
        many = java.util.Arrays.copyOf(many, Limits.MAX_TRIPLES);
        assertThat(code(a, 0, 0, many)).isNull();
    }

    private String snapshot() {
        return w.kernel.sessions() + " " + w.kernel.leasesOf(a) + " " + w.kernel.leasesOf(b) + " " + w.state(a) + " " + w.kernel.queue();
    }

    private Refusal.Code code(SessionKey key, long ttl, long wait, Triple... triples) {
        Outcome out = w.apply(new Command.Submit(key, List.of(triples), ttl, wait, false));
        return out.isRefused() ? out.refusal().code() : null;
    }

    @Test
    void submit_startsOfOneProgram_neverConflict() {
        Triple git = Triple.of(Predicate.PROVIDES, Resource.of("PROCESS", "/usr/bin/git", Resource.Form.EXACT));
        assertThat(w.apply(Command.Submit.of(a, List.of(git))).verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.apply(Command.Submit.of(b, List.of(git))).verdict()).isEqualTo(Verdict.GRANTED);
        Triple one = Triple.of(Predicate.PROVIDES, Resource.of("PROCESS", "/usr/bin/git#17", Resource.Form.EXACT));
        assertThat(w.apply(Command.Submit.of(a, List.of(one))).leases()).hasSize(1);
        assertThat(w.apply(Command.Submit.of(b, List.of(one))).verdict()).isEqualTo(Verdict.DIE);
    }

    @Test
    void submit_namesThatLookAlike_areDifferentThings() {
        String[] paths = {
            "https://h/x", "https://h/x/", "https://h/x//", "https://h//x", "https://h/", "https://h//", "https://h:444/", "http://h/", "tcp://h:1"
        };
        for (int i = 0; i < paths.length; i++) {
            SessionKey key = w.session("agent" + i, i);
            Resource url = Resource.of("URL", paths[i], Resource.Form.EXACT);
            assertThat(w.apply(Command.Submit.of(key, List.of(Triple.of(Predicate.MUTATES, url)))).verdict())
                    .as(paths[i]).isEqualTo(Verdict.GRANTED);
        }
    }

    @Test
    @Tag("K1-10")
    void submit_namesThatDifferInCase_areDifferentThings() {
        w.submit(a, "MUTATES /x/File");
        assertThat(w.submit(b, "MUTATES /x/file").verdict()).isEqualTo(Verdict.GRANTED);
    }

    private static Refusal.Code code(Outcome out) {
        return out.isRefused() ? out.refusal().code() : null;
    }

    @Test
    void dryRun_ofWhatWouldBeRefused_isRefusedForTheSame() {
        Worlds small = new Worlds(KernelOptions.standard().withQuota(1, 2, 1000));
        SessionKey old = small.session("old", 0);
        SessionKey young = small.rollingBack("young", 5);
        small.submit(young, "MUTATES /q");
        assertThat(code(small.dry(young, "MUTATES /z"))).as("leases").isEqualTo(Refusal.Code.QUOTA);
        assertThat(small.submit(old, "MUTATES /q").verdict()).isEqualTo(Verdict.WAIT);
        assertThat(code(small.dry(old, "MUTATES /z"))).isEqualTo(Refusal.Code.ALREADY_WAITING);
        small.release(young);
        small.submit(young, "MUTATES /y");
        small.at(999);
        small.release(young);
        assertThat(code(small.dry(young, "MUTATES /y"))).as("manifests").isEqualTo(Refusal.Code.QUOTA);
        small.at(1500);
        assertThat(small.dry(young, "MUTATES /y").verdict()).as("another window").isEqualTo(Verdict.GRANTED);
        small.at(2400);
        small.submit(young, "MUTATES /y");
        small.release(young);
        small.submit(young, "MUTATES /y");
        small.release(young);
        small.at(3100);
        assertThat(code(small.submit(young, "MUTATES /y"))).as("the dry run began no window").isEqualTo(Refusal.Code.QUOTA);
        small.at(3400);
        small.submit(young, "MUTATES /y");
        assertThat(small.dry(young, "CONSUMES /q").refusal().code()).isEqualTo(Refusal.Code.QUOTA);
    }

    @Test
    void dryRun_duringARollback_isRefusedLikeASubmit() {
        SessionKey young = w.rollingBack("young", 9);
        w.submit(a, "MUTATES /q");
        w.submit(young, "MUTATES /y");
        assertThat(w.submit(young, "MUTATES /q").verdict()).isEqualTo(Verdict.DIE);
        assertThat(code(w.dry(young, "MUTATES /z"))).isEqualTo(Refusal.Code.ROLLING_BACK);
    }

    @Test
    void confidence_doesNotChangeAVerdict() {
        w.submit(a, "MUTATES /x");
        Triple unsure = new Triple(null, Predicate.MUTATES, Resource.file("/x"), 0.0, 0);
        assertThat(w.apply(Command.Submit.of(b, List.of(unsure))).verdict()).isEqualTo(Verdict.DIE);
    }
}
