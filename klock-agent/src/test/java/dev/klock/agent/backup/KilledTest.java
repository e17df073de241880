package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;

/** A process that works, or rolls back, is killed at a random moment; the next one puts everything right. */
class KilledTest {
    @RepeatedTest(8)
    @Tag("K6-5")
    @Tag("K6-8")
    @Tag("C45")
    void rollback_afterWorkAndRollbackWereKilled_givesTheStartTree(RepetitionInfo round) throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Path dir = Files.createTempDirectory("klock-killed").toRealPath();
        try {
            Path home = Files.createDirectory(dir.resolve(".klock"));
            Path root = Files.createDirectory(dir.resolve("w"));
            RandomWorkTest.plant(root, random, 60);
            Map<String, String> before = TreeListing.of(root);
            kill(random.nextInt(400), "work", home, root, seed);
            for (int i = 0; i < 1 + random.nextInt(2); i++) {
                kill(random.nextInt(60), "rollback", home, root, seed);
            }
            try (Backups b = Backups.open(home, "s", Work.FILES)) {
                RollbackReport report = b.rollback();
                assertThat(report.complete()).as("seed %s: %s", seed, report).isTrue();
                assertThat(TreeListing.of(root)).as("round %s, seed %s: %s", round.getCurrentRepetition(), seed, report).isEqualTo(before);
            }
        } finally {
            RandomWorkTest.wipe(dir);
        }
    }

    private static void kill(int afterMs, String what, Path home, Path root, long seed) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xshare:auto",
                "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), KilledTest.class.getName(), what, home.toString(),
                root.toString(), Long.toString(seed)));
        Process child = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertThat(child.getInputStream().read()).as("the child began").isEqualTo('!');
            if (child.waitFor(afterMs, TimeUnit.MILLISECONDS)) {
                assertThat(child.exitValue()).isZero();
            }
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    /** The process that is killed. */
    public static void main(String[] args) throws IOException {
        Path home = Path.of(args[1]);
        Path root = Path.of(args[2]);
        Backups b = Backups.open(home, "s", Work.FILES);
        if (args[0].equals("work")) {
            b.preflight(List.of(), List.of(Work.name(root)));
        }
        begin();
        if (args[0].equals("rollback")) {
            b.rollback();
            return;
        }
        Work work = new Work(b);
        Random random = new Random(Long.parseLong(args[3]));
        while (true) {
            try {
                RandomWorkTest.step(work, root, random);
            } catch (FileSystemException refused) {
                continue;
            }
        }
    }

    private static void begin() {
        System.out.write('!');
        System.out.flush();
    }
}
