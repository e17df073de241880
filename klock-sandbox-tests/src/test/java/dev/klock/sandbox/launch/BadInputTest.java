package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever is wrong with how klock is started: exit code 2, one line that says where and what, {@code main} never runs, nothing of the
 * user's is touched.
 */
class BadInputTest {
    private static final String GOOD = """
            ver: "1.0"
            agent_id: tester
            scope:
              - CONSUMES FILE:/w/in/**
            """;

    /** What is wrong, and how to set it up: returns the agent's options. */
    private record Case(String name, Setup setup, List<String> said) {
    }

    private interface Setup {
        String in(Path directory, Child child) throws IOException;
    }

    private final List<Case> cases = new ArrayList<>();

    private void bad(String name, Setup setup, String... said) {
        cases.add(new Case(name, setup, List.of(said)));
    }

    /** A manifest that is wrong at a line and column. */
    private void manifest(String name, String text, String... said) {
        manifestFile(name, "klock.yaml", text, said);
    }

    private void manifestFile(String name, String file, String text, String... said) {
        String[] all = new String[said.length + 1];
        all[0] = file + ":";
        System.arraycopy(said, 0, all, 1, said.length);
        bad(name, (directory, child) -> {
            Files.writeString(directory.resolve(file), text);
            return "";
        }, all);
    }

    private void option(String option, String... said) {
        bad("option_" + option, (directory, child) -> {
            Files.writeString(directory.resolve("klock.yaml"), GOOD);
            return option;
        }, said);
    }

    @TestFactory
    @Tag("K1-12")
    @Tag("K1-13")
    @Tag("K1-14")
    @Tag("K1-15")
    @Tag("K1-18")
    Stream<DynamicTest> start_withBadInput_endsWith2AndOneLine(@TempDir Path directory) throws IOException {
        bad("manifest_nowhere", (dir, child) -> "", "no manifest", "klock.yaml", "learn");
        bad("manifest_namedButMissing", (dir, child) -> "manifest=" + dir.resolve("none.yaml"), "none.yaml", "does not exist");
        bad("manifest_isADirectory", (dir, child) -> "manifest=" + Files.createDirectory(dir.resolve("dir.yaml")), "dir.yaml", "directory");
        bad("manifest_isADevice", (dir, child) -> "manifest=/dev/zero", "/dev/zero");
        bad("manifest_leadsNowhere", (dir, child) -> {
            Files.createSymbolicLink(dir.resolve("klock.yaml"), Path.of("gone"));
            return "manifest=klock.yaml";
        }, "klock.yaml");
        bad("manifest_hundredMegabytes", (dir, child) -> {
            try (BufferedWriter out = Files.newBufferedWriter(dir.resolve("klock.yaml"))) {
                out.write(GOOD);
                String line = "# " + "x".repeat(1021) + "\n";
                for (int i = 0; i < 100 * 1024; i++) {
                    out.write(line);
                }
            }
            return "";
        }, "klock.yaml");
        bad("manifest_hundredThousandEntries", (dir, child) -> {
            try (BufferedWriter out = Files.newBufferedWriter(dir.resolve("klock.yaml"))) {
                out.write(GOOD);
                for (int i = 0; i < 100_000; i++) {
                    out.write("  - CONSUMES FILE:/w/in/" + i + "\n");
                }
            }
            return "";
        }, "klock.yaml:");
        bad("manifest_empty", (dir, child) -> {
            child.manifest("");
            return "";
        }, "klock.yaml", "is empty");
        manifest("manifest_emptyObject", "{}\n", "scope");
        manifest("manifest_withoutAgent", "ver: \"1.0\"\nscope: []\n", "agent_id");
        manifest("manifest_notYaml", "ver: \"1.0\"\nagent_id: [unclosed\nscope: []\n", "klock.yaml:");
        manifestFile("manifest_notJson", "klock.json", "{\"ver\": \"1.0\",\n \"agent_id\": }", "klock.json:2:");
        manifestFile("manifest_jsonCutShort", "klock.json", "{\"ver\": \"1.0\",\n \"agent_id\": \"a\"", "klock.json:");
        manifest("manifest_aList", "- a\n- b\n", "klock.yaml:1:");
        manifest("manifest_unknownField", GOOD + "scoop: []\n", "klock.yaml:5:1", "scoop", "scope");
        manifest("manifest_duplicateKey", GOOD + "agent_id: other\n", "klock.yaml:5:1", "agent_id");
        manifest("predicate_unknown", GOOD + "  - CONSUME FILE:/w/x\n", "klock.yaml:5:", "CONSUME", "CONSUMES");
        manifest("scheme_unknown", GOOD + "  - CONSUMES FIEL:/w/x\n", "klock.yaml:5:", "FIEL");
        manifest("path_relative", GOOD + "  - CONSUMES FILE:w/x\n", "klock.yaml:5:", "w/x");
        manifest("path_home", GOOD + "  - CONSUMES FILE:~/x\n", "klock.yaml:5:");
        manifest("path_notCanonical", GOOD + "  - CONSUMES FILE:/w/../etc/x\n", "klock.yaml:5:", "/etc/x");
        manifest("path_doubleSlash", GOOD + "  - CONSUMES FILE:/w//x\n", "klock.yaml:5:", "/w/x");
        manifest("path_starInside", GOOD + "  - CONSUMES FILE:/w/*/x\n", "klock.yaml:5:", "*");
        manifest("path_nul", GOOD + "  - \"CONSUMES FILE:/w/a\\0b\"\n", "klock.yaml:5:");
        manifest("path_controlCharacter", GOOD + "  - \"CONSUMES FILE:/w/a\\eb\"\n", "klock.yaml:5:");
        manifest("text_controlCharacter", GOOD + "  - CONSUMES FILE:/w/a\u0001b\n", "klock.yaml:5:");
        manifest("variable_unknown", GOOD + "  - CONSUMES FILE:${workspcae}/x\n", "klock.yaml:5:", "workspcae", "workspace");
        manifest("scope_global", GOOD + "  - MUTATES FILE:/**\n", "klock.yaml:5:");
        manifest("scope_contradicts", GOOD + "  - DELETES FILE:/w/x\n  - MUTATES FILE:/w/x\n", "klock.yaml:6:", "DELETES");
        manifest("confidence_outOfRange", GOOD + "  - {predicate: CONSUMES, resource: \"FILE:/w/x\", confidence: 1.5}\n", "klock.yaml:5:");
        manifest("aliases_deep", aliases(), "klock.yaml:");
        manifest("nesting_deep", GOOD + "tests: " + "[".repeat(50_000) + "]".repeat(50_000) + "\n", "klock.yaml:");
        manifest("settings_loosen", GOOD + "klock: {mode: permissive}\n", "klock.yaml:5:", "mode");
        option("maifest=klock.yaml", "maifest", "manifest");
        option("mode=lenient", "lenient", "strict");
        option("mode", "mode");
        option("mode=block,mode=strict", "mode");
        option("wait-timeout=soon", "soon");
        option("log.level=loud", "loud");
        option("denials.limit=0", "denials.limit");
        bad("property_unknown", (dir, child) -> {
            child.manifest(GOOD).jvm("-Dklock.mod=block");
            return "";
        }, "klock.mod", "mode");
        bad("variable_unknownInEnvironment", (dir, child) -> {
            child.manifest(GOOD).env("KLOCK_MOED", "block");
            return "";
        }, "KLOCK_MOED", "KLOCK_MODE");
        bad("home_cannotBeMade", (dir, child) -> {
            child.manifest(GOOD);
            return "home=/proc/klock-home";
        }, "/proc/klock-home");
        bad("home_full", (dir, child) -> {
            // as on a full disk: files can be made, not a byte can be written
            child.manifest(GOOD).through("sh", "-c", "ulimit -f 0; exec \"$@\"", "sh").jvm("-XX:-UsePerfData");
            return "";
        }, ".klock");
        bad("home_isAFile", (dir, child) -> {
            child.manifest(GOOD);
            return "home=" + Files.writeString(dir.resolve("file"), "a file");
        }, "not a directory");
        bad("home_isALink", (dir, child) -> {
            child.manifest(GOOD);
            Files.createDirectory(dir.resolve("elsewhere"));
            Files.createSymbolicLink(dir.resolve(".klock"), Path.of("elsewhere"));
            return "";
        }, ".klock", "symbolic link");
        bad("home_leadsNowhere", (dir, child) -> {
            child.manifest(GOOD);
            Files.createSymbolicLink(dir.resolve(".klock"), Path.of("nowhere"));
            return "";
        }, ".klock", "symbolic link");
        bad("home_holdsTheUsersFiles", (dir, child) -> {
            child.manifest(GOOD);
            return "home=" + dir.resolve("w");
        }, "holds something else");
        bad("home_ofAnotherFormat", (dir, child) -> {
            child.manifest(GOOD);
            Path home = Files.createDirectory(dir.resolve("home"));
            Files.writeString(home.resolve("version"), "99\n");
            return "home=" + home;
        }, "99");
        List<DynamicTest> tests = new ArrayList<>();
        List<Jdk> jdks = Jdks.all();
        for (int i = 0; i < cases.size(); i++) {
            Case one = cases.get(i);
            Path dir = Files.createDirectory(directory.toRealPath().resolve("case" + i));
            // what is read here does not depend on the JDK, so each case takes the next one
            Jdk jdk = jdks.get(i % jdks.size());
            tests.add(DynamicTest.dynamicTest(one.name + " @ JDK " + jdk.feature(), () -> check(jdk, dir, one)));
        }
        return tests.stream();
    }

    private static void check(Jdk jdk, Path directory, Case one) throws IOException {
        Workspace workspace = Workspace.in(directory);
        Child child = workspace.bare(jdk, "write w/x touched");
        child.klock(one.setup.in(directory, child));
        String before = Tree.of(directory).inside().whole();
        Outcome outcome = child.run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(2);
        assertThat(outcome.out()).as("main never runs: %s", outcome).isEmpty();
        List<String> lines = outcome.err().lines().toList();
        assertThat(lines).as(outcome.toString()).hasSize(1);
        assertThat(lines.get(0)).startsWith("klock: ").contains(one.said);
        if (one.said.stream().anyMatch(said -> said.matches(".*\\.(yaml|json):.*"))) {
            assertThat(lines.get(0)).as("file, line and column").containsPattern("klock\\.(yaml|json):\\d+:\\d+");
        }
        assertThat(Tree.of(directory).inside().whole()).as("nothing touched").isEqualTo(before);
    }

    private static String aliases() {
        StringBuilder text = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 30; i++) {
            text.append("a").append(i).append(": &a").append(i).append(" [");
            for (int j = 0; j < 10; j++) {
                text.append(j == 0 ? "*a" : ", *a").append(i - 1);
            }
            text.append("]\n");
        }
        return text + GOOD;
    }
}
