package dev.klock.sandbox.scan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.hooks.HookRow;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;

/** The hook table and the ledger of natives against what is really in the run-time image. */
class HookTableScanTest {
    private static final List<String> LEDGER = List.of("META-INF/klock/dev/klock/agent/weave/natives.tsv",
            "META-INF/klock/dev/klock/agent/weave/natives-image.tsv");

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-1")
    void runTimeImage_scannedIndependently_hasNoUnclassifiedNativeAndNoUnhookedCaller(Jdk jdk, @TempDir Path directory) {
        List<HookRow> doors = HookRow.everyDoor(jdk.feature());
        Map<String, String> ledger = new HashMap<>();
        Set<String> patterns = new TreeSet<>();
        for (String line : LEDGER.stream().flatMap(table -> KlockJar.table(table).stream()).toList()) {
            String[] row = line.split("\t");
            if (List.of(row[0].split(",")).contains(Integer.toString(listed(jdk)))) {
                if (row[1].endsWith("*")) {
                    patterns.add(row[1].substring(0, row[1].length() - 1));
                    continue;
                }
                ledger.put(row[1], row[2]);
                assertThat(row[2]).as(line).isIn("door", "benign");
                assertThat(row[2].equals("door") || row.length > 3 && row[3].length() > 10).as("reason: %s", line).isTrue();
            }
        }
        String[] wanted = ledger.keySet().stream().filter(name -> ledger.get(name).equals("door")).toArray(String[]::new);
        Outcome scan = Child.on(jdk).in(directory).with(ClassReader.class).main(ImageScanner.class, wanted).run();
        assertThat(scan.exit()).as(scan.toString()).isZero();
        Set<String> natives = new TreeSet<>();
        Map<String, Set<String>> callersOf = new HashMap<>();
        for (String line : scan.out().lines().toList()) {
            String[] fact = line.split(" ");
            String name = fact[1].substring(0, fact[1].indexOf('('));
            if (fact[0].equals("native")) {
                natives.add(name);
            } else {
                callersOf.computeIfAbsent(name, key -> new HashSet<>()).add(fact[2]);
            }
        }
        natives.removeIf(name -> !ledger.containsKey(name) && patterns.stream().anyMatch(name::startsWith));
        assertThat(difference(natives, ledger.keySet())).as("natives of %s that nobody has judged", jdk).isEmpty();
        assertThat(difference(ledger.keySet(), natives)).as("natives in the ledger that %s does not have", jdk).isEmpty();

        Set<String> callers = new TreeSet<>();
        ledger.forEach((name, judged) -> {
            if (judged.equals("door")) {
                callers.addAll(callersOf.getOrDefault(name, Set.of()));
            }
        });
        Set<String> hooked = doors.stream().map(HookRow::hooked).collect(Collectors.toCollection(TreeSet::new));
        Set<String> standIns = doors.stream().map(HookRow::standsFor).filter(name -> !name.equals("-")).collect(Collectors.toSet());
        Set<String> covered = callers.stream().map(caller -> standIns.contains(caller.substring(0, caller.indexOf('(')))
                ? doors.stream().filter(row -> caller.startsWith(row.standsFor() + "(")).findFirst().orElseThrow().hooked() : caller)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(difference(covered, hooked)).as("callers of natives without a hook").isEmpty();
        assertThat(difference(hooked, covered)).as("hooked methods that call no native").isEmpty();
        assertThat(hooked).as("as many hooked methods as direct callers").hasSameSizeAs(callers);
        System.out.printf("%s: %d natives judged by name (%d doors), %d direct callers, %d hooked methods in %d rows%n", jdk, natives.size(),
                ledger.values().stream().filter("door"::equals).count(), callers.size(), hooked.size(), doors.size());
    }

    /** The release whose rows hold for {@code jdk}: its own, or the nearest older one. */
    private static int listed(Jdk jdk) {
        return HookRow.all().stream().flatMap(row -> row.releases().stream()).filter(release -> release <= jdk.feature())
                .mapToInt(Integer::intValue).max().orElseThrow();
    }

    private static Set<String> difference(Set<String> one, Set<String> other) {
        Set<String> rest = new TreeSet<>(one);
        rest.removeAll(other);
        return rest;
    }
}
