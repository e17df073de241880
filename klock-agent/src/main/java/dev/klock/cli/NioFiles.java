package dev.klock.cli;

import dev.klock.agent.resolve.Names;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * Names by the public API of java.nio.file, for a JVM in which nothing is woven. A name that is not valid in the platform's encoding is
 * seen as absent.
 */
final class NioFiles implements HostFiles {
    private final byte[] workingDirectory;

    /** {@code workingDirectory} is absolute. */
    NioFiles(String workingDirectory) {
        this.workingDirectory = name(Path.of(workingDirectory));
    }

    @Override
    public Path path(byte[] name) {
        return Path.of(Names.text(Names.real(name)));
    }

    @Override
    public byte[] name(Path path) {
        return Names.bytes(Names.ofText(path.toString()));
    }

    @Override
    public byte[] readLink(byte[] name) {
        try {
            return name(Files.readSymbolicLink(path(name)));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    @Override
    public int mode(byte[] name) {
        try {
            return (int) Files.getAttribute(path(name), "unix:mode", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }

    @Override
    public byte[] workingDirectory() {
        return workingDirectory.clone();
    }
}
