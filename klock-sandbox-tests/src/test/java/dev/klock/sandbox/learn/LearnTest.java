package dev.klock.sandbox.learn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What was learnt from one run holds the next one, on other inputs, and refuses what has nothing to do with it. */
class LearnTest {
    private static final String[] STRAYS = {"write input/1 x", "delete input/1", "move notes/a notes/b", "read secret", "write klock.yaml x", "read ../outside", "write output2 x",
        "run /bin/ls", "mkdir output/../fresh", "delete output/kept"};

    @TempDir
    Path directory;
    private Path root;

    @BeforeEach
    void makeTree() throws IOException {
        root = Files.createDirectory(directory.toRealPath().resolve("w"));
        for (String dir : new String[] {"input", "output", "notes"}) {
            Files.createDirectory(root.resolve(dir));
        }
        for (String file : new String[] {"input/1", "input/2", "input/3", "input/4", "input/5", "notes/a", "secret", "output/kept", "../outside"}) {
            Files.writeString(root.resolve(file), file);
        }
    }

    /** The program: it reads inputs, writes an output for each, keeps notes, and lets a program write. */
    private Child program(Jdk jdk, String klock, int from, int to, String... more) {
        List<String> steps = new ArrayList<>();
        for (int i = from; i <= to; i++) {
            steps.add("read input/" + i);
            steps.add("write output/" + i + " done");
        }
        steps.add("append notes/a seen");
        steps.add("run /bin/touch notes/touched");
        steps.addAll(List.of(more));
        return Child.on(jdk).in(root).main(Script.class, steps.toArray(new String[0])).klock(klock);
    }

    private Outcome verb(Jdk jdk, String... words) {
        return Child.on(jdk).in(root).verb(words).run();
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void learntManifest_holdsTheNextRunOnOtherInputs_andRefusesStrays(Jdk jdk) throws IOException {
        Outcome learning = program(jdk, "mode=learn", 1, 3).run();
        assertThat(learning.exit()).as(learning.toString()).isZero();

        Outcome learnt = verb(jdk, "learn", "-o", "klock.yaml");
        assertThat(learnt.exit()).as(learnt.toString()).isZero();
        String manifest = Files.readString(root.resolve("klock.yaml"));
        assertThat(manifest).contains("- CONSUMES FILE:${workspace}/input/*", "# 3 events, 3 names, ", "- PROVIDES FILE:${workspace}/output/*",
                "- MUTATES FILE:${workspace}/output/*", "resource: \"PROCESS:", "- MUTATES FILE:${workspace}/notes/touched")
                .doesNotContain(root.toString());
        assertThat(verb(jdk, "validate").exit()).isZero();

        Outcome next = program(jdk, "", 2, 5).run();
        assertThat(next.exit()).as(next + manifest).isZero();
        assertThat(next.err()).contains("0 denied");

        List<String> tries = new ArrayList<>();
        for (String stray : STRAYS) {
            tries.add("try " + stray);
        }
        Outcome strays = program(jdk, "mode=block", 2, 2, tries.toArray(new String[0])).run();
        assertThat(strays.out().lines().filter(line -> line.contains("ScopeViolationError"))).as(strays + manifest).hasSize(STRAYS.length);
        assertThat(root.resolve("output/kept")).hasContent("output/kept");
        assertThat(root.resolve("input/1")).hasContent("input/1");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void merge_showsWhatAManifestLacks_andAddsItWhereItBelongs(Jdk jdk) throws IOException {
        program(jdk, "mode=learn", 1, 3).run();
        verb(jdk, "learn", "-o", "klock.yaml");
        String before = Files.readString(root.resolve("klock.yaml"));
        assertThat(program(jdk, "", 1, 3, "read notes/a").run().exit()).isZero();

        assertThat(program(jdk, "mode=learn", 1, 3, "delete input/1", "read secret", "run /bin/touch notes/more").run().exit()).isZero();
        Outcome shown = verb(jdk, "learn", "--merge", "klock.yaml");
        assertThat(shown.out()).as(shown.toString()).contains("+  - DELETES FILE:${workspace}/input/1", "+  - CONSUMES FILE:${workspace}/secret").doesNotContain("\n-");
        assertThat(shown.out().lines().filter(line -> line.matches("\\+ +- .*"))).hasSize(2);
        assertThat(shown.err()).contains("changed while PROCESS:").contains("touch ran, outside of its effects; if it may, add there: - MUTATES FILE:${workspace}/notes/more\n");
        assertThat(root.resolve("klock.yaml")).hasContent(before);

        assertThat(verb(jdk, "learn", "--merge", "klock.yaml", "--write").exit()).isZero();
        assertThat(verb(jdk, "learn", "--merge", "klock.yaml").out()).isEmpty();
        Files.writeString(root.resolve("klock.yaml"), Files.readString(root.resolve("klock.yaml"))
                .replaceFirst("( +)(- MUTATES FILE:\\$\\{workspace}/notes/touched)", "$1$2\n$1- MUTATES FILE:\\${workspace}/notes/more"));
        assertThat(verb(jdk, "learn", "--merge", "klock.yaml").out()).contains("declares all that was done in 2 sessions");
        Files.writeString(root.resolve("input/1"), "again");
        assertThat(program(jdk, "", 1, 3, "delete input/1", "read secret").run().exit()).isZero();
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void linkThatIsMadeAnew_isLearnt_butNotWhatItLeadsTo(Jdk jdk) throws IOException {
        Path link = Files.createSymbolicLink(root.resolve("current"), Path.of("input/1"));
        String[] steps = {"delete current", "symlink current input/2"};
        assertThat(Child.on(jdk).in(root).main(Script.class, steps).klock("mode=learn").run().exit()).isZero();
        verb(jdk, "learn", "-o", "klock.yaml");
        assertThat(root.resolve("klock.yaml")).content().contains("- PROVIDES FILE:${workspace}/current\n", "- DELETES FILE:${workspace}/current\n").doesNotContain("- MUTATES");

        Outcome again = Child.on(jdk).in(root).main(Script.class, steps).klock("").run();
        assertThat(again.exit()).as(again.toString()).isZero();
        Outcome strays = Child.on(jdk).in(root).main(Script.class, "try delete input/2", "try move input/2 input/9", "try write current x", "delete current").klock("mode=block").run();
        assertThat(strays.out().lines().filter(line -> line.contains("ScopeViolationError"))).as(strays.toString()).hasSize(3);
        assertThat(root.resolve("input/2")).hasContent("input/2");
        assertThat(Files.exists(link, LinkOption.NOFOLLOW_LINKS)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void directoryThatIsThere_isNotLearntToBeMade(Jdk jdk) throws IOException {
        String[] steps = {"mkdirs output", "mkdirs notes", "write output/1 x"};
        assertThat(Child.on(jdk).in(root).main(Script.class, steps).klock("mode=learn").run().exit()).isZero();
        verb(jdk, "learn", "-o", "klock.yaml");
        assertThat(root.resolve("klock.yaml")).content().contains("- PROVIDES FILE:${workspace}/output/1\n", "- DEPENDS_ON FILE:${workspace}/notes\n")
                .doesNotContain("FILE:${workspace}/output\n", "PROVIDES FILE:${workspace}/notes");

        Outcome again = Child.on(jdk).in(root).main(Script.class, steps).klock("").run();
        assertThat(again.exit()).as(again.toString()).isZero();
        Files.delete(root.resolve("notes/a"));
        Files.delete(root.resolve("notes"));
        Outcome gone = Child.on(jdk).in(root).main(Script.class, "try mkdirs notes").klock("mode=block").run();
        assertThat(gone.err()).as(gone.toString()).contains("attempted PROVIDES on FILE:" + root.resolve("notes"));
    }
}
