package dev.klock.sandbox.field;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A group on a JDK: its accesses are made without klock and in permissive, and both must come to the same; in block, which goes on
 * after a denial, so that all of them fit into one JVM; and some, or all with {@code -Dfield.strict=all}, each in a strict JVM of its
 * own after changes that the rollback has to undo. Made once in a test run.
 */
final class FieldRun {
    private static final boolean ALL_STRICT = Child.SCALE > 1 || "all".equals(System.getProperty("field.strict"));
    /** How many of a group are shown in strict anyway. */
    private static final int SAMPLE = 2;
    private static final Map<String, FieldRun> MADE = new ConcurrentHashMap<>();

    private final String group;
    private final Jdk jdk;
    private final Path scratch;
    private final Map<String, List<String>> guarding = new TreeMap<>();
    private final Map<String, List<String>> permissive = new TreeMap<>();

    private FieldRun(String group, Jdk jdk, Path scratch) {
        this.group = group;
        this.jdk = jdk;
        this.scratch = scratch;
    }

    static FieldRun of(String group, Jdk jdk) {
        return MADE.computeIfAbsent(group + jdk, key -> {
            try {
                Path scratch = Files.createTempDirectory("klock-field").toRealPath();
                try {
                    FieldRun run = new FieldRun(group, jdk, scratch);
                    run.make();
                    return run;
                } finally {
                    remove(scratch);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    /** What was wrong with a case in block and strict; empty if nothing. */
    List<String> guardingFaults(Case one) {
        return guarding.getOrDefault(one.id(), List.of());
    }

    /** What differed in permissive; empty if nothing. */
    List<String> permissiveFaults(Case one) {
        return permissive.getOrDefault(one.id(), List.of());
    }

    private void make() throws IOException {
        Map<String, List<Access>> worlds = new LinkedHashMap<>();
        for (Access access : Cases.of(group).accesses()) {
            if (access.isOn(jdk.feature())) {
                worlds.computeIfAbsent(access.world(), name -> new ArrayList<>()).add(access);
            }
        }
        int shown = 0;
        for (Map.Entry<String, List<Access>> world : worlds.entrySet()) {
            String name = world.getKey().isEmpty() ? "main" : world.getKey();
            compare(name, world.getValue());
            for (Access access : world.getValue()) {
                if (access.blocked() && (ALL_STRICT || access.always() || shown < SAMPLE)) {
                    shown++;
                    strict(access);
                }
            }
        }
    }

    private void compare(String world, List<Access> accesses) throws IOException {
        Path bareRoot = prepared(world + "-bare", accesses);
        Outcome bare = child(bareRoot, accesses).run();
        permissive(world, accesses, bare, sites(bareRoot));
        guard(world, accesses, results(bare));
    }

    /** Permissive changes nothing. */
    private void permissive(String world, List<Access> accesses, Outcome bare, Map<String, String> plainTree) throws IOException {
        Path root = prepared(world + "-permissive", accesses);
        Outcome watched = child(root, accesses).klock("mode=permissive").run();
        Map<String, String> plain = results(bare);
        Map<String, String> results = results(watched);
        List<JsonNode> denials = watched.log().decided("deny");
        List<JsonNode> warnings = watched.log().decided("warn");
        Map<String, String> tree = sites(root);
        for (Access access : accesses) {
            String site = access.site();
            List<String> faults = faults(permissive, access);
            expect(faults, access, results.get(site) != null && results.get(site).equals(plain.get(site)),
                    "came to '" + results.get(site) + "' in permissive and to '" + plain.get(site) + "' without klock"
                            + (results.get(site) == null ? "\n" + watched : plain.get(site) == null ? "\n" + bare : ""));
            expect(faults, access, tree.get(site).equals(plainTree.get(site)),
                    "left in permissive\n" + tree.get(site) + "and without klock\n" + plainTree.get(site));
            for (String triple : access.denied()) {
                expect(faults, access, warnings.stream().anyMatch(record -> matches(triple, root, access, record)),
                        "no warning of " + triple + " in permissive, but " + about(warnings, root, access));
            }
            expect(faults, access, access.blocked() || about(warnings, root, access).isEmpty(), "warned of " + about(warnings, root, access));
            expect(faults, access, about(denials, root, access).isEmpty(), "denied " + about(denials, root, access));
        }
        Access any = accesses.get(0);
        List<String> faults = faults(permissive, any);
        expect(faults, any, watched.exit() == bare.exit(), "its JVM ended with " + watched + "\n  and without klock with " + bare);
        expect(faults, any, printed(watched).equals(printed(bare)), "its JVM printed\n" + printed(watched) + "\n  and without klock\n" + printed(bare));
        unexpected(accesses, root, warnings).forEach(record -> faults.add("nothing explains the warning " + record));
    }

    /** What is outside is stopped before its effect, and nothing else. */
    private void guard(String world, List<Access> accesses, Map<String, String> plain) throws IOException {
        Path root = prepared(world + "-block", accesses);
        Map<String, Tree> before = new LinkedHashMap<>();
        for (Access access : accesses) {
            before.put(access.site(), Tree.of(root.resolve(access.site())));
        }
        Outcome outcome = child(root, accesses).klock("mode=block,denials.limit=100000").run();
        Map<String, String> results = results(outcome);
        List<JsonNode> denials = outcome.log().decided("deny");
        for (Access access : accesses) {
            List<String> faults = faults(guarding, access);
            String result = results.get(access.site());
            if (result == null && !access.ends()) {
                faults.add(access + ": came to nothing: " + outcome);
                continue;
            }
            if (!access.blocked()) {
                expect(faults, access, result.equals(plain.get(access.site())), "came to '" + result + "' and without klock to '" + plain.get(access.site()) + "'");
                expect(faults, access, about(denials, root, access).isEmpty(), "was denied " + about(denials, root, access));
                continue;
            }
            String first = access.denied().get(0);
            Pattern error = Pattern.compile("dev\\.klock\\.ScopeViolationError: Agent attempted " + first.replaceFirst(" (?=[A-Z]+:)", " on ") + " but .*",
                    Pattern.DOTALL);
            expect(faults, access, access.ends() || access.swallowed() || error.matcher(result).find(), "was to be stopped for " + first + " and came to '" + result + "'");
            for (String triple : access.denied()) {
                expect(faults, access, denials.stream().anyMatch(record -> matches(triple, root, access, record)
                                && (access.withoutFrame() || record.path("caller").asText().contains("dev.klock.sandbox."))),
                        "no record of " + triple + " by the program, but " + about(denials, root, access));
            }
            String whole = whole(before.get(access.site()), access);
            String after = whole(Tree.of(root.resolve(access.site())), access);
            expect(faults, access, after.equals(whole), "left\n" + after + "of\n" + whole);
        }
        List<String> faults = faults(guarding, accesses.get(0));
        expect(faults, accesses.get(0), outcome.exit() == (accesses.get(0).ends() ? 108 : 0), "its JVM ended with " + outcome);
        unexpected(accesses, root, denials).forEach(record -> faults.add("nothing explains the denial " + record));
    }

    /** The session ends, though the program swallows the error, and all is put back. */
    private void strict(Access access) throws IOException {
        Path root = prepared(access.site() + "-strict", List.of(access));
        String before = Tree.of(root.resolve(access.site())).visible();
        Outcome outcome = child(root, List.of(access)).main(FieldProgram.class, "work").klock("").run();
        List<String> faults = faults(guarding, access);
        expect(faults, access, outcome.exit() == 108, "in strict: " + outcome);
        String first = access.denied().get(0);
        expect(faults, access, outcome.log().decided("deny").stream().anyMatch(record -> matches(first, root, access, record)),
                "in strict no record of " + first + ": " + outcome);
        String after = Tree.of(root.resolve(access.site())).visible();
        expect(faults, access, after.equals(before), "after the rollback\n" + after + "of\n" + before);
    }

    private Child child(Path root, List<Access> accesses) {
        Child child = Child.on(jdk).in(root).patience(Duration.ofMinutes(3)).main(FieldProgram.class, group).env("LC_ALL", "C.UTF-8");
        for (Access access : accesses) {
            child.main(FieldProgram.class, access.site()).jvm(access.jvm().toArray(String[]::new));
        }
        return child;
    }

    private Path prepared(String name, List<Access> accesses) throws IOException {
        Path root = Files.createDirectory(scratch.resolve(name));
        StringBuilder manifest = new StringBuilder("ver: \"1.0\"\nagent_id: tester\nscope:\n");
        StringBuilder deny = new StringBuilder();
        for (Access access : accesses) {
            Path directory = root.resolve(access.site());
            for (String below : new String[] {"in/sub", "out", "private"}) {
                Files.createDirectories(directory.resolve(below));
            }
            for (String file : new String[] {"in/a", "in/sub/b", "out/a", "out/b", "x", "private/p"}) {
                Files.writeString(directory.resolve(file), "first of " + file + "\n");
            }
            try {
                access.given().at(new Site(directory));
            } catch (Throwable e) {
                throw new IllegalStateException("cannot make ready for " + access, e);
            }
            List<String> lines = new ArrayList<>(List.of("CONSUMES FILE:W/in/**", "MUTATES FILE:W/out/*", "PROVIDES FILE:W/out/*"));
            lines.addAll(access.scope());
            access.forbidden().forEach(line -> deny.append("  - ").append(line.replace("W/", directory + "/")).append('\n'));
            lines.stream().map(line -> "  - " + line.replace("JAVA", jdk.home() + "/bin/java").replace("W/", directory + "/") + "\n")
                    .filter(line -> manifest.indexOf(line) < 0).forEach(manifest::append);
        }
        Files.writeString(root.resolve("klock.yaml"), deny.isEmpty() ? manifest : manifest.append("deny:\n").append(deny));
        return root;
    }

    private static Map<String, String> results(Outcome outcome) {
        Map<String, String> results = new LinkedHashMap<>();
        outcome.out().lines().filter(line -> line.startsWith("@")).forEach(line -> {
            int blank = line.indexOf(' ');
            results.put(line.substring(1, blank), line.substring(blank + 1));
        });
        return results;
    }

    /** What the accesses printed themselves, with klock's own lines and the root's name taken out. */
    private static String printed(Outcome outcome) {
        return Stream.concat(outcome.out().lines().filter(line -> !line.startsWith("@")), outcome.err().lines().filter(line -> !line.startsWith("klock: ")))
                .map(line -> line.replace(outcome.directory().toString(), "ROOT")).collect(Collectors.joining("\n"));
    }

    /** What is left of each site. Archives hold the time of the day, so only their size is compared. */
    private static Map<String, String> sites(Path root) {
        Map<String, String> sites = new TreeMap<>();
        for (String line : Tree.of(root).inside().visible().replace(root.toString(), "ROOT").split("\n")) {
            String timeless = line.replaceFirst("(\\.(?:zip|jar) .*) [0-9a-f]+/", "$1 ");
            sites.merge(line.split("[/ ]")[0], timeless + "\n", String::concat);
        }
        return sites;
    }

    private static String whole(Tree tree, Access access) {
        Map<String, Tree.Entry> seen = new TreeMap<>(tree.entries());
        if (access.changesOut()) {
            seen.keySet().removeIf(name -> name.equals("out") || name.startsWith("out/"));
        }
        return new Tree(seen).whole();
    }

    private static String triple(JsonNode record) {
        return record.path("predicate").asText() + " " + record.path("resource").asText();
    }

    private static boolean matches(String triple, Path root, Access access, JsonNode record) {
        return Pattern.compile(triple, Pattern.DOTALL).matcher(triple(record).replace(root.resolve(access.site()).toString(), "W")).matches();
    }

    /** The records that are about an access's directory. */
    private static List<String> about(List<JsonNode> records, Path root, Access access) {
        String directory = root.resolve(access.site()).toString();
        return records.stream().map(FieldRun::triple)
                .filter(triple -> triple.contains(directory + "/") || triple.endsWith(directory)).map(triple -> triple.replace(directory, "W")).toList();
    }

    /** Those that are about nobody's directory, and that no access was to be stopped for. */
    private static List<JsonNode> unexpected(List<Access> accesses, Path root, List<JsonNode> records) {
        return records.stream().filter(record -> accesses.stream().noneMatch(access -> !about(List.of(record), root, access).isEmpty()
                || Stream.concat(access.denied().stream(), access.further().stream()).anyMatch(triple -> matches(triple, root, access, record))))
                .toList();
    }

    private static List<String> faults(Map<String, List<String>> of, Access access) {
        return of.computeIfAbsent(access.owner().id(), id -> new ArrayList<>());
    }

    private static void expect(List<String> faults, Access access, boolean so, String otherwise) {
        if (!so) {
            faults.add(access + ": " + otherwise);
        }
    }

    private static void remove(Path directory) throws IOException {
        if (Boolean.getBoolean("field.keep")) {
            System.out.println("kept " + directory);
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        }
    }
}
