package dev.klock.sandbox.net;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** An HTTP server on 127.0.0.1 that remembers what it was asked; {@code /go?URL} redirects to URL. Close it. */
final class LocalServer implements AutoCloseable {
    private final HttpServer server;
    private final List<String> seen = new CopyOnWriteArrayList<>();

    LocalServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 20);
        server.createContext("/", this::answer);
        server.start();
    }

    int port() {
        return server.getAddress().getPort();
    }

    /** Requests so far, as {@code METHOD path}. */
    List<String> seen() {
        return seen;
    }

    private void answer(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        seen.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
        String query = exchange.getRequestURI().getRawQuery();
        if (query != null && exchange.getRequestURI().getPath().equals("/go")) {
            exchange.getResponseHeaders().add("Location", query);
            exchange.sendResponseHeaders(302, -1);
        } else {
            byte[] body = (exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath()).getBytes(StandardCharsets.UTF_8);
            boolean empty = exchange.getRequestMethod().equals("HEAD");
            exchange.sendResponseHeaders(200, empty ? -1 : body.length);
            if (!empty) {
                exchange.getResponseBody().write(body);
            }
        }
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
