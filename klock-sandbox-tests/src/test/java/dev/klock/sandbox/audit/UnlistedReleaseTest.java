package dev.klock.sandbox.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JDK whose release no table names: the newest JDK here, under a jar whose tables call it by an older number. */
class UnlistedReleaseTest {
    @TempDir
    Path directory;

    private record Run(int exit, String out, String err) {
    }

    @Test
    @Tag("K6-1")
    void unlistedRelease_thatPassesTheAudit_runsAndIsAuditedOnce() throws Exception {
        Jdk jdk = Jdks.newest();
        Path jar = AuditTest.renumbered(directory, jdk, lines -> lines);
        Run first = run(jdk, jar, "strict");
        assertThat(first.exit).as(first.toString()).isZero();
        Path cache = directory.resolve("cache/klock");
        try (Stream<Path> kept = Files.list(cache)) {
            assertThat(kept.map(path -> path.getFileName().toString())).as("what is kept").anyMatch(name -> name.startsWith("audit-"));
        }
        assertThat(Files.getPosixFilePermissions(cache)).hasSize(3);
        // a ledger with a hole is another jar: what was kept does not hold for it
        Path holed = AuditTest.renumbered(Files.createDirectory(directory.resolve("holed")), jdk, UnlistedReleaseTest::withHole);
        Run refused = run(jdk, holed, "strict");
        assertThat(refused.exit).as(refused.toString()).isEqualTo(2);
    }

    @Test
    void unlistedRelease_thatFailsTheAudit_isRefusedInStrictAndWarnedOfInPermissive() throws Exception {
        Jdk jdk = Jdks.newest();
        Path jar = AuditTest.renumbered(directory, jdk, UnlistedReleaseTest::withHole);
        Run strict = run(jdk, jar, "strict");
        assertThat(strict.exit).as(strict.toString()).isEqualTo(2);
        assertThat(strict.out).as(strict.toString()).isEmpty();
        assertThat(strict.err.lines().toList()).as(strict.toString()).singleElement().asString()
                .contains("do not hold on Java " + jdk.feature(), "sun.nio.fs.UnixNativeDispatcher.getcwd", "doctor --audit");
        Run permissive = run(jdk, jar, "permissive");
        assertThat(permissive.exit).as(permissive.toString()).isZero();
        assertThat(permissive.err).as(permissive.toString()).contains("warning: hooks for Java");
    }

    /** All rows match: what a row is missing for, nobody can tell. */
    @Test
    void release_thatNobodyKnowsTheHandoversOf_isRefusedWhereTheManifestHasAgents() throws Exception {
        Jdk jdk = Jdks.newest();
        Path jar = new AlteredJar().propagation(lines -> lines.map(line -> AlteredJar.renumbered(line, 0, jdk.feature(), jdk.feature() - 1))).in(directory);
        String agents = "{\"ver\": \"1.0\", \"agent_id\": \"unlisted\", \"scope\": [], \"agents\": [{\"agent_id\": \"one\", \"scope\": []}]}";
        for (String mode : List.of("strict", "block")) {
            Run refused = run(jdk, jar, mode, agents);
            assertThat(refused.exit).as(refused.toString()).isEqualTo(2);
            assertThat(refused.err).as(refused.toString()).contains("by what ways work is handed on between agents is not known for this release");
        }
        Run warned = run(jdk, jar, "permissive", agents);
        assertThat(warned.exit).as(warned.toString()).isZero();
        assertThat(warned.err).as(warned.toString()).contains("warning: hooks are missing: by what ways work is handed on");
        Run alone = run(jdk, jar, "strict");
        assertThat(alone.exit).as(alone.toString()).isZero();
    }

    private static Stream<String> withHole(Stream<String> lines) {
        return lines.filter(line -> !line.contains("\tsun/nio/fs/UnixNativeDispatcher.getcwd\t"));
    }

    private Run run(Jdk jdk, Path jar, String mode) throws IOException, InterruptedException {
        return run(jdk, jar, mode, "{\"ver\": \"1.0\", \"agent_id\": \"unlisted\", \"scope\": []}");
    }

    private Run run(Jdk jdk, Path jar, String mode, String manifest) throws IOException, InterruptedException {
        Files.writeString(directory.resolve("klock.json"), manifest);
        Path subjects = dev.klock.sandbox.jvm.Child.placeOf(Script.class);
        List<String> command = new ArrayList<>(List.of(jdk.java().toString(), "-javaagent:" + jar + "=mode=" + mode, "-cp",
                subjects.toString(), Nothing.class.getName()));
        Path out = Files.createTempFile(directory, "out", null);
        Path err = Files.createTempFile(directory, "err", null);
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile()).redirectOutput(out.toFile())
                .redirectError(err.toFile());
        Map<String, String> environment = builder.environment();
        environment.remove("JAVA_TOOL_OPTIONS");
        environment.put("XDG_CACHE_HOME", Files.createDirectories(directory.resolve("cache")).toString());
        Process process = builder.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        return new Run(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    /** A program that does nothing. */
    public static final class Nothing {
        private Nothing() {
        }

        public static void main(String[] arguments) {
            // being started is enough
        }
    }
}
