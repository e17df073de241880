package dev.klock.agent.backup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** FIELD H11 for a user whom permissions stop; as root the session runs in a child without root's rights. */
class ReadOnlyDirectoryTest {
    private static final int NOBODY = 65534;

    @Test
    @Tag("K6-5")
    void rollback_whenADirectoryBecameReadOnly_reportsItAndFinishesWhenItIsWritable() throws Exception {
        Path dir = Files.createTempDirectory("klock-readonly").toRealPath();
        try {
            List<String> command = new ArrayList<>();
            if ((Integer) Files.getAttribute(dir, "unix:uid") == 0) {
                Files.setAttribute(dir, "unix:uid", NOBODY);
                command.addAll(List.of("setpriv", "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups"));
            }
            command.addAll(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", System.getProperty("java.class.path"),
                    ReadOnlyDirectoryTest.class.getName(), dir.toString()));
            Process child = new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(child.getInputStream().readAllBytes());
            assertThat(child.waitFor()).as(said).isZero();
        } finally {
            RandomWorkTest.wipe(dir);
        }
    }

    /** The session. */
    public static void main(String[] args) throws IOException {
        Path dir = Path.of(args[0]);
        Path home = Files.createDirectory(dir.resolve(".klock"));
        List<Path> files = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Path d = Files.createDirectory(dir.resolve("d" + i));
            files.add(Files.writeString(d.resolve("f"), "before " + i));
        }
        Path created = dir.resolve("d2/created");
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            Work work = new Work(b);
            for (Path p : files) {
                work.write(p, "after");
            }
            work.write(created, "ours");
            Files.setPosixFilePermissions(dir.resolve("d2"), PosixFilePermissions.fromString("r-xr-xr-x"));
            RollbackReport report = b.rollback();
            expect(report.count(RollbackReport.Outcome.RESTORED) == 4, report);
            expect(report.count(RollbackReport.Outcome.FAILED) == 2, report);
            expect(!report.complete(), report);
            expect(Files.exists(created), report);
        }
        Files.setPosixFilePermissions(dir.resolve("d2"), PosixFilePermissions.fromString("rwxr-xr-x"));
        try (Backups b = Backups.open(home, "s", Work.FILES)) {
            RollbackReport report = b.rollback();
            expect(report.complete(), report);
            for (int i = 0; i < 5; i++) {
                expect(Files.readString(files.get(i)).equals("before " + i), report);
            }
            expect(!Files.exists(created), report);
            expect(b.state() == Backups.State.ROLLED_BACK, report);
        }
    }

    private static void expect(boolean holds, RollbackReport report) {
        if (!holds) {
            throw new AssertionError(report.toString());
        }
    }
}
