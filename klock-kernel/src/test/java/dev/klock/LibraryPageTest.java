package dev.klock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.digest.DigestFormat;
import dev.klock.digest.DigestKey;
import dev.klock.digest.DigestReader;
import dev.klock.digest.Resolution;
import dev.klock.digest.Restored;
import dev.klock.digest.StateDigest;
import dev.klock.embedded.Acquisition;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.embedded.SessionListener;
import dev.klock.kernel.Backoff;
import dev.klock.kernel.Change;
import dev.klock.kernel.Command;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.resource.Resource;
import dev.klock.shared.SharedKernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The code of {@code docs/library.md} is what these tests run, between {@code page:} and {@code end}. {@code -Dlibrary.write=true} copies it
 * there.
 */
@SuppressWarnings("try") // sessions are closed early on purpose
class LibraryPageTest {
    private static final Path PAGE = Path.of("../docs/library.md");
    private static final Path SELF = Path.of("src/test/java/dev/klock/LibraryPageTest.java");
    private static final Pattern SNIPPET = Pattern.compile("\\n( *)// page: (\\w+)\\n(.*?)\\n *// end\\n", Pattern.DOTALL);
    private static final Pattern BLOCK = Pattern.compile("<!-- code: (\\w+) -->\\n(.*?)<!-- end -->\\n", Pattern.DOTALL);

    private static final String MANIFEST =
            // page: manifest
            """
            ver: "1.0"
            agent_id: editor
            scope:
              - MUTATES FILE:${workspace}/src/**
              - CONSUMES DB:orders
            """
            // end
            ;

    private static final String AGENTS =
            // page: declared
            """
            ver: "1.0"
            agent_id: app
            scope:
              - CONSUMES FILE:${workspace}/**
            agents:
              - agent_id: builder
                scope: [MUTATES FILE:${workspace}/src/**]
              - agent_id: reviewer
                scope: [CONSUMES FILE:${workspace}/doc/**, MUTATES FILE:${workspace}/notes/**]
                deny: [MUTATES FILE:${workspace}/notes/done/**]
            """
            // end
            ;

    @TempDir
    Path dir;

    // page: kernel
    EmbeddedKernel kernel = new EmbeddedKernel(KernelOptions.standard(), System.currentTimeMillis(), null);
    // end

    @AfterEach
    void close() {
        kernel.close();
    }

    @Test
    void page_everyBlockOfCode_isWhatTheseTestsRun() throws IOException {
        Map<String, String> snippets = new TreeMap<>();
        Matcher snippet = SNIPPET.matcher(Files.readString(SELF));
        while (snippet.find()) {
            String code = snippet.group(3).replaceAll("(?m)^ {0," + snippet.group(1).length() + "}", "");
            boolean isText = code.startsWith("\"\"\"");
            String shown = isText ? code.replace("\"\"\"", "").strip() : code;
            snippets.put(snippet.group(2), "```" + (isText ? "yaml" : "java") + "\n" + shown + "\n```\n");
        }
        String page = Files.readString(PAGE);
        StringBuilder right = new StringBuilder();
        Matcher block = BLOCK.matcher(page);
        Map<String, String> unused = new TreeMap<>(snippets);
        while (block.find()) {
            String code = snippets.get(block.group(1));
            assertThat(code).as("block %s", block.group(1)).isNotNull();
            unused.remove(block.group(1));
            block.appendReplacement(right, Matcher.quoteReplacement("<!-- code: " + block.group(1) + " -->\n" + code + "<!-- end -->\n"));
        }
        block.appendTail(right);
        assertThat(unused).as("not on the page").isEmpty();
        if (Boolean.getBoolean("library.write")) {
            Files.writeString(PAGE, right);
        } else {
            assertThat(page).as("write docs/library.md anew with -Dlibrary.write=true").isEqualTo(right.toString());
        }
        assertThat(BLOCK.matcher(right).replaceAll("")).as("code that no test runs").doesNotContain("```").doesNotContain("\n    ");
    }

    @Test
    @Tag("K1-1")
    void klock_open_runsUnderTheManifestsLeases() throws Exception {
        Path manifest = Files.writeString(dir.resolve("klock.yaml"), MANIFEST);
        StringBuilder done = new StringBuilder();
        AtomicBoolean stop = new AtomicBoolean();
        // page: open
        try (KlockSession session = Klock.open(manifest, Duration.ofSeconds(5))) {
            session.onLeaseLost(lease -> stop.set(true));
            if (session.retry(Duration.ofSeconds(30)).isGranted()) {
                session.run(() -> done.append("edited"));
                Answer more = session.acquire(Duration.ofSeconds(1), "MUTATES FILE:/w/doc/index.md");
                if (more.isGranted()) {
                    session.call(() -> done.append(", documented"));
                    session.release(more);
                } else {
                    done.append(", but not documented: ").append(more.reason());
                }
            }
        }
        // end
        assertThat(done).hasToString("edited, documented");
        assertThat(stop).isFalse();
    }

    @Test
    @Tag("K1-1")
    void klock_open_ofSeveralAgents_eachWorksAsItself() throws Exception {
        Path manifest = Files.writeString(dir.resolve("klock.yaml"), AGENTS);
        StringBuffer done = new StringBuffer();
        ExecutorService pool = Executors.newSingleThreadExecutor();
        // page: agents
        try (KlockSession builder = Klock.open(manifest, "builder", Duration.ofSeconds(5));
                KlockSession reviewer = Klock.open(manifest, "reviewer", Duration.ofSeconds(5))) {
            builder.run(() -> done.append("built by ").append(Klock.current().agentId()));
            Executor reviews = reviewer.wrap((Executor) pool);
            CompletableFuture<Void> review = CompletableFuture.runAsync(() -> done.append(", reviewed by ").append(Klock.current().agentId()), reviews);
            review.join();
            try (KlockSession.Entered entered = builder.enter()) {
                done.append(", mended by ").append(Klock.current().agentId());
            }
        }
        // end
        assertThat(done).hasToString("built by builder, reviewed by reviewer, mended by builder");
        assertThat(pool.submit(Klock::current).get()).as("the pool's thread is nobody's again").isNull();
        pool.shutdown();
        assertThat(Klock.current()).isNull();
    }

    @Test
    @Tag("K0-1")
    void embedded_acquire_blocksUntilGranted() throws Exception {
        // page: acquire
        List<Triple> manifest = List.of(
                Triple.of(Predicate.MUTATES, Resource.parse("FILE:/w/src/**")),
                Triple.of(Predicate.CONSUMES, Resource.parse("DB:orders")));
        try (EmbeddedSession session = kernel.open(SessionKey.of("editor", "run-1"), kernel.nowMs(), null, null)) {
            Acquisition got = session.acquire(manifest, 30_000, 0, false);
            if (got.isGranted()) {
                for (Lease lease : got.leases()) {
                    System.out.println(lease.fencingToken() + " " + lease.predicate() + " " + lease.resource());
                }
            }
        }
        // end
        assertThat(kernel.holders("default", Resource.parse("FILE:/w/src/**"))).as("closed, so given back").isEmpty();
        assertThat(kernel.state(SessionKey.of("editor", "run-1"))).isEqualTo(LifeCycle.COMPLETED);
    }

    @Test
    @Tag("K7-8")
    void shared_sessionsOfTwoKernels_meet() throws Exception {
        Path home = dir.resolve(".klock");
        // page: shared
        EmbeddedKernel shared = SharedKernel.open(home.toFile(), KernelOptions.standard(), "my-program 1.0", null, null);
        EmbeddedSession mine = shared.open(SessionKey.of("editor", "run-7"), shared.nowMs(), null, null);
        Acquisition got = mine.acquire(List.of(Triple.of(Predicate.MUTATES, Resource.parse("FILE:/w/src/**"))), 30_000, 0, false);
        // end
        assertThat(got.isGranted()).isTrue();
        try (EmbeddedKernel other = SharedKernel.open(home.toFile(), KernelOptions.standard(), "my-program 1.0", null, null)) {
            EmbeddedSession theirs = other.open(SessionKey.of("editor", "run-8"), mine.priorityMs() + 1, null, null);
            assertThat(theirs.acquire(List.of(Triple.of(Predicate.MUTATES, Resource.parse("FILE:/w/src/a"))), 0, 0, false).verdict()).isEqualTo(Verdict.DIE);
        } finally {
            shared.close();
        }
    }

    @Test
    @Tag("K4-2")
    @Tag("K4-4")
    @Tag("K4-5")
    @Tag("K4-6")
    void embedded_waitAndDie_areWhatThePageSays() throws Exception {
        // page: verdicts
        long now = kernel.nowMs();
        EmbeddedSession older = kernel.open(SessionKey.of("older", "s"), now, null, null);
        EmbeddedSession younger = kernel.open(SessionKey.of("younger", "s"), now + 1, null, null);
        List<Triple> orders = List.of(Triple.of(Predicate.MUTATES, Resource.parse("DB:orders")));

        Acquisition first = younger.acquire(orders, 0, 0, false);
        Acquisition noTime = older.acquire(orders, 0, 0, false);
        Acquisition tooLong = older.acquire(orders, 50, 0, false);
        younger.release(first.leases());
        Acquisition second = older.acquire(orders, 0, 0, false);
        Acquisition dead = younger.acquire(orders, 30_000, 0, false);
        // end
        assertThat(first.verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(noTime.verdict()).isEqualTo(Verdict.PAUSED);
        assertThat(noTime.conflicts()).hasSize(1);
        assertThat(tooLong.verdict()).isEqualTo(Verdict.DIE);
        assertThat(tooLong.timedOut()).isTrue();
        assertThat(second.verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(dead.verdict()).isEqualTo(Verdict.DIE);
        assertThat(dead.timedOut()).as("at once").isFalse();
        assertThat(dead.conflicts().get(0).holder()).isEqualTo(older.key());
        assertThat(dead.retryAfterMs()).isPositive();
    }

    @Test
    @Tag("K4-10")
    void embedded_acquireLater_completesWhenItsTurnComes() throws Exception {
        AtomicInteger worked = new AtomicInteger();
        long now = kernel.nowMs();
        EmbeddedSession holder = kernel.open(SessionKey.of("holder", "s"), now + 1, null, null);
        List<Triple> orders = List.of(Triple.of(Predicate.MUTATES, Resource.parse("DB:orders")));
        assertThat(holder.acquire(orders, 0, 0, false).isGranted()).isTrue();
        EmbeddedSession session = kernel.open(SessionKey.of("session", "s"), now, null, null);
        // page: later
        CompletableFuture<Acquisition> later = session.acquireLater(orders, 30_000, 0, false);
        CompletableFuture<Void> work = later.thenAccept(got -> {
            if (got.isGranted()) {
                worked.incrementAndGet();
                session.release(got.leases());
            }
        });
        // end
        assertThat(later.isDone()).isFalse();
        holder.close();
        work.get(20, TimeUnit.SECONDS);
        assertThat(worked).hasValue(1);
        assertThat(session.leases()).isEmpty();
    }

    @Test
    @Tag("K4-7")
    @Tag("K4-8")
    @Tag("K4-13")
    void embedded_retry_rollsBackAndComesBackAsOldAsBefore() throws Exception {
        AtomicInteger rolledBack = new AtomicInteger();
        EmbeddedSession holder = kernel.open(SessionKey.of("holder", "s"), kernel.nowMs(), null, null);
        List<Triple> orders = List.of(Triple.of(Predicate.MUTATES, Resource.parse("DB:orders")));
        assertThat(holder.acquire(orders, 0, 0, false).isGranted()).isTrue();
        EmbeddedSession session = kernel.open(SessionKey.of("session", "s"), kernel.nowMs() + 10, null, null);
        assertThat(session.acquire(List.of(Triple.of(Predicate.MUTATES, Resource.parse("DB:items"))), 0, 0, false).isGranted()).isTrue();
        CompletableFuture.delayedExecutor(150, TimeUnit.MILLISECONDS).execute(holder::close);
        // page: retry
        RandomGenerator random = RandomGenerator.getDefault();
        Acquisition got = session.acquire(orders, 30_000, 0, false);
        for (int attempts = 0; got.verdict() == Verdict.DIE; attempts++) {
            rolledBack.incrementAndGet();
            session.rolledBack();
            Thread.sleep(Backoff.STANDARD.delayMs(attempts, random.nextDouble()));
            got = session.acquire(orders, 30_000, 0, false);
        }
        // end
        assertThat(got.isGranted()).isTrue();
        assertThat(rolledBack.get()).isPositive();
        assertThat(session.leases()).as("what it held before is gone").hasSize(1);
    }

    @Test
    @Tag("K3-9")
    @Tag("C46")
    void embedded_heartbeats_followHealth() throws Exception {
        List<Triple> orders = List.of(Triple.of(Predicate.MUTATES, Resource.parse("DB:orders")));
        // page: health
        AtomicBoolean stuck = new AtomicBoolean();
        CompletableFuture<Lease> lost = new CompletableFuture<>();
        SessionListener listener = new SessionListener() {
            @Override
            public void leaseLost(Lease lease) {
                lost.complete(lease);
            }

            @Override
            public void observationUpdate(List<Change> changes) {}
        };
        EmbeddedSession session = kernel.open(SessionKey.of("worker", "s"), kernel.nowMs(), () -> !stuck.get(), listener);
        Acquisition got = session.acquire(orders, 0, 3_000, false);
        // end
        long firstEndMs = got.leases().get(0).expiresAtMs();
        for (int i = 0; i < 1000 && session.leases().get(0).expiresAtMs() == firstEndMs; i++) {
            Thread.sleep(20);
        }
        assertThat(session.leases().get(0).expiresAtMs()).as("renewed").isGreaterThan(firstEndMs);
        assertThat(session.isValid()).isTrue();
        stuck.set(true);
        assertThat(lost.get(20, TimeUnit.SECONDS).resource()).isEqualTo(Resource.parse("DB:orders"));
        assertThat(session.isValid()).isFalse();
    }

    @Test
    @Tag("K8-2")
    @Tag("K8-5")
    @Tag("K8-9")
    @Tag("K5-7")
    void digest_writtenAfterDie_bringsTheSessionBackInTheNextProcess() throws Exception {
        byte[] secret = new byte[32];
        Path file = dir.resolve("state-digest.json");
        EmbeddedSession holder = kernel.open(SessionKey.of("holder", "s"), kernel.nowMs() - 1000, null, null);
        List<Triple> orders = List.of(Triple.of(Predicate.MUTATES, Resource.parse("DB:orders")));
        assertThat(holder.acquire(orders, 0, 0, false).isGranted()).isTrue();
        EmbeddedSession session = kernel.open(SessionKey.of("worker", "s"), kernel.nowMs(), null, null);
        // page: digest
        Acquisition died = session.acquire(orders, 0, 0, false);
        StateDigest digest = StateDigest.of(
                kernel.session(session.key()), System.currentTimeMillis(), died.retryAfterMs(), "step 3", "{\"goal\": \"tidy\"}", Resolution.RETRY);
        Files.write(file, DigestFormat.sign(digest, DigestKey.hmac(secret)));
        // end
        assertThat(died.verdict()).isEqualTo(Verdict.DIE);
        long priorityMs = session.priorityMs();
        kernel.close();
        kernel = new EmbeddedKernel(KernelOptions.standard(), System.currentTimeMillis() + 60_000, null);
        // page: restore
        Restored restored = DigestReader.verifying(DigestKey.hmac(secret)).read(Files.readAllBytes(file), "worker", System.currentTimeMillis());
        if (restored.isRefused()) {
            throw new IOException(restored.refusal().toString());
        }
        Command.Register register = restored.register("default", "worker", "s", kernel.nowMs(), true);
        EmbeddedSession back = kernel.open(register, null, null);
        String resumePoint = restored.digest().checkpoint().resumePoint();
        back.perform(new Command.Resume(back.key()));
        Acquisition again = back.acquire(restored.digest().backlog(), 30_000, 0, false);
        // end
        assertThat(back.priorityMs()).as("as old as before").isEqualTo(priorityMs);
        assertThat(kernel.session(back.key()).epoch()).isEqualTo(1);
        assertThat(resumePoint).isEqualTo("step 3");
        assertThat(again.isGranted()).isTrue();
    }
}
