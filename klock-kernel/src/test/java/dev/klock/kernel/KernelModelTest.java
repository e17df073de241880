package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Random command sequences, carried out by the kernel and by {@link NaiveKernel}: after each step both must have given the same verdict
 * and be in the same state, and the invariants of the protocol must hold.
 */
class KernelModelTest {
    private static final String[] PATTERNS = {
        "/a", "/b", "/a/a", "/a/b", "/a/b/c", "/a/b/a", "/b/a", "/c",
        "/a/*", "/b/*", "/a/b/*", "/*", "/c/a/*",
        "/a/**", "/a/b/**", "/b/**", "/c/**", "/**",
    };

    private int steps;
    /** In how many steps each occurred. */
    private final Map<Verdict, Integer> verdicts = new EnumMap<>(Verdict.class);
    private final Map<Resource.Form, Integer> forms = new EnumMap<>(Resource.Form.class);
    private final Map<ConflictType, Integer> types = new EnumMap<>(ConflictType.class);

    @Test
    void randomCommands_manySeeds_reachEveryVerdictFormAndConflictTypeOften() {
        // each seed is 300 commands
        int seeds = Integer.getInteger("klock.model.seeds", 40);
        for (int seed = 0; seed < seeds; seed++) {
            new Run(seed).steps(300);
        }
        System.out.println("random commands: " + steps + " steps; " + verdicts + " " + forms + " " + types);
        assertThat(verdicts).hasSize(4);
        assertThat(forms).hasSize(3);
        assertThat(types.keySet()).containsExactlyInAnyOrder(
                ConflictType.CREATION_COLLISION,
                ConflictType.STALE_READ_RISK,
                ConflictType.DESTRUCTIVE_INTERFERENCE,
                ConflictType.EXISTENCE_FAILURE);
        if (seeds < 40) {
            // too few to count
            return;
        }
        List<Map<?, Integer>> all = List.of(verdicts, forms, types);
        for (Map<?, Integer> counts : all) {
            counts.forEach((what, n) -> assertThat(n).as("%s of %s steps", what, steps).isGreaterThanOrEqualTo(steps / 20));
        }
    }

    static Resource resource(String pattern) {
        if (pattern.endsWith("/**")) {
            return Resource.of("FILE", pattern.equals("/**") ? "/" : pattern.substring(0, pattern.length() - 3), Resource.Form.SUBTREE);
        }
        if (pattern.endsWith("/*")) {
            return Resource.of("FILE", pattern.equals("/*") ? "/" : pattern.substring(0, pattern.length() - 2), Resource.Form.CHILDREN);
        }
        return Resource.file(pattern);
    }

    /** One sequence. */
    final class Run {
        private final Random random;
        private final Kernel kernel;
        private final NaiveKernel naive = new NaiveKernel();
        private final List<SessionKey> keys = new ArrayList<>();
        private final List<String> trace = new ArrayList<>();
        private long now;
        private long tokens;

        Run(long seed) {
            random = new Random(seed);
            long lockDelay = random.nextBoolean() ? 0 : random.nextInt(1000);
            kernel = new Kernel(KernelOptions.standard().withPolicy((s, p, r) -> null).withLockDelayMs(lockDelay), 0);
            naive.lockDelay = lockDelay;
            int agents = 2 + random.nextInt(4);
            for (int i = 0; i < agents; i++) {
                // equal timestamps and equal agents, too: the order must break both ties (C12, C29)
                SessionKey key = SessionKey.of("agent" + i / 2, "s" + i);
                keys.add(key);
                long priority = random.nextInt(4);
                boolean rollsBack = random.nextInt(3) == 0;
                boolean retries = random.nextInt(4) != 0;
                naive.register(key.toString(), priority, rollsBack, retries);
                Outcome out = kernel.apply(new Command.Register(key, priority, true, 0, false, rollsBack, retries), 0);
                assertThat(out.refusal()).isNull();
            }
            if (random.nextInt(4) == 0) {
                holdMany(keys.get(0));
            }
        }

        /** More leases than are looked through one by one. */
        private void holdMany(SessionKey key) {
            List<Triple> triples = new ArrayList<>();
            List<NaiveKernel.T> plain = new ArrayList<>();
            for (String above : List.of("/a", "/b", "/a/b", "/b/a", "/c/c")) {
                for (String below : List.of("/a/*", "/b/a", "/c/**", "/a/b/c", "/c/a", "/b/*", "/a/a/a/**", "/b/b/b")) {
                    triples.add(Triple.of(Predicate.CONSUMES, resource(above + below)));
                    plain.add(new NaiveKernel.T(Predicate.CONSUMES, above + below));
                }
            }
            naive.submit(key.toString(), plain, Limits.MAX_TTL_MS, 0, false, false);
            kernel.apply(new Command.Submit(key, triples, Limits.MAX_TTL_MS, 0, false), 0);
        }

        void steps(int count) {
            for (int i = 0; i < count; i++) {
                step();
                Set<String> expected = naive.seen();
                assertThat(seen()).as(() -> String.join("\n", trace)).isEqualTo(expected);
                naive.checkInvariants();
                checkBlockers();
                reviveOne();
            }
        }

        /** Creation above all, since two who create are rare otherwise. */
        private Predicate predicate() {
            int kind = random.nextInt(20);
            return kind < 5
                    ? Predicate.values()[random.nextInt(6)]
                    : kind < 12 ? Predicate.PROVIDES : kind < 16 ? Predicate.MUTATES : Predicate.CONSUMES;
        }

        private void step() {
            steps++;
            if (random.nextInt(3) == 0) {
                now += random.nextInt(20) == 0 ? 20_000 : random.nextInt(600);
            }
            naive.time(now);
            Overview before = null;
            if (random.nextInt(4) == 0) {
                kernel.apply(new Command.Expire(), now);
                before = kernel.overview(null, 1000);
            }
            boolean changesNothing = !command();
            if (before != null && changesNothing) {
                assertThat(kernel.overview(null, 1000)).as(() -> String.join("\n", trace)).isEqualTo(before);
            }
        }

        /** Whether it may have changed anything. */
        private boolean command() {
            SessionKey key = keys.get(random.nextInt(keys.size()));
            String name = key.toString();
            long token = token(key);
            int kind = random.nextInt(100);
            Outcome out;
            boolean carriedOut;
            if (kind < 68) {
                List<Triple> triples = new ArrayList<>();
                List<NaiveKernel.T> plain = new ArrayList<>();
                Set<Resource.Form> asked = EnumSet.noneOf(Resource.Form.class);
                int n = random.nextInt(8) == 0 ? random.nextInt(6) : 1 + random.nextInt(2);
                for (int i = 0; i < n; i++) {
                    Predicate p = predicate();
                    String pattern = PATTERNS[random.nextInt(PATTERNS.length - (random.nextInt(10) == 0 ? 0 : 1))];
                    triples.add(Triple.of(p, resource(pattern)));
                    plain.add(new NaiveKernel.T(p, pattern));
                    asked.add(resource(pattern).form());
                }
                long ttl = 300 + random.nextInt(1500);
                long wait = random.nextInt(6) == 0 ? 0 : random.nextInt(800);
                boolean reserve = random.nextInt(4) == 0;
                boolean dry = random.nextInt(8) == 0;
                trace.add(now + " " + name + (dry ? " dry " : " submit ") + triples + " ttl " + ttl + " wait " + wait + " reserve " + reserve);
                Verdict expected = naive.submit(name, plain, ttl, wait, reserve, dry);
                out = kernel.apply(
                        dry ? new Command.DryRun(key, triples) : new Command.Submit(key, triples, ttl, wait, reserve), now);
                assertThat(out.verdict()).as(() -> String.join("\n", trace) + "\n" + out.refusal()).isEqualTo(expected);
                if (expected != null) {
                    verdicts.merge(expected, 1, Integer::sum);
                }
                Set<ConflictType> met = EnumSet.noneOf(ConflictType.class);
                out.conflicts().forEach(c -> met.add(c.type()));
                met.forEach(t -> types.merge(t, 1, Integer::sum));
                asked.forEach(f -> forms.merge(f, 1, Integer::sum));
                return !dry && !out.isRefused();
            } else if (kind < 74) {
                trace.add(now + " " + name + " release " + token);
                carriedOut = naive.release(name, token);
                out = kernel.apply(new Command.Release(key, new long[] {token}), now);
            } else if (kind < 79) {
                trace.add(now + " " + name + " heartbeat " + token);
                carriedOut = naive.heartbeat(name, token);
                out = kernel.apply(new Command.Heartbeat(key, new long[] {token}), now);
            } else if (kind < 83) {
                trace.add(now + " " + name + " confirm " + token);
                carriedOut = naive.confirm(name, token);
                out = kernel.apply(new Command.Confirm(key, new long[] {token}), now);
            } else if (kind < 84) {
                trace.add(now + " revoke " + token);
                carriedOut = naive.revoke(token);
                out = kernel.apply(new Command.Revoke(token), now);
            } else if (kind < 85) {
                trace.add(now + " " + name + " abort");
                carriedOut = naive.abort(name);
                out = kernel.apply(new Command.Abort(key, "test"), now);
            } else if (kind < 91) {
                trace.add(now + " " + name + " rolled back");
                carriedOut = naive.rolledBack(name);
                out = kernel.apply(new Command.RolledBack(key), now);
            } else if (kind < 92 && random.nextBoolean()) {
                trace.add(now + " " + name + " withdraws");
                carriedOut = naive.withdraw(name);
                out = kernel.apply(new Command.Withdraw(key), now);
            } else if (kind < 92) {
                trace.add(now + " " + name + " announces restart");
                carriedOut = naive.announceRestart(name);
                out = kernel.apply(new Command.AnnounceRestart(key), now);
            } else if (kind < 93) {
                trace.add(now + " " + name + " reconciles " + token);
                boolean valid = naive.reconcile(name, token);
                out = kernel.apply(new Command.Reconcile(key, new long[] {token}), now);
                assertThat(!out.leases().isEmpty()).as(() -> String.join("\n", trace)).isEqualTo(valid);
                carriedOut = true;
            } else if (kind < 94) {
                trace.add(now + " " + name + " pause");
                carriedOut = naive.pause(name);
                out = kernel.apply(new Command.Pause(key), now);
            } else if (kind < 98) {
                trace.add(now + " " + name + " resume");
                carriedOut = naive.resume(name);
                out = kernel.apply(new Command.Resume(key), now);
            } else if (random.nextInt(3) == 0) {
                trace.add(now + " " + name + " completes");
                carriedOut = naive.complete(name);
                out = kernel.apply(new Command.Complete(key), now);
            } else if (random.nextBoolean()) {
                trace.add(now + " " + name + " verifies");
                carriedOut = naive.verify(name);
                out = kernel.apply(new Command.Verify(key), now);
            } else {
                trace.add(now + " time");
                carriedOut = true;
                out = kernel.apply(new Command.Expire(), now);
            }
            assertThat(out.isRefused()).as(() -> String.join("\n", trace) + "\n" + out.refusal()).isNotEqualTo(carriedOut);
            return carriedOut;
        }

        /** A lease of the session, mostly; sometimes another's, an ended one, or none at all. */
        private long token(SessionKey key) {
            List<Lease> own = kernel.leasesOf(key);
            tokens = kernel.nextFencingToken();
            if (own.isEmpty() || random.nextInt(6) == 0) {
                return random.nextInt((int) tokens + 2);
            }
            return own.get(random.nextInt(own.size())).fencingToken();
        }

        /** An ended session comes back with a higher epoch, so that runs do not die out. */
        private void reviveOne() {
            for (int i = 0; i < keys.size(); i++) {
                SessionKey key = keys.get(i);
                NaiveKernel.S s = naive.sessions.get(key.toString());
                if (s.state.isTerminal() && kernel.leasesOf(key).isEmpty() && random.nextInt(4) == 0) {
                    trace.add(now + " " + key + " comes back");
                    Outcome out = kernel.apply(
                            new Command.Register(key, s.priority, false, 1_000 + trace.size(), false, s.rollsBack, s.retries), now);
                    assertThat(out.refusal()).isNull();
                    assertThat(out.priorityMs()).isEqualTo(s.priority);
                    naive.register(key.toString(), s.priority, s.rollsBack, s.retries);
                }
            }
        }

        /** What a waiting manifest is said to meet is in its way, with the one of its predicates that is (K7-14, K2-11). */
        private void checkBlockers() {
            for (SessionKey key : kernel.queue()) {
                assertThat(kernel.blockers(key)).as(() -> String.join("\n", trace)).isNotEmpty().allSatisfy(c -> {
                    assertThat(c.type()).as(c.toString()).isNotNull();
                    assertThat(NaiveKernel.conflict(c.heldPredicate(), c.asked().predicate())).as(c.toString()).isTrue();
                });
            }
        }

        private Set<String> seen() {
            Set<String> all = new TreeSet<>();
            for (SessionKey key : keys) {
                for (Lease l : kernel.leasesOf(key)) {
                    all.add("lease " + l.fencingToken() + " " + key + " " + l.predicate() + " "
                            + l.resource().toString().substring("FILE:".length()) + " " + l.state() + " until " + l.expiresAtMs());
                }
                all.add("session " + key + " " + kernel.state(key));
            }
            List<SessionKey> queue = kernel.queue();
            for (int i = 0; i < queue.size(); i++) {
                all.add("queue " + i + " " + queue.get(i));
            }
            return all;
        }
    }
}
