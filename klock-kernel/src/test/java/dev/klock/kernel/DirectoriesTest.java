package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

class DirectoriesTest {
    private record Dir(int hash, int node, int record, int slotBits) {}

    /** Few hashes, so that many have the same one and others lie in between, at the end of the table and round to its beginning. */
    @Property(tries = 20, shrinking = ShrinkingMode.OFF)
    void directories_thatComeAndGo_areThoseOfAList(@ForAll long seed) {
        Random random = new Random(seed);
        Directories directories = new Directories();
        List<Dir> list = new ArrayList<>();
        int[] hashes = new int[40];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = random.nextInt(3) == 0 ? random.nextInt() : -1 - random.nextInt(1 << 28);
        }
        for (int step = 0; step < 3000; step++) {
            boolean grows = step / 500 % 2 == 0;
            int change = random.nextInt(10);
            if (change == 0 && !list.isEmpty()) {
                int at = random.nextInt(list.size());
                Dir dir = new Dir(list.get(at).hash, list.get(at).node, random.nextInt(), 2 + random.nextInt(20));
                directories.change(dir.hash, dir.node, dir.record, dir.slotBits);
                list.set(at, dir);
            } else if (change < (grows ? 8 : 3)) {
                Dir dir = new Dir(hashes[random.nextInt(hashes.length)], step + 1, random.nextInt(), 2 + random.nextInt(20));
                directories.add(dir.hash, dir.node, dir.record, dir.slotBits);
                list.add(dir);
            } else if (!list.isEmpty()) {
                Dir dir = list.remove(random.nextInt(list.size()));
                directories.remove(dir.hash, dir.node);
            }
            assertThat(directories.size()).isEqualTo(list.size());
            int asked = hashes[random.nextInt(hashes.length)];
            Set<Dir> found = new HashSet<>();
            for (int e = directories.first(asked); e != Directories.NONE; e = directories.next(e, asked)) {
                assertThat(found.add(new Dir(asked, directories.node(e), directories.record(e), directories.slotBits(e)))).isTrue();
            }
            Set<Dir> expected = new HashSet<>(list);
            expected.removeIf(d -> d.hash != asked);
            assertThat(found).isEqualTo(expected);
        }
    }
}
