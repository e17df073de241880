package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.Test;

class SlabTest {
    /** Ints of a chunk that several records lie in; a longer record has one of its own. */
    private static final int CHUNK = 8 << 12;

    private static final int[] UNITS = {1, 2, 700, 4096, 4097, 9000};
    private static final int[] AREAS = {0, 0, 1, 1, 0, 1};

    private record Rec(int id, int kind, int mark) {
        int[] ints(Slab slab) {
            int at = Slab.at(id);
            return Arrays.copyOfRange(slab.chunk(id), at, at + 8 * UNITS[kind]);
        }
    }

    @Property(tries = 20, shrinking = ShrinkingMode.OFF)
    void records_thatComeAndGo_beginAsZerosAndKeepWhatIsWrittenToThem(@ForAll long seed) {
        Random random = new Random(seed);
        Slab slab = new Slab(UNITS, AREAS);
        List<Rec> live = new ArrayList<>();
        Map<Integer, Integer> lastFreed = new HashMap<>();
        for (int step = 1; step <= 400; step++) {
            if (random.nextInt(10) < (step / 100 % 2 == 0 ? 7 : 3) || live.isEmpty()) {
                int kind = random.nextInt(10) > 0 ? random.nextInt(3) : random.nextInt(UNITS.length);
                Rec r = new Rec(slab.allocate(kind), kind, step);
                assertThat(r.id).isPositive();
                if (lastFreed.containsKey(kind)) {
                    assertThat(r.id).as("the last one that was freed").isEqualTo(lastFreed.remove(kind));
                }
                assertThat(r.ints(slab)).containsOnly(0);
                Arrays.fill(slab.chunk(r.id), Slab.at(r.id), Slab.at(r.id) + 8 * UNITS[kind], step);
                live.add(r);
            } else {
                Rec r = live.remove(random.nextInt(live.size()));
                assertThat(r.ints(slab)).containsOnly(r.mark);
                slab.free(r.id, r.kind);
                lastFreed.put(r.kind, r.id);
            }
            assertThat(slab.size()).isEqualTo(live.size());
        }
        Map<int[], Integer> areaOf = new IdentityHashMap<>();
        for (Rec r : live) {
            assertThat(r.ints(slab)).containsOnly(r.mark);
            int[] chunk = slab.chunk(r.id);
            assertThat(chunk.length).isEqualTo(UNITS[r.kind] > 4096 ? 8 * UNITS[r.kind] : CHUNK);
            assertThat(areaOf.merge(chunk, AREAS[r.kind], (a, b) -> a.equals(b) ? a : -1)).as("areas share no chunk").isNotNegative();
        }
    }

    /** Small records that follow each other fill a chunk to its last unit before the next is begun. */
    @Test
    void records_ofOneArea_fillAChunkWhole() {
        Slab slab = new Slab(new int[] {2}, new int[] {0});
        int[] first = slab.chunk(slab.allocate(0));
        for (int i = 1; i < CHUNK / 16; i++) {
            assertThat(slab.chunk(slab.allocate(0))).isSameAs(first);
        }
        assertThat(slab.chunk(slab.allocate(0))).isNotSameAs(first);
        assertThat(slab.size()).isEqualTo(CHUNK / 16 + 1);
    }
}
