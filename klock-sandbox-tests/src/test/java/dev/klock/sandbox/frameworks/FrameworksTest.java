package dev.klock.sandbox.frameworks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each framework does the same in strict, under a manifest that was learned, as without klock, and nothing is denied. */
class FrameworksTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final int CLASSES = 200;
    /** Machines differ in what they set, and some frameworks read all of it: each program gets just this. */
    private static final String[] ENVIRONMENT = {"/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "HOME=" + System.getProperty("user.home"), "GREETING=hello"};

    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource(JDKS)
    void springBoot_underALearnedManifest_servesARequestInStrict(Jdk jdk) {
        same(jdk, "spring-boot", "web.Web", List.of(), List.of(), child -> child, "200 hello, klock");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void langChain4j_underALearnedManifest_runsItsToolsInStrict(Jdk jdk) {
        same(jdk, "langchain4j", "Agent", List.of(), List.of(), child -> child, "done: written");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void javac_underALearnedManifest_compilesASourceTreeInStrict(Jdk jdk) {
        same(jdk, "javac", "Compile", List.of(), List.of(), child -> child, "true " + CLASSES);
    }

    private void same(Jdk jdk, String framework, String main, List<Path> whole, List<String> effects, UnaryOperator<Child> more, String says) {
        try {
            Path root = directory.toRealPath();
            List<Path> classPath = compiled(framework, root.resolve("classes"));
            Outcome bare = run(jdk, root.resolve("bare"), classPath, main, more);
            assertThat(bare.exit()).as(bare.toString()).isZero();
            assertThat(bare.out()).as(bare.toString()).contains(says);

            Path learning = root.resolve("learn");
            Outcome learned = run(jdk, learning, classPath, main, child -> more.apply(child).klock("mode=learn"));
            assertThat(learned.exit()).as(learned.toString()).isZero();
            assertThat(learned.out()).as(learned.toString()).isEqualTo(bare.out());
            Learned what = Learned.of(learned.log(), learning, whole);
            assertThat(what.wide(learning)).as(what.toString()).isEmpty();

            String manifest = what.manifest(effects);
            Path strict = root.resolve("strict");
            Outcome kept = run(jdk, strict, classPath, main, child -> more.apply(child).klock("mode=strict").manifest(manifest));
            String all = kept + "\n" + manifest;
            assertThat(kept.exit()).as(all).isZero();
            assertThat(kept.out()).as(all).isEqualTo(bare.out());
            assertThat(kept.log().summary().path("deny").asLong(-1)).as(all).isZero();
            for (String made : List.of("src", "out", "tmp")) {
                assertThat(files(strict.resolve(made))).as(all).isEqualTo(files(root.resolve("bare").resolve(made)));
            }
            System.out.printf(Locale.ROOT, "%s on JDK %d: %d lines; bare %d ms, learn %d ms, strict %d ms%n", framework, jdk.feature(),
                    what.lines().size() + what.programs().size(), bare.took().toMillis(), learned.took().toMillis(), kept.took().toMillis());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What lies there, with the random part of temporary names left out. */
    private static String files(Path directory) {
        return Tree.of(directory).visible().replaceAll("\\.\\d{6,}", ".#");
    }

    private static Outcome run(Jdk jdk, Path workspace, List<Path> classPath, String main, UnaryOperator<Child> more) throws IOException {
        for (String below : List.of("src", "out", "tmp")) {
            Files.createDirectories(workspace.resolve(below));
        }
        Files.writeString(workspace.resolve("src/notes"), "of the day\n");
        if (main.equals("Compile")) {
            for (int i = 0; i < CLASSES; i++) {
                Path source = workspace.resolve("src/p" + i % 10 + "/C" + i + ".java");
                Files.createDirectories(source.getParent());
                Files.writeString(source, source(i));
            }
        }
        return more.apply(Child.on(jdk).in(workspace).through(ENVIRONMENT).jvm("-Djava.io.tmpdir=" + workspace.resolve("tmp"), "-Dserver.port=0")
                .onlyClassPath(classPath).main(main).patience(Duration.ofMinutes(3))).run();
    }

    private static String source(int i) {
        String before = i == 0 ? "Object" : "p" + (i - 1) % 10 + ".C" + (i - 1);
        return "package p" + i % 10 + ";\npublic class C" + i + " extends " + before + " {\n    public int value() {\n        return " + i + ";\n    }\n"
                + "    public Runnable later() {\n        return () -> System.out.println(value());\n    }\n}\n";
    }

    /** The framework's jars and, compiled against them, the program in {@code src/frameworks}. */
    private static List<Path> compiled(String framework, Path classes) throws IOException {
        Path jars = KlockJar.module().resolve("target/frameworks").resolve(framework);
        List<Path> classPath = new ArrayList<>(List.of(Files.createDirectories(classes)));
        if (Files.isDirectory(jars)) {
            try (DirectoryStream<Path> found = Files.newDirectoryStream(jars, "*.jar")) {
                found.forEach(classPath::add);
            }
        }
        List<String> arguments = new ArrayList<>(List.of("-parameters", "-proc:none", "--release", "17", "-d", classes.toString(), "-cp",
                String.join(":", classPath.stream().map(Path::toString).toList())));
        try (Stream<Path> sources = Files.walk(KlockJar.module().resolve("src/frameworks").resolve(framework))) {
            sources.filter(file -> file.toString().endsWith(".java")).map(Path::toString).forEach(arguments::add);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new))).isZero();
        return classPath;
    }
}
