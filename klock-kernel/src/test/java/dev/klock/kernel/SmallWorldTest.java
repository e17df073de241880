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
 * each agent may ask for more while it holds something, release its leases one by one, or see them run out. In each state: nobody holds
 * what conflicts, nobody waits for nobody or for somebody older, no circle of waits, every manifest was granted as a whole or not at all,
 * and if those who do not wait let go, everybody gets through.
 *
 * <p>Then the graph of all states and steps is searched for lassos: ways to go round for ever in which the oldest agent waits and is
 * never served, although nobody who could let go keeps what it has for ever.
 *
 * <p>The large world ({@code -Dklock.world=large}, profile proof) has a fourth path, removal of the whole directory, and a manifest that
 * reserves two things at once.
 */
class SmallWorldTest {
    private static final int AGENTS = 3;
    /** More states than either world has: a search that gets there has not seen them all. */
    private static final int MAX_STATES = 2_000_000;

    private static final int MAX_LEASES = 2;
    private static final long TTL_MS = 1000;
    private static final boolean LARGE = System.getProperty("klock.world", "small").equals("large");
    private static final String[][] SMALL_MANIFESTS = {
        {"MUTATES /d"}, {"MUTATES /d/*"}, {"CONSUMES /d/**"}, {"MUTATES /e"}, {"CONSUMES /d/x", "MUTATES /e"},
    };
    private static final String[][] LARGE_MANIFESTS = {
        {"MUTATES /d"}, {"MUTATES /d/*"}, {"CONSUMES /d/**"}, {"MUTATES /e"}, {"CONSUMES /d/x", "MUTATES /e"},
        {"DELETES /d/**"}, {"CONSUMES /d/x"}, {"PROVIDES /d/x", "CONSUMES /d/*"},
    };

    private interface Step {
        void take(World world);
    }

    /** One way from a state to another. */
    private record Edge(int from, int to) {}

    /** What is needed of a state to look for lassos. */
    private record State(boolean[] waits, List<Set<String>> holds) {}

    /** Either what is wrong, or the whole graph. */
    private record Exploration(String wrong, List<State> states, List<Edge> edges) {}

    /** A kernel that got somewhere. */
    private static final class World {
        final Worlds w;
        final SessionKey[] agents = new SessionKey[AGENTS];
        final String[] asked = new String[AGENTS];
        final String[][] manifests;
        int epoch;

        World(String[][] manifests, boolean rejudges, boolean olderOvertake) {
            this.manifests = manifests;
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

        State state() {
            boolean[] waits = new boolean[AGENTS];
            List<Set<String>> holds = new ArrayList<>();
            for (int i = 0; i < AGENTS; i++) {
                waits[i] = waits(i);
                Set<String> leases = new HashSet<>();
                w.kernel.leasesOf(agents[i]).forEach(l -> leases.add(l.predicate() + " " + l.resource()));
                holds.add(leases);
            }
            return new State(waits, holds);
        }

        int index(SessionKey key) {
            return key.agentId().charAt(1) - '0';
        }

        boolean waits(int agent) {
            return w.kernel.queue().contains(agents[agent]);
        }

        /** All triples of the manifest get their lease with the same answer, now or from the queue, or none does (RS-5). */
        void ask(SessionKey key, String... manifest) {
            Outcome out = w.apply(new Command.Submit(key, Worlds.triples(manifest), TTL_MS, Limits.MAX_WAIT_MS, false));
            assertThat(out.leases()).hasSize(out.verdict() == Verdict.GRANTED ? manifest.length : 0);
            for (Event e : out.events()) {
                if (e.kind() == Event.Kind.LEASE_GRANTED && e.request() != 0) {
                    assertThat(e.leases()).hasSize(manifests[Integer.parseInt(asked[index(e.session())])].length);
                }
            }
        }

        /** Lets time pass until {@code lease} has run out, and no other. */
        void runOut(Lease lease) {
            renewAllBut(null);
            w.now += TTL_MS - 1;
            renewAllBut(lease);
            int before = w.kernel.leaseCount();
            w.apply(new Command.Expire());
            assertThat(w.kernel.leaseCount()).isEqualTo(before);
            w.at(w.now + 1);
            assertThat(w.kernel.lease(lease.fencingToken())).isNull();
        }

        private void renewAllBut(Lease one) {
            for (SessionKey agent : agents) {
                for (Lease lease : w.kernel.leasesOf(agent)) {
                    if (one == null || lease.fencingToken() != one.fencingToken()) {
                        assertThat(w.heartbeat(agent, lease).refusal()).isNull();
                    }
                }
            }
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

    private static List<Step> steps(String[][] manifests) {
        List<Step> steps = new ArrayList<>();
        for (int i = 0; i < AGENTS; i++) {
            int agent = i;
            for (int m = 0; m < manifests.length; m++) {
                int manifest = m;
                steps.add(world -> {
                    SessionKey key = world.agents[agent];
                    if (world.w.kernel.leasesOf(key).size() < MAX_LEASES && !world.waits(agent)) {
                        world.asked[agent] = String.valueOf(manifest);
                        world.ask(key, manifests[manifest]);
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
            // everybody else renews just in time; who has lost its last lease is dead and comes back
            steps.add(world -> {
                List<Lease> held = world.w.kernel.leasesOf(world.agents[agent]);
                if (!held.isEmpty()) {
                    world.runOut(held.get(0));
                    if (world.w.state(world.agents[agent]).isTerminal()) {
                        world.w.apply(new Command.Register(world.agents[agent], agent, true, ++world.epoch, false, false, true));
                    }
                }
            });
        }
        return steps;
    }

    private static Exploration explore(String[][] manifests, boolean rejudges, boolean olderOvertake, boolean judges) {
        List<Step> steps = steps(manifests);
        Map<String, Integer> seen = new HashMap<>();
        List<State> states = new ArrayList<>();
        List<Edge> edges = new ArrayList<>();
        ArrayDeque<int[]> next = new ArrayDeque<>();
        next.add(new int[0]);
        World first = new World(manifests, rejudges, olderOvertake);
        seen.put(first.key(), 0);
        states.add(first.state());
        for (int at = 0; !next.isEmpty() && states.size() < MAX_STATES; at++) {
            int[] path = next.poll();
            for (int s = 0; s < steps.size(); s++) {
                World world = new World(manifests, rejudges, olderOvertake);
                for (int p : path) {
                    steps.get(p).take(world);
                }
                steps.get(s).take(world);
                String key = world.key();
                Integer known = seen.putIfAbsent(key, states.size());
                edges.add(new Edge(at, known == null ? states.size() : known));
                if (known != null) {
                    continue;
                }
                states.add(world.state());
                String wrong = judges ? world.wrong() : null;
                int[] longer = java.util.Arrays.copyOf(path, path.length + 1);
                longer[path.length] = s;
                if (wrong == null && judges && !world.drains()) {
                    wrong = "does not drain: " + key;
                }
                if (wrong != null) {
                    return new Exploration(wrong + " after " + longer.length + " steps", states, edges);
                }
                next.add(longer);
            }
        }
        assertThat(states.size()).isLessThan(MAX_STATES);
        return new Exploration(null, states, edges);
    }

    /**
     * Strongly connected states in all of which the oldest agent waits, and in which no other agent keeps a lease all the time, unless it
     * waits all the time itself and so cannot be done with it. Going round in them for ever is a lasso without progress.
     */
    private static List<Set<Integer>> lassos(Exploration x) {
        int n = x.states.size();
        List<List<Edge>> out = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            out.add(new ArrayList<>());
        }
        for (Edge e : x.edges) {
            if (x.states.get(e.from).waits[0] && x.states.get(e.to).waits[0]) {
                out.get(e.from).add(e);
            }
        }
        List<Set<Integer>> lassos = new ArrayList<>();
        for (Set<Integer> component : components(n, out)) {
            int any = component.iterator().next();
            List<Set<String>> keeps = new ArrayList<>();
            x.states.get(any).holds.forEach(h -> keeps.add(new HashSet<>(h)));
            boolean[] alwaysWaits = {true, true, true};
            boolean isRound = false;
            for (int state : component) {
                for (int i = 0; i < AGENTS; i++) {
                    keeps.get(i).retainAll(x.states.get(state).holds.get(i));
                    alwaysWaits[i] &= x.states.get(state).waits[i];
                }
                isRound |= out.get(state).stream().anyMatch(e -> component.contains(e.to));
            }
            boolean isFair = isRound;
            for (int i = 1; i < AGENTS; i++) {
                isFair &= keeps.get(i).isEmpty() || alwaysWaits[i];
            }
            if (isFair && x.states.get(any).waits[0]) {
                lassos.add(component);
            }
        }
        return lassos;
    }

    /** Tarjan's algorithm with a stack of its own. */
    private static List<Set<Integer>> components(int n, List<List<Edge>> out) {
        List<Set<Integer>> components = new ArrayList<>();
        int[] number = new int[n];
        int[] low = new int[n];
        int[] at = new int[n];
        boolean[] open = new boolean[n];
        ArrayDeque<Integer> stack = new ArrayDeque<>();
        int count = 0;
        for (int root = 0; root < n; root++) {
            if (number[root] != 0) {
                continue;
            }
            ArrayDeque<Integer> path = new ArrayDeque<>(List.of(root));
            number[root] = low[root] = ++count;
            open[root] = true;
            stack.push(root);
            while (!path.isEmpty()) {
                int v = path.peek();
                if (at[v] < out.get(v).size()) {
                    int w = out.get(v).get(at[v]++).to;
                    if (number[w] == 0) {
                        number[w] = low[w] = ++count;
                        open[w] = true;
                        stack.push(w);
                        path.push(w);
                    } else if (open[w]) {
                        low[v] = Math.min(low[v], number[w]);
                    }
                    continue;
                }
                path.pop();
                if (!path.isEmpty()) {
                    low[path.peek()] = Math.min(low[path.peek()], low[v]);
                }
                if (low[v] == number[v]) {
                    Set<Integer> component = new HashSet<>();
                    int w;
                    do {
                        w = stack.pop();
                        open[w] = false;
                        component.add(w);
                    } while (w != v);
                    components.add(component);
                }
            }
        }
        return components;
    }

    @Test
    @Tag("K4-1")
    @Tag("K0-4")
    void everyState_ofTheWorld_isSafeAndDrainsAndTheOldestAlwaysProgresses() {
        Exploration x = explore(LARGE ? LARGE_MANIFESTS : SMALL_MANIFESTS, true, false, true);
        assertThat(x.wrong).isNull();
        assertThat(lassos(x)).isEmpty();
        System.out.println((LARGE ? "large world: " : "small world: ") + x.states.size() + " states, " + x.edges.size() + " steps, no lasso");
    }

    @Test
    void everyState_whereOlderOvertake_isSafeAndDrains() {
        Exploration x = explore(SMALL_MANIFESTS, true, true, true);
        assertThat(x.wrong).isNull();
        System.out.println("small world, older overtake: " + x.states.size() + " states, " + x.edges.size() + " steps");
    }

    @Test
    void search_withWaitersJudgedOnlyOnce_findsTheDeadlock() {
        for (boolean olderOvertake : new boolean[] {true, false}) {
            Exploration x = explore(SMALL_MANIFESTS, false, olderOvertake, true);
            assertThat(x.wrong).startsWith("deadlock");
            System.out.println("small world, waiters judged once" + (olderOvertake ? ", older overtake: " : ": ") + x.wrong);
        }
    }

    @Test
    void lassos_withWaitersJudgedOnlyOnce_areFound() {
        Exploration x = explore(SMALL_MANIFESTS, false, false, false);
        List<Set<Integer>> lassos = lassos(x);
        System.out.println("small world, waiters judged once: " + x.states.size() + " states, " + lassos.size() + " lassos");
        assertThat(lassos).isNotEmpty();
    }
}
