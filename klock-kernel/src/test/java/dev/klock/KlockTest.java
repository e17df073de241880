package dev.klock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.digest.ObservationUpdate;
import dev.klock.kernel.Change;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.resource.Resource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a program calls, without an agent. */
@SuppressWarnings("try") // sessions are closed early on purpose
class KlockTest {
    @TempDir
    Path dir;

    private Path manifest(String agent, long priority, String... lines) throws IOException {
        StringBuilder yaml = new StringBuilder("ver: \"1.0\"\nsession_id: s\nagent_id: " + agent + "\n");
        if (priority >= 0) {
            yaml.append("priority_timestamp: ").append(priority).append('\n');
        }
        yaml.append("scope:\n");
        for (String line : lines) {
            yaml.append("  - ").append(line).append('\n');
        }
        Path file = dir.resolve(agent + ".yaml");
        Files.writeString(file, yaml);
        return file;
    }

    @Test
    void open_ofNothing_saysWhatIsMissing() throws Exception {
        Path none = dir.resolve("none.yaml");
        assertThatThrownBy(() -> Klock.open(none)).isInstanceOf(KlockException.class).hasMessage(none + ": is missing");
        Path file = manifest("starter", -1, "PROVIDES PROCESS:/bin/true");
        assertThatThrownBy(() -> Klock.open(file, (Duration) null)).isInstanceOf(NullPointerException.class).hasMessage("wait");
        assertThatThrownBy(() -> Klock.wrap(null)).isInstanceOf(NullPointerException.class).hasMessage("work");
        assertThatThrownBy(() -> Klock.onObservationUpdate(null)).isInstanceOf(NullPointerException.class).hasMessage("listener");
    }

    @Test
    @Tag("C48")
    void open_ofProgramStartsOnly_mayWorkUntilItEnds() throws Exception {
        Path file = manifest("starter", -1, "PROVIDES PROCESS:/bin/true");
        try (KlockSession session = Klock.open(file)) {
            assertThat(session.answer().isGranted()).isTrue();
            assertThat(session.isValid()).isTrue();
            assertThat(session.<Integer>call(() -> 42)).isEqualTo(42);
            assertThat(session.acquire(Duration.ZERO, "MUTATES FILE:/w/more").isGranted()).isTrue();
            assertThat(session.isValid()).isTrue();
            session.abort("enough");
            assertThat(session.isValid()).isFalse();
            assertThatIllegalStateException().isThrownBy(() -> session.run(() -> {}));
        }
    }

    @Test
    void wrappedWork_isTheSessions_andThreadsGoBackToWhatTheyWere() throws Exception {
        try (KlockSession outer = Klock.open(manifest("outer", -1, "CONSUMES FILE:/w/a"));
                KlockSession inner = Klock.open(manifest("inner", -1, "CONSUMES FILE:/w/a"))) {
            List<KlockSession> seen = new ArrayList<>();
            Runnable look = () -> seen.add(Klock.current());
            ExecutorService pool = Executors.newSingleThreadExecutor();
            try {
                outer.run(() -> {
                    look.run();
                    inner.run(look);
                    look.run();
                });
                pool.submit(inner.wrap(look)).get();
                pool.submit(look).get();
                CompletableFuture.runAsync(look, outer.wrap((Executor) pool)).get();
                assertThat(pool.submit(outer.wrap(Klock::current)).get()).isSameAs(outer);
                Thread thread = inner.wrap((ThreadFactory) Thread::new).newThread(look);
                thread.start();
                thread.join();
            } finally {
                pool.shutdown();
            }
            assertThat(seen).containsExactly(outer, inner, outer, inner, null, outer, inner);
            assertThat(Klock.current()).isNull();
        }
    }

    @Test
    void wrappedExecutor_ofASessionThatIsClosed_takesNoMoreWork() throws Exception {
        KlockSession session = Klock.open(manifest("closed", -1, "CONSUMES FILE:/w/a"));
        Executor wrapped = session.wrap((Executor) Runnable::run);
        session.close();
        assertThatThrownBy(() -> CompletableFuture.runAsync(() -> { }, wrapped)).isInstanceOf(RejectedExecutionException.class)
                .hasMessageStartingWith("session closed/").hasMessageContaining("takes no more work");
    }

    @Test
    void entered_endsOnce_andOnItsOwnThread() throws Exception {
        try (KlockSession session = Klock.open(manifest("enterer", -1, "CONSUMES FILE:/w/a"))) {
            KlockSession.Entered first = session.enter();
            KlockSession.Entered second = session.enter();
            second.close();
            second.close();
            assertThat(Klock.current()).isSameAs(session);
            CompletableFuture<Throwable> other = new CompletableFuture<>();
            new Thread(() -> {
                try {
                    first.close();
                    other.complete(null);
                } catch (IllegalStateException e) {
                    other.complete(e);
                }
            }).start();
            assertThat(other.get()).isInstanceOf(IllegalStateException.class);
            first.close();
            assertThat(Klock.current()).isNull();
        }
    }

    @Test
    void entered_closedInAnotherOrder_leavesNothingOnTheThread() throws Exception {
        try (KlockSession one = Klock.open(manifest("one-of-two", -1, "CONSUMES FILE:/w/a"));
                KlockSession two = Klock.open(manifest("two-of-two", -1, "CONSUMES FILE:/w/a"))) {
            KlockSession.Entered outer = one.enter();
            KlockSession.Entered inner = two.enter();
            outer.close();
            assertThat(Klock.current()).isSameAs(two);
            inner.close();
            assertThat(Klock.current()).isNull();
        }
    }

    @Test
    void subject_thatIsSet_takesThePlaceOfWhatTheThreadWorkedAs() throws Exception {
        try (KlockSession one = Klock.open(manifest("one-to-set", -1, "CONSUMES FILE:/w/a"));
                KlockSession two = Klock.open(manifest("two-to-set", -1, "CONSUMES FILE:/w/a"))) {
            Subject process = Klock.subject();
            List<Subject> of = new ArrayList<>();
            one.run(() -> of.add(Klock.subject()));
            two.run(() -> of.add(Klock.subject()));
            one.run(() -> of.add(Klock.subject()));
            assertThat(process).isEqualTo(Klock.process()).isNotEqualTo(of.get(0));
            assertThat(of.get(2)).isEqualTo(of.get(0)).isNotEqualTo(of.get(1)).hasSameHashCodeAs(of.get(0));

            of.get(0).set();
            assertThat(Klock.current()).isSameAs(one);
            KlockSession.Entered entered = two.enter();
            of.get(0).set();
            of.get(0).set();
            assertThat(Klock.current()).isSameAs(one);
            process.set();
            assertThat(Klock.current()).isNull();
            entered.close();
            assertThat(Klock.current()).as("as before it was entered").isSameAs(one);
            process.set();
            assertThat(Klock.current()).isNull();

            KlockSession.Entered alone = two.enter();
            process.set();
            alone.close();
            assertThat(Klock.current()).isNull();
        }
    }

    @Test
    void wrap_isForWhomTheThreadWorks_andLeavesWhoRunsItAsItWas() throws Exception {
        try (KlockSession one = Klock.open(manifest("one-to-wrap", -1, "CONSUMES FILE:/w/a"));
                KlockSession two = Klock.open(manifest("two-to-wrap", -1, "CONSUMES FILE:/w/a"))) {
            List<KlockSession> seen = new ArrayList<>();
            Runnable look = () -> seen.add(Klock.current());
            List<Runnable> wrapped = new ArrayList<>(List.of(Klock.wrap(look)));
            one.run(() -> wrapped.add(Klock.wrap(look)));
            two.run(() -> {
                wrapped.forEach(Runnable::run);
                look.run();
            });
            wrapped.forEach(Runnable::run);
            look.run();
            assertThat(seen).containsExactly(null, one, two, null, one, null);
            Runnable fails = Klock.wrap(() -> {
                throw new IllegalStateException("mine");
            });
            two.run(() -> {
                assertThatIllegalStateException().isThrownBy(fails::run);
                look.run();
            });
            assertThat(seen.get(6)).isSameAs(two);
        }
    }

    @Test
    void current_onVirtualThreads_isAsOnOthers() throws Exception {
        Assumptions.assumeTrue(Runtime.version().feature() >= 21, "no virtual threads");
        try (KlockSession session = Klock.open(manifest("virtual", -1, "CONSUMES FILE:/w/a"))) {
            List<KlockSession> seen = Collections.synchronizedList(new ArrayList<>());
            Runnable look = () -> seen.add(Klock.current());
            session.run(() -> {
                for (Runnable work : List.of(look, session.wrap(look))) {
                    try {
                        ((Thread) Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work)).join();
                    } catch (ReflectiveOperationException | InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
            assertThat(seen).as("one that was not wrapped is nobody's").containsExactly(null, session);
        }
    }

    @Test
    void work_thatThrows_orMayNotRun_leavesTheThreadAsItWas() throws Exception {
        KlockSession session = Klock.open(manifest("thrower", -1, "CONSUMES FILE:/w/a"));
        assertThatThrownBy(() -> session.call(() -> {
            throw new IOException("mine");
        })).isInstanceOf(IOException.class).hasMessage("mine");
        assertThat(Klock.current()).isNull();
        Runnable wrapped = session.wrap((Runnable) () -> {});
        session.close();
        assertThatIllegalStateException().as("looked at when it runs").isThrownBy(wrapped::run);
        assertThatIllegalStateException().isThrownBy(session::enter);
        assertThat(Klock.current()).isNull();
    }

    @Test
    void open_ofOneAgentOfSeveral_hasItsScope() throws Exception {
        Path file = dir.resolve("several.yaml");
        Files.writeString(file, "ver: \"1.0\"\nagent_id: app\nscope: []\nagents:\n  - {agent_id: b, scope: [\"MUTATES FILE:/w/b\"]}\n");

        try (KlockSession b = Klock.open(file, "b", Duration.ZERO)) {
            assertThat(b.agentId()).isEqualTo("b");
            assertThat(b.answer().leases().get(0)).endsWith("MUTATES FILE:/w/b");
        }
        assertThatExceptionOfType(KlockException.class).isThrownBy(() -> Klock.open(file, "c", Duration.ZERO)).withMessageEndingWith("has no agent c; it has app, b");
    }

    @Test
    void open_freeResources_grantsTheManifestAndRuns() throws Exception {
        Path file = manifest("writer", -1, "MUTATES FILE:${workspace}/out/**", "CONSUMES FILE:${workspace}/in", "PROVIDES PROCESS:/bin/true");
        try (KlockSession session = Klock.open(file)) {
            assertThat(session.answer().isGranted()).isTrue();
            assertThat(session.answer().leases()).hasSize(2);
            assertThat(session.isEnforced()).isFalse();
            assertThat(session.state()).isEqualTo(KlockSession.State.EXECUTING);
            assertThat(session.agentId()).isEqualTo("writer");
            boolean[] ran = {false};
            session.run(() -> ran[0] = true);
            assertThat(ran[0]).isTrue();
            assertThat(session.<Integer>call(() -> 42)).isEqualTo(42);
            session.close();
            assertThat(session.isValid()).isFalse();
            assertThatIllegalStateException().isThrownBy(() -> session.run(() -> ran[0] = false)).withMessageContaining("writer/");
            assertThat(ran[0]).isTrue();
        }
    }

    @Test
    void open_sameManifestTwice_areTwoSessionsAndTheYoungerDies() throws Exception {
        Path file = manifest("twin", -1, "MUTATES FILE:${workspace}/twin");
        try (KlockSession first = Klock.open(file);
                KlockSession second = Klock.open(file)) {
            assertThat(second.sessionId()).isNotEqualTo(first.sessionId()).startsWith("s");
            assertThat(second.priorityTimestampMs()).isGreaterThan(first.priorityTimestampMs());
            assertThat(second.answer().verdict()).isEqualTo(Answer.Verdict.DIE);
            assertThat(second.answer().conflicts()).singleElement().asString().contains("twin/" + first.sessionId());
            assertThat(second.answer().retryAfterMs()).isPositive();
            assertThatIllegalStateException().isThrownBy(() -> second.run(() -> {}));
            first.close();
            assertThat(second.retry(Duration.ofSeconds(10)).isGranted()).isTrue();
            assertThat(second.answer().changes()).singleElement().asString().contains("MUTATES");
            assertThat(second.retry(Duration.ZERO)).as("held already").isSameAs(second.answer());
        }
    }

    @Test
    void open_olderThanTheHolder_waitsAndIsHandedTheLease() throws Exception {
        Path young = manifest("young", 2_000, "MUTATES FILE:${workspace}/shared");
        Path old = manifest("old", 1_000, "MUTATES FILE:${workspace}/shared");
        try (KlockSession holder = Klock.open(young)) {
            CompletableFuture<KlockSession> waiting = CompletableFuture.supplyAsync(() -> {
                try {
                    return Klock.open(old, Duration.ofSeconds(20));
                } catch (KlockException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            Thread.sleep(200);
            assertThat(waiting).isNotDone();
            holder.close();
            try (KlockSession session = waiting.get(10, TimeUnit.SECONDS)) {
                assertThat(session.answer().isGranted()).isTrue();
            }
        }
    }

    @Test
    void open_byAnotherLink_meetsTheSameFile() throws Exception {
        Files.createDirectory(dir.resolve("real"));
        Files.createSymbolicLink(dir.resolve("link"), dir.resolve("real"));
        try (KlockSession one = Klock.open(manifest("one", -1, "MUTATES FILE:${workspace}/real/new"));
                KlockSession two = Klock.open(manifest("two", -1, "MUTATES FILE:${workspace}/link/new"))) {
            assertThat(one.answer().isGranted()).isTrue();
            assertThat(two.answer().verdict()).isEqualTo(Answer.Verdict.DIE);
        }
    }

    /** Both read, and both want to write: neither has what it holds itself in its way, and one of them gets through. */
    @Test
    @Tag("FIELD-I10")
    @Tag("K4-1")
    void upgrade_ofTwoThatRead_endsForOneWithDie_andForTheOtherWithTheLease() throws Exception {
        String place = "FILE:" + dir.toRealPath() + "/x";
        try (KlockSession a = Klock.open(manifest("a", 10, "CONSUMES FILE:${workspace}/x"));
                KlockSession b = Klock.open(manifest("b", 20, "CONSUMES FILE:${workspace}/x"))) {
            CompletableFuture<Answer> older = CompletableFuture.supplyAsync(() -> {
                try {
                    return a.acquire(Duration.ofSeconds(30), "MUTATES " + place);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });

            Answer younger = b.acquire(Duration.ofSeconds(30), "MUTATES " + place);
            Answer first = older.get(30, TimeUnit.SECONDS);

            assertThat(younger.verdict()).isEqualTo(Answer.Verdict.DIE);
            assertThat(first.isGranted()).isTrue();
            assertThat(a.acquire(Duration.ZERO, "CONSUMES " + place, "MUTATES " + place).isGranted()).as("its own is in nobody's way").isTrue();
        }
    }

    @Test
    @Tag("K7-12")
    void answer_saysHowOftenTheSessionHasWaitedAndDied() throws Exception {
        String x = "MUTATES FILE:${workspace}/x";
        try (KlockSession young = Klock.open(manifest("young", 20, x)); KlockSession old = Klock.open(manifest("old", 10, x), Duration.ZERO)) {
            assertThat(old.answer()).matches(it -> it.verdict() == Answer.Verdict.PAUSED && it.waits() == 0 && it.deaths() == 0, "asked without time to wait");
            Answer ranOut = old.retry(Duration.ofMillis(20));
            assertThat(ranOut).matches(it -> it.verdict() == Answer.Verdict.DIE && it.waits() >= 1 && it.deaths() >= 1, "waited in vain");
            young.close();
            Answer got = old.retry(Duration.ofSeconds(10));
            assertThat(got).matches(it -> it.isGranted() && it.waits() == ranOut.waits() && it.deaths() == ranOut.deaths(), "nobody in the way any more");
            try (KlockSession youngest = Klock.open(manifest("youngest", 30, x), Duration.ZERO)) {
                assertThat(youngest.answer()).matches(it -> it.verdict() == Answer.Verdict.DIE && it.waits() == 0 && it.deaths() == 1, "died at once");
                assertThat(youngest.acquire(Duration.ZERO, "no intent").deaths()).isEqualTo(1);
            }
        }
    }

    @Test
    void acquire_moreDuringWork_isAValueAndCanBeGivenBack() throws Exception {
        String place = "FILE:" + dir.toRealPath();
        try (KlockSession a = Klock.open(manifest("a", 10, "CONSUMES FILE:${workspace}/a"));
                KlockSession b = Klock.open(manifest("b", 20, "CONSUMES FILE:${workspace}/b"))) {
            Answer more = a.acquire(Duration.ZERO, "MUTATES " + place + "/m", "PROVIDES " + place + "/n");
            assertThat(more.leases()).hasSize(2);
            assertThat(b.acquire(Duration.ofSeconds(1), "CONSUMES " + place + "/m").verdict()).isEqualTo(Answer.Verdict.DIE);
            assertThat(b.isValid()).as("dying takes everything").isFalse();
            assertThat(b.retry(Duration.ofSeconds(5)).isGranted()).isTrue();
            assertThat(b.release(more)).as("not its own").isFalse();
            assertThat(a.release(more)).isTrue();
            assertThat(a.release(more)).as("only once").isFalse();
            assertThat(b.acquire(Duration.ZERO, "CONSUMES " + place + "/m").isGranted()).isTrue();
            Answer paused = a.acquire(Duration.ZERO, "MUTATES " + place + "/m");
            assertThat(paused.verdict()).as("older, but was told not to wait").isEqualTo(Answer.Verdict.PAUSED);
            assertThat(a.release(paused)).isFalse();
        }
    }

    @Test
    @Tag("K1-1")
    void retry_afterADieTookTheManifestAndMoreWasAcquired_asksForItAgain() throws Exception {
        String place = "FILE:" + dir.toRealPath();
        try (KlockSession old = Klock.open(manifest("old-one", 10, "MUTATES FILE:${workspace}/o"));
                KlockSession young = Klock.open(manifest("young-one", 30, "MUTATES FILE:${workspace}/m"))) {
            assertThat(young.acquire(Duration.ZERO, "MUTATES " + place + "/o").verdict()).isEqualTo(Answer.Verdict.DIE);
            assertThat(young.answer().verdict()).as("what it was granted went, too").isEqualTo(Answer.Verdict.DIE);
            assertThat(young.answer().leases()).isEmpty();
            assertThat(young.acquire(Duration.ZERO, "CONSUMES " + place + "/z").isGranted()).isTrue();
            assertThat(young.answer().isGranted()).as("other leases are not the manifest's").isFalse();
            try (KlockSession third = Klock.open(manifest("third", 20, "MUTATES FILE:${workspace}/m"), Duration.ZERO)) {
                assertThat(third.answer().isGranted()).isTrue();
                Answer again = young.retry(Duration.ZERO);
                assertThat(again.verdict()).isEqualTo(Answer.Verdict.DIE);
                assertThat(again.conflicts()).singleElement().asString().contains("third/");
            }
            assertThat(young.retry(Duration.ofSeconds(10)).isGranted()).isTrue();
            assertThat(young.answer().leases()).singleElement().asString().endsWith("MUTATES " + place + "/m");
        }
    }

    @Test
    @Tag("K1-1")
    @Tag("K3-13")
    void retry_afterTheManifestWasGivenBackBesideAnotherLease_asksForItAgain() throws Exception {
        String place = "FILE:" + dir.toRealPath();
        try (KlockSession a = Klock.open(manifest("giving", 20, "MUTATES FILE:${workspace}/m", "CONSUMES FILE:${workspace}/n"))) {
            Answer first = a.answer();
            assertThat(a.acquire(Duration.ZERO, "CONSUMES " + place + "/z").isGranted()).isTrue();
            assertThat(a.release(first)).isTrue();
            assertThat(a.answer().verdict()).isEqualTo(Answer.Verdict.GONE);
            assertThat(a.answer().reason()).contains("MUTATES " + place + "/m", "not held");
            assertThat(a.answer().handle()).isNull();
            try (KlockSession other = Klock.open(manifest("taking", 10, "MUTATES FILE:${workspace}/m"), Duration.ZERO)) {
                assertThat(other.answer().isGranted()).isTrue();
                assertThat(a.retry(Duration.ZERO).verdict()).isEqualTo(Answer.Verdict.DIE);
            }
            Answer again = a.retry(Duration.ofSeconds(10));
            assertThat(again.leases()).hasSize(2).doesNotContainAnyElementsOf(first.leases());
            assertThat(a.answer()).isSameAs(again);
        }
    }

    @Test
    @Tag("K1-1")
    void answer_onceTheSessionIsOver_isNotGrantedAndSaysSo() throws Exception {
        for (String line : List.of("MUTATES FILE:${workspace}/f", "PROVIDES PROCESS:/bin/true")) {
            KlockSession a = Klock.open(manifest("over", -1, line));
            assertThat(a.answer().isGranted()).isTrue();
            a.close();
            assertThat(a.answer().verdict()).isEqualTo(Answer.Verdict.GONE);
            for (Answer late : List.of(a.answer(), a.retry(Duration.ZERO), a.acquire(Duration.ZERO, "CONSUMES FILE:/z"))) {
                assertThat(late.isGranted()).isFalse();
                assertThat(late.reason()).contains("COMPLETED", "open another").doesNotContain("epoch");
            }
        }
    }

    @Test
    void durations_ofAnyLength_areTakenForTheLongestOrForNone() throws Exception {
        String place = "FILE:" + dir.toRealPath();
        Path wanted = manifest("patient", 1, "MUTATES FILE:${workspace}/long");
        for (Duration longest : List.of(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), Duration.ofMillis(Long.MAX_VALUE), Duration.ofDays(200_000))) {
            KlockSession holder = Klock.open(manifest("holder", 2, "MUTATES FILE:${workspace}/long"));
            CompletableFuture<KlockSession> opening = CompletableFuture.supplyAsync(() -> {
                try {
                    return Klock.open(wanted, longest);
                } catch (KlockException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            Thread.sleep(100);
            assertThat(opening).isNotDone();
            holder.close();
            try (KlockSession s = opening.get(10, TimeUnit.SECONDS)) {
                assertThat(s.acquire(longest, "CONSUMES " + place + "/free").isGranted()).isTrue();
                assertThat(s.release(s.answer())).isTrue();
                assertThat(s.retry(longest).isGranted()).isTrue();
            }
        }
        try (KlockSession holder = Klock.open(manifest("holder", 2, "MUTATES FILE:${workspace}/long"));
                KlockSession s = Klock.open(wanted, Duration.ofSeconds(Long.MIN_VALUE))) {
            assertThat(holder.answer().isGranted()).isTrue();
            assertThat(s.answer().verdict()).isEqualTo(Answer.Verdict.PAUSED);
            assertThat(s.retry(Duration.ofSeconds(Long.MIN_VALUE)).verdict()).isEqualTo(Answer.Verdict.PAUSED);
        }
    }

    @Test
    void acquire_severalSpacesAfterThePredicate_isReadAsAManifestIs() throws Exception {
        try (KlockSession a = Klock.open(manifest("spaced", -1, "CONSUMES   FILE:${workspace}/a"))) {
            assertThat(a.acquire(Duration.ZERO, "MUTATES  FILE:/w/spaced").leases()).singleElement().asString().endsWith("MUTATES FILE:/w/spaced");
            assertThat(a.acquire(Duration.ZERO, "MUTATES  ").reason()).contains("is not an intent");
            assertThat(a.acquire(Duration.ZERO, "MU\nTATES " + "x".repeat(1_000_000)).reason()).contains("MU<U+000a>TATES").hasSizeLessThan(300);
            assertThat(a.acquire(Duration.ZERO, "MUTATES FILE:a/b").reason()).as("a variable is no good here").endsWith("such as FILE:/w/a/b").doesNotContain("${");
            assertThat(a.acquire(Duration.ZERO, "  MUTATES FILE:/w/spaced").reason()).contains("is not an intent");
        }
    }

    @Test
    void acquire_nonsense_isRefusedWithWhatWouldBeRight() throws Exception {
        try (KlockSession a = Klock.open(manifest("odd", -1, "CONSUMES FILE:${workspace}/a"))) {
            for (String bad : List.of("", "MUTATES", "WRITES FILE:/x", "MUTATES /x", "MUTATES FILE:x", "MUTATES FILE:/a/../b", "mutates FILE:/x")) {
                Answer answer = a.acquire(Duration.ZERO, bad);
                assertThat(answer.verdict()).as(bad).isEqualTo(Answer.Verdict.REFUSED);
                assertThat(answer.reason()).isNotBlank().doesNotContain("\n");
            }
            assertThat(a.acquire(Duration.ZERO, "MUTATES FILE:/**").verdict()).as("policy").isEqualTo(Answer.Verdict.REFUSED);
            assertThat(a.isValid()).isTrue();
        }
    }

    @Test
    void open_manifestMissingOrBad_saysWhichFileAndWhatIsWrong() throws Exception {
        assertThatThrownBy(() -> Klock.open(dir.resolve("none.yaml"))).isInstanceOf(KlockException.class).hasMessageContaining("none.yaml");
        Path bad = manifest("bad", -1, "WRITES FILE:/x");
        assertThatThrownBy(() -> Klock.open(bad)).isInstanceOf(KlockException.class).hasMessageContaining("bad.yaml:5:");
    }

    @Test
    void abort_once_endsTheSessionForGood() throws Exception {
        try (KlockSession a = Klock.open(manifest("failing", -1, "MUTATES FILE:${workspace}/f"))) {
            a.abort("cannot go on");
            assertThat(a.state()).isEqualTo(KlockSession.State.ABORTED);
            assertThat(a.retry(Duration.ofMillis(10)).verdict()).isEqualTo(Answer.Verdict.GONE);
        }
    }

    @Test
    void listeners_afterAPause_areToldWhatOthersChanged() throws Exception {
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        Path first = manifest("first", 1, "MUTATES FILE:${workspace}/l");
        Path second = manifest("second", 2, "MUTATES FILE:${workspace}/l");
        try (KlockSession a = Klock.open(first);
                KlockSession b = Klock.open(second)) {
            b.onObservationUpdate(told::addAll);
            b.onLeaseLost(told::add);
            a.close();
            assertThat(b.retry(Duration.ofSeconds(5)).isGranted()).isTrue();
            for (int i = 0; i < 200 && told.isEmpty(); i++) {
                Thread.sleep(10);
            }
            assertThat(told).singleElement().asString().startsWith("first/");
        }
    }

    @Test
    @Tag("K5-10")
    void observationUpdate_ofTheProcess_isToldAtOnceWhereThereIsOne() throws Exception {
        List<String> told = new ArrayList<>();
        Klock.onObservationUpdate(told::addAll);
        assertThat(told).isEmpty();
        Path file = Files.write(dir.resolve("update.json"), ObservationUpdate.write("me", "s",
                List.of(new Change(SessionKey.of("builder", "s1"), Predicate.MUTATES, Resource.parse("FILE:/w/a"), 1))));
        System.setProperty(ObservationUpdate.PROPERTY, file.toString());
        try {
            Klock.onObservationUpdate(told::addAll);
            assertThat(told).containsExactly("builder/s1 MUTATES FILE:/w/a");
            Files.delete(file);
            assertThatThrownBy(() -> Klock.onObservationUpdate(told::addAll)).isInstanceOf(KlockException.class).hasMessageContaining(file + ": is missing");
        } finally {
            System.clearProperty(ObservationUpdate.PROPERTY);
        }
    }

    @Test
    void open_withoutAManifest_saysWhatToDo() {
        for (String agent : new String[] {null, "builder"}) {
            assertThatThrownBy(() -> Klock.open(null, agent, Duration.ZERO)).isInstanceOf(KlockException.class)
                    .hasMessage("no manifest is named, and klock holds this process to none that declares agents: name one, as in Klock.open(Path.of(\"klock.yaml\")),"
                            + " or start with -javaagent:klock.jar and a manifest that has agents:");
        }
    }

    @Test
    void firstSession_withoutAnAgent_saysOnceOnStderrThatNothingIsEnforced() throws Exception {
        Path file = manifest("said", -1, "CONSUMES FILE:${workspace}/a");
        PrintStream before = System.err;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        System.setErr(new PrintStream(out, true, StandardCharsets.UTF_8));
        try {
            Klock.Provider fresh = (Klock.Provider) Class.forName("dev.klock.local.LocalSessions").getDeclaredConstructor().newInstance();
            fresh.open(file, null, Duration.ZERO).close();
            fresh.open(file, null, Duration.ZERO).close();
        } finally {
            System.setErr(before);
        }
        assertThat(out.toString(StandardCharsets.UTF_8)).containsOnlyOnce("nothing is enforced");
    }
}
