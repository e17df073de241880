package dev.klock.agent.weave;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.agent.weave.tasks.Program;
import dev.klock.agent.weave.tasks.TaskAgent;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Each check of {@link Program}, in a JVM whose executors are woven. */
class PropagationTest {
    private static final long LIMIT_S = 240;

    @TempDir
    Path directory;

    @TestFactory
    Stream<DynamicTest> tasks_runForWhoSubmitted() throws Exception {
        return checks("compiled");
    }

    /** As the JVM verifies the program's classes it verifies what was woven; and nothing is compiled, so that a stack ends elsewhere. */
    @TestFactory
    Stream<DynamicTest> tasks_verifiedAndInterpreted_runForWhoSubmitted() throws Exception {
        return checks("interpreted", "-Xverify:all", "-Xint");
    }

    @TestFactory
    Stream<DynamicTest> tasks_withoutTheSharedArchive_runForWhoSubmitted() throws Exception {
        return checks("unshared", "-Xshare:off", "-XX:TieredStopAtLevel=1");
    }

    private Stream<DynamicTest> checks(String how, String... options) throws Exception {
        List<DynamicTest> found = new ArrayList<>();
        for (String line : run(options)) {
            int space = line.indexOf(' ');
            if (space > 0) {
                found.add(DynamicTest.dynamicTest(line.substring(0, space) + " " + how, () -> assertThat(line.substring(space + 1)).isEqualTo("ok")));
            }
        }
        assertThat(found).hasSizeGreaterThan(30);
        return found.stream();
    }

    private List<String> run(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-javaagent:" + agent()));
        command.addAll(Arrays.asList(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Program.class.getName()));
        Path out = directory.resolve("out");
        Path err = directory.resolve("err");
        Process child = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
        try {
            boolean ended = child.waitFor(LIMIT_S, TimeUnit.SECONDS);
            assertThat(ended ? child.exitValue() : -1).as(Files.readString(out) + Files.readString(err)).isZero();
        } finally {
            child.destroyForcibly().waitFor();
        }
        return Files.readAllLines(out);
    }

    private Path agent() throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(new Attributes.Name("Premain-Class"), TaskAgent.class.getName());
        manifest.getMainAttributes().put(new Attributes.Name("Can-Retransform-Classes"), "true");
        manifest.getMainAttributes().put(new Attributes.Name("Can-Redefine-Classes"), "true");
        Path jar = directory.resolve("agent.jar");
        try (OutputStream file = Files.newOutputStream(jar); JarOutputStream out = new JarOutputStream(file, manifest)) {
            out.flush();
        }
        return jar;
    }
}
