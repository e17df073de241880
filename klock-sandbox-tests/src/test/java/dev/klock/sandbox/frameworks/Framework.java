package dev.klock.sandbox.frameworks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/** The class path of a program that uses a framework, which the tests' own has not. */
public final class Framework {
    static final Path SOURCES = KlockJar.module().resolve("src/frameworks");

    private Framework() {
    }

    /**
     * The framework's jars, {@code others}, and in front of them, compiled against all of these, the program in {@code src/frameworks}.
     *
     * @param classes where that goes
     */
    public static List<Path> compiled(String framework, Path classes, Path... others) throws IOException {
        Path jars = KlockJar.module().resolve("target/frameworks").resolve(framework);
        List<Path> classPath = new ArrayList<>(List.of(Files.createDirectories(classes)));
        if (Files.isDirectory(jars)) {
            try (DirectoryStream<Path> found = Files.newDirectoryStream(jars, "*.jar")) {
                found.forEach(classPath::add);
            }
        }
        classPath.addAll(List.of(others));
        List<String> arguments = new ArrayList<>(List.of("-parameters", "-proc:none", "--release", "17", "-d", classes.toString(), "-cp",
                String.join(":", classPath.stream().map(Path::toString).toList())));
        try (Stream<Path> sources = Files.walk(SOURCES.resolve(framework))) {
            sources.filter(file -> file.toString().endsWith(".java")).map(Path::toString).forEach(arguments::add);
        }
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new))).isZero();
        return classPath;
    }
}
