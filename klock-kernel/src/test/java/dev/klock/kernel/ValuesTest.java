package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.resource.Resource;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is equal, how it is written, and at which number a value is refused. */
class ValuesTest {
    private static void allDiffer(List<?> values) {
        for (int i = 0; i < values.size(); i++) {
            for (int j = 0; j < values.size(); j++) {
                assertThat(values.get(i).equals(values.get(j))).as("%s and %s", values.get(i), values.get(j)).isEqualTo(i == j);
            }
            assertThat(values.get(i)).isNotEqualTo("text");
        }
        assertThat(values.stream().map(Object::hashCode).distinct()).hasSizeGreaterThan(1);
    }

    @Test
    void triples_thatDifferInOnePart_differ() {
        Resource file = Resource.file("/d");
        allDiffer(List.of(
                new Triple("a", Predicate.MUTATES, file, 1, 0),
                new Triple(null, Predicate.MUTATES, file, 1, 0),
                new Triple("a", Predicate.CONSUMES, file, 1, 0),
                new Triple("a", Predicate.MUTATES, Resource.file("/e"), 1, 0),
                new Triple("a", Predicate.MUTATES, file, 0.5, 0),
                new Triple("a", Predicate.MUTATES, file, 1, 7)));
        Triple one = new Triple("a", Predicate.MUTATES, file, 1, 7);
        assertThat(one).isEqualTo(new Triple("a", Predicate.MUTATES, Resource.file("/d"), 1, 7)).hasToString("MUTATES FILE:/d");
        assertThat(one).hasSameHashCodeAs(new Triple("a", Predicate.MUTATES, Resource.file("/d"), 1, 7));
    }

    @Test
    void sessions_thatDifferInOnePart_differ() {
        // Aa and BB have one hash
        allDiffer(List.of(
                SessionKey.of("a", "s"),
                SessionKey.of("b", "s"),
                SessionKey.of("a", "t"),
                new SessionKey("n", "a", "s"),
                SessionKey.of("a", "Aa"),
                SessionKey.of("a", "BB"),
                SessionKey.of("Aa", "s"),
                SessionKey.of("BB", "s"),
                new SessionKey("Aa", "a", "s"),
                new SessionKey("BB", "a", "s")));
        assertThat(SessionKey.of("a", "s")).isEqualTo(SessionKey.of("a", "s")).hasToString("a/s");
        assertThat(new SessionKey("n", "a", "s")).hasToString("n:a/s");
    }

    @Test
    void resources_thatDifferInOnePart_differ() {
        allDiffer(List.of(
                Resource.file("/Aa"),
                Resource.file("/BB"),
                Resource.of("FILE", "/Aa", Resource.Form.CHILDREN),
                Resource.of("FILE", "/Aa", Resource.Form.SUBTREE),
                Resource.of("PROCESS", "/Aa", Resource.Form.EXACT)));
    }

    @Test
    void leaseStates_upToTheLockDelay_standInTheWay() {
        assertThat(LeaseState.values()).filteredOn(LeaseState::isLive).containsExactly(
                LeaseState.PENDING, LeaseState.ACTIVE, LeaseState.ROLLING_BACK, LeaseState.GRACE, LeaseState.LOCK_DELAY);
    }

    @Test
    void predicates_thatChangeTheResource_areFour() {
        assertThat(Predicate.values()).filteredOn(Predicate::changes).containsExactly(
                Predicate.PROVIDES, Predicate.MUTATES, Predicate.DELETES, Predicate.RENAMES);
    }

    @Test
    void counts_plus_addsEachOfThem() {
        SessionView.Counts sum = new SessionView.Counts(10, 1, 2, 3, 4).plus(new SessionView.Counts(50, 20, 60, 70, 80));
        assertThat(sum).isEqualTo(new SessionView.Counts(60, 21, 62, 73, 84));
        assertThat(new SessionView.Counts(8, 0, 0, 0, 2).timeoutRate()).isEqualTo(0.25);
        assertThat(new SessionView.Counts(0, 0, 0, 0, 2).timeoutRate()).isZero();
    }

    @Test
    void options_eachWith_changesThatOneOnly() {
        KernelOptions standard = KernelOptions.standard();
        assertThat(standard.withKernelId("k").kernelId()).isEqualTo("k");
        assertThat(standard.withKernelId("k").withKernelId(standard.kernelId())).isEqualTo(standard);
        assertThat(standard.withSchemes(Set.of("FILE")).schemes()).containsExactly("FILE");
        assertThat(standard.withSchemes(Set.of("FILE")).withSchemes(KernelOptions.SCHEMES)).isEqualTo(standard);
        assertThat(standard.withSchemes(Set.of("DATABASE_TABLE", "url")).schemes()).as("by their one name (C16)").containsExactlyInAnyOrder("DB", "URL");
        assertThatThrownBy(() -> standard.withSchemes(Set.of("FILE", "GOPHER")))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("GOPHER").hasMessageContaining("DB, ENV");
        assertThat(standard.withLockDelayMs(Limits.MAX_LOCK_DELAY_MS).lockDelayMs()).isEqualTo(Limits.MAX_LOCK_DELAY_MS);
    }

    @Test
    @Tag("K3-2")
    void firstFencingToken_fromWhichOthersCouldNotRise_isRefused() {
        for (long bad : new long[] {0, -1, Long.MIN_VALUE, Limits.MAX_FIRST_FENCING_TOKEN + 1, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> KernelOptions.standard().withFirstFencingToken(bad))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not " + bad);
        }
        for (long good : new long[] {1, Limits.MAX_FIRST_FENCING_TOKEN}) {
            Worlds w = new Worlds(KernelOptions.standard().withFirstFencingToken(good));
            SessionKey a = w.session("a", 1);
            assertThat(w.submit(a, "MUTATES /x", "MUTATES /y").leases()).extracting(Lease::fencingToken).containsExactly(good, good + 1);
        }
    }

    @Test
    @Tag("K7-11")
    void options_thatNoKernelCanWorkWith_areRefusedAtOnce() {
        KernelOptions standard = KernelOptions.standard();
        assertThatThrownBy(() -> standard.withQuota(-1, 1, 1)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("not -1 leases");
        assertThatThrownBy(() -> standard.withQuota(1, 0, 1)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("0 manifests");
        assertThatThrownBy(() -> standard.withQuota(1, 1, 0)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("0 ms");
        assertThatThrownBy(() -> standard.withPolicy(null)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("policy");
        assertThatThrownBy(() -> standard.withKernelId(null)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("id");
        assertThat(standard.withQuota(1, 1, 1).leasesPerSession()).isEqualTo(1);
    }

    @Test
    void backoff_atItsBounds_isTakenAndBeyondRefused() {
        assertThat(new Backoff(5, 5, 0).delayMs(3, 0.99)).isEqualTo(5);
        assertThatThrownBy(() -> new Backoff(0, 5, 0)).hasMessageContaining("0 < base");
        assertThatThrownBy(() -> new Backoff(1, Long.MAX_VALUE, 0)).hasMessageContaining("0 < base");
        assertThatThrownBy(() -> new Backoff(1, 5, Long.MAX_VALUE)).hasMessageContaining("0 < base");
        assertThat(new Backoff(1, Long.MAX_VALUE / 2, Long.MAX_VALUE / 2).delayMs(100, 0.999999999999)).isPositive();
        assertThatThrownBy(() -> new Backoff(5, 4, 0)).hasMessageContaining("base <= cap");
        assertThatThrownBy(() -> new Backoff(5, 5, -1)).hasMessageContaining("jitter");
    }

    @Test
    void globalScope_saysWhatIsTooWide() {
        SessionKey key = SessionKey.of("a", "s");
        GlobalScopePolicy policy = new GlobalScopePolicy(2, List.of("/home/me"));
        assertThat(policy.refuse(key, Predicate.MUTATES, Resource.file("/"))).contains("whole file system");
        assertThat(policy.refuse(key, Predicate.MUTATES, Resource.of("FILE", "/d", Resource.Form.SUBTREE))).contains("2 names deep");
        assertThat(policy.refuse(key, Predicate.MUTATES, Resource.of("FILE", "/d/e", Resource.Form.SUBTREE))).isNull();
        assertThat(policy.refuse(key, Predicate.MUTATES, Resource.of("FILE", "/home/me", Resource.Form.CHILDREN))).contains("/home/me is guarded");
    }

    @Test
    void badId_saysWhy() {
        assertThat(Canonical.badId("")).isEqualTo("is empty");
        assertThat(Canonical.badId("a".repeat(Limits.MAX_ID_BYTES))).isNull();
        assertThat(Canonical.badId("a".repeat(Limits.MAX_ID_BYTES + 1))).contains("longer than 256 bytes");
        for (String wide : new String[] {"\u007e", "\u0080", "\u07ff", "\u0800", "\uffff", "\ud83d\ude00"}) {
            int bytes = wide.getBytes(StandardCharsets.UTF_8).length;
            String fits = wide.repeat(Limits.MAX_ID_BYTES / bytes) + "a".repeat(Limits.MAX_ID_BYTES % bytes);
            assertThat(Canonical.badId(fits)).as(wide).isNull();
            assertThat(Canonical.badId(fits + "a")).as(wide).contains("longer");
        }
        assertThat(Canonical.badId("a b")).isNull();
        for (String half : new String[] {"\ud83d", "\ude00", "a\ud83d", "\ud83da", "\ude00\ud83d", "\ud83d\ud83d\ude00", "\ud83d\ude00\ude00"}) {
            assertThat(Canonical.badId(half)).as("no UTF-8 says it").contains("half of a surrogate pair");
        }
        assertThat(Canonical.badId("a\u001f")).isEqualTo("has a control character at 1");
    }
}
