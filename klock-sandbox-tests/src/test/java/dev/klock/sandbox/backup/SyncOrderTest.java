package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import dev.klock.sandbox.oracle.Trace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every fsync is there, in its place, and needed: what a disk would lose without it is found by {@link Durability}. */
@Tag("C45")
class SyncOrderTest {
    private static final String[] STEPS = {"write w/out/made by the session", "append w/out/a more", "delete w/out/b", "move w/out/c/d w/out/c/moved",
        "mkdir w/out/dir", "write w/out/dir/deep made too", "write w/out/a other", "print " + Durability.STRAYS, "write w/x no"};

    /** So much that it is cloned where it can be. */
    private static final int LARGE = 24 << 20;

    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void nothing_isLostThatIsNotSynced_andWithoutAnySyncSomethingWouldBe(Jdk jdk) throws IOException {
        assumeThat(Trace.isPossible()).as("strace is missing or may not trace here: what is synced when cannot be seen").isTrue();
        Workspace workspace = Workspace.in(directory);
        // the first makes klock's home as well, and syncs one directory of it twice; the second needs each sync
        Path root = workspace.root();
        List<Durability.Call> first = session(workspace, jdk, "first");
        assertThat(Durability.lost(root, first)).isEmpty();
        assertThat(Durability.lost(root, without(first, root.toString()))).as("without the fsync of the home's directory").isNotEmpty();
        assertThat(Durability.lost(root, without(first, root.resolve(".klock").toString()))).as("without the fsync of the home").isNotEmpty();

        List<Durability.Call> second = session(workspace, jdk, "second");
        assertThat(Durability.lost(root, second)).isEmpty();
        int syncs = 0;
        for (int i = 0; i < second.size(); i++) {
            if (isSync(second.get(i), root.toString())) {
                List<Durability.Call> without = new ArrayList<>(second);
                without.remove(i);
                assertThat(Durability.lost(root, without)).as("without " + second.get(i).line()).isNotEmpty();
                syncs++;
            }
        }
        assertThat(syncs).as("syncs seen").isGreaterThan(15);
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-8")
    void nothing_isLostThatIsNotSynced_whereAnEarlierSessionHasTheBytes(Jdk jdk) throws IOException {
        assumeThat(Trace.isPossible()).as("strace is missing or may not trace here: what is synced when cannot be seen").isTrue();
        Workspace workspace = Workspace.in(directory);
        EarlierSession.of(workspace, jdk);

        Path root = workspace.root();
        List<Durability.Call> calls = session(workspace, jdk, "second", EarlierSession.STEPS);

        assertThat(calls).as("one more name for the earlier pack").anyMatch(call -> call.name().equals("link") && call.line().contains("/from/"));
        assertThat(Durability.lost(root, calls)).isEmpty();
        // the pack is synced for the tree that is renamed and once more for its new name
        assertThat(neededBesideThePack(root, calls)).as("its own directory for the pack and for the directory of names, and that one")
                .containsExactly("", "", "/from");
    }

    @ParameterizedTest
    @ValueSource(strings = {"btrfs", "xfs"})
    @Tag("K6-8")
    void nothing_isLostThatIsNotSynced_whereALargeFileIsCloned(String type) throws IOException {
        assumeThat(Trace.isPossible()).as("strace is missing or may not trace here: what is synced when cannot be seen").isTrue();
        Jdk jdk = Jdks.newest();
        assumeThat(jdk.feature()).as("the first JDK that clones").isGreaterThanOrEqualTo(20);
        try (LoopDisk disk = LoopDisk.of(type, directory)) {
            Workspace workspace = Workspace.in(disk.root());
            Path root = workspace.root();
            Files.write(root.resolve("w/out/large"), new byte[LARGE]);
            disk.sync();
            session(workspace, jdk, "first");

            List<Durability.Call> calls = session(workspace, jdk, "second", "write w/out/made by the session", "append w/out/large more",
                    "print " + Durability.STRAYS, "write w/x no");

            assertThat(calls).as("a clone").anyMatch(call -> call.name().equals("copy_file_range") && call.paths().get(0).endsWith("/blob/1"));
            assertThat(Durability.lost(root, calls)).isEmpty();
            assertThat(neededBesideThePack(root, calls)).as("its own directory for the pack and for the directory of clones, the clone, and its name")
                    .containsExactly("", "", "/blob/1", "/blob");
        }
    }

    /** Each sync in the second session's directory but those of the pack; without any of them something would be lost. */
    private static List<String> neededBesideThePack(Path root, List<Durability.Call> calls) {
        String session = root.resolve(".klock/backups/second").toString();
        List<String> syncs = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            if (isSync(calls.get(i), session) && !calls.get(i).paths().get(0).endsWith("/pack")) {
                List<Durability.Call> without = new ArrayList<>(calls);
                without.remove(i);
                assertThat(Durability.lost(root, without)).as("without " + calls.get(i).line()).isNotEmpty();
                syncs.add(calls.get(i).paths().get(0).substring(session.length()));
            }
        }
        return syncs;
    }

    private List<Durability.Call> session(Workspace workspace, Jdk jdk, String name) throws IOException {
        return session(workspace, jdk, name, STEPS);
    }

    private List<Durability.Call> session(Workspace workspace, Jdk jdk, String name, String... steps) throws IOException {
        Path trace = directory.toRealPath().resolve(name + ".trace");
        Outcome outcome = workspace.watched(jdk, "", steps).manifest(workspace.manifest().replace("straying", name))
                .through(Trace.strace("-y", "-s", "512", "-e", "trace=" + Durability.CALLS, "-o", trace.toString()).toArray(new String[0])).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        return Durability.read(workspace.root(), Files.readAllLines(trace));
    }

    private static boolean isSync(Durability.Call call, String below) {
        return call.name().endsWith("sync") && !call.paths().isEmpty() && call.paths().get(0).startsWith(below);
    }

    private static List<Durability.Call> without(List<Durability.Call> calls, String synced) {
        List<Durability.Call> without = new ArrayList<>(calls);
        assertThat(without.removeIf(call -> isSync(call, synced) && call.paths().get(0).equals(synced))).isTrue();
        return without;
    }
}
