package dev.klock.digest;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.klock.kernel.Change;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.resource.Resource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The file that tells a program what others may have changed before it began (K5-10, K5-11), as JSON: who it is for, and an entry for each change
 * with {@code by} (absent where anybody may have been), {@code predicate}, {@code resource} and {@code at}, milliseconds since 1970.
 */
public final class ObservationUpdate {
    /** The system property that names the file; not set where there is nothing to tell. */
    public static final String PROPERTY = "dev.klock.observation-update";

    private static final String VERSION = "1.0";

    /** Nothing that old versions of Jackson lack: this is read in programs that may bring one. */
    private static final JsonFactory JSON = new JsonFactory();

    private ObservationUpdate() {}

    /** The text of the file. */
    public static byte[] write(String agentId, String sessionId, List<Change> changes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(512);
        try (JsonGenerator g = JSON.createGenerator(out)) {
            g.writeStartObject();
            g.writeStringField("version", VERSION);
            g.writeStringField("agent_id", agentId);
            g.writeStringField("session_id", sessionId);
            g.writeArrayFieldStart("changes");
            for (Change change : changes) {
                g.writeStartObject();
                if (change.by() != null) {
                    g.writeObjectFieldStart("by");
                    g.writeStringField("namespace", change.by().namespace());
                    g.writeStringField("agent_id", change.by().agentId());
                    g.writeStringField("session_id", change.by().sessionId());
                    g.writeEndObject();
                }
                g.writeStringField("predicate", change.predicate().name());
                g.writeStringField("resource", change.resource().toString());
                g.writeNumberField("at", change.atMs());
                g.writeEndObject();
            }
            g.writeEndArray();
            g.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    /**
     * The changes that {@link #write} has written. Fields that it does not know are passed over.
     *
     * @throws IOException it is no such text; the message says why
     */
    public static List<Change> read(byte[] bytes) throws IOException {
        List<Change> changes = new ArrayList<>();
        try (JsonParser p = JSON.createParser(bytes)) {
            object(p, p.nextToken(), field -> {
                if (!field.equals("changes")) {
                    return false;
                }
                require(p.currentToken() == JsonToken.START_ARRAY, "changes are no array");
                for (JsonToken next = p.nextToken(); next != JsonToken.END_ARRAY; next = p.nextToken()) {
                    changes.add(change(p, next));
                }
                return true;
            });
        } catch (IllegalArgumentException e) {
            throw new IOException("no observation update: " + e.getMessage(), e);
        }
        return changes;
    }

    private static Change change(JsonParser p, JsonToken at) throws IOException {
        String[] by = new String[3];
        String[] what = new String[2];
        long[] atMs = new long[1];
        object(p, at, field -> {
            switch (field) {
                case "by":
                    return object(p, p.currentToken(), inner -> text(p, inner, by, "namespace", "agent_id", "session_id"));
                case "at":
                    atMs[0] = p.getLongValue();
                    return true;
                default:
                    return text(p, field, what, "predicate", "resource");
            }
        });
        boolean anybody = by[0] == null && by[1] == null && by[2] == null;
        require(what[0] != null && what[1] != null && (anybody || by[0] != null && by[1] != null && by[2] != null), "a change is not complete");
        return new Change(anybody ? null : new SessionKey(by[0], by[1], by[2]), Predicate.valueOf(what[0]), Resource.parse(what[1]), atMs[0]);
    }

    /** Takes a field; false if it does not know it. */
    private interface Fields {
        boolean take(String field) throws IOException;
    }

    private static boolean object(JsonParser p, JsonToken at, Fields fields) throws IOException {
        require(at == JsonToken.START_OBJECT, "it is no object");
        while (p.nextToken() != JsonToken.END_OBJECT) {
            require(p.currentToken() == JsonToken.FIELD_NAME, "it is no object");
            String field = p.getText();
            p.nextToken();
            if (!fields.take(field)) {
                p.skipChildren();
            }
        }
        return true;
    }

    private static boolean text(JsonParser p, String field, String[] to, String... names) throws IOException {
        for (int i = 0; i < names.length; i++) {
            if (names[i].equals(field)) {
                require(p.currentToken() == JsonToken.VALUE_STRING, field + " is no text");
                to[i] = p.getText();
                return true;
            }
        }
        return false;
    }

    private static void require(boolean is, String what) throws IOException {
        if (!is) {
            throw new IOException("no observation update: " + what);
        }
    }
}
