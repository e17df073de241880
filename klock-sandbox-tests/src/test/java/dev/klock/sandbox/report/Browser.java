package dev.klock.sandbox.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A headless Chromium with one tab, steered by its DevTools protocol. Scripts of pages run in it, as in anybody's browser. Used by one thread.
 */
final class Browser implements AutoCloseable {
    private static final String[] NAMES = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};
    private static final Pattern LISTENING = Pattern.compile("DevTools listening on (ws://\\S+)");
    private static final long PATIENCE_S = 60;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path directory;
    private final Process process;
    private final WebSocket socket;
    private final Map<Integer, CompletableFuture<JsonNode>> asked = new ConcurrentHashMap<>();
    /** What pages did that they should not, in words. */
    private final List<String> misdeeds = new CopyOnWriteArrayList<>();
    private volatile CompletableFuture<Void> loaded = new CompletableFuture<>();
    private volatile String page = "";
    private String session;
    private int lastId;

    /** Null if there is none on this machine. */
    static Path find() {
        for (String name : NAMES) {
            for (String directory : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
                Path program = Path.of(directory, name);
                if (Files.isExecutable(program)) {
                    return program;
                }
            }
        }
        return null;
    }

    /** Starts {@code program}, which keeps what it needs in {@code directory}. */
    Browser(Path program, Path directory) throws Exception {
        this.directory = directory;
        process = new ProcessBuilder(program.toString(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--remote-debugging-port=0",
                "--user-data-dir=" + directory, "about:blank").redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        BufferedReader said = process.errorReader(StandardCharsets.UTF_8);
        StringBuilder all = new StringBuilder();
        String address = null;
        for (String line = said.readLine(); line != null && address == null; line = address == null ? said.readLine() : null) {
            all.append(line).append('\n');
            Matcher listening = LISTENING.matcher(line);
            address = listening.find() ? listening.group(1) : null;
        }
        if (address == null) {
            throw new IOException(program + " does not start:\n" + all);
        }
        Thread drain = new Thread(() -> said.lines().forEach(line -> { }));
        drain.setDaemon(true);
        drain.start();
        socket = HttpClient.newHttpClient().newWebSocketBuilder().buildAsync(URI.create(address), new Messages()).get(PATIENCE_S, TimeUnit.SECONDS);
        String target = ask("Target.createTarget", JSON.createObjectNode().put("url", "about:blank")).get("targetId").asText();
        session = ask("Target.attachToTarget", JSON.createObjectNode().put("targetId", target).put("flatten", true)).get("sessionId").asText();
        for (String domain : new String[] {"Page", "Runtime", "Log", "Network"}) {
            ask(domain + ".enable", JSON.createObjectNode());
        }
    }

    /** Puts messages together, and gives them to who waits for them. */
    private final class Messages implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                String whole = text.toString();
                text.setLength(0);
                try {
                    message(JSON.readTree(whole));
                } catch (IOException e) {
                    misdeeds.add("unreadable message: " + e);
                }
            }
            from.request(1);
            return null;
        }
    }

    private void message(JsonNode message) {
        if (message.has("id")) {
            asked.remove(message.get("id").asInt()).complete(message);
            return;
        }
        JsonNode of = message.path("params");
        switch (message.path("method").asText()) {
            case "Page.loadEventFired" -> loaded.complete(null);
            case "Page.javascriptDialogOpening", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded" -> misdeeds.add(message.toString());
            case "Network.requestWillBeSent" -> {
                if (!of.path("request").path("url").asText().equals(page)) {
                    misdeeds.add("asked for " + of.path("request").path("url").asText());
                }
            }
            default -> { }
        }
    }

    private JsonNode ask(String method, ObjectNode parameters) throws InterruptedException, ExecutionException, TimeoutException {
        int id = ++lastId;
        ObjectNode message = JSON.createObjectNode().put("id", id).put("method", method);
        if (session != null) {
            message.put("sessionId", session);
        }
        message.set("params", parameters);
        CompletableFuture<JsonNode> answer = new CompletableFuture<>();
        asked.put(id, answer);
        socket.sendText(message.toString(), true).get(PATIENCE_S, TimeUnit.SECONDS);
        JsonNode got = answer.get(PATIENCE_S, TimeUnit.SECONDS);
        if (got.has("error")) {
            throw new IllegalStateException(method + ": " + got.get("error"));
        }
        return got.get("result");
    }

    /** Shows {@code file} in a window of {@code width} CSS pixels. */
    void open(Path file, int width, boolean dark) throws Exception {
        ask("Emulation.setDeviceMetricsOverride", JSON.createObjectNode().put("width", width).put("height", 900).put("deviceScaleFactor", 1).put("mobile", width < 600));
        media("", dark);
        loaded = new CompletableFuture<>();
        page = file.toUri().toString();
        ask("Page.navigate", JSON.createObjectNode().put("url", page));
        loaded.get(PATIENCE_S, TimeUnit.SECONDS);
    }

    /** As {@code media} shows it: "" for a screen, {@code print} for paper. */
    void media(String media, boolean dark) throws Exception {
        ObjectNode emulated = JSON.createObjectNode().put("media", media);
        emulated.putArray("features").addObject().put("name", "prefers-color-scheme").put("value", dark ? "dark" : "light");
        ask("Emulation.setEmulatedMedia", emulated);
    }

    /** The value of a JavaScript expression. */
    JsonNode evaluate(String expression) throws Exception {
        JsonNode result = ask("Runtime.evaluate", JSON.createObjectNode().put("expression", expression).put("returnByValue", true));
        if (result.has("exceptionDetails")) {
            throw new IllegalStateException(expression + ": " + result.get("exceptionDetails"));
        }
        return result.get("result").path("value");
    }

    /** The whole page as a picture. */
    void screenshot(Path to) throws Exception {
        JsonNode size = ask("Page.getLayoutMetrics", JSON.createObjectNode()).get("cssContentSize");
        ObjectNode wanted = JSON.createObjectNode().put("format", "png").put("captureBeyondViewport", true);
        wanted.putObject("clip").put("x", 0).put("y", 0).put("width", size.get("width").asDouble()).put("height", Math.min(size.get("height").asDouble(), 8_000)).put("scale", 1);
        Files.write(to, Base64.getDecoder().decode(ask("Page.captureScreenshot", wanted).get("data").asText()));
    }

    /** Dialogs, errors, messages on the console, blocked and made requests since the start. */
    List<String> misdeeds() {
        return new ArrayList<>(misdeeds);
    }

    @Override
    public void close() throws Exception {
        socket.abort();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.waitFor();
        // links to elsewhere, which whoever removes the directory is warned of
        for (String link : new String[] {"SingletonLock", "SingletonSocket", "SingletonCookie"}) {
            Files.deleteIfExists(directory.resolve(link));
        }
    }
}
