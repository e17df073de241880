package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A kernel with many live leases of many sessions, each session at home in a directory of its own:
 *
 * <pre>
 * /work
 *   p0 … p99
 *     src/m12345/A0.java … A17.java   exact leases
 *     gen/m12345/*                    one lease in twenty
 *     out/m12345/**                   one lease in twenty
 * </pre>
 */
final class LiveWorld {
    static final int LEASES_PER_SESSION = 20;

    final Kernel kernel = new Kernel(KernelOptions.standard(), 0);
    final int homes;
    private final SessionKey[] keys;
    private final SplittableRandom random = new SplittableRandom(42);

    LiveWorld(int live) {
        homes = live / LEASES_PER_SESSION;
        keys = new SessionKey[homes];
        List<List<Triple>> wanted = new ArrayList<>();
        for (int home = 0; home < homes; home++) {
            keys[home] = SessionKey.of("agent" + home, "run");
            register(keys[home], home);
        }
        // one lease at a time, round and round: as they come in life, not one session's neatly side by side in memory
        for (int n = 0; n < LEASES_PER_SESSION; n++) {
            for (int home = 0; home < homes; home++) {
                must(kernel.apply(new Command.Submit(keys[home], List.of(triple(home, n)), Limits.MAX_TTL_MS, 0, false), 0), Verdict.GRANTED);
            }
        }
        if (kernel.leaseCount() != homes * LEASES_PER_SESSION) {
            throw new AssertionError(kernel.leaseCount() + " leases");
        }
    }

    void register(SessionKey key, long priorityMs) {
        Outcome out = kernel.apply(new Command.Register(key, priorityMs, true, 0, false, false, true), kernel.nowMs());
        if (out.isRefused()) {
            throw new AssertionError(out.refusal());
        }
    }

    private static Triple triple(int home, int n) {
        if (n == 3) {
            return Triple.of(Predicate.PROVIDES, Resource.of("FILE", dir("gen", home), Resource.Form.CHILDREN));
        }
        if (n == 7) {
            return Triple.of(Predicate.MUTATES, Resource.of("FILE", dir("out", home), Resource.Form.SUBTREE));
        }
        Predicate predicate = n % 3 == 0 ? Predicate.MUTATES : n % 3 == 1 ? Predicate.CONSUMES : Predicate.DELETES;
        return Triple.of(predicate, Resource.file(dir("src", home) + "/A" + n + ".java"));
    }

    static String dir(String area, int home) {
        return "/tree/p" + home % 100 + "/" + area + "/m" + home;
    }

    int randomHome() {
        return random.nextInt(homes);
    }

    SessionKey key(int home) {
        return keys[home];
    }

    /** A file in somebody's sources that nobody holds. */
    Triple free(int n) {
        return Triple.of(Predicate.MUTATES, Resource.file(dir("src", randomHome()) + "/B" + n + ".java"));
    }

    /** Something that somebody holds: a file, or a name below a pattern. */
    Triple held(int n) {
        int home = randomHome();
        return switch (n % 4) {
            case 0 -> Triple.of(Predicate.MUTATES, Resource.file(dir("gen", home) + "/B" + n + ".java"));
            case 1 -> Triple.of(Predicate.MUTATES, Resource.file(dir("out", home) + "/x/B" + n + ".java"));
            default -> Triple.of(Predicate.MUTATES, Resource.file(dir("src", home) + "/A" + (n % 2 == 0 ? 6 : 9) + ".java"));
        };
    }

    static void must(Outcome out, Verdict verdict) {
        if (out.verdict() != verdict) {
            throw new AssertionError(out.verdict() + " " + out.refusal() + " " + out.conflicts());
        }
    }
}
