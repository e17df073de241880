package dev.klock.sandbox.field;

import java.io.IOException;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.URL;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.util.Hashtable;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import javax.imageio.ImageIO;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.naming.directory.InitialDirContext;

/**
 * F: network and environment. What is tried goes to a port of this machine where nobody listens, so that without klock it is refused; a
 * server that must see nothing is in {@code NetworkTest}.
 */
final class FieldF {
    private static final String HERE = "127.0.0.1";
    /** Below 1024 and given to nobody: who tries is refused at once. */
    private static final int NOBODY = 4;
    private static final String CONNECT = "CONSUMES URL:(tcp|http)://" + HERE + ":4.*";

    private FieldF() {
    }

    static void cases(Cases c) {
        c.of("F01", "C", "HttpURLConnection")
                .blocks("request", w -> refused(w, () -> new URL("http://" + HERE + ":" + NOBODY + "/").openConnection().getInputStream().close()), CONNECT).always()
                .provenBy("NetworkTest.connect_undeclared_reachesNobody", "NetworkTest.network_permissive_changesNothing");
        c.of("F02", "H", "Unix-domain sockets: connecting")
                .blocks("connect", w -> refused(w, () -> SocketChannel.open(UnixDomainSocketAddress.of(w.path("x"))).close()), "MUTATES FILE:W/x")
                .provenBy("NetworkTest.unixSocket_isAFileThatIsChanged");
        c.of("F03", "M", "Unix-domain sockets: a server makes a file")
                .blocks("bind", w -> bind(w, "new.sock"), "PROVIDES FILE:W/new.sock")
                .allows("inside the scope", w -> bind(w, "out/new.sock"))
                .provenBy("NetworkTest.unixSocket_isAFileThatIsChanged");
        c.of("F05", "M", "looking up names")
                .blocks("getByName", w -> refused(w, () -> InetAddress.getByName("secret.invalid")), "CONSUMES URL:dns://secret.invalid")
                .provenBy("NetworkTest.lookUp_ofAnUndeclaredName_isStopped_andOfWhatTheJdkNeedsIsNot");
        Case f06 = c.of("F06", "H", "other spellings of an address");
        for (String spelling : new String[] {"localhost", "2130706433", "127.1", "::ffff:127.0.0.1"}) {
            f06.blocks(spelling, w -> refused(w, () -> new Socket(spelling, NOBODY).close()), "CONSUMES URL:(tcp|dns)://.*");
        }
        f06.allows("127.1, with 127.0.0.1 declared", w -> refused(w, () -> new Socket("127.1", NOBODY + 1).close())).declaring("CONSUMES URL:tcp://127.0.0.1:5")
                .provenBy("NetworkTest.connect_declaredByOneSpelling_isAllowedByEverySpellingOfTheSameEndPoint");
        c.of("F07", "H", "another port, another scheme")
                .blocks("port", w -> refused(w, () -> new Socket(HERE, NOBODY).close()), "CONSUMES URL:tcp://127.0.0.1:4").declaring("CONSUMES URL:https://127.0.0.1:6/**")
                .provenBy("NetworkTest.request_declaredByMethodAndPath_allowsNoOther");
        c.of("F08", "H", "datagrams")
                .blocks("send", FieldF::datagram, ".* URL:udp://.*")
                .provenBy("NetworkTest.datagrams_declaredAndNot_areSentAndStopped");
        c.of("F09", "H", "asynchronous and non-blocking connects")
                .blocks("asynchronous", w -> refused(w, () -> {
                    try (AsynchronousSocketChannel channel = AsynchronousSocketChannel.open()) {
                        channel.connect(new InetSocketAddress(HERE, NOBODY)).get();
                    } catch (ExecutionException e) {
                        throw new IOException(e.getCause());
                    }
                }), CONNECT)
                .blocks("non-blocking", w -> refused(w, () -> {
                    try (SocketChannel channel = SocketChannel.open()) {
                        channel.configureBlocking(false);
                        channel.connect(new InetSocketAddress(HERE, NOBODY));
                        while (!channel.finishConnect()) {
                            Thread.onSpinWait();
                        }
                    }
                }), CONNECT)
                .provenBy("NetworkTest.connect_undeclared_reachesNobody");
        c.of("F10", "M", "listening")
                .blocks("ServerSocket", w -> new ServerSocket(0).close(), "PROVIDES URL:tcp://.*:0")
                .blocks("ServerSocketChannel", w -> ServerSocketChannel.open().bind(new InetSocketAddress(HERE, 0)).close(), "PROVIDES URL:tcp://127.0.0.1:0")
                .provenBy("NetworkTest.listening_declaredAndNot_isAllowedAndStopped");
        c.of("F11", "H", "JNDI, RMI, LDAP")
                .blocks("ldap", w -> {
                    Hashtable<String, String> environment = new Hashtable<>();
                    environment.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.ldap.LdapCtxFactory");
                    environment.put(Context.PROVIDER_URL, "ldap://" + HERE + ":" + NOBODY);
                    try {
                        new InitialDirContext(environment).close();
                    } catch (NamingException e) {
                        w.say("refused");
                    }
                }, CONNECT)
                .provenBy("NetworkTest.connect_undeclared_reachesNobody");
        c.of("F12", "L", "a declared proxy on this machine that relays to others").as("a stated limit: who connects to it is seen, what it does is not");
        c.of("F13", "H", "the environment by every door").provenBy("EnvironmentTest.variable_byEveryDoor_isDecidedAlike",
                "EnvironmentTest.variable_undeclaredInStrict_endsTheSessionAndItsValueIsNowhere")
                .blocks("/proc/self/environ", w -> w.say(Files.readAllBytes(java.nio.file.Path.of("/proc/self/environ")).length > 0), "CONSUMES .*");
        c.of("F14", "M", "what the JDK reads of it by itself")
                .allows("Properties.store, ImageIO", w -> {
                    new Properties().store(new StringWriter(), "");
                    w.say(ImageIO.getReaderFormatNames().length > 0);
                });
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

    private static void bind(Site w, String name) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            // by a short name: that of a test's directory may be longer than such an address can be
            server.bind(UnixDomainSocketAddress.of(w.path().getFileName() + "/" + name));
        }
    }

    private static void datagram(Site w) throws IOException {
        try (DatagramChannel channel = DatagramChannel.open()) {
            w.say(channel.send(ByteBuffer.allocate(1), new InetSocketAddress(HERE, NOBODY)));
        }
    }
}
