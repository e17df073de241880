package dev.klock.cli.learn;

import dev.klock.agent.log.Escapes;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Writes what is proposed as a manifest for people to read: each line under what speaks for it. */
public final class ManifestWriter {
    private static final String INDENT = "  ";

    private ManifestWriter() {
    }

    /**
     * A whole manifest in YAML.
     *
     * @param schema what editors shall look the fields up in, a path or URL; null for nothing
     * @param head   comment lines above it, without marks
     */
    public static String manifest(Proposal proposal, String agentId, String schema, List<String> head) {
        StringBuilder text = new StringBuilder();
        if (schema != null) {
            text.append("# yaml-language-server: $schema=").append(Escapes.line(schema)).append('\n');
        }
        for (String line : head) {
            text.append("# ").append(Escapes.line(line)).append('\n');
        }
        text.append("ver: \"").append(Manifest.VERSION).append("\"\nagent_id: ");
        Escapes.json(text, agentId);
        text.append("\nscope:").append(proposal.lines.isEmpty() ? " []\n" : "\n");
        for (String line : items(proposal)) {
            text.append(INDENT).append(line).append('\n');
        }
        return text.toString();
    }

    /** The items of the scope, each with its comment, line by line, for a list that begins at the margin. */
    public static List<String> items(Proposal proposal) {
        List<String> lines = new ArrayList<>();
        for (ProposedLine line : proposal.lines) {
            lines.add("# " + Escapes.line(evidence(line, proposal.places)));
            if (line.effects() == null) {
                lines.add("- " + item(line, proposal.places));
                continue;
            }
            lines.add("- predicate: " + line.predicate());
            StringBuilder resource = new StringBuilder(INDENT + "resource: ");
            Escapes.json(resource, proposal.places.text(line.resource()));
            lines.add(resource.toString());
            if (line.effects().isEmpty()) {
                lines.add(INDENT + "effects: [] # nothing was seen to change while it ran");
                continue;
            }
            lines.add(INDENT + "effects: # what it may touch: klock looks at what has changed, not at what it does");
            for (ProposedLine effect : line.effects()) {
                lines.add(INDENT + INDENT + "# " + Escapes.line(evidence(effect, proposal.places)));
                lines.add(INDENT + INDENT + "- " + item(effect, proposal.places));
            }
        }
        return lines;
    }

    /** What has to be added to the effects of programs that the manifest has already, a line each, for people. */
    public static List<String> effects(Proposal proposal) {
        List<String> lines = new ArrayList<>();
        for (Map.Entry<Set<String>, List<ProposedLine>> ran : proposal.beside.entrySet()) {
            for (ProposedLine line : ran.getValue()) {
                lines.add("changed while " + (ran.getKey().isEmpty() ? "a program" : String.join(" or ", ran.getKey()).replace(Places.LITERAL, "")) + " ran, outside of its effects; if it may, add there: - "
                        + item(line, proposal.places));
            }
        }
        return lines;
    }

    private static String item(ProposedLine line, Places places) {
        return Escapes.yaml(line.predicate() + " " + places.text(line.resource()));
    }

    private static String evidence(ProposedLine line, Places places) {
        Seen seen = line.evidence();
        StringBuilder text = new StringBuilder();
        if (seen.events > 0) {
            text.append(seen.events).append(seen.events == 1 ? " event" : " events");
        }
        if (seen.names > 1) {
            text.append(text.length() == 0 ? "" : ", ").append(seen.names).append(" names");
        }
        if (seen.sessions > 1) {
            text.append(", ").append(seen.sessions).append(" sessions");
        }
        if (seen.caller != null) {
            text.append(", ").append(seen.caller);
        }
        if (line.reason() != null) {
            text.append(", ").append(line.reason());
        }
        if (seen.implied) {
            text.append(text.length() == 0 ? "" : ", ").append("the next run will find what this one has left there");
        }
        Resource resource = line.resource();
        if (resource.scheme().equals("PROCESS") && line.predicate() == Predicate.PROVIDES && line.effects() == null) {
            text.append(text.length() == 0 ? "" : ", ").append("it did not run: say in effects: what it may touch, [] for nothing; without, it is taken to change all of its working directory");
        }
        if (resource.scheme().equals("FILE") && resource.form() == Resource.Form.EXACT && Generaliser.isRandom(places.below(resource.path()))) {
            text.append(text.length() == 0 ? "" : ", ").append("a name that the next run may not have: then ")
                    .append(places.isTooBroad(resource) ? "have it made elsewhere" : "declare its directory, or have it made elsewhere");
        }
        return text.toString();
    }
}
