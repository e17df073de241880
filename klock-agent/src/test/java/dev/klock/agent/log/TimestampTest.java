package dev.klock.agent.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class TimestampTest {
    private static String text(long timeMs) {
        StringBuilder to = new StringBuilder();
        Timestamp.append(to, timeMs);
        return to.toString();
    }

    @Property
    void timestamp_anyTime_isThatOfJavaTime(@ForAll @LongRange(max = 253_402_300_799_999L) long timeMs) {
        assertThat(Instant.parse(text(timeMs)).toEpochMilli()).isEqualTo(timeMs);
        assertThat(text(timeMs)).hasSize(24);
    }

    @Example
    void timestamp_leapDays_areRight() {
        assertThat(text(0)).isEqualTo("1970-01-01T00:00:00.000Z");
        assertThat(text(951_782_400_005L)).isEqualTo("2000-02-29T00:00:00.005Z");
        assertThat(text(4_107_542_399_999L)).isEqualTo("2100-02-28T23:59:59.999Z");
    }
}
