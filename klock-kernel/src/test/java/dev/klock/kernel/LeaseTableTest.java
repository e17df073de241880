package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

class LeaseTableTest {
    /** Rising numbers, as the kernel gives them, of which some live long: pages that go leave gaps among those that stay. */
    @Property(tries = 20, shrinking = ShrinkingMode.OFF)
    void table_leasesThatComeAndGo_holdsWhatAMapDoes(@ForAll long seed) {
        Random random = new Random(seed);
        Roll roll = new Roll();
        LeaseTable table = new LeaseTable(roll);
        Map<Long, Claim> map = new HashMap<>();
        List<Claim> live = new ArrayList<>();
        Session session = new Session(SessionKey.of("a", "s"), new LeaseIndex.Space("n"), 0, 0, false, true);
        Triple triple = Triple.of(Predicate.MUTATES, Resource.file("/d"));
        long number = random.nextInt(3) == 0 ? 1 : random.nextLong() >>> 2;
        long begin = number;
        for (int step = 0; step < 20_000; step++) {
            boolean grows = step / 5000 % 2 == 0;
            if (random.nextInt(10) < (grows ? 8 : 3)) {
                Claim claim = new Claim(session, triple);
                claim.number = number;
                number += random.nextInt(50) == 0 ? 1 + random.nextInt(200) : 1;
                roll.add(claim);
                table.put(claim);
                map.put(claim.number, claim);
                live.add(claim);
            } else if (!live.isEmpty()) {
                // mostly young ones
                int at = random.nextInt(4) == 0 ? random.nextInt(live.size()) : live.size() - 1;
                Claim claim = live.remove(at);
                table.remove(claim);
                roll.remove(claim);
                map.remove(claim.number);
            }
            assertThat(table.size()).isEqualTo(map.size());
            if (step % 1000 == 999) {
                int needed = (int) map.keySet().stream().map(n -> n >> 6).distinct().count();
                assertThat(table.pages()).isBetween(needed, needed + 1);
            }
            long asked = begin + (long) (random.nextDouble() * (number - begin + 10));
            assertThat(table.get(asked)).isSameAs(map.get(asked));
        }
        for (long n = begin - 100; n < number + 100; n++) {
            assertThat(table.get(n)).isSameAs(map.get(n));
        }
        for (Claim claim : live) {
            table.remove(claim);
            assertThat(table.get(claim.number)).isNull();
        }
        assertThat(table.pages()).as("the last page may be empty").isLessThanOrEqualTo(1);
        assertThat(table.size()).isZero();
    }
}
