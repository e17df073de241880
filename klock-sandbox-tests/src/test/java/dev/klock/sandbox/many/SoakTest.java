package dev.klock.sandbox.many;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import dev.klock.Klock;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.AgentAppenders;
import dev.klock.sandbox.subject.Appender;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;

/**
 * JVMs with random manifests over 200 files, some killed and some stopped at random moments, for a while. What is looked at in the end is the files:
 * each program appends numbered records by reading, changing and writing them, so that of two that have a file at the same time one loses the
 * other's record, and what a killed one left half done shows.
 *
 * <p>Short here; {@code -Psoak} makes it ten minutes and asks that each kind of trouble was met 50 times. {@code -Dklock.test.seed} repeats the
 * choices, though not the moments.
 */
@Tag("K3-1")
@Tag("K4-7")
@Tag("C45")
@Tag("C46")
@Tag("FIELD-I01")
@Tag("FIELD-I05")
@Tag("FIELD-I18")
class SoakTest {
    private static final int SECONDS = Integer.getInteger("klock.test.soak", 60);
    private static final int LONG_SECONDS = 600;
    private static final int EACH_WHEN_LONG = 50;
    private static final long SEED = Long.getLong("klock.test.seed", 0) == 0 ? System.nanoTime() : Long.getLong("klock.test.seed");
    private static final int WORKERS = SECONDS >= LONG_SECONDS ? 8 : 4;
    private static final int DIRECTORIES = 10;
    private static final int FILES = 20;
    /** Directories that many want. */
    private static final int BUSY = 2;
    /** What a program that is never killed may take to get what it wants, and to be done. */
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final int DIED = 107;
    private static final int LOST = 109;

    @TempDir
    Path directory;

    private Path root;
    private long deadline;
    /** What happens to each program that is running. */
    private final AtomicInteger serial = new AtomicInteger();
    private final AtomicInteger waits = new AtomicInteger();
    private final AtomicInteger deaths = new AtomicInteger();
    private final AtomicInteger losses = new AtomicInteger();
    private final AtomicInteger killsAtStart = new AtomicInteger();
    private final AtomicInteger kills = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger ofAgents = new AtomicInteger();
    private final Set<String> killed = Collections.synchronizedSet(new HashSet<>());
    private final Set<String> lost = Collections.synchronizedSet(new HashSet<>());
    private final List<Written> written = Collections.synchronizedList(new ArrayList<>());

    /** A record of a program that has ended well. */
    private record Written(String by, String file, int number, long from, long until) {
    }

    @Test
    void files_thatManyChangeWhileSomeAreKilledOrStopped_loseNoRecord() throws IOException, InterruptedException, ExecutionException {
        root = directory.toRealPath();
        for (int d = 0; d < DIRECTORIES; d++) {
            Files.createDirectories(root.resolve("tree/d" + d));
            for (int f = 0; f < FILES; f++) {
                Files.createFile(root.resolve("tree/d" + d + "/f" + f));
            }
        }
        Files.createDirectory(root.resolve("manifests"));
        deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < WORKERS; i++) {
            Random random = new Random(SEED + i);
            all.add(workers.submit(() -> {
                work(random);
                return null;
            }));
        }
        try {
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            workers.shutdownNow();
            System.out.println("soak of " + SECONDS + " s, seed " + SEED + ": " + done + " done (" + ofAgents + " of them beside others in one JVM), " + waits + " waits, " + deaths + " deaths, " + losses
                    + " leases lost by a stop, " + kills + " kills, " + killsAtStart + " of these before the program began");
        }
        check();
        int least = SECONDS >= LONG_SECONDS ? EACH_WHEN_LONG : 1;
        assertThat(List.of(waits.get(), deaths.get(), losses.get(), killsAtStart.get())).as("waits, deaths, leases lost, kills at the start")
                .allMatch(count -> count >= least);
    }

    private void work(Random random) throws IOException, InterruptedException {
        while (System.nanoTime() < deadline) {
            String name = "a" + serial.incrementAndGet();
            if (random.nextInt(3) == 0) {
                several(random, name);
            } else {
                agent(random, name);
            }
        }
    }

    private static Set<String> files(Random random) {
        Set<String> files = new LinkedHashSet<>();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            // some favourites, or hardly anybody would meet
            files.add("d" + random.nextInt(random.nextBoolean() ? BUSY : DIRECTORIES) + "/f" + (random.nextBoolean() ? 0 : random.nextInt(FILES)));
        }
        return files;
    }

    /** One agent, from its first attempt until it is done, or dead for good. */
    private void agent(Random random, String name) throws IOException, InterruptedException {
        Jdk jdk = random.nextInt(4) == 0 ? Jdks.oldest() : Jdks.newest();
        Set<String> files = files(random);
        boolean isWide = random.nextInt(6) == 0;
        Path manifest = root.resolve("manifests/" + name + ".yaml");
        Files.writeString(manifest, manifest(name, files, isWide, random));
        List<String> arguments = new ArrayList<>(List.of(name, Integer.toString(1 + random.nextInt(3)), Integer.toString(random.nextInt(200))));
        files.forEach(file -> arguments.add(root.resolve("tree").resolve(file).toString()));
        long since = System.nanoTime();
        for (int attempt = 0; ; attempt++) {
            Child child = Child.on(jdk).in(root).main(Appender.class, arguments.toArray(new String[0]))
                    .klock("manifest=" + manifest + ",home=" + root.resolve(".klock") + ",lease-ttl=2s,wait-timeout=20s").patience(PATIENCE);
            boolean wasKilled = run(child, name, random);
            Outcome outcome = last.get();
            if (outcome.err().contains("waits for a lease")) {
                waits.incrementAndGet();
            }
            if (outcome.exit() != DIED) {
                ended(name, outcome, wasKilled);
                return;
            }
            deaths.incrementAndGet();
            assertThat(Duration.ofNanos(System.nanoTime() - since)).as(name + " gets what it wants, which is fair: " + outcome).isLessThan(PATIENCE);
            Thread.sleep(Math.min(2_000, 50L << Math.min(attempt, 6)) + random.nextInt(50));
        }
    }

    /** A program of two or three agents, each with a session of its own. */
    private void several(Random random, String name) throws IOException, InterruptedException {
        StringBuilder manifest = new StringBuilder("ver: \"1.0\"\nagent_id: ").append(name).append("\nscope: []\nagents:\n");
        Path file = root.resolve("manifests/" + name + ".yaml");
        List<String> arguments = new ArrayList<>(List.of(file.toString(), Integer.toString(random.nextInt(200))));
        List<String> names = new ArrayList<>();
        for (int i = 2 + random.nextInt(2); i > 0; i--) {
            String agent = name + "-" + i;
            Set<String> files = files(random);
            names.add(agent);
            manifest.append("  - agent_id: ").append(agent).append("\n    scope:\n").append(scope(agent, files, false).indent(4));
            arguments.addAll(arguments.size() == 2 ? List.of(agent) : List.of("--", agent));
            files.forEach(path -> arguments.add(root.resolve("tree").resolve(path).toString()));
        }
        Files.writeString(file, manifest);
        Child child = Child.on(random.nextInt(4) == 0 ? Jdks.oldest() : Jdks.newest()).in(root).main(AgentAppenders.class, arguments.toArray(new String[0]))
                .with(Klock.class, JsonFactory.class, Yaml.class).klock("manifest=" + file + ",home=" + root.resolve(".klock") + ",lease-ttl=2s").patience(PATIENCE);
        boolean wasKilled = run(child, name, random);
        Outcome outcome = last.get();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(wasKilled ? Child.KILLED : 0);
        assertThat(outcome.out()).as(outcome.toString()).doesNotContain("failed ").doesNotContain("starved ");
        if (wasKilled) {
            kills.incrementAndGet();
        }
        for (String agent : names) {
            if (outcome.out().contains("died " + agent)) {
                deaths.incrementAndGet();
            }
            if (outcome.out().contains("lost " + agent + ":")) {
                losses.incrementAndGet();
                lost.add(agent);
            } else if (outcome.out().contains("done " + agent + "\n")) {
                done.incrementAndGet();
                ofAgents.incrementAndGet();
            } else if (!outcome.out().contains("closing " + agent + "\n")) {
                killed.add(agent);
            }
        }
        if (!wasKilled) {
            for (String line : outcome.out().lines().filter(said -> said.startsWith("wrote ")).toList()) {
                String[] words = line.split(" ");
                written.add(new Written(words[5], words[1], Integer.parseInt(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4])));
            }
        }
    }

    private final ThreadLocal<Outcome> last = new ThreadLocal<>();

    /** Runs it once, and does something to it; whether that was to kill it. */
    private boolean run(Child child, String name, Random random) throws InterruptedException {
        Child.Running running = child.begin();
        boolean kill = false;
        switch (random.nextInt(8)) {
            case 0 -> {
                Thread.sleep(random.nextInt(1_500));
                kill = running.process().isAlive();
                running.kill();
            }
            case 1, 2 -> {
                Thread.sleep(random.nextInt(1_500));
                running.signal("STOP");
                Thread.sleep(random.nextInt(6_000));
                running.signal("CONT");
            }
            default -> { }
        }
        Outcome outcome = running.await();
        last.set(outcome);
        return kill && outcome.exit() == Child.KILLED;
    }

    private void ended(String name, Outcome outcome, boolean wasKilled) {
        if (wasKilled) {
            kills.incrementAndGet();
            if (!outcome.out().contains("ends")) {
                // else it may have ended well before it was killed
                killed.add(name);
            }
            if (!outcome.out().contains("begins")) {
                killsAtStart.incrementAndGet();
            }
            return;
        }
        if (outcome.exit() == LOST) {
            losses.incrementAndGet();
            lost.add(name);
            return;
        }
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        done.incrementAndGet();
        for (String line : outcome.out().lines().filter(said -> said.startsWith("wrote ")).toList()) {
            String[] words = line.split(" ");
            written.add(new Written(name, words[1], Integer.parseInt(words[2]), Long.parseLong(words[3]), Long.parseLong(words[4])));
        }
    }

    private String manifest(String name, Set<String> files, boolean isWide, Random random) {
        StringBuilder text = new StringBuilder("ver: \"1.0\"\nagent_id: ").append(name).append("\nscope:\n");
        if (random.nextInt(3) == 0) {
            // somebody whose turn came long ago
            text.insert(0, "priority_timestamp: " + (System.currentTimeMillis() - random.nextInt(60_000)) + "\n");
        }
        text.append(scope(name, files, isWide));
        if (random.nextInt(3) == 0) {
            text.append("  - CONSUMES FILE:").append(root).append("/tree/d").append(random.nextInt(DIRECTORIES)).append("/*\n");
        }
        return text.toString();
    }

    private String scope(String name, Set<String> files, boolean isWide) {
        StringBuilder text = new StringBuilder();
        Set<String> places = new LinkedHashSet<>();
        for (String file : files) {
            places.add(isWide ? file.substring(0, file.indexOf('/')) + "/**" : file);
        }
        for (String place : places) {
            for (String predicate : new String[] {"MUTATES", "RENAMES", "PROVIDES"}) {
                text.append("  - ").append(predicate).append(" FILE:").append(root).append("/tree/").append(place).append('\n');
            }
            if (!isWide) {
                text.append("  - PROVIDES FILE:").append(root).append("/tree/").append(place).append('.').append(name).append(".new\n");
                text.append("  - RENAMES FILE:").append(root).append("/tree/").append(place).append('.').append(name).append(".new\n");
            }
        }
        return text.toString();
    }

    /** Reads the files, and asks klock for nothing but that it finishes what it has to. */
    private void check() throws IOException {
        Outcome recovered = Child.on(Jdks.newest()).in(root).verb("recover", "--home", root.resolve(".klock").toString()).patience(PATIENCE).run();
        assertThat(recovered.exit()).as(recovered.toString()).isZero();
        Map<String, List<String>> tree = new TreeMap<>();
        try (Stream<Path> all = Files.walk(root.resolve("tree"))) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                tree.put(root.resolve("tree").relativize(file).toString(), Files.readAllLines(file));
            }
        }
        String what = "seed " + SEED;
        tree.keySet().removeIf(file -> lost.stream().anyMatch(name -> file.endsWith("." + name + ".new")));
        assertThat(tree).as(what + ": nothing else is left there").hasSize(DIRECTORIES * FILES);
        tree.forEach((file, lines) -> {
            for (int i = 0; i < lines.size(); i++) {
                assertThat(lines.get(i)).as("%s: %s, line %s of %s", what, file, i + 1, lines).startsWith(i + 1 + " ");
                assertThat(killed).as("%s: %s keeps nothing of who was killed: %s", what, file, lines).doesNotContain(lines.get(i).split(" ")[1]);
            }
        });
        Map<String, List<Written>> byFile = new HashMap<>();
        for (Written one : written) {
            List<String> lines = tree.get(one.file());
            assertThat(lines.size()).as("%s: %s has %s", what, one.file(), one).isGreaterThanOrEqualTo(one.number());
            assertThat(lines.get(one.number() - 1)).as("%s: %s", what, one).isEqualTo(one.number() + " " + one.by());
            byFile.computeIfAbsent(one.file(), file -> new ArrayList<>()).add(one);
        }
        byFile.forEach((file, records) -> {
            for (Written one : records) {
                for (Written other : records) {
                    assertThat(one.by().equals(other.by()) || one.until() < other.from() || other.until() < one.from())
                            .as("%s: both had %s: %s and %s", what, file, one, other).isTrue();
                }
            }
        });
        Outcome status = Child.on(Jdks.newest()).in(root).verb("status", "--json", "--home", root.resolve(".klock").toString()).run();
        assertThat(status.exit()).as(status.toString()).isZero();
        assertThat(status.out()).as("no lease is left").doesNotContain("\"fencing_token\"");
    }
}
