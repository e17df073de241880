package dev.klock.sandbox.subject;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Asks the operating system, in the working directory, for what it refuses, and prints what it says. With an argument, starts no
 * processes, and reads the file of that name at last.
 */
public final class Refused {
    private Refused() {
    }

    private interface Call {
        void run() throws IOException;
    }

    public static void main(String[] arguments) throws IOException {
        Path directory = Files.createDirectory(Path.of("made"));
        Files.createDirectory(directory.resolve("below"));
        Path file = Files.writeString(Path.of("file"), "text");
        Files.createSymbolicLink(Path.of("loop"), Path.of("loop"));
        Path absent = Path.of("absent");
        for (Path p : new Path[] {Path.of(""), Path.of("."), directory, directory.resolve("x"), file, file.resolve("x"), absent, absent.resolve("x"),
            Path.of("loop"), Path.of("x".repeat(300)), Path.of("/proc/self/fd")}) {
            String name = p.toString().length() > 20 ? "long" : p.toString();
            for (Path to : new Path[] {Path.of(""), directory, directory.resolve("x"), file, file.resolve("x"), absent.resolve("x")}) {
                String pair = name + " to " + to;
                if (refusesAsSource(p, directory, to)) {
                    say("move " + pair, () -> Files.move(p, to));
                    say("replace " + pair, () -> Files.move(p, to, StandardCopyOption.ATOMIC_MOVE));
                    say("rename " + pair, () -> must(p.toFile().renameTo(to.toFile())));
                }
                say("link " + pair, () -> {
                    Files.createLink(to, p);
                    Files.delete(to);
                });
                say("symbolic link " + pair, () -> {
                    Files.createSymbolicLink(to, p);
                    Files.delete(to);
                });
            }
            say("make " + name, () -> {
                Files.createDirectory(p);
                Files.delete(p);
            });
            if (!p.equals(file)) {
                say("delete " + name, () -> Files.delete(p));
                say("remove " + name, () -> must(p.toFile().delete()));
            }
            say("create " + name, () -> {
                Files.createFile(p);
                Files.delete(p);
            });
            say("write " + name, () -> new FileOutputStream(p.toFile(), true).close());
            say("read " + name, () -> new FileInputStream(p.toFile()).close());
            say("random " + name, () -> new RandomAccessFile(p.toFile(), "rw").close());
            say("channel " + name, () -> FileChannel.open(p, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS).close());
            say("list " + name, () -> Files.newDirectoryStream(p).close());
            say("mode " + name, () -> Files.setPosixFilePermissions(p, PosixFilePermissions.fromString("rwxr-xr-x")));
            say("owner " + name, () -> Files.setAttribute(p, "unix:uid", 0, LinkOption.NOFOLLOW_LINKS));
            say("mode of the name " + name, () -> Files.getFileAttributeView(p, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setPermissions(PosixFilePermissions.fromString("rwxr-xr-x")));
            say("time before 1970 " + name, () -> Files.setLastModifiedTime(p, FileTime.fromMillis(-123_456_789)));
            say("time of the name " + name, () -> Files.getFileAttributeView(p, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setTimes(FileTime.fromMillis(-1), null, null));
            if (arguments.length == 0) {
                say("start " + name, () -> new ProcessBuilder(p.toString()).start());
                say("start in " + name, () -> new ProcessBuilder("/bin/true").directory(new File(p.toString())).start());
            }
            Files.deleteIfExists(directory.resolve("x"));
            Files.deleteIfExists(absent);
        }
        if (arguments.length > 0) {
            Files.readString(Path.of(arguments[0]));
        }
    }

    /** Leaves out what the system would do. */
    private static boolean refusesAsSource(Path p, Path directory, Path to) {
        return !p.equals(Path.of("file")) || to.equals(directory) || to.startsWith("file") || to.startsWith("absent");
    }

    private static void must(boolean done) throws IOException {
        if (!done) {
            throw new IOException("false");
        }
    }

    private static void say(String what, Call call) {
        try {
            call.run();
            System.out.println(what + ": done");
        } catch (IOException | RuntimeException e) {
            System.out.println(what + ": " + e);
        }
    }
}
