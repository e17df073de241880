package dev.klock.agent.config;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;

/** Makes files and directories that are somebody else's, or cannot be written, whoever runs the tests. */
final class Place {
    private static final int NOBODY = 65_534;

    private Place() {
    }

    static boolean isRoot() {
        return FileStatus.user() == 0;
    }

    static File directory(File parent, String name, String permissions) throws IOException {
        File dir = new File(parent, name);
        Files.createDirectories(dir.toPath());
        Files.setPosixFilePermissions(dir.toPath(), PosixFilePermissions.fromString(permissions));
        return dir;
    }

    static File file(File parent, String name, String text) throws IOException {
        File file = new File(parent, name);
        Files.createDirectories(file.getParentFile().toPath());
        Files.writeString(file.toPath(), text);
        return file;
    }

    /** Gives {@code file} to another user, which only root can; others see {@code file} through eyes of another user. */
    static int foreign(File file) throws IOException {
        if (isRoot()) {
            Files.setAttribute(file.toPath(), "unix:uid", NOBODY);
            return 0;
        }
        return FileStatus.user() + 1;
    }

    /** A directory in which this process cannot make another. */
    static File unwritable(File parent) throws IOException {
        return isRoot() ? new File("/proc") : directory(parent, "unwritable", "r-xr-xr-x");
    }

    static LaunchEnvironment environment(File workingDirectory, Map<String, String> variables) {
        return new LaunchEnvironment(Map.of("user.home", "/home/u", "java.home", "/jdk", "java.io.tmpdir", "/tmp"), variables,
                workingDirectory.getPath());
    }
}
