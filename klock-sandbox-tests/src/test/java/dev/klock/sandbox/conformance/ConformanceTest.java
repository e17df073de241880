package dev.klock.sandbox.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps {@code docs/conformance.md} true: it is made from the rule list and from the {@code @Tag}s in the test sources of all modules, and
 * differs from neither. {@code -Dconformance.write=true} writes it.
 */
class ConformanceTest {
    private static final Path ROOT = Path.of(System.getProperty("klock.root", "..")).toAbsolutePath().normalize();
    private static final Path TABLE = ROOT.resolve("docs/conformance.md");
    private static final String REGENERATE =
            "mvn -B -pl klock-sandbox-tests -am test -Dtest=ConformanceTest -Dsurefire.failIfNoSpecifiedTests=false -Dconformance.write=true";

    /** Levels that describe rather than bind: they need no test. */
    private static final Set<String> NOT_BINDING =
            Set.of("definition", "non-goal", "informative", "condition", "choice", "example");

    /**
     * A rule's tag; an annotation that makes a test; a type; or a method or field, which counts only as the first after one of the first
     * two.
     */
    private static final Pattern MARK = Pattern.compile(
            "@(?:[\\w.]+\\.)?Tag\\(\\s*\"(?<tag>(?:K|RS-)[^\"]*)\"\\s*\\)"
                    + "|(?:^[ \\t]*|(?<=\\))[ \\t]+)@(?:[\\w.]+\\.)?(?<test>Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property|Example|ArchTest)\\b"
                    + "|^(?<indent> *)(?:(?:public|protected|private|static|final|abstract|sealed)\\s+)*(?:class|interface|record|enum)\\s+(?<type>\\w+)"
                    + "|(?:^ +|(?<=@Test ))(?:@\\w+\\s+)*(?:(?:public|protected|private|static|final|synchronized)\\s+)*(?:<[^>]*>\\s+)?(?!new\\b|return\\b|throw\\b|else\\b)"
                    + "[\\w.]+(?:<[\\w.<>?,\\[\\] ]*>)?(?:\\[\\])*\\s+(?<member>\\w+)\\s*[(=]",
            Pattern.MULTILINE);

    private record Rule(String id, String level, String text, String owner) {}

    @Test
    void conformance_everyRule_isProvenOrOwnedByALaterIssue() {
        Map<String, Rule> rules = rules();
        Map<String, SortedSet<String>> proofs = proofs();
        List<String> unknown = new ArrayList<>(proofs.keySet());
        unknown.removeAll(rules.keySet());
        assertThat(unknown).as("tags in tests that name no rule of rules.tsv: %s", proofs).isEmpty();
        List<String> open = new ArrayList<>();
        for (Rule rule : rules.values()) {
            if (!proofs.containsKey(rule.id()) && rule.owner() == null && !NOT_BINDING.contains(rule.level())) {
                open.add(rule.id());
            }
        }
        assertThat(open).as("rules that no test is tagged with and no later issue owns").isEmpty();
    }

    @Test
    void conformance_page_isWhatRulesAndTestsSay() throws IOException {
        String page = page(rules(), proofs());
        if (Boolean.getBoolean("conformance.write")) {
            Files.createDirectories(TABLE.getParent());
            Files.writeString(TABLE, page);
        }
        String committed = Files.exists(TABLE) ? Files.readString(TABLE) : "";
        if (!committed.equals(page)) {
            fail("docs/conformance.md is not what the tests say; write it anew with:\n  " + REGENERATE);
        }
    }

    private static Map<String, Rule> rules() {
        Map<String, Rule> rules = new LinkedHashMap<>();
        try (InputStream in = ConformanceTest.class.getResourceAsStream("/conformance/rules.tsv")) {
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                if (line.startsWith("#") || line.isEmpty()) {
                    continue;
                }
                String[] field = line.split("\t");
                Rule rule = new Rule(field[0], field[1], field[2], field.length > 3 ? field[3] : null);
                assertThat(rules.put(rule.id(), rule)).as("second row of %s", rule.id()).isNull();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return rules;
    }

    /** Rule id to the tests that carry it, {@code Class.method}, over the test sources of all modules. */
    private static Map<String, SortedSet<String>> proofs() {
        Map<String, SortedSet<String>> proofs = new TreeMap<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.sorted().toList()) {
                Path sources = module.resolve("src/test/java");
                if (Files.isDirectory(sources)) {
                    try (Stream<Path> files = Files.walk(sources)) {
                        for (Path file : files.filter(f -> f.toString().endsWith(".java")).sorted().toList()) {
                            collect(file, proofs);
                        }
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return proofs;
    }

    private static void collect(Path file, Map<String, SortedSet<String>> proofs) throws IOException {
        collect(file.getFileName().toString().replace(".java", ""), Files.readString(file), proofs);
    }

    /** A tag counts for the test that it stands on; on a class, for the class, which then has a test. Nothing else may have one. */
    private static void collect(String file, String source, Map<String, SortedSet<String>> proofs) {
        List<String> tags = new ArrayList<>();
        List<String> ofClasses = new ArrayList<>();
        boolean isTest = false;
        int tests = 0;
        Matcher m = MARK.matcher(source);
        while (m.find()) {
            if (m.group("tag") != null) {
                tags.add(m.group("tag"));
            } else if (m.group("test") != null) {
                isTest = true;
            } else if (m.group("type") != null) {
                String name = m.group("indent").isEmpty() ? file : file + "." + m.group("type");
                tags.forEach(tag -> add(proofs, tag, name));
                ofClasses.addAll(tags);
                tags.clear();
            } else if (isTest || !tags.isEmpty()) {
                String name = file + "." + m.group("member");
                assertThat(isTest).as("%s has tags %s and is no test", name, tags).isTrue();
                tests++;
                tags.forEach(tag -> add(proofs, tag, name));
                tags.clear();
                isTest = false;
            }
        }
        assertThat(tags).as("tags in %s that stand before nothing", file).isEmpty();
        assertThat(ofClasses.isEmpty() || tests > 0).as("%s has tags %s and no test", file, ofClasses).isTrue();
    }

    private static void add(Map<String, SortedSet<String>> proofs, String tag, String test) {
        proofs.computeIfAbsent(tag, t -> new TreeSet<>()).add(test);
    }

    @Test
    void tags_onTestsOfEachKindAndOnClasses_countForThoseAndNotForTheirHelpers() {
        String q = "\"";
        String source = String.join("\n",
                "@Tag(T1)", "class Some {",
                "    private static byte[] helper(int a) {", "        return other(a);", "    }", "",
                "    @Tag(T2)", "    @TestFactory", "    Stream<DynamicTest> factory() {", "        Map<String, String> x = new HashMap<>();",
                "        return stream(x);", "    }", "",
                "    @ParameterizedTest", "    @CsvSource({", "        " + q + "a b(c),d" + q, "    })", "    @Tag(T3)", "    void many(String a) {", "    }", "",
                "    @net.jqwik.api.Property(tries = 5)", "    @net.jqwik.api.Tag(T4)", "    boolean property(@ForAll int a) {", "        int b = 0;", "    }",
                "", "    @Tag(T5) @Test void short_one() {}", "", "    @ArchTest", "    @Tag(T6)", "    static final ArchRule rule = classes();", "",
                "    @Tag(T7)", "    static class Inner {", "        @RepeatedTest(3)", "        @Tag(T8)", "        void inner() {", "            int c = 1;",
                "        }", "    }", "", "    void after() {", "    }", "}");
        for (int i = 1; i <= 8; i++) {
            source = source.replace("(T" + i + ")", "(" + q + "K" + "9-" + i + q + ")");
        }
        Map<String, SortedSet<String>> proofs = new TreeMap<>();
        collect("Some", source, proofs);
        Map<String, SortedSet<String>> right = new TreeMap<>();
        String[] names = {"Some", "Some.factory", "Some.many", "Some.property", "Some.short_one", "Some.rule", "Some.Inner", "Some.inner"};
        for (int i = 0; i < names.length; i++) {
            right.put("K9-" + (i + 1), new TreeSet<>(Set.of(names[i])));
        }
        assertThat(proofs).isEqualTo(right);
    }

    @Test
    void tags_onWhatIsNoTest_areRefused() {
        String tag = "@Tag(\"" + "K9-1\")\n";
        for (String source : new String[] {
            "class Some {\n    " + tag + "    void helper() {}\n    @Test\n    void test() {}\n}", tag + "class Some {\n    void helper() {}\n}",
            "class Some {\n    @Test\n    void test() {}\n    " + tag + "}"
        }) {
            assertThatThrownBy(() -> collect("Some", source, new TreeMap<>())).as(source).isInstanceOf(AssertionError.class);
        }
    }

    private static String page(Map<String, Rule> rules, Map<String, SortedSet<String>> proofs) {
        StringBuilder rows = new StringBuilder();
        int proven = 0;
        int later = 0;
        for (Rule rule : rules.values()) {
            SortedSet<String> tests = proofs.getOrDefault(rule.id(), new TreeSet<>());
            String status;
            if (!tests.isEmpty()) {
                status = "proven";
                proven++;
            } else if (rule.owner() != null) {
                status = "later: " + rule.owner();
                later++;
            } else {
                status = NOT_BINDING.contains(rule.level()) ? rule.level() : "open";
            }
            rows.append("| ").append(rule.id()).append(" | ").append(rule.level()).append(" | ").append(rule.text()).append(" | ")
                    .append(status).append(" | ").append(String.join("<br>", tests)).append(" |\n");
        }
        return "# Conformance\n\n"
                + "Each rule of the protocol and the tests that prove it. Made from the tests' tags by `ConformanceTest`; do not edit.\n"
                + "A class's name alone stands for all its tests. Write it anew with\n\n    " + REGENERATE + "\n\n"
                + rules.size() + " rules: " + proven + " proven, " + later + " later, " + (rules.size() - proven - later)
                + " that do not bind.\n\n"
                + "| id | level | rule | status | tests |\n|---|---|---|---|---|\n"
                + rows;
    }
}
