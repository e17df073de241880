package dev.klock.sandbox.compat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.FileWork;
import dev.klock.sandbox.subject.OwnLibraries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Each program gives the same stdout and exit code under klock, permissive and strict, as without it. */
class CompatibilityTest {
    private static final Path JACOCO = KlockJar.module().resolve("target/agents/jacoco-agent.jar");
    private static final int TASKS = 2000;

    private interface Subject {
        Child set(Child child, Path directory);
    }

    @TempDir
    Path directory;

    @TestFactory
    Stream<DynamicTest> program_withItsOwnAgent_runsUnchanged() {
        List<DynamicTest> tests = new ArrayList<>();
        for (Jdk jdk : Jdks.all()) {
            tests.add(same("JaCoCo before klock", jdk, (child, dir) -> work(child, dir, "pool")
                    .jvmBefore("-javaagent:" + JACOCO + "=destfile=" + dir.resolve("jobs/jacoco.exec"))));
            tests.add(same("JaCoCo after klock", jdk, (child, dir) -> work(child, dir, "pool")
                    .jvm("-javaagent:" + JACOCO + "=destfile=" + dir.resolve("jobs/jacoco.exec"))));
            tests.add(same("flight recorder", jdk, (child, dir) -> work(child, dir, "pool")
                    // the recorder keeps its repository in tmpdir, under a name made of time and process: declared with it
                    .jvm("-Djava.io.tmpdir=" + dir.resolve("jobs"), "-Xlog:jfr+startup=off",
                            "-XX:StartFlightRecording=filename=" + dir.resolve("jobs/run.jfr") + ",settings=profile")));
            tests.add(same("flight recorder with the repository it makes itself", jdk, (child, dir) -> work(child, dir, "pool")
                    .jvm("-Xlog:jfr+startup=off", "-XX:StartFlightRecording=filename=" + dir.resolve("jobs/run.jfr") + ",settings=profile")));
            if (jdk.feature() >= 21) {
                tests.add(same(TASKS + " virtual threads", jdk, (child, dir) -> work(child, dir, "virtual")));
            }
            tests.add(same("old Jackson and Byte Buddy", jdk, (child, dir) -> child.main(OwnLibraries.class)
                    .with(JsonFactory.class, ObjectMapper.class, JsonProperty.class, ByteBuddy.class)));
        }
        return tests.stream();
    }

    private static Child work(Child child, Path directory, String threads) {
        return child.main(FileWork.class, directory.resolve("jobs/files").toString(), Integer.toString(threads.equals("virtual") ? TASKS : 200), threads);
    }

    private DynamicTest same(String name, Jdk jdk, Subject subject) {
        return dynamicTest(name + " @ JDK " + jdk.feature(), () -> {
            Outcome bare = run(name + " bare", jdk, null, subject);
            assertThat(bare.exit()).as(bare.toString()).isZero();
            for (String mode : List.of("permissive", "strict")) {
                Outcome outcome = run(name + " " + mode, jdk, mode, subject);
                assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(bare.exit());
                assertThat(outcome.out()).as(outcome.toString()).isEqualTo(bare.out());
                assertThat(outcome.log().decided("warn")).as(outcome.toString()).isEmpty();
                for (String made : List.of("jacoco.exec", "run.jfr")) {
                    // what an agent or the recorder collects is written as late as at exit
                    assertThat(size(outcome, made) > 0).as("%s of %s", made, outcome).isEqualTo(size(bare, made) > 0);
                }
                // nothing on stderr but klock's own lines and what the program writes there without klock
                List<String> strange = new ArrayList<>(outcome.err().lines().toList());
                strange.removeAll(bare.err().lines().toList());
                assertThat(strange).as(outcome.toString()).allMatch(line -> line.startsWith("klock: "));
            }
        });
    }

    private static long size(Outcome outcome, String made) throws IOException {
        Path file = outcome.directory().resolve("jobs").resolve(made);
        return Files.exists(file) ? Files.size(file) : 0;
    }

    private Outcome run(String name, Jdk jdk, String mode, Subject subject) throws IOException {
        Path own = Files.createDirectories(directory.toRealPath().resolve(jdk.feature() + "-" + name.replace(' ', '-')));
        Files.createDirectories(own.resolve("jobs/files"));
        Child child = subject.set(Child.on(jdk).in(own), own);
        if (mode != null) {
            child.klock("mode=" + mode).manifest("""
                    ver: "1.0"
                    agent_id: compatible
                    scope:
                      - MUTATES FILE:%1$s/jobs/**
                      - PROVIDES FILE:%1$s/jobs/**
                      - DELETES FILE:%1$s/jobs/**
                      - RENAMES FILE:%1$s/jobs/**
                    """.formatted(own));
        }
        return child.run();
    }
}
