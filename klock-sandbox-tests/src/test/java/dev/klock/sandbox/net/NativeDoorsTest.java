package dev.klock.sandbox.net;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.AgentJar;
import dev.klock.sandbox.subject.LaterAgent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;

/** Ways round the JDK: native code, agents, and the VM told to write files. */
@Tag("K6-1")
@Tag("K6-7")
class NativeDoorsTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";

    @TempDir
    Path directory;

    private Steps steps(Jdk jdk, String... lines) {
        return new Steps(jdk, directory, NativeSteps.class).declaring(lines);
    }

    private Path real(String name) throws IOException {
        return directory.toRealPath().resolve(name);
    }

    private Path library(Jdk jdk) throws IOException {
        return Files.copy(jdk.home().resolve("lib/libprefs.so"), real("libown.so"));
    }

    private static void denied(Map<String, String> results, String step, String triple) {
        assertThat(results.get(step)).as(step).contains("ScopeViolationError").contains("Agent attempted " + triple + " but ");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-B05")
    @Tag("FIELD-B08")
    void library_declaredAndNot_isLoadedAndStopped(Jdk jdk) throws IOException {
        Path library = library(jdk);
        String[] loads = {"load " + library, "runtime-load " + library};
        Steps declared = steps(jdk, "CONSUMES NATIVE:" + library);
        assertThat(declared.watched("block", loads[0]).values()).containsExactly("loaded");
        // to look whether it is there takes a right on the file or on the library
        Map<String, String> results = steps(jdk, "CONSUMES FILE:" + directory.toRealPath() + "/**").watched("block", loads);
        denied(results, loads[0], "CONSUMES on NATIVE:" + library);
        denied(results, loads[1], "CONSUMES on NATIVE:" + library);
        String[] quirks = {"load rel.so", "load-library no-such-library"};
        assertThat(steps(jdk).watched("block", quirks)).isEqualTo(steps(jdk).bare(quirks));
    }

    /** Bound to classes of its own, a library of the JDK would give the program natives that no hook guards. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-B05")
    void libraryOfTheJdk_loadedByTheProgramItself_isStopped(Jdk jdk) throws IOException {
        Path library = jdk.java().toRealPath().getParent().resolveSibling("lib/libattach.so");
        assertThat(library).exists();
        String load = "load " + library;
        denied(steps(jdk).watched("block", load), load, "CONSUMES on NATIVE:" + library);
        assertThat(steps(jdk, "CONSUMES NATIVE:" + library).watched("block", load).values()).containsExactly("loaded");
    }

    /** What the JDK asks wherever it does something, it would ask while it does something for klock, too. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-C06")
    void code_thatTheJdkAsksEverywhere_needsItsLine(Jdk jdk) throws IOException {
        String properties = "CONSUMES on NATIVE:java.lang.System.setProperties";
        Map<String, String> results = steps(jdk).watched("block", "properties own", "properties beside", "properties plain");
        denied(results, "properties own", properties);
        denied(results, "properties beside", properties);
        assertThat(results.get("properties plain")).isEqualTo("set");
        assertThat(steps(jdk, "CONSUMES NATIVE:java.lang.System.setProperties").watched("block", "properties own").values()).containsExactly("set");
        if (jdk.feature() == 17) {
            denied(steps(jdk).watched("block", "manager"), "manager", "CONSUMES on NATIVE:java.lang.System.setSecurityManager");
        }
    }

    /** An error thrown into klock's own code leaves it as if it were still at work; a suspended thread of klock's ends no session. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-C06")
    void thread_stoppedOrSuspended_needsItsLine(Jdk jdk) throws IOException {
        String[] ways = {"stop", "stop suspended"};
        Steps declared = steps(jdk, "CONSUMES NATIVE:java.lang.Thread.stop", "CONSUMES NATIVE:java.lang.Thread.suspend");
        if (jdk.feature() == 17) {
            Map<String, String> results = steps(jdk).watched("block", ways);
            denied(results, ways[0], "CONSUMES on NATIVE:java.lang.Thread.stop");
            denied(results, ways[1], "CONSUMES on NATIVE:java.lang.Thread.suspend");
            assertThat(declared.watched("block", ways).values()).containsExactly("over", "over");
        } else {
            assertThat(declared.watched("block", ways[0])).isEqualTo(declared.bare(ways[0]));
        }
    }

    /** The JDK looks for fonts and keeps what it found, on the program's thread but on its own account. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void textDrawn_withoutALineForFonts_isDrawn(Jdk jdk) throws IOException {
        assertThat(steps(jdk).watched("strict", "draw")).isEqualTo(steps(jdk).bare("draw"));
    }

    /** Its library loads what a file in the home names, or writes where one says. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-B05")
    void service_thatTheProgramMayConfigure_needsItsLine(Jdk jdk) throws IOException {
        Path home = Files.createDirectories(real("home/.config")).getParent();
        String[] mayWrite = {"MUTATES FILE:" + home + "/.config/**", "PROVIDES FILE:" + home + "/.config/**"};
        denied(steps(jdk, mayWrite).home(home).watched("block", "draw"), "draw", "CONSUMES on NATIVE:fontconfig");
        Steps declared = steps(jdk, mayWrite[0], mayWrite[1], "CONSUMES NATIVE:fontconfig", "CONSUMES NATIVE:sound").home(home);
        assertThat(declared.watched("block", "draw", "sound")).isEqualTo(declared.bare("draw", "sound"));
        Outcome strict = steps(jdk).strict("sound");
        assertThat(strict.exit()).as(strict.toString()).isEqualTo(108);
        assertThat(strict.err()).contains("CONSUMES on NATIVE:sound");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-B05")
    void library_loadedForTheProgramByTheJdk_isStopped(Jdk jdk) throws IOException {
        Path library = jdk.java().toRealPath().getParent().resolveSibling("lib/libattach.so");
        String load = "load-by-the-jdk " + library;
        denied(steps(jdk).watched("block", load), load, "CONSUMES on NATIVE:" + library);
        assertThat(steps(jdk, "CONSUMES NATIVE:" + library).watched("block", load).values()).containsExactly("loaded");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.net.NativeDoorsTest#withForeignFunctions")
    @Tag("FIELD-B05")
    void foreignFunction_declaredAndNot_isLinkedAndStopped(Jdk jdk) throws IOException {
        Path library = library(jdk);
        String[] ways = {"link", "symbols " + library, "symbols libc.so.6", "reinterpret", "target-layout"};
        Map<String, String> results = steps(jdk, "CONSUMES FILE:" + directory.toRealPath() + "/**").watched("block", ways);
        denied(results, "link", "CONSUMES on NATIVE:ffm");
        denied(results, "symbols " + library, "CONSUMES on NATIVE:" + library);
        denied(results, "symbols libc.so.6", "CONSUMES on NATIVE:ffm");
        // what is anywhere in the process's memory
        denied(results, "reinterpret", "CONSUMES on NATIVE:ffm");
        denied(results, "target-layout", "CONSUMES on NATIVE:ffm");
        Steps declared = steps(jdk, "CONSUMES NATIVE:ffm", "CONSUMES NATIVE:" + library);
        assertThat(declared.watched("block", ways)).isEqualTo(declared.bare(ways));
    }

    static List<Jdk> withForeignFunctions() {
        return Jdks.from(22);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-B01")
    @Tag("FIELD-B03")
    @Tag("FIELD-B07")
    void file_writtenByTheVm_isTheProgramsWherePut(Jdk jdk) throws IOException {
        Path ok = Files.createDirectory(real("ok"));
        Path no = Files.createDirectory(real("no"));
        Map<String, String> wanted = new LinkedHashMap<>();
        wanted.put("heap %s/a.hprof", "dumped true");
        if (jdk.feature() >= 21) {
            wanted.put("threads %s/t.txt", "dumped true");
        }
        wanted.put("flag HeapDumpPath %s/oom.hprof", "set");
        wanted.put("command vmLog output=%s/vm.log what=gc", "answered");
        wanted.put("command vmLog output=file=%s/vm2.log what=gc", "answered");
        wanted.put("command jfrStart filename=%s/start.jfr", "answered true");
        wanted.put("record %s/r.jfr", "recorded true");
        wanted.put("record-to %s/s.jfr", "recorded true");
        String[] allowed = wanted.keySet().stream().map(step -> step.formatted(ok)).toArray(String[]::new);
        String[] denied = wanted.keySet().stream().map(step -> step.formatted(no)).toArray(String[]::new);
        String[] later = {"command vmLog output=" + ok + "/log what=gc", "flag HeapDumpPath " + ok + "/later", "flag HeapDumpOnOutOfMemoryError true",
            "flag HeapDumpBeforeFullGC true", "flag HeapDumpAfterFullGC true", "heap " + ok + "/whole.hprof"};
        assertThat(steps(jdk, "PROVIDES FILE:" + ok + "/*").watched("block", later).values()).as("where it writes later is not told; or the environment is")
                .allMatch(result -> result.contains("CONSUMES on NATIVE:vm"));
        Steps steps = steps(jdk, "PROVIDES FILE:" + ok + "/*", "CONSUMES NATIVE:vm");
        Map<String, String> results = steps.watched("block", allowed);
        wanted.forEach((step, result) -> assertThat(results.get(step.formatted(ok))).as(step).startsWith(result));
        Map<String, String> stopped = steps.watched("block", denied);
        stopped.forEach((step, result) -> assertThat(result).as(step).contains("ScopeViolationError").contains("FILE:" + no + "/"));
        try (Stream<Path> left = Files.list(no)) {
            assertThat(left).isEmpty();
        }
        Map<String, String> telling = steps.watched("block", "plain-command vmVersion", "command vmFlags", "command threadPrint", "command gcClassHistogram",
                "describe", "flag PrintConcurrentLocks true");
        assertThat(telling.values()).as(telling.toString()).allMatch(result -> result.matches("answered true|some true|set"));
        Outcome outcome = steps.outcome("mode=block,denials.limit=100", "record " + ok + "/again.jfr");
        assertThat(outcome.log().decided("deny")).as("the recorder's own directory is not the program's: %s", outcome)
                .noneMatch(record -> record.path("resource").asText().matches(".*/[0-9]{4}_[0-9]{2}_[0-9]{2}_.*"));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-C20")
    @Tag("FIELD-C07")
    void agentAfterKlock_undeclared_doesNotComeIn(Jdk jdk) throws IOException {
        Path jar = AgentJar.write(real("late.jar"), "Agent-Class", LateAgent.class);
        String java = jdk.java().toRealPath().toString();
        String[] child = {"{predicate: PROVIDES, resource: \"PROCESS:" + java + "\", effects: []}", "CONSUMES NATIVE:agent"};
        Map<String, String> results = steps(jdk, child[0]).watched("block", "late-agent " + jar, "command jvmtiAgentLoad " + jar, "attach", "attach 1");
        assertThat(results.get("late-agent " + jar)).isEqualTo("attacher ended true, agent null");
        denied(results, "command jvmtiAgentLoad " + jar, "CONSUMES on NATIVE:agent");
        denied(results, "attach", "MUTATES on PROCESS:" + java);
        assertThat(results.get("attach 1")).contains("ScopeViolationError").contains("MUTATES on PROCESS:");
        assertThat(steps(jdk, child).watched("block", "late-agent " + jar).values()).containsExactly("attacher ended true, agent is here");
        Outcome strict = steps(jdk, child[0]).strict("late-agent " + jar);
        assertThat(strict.exit()).as(strict.toString()).isEqualTo(108);
    }

    /** @param first whether it is named before klock: its transformers come before klock's weaver then, which puts the hooks in again */
    private Outcome underLaterAgent(Jdk jdk, boolean first, String options, String way, Object what) throws IOException {
        Path written = real("ok").resolve("written");
        Files.deleteIfExists(written);
        String agent = "-javaagent:" + AgentJar.write(real("later.jar"), "Premain-Class", LaterAgent.class);
        Child child = Child.on(jdk).in(directory).with(ClassReader.class).main(LaterAgent.class, written.toString(), way, what.toString()).klock(options)
                .manifest("ver: \"1.0\"\nagent_id: tester\nscope:\n  - PROVIDES FILE:" + written.getParent() + "/*\n");
        return (first ? child.jvmBefore(agent) : child.jvm(agent)).run();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-C07")
    void agentThatTakesTheHooksOut_endsTheSessionBeforeTheClassIsChanged(Jdk jdk) throws IOException {
        Path secret = Files.writeString(real("secret"), "s3cret");
        Files.createDirectory(real("ok"));
        for (String way : new String[] {"pristine", "self"}) {
            Outcome strict = underLaterAgent(jdk, false, "", way, secret);
            assertThat(strict.exit()).as(strict.toString()).isEqualTo(108);
            assertThat(strict.err()).contains("klock: a hook is lost: another agent took it out of ").contains("; the session ends");
            assertThat(strict.out()).as("before the class is changed").isEmpty();
            assertThat(real("ok").resolve("written")).as("rolled back").doesNotExist();
            Outcome before = underLaterAgent(jdk, true, "", way, secret);
            assertThat(before.exit()).as(before.toString()).isEqualTo(108);
            assertThat(before.out()).isEqualTo("changed\n");
            assertThat(before.err()).contains("Agent attempted CONSUMES on FILE:" + secret).doesNotContain("a hook is lost");
        }
        assertThat(underLaterAgent(jdk, false, "mode=block", "pristine", secret).exit()).isEqualTo(108);
        Outcome permissive = underLaterAgent(jdk, false, "mode=permissive", "pristine", secret);
        assertThat(permissive.exit()).as(permissive.toString()).isZero();
        assertThat(permissive.out()).isEqualTo("changed\nread s3cret\n");
        assertThat(permissive.err()).containsOnlyOnce("a hook is lost: another agent took it out of java.io.FileInputStream.open");
        Outcome copy = underLaterAgent(jdk, false, "mode=block", "copy", secret);
        assertThat(copy.out()).as(copy.toString()).isEqualTo("changed\n");
        assertThat(copy.err()).contains("Agent attempted CONSUMES on FILE:" + secret).doesNotContain("a hook is lost");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-C06")
    @Tag("FIELD-C07")
    void agentThatGetsAtKlockItself_isStopped(Jdk jdk) throws IOException {
        Path secret = Files.writeString(real("secret"), "s3cret");
        Files.createDirectory(real("ok"));
        Outcome open = underLaterAgent(jdk, false, "", "open", secret);
        assertThat(open.exit()).as(open.toString()).isEqualTo(108);
        assertThat(open.err()).contains("CONSUMES on NATIVE:java.lang.instrument.Instrumentation.redefineModule");
        Outcome own = underLaterAgent(jdk, false, "", "own", secret);
        assertThat(own.exit()).as(own.toString()).isEqualTo(108);
        assertThat(own.err()).contains("klock: a hook is lost: another agent changes dev.klock.agent.Guard; the session ends");
        assertThat(own.out() + open.out()).as("before it is done").isEmpty();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-C07")
    void agentThatTakesTheHooksOutOfAClassLoadedLater_endsTheSessionBeforeTheClassIsUsed(Jdk jdk) throws IOException {
        Files.createDirectory(real("ok"));
        try (LocalServer server = new LocalServer()) {
            Outcome strict = underLaterAgent(jdk, false, "", "unseen", "http://127.0.0.1:" + server.port() + "/a");
            assertThat(strict.exit()).as(strict.toString()).isEqualTo(108);
            assertThat(strict.err()).contains("a hook is lost: another agent took it out of jdk.internal.net.http.Exchange.<init>");
            assertThat(strict.out()).isEmpty();
            assertThat(server.seen()).isEmpty();
        }
    }
}
