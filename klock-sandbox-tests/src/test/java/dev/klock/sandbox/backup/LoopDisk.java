package dev.klock.sandbox.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file system of some kind on a loop device. Where none can be made or mounted the test is skipped, and says why. */
final class LoopDisk implements AutoCloseable {
    /** xfs is not made smaller. */
    private static final long SIZE = 320L << 20;

    private final Path mounted;

    private LoopDisk(Path mounted) {
        this.mounted = mounted;
    }

    /** Mounts a fresh one at {@code disk} in {@code directory}. */
    static LoopDisk of(String type, Path directory) throws IOException {
        Path at = Files.createDirectory(directory.toRealPath().resolve("disk"));
        Path image = directory.resolve("image");
        try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
            file.setLength(SIZE);
        }
        String made = HostCommand.run("mkfs." + type, "-q", image.toString());
        assumeThat(made).as(type + " cannot be made here: " + made).isEmpty();
        String mounted = HostCommand.run("mount", "-o", "loop", image.toString(), at.toString());
        assumeThat(mounted).as(type + " cannot be mounted here: " + mounted).isEmpty();
        return new LoopDisk(at);
    }

    Path root() {
        return mounted;
    }

    /** Everything written to it is on it when this returns. */
    void sync() {
        HostCommand.run("sync", "-f", mounted.toString());
    }

    @Override
    public void close() {
        assertThat(HostCommand.run("umount", mounted.toString())).as("unmounting " + mounted).isEmpty();
    }
}
