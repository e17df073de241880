package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;

/** The compiled scope against a matcher that looks at every line. */
class ScopeModelTest {
    record Rule(Predicate predicate, Resource resource, boolean deny) {
    }

    @Provide
    Arbitrary<String> paths() {
        return Arbitraries.of("a", "b", "a.b", "a-b", "ab", "foo", "foo.bar", "foo-x", "A", " ").list().ofMinSize(0).ofMaxSize(5)
                .map(parts -> parts.isEmpty() ? "/" : "/" + String.join("/", parts));
    }

    @Provide
    Arbitrary<Rule> rules() {
        return Combinators.combine(Arbitraries.of(Predicate.class), paths(), Arbitraries.of(Resource.Form.class), Arbitraries.integers().between(0, 4))
                .as((p, path, form, deny) -> new Rule(p, Resource.of("FILE", path, form), deny == 0));
    }

    private static boolean naive(List<Rule> rules, Predicate p, String path, boolean created) {
        Resource r = Resource.file(path);
        boolean allowed = false;
        for (Rule rule : rules) {
            if (rule.deny && (Cover.stops(rule.predicate) & p.bit()) != 0 && rule.resource.covers(r)) {
                return false;
            }
            if (!rule.deny) {
                allowed |= (Cover.allows(rule.predicate, created) & p.bit()) != 0 && rule.resource.covers(r);
                String dir = path.equals("/") ? "/" : path + "/";
                boolean above = rule.resource.path().startsWith(dir) && !rule.resource.path().equals(path)
                        || rule.resource.form() == Resource.Form.CHILDREN && rule.resource.path().equals(path);
                allowed |= p == Predicate.DEPENDS_ON && above;
            }
        }
        return allowed;
    }

    @Property(tries = 2000)
    @Tag("D19")
    @Tag("D20")
    @Tag("C34")
    @Tag("J08")
    void scope_anyLinesInAnyOrder_decidesLikeTheNaiveMatcher(@ForAll("ruleLists") List<Rule> rules, @ForAll("pathLists") List<String> probes,
            @ForAll long seed) {
        List<Rule> shuffled = new ArrayList<>(rules);
        Collections.shuffle(shuffled, new Random(seed));
        for (List<Rule> order : List.of(rules, shuffled)) {
            Scope.Builder builder = Scope.builder();
            for (int i = 0; i < order.size(); i++) {
                Rule rule = order.get(i);
                if (rule.deny) {
                    builder.deny(rule.predicate, rule.resource, i);
                } else {
                    builder.allow(rule.predicate, rule.resource, i);
                }
            }
            Scope scope = builder.build();
            for (String probe : probes) {
                for (Predicate p : Predicate.values()) {
                    for (int created = 0; created < 2; created++) {
                        int decision = scope.decide(p, "FILE", probe, created == 1);
                        assertThat(Scope.isAllowed(decision)).as("%s %s created=%d under %s", p, probe, created, order)
                                .isEqualTo(naive(order, p, probe, created == 1));
                        if (decision >= 0) {
                            assertThat(order.get(decision).resource.covers(Resource.file(probe))).isTrue();
                        }
                    }
                }
                if (!order.isEmpty() && !probe.equals("/")) {
                    // what answers when two paths have one hash
                    int exactly = scope.fileIndexExactly(probe);
                    assertThat(scope.grant(exactly)).isSameAs(scope.lookup("FILE", probe));
                }
            }
        }
    }

    @Provide
    Arbitrary<List<Rule>> ruleLists() {
        return rules().list().ofMaxSize(12);
    }

    @Provide
    Arbitrary<List<String>> pathLists() {
        return paths().list().ofMinSize(1).ofMaxSize(12);
    }

    @Example
    @Tag("D20")
    void scope_hundredThousandRandomProbes_decidesLikeTheNaiveMatcher() {
        Random random = new Random(20);
        String[] names = {"foo", "foo.bar", "foo-x", "bar", "bar.", "b", "-", "."};
        List<Rule> rules = new ArrayList<>();
        Scope.Builder builder = Scope.builder();
        for (String path : new String[] {"/foo", "/foo.bar", "/foo/bar", "/foo-x", "/foo/bar/b", "/bar./-", "/-"}) {
            for (Resource.Form form : Resource.Form.values()) {
                Rule rule = new Rule(Predicate.values()[random.nextInt(6)], Resource.of("FILE", path, form), random.nextInt(6) == 0);
                rules.add(rule);
                if (rule.deny) {
                    builder.deny(rule.predicate, rule.resource, rules.size() - 1);
                } else {
                    builder.allow(rule.predicate, rule.resource, rules.size() - 1);
                }
            }
        }
        Scope scope = builder.build();
        for (int i = 0; i < 100_000; i++) {
            StringBuilder path = new StringBuilder();
            int depth = 1 + random.nextInt(4);
            for (int k = 0; k < depth; k++) {
                path.append('/').append(names[random.nextInt(names.length - 1)]);
            }
            Predicate p = Predicate.values()[random.nextInt(6)];
            boolean created = random.nextBoolean();
            if (Scope.isAllowed(scope.decide(p, "FILE", path.toString(), created)) != naive(rules, p, path.toString(), created)) {
                throw new AssertionError(p + " " + path + " created=" + created + " under " + rules);
            }
        }
    }
}
