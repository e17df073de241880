package dev.klock.cli.report;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.log.Release;
import dev.klock.agent.log.Summary;
import dev.klock.cli.log.LogEvent;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;

/**
 * Violations in the Static Analysis Results Interchange Format 2.1.0, for what shows results beside code. A run for each session. What a result points
 * to is the manifest, which is where it is mended; who did it is its logical location and its stack.
 */
public final class SarifReport {
    private static final String[][] RULES = {
        {"klock/denied", "error", "An access outside the manifest was stopped", "The manifest does not declare it: declare it, or keep the agent from it."},
        {"klock/not-stopped", "warning", "An access outside the manifest went on", "It was not stopped, since the mode lets it, or since a child did it."},
        {"klock/not-rolled-back", "error", "A change of a session that was ended is still there", "Others changed it since, or it could not be put back: see klock.jar undo."},
        {"klock/unmonitored", "warning", "A JVM ran without klock", "Give it -javaagent:klock.jar."},
        {"klock/log-not-whole", "warning", "The log is not whole", "What is missing there is in no report."}};
    private static final int DENIED = 0;
    private static final int NOT_STOPPED = 1;
    private static final int NOT_ROLLED_BACK = 2;
    private static final int UNMONITORED = 3;
    private static final int NOT_WHOLE = 4;

    private final JsonGenerator json;

    private SarifReport(JsonGenerator json) {
        this.json = json;
    }

    /** Writes one log and a line feed. */
    public static void write(Writer out, List<SessionReport> reports) throws IOException {
        JsonGenerator json = JsonReport.generator(out);
        json.writeStartObject();
        json.writeStringField("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
        json.writeStringField("version", "2.1.0");
        json.writeArrayFieldStart("runs");
        for (SessionReport report : reports) {
            new SarifReport(json).run(report);
        }
        json.writeEndArray();
        json.writeEndObject();
        json.flush();
        out.write('\n');
    }

    private void run(SessionReport report) throws IOException {
        SessionStory story = report.story;
        json.writeStartObject();
        json.writeObjectFieldStart("tool");
        json.writeObjectFieldStart("driver");
        json.writeStringField("name", "klock");
        json.writeStringField("version", Release.VERSION);
        json.writeArrayFieldStart("rules");
        for (String[] rule : RULES) {
            json.writeStartObject();
            json.writeStringField("id", rule[0]);
            message("shortDescription", rule[2]);
            message("help", rule[3]);
            json.writeObjectFieldStart("defaultConfiguration");
            json.writeStringField("level", rule[1]);
            json.writeEndObject();
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
        json.writeEndObject();
        json.writeObjectFieldStart("automationDetails");
        json.writeStringField("id", "klock/" + HtmlReport.known(story.agent(), "") + "/" + story.id());
        json.writeEndObject();
        invocation(story);
        json.writeStringField("columnKind", "utf16CodeUnits");
        json.writeArrayFieldStart("results");
        for (SessionStory.Violation violation : story.violations.rows().values()) {
            violation(report, violation);
        }
        if (story.violations.beyond() > 0) {
            begin(DENIED, Verdict.times(story.violations.beyond(), "violation", "violations") + " of other resources: see the log");
            manifest(report, 0, null);
            json.writeEndObject();
        }
        each(report, NOT_ROLLED_BACK, story.told("conflicts"));
        each(report, UNMONITORED, story.told("unmonitored"));
        if (!story.isWhole()) {
            begin(NOT_WHOLE, "The log of session " + story.id() + " is not whole");
            manifest(report, 0, null);
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private void invocation(SessionStory story) throws IOException {
        json.writeArrayFieldStart("invocations");
        json.writeStartObject();
        json.writeBooleanField("executionSuccessful", story.end() != null);
        if (story.activity.startMs() != Long.MIN_VALUE) {
            json.writeStringField("startTimeUtc", Instant.ofEpochMilli(story.activity.startMs()).toString());
            json.writeStringField("endTimeUtc", Instant.ofEpochMilli(story.activity.lastMs()).toString());
        }
        if (story.exitCode() != Summary.UNKNOWN) {
            json.writeNumberField("exitCode", story.exitCode());
        }
        json.writeEndObject();
        json.writeEndArray();
    }

    private void violation(SessionReport report, SessionStory.Violation violation) throws IOException {
        LogEvent first = violation.first;
        Advice advice = report.advice(violation);
        StringBuilder text = new StringBuilder().append(violation.isDenied() ? "Denied: " : "Outside the manifest, and not stopped: ").append(first.predicate()).append(' ')
                .append(Visible.name(first.resource())).append('.');
        if (advice != null && advice.line() != null) {
            text.append(" To allow it, add to scope: - ").append(Visible.name(advice.line()));
        }
        begin(violation.isDenied() ? DENIED : NOT_STOPPED, text.toString());
        json.writeNumberField("occurrenceCount", violation.count);
        manifest(report, HtmlReport.lineOf(HtmlReport.known(first.decidedBy(), "")), first.caller());
        if (!first.stack().isEmpty()) {
            json.writeArrayFieldStart("stacks");
            json.writeStartObject();
            json.writeArrayFieldStart("frames");
            for (String frame : first.stack()) {
                json.writeStartObject();
                json.writeObjectFieldStart("location");
                logical(frame);
                json.writeEndObject();
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
            json.writeEndArray();
        }
        json.writeObjectFieldStart("partialFingerprints");
        json.writeStringField("klockTriple/v1", fingerprint(report.story.agent() + '\n' + first.predicate() + ' ' + first.resource()));
        json.writeEndObject();
        json.writeObjectFieldStart("properties");
        json.writeStringField("agent_id", first.agentId());
        json.writeStringField("predicate", first.predicate());
        json.writeStringField("resource", first.resource());
        json.writeNumberField("seq", first.seq());
        json.writeEndObject();
        json.writeEndObject();
    }

    private void each(SessionReport report, int rule, List<String> what) throws IOException {
        for (int i = 0; i < what.size() && i < SessionStory.MAX_VIOLATIONS; i++) {
            begin(rule, RULES[rule][2] + ": " + Visible.name(what.get(i)));
            manifest(report, 0, null);
            json.writeEndObject();
        }
    }

    private void begin(int rule, String text) throws IOException {
        json.writeStartObject();
        json.writeStringField("ruleId", RULES[rule][0]);
        json.writeNumberField("ruleIndex", rule);
        json.writeStringField("level", RULES[rule][1]);
        message("message", text);
    }

    private void message(String field, String text) throws IOException {
        json.writeObjectFieldStart(field);
        // a message's text has its own marks for links and placeholders
        json.writeStringField("text", text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("{", "{{").replace("}", "}}"));
        json.writeEndObject();
    }

    /** Where it can be mended; {@code line} 0 for the first one. */
    private void manifest(SessionReport report, int line, String caller) throws IOException {
        if (report.manifestFile == null && caller == null) {
            return;
        }
        json.writeArrayFieldStart("locations");
        json.writeStartObject();
        if (report.manifestFile != null) {
            json.writeObjectFieldStart("physicalLocation");
            json.writeObjectFieldStart("artifactLocation");
            json.writeStringField("uri", uri(report.manifestFile));
            json.writeEndObject();
            json.writeObjectFieldStart("region");
            json.writeNumberField("startLine", Math.max(1, line));
            json.writeEndObject();
            json.writeEndObject();
        }
        if (caller != null) {
            json.writeArrayFieldStart("logicalLocations");
            function(caller);
            json.writeEndArray();
        }
        json.writeEndObject();
        json.writeEndArray();
    }

    private void logical(String frame) throws IOException {
        json.writeArrayFieldStart("logicalLocations");
        function(frame);
        json.writeEndArray();
        message("message", frame);
    }

    private void function(String frame) throws IOException {
        int parenthesis = frame.indexOf('(');
        json.writeStartObject();
        json.writeStringField("fullyQualifiedName", parenthesis < 0 ? frame : frame.substring(0, parenthesis));
        json.writeStringField("kind", "function");
        json.writeEndObject();
    }

    /** Relative to where the report is made, if it is below; so a repository's service finds it. */
    private static String uri(String file) {
        Path path = Paths.get(file).toAbsolutePath().normalize();
        Path here = Paths.get("").toAbsolutePath();
        StringBuilder uri = new StringBuilder(path.startsWith(here) ? "" : "file://");
        Path shown = path.startsWith(here) ? here.relativize(path) : path;
        for (byte b : shown.toString().getBytes(StandardCharsets.UTF_8)) {
            int c = b & 0xff;
            boolean plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || "/-._~".indexOf(c) >= 0;
            uri.append(plain ? Character.toString(c) : String.format("%%%02X", c));
        }
        return uri.toString();
    }

    private static String fingerprint(String text) throws IOException {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest, 0, 16);
        } catch (GeneralSecurityException e) {
            throw new IOException("this JVM has no SHA-256", e);
        }
    }
}
