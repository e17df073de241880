package dev.klock.sandbox.field;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Keeps {@code docs/field-cases.md} true: it is made from the run of all cases. {@code -Dfield.write=true} writes it. On a machine that
 * lacks one of the releases the rest is compared.
 */
class FieldPageTest {
    private static final List<Integer> RELEASES = List.of(17, 25);
    private static final Path ROOT = KlockJar.module().toAbsolutePath().normalize().getParent();
    private static final Path PAGE = ROOT.resolve("docs/field-cases.md");
    private static final String REGENERATE = "mvn -B -pl klock-sandbox-tests -am verify -Dtest='Field*' -Dsurefire.failIfNoSpecifiedTests=false"
            + " -Dfield.write=true";
    private static final Map<String, String> TITLES = titles();

    private static Map<String, String> titles() {
        Map<String, String> titles = new LinkedHashMap<>();
        titles.put("A", "Files");
        titles.put("B", "Writers below the file APIs");
        titles.put("C", "Reflection, byte code, klock's own parts, lost errors");
        titles.put("D", "Names and what they lead to");
        titles.put("E", "Processes");
        titles.put("F", "Network and environment");
        titles.put("G", "Programs that a guard has broken");
        titles.put("I", "Leases between agents");
        titles.put("P", "Doors that longer lists have missed");
        return titles;
    }

    @Test
    void page_isWhatTheRunShows() throws IOException {
        String page = page();
        if (Boolean.getBoolean("field.write")) {
            assertThat(Jdks.all().stream().map(Jdk::feature)).as("releases to write the page from").containsAll(RELEASES);
            Files.writeString(PAGE, page);
        }
        String committed = Files.exists(PAGE) ? Files.readString(PAGE) : "";
        if (!committed.equals(page)) {
            fail("docs/field-cases.md is not what the run shows; write it anew with:\n  " + REGENERATE);
        }
    }

    @Test
    void case_thatATestElsewhereProves_namesOneThatIsThere() throws IOException {
        Map<String, String> tests = new HashMap<>();
        for (String module : new String[] {"klock-kernel", "klock-agent", "klock-sandbox-tests"}) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
                for (Path file : files.filter(each -> each.toString().endsWith("Test.java")).toList()) {
                    tests.merge(file.getFileName().toString().replace(".java", ""), Files.readString(file), String::concat);
                }
            }
        }
        for (Case one : all()) {
            for (String proof : one.proofs()) {
                String[] name = proof.split("\\.");
                assertThat(tests.getOrDefault(name[0], "")).as("%s of %s", proof, one.id()).contains(" " + name[1] + "(");
            }
        }
    }

    @Test
    void case_ofEachId_isThereOnce_andHasAVerdict() {
        Set<String> ids = new TreeSet<>();
        for (Case one : all()) {
            assertThat(ids.add(one.id())).as("second %s", one.id()).isTrue();
            assertThat(one.severity()).as(one.id()).isIn("C", "H", "M", "L");
            assertThat(!one.accesses().isEmpty() || one.verdict() != null).as(one.id()).isTrue();
        }
    }

    private static List<Case> all() {
        List<Case> all = new ArrayList<>();
        Cases.groups().forEach(group -> all.addAll(Cases.of(group).all()));
        return all;
    }

    private static String page() {
        StringBuilder page = new StringBuilder("# Field cases\n\n"
                + "How other guards, sandboxes and undo tools have failed, each as accesses that klock must stop or must leave alone, made in child JVMs with\n"
                + "the finished jar. Made from that run by `FieldPageTest`; do not edit. Write it anew with\n\n    " + REGENERATE + "\n\n"
                + "*Strict*: **blocked** means the error before the effect, the target's bytes, mode, times and inode as they were, a record with the real\n"
                + "path, and in strict mode proper the end of the session with everything put back; **allowed** means no violation and the result it has\n"
                + "without klock. *Permissive*: **same** means exit code, output, exceptions and files equal a run without klock, with a warning for what\n"
                + "strict would block. A verdict without *same* rests on the tests named. *Severity*, if klock were wrong: C critical, H high, M medium, L low.\n"
                + "*Accesses* is how many ways the case is tried in; P is a list of single doors.\n");
        for (String group : Cases.groups()) {
            page.append("\n## ").append(group).append(": ").append(TITLES.get(group)).append("\n\n| case | what | strict | permissive | accesses | JDKs | severity | proven by |\n"
                    + "|---|---|---|---|---|---|---|---|\n");
            for (Case one : Cases.of(group).all()) {
                page.append("| ").append(one.id()).append(" | ").append(one.what()).append(" | ").append(strict(group, one)).append(" | ")
                        .append(permissive(group, one)).append(" | ").append(one.accesses().isEmpty() ? "" : one.accesses().size()).append(" | ").append(releases(one))
                        .append(" | ").append(one.severity()).append(" | ").append(proofs(one)).append(" |\n");
            }
        }
        return page.toString();
    }

    private static String strict(String group, Case one) {
        String failing = failing(one, jdk -> FieldRun.of(group, jdk).guardingFaults(one));
        if (!failing.isEmpty()) {
            return failing;
        }
        if (one.verdict() != null) {
            return one.verdict();
        }
        Stream<String> kinds = one.accesses().stream().map(access -> access.blocked() ? "blocked" : "allowed");
        return kinds.distinct().sorted((a, b) -> b.compareTo(a)).collect(Collectors.joining(", "));
    }

    private static String permissive(String group, Case one) {
        String failing = failing(one, jdk -> FieldRun.of(group, jdk).permissiveFaults(one));
        return !failing.isEmpty() ? failing : one.accesses().isEmpty() ? one.permissive() : "same";
    }

    private interface Faults {
        List<String> on(Jdk jdk);
    }

    private static String failing(Case one, Faults faults) {
        List<String> failing = new ArrayList<>();
        for (Jdk jdk : Jdks.all()) {
            if (RELEASES.contains(jdk.feature()) && !one.accesses().isEmpty() && !faults.on(jdk).isEmpty()) {
                failing.add(Integer.toString(jdk.feature()));
            }
        }
        return failing.isEmpty() ? "" : "**not yet** on " + String.join(", ", failing);
    }

    private static String releases(Case one) {
        return RELEASES.stream().filter(release -> one.accesses().isEmpty() || one.accesses().stream().anyMatch(access -> access.isOn(release)))
                .map(String::valueOf).collect(Collectors.joining(", "));
    }

    private static String proofs(Case one) {
        List<String> all = new ArrayList<>(one.proofs());
        if (!one.accesses().isEmpty()) {
            all.add(0, "FieldTest");
        }
        return all.stream().map(name -> "`" + name + "`").collect(Collectors.joining("<br>"));
    }
}
