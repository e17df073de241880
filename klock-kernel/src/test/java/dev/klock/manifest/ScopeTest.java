package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScopeTest {
    private static final Predicate C = Predicate.CONSUMES;
    private static final Predicate M = Predicate.MUTATES;
    private static final Predicate E = Predicate.DEPENDS_ON;

    private static Scope scope(String... lines) {
        Scope.Builder builder = Scope.builder();
        int denied = 0;
        int allowed = 0;
        for (String line : lines) {
            boolean deny = line.startsWith("deny ");
            String[] parts = (deny ? line.substring(5) : line).split(" ", 2);
            if (deny) {
                builder.deny(Predicate.valueOf(parts[0]), Resource.parse(parts[1]), denied++);
            } else {
                builder.allow(Predicate.valueOf(parts[0]), Resource.parse(parts[1]), allowed++);
            }
        }
        return builder.build();
    }

    private static boolean allowed(Scope scope, Predicate predicate, String path) {
        return Scope.isAllowed(scope.decide(predicate, "FILE", path, false));
    }

    @Test
    @Tag("J06")
    void emptyScope_anything_isDenied() {
        Scope empty = Scope.builder().build();
        for (Predicate p : Predicate.values()) {
            assertThat(empty.decide(p, "FILE", "/", true)).isEqualTo(Scope.NONE);
            assertThat(empty.decide(p, "FILE", "/w/a", false)).isEqualTo(Scope.NONE);
            assertThat(empty.decide(p, "ENV", "HOME", false)).isEqualTo(Scope.NONE);
        }
    }

    /** With so many lines a path is first looked for as a whole. */
    @Test
    void manyLines_eachKindOfPath_isDecidedAsWithFew() {
        Scope.Builder builder = Scope.builder();
        for (int i = 0; i < 20_000; i++) {
            builder.allow(M, Resource.file("/w/d" + i % 100 + "/f" + i), i);
        }
        builder.allow(C, Resource.parse("FILE:/w/d7/**"), 20_000);
        builder.deny(M, Resource.file("/w/d0/f100"), 0);
        Scope scope = builder.build();
        for (int i = 0; i < 20_000; i++) {
            if (i != 100) {
                assertThat(scope.decide(M, "FILE", "/w/d" + i % 100 + "/f" + i, false)).isEqualTo(i);
            }
        }
        assertThat(Scope.isDenied(scope.decide(M, "FILE", "/w/d0/f100", false))).isTrue();
        assertThat(scope.lookup("FILE", "/w/d1/f1").decide(M, false)).isEqualTo(1);
        assertThat(scope.lookupFile("/w/d7/new").decide(C, false)).isEqualTo(20_000);
        assertThat(scope.decide(M, "FILE", "/w/d1/f100", false)).as("another directory's name").isEqualTo(Scope.NONE);
        assertThat(scope.decide(M, "FILE", "/w/d1/f1/x", false)).as("below a declared file").isEqualTo(Scope.NONE);
        assertThat(scope.decide(C, "FILE", "/w/d7/f7", false)).as("the line that names the predicate").isEqualTo(20_000);
        assertThat(scope.decide(C, "FILE", "/w/d7/new", false)).as("a child of the directory").isEqualTo(20_000);
        assertThat(scope.decide(C, "FILE", "/w/d7/new/x", false)).as("deeper").isEqualTo(20_000);
        assertThat(scope.decide(E, "FILE", "/w/d1", false)).as("above what is declared").isEqualTo(Scope.ANCESTOR);
        assertThat(scope.decide(E, "FILE", "/", false)).isEqualTo(Scope.ANCESTOR);
        assertThat(scope.decide(M, "FILE", "w/d1/f1", false)).isEqualTo(Scope.NONE);
    }

    /**
     * The sequence of Thue and Morse and its complement: modulo a power of two their polynomials are equal, whatever the odd factor, once
     * they are long enough.
     */
    @Test
    @Tag("D20")
    void paths_ofOneHash_areToldApart() {
        StringBuilder morse = new StringBuilder("/");
        StringBuilder complement = new StringBuilder("/");
        for (int i = 0; i < 1024; i++) {
            morse.append(Integer.bitCount(i) % 2 == 0 ? 'a' : 'b');
            complement.append(Integer.bitCount(i) % 2 == 0 ? 'b' : 'a');
        }
        String one = morse.toString();
        String other = complement.toString();
        assertThat(hash(one)).isEqualTo(hash(other));
        for (int more : new int[] {0, 20_000}) {
            Scope.Builder builder = Scope.builder();
            for (int i = 0; i < more; i++) {
                builder.allow(C, Resource.file("/more/f" + i), 10 + i);
            }
            builder.allow(M, Resource.file(one), 0).allow(M, Resource.parse("FILE:" + one + "/d/**"), 1);
            Scope scope = builder.build();
            assertThat(scope.decide(M, "FILE", one, false)).isZero();
            assertThat(scope.decide(M, "FILE", one + "/d/x", false)).isEqualTo(1);
            assertThat(scope.decide(M, "FILE", other, false)).isEqualTo(Scope.NONE);
            assertThat(scope.decide(M, "FILE", other + "/d", false)).isEqualTo(Scope.NONE);
            assertThat(scope.decide(M, "FILE", other + "/d/x", false)).isEqualTo(Scope.NONE);
            scope = builder.allow(M, Resource.file(other), 2).allow(C, Resource.parse("FILE:" + other + "/*"), 3).build();
            assertThat(scope.decide(M, "FILE", one, false)).isZero();
            assertThat(scope.decide(M, "FILE", one + "/d/x", false)).isEqualTo(1);
            assertThat(scope.decide(M, "FILE", other, false)).isEqualTo(2);
            assertThat(scope.lookup("FILE", other).decide(M, false)).isEqualTo(2);
            assertThat(scope.decide(C, "FILE", other + "/d", false)).isEqualTo(3);
            assertThat(scope.decide(C, "FILE", other + "/d/x", false)).isEqualTo(Scope.NONE);
            assertThat(scope.decide(C, "FILE", one + "/x", false)).isEqualTo(Scope.NONE);
        }
    }

    private static long hash(String path) {
        long hash = Scope.HASH_SEED;
        for (int i = 0; i < path.length(); i++) {
            hash = Scope.mix(hash, path.charAt(i));
        }
        return hash;
    }

    /** Beyond Latin, and of each length: the last character may stand alone. */
    @Test
    void names_ofEachLengthAndAlphabet_areComparedToTheirLastCharacter() {
        String[] alphabets = {"abcdefgh", "\u00e9\u00e8\u00ea\u00eb\u00e0\u00e2\u00e4\u00e5", "\u6f22\u5b57\u8005\uffff\ud83d\ude00\u3042\u3044"};
        for (String alphabet : alphabets) {
            for (int length = 1; length <= 8; length++) {
                String name = "/" + alphabet.substring(0, length);
                Scope scope = Scope.builder().allow(M, Resource.file(name), 0).build();
                assertThat(allowed(scope, M, name)).isTrue();
                assertThat(allowed(scope, M, name + "x")).isFalse();
                assertThat(allowed(scope, M, name.substring(0, length))).isFalse();
                assertThat(allowed(scope, M, name.substring(0, length) + "x")).isFalse();
            }
        }
    }

    @Test
    @Tag("D17")
    @Tag("C18")
    void children_coversDirectChildrenOnly() {
        Scope scope = scope("MUTATES FILE:/w/out/*");
        assertThat(allowed(scope, M, "/w/out/a")).isTrue();
        assertThat(allowed(scope, M, "/w/out/.hidden")).isTrue();
        assertThat(allowed(scope, M, "/w/out/a\nb")).isTrue();
        assertThat(allowed(scope, M, "/w/out/s/a")).isFalse();
        assertThat(allowed(scope, M, "/w/out")).isFalse();
        assertThat(allowed(scope, C, "/w/out")).as("listing the directory itself").isFalse();
        assertThat(scope.decide(E, "FILE", "/w/out", false)).isEqualTo(Scope.ANCESTOR);
        assertThat(allowed(scope, E, "/w/out/s/a")).isFalse();
    }

    @Test
    @Tag("D17")
    @Tag("C18")
    void subtree_coversTheDirectoryAndAllBelow_alsoAtTheRoot() {
        Scope scope = scope("CONSUMES FILE:/w/in/**");
        assertThat(allowed(scope, C, "/w/in")).isTrue();
        assertThat(allowed(scope, C, "/w/in/a/b/c")).isTrue();
        assertThat(allowed(scope, C, "/w")).isFalse();
        Scope root = scope("CONSUMES FILE:/**");
        assertThat(allowed(root, C, "/")).isTrue();
        assertThat(allowed(root, C, "/a/b")).isTrue();
        Scope children = scope("CONSUMES FILE:/*");
        assertThat(allowed(children, C, "/a")).isTrue();
        assertThat(allowed(children, C, "/a/b")).isFalse();
        assertThat(allowed(children, C, "/")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"/w/outside/a", "/w/out-old/a", "/w/out.txt", "/w/ou", "/w/out ", "/W/out/a", "/"})
    @Tag("D03")
    @Tag("D16")
    void subtree_siblingByPrefix_isNotCovered(String path) {
        assertThat(allowed(scope("MUTATES FILE:/w/out/**"), M, path.equals("/w/out") ? "/w/out " : path)).isFalse();
    }

    @Test
    @Tag("D19")
    void overlappingLines_anyOrder_doNotShadow() {
        String[][] orders = {{"CONSUMES FILE:/a/b/*", "CONSUMES FILE:/a/b/d", "CONSUMES FILE:/foo/*", "CONSUMES FILE:/foo/bar"},
            {"CONSUMES FILE:/foo/bar", "CONSUMES FILE:/foo/*", "CONSUMES FILE:/a/b/d", "CONSUMES FILE:/a/b/*"}};
        for (String[] lines : orders) {
            Scope scope = scope(lines);
            assertThat(allowed(scope, C, "/a/b/c")).isTrue();
            assertThat(allowed(scope, C, "/a/b/d")).isTrue();
            assertThat(allowed(scope, C, "/foo/baz")).isTrue();
            assertThat(allowed(scope, C, "/foo/bar")).isTrue();
        }
    }

    @Test
    void deny_anyOrder_beatsScope() {
        for (String[] lines : new String[][] {{"CONSUMES FILE:/w/**", "deny CONSUMES FILE:/w/.env"}, {"deny CONSUMES FILE:/w/.env", "CONSUMES FILE:/w/**"}}) {
            Scope scope = scope(lines);
            int decision = scope.decide(C, "FILE", "/w/.env", false);
            assertThat(Scope.isDenied(decision)).isTrue();
            assertThat(Scope.denyLine(decision)).isZero();
            assertThat(allowed(scope, C, "/w/.env2")).isTrue();
        }
        Scope wide = scope("CONSUMES FILE:/w/secret/a", "deny CONSUMES FILE:/w/secret/**");
        assertThat(allowed(wide, C, "/w/secret/a")).as("a wide deny line beats a narrow scope line").isFalse();
        assertThat(allowed(wide, E, "/w/secret")).as("above a declared path").isTrue();
    }

    @Test
    @Tag("C34")
    void ancestors_ofDeclaredPaths_mayBeLookedAtOnly() {
        Scope scope = scope("MUTATES FILE:/a/b/c/d", "CONSUMES FILE:/x/y/**", "deny CONSUMES FILE:/q/r");
        for (String path : new String[] {"/", "/a", "/a/b", "/a/b/c", "/x"}) {
            assertThat(scope.decide(E, "FILE", path, false)).isEqualTo(Scope.ANCESTOR);
            assertThat(allowed(scope, C, path)).isFalse();
        }
        assertThat(scope.decide(E, "FILE", "/x/y", false)).isEqualTo(1);
        assertThat(scope.decide(E, "FILE", "/q", false)).as("above a deny line").isEqualTo(Scope.NONE);
        assertThat(scope.decide(E, "FILE", "/a/z", false)).isEqualTo(Scope.NONE);
        Scope denied = scope("MUTATES FILE:/a/b/c", "deny DEPENDS_ON FILE:/a");
        assertThat(Scope.isDenied(denied.decide(E, "FILE", "/a", false))).isTrue();
    }

    @Test
    void decision_severalLinesAllow_namesTheDirectThenTheMostSpecificThenTheFirst() {
        Scope scope = scope("CONSUMES FILE:/w/**", "MUTATES FILE:/w/src/**", "CONSUMES FILE:/w/src/a", "CONSUMES FILE:/w/src/a");
        assertThat(scope.decide(C, "FILE", "/w/src/b", false)).as("CONSUMES is named by line 0").isZero();
        assertThat(scope.decide(M, "FILE", "/w/src/b", false)).isEqualTo(1);
        assertThat(scope.decide(C, "FILE", "/w/src/a", false)).isEqualTo(2);
    }

    @Test
    void otherSchemes_matchExactlyAndByScheme() {
        Scope scope = scope("PROVIDES PROCESS:/usr/bin/git", "CONSUMES ENV:HOME", "CONSUMES URL:https://example.com/a", "deny CONSUMES ENV:HOME");
        assertThat(scope.decide(Predicate.PROVIDES, "PROCESS", "/usr/bin/git", false)).isZero();
        assertThat(scope.decide(Predicate.PROVIDES, "FILE", "/usr/bin/git", false)).isEqualTo(Scope.NONE);
        assertThat(Scope.isDenied(scope.decide(C, "ENV", "HOME", false))).isTrue();
        assertThat(scope.decide(C, "ENV", "PATH", false)).isEqualTo(Scope.NONE);
        assertThat(scope.decide(C, "URL", "https://example.com/a", false)).isEqualTo(2);
        assertThat(scope.decide(C, "URL", "https://example.com/a/b", false)).isEqualTo(Scope.NONE);
        assertThat(scope.decide(E, "PROCESS", "/usr/bin", false)).isEqualTo(Scope.NONE);
        assertThatThrownBy(() -> Scope.builder().allow(C, Resource.of("ENV", "A", Resource.Form.SUBTREE), 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void decideTree_renameOfADirectory_needsASubtreeLineAndNoDenyBelow() {
        Scope scope = scope("RENAMES FILE:/w/**", "RENAMES FILE:/v/d", "RENAMES FILE:/v/d/*", "PROVIDES FILE:/p/**", "deny MUTATES FILE:/w/a/b/.env",
                "deny CONSUMES FILE:/w/c/keys/*", "deny RENAMES FILE:/w/z/**");
        Predicate rename = Predicate.RENAMES;
        assertThat(scope.decideTree(rename, "/w/x", false)).isZero();
        assertThat(scope.decideTree(rename, "/w/a", false)).as("MUTATES denied below, RENAMES not").isZero();
        assertThat(scope.decideTree(M, "/w/a", false)).as("nothing covers MUTATES, and it is denied below").matches(Scope::isDenied);
        assertThat(Scope.isDenied(scope.decideTree(rename, "/w/c", false))).isTrue();
        assertThat(Scope.isDenied(scope.decideTree(rename, "/w", false))).isTrue();
        assertThat(Scope.isDenied(scope.decideTree(rename, "/w/z/q", false))).isTrue();
        assertThat(scope.decideTree(rename, "/v/d", false)).as("exact and children do not reach all below").isEqualTo(Scope.NONE);
        assertThat(scope.decideTree(rename, "/p/d", false)).isEqualTo(Scope.NONE);
        assertThat(scope.decideTree(rename, "/p/d", true)).isEqualTo(3);
    }

    @Test
    void nearest_linesOfTheSameScheme_coveringFirstThenMostShared() {
        Scope scope = scope("CONSUMES FILE:/etc/**", "CONSUMES FILE:/w/in/**", "MUTATES FILE:/w/out/a", "CONSUMES ENV:A", "CONSUMES FILE:/w/out/b/c");
        assertThat(scope.nearest("FILE", "/w/out/x", 2)).containsExactly(2, 4);
        assertThat(scope.nearest("FILE", "/w/in/x/y", 1)).containsExactly(1);
        assertThat(scope.nearest("FILE", "/w/in", 10)).hasSize(4).startsWith(1);
        assertThat(scope.nearest("ENV", "B", 3)).containsExactly(3);
        assertThat(scope.nearest("URL", "https://h/", 3)).isEmpty();
        assertThat(scope.nearest("FILE", "/w", 0)).isEmpty();
    }

    @Test
    void nearest_ofALineThatStandsForSeveralNames_namesItOnce() {
        Scope.Builder builder = Scope.builder();
        builder.allow(M, Resource.file("/w/a/b"), 0);
        builder.allow(C, Resource.file("/w/x"), 1);
        builder.allow(C, Resource.file("/w/a/x/y"), 1);
        builder.allow(C, Resource.file("/w"), 2);
        builder.allow(M, Resource.file("/w/other"), 0);
        Scope scope = builder.build();
        assertThat(scope.nearest("FILE", "/w/a/x", 3)).containsExactly(1, 0, 2);
        assertThat(scope.nearest("FILE", "/w/a/x", 2)).containsExactly(1, 0);
        assertThat(scope.nearest("FILE", "/w/a/b", 3)).containsExactly(0, 1, 2);
    }

    @Test
    void decideTree_severalLinesCoverIt_namesTheDirectThenTheLongestThenTheFirst() {
        Scope scope = scope("MUTATES FILE:/w/**", "CONSUMES FILE:/**", "CONSUMES FILE:/w/a/**", "CONSUMES FILE:/w/a/**", "MUTATES FILE:/w/a/b/**",
                "CONSUMES ENV:A", "deny CONSUMES ENV:A", "deny DELETES FILE:/", "deny CONSUMES FILE:/z/**");
        assertThat(scope.decideTree(C, "/w/a/b", false)).as("CONSUMES by its own name").isEqualTo(2);
        assertThat(scope.decideTree(C, "/w", false)).isEqualTo(1);
        assertThat(scope.decideTree(M, "/w/a/b", false)).isEqualTo(4);
        assertThat(scope.decideTree(M, "/w/a", false)).isZero();
        assertThat(scope.decideTree(Predicate.DELETES, "/w", false)).as("denied above, and there only").isEqualTo(Scope.NONE);
        assertThat(Scope.isDenied(scope.decideTree(Predicate.DELETES, "/", false))).isTrue();
        assertThat(Scope.isDenied(scope.decideTree(C, "/", false))).as("denied below").isTrue();
        assertThat(Scope.isDenied(scope.decideTree(C, "/z/y", false))).as("denied above").isTrue();
        assertThat(scope.decideTree(C, "/zz", false)).isEqualTo(1);
    }

    @Test
    @Tag("C49")
    void lookup_ofEachScheme_saysWhatDecideDoes() {
        Scope scope = scope("CONSUMES URL:https://h/**", "CONSUMES ENV:A", "MUTATES FILE:/a");
        assertThat(scope.lookup("URL", "https://h/x").decide(C, false)).isZero();
        assertThat(scope.lookup("URL", "https://i/x").decide(C, false)).isEqualTo(Scope.NONE);
        assertThat(scope.lookup("ENV", "A").decide(C, false)).isEqualTo(1);
        assertThat(scope.lookup("FILE", "/a").decide(M, false)).isEqualTo(2);
        assertThat(scope.lookup("FILE", "/a")).isSameAs(scope.lookupFile("/a"));
        assertThat(scope("MUTATES FILE:/a").lookup("URL", "https://h/x").decide(C, false)).isEqualTo(Scope.NONE);
    }

    @Test
    void nearest_ofLinesAlike_theShorterThenTheFirst() {
        Scope scope = scope("CONSUMES FILE:/w/a/longer", "CONSUMES FILE:/w/a/b", "MUTATES FILE:/w/a/c", "CONSUMES FILE:/w/ab/c", "CONSUMES FILE:/w",
                "CONSUMES FILE:/w/a/x/y");
        assertThat(scope.nearest("FILE", "/w/a/x", 10)).as("/w/a/x, then three components shared, then two").containsExactly(5, 1, 2, 0, 4, 3);
        assertThat(scope.nearest("FILE", "/w/a", 3)).containsExactly(1, 2, 5);
        assertThat(scope.nearest("FILE", "/w/a/b", 1)).as("covers it").containsExactly(1);
        assertThat(scope.nearest("FILE", "/w/a/bc", 2)).as("a name's beginning is not a name").containsExactly(1, 2);
    }

    @Test
    void lookup_anyPath_allocatesNothing() {
        Scope.Builder builder = Scope.builder();
        for (int i = 0; i < 1000; i++) {
            builder.allow(M, Resource.file("/w/src/p" + i + "/a.txt"), i);
        }
        Scope scope = builder.build();
        String[] probes = {"/w/src/p7/a.txt", "/w/src/p7/b.txt", "/etc/hosts", "/w/src/p999/x/y/z", "/"};
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long thread = Thread.currentThread().getId();
        int sum = 0;
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 20; round++) {
            long before = threads.getThreadAllocatedBytes(thread);
            for (int i = 0; i < 10_000; i++) {
                sum += scope.decide(M, "FILE", probes[i % probes.length], false);
            }
            least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
        }
        assertThat(sum).isNotZero();
        assertThat(least).as("bytes for 10 000 lookups").isLessThan(1000);
    }
}
