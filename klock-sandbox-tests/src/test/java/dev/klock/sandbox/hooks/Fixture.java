package dev.klock.sandbox.hooks;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;

/**
 * What a probe finds in its directory.
 *
 * <pre>
 *  file            0640, of 2001, one line, user attribute "given"
 *  second, zero    another line; no byte
 *  big             100 kB
 *  dir/inner       one file
 *  empty/
 *  link -> file
 *  fifo, socket    only for the probes that ask for them
 *  password, access  of a JMX agent, likewise
 * </pre>
 */
final class Fixture {
    private static final FileTime LONG_AGO = FileTime.fromMillis(1_000_000_000_000L);

    private Fixture() {
    }

    static void make(Path directory, String probe) throws IOException, InterruptedException {
        Files.createDirectories(directory.resolve("dir"));
        Files.createDirectory(directory.resolve("empty"));
        Files.writeString(directory.resolve("file"), "what was there\n");
        Files.writeString(directory.resolve("second"), "something else\n");
        Files.write(directory.resolve("zero"), new byte[0]);
        Files.write(directory.resolve("big"), new byte[100_000]);
        Files.writeString(directory.resolve("dir/inner"), "inner\n");
        Files.createSymbolicLink(directory.resolve("link"), Path.of("file"));
        Files.getFileAttributeView(directory.resolve("file"), UserDefinedFileAttributeView.class).write("given", ByteBuffer.wrap(new byte[] {1}));
        if (probe.contains("fifo")) {
            run("mkfifo", directory.resolve("fifo").toString());
            // not by the JDK, which would open it and wait
            run("touch", "-d", LONG_AGO.toString(), directory.resolve("fifo").toString());
        }
        if (probe.contains("socket")) {
            try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                socket.bind(UnixDomainSocketAddress.of(directory.resolve("socket")));
            }
        }
        if (probe.contains("passwords")) {
            for (String name : new String[] {"password", "access"}) {
                Path file = Files.writeString(directory.resolve(name), "probe " + (name.equals("access") ? "readonly" : "secret") + "\n");
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
            }
        }
        Files.setPosixFilePermissions(directory.resolve("file"), PosixFilePermissions.fromString("rw-r-----"));
        for (String name : new String[] {"file", "second", "zero", "big", "dir/inner", "dir", "empty", "socket", "password", "access"}) {
            if (Files.exists(directory.resolve(name))) {
                age(directory.resolve(name));
            }
        }
        age(directory.resolve("link"));
        age(directory);
    }

    private static void run(String... command) throws IOException, InterruptedException {
        int ended = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (ended != 0) {
            throw new IOException(String.join(" ", command) + " ended with " + ended);
        }
    }

    /** Makes a file look old, a link itself. Not for a FIFO. */
    static void age(Path file) throws IOException {
        Files.getFileAttributeView(file, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS).setTimes(LONG_AGO, LONG_AGO, null);
    }
}
