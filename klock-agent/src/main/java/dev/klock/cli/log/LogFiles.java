package dev.klock.cli.log;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Summary;
import dev.klock.agent.log.VerificationLog;
import java.io.CharConversionException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** One session's log: its first file and those that followed it. Immutable. */
public final class LogFiles {
    private static final JsonFactory JSON = JsonFactory.builder().disable(StreamReadFeature.AUTO_CLOSE_SOURCE).build();
    /** The most of what a summary names that is kept of one kind; but for the manifest's lines, of which there are as many as there are. */
    private static final int MAX_NAMED = 10_000;
    /** The most of anything that one record counts; more is damage. So sums of them stay within a long. */
    private static final long MAX_COUNT = 1L << 40;
    private static final Set<String> LINES = Set.of("declared", "used", "unused");
    private static final String ENDING = ".jsonl";

    private final File first;

    private LogFiles(File first) {
        this.first = first;
    }

    /** Of every session that {@code home} has the log of, in the order of their names. */
    public static List<LogFiles> all(Path home) {
        List<LogFiles> all = new ArrayList<>();
        File[] logs = home.resolve("log").toFile().listFiles((dir, name) -> name.endsWith(ENDING) && isLog(new File(dir, name)));
        if (logs != null) {
            Arrays.sort(logs);
            for (File log : logs) {
                all.add(new LogFiles(log));
            }
        }
        return all;
    }

    /** Not a pipe, which nobody may write to, nor a link to what has no end: children can leave such things there. */
    private static boolean isLog(File file) {
        return Files.isRegularFile(file.toPath(), LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * That of the session {@code id} in {@code home}.
     *
     * @throws UsageException there is none
     */
    public static LogFiles ofSession(Path home, String id) throws UsageException {
        File first = home.resolve("log").resolve(SessionClaim.fileName(id) + ENDING).toFile();
        if (!isLog(first)) {
            throw new UsageException("there is no log of a session " + id + " in " + home + "; see java -jar klock.jar sessions");
        }
        return new LogFiles(first);
    }

    /** The log that begins with {@code first}. */
    public static LogFiles of(File first) {
        return new LogFiles(first);
    }

    /** What the file is named after: the session's id, or a form of it that a file can have. */
    public String name() {
        String name = first.getName();
        return name.endsWith(ENDING) ? name.substring(0, name.length() - ENDING.length()) : name;
    }

    /** The first file. */
    public File file() {
        return first;
    }

    /** Reads all of it. */
    public void read(LogVisitor visitor) throws IOException {
        File directory = first.getAbsoluteFile().getParentFile();
        String name = first.getName();
        File[] parts = directory.listFiles((dir, other) -> other.equals(name) || other.matches(Pattern.quote(name) + "\\.[0-9]{1,9}") && isLog(new File(dir, other)));
        if (parts == null || parts.length == 0) {
            throw new IOException("there is no log " + first);
        }
        Arrays.sort(parts, Comparator.comparingInt(file -> number(file, name)));
        for (File part : parts) {
            int number = number(part, name);
            try (Line line = new Line(Files.newInputStream(part.toPath()))) {
                boolean ours = true;
                while (line.begin()) {
                    if (ours) {
                        ours = record(line, number, visitor);
                    } else {
                        visitor.unreadable();
                    }
                }
            }
        }
    }

    /** Reads the first record only. */
    public void readFirst(LogVisitor visitor) throws IOException {
        try (Line line = new Line(Files.newInputStream(first.toPath()))) {
            if (line.begin()) {
                record(line, 0, visitor);
            }
        }
    }

    /** One line of a file after the other, as if it were all there is: a summary may name very much, and is not to be held as a whole. */
    private static final class Line extends InputStream {
        private final InputStream file;
        private final byte[] buffer = new byte[1 << 16];
        private int at;
        private int end;
        private boolean begun;

        Line(InputStream file) {
            this.file = file;
        }

        /** Whether there is a byte to be looked at. */
        private boolean isFilled() throws IOException {
            if (at == end) {
                at = 0;
                end = Math.max(0, file.read(buffer));
            }
            return at < end;
        }

        /** Goes from the line that was begun last, however far it was read, to the next one that is not empty; false if there is none. */
        boolean begin() throws IOException {
            while (begun && isFilled() && buffer[at] != '\n') {
                at = lineEnd();
            }
            begun = true;
            while (isFilled() && buffer[at] == '\n') {
                at++;
            }
            return isFilled();
        }

        /** Of what is in the buffer. */
        private int lineEnd() {
            int i = at;
            while (i < end && buffer[i] != '\n') {
                i++;
            }
            return i;
        }

        @Override
        public int read() throws IOException {
            return isFilled() && buffer[at] != '\n' ? buffer[at++] & 0xff : -1;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (!isFilled() || buffer[at] == '\n') {
                return -1;
            }
            int n = Math.min(length, lineEnd() - at);
            System.arraycopy(buffer, at, to, offset, n);
            at += n;
            return n;
        }

        /** The file, not a line of it. */
        @Override
        public void close() throws IOException {
            file.close();
        }
    }

    private static int number(File part, String first) {
        return part.getName().equals(first) ? 0 : Integer.parseInt(part.getName().substring(first.length() + 1));
    }

    /** False if the file is one of another format, of which nobody knows what its records mean. */
    private static boolean record(Line line, int part, LogVisitor visitor) throws IOException {
        String[] text = new String[Field.values().length];
        long count = 1;
        long seq = 0;
        long pid = 0;
        long lost = 0;
        int number = 0;
        LogSummary summary = null;
        LogLease lease = null;
        LogRecovered recovered = null;
        List<String> stack = List.of();
        List<LogHeader.Setting> settings = List.of();
        Map<String, String> variables = Map.of();
        List<LogHeader.Declared> declared = List.of();
        try (JsonParser json = JSON.createParser(line)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                visitor.unreadable();
                return true;
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String name = json.currentName();
                json.nextToken();
                switch (name) {
                    case "summary":
                        summary = summary(json);
                        break;
                    case "lease":
                        lease = lease(json);
                        break;
                    case "recovered":
                        recovered = recovered(json);
                        break;
                    case "stack":
                        stack = texts(json);
                        break;
                    case "settings":
                        settings = settings(json);
                        break;
                    case "variables":
                        variables = variables(json);
                        break;
                    case "scope":
                        declared = declared(json);
                        break;
                    case "part":
                        number = json.getValueAsInt();
                        break;
                    case "count":
                        count = count(json.getValueAsLong(1));
                        break;
                    case "seq":
                        seq = json.getValueAsLong();
                        break;
                    case "pid":
                        pid = json.getValueAsLong();
                        break;
                    case "lost":
                        lost = count(json.getValueAsLong());
                        break;
                    default:
                        Field field = Field.named(name);
                        if (field != null && json.currentToken().isScalarValue() && json.currentToken() != JsonToken.VALUE_NULL) {
                            text[field.ordinal()] = json.getText();
                        } else {
                            json.skipChildren();
                        }
                        break;
                }
            }
        } catch (JsonProcessingException | CharConversionException e) {
            // the latter of what begins like UTF-32, as zeroes do that a crash has left
            visitor.unreadable();
            return true;
        }
        String schema = get(text, Field.SCHEMA);
        if (schema != null && !schema.equals(VerificationLog.SCHEMA)) {
            visitor.unreadable();
            return false;
        }
        Decision decision = decision(text[Field.DECISION.ordinal()]);
        if (summary != null) {
            visitor.summary(new LogSummary(get(text, Field.TS), summary.end(), summary.exitCode(), summary.counts(), summary.lists(), summary.more(), summary.images()));
        } else if (lost > 0) {
            visitor.lost(lost);
        } else if (lease != null) {
            visitor.lease(lease.at(get(text, Field.TS)));
        } else if (recovered != null) {
            visitor.recovered(recovered);
        } else if (decision != null && (get(text, Field.PREDICATE) == null || get(text, Field.RESOURCE) == null)) {
            visitor.unreadable();
        } else if (decision != null) {
            visitor.event(new LogEvent(part, get(text, Field.TS), seq, get(text, Field.SESSION_ID), get(text, Field.AGENT_ID), get(text, Field.THREAD),
                    get(text, Field.OP), get(text, Field.PREDICATE), get(text, Field.RESOURCE), get(text, Field.REQUESTED), decision,
                    get(text, Field.DECIDED_BY), get(text, Field.CALLER), Math.max(1, count), get(text, Field.NOTE), stack));
        } else if (get(text, Field.MODE) != null || schema != null) {
            visitor.header(new LogHeader(schema, get(text, Field.SESSION_ID), get(text, Field.AGENT_ID), get(text, Field.MODE),
                    get(text, Field.MANIFEST), get(text, Field.JAVA), get(text, Field.STARTED), pid, number,
                    get(text, Field.PROCESS), settings, variables, declared));
        }
        return true;
    }

    private static long count(long number) {
        return Math.max(0, Math.min(number, MAX_COUNT));
    }

    private static String get(String[] text, Field field) {
        return text[field.ordinal()];
    }

    private static Decision decision(String word) {
        for (Decision each : Decision.values()) {
            if (each.word().equals(word)) {
                return each;
            }
        }
        return null;
    }

    private static LogSummary summary(JsonParser json) throws IOException {
        String end = null;
        int exitCode = Summary.UNKNOWN;
        long images = 0;
        long[] counts = new long[Decision.values().length];
        Map<String, List<String>> lists = new LinkedHashMap<>();
        Map<String, Long> more = new LinkedHashMap<>();
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String field = json.currentName();
            JsonToken value = json.nextToken();
            Decision decision = decision(field);
            if (field.equals("end")) {
                end = json.getText();
            } else if (field.equals("exit_code")) {
                exitCode = json.getIntValue();
            } else if (field.equals("images") && value == JsonToken.VALUE_NUMBER_INT) {
                images = count(json.getLongValue());
            } else if (decision != null) {
                counts[decision.ordinal()] = count(json.getLongValue());
            } else if (value == JsonToken.START_ARRAY) {
                more.put(field, texts(json, LINES.contains(field) ? Integer.MAX_VALUE : MAX_NAMED, lists.computeIfAbsent(field, name -> new ArrayList<>())));
            } else {
                json.skipChildren();
            }
        }
        return new LogSummary(null, end, exitCode, counts, lists, more, images);
    }

    /** The items of an array; none if it is something else. */
    private static List<String> texts(JsonParser json) throws IOException {
        List<String> items = new ArrayList<>();
        if (json.currentToken() != JsonToken.START_ARRAY) {
            json.skipChildren();
            return items;
        }
        texts(json, Integer.MAX_VALUE, items);
        return items;
    }

    /** Adds the items of an array to {@code to} until that has {@code max}, and answers how many there were beside. */
    private static long texts(JsonParser json, int max, List<String> to) throws IOException {
        long more = 0;
        while (json.nextToken() != JsonToken.END_ARRAY) {
            if (json.currentToken() == null) {
                // torn
                return more;
            }
            if (to.size() < max) {
                to.add(json.getText());
            } else {
                more++;
            }
            json.skipChildren();
        }
        return more;
    }

    /** The fields of an object that are text or numbers, in the order of {@code names}; all null if it is something else. */
    private static String[] fields(JsonParser json, Map<String, List<String>> lists, String... names) throws IOException {
        String[] values = new String[names.length];
        if (json.currentToken() != JsonToken.START_OBJECT) {
            json.skipChildren();
            return values;
        }
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String name = json.currentName();
            JsonToken value = json.nextToken();
            int index = Arrays.asList(names).indexOf(name);
            if (value == JsonToken.START_ARRAY) {
                lists.put(name, texts(json));
            } else if (index >= 0 && value.isScalarValue() && value != JsonToken.VALUE_NULL) {
                values[index] = json.getText();
            } else {
                json.skipChildren();
            }
        }
        return values;
    }

    private static LogLease lease(JsonParser json) throws IOException {
        Map<String, List<String>> lists = new LinkedHashMap<>();
        String[] values = fields(json, lists, "state", "waited_ms", "detail");
        return new LogLease(null, values[0], count(number(values[1])), lists.getOrDefault("triples", List.of()), values[2]);
    }

    private static LogRecovered recovered(JsonParser json) throws IOException {
        Map<String, List<String>> lists = new LinkedHashMap<>();
        String[] values = fields(json, lists, "session_id", "result");
        return new LogRecovered(values[0], values[1], lists.getOrDefault("conflicts", List.of()));
    }

    private static List<LogHeader.Setting> settings(JsonParser json) throws IOException {
        List<LogHeader.Setting> settings = new ArrayList<>();
        for (String[] values : objects(json, "key", "value", "origin")) {
            settings.add(new LogHeader.Setting(values[0], values[1], values[2]));
        }
        return settings;
    }

    /** Only of what can be a directory's name; what else stands there is damage. */
    private static Map<String, String> variables(JsonParser json) throws IOException {
        Map<String, String> variables = new LinkedHashMap<>();
        for (String[] values : objects(json, "name", "value")) {
            if (values[0] != null && values[1] != null && values[1].startsWith("/")) {
                variables.put(values[0], values[1]);
            }
        }
        return variables;
    }

    private static List<LogHeader.Declared> declared(JsonParser json) throws IOException {
        List<LogHeader.Declared> declared = new ArrayList<>();
        for (String[] values : objects(json, "line", "triple")) {
            declared.add(new LogHeader.Declared((int) number(values[0]), values[1]));
        }
        return declared;
    }

    /** {@link #fields} of each item of an array; none if it is something else. */
    private static List<String[]> objects(JsonParser json, String... names) throws IOException {
        List<String[]> items = new ArrayList<>();
        if (json.currentToken() != JsonToken.START_ARRAY) {
            json.skipChildren();
            return items;
        }
        while (json.nextToken() != JsonToken.END_ARRAY) {
            items.add(fields(json, new LinkedHashMap<>(), names));
        }
        return items;
    }

    private static long number(String text) {
        try {
            return text == null ? 0 : Long.parseLong(text);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    /** The fields that are text. */
    private enum Field {
        SCHEMA("schema"), SESSION_ID("session_id"), AGENT_ID("agent_id"), MODE("mode"), MANIFEST("manifest"), JAVA("java"), STARTED("started"), TS("ts"),
        THREAD("thread"), OP("op"), PREDICATE("predicate"), RESOURCE("resource"), REQUESTED("requested"), DECISION("decision"),
        DECIDED_BY("decided_by"), CALLER("caller"), NOTE("note"), PROCESS("process");

        private static final Field[] ALL = values();
        private final String name;

        Field(String name) {
            this.name = name;
        }

        static Field named(String name) {
            for (Field field : ALL) {
                if (field.name.equals(name)) {
                    return field;
                }
            }
            return null;
        }
    }
}
