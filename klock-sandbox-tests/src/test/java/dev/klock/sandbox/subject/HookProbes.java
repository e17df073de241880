package dev.klock.sandbox.subject;

import dev.klock.sandbox.trace.Recorder;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.prefs.Preferences;
import jdk.jfr.Recording;

/**
 * One small use of a public JDK API for every door of the hook table. Run with arguments {@code group area=directory=elsewhere…}, it
 * does all probes of the group in each area's directories and prints one JSON line a probe.
 */
public final class HookProbes {
    /** What a probe does to its area, so what has to be declared for it. */
    public enum Kind {
        /** Nothing that has to be declared. */
        NEUTRAL,
        /** DEPENDS_ON. */
        LOOKS,
        /** CONSUMES. */
        READS,
        /** More than that. */
        CHANGES
    }

    /** The body of a probe. */
    public interface Body {
        Object run(Area area) throws Exception;
    }

    /**
     * A probe.
     *
     * @param id its name, and that of its directory in each area
     * @param group which JVM runs it: "main", or one started with options of its own
     * @param rows the rows it is there for: {@code class.method}, with the descriptor where that names several, and {@code @name} of
     *             the call where the row is about one inside the method
     */
    public record Probe(String id, String group, Kind kind, List<String> rows, Body body) {
    }

    /**
     * Where a probe works.
     *
     * @param name {@code ok}: all declared, {@code ro}: declared for reading, {@code no}: not declared
     * @param directory with the fixture: {@code file}, {@code second}, {@code big}, {@code zero}, {@code dir/inner}, {@code empty/},
     *                  {@code link -> file}
     * @param elsewhere an empty directory on another file system
     */
    public record Area(String name, Path directory, Path elsewhere) {
        public Path path(String file) {
            return directory.resolve(file);
        }

        File file(String file) {
            return path(file).toFile();
        }

        boolean declared() {
            return !name.equals("ro") && !name.equals("no");
        }
    }

    public static final List<Probe> PROBES = new ArrayList<>();

    private HookProbes() {
    }

    private static void probe(String id, Kind kind, Body body, String... rows) {
        PROBES.add(new Probe(id, "main", kind, List.of(rows), body));
    }

    private static void probeIn(String group, String id, Kind kind, Body body, String... rows) {
        PROBES.add(new Probe(id, group, kind, List.of(rows), body));
    }

    static {
        streams();
        names();
        channels();
        paths();
        attributes();
        directoryHandles();
        others();
    }

    private static final byte[] TEXT = "written by the probe\n".getBytes(StandardCharsets.UTF_8);

    private static void streams() {
        probe("FileInputStream", Kind.READS, a -> {
            try (FileInputStream in = new FileInputStream(a.file("file"))) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        }, "java/io/FileInputStream.open", "java/io/FileDescriptor.close");
        probe("FileOutputStream-absent", Kind.CHANGES, a -> {
            new FileOutputStream(a.file("absent")).close();
            return null;
        }, "java/io/FileOutputStream.open");
        probe("FileOutputStream-truncates", Kind.CHANGES, a -> {
            new FileOutputStream(a.file("file")).close();
            return null;
        }, "java/io/FileOutputStream.open");
        probe("FileOutputStream-append", Kind.CHANGES, a -> {
            try (FileOutputStream out = new FileOutputStream(a.file("file"), true)) {
                out.write(TEXT);
            }
            return null;
        }, "java/io/FileOutputStream.open", "java/io/FileOutputStream.write([B)V");
        probe("FileOutputStream-byte", Kind.CHANGES, a -> {
            try (FileOutputStream out = new FileOutputStream(a.file("file"), true)) {
                out.write('x');
            }
            return null;
        }, "java/io/FileOutputStream.write(I)V");
        probe("FileOutputStream-range", Kind.CHANGES, a -> {
            try (FileOutputStream out = new FileOutputStream(a.file("file"), true)) {
                out.write(TEXT, 3, 5);
            }
            return null;
        }, "java/io/FileOutputStream.write([BII)V");
        probe("FileOutputStream-recorded", Kind.CHANGES, a -> {
            try (Recording recording = new Recording()) {
                recording.enable("jdk.FileWrite");
                recording.start();
                try (FileOutputStream out = new FileOutputStream(a.file("file"), true)) {
                    out.write('x');
                    out.write(TEXT);
                }
            }
            return null;
        }, "java/io/FileOutputStream.traceWrite", "java/io/FileOutputStream.traceWriteBytes");
        probe("RandomAccessFile-read", Kind.READS, a -> {
            try (RandomAccessFile file = new RandomAccessFile(a.file("file"), "r")) {
                return file.readLine();
            }
        }, "java/io/RandomAccessFile.open");
        probe("RandomAccessFile-opens", Kind.CHANGES, a -> {
            new RandomAccessFile(a.file("file"), "rw").close();
            return null;
        }, "java/io/RandomAccessFile.open");
        random("RandomAccessFile-byte", file -> file.write('x'), "java/io/RandomAccessFile.write(I)V", "java/io/RandomAccessFile.implWrite");
        random("RandomAccessFile-bytes", file -> file.write(TEXT), "java/io/RandomAccessFile.write([B)V",
                "java/io/RandomAccessFile.implWriteBytes");
        random("RandomAccessFile-range", file -> file.write(TEXT, 3, 5), "java/io/RandomAccessFile.write([BII)V",
                "java/io/RandomAccessFile.implWriteBytes");
        random("RandomAccessFile-writeBytes", file -> file.writeBytes("bytes"), "java/io/RandomAccessFile.writeBytes",
                "java/io/RandomAccessFile.implWriteBytes");
        random("RandomAccessFile-writeChars", file -> file.writeChars("chars"), "java/io/RandomAccessFile.writeChars",
                "java/io/RandomAccessFile.implWriteBytes");
        random("RandomAccessFile-setLength", file -> file.setLength(3), "java/io/RandomAccessFile.setLength");
        probe("stream-left-to-the-collector", Kind.READS, a -> {
            long read = 0;
            for (int i = 0; i < 20; i++) {
                read += new FileInputStream(a.file("file")).read();
            }
            // a cleaner's thread does it, which on a busy machine may be late
            for (int i = 0; i < 6; i++) {
                System.gc();
                Thread.sleep(150);
            }
            return read;
        }, "java/io/FileCleanable.performCleanup");
    }

    private interface Writing {
        void on(RandomAccessFile file) throws IOException;
    }

    private static void random(String id, Writing writing, String... rows) {
        probe(id, Kind.CHANGES, a -> {
            try (RandomAccessFile file = new RandomAccessFile(a.file("file"), "rw")) {
                writing.on(file);
                return file.getFilePointer();
            }
        }, rows);
    }

    private static void names() {
        probe("File.getCanonicalPath", Kind.LOOKS, a -> a.file("link").getCanonicalPath(), "java/io/UnixFileSystem.canonicalize");
        probe("File.exists", Kind.LOOKS, a -> a.file("file").exists() + " " + a.file("absent").exists(), "java/io/UnixFileSystem.hasBooleanAttributes");
        probe("FileSystem.getBooleanAttributes", Kind.LOOKS, a -> {
            // no public API enters it: java.io asks hasBooleanAttributes instead
            Method get = Class.forName("java.io.UnixFileSystem").getMethod("getBooleanAttributes", File.class);
            Method system = Class.forName("java.io.DefaultFileSystem").getMethod("getFileSystem");
            get.setAccessible(true);
            system.setAccessible(true);
            try {
                return get.invoke(system.invoke(null), a.file("file"));
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw (Exception) e.getCause();
            }
        }, "java/io/UnixFileSystem.getBooleanAttributes");
        probe("File.createTempFile", Kind.CHANGES, a -> {
            File made = File.createTempFile("probe", ".tmp", a.file("dir"));
            return made.getName().startsWith("probe") + " " + made.delete();
        }, "java/io/UnixFileSystem.getNameMax", "java/io/File.createTempFile@createFileExclusively", "java/io/UnixFileSystem.createFileExclusively");
        probe("File.delete", Kind.CHANGES, a -> a.file("file").delete() + " " + a.file("empty").delete(), "java/io/UnixFileSystem.delete");
        probe("File.renameTo", Kind.CHANGES, a -> a.file("file").renameTo(a.file("absent")), "java/io/UnixFileSystem.rename");
        probe("File.canExecute", Kind.LOOKS, a -> a.file("file").canExecute(), "java/io/File.canExecute", "java/io/UnixFileSystem.checkAccess");
        probe("File.canRead", Kind.LOOKS, a -> a.file("file").canRead(), "java/io/File.canRead", "java/io/UnixFileSystem.checkAccess");
        probe("File.canWrite", Kind.LOOKS, a -> a.file("file").canWrite(), "java/io/File.canWrite", "java/io/UnixFileSystem.checkAccess");
        probe("File.lastModified", Kind.LOOKS, a -> a.file("file").lastModified(), "java/io/File.lastModified",
                "java/io/UnixFileSystem.getLastModifiedTime");
        probe("File.length", Kind.LOOKS, a -> a.file("file").length(), "java/io/File.length", "java/io/UnixFileSystem.getLength");
        probe("File.getFreeSpace", Kind.LOOKS, a -> a.file("file").getFreeSpace() > 0, "java/io/File.getFreeSpace",
                "java/io/UnixFileSystem.getSpace");
        probe("File.getTotalSpace", Kind.LOOKS, a -> a.file("file").getTotalSpace() > 0, "java/io/File.getTotalSpace",
                "java/io/UnixFileSystem.getSpace");
        probe("File.getUsableSpace", Kind.LOOKS, a -> a.file("file").getUsableSpace() > 0, "java/io/File.getUsableSpace",
                "java/io/UnixFileSystem.getSpace");
        probe("File.mkdir", Kind.CHANGES, a -> a.file("absent").mkdir(), "java/io/File.mkdir", "java/io/UnixFileSystem.createDirectory");
        probe("File.mkdirs", Kind.CHANGES, a -> a.file("absent/and/more").mkdirs(), "java/io/File.mkdir",
                "java/io/UnixFileSystem.createDirectory");
        probe("File.createNewFile", Kind.CHANGES, a -> a.file("absent").createNewFile(), "java/io/File.createNewFile",
                "java/io/UnixFileSystem.createFileExclusively");
        probe("File.list", Kind.READS, a -> new TreeSet<>(Arrays.asList(a.file("dir").list())), "java/io/File.normalizedList",
                "java/io/UnixFileSystem.list");
        probe("File.setExecutable", Kind.CHANGES, a -> a.file("file").setExecutable(true), "java/io/File.setExecutable",
                "java/io/UnixFileSystem.setPermission");
        probe("File.setReadable", Kind.CHANGES, a -> a.file("file").setReadable(true, false), "java/io/File.setReadable",
                "java/io/UnixFileSystem.setPermission");
        probe("File.setWritable", Kind.CHANGES, a -> a.file("file").setWritable(true, false), "java/io/File.setWritable",
                "java/io/UnixFileSystem.setPermission");
        probe("File.setLastModified", Kind.CHANGES, a -> a.file("file").setLastModified(1_000_000_000_000L), "java/io/File.setLastModified",
                "java/io/UnixFileSystem.setLastModifiedTime");
        probe("File.setReadOnly", Kind.CHANGES, a -> a.file("file").setReadOnly(), "java/io/File.setReadOnly",
                "java/io/UnixFileSystem.setReadOnly");
    }

    private interface Transfer {
        Object on(FileChannel channel) throws IOException;
    }

    private static void channel(String id, Transfer transfer, String... rows) {
        probe(id, Kind.CHANGES, a -> {
            try (FileChannel channel = FileChannel.open(a.path("file"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return transfer.on(channel);
            }
        }, rows);
    }

    private static ByteBuffer text() {
        return ByteBuffer.wrap(TEXT);
    }

    private static void channels() {
        channel("FileChannel.write", channel -> channel.write(text()), "sun/nio/ch/FileDispatcherImpl.write",
                "sun/nio/ch/UnixFileDispatcherImpl.write");
        channel("FileChannel.write-at", channel -> channel.write(text(), 4), "sun/nio/ch/FileDispatcherImpl.pwrite",
                "sun/nio/ch/UnixFileDispatcherImpl.pwrite");
        channel("FileChannel.write-several", channel -> channel.write(new ByteBuffer[] {text(), text()}), "sun/nio/ch/FileDispatcherImpl.writev",
                "sun/nio/ch/UnixFileDispatcherImpl.writev");
        channel("FileChannel.truncate", channel -> channel.truncate(3).size(), "sun/nio/ch/FileDispatcherImpl.truncate",
                "sun/nio/ch/UnixFileDispatcherImpl.truncate");
        channel("FileChannel.map", channel -> channel.map(FileChannel.MapMode.READ_WRITE, 0, 4).put(0, (byte) 'X').get(0),
                "sun/nio/ch/FileChannelImpl.mapInternal", "sun/nio/ch/UnixFileDispatcherImpl.map");
        probe("FileChannel.transferTo", Kind.CHANGES, a -> {
            try (FileChannel from = FileChannel.open(a.path("big")); FileChannel to = FileChannel.open(a.path("file"), StandardOpenOption.WRITE)) {
                return from.transferTo(0, from.size(), to);
            }
        }, "sun/nio/ch/FileChannelImpl.transferToDirectlyInternal", "sun/nio/ch/FileDispatcherImpl.transferTo");
        probe("FileChannel.transferFrom", Kind.CHANGES, a -> {
            try (FileChannel from = FileChannel.open(a.path("big")); FileChannel to = FileChannel.open(a.path("file"), StandardOpenOption.WRITE)) {
                return to.transferFrom(from, 0, from.size());
            }
        }, "sun/nio/ch/FileDispatcherImpl.transferFrom");
        // by a socket file: an address of the network would need lines of its own
        probe("SocketChannel", Kind.CHANGES, a -> {
            UnixDomainSocketAddress address = UnixDomainSocketAddress.of(a.path("absent"));
            try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(address);
                 SocketChannel client = SocketChannel.open(address); SocketChannel accepted = server.accept()) {
                client.write(text());
                client.write(new ByteBuffer[] {text(), text()});
                ByteBuffer read = ByteBuffer.allocate(TEXT.length * 3);
                while (read.hasRemaining() && accepted.read(read) > 0) {
                    continue;
                }
                return new String(read.array(), 0, read.position(), StandardCharsets.UTF_8);
            }
        }, "sun/nio/ch/SocketDispatcher.write", "sun/nio/ch/SocketDispatcher.writev", "sun/nio/ch/SocketDispatcher.close",
                "sun/nio/ch/UnixDispatcher.close");
        probe("DatagramChannel", Kind.NEUTRAL, a -> {
            DatagramChannel.open().close();
            return null;
        }, "sun/nio/ch/DatagramDispatcher.close", "sun/nio/ch/UnixDispatcher.close");
    }

    private static void paths() {
        probe("Files.readString", Kind.READS, a -> Files.readString(a.path("file")), "sun/nio/fs/UnixNativeDispatcher.open");
        probe("Files.writeString", Kind.CHANGES, a -> Files.writeString(a.path("absent"), "new").getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.open");
        probe("Files.writeString-over", Kind.CHANGES, a -> Files.writeString(a.path("file"), "new").getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.open");
        probe("Files.copy", Kind.CHANGES, a -> Files.copy(a.path("big"), a.path("absent")).getFileName(), "sun/nio/fs/UnixCopyFile.copyFile@transfer",
                "sun/nio/fs/LinuxFileSystem.directCopy");
        probe("Files.copy-of-nothing", Kind.CHANGES, a -> Files.copy(a.path("zero"), a.path("absent")).getFileName(),
                "sun/nio/fs/UnixFileSystem.bufferedCopy");
        probe("Files.copy-over", Kind.CHANGES, a -> Files.copy(a.path("big"), a.path("file"), StandardCopyOption.REPLACE_EXISTING).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.unlink");
        probe("Files.copy-with-attributes", Kind.CHANGES, a -> Files.copy(a.path("file"), a.path("absent"), StandardCopyOption.COPY_ATTRIBUTES)
                .getFileName(), "sun/nio/fs/UnixCopyFile.copyFile@fchmod", "sun/nio/fs/UnixCopyFile.copyFile@fchown",
                "sun/nio/fs/UnixCopyFile.copyFile@futimes", "sun/nio/fs/UnixNativeDispatcher.fchown", "sun/nio/fs/UnixNativeDispatcher.fchmod",
                "sun/nio/fs/UnixNativeDispatcher.futimens");
        probe("Files.copy-of-a-directory", Kind.CHANGES, a -> Files.copy(a.path("dir"), a.path("absent"), StandardCopyOption.COPY_ATTRIBUTES)
                .getFileName(), "sun/nio/fs/UnixCopyFile.copyDirectory@fchmod", "sun/nio/fs/UnixCopyFile.copyDirectory@fchown",
                "sun/nio/fs/UnixCopyFile.copyDirectory@futimes");
        probe("Files.newDirectoryStream", Kind.READS, a -> {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(a.path("dir"))) {
                List<String> names = new ArrayList<>();
                entries.forEach(entry -> names.add(entry.getFileName().toString()));
                return names;
            }
        }, "sun/nio/fs/UnixNativeDispatcher.close");
        probe("Files.move", Kind.CHANGES, a -> Files.move(a.path("file"), a.path("absent")).getFileName(), "sun/nio/fs/UnixNativeDispatcher.rename");
        probe("Files.move-over", Kind.CHANGES, a -> Files.move(a.path("file"), a.path("second"), StandardCopyOption.REPLACE_EXISTING).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.rename");
        probe("Files.move-elsewhere", Kind.CHANGES, a -> Files.move(a.path("file"), a.elsewhere.resolve("moved")).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.unlink");
        probe("Files.move-directory-elsewhere", Kind.CHANGES, a -> Files.move(a.path("empty"), a.elsewhere.resolve("moved")).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.opendir", "sun/nio/fs/UnixNativeDispatcher.rmdir", "sun/nio/fs/UnixNativeDispatcher.mkdir");
        probe("Files.move-fifo-elsewhere", Kind.CHANGES, a -> Files.move(a.path("fifo"), a.elsewhere.resolve("moved")).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.mknod");
        probe("Files.createLink", Kind.CHANGES, a -> Files.createLink(a.path("absent"), a.path("file")).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.link");
        probe("Files.createSymbolicLink", Kind.CHANGES, a -> Files.createSymbolicLink(a.path("absent"), Path.of("file")).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.symlink");
        probe("Files.delete", Kind.CHANGES, a -> {
            Files.delete(a.path("file"));
            return null;
        }, "sun/nio/fs/UnixNativeDispatcher.unlink");
        probe("Files.delete-directory", Kind.CHANGES, a -> {
            Files.delete(a.path("empty"));
            return null;
        }, "sun/nio/fs/UnixNativeDispatcher.rmdir");
        probe("Files.createDirectory", Kind.CHANGES, a -> Files.createDirectory(a.path("absent")).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.mkdir");
        probe("Files.createDirectories", Kind.CHANGES, a -> Files.createDirectories(a.path("absent/and/more")).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.mkdir");
        probe("Files.readSymbolicLink", Kind.LOOKS, a -> Files.readSymbolicLink(a.path("link")), "sun/nio/fs/UnixNativeDispatcher.readlink");
        probe("Path.toRealPath", Kind.LOOKS, a -> a.path("link").toRealPath(), "sun/nio/fs/UnixNativeDispatcher.realpath");
        probe("Files.size", Kind.LOOKS, a -> Files.size(a.path("file")),
                "sun/nio/fs/UnixNativeDispatcher.stat(Lsun/nio/fs/UnixPath;Lsun/nio/fs/UnixFileAttributes;)V");
        probe("Files.isDirectory", Kind.LOOKS, a -> Files.isDirectory(a.path("dir")) + " " + Files.isRegularFile(a.path("absent")),
                "sun/nio/fs/UnixNativeDispatcher.stat(Lsun/nio/fs/UnixPath;)I", "sun/nio/fs/UnixNativeDispatcher.stat2");
        probe("Files.isSymbolicLink", Kind.LOOKS, a -> Files.isSymbolicLink(a.path("link")), "sun/nio/fs/UnixNativeDispatcher.lstat");
        probe("Files.isReadable", Kind.LOOKS, a -> Files.isReadable(a.path("file")), "sun/nio/fs/UnixNativeDispatcher.access");
        probe("Files.exists", Kind.LOOKS, a -> Files.exists(a.path("file")) + " " + Files.exists(a.path("absent")),
                "sun/nio/fs/UnixNativeDispatcher.exists", "sun/nio/fs/UnixNativeDispatcher.access");
        probe("FileStore.getTotalSpace", Kind.LOOKS, a -> Files.getFileStore(a.path("file")).getTotalSpace() > 0,
                "sun/nio/fs/UnixNativeDispatcher.statvfs", "sun/nio/fs/LinuxNativeDispatcher.setmntent");
        probe("FileSystem.getFileStores", Kind.NEUTRAL, a -> {
            int stores = 0;
            for (Object store : FileSystems.getDefault().getFileStores()) {
                stores += store == null ? 0 : 1;
            }
            return stores > 0;
        }, "sun/nio/fs/LinuxNativeDispatcher.setmntent");
        probe("Path.register", Kind.READS, a -> {
            try (WatchService service = FileSystems.getDefault().newWatchService()) {
                return a.path("dir").register(service, StandardWatchEventKinds.ENTRY_CREATE).isValid();
            }
        }, "sun/nio/fs/AbstractPoller.register", "sun/nio/fs/UnixNativeDispatcher.write");
    }

    private static final FileTime THEN = FileTime.fromMillis(1_111_111_111_000L);

    private static void attributes() {
        probe("Files.setPosixFilePermissions", Kind.CHANGES, a -> Files.setPosixFilePermissions(a.path("file"),
                PosixFilePermissions.fromString("rwx------")).getFileName(), "sun/nio/fs/UnixNativeDispatcher.chmod");
        probe("Files.setAttribute-mode", Kind.CHANGES, a -> Files.setAttribute(a.path("file"), "unix:mode", 0700).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.chmod");
        probe("PosixFileAttributeView.setPermissions-nofollow", Kind.CHANGES, a -> {
            Files.getFileAttributeView(a.path("file"), PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                    .setPermissions(PosixFilePermissions.fromString("rwx------"));
            return null;
        }, "sun/nio/fs/UnixFileAttributeViews$Posix.setMode@fchmod", "sun/nio/fs/UnixNativeDispatcher.fchmod");
        probe("Files.setOwner", Kind.CHANGES, a -> Files.setOwner(a.path("file"), self()).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.chown");
        probe("FileOwnerAttributeView.setOwner-nofollow", Kind.CHANGES, a -> {
            Files.getFileAttributeView(a.path("link"), PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS).setOwner(self());
            return null;
        }, "sun/nio/fs/UnixNativeDispatcher.lchown");
        probe("Files.setLastModifiedTime", Kind.CHANGES, a -> Files.setLastModifiedTime(a.path("file"), THEN).getFileName(),
                "sun/nio/fs/UnixFileAttributeViews$Basic.setTimes@futimens", "sun/nio/fs/UnixNativeDispatcher.futimens");
        probe("Files.setLastModifiedTime-of-a-socket", Kind.CHANGES, a -> Files.setLastModifiedTime(a.path("socket"), THEN).getFileName(),
                "sun/nio/fs/UnixNativeDispatcher.utimes", "sun/nio/fs/UnixNativeDispatcher.utimensat");
        probe("BasicFileAttributeView.setTimes-of-a-link", Kind.CHANGES, a -> {
            Files.getFileAttributeView(a.path("link"), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS).setTimes(THEN, THEN, null);
            return null;
        }, "sun/nio/fs/UnixNativeDispatcher.lutimes", "sun/nio/fs/UnixNativeDispatcher.utimensat");
        probe("UserDefinedFileAttributeView.write", Kind.CHANGES, a -> view(a).write("new", text()), "sun/nio/fs/UnixNativeDispatcher.fsetxattr");
        probe("UserDefinedFileAttributeView.delete", Kind.CHANGES, a -> {
            view(a).delete("given");
            return null;
        }, "sun/nio/fs/UnixNativeDispatcher.fremovexattr");
        probe("UserDefinedFileAttributeView.list", Kind.READS, a -> view(a).list(), "sun/nio/fs/UnixNativeDispatcher.open");
    }

    private static UserDefinedFileAttributeView view(Area area) {
        return Files.getFileAttributeView(area.path("file"), UserDefinedFileAttributeView.class);
    }

    private static java.nio.file.attribute.UserPrincipal self() throws IOException {
        return FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(System.getProperty("user.name"));
    }

    private interface Handle {
        Object on(SecureDirectoryStream<Path> directory) throws IOException;
    }

    private static void handle(String id, Kind kind, Handle handle, String... rows) {
        probe(id, kind, a -> {
            try (DirectoryStream<Path> directory = Files.newDirectoryStream(a.directory)) {
                return handle.on((SecureDirectoryStream<Path>) directory);
            }
        }, rows);
    }

    private static void directoryHandles() {
        handle("SecureDirectoryStream.newByteChannel", Kind.READS, directory -> {
            try (SeekableByteChannel channel = directory.newByteChannel(Path.of("file"), Set.of(StandardOpenOption.READ))) {
                return channel.size();
            }
        }, "sun/nio/fs/UnixNativeDispatcher.openat");
        handle("SecureDirectoryStream.newByteChannel-write", Kind.CHANGES, directory -> {
            try (SeekableByteChannel channel = directory.newByteChannel(Path.of("absent"),
                    Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE))) {
                return channel.write(text());
            }
        }, "sun/nio/fs/UnixNativeDispatcher.openat");
        handle("SecureDirectoryStream.newDirectoryStream", Kind.READS, directory -> {
            try (SecureDirectoryStream<Path> below = directory.newDirectoryStream(Path.of("dir"))) {
                return below.iterator().next().getFileName();
            }
        }, "sun/nio/fs/UnixNativeDispatcher.openat");
        handle("SecureDirectoryStream.move", Kind.CHANGES, directory -> {
            directory.move(Path.of("file"), directory, Path.of("absent"));
            return null;
        }, "sun/nio/fs/UnixNativeDispatcher.renameat");
        handle("SecureDirectoryStream.deleteFile", Kind.CHANGES, directory -> {
            directory.deleteFile(Path.of("file"));
            return null;
        }, "sun/nio/fs/UnixNativeDispatcher.unlinkat");
        handle("SecureDirectoryStream.deleteDirectory", Kind.CHANGES, directory -> {
            directory.deleteDirectory(Path.of("empty"));
            return null;
        }, "sun/nio/fs/UnixNativeDispatcher.unlinkat");
        handle("SecureDirectoryStream.readAttributes", Kind.READS, directory -> {
            BasicFileAttributes attributes = directory.getFileAttributeView(Path.of("file"), BasicFileAttributeView.class).readAttributes();
            return attributes.size() + " " + attributes.isRegularFile();
        }, "sun/nio/fs/UnixNativeDispatcher.fstatat");
        handle("SecureDirectoryStream.setPermissions", Kind.CHANGES, directory -> {
            directory.getFileAttributeView(Path.of("file"), PosixFileAttributeView.class)
                    .setPermissions(PosixFilePermissions.fromString("rwx------"));
            return null;
        }, "sun/nio/fs/UnixSecureDirectoryStream$PosixFileAttributeViewImpl.setPermissions@fchmod",
                "sun/nio/fs/UnixNativeDispatcher.fchmodat");
        handle("SecureDirectoryStream.setOwner", Kind.CHANGES, directory -> {
            directory.getFileAttributeView(Path.of("file"), PosixFileAttributeView.class).setOwner(self());
            return null;
        }, "sun/nio/fs/UnixSecureDirectoryStream$PosixFileAttributeViewImpl.setOwners@fchown", "sun/nio/fs/UnixNativeDispatcher.fchown");
        handle("SecureDirectoryStream.setTimes", Kind.CHANGES, directory -> {
            directory.getFileAttributeView(Path.of("file"), BasicFileAttributeView.class).setTimes(THEN, THEN, null);
            return null;
        }, "sun/nio/fs/UnixSecureDirectoryStream$BasicFileAttributeViewImpl.setTimes@futimes", "sun/nio/fs/UnixNativeDispatcher.futimens");
    }

    private static void others() {
        probe("ProcessBuilder.start", Kind.CHANGES, a -> {
            // touch is declared, mkdir is not
            String program = a.declared() ? System.getProperty("probe.declared") : System.getProperty("probe.undeclared");
            Process process = new ProcessBuilder(program, a.path("absent").toString()).start();
            String complaints = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() + complaints;
        }, "java/lang/ProcessImpl.<init>");
        probe("ProcessHandle.destroy", Kind.CHANGES, a -> {
            if (a.declared()) {
                Process own = new ProcessBuilder(System.getProperty("probe.sleep"), "60").start();
                return own.toHandle().destroyForcibly() + " " + own.waitFor();
            }
            return ProcessHandle.of(Long.getLong("probe.stranger")).orElseThrow().destroyForcibly();
        }, "java/lang/ProcessHandleImpl.destroyProcess");
        // what may be read of files says nothing of processes
        probe("ProcessHandle.info", Kind.CHANGES, a -> {
            if (a.declared()) {
                Process own = new ProcessBuilder(System.getProperty("probe.sleep"), "61").start();
                try {
                    return own.toHandle().info().commandLine();
                } finally {
                    own.destroyForcibly().waitFor();
                }
            }
            return ProcessHandle.of(Long.getLong("probe.stranger")).orElseThrow().info().commandLine();
        }, "java/lang/ProcessHandleImpl$Info.info");
        probeIn("preferences", "Preferences.userRoot", Kind.CHANGES, a -> {
            Preferences.userRoot().node("probe").put("key", "value");
            Preferences.userRoot().flush();
            return Preferences.userRoot().node("probe").get("key", null);
        }, "java/util/prefs/FileSystemPreferences$1.run@chmod", "java/util/prefs/FileSystemPreferences.setupUserRoot@chmod",
                "java/util/prefs/FileSystemPreferences.lockFile@lockFile0");
        probeIn("preferences", "Preferences.systemRoot", Kind.CHANGES, a -> {
            // without a system root the JDK makes one in java.home, which it asks for only now
            java.util.logging.Logger.getLogger("java.util.prefs").setLevel(java.util.logging.Level.OFF);
            String home = System.setProperty("java.home", a.path("jdk").toString());
            try {
                return Preferences.systemRoot().name();
            } finally {
                System.setProperty("java.home", home);
            }
        }, "java/util/prefs/FileSystemPreferences$2.run@chmod", "java/util/prefs/FileSystemPreferences.setupSystemRoot@chmod");
        probeIn("management", "management-agent-with-passwords", Kind.READS, a -> "started", "jdk/internal/agent/FileSystemImpl.isAccessUserOnly");
    }

    public static void main(String[] arguments) throws Exception {
        String group = arguments[0];
        for (String argument : Arrays.asList(arguments).subList(1, arguments.length)) {
            String[] area = argument.split("=");
            for (Probe probe : PROBES) {
                if (probe.group.equals(group)) {
                    Area here = new Area(area[0], Path.of(area[1], probe.id), Path.of(area[2], probe.id));
                    System.out.println(run(probe, here, text -> text.replace(area[2], "ELSEWHERE").replace(area[1], "AREA")));
                }
            }
        }
    }

    /** Makes the texts of different areas comparable. */
    private interface Normalising {
        String apply(String text);
    }

    private static String run(Probe probe, Area area, Normalising normalising) {
        if (probe.group.equals("main")) {
            Recorder.clear();
        }
        String result = "null";
        String error = "null";
        StringBuilder denied = new StringBuilder();
        try {
            result = quoted(normalising.apply(String.valueOf(probe.body.run(area))));
        } catch (Throwable thrown) {
            error = quoted(normalising.apply(thrown.toString()));
            for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
                if (cause.getClass().getName().equals("dev.klock.ScopeViolationError")) {
                    denied.append(cause.getMessage());
                }
            }
        }
        return "{\"area\":" + quoted(area.name) + ",\"probe\":" + quoted(probe.id) + ",\"result\":" + result + ",\"error\":" + error
                + ",\"denied\":" + quoted(denied.toString()) + ",\"entered\":" + Recorder.entered() + "}";
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
