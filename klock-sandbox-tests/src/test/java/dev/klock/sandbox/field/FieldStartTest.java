package dev.klock.sandbox.field;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Field cases that are about how a JVM starts, or about another one than the program's. */
class FieldStartTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final int STARTS = 5;
    private static final int FLOOD = 100_000;

    @TempDir
    Path directory;

    private void runsAsWithoutKlock(Jdk jdk, Class<?> program, String... jvm) {
        Workspace workspace = Workspace.in(directory);
        Outcome bare = Child.on(jdk).in(workspace.root()).main(program).jvm(jvm).run();
        for (String mode : new String[] {"strict", "permissive"}) {
            Outcome watched = Child.on(jdk).in(workspace.root()).main(program).jvm(jvm).klock("mode=" + mode).manifest(workspace.manifest()).run();
            assertThat(watched.exit()).as(watched.toString()).isEqualTo(bare.exit()).isZero();
            assertThat(watched.out()).as(watched.toString()).isEqualTo(bare.out()).isNotEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-G02")
    void program_whateverItDoesFirst_runsAsWithoutKlock(Jdk jdk) {
        runsAsWithoutKlock(jdk, FirstThings.Reads.class);
        runsAsWithoutKlock(jdk, FirstThings.OpensAUrl.class);
        runsAsWithoutKlock(jdk, FirstThings.RunsALambda.class);
        runsAsWithoutKlock(jdk, FirstThings.AsksForDomains.class);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-G03")
    void program_withItsOwnLogManager_startsEachTime(Jdk jdk) {
        for (int i = 0; i < STARTS * Child.SCALE; i++) {
            runsAsWithoutKlock(jdk, FirstThings.LogsAndOpensUrls.class, "-Djava.util.logging.manager=" + FirstThings.OwnLogManager.class.getName());
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-G04")
    void agentsThread_usingFilesWhileKlockStarts_doesNotHang(Jdk jdk) throws IOException {
        Path jar = agent(FirstThings.BusyAgent.class);
        Workspace workspace = Workspace.in(directory);
        for (int i = 0; i < STARTS * Child.SCALE; i++) {
            Outcome outcome = workspace.watched(jdk, "", "print done").with(FirstThings.BusyAgent.class).jvmBefore("-javaagent:" + jar).run();
            assertThat(outcome.exit()).as(outcome.toString()).isZero();
            assertThat(outcome.out()).as(outcome.toString()).isEqualTo("main begins\ndone\nmain ends\n");
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void violation_beforeThereIsAProgram_endsAsAnyOther(Jdk jdk) throws IOException {
        Path jar = agent(FirstThings.StrayingAgent.class);
        Workspace workspace = Workspace.in(directory);
        String before = workspace.tree().visible();

        Outcome agent = workspace.watched(jdk, "", "print begun").with(FirstThings.StrayingAgent.class).jvm("-javaagent:" + jar).run();
        Outcome recording = workspace.watched(jdk, "", "print begun").jvm("-XX:StartFlightRecording=filename=" + workspace.root() + "/w/x.jfr").run();

        for (Outcome outcome : List.of(agent, recording)) {
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
            assertThat(outcome.out()).as(outcome.toString()).doesNotContain("begun");
            assertThat(outcome.err()).contains(" aborted: 1 denied");
            assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(before);
        }
    }

    private Path agent(Class<?> premain) throws IOException {
        Path jar = directory.resolve("agent.jar");
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", premain.getName());
        try (OutputStream file = Files.newOutputStream(jar); JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.finish();
        }
        return jar;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-G15")
    void violation_againAndAgainInPermissive_isOneWarningAndACount(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.watched(jdk, "mode=permissive", "times " + FLOOD + " append w/x x").run();
        String triple = "MUTATES FILE:" + workspace.root() + "/w/x";
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.klockLines().stream().filter(line -> line.contains("attempted MUTATES on FILE:" + workspace.root() + "/w/x"))).as(outcome.toString()).hasSize(1);
        assertThat(outcome.err()).contains(triple + " was attempted " + FLOOD + " times");
        assertThat(outcome.log().records()).as("lines in the log").hasSizeLessThan(1000);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-C11")
    void childJvm_thatStrays_isStoppedOrReportedAsUnmonitored(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        String java = jdk.java().toString();
        String[] run = {"run", java, "-cp", Child.placeOf(FirstThings.class).toString(), FirstThings.Strays.class.getName()};
        Outcome outcome = workspace.bare(jdk, String.join(" ", run)).klock("")
                .manifest(workspace.manifest() + "  - {predicate: PROVIDES, resource: \"PROCESS:" + java + "\", effects: []}\n").run();
        boolean watched = outcome.log().sessions().size() > 1;
        assertThat(watched || outcome.err().contains("unmonitored") || outcome.log().records().toString().contains("unmonitored"))
                .as("neither watched nor said to be unmonitored: %s", outcome).isTrue();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-C11")
    void childJvm_thatHasKlockInNameOnly_isReported_andOneThatHasItInAFileIsNot(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        String java = jdk.java().toString();
        String agent = "-javaagent:" + KlockJar.path();
        Path file = Files.writeString(workspace.root().resolve("options"), "-javaagent:'" + KlockJar.path() + "'=mode=block\n");
        String program = "-cp " + Child.placeOf(FirstThings.class) + " " + FirstThings.Strays.class.getName();
        for (String arguments : new String[] {program + " " + agent, agent + "=mode=off " + program, "@" + file + " " + program}) {
            Outcome outcome = workspace.bare(jdk, "run " + java + " " + arguments).klock("")
                    .manifest(workspace.manifest() + "  - {predicate: PROVIDES, resource: \"PROCESS:" + java + "\", effects: []}\n").run();
            assertThat(outcome.err().contains("unmonitored child JVM")).as("%s: %s", arguments, outcome).isEqualTo(!arguments.startsWith("@"));
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("FIELD-C12")
    void toolsOfTheJdk_underJavaToolOptions_workAndOpenNoSession(Jdk jdk) throws Exception {
        Workspace.in(directory);
        for (String[] tool : new String[][] {{"keytool", "-help"}, {"jps", "-q"}, {"javac", "-version"}}) {
            ProcessBuilder builder = new ProcessBuilder(tool).directory(directory.toFile()).redirectErrorStream(true);
            builder.command().set(0, jdk.home().resolve("bin").resolve(tool[0]).toString());
            builder.environment().put("JAVA_TOOL_OPTIONS", "-javaagent:" + KlockJar.path());
            Process process = builder.start();
            String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as("%s: %s", tool[0], out).isZero();
            assertThat(directory.resolve(".klock")).as(tool[0]).doesNotExist();
        }
    }
}
