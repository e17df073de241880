package dev.klock.sandbox.many;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import dev.klock.Klock;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.JUnitRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.commons.support.ReflectionSupport;
import org.junit.platform.engine.TestEngine;
import org.junit.platform.launcher.Launcher;
import org.opentest4j.AssertionFailedError;
import org.yaml.snakeyaml.Yaml;

/** JUnit tests that are held to a manifest of their own, by the finished jar. */
class KlockedTest {
    @TempDir
    Path directory;

    private Child tests(Jdk jdk, String options, String... arguments) throws IOException {
        Workspace w = Workspace.in(directory);
        Path root = w.root();
        for (String below : List.of("w/a/less", "w/b")) {
            Files.createDirectories(root.resolve(below));
        }
        return Child.on(jdk).in(root).main(JUnitRun.class, arguments)
                .with(Klock.class, JsonFactory.class, Yaml.class, Test.class, ParameterizedTest.class, JupiterTestEngine.class, ReflectionSupport.class,
                        TestEngine.class, Launcher.class, AssertionFailedError.class)
                .manifest("""
                        ver: "1.0"
                        agent_id: tests
                        scope:
                          - CONSUMES FILE:%1$s/w/out/**
                          - CONSUMES FILE:%1$s/less.yaml
                        agents:
                          - agent_id: builder
                            scope:
                              - MUTATES FILE:%1$s/w/a/**
                              - PROVIDES FILE:%1$s/w/a/**
                          - agent_id: reader
                            scope:
                              - CONSUMES FILE:%1$s/w/a/**
                              - PROVIDES FILE:%1$s/w/a/before
                              - MUTATES FILE:%1$s/w/a/before
                        """.formatted(root))
                .file("less.yaml", """
                        ver: "1.0"
                        agent_id: builder
                        scope:
                          - PROVIDES FILE:%1$s/w/a/less/**
                          - MUTATES FILE:%1$s/w/a/less/**
                        """.formatted(root)).klock(options);
    }

    /** What {@link JUnitRun} says of a test that strayed, but for its name. */
    private String strayed(String predicate, String file) throws IOException {
        return " FAILED AssertionFailedError: Agent builder attempted " + predicate + " on FILE:" + directory.toRealPath() + '/' + file
                + " but declared nothing. |   asked for as " + file + " |   to allow it, add to scope: - " + predicate + " FILE:${workspace}/" + file
                + " |   nearest declared: ";
    }

    private static String line(Outcome done, String test) {
        return done.out().lines().filter(line -> line.startsWith(test)).reduce((one, two) -> one + '\n' + two).orElse("").substring(test.length());
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void test_thatStrays_failsWithTheDenial_whateverItMadeOfIt(Jdk jdk) throws IOException {
        Outcome done = tests(jdk, "", "false", "Inside", "Outside", "StraysBefore", "StraysAfter", "Less", "NotDeclared").run();

        assertThat(done.exit()).as(done.toString()).isZero();
        for (String inside : List.of("staysInside()", "staysInside_onAThreadOfItsOwn()", "isAnother_byItsMethod()", "[1] w/a/one", "repetition 1 of 2",
                "repetition 2 of 2", "w/a/dynamic", "isNotToBlame()", "isTheProcess()")) {
            assertThat(line(done, inside)).as(inside + done).isEqualTo(" SUCCESSFUL");
        }
        assertThat(line(done, "fails_byItself()")).isEqualTo(" FAILED AssertionFailedError: expected: <1> but was: <2>");
        assertThat(line(done, "strays()")).as(done.toString()).startsWith(strayed("PROVIDES", "w/b/strays")).endsWith(" <- ScopeViolationError");
        assertThat(line(done, "swallows()")).startsWith(strayed("PROVIDES", "w/b/swallows"));
        assertThat(line(done, "fails_sinceItStrayed()")).startsWith(strayed("PROVIDES", "w/b/fails")).endsWith(" <- AssertionFailedError");
        assertThat(line(done, "strays_onAnotherThread()")).startsWith(strayed("PROVIDES", "w/b/thread"));
        assertThat(line(done, "[2] w/b/two")).startsWith(strayed("PROVIDES", "w/b/two"));
        assertThat(line(done, "w/b/dynamic")).startsWith(strayed("PROVIDES", "w/b/dynamic"));
        assertThat(line(done, "isNested()")).startsWith(strayed("PROVIDES", "w/b/nested"));
        assertThat(line(done, "isNotRun()")).startsWith(strayed("PROVIDES", "w/b/before"));
        assertThat(line(done, "KlockedTests$StraysAfter")).startsWith(strayed("PROVIDES", "w/b/after"));
        assertThat(line(done, "mayLess()")).startsWith(strayed("MUTATES", "w/a/x"));
        assertThat(line(done, "isNotDeclared()")).isEqualTo(" FAILED ExtensionConfigurationException: nothing would hold this test to its manifest: the manifest"
                + " that klock holds this process to declares no agent nobody under agents:, so name one that it declares, or declare it there;"
                + " or choose what is to become of such tests: dev.klock.junit.unguarded=skip, or =run");
        assertThat(line(done, "hasNoManifest()")).startsWith(" FAILED ExtensionConfigurationException: ").contains("w/out/missing.yaml");
        assertThat(done.out()).doesNotContain("it is run").doesNotContain("KlockedTests$Outside");
        assertThat(directory.resolve("w/a/undone")).as("the test strayed after it").doesNotExist();
        assertThat(directory.resolve("w/a/x")).hasContent("1");
    }

    @Test
    void test_thatStrays_failsAlsoWhereTheModeOnlyWarns() throws IOException {
        Outcome done = tests(Jdks.oldest(), "mode=permissive", "false", "StraysBefore", "Less").run();

        assertThat(line(done, "isNotRun()")).as(done.toString()).startsWith(strayed("PROVIDES", "w/b/before"));
        assertThat(line(done, "mayLess()")).as(done.toString()).startsWith(strayed("PROVIDES", "w/a/x"));
        assertThat(directory.resolve("w/a/x")).hasContent("strayed");
    }

    @Test
    void tests_thatRunAtOnce_haveWhatTheyShareOneAfterTheOther() throws IOException {
        Outcome done = tests(Jdks.newest(), "", "true", "Together").run();

        for (int i = 1; i <= 4; i++) {
            assertThat(line(done, "repetition " + i + " of 4")).as(done.toString()).isEqualTo(" SUCCESSFUL");
        }
    }
}
