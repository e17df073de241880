package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.jvm.Tree;
import dev.klock.sandbox.launch.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A program works and strays on a file system that is full, or becomes so at any of its steps: page by page, as much is left free as it
 * needs altogether. What it changed is put back at once or named; when there is room again, {@code recover} brings the tree back as it was.
 *
 * <p>A sample here; {@code -Dklock.test.scale=10} takes every page.
 */
@Tag("C45")
@Tag("K6-5")
class SmallDiskTest {
    private static final int PAGE = 4096;
    private static final int SAMPLE = 7;
    private static final int ALL_FROM_SCALE = 10;
    private static final String SIZE = "4m";
    /** Pages left free beyond what a session was seen to need. */
    private static final int MARGIN = 14;
    private static final String[] STEPS = {"try write w/out/made by the session", "try append w/out/a more", "try delete w/out/b",
        "try move w/out/c w/out/renamed", "try mkdir w/out/dir", "try write w/out/dir/deep made too", "try write w/out/large other", "write w/x astray"};

    @TempDir
    Path directory;
    private Path disk;
    private Path place;
    private Path home;

    @BeforeEach
    void mount() throws IOException {
        disk = Files.createDirectory(directory.toRealPath().resolve("disk"));
        String refused = HostCommand.run("mount", "-t", "tmpfs", "-o", "size=" + SIZE, "klock-small-disk", disk.toString());
        assumeThat(refused).as("no small file system can be mounted here, so no disk can be full: " + refused).isEmpty();
    }

    @AfterEach
    void unmount() {
        HostCommand.run("umount", disk.toString());
    }

    private static void wipe(Path tree) throws IOException {
        try (Stream<Path> all = Files.walk(tree)) {
            for (Path p : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) {
                Files.deleteIfExists(p);
            }
        }
    }

    private long free() throws IOException {
        return Files.getFileStore(disk).getUsableSpace() / PAGE;
    }

    private Workspace workspace() throws IOException {
        for (Path directory : List.of(place, home)) {
            if (Files.exists(directory)) {
                wipe(directory);
            }
            Files.createDirectory(directory);
        }
        Workspace workspace = Workspace.in(place);
        Files.write(place.resolve("w/out/large"), new byte[40_000]);
        // written into the directory by the child, so that it takes its place before the disk is filled
        Files.writeString(place.resolve("klock.yaml"), workspace.manifest());
        return workspace;
    }

    private Child program(Workspace workspace, Jdk jdk) {
        return workspace.watched(jdk, "home=" + home, STEPS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"everything", "the home only"})
    void tree_howeverLittleIsFreeOnTheDisk_isAsItWasInTheEnd(String small) throws IOException {
        long seed = System.nanoTime();
        Jdk jdk = new Random(seed).nextBoolean() ? Jdks.oldest() : Jdks.newest();
        place = small.equals("everything") ? disk.resolve("place") : directory.toRealPath().resolve("place");
        home = disk.resolve("home");
        Workspace whole = workspace();
        long before = free();
        Outcome unhindered = program(whole, jdk).run();
        assertThat(unhindered.exit()).as(unhindered.toString()).isEqualTo(108);
        long needed = before - free();
        assertThat(needed).as("pages that a session takes").isGreaterThan(5);

        List<Long> left = new ArrayList<>();
        for (long pages = 0; pages <= needed + MARGIN; pages++) {
            left.add(pages);
        }
        if (Child.SCALE < ALL_FROM_SCALE) {
            Collections.shuffle(left, new Random(seed));
            left.subList(Math.min(left.size(), SAMPLE * Child.SCALE), left.size()).clear();
        }
        int hindered = 0;
        for (long pages : left) {
            hindered += full(jdk, pages, small + ", seed " + seed) ? 1 : 0;
        }
        System.out.println("small disk, " + small + ", JDK " + jdk + ": " + left.size() + " of " + (needed + MARGIN + 1) + " sizes, " + hindered
                + " of them too small, seed " + seed);
        assertThat(hindered).as("runs that met a full disk").isPositive();
    }

    /** @return whether the disk was full at some step */
    private boolean full(Jdk jdk, long pages, String seed) throws IOException {
        Workspace workspace = workspace();
        String before = workspace.tree().visible();
        Path ballast = disk.resolve("ballast");
        Files.write(ballast, new byte[(int) ((free() - pages) * PAGE)]);
        Outcome met = program(workspace, jdk).run();
        Tree after = workspace.tree();
        String what = pages + " pages free, " + seed + "\n" + met;
        assertThat(met.exit()).as(what).isIn(108, 2, 1);
        if (!after.visible().equals(before)) {
            assertThat(met.err()).as("what is not as it was is named: %s", what).contains("not rolled back");
        }

        Files.delete(ballast);
        Outcome recovered = Child.on(jdk).in(place).verb("recover", "--home", home.toString()).run();

        assertThat(workspace.tree().visible()).as("%s\n%s", what, recovered).isEqualTo(before);
        if (Files.exists(home.resolve("version"))) {
            assertThat(recovered.exit()).as("%s\n%s", what, recovered).isZero();
        }
        return met.err().contains("No space left") || met.out().contains("No space left") || met.exit() != 108;
    }
}
