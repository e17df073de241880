package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Large files on file systems that share what is copied: btrfs and xfs, each on a loop device, where that can be had. */
@Tag("K6-8")
@Tag("K6-5")
class CloneTest {
    private static final int SIZE = 24 << 20;

    @TempDir
    Path directory;
    private LoopDisk disk;
    private Workspace workspace;
    private Path large;
    private byte[] before;

    static Stream<Arguments> each() {
        List<Arguments> each = new ArrayList<>();
        for (String type : List.of("btrfs", "xfs")) {
            Jdks.each().forEach(jdk -> each.add(Arguments.of(type, jdk)));
        }
        return each.stream();
    }

    private void mount(String type) throws IOException {
        disk = LoopDisk.of(type, directory);
        workspace = Workspace.in(disk.root());
        large = workspace.root().resolve("w/out/large");
        before = new byte[SIZE + 1234];
        new Random(1).nextBytes(before);
        Arrays.fill(before, 8 << 20, 12 << 20, (byte) 0);
        Files.write(large, before);
        disk.sync();
    }

    @AfterEach
    void unmount() {
        if (disk != null) {
            disk.close();
        }
    }

    private Path session(String id) {
        return workspace.root().resolve(".klock/backups").resolve(id);
    }

    private Child under(Jdk jdk, String id, String... steps) {
        return workspace.watched(jdk, "", steps).manifest(workspace.manifest().replace("straying", id));
    }

    private Outcome recover(Jdk jdk) {
        return Child.on(jdk).in(workspace.root()).verb("recover").run();
    }

    @ParameterizedTest
    @MethodSource("each")
    void largeFile_isClonedWhereTheJdkCan_andComesBack(String type, Jdk jdk) throws IOException {
        mount(type);
        long free = Files.getFileStore(disk.root()).getUnallocatedSpace();
        String tree = workspace.tree().visible();

        Outcome outcome = under(jdk, "one", "append w/out/large more", "await w/out/large", "write w/x astray").run();

        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(workspace.tree().visible()).as(outcome.toString()).isEqualTo(tree);
        assertThat(Files.readAllBytes(large)).isEqualTo(before);
        Path blob = session("one").resolve("blob/1");
        if (jdk.feature() >= 20) {
            assertThat(Files.size(blob)).isEqualTo(before.length + 32);
            assertThat(Files.size(session("one").resolve("pack"))).isLessThan(100_000);
        } else {
            assertThat(blob).doesNotExist();
            assertThat(Files.size(session("one").resolve("pack"))).isGreaterThan(SIZE);
        }
        // what was changed is kept, and shares all but its end with the image; the restored one is written anew
        disk.sync();
        long used = free - Files.getFileStore(disk.root()).getUnallocatedSpace();
        assertThat(used).as("bytes used").isLessThan(jdk.feature() >= 20 ? SIZE * 3L / 2 : SIZE * 3L);
    }

    @ParameterizedTest
    @MethodSource("each")
    @Tag("C45")
    void recover_afterTheSessionWasKilled_putsBackWhatWasCloned(String type, Jdk jdk) throws IOException {
        mount(type);
        String tree = workspace.tree().visible();
        under(jdk, "one", "write w/out/large other", "write w/out/ready now", "sleep 60000").killedWhen(workspace.root().resolve("w/out/ready"), Duration.ZERO);
        assertThat(Files.size(large)).isLessThan(100);

        Outcome recovered = recover(jdk);

        assertThat(recovered.exit()).as(recovered.toString()).isZero();
        assertThat(workspace.tree().visible()).isEqualTo(tree);
        assertThat(Files.readAllBytes(large)).isEqualTo(before);
    }

    @ParameterizedTest
    @MethodSource("each")
    @Tag("C45")
    void recover_whenTheCloneIsCutOrGone_saysSoAndPutsBackNothingWrong(String type, Jdk jdk) throws IOException {
        assumeThat(jdk.feature()).as("clones").isGreaterThanOrEqualTo(20);
        mount(type);
        under(jdk, "one", "write w/out/large other", "write w/out/ready now", "sleep 60000").killedWhen(workspace.root().resolve("w/out/ready"), Duration.ZERO);
        Path blob = session("one").resolve("blob/1");
        try (RandomAccessFile file = new RandomAccessFile(blob.toFile(), "rw")) {
            file.seek(SIZE / 2);
            file.write(~before[SIZE / 2]);
        }
        Outcome damaged = recover(jdk);
        assertThat(damaged.exit()).as(damaged.toString()).isEqualTo(1);
        assertThat(damaged.toString()).contains("its SHA-256 is not the recorded one", blob.toString());
        Files.delete(blob);
        Outcome gone = recover(jdk);
        assertThat(gone.exit()).as(gone.toString()).isEqualTo(1);
        assertThat(gone.toString()).contains("the images of 1 file are gone with " + blob);
        assertThat(large).hasContent("other\n");
    }

    @ParameterizedTest
    @MethodSource("each")
    void largeFile_whoseImageAnEarlierSessionHas_comesBackAfterThatWasPruned(String type, Jdk jdk) throws IOException {
        assumeThat(Child.SCALE).as("files count as unchanged only when they have been at rest for more than a minute: -Dklock.test.scale=10").isGreaterThan(9);
        mount(type);
        sleep(Duration.ofSeconds(75));
        // open for writing, nothing written: the image is taken, the file stays as it is
        Outcome first = under(jdk, "one", "move w/out w/out2", "try print").manifest(whole("one")).run();
        assertThat(first.exit()).as(first.toString()).isZero();
        HostCommand.run("mv", workspace.root().resolve("w/out2").toString(), workspace.root().resolve("w/out").toString());
        String tree = workspace.tree().visible();
        Outcome second = under(jdk, "two", "write w/out/large other", "write w/out/ready now", "sleep 60000").manifest(whole("two"))
                .killedWhen(workspace.root().resolve("w/out/ready"), Duration.ZERO);
        assertThat(session("two").resolve("from")).as(second.toString()).isNotEmptyDirectory();
        assertThat(session("two").resolve("blob")).doesNotExist();
        Outcome pruned = Child.on(jdk).in(workspace.root()).verb("backups", "prune", "--older-than", "0").run();
        assertThat(pruned.out()).contains("removed one");
        assertThat(session("one")).doesNotExist();

        Outcome recovered = recover(jdk);

        assertThat(recovered.exit()).as(recovered.toString()).isZero();
        assertThat(workspace.tree().visible()).isEqualTo(tree);
        assertThat(Files.readAllBytes(large)).isEqualTo(before);
    }

    private String whole(String id) {
        return workspace.manifest().replace("straying", id).replace("/w/out/**", "/w/**");
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
