package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

class TimerWheelTest {
    private static final class Alarm extends Timed {
        long order;
        /** Scheduled so far ahead that it goes round the coarse ring. */
        boolean isFar;
    }

    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void poll_randomSchedules_givesWhatAListWouldInTheSameOrder(@ForAll long seed) {
        Random random = new Random(seed);
        long now = random.nextInt(3) == 0 ? 0 : random.nextInt(2_000_000_000);
        Roll roll = new Roll();
        TimerWheel wheel = new TimerWheel(roll, now);
        List<Alarm> list = new ArrayList<>();
        long order = 0;
        long cursor = now;
        for (int step = 0; step < 400; step++) {
            int kind = random.nextInt(10);
            if (kind < 5) {
                boolean again = kind == 0 && !list.isEmpty();
                Alarm alarm = again ? list.remove(random.nextInt(list.size())) : new Alarm();
                if (!again) {
                    roll.add(alarm);
                }
                long ahead = switch (random.nextInt(4)) {
                    case 0 -> 1 + random.nextInt(5);
                    case 1 -> 1 + random.nextInt(1000);
                    case 2 -> 1 + random.nextInt(400_000);
                    default -> 1 + random.nextInt(4_000_000);
                };
                alarm.order = order++;
                alarm.isFar = ahead > 500_000;
                wheel.schedule(alarm, now + ahead);
                list.add(alarm);
            } else if (kind < 6 && !list.isEmpty()) {
                Alarm alarm = list.remove(random.nextInt(list.size()));
                wheel.cancel(alarm);
                roll.remove(alarm);
            } else {
                now += switch (random.nextInt(4)) {
                    case 0 -> 0;
                    case 1 -> random.nextInt(20);
                    case 2 -> random.nextInt(2000);
                    default -> random.nextInt(1_500_000);
                };
                long next = wheel.nextDueMs();
                long to = now;
                List<Alarm> due = new ArrayList<>(list);
                due.removeIf(a -> a.dueMs > to);
                due.sort(Comparator.<Alarm>comparingLong(a -> a.dueMs));
                if (!due.isEmpty()) {
                    assertThat(next).isLessThanOrEqualTo(due.get(0).dueMs);
                }
                List<Long> polled = new ArrayList<>();
                for (Timed t = wheel.poll(now); t != null; t = wheel.poll(now)) {
                    polled.add(t.dueMs);
                    assertThat(list.remove((Alarm) t)).isTrue();
                    roll.remove(t);
                }
                cursor = now + 1;
                assertThat(polled).isEqualTo(due.stream().map(a -> a.dueMs).toList());
            }
            assertThat(wheel.size()).isEqualTo(list.size());
            assertThat(wheel.nextDueMs() == Long.MAX_VALUE).isEqualTo(list.isEmpty());
            assertThat(wheel.nextDueMs()).as("not in the past").isGreaterThanOrEqualTo(cursor);
            if (!list.isEmpty() && list.stream().noneMatch(a -> a.isFar)) {
                long soonest = list.stream().mapToLong(a -> a.dueMs).min().getAsLong();
                assertThat(wheel.nextDueMs()).isEqualTo(soonest >> 9 == cursor >> 9 ? soonest : soonest >> 9 << 9);
            }
        }
    }
}
