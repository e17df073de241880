package dev.klock.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.log.Decision;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Time in a fixed number of spans. */
class ActivityTest {
    @Test
    void spans_grow_andNothingIsLost() {
        Activity activity = new Activity();
        activity.begin(1_000);
        for (int i = 0; i < 100_000; i++) {
            activity.add(1_000 + i * 37L, "t" + i % 3, i % 10 == 0 ? Decision.DENY : Decision.ALLOW, 1);
        }
        assertThat(activity.lanes()).hasSize(3).allSatisfy(lane -> {
            assertThat(Arrays.stream(lane.fine).sum() + Arrays.stream(lane.denied).sum()).isEqualTo((int) lane.total);
            assertThat(lane.total).isBetween(33_333L, 33_334L);
        });
        assertThat(activity.spanMs() * Activity.SPANS).isGreaterThan(99_999 * 37L).isLessThan(4 * 99_999 * 37L);
        assertThat(activity.lastMs()).isEqualTo(1_000 + 99_999 * 37L);
    }

    @Test
    void time_thatGoesBackOrFarAhead_stillCounts() {
        Activity activity = new Activity();
        activity.add(5_000, "a", Decision.ALLOW, 1);
        activity.add(10, "a", Decision.WARN, 1);
        activity.add(5_000 + (1L << 45), "a", Decision.ALLOW, Long.MAX_VALUE);
        Activity.Lane lane = activity.lanes().get(0);
        assertThat(lane.warned[0]).isEqualTo(1);
        assertThat(Arrays.stream(lane.fine).filter(n -> n == Integer.MAX_VALUE)).hasSize(1);
    }

    @Test
    void threads_beyondTheLanes_shareOne() {
        Activity activity = new Activity();
        for (int i = 0; i < 10_000; i++) {
            activity.add(1, "t" + i, Decision.ALLOW, 1);
        }
        assertThat(activity.lanes()).hasSize(Activity.MAX_LANES + 1);
        assertThat(activity.lanes().get(Activity.MAX_LANES).total).isEqualTo(10_000 - Activity.MAX_LANES);
    }
}
