package dev.klock.examples.onejvm;

import dev.langchain4j.agent.tool.P;
import dev.langchain4j.agent.tool.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What a reviewer can do. Ordinary file access: nothing here locks, and nothing knows klock. */
public final class ReviewTools {
    private final Path workspace;

    public ReviewTools(Path workspace) {
        this.workspace = workspace;
    }

    @Tool("Finds the lines of the library's sources that have a text in them")
    public String search(@P(name = "text", value = "what to look for") String text) throws IOException {
        Path library = workspace.resolve("library");
        List<Path> sources;
        try (Stream<Path> files = Files.walk(library)) {
            sources = files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
        }
        List<String> hits = new ArrayList<>();
        for (Path source : sources) {
            List<String> lines = Files.readAllLines(source);
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).contains(text)) {
                    hits.add(library.relativize(source) + ":" + (i + 1));
                }
            }
        }
        return String.join("\n", hits);
    }

    /** One unit of work: either all of it should be in the files, or nothing. */
    @Tool("Adds findings to both reports, and a line to the reviewer's own notes")
    public String record(
            @P(name = "findings", value = "one a line") String findings,
            @P(name = "notes", value = "the file with the notes") String notes,
            @P(name = "note", value = "the line for the notes") String note) throws IOException {
        for (String finding : findings.split("\n")) {
            add(workspace.resolve("report/findings.md"), finding);
            add(workspace.resolve("report/todo.md"), finding);
        }
        add(workspace.resolve(notes), note);
        return "recorded";
    }

    /** Reads the whole file, changes it, writes the whole file, as most tools that edit files do. */
    private static void add(Path file, String line) throws IOException {
        String before = Files.readString(file);
        Files.writeString(file, before + line + "\n");
    }
}
