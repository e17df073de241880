package dev.klock.bridge;

import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Names as the kernel sees them: bytes. java.nio.file's public API goes through characters and loses names that are not valid in the
 * platform's encoding; the implementation inside java.base does not. Throws nothing but what its callers' arguments deserve.
 */
public interface HostFiles {
    /** The Path with exactly these bytes. */
    Path path(byte[] name);

    /** The bytes of a Path of the default file system. */
    byte[] name(Path path);

    /** The text of the symbolic link {@code name}, null if it is not a link or cannot be read. */
    byte[] readLink(byte[] name);

    /** st_mode of {@code name} itself (lstat), 0 if there is nothing of that name or it cannot be looked at. */
    int mode(byte[] name);

    /**
     * What the calls of java.nio.file's own implementation throw where a name does not exist, for them to turn into a
     * NoSuchFileException; elsewhere that exception itself.
     */
    default Exception absent() {
        return new NoSuchFileException(null);
    }

    /** The process's true working directory. */
    byte[] workingDirectory();
}
