package dev.klock.agent.observe;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class CarriedTest {
    private static final int THREADS = 4;

    private final Carried<String> carried = new Carried<>();
    private final Object task = new Object();
    private final Object pool = new Object();

    @Test
    void values_comeOutAsTheyWentIn() {
        for (String value : "A A B A C C".split(" ")) {
            carried.put(task, pool, value.intern());
        }
        List<String> found = new ArrayList<>();
        for (String value = carried.take(task, pool); value != null; value = carried.take(task, pool)) {
            found.add(value);
        }
        assertThat(found).containsExactly("A", "A", "B", "A", "C", "C");
        assertThat(carried.size()).isZero();
    }

    @Test
    void place_isToldFromOthers() {
        Object other = new Object();
        carried.put(task, pool, "A");
        carried.put(task, other, "B");
        carried.putFirst(task, "C");
        assertThat(carried.take(task, other)).isEqualTo("B");
        assertThat(carried.take(task, other)).isNull();
        assertThat(carried.get(task)).isEqualTo("C");
        assertThat(carried.take(task, pool)).isEqualTo("A");
    }

    @Test
    void task_isKnownByItsIdentity() {
        String one = new String("task");
        String other = new String("task");
        carried.putFirst(one, "A");
        assertThat(carried.get(other)).isNull();
        assertThat(carried.get(one)).isEqualTo("A");
    }

    @Test
    void putFirst_changesNothingThatIsKnown() {
        carried.putFirst(task, "A");
        carried.putFirst(task, "B");
        assertThat(carried.get(task)).isEqualTo("A");
        assertThat(carried.get(task)).isEqualTo("A");
        carried.forget(task);
        assertThat(carried.get(task)).isNull();
        carried.putFirst(task, "B");
        assertThat(carried.get(task)).isEqualTo("B");
    }

    @Test
    void doubtful_comesBehindAllThatIsNot() {
        carried.put(task, pool, "A");
        carried.put(task, pool, "B");
        carried.doubt(task, pool, "A");
        carried.doubt(task, pool, "C");
        carried.put(task, pool, "C");
        assertThat(carried.take(task, pool)).isEqualTo("B");
        assertThat(carried.take(task, pool)).isEqualTo("C");
        assertThat(carried.take(task, pool)).isEqualTo("A");
        assertThat(carried.take(task, pool)).isNull();
    }

    @Test
    void doubtful_areNotKeptForEver() {
        for (int i = 0; i < 1_000; i++) {
            carried.put(task, pool, i % 2 == 0 ? "A" : "B");
            carried.doubtFirst(task, pool);
        }
        int kept = 0;
        while (carried.take(task, pool) != null) {
            kept++;
        }
        assertThat(kept).isEqualTo(64);
    }

    @Test
    void collected_tasks_areTakenOutByWhatFollows() throws Exception {
        int many = 20_000;
        Object[] kept = new Object[many];
        for (int i = 0; i < many; i++) {
            kept[i] = new Object();
            carried.put(kept[i], pool, "A");
        }
        assertThat(carried.size()).isEqualTo(many);
        Arrays.fill(kept, null);
        for (int round = 0; round < 20 && carried.size() > many / 2; round++) {
            System.gc();
            Thread.sleep(10);
            for (int i = 0; i < many / 2; i++) {
                Object passing = new Object();
                carried.put(passing, pool, "B");
                carried.take(passing, pool);
            }
        }
        assertThat(carried.size()).isLessThan(many / 2);
    }

    @Test
    void tasksThatAreNeverTaken_doNotPileUp() {
        for (int i = 0; i < 3_000_000; i++) {
            carried.putFirst(new Object(), "A");
            if (i % 300_000 == 0) {
                System.gc();
            }
        }
        System.gc();
        for (int i = 0; i < 300_000; i++) {
            carried.putFirst(new Object(), "A");
        }
        assertThat(carried.size()).isLessThan(1_500_000);
    }

    /** One step: what is done, on which of few tasks and pools, with which of few values. */
    private static final class Step {
        final int action;
        final int task;
        final int pool;
        final String value;

        Step(int action, int task, int pool, String value) {
            this.action = action;
            this.task = task;
            this.pool = pool;
            this.value = value;
        }

        @Override
        public String toString() {
            return action + " " + task + " " + pool + " " + value;
        }
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(Arbitraries.integers().between(0, 6), Arbitraries.integers().between(0, 3), Arbitraries.integers().between(0, 2),
                Arbitraries.of("A", "B", "C")).as(Step::new).list().ofMaxSize(200);
    }

    @Property(tries = 500)
    void anySteps_leaveWhatListsWouldHold(@ForAll("steps") List<Step> steps) {
        Carried<String> tested = new Carried<>();
        Object[] tasks = {new Object(), new Object(), new Object(), new Object()};
        Object[] pools = {null, new Object(), new Object()};
        Map<List<Integer>, Deque<String>> model = new HashMap<>();
        for (Step step : steps) {
            Deque<String> sure = model.computeIfAbsent(List.of(step.task, step.pool), k -> new ArrayDeque<>());
            Deque<String> doubtful = model.computeIfAbsent(List.of(step.task, step.pool + 10), k -> new ArrayDeque<>());
            Object task = tasks[step.task];
            Object pool = pools[step.pool];
            switch (step.action) {
                case 0:
                case 1:
                    tested.put(task, pool, step.value);
                    sure.add(step.value);
                    break;
                case 2:
                    String expected = sure.isEmpty() ? doubtful.pollLast() : sure.poll();
                    assertThat(tested.take(task, pool)).isEqualTo(expected);
                    break;
                case 3:
                    tested.remove(task, pool, step.value);
                    sure.removeLastOccurrence(step.value);
                    break;
                case 4:
                    tested.doubt(task, pool, step.value);
                    if (sure.removeLastOccurrence(step.value)) {
                        doubtful.add(step.value);
                    }
                    break;
                case 5:
                    assertThat(tested.mixed(task, pool)).isEqualTo(sure.stream().distinct().count() > 1 ? sure.size() : 0);
                    tested.doubtFirst(task, pool);
                    if (!sure.isEmpty()) {
                        doubtful.add(sure.poll());
                    }
                    break;
                default:
                    assertThat(tested.get(task)).isEqualTo(model.getOrDefault(List.of(step.task, 0), new ArrayDeque<>()).peek());
                    break;
            }
        }
        for (int t = 0; t < tasks.length; t++) {
            for (int p = 0; p < pools.length; p++) {
                Deque<String> all = new ArrayDeque<>(model.getOrDefault(List.of(t, p), new ArrayDeque<>()));
                model.getOrDefault(List.of(t, p + 10), new ArrayDeque<>()).descendingIterator().forEachRemaining(all::add);
                for (Iterator<String> left = all.iterator(); left.hasNext();) {
                    assertThat(tested.take(tasks[t], pools[p])).isEqualTo(left.next());
                }
                assertThat(tested.take(tasks[t], pools[p])).isNull();
            }
        }
        assertThat(tested.size()).isZero();
    }

    @Test
    void manyThreads_loseAndMixUpNothing() throws Exception {
        int rounds = 100_000;
        Object[] shared = {new Object(), new Object(), new Object()};
        AtomicInteger[] balance = {new AtomicInteger(), new AtomicInteger(), new AtomicInteger(), new AtomicInteger()};
        Queue<Object> wrong = new ConcurrentLinkedQueue<>();
        CountDownLatch over = new CountDownLatch(THREADS);
        for (int t = 0; t < THREADS; t++) {
            String mine = "S" + t;
            int me = t;
            new Thread(() -> {
                try {
                    SplittableRandom random = new SplittableRandom(me);
                    for (int i = 0; i < rounds; i++) {
                        Object own = new Object();
                        carried.putFirst(own, mine);
                        Object of = shared[random.nextInt(shared.length)];
                        switch (random.nextInt(4)) {
                            case 0:
                                carried.put(of, pool, mine);
                                balance[me].incrementAndGet();
                                break;
                            case 1:
                                String found = carried.take(of, pool);
                                if (found != null) {
                                    balance[found.charAt(1) - '0'].decrementAndGet();
                                }
                                break;
                            case 2:
                                carried.put(own, pool, mine);
                                carried.put(own, pool, mine);
                                carried.remove(own, pool, mine);
                                if (carried.take(own, pool) != mine || carried.take(own, pool) != null) {
                                    wrong.add("own " + i);
                                }
                                break;
                            default:
                                carried.put(own, pool, mine);
                                carried.doubt(own, pool, mine);
                                if (carried.take(own, pool) != mine || carried.take(own, pool) != null) {
                                    wrong.add("doubtful " + i);
                                }
                                break;
                        }
                        if (carried.get(own) != mine) {
                            wrong.add("first " + i);
                        }
                        if (i % 3 != 0) {
                            carried.forget(own);
                            if (carried.get(own) != null) {
                                wrong.add("forgotten " + i);
                            }
                        }
                    }
                } catch (Throwable e) {
                    wrong.add(e);
                } finally {
                    over.countDown();
                }
            }).start();
        }
        over.await();
        assertThat(wrong).isEmpty();
        for (Object of : shared) {
            for (String value = carried.take(of, pool); value != null; value = carried.take(of, pool)) {
                balance[value.charAt(1) - '0'].decrementAndGet();
            }
        }
        assertThat(Arrays.stream(balance).mapToInt(AtomicInteger::get).toArray()).containsOnly(0);
    }
}
