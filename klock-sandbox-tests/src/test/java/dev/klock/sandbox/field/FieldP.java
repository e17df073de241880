package dev.klock.sandbox.field;

import com.sun.net.httpserver.HttpServer;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.lang.module.ModuleFinder;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.security.DomainLoadStoreParameter;
import java.security.KeyStore;
import java.util.Formatter;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.concurrent.CompletionException;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import java.util.logging.SocketHandler;
import java.util.spi.ToolProvider;
import java.util.zip.ZipFile;
import javax.net.SocketFactory;
import javax.tools.JavaCompiler;

/** Part 6: doors that the longest list of public methods has missed. */
final class FieldP {
    private static final String HERE = "127.0.0.1";
    private static final int NOBODY = 4;
    private static final String CONNECT = "CONSUMES URL:(tcp|http|ws)://" + HERE + ":4.*";

    private FieldP() {
    }

    static void cases(Cases c) {
        c.of("P01", "H", "Runtime.exec").blocks("exec", w -> w.say(Runtime.getRuntime().exec(new String[] {"uname"}).waitFor()), "PROVIDES PROCESS:.*/uname")
                .andPermissive("MUTATES FILE:.*");
        c.of("P02", "C", "constructors with a charset, of a File, of a Path")
                .blocks("PrintStream", w -> new PrintStream(w.file("x"), StandardCharsets.UTF_8).close(), "MUTATES FILE:W/x")
                .blocks("PrintWriter", w -> new PrintWriter(w.file("x"), StandardCharsets.UTF_8).close(), "MUTATES FILE:W/x")
                .blocks("Formatter", w -> new Formatter(w.file("new"), StandardCharsets.UTF_8, null).close(), "PROVIDES FILE:W/new")
                .blocks("Scanner(Path)", w -> new Scanner(w.path("private/p")).close(), "CONSUMES FILE:W/private/p")
                .blocks("Scanner(Path, Charset)", w -> new Scanner(w.path("private/p"), StandardCharsets.UTF_8).close(), "CONSUMES FILE:W/private/p");
        c.of("P03", "M", "File's space, canonical path, roots")
                .blocks("getTotalSpace", w -> w.say(w.file("private/p").getTotalSpace() > 0), "DEPENDS_ON FILE:W/private/p")
                .blocks("getFreeSpace", w -> w.say(w.file("private/p").getFreeSpace() > 0), "DEPENDS_ON FILE:W/private/p")
                .blocks("getUsableSpace", w -> w.say(w.file("private/p").getUsableSpace() > 0), "DEPENDS_ON FILE:W/private/p")
                .blocks("getCanonicalFile", w -> w.say(w.file("private/p").getCanonicalFile()), "DEPENDS_ON FILE:W/private/p")
                .allows("listRoots", w -> w.say(List.of(File.listRoots())));
        c.of("P04", "H", "zip file systems: read, updated, made")
                .blocks("read", w -> zip(w.path("private/p.zip"), Map.of(), false), "CONSUMES FILE:W/private/p.zip").looking().given(w -> FieldA.zip(w.path("private/p.zip")))
                .blocks("updated", w -> zip(w.path("in/p.zip"), Map.of(), true), "(PROVIDES|DELETES|MUTATES) FILE:W/in/.*").looking().given(w -> FieldA.zip(w.path("in/p.zip")))
                .blocks("made", w -> zip(w.path("new.zip"), Map.of("create", "true"), true), "PROVIDES FILE:W/new.zip").looking();
        c.of("P05", "H", "DKS key stores")
                .blocks("load", w -> {
                    KeyStore store = KeyStore.getInstance("DKS");
                    store.load(new DomainLoadStoreParameter(URI.create("file://" + w.name("private/p")), Map.of()));
                }, "CONSUMES FILE:W/private/p").looking();
        c.of("P06", "M", "logging configuration and its socket")
                .blocks("readConfiguration", w -> {
                    System.setProperty("java.util.logging.config.file", w.name("private/p"));
                    LogManager.getLogManager().readConfiguration();
                }, "CONSUMES FILE:W/private/p")
                .blocks("SocketHandler", w -> {
                    try {
                        new SocketHandler(HERE, NOBODY).close();
                    } catch (IOException e) {
                        w.say("refused");
                    }
                }, CONNECT);
        c.of("P07", "M", "modules found in a directory")
                .blocks("findAll", w -> w.say(ModuleFinder.of(w.path("private")).findAll().size()), "CONSUMES FILE:W/private.*").looking();
        c.of("P08", "H", "tools that run in this JVM")
                .blocks("jar", w -> w.say(ToolProvider.findFirst("jar").orElseThrow().run(System.out, System.err, "--create", "--file", w.name("new.jar"), "-C", w.name("in"), "a")),
                        "(PROVIDES|DEPENDS_ON) FILE:.*new\\.jar.*").looking().andPermissive(".* FILE:.*\\.jar").swallowed().in("tools")
                .blocks("javac by ToolProvider", w -> w.say(ToolProvider.findFirst("javac").orElseThrow().run(System.out, System.err, "-d", w.name("private"), w.name("in/T.java"))),
                        "PROVIDES FILE:W/private/T.class").looking().given(FieldP::source).swallowed()
                .andPermissive("PROVIDES FILE:.*/javac.*args").in("compiler")
                .blocks("JavaCompiler", w -> {
                    JavaCompiler compiler = javax.tools.ToolProvider.getSystemJavaCompiler();
                    w.say(compiler.run(null, null, null, "-d", w.name("private"), w.name("in/T.java")));
                }, "PROVIDES FILE:W/private/T.class").looking().given(FieldP::source).swallowed()
                .andPermissive("PROVIDES FILE:.*/javac.*args").in("compiler");
        c.of("P09", "M", "HttpServer").blocks("create", w -> HttpServer.create(new InetSocketAddress(HERE, 0), 0).stop(0), "PROVIDES URL:tcp://127.0.0.1:0");
        c.of("P10", "H", "socket factories and adaptors")
                .blocks("factory", w -> refused(w, () -> SocketFactory.getDefault().createSocket(HERE, NOBODY).close()), CONNECT)
                .blocks("adaptor", w -> refused(w, () -> {
                    try (SocketChannel channel = SocketChannel.open()) {
                        channel.socket().connect(new InetSocketAddress(HERE, NOBODY));
                    }
                }), CONNECT);
        c.of("P11", "H", "a WebSocket connects on a thread of the JDK")
                .blocks("build", w -> {
                    try {
                        HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(URI.create("ws://" + HERE + ":" + NOBODY + "/"), new WebSocket.Listener() { }).join();
                    } catch (CompletionException e) {
                        if (e.getCause() instanceof Error error) {
                            throw error;
                        }
                        w.say("refused");
                    }
                }, CONNECT).withoutFrame();
        c.of("P12", "H", "LDAP, DNS by JNDI, RMI, JMX").provenBy("NetworkTest.connect_undeclared_reachesNobody", "NetworkTest.listening_declaredAndNot_isAllowedAndStopped").as("blocked");
        c.of("P13", "H", "dumps and recordings").provenBy("NativeDoorsTest.file_writtenByTheVm_isTheProgramsWherePut").as("blocked, allowed");
        c.of("P14", "C", "a method reference: no frame of the program calls")
                .blocks("forEach(File::delete)", w -> List.of(w.file("x"), w.file("private/p")).forEach(File::delete), "DELETES FILE:W/x")
                .blocks("forEach(File::deleteOnExit) and a stream", w -> List.of(w.file("x")).stream().map(File::delete).forEach(w::say), "DELETES FILE:W/x");
        c.of("P15", "M", "a denial in a class initialiser of the JDK")
                .blocks("the log manager's", w -> {
                    System.setProperty("java.util.logging.config.file", w.name("private/p"));
                    try {
                        Logger.getLogger("first");
                    } finally {
                        w.say(Logger.getLogger("second").getName());
                    }
                }, "CONSUMES FILE:W/private/p").swallowed().in("initialiser").always();
        c.of("P16", "M", "duplicate and impossible options are judged by the JDK")
                .allows("bad mode", w -> new RandomAccessFile(w.name("private/p"), "bogus").close())
                .allows("duplicate options", w -> Files.newByteChannel(w.path("in/a"), StandardOpenOption.READ, StandardOpenOption.READ).close())
                .allows("no proxy", w -> new Socket((Proxy) null).close())
                .allows("zip mode", w -> new ZipFile(w.file("private/p"), 0).close())
                .allows("relative library", w -> System.load("rel.so"))
                .allows("empty property", w -> System.setProperty("", "x"))
                .allows("query in a file URL", w -> {
                    try (InputStream in = new URL("file:" + w.name("in/a") + "?q").openStream()) {
                        w.say(in.read());
                    }
                });
        c.of("P17", "L", "a flood of denials").blocks("thousands", w -> {
            Error last = null;
            for (int i = 0; i < 20_000; i++) {
                try {
                    new FileInputStream(w.name("private/p")).close();
                    new FileOutputStream(w.name("out/a")).close();
                } catch (Error e) {
                    last = e;
                }
            }
            if (last != null) {
                throw last;
            }
        }, "CONSUMES FILE:W/private/p");
    }

    private interface Try {
        void go() throws Exception;
    }

    private static void refused(Site w, Try attempt) throws Exception {
        try {
            attempt.go();
        } catch (IOException e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof Error error) {
                    throw error;
                }
            }
            w.say("refused");
        }
    }

    private static void source(Site w) throws IOException {
        Files.writeString(w.path("in/T.java"), "class T { }\n");
    }

    private static void zip(Path archive, Map<String, ?> how, boolean change) throws IOException {
        try (FileSystem files = FileSystems.newFileSystem(archive, how)) {
            if (change) {
                Files.writeString(files.getPath("/added"), "added");
                // else the archive would hold the time
                Files.setLastModifiedTime(files.getPath("/added"), FileTime.fromMillis(1_000_000_000_000L));
            }
        }
    }
}
