package dev.klock.cli.probe;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.management.ObjectName;

/**
 * One use of public JDK API for every door that can be knocked on, with arguments that can do no harm should nothing stop them: names
 * below a plain file, which the kernel refuses, or files that were made for it.
 *
 * <p>Prints, for each probe and each row it is there for (one with a {@code ~} is denied by a frame around it, one with a {@code ?} or
 * another of the probe's), {@code ROW<tab>denied}, or what happened instead. A row counts as denied only if
 * the error comes from the bridge as called by the row's own method, or by a context that the row runs in.
 */
public final class Probes {
    private static final String BRIDGE = "sun.nio.fs.KlockBridge";
    private static final String ERROR = "dev.klock.ScopeViolationError";
    private static final byte[] TEXT = {'l', 'a', 't', 'e'};
    private static final FileTime THEN = FileTime.fromMillis(0);

    /** The body of a probe. */
    private interface Body {
        void run() throws Exception;
    }

    /** Something done with a directory handle. */
    private interface Handle {
        void use(SecureDirectoryStream<Path> directory) throws IOException;
    }

    private final List<String[]> rows = new ArrayList<>();
    private final List<Body> bodies = new ArrayList<>();
    private final Path directory;
    private int names;
    /** Whether denials carry a stack: those after the end of a session do not. */
    private boolean traced = true;
    /** Declared for reading. */
    private final Path file;

    private Probes(Path directory) {
        this.directory = directory;
        file = directory.resolve("read/file");
    }

    /** {@code names DIRECTORY PID}, {@code writes DIRECTORY} or {@code wait}. */
    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("wait")) {
            while (System.in.read() >= 0) {
                continue;
            }
            return;
        }
        Probes probes = new Probes(Path.of(arguments[1]));
        if (arguments[0].equals("names")) {
            probes.files();
            probes.paths();
            probes.attributes();
            probes.handles();
            probes.processes(Long.parseLong(arguments[2]));
            probes.network();
            probes.nativeCode();
            probes.run();
        } else {
            probes.writes();
        }
    }

    private void probe(Body body, String... forRows) {
        rows.add(forRows);
        bodies.add(body);
    }

    private void run() {
        for (int i = 0; i < bodies.size(); i++) {
            try {
                bodies.get(i).run();
                report(traced, rows.get(i), null);
            } catch (Throwable thrown) {
                report(traced, rows.get(i), thrown);
            }
        }
        System.out.println("end");
    }

    /** {@code thrown} is null if nothing was. */
    private static void report(boolean traced, String[] forRows, Throwable thrown) {
        Throwable violation = thrown;
        while (violation != null && !violation.getClass().getName().equals(ERROR)) {
            violation = violation.getCause();
        }
        String stopped = violation == null ? null : stoppedIn(violation.getStackTrace());
        for (String row : forRows) {
            String name = row.substring(row.startsWith("~") || row.startsWith("?") ? 1 : 0);
            int end = name.indexOf('(') >= 0 ? name.indexOf('(') : name.indexOf('@') >= 0 ? name.indexOf('@') : name.length();
            String method = name.substring(0, end).replace('/', '.');
            String outcome;
            if (violation == null) {
                outcome = "was not denied: " + String.valueOf(thrown).replace('\n', ' ').replace('\t', ' ');
            } else if (row.startsWith("~") || !traced || method.equals(stopped)) {
                outcome = "denied";
            } else if (row.startsWith("?")) {
                continue;
            } else {
                outcome = "was not reached: denied " + (stopped == null ? "without a stack" : "in " + stopped);
            }
            System.out.println(name + "\t" + outcome);
        }
    }

    /** The method that called the bridge; null if none did. */
    private static String stoppedIn(StackTraceElement[] frames) {
        for (int i = 0; i + 1 < frames.length; i++) {
            if (frames[i].getClassName().equals(BRIDGE) && !frames[i + 1].getClassName().equals(BRIDGE)) {
                return frames[i + 1].getClassName() + "." + frames[i + 1].getMethodName();
            }
        }
        return null;
    }

    /** A name below a plain file, where nothing can be; another each time, because klock traces only the first denials of each. */
    private Path nowhere() {
        return directory.resolve("plain").resolve("nowhere" + names++);
    }

    private File no() {
        return nowhere().toFile();
    }

    private void files() {
        probe(() -> new FileInputStream(no()), "java/io/FileInputStream.open");
        probe(() -> new FileOutputStream(no()), "java/io/FileOutputStream.open");
        probe(() -> new RandomAccessFile(no(), "r"), "java/io/RandomAccessFile.open");
        probe(() -> no().getCanonicalPath(), "java/io/UnixFileSystem.canonicalize");
        probe(() -> no().exists(), "java/io/UnixFileSystem.hasBooleanAttributes");
        probe(() -> File.createTempFile("probe", null, no()), "java/io/UnixFileSystem.getNameMax");
        probe(() -> File.createTempFile("probe", null, directory.resolve("read").toFile()),
                "java/io/File.createTempFile@createFileExclusively");
        probe(() -> no().delete(), "java/io/UnixFileSystem.delete");
        probe(() -> no().renameTo(no()), "java/io/UnixFileSystem.rename");
        probe(() -> no().canExecute(), "java/io/File.canExecute", "java/io/UnixFileSystem.checkAccess");
        probe(() -> no().canRead(), "java/io/File.canRead");
        probe(() -> no().canWrite(), "java/io/File.canWrite");
        probe(() -> no().lastModified(), "java/io/File.lastModified", "java/io/UnixFileSystem.getLastModifiedTime");
        probe(() -> no().length(), "java/io/File.length", "java/io/UnixFileSystem.getLength");
        probe(() -> no().getFreeSpace(), "java/io/File.getFreeSpace", "java/io/UnixFileSystem.getSpace");
        probe(() -> no().getTotalSpace(), "java/io/File.getTotalSpace");
        probe(() -> no().getUsableSpace(), "java/io/File.getUsableSpace");
        probe(() -> no().mkdir(), "java/io/File.mkdir", "java/io/UnixFileSystem.createDirectory");
        probe(() -> no().createNewFile(), "java/io/File.createNewFile", "java/io/UnixFileSystem.createFileExclusively");
        probe(() -> no().list(), "java/io/File.normalizedList", "java/io/UnixFileSystem.list");
        probe(() -> no().setExecutable(true), "java/io/File.setExecutable", "java/io/UnixFileSystem.setPermission");
        probe(() -> no().setReadable(true), "java/io/File.setReadable");
        probe(() -> no().setWritable(true), "java/io/File.setWritable");
        probe(() -> no().setLastModified(0), "java/io/File.setLastModified", "java/io/UnixFileSystem.setLastModifiedTime");
        probe(() -> no().setReadOnly(), "java/io/File.setReadOnly", "java/io/UnixFileSystem.setReadOnly");
    }

    private void paths() {
        String dispatcher = "sun/nio/fs/UnixNativeDispatcher.";
        probe(() -> Files.newInputStream(nowhere()), dispatcher + "open");
        probe(() -> Files.createLink(nowhere(), file), dispatcher + "link");
        probe(() -> Files.createSymbolicLink(nowhere(), Path.of("x")), dispatcher + "symlink");
        probe(() -> Files.delete(directory.resolve("read/spare")), dispatcher + "unlink");
        probe(() -> Files.delete(directory.resolve("read/empty")), dispatcher + "rmdir");
        probe(() -> Files.createDirectory(nowhere()), dispatcher + "mkdir");
        probe(() -> Files.readSymbolicLink(nowhere()), dispatcher + "readlink");
        probe(() -> nowhere().toRealPath(), dispatcher + "realpath");
        probe(() -> Files.size(nowhere()), dispatcher + "stat(Lsun/nio/fs/UnixPath;Lsun/nio/fs/UnixFileAttributes;)V");
        probe(() -> Files.isDirectory(nowhere()), dispatcher + "stat(Lsun/nio/fs/UnixPath;)I", dispatcher + "stat2");
        probe(() -> Files.isSymbolicLink(nowhere()), dispatcher + "lstat");
        probe(() -> Files.isReadable(nowhere()), dispatcher + "access");
        probe(() -> Files.exists(nowhere()), dispatcher + "exists");
        probe(() -> {
            try (WatchService service = FileSystems.getDefault().newWatchService()) {
                nowhere().register(service, StandardWatchEventKinds.ENTRY_CREATE);
            }
        }, "sun/nio/fs/AbstractPoller.register");
        // the frames around a copy and a move decide before any of their steps
        String copy17 = "~sun/nio/fs/UnixCopyFile.";
        probe(() -> Files.copy(file, nowhere()), copy17 + "copyFile@transfer", copy17 + "copyFile@fchmod", copy17 + "copyFile@fchown",
                copy17 + "copyFile@futimes", copy17 + "copyDirectory@fchmod", copy17 + "copyDirectory@fchown",
                copy17 + "copyDirectory@futimes", "~sun/nio/fs/LinuxFileSystem.directCopy", "~sun/nio/fs/UnixFileSystem.bufferedCopy",
                "~" + dispatcher + "write", copy17 + "copy", "~sun/nio/fs/UnixFileSystem.copy");
        probe(() -> Files.move(file, nowhere()), "~" + dispatcher + "rename", "~" + dispatcher + "mknod", "~" + dispatcher + "opendir",
                copy17 + "move", "~sun/nio/fs/UnixFileSystem.move");
    }

    private void attributes() {
        String dispatcher = "sun/nio/fs/UnixNativeDispatcher.";
        probe(() -> Files.setPosixFilePermissions(nowhere(), PosixFilePermissions.fromString("rw-------")), dispatcher + "chmod");
        probe(() -> Files.setOwner(nowhere(), self()), dispatcher + "chown");
        probe(() -> Files.getFileAttributeView(nowhere(), PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS).setOwner(self()),
                dispatcher + "lchown");
        probe(() -> Files.getFileAttributeView(file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .setPermissions(PosixFilePermissions.fromString("rw-------")), "sun/nio/fs/UnixFileAttributeViews$Posix.setMode@fchmod",
                dispatcher + "fchmod");
        probe(() -> Files.setLastModifiedTime(file, THEN), "sun/nio/fs/UnixFileAttributeViews$Basic.setTimes@futimens",
                dispatcher + "futimens");
        probe(() -> Files.setLastModifiedTime(directory.resolve("read/socket"), THEN), dispatcher + "utimes", dispatcher + "utimensat");
        probe(() -> Files.getFileAttributeView(directory.resolve("read/link"), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .setTimes(THEN, THEN, null), dispatcher + "lutimes");
        probe(() -> Files.getFileAttributeView(file, UserDefinedFileAttributeView.class).write("new", ByteBuffer.wrap(TEXT)),
                dispatcher + "fsetxattr");
        probe(() -> Files.getFileAttributeView(file, UserDefinedFileAttributeView.class).delete("new"), dispatcher + "fremovexattr");
    }

    private UserPrincipal self() throws IOException {
        return Files.getOwner(file);
    }

    private void handle(Handle handle, String... forRows) {
        probe(() -> {
            try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory.resolve("read"))) {
                handle.use((SecureDirectoryStream<Path>) stream);
            }
        }, forRows);
    }

    private void handles() {
        String dispatcher = "sun/nio/fs/UnixNativeDispatcher.";
        Path name = Path.of("file");
        handle(stream -> stream.newByteChannel(name, Set.of(StandardOpenOption.WRITE)).close(), dispatcher + "openat");
        handle(stream -> stream.move(name, stream, Path.of("moved")), dispatcher + "renameat");
        handle(stream -> stream.deleteFile(Path.of("spare")), dispatcher + "unlinkat");
        handle(stream -> stream.getFileAttributeView(Path.of("../plain"), BasicFileAttributeView.class).readAttributes(),
                dispatcher + "fstatat");
        handle(stream -> stream.getFileAttributeView(name, PosixFileAttributeView.class)
                .setPermissions(PosixFilePermissions.fromString("rw-------")),
                "sun/nio/fs/UnixSecureDirectoryStream$PosixFileAttributeViewImpl.setPermissions@fchmod", dispatcher + "fchmodat");
        handle(stream -> stream.getFileAttributeView(name, PosixFileAttributeView.class).setOwner(self()),
                "sun/nio/fs/UnixSecureDirectoryStream$PosixFileAttributeViewImpl.setOwners@fchown", dispatcher + "fchown");
        handle(stream -> stream.getFileAttributeView(name, BasicFileAttributeView.class).setTimes(THEN, THEN, null),
                "sun/nio/fs/UnixSecureDirectoryStream$BasicFileAttributeViewImpl.setTimes@futimes");
    }

    private void processes(long stranger) {
        probe(() -> new ProcessBuilder(directory.resolve("plain").toString()).start(), "java/lang/ProcessImpl.<init>");
        probe(() -> ProcessHandle.of(stranger).orElseThrow().destroy(), "java/lang/ProcessHandleImpl.destroyProcess");
        probe(() -> ProcessHandle.of(stranger).orElseThrow().info(), "java/lang/ProcessHandleImpl$Info.info");
    }

    /** An address that no host may have (RFC 5737). */
    private static InetAddress nobody() throws IOException {
        return InetAddress.getByAddress(new byte[] {(byte) 192, 0, 2, 1});
    }

    private static InetAddress here() {
        return InetAddress.getLoopbackAddress();
    }

    private void network() {
        probe(() -> SocketChannel.open(new InetSocketAddress(here(), 1)).close(), "sun/nio/ch/Net.connect");
        probe(() -> {
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                server.bind(new InetSocketAddress(nobody(), 1));
            }
        }, "sun/nio/ch/Net.bind");
        probe(() -> new ServerSocket(0, 1, here()).close(), "sun/nio/ch/NioSocketImpl.listen@listen");
        probe(() -> {
            try (ServerSocketChannel server = ServerSocketChannel.open()) {
                server.bind(new InetSocketAddress(here(), 0));
            }
        }, "sun/nio/ch/ServerSocketChannelImpl.netBind@listen");
        probe(() -> {
            try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open()) {
                server.bind(new InetSocketAddress(here(), 0));
            }
        }, "sun/nio/ch/AsynchronousServerSocketChannelImpl.bind@listen");
        probe(() -> {
            try (DatagramChannel channel = DatagramChannel.open()) {
                channel.send(ByteBuffer.wrap(TEXT), new InetSocketAddress(here(), 1));
            }
        }, "sun/nio/ch/DatagramChannelImpl.sendFromNativeBuffer");
        probe(() -> {
            try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                server.bind(UnixDomainSocketAddress.of(nowhere()));
            }
        }, "sun/nio/ch/UnixDomainSockets.bind");
        probe(() -> SocketChannel.open(UnixDomainSocketAddress.of(nowhere())).close(), "sun/nio/ch/UnixDomainSockets.connect");
        probe(() -> InetAddress.getByName("klock-doctor.invalid"), "java/net/InetAddress$PlatformNameService.lookupAllHostAddr",
                "?java/net/Inet6AddressImpl.lookupAllHostAddr", "?java/net/Inet4AddressImpl.lookupAllHostAddr");
        probe(() -> nobody().getHostName(), "java/net/InetAddress$PlatformNameService.getHostByAddr",
                "java/net/InetAddress$PlatformResolver.lookupByAddress");
        probe(() -> nobody().isReachable(1), "?java/net/Inet6AddressImpl.isReachable",
                "?java/net/Inet4AddressImpl.isReachable");
    }

    private void nativeCode() {
        // no library: the loader would say so
        probe(() -> System.load(file.toString()), "jdk/internal/loader/NativeLibraries$NativeLibraryImpl.open");
        probe(() -> {
            Class<?> arena = Class.forName("java.lang.foreign.Arena");
            call(Class.forName("java.lang.foreign.SymbolLookup").getMethod("libraryLookup", Path.class, arena), file,
                    arena.getMethod("global").invoke(null));
        }, "jdk/internal/loader/RawNativeLibraries$RawNativeLibraryImpl.open");
        probe(() -> ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(nowhere() + ".hprof", true),
                "com/sun/management/internal/HotSpotDiagnostic.dumpHeap");
        probe(() -> ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).setVMOption("HeapDumpPath", nowhere().toString()),
                "com/sun/management/internal/HotSpotDiagnostic.setVMOption");
        probe(() -> ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
                "vmLog", new Object[] {new String[] {"output=" + nowhere()}}, new String[] {String[].class.getName()}),
                "com/sun/management/internal/DiagnosticCommandImpl$Wrapper.execute@executeDiagnosticCommand");
    }

    private static void call(Method method, Object... arguments) throws Exception {
        try {
            method.invoke(null, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error) {
                throw (Error) e.getCause();
            }
            throw e;
        }
    }

    /**
     * Writers that were open before the session ended: the session strays here on purpose, in strict mode, and what it has open must be of
     * no() more use to it until the JVM halts.
     */
    private void writes() throws Exception {
        Path many = directory.resolve("write/many");
        for (int i = 0; i < Integer.getInteger("probe.many"); i++) {
            // gives the rollback something to do while the writers try
            Files.writeString(many.resolve("f" + i), "changed");
        }
        traced = false;
        Path target = directory.resolve("write/file");
        FileOutputStream stream = new FileOutputStream(target.toFile(), true);
        probe(() -> stream.write('x'), "java/io/FileOutputStream.write(I)V");
        probe(() -> stream.write(TEXT), "java/io/FileOutputStream.write([B)V");
        probe(() -> stream.write(TEXT, 1, 2), "java/io/FileOutputStream.write([BII)V");
        RandomAccessFile random = new RandomAccessFile(target.toFile(), "rw");
        probe(() -> random.write('x'), "java/io/RandomAccessFile.write(I)V", "java/io/RandomAccessFile.implWrite");
        probe(() -> random.write(TEXT), "java/io/RandomAccessFile.write([B)V", "java/io/RandomAccessFile.implWriteBytes");
        probe(() -> random.write(TEXT, 1, 2), "java/io/RandomAccessFile.write([BII)V");
        probe(() -> random.writeBytes("late"), "java/io/RandomAccessFile.writeBytes");
        probe(() -> random.writeChars("late"), "java/io/RandomAccessFile.writeChars");
        if (Runtime.version().feature() > 17) {
            // a public native on 17
            probe(() -> random.setLength(1), "java/io/RandomAccessFile.setLength");
        }
        FileChannel channel = FileChannel.open(target, StandardOpenOption.READ, StandardOpenOption.WRITE);
        FileChannel from = FileChannel.open(target);
        for (String dispatcher : new String[] {"sun/nio/ch/FileDispatcherImpl.", "sun/nio/ch/UnixFileDispatcherImpl."}) {
            probe(() -> channel.write(ByteBuffer.wrap(TEXT)), dispatcher + "write");
            probe(() -> channel.write(ByteBuffer.wrap(TEXT), 1), dispatcher + "pwrite");
            probe(() -> channel.write(new ByteBuffer[] {ByteBuffer.wrap(TEXT), ByteBuffer.wrap(TEXT)}), dispatcher + "writev");
            probe(() -> channel.truncate(1), dispatcher + "truncate");
        }
        probe(() -> channel.map(FileChannel.MapMode.READ_WRITE, 0, 4), "sun/nio/ch/FileChannelImpl.mapInternal",
                "sun/nio/ch/UnixFileDispatcherImpl.map");
        probe(() -> from.transferTo(0, 4, channel), "sun/nio/ch/FileChannelImpl.transferToDirectlyInternal",
                "sun/nio/ch/FileDispatcherImpl.transferTo");
        probe(() -> channel.transferFrom(from.position(0), 0, 4), "sun/nio/ch/FileDispatcherImpl.transferFrom");
        try {
            Files.writeString(nowhere(), "stray");
        } catch (Throwable swallowed) {
            run();
        }
        Thread.sleep(60_000);
    }
}
