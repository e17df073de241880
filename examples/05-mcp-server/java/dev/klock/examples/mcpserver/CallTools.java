package dev.klock.examples.mcpserver;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The client, in the place of a chat program with a model: {@code CallTools REQUESTS COMMAND...} starts an MCP server by COMMAND and asks it
 * for what stands in REQUESTS, a {@code tools/call} on each line. Prints each call and the first line of its answer, and ends as the server did.
 *
 * <p>As such programs do, it keeps what the server writes to stderr in {@code server.log}; what it writes to stdout is in {@code server.stdout}.
 */
public final class CallTools {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int SHOWN_CHARACTERS = 140;

    /** Starts a server as the client's child that gets no signal, but whose stdin ends; and keeps its exit code. */
    private static final String KEEPING = "trap : TERM; { \"$@\" 2> server.log; echo $? > server.exit; } | tee server.stdout";

    private static volatile boolean greeted;
    private static volatile boolean ended;

    private CallTools() {
    }

    public static void main(String[] arguments) throws IOException {
        List<String> requests = Files.readAllLines(Path.of(arguments[0]));
        List<String> command = new ArrayList<>(List.of("-c", KEEPING, "server"));
        command.addAll(Arrays.asList(arguments).subList(1, arguments.length));
        StdioClientTransport transport = new StdioClientTransport(
                ServerParameters.builder("/bin/sh").args(command).env(System.getenv()).build(), McpJsonDefaults.getMapper());

        McpSyncClient client = McpClient.sync(transport).requestTimeout(PATIENCE).initializationTimeout(PATIENCE).build();
        watch(client);
        try {
            client.initialize();
        } catch (RuntimeException e) {
            System.out.println("  the server does not answer: " + e.getMessage());
            System.exit(1);
        }
        greeted = true;
        for (String request : requests) {
            if (ended) {
                break;
            }
            CallToolRequest call = McpJsonDefaults.getMapper().readValue(request, CallToolRequest.class);
            System.out.println("  " + call.name() + shown(call.arguments()));
            System.out.println("    " + shorten(answer(client, call)));
        }
        if (!ended) {
            client.closeGracefully();
        }
        transport.awaitForExit();
        System.exit(exitCode());
    }

    private static int exitCode() throws IOException {
        return Integer.parseInt(Files.readString(Path.of("server.exit")).trim());
    }

    private static String shown(Map<String, Object> arguments) {
        StringBuilder text = new StringBuilder();
        arguments.forEach((name, value) -> text.append(' ').append(name).append('=').append(value.toString().replace("\n", "\\n")));
        return text.toString();
    }

    private static String answer(McpSyncClient client, CallToolRequest call) {
        try {
            CallToolResult result = client.callTool(call);
            return (Boolean.TRUE.equals(result.isError()) ? "failed: " : "") + ((TextContent) result.content().get(0)).text();
        } catch (RuntimeException e) {
            return "error: " + e.getMessage();
        }
    }

    /** When the server ends, so does the call that waits for its answer; and all of this, if it has not even said hello. */
    private static void watch(McpSyncClient client) {
        Thread watch = new Thread(() -> {
            try {
                Optional<ProcessHandle> server = Optional.empty();
                while (server.isEmpty()) {
                    Thread.sleep(10);
                    server = ProcessHandle.current().children().findAny();
                }
                server.get().onExit().join();
                ended = true;
                if (!greeted) {
                    System.out.println("  the server did not start; server.log has what it said");
                    System.exit(exitCode());
                }
                client.close();
            } catch (InterruptedException | IOException e) {
                throw new IllegalStateException(e);
            }
        });
        watch.setDaemon(true);
        watch.start();
    }

    private static String shorten(String answer) {
        String line = answer.lines().findFirst().orElse("");
        return line.length() <= SHOWN_CHARACTERS ? line : line.substring(0, SHOWN_CHARACTERS) + "...";
    }
}
