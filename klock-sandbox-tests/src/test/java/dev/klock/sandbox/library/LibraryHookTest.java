package dev.klock.sandbox.library;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.AgentJar;
import dev.klock.sandbox.subject.Isolated;
import dev.klock.sandbox.subject.LaterAgent;
import dev.klock.sandbox.subject.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;

/** Hooks whose type, method and template stand in the manifest. */
class LibraryHookTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String STORE = "dev.klock.sandbox.subject.Settings$Store";
    private static final String HOOKS = """
            hooks:
              - {name: settings, type: '%1$s', method: set, predicate: MUTATES, resource: 'CONFIG_KEY:${arg:0}'}
              - {name: reads, type: '%1$s', method: get(java.lang.Object), predicate: CONSUMES, resource: 'CONFIG_KEY:${arg:0}'}
              - {type: 'dev.klock.sandbox.subject.Settings$Flags', method: raise, predicate: PROVIDES, resource: 'SYMBOL:${type}.${method}#${arg:0}'}
            """.formatted(STORE);

    @TempDir
    Path temporary;
    private Path directory;

    @BeforeEach
    void prepare() throws IOException {
        directory = temporary.toRealPath();
        Files.writeString(directory.resolve("kept"), "first\n");
        Files.writeString(directory.resolve("private"), "secret\n");
    }

    private String manifest(String hooks, String... lines) {
        StringBuilder text = new StringBuilder("ver: \"1.0\"\nagent_id: tester\nscope:\n  - MUTATES FILE:").append(directory).append("/kept\n");
        for (String line : lines) {
            text.append("  - ").append(line).append('\n');
        }
        return text.append(hooks).toString();
    }

    private Child child(Jdk jdk, String options, String manifest, String... steps) {
        return Child.on(jdk).in(directory).main(Settings.class, steps).klock(options).manifest(manifest);
    }

    private static List<String> hooked(Outcome outcome) {
        List<String> said = new ArrayList<>();
        for (JsonNode record : outcome.log().records()) {
            if (record.path("op").asText().startsWith("hook:")) {
                said.add(record.path("decision").asText() + ' ' + record.path("op").asText().substring(5) + ' ' + record.path("predicate").asText() + ' '
                        + record.path("resource").asText());
            }
        }
        return said;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    @Tag("K6-3")
    void strict_callOutsideTheManifest_isBlockedAndRolledBack(Jdk jdk) {
        Outcome outcome = child(jdk, "", manifest(HOOKS, "MUTATES CONFIG_KEY:a"), "set a", "get a", "write kept", "try set b", "set a").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.out()).as(outcome.toString()).startsWith("main begins\nset a\ngot v\ncaught dev.klock.ScopeViolationError\n").doesNotContain("set b");
        assertThat(outcome.err()).contains("Agent attempted MUTATES on CONFIG_KEY:b but declared nothing.", "to allow it, add to scope: - MUTATES CONFIG_KEY:b");
        assertThat(hooked(outcome)).containsExactly("allow settings MUTATES CONFIG_KEY:a", "allow reads CONSUMES CONFIG_KEY:a",
                "deny settings MUTATES CONFIG_KEY:b");
        assertThat(directory.resolve("kept")).hasContent("first");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-1")
    void classThatIsLoadedWhereTheStackEnds_hasItsHooks(Jdk jdk) {
        Outcome outcome = child(jdk, "mode=block", manifest(HOOKS), "try deep b", "print through").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out().lines()).as(outcome.toString())
                .containsExactly("main begins", "caught dev.klock.ScopeViolationError", "caught dev.klock.ScopeViolationError", "through", "main ends");
        assertThat(hooked(outcome)).contains("deny settings MUTATES CONFIG_KEY:b");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    void whatAnArgumentDoes_thatIsAskedForItsText_isJudgedByTheSameHook(Jdk jdk) {
        Outcome outcome = child(jdk, "mode=block", manifest(HOOKS, "CONSUMES CONFIG_KEY:a", "CONSUMES CONFIG_KEY:c"), "nested c", "try nested b").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(hooked(outcome)).as(outcome.toString()).contains("allow reads CONSUMES CONFIG_KEY:c", "allow reads CONSUMES CONFIG_KEY:a", "deny reads CONSUMES CONFIG_KEY:b");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-C07")
    void classThatAnotherAgentGivesBackWithoutItsHooks_endsTheSession(Jdk jdk) throws IOException {
        Path agent = AgentJar.write(directory.resolve("later.jar"), "Premain-Class", LaterAgent.class);
        for (String mode : new String[] {"strict", "permissive"}) {
            Outcome outcome = Child.on(jdk).in(directory).with(ClassReader.class).main(LaterAgent.class, "kept", "library", "set b").klock("mode=" + mode)
                    .jvm("-javaagent:" + agent).manifest(manifest(HOOKS)).run();
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(mode.equals("strict") ? 108 : 0);
            assertThat(outcome.out().contains("set b")).as(outcome.toString()).isEqualTo(mode.equals("permissive"));
            assertThat(outcome.err()).containsOnlyOnce("a hook is lost: another agent took it out of dev.klock.sandbox.subject.Settings$Memory");
        }
        assertThat(directory.resolve("kept")).hasContent("written");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void permissive_callsOutsideTheManifest_areWarnedOfAndChangeNothing(Jdk jdk) {
        String[] steps = {"set a", "get b", "flag red", "wrapped c", "clear", "late d", "number 7", "control", "object e", "other f", "print done"};
        Outcome bare = Child.on(jdk).in(directory).main(Settings.class, steps).run();
        Outcome outcome = child(jdk, "mode=permissive", manifest(HOOKS), steps).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(bare.exit()).isZero();
        assertThat(outcome.out()).isEqualTo(bare.out());
        assertThat(hooked(outcome)).as("once each, by what the outermost call was given; set(long) is one of those named set").containsExactly(
                "warn settings MUTATES CONFIG_KEY:a", "warn reads CONSUMES CONFIG_KEY:b",
                "warn Settings$Flags.raise PROVIDES SYMBOL:dev.klock.sandbox.subject.Settings$Flags.raise#red", "warn settings MUTATES CONFIG_KEY:c",
                "warn settings MUTATES CONFIG_KEY:all", "warn settings MUTATES CONFIG_KEY:d", "warn settings MUTATES CONFIG_KEY:7",
                "warn settings MUTATES CONFIG_KEY:a\nb\\*\\\\", "warn reads CONSUMES CONFIG_KEY:e");
        assertThat(outcome.err().lines()).as("one line each, whatever is in a name").noneMatch(line -> line.startsWith("b\\*"));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void block_callOutsideTheManifest_isAnErrorAndTheProgramGoesOn(Jdk jdk) {
        Outcome outcome = child(jdk, "mode=block", manifest(HOOKS, "MUTATES CONFIG_KEY:a"), "try set b", "thread set a", "set a").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).isEqualTo("main begins\ncaught dev.klock.ScopeViolationError\nset a\nset a\nmain ends\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void classDefinedWithoutAName_isHookedAsAnyOther(Jdk jdk) {
        Outcome outcome = child(jdk, "mode=block", manifest(HOOKS, "MUTATES CONFIG_KEY:a"), "nameless a", "try nameless b").run();
        assertThat(outcome.out()).as(outcome.toString()).contains("caught dev.klock.ScopeViolationError");
        assertThat(hooked(outcome)).containsExactly("allow settings MUTATES CONFIG_KEY:a", "deny settings MUTATES CONFIG_KEY:b");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void argument_whoseTextIsAnError_countsByItsClass(Jdk jdk) {
        Outcome outcome = child(jdk, "mode=permissive", manifest(HOOKS), "try untold").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(hooked(outcome)).containsExactly("warn reads CONSUMES CONFIG_KEY:dev.klock.sandbox.subject.Settings$Untold");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void learn_calls_areRecorded(Jdk jdk) {
        Outcome outcome = child(jdk, "mode=learn", manifest(HOOKS), "set a").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(hooked(outcome)).containsExactly("learn settings MUTATES CONFIG_KEY:a");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void argument_thatReadsWhenItIsAskedForItsText_isJudgedForThat(Jdk jdk) {
        Outcome outcome = child(jdk, "", manifest(HOOKS, "CONSUMES CONFIG_KEY:secret"), "try file " + directory.resolve("private")).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.log().triples("deny")).containsExactly("CONSUMES FILE:" + directory.resolve("private"));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void call_atTheEndOfTheStack_doesNotLetLaterOnesPass(Jdk jdk) {
        Outcome outcome = child(jdk, "mode=block", manifest(HOOKS, "CONSUMES CONFIG_KEY:a"), "try overflow a", "try overflow a", "try overflow a", "try get b").run();
        assertThat(outcome.out()).as(outcome.toString()).contains("caught dev.klock.ScopeViolationError").doesNotContain("got null");
        assertThat(hooked(outcome)).contains("deny reads CONSUMES CONFIG_KEY:b");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void hook_thatMatchesNothing_isReportedAtTheEnd(Jdk jdk) {
        String hooks = HOOKS + "  - {type: com.acme.Never, method: go, predicate: MUTATES, resource: 'SYMBOL:x'}\n";
        Outcome outcome = child(jdk, "", manifest(hooks, "MUTATES CONFIG_KEY:a"), "set a").run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.err()).contains("klock: warning: hook Never.go (line 10) was never used: no class that com.acme.Never.go could match was loaded",
                "klock: warning: hook reads (line 8) was never used: no call of " + STORE + ".get(java.lang.Object) was made").doesNotContain("hook settings");
        assertThat(outcome.log().summary().path("unused_hooks")).hasSize(3);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void hook_thatItsTypeDoesNotFit_endsTheSessionBeforeTheTypeIsUsed(Jdk jdk) {
        String noArgument = "hooks: [{name: h, type: '" + STORE + "', method: set, predicate: MUTATES, resource: 'CONFIG_KEY:${arg:2}'}]\n";
        Outcome outcome = child(jdk, "", manifest(noArgument), "write kept", "set a").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(1);
        assertThat(outcome.err()).contains("klock.yaml:5:9: hook h: ${arg:2} is none of the 2 arguments of ", "the session ends");
        assertThat(outcome.out()).doesNotContain("set a");
        assertThat(directory.resolve("kept")).hasContent("first");

        String noMethod = "hooks: [{name: h, type: '" + STORE + "', method: sett, predicate: MUTATES, resource: 'CONFIG_KEY:a'}]\n";
        Outcome other = child(jdk, "", manifest(noMethod), "set a").run();
        assertThat(other.exit()).as(other.toString()).isEqualTo(1);
        assertThat(other.err()).contains("hook h: there is no " + STORE + ".sett");

        Outcome permissive = child(jdk, "mode=permissive", manifest(noMethod), "set a").run();
        assertThat(permissive.exit()).as(permissive.toString()).isZero();
        assertThat(permissive.err()).contains("hook h: there is no " + STORE + ".sett");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K1-12")
    void start_withABadHook_endsWith2AndOneLine(Jdk jdk) {
        for (String[] bad : new String[][] {{"{preset: jpa}", "klock.yaml:5:18: unknown preset 'jpa'"},
            {"{type: a.B, method: 'c(int)', predicate: MUTATES, resource: 'SYMBOL:${arg:1}'}", "klock.yaml:5:69: ${arg:1} is none of the 1 arguments"},
            {"{type: java.lang.System, method: getProperty, predicate: CONSUMES, resource: 'CONFIG_KEY:${arg:0}'}",
                "klock.yaml:5:9: java.lang.System is a final class of the JDK, where hooks do not reach"}}) {
            Outcome outcome = child(jdk, "", manifest("hooks: [" + bad[0] + "]\n"), "set a").run();
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(2);
            assertThat(outcome.klockLines().get(0)).contains(bad[1]);
            assertThat(outcome.out()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void library_inAnyLoaderOrModule_isHooked(Jdk jdk) throws IOException {
        Path source = Files.createDirectories(directory.resolve("source/com/acme"));
        Files.writeString(source.resolve("Flags.java"), """
                package com.acme;
                public final class Flags {
                    public static void raise(String flag) {
                        System.out.println("raised " + flag);
                    }
                }
                """);
        Files.writeString(directory.resolve("source/module-info.java"), "module acme { exports com.acme; }");
        Path classes = directory.resolve("classes");
        int compiled = ToolProvider.getSystemJavaCompiler().run(null, null, null, "--release", "17", "-d", classes.toString(),
                directory.resolve("source/module-info.java").toString(), source.resolve("Flags.java").toString());
        assertThat(compiled).isZero();
        String manifest = manifest("hooks: [{name: flags, type: com.acme.Flags, method: raise, predicate: PROVIDES, resource: 'SYMBOL:${arg:0}'}]\n",
                "CONSUMES FILE:" + classes + "/**", "PROVIDES SYMBOL:red");
        Outcome loader = Child.on(jdk).in(directory).main(Isolated.class, "loader", classes.toString(), "red", "blue").klock("mode=block").manifest(manifest).run();
        assertThat(loader.out()).as(loader.toString()).isEqualTo("unnamed\nraised red\ncaught dev.klock.ScopeViolationError\n");
        Outcome module = Child.on(jdk).in(directory).main(Isolated.class, "module", "red", "blue").klock("mode=block").manifest(manifest)
                .jvm("--module-path", classes.toString(), "--add-modules", "acme").run();
        assertThat(module.out()).as(module.toString()).isEqualTo("named\nraised red\ncaught dev.klock.ScopeViolationError\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void library_thatAnotherAgentWeavesToo_isHooked(Jdk jdk) {
        String agent = "-javaagent:" + KlockJar.module().resolve("target/agents/jacoco-agent.jar") + "=destfile=" + directory.resolve("jacoco.exec");
        String manifest = manifest(HOOKS, "MUTATES CONFIG_KEY:a", "PROVIDES FILE:" + directory + "/jacoco.exec");
        for (Child child : List.of(child(jdk, "mode=block", manifest, "set a", "try set b", "flag c").jvm(agent),
                child(jdk, "mode=block", manifest, "set a", "try set b", "try flag c").jvmBefore(agent))) {
            Outcome outcome = child.run();
            assertThat(outcome.out()).as(outcome.toString()).startsWith("main begins\nset a\ncaught dev.klock.ScopeViolationError\n").doesNotContain("set b", "raised");
            assertThat(outcome.err()).doesNotContain("VerifyError", "hook is lost");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void start_withoutHooks_loadsNothingOfThem(Jdk jdk) throws IOException {
        Path log = directory.resolve("loaded.txt");
        Outcome without = child(jdk, "", manifest("", "MUTATES CONFIG_KEY:a"), "set a").jvm("-Xlog:class+load:file=" + log).run();
        assertThat(without.exit()).as(without.toString()).isZero();
        assertThat(Files.readString(log)).doesNotContain("dev.klock.library", "dev.klock.agent.library", "KlockCalls", "dev.klock.bridge.Calls");
        Outcome with = child(jdk, "", manifest(HOOKS, "MUTATES CONFIG_KEY:a"), "set a").jvm("-Xlog:class+load:file=" + log).run();
        assertThat(with.exit()).as(with.toString()).isZero();
        assertThat(Files.readString(log)).contains("dev.klock.library.bytebuddy", "java.lang.KlockCalls").doesNotContain("jsqlparser", "java.util.logging");
        assertThat(with.err()).as("no warnings of the JVM").doesNotContain("WARNING");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void check_ofSuchATriple_answersAsALaunchWould(Jdk jdk) {
        Outcome allowed = Child.on(jdk).in(directory).manifest(manifest(HOOKS, "MUTATES CONFIG_KEY:a")).verb("check", "CONSUMES", "CONFIG_KEY:a").run();
        assertThat(allowed.exit()).as(allowed.toString()).isZero();
        Outcome denied = Child.on(jdk).in(directory).verb("check", "PROVIDES", "SYMBOL:x").run();
        assertThat(denied.exit()).as(denied.toString()).isEqualTo(3);
    }
}
