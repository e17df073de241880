package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.CopiesUnderGc;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The collector reads woven methods as they declare themselves to be: too small a stack ends the JVM. */
class WovenFramesTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#all")
    @Tag("K6-1")
    void copies_whileTheCollectorRuns_areMade(Jdk jdk) {
        Workspace workspace = Workspace.in(directory);
        Outcome outcome = Child.on(jdk).in(workspace.root()).main(CopiesUnderGc.class).klock("").manifest("""
                ver: "1.0"
                agent_id: tester
                scope:
                  - MUTATES FILE:%1$s/w/out/**
                  - PROVIDES FILE:%1$s/w/out/**
                  - DELETES FILE:%1$s/w/out/**
                  - RENAMES FILE:%1$s/w/out/**
                """.formatted(workspace.root())).run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).contains("done");
    }
}
