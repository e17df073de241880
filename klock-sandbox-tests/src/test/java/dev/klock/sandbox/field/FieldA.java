package dev.klock.sandbox.field;

import java.awt.image.BufferedImage;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.FileWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousFileChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.EnumSet;
import java.util.Formatter;
import java.util.Scanner;
import java.util.Set;
import java.util.jar.JarFile;
import java.util.logging.FileHandler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.prefs.Preferences;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import org.xml.sax.InputSource;

/** A: the file APIs. */
final class FieldA {
    private static final int FILES = 1000;
    private static final int APPENDS = 10_000;
    private static final String IN_MEMORY = " FILE:/dev/shm/klock-field-.*";

    private FieldA() {
    }

    static void cases(Cases c) {
        c.of("A01", "C", "legacy stream constructors")
                .blocks("FileOutputStream(String)", w -> new FileOutputStream(w.name("x")).close(), "MUTATES FILE:W/x").always()
                .blocks("FileOutputStream(String, true)", w -> new FileOutputStream(w.name("x"), true).close(), "MUTATES FILE:W/x")
                .blocks("FileOutputStream(File)", w -> new FileOutputStream(w.file("new")).close(), "PROVIDES FILE:W/new")
                .blocks("FileOutputStream(File, true)", w -> new FileOutputStream(w.file("new"), true).close(), "PROVIDES FILE:W/new")
                .allows("inside the scope", w -> new FileOutputStream(w.file("out/new"), true).close());
        c.of("A02", "C", "writers, printers, scanners on a name")
                .blocks("PrintWriter", w -> new PrintWriter(w.name("x")).close(), "MUTATES FILE:W/x")
                .blocks("Formatter", w -> new Formatter(w.name("x")).close(), "MUTATES FILE:W/x")
                .blocks("PrintStream", w -> new PrintStream(w.name("new")).close(), "PROVIDES FILE:W/new")
                .blocks("FileWriter", w -> new FileWriter(w.file("x"), true).close(), "MUTATES FILE:W/x")
                .blocks("Scanner", w -> w.say(new Scanner(w.file("private/p")).nextLine()), "CONSUMES FILE:W/private/p")
                .allows("inside the scope", w -> {
                    new PrintWriter(w.name("out/a")).close();
                    w.say(new Scanner(w.file("in/a")).nextLine());
                });
        c.of("A03", "H", "RandomAccessFile: rw counts as a change though nothing is written")
                .blocks("rw of what may be read", w -> new RandomAccessFile(w.name("in/a"), "rw").close(), "MUTATES FILE:W/in/a")
                .blocks("rw of what is not there", w -> new RandomAccessFile(w.name("in/new"), "rw").close(), "PROVIDES FILE:W/in/new")
                .allows("r", w -> new RandomAccessFile(w.name("in/a"), "r").close());
        c.of("A04", "C", "open options given as a set")
                .blocks("Files.newByteChannel", w -> Files.newByteChannel(w.path("new"), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE)).close(),
                        "PROVIDES FILE:W/new")
                .blocks("FileChannel.open", w -> FileChannel.open(w.path("x"), EnumSet.of(StandardOpenOption.WRITE)).close(), "MUTATES FILE:W/x")
                .allows("inside the scope", w -> FileChannel.open(w.path("out/new"), Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE)).close());
        c.of("A05", "H", "reads by channel, stream of lines, directory stream")
                .blocks("Files.lines", w -> lines(w, w.path("private/p")), "CONSUMES FILE:W/private/p")
                .blocks("Files.newByteChannel", w -> Files.newByteChannel(w.path("private/p")).close(), "CONSUMES FILE:W/private/p")
                .blocks("Files.newDirectoryStream", w -> list(w, w.path("private")), "CONSUMES FILE:W/private")
                .allows("inside the scope", w -> {
                    lines(w, w.path("in/a"));
                    list(w, w.path("in/sub"));
                });
        c.of("A06", "H", "asynchronous channels, stopped at the open on the calling thread")
                .blocks("to create", w -> AsynchronousFileChannel.open(w.path("new"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)
                        .write(ByteBuffer.wrap(new byte[1]), 0).get(), "PROVIDES FILE:W/new")
                .blocks("to write", w -> AsynchronousFileChannel.open(w.path("x"), StandardOpenOption.WRITE).close(), "MUTATES FILE:W/x")
                .allows("inside the scope", w -> w.say(AsynchronousFileChannel.open(w.path("out/a"), StandardOpenOption.WRITE)
                        .write(ByteBuffer.wrap(new byte[1]), 0).get()));
        c.of("A07", "C", "the file system provider called directly")
                .blocks("newOutputStream", w -> w.path("x").getFileSystem().provider().newOutputStream(w.path("x")).close(), "MUTATES FILE:W/x")
                .blocks("delete", w -> w.path("x").getFileSystem().provider().delete(w.path("x")), "DELETES FILE:W/x").looking()
                .allows("inside the scope", w -> w.path("x").getFileSystem().provider().newOutputStream(w.path("out/a")).close());
        c.of("A08", "C", "copies: source and target are judged")
                .blocks("from outside", w -> Files.copy(w.path("private/p"), w.path("out/c")), "CONSUMES FILE:W/private/p")
                .blocks("to outside", w -> Files.copy(w.path("in/a"), w.path("new")), "PROVIDES FILE:W/new")
                .blocks("over what is outside", w -> Files.copy(w.path("in/a"), w.path("x"), StandardCopyOption.REPLACE_EXISTING), "MUTATES FILE:W/x")
                .allows("inside the scope", w -> Files.copy(w.path("in/a"), w.path("out/a"), StandardCopyOption.REPLACE_EXISTING));
        c.of("A10", "H", "File.renameTo: the error, not a false")
                .blocks("to what may be read", w -> w.say(w.file("out/a").renameTo(w.file("in/a"))), "RENAMES FILE:W/out/a")
                .blocks("to outside", w -> w.say(w.file("out/a").renameTo(w.file("new"))), "PROVIDES FILE:W/new").declaring("RENAMES FILE:W/out/*")
                .allows("inside the scope", w -> w.say(w.file("out/a").renameTo(w.file("out/c")))).declaring("RENAMES FILE:W/out/*");
        c.of("A11", "H", "a move across file systems is one decision, not a copy and a delete")
                .blocks("source not to be renamed", FieldA::moveToMemory, "RENAMES FILE:W/out/a").andPermissive(".*" + IN_MEMORY)
                .blocks("target outside", FieldA::moveToMemory, "PROVIDES" + IN_MEMORY).andPermissive(".*" + IN_MEMORY).declaring("RENAMES FILE:W/out/*");
        c.of("A13", "H", "deleteOnExit: after the JVM's end the file is still there")
                .blocks("of what is outside", w -> w.file("private/p").deleteOnExit(), "DELETES FILE:W/private/p").swallowed().withoutFrame().always()
                .allows("of what it made", w -> {
                    Files.createFile(w.path("out/mine"));
                    w.file("out/mine").deleteOnExit();
                });
        c.of("A15", "C", "a hard link as another name for what is outside")
                .blocks("createLink", w -> {
                    Files.createLink(w.path("out/l"), w.path("private/p"));
                    Files.writeString(w.path("out/l"), "changed");
                }, "(MUTATES|CONSUMES) FILE:W/private/p")
                .allows("inside the scope", w -> Files.createLink(w.path("out/l"), w.path("out/a")))
                .allows("one that cannot be, a file in its place, and that removed", FieldA::linkOrMake)
                .declaring("MUTATES FILE:W/out/*", "MUTATES FILE:W/in/sub");
        c.of("A16", "C", "a symbolic link, and a write through it")
                .blocks("made, its target seen from its own directory", w -> {
                    Files.createSymbolicLink(w.path("out/l"), Path.of("../private/p"));
                    Files.writeString(w.path("out/l"), "changed");
                }, "MUTATES FILE:W/private/p").changesOut()
                .blocks("found", w -> Files.writeString(w.path("out/l"), "changed"), "MUTATES FILE:W/private/p")
                .given(w -> Files.createSymbolicLink(w.path("out/l"), Path.of("../private/p")))
                .allows("inside the scope", w -> {
                    Files.createSymbolicLink(w.path("out/l"), Path.of("a"));
                    Files.writeString(w.path("out/l"), "changed");
                });
        c.of("A17", "H", "mode and owner, by every view and attribute name")
                .blocks("unix:mode", w -> Files.setAttribute(w.path("in/a"), "unix:mode", 0777), "MUTATES FILE:W/in/a")
                .blocks("PosixFileAttributeView", w -> Files.getFileAttributeView(w.path("in/a"), PosixFileAttributeView.class)
                        .setPermissions(PosixFilePermissions.fromString("rwxrwxrwx")), "MUTATES FILE:W/in/a")
                .blocks("File.setWritable", w -> w.say(w.file("in/a").setWritable(true, false)), "MUTATES FILE:W/in/a")
                .blocks("Files.setOwner", w -> Files.setOwner(w.path("in/a"), Files.getOwner(w.path("in/a"))), "MUTATES FILE:W/in/a")
                .allows("inside the scope", w -> Files.setAttribute(w.path("out/a"), "unix:mode", 0600));
        c.of("A18", "M", "times, with the right to read only")
                .blocks("Files.setLastModifiedTime", w -> Files.setLastModifiedTime(w.path("in/a"), FileTime.fromMillis(0)), "MUTATES FILE:W/in/a")
                .blocks("File.setLastModified", w -> w.say(w.file("in/a").setLastModified(0)), "MUTATES FILE:W/in/a")
                .allows("inside the scope", w -> w.say(w.file("out/a").setLastModified(0)));
        c.of("A19", "M", "extended attributes")
                .blocks("write", w -> Files.getFileAttributeView(w.path("in/a"), UserDefinedFileAttributeView.class).write("k", ByteBuffer.wrap(new byte[1])),
                        "MUTATES FILE:W/in/a")
                .blocks("setAttribute", w -> Files.setAttribute(w.path("in/a"), "user:k", ByteBuffer.wrap(new byte[1])), "MUTATES FILE:W/in/a")
                .allows("inside the scope", w -> Files.setAttribute(w.path("out/a"), "user:k", ByteBuffer.wrap(new byte[1])));
        c.of("A20", "M", "whether and what it is: one rule for all that look")
                .blocks("Path.toRealPath", w -> w.say(w.path("private/p").toRealPath()), "DEPENDS_ON FILE:W/private/p")
                .blocks("File.exists", w -> w.say(w.file("private/p").exists()), "DEPENDS_ON FILE:W/private/p")
                .blocks("File.length", w -> w.say(w.file("private/p").length()), "DEPENDS_ON FILE:W/private/p")
                .blocks("File.canRead", w -> w.say(w.file("private/p").canRead()), "DEPENDS_ON FILE:W/private/p")
                .blocks("File.getCanonicalPath", w -> w.say(w.file("private/p").getCanonicalPath()), "DEPENDS_ON FILE:W/private/p")
                .blocks("Files.exists", w -> w.say(Files.exists(w.path("private/p"))), "DEPENDS_ON FILE:W/private/p")
                .blocks("Files.size", w -> w.say(Files.size(w.path("private/p"))), "DEPENDS_ON FILE:W/private/p")
                .blocks("Files.isReadable", w -> w.say(Files.isReadable(w.path("private/p"))), "DEPENDS_ON FILE:W/private/p")
                .blocks("Files.isSameFile", w -> w.say(Files.isSameFile(w.path("in/a"), w.path("private/p"))), "DEPENDS_ON FILE:W/private/p")
                .allows("inside the scope", w -> w.say(w.file("in/a").exists() + " " + w.file("in/a").length() + " "
                        + Files.isSameFile(w.path("in/a"), w.path("out/a"))));
        c.of("A21", "M", "listings: one rule for all")
                .blocks("File.list", w -> w.say(w.file("private").list().length), "CONSUMES FILE:W/private")
                .blocks("Files.walk", w -> walk(w, w.path("private")), "CONSUMES FILE:W/private").looking()
                .blocks("Files.find", w -> {
                    try (Stream<Path> found = Files.find(w.path("private"), 2, (path, attributes) -> true)) {
                        w.say(found.count());
                    }
                }, "CONSUMES FILE:W/private").looking()
                .blocks("newDirectoryStream", w -> list(w, w.path("private")), "CONSUMES FILE:W/private")
                .allows("inside the scope", w -> walk(w, w.path("in")));
        c.of("A22", "M", "watching instead of reading")
                .blocks("register", w -> watch(w.path("private")), "CONSUMES FILE:W/private")
                .allows("inside the scope", w -> watch(w.path("in")));
        c.of("A23", "H", "what makes files and directories, stopped before")
                .blocks("mkdirs", w -> w.say(w.file("new/a/b").mkdirs()), "PROVIDES FILE:W/new.*").looking()
                .blocks("mkdirs, with the last one declared", w -> w.say(w.file("new/a/b").mkdirs()), "PROVIDES FILE:W/new(/a)?")
                .declaring("PROVIDES FILE:W/new/a/b").looking()
                .blocks("Files.createDirectories", w -> Files.createDirectories(w.path("new/a/b")), "PROVIDES FILE:W/new.*").looking()
                .blocks("createTempFile", w -> w.say(File.createTempFile("abc", null, w.path().toFile()).delete()), "PROVIDES FILE:W/abc.*").looking()
                .blocks("createNewFile", w -> w.say(w.file("new").createNewFile()), "PROVIDES FILE:W/new")
                .allows("inside the scope", w -> w.say(w.file("out/new").createNewFile() + " " + w.file("out/dir").mkdirs()
                        + " " + File.createTempFile("abc", null, w.file("out")).delete()));
        c.of("A24", "H", "jar and zip readers")
                .blocks("JarFile", w -> new JarFile(w.name("private/p.jar")).close(), "CONSUMES FILE:W/private/p.jar").looking()
                .given(w -> zip(w.path("private/p.jar")))
                .blocks("jar: URL", w -> url(w, "jar:file:" + w.name("private/p.jar") + "!/a"), "CONSUMES FILE:W/private/p.jar").looking()
                .given(w -> zip(w.path("private/p.jar")))
                .allows("inside the scope", w -> url(w, "jar:file:" + w.name("in/p.jar") + "!/a")).given(w -> zip(w.path("in/p.jar")));
        c.of("A25", "H", "file: URLs, judged by the decoded and resolved path")
                .blocks("openStream", w -> url(w, "file://" + w.name("private/p")), "CONSUMES FILE:W/private/p").looking()
                .blocks("getContentLength", w -> w.say(new URL("file:" + w.name("private/p")).openConnection().getContentLength()),
                        "(CONSUMES|DEPENDS_ON) FILE:W/private/p")
                .blocks("escaped", w -> url(w, "file:" + w.name("in/%2e%2e/private/p")), "CONSUMES FILE:W/private/p").looking()
                .allows("inside the scope", w -> {
                    url(w, "file:" + w.name("private/%2e%2e/in/a?query"));
                    url(w, "file:" + w.name("in/%61"));
                });
        c.of("A26", "H", "class loaders as readers")
                .blocks("URLClassLoader", w -> {
                    try (URLClassLoader loader = URLClassLoader.newInstance(new URL[] {new URL("file:" + w.name("private/"))})) {
                        w.say(new String(loader.getResourceAsStream("p").readAllBytes()));
                    }
                }, "CONSUMES FILE:W/private/p").looking()
                .allows("the program's own class path", w -> {
                    try (InputStream in = FieldA.class.getResourceAsStream("FieldA.class")) {
                        w.say(in.readAllBytes().length);
                    }
                });
        c.of("A27", "H", "ImageIO.write deletes and makes anew")
                .allows("over a picture", w -> w.say(picture(w.file("out/a")) + " " + picture(w.file("out/new"))))
                .blocks("and then astray: what was there comes back", w -> {
                    picture(w.file("out/a"));
                    Files.readString(w.path("private/p"));
                }, "CONSUMES FILE:W/private/p").changesOut().always();
        c.of("A28", "M", "FileHandler makes a lock file beside the log")
                .allows("both inside the scope", w -> log(w.name("out/app.log")))
                .blocks("only the log declared", w -> log(w.name("solo/app.log")), "PROVIDES FILE:W/solo/app.log.lck")
                .given(w -> Files.createDirectory(w.path("solo"))).declaring("PROVIDES FILE:W/solo/app.log", "MUTATES FILE:W/solo/app.log");
        c.of("A29", "M", "preferences are written below the home directory")
                .blocks("flush", w -> {
                    System.setProperty("java.util.prefs.userRoot", w.name("home"));
                    Logger.getLogger("java.util.prefs").setLevel(Level.OFF);
                    Preferences node = Preferences.userRoot().node("k");
                    node.put("a", "b");
                    node.flush();
                }, "PROVIDES FILE:W/home/.java.*").looking().given(w -> Files.createDirectory(w.path("home"))).in("preferences");
        c.of("A30", "H", "an XML entity reads a file")
                .blocks("parse", w -> w.say(entity(w.name("private/p"))), "CONSUMES FILE:W/private/p").looking()
                .allows("inside the scope", w -> w.say(entity(w.name("in/a"))));
        c.of("A32", "C", "an open that empties the file")
                .blocks("FileChannel", w -> FileChannel.open(w.path("in/a"), StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING).close(),
                        "MUTATES FILE:W/in/a")
                .blocks("FileOutputStream", w -> new FileOutputStream(w.file("in/a")).close(), "MUTATES FILE:W/in/a")
                .blocks("inside, and then astray: the bytes come back", w -> {
                    new FileOutputStream(w.file("out/a")).close();
                    Files.readString(w.path("private/p"));
                }, "CONSUMES FILE:W/private/p").changesOut().always();
        c.of("A33", "L", "bytes that go from file to file in the kernel")
                .blocks("FileChannel.transferTo", w -> transfer(w.path("in/a"), w.path("x")), "MUTATES FILE:W/x")
                .blocks("InputStream.transferTo", w -> {
                    try (InputStream in = new FileInputStream(w.file("private/p")); OutputStream out = new FileOutputStream(w.file("out/a"))) {
                        w.say(in.transferTo(out));
                    }
                }, "CONSUMES FILE:W/private/p")
                .allows("inside the scope", w -> transfer(w.path("in/a"), w.path("out/a")));
        c.of("A34", "H", "streams on a descriptor")
                .blocks("of a file outside", w -> writeByDescriptor(w.name("x")), "MUTATES FILE:W/x")
                .allows("of a file inside the scope", w -> writeByDescriptor(w.name("out/a")))
                .provenBy("KnownLimitsTest.klockItself_switchedOffThroughUnsafe_isNotSeen").as("blocked, allowed; a forged descriptor takes Unsafe, a stated limit");
        c.of("A35", "M", "a log with many small appends")
                .allows("appends", w -> {
                    for (int i = 0; i < APPENDS; i++) {
                        Files.writeString(w.path("out/a"), "line\n", StandardOpenOption.APPEND);
                    }
                });
        c.of("A36", "H", "a tree deleted, and put back")
                .allows("deleted", w -> deleteBelow(w.path("out/tree"))).declaring("DELETES FILE:W/out/**", "CONSUMES FILE:W/out/**")
                .given(w -> tree(w.path("out/tree")))
                .blocks("deleted, and then astray", w -> {
                    deleteBelow(w.path("out/tree"));
                    Files.readString(w.path("private/p"));
                }, "CONSUMES FILE:W/private/p").declaring("DELETES FILE:W/out/**", "CONSUMES FILE:W/out/**").given(w -> tree(w.path("out/tree")))
                .changesOut().always();
    }

    private static void linkOrMake(Site w) throws IOException {
        try {
            Files.createLink(w.path("out/c"), w.path("in/sub"));
        } catch (FileSystemException aDirectory) {
            Files.writeString(w.path("out/c"), "c");
        }
        Files.delete(w.path("out/c"));
    }

    private static void lines(Site w, Path file) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            w.say(lines.count());
        }
    }

    private static void list(Site w, Path directory) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                w.say(entry.getFileName());
            }
        }
    }

    private static void walk(Site w, Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            w.say(all.map(Path::toString).sorted().toList());
        }
    }

    private static void watch(Path directory) throws IOException {
        try (WatchService watches = directory.getFileSystem().newWatchService()) {
            directory.register(watches, StandardWatchEventKinds.ENTRY_MODIFY);
        }
    }

    private static void moveToMemory(Site w) throws IOException {
        Path target = Path.of("/dev/shm/klock-field-" + ProcessHandle.current().pid());
        Files.move(w.path("out/a"), target);
        w.say(Files.readString(target));
        Files.delete(target);
    }

    static void zip(Path file) throws IOException {
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(file))) {
            ZipEntry entry = new ZipEntry("a");
            entry.setTime(1_000_000_000_000L);
            out.putNextEntry(entry);
            out.write(1);
        }
    }

    private static void url(Site w, String url) throws IOException {
        URLConnection connection = new URL(url).openConnection();
        connection.setUseCaches(false);
        try (InputStream in = connection.getInputStream()) {
            w.say(in.readAllBytes().length);
        }
    }

    private static boolean picture(File file) throws IOException {
        return ImageIO.write(new BufferedImage(2, 2, BufferedImage.TYPE_INT_RGB), "png", file);
    }

    private static void log(String file) throws IOException {
        FileHandler handler = new FileHandler(file);
        handler.setFormatter(new SimpleFormatter() {
            @Override
            public String format(LogRecord record) {
                return record.getMessage();
            }
        });
        handler.publish(new LogRecord(Level.INFO, "logged"));
        handler.close();
    }

    private static String entity(String file) throws Exception {
        String text = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file://" + file + "\">]><a>&x;</a>";
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(text))).getDocumentElement().getTextContent();
    }

    private static void transfer(Path from, Path to) throws IOException {
        try (FileChannel in = FileChannel.open(from); SeekableByteChannel out = Files.newByteChannel(to, StandardOpenOption.WRITE)) {
            in.transferTo(0, in.size(), out);
        }
    }

    private static void writeByDescriptor(String name) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(name, "rw"); FileOutputStream out = new FileOutputStream(file.getFD())) {
            out.write(1);
        }
    }

    private static void tree(Path root) throws IOException {
        for (int i = 0; i < FILES; i++) {
            Path directory = root.resolve("d" + i % 20);
            Files.createDirectories(directory.resolve("empty"));
            Files.writeString(directory.resolve("f" + i), "file " + i);
        }
        Files.setPosixFilePermissions(root.resolve("d1/f1"), PosixFilePermissions.fromString("r-x--x---"));
        Files.setPosixFilePermissions(root.resolve("d2"), PosixFilePermissions.fromString("rwx--x---"));
    }

    private static void deleteBelow(Path root) throws IOException {
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                Files.delete(directory);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
