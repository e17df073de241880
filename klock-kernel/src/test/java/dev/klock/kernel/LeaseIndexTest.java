package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

class LeaseIndexTest {
    /** The quick question is exact too: a false alarm would cost a search at every acquire. */
    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void index_randomClaims_findsExactlyWhatOverlapsAndConflicts(@ForAll long seed) {
        Random random = new Random(seed);
        LeaseIndex index = new LeaseIndex(random.nextInt());
        LeaseIndex.Space space = new LeaseIndex.Space("n");
        Session[] sessions = new Session[3];
        for (int i = 0; i < sessions.length; i++) {
            sessions[i] = new Session(SessionKey.of("a" + i, "s"), space, i, 0, false, true);
        }
        List<Claim> claims = new ArrayList<>();
        for (int step = 0; step < 300; step++) {
            Resource resource = resource(random);
            Predicate predicate = Predicate.values()[random.nextInt(6)];
            if (random.nextInt(5) < (step < 200 ? 3 : 1)) {
                Claim claim = new Claim(sessions[random.nextInt(3)], Triple.of(predicate, resource), step);
                assertThat(index.insert(space, claim)).isSameAs(claim);
                claims.add(claim);
            } else if (!claims.isEmpty()) {
                index.remove(claims.remove(random.nextInt(claims.size())));
            }
            Resource asked = resource(random);
            int mask = ConflictMatrix.conflictMask(Predicate.values()[random.nextInt(6)]);
            Session mine = random.nextBoolean() ? sessions[random.nextInt(3)] : null;
            List<Claim> overlapping = new ArrayList<>(claims);
            overlapping.removeIf(c -> !c.resource.overlaps(asked) || (c.predicate.bit() & mask) == 0);
            assertThat(index.mayConflict(space, asked, mask)).as("%s in %s", asked, claims).isEqualTo(!overlapping.isEmpty());
            ArrayList<Claim> found = new ArrayList<>();
            index.collect(space, asked, mask, mine, Long.MAX_VALUE, LeaseIndex.ALL, found);
            overlapping.removeIf(c -> c.session == mine);
            assertThat(new HashSet<>(found)).isEqualTo(new HashSet<>(overlapping)).hasSize(found.size());
            found.clear();
            index.collect(space, asked, mask, mine, Long.MAX_VALUE, LeaseIndex.FIRST_ONLY, found);
            assertThat(found).hasSize(Math.min(1, overlapping.size()));
        }
        for (Claim claim : claims) {
            index.remove(claim);
        }
        assertThat(index.nodes()).isZero();
    }

    private static Resource resource(Random random) {
        StringBuilder path = new StringBuilder();
        int depth = 1 + random.nextInt(4);
        for (int i = 0; i < depth; i++) {
            path.append('/').append((char) ('a' + random.nextInt(3)));
        }
        return random.nextInt(30) == 0
                ? Resource.of("FILE", "/", Resource.Form.values()[random.nextInt(3)])
                : Resource.of("FILE", path.toString(), Resource.Form.values()[random.nextInt(3)]);
    }
}
