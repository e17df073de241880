package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.oracle.Trace;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The system calls of images and rollback, each made to fail, or to be the last one of the process, by {@code strace -e inject}. A program
 * changes, creates, renames and deletes and then strays; whatever call was met, {@code recover} brings back the tree as it was.
 *
 * <p>A sample here; {@code -Dklock.test.scale=10} takes every call there is.
 */
@Tag("C45")
class FaultSweepTest {
    private static final int SAMPLE = 15;
    private static final int ALL_FROM_SCALE = 10;
    private static final int EACH_OF = 25;
    private static final String[] STEPS = {"try write w/out/made by the session", "try append w/out/a more", "try delete w/out/b",
        "try move w/out/c w/out/renamed", "try mkdir w/out/dir", "try write w/out/dir/deep made too", "try write w/out/a other", "write w/x astray"};
    private static final List<String> KILLED_AT = List.of("pwrite64", "fdatasync", "fsync", "rename", "unlink", "rmdir", "mkdir", "ftruncate", "chmod",
            "utimensat", "link", "openat");
    private static final List<String> SYNCS = List.of("fdatasync", "fsync");
    private static final Pattern CALL = Pattern.compile("(\\d+) +(\\w+)\\(.*");

    @TempDir
    Path directory;

    /**
     * One fault.
     *
     * @param call which system call
     * @param effect as strace writes it
     * @param when which of the calls that one thread makes, from 1
     */
    private record Fault(String call, String effect, int when) {
        String[] strace(Path pack, Path trace) {
            List<String> command = new ArrayList<>(List.of("strace", "-f", "-qq", "-o", trace.toString(), "-e", "trace=" + call, "-e",
                    "inject=" + call + ":" + effect + ":when=" + when));
            if (call.equals("pwrite64") || call.equals("openat")) {
                command.addAll(List.of("-P", pack.toString()));
            }
            return command.toArray(new String[0]);
        }
    }

    private static Path pack(Path place) {
        return place.resolve(".klock/backups/straying/pack");
    }

    private Workspace workspace(String name) throws IOException {
        return Workspace.in(Files.createDirectories(directory.toRealPath().resolve(name)));
    }

    private Workspace workspace(String name, Jdk jdk, boolean afterAnother) throws IOException {
        Workspace workspace = workspace(name);
        if (afterAnother) {
            EarlierSession.of(workspace, jdk);
        }
        return workspace;
    }

    /** How often one thread makes each of the calls when nothing is wrong. */
    private Map<String, Integer> calls(Jdk jdk, boolean afterAnother) throws IOException {
        Map<String, Integer> most = new TreeMap<>();
        for (boolean ofPack : new boolean[] {false, true}) {
            Workspace workspace = workspace("counted" + jdk.feature() + ofPack, jdk, afterAnother);
            Path trace = workspace.root().resolve("trace");
            List<String> command = new ArrayList<>(List.of("strace", "-f", "-qq", "-o", trace.toString(), "-e", "trace=" + String.join(",", KILLED_AT)));
            if (ofPack) {
                command.addAll(List.of("-P", pack(workspace.root()).toString()));
            }
            Outcome outcome = workspace.watched(jdk, "", STEPS).through(command.toArray(new String[0])).run();
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
            Map<String, Integer> counted = new HashMap<>();
            for (String line : Files.readAllLines(trace)) {
                Matcher m = CALL.matcher(line);
                if (m.matches() && ofPack == (m.group(2).equals("pwrite64") || m.group(2).equals("openat"))) {
                    most.merge(m.group(2), counted.merge(m.group(1) + m.group(2), 1, Integer::sum), Math::max);
                }
            }
        }
        return most;
    }

    @Test
    @Tag("K6-5")
    @Tag("C30")
    @Tag("FIELD-H13")
    void tree_whicheverSystemCallFailsOrIsTheLast_isAsItWasInTheEnd() throws IOException {
        sweepAll(SAMPLE, false);
    }

    /** What the session refers to then has one more name to be made and synced. */
    @Test
    @Tag("K6-5")
    @Tag("K6-8")
    void tree_whoseImagesAnEarlierSessionHas_whicheverSystemCallFailsOrIsTheLast_isAsItWasInTheEnd() throws IOException {
        sweepAll(SAMPLE / 3, true);
    }

    private void sweepAll(int sample, boolean afterAnother) throws IOException {
        assumeThat(Trace.isPossible()).as("strace is missing or may not trace here: system calls cannot be made to fail").isTrue();
        long seed = System.nanoTime();
        for (Jdk jdk : new LinkedHashSet<>(List.of(Jdks.oldest(), Jdks.newest()))) {
            Map<String, Integer> calls = calls(jdk, afterAnother);
            assertThat(calls).containsKeys("pwrite64", "fdatasync", "fsync", "rename", "unlink");
            List<Fault> faults = new ArrayList<>();
            calls.forEach((call, count) -> {
                for (int when = 1; when <= count; when++) {
                    faults.add(new Fault(call, "signal=KILL", when));
                    if (SYNCS.contains(call)) {
                        faults.add(new Fault(call, "error=EIO", when));
                    } else if (call.equals("pwrite64")) {
                        faults.add(new Fault(call, "error=ENOSPC", when));
                    }
                }
            });
            if (Child.SCALE < ALL_FROM_SCALE) {
                // the many that are alike, one for each file that is put back, would leave hardly any of the others
                faults.removeIf(fault -> fault.when() > EACH_OF);
                Collections.shuffle(faults, new Random(seed));
                faults.subList(Math.min(faults.size(), sample * Child.SCALE), faults.size()).clear();
            }
            for (Fault fault : faults) {
                sweep(jdk, fault, seed, afterAnother);
            }
            System.out.println("fault sweep on " + jdk + ": " + faults.size() + " faults of " + calls + ", seed " + seed);
        }
    }

    private void sweep(Jdk jdk, Fault fault, long seed, boolean afterAnother) throws IOException {
        Workspace workspace = workspace(jdk.feature() + fault.call() + fault.effect() + fault.when(), jdk, afterAnother);
        Path root = workspace.root();
        Tree before = workspace.tree();

        Outcome met = workspace.watched(jdk, "", STEPS).through(fault.strace(pack(root), root.resolve("trace"))).run();
        Outcome recovered = Child.on(jdk).in(root).verb("recover").run();

        String what = "JDK " + jdk + ", " + fault + ", seed " + seed + "\n" + met + "\n" + recovered;
        assertThat(workspace.tree().visible()).as(what).isEqualTo(before.visible());
        if (Files.exists(root.resolve(".klock/version"))) {
            assertThat(recovered.exit()).as(what).isZero();
        } else {
            // it was met before there was anything to recover
            assertThat(recovered.err()).as(what).contains("there is no klock home");
        }
        boolean killed = fault.effect().startsWith("signal");
        assertThat(met.exit()).as(what).isIn(killed ? List.of(137, 108) : List.of(108, 2, 1));
    }
}
