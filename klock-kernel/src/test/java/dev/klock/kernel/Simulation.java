package dev.klock.kernel;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Thousands of agents on one kernel in virtual time. Each thinks, asks for the files of its next piece of work, waits or backs off as the
 * kernel says, works while it renews its leases, and gives them back; some crash in the middle of it and leave their leases to run out.
 * Everything follows from the seed.
 *
 * <p>{@code mvn -pl klock-kernel test-compile exec:java -Dexec.classpathScope=test -Dexec.mainClass=dev.klock.kernel.Simulation
 * -Dexec.args="7 2000 60"}: seed, agents, seconds.
 */
public final class Simulation {
    private static final long TTL_MS = 10_000;
    private static final long WAIT_MS = 5_000;

    /** What came of it. */
    record Report(
            int agents,
            long virtualMs,
            long commands,
            long manifests,
            long granted,
            long waits,
            long waitTimeouts,
            long deaths,
            long retries,
            long crashes,
            long expired,
            double meanToGrantMs,
            long p99ToGrantMs,
            long maxToGrantMs,
            long maxAttempts,
            double fairness,
            long unserved,
            long fingerprint) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%d agents, %.0f s of virtual time, %d commands: %d manifests, %d granted (%.1f per second), %d waits (%d ran out), %d deaths,"
                            + " %d retries, %d crashes, %d leases ran out; time to grant mean %.0f ms, 99 %% %d ms, max %d ms, at most %d attempts;"
                            + " fairness (Jain) %.3f; %d unserved at the end; fingerprint %016x",
                    agents,
                    virtualMs / 1000.0,
                    commands,
                    manifests,
                    granted,
                    granted * 1000.0 / virtualMs,
                    waits,
                    waitTimeouts,
                    deaths,
                    retries,
                    crashes,
                    expired,
                    meanToGrantMs,
                    p99ToGrantMs,
                    maxToGrantMs,
                    maxAttempts,
                    fairness,
                    unserved,
                    fingerprint);
        }
    }

    private enum Next {
        ASK,
        RENEW,
        FINISH
    }

    private record Turn(long atMs, long order, Agent agent, Next next, int run) {}

    private static final class Agent {
        final int number;
        SessionKey key;
        int run;
        boolean isRegistered;
        List<Triple> wanted;
        /** When it first asked for what it wants; also its age in the protocol, kept over retries. */
        long sinceMs;

        int attempts;
        long endMs;
        boolean crashes;
        int done;

        Agent(int number) {
            this.number = number;
        }
    }

    private final SplittableRandom random;
    private final Kernel kernel = new Kernel(KernelOptions.standard(), 0);
    private final PriorityQueue<Turn> turns = new PriorityQueue<>((a, b) -> {
        int c = Long.compare(a.atMs, b.atMs);
        return c == 0 ? Long.compare(a.order, b.order) : c;
    });
    private final Map<SessionKey, Agent> byKey = new HashMap<>();
    private final Agent[] agents;
    private final int directories;
    private final List<Long> toGrantMs = new ArrayList<>();
    private long nowMs;
    private long order;
    private boolean isClosing;
    private long commands;
    private long manifests;
    private long granted;
    private long waits;
    private long waitTimeouts;
    private long deaths;
    private long retries;
    private long crashes;
    private long expired;
    private long maxAttempts;
    private long fingerprint = 0xcbf29ce484222325L;

    private Simulation(long seed, int agents) {
        random = new SplittableRandom(seed);
        this.agents = new Agent[agents];
        directories = Math.max(1, agents / 2);
    }

    /** Runs until {@code seconds} of virtual time are over, and then until nobody wants anything any more. */
    static Report run(long seed, int agents, int seconds) {
        return new Simulation(seed, agents).run(seconds * 1000L);
    }

    private Report run(long untilMs) {
        for (int i = 0; i < agents.length; i++) {
            agents[i] = new Agent(i);
            schedule(agents[i], random.nextInt(2000), Next.ASK);
        }
        // everybody who wants something when time is over gets it, or there is a lasso
        long lastMs = untilMs + 600_000;
        while (!turns.isEmpty() && turns.peek().atMs <= lastMs) {
            Turn turn = turns.poll();
            // the kernel's own due times come in between, or hand-overs would be late
            while (kernel.nextDueMs() <= turn.atMs) {
                nowMs = Math.max(nowMs, kernel.nextDueMs());
                apply(new Command.Expire());
            }
            nowMs = Math.max(nowMs, turn.atMs);
            isClosing = nowMs >= untilMs;
            if (turn.run == turn.agent.run) {
                take(turn.agent, turn.next);
            }
        }
        return report(untilMs);
    }

    private void schedule(Agent agent, long inMs, Next next) {
        turns.add(new Turn(nowMs + inMs, order++, agent, next, agent.run));
    }

    private void take(Agent agent, Next next) {
        switch (next) {
            case ASK -> ask(agent);
            case RENEW -> {
                if (!agent.crashes || nowMs < agent.endMs) {
                    apply(new Command.Heartbeat(agent.key, null));
                    schedule(agent, TTL_MS / 3, Next.RENEW);
                }
            }
            case FINISH -> {
                if (agent.crashes) {
                    crashes++;
                    agent.crashes = false;
                    over(agent);
                } else {
                    apply(new Command.Complete(agent.key));
                    over(agent);
                }
            }
        }
    }

    private void ask(Agent agent) {
        if (agent.wanted == null) {
            if (isClosing) {
                return;
            }
            agent.wanted = manifest();
            agent.sinceMs = nowMs;
            agent.attempts = 0;
        }
        if (!agent.isRegistered) {
            agent.key = SessionKey.of("agent" + agent.number, "run" + agent.run);
            byKey.put(agent.key, agent);
            apply(new Command.Register(agent.key, agent.sinceMs, true, 0, false, false, true));
            agent.isRegistered = true;
        }
        manifests++;
        if (agent.attempts++ > 0) {
            retries++;
        }
        apply(new Command.Submit(agent.key, agent.wanted, TTL_MS, WAIT_MS, false));
    }

    /** Mostly a few files of one or two directories; sometimes a listing, a whole directory, or a removal. */
    private List<Triple> manifest() {
        List<Triple> triples = new ArrayList<>();
        int n = 1 + random.nextInt(4);
        for (int i = 0; i < n; i++) {
            // few directories are popular
            int d = (int) (directories * Math.pow(random.nextDouble(), 1.5));
            String dir = "/tree/d" + d;
            int kind = random.nextInt(100);
            if (kind < 1) {
                triples.add(Triple.of(Predicate.MUTATES, Resource.of("FILE", dir, Resource.Form.SUBTREE)));
            } else if (kind < 6) {
                triples.add(Triple.of(Predicate.CONSUMES, Resource.of("FILE", dir, Resource.Form.CHILDREN)));
            } else {
                Predicate p = kind < 45 ? Predicate.CONSUMES : kind < 85 ? Predicate.MUTATES : kind < 95 ? Predicate.PROVIDES : Predicate.DELETES;
                triples.add(Triple.of(p, Resource.file(dir + "/f" + random.nextInt(12))));
            }
        }
        return triples;
    }

    private void over(Agent agent) {
        byKey.remove(agent.key);
        agent.run++;
        agent.isRegistered = false;
        agent.wanted = null;
        agent.done++;
        schedule(agent, 500 + random.nextInt(1500), Next.ASK);
    }

    private void apply(Command command) {
        commands++;
        Outcome out = kernel.apply(command, nowMs);
        if (out.isRefused()) {
            throw new IllegalStateException(command + ": " + out.refusal());
        }
        for (Event e : out.events()) {
            note(e);
            Agent agent = byKey.get(e.session());
            switch (e.kind()) {
                case LEASE_GRANTED -> granted(agent);
                case WAITING -> waits++;
                case DIED -> {
                    deaths++;
                    retry(agent);
                }
                case WAIT_TIMED_OUT -> {
                    waitTimeouts++;
                    retry(agent);
                }
                case LEASE_EXPIRED -> expired++;
                default -> { }
            }
        }
    }

    private void granted(Agent agent) {
        granted++;
        toGrantMs.add(nowMs - agent.sinceMs);
        maxAttempts = Math.max(maxAttempts, agent.attempts);
        long workMs = 20 + random.nextInt(random.nextInt(50) == 0 ? 20_000 : 1000);
        agent.endMs = nowMs + workMs;
        agent.crashes = random.nextInt(200) == 0;
        schedule(agent, workMs, Next.FINISH);
        if (workMs > TTL_MS / 3) {
            schedule(agent, TTL_MS / 3, Next.RENEW);
        }
    }

    private void retry(Agent agent) {
        schedule(agent, Backoff.STANDARD.delayMs(agent.attempts - 1, random.nextDouble()), Next.ASK);
    }

    private void note(Event e) {
        long h = e.kind().ordinal() * 31L + e.atMs();
        h = h * 31 + e.session().hashCode();
        for (Lease l : e.leases()) {
            h = h * 31 + l.fencingToken();
        }
        fingerprint = (fingerprint ^ h) * 0x100000001b3L;
    }

    private Report report(long untilMs) {
        long[] sorted = toGrantMs.stream().mapToLong(Long::longValue).sorted().toArray();
        double sum = 0;
        double squares = 0;
        long unserved = 0;
        for (Agent a : agents) {
            sum += a.done;
            squares += (double) a.done * a.done;
            unserved += a.wanted == null ? 0 : 1;
        }
        return new Report(
                agents.length,
                untilMs,
                commands,
                manifests,
                granted,
                waits,
                waitTimeouts,
                deaths,
                retries,
                crashes,
                expired,
                Arrays.stream(sorted).average().orElse(0),
                sorted.length == 0 ? 0 : sorted[(int) (sorted.length * 0.99)],
                sorted.length == 0 ? 0 : sorted[sorted.length - 1],
                maxAttempts,
                sum * sum / (agents.length * squares),
                unserved,
                fingerprint);
    }

    /** @param args seed, agents, seconds of virtual time */
    public static void main(String[] args) {
        long nanos = System.nanoTime();
        Report report = run(Long.parseLong(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        double seconds = (System.nanoTime() - nanos) / 1e9;
        System.out.println(report);
        System.out.printf(Locale.ROOT, "%.1f s, %.0f commands per second%n", seconds, report.commands / seconds);
    }
}
