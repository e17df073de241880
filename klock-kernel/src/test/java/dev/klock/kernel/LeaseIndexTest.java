package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LeaseIndexTest {
    /** The quick question is exact too: a false alarm would cost a search at every acquire. */
    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void index_randomClaims_findsExactlyWhatOverlapsAndConflicts(@ForAll long seed) {
        Random random = new Random(seed);
        LeaseIndex index = new LeaseIndex(new Roll(), random.nextInt());
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
                Claim claim = new Claim(sessions[random.nextInt(3)], Triple.of(predicate, resource));
                assertThat(index.insert(space, claim)).isSameAs(claim);
                claim.number = step + 1;
                claims.add(claim);
            } else if (!claims.isEmpty()) {
                index.remove(claims.remove(random.nextInt(claims.size())));
            }
            Resource asked = resource(random);
            int mask = ConflictMatrix.conflictMask(Predicate.values()[random.nextInt(6)]);
            Session mine = random.nextBoolean() ? sessions[random.nextInt(3)] : null;
            List<Claim> overlapping = new ArrayList<>(claims);
            overlapping.removeIf(c -> !c.resource().overlaps(asked) || (c.predicate.bit() & mask) == 0);
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

    /**
     * Directories that grow to hundreds of names and shrink again, and names of each kind: up to eight characters, up to sixteen, longer,
     * beyond Latin, some that differ in their last character only, and first names without a slash.
     */
    @Property(tries = 20, shrinking = ShrinkingMode.OFF)
    void index_directoriesThatGrowAndShrink_findNamesOfEachKind(@ForAll long seed) {
        Random random = new Random(seed);
        LeaseIndex index = new LeaseIndex(new Roll(), random.nextInt());
        LeaseIndex.Space space = new LeaseIndex.Space("n");
        Session session = new Session(SessionKey.of("a", "s"), space, 0, 0, false, true);
        Map<Resource, Claim> claims = new LinkedHashMap<>();
        for (int step = 0; step < 4000; step++) {
            Resource resource = named(random);
            Claim held = claims.get(resource);
            assertThat(index.mayConflict(space, resource, LeaseIndex.ANY)).as("%s", resource).isEqualTo(held != null);
            boolean grows = step < 1500 || step > 2500 && step < 3000;
            if (held == null && (grows || random.nextInt(4) == 0)) {
                Claim claim = new Claim(session, Triple.of(Predicate.MUTATES, resource));
                index.insert(space, claim);
                claims.put(resource, claim);
            } else if (held != null && !grows) {
                index.remove(claims.remove(resource));
            }
            if (step % 100 == 0) {
                ArrayList<Claim> found = new ArrayList<>();
                index.collect(
                        space,
                        Resource.of("FILE", "/d", Resource.Form.SUBTREE),
                        LeaseIndex.ANY,
                        null,
                        Long.MAX_VALUE,
                        LeaseIndex.ALL,
                        found);
                List<Claim> below = new ArrayList<>(claims.values());
                below.removeIf(c -> !c.resource().scheme().equals("FILE"));
                assertThat(found).containsExactlyInAnyOrderElementsOf(below);
            }
        }
        assertThat(index.records()).isGreaterThan(index.nodes());
        for (Claim claim : claims.values()) {
            index.remove(claim);
        }
        assertThat(index.nodes()).isZero();
        index.free(space);
        assertThat(index.records()).isZero();
    }

    /** As many names as a path of the greatest length has, and back. */
    @Test
    void index_pathsOfManyNames_areReadToTheirEnd() {
        LeaseIndex index = new LeaseIndex(new Roll(), 7);
        LeaseIndex.Space space = new LeaseIndex.Space("n");
        Session session = new Session(SessionKey.of("a", "s"), space, 0, 0, false, true);
        for (int depth : new int[] {15, 16, 17, 33, 2048, 3}) {
            Resource deep = Resource.file("/a".repeat(depth));
            Claim claim = new Claim(session, Triple.of(Predicate.MUTATES, deep));
            assertThat(index.insert(space, claim)).isSameAs(claim);
            assertThat(index.nodes()).isEqualTo(depth);
            assertThat(index.mayConflict(space, deep, LeaseIndex.ANY)).isTrue();
            assertThat(index.mayConflict(space, Resource.file(deep.path() + "/a"), LeaseIndex.ANY)).isFalse();
            assertThat(index.mayConflict(space, Resource.file("/a".repeat(depth - 1) + "/b"), LeaseIndex.ANY)).isFalse();
            assertThat(index.mayConflict(space, Resource.of("FILE", "/a", Resource.Form.SUBTREE), LeaseIndex.ANY)).isTrue();
            index.remove(claim);
            assertThat(index.nodes()).isZero();
        }
    }

    /** Eight bits are not enough for their characters: put side by side, these would be one name. */
    @Test
    void index_namesBeyondLatinThatOverlap_areToldApart() {
        LeaseIndex index = new LeaseIndex(new Roll(), 7);
        LeaseIndex.Space space = new LeaseIndex.Space("n");
        Session session = new Session(SessionKey.of("a", "s"), space, 0, 0, false, true);
        String[] pair = {"\u0160\u0161", "\u0161\u0061"};
        for (String before : new String[] {"", "12345678"}) {
            index.insert(space, new Claim(session, Triple.of(Predicate.MUTATES, Resource.file("/d/" + before + pair[0]))));
            assertThat(index.mayConflict(space, Resource.file("/d/" + before + pair[0]), LeaseIndex.ANY)).isTrue();
            assertThat(index.mayConflict(space, Resource.file("/d/" + before + pair[1]), LeaseIndex.ANY)).isFalse();
        }
    }

    @Test
    @Tag("K1-16")
    void index_secondTripleOnAResource_givesTheClaimThatIsThere() {
        LeaseIndex index = new LeaseIndex(new Roll(), 7);
        LeaseIndex.Space space = new LeaseIndex.Space("n");
        Session session = new Session(SessionKey.of("a", "s"), space, 0, 0, false, true);
        for (Resource.Form form : Resource.Form.values()) {
            Resource d = Resource.of("FILE", "/d", form);
            Claim first = new Claim(session, Triple.of(Predicate.CONSUMES, d));
            assertThat(index.insert(space, first)).isSameAs(first);
            assertThat(index.insert(space, new Claim(session, Triple.of(Predicate.MUTATES, d)))).isSameAs(first);
            assertThat(index.insert(space, new Claim(session, Triple.of(Predicate.DEPENDS_ON, d)))).isSameAs(first);
            assertThat(first.predicate).isEqualTo(Predicate.MUTATES);
        }
    }

    /** So many directories that some pairs of them have the same hash: each is still found by its names, and no other for it. */
    @ParameterizedTest
    @ValueSource(strings = {"/d", "/a-directory-of-long-name-"})
    void index_directoriesOfOneHash_areToldApart(String name) {
        // any seed will do, also the poorest
        LeaseIndex index = new LeaseIndex(new Roll(), 0);
        LeaseIndex.Space space = new LeaseIndex.Space("n");
        Session session = new Session(SessionKey.of("a", "s"), space, 0, 0, false, true);
        Claim[] claims = new Claim[200_000];
        for (int i = 0; i < claims.length; i++) {
            claims[i] = new Claim(session, Triple.of(Predicate.MUTATES, Resource.file(name + (100_000 + i) + (i % 2 == 0 ? "/f" : "/g"))));
            index.insert(space, claims[i]);
        }
        for (int i = 0; i < claims.length; i++) {
            Resource other = Resource.file(name + (100_000 + i) + (i % 2 == 0 ? "/g" : "/f"));
            assertThat(index.mayConflict(space, claims[i].resource(), LeaseIndex.ANY)).isTrue();
            assertThat(index.mayConflict(space, other, LeaseIndex.ANY)).as("%s", other).isFalse();
        }
        for (Claim claim : claims) {
            index.remove(claim);
            assertThat(index.mayConflict(space, claim.resource(), LeaseIndex.ANY)).isFalse();
        }
        assertThat(index.nodes()).isZero();
    }

    /** What was remembered of a namespace's trees does not stand for those of the next, which are given the same records. */
    @Test
    void index_treesOfANamespaceThatIsOver_areFreedAndForgotten() {
        LeaseIndex index = new LeaseIndex(new Roll(), 1);
        for (int round = 0; round < 3; round++) {
            LeaseIndex.Space space = new LeaseIndex.Space("n" + round);
            Session session = new Session(SessionKey.of("a", "s"), space, 0, 0, false, true);
            Resource root = Resource.of("FILE", "/", Resource.Form.SUBTREE);
            Claim above = new Claim(session, Triple.of(Predicate.MUTATES, root));
            Resource file = Resource.file("/f");
            if (round == 1) {
                index.insert(space, above);
            }
            Claim claim = new Claim(session, Triple.of(Predicate.CONSUMES, Resource.file("/g")));
            index.insert(space, claim);
            assertThat(index.mayConflict(space, file, LeaseIndex.ANY)).isEqualTo(round == 1);
            index.remove(claim);
            if (round == 1) {
                index.remove(above);
            }
            index.mayConflict(space, file, LeaseIndex.ANY);
            index.free(space);
            assertThat(index.records()).isZero();
        }
    }

    /** One of some 600 names, below {@code /d} or of a variable. */
    private static Resource named(Random random) {
        String name = "abcdefghijklmnopqrstuvwxyz".substring(0, new int[] {0, 1, 6, 7, 8, 13, 14, 15, 16, 20}[random.nextInt(10)])
                + new String[] {"", "\u00e9", "\u6f22"}[random.nextInt(3)]
                + (10 + random.nextInt(20));
        int place = random.nextInt(8);
        return place == 0 ? Resource.of("ENV", name, Resource.Form.EXACT) : Resource.file(place == 1 ? "/d/" + name + "/x" : "/d/" + name);
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
