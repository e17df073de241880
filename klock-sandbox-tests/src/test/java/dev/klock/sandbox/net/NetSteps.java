package dev.klock.sandbox.net;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.MulticastSocket;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.URL;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.registry.LocateRegistry;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.naming.Context;
import javax.naming.InitialContext;

/**
 * Goes through doors of the network, one step an argument, words separated by blanks, and prints {@code STEP: RESULT} for each: what it
 * got, or the class and message of what was thrown, with its causes. Never stops before the last step.
 */
public final class NetSteps {
    private NetSteps() {
    }

    public static void main(String[] steps) throws Exception {
        for (String step : steps) {
            System.out.println(step + ": " + Attempt.of(() -> run(List.of(step.split(" ")))));
        }
        // threads of servers and clients must not keep it alive; what is left of the session happens in its end
        System.exit(0);
    }

    private static String run(List<String> words) throws Exception {
        String first = words.size() > 1 ? words.get(1) : null;
        int port = words.size() > 2 && Character.isDigit(words.get(2).charAt(0)) ? Integer.parseInt(words.get(2)) : 0;
        switch (words.get(0)) {
            case "socket":
                try (Socket socket = new Socket(first, port)) {
                    return "connected " + socket.isConnected();
                }
            case "socket-channel":
                try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(first, port))) {
                    return "connected " + channel.isConnected();
                }
            case "made-up":
                try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(InetAddress.getByAddress(first, new byte[] {127, 0, 0, 1}), port));
                    return "connected " + socket.isConnected();
                }
            case "non-blocking":
                return nonBlocking(first, port);
            case "async":
                try (AsynchronousSocketChannel channel = AsynchronousSocketChannel.open()) {
                    channel.connect(new InetSocketAddress(first, port)).get(5, TimeUnit.SECONDS);
                    return "connected";
                }
            case "adaptor":
                try (SocketChannel channel = SocketChannel.open()) {
                    channel.socket().connect(new InetSocketAddress(first, port), 5000);
                    return "connected " + channel.isConnected();
                }
            case "listen":
                try (ServerSocket server = new ServerSocket(port, 5, InetAddress.getByName(first))) {
                    return "bound " + server.isBound();
                }
            case "listen-everywhere":
                try (ServerSocket server = new ServerSocket(Integer.parseInt(first))) {
                    return "bound " + server.isBound();
                }
            case "listen-channel":
                try (ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(first, port))) {
                    return "bound " + server.isOpen();
                }
            case "listen-async":
                try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open().bind(new InetSocketAddress(first, port))) {
                    return "bound " + server.isOpen();
                }
            case "http-server": {
                HttpServer server = HttpServer.create(new InetSocketAddress(first, port), 5);
                server.start();
                server.stop(0);
                return "served";
            }
            case "serve-oneself":
                try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName(first));
                     Socket socket = new Socket(first, server.getLocalPort())) {
                    return "connected " + socket.isConnected();
                }
            case "serve-and-ask":
                try (ServerSocket server = new ServerSocket(port, 5, InetAddress.getByName(first)); Socket socket = new Socket(words.get(3), port)) {
                    return "connected " + socket.isConnected();
                }
            case "served-and-ask": {
                int chosen;
                try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getByName(first))) {
                    chosen = server.getLocalPort();
                }
                try (Socket socket = new Socket(first, chosen)) {
                    return "connected " + socket.isConnected();
                }
            }
            case "rmi-registry":
                LocateRegistry.createRegistry(Integer.parseInt(first));
                return "exported";
            case "rmi":
                return String.valueOf(LocateRegistry.getRegistry(first, port).list().length);
            case "jndi": {
                Hashtable<String, String> environment = new Hashtable<>();
                environment.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.ldap.LdapCtxFactory");
                environment.put(Context.PROVIDER_URL, first);
                environment.put("com.sun.jndi.ldap.connect.timeout", "2000");
                environment.put("com.sun.jndi.ldap.read.timeout", "1000");
                return String.valueOf(new InitialContext(environment).lookup("x"));
            }
            case "jndi-dns": {
                Hashtable<String, String> environment = new Hashtable<>();
                environment.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory");
                environment.put(Context.PROVIDER_URL, first);
                environment.put("com.sun.jndi.dns.timeout.initial", "200");
                environment.put("com.sun.jndi.dns.timeout.retries", "1");
                return String.valueOf(new InitialContext(environment).lookup("x"));
            }
            case "udp":
                try (DatagramSocket socket = new DatagramSocket()) {
                    socket.send(new DatagramPacket(new byte[1], 1, InetAddress.getByName(first), port));
                    return "sent";
                }
            case "udp-channel":
                try (DatagramChannel channel = DatagramChannel.open()) {
                    return "sent " + channel.send(ByteBuffer.allocate(1), new InetSocketAddress(first, port));
                }
            case "udp-connected":
                try (DatagramSocket socket = new DatagramSocket()) {
                    socket.connect(InetAddress.getByName(first), port);
                    socket.send(new DatagramPacket(new byte[1], 1));
                    socket.disconnect();
                    return "sent";
                }
            case "udp-serve":
                // asked by somebody whose port the system chose
                try (DatagramSocket server = new DatagramSocket(port, InetAddress.getByName(first)); DatagramSocket client = new DatagramSocket(0, InetAddress.getByName(first))) {
                    client.send(new DatagramPacket(new byte[1], 1, InetAddress.getByName(first), port));
                    DatagramPacket asked = new DatagramPacket(new byte[1], 1);
                    server.receive(asked);
                    server.send(asked);
                    client.setSoTimeout(10_000);
                    client.receive(asked);
                    return "answered " + (asked.getPort() == port);
                }
            case "udp-unresolved":
                try (DatagramChannel channel = DatagramChannel.open()) {
                    return "sent " + channel.send(ByteBuffer.allocate(1), InetSocketAddress.createUnresolved(first, port));
                }
            case "udp-bind":
                try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress(first, port))) {
                    return "bound " + socket.isBound();
                }
            case "multicast":
                try (MulticastSocket socket = new MulticastSocket()) {
                    socket.joinGroup(new InetSocketAddress(first, port), NetworkInterface.getByName("lo"));
                    return "joined";
                }
            case "unix":
                try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(first))) {
                    return "connected " + channel.isConnected();
                }
            case "unix-hidden":
                // by another name
                Files.move(Path.of(first), Path.of(words.get(2)));
                return run(List.of("unix", words.get(2)));
            case "hosts-file":
                System.setProperty("jdk.net.hosts.file", first);
                return "set";
            case "unix-listen":
                try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
                    server.bind(UnixDomainSocketAddress.of(first));
                    return "bound " + Path.of(first).getFileName();
                }
            case "lookup":
                return InetAddress.getByName(first).getHostAddress();
            case "cached":
                return cached(first);
            case "reverse":
                return "named " + !InetAddress.getByName(first).getHostName().isEmpty();
            case "local-host":
                return "found " + !InetAddress.getLocalHost().getHostAddress().isEmpty();
            case "url-hash":
                return "hashed " + (new URL(first).hashCode() != 0);
            case "url":
                return url(first, words.size() > 2 ? words.get(2) : "GET");
            case "client":
                return client(first, words.size() > 2 ? words.get(2) : "GET");
            case "websocket":
                HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(URI.create(first), new WebSocket.Listener() {
                }).get(5, TimeUnit.SECONDS);
                return "open";
            case "ping":
                return "asked " + (InetAddress.getByName(first).isReachable(500) || true);
            case "interfaces":
                return "some " + NetworkInterface.getNetworkInterfaces().hasMoreElements();
            case "pipes":
                return pipes();
            case "no-proxy":
                return String.valueOf(new Socket((java.net.Proxy) null).isConnected());
            default:
                throw new IllegalArgumentException(words.toString());
        }
    }

    /** What the JDK has on {@code host} after a look-up that fails; the package must be open. */
    private static String cached(String host) throws Exception {
        String failure = null;
        try {
            InetAddress.getByName(host);
        } catch (UnknownHostException | Error e) {
            failure = e.getClass().getSimpleName();
        }
        Field cache = InetAddress.class.getDeclaredField("cache");
        cache.setAccessible(true);
        Object entry = ((Map<?, ?>) cache.get(null)).get(host);
        return failure + " " + (entry == null ? "nothing" : entry.getClass().getSimpleName());
    }

    private static String nonBlocking(String host, int port) throws IOException {
        try (SocketChannel channel = SocketChannel.open(); Selector selector = Selector.open()) {
            channel.configureBlocking(false);
            if (!channel.connect(new InetSocketAddress(host, port))) {
                channel.register(selector, SelectionKey.OP_CONNECT);
                selector.select(5000);
                channel.finishConnect();
            }
            return "connected " + channel.isConnected();
        }
    }

    private static String pipes() throws IOException {
        Pipe pipe = Pipe.open();
        pipe.sink().write(ByteBuffer.wrap(new byte[1]));
        try (Selector selector = Selector.open()) {
            selector.wakeup();
            selector.select(1000);
        }
        return "read " + pipe.source().read(ByteBuffer.allocate(1));
    }

    private static String url(String url, String method) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
        connection.setRequestMethod(method);
        if (!method.equals("GET") && !method.equals("DELETE") && !method.equals("HEAD")) {
            connection.setDoOutput(true);
            try (OutputStream out = connection.getOutputStream()) {
                out.write(1);
            }
        }
        int status = connection.getResponseCode();
        try (InputStream in = connection.getInputStream()) {
            return status + " " + new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String client(String url, String method) throws Exception {
        HttpClient client = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).build();
        HttpRequest.BodyPublisher body = method.equals("GET") || method.equals("DELETE") ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString("x");
        HttpResponse<String> response = client.send(HttpRequest.newBuilder(URI.create(url)).method(method, body).build(),
                HttpResponse.BodyHandlers.ofString());
        return response.statusCode() + " " + response.body();
    }
}
