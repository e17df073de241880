package dev.klock.cli.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Release;
import dev.klock.agent.log.Summary;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogLease;
import java.io.IOException;
import java.io.Writer;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The report as JSON, all in ASCII; texts are cut at {@link SessionStory#MAX_TEXT} units, lists where {@code more} says so. */
public final class JsonReport {
    private JsonReport() {
    }

    /** Writes one value and a line feed. */
    public static void write(Writer out, List<SessionReport> reports) throws IOException {
        JsonGenerator json = generator(out);
        json.writeStartObject();
        json.writeStringField("schema", "klock.report/1");
        json.writeStringField("klock", Release.VERSION);
        json.writeArrayFieldStart("sessions");
        for (SessionReport report : reports) {
            session(json, report);
        }
        json.writeEndArray();
        json.writeEndObject();
        json.flush();
        out.write('\n');
    }

    /** Does not close {@code out}. */
    static JsonGenerator generator(Writer out) throws IOException {
        JsonGenerator json = JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build().createGenerator(out);
        json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
        json.setPrettyPrinter(new DefaultPrettyPrinter());
        return json;
    }

    private static void session(JsonGenerator json, SessionReport report) throws IOException {
        SessionStory story = report.story;
        Verdict verdict = Verdict.of(report);
        json.writeStartObject();
        json.writeStringField("session_id", story.id());
        json.writeStringField("agent_id", story.agent());
        json.writeStringField("mode", story.mode());
        json.writeStringField("manifest", story.manifest());
        json.writeStringField("process", story.process());
        json.writeStringField("started", story.started());
        json.writeObjectFieldStart("verdict");
        json.writeStringField("level", verdict.level().name().toLowerCase(Locale.ROOT));
        json.writeStringField("title", verdict.title());
        json.writeStringField("text", verdict.text().trim());
        json.writeEndObject();
        json.writeStringField("end", story.end());
        if (story.exitCode() != Summary.UNKNOWN) {
            json.writeNumberField("exit_code", story.exitCode());
        }
        for (Decision decision : Decision.values()) {
            json.writeNumberField(decision.word(), story.count(decision));
        }
        violations(json, report);
        declared(json, story);
        json.writeArrayFieldStart("files");
        for (FileChange change : report.changes) {
            json.writeStartObject();
            json.writeStringField("path", change.path());
            json.writeStringField("change", change.change());
            json.writeStringField("state", change.state());
            json.writeStringField("diff", change.lines().isEmpty() ? null : String.join("\n", change.lines()) + "\n");
            json.writeNumberField("more", change.more());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberField("files_more", report.changesBeyond);
        for (String list : new String[] {"rolled_back", "conflicts", "notes", "unmonitored", "unused_hooks"}) {
            array(json, list, story.told(list));
        }
        opaque(json, "programs", story.programs);
        opaque(json, "native", story.nativeCode);
        leases(json, story);
        json.writeArrayFieldStart("settings");
        for (LogHeader.Setting setting : story.settings()) {
            json.writeStartObject();
            json.writeStringField("key", setting.key());
            json.writeStringField("value", setting.value());
            json.writeStringField("origin", setting.origin());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeObjectFieldStart("log");
        json.writeBooleanField("whole", story.isWhole());
        json.writeNumberField("records", story.records);
        json.writeNumberField("lost", story.lost);
        json.writeNumberField("torn", story.unreadable);
        json.writeNumberField("files_missing", story.partsMissing);
        json.writeEndObject();
        json.writeEndObject();
    }

    private static void violations(JsonGenerator json, SessionReport report) throws IOException {
        json.writeArrayFieldStart("violations");
        for (SessionStory.Violation violation : report.story.violations.rows().values()) {
            LogEvent first = violation.first;
            Advice advice = report.advice(violation);
            json.writeStartObject();
            json.writeNumberField("seq", first.seq());
            json.writeStringField("ts", first.ts());
            json.writeStringField("decision", first.decision().word());
            json.writeStringField("predicate", first.predicate());
            json.writeStringField("resource", first.resource());
            json.writeStringField("requested", first.requested());
            json.writeStringField("decided_by", first.decidedBy());
            json.writeStringField("op", first.op());
            array(json, "threads", violation.threads);
            json.writeStringField("caller", first.caller());
            array(json, "stack", first.stack());
            json.writeNumberField("count", violation.count);
            json.writeStringField("note", first.note());
            json.writeStringField("now", advice == null ? null : advice.allowed() ? "allowed" : "not allowed");
            json.writeStringField("why", advice == null ? null : advice.why());
            json.writeStringField("fix", advice == null ? null : advice.line());
            array(json, "nearest", advice == null ? List.of() : advice.nearest());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberField("violations_more", report.story.violations.beyond());
    }

    private static void declared(JsonGenerator json, SessionStory story) throws IOException {
        json.writeArrayFieldStart("declared");
        for (LogHeader.Declared line : story.declared()) {
            json.writeStartObject();
            json.writeNumberField("line", line.line());
            json.writeStringField("triple", line.triple());
            json.writeEndObject();
        }
        json.writeEndArray();
        array(json, "used", story.told("used"));
        array(json, "unused", story.told("unused"));
        json.writeArrayFieldStart("observed");
        for (Map.Entry<String, SessionStory.Use> use : story.uses.rows().entrySet()) {
            json.writeStartObject();
            json.writeStringField("decided_by", use.getKey());
            json.writeNumberField("count", use.getValue().count);
            array(json, "predicates", use.getValue().predicates);
            array(json, "samples", use.getValue().samples);
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void opaque(JsonGenerator json, String name, Counted<SessionStory.Opaque> all) throws IOException {
        json.writeArrayFieldStart(name);
        for (Map.Entry<String, SessionStory.Opaque> one : all.rows().entrySet()) {
            json.writeStartObject();
            json.writeStringField("resource", one.getKey());
            json.writeNumberField("count", one.getValue().count);
            array(json, "notes", one.getValue().notes);
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void leases(JsonGenerator json, SessionStory story) throws IOException {
        json.writeArrayFieldStart("leases");
        for (LogLease lease : story.leases) {
            json.writeStartObject();
            json.writeStringField("ts", lease.ts());
            json.writeStringField("state", lease.state());
            json.writeNumberField("waited_ms", lease.waitedMs());
            array(json, "triples", lease.triples());
            json.writeStringField("detail", lease.detail());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void array(JsonGenerator json, String name, Collection<String> texts) throws IOException {
        json.writeArrayFieldStart(name);
        for (String text : texts) {
            json.writeString(text);
        }
        json.writeEndArray();
    }
}
