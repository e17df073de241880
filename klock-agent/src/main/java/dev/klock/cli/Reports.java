package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.backup.RollbackReport;
import java.io.IOException;
import java.util.Locale;

/** What a rollback did, in JSON. */
final class Reports {
    private Reports() {
    }

    /**
     * Writes the fields {@code damage}, as given, what is missing of the journal or null, {@code displaced}, the directory of what gave way or null, and
     * {@code paths}: one object for each path that was looked at.
     */
    static void write(JsonGenerator json, RollbackReport report, String damage) throws IOException {
        json.writeStringField("damage", damage);
        json.writeStringField("displaced", report.displacedIn() == null ? null : report.displacedIn().toString());
        json.writeArrayFieldStart("paths");
        for (RollbackReport.Entry entry : report.entries()) {
            json.writeStartObject();
            json.writeStringField("path", entry.exactName());
            json.writeStringField("outcome", entry.outcome().name().toLowerCase(Locale.ROOT));
            json.writeStringField("detail", entry.detail());
            json.writeStringField("aside", entry.aside() == null ? null : entry.aside().toString());
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
