package dev.klock.agent.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.klock.agent.observe.Op;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.ManifestReader;
import dev.klock.manifest.ReadOptions;
import dev.klock.manifest.SystemVariables;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The table of docs/events.md has each field that a log can hold, and no other. */
class OpenTelemetryPageTest {
    private static final Path PAGE = Path.of("..").toAbsolutePath().normalize().resolve("docs/events.md");
    private static final Pattern NAME = Pattern.compile("`([a-z_.]+)`");

    @TempDir
    Path directory;

    /** Of every kind of record, with all that each can have. */
    private List<String> records() throws Exception {
        Manifest manifest = new ManifestReader(new SystemVariables(directory.toString()), new ReadOptions()).read("klock.yaml",
                "ver: \"1.0\"\nagent_id: a\nscope: [\"MUTATES FILE:/w/a\"]\n".getBytes(StandardCharsets.UTF_8));
        List<Line> scope = manifest.scope();
        File file = directory.resolve("s.jsonl").toFile();
        VerificationLog log = VerificationLog.open(file, "s", "a", "strict", true, "klock.yaml",
                new Begun("s0", List.of(new Begun.Setting("mode", "strict", "by default")), Map.of("tmp", "/t"), scope));
        Event event = new Event(1_000, null, "main", Op.OPEN_FLAGS.name(), Predicate.MUTATES, Resource.file("/w/a"), "a", Decision.DENY, "mode", "a.B.c(B.java:3)", 2,
                "note", new Throwable().getStackTrace());
        log.record(event);
        log.lease("granted", 30, Collections.nCopies(VerificationLog.MAX_LEASES + 1, "MUTATES FILE:/w/a"), "detail");
        log.recovered("s1", "crashed", List.of(), List.of(), List.of());
        List<String> lines = new ArrayList<>();
        try (OutputStream rest = Files.newOutputStream(file.toPath(), java.nio.file.StandardOpenOption.APPEND); CapturedStderr stderr = new CapturedStderr()) {
            log.writeTo(new OutputStream() {
                @Override
                public void write(int b) throws IOException {
                    throw new IOException("full");
                }
            });
            log.lease("lost", 0, List.of(), null);
            log.writeTo(rest);
            log.close(new Summary("completed", 0, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), 1));
            assertThat(stderr.text()).contains("full");
        }
        for (String line : Files.readAllLines(file.toPath())) {
            if (!line.isEmpty()) {
                lines.add(line);
            }
        }
        return lines;
    }

    private static Set<String> fields(List<String> records) throws IOException {
        Set<String> fields = new TreeSet<>();
        for (String record : records) {
            try (JsonParser parser = new JsonFactory().createParser(record)) {
                for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                    boolean isValue = token.isScalarValue() || token == JsonToken.START_ARRAY;
                    if (isValue) {
                        fields.add(parser.getParsingContext().pathAsPointer().toString().replaceAll("/\\d+", "").substring(1).replace('/', '.'));
                    }
                }
            }
        }
        // of objects, whose own fields are told
        fields.removeAll(Set.of("settings", "variables", "scope"));
        return fields;
    }

    @Test
    void table_hasEachFieldOfTheLog_andNoOther() throws Exception {
        String page = Files.readString(PAGE);
        List<String> told = new ArrayList<>();
        page.substring(page.indexOf("## OpenTelemetry")).lines().filter(line -> line.startsWith("| `")).forEach(line -> {
            String[] cells = line.split("\\|");
            List<String> names = names(cells[1]);
            told.addAll(names);
            int mapped = names(cells[2]).size();
            assertThat(mapped == names.size() || names.size() == 1 || mapped <= 1).as(line).isTrue();
        });

        assertThat(told).doesNotHaveDuplicates();
        assertThat(new TreeSet<>(told)).isEqualTo(fields(records()));
    }

    private static List<String> names(String cell) {
        List<String> names = new ArrayList<>();
        Matcher name = NAME.matcher(cell);
        while (name.find()) {
            names.add(name.group(1));
        }
        return names;
    }
}
