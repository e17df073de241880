package dev.klock.sandbox.jvm;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The records of {@code .klock/log/*.jsonl}, schema {@code klock.event/1}.
 *
 * @param records all of them, file by file
 * @param files the log files
 */
public record VerificationLog(List<JsonNode> records, List<Path> files) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Reads the log of a home; empty if there is none. */
    public static VerificationLog of(Path home) {
        List<JsonNode> records = new ArrayList<>();
        List<Path> files = new ArrayList<>();
        Path logs = home.resolve("log");
        if (Files.isDirectory(logs)) {
            try (Stream<Path> entries = Files.list(logs)) {
                for (Path file : entries.filter(entry -> entry.toString().endsWith(".jsonl")).sorted().toList()) {
                    files.add(file);
                    for (String line : Files.readAllLines(file)) {
                        records.add(JSON.readTree(line));
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return new VerificationLog(records, files);
    }

    /** Those with this decision ({@code allow}, {@code deny}, {@code warn}). */
    public List<JsonNode> decided(String decision) {
        return records.stream().filter(record -> decision.equals(record.path("decision").asText())).toList();
    }

    /** {@code PREDICATE RESOURCE} of those with this decision. */
    public List<String> triples(String decision) {
        return decided(decision).stream().map(record -> record.path("predicate").asText() + " " + record.path("resource").asText()).toList();
    }

    /** What the closing record of the last log says; missing if there is none. */
    public JsonNode summary() {
        return records.isEmpty() ? MissingNode.getInstance() : records.get(records.size() - 1).path("summary");
    }

    /** The distinct sessions in it. */
    public List<String> sessions() {
        return records.stream().map(record -> record.path("session_id").asText()).filter(id -> !id.isEmpty()).distinct().toList();
    }
}
