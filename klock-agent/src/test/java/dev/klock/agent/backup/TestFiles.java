package dev.klock.agent.backup;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** Names by way of the public API; good for names that are UTF-8. */
class TestFiles implements HostFiles {
    @Override
    public Path path(byte[] name) {
        return Path.of(new String(name, StandardCharsets.UTF_8));
    }

    @Override
    public byte[] name(Path path) {
        return path.toString().getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public byte[] readLink(byte[] name) {
        try {
            return name(Files.readSymbolicLink(path(name)));
        } catch (IOException | UnsupportedOperationException e) {
            return null;
        }
    }

    @Override
    public int mode(byte[] name) {
        try {
            return (Integer) Files.getAttribute(path(name), "unix:mode", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            return 0;
        }
    }

    @Override
    public byte[] workingDirectory() {
        return name(Path.of("").toAbsolutePath());
    }
}
