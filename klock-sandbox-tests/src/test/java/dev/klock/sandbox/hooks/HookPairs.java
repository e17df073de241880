package dev.klock.sandbox.hooks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.jvm.VerificationLog;
import dev.klock.sandbox.subject.HookProbes;
import dev.klock.sandbox.subject.HookProbes.Kind;
import dev.klock.sandbox.subject.HookProbes.Probe;
import dev.klock.sandbox.trace.TracerJar;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * All probes of one JDK, run bare (with the {@link dev.klock.sandbox.trace.Tracer}, which notes the rows each one enters) and under
 * klock in block mode: on targets that are declared ({@code ok}), declared for reading only ({@code ro}) and not declared ({@code no}).
 */
final class HookPairs {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What a probe printed. */
    private record Seen(String result, String error, String denied, Set<Integer> entered) {
    }

    /** What a run left behind: by {@code area/probe}. */
    private static final class Run {
        final Map<String, Seen> seen = new HashMap<>();
        final Map<String, Tree[]> before = new HashMap<>();
        final Map<String, Tree[]> after = new HashMap<>();
        final List<String> denials = new ArrayList<>();
        final Map<String, Outcome> outcomes = new TreeMap<>();
        FileTime started;
    }

    private final Jdk jdk;
    private final List<HookRow> rows;
    private Run bare;
    private Run watched;

    private HookPairs(Jdk jdk) {
        this.jdk = jdk;
        this.rows = HookRow.withPairs(jdk.feature());
    }

    /** Runs everything; takes some seconds. */
    static HookPairs of(Jdk jdk) throws IOException, InterruptedException {
        HookPairs pairs = new HookPairs(jdk);
        Path work = Files.createTempDirectory("klock-pairs");
        Path elsewhere = Files.createTempDirectory(Path.of("/dev/shm"), "klock-pairs");
        Process stranger = new ProcessBuilder(program("sleep"), "600").start();
        try {
            if (Files.getFileStore(work).equals(Files.getFileStore(elsewhere))) {
                throw new IllegalStateException("two file systems are needed: " + work + " and " + elsewhere);
            }
            Path tracer = TracerJar.in(work);
            pairs.bare = pairs.run(work.resolve("bare"), elsewhere.resolve("bare"), tracer, stranger.pid(), "warm", "ok");
            pairs.watched = pairs.run(work.resolve("klock"), elsewhere.resolve("klock"), null, stranger.pid(), "ok", "ro", "no");
            if (!stranger.isAlive()) {
                pairs.watched.seen.put("no/ProcessHandle.destroy", new Seen(null, "the process that was not ours is dead", "", Set.of()));
            }
        } finally {
            stranger.destroyForcibly();
            delete(work);
            delete(elsewhere);
        }
        return pairs;
    }

    List<HookRow> rows() {
        return rows;
    }

    /** The probes that are there for {@code row}. */
    List<Probe> probesFor(HookRow row) {
        return HookProbes.PROBES.stream().filter(probe -> probe.rows().stream().anyMatch(row::isMeantBy)).toList();
    }

    /** Whether {@code probe}, run bare, entered {@code row}. */
    boolean enters(Probe probe, HookRow row) {
        Seen seen = bare.seen.get("ok/" + probe.id());
        return seen != null && seen.entered.contains(rows.indexOf(row));
    }

    /** All rows that any probe entered. */
    Set<Integer> entered() {
        Set<Integer> all = new LinkedHashSet<>();
        bare.seen.values().forEach(seen -> all.addAll(seen.entered));
        return all;
    }

    /** What is wrong with {@code probe} under klock; empty if nothing. */
    List<String> faults(Probe probe) {
        List<String> faults = new ArrayList<>();
        Seen plain = bare.seen.get("ok/" + probe.id());
        if (plain == null) {
            return List.of("did not run bare: " + bare.outcomes.get(probe.group() + " ok"));
        }
        if (!plain.error.equals("null")) {
            return List.of("fails without klock, so it shows nothing: " + plain.error);
        }
        Seen declared = watched.seen.get("ok/" + probe.id());
        compare(faults, "declared", plain, declared, "ok", probe);
        String wanted = left(bare, "ok/" + probe.id());
        String got = left(watched, "ok/" + probe.id());
        if (!wanted.equals(got)) {
            faults.add("declared: left behind\n" + got + "instead of\n" + wanted);
        }
        for (String area : List.of("ro", "no")) {
            boolean allowed = probe.kind() == Kind.NEUTRAL || area.equals("ro") && probe.kind() != Kind.CHANGES;
            Seen seen = watched.seen.get(area + "/" + probe.id());
            if (allowed) {
                compare(faults, area, plain, seen, area, probe);
            } else {
                denied(faults, area, probe, seen);
            }
            untouched(faults, area + "/" + probe.id());
        }
        return faults;
    }

    private void compare(List<String> faults, String what, Seen plain, Seen seen, String area, Probe probe) {
        if (seen == null) {
            faults.add(what + ": did not run: " + watched.outcomes.get(probe.group() + " " + area));
        } else if (!plain.result.equals(seen.result) || !plain.error.equals(seen.error)) {
            faults.add(what + ": answered " + seen.result + " / " + seen.error + " instead of " + plain.result + " / " + plain.error);
        }
    }

    private void denied(List<String> faults, String area, Probe probe, Seen seen) {
        if (seen == null && probe.group().equals("main")) {
            faults.add(area + ": did not run: " + watched.outcomes.get("main " + area));
        } else if (seen != null && seen.denied.isEmpty()) {
            faults.add(area + ": not denied, answered " + seen.result + " / " + seen.error);
        }
        String logged = switch (probe.id()) {
            case "ProcessBuilder.start" -> "PROCESS:" + program("mkdir");
            case "ProcessHandle.destroy", "ProcessHandle.info" -> "PROCESS:";
            default -> "/" + area + "/" + probe.id();
        };
        if (watched.denials.stream().noneMatch(denial -> denial.contains(logged))) {
            faults.add(area + ": no denial of " + logged + " in the log");
        }
    }

    private void untouched(List<String> faults, String place) {
        for (int i = 0; i < 2; i++) {
            String before = watched.before.get(place)[i].whole();
            String after = watched.after.get(place)[i].whole();
            if (!before.equals(after)) {
                faults.add(place + " was touched: before\n" + before + "after\n" + after);
            }
        }
    }

    /** What a declared probe left, with "now" for times of the run, which cannot be equal. */
    private static String left(Run run, String place) {
        StringBuilder text = new StringBuilder();
        for (Tree tree : run.after.get(place)) {
            text.append(tree.visible());
            tree.entries().forEach((name, entry) -> text.append(name).append(" of ")
                    .append(entry.modified().compareTo(run.started) >= 0 ? "now" : entry.modified()).append('\n'));
        }
        return text.toString();
    }

    private Run run(Path root, Path elsewhere, Path tracer, long stranger, String... areas) throws IOException, InterruptedException {
        Run run = new Run();
        for (String area : areas) {
            for (Probe probe : HookProbes.PROBES) {
                Fixture.make(root.resolve(area).resolve(probe.id()), probe.id());
                Fixture.age(Files.createDirectories(elsewhere.resolve(area).resolve(probe.id())));
            }
        }
        Files.createDirectory(root.resolve("tmp"));
        look(root, elsewhere, areas, run.before);
        // the file system's clock is coarse and may be a little behind
        run.started = FileTime.fromMillis(System.currentTimeMillis() - 50);
        Set<String> groups = new LinkedHashSet<>();
        HookProbes.PROBES.forEach(probe -> groups.add(probe.group()));
        for (String group : groups) {
            if (group.equals("main")) {
                Outcome outcome = child(root, elsewhere, tracer, stranger, group, areas).run();
                for (String area : areas) {
                    run.outcomes.put(group + " " + area, outcome);
                }
                read(outcome, run);
            } else {
                for (String area : areas) {
                    if (!area.equals("warm")) {
                        Outcome outcome = child(root, elsewhere, tracer, stranger, group, area).run();
                        run.outcomes.put(group + " " + area, outcome);
                        read(outcome, run);
                    }
                }
            }
        }
        look(root, elsewhere, areas, run.after);
        for (JsonNode denial : VerificationLog.of(root.resolve(".klock")).decided("deny")) {
            run.denials.add(denial.path("predicate").asText() + " " + denial.path("resource").asText());
        }
        return run;
    }

    private Child child(Path root, Path elsewhere, Path tracer, long stranger, String group, String... areas) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(group));
        for (String area : areas) {
            arguments.add(area + "=" + root.resolve(area) + "=" + elsewhere.resolve(area));
        }
        Child child = Child.on(jdk).in(root).main(HookProbes.class, arguments.toArray(new String[0]))
                .jvm("--add-opens", "java.base/java.io=ALL-UNNAMED", "-Djava.io.tmpdir=" + root.resolve("tmp"), "-Dprobe.declared=" + program("touch"),
                        "-Dprobe.undeclared=" + program("mkdir"), "-Dprobe.sleep=" + program("sleep"), "-Dprobe.stranger=" + stranger);
        Path own = root.resolve(areas[areas.length - 1]);
        if (group.equals("preferences")) {
            child.jvm("-Djava.util.prefs.userRoot=" + own.resolve("Preferences.userRoot/home"),
                    "-Djava.util.prefs.systemRoot=" + own.resolve("Preferences.systemRoot/home"));
        } else if (group.equals("management")) {
            Path files = own.resolve("management-agent-with-passwords");
            child.jvm("-Dcom.sun.management.jmxremote.port=0", "-Dcom.sun.management.jmxremote.ssl=false",
                    "-Dcom.sun.management.jmxremote.password.file=" + files.resolve("password"),
                    "-Dcom.sun.management.jmxremote.access.file=" + files.resolve("access"));
        }
        if (tracer != null) {
            StringBuilder table = new StringBuilder();
            for (HookRow row : rows) {
                table.append(rows.indexOf(row)).append('\t').append(row.owner()).append('\t').append(row.method()).append('\t')
                        .append(row.descriptor()).append('\t').append(row.site()).append('\n');
            }
            return child.jvmBefore("-javaagent:" + tracer + "=" + Files.writeString(root.resolve("rows"), table));
        }
        return child.klock("mode=block,denials.limit=1000").manifest(manifest(root, elsewhere));
    }

    private static String manifest(Path root, Path elsewhere) {
        StringBuilder text = new StringBuilder("ver: \"1.0\"\nagent_id: prober\nscope:\n");
        // tmp: the flight recorder keeps its repository there
        for (Path place : List.of(root.resolve("ok"), elsewhere.resolve("ok"), root.resolve("tmp"))) {
            for (String predicate : List.of("PROVIDES", "MUTATES", "DELETES", "RENAMES")) {
                text.append("  - ").append(predicate).append(" FILE:").append(place).append("/**\n");
            }
        }
        text.append("  - CONSUMES FILE:").append(root.resolve("ro")).append("/**\n");
        text.append("  - CONSUMES FILE:").append(elsewhere.resolve("ro")).append("/**\n");
        // the JMX agent's registry takes any free port
        text.append("  - PROVIDES URL:tcp://0.0.0.0:0\n");
        for (String program : List.of("touch", "sleep")) {
            text.append("  - predicate: PROVIDES\n    resource: PROCESS:").append(program(program)).append("\n    effects: [\"MUTATES FILE:")
                    .append(root).append("/ok/ProcessBuilder.start/**\"]\n");
        }
        return text.toString();
    }

    /** The real path of a program of the system. */
    private static String program(String name) {
        for (String directory : List.of("/usr/bin", "/bin")) {
            Path program = Path.of(directory, name);
            if (Files.isExecutable(program)) {
                try {
                    return program.toRealPath().toString();
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            }
        }
        throw new IllegalStateException("no " + name);
    }

    private static void read(Outcome outcome, Run run) throws IOException {
        for (String line : outcome.out().lines().toList()) {
            JsonNode node = JSON.readTree(line);
            Set<Integer> entered = new LinkedHashSet<>();
            node.path("entered").forEach(row -> entered.add(row.asInt()));
            run.seen.put(node.path("area").asText() + "/" + node.path("probe").asText(), new Seen(node.path("result").asText(),
                    node.path("error").asText(), node.path("denied").asText(), entered));
        }
    }

    private static void look(Path root, Path elsewhere, String[] areas, Map<String, Tree[]> into) {
        for (String area : areas) {
            for (Probe probe : HookProbes.PROBES) {
                into.put(area + "/" + probe.id(), new Tree[] {Tree.of(root.resolve(area).resolve(probe.id())),
                    Tree.of(elsewhere.resolve(area).resolve(probe.id()))});
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException failure) throws IOException {
                Files.delete(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
