package dev.klock.examples.mcpserver;

import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The program: {@code FileServer DIRECTORY} is an MCP server over stdio, and ends when its stdin does. Its tools are meant for the files of
 * one directory, but it was written in a hurry: whatever path it is given it takes, and two of its tools are for everything.
 */
public final class FileServer {
    private final Path root;

    private FileServer(Path root) {
        this.root = root;
    }

    public static void main(String[] arguments) {
        FileServer files = new FileServer(Path.of(arguments[0]).toAbsolutePath());
        McpServer.sync(new StdioServerTransportProvider(McpJsonDefaults.getMapper()))
                .serverInfo("files", "1.0")
                .tools(
                        tool("list_files", "Lists a directory", files::list, "path"),
                        tool("read_file", "Reads a file", files::read, "path"),
                        tool("search_files", "Finds the lines of a directory's files that have a text in them", files::search, "path", "text"),
                        tool("write_file", "Writes a file, new or not", files::write, "path", "content"),
                        tool("move_file", "Gives a file another name", files::move, "path", "to"),
                        tool("delete_file", "Deletes a file", files::delete, "path"),
                        tool("fetch_page", "Fetches a web page", files::fetch, "url"),
                        tool("get_setting", "Tells the value of an environment variable", files::setting, "name"),
                        tool("run_program", "Runs a program and tells what it prints", files::run, "command"))
                .build();
    }

    private String list(Map<String, Object> given) throws IOException {
        return String.join("\n", names(path(given, "path")));
    }

    private String read(Map<String, Object> given) throws IOException {
        return Files.readString(path(given, "path"));
    }

    private String search(Map<String, Object> given) throws IOException {
        Path directory = path(given, "path");
        List<String> found = new ArrayList<>();
        for (String name : names(directory)) {
            for (String line : Files.readAllLines(directory.resolve(name))) {
                if (line.contains(text(given, "text"))) {
                    found.add(name + ": " + line);
                }
            }
        }
        return String.join("\n", found);
    }

    private String write(Map<String, Object> given) throws IOException {
        Path file = path(given, "path");
        Files.createDirectories(file.getParent());
        Files.writeString(file, text(given, "content"));
        return "written";
    }

    private String move(Map<String, Object> given) throws IOException {
        Files.move(path(given, "path"), path(given, "to"));
        return "moved";
    }

    private String delete(Map<String, Object> given) throws IOException {
        Files.delete(path(given, "path"));
        return "deleted";
    }

    private String fetch(Map<String, Object> given) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(text(given, "url"))).build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private String setting(Map<String, Object> given) {
        return System.getenv(text(given, "name"));
    }

    private String run(Map<String, Object> given) throws IOException {
        Process program = new ProcessBuilder(text(given, "command").split(" ")).redirectErrorStream(true).start();
        return new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> children = Files.list(directory)) {
            return children.map(child -> child.getFileName().toString()).sorted().toList();
        }
    }

    /** The mistake: an absolute path, ../ and a symbolic link lead out of the directory. */
    private Path path(Map<String, Object> given, String argument) {
        return root.resolve(text(given, argument));
    }

    private static String text(Map<String, Object> given, String argument) {
        return String.valueOf(given.get(argument));
    }

    private static SyncToolSpecification tool(String name, String description, Work work, String... arguments) {
        Map<String, Object> properties = new LinkedHashMap<>();
        for (String argument : arguments) {
            properties.put(argument, Map.of("type", "string"));
        }
        Map<String, Object> schema = Map.of("type", "object", "properties", properties, "required", List.of(arguments));
        return SyncToolSpecification.builder()
                .tool(Tool.builder(name, schema).description(description).build())
                .callHandler((exchange, request) -> answer(work, request.arguments()))
                .build();
    }

    private static CallToolResult answer(Work work, Map<String, Object> given) {
        try {
            return CallToolResult.builder().addTextContent(String.valueOf(work.on(given))).build();
        } catch (Exception e) {
            return CallToolResult.builder().addTextContent(e.toString()).isError(true).build();
        }
    }

    /** What a tool does with its arguments; returns what it tells the model. */
    @FunctionalInterface
    private interface Work {
        String on(Map<String, Object> given) throws Exception;
    }
}
