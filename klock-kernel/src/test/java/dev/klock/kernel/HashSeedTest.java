package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The seed of the hashes decides where things lie in memory, and nothing that anybody is told. */
class HashSeedTest {
    private static final String[] FILES = {
        "/a", "/a/a", "/a/b", "/a/c", "/a/d", "/a/b/c", "/a/b/d", "/b", "/b/a", "/b/b", "/a/*", "/a/b/*", "/b/*", "/a/**", "/a/b/**", "/b/**",
    };

    private static String told(Outcome out) {
        return out.refusal() + " " + out.verdict() + " " + out.leases() + " " + out.conflicts() + " " + out.rejections() + " "
                + out.changes() + " " + out.request() + " " + out.queuePosition() + " " + out.retryAfterMs() + " " + out.events();
    }

    @Test
    @Tag("K2-8")
    void changes_besideThoseWhoStillCreate_comeInOneOrderWhateverTheSeed() {
        Set<String> told = new LinkedHashSet<>();
        for (int seed = 0; seed < 50; seed++) {
            Worlds w = new Worlds(KernelOptions.standard().withHashSeed(seed * 7919));
            SessionKey a = w.session("a", 1);
            SessionKey b = w.session("b", 2);
            w.submit(b, "CONSUMES /d/**");
            w.apply(new Command.Pause(b));
            w.submit(a, "PROVIDES /d/c", "PROVIDES /d/a", "PROVIDES /d/b", "PROVIDES /d/e/**", "PROVIDES /d/f", "PROVIDES /d/g/**");
            told.add(told(w.apply(new Command.Resume(b))));
        }
        assertThat(told).hasSize(1);
        assertThat(told.iterator().next()).containsSubsequence("FILE:/d/a", "FILE:/d/b", "FILE:/d/c", "FILE:/d/e/**", "FILE:/d/f");
    }

    @Test
    @Tag("K2-8")
    void commands_ofAnyKind_haveTheSameEffectsInTheSameOrderWhateverTheSeed() {
        int updates = 0;
        for (int run = 0; run < 60; run++) {
            Random random = new Random(run);
            List<Worlds> worlds = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                KernelOptions options = KernelOptions.standard().withPolicy((s, p, r) -> null).withLockDelayMs(run % 2 * 300);
                worlds.add(new Worlds(options.withHashSeed(run * 31 + i * 0x51ed270b)));
            }
            SessionKey[] keys = new SessionKey[5];
            for (Worlds w : worlds) {
                for (int i = 0; i < keys.length; i++) {
                    keys[i] = w.session(SessionKey.of("agent" + i, "s"), i, i == 2);
                }
            }
            long now = 0;
            for (int step = 0; step < 250; step++) {
                now += random.nextInt(3) == 0 ? random.nextInt(400) : 0;
                Command c = command(random, keys[random.nextInt(keys.length)], worlds.get(0).kernel.nextFencingToken());
                Set<String> told = new LinkedHashSet<>();
                for (Worlds w : worlds) {
                    w.now = now;
                    Outcome out = w.apply(c);
                    updates += out.changes().size() > 1 ? 1 : 0;
                    StringBuilder all = new StringBuilder(told(out));
                    all.append(w.kernel.queue()).append(w.kernel.contention(null, 100)).append(w.kernel.overview(null, 0));
                    for (SessionKey key : keys) {
                        all.append(w.kernel.leasesOf(key)).append(w.kernel.blockers(key));
                    }
                    all.append(w.kernel.holders("default", KernelModelTest.resource("/a/**")));
                    told.add(all.toString());
                }
                assertThat(told).as("run %s, step %s: %s", run, step, c).hasSize(1);
            }
        }
        assertThat(updates).as("updates with an order").isPositive();
    }

    private static Command command(Random random, SessionKey key, long tokens) {
        int kind = random.nextInt(20);
        long[] lease = {1 + random.nextInt((int) tokens), Math.max(1, tokens - 1 - random.nextInt(6))};
        if (kind < 11) {
            List<Triple> triples = new ArrayList<>();
            for (int n = 1 + random.nextInt(4); n > 0; n--) {
                Predicate p = random.nextInt(3) > 0
                        ? random.nextInt(3) == 0 ? Predicate.CONSUMES : Predicate.PROVIDES
                        : Predicate.values()[random.nextInt(6)];
                triples.add(Triple.of(p, KernelModelTest.resource(FILES[random.nextInt(FILES.length)])));
            }
            return new Command.Submit(key, triples, 200 + random.nextInt(2000), random.nextInt(900), random.nextInt(5) == 0);
        }
        return switch (kind) {
            case 11, 12 -> new Command.Release(key, random.nextBoolean() ? null : lease);
            case 13 -> new Command.Heartbeat(key, null);
            case 14 -> new Command.Confirm(key, null);
            case 15 -> new Command.Pause(key);
            case 16, 17 -> new Command.Resume(key);
            case 18 -> random.nextBoolean() ? new Command.RolledBack(key) : new Command.Reconcile(key, lease);
            default -> random.nextInt(3) > 0
                    ? new Command.Register(key, Long.parseLong(key.agentId().substring(5)), true, random.nextInt(1000), false, key.agentId().equals("agent2"), true)
                    : new Command.Withdraw(key);
        };
    }
}
