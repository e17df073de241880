package dev.klock.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Summary;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What one session's log says of it as a whole. Read record by record, so that a log of any size can be; a record torn by a crash or a
 * full disk is counted and passed over.
 */
final class SessionRecord {
    private static final JsonFactory JSON = new JsonFactory();

    String id;
    String agent;
    String mode;
    String manifest;
    String started;
    long pid;
    /** Accesses by decision, in the order of {@link Decision}. */
    final long[] counts = new long[Decision.values().length];
    /** How it ended, null as long as the log has no summary. */
    String end;
    int exitCode = Summary.UNKNOWN;
    int rolledBack;
    int conflicts;
    long unreadable;
    long lost;

    private boolean summarised;
    private boolean withoutLog;

    private SessionRecord() {
    }

    /** One of which there are images, and no log any more; {@code startedMs} 0 for unknown. */
    static SessionRecord withoutLog(String id, long startedMs) {
        SessionRecord session = new SessionRecord();
        session.id = id;
        session.started = startedMs == 0 ? null : Instant.ofEpochMilli(startedMs).toString();
        session.withoutLog = true;
        return session;
    }

    boolean isWithoutLog() {
        return withoutLog;
    }

    /** Of every session that {@code home} has the log of, in no order. */
    static List<SessionRecord> all(Path home) throws IOException {
        List<SessionRecord> sessions = new ArrayList<>();
        File[] logs = home.resolve("log").toFile().listFiles((dir, name) -> name.endsWith(".jsonl"));
        if (logs != null) {
            for (File log : logs) {
                sessions.add(read(log));
            }
        }
        return sessions;
    }

    /** Reads the log whose first file is {@code first}, with the files that followed it. */
    static SessionRecord read(File first) throws IOException {
        SessionRecord session = new SessionRecord();
        String name = first.getName();
        session.id = name.substring(0, name.length() - ".jsonl".length());
        File[] parts = first.getParentFile().listFiles((dir, other) -> other.matches(Pattern.quote(name) + "(\\.[0-9]{1,9})?"));
        Arrays.sort(parts, Comparator.comparingInt(file -> number(file, name)));
        for (File part : parts) {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(Files.newInputStream(part.toPath()), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (!line.isEmpty()) {
                        session.add(line);
                    }
                }
            }
        }
        return session;
    }

    private static int number(File part, String first) {
        return part.getName().equals(first) ? 0 : Integer.parseInt(part.getName().substring(first.length() + 1));
    }

    private void add(String line) {
        String decision = null;
        long count = 1;
        try (JsonParser json = JSON.createParser(line)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                unreadable++;
                return;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String field = json.currentName();
                json.nextToken();
                switch (field) {
                    case "summary":
                        summary(json);
                        break;
                    case "decision":
                        decision = json.getText();
                        break;
                    case "count":
                        count = json.getValueAsLong();
                        break;
                    case "lost":
                        lost += json.getValueAsLong();
                        break;
                    case "session_id":
                        id = json.getText();
                        break;
                    case "mode":
                        mode = json.getText();
                        break;
                    case "manifest":
                        manifest = json.getText();
                        break;
                    case "started":
                        started = json.getText();
                        break;
                    case "pid":
                        pid = json.getValueAsLong();
                        break;
                    case "agent_id":
                        agent = agent == null ? json.getText() : agent;
                        break;
                    default:
                        json.skipChildren();
                        break;
                }
            }
        } catch (JsonProcessingException e) {
            unreadable++;
            return;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        if (decision != null && !summarised) {
            for (Decision each : Decision.values()) {
                if (each.word().equals(decision)) {
                    counts[each.ordinal()] += count;
                }
            }
        }
    }

    private void summary(JsonParser json) throws IOException {
        summarised = true;
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            JsonToken value = json.nextToken();
            if (field.equals("end")) {
                end = json.getText();
            } else if (field.equals("exit_code")) {
                exitCode = json.getIntValue();
            } else if (value == JsonToken.START_ARRAY) {
                int items = 0;
                while (json.nextToken() != JsonToken.END_ARRAY) {
                    items++;
                }
                rolledBack = field.equals("rolled_back") ? items : rolledBack;
                conflicts = field.equals("conflicts") ? items : conflicts;
            } else {
                for (Decision each : Decision.values()) {
                    if (each.word().equals(field)) {
                        counts[each.ordinal()] = json.getLongValue();
                    }
                }
            }
        }
    }

    /** When it began, in milliseconds since the epoch; 0 if the log does not say. */
    long startedMs() {
        try {
            return started == null ? 0 : Instant.parse(started).toEpochMilli();
        } catch (DateTimeParseException e) {
            return 0;
        }
    }

    /** {@code end}, or for a log without a summary whether its process still runs. */
    String state() {
        if (end != null) {
            return end;
        }
        if (withoutLog) {
            return "unknown";
        }
        return isRunning() ? "running" : "crashed";
    }

    /** Whether it has a log without a summary, and its process runs no more. */
    boolean isCrashed() {
        return end == null && !withoutLog && !isRunning();
    }

    /** A process of that number that began before the log did is the session's; a later one got the number anew. */
    private boolean isRunning() {
        if (pid <= 0 || started == null) {
            return false;
        }
        try {
            Instant logBegan = Instant.parse(started);
            return ProcessHandle.of(pid).flatMap(process -> process.info().startInstant()).filter(began -> !began.isAfter(logBegan.plusSeconds(1))).isPresent();
        } catch (DateTimeParseException e) {
            return false;
        }
    }
}
