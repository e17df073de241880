package dev.klock.sandbox.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.subject.AgentJar;
import dev.klock.sandbox.subject.LaterAgent;
import dev.klock.sandbox.subject.ThroughUnsafe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;

/** A limit that is gone should be taken out of docs/security.md, so these tests fail when klock becomes better, too. */
class KnownLimitsTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";

    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-9")
    @Tag("FIELD-C06")
    void klockItself_switchedOffThroughUnsafe_isNotSeen(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Path undeclared = workspace.root().resolve("w/private/p");

        Outcome outcome = Child.on(jdk).in(workspace.root()).main(ThroughUnsafe.class, undeclared.toString()).klock("").manifest(workspace.manifest()).run();

        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("removed\n");
        assertThat(undeclared).doesNotExist();
        assertThat(outcome.exit()).isZero();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-9")
    void hardLink_thatWasThereBefore_reachesItsTwinUnderTheDeclaredName_andIsRolledBack(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        Path undeclared = workspace.root().resolve("w/private/p");
        Files.createLink(workspace.root().resolve("w/out/twin"), undeclared);

        Outcome inside = workspace.watched(jdk, "", "append w/out/twin more").run();

        assertThat(inside.exit()).as(inside.toString()).isZero();
        assertThat(undeclared).hasContent("first of w/private/p\nmore");

        Outcome strayed = workspace.watched(jdk, "", "append w/out/twin and more", "write w/x astray").run();

        assertThat(strayed.exit()).as(strayed.toString()).isEqualTo(108);
        assertThat(undeclared).as(strayed.toString()).hasContent("first of w/private/p\nmore");
    }

    /** What another agent that was declared, or named by the launcher, makes of a class is looked at for the hooks' calls, not understood. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-9")
    @Tag("FIELD-C07")
    void anotherAgent_thatLeavesTheHooksInAndGoesRoundThem_isNotSeen(Jdk jdk) throws IOException {
        Workspace workspace = Workspace.in(directory);
        Path undeclared = Files.writeString(workspace.root().resolve("undeclared"), "s3cret");
        Path agent = AgentJar.write(workspace.root().resolve("later.jar"), "Premain-Class", LaterAgent.class);

        Outcome outcome = Child.on(jdk).in(workspace.root()).with(ClassReader.class).main(LaterAgent.class, "w/out/new", "around", undeclared.toString())
                .klock("").jvm("-javaagent:" + agent).manifest(workspace.manifest()).run();

        assertThat(outcome.out()).as(outcome.toString()).isEqualTo("changed\nread s3cret\n");
        assertThat(outcome.exit()).isZero();
    }
}
