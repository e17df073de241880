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
import java.util.concurrent.atomic.AtomicBoolean;

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

    private CallTools() {
    }

    public static void main(String[] arguments) throws IOException {
        List<String> requests = Files.readAllLines(Path.of(arguments[0]));
        List<String> command = new ArrayList<>(List.of("-c", KEEPING, "server"));
        command.addAll(Arrays.asList(arguments).subList(1, arguments.length));
        StdioClientTransport transport = new StdioClientTransport(
                ServerParameters.builder("/bin/sh").args(command).env(System.getenv()).build(), McpJsonDefaults.getMapper());

        McpSyncClient client = McpClient.sync(transport).requestTimeout(PATIENCE).initializationTimeout(PATIENCE).build();
        client.initialize();
        AtomicBoolean ended = watch(transport, client);
        for (String request : requests) {
            if (ended.get()) {
                break;
            }
            CallToolRequest call = McpJsonDefaults.getMapper().readValue(request, CallToolRequest.class);
            System.out.println("  " + call.name() + shown(call.arguments()));
            System.out.println("    " + shorten(answer(client, call)));
        }
        if (!ended.get()) {
            client.closeGracefully();
        }
        transport.awaitForExit();
        System.exit(Integer.parseInt(Files.readString(Path.of("server.exit")).trim()));
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

    /** Tells when the server has ended, and ends the call that waits for an answer of it. */
    private static AtomicBoolean watch(StdioClientTransport transport, McpSyncClient client) {
        AtomicBoolean ended = new AtomicBoolean();
        Thread watch = new Thread(() -> {
            transport.awaitForExit();
            ended.set(true);
            client.close();
        });
        watch.setDaemon(true);
        watch.start();
        return ended;
    }

    private static String shorten(String answer) {
        String line = answer.lines().findFirst().orElse("");
        return line.length() <= SHOWN_CHARACTERS ? line : line.substring(0, SHOWN_CHARACTERS) + "...";
    }
}
