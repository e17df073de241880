package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.oracle.Trace;
import dev.klock.sandbox.subject.Churn;
import dev.klock.sandbox.subject.Script;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Kills a program that churns a tree, and then its recovery, at random points; the tree is as it was in the end. The comparer is a Python
 * program that shares no code with klock.
 *
 * <p>A point is a moment, or one of a process's system calls, before which it is killed: so the steps that last some microseconds are met
 * too. Which step it was is read off the session's files ({@link Step}).
 *
 * <p>Short here; {@code -Pkills} makes it a thousand rounds and asks that each step be met. {@code -Dklock.test.seed} repeats a run.
 */
class KillLoopTest {
    private static final int ROUNDS = Integer.getInteger("klock.test.kills", 8) * Child.SCALE;
    /** From so many rounds on each step has to be met {@link #EACH} times for {@link #EACH_OF} rounds. */
    private static final int LONG = 200;
    private static final int EACH = 20;
    private static final int EACH_OF = 1000;
    private static final long SEED = Long.getLong("klock.test.seed", 0);
    private static final int ENTRIES = 1500;
    private static final int SAID_EVERY = 50;
    private static final List<String> COLUMNS = List.of("program", "recovery");

    @TempDir
    Path directory;

    /**
     * Where to kill.
     *
     * @param call before which system call; null: at a moment
     * @param file only calls about this file of the session's: {@code pack}, or {@code mark}; null for any
     * @param first the earliest of these calls, from 1
     * @param last the latest of these calls, or of the milliseconds
     */
    private record Aim(String call, String file, int first, int last) {
        int pick(Random random) {
            return first + random.nextInt(last - first + 1);
        }
    }

    private static final Aim MOMENT = new Aim(null, null, 0, 600);
    private static final Aim[] WORKING = {MOMENT, new Aim("pwrite64", "pack", 1, 2), new Aim("pwrite64", "pack", 4, 7), new Aim("pwrite64", "pack", 4, 7),
        new Aim("pwrite64", "pack", 8, 150), new Aim("pwrite64", "pack", 8, 150), new Aim("fdatasync", null, 1, 1), new Aim("fdatasync", null, 2, 60),
        new Aim("rename", null, 4, 12), new Aim("rename", null, 4, 12), new Aim("rename", null, 4, 20),
        new Aim("fsync", null, 1, 7), new Aim("unlink", null, 1, 40), new Aim("link", null, 1, 40)};
    private static final Aim[] RECOVERING = {new Aim(null, null, 0, 150), new Aim("pwrite64", "pack", 1, 1), new Aim("pwrite64", "pack", 2, 3),
        new Aim("pwrite64", "pack", 2, 60),
        new Aim("fdatasync", null, 1, 1), new Aim("fdatasync", null, 2, 8), new Aim("rename", null, 1, 1), new Aim("rename", null, 2, 40),
        new Aim("link", null, 1, 40), new Aim("unlink", null, 1, 15), new Aim("unlink", null, 1, 40), new Aim("unlink", "mark", 1, 1),
        new Aim("unlink", "mark", 1, 1), new Aim("ftruncate", null, 1, 4), new Aim("fsync", null, 1, 4), new Aim("fsync", null, 5, 60)};

    private final Map<Step, int[]> met = new EnumMap<>(Step.class);
    private Path script;
    private Path place;
    private Path tree;
    private String before;

    private void plant(Random random) throws IOException {
        tree = Files.createDirectories(place.resolve("w/tree"));
        Path at = tree;
        for (int i = 0; i < ENTRIES; i++) {
            at = random.nextInt(10) == 0 ? tree : at;
            switch (random.nextInt(8)) {
                case 0 -> at = Files.createDirectory(at.resolve("d" + i));
                case 1 -> Files.createSymbolicLink(at.resolve("l" + i), Path.of("nowhere" + i));
                case 2 -> Files.createLink(at.resolve("h" + i), Files.write(at.resolve("g" + i), ("group " + i).getBytes()));
                default -> Files.write(at.resolve("f" + i), bytes(random, random.nextInt(9000)));
            }
        }
        Files.write(tree.resolve("large"), bytes(random, 1_200_000));
    }

    private static byte[] bytes(Random random, int length) {
        byte[] content = new byte[length];
        random.nextBytes(content);
        return content;
    }

    private String show() throws IOException {
        return SpecimenTest.python(script, "show", tree.toString());
    }

    private Path session() {
        return place.resolve(".klock/backups/churning");
    }

    private Child churn(Jdk jdk, long seed, Path ready, boolean forEver, Random random) {
        List<String> arguments = new ArrayList<>(List.of(tree.toString(), Long.toString(seed), ready.toString()));
        if (!forEver) {
            arguments.addAll(List.of(Integer.toString(30 + random.nextInt(120)), place.resolve("astray").toString()));
        }
        return child(jdk).main(Churn.class, arguments.toArray(new String[0])).klock("").manifest(manifest("churning"));
    }

    /** A session that ends well and has imaged the whole tree, so that the next one refers to its images. */
    private void earlier(Jdk jdk) {
        Outcome ended = child(jdk).main(Script.class, "move w/tree w/tree2", "move w/tree2 w/tree").klock("").manifest(manifest("earlier")).run();
        assertThat(ended.exit()).as(ended.toString()).isZero();
        assertThat(place.resolve(".klock/backups/.known")).exists();
    }

    private String manifest(String session) {
        return """
                ver: "1.0"
                session_id: %2$s
                agent_id: tester
                scope:
                  - MUTATES FILE:%1$s/w/tree/large
                  - MUTATES FILE:%1$s/w/**
                  - PROVIDES FILE:%1$s/w/**
                  - DELETES FILE:%1$s/w/**
                  - RENAMES FILE:%1$s/w/**
                """.formatted(place, session);
    }

    /** An hour's loop on a busy machine must not end for one child that has to wait. */
    private Child child(Jdk jdk) {
        return Child.on(jdk).in(place).patience(Duration.ofMinutes(5));
    }

    /** Runs the child until the aim is met, or it ends. */
    private Outcome shot(Child child, Aim aim, Path begun, Random random) {
        if (aim.call() == null) {
            return child.killedWhenOrEnded(begun, Duration.ofMillis(aim.pick(random)));
        }
        List<String> strace = Trace.strace("-o", "/dev/null", "-e", "trace=" + aim.call(), "-e",
                "inject=" + aim.call() + ":signal=KILL:when=" + aim.pick(random));
        if (aim.file() != null) {
            Path file = aim.file().equals("pack") ? session().resolve("pack") : session().resolveSibling(".open").resolve("churning");
            strace.addAll(List.of("-P", file.toString()));
        }
        return child.through(strace.toArray(new String[0])).run();
    }

    private void hit(int column, String what) throws IOException {
        if (!Files.exists(session())) {
            return;
        }
        Step step = Step.of(session(), tree, () -> show().equals(before));
        met.computeIfAbsent(step, s -> new int[COLUMNS.size()])[column]++;
        if (ROUNDS < LONG) {
            System.out.println(what + ": " + step.words());
        }
    }

    @Test
    @Tag("K6-5")
    @Tag("C45")
    @Tag("FIELD-H13")
    void tree_afterProgramAndRecoveryWereKilledAnywhere_isAsItWas() throws IOException {
        Path root = directory.toRealPath();
        script = SpecimenTest.script(root);
        long first = SEED == 0 ? System.nanoTime() : SEED;
        boolean aimed = Trace.isPossible();
        int kills = 0;
        int round = 0;
        try {
            for (; round < ROUNDS; round++) {
                kills += round(root.resolve("round" + round), first + round, aimed);
                if ((round + 1) % SAID_EVERY == 0) {
                    System.out.println((round + 1) + " rounds from seed " + first + ", " + kills + " kills, 0 wrong");
                }
            }
        } finally {
            System.out.println("kill loop: " + round + " rounds from seed " + first + ", " + kills + " kills"
                    + (aimed ? "" : "; strace is missing or may not trace here, so by time only") + "\n" + Step.table(met, COLUMNS));
        }
        int[] steps = new int[COLUMNS.size()];
        met.forEach((step, counts) -> {
            for (int i = 0; i < steps.length; i++) {
                steps[i] += step != Step.OVER && counts[i] > 0 ? 1 : 0;
            }
        });
        assertThat(steps[0]).as("steps at which a program was killed").isGreaterThan(1);
        if (ROUNDS >= LONG && aimed) {
            // a kill that comes when all is over has hit no step
            for (Step step : EnumSet.complementOf(EnumSet.of(Step.OVER))) {
                int[] counts = met.getOrDefault(step, new int[COLUMNS.size()]);
                assertThat(counts[0] + counts[1]).as("kills at: %s", step.words()).isGreaterThanOrEqualTo(EACH * ROUNDS / EACH_OF);
            }
        }
    }

    /** @return how many processes were killed */
    private int round(Path where, long seed, boolean aimed) throws IOException {
        // seeds side by side would begin alike
        Random random = new Random(seed * 0x9E3779B97F4A7C15L);
        Jdk jdk = random.nextBoolean() ? Jdks.oldest() : Jdks.newest();
        place = Files.createDirectory(where);
        plant(random);
        boolean afterAnother = random.nextBoolean();
        if (afterAnother) {
            earlier(jdk);
        }
        before = show();
        String what = "seed " + seed + ", JDK " + jdk + (afterAnother ? ", after another session" : "");
        Path ready = place.resolve("w/ready");
        Aim aim = aimed ? pick(WORKING, seed) : MOMENT;
        int kills = 0;
        Outcome killed = shot(churn(jdk, seed, ready, aim == MOMENT, random), aim, ready, random);
        if (killed.exit() == Child.KILLED) {
            kills++;
            hit(0, what + ", " + aim);
        } else {
            assertThat(killed.exit()).as("%s: %s", what, killed).isEqualTo(108);
        }
        Path lock = place.resolve(".klock/backups/.recover.lock");
        Outcome last = null;
        for (int i = 1 + random.nextInt(3); i > 0 && Files.exists(place.resolve(".klock/version")); i--) {
            Files.deleteIfExists(lock);
            Aim next = aimed ? pick(RECOVERING, seed * 7 + i) : RECOVERING[0];
            last = shot(child(jdk).verb("recover"), next, lock, random);
            if (last.exit() != Child.KILLED) {
                break;
            }
            kills++;
            hit(1, what + ", recovery, " + next);
        }
        if (Files.exists(place.resolve(".klock/version"))) {
            last = child(jdk).verb("recover").run();
            assertThat(last.exit()).as("%s: %s %s", what, killed, last).isZero();
        }
        assertThat(show()).as("%s: %s %s", what, killed, last).isEqualTo(before);
        assertThat(place.resolve("w").toFile().list()).as("%s: %s", what, last).containsExactly("tree");
        wipe(where);
        return kills;
    }

    /** Seeds side by side take all of them in turn. */
    private static Aim pick(Aim[] aims, long seed) {
        return aims[(int) Math.floorMod(seed, (long) aims.length)];
    }

    /** A thousand trees would fill a disk; one that came back wrong stays to be looked at until the test is over. */
    private static void wipe(Path tree) throws IOException {
        try (Stream<Path> all = Files.walk(tree)) {
            all.sorted(Comparator.reverseOrder()).forEach(path -> {
                try {
                    Files.delete(path);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
