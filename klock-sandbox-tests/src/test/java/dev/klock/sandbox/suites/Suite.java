package dev.klock.sandbox.suites;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.VerificationLog;
import dev.klock.sandbox.subject.SuiteRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apiguardian.api.API;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.platform.commons.JUnitException;
import org.junit.platform.engine.TestEngine;
import org.junit.platform.launcher.Launcher;
import org.opentest4j.TestAbortedException;

/**
 * The published tests of a library, laid out as in its project.
 *
 * <pre>
 *  target/suites/NAME/lib    the jars it needs
 *  target/suites/NAME/tree   src and target/test-classes: copied for each run
 *
 *  RUN/copy        the copy, and working directory; tmp is its temporary directory
 *  RUN/classes     the classes to run
 *  RUN/left-out    the tests of them that do not run
 *  RUN/outcomes    what came of it, a line for each test
 *  RUN/klock.yaml  what it needs
 * </pre>
 */
final class Suite {
    private static final Class<?>[] JUNIT = {Launcher.class, TestEngine.class, JUnitException.class, JupiterTestEngine.class, Test.class,
        ParameterizedTest.class, TestAbortedException.class, API.class};
    private static final boolean WHOLE = System.getProperty("klock.test.suites", "chosen").equals("whole");
    private static final Duration PATIENCE = Duration.ofMinutes(WHOLE ? 60 : 20);

    private final String name;
    private final Path home;
    private final Set<String> chosen = new TreeSet<>();
    private final Map<String, String> leftOut = new TreeMap<>();
    private final List<String> jvm = new ArrayList<>();

    /**
     * What came of a run.
     *
     * @param outcome of the JVM
     * @param tests by name: status and class of the error
     * @param log klock's; empty without it
     */
    record Run(Outcome outcome, Map<String, String> tests, VerificationLog log) {
    }

    private Suite(String name) throws IOException {
        this.name = name;
        this.home = KlockJar.module().resolve("target/suites").resolve(name);
        for (String line : resource(name + ".tsv").lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toList()) {
            String[] fields = line.split("\t");
            switch (fields[0]) {
                case "chosen" -> chosen.add(fields[1]);
                case "left out" -> leftOut.put(fields[1], fields[2]);
                case "jvm" -> jvm.add(placed(fields[1]));
                default -> throw new IllegalStateException(name + ".tsv: " + line);
            }
        }
    }

    static Suite named(String name) throws IOException {
        return new Suite(name);
    }

    /** Its own temporary files and changes stay in {@code directory}, which must be empty. */
    Run run(Jdk jdk, Path directory, String mode, Collection<String> classes) throws IOException {
        Path work = directory.resolve("copy");
        copy(home.resolve("tree"), work);
        Files.createDirectories(work.resolve("tmp"));
        Files.write(directory.resolve("classes"), classes);
        Files.write(directory.resolve("left-out"), leftOut.keySet());
        List<Path> places = new ArrayList<>(List.of(work.resolve("target/test-classes")));
        try (Stream<Path> jars = Files.list(home.resolve("lib"))) {
            jars.filter(jar -> jar.toString().endsWith(".jar")).sorted().forEach(places::add);
        }
        Child child = Child.on(jdk).in(work).patience(PATIENCE).with(JUNIT).classPath(places)
                .main(SuiteRun.class, directory.resolve("outcomes").toString(), directory.resolve("classes").toString(),
                        directory.resolve("left-out").toString())
                .jvm(WHOLE ? "-Xmx3g" : "-Xmx1g", "-Djava.io.tmpdir=" + work.resolve("tmp"), "-Duser.home=" + directory.resolve("home"));
        for (String argument : jvm) {
            Path file = Path.of(argument.substring(argument.indexOf('=') + 1));
            if (file.isAbsolute() && !Files.exists(file)) {
                throw new IllegalStateException(name + ".tsv: " + argument + ": there is no " + file);
            }
            child.jvm(argument);
        }
        if (mode != null) {
            Path manifest = Files.writeString(directory.resolve("klock.yaml"), placed(resource(name + ".yaml")).replace("${java.home}", jdk.home().toString()));
            child.klock("mode=" + mode + ",manifest=" + manifest);
        }
        Outcome outcome = child.run();
        return new Run(outcome, outcomes(directory.resolve("outcomes")), VerificationLog.of(directory.resolve(".klock")));
    }

    private static Map<String, String> outcomes(Path file) throws IOException {
        Map<String, String> tests = new LinkedHashMap<>();
        if (Files.exists(file)) {
            for (String line : Files.readAllLines(file)) {
                String[] fields = line.split("\t", 3);
                tests.put(fields[2], fields[0] + " " + fields[1]);
            }
        }
        return tests;
    }

    private String placed(String text) {
        return text.replace("${lib}", home.resolve("lib").toString()).replace("${os.arch}", System.getProperty("os.arch"));
    }

    /** Those that run: all of them, or those chosen. */
    List<String> classes() throws IOException {
        Path root = home.resolve("tree/target/test-classes");
        Set<String> all = new TreeSet<>();
        try (Stream<Path> files = Files.walk(root)) {
            files.map(file -> root.relativize(file).toString()).filter(file -> file.endsWith("Test.class") && !file.contains("$"))
                    .forEach(file -> all.add(file.substring(0, file.length() - ".class".length()).replace('/', '.')));
        }
        Set<String> unknown = new HashSet<>(chosen);
        unknown.removeAll(all);
        if (!unknown.isEmpty()) {
            throw new IllegalStateException(name + " has no " + unknown);
        }
        if (!WHOLE) {
            all.retainAll(chosen);
        }
        all.removeAll(leftOut.keySet());
        return List.copyOf(all);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.toList()) {
                Path copy = to.resolve(from.relativize(file).toString());
                if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(file, copy);
                }
            }
        }
    }

    private static String resource(String file) throws IOException {
        try (var in = Suite.class.getResourceAsStream("/suites/" + file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
