package dev.klock.sandbox.compat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.Recorded;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What the flight recorder may tell a program of its surroundings. */
@Tag("C49")
class RecorderTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String ALL = "{jdk.InitialEnvironmentVariable=true, jdk.JVMInformation=true, jdk.SystemProcess=true}";

    @TempDir
    Path directory;

    private Outcome records(Jdk jdk, String options, String more) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = Child.on(jdk).in(workspace.root()).main(Recorded.class).klock(options)
                .manifest(workspace.manifest() + "  - CONSUMES FILE:" + workspace.root() + "/w/out/**\n" + more).run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        return outcome;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void recording_inStrict_holdsNeitherUndeclaredVariablesNorOtherProcesses(Jdk jdk) {
        assertThat(records(jdk, "", "").out())
                .isEqualTo("{jdk.InitialEnvironmentVariable=false, jdk.JVMInformation=true, jdk.SystemProcess=false}\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void recording_whereEveryVariableIsDeclared_holdsTheEnvironment(Jdk jdk) {
        StringBuilder all = new StringBuilder();
        for (String name : System.getenv().keySet()) {
            all.append("  - CONSUMES ENV:").append(name).append('\n');
        }
        assertThat(records(jdk, "", all.toString()).out())
                .isEqualTo("{jdk.InitialEnvironmentVariable=true, jdk.JVMInformation=true, jdk.SystemProcess=false}\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void recording_inPermissive_isTheSame(Jdk jdk) {
        assertThat(records(jdk, "mode=permissive", "").out()).isEqualTo(ALL + "\n");
    }

    /** A line that lets the recorder make its directory does not take away what it does there. */
    @ParameterizedTest
    @MethodSource(JDKS)
    void recording_whereTemporaryFilesAreDeclared_isNotDenied(Jdk jdk) {
        assertThat(records(jdk, "", "  - PROVIDES FILE:" + System.getProperty("java.io.tmpdir") + "/*\n").out()).isNotEmpty();
    }
}
