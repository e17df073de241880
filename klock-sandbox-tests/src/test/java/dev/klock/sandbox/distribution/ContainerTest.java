package dev.klock.sandbox.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.jvm.VerificationLog;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The layout of {@code docs/container/Dockerfile} without Docker: its entry point and its manifest, below a directory of the test's.
 *
 * <p>Run by root where namespaces can be had, the JVM is PID 1, has a user without a name, and finds all read-only but its two volumes.
 * Elsewhere it is whoever runs the tests, and only the jar's and the manifest's directories are read-only; the test says so.
 */
class ContainerTest {
    private static final Path DOCS = KlockJar.module().resolveSibling("docs/container");
    private static final String NOBODY = "10001";
    /** The first two arguments are the volumes; the others are what becomes PID 1. */
    private static final String INSIDE = "mount --bind \"$1\" \"$1\" && mount --bind \"$2\" \"$2\" && mount -o remount,bind,ro / && cd \"$1\" && shift 2 && exec \"$@\"";
    private static final String[] EMPTY_ENVIRONMENT = {"env", "-i", "PATH=/usr/bin:/bin"};
    private static final String[] NAMESPACES = {"unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", INSIDE, "sh"};
    /** Whoever kills what started the container kills it, too. */
    private static final String[] USER = {"setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--pdeathsig", "KILL"};

    @TempDir
    Path temporary;
    private Path root;
    private Path work;
    private boolean contained;

    @BeforeEach
    void image() throws IOException, InterruptedException {
        root = temporary.toRealPath();
        work = Files.createDirectories(root.resolve("work"));
        Path classes = Files.createDirectories(root.resolve("opt/agent/dev/klock/sandbox/subject"));
        Path subjects = Child.placeOf(Script.class).resolve("dev/klock/sandbox/subject");
        try (Stream<Path> compiled = Files.list(subjects)) {
            for (Path script : compiled.filter(path -> path.getFileName().toString().startsWith("Script")).toList()) {
                Files.copy(script, classes.resolve(script.getFileName()));
            }
        }
        Path klock = Files.createDirectories(root.resolve("opt/klock"));
        Files.copy(KlockJar.path(), klock.resolve("klock.jar"), StandardCopyOption.REPLACE_EXISTING);
        Files.writeString(klock.resolve("klock.yaml"), Files.readString(DOCS.resolve("klock.yaml")).replace("FILE:/project", "FILE:" + work));
        Files.createDirectories(root.resolve("var/klock"));
        Files.createDirectories(work.resolve("src"));
        Files.writeString(work.resolve("src/a"), "first\n");
        Files.writeString(work.resolve("x"), "first\n");
        List<String> probe = new ArrayList<>(List.of(NAMESPACES));
        probe.addAll(List.of(work.toString(), root.resolve("var/klock").toString()));
        probe.addAll(List.of(USER));
        probe.addAll(List.of(Jdks.oldest().java().toString(), "-version"));
        contained = run(List.of("chmod", "-R", "a+rX", root.toString())) && run(List.of("chown", "-R", NOBODY, work.toString(), root.resolve("var").toString()))
                && run(probe);
        if (!contained) {
            System.out.println("ContainerTest: no root, or no namespaces: the JVM is not PID 1, and only klock's directory is read-only");
            writable(false);
        }
    }

    @AfterEach
    void thrownAway() throws IOException {
        writable(true);
    }

    private void writable(boolean writable) throws IOException {
        Files.setPosixFilePermissions(root.resolve("opt/klock"), PosixFilePermissions.fromString(writable ? "rwxr-xr-x" : "r-xr-xr-x"));
    }

    private static boolean run(List<String> command) throws InterruptedException {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** The options between {@code java} and {@code -jar}, with the image's directories below the test's. */
    private String[] options() throws IOException {
        Matcher entryPoint = Pattern.compile("(?m)^ENTRYPOINT \\[\"java\", (.*), \"-jar\", \"/opt/agent/agent.jar\"]$").matcher(Files.readString(DOCS.resolve("Dockerfile")));
        assertThat(entryPoint.find()).isTrue();
        return Pattern.compile("\", \"").splitAsStream(entryPoint.group(1).replaceAll("^\"|\"$", ""))
                .map(option -> option.replace("/opt/", root + "/opt/").replace("/var/", root + "/var/")).toArray(String[]::new);
    }

    private Child started(Jdk jdk, String... steps) throws IOException {
        Child child = Child.on(jdk).in(work);
        if (contained) {
            child.through(NAMESPACES).through(work.toString(), root.resolve("var/klock").toString()).through(USER);
        }
        return child.through(EMPTY_ENVIRONMENT).jvm(options()).onlyClassPath(List.of(root.resolve("opt/agent"))).main(Script.class, steps);
    }

    @Test
    void program_thatKeepsToItsManifest_leavesWhatItDid_andItsLogOnTheVolume() throws IOException {
        String image = Tree.of(root.resolve("opt")).whole();
        Outcome outcome = started(Jdks.newest(), "write src/a second", "try write " + root + "/opt/klock/klock.yaml none").run();
        // what is read-only is not declared either: the denial comes first, and ends the session
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(work.resolve("src/a")).content().isEqualTo("first\n");

        Outcome kept = started(Jdks.newest(), "write src/a second").run();
        assertThat(kept.exit()).as(kept.toString()).isZero();
        assertThat(work.resolve("src/a")).content().startsWith("second");
        assertThat(VerificationLog.of(root.resolve("var/klock/home")).decided("deny")).isNotEmpty();
        assertThat(Tree.of(root.resolve("opt")).whole()).isEqualTo(image);
        try (Stream<Path> names = Files.list(work)) {
            assertThat(names.map(path -> path.getFileName().toString())).as("a user without a home leaves nothing where it works").containsExactlyInAnyOrder("src", "x");
        }
    }

    @Test
    void program_thatWasKilled_isRolledBackByTheNextContainer_whosePidIsTheSame() throws IOException {
        String before = Tree.of(work).timed();
        Outcome killed = started(Jdks.oldest(), "write src/a half", "write src/new half", "sleep 60000").killedWhen(work.resolve("src/new"), Duration.ofMillis(50));
        assertThat(killed.exit()).isEqualTo(Child.KILLED);
        assertThat(work.resolve("src/a")).content().startsWith("half");

        Outcome next = started(Jdks.oldest(), "print here").run();
        assertThat(next.exit()).as(next.toString()).isZero();
        assertThat(Tree.of(work).timed()).as(next.toString()).isEqualTo(before);
    }
}
