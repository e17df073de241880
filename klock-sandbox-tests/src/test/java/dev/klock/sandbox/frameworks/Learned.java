package dev.klock.sandbox.frameworks;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.VerificationLog;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * A manifest made of what a run in {@code mode=learn} has on record: one line for each access that was learned, files below a
 * directory of the workspace, or below one of those that are named, as that directory's subtree.
 *
 * @param lines the scope, {@code PREDICATE RESOURCE}, with {@code ${workspace}} for the workspace
 * @param programs what is started
 */
record Learned(List<String> lines, List<String> programs) {
    static Learned of(VerificationLog log, Path workspace, List<Path> whole) {
        TreeSet<String> lines = new TreeSet<>();
        TreeSet<String> programs = new TreeSet<>();
        for (JsonNode record : log.decided("learn")) {
            String resource = record.path("resource").asText();
            if ("child".equals(record.path("decided_by").asText())) {
                // what a child did is said in its program's effects
                continue;
            }
            if (resource.startsWith("PROCESS:")) {
                programs.add(resource);
            } else {
                lines.add(record.path("predicate").asText() + " " + (resource.startsWith("FILE:")
                        ? "FILE:" + folded(Path.of(resource.substring("FILE:".length())), workspace, whole) : resource));
            }
        }
        return new Learned(List.copyOf(lines), List.copyOf(programs));
    }

    private static String folded(Path file, Path workspace, List<Path> whole) {
        for (Path directory : whole) {
            if (file.startsWith(directory)) {
                return directory + "/**";
            }
        }
        if (!file.startsWith(workspace)) {
            return file.toString();
        }
        Path name = workspace.relativize(file);
        if (name.toString().isEmpty()) {
            return "${workspace}";
        }
        return "${workspace}/" + (name.getNameCount() == 1 ? name : name.getName(0) + "/**");
    }

    /** Subtrees that the workspace lies in. */
    List<String> wide(Path workspace) {
        List<String> wide = new ArrayList<>();
        for (String line : lines) {
            int from = line.indexOf(" FILE:/");
            if (from > 0 && line.endsWith("/**") && workspace.startsWith(line.substring(from + " FILE:".length(), line.length() - "/**".length()))) {
                wide.add(line);
            }
        }
        return wide;
    }

    /** As {@code klock.yaml}; each program that is started may do what {@code effects} say. */
    String manifest(List<String> effects) {
        StringBuilder text = new StringBuilder("ver: \"1.0\"\nagent_id: learned\nscope:\n");
        lines.forEach(line -> text.append("  - \"").append(line.replace("\\", "\\\\")).append("\"\n"));
        for (String program : programs) {
            text.append("  - predicate: PROVIDES\n    resource: \"").append(program).append("\"\n    effects:");
            text.append(effects.isEmpty() ? " []" : "").append('\n');
            effects.forEach(effect -> text.append("      - \"").append(effect).append("\"\n"));
        }
        if (lines.isEmpty() && programs.isEmpty()) {
            return text.toString().replace("scope:\n", "scope: []\n");
        }
        return text.toString();
    }
}
