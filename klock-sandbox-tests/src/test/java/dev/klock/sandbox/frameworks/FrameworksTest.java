package dev.klock.sandbox.frameworks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
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
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each framework does the same in strict, under a manifest that was learned, as without klock, and nothing is denied. */
class FrameworksTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final int CLASSES = 200;
    /** Machines differ in what they set, and some frameworks read all of it: each program gets just this. */
    private static final String[] ENVIRONMENT = {"/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "HOME=" + System.getProperty("user.home"), "GREETING=hello"};

    private static final String MAVEN = "org.codehaus.plexus.classworlds.launcher.Launcher";
    private static final Path LOCAL_REPOSITORY = Path.of(System.getProperty("user.home"), ".m2/repository");

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

    @ParameterizedTest
    @MethodSource(JDKS)
    void maven_underALearnedManifest_buildsAndTestsAProjectInStrict(Jdk jdk) throws IOException {
        Path home = mavenHome();
        List<Path> whole = new ArrayList<>(List.of(LOCAL_REPOSITORY.toRealPath(), home, home.resolve("conf").toRealPath()));
        for (String links : List.of("lib", "conf")) {
            // packages of distributions lead from there to files elsewhere
            try (DirectoryStream<Path> inside = Files.newDirectoryStream(home.resolve(links))) {
                for (Path one : inside) {
                    whole.add(Files.isDirectory(one) ? one.toRealPath() : one.toRealPath().getParent());
                }
            }
        }
        Path launcher;
        try (DirectoryStream<Path> boot = Files.newDirectoryStream(home.resolve("boot"), "plexus-classworlds*.jar")) {
            launcher = boot.iterator().next();
        }
        List<String> effects = Stream.of("MUTATES", "PROVIDES", "DELETES", "RENAMES")
                .flatMap(predicate -> Stream.of(predicate + " FILE:${workspace}/out/**", predicate + " FILE:${workspace}/tmp/**")).toList();
        same(jdk, "maven", MAVEN, whole, effects,
                child -> child.onlyClassPath(List.of(launcher)).main(MAVEN, "-B", "-o", "-Dstyle.color=never", "package")
                        .jvm("-Dclassworlds.conf=" + home.resolve("bin/m2.conf"), "-Dmaven.home=" + home,
                                "-Dmaven.multiModuleProjectDirectory=."),
                "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0");
    }

    /** Of the Maven that runs this build, or of the one on the path. */
    private static Path mavenHome() throws IOException {
        String running = System.getProperty("maven.home");
        if (running != null) {
            return Path.of(running).toRealPath();
        }
        for (String directory : System.getenv("PATH").split(":")) {
            Path program = Path.of(directory, "mvn");
            if (Files.isExecutable(program)) {
                return program.toRealPath().getParent().getParent();
            }
        }
        throw new IllegalStateException("no mvn on the path");
    }

    /** @param effects of each program that it starts, all of which can start others */
    private void same(Jdk jdk, String framework, String main, List<Path> whole, List<String> effects, UnaryOperator<Child> more, String says) {
        try {
            Path root = directory.toRealPath();
            List<Path> classPath = framework.equals("maven") ? List.of() : Framework.compiled(framework, root.resolve("classes"));
            Outcome bare = run(jdk, root.resolve("bare"), classPath, main, more);
            assertThat(bare.exit()).as(bare.toString()).isZero();
            assertThat(bare.out()).as(bare.toString()).contains(says);

            Path learning = root.resolve("learn");
            Outcome learned = run(jdk, learning, classPath, main, child -> more.apply(child).klock("mode=learn"));
            assertThat(learned.exit()).as(learned.toString()).isZero();
            assertThat(said(learned, learning)).as(learned.toString()).isEqualTo(said(bare, root.resolve("bare")));
            Learned what = Learned.of(learned.log(), learning, whole);
            assertThat(what.wide(learning)).as(what.toString()).isEmpty();

            String manifest = what.manifest(effects);
            Path strict = root.resolve("strict");
            Outcome kept = run(jdk, strict, classPath, main, child -> more.apply(child).klock("mode=strict").manifest(manifest));
            String all = kept + "\n" + manifest;
            assertThat(kept.exit()).as(all).isZero();
            assertThat(said(kept, strict)).as(all).isEqualTo(said(bare, root.resolve("bare")));
            assertThat(kept.log().summary().path("deny").asLong(-1)).as(all).isZero();
            if (!effects.isEmpty()) {
                // what it starts in turn is not judged, and that is said
                assertThat(kept.err()).as(all).contains("is open-ended");
            }
            for (String made : List.of("src", "out", "tmp")) {
                assertThat(files(strict.resolve(made), main)).as(all).isEqualTo(files(root.resolve("bare").resolve(made), main));
            }
            System.out.printf(Locale.ROOT, "%s on JDK %d: %d lines; bare %d ms, learn %d ms, strict %d ms%n", framework, jdk.feature(),
                    what.lines().size() + what.programs().size(), bare.took().toMillis(), learned.took().toMillis(), kept.took().toMillis());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What lies there, with the random part of temporary names left out; of what Maven makes, which holds times and places, the names. */
    private static String files(Path directory, String main) {
        Tree tree = Tree.of(directory);
        return (main.equals(MAVEN) ? tree.entries().keySet().toString() : tree.visible()).replaceAll("\\.\\d{6,}", ".#");
    }

    /** What it printed, without times and the place. */
    private static String said(Outcome outcome, Path workspace) {
        return outcome.out().replace(workspace.toString(), "WORKSPACE").replaceAll("(Total time|Finished at|Time elapsed):.*", "$1");
    }

    private static Outcome run(Jdk jdk, Path workspace, List<Path> classPath, String main, UnaryOperator<Child> more) throws IOException {
        for (String below : List.of("src", "out", "tmp")) {
            Files.createDirectories(workspace.resolve(below));
        }
        Files.writeString(workspace.resolve("src/notes"), "of the day\n");
        if (main.equals(MAVEN)) {
            try (Stream<Path> project = Files.walk(Framework.SOURCES.resolve("maven"))) {
                for (Path file : project.filter(Files::isRegularFile).toList()) {
                    Path copy = workspace.resolve(Framework.SOURCES.resolve("maven").relativize(file));
                    Files.createDirectories(copy.getParent());
                    Files.copy(file, copy);
                }
            }
        }
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
}
