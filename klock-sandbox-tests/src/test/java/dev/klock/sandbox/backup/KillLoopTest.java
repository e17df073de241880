package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.Churn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills a program that churns a tree, and then its recovery, at random moments; the tree is as it was in the end. Short here;
 * {@code -Dklock.test.scale} makes it as long as one likes. The comparer is a Python program that shares no code with klock.
 */
class KillLoopTest {
    private static final int ROUNDS = 3;
    private static final int ENTRIES = 300;

    @TempDir
    Path directory;

    private Path plant(Path root, Random random) throws IOException {
        Path tree = Files.createDirectories(root.resolve("w/tree"));
        Path at = tree;
        for (int i = 0; i < ENTRIES; i++) {
            at = random.nextInt(10) == 0 ? tree : at;
            switch (random.nextInt(8)) {
                case 0 -> at = Files.createDirectory(at.resolve("d" + i));
                case 1 -> Files.createSymbolicLink(at.resolve("l" + i), Path.of("nowhere" + i));
                case 2 -> Files.createLink(at.resolve("h" + i), Files.write(at.resolve("g" + i), ("group " + i).getBytes()));
                default -> {
                    byte[] content = new byte[random.nextInt(9000)];
                    random.nextBytes(content);
                    Files.write(at.resolve("f" + i), content);
                }
            }
        }
        return tree;
    }

    @RepeatedTest(2)
    @Tag("K6-5")
    @Tag("C45")
    @Tag("FIELD-H13")
    void tree_afterProgramAndRecoveryWereKilledAtRandom_isAsItWas() throws IOException {
        Path root = directory.toRealPath();
        Path script = SpecimenTest.script(root);
        for (int round = 0; round < ROUNDS * Child.SCALE; round++) {
            long seed = System.nanoTime();
            Random random = new Random(seed);
            Jdk jdk = random.nextBoolean() ? Jdks.oldest() : Jdks.newest();
            Path place = Files.createDirectory(root.resolve("round" + round));
            Path tree = plant(place, random);
            String before = SpecimenTest.python(script, "show", tree.toString());
            Path ready = place.resolve("w/ready");
            Outcome killed = Child.on(jdk).in(place).main(Churn.class, tree.toString(), Long.toString(seed), ready.toString()).klock("").manifest("""
                    ver: "1.0"
                    agent_id: tester
                    scope:
                      - MUTATES FILE:%1$s/w/**
                      - PROVIDES FILE:%1$s/w/**
                      - DELETES FILE:%1$s/w/**
                      - RENAMES FILE:%1$s/w/**
                    """.formatted(place)).killedWhen(ready, Duration.ofMillis(random.nextInt(600)));
            Path lock = place.resolve(".klock/backups/.recover.lock");
            for (int i = random.nextInt(3); i > 0; i--) {
                Files.deleteIfExists(lock);
                try {
                    Child.on(jdk).in(place).verb("recover").killedWhen(lock, Duration.ofMillis(random.nextInt(150)));
                } catch (AssertionError endedFirst) {
                    break;
                }
            }
            Outcome last = Child.on(jdk).in(place).verb("recover").run();
            assertThat(last.exit()).as("round %s, seed %s, JDK %s: %s %s", round, seed, jdk, killed, last).isZero();
            assertThat(SpecimenTest.python(script, "show", tree.toString())).as("round %s, seed %s, JDK %s: %s", round, seed, jdk, last).isEqualTo(before);
            assertThat(List.of(place.resolve("w").toFile().list())).as(last.toString()).containsExactly("tree");
        }
    }
}
