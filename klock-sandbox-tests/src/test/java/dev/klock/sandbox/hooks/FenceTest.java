package dev.klock.sandbox.hooks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.subject.OpenWriters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An aborted session cannot go on through what it opened before. */
class FenceTest {
    private static final int MANY = 60;

    /**
     * <pre>
     *  ok/NAME      one file a writer, each with a second name in twins/: it is put back in place, so a late write would land in it
     *  ok/many/*    changed first, so that the rollback takes a while
     *  no/outside   not declared
     * </pre>
     */
    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-5")
    void writers_openBeforeTheViolation_areStoppedAndLeaveNothing(Jdk jdk, @TempDir Path directory) throws IOException {
        Path root = directory.toRealPath();
        Path ok = Files.createDirectories(root.resolve("ok"));
        Files.createDirectories(ok.resolve("many"));
        Files.createDirectories(ok.resolve("twins"));
        Files.createDirectories(root.resolve("no"));
        for (String name : OpenWriters.names(jdk.feature())) {
            Files.writeString(ok.resolve(name), "what " + name + " finds\n");
            Files.createLink(ok.resolve("twins").resolve(name), ok.resolve(name));
        }
        for (int i = 1; i <= MANY; i++) {
            Files.writeString(ok.resolve("many").resolve("file" + i), "first\n");
        }
        Files.writeString(root.resolve("no/outside"), "untouched\n");
        String before = Tree.of(root).visible();
        Outcome outcome = Child.on(jdk).in(root).main(OpenWriters.class, ok.toString(), root.resolve("no/outside").toString(), "" + MANY)
                .klock("").manifest("""
                        ver: "1.0"
                        agent_id: writer
                        scope:
                          - MUTATES FILE:%s/**
                        """.formatted(ok)).run();
        Files.delete(root.resolve("klock.yaml"));
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.out()).as(outcome.toString()).contains("all opened", "stopped by dev.klock.ScopeViolationError")
                .doesNotContain("strayed", "failed before", " wrote");
        assertThat(Tree.of(root).visible()).as(outcome.toString()).isEqualTo(before);
        // an asynchronous channel's write fails on a thread of its pool: its caller waits until the JVM ends
        for (String name : OpenWriters.names(jdk.feature())) {
            if (!name.startsWith("Asynchronous")) {
                assertThat(outcome.out()).as(outcome.toString()).contains(name + " stopped by dev.klock.ScopeViolationError\n");
            }
        }
    }
}
