package dev.klock.sandbox.bench;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * Runs all measurements and writes their tables to stdout and {@code target/performance.md}.
 *
 * <p>Arguments: any of {@code access}, {@code peers}, {@code start}, {@code javac}, {@code images},
 * {@code agents}; none for all. {@code -Dbench.rounds} (5) is how often each benchmark runs with and without klock in turn, {@code -Dbench.starts} (21) how many processes a median is taken of.
 */
public final class Measure {
    private static final int ROUNDS = Integer.getInteger("bench.rounds", 5);
    private static final int STARTS = Integer.getInteger("bench.starts", 21);
    private static final int COMPILES = Integer.getInteger("bench.compiles", 9);
    private static final int CLASSES = 200;
    private static final String[] CHECKS = {"repeated", "freshString", "repeatedPath", "freshPath"};
    private static final String[] ACCESSES = {"exists", "fileExists", "readAllBytes", "openReadClose", "write", "list", "writeByte"};
    private static final String MANAGER = "a SecurityManager";
    private static final String[] HANDOVERS = {"execute", "submit", "forkJoin", "completableFuture", "virtualThread", "enterAndClose", "current"};
    private static final String[] BESIDE = {"none", "idle", "other", "same"};
    private static final String[] DEEP = {"exists", "openReadClose", "list"};
    /** Twenty lines, as the numbers to reach ask for. */
    private static final String MANIFEST = """
            # The agent of the start-up measurement: twenty lines.
            ver: "1.0"
            agent_id: librarian
            scope:
              - MUTATES FILE:${workspace}/in/**
              - PROVIDES FILE:${workspace}/in/**
              - RENAMES FILE:${workspace}/in/**
              - DELETES FILE:${workspace}/in/**
              - CONSUMES FILE:${workspace}/src/**
              - predicate: MUTATES
                resource: FILE:${workspace}/out/**
                confidence: 0.9
              - predicate: PROVIDES
                resource: FILE:${workspace}/out/**
              - predicate: CONSUMES
                resource: FILE:${tmp}/klock-in/*
            deny:
              - CONSUMES FILE:${workspace}/.env
            klock:
              wait-timeout: 10s
            """;

    /** For the hand-over measurement: without agents in it; klock-kernel looks where the declared names of a session lead. */
    private static final String ALONE = MANIFEST.replace("scope:\n", "scope:\n  - CONSUMES FILE:${workspace}/agents.yaml\n  - DEPENDS_ON FILE:${workspace}/built\n");
    /** And with one. */
    private static final String AGENTS = MANIFEST.replace("scope:\n", "scope:\n  - CONSUMES FILE:${workspace}/agents.yaml\n") + """
            agents:
              - agent_id: builder
                scope:
                  - MUTATES FILE:${workspace}/built/**
            """;

    /** The same for a SecurityManager: it asks for reads of the class path, and for much that has nothing to do with files. */
    private static final String POLICY = """
            grant {
              permission java.io.FilePermission "${workspace}/in/-", "read,write,delete";
              permission java.io.FilePermission "${workspace}/src/-", "read";
              permission java.io.FilePermission "${workspace}/out/-", "read,write,delete";
              permission java.io.FilePermission "<<ALL FILES>>", "read";
              permission java.lang.RuntimePermission "*";
              permission java.lang.reflect.ReflectPermission "*";
              permission java.util.PropertyPermission "*", "read,write";
              permission java.lang.management.ManagementPermission "monitor";
              permission java.lang.management.ManagementPermission "control";
              permission javax.management.MBeanServerPermission "*";
              permission javax.management.MBeanPermission "*", "*";
              permission javax.management.MBeanTrustPermission "*";
            };
            """;

    private final Path target = KlockJar.module().resolve("target");
    /** In memory where there is such a place: a disk's own time would hide what is added to it. */
    private final Path work;
    private final StringBuilder report = new StringBuilder();

    private Measure() throws IOException {
        Path memory = Path.of("/dev/shm");
        work = Files.createTempDirectory(Files.isWritable(memory) ? memory : target, "klock-bench");
    }

    public static void main(String[] arguments) throws Exception {
        List<String> wanted = arguments.length == 0 ? List.of("access", "peers", "start", "javac", "images", "agents") : List.of(arguments);
        Measure measure = new Measure();
        try {
            measure.prepare();
            measure.run(wanted);
        } finally {
            remove(measure.work);
        }
    }

    private void run(List<String> wanted) throws Exception {
        if (wanted.contains("start")) {
            start();
        }
        if (wanted.contains("javac")) {
            javac();
        }
        if (wanted.contains("access")) {
            access();
        }
        if (wanted.contains("peers")) {
            peers();
        }
        if (wanted.contains("agents")) {
            agents();
        }
        if (wanted.contains("images")) {
            Path disk = Files.createTempDirectory(target, "klock-images").toRealPath();
            try {
                new Images(disk, this::say).run();
            } finally {
                remove(disk);
            }
        }
        Files.writeString(target.resolve("performance.md"), report);
    }

    private void prepare() throws IOException {
        for (String directory : List.of("in", "src", "out", "cache")) {
            Files.createDirectories(work.resolve(directory));
        }
        Files.writeString(work.resolve("klock.yaml"), MANIFEST);
        Files.writeString(work.resolve("alone.yaml"), ALONE);
        Files.writeString(work.resolve("agents.yaml"), AGENTS);
        Files.writeString(policy(), POLICY.replace("${workspace}", work.toString()));
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", EmptyAgent.class.getName());
        manifest.getMainAttributes().putValue("Can-Redefine-Classes", "true");
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        try (OutputStream file = Files.newOutputStream(empty()); JarOutputStream jar = new JarOutputStream(file, manifest)) {
            String entry = EmptyAgent.class.getName().replace('.', '/') + ".class";
            jar.putNextEntry(new JarEntry(entry));
            jar.write(EmptyAgent.class.getClassLoader().getResourceAsStream(entry).readAllBytes());
        }
        for (int i = 0; i < CLASSES; i++) {
            Files.writeString(work.resolve("src/Generated" + i + ".java"), source(i));
        }
    }

    private Path policy() {
        return work.resolve("equal.policy");
    }

    /** What klock is compared with on the last JDK that has it in full. */
    private String[] securityManager() {
        return new String[] {"-Djava.security.manager", "-Djava.security.policy==" + policy()};
    }

    private Path empty() {
        return work.resolve("empty.jar");
    }

    private static String source(int i) {
        StringBuilder text = new StringBuilder("import java.util.*;\nimport java.util.function.*;\n\npublic class Generated" + i
                + " implements Supplier<Map<String, List<Integer>>> {\n    private final Map<String, List<Integer>> all = new TreeMap<>();\n\n");
        for (int method = 0; method < 8; method++) {
            text.append("    public int method").append(method).append("(List<String> names, int base) {\n"
                    + "        int sum = base;\n        for (String name : names) {\n"
                    + "            all.computeIfAbsent(name, n -> new ArrayList<>()).add(name.length() + sum(sum, ").append(method)
                    .append("));\n            sum += switch (name.length() % 3) { case 0 -> 1; case 1 -> base; default -> name.hashCode(); };\n"
                            + "        }\n        return sum;\n    }\n\n");
        }
        return text.append("    private static int sum(int a, int b) {\n        return a + b;\n    }\n\n    @Override\n"
                + "    public Map<String, List<Integer>> get() {\n        return all;\n    }\n}\n").toString();
    }

    // what is launched

    private static List<String> command(Jdk jdk, String... arguments) {
        List<String> command = new ArrayList<>(List.of(jdk.java().toString()));
        command.addAll(List.of(arguments));
        return command;
    }

    private Map<String, String> cache(String name) {
        return Map.of("XDG_CACHE_HOME", work.resolve(name).toString());
    }

    private void start() throws Exception {
        Path hello = work.resolve("hello");
        Path classes = hello.resolve(Hello.class.getPackageName().replace('.', '/'));
        Files.createDirectories(classes);
        Files.write(classes.resolve("Hello.class"), Hello.class.getResourceAsStream("Hello.class").readAllBytes());
        String klock = KlockJar.path().toString();
        Map<String, String[]> ways = new LinkedHashMap<>();
        ways.put("no agent", new String[0]);
        ways.put("empty agent", new String[] {"-javaagent:" + empty()});
        ways.put("JaCoCo's agent", new String[] {"-javaagent:" + target.resolve("agents/jacoco-agent.jar") + "=destfile=out/jacoco.exec"});
        ways.put("BlockHound's agent", new String[] {"-XX:+AllowRedefinitionToAddDeleteMethods", "-javaagent:" + target.resolve("agents/blockhound.jar")});
        ways.put(MANAGER, securityManager());
        ways.put("klock, first time", new String[] {"-javaagent:" + klock});
        ways.put("klock, caches warm", new String[] {"-javaagent:" + klock});
        ways.put("empty agent by -agentlib", new String[] {"-agentlib:instrument=" + empty()});
        ways.put("klock by -agentlib, caches warm", new String[] {"-agentlib:instrument=" + klock});
        Map<String, List<Timed>> runs = new LinkedHashMap<>();
        for (int n = -1; n < STARTS; n++) {
            for (Jdk jdk : Jdks.all()) {
                for (Map.Entry<String, String[]> way : ways.entrySet()) {
                    if (way.getKey().equals(MANAGER) && jdk.feature() != 17) {
                        continue;
                    }
                    boolean first = way.getKey().contains("first");
                    if (first) {
                        remove(work.resolve("cold"));
                        Files.createDirectories(work.resolve("cold"));
                    }
                    List<String> command = command(jdk, way.getValue());
                    command.addAll(List.of("-cp", hello.toString(), Hello.class.getName()));
                    Timed run = Timed.run(work, cache(first ? "cold" : "cache"), command);
                    if (n >= 0) {
                        runs.computeIfAbsent(jdk.feature() + way.getKey(), k -> new ArrayList<>()).add(run);
                    }
                }
            }
        }
        say("\n### Start-up of hello world, median of %d\n\n| JDK | | CPU ms | added to the empty agent | wall ms | added |\n|---|---|---|---|---|---|\n",
                STARTS);
        for (Jdk jdk : Jdks.all()) {
            for (String way : ways.keySet()) {
                if (!runs.containsKey(jdk.feature() + way)) {
                    continue;
                }
                Timed all = Timed.median(runs.get(jdk.feature() + way));
                Timed base = Timed.median(runs.get(jdk.feature() + (way.contains("agentlib") ? "empty agent by -agentlib" : "empty agent")));
                say("| %d | %s | %.0f | %+.0f | %.0f | %+.0f |\n", jdk.feature(), way, all.cpuMs(), all.cpuMs() - base.cpuMs(), all.wallMs(),
                        all.wallMs() - base.wallMs());
            }
        }
    }

    private void javac() throws Exception {
        say("\n### javac of %d generated classes, median of %d\n\n| JDK | | CPU ms | added |\n|---|---|---|---|\n", CLASSES, COMPILES);
        for (Jdk jdk : Jdks.all()) {
            Map<String, String[]> ways = new LinkedHashMap<>();
            ways.put("no agent", new String[0]);
            ways.put("empty agent", new String[] {"-javaagent:" + empty()});
            ways.put("klock", new String[] {"-javaagent:" + KlockJar.path()});
            ways.put("JaCoCo's agent", new String[] {"-javaagent:" + target.resolve("agents/jacoco-agent.jar") + "=destfile=out/jacoco.exec"});
            if (jdk.feature() == 17) {
                ways.put(MANAGER, securityManager());
            }
            Map<String, List<Timed>> runs = new LinkedHashMap<>();
            for (int n = -1; n < COMPILES; n++) {
                for (Map.Entry<String, String[]> way : ways.entrySet()) {
                    remove(work.resolve("out/classes"));
                    Files.createDirectories(work.resolve("out/classes"));
                    List<String> command = command(jdk, way.getValue());
                    command.addAll(List.of("-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", "out/classes", "-cp", "out/classes", "-proc:none"));
                    for (int i = 0; i < CLASSES; i++) {
                        command.add("src/Generated" + i + ".java");
                    }
                    Timed run = Timed.run(work, cache("cache"), command);
                    if (n >= 0) {
                        runs.computeIfAbsent(way.getKey(), k -> new ArrayList<>()).add(run);
                    }
                }
            }
            double base = Timed.median(runs.get("no agent")).cpuMs();
            for (String way : ways.keySet()) {
                double cpu = Timed.median(runs.get(way)).cpuMs();
                say("| %d | %s | %.0f | %+.0f ms, %+.1f %% |\n", jdk.feature(), way, cpu, cpu - base, (cpu / base - 1) * 100);
            }
        }
    }

    private void access() throws Exception {
        say("\n### Allowed accesses: of each process the median operation; of %d processes each way, in turn, the fastest and the median\n\n"
                + "| JDK | access | depth | fastest: without ns | with klock | added | median: without ns | with klock | added | slowest without | allocated B: without | with |\n"
                + "|---|---|---|---|---|---|---|---|---|---|---|---|\n", ROUNDS);
        for (Jdk jdk : Jdks.all()) {
            for (String name : CHECKS) {
                compare(jdk, "Checks." + name, null);
            }
            for (String name : ACCESSES) {
                compare(jdk, "Accesses." + name, "5");
            }
            for (String name : DEEP) {
                compare(jdk, "Accesses." + name, "150");
            }
        }
    }

    private void peers() throws Exception {
        say("\n### The same accesses under a SecurityManager with an equal policy, medians of %d processes each way, in turn\n\n"
                + "| JDK | access | depth | without ns | with klock | added | with a SecurityManager | added |\n|---|---|---|---|---|---|---|---|\n", ROUNDS);
        for (Jdk jdk : Jdks.all()) {
            if (jdk.feature() != 17) {
                continue;
            }
            for (String name : ACCESSES) {
                beside(jdk, "Accesses." + name, "5");
            }
            for (String name : DEEP) {
                beside(jdk, "Accesses." + name, "150");
            }
        }
    }

    private void agents() throws Exception {
        String klock = "-javaagent:" + KlockJar.path();
        say("\n### Work that is handed over, each task, and sessions that are entered, medians of %d processes each way, in turn\n\n"
                + "| JDK | what | no klock ns | klock, no agents | klock with agents, for the process | for one of them | allocated B: no klock | no agents | for the process | for one |\n"
                + "|---|---|---|---|---|---|---|---|---|---|\n", ROUNDS);
        for (Jdk jdk : Jdks.all()) {
            for (String name : HANDOVERS) {
                if (name.equals("virtualThread") && jdk.feature() < 21) {
                    continue;
                }
                Score[] scores = {new Score(), new Score(), new Score(), new Score()};
                for (int n = 0; n < ROUNDS; n++) {
                    jmh(jdk, "Handover." + name, "who=process", scores[0]);
                    jmh(jdk, "Handover." + name, "who=process", scores[1], klock + "=manifest=alone.yaml");
                    jmh(jdk, "Handover." + name, "who=process", scores[2], klock + "=manifest=agents.yaml");
                    jmh(jdk, "Handover." + name, "who=builder", scores[3], klock + "=manifest=agents.yaml");
                }
                say("| %d | %s |", jdk.feature(), name);
                for (Score score : scores) {
                    say(" %.1f |", score.median());
                }
                for (Score score : scores) {
                    say(" %.0f |", score.bytes());
                }
                say("\n");
            }
        }
        say("\n### One lease of the shared kernel, asked for and given back, medians of %d processes\n\n| JDK | another JVM | µs |\n|---|---|---|\n", ROUNDS);
        for (Jdk jdk : Jdks.all()) {
            for (String beside : BESIDE) {
                Score score = new Score();
                for (int n = 0; n < ROUNDS; n++) {
                    jmh(jdk, "Shared.acquireAndRelease", "beside=" + beside, score);
                }
                say("| %d | %s | %.1f |\n", jdk.feature(), beside, score.median() / 1000);
            }
        }
    }

    private void beside(Jdk jdk, String benchmark, String depth) throws Exception {
        Score without = new Score();
        Score klock = new Score();
        Score manager = new Score();
        for (int n = 0; n < ROUNDS; n++) {
            jmh(jdk, benchmark, depth == null ? null : "depth=" + depth, without);
            jmh(jdk, benchmark, depth == null ? null : "depth=" + depth, klock, "-javaagent:" + KlockJar.path());
            jmh(jdk, benchmark, depth == null ? null : "depth=" + depth, manager, securityManager());
        }
        say("| %d | %s | %s | %.0f | %.0f | %s | %.0f | %s |\n", jdk.feature(), benchmark, depth, without.median(), klock.median(),
                added(without.median(), klock.median(), depth), manager.median(), added(without.median(), manager.median(), depth));
    }

    private void compare(Jdk jdk, String benchmark, String depth) throws Exception {
        Score without = new Score();
        Score with = new Score();
        for (int n = 0; n < ROUNDS; n++) {
            jmh(jdk, benchmark, depth == null ? null : "depth=" + depth, without);
            jmh(jdk, benchmark, depth == null ? null : "depth=" + depth, with, "-javaagent:" + KlockJar.path());
        }
        say("| %d | %s | %s | %.0f | %.0f | %s | %.0f | %.0f | %s | %.0f | %.0f | %.0f |\n", jdk.feature(), benchmark, depth == null ? "" : depth,
                without.fastest(), with.fastest(), added(without.fastest(), with.fastest(), depth), without.median(), with.median(),
                added(without.median(), with.median(), depth), without.slowest(), without.bytes(), with.bytes());
    }

    /** The check alone has nothing to be a part of. */
    private static String added(double without, double with, String depth) {
        return depth == null ? String.format(Locale.ROOT, "%+.0f", with - without)
                : String.format(Locale.ROOT, "%+.0f, %+.1f %%", with - without, 100 * (with - without) / without);
    }

    /** JMH without its own fork, which would need a socket that no manifest declares: each run is a JVM of ours. */
    private void jmh(Jdk jdk, String benchmark, String parameter, Score score, String... agent) throws Exception {
        List<String> command = command(jdk, agent);
        command.addAll(List.of("--add-exports", "java.base/sun.nio.fs=ALL-UNNAMED", "-Djmh.ignoreLock=true", "-Djmh.blackhole.autoDetect=false", "-cp",
                System.getProperty("java.class.path"), "org.openjdk.jmh.Main", "-f", "0", "-wi", "4", "-w", "400ms", "-i", "5", "-r", "400ms",
                "-prof", "gc", "-rf", "csv", "-rff", "out/result.csv"));
        if (parameter != null) {
            command.addAll(List.of("-p", parameter));
        }
        command.add("bench\\." + benchmark.replace(".", "\\.") + "$");
        Path result = work.resolve("out/result.csv");
        Files.deleteIfExists(result);
        Timed.run(work, cache("cache"), command);
        score.add(Files.readAllLines(result));
    }

    /** The results of one benchmark's processes. */
    private static final class Score {
        private final List<Double> medians = new ArrayList<>();
        private double bytes;

        void add(List<String> csv) {
            for (String line : csv.subList(1, csv.size())) {
                String[] cells = line.replace("\"", "").split(",");
                String kind = cells[0].contains(":") ? cells[0].substring(cells[0].indexOf(':') + 1).replace("·", "") : "";
                // half of all operations were as fast as this or faster: the mean would tell of the machine's other work
                if (kind.endsWith("p0.50")) {
                    medians.add(Double.parseDouble(cells[4]));
                } else if (kind.equals("gc.alloc.rate.norm")) {
                    bytes += Double.parseDouble(cells[4]);
                }
            }
            Collections.sort(medians);
        }

        double fastest() {
            return medians.get(0);
        }

        double median() {
            return medians.get(medians.size() / 2);
        }

        double slowest() {
            return medians.get(medians.size() - 1);
        }

        double bytes() {
            return bytes / medians.size();
        }
    }

    private void say(String format, Object... values) {
        String text = String.format(Locale.ROOT, format, values);
        report.append(text);
        System.out.print(text);
        System.out.flush();
    }

    private static void remove(Path tree) throws IOException {
        if (!Files.exists(tree)) {
            return;
        }
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                Files.delete(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
