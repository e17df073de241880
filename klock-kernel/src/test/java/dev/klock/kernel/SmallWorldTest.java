package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Every state that a small world can get into, breadth first: three agents, a directory, its children, its subtree and a file beside it;
 * each agent may ask for more while it holds something, release its leases one by one, or lose them. In each state: nobody holds what
 * conflicts, nobody waits for nobody or for somebody older, no circle of waits, and if those who do not wait let go, everybody gets
 * through.
 */
class SmallWorldTest {
    private static final int AGENTS = 3;
    /** More states than this world has: a search that gets there has not seen them all. */
    private static final int MAX_STATES = 50_000;

    private static final int MAX_LEASES = 2;
    private static final String[][] MANIFESTS = {
        {"MUTATES /d"}, {"MUTATES /d/*"}, {"CONSUMES /d/**"}, {"MUTATES /e"}, {"CONSUMES /d/x", "MUTATES /e"},
    };

    private interface Step {
        void take(World world);
    }

    /** A kernel that got somewhere. */
    private static final class World {
        final Worlds w;
        final SessionKey[] agents = new SessionKey[AGENTS];
        final String[] asked = new String[AGENTS];
        int epoch;

        World(boolean rejudges, boolean olderOvertake) {
            w = new Worlds(new Kernel(KernelOptions.standard(), 0, rejudges, olderOvertake));
            for (int i = 0; i < AGENTS; i++) {
                agents[i] = w.session("a" + i, i);
            }
        }

        /** What matters for what can happen next. */
        String key() {
            StringBuilder key = new StringBuilder();
            for (int i = 0; i < AGENTS; i++) {
                key.append(i).append(':');
                for (Lease l : w.kernel.leasesOf(agents[i])) {
                    key.append(l.predicate()).append(l.resource()).append(',');
                }
            }
            for (SessionKey waiting : w.kernel.queue()) {
                key.append('|').append(waiting).append(asked[index(waiting)]);
            }
            return key.toString();
        }

        int index(SessionKey key) {
            return key.agentId().charAt(1) - '0';
        }

        boolean waits(int agent) {
            return w.kernel.queue().contains(agents[agent]);
        }

        /** What is wrong with this state, or {@code null}. */
        String wrong() {
            for (int i = 0; i < AGENTS; i++) {
                for (int j = 0; j < i; j++) {
                    for (Lease a : w.kernel.leasesOf(agents[i])) {
                        for (Lease b : w.kernel.leasesOf(agents[j])) {
                            if (a.resource().overlaps(b.resource()) && ConflictMatrix.conflicts(a.predicate(), b.predicate())) {
                                return "both hold: " + a + ", " + b;
                            }
                        }
                    }
                }
            }
            Map<Integer, Set<Integer>> waitsFor = new HashMap<>();
            for (SessionKey waiting : w.kernel.queue()) {
                int me = index(waiting);
                List<Conflict> blockers = w.kernel.blockers(waiting);
                if (blockers.isEmpty()) {
                    return waiting + " waits for nobody";
                }
                Set<Integer> who = new HashSet<>();
                blockers.forEach(b -> who.add(index(b.holder())));
                waitsFor.put(me, who);
            }
            for (int start : waitsFor.keySet()) {
                Set<Integer> seen = new HashSet<>();
                ArrayDeque<Integer> next = new ArrayDeque<>(waitsFor.get(start));
                while (!next.isEmpty()) {
                    int at = next.poll();
                    if (at == start) {
                        return "deadlock: a" + start + " waits for itself, " + waitsFor;
                    }
                    if (seen.add(at)) {
                        next.addAll(waitsFor.getOrDefault(at, Set.of()));
                    }
                }
            }
            return null;
        }

        /** Whether everybody gets through once those who do not wait let go. */
        boolean drains() {
            for (int round = 0; round <= AGENTS; round++) {
                for (int i = 0; i < AGENTS; i++) {
                    if (!waits(i)) {
                        w.release(agents[i]);
                    }
                }
            }
            return w.kernel.queue().isEmpty() && w.kernel.leaseCount() == 0;
        }
    }

    private static List<Step> steps() {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < AGENTS; i++) {
            int agent = i;
            for (int m = 0; m < MANIFESTS.length; m++) {
                int manifest = m;
                steps.add(world -> {
                    SessionKey key = world.agents[agent];
                    if (world.w.kernel.leasesOf(key).size() < MAX_LEASES && !world.waits(agent)) {
                        world.asked[agent] = String.valueOf(manifest);
                        world.w.submit(key, MANIFESTS[manifest]);
                    }
                });
            }
            for (int l = 0; l < MAX_LEASES; l++) {
                int lease = l;
                steps.add(world -> {
                    List<Lease> held = world.w.kernel.leasesOf(world.agents[agent]);
                    if (lease < held.size()) {
                        world.w.apply(new Command.Release(world.agents[agent], Worlds.tokens(held.get(lease))));
                    }
                });
            }
            // expiry, here as an operator's revoke, since no clock runs in this world: the session is dead and comes back
            steps.add(world -> {
                List<Lease> held = world.w.kernel.leasesOf(world.agents[agent]);
                if (!held.isEmpty()) {
                    world.w.apply(new Command.Revoke(held.get(0).fencingToken()));
                    if (world.w.state(world.agents[agent]).isTerminal()) {
                        world.w.apply(new Command.Register(world.agents[agent], agent, true, ++world.epoch, false, false, true));
                    }
                }
            });
        }
        return steps;
    }

    /** The first bad state, with the steps that lead there, or the number of states if all are good. */
    private static Object explore(boolean rejudges, boolean olderOvertake, int maxStates) {
        List<Step> steps = steps();
        Set<String> seen = new HashSet<>();
        ArrayDeque<int[]> next = new ArrayDeque<>();
        next.add(new int[0]);
        seen.add(new World(rejudges, olderOvertake).key());
        while (!next.isEmpty() && seen.size() < maxStates) {
            int[] path = next.poll();
            for (int s = 0; s < steps.size(); s++) {
                World world = new World(rejudges, olderOvertake);
                for (int p : path) {
                    steps.get(p).take(world);
                }
                steps.get(s).take(world);
                if (!seen.add(world.key())) {
                    continue;
                }
                String wrong = world.wrong();
                int[] longer = java.util.Arrays.copyOf(path, path.length + 1);
                longer[path.length] = s;
                if (wrong == null) {
                    String state = world.key();
                    if (!world.drains()) {
                        wrong = "does not drain: " + state;
                    }
                }
                if (wrong != null) {
                    return wrong + " after " + longer.length + " steps";
                }
                next.add(longer);
            }
        }
        return seen.size();
    }

    @Test
    @Tag("K4-1")
    @Tag("K0-4")
    void everyState_ofTheSmallWorld_isSafeAndDrains() {
        Object result = explore(true, false, MAX_STATES);
        assertThat(result).isInstanceOf(Integer.class).isNotEqualTo(MAX_STATES);
        System.out.println("small world: " + result + " states");
    }

    @Test
    void everyState_whereOlderOvertake_isSafeAndDrains() {
        Object result = explore(true, true, MAX_STATES);
        assertThat(result).isInstanceOf(Integer.class).isNotEqualTo(MAX_STATES);
        System.out.println("small world, older overtake: " + result + " states");
    }

    @Test
    void search_withWaitersJudgedOnlyOnce_findsTheDeadlock() {
        for (boolean olderOvertake : new boolean[] {true, false}) {
            Object result = explore(false, olderOvertake, MAX_STATES);
            assertThat(result).asString().startsWith("deadlock");
            System.out.println("small world, waiters judged once" + (olderOvertake ? ", older overtake: " : ": ") + result);
        }
    }
}
