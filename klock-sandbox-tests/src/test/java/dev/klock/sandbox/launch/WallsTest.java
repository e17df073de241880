package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.Climber;
import dev.klock.sandbox.subject.Runner;
import dev.klock.sandbox.subject.Serialized;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** klock's own objects are out of the program's reach. */
class WallsTest {
    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-C06")
    void klocksThreads_foundByTheProgram_leadNowhere(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = Child.on(jdk).in(workspace.root())
                .main(Climber.class, "dev.klock.agent.observe.Observer", "dev.klock.agent.decide.Targets", "dev.klock.agent.weave.SharedTypes",
                        "dev.klock.agent.weave.Bridge", "dev.klock.embedded.EmbeddedKernel", "dev.klock.resource.Resource")
                .klock("").manifest(workspace.manifest()).run();
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("tried many\n");
        assertThat(outcome.exit()).isZero();
    }

    /** Its run() would note that the thread is klock's own. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-C06")
    void klocksThreads_runByTheProgram_doNothing(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = Child.on(jdk).in(workspace.root()).main(Runner.class, workspace.root().resolve("stray").toString()).klock("")
                .manifest(workspace.manifest()).run();
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("came back\n".repeat(2));
        assertThat(outcome.exit()).isEqualTo(108);
        assertThat(workspace.root().resolve("stray")).doesNotExist();
    }

    /** Serialization makes objects of any class without its constructor, and opens any constructor; what they can be told by interfaces of the JDK, they do. */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("FIELD-C06")
    void objectsOfKlocksClasses_madeBySerialization_needALine(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = Child.on(jdk).in(workspace.root()).main(Serialized.class).klock("mode=block").manifest(workspace.manifest()).run();
        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("dev.klock.agent.Entrance refused\nsun.nio.fs.KlockFiles refused\njava.util.ArrayList made\n");
        assertThat(outcome.exit()).isZero();
    }
}
