package dev.klock.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.digest.DigestFormat;
import dev.klock.digest.DigestReader;
import dev.klock.digest.Resolution;
import dev.klock.digest.Restored;
import dev.klock.digest.StateDigest;
import dev.klock.resource.Resource;
import dev.klock.resource.ResourceSyntaxException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.statistics.Statistics;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One thing has one key in the kernel, whoever makes the resource, and every key can be written down. */
class OneKeyTest {
    private static final long NOW = 2_000_000_000_000L;

    @Tag("C16")
    @Tag("K1-7")
    @Tag("K1-14")
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "DATABASE_TABLE|orders|EXACT|DB:orders",
        "Db|orders|EXACT|DB:orders",
        "file|/a|CHILDREN|FILE:/a/*",
        "URL|https://h:443/a|EXACT|URL:https://h/a",
        "URL|HTTPS://h/a|EXACT|URL:https://h/a",
        "URL|https://h|EXACT|URL:https://h/",
        "URL|https://H.:443|SUBTREE|URL:https://h/**",
        "URL|https://127.1/|EXACT|URL:https://127.0.0.1/",
        "URL|https://h/a/../b|EXACT|URL:https://h/b",
        "URL|https://h/%61|EXACT|URL:https://h/a",
        "URL|tcp://h:5432/|EXACT|URL:tcp://h:5432",
        "PROCESS|/usr//bin/git|EXACT|PROCESS:/usr/bin/git",
        "NATIVE|/usr/lib/../lib64/z.so|EXACT|NATIVE:/usr/lib64/z.so",
        "ENV|/PATH|EXACT|ENV:PATH",
        "ENV|a//PATH|EXACT|ENV:a/PATH",
        "FILE|/a/./b|SUBTREE|FILE:/a/b/**",
        "FILE|/a/|CHILDREN|FILE:/a/*",
    })
    void submit_otherSpellingOfAThing_isRefusedWithItsOne(String scheme, String path, Resource.Form form, String canonical) {
        Worlds w = new Worlds();
        SessionKey a = w.session("a", 1);
        Outcome out = w.apply(Command.Submit.of(a, List.of(Triple.of(Predicate.MUTATES, Resource.of(scheme, path, form)))));
        assertThat(out.refusal()).as("not a second key").isNotNull();
        assertThat(out.refusal().code()).isEqualTo(Refusal.Code.NOT_CANONICAL);
        assertThat(out.refusal().message()).contains("write " + canonical);
        Triple right = Triple.of(Predicate.MUTATES, Resource.parse(canonical));
        assertThat(w.apply(Command.Submit.of(a, List.of(right))).verdict()).isEqualTo(Verdict.GRANTED);
        assertThat(w.apply(Command.Submit.of(w.session("b", 2), List.of(right))).verdict()).isEqualTo(Verdict.DIE);
    }

    @Tag("K1-14")
    @Tag("C16")
    @Test
    void submit_whatNoTextCanName_isRefused() {
        String[][] nameless = {
            {"FILE", "/d/\u001bb"}, {"FILE", "/d/a\u007f"}, {"FILE", "/d/\u0085"}, {"FILE", "/d/a\u2028b"}, {"FILE", "/d/a\ud83d"},
            {"FILE", "/d/\ude00a"}, {"FILE", "/d/a\nb"}, {"FILE", "/\u001b/a"}, {"FILE", "/d/seventeen-or-more-\ud83d"},
            {"FILE", "/d/seventeen-or-more-\u0001"}, {"FILE", "/d/8-letter\t"}, {"FILE", "a"}, {"FILE", "~/a"}, {"DB", "a\u0000b"}, {"DB", "\ud83d"},
            {"ENV", "A=1"}, {"URL", "https://user@h/"}, {"URL", "https://h/?q"}, {"URL", "https://h/#f"}, {"URL", "h"}, {"URL", "tcp://h"},
            {"PROCESS", "git"}, {"NATIVE", "z.so"},
        };
        Worlds w = new Worlds();
        SessionKey a = w.session("a", 1);
        for (String[] one : nameless) {
            // so that the index comes to the same directory again
            assertThat(w.submit(a, "CONSUMES /d/a").verdict()).isEqualTo(Verdict.GRANTED);
            Triple t = Triple.of(Predicate.CONSUMES, Resource.of(one[0], one[1], Resource.Form.EXACT));
            Outcome out = w.apply(Command.Submit.of(a, List.of(t)));
            assertThat(out.refusal()).as("%s", t).isNotNull();
            assertThat(out.refusal().code()).as("%s", t).isEqualTo(Refusal.Code.NOT_CANONICAL);
            assertThat(out.refusal().message()).as("one line, whatever is in it").matches("[^\\p{Cntrl}\\u0080-\\u009f\\u2028]+");
        }
    }

    /** Not only what is granted can be written down; all that can be written down is granted, too. */
    @Property(tries = 2000)
    @net.jqwik.api.Tag("K1-7")
    @net.jqwik.api.Tag("K8-1")
    @net.jqwik.api.Tag("C16")
    void submit_anyResources_grantsThoseThatAreWhatTheirTextSays(@ForAll("manifests") List<Resource> resources) {
        Worlds w = new Worlds();
        SessionKey a = w.session("a", 1);
        List<Triple> granted = new ArrayList<>();
        for (Resource resource : resources) {
            Triple t = Triple.of(Predicate.CONSUMES, resource);
            Outcome out = w.apply(Command.Submit.of(a, List.of(t)));
            boolean isItsText = isItsText(resource);
            Statistics.label("granted").collect(isItsText);
            assertThat(out.isRefused()).as("%s: %s", resource, out.refusal()).isEqualTo(!isItsText);
            if (isItsText) {
                granted.add(t);
            }
        }
        Statistics.label("granted").coverage(seen -> {
            seen.check(true).percentage(p -> p > 15);
            seen.check(false).percentage(p -> p > 15);
        });
        StateDigest digest = StateDigest.of(w.kernel.session(a), NOW, 0, null, null, Resolution.RETRY);
        Restored back = DigestReader.trustingThePlace().read(DigestFormat.write(digest), "a", NOW);
        assertThat(back.refusal()).isNull();
        assertThat(back.digest().backlog()).containsExactlyInAnyOrderElementsOf(new LinkedHashSet<>(granted));
    }

    private static boolean isItsText(Resource resource) {
        try {
            return Resource.parse(resource.toString()).equals(resource);
        } catch (ResourceSyntaxException e) {
            return false;
        }
    }

    @Provide
    Arbitrary<List<Resource>> manifests() {
        Arbitrary<String> schemes = Arbitraries.frequencyOf(
                Tuple.of(5, Arbitraries.just("FILE")),
                Tuple.of(5, Arbitraries.of("URL", "PROCESS", "ENV", "NATIVE", "DB", "SYMBOL", "API_ENDPOINT", "CONFIG_KEY")),
                Tuple.of(1, Arbitraries.of("DATABASE_TABLE", "file", "Url", "GOPHER", "")));
        Arbitrary<String> parts = Arbitraries.frequencyOf(
                Tuple.of(8, Arbitraries.of("/", "/d", "/a", "/names-that-are-long", "b", "/d/d")),
                Tuple.of(2, Arbitraries.of("https://", "https://h", "H", ":443", ":80", "tcp://h:1", "ffm", "java.io", "127.1", "%61", "@", "?q", "#")),
                Tuple.of(1, Arbitraries.of(
                        "..", ".", "//", "/.", "/..", "*", "/*", "/**", "\\", "${", "$", "~", "=", " ", ":", "\u00e9", "\u4e2d", "\ud83d\ude00",
                        "\ud83d", "\ude00", "\u0000", "\n", "\u007f", "\u0085", "\u00a0", "\u2028", "\u2029", "\u202a")));
        Arbitrary<String> paths = parts.list().ofMaxSize(6).map(list -> String.join("", list));
        Arbitrary<Resource> any = Combinators.combine(schemes, paths, Arbitraries.of(Resource.Form.values())).as(Resource::of);
        Arbitrary<Resource> files = Combinators.combine(parts, Arbitraries.of(Resource.Form.values()))
                .as((name, form) -> Resource.of("FILE", "/d/" + name, form));
        Arbitrary<Resource> urls = Combinators.combine(parts, parts, Arbitraries.of(Resource.Form.values()))
                .as((name, more, form) -> Resource.of("URL", "https://h" + name + more, form));
        return Arbitraries.frequencyOf(Tuple.of(3, any), Tuple.of(2, files), Tuple.of(1, urls)).list().ofMinSize(1).ofMaxSize(12);
    }
}
