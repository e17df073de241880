package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.manifest.Line;
import java.io.IOException;
import java.util.Collection;

/** A manifest's lines in JSON answers. */
final class Lines {
    private Lines() {
    }

    /** Writes the field {@code name}, of names in their order. */
    static void writeNames(JsonGenerator json, String name, Collection<String> names) throws IOException {
        json.writeArrayFieldStart(name);
        for (String one : names) {
            json.writeString(one);
        }
        json.writeEndArray();
    }

    /** Writes one line as an object; null as null. */
    static void write(JsonGenerator json, Line line) throws IOException {
        if (line == null) {
            json.writeNull();
            return;
        }
        json.writeStartObject();
        json.writeStringField("predicate", line.predicate().name());
        json.writeStringField("resource", line.resource().toString());
        json.writeStringField("text", line.text());
        json.writeNumberField("confidence", line.confidence());
        json.writeNumberField("line", line.line());
        json.writeNumberField("column", line.column());
        if (line.effects() != null) {
            json.writeArrayFieldStart("effects");
            for (Line effect : line.effects()) {
                write(json, effect);
            }
            json.writeEndArray();
        }
        json.writeEndObject();
    }
}
