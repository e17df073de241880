package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.Script;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What other processes, and the launch itself, do to a watched program. */
class OthersTest {
    /** Waits until the program has used the directory, then puts a link to an undeclared one in its place. */
    private static final String SWAP = "(while [ ! -e w/out/ready ]; do sleep 0.1; done; mv w/out/c w/out/c-old; ln -s ../private w/out/c) & exec \"$@\"";

    @TempDir
    private Path directory;

    static Stream<Arguments> jdksAndSteps() {
        List<Arguments> all = new ArrayList<>();
        for (Jdk jdk : Jdks.all()) {
            for (String step : new String[] {"write %s/w/out/c/d evil", "append w/out/c/d evil", "delete %s/w/out/c/d", "read %s/w/out/c/d",
                "move %s/w/out/c/d %s/w/out/e"}) {
                all.add(Arguments.of(jdk, step));
            }
        }
        return all.stream();
    }

    static Stream<Jdk> jdks() {
        return Jdks.all().stream();
    }

    @ParameterizedTest(name = "{1} @ {0}")
    @MethodSource("jdksAndSteps")
    @Tag("K6-2")
    @Tag("FIELD-D06")
    void name_ledElsewhereByAnotherProcessAfterItWasUsed_isJudgedByWhereItLeadsNow(Jdk jdk, String step) throws Exception {
        Workspace workspace = Workspace.in(directory);
        Path victim = Files.writeString(workspace.root().resolve("w/private/d"), "precious\n");
        String root = workspace.root().toString();
        String used = "write " + root + "/w/out/c/d used";
        Outcome outcome = workspace.watched(jdk, "", used, "times 5 append w/out/c/d more", "read " + root + "/w/out/c/d", "write w/out/ready x",
                "sleep 2500", step.replace("%s", root)).through("/bin/sh", "-c", SWAP, "sh").run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.err()).contains("FILE:" + root + "/w/private/d");
        assertThat(victim).hasContent("precious\n");
    }

    @ParameterizedTest
    @MethodSource("jdks")
    void klock_namedTwice_endsWithOneLine(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = workspace.watched(jdk, "", "print never").env("JDK_JAVA_OPTIONS", "-javaagent:" + KlockJar.path()).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(2);
        assertThat(outcome.err()).contains("klock: klock is in this JVM already");
        assertThat(outcome.out()).doesNotContain("main begins");
    }

    /** The launcher's, which would ask whether klock may do what it must do. */
    @ParameterizedTest
    @MethodSource("jdks")
    void securityManager_thatStopsKlock_isNamed(Jdk jdk) throws Exception {
        Workspace workspace = Workspace.in(directory);
        Path policy = Files.writeString(directory.resolve("policy"), "grant { permission java.util.PropertyPermission \"*\", \"read\"; };\n");
        Outcome outcome = workspace.watched(jdk, "mode=permissive", "print never")
                .jvmBefore("-Djava.security.manager", "-Djava.security.policy==" + policy).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(1);
        if (jdk.feature() == 17) {
            assertThat(outcome.err()).contains("klock: cannot start, so the program is not started: ", "start without it, since the manifest takes its place");
            assertThat(outcome.out()).isEmpty();
        } else {
            assertThat(outcome.out()).as("there is none any more").doesNotContain("main begins");
        }
    }
}
