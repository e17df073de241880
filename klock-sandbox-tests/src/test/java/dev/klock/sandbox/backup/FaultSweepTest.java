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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Function;
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
    private static final String PACK = ".klock/backups/straying/pack";
    private static final int SAMPLE = 15;
    private static final int ALL_FROM_SCALE = 10;
    private static final int EACH_OF = 25;
    private static final String[] STEPS = {"try write w/out/made by the session", "try append w/out/a more", "try delete w/out/b",
        "try move w/out/c w/out/renamed", "try mkdir w/out/dir", "try write w/out/dir/deep made too", "try write w/out/a other", "write w/x astray"};
    private static final List<String> KILLED_AT = List.of("pwrite64", "fdatasync", "fsync", "rename", "unlink", "rmdir", "mkdir", "ftruncate", "chmod",
            "utimensat", "link", "openat");
    private static final List<String> SYNCS = List.of("fdatasync", "fsync");
    private static final List<String> READING = List.of("read", "pread64", "getdents64", "newfstatat", "readlink");
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
            List<String> command = Trace.strace("-o", trace.toString(), "-e", "trace=" + call, "-e", "inject=" + call + ":" + effect + ":when=" + when);
            if (call.equals("pwrite64") || call.equals("openat")) {
                command.addAll(List.of("-P", pack.toString()));
            } else if (READING.contains(call)) {
                command.addAll(readFrom(pack));
            }
            return command.toArray(new String[0]);
        }
    }

    private static Path pack(Path place) {
        return place.resolve(PACK);
    }

    /** Arguments that name to strace what is imaged, where, and the directories of both. */
    private static List<String> readFrom(Path pack) {
        Path place = pack.getRoot().resolve(pack.subpath(0, pack.getNameCount() - Path.of(PACK).getNameCount()));
        List<String> arguments = new ArrayList<>(List.of("-P", pack.toString(), "-P", pack.getParent().toString()));
        for (String name : new String[] {"w/out", "w/out/a", "w/out/b", "w/out/c", "w/out/c/d", "w/out/renamed"}) {
            arguments.addAll(List.of("-P", place.resolve(name).toString()));
        }
        return arguments;
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
            Map<String, Integer> calls = counted(workspace, workspace.watched(jdk, "", STEPS), 108, KILLED_AT,
                    ofPack ? List.of("-P", pack(workspace.root()).toString()) : List.of());
            calls.keySet().removeIf(call -> ofPack != (call.equals("pwrite64") || call.equals("openat")));
            most.putAll(calls);
        }
        return most;
    }

    /** How often one thread of the child, which ends with {@code exit}, makes each of the calls. */
    private static Map<String, Integer> counted(Workspace workspace, Child child, int exit, List<String> calls, List<String> of) throws IOException {
        Path trace = workspace.root().resolve("trace");
        List<String> command = Trace.strace("-o", trace.toString(), "-e", "trace=" + String.join(",", calls));
        command.addAll(of);
        Outcome outcome = child.through(command.toArray(new String[0])).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(exit);
        Map<String, Integer> most = new TreeMap<>();
        Map<String, Integer> counted = new HashMap<>();
        for (String line : Files.readAllLines(trace)) {
            Matcher m = CALL.matcher(line);
            if (m.matches()) {
                most.merge(m.group(2), counted.merge(m.group(1) + m.group(2), 1, Integer::sum), Math::max);
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
            sample(faults, sample, seed);
            Met met = new Met();
            for (Fault fault : faults) {
                sweep(jdk, fault, seed, afterAnother, met);
            }
            met.report("fault sweep on " + jdk, faults, calls, seed);
        }
    }

    private static void sample(List<Fault> faults, int count, long seed) {
        if (Child.SCALE < ALL_FROM_SCALE) {
            // the many that are alike, one for each file that is put back, would leave hardly any of the others
            faults.removeIf(fault -> fault.when() > EACH_OF);
            Collections.shuffle(faults, new Random(seed));
            faults.subList(Math.min(faults.size(), count * Child.SCALE), faults.size()).clear();
        }
    }

    private static List<Fault> unreadable(Map<String, Integer> calls, long seed) {
        List<Fault> faults = new ArrayList<>();
        calls.forEach((call, count) -> {
            for (int when = 1; when <= count; when++) {
                faults.add(new Fault(call, "error=EIO", when));
            }
        });
        sample(faults, SAMPLE / 3, seed);
        return faults;
    }

    /** A disk that cannot read a block: while a file is imaged, while it is put back. */
    @Test
    @Tag("K6-5")
    @Tag("K6-8")
    void tree_whicheverReadFails_isAsItWasInTheEnd() throws IOException {
        assumeThat(Trace.isPossible()).as("strace is missing or may not trace here: system calls cannot be made to fail").isTrue();
        long seed = System.nanoTime();
        for (Jdk jdk : new LinkedHashSet<>(List.of(Jdks.oldest(), Jdks.newest()))) {
            Workspace workspace = workspace("counted" + jdk.feature());
            Map<String, Integer> calls = counted(workspace, workspace.watched(jdk, "", STEPS), 108, READING, readFrom(pack(workspace.root())));
            assertThat(calls).containsKeys("read", "pread64");
            List<Fault> faults = unreadable(calls, seed);
            Met met = new Met();
            for (Fault fault : faults) {
                sweep(jdk, fault, seed, false, met);
            }
            met.report("fault sweep on " + jdk, faults, calls, seed);
        }
    }

    @Test
    @Tag("K6-5")
    void recovery_whicheverReadFails_saysSoAndTheNextOneIsComplete() throws IOException {
        sweepRecovery(READING, root -> readFrom(pack(root)), "pread64", Tree::visible);
    }

    /** Times are put back last, of files, links and directories. */
    @Test
    @Tag("K6-5")
    void recovery_whicheverTimeCannotBePutBack_saysSoAndTheNextOneIsComplete() throws IOException {
        sweepRecovery(List.of("utimensat"), root -> List.of(), "utimensat", Tree::timed);
    }

    /**
     * Faults of {@code recover}, which says whether all is back, and is run once more after each.
     *
     * @param calls those that fail
     * @param of of which files, as arguments for strace
     * @param one of the calls that there is in any case
     * @param compared what is to be as it was
     */
    private void sweepRecovery(List<String> calls, Function<Path, List<String>> of, String one, Function<Tree, ?> compared) throws IOException {
        assumeThat(Trace.isPossible()).as("strace is missing or may not trace here: system calls cannot be made to fail").isTrue();
        long seed = System.nanoTime();
        for (Jdk jdk : new LinkedHashSet<>(List.of(Jdks.oldest(), Jdks.newest()))) {
            Workspace counted = workspace("counted" + jdk.feature());
            killed(counted, jdk);
            Map<String, Integer> most = counted(counted, Child.on(jdk).in(counted.root()).verb("recover"), 0, calls, of.apply(counted.root()));
            assertThat(most).containsKey(one);
            List<Fault> faults = unreadable(most, seed);
            Met met = new Met();
            for (Fault fault : faults) {
                Workspace workspace = workspace(jdk.feature() + fault.call() + fault.when());
                Tree before = killed(workspace, jdk);
                Path root = workspace.root();
                Outcome failed = Child.on(jdk).in(root).verb("recover").through(fault.strace(pack(root), met.trace(root))).run();
                Tree between = workspace.tree();
                Outcome recovered = Child.on(jdk).in(root).verb("recover").run();

                String what = "JDK " + jdk + ", " + fault + ", seed " + seed + "\n" + failed + "\n" + recovered;
                assertThat(recovered.exit()).as(what).isZero();
                assertThat(compared.apply(workspace.tree())).as(what).isEqualTo(compared.apply(before));
                assertThat(failed.exit()).as(what).isIn(0, 1);
                if (failed.exit() == 0) {
                    assertThat(compared.apply(between)).as(what).isEqualTo(compared.apply(before));
                }
                met.count(root);
            }
            met.report("fault sweep of recover on " + jdk, faults, most, seed);
        }
    }

    /** How many of the faults a process came to: a sweep of faults that nobody meets proves nothing. */
    private static final class Met {
        private int count;

        /** Where strace is to write. */
        Path trace(Path root) {
            return root.resolve("trace");
        }

        void count(Path root) throws IOException {
            String written = Files.readString(trace(root), StandardCharsets.ISO_8859_1);
            if (written.contains("(INJECTED)") || written.contains("killed by SIGKILL")) {
                count++;
            }
        }

        /** Not each: some calls are made by one thread now and by another then. */
        void report(String sweep, List<Fault> faults, Map<String, Integer> calls, long seed) {
            System.out.println(sweep + ": " + faults.size() + " faults of " + calls + ", " + count + " met, seed " + seed);
            assertThat(count * 2).as("of %s faults, %s met, seed %s", faults.size(), count, seed).isGreaterThanOrEqualTo(faults.size());
        }
    }

    /** What a session leaves that is killed when it has done all it was told to; answers the tree from before it. */
    private static Tree killed(Workspace workspace, Jdk jdk) throws IOException {
        Path link = Files.createSymbolicLink(workspace.root().resolve("w/out/link"), Path.of("nowhere"));
        Tree before = workspace.tree();
        List<String> steps = new ArrayList<>(List.of(STEPS));
        steps.set(steps.size() - 1, "delete w/out/" + link.getFileName());
        steps.add("write w/out/ready now");
        steps.add("sleep 60000");
        workspace.watched(jdk, "", steps.toArray(new String[0])).killedWhen(workspace.root().resolve("w/out/ready"), Duration.ZERO);
        return before;
    }

    private void sweep(Jdk jdk, Fault fault, long seed, boolean afterAnother, Met faults) throws IOException {
        Workspace workspace = workspace(jdk.feature() + fault.call() + fault.effect() + fault.when(), jdk, afterAnother);
        Path root = workspace.root();
        Tree before = workspace.tree();

        Outcome met = workspace.watched(jdk, "", STEPS).through(fault.strace(pack(root), faults.trace(root))).run();
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
        faults.count(root);
    }
}
