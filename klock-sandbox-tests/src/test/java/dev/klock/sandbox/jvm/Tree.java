package dev.klock.sandbox.jvm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * What lies below a directory, for comparing before and after. {@code .klock} directories are left out.
 *
 * @param entries by path relative to the directory, "" for itself
 */
public record Tree(Map<String, Entry> entries) {
    private static final int TYPE = 0170000;

    /**
     * One file of any type.
     *
     * @param mode type and permission bits
     * @param content SHA-256 of a regular file, a link's text, else ""
     * @param identity inode, number of links and times: what even a rewrite with the same bytes changes
     */
    public record Entry(int mode, int uid, int gid, String content, String attributes, FileTime modified, String identity) {
        /** What a program can tell apart without looking at inode and times. */
        String visible() {
            return Integer.toOctalString(mode) + " " + uid + ":" + gid + " " + content + attributes;
        }

        /** All of it. */
        public String whole() {
            return visible() + " " + identity;
        }
    }

    /** Looks at everything below {@code root}; absent if that is not there. */
    public static Tree of(Path root) {
        Map<String, Entry> entries = new TreeMap<>();
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
                    if (directory.endsWith(".klock")) {
                        return FileVisitResult.SKIP_SUBTREE;
                    }
                    return visitFile(directory, attributes);
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    entries.put(root.relativize(file).toString(), entry(file));
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (NoSuchFileException absent) {
            return new Tree(entries);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Tree(entries);
    }

    /** The same without the directory itself, whose times change when {@code .klock} is made in it. */
    public Tree inside() {
        Map<String, Entry> inside = new TreeMap<>(entries);
        inside.remove("");
        return new Tree(inside);
    }

    /** Names, types, modes, owners, contents and link texts, one entry a line. */
    public String visible() {
        StringBuilder text = new StringBuilder();
        entries.forEach((name, entry) -> text.append(name).append("  ").append(entry.visible()).append('\n'));
        return text.toString();
    }

    /** The same with the times of modification, in microseconds: what all JDKs can give a link. */
    public String timed() {
        StringBuilder text = new StringBuilder();
        entries.forEach((name, entry) -> text.append(name).append("  ").append(entry.visible()).append("  ").append(entry.modified().to(TimeUnit.MICROSECONDS)).append('\n'));
        return text.toString();
    }

    /** The same with inodes, link counts and times of change: equal only if nothing was touched at all. */
    public String whole() {
        StringBuilder text = new StringBuilder();
        entries.forEach((name, entry) -> text.append(name).append("  ").append(entry.whole()).append('\n'));
        return text.toString();
    }

    private static Entry entry(Path file) throws IOException {
        Map<String, Object> unix = Files.readAttributes(file, "unix:*", LinkOption.NOFOLLOW_LINKS);
        int mode = (int) unix.get("mode");
        String content = "";
        String attributes = "";
        switch (mode & TYPE) {
            case 0100000 -> {
                content = sha256(Files.readAllBytes(file));
                attributes = attributes(file);
            }
            case 0120000 -> content = "-> " + Files.readSymbolicLink(file);
            default -> {
            }
        }
        FileTime modified = (FileTime) unix.get("lastModifiedTime");
        return new Entry(mode, (int) unix.get("uid"), (int) unix.get("gid"), content, attributes, modified,
                unix.get("ino") + " " + unix.get("nlink") + " " + modified + " " + unix.get("ctime"));
    }

    private static String attributes(Path file) throws IOException {
        UserDefinedFileAttributeView view = Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
        StringBuilder text = new StringBuilder();
        if (view != null) {
            try {
                for (String name : view.list()) {
                    ByteBuffer value = ByteBuffer.allocate(view.size(name));
                    view.read(name, value);
                    text.append(" user.").append(name).append('=').append(new BigInteger(1, value.array()).toString(16));
                }
            } catch (IOException fileSystemWithoutThem) {
                return "";
            }
        }
        return text.toString();
    }

    private static String sha256(byte[] bytes) {
        try {
            return new BigInteger(1, MessageDigest.getInstance("SHA-256").digest(bytes)).toString(16).substring(0, 16) + "/" + bytes.length;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
