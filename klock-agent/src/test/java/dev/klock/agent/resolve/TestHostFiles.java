package dev.klock.agent.resolve;

import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The machine's file system by way of java.nio.file, for names that are UTF-8; counts its system calls. */
public final class TestHostFiles implements HostFiles {
    public final AtomicInteger linksRead = new AtomicInteger();
    public final AtomicInteger modesRead = new AtomicInteger();
    private volatile byte[] workingDirectory = bytes(Path.of("").toAbsolutePath().toString());

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public void workingDirectory(String directory) {
        workingDirectory = directory == null ? null : bytes(directory);
    }

    @Override
    public Path path(byte[] name) {
        return Path.of(new String(name, StandardCharsets.UTF_8));
    }

    @Override
    public byte[] name(Path path) {
        return bytes(path.toString());
    }

    @Override
    public byte[] readLink(byte[] name) {
        linksRead.incrementAndGet();
        try {
            return name(Files.readSymbolicLink(path(name)));
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    @Override
    public int mode(byte[] name) {
        modesRead.incrementAndGet();
        try {
            return (Integer) Files.getAttribute(path(name), "unix:mode", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }

    @Override
    public long[] followed(byte[] name) {
        try {
            Map<String, Object> a = Files.readAttributes(path(name), "unix:mode,ino,dev,nlink");
            return new long[] {(Integer) a.get("mode"), (Long) a.get("ino"), (Long) a.get("dev"), (Integer) a.get("nlink")};
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    @Override
    public long[] status(int fd) {
        return followed(bytes("/proc/self/fd/".concat(Integer.toString(fd))));
    }

    @Override
    public byte[] workingDirectory() {
        return workingDirectory;
    }
}
