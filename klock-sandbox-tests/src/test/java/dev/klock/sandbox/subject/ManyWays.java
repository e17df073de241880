package dev.klock.sandbox.subject;

import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.FileReader;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.Formatter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Gets at files in as many ways as it knows, each way at paths of its own: {@code <way>/<number>} below the directory that the first
 * argument names, as often as the second says. {@link #prepare} makes what the ways need.
 */
public final class ManyWays {
    private static final Map<String, Way> WAYS = new LinkedHashMap<>();

    /** What there is at a path before. */
    private enum Before { NOTHING, FILE, DIRECTORY, ARCHIVE, LINK }

    private interface Action {
        void on(Path p) throws Exception;
    }

    private record Way(Before before, Action action) {
    }

    private ManyWays() {
    }

    private static void way(String name, Before before, Action action) {
        WAYS.put(name, new Way(before, action));
    }

    static {
        way("FileInputStream", Before.FILE, p -> new FileInputStream(p.toFile()).close());
        way("FileOutputStream", Before.NOTHING, p -> new FileOutputStream(p.toFile()).close());
        way("FileOutputStream-append", Before.FILE, p -> new FileOutputStream(p.toFile(), true).close());
        way("RandomAccessFile-r", Before.FILE, p -> new RandomAccessFile(p.toFile(), "r").close());
        way("RandomAccessFile-rw", Before.FILE, p -> new RandomAccessFile(p.toFile(), "rw").close());
        way("FileReader", Before.FILE, p -> new FileReader(p.toFile()).close());
        way("FileWriter", Before.NOTHING, p -> new FileWriter(p.toFile()).close());
        way("PrintWriter", Before.NOTHING, p -> new PrintWriter(p.toFile()).close());
        way("Scanner", Before.FILE, p -> new Scanner(p.toFile()).close());
        way("Formatter", Before.NOTHING, p -> new Formatter(p.toFile()).close());
        way("File.exists", Before.NOTHING, p -> p.toFile().exists());
        way("File.isDirectory", Before.DIRECTORY, p -> p.toFile().isDirectory());
        way("File.length", Before.FILE, p -> p.toFile().length());
        way("File.lastModified", Before.FILE, p -> p.toFile().lastModified());
        way("File.canWrite", Before.FILE, p -> p.toFile().canWrite());
        way("File.getFreeSpace", Before.FILE, p -> p.toFile().getFreeSpace());
        way("File.createNewFile", Before.NOTHING, p -> p.toFile().createNewFile());
        way("File.createTempFile", Before.DIRECTORY, p -> File.createTempFile("tmp", "", p.toFile()));
        way("File.mkdir", Before.NOTHING, p -> p.toFile().mkdir());
        way("File.mkdirs", Before.NOTHING, p -> p.resolve("below").toFile().mkdirs());
        way("File.delete", Before.FILE, p -> p.toFile().delete());
        way("File.renameTo", Before.FILE, p -> p.toFile().renameTo(new File(p + "-renamed")));
        way("File.list", Before.DIRECTORY, p -> p.toFile().list());
        way("File.setLastModified", Before.FILE, p -> p.toFile().setLastModified(1_000_000));
        way("File.setReadOnly", Before.FILE, p -> p.toFile().setReadOnly());
        way("File.setExecutable", Before.FILE, p -> p.toFile().setExecutable(true));
        way("File.getCanonicalPath", Before.FILE, p -> p.toFile().getCanonicalPath());
        way("Files.readAllBytes", Before.FILE, Files::readAllBytes);
        way("Files.write", Before.NOTHING, p -> Files.write(p, new byte[3]));
        way("Files.newBufferedReader", Before.FILE, p -> Files.newBufferedReader(p).close());
        way("Files.lines", Before.FILE, p -> Files.lines(p).close());
        way("Files.exists", Before.NOTHING, p -> Files.exists(p));
        way("Files.exists-nofollow", Before.FILE, p -> Files.exists(p, LinkOption.NOFOLLOW_LINKS));
        way("Files.isReadable", Before.FILE, Files::isReadable);
        way("Files.readAttributes", Before.FILE, p -> Files.readAttributes(p, BasicFileAttributes.class));
        way("Files.getAttribute", Before.FILE, p -> Files.getAttribute(p, "unix:mode"));
        way("Files.size", Before.FILE, Files::size);
        way("Files.getOwner", Before.FILE, p -> Files.getOwner(p));
        way("Files.getFileStore", Before.FILE, Files::getFileStore);
        way("Files.isSameFile", Before.FILE, p -> Files.isSameFile(p, p.getParent().resolve(".").resolve(p.getFileName())));
        way("Files.mismatch", Before.FILE, p -> Files.mismatch(p, p));
        way("Files.createFile", Before.NOTHING, p -> Files.createFile(p));
        way("Files.createDirectory", Before.NOTHING, p -> Files.createDirectory(p));
        way("Files.createDirectories", Before.NOTHING, p -> Files.createDirectories(p.resolve("a/b")));
        way("Files.createTempDirectory", Before.DIRECTORY, p -> Files.createTempDirectory(p, "t"));
        way("Files.delete", Before.FILE, Files::delete);
        way("Files.deleteIfExists", Before.NOTHING, Files::deleteIfExists);
        way("Files.move", Before.FILE, p -> Files.move(p, Path.of(p + "-moved"), StandardCopyOption.REPLACE_EXISTING));
        way("Files.move-atomic", Before.FILE, p -> Files.move(p, Path.of(p + "-moved"), StandardCopyOption.ATOMIC_MOVE));
        way("Files.copy", Before.FILE, p -> Files.copy(p, Path.of(p + "-copy"), StandardCopyOption.COPY_ATTRIBUTES));
        way("Files.createLink", Before.FILE, p -> Files.createLink(Path.of(p + "-link"), p));
        way("Files.createSymbolicLink", Before.NOTHING, p -> Files.createSymbolicLink(p, Path.of("nowhere")));
        way("Files.readSymbolicLink", Before.LINK, Files::readSymbolicLink);
        way("Files.setLastModifiedTime", Before.FILE, p -> Files.setLastModifiedTime(p, FileTime.fromMillis(1_000_000)));
        way("Files.setPosixFilePermissions", Before.FILE, p -> Files.setPosixFilePermissions(p, PosixFilePermissions.fromString("rw-rw-r--")));
        way("Files.getPosixFilePermissions", Before.FILE, p -> Files.getPosixFilePermissions(p));
        way("Files.list", Before.DIRECTORY, p -> Files.list(p).close());
        way("Files.walk", Before.DIRECTORY, p -> {
            try (Stream<Path> all = Files.walk(p)) {
                all.count();
            }
        });
        way("toRealPath", Before.FILE, p -> p.toRealPath());
        way("userAttributes", Before.FILE, p -> Files.getFileAttributeView(p, UserDefinedFileAttributeView.class).list());
        way("FileChannel-read", Before.FILE, p -> FileChannel.open(p, StandardOpenOption.READ).close());
        way("FileChannel-map", Before.FILE, p -> {
            try (FileChannel channel = FileChannel.open(p, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                channel.map(FileChannel.MapMode.READ_WRITE, 0, 4).put(0, (byte) 'm');
            }
        });
        way("FileChannel-deleteOnClose", Before.NOTHING,
                p -> FileChannel.open(p, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE).close());
        way("AsynchronousFileChannel", Before.FILE, p -> {
            try (AsynchronousFileChannel channel = AsynchronousFileChannel.open(p, StandardOpenOption.READ)) {
                channel.read(ByteBuffer.allocate(4), 0).get();
            }
        });
        way("SecureDirectoryStream-open", Before.FILE, p -> inItsDirectory(p, in -> in.newByteChannel(p.getFileName(), Set.of(StandardOpenOption.READ)).close()));
        way("SecureDirectoryStream-delete", Before.FILE, p -> inItsDirectory(p, in -> in.deleteFile(p.getFileName())));
        way("SecureDirectoryStream-move", Before.FILE,
                p -> inItsDirectory(p, in -> in.move(p.getFileName(), in, Path.of(p.getFileName() + "-moved"))));
        way("ZipFile", Before.ARCHIVE, p -> new ZipFile(p.toFile()).close());
        way("ZipFileSystem", Before.ARCHIVE, p -> {
            try (FileSystem zip = FileSystems.newFileSystem(p, (ClassLoader) null)) {
                Files.readAllBytes(zip.getPath("inside"));
            }
        });
        way("URLClassLoader", Before.ARCHIVE, p -> {
            try (URLClassLoader loader = new URLClassLoader(new URL[] {p.toUri().toURL()}, null)) {
                loader.getResourceAsStream("inside").close();
            }
        });
        way("URL", Before.FILE, p -> p.toUri().toURL().openStream().close());
        way("WatchService", Before.DIRECTORY, p -> {
            try (WatchService watch = p.getFileSystem().newWatchService()) {
                p.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            }
        });
        way("ProcessBuilder-output", Before.NOTHING, p -> new ProcessBuilder("/bin/true").redirectOutput(p.toFile()).start().waitFor());
        way("ProcessBuilder-input", Before.FILE, p -> new ProcessBuilder("/bin/true").redirectInput(p.toFile()).start().waitFor());
    }

    private interface InDirectory {
        void on(SecureDirectoryStream<Path> in) throws IOException;
    }

    private static void inItsDirectory(Path p, InDirectory action) throws IOException {
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(p.getParent())) {
            action.on((SecureDirectoryStream<Path>) stream);
        }
    }

    /** How many ways there are. */
    public static int ways() {
        return WAYS.size();
    }

    /** Makes what the ways need below {@code root}: for each as many paths as {@code times} says. */
    public static void prepare(Path root, int times) throws IOException {
        for (Map.Entry<String, Way> way : WAYS.entrySet()) {
            Path directory = Files.createDirectory(root.resolve(way.getKey()));
            for (int i = 0; i < times; i++) {
                Path p = directory.resolve("" + i);
                switch (way.getValue().before) {
                    case FILE -> Files.write(p, "text".getBytes(StandardCharsets.US_ASCII));
                    case DIRECTORY -> Files.createDirectory(p);
                    case LINK -> Files.createSymbolicLink(p, Path.of("nowhere"));
                    case ARCHIVE -> {
                        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(p))) {
                            out.putNextEntry(new ZipEntry("inside"));
                            out.write(1);
                        }
                    }
                    default -> { }
                }
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]);
        int times = Integer.parseInt(arguments[1]);
        for (Map.Entry<String, Way> way : WAYS.entrySet()) {
            for (int i = 0; i < times; i++) {
                way.getValue().action.on(root.resolve(way.getKey()).resolve("" + i));
            }
        }
        System.out.println("done");
    }
}
