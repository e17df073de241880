package dev.klock.agent.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VerificationLogTest {
    private static final Summary END = new Summary("completed", 0, List.of("MUTATES FILE:/w/**", "CONSUMES FILE:/x"),
            List.of("MUTATES FILE:/w/**"), List.of("CONSUMES FILE:/x"), List.of("MUTATES FILE:/etc/hosts"), List.of(), List.of(), List.of("FILE:/w/a (its times)"), List.of(), List.of("hook flags"));

    @TempDir
    File temp;
    private File file;

    @BeforeEach
    void nameFile() {
        file = new File(temp, "s.jsonl");
    }

    private VerificationLog open(long maxBytes, int maxFiles) throws IOException {
        return VerificationLog.open(file, "s-1", "agent", "strict", true, "/w/klock.yaml", maxBytes, maxFiles);
    }

    private VerificationLog open() throws IOException {
        return open(VerificationLog.MAX_FILE_BYTES, VerificationLog.MAX_FILES);
    }

    private static Event event(Decision decision, String path) {
        return new Event(1_000, null, "main", "open_flags", Predicate.MUTATES, Resource.file(path), null, decision, "klock.yaml:7", "a.B.c(B.java:3)");
    }

    private List<String> lines() throws IOException {
        return Files.readAllLines(file.toPath());
    }

    private static void assertJson(List<String> lines) throws IOException {
        for (String line : lines) {
            try (JsonParser parser = new JsonFactory().createParser(line)) {
                while (parser.nextToken() != null) {
                    // every token is read
                }
            }
        }
    }

    @Test
    @Tag("K6-6")
    void log_ofASession_beginsWithItsSchemaAndEndsWithItsSummary() throws IOException {
        VerificationLog log = open();
        log.record(event(Decision.ALLOW, "/w/a"));
        log.record(event(Decision.DENY, "/etc/hosts"));
        log.close(END);

        List<String> lines = lines();
        assertJson(lines);
        assertThat(lines).hasSize(4);
        assertThat(lines.get(0)).startsWith("{\"schema\":\"klock.event/1\",\"klock\":\"" + Release.VERSION + "\",\"session_id\":\"s-1\",\"agent_id\":\"agent\",\"mode\":\"strict\","
                + "\"compliant\":true,\"manifest\":\"/w/klock.yaml\",\"java\":\"").endsWith("Z\",\"part\":1}");
        assertThat(lines.get(1)).isEqualTo("{\"ts\":\"1970-01-01T00:00:01.000Z\",\"seq\":1,\"session_id\":\"s-1\",\"agent_id\":\"agent\","
                + "\"thread\":\"main\",\"op\":\"open_flags\",\"predicate\":\"MUTATES\",\"resource\":\"FILE:/w/a\",\"decision\":\"allow\","
                + "\"decided_by\":\"klock.yaml:7\",\"caller\":\"a.B.c(B.java:3)\"}");
        assertThat(lines.get(2)).contains("\"seq\":2,", "\"decision\":\"deny\"");
        assertThat(lines.get(3)).contains("\"seq\":3,", ",\"summary\":{\"end\":\"completed\",\"exit_code\":0,\"allow\":1,\"deny\":1,\"warn\":0,"
                + "\"learn\":0,\"declared\":[\"MUTATES FILE:/w/**\",\"CONSUMES FILE:/x\"],\"used\":[\"MUTATES FILE:/w/**\"],"
                + "\"unused\":[\"CONSUMES FILE:/x\"],\"violated\":[\"MUTATES FILE:/etc/hosts\"],\"rolled_back\":[],\"conflicts\":[],\"notes\":[\"FILE:/w/a (its times)\"],\"unmonitored\":[],\"unused_hooks\":[\"hook flags\"]}}");
    }

    @Test
    @Tag("C45")
    void recovery_ofAnEarlierSession_isOneRecord() throws IOException {
        VerificationLog log = open();
        log.recovered("s\n0", "crashed", List.of("FILE:/w/a"), List.of(), List.of("FILE:/w/a (its times)"));
        List<String> lines = lines();
        assertJson(lines);
        assertThat(lines.get(1)).contains("\"seq\":1,\"session_id\":\"s-1\"").endsWith(",\"recovered\":{\"session_id\":\"s\\n0\",\"result\":\"crashed\","
                + "\"rolled_back\":[\"FILE:/w/a\"],\"conflicts\":[],\"notes\":[\"FILE:/w/a (its times)\"]}}");
        log.close(END);
    }

    @Test
    void violation_recorded_isInTheFileAtOnceWithWhatWasBefore() throws IOException {
        VerificationLog log = open();
        log.record(event(Decision.ALLOW, "/w/a"));
        assertThat(lines()).hasSize(1);
        log.record(event(Decision.WARN, "/w/b"));
        assertThat(lines()).hasSize(3);
        log.record(event(Decision.ALLOW, "/w/c"));
        assertThat(lines()).hasSize(3);
        log.flush();
        assertThat(lines()).hasSize(4);
    }

    @Test
    void repeats_betweenFlushes_areOneRecordWithACount() throws IOException {
        VerificationLog log = open();
        for (int i = 0; i < 1000; i++) {
            log.record(event(Decision.DENY, "/etc/hosts"));
            log.record(event(Decision.ALLOW, "/w/a"));
        }
        log.close(END);

        List<String> lines = lines();
        assertThat(lines).hasSize(5);
        assertThat(lines.get(1)).contains("\"seq\":1,").doesNotContain("count");
        assertThat(lines.get(2)).contains("\"seq\":2,", "\"decision\":\"allow\"", "\"count\":1000}");
        assertThat(lines.get(3)).contains("\"seq\":3,", "\"decision\":\"deny\"", "\"count\":999}");
        assertThat(log.count(Decision.DENY)).isEqualTo(1000);
    }

    @Test
    void seq_inTheFile_risesByOne() throws IOException {
        VerificationLog log = open();
        for (int i = 0; i < 500; i++) {
            log.record(event(i % 7 == 0 ? Decision.DENY : Decision.ALLOW, "/w/" + i % 31));
            if (i % 50 == 0) {
                log.flush();
            }
        }
        log.close(END);

        Pattern seq = Pattern.compile("\"seq\":(\\d+)");
        long[] numbers = lines().stream().skip(1).mapToLong(line -> {
            Matcher matcher = seq.matcher(line);
            assertThat(matcher.find()).isTrue();
            return Long.parseLong(matcher.group(1));
        }).toArray();
        assertThat(numbers).containsExactly(IntStream.rangeClosed(1, numbers.length).asLongStream().toArray());
    }

    @Test
    @Tag("D25")
    void names_chosenByTheProgram_forgeNoRecord() throws IOException {
        VerificationLog log = open();
        log.record(new Event(1, "x\"", "t\n", "op", Predicate.MUTATES, Resource.file("/w/a\n{\"decision\":\"allow\"}\ud800"), "a\u001b", Decision.DENY,
                "b\u2028", "c\\"));
        log.close(END);
        assertJson(lines());
        assertThat(lines()).hasSize(3);
        assertThat(lines().get(1)).contains("\"resource\":\"FILE:/w/a\\n{\\\"decision\\\":\\\"allow\\\"}\\ud800\"", "\"requested\":\"a\\u001b\"");
    }

    @Test
    void log_full_goesOnInTheNextFileAndKeepsTheFirstAndTheNewest() throws IOException {
        VerificationLog log = open(2_000, 3);
        for (int i = 0; i < 60; i++) {
            log.record(event(Decision.DENY, "/w/" + i));
        }
        log.close(END);

        String[] names = temp.list();
        assertThat(names).hasSize(3).contains("s.jsonl");
        for (String name : names) {
            List<String> part = Files.readAllLines(new File(temp, name).toPath());
            assertJson(part);
            assertThat(part.get(0)).contains("\"part\":");
            if (!name.equals("s.jsonl")) {
                assertThat(part.get(0)).contains("\"part\":" + (Integer.parseInt(name.substring("s.jsonl.".length())) + 1) + "}");
            }
            assertThat(new File(temp, name).length()).isLessThan(2_900);
        }
        assertThat(lines().get(1)).contains("FILE:/w/0\"");
    }

    @Test
    void disk_full_isRefusedAtTheStart() {
        assertThatThrownBy(() -> VerificationLog.open(new File("/dev/full"), "s", "a", "strict", true, null)).isInstanceOf(IOException.class)
                .hasMessageContaining("No space left");
    }

    @Test
    void directory_deletedWhileRunning_costsOneLineAndNothingElse() throws IOException {
        try (CapturedStderr stderr = new CapturedStderr()) {
            File dir = new File(temp, "log");
            Files.createDirectory(dir.toPath());
            file = new File(dir, "s.jsonl");
            VerificationLog log = open(600, 3);
            Files.delete(file.toPath());
            Files.delete(dir.toPath());
            for (int i = 0; i < 100; i++) {
                log.record(event(Decision.DENY, "/w/" + i));
            }
            log.close(END);
            assertThat(stderr.text().lines()).hasSize(1).first().asString()
                    .startsWith("klock: the log " + file + " cannot be written (").endsWith("; the program goes on, and is guarded as before");
            assertThat(log.count(Decision.DENY)).isEqualTo(100);
        }
    }

    @Test
    void file_removedWhileRunning_isSaidAtTheEnd() throws IOException {
        try (CapturedStderr stderr = new CapturedStderr()) {
            VerificationLog log = open();
            Files.delete(file.toPath());
            log.close(END);
            assertThat(stderr.text()).contains("it was removed while the session ran").hasLineCount(1);
        }
    }

    @Test
    void writing_interruptedByAFullDisk_isToldInTheLogLater() throws Exception {
        try (CapturedStderr stderr = new CapturedStderr()) {
            VerificationLog log = open();
            FlakyStream disk = new FlakyStream(file);
            log.writeTo(disk);
            disk.full = true;
            log.record(event(Decision.DENY, "/w/1"));
            log.record(event(Decision.DENY, "/w/2"));
            disk.full = false;
            log.record(event(Decision.DENY, "/w/3"));
            log.close(END);

            assertThat(stderr.text()).contains("No space left on device").hasLineCount(1);
            List<String> lines = lines();
            assertThat(lines.get(1)).startsWith("{\"ts\":").doesNotEndWith("}");
            lines.removeIf(line -> !line.endsWith("}"));
            assertJson(lines);
            assertThat(lines.get(1)).contains("\"lost\":2}");
            assertThat(lines.get(2)).contains("/w/3");
        }
    }

    @Test
    void log_closed_ignoresWhatComesLater() throws IOException {
        VerificationLog log = open();
        log.close(END);
        log.record(event(Decision.DENY, "/w/late"));
        log.flush();
        log.close(END);
        assertThat(lines()).hasSize(2);
    }

    @Test
    void stack_ofAViolation_isToldOnce_theJdksNearestFramesAndTheProgramsWithinBounds() throws Exception {
        VerificationLog log = open();
        StackTraceElement[] stack = new StackTraceElement[200];
        for (int i = 0; i < stack.length; i++) {
            stack[i] = i < 10 ? new StackTraceElement(null, "java.base", "17", "java.io.F" + i, "open", "F.java", i) : i == 12 ? new StackTraceElement("klock", null, null, "dev.klock.X", "x", "X.java", 1)
                    : i == 14 ? new StackTraceElement(null, "java.base", "17", "java.lang.reflect.M", "invoke", "M.java", 1) : new StackTraceElement("com.acme.C\u202e" + i, "m", "C.java", i);
        }
        for (int i = 0; i < 3; i++) {
            log.record(new Event(1, null, "main", "open", Predicate.MUTATES, Resource.file("/a"), null, Decision.DENY, "mode", "c", 1, null, stack));
            log.flush();
        }
        log.record(new Event(1, null, "main", "open", Predicate.MUTATES, Resource.file("/b"), null, Decision.ALLOW, "mode", "c", 1, null, stack));
        log.flush();

        List<String> told = Files.readAllLines(file.toPath()).stream().filter(line -> line.contains("\"stack\"")).toList();
        assertThat(told).singleElement().asString().contains("\"stack\":[\"java.base@17/java.io.F0.open(F.java:0)\",", "F3.open", "C\\u202e10.m(C.java:10)\"", "C.java:35)\"]").doesNotContain("F4", "dev.klock", "reflect", "C.java:36");
    }

    @Test
    void lease_isARecordOfItsOwn_inTheFileAtOnce() throws Exception {
        VerificationLog log = open();
        log.lease("granted", 1_500, List.of("MUTATES FILE:/a"), "in \"vain\"");
        log.lease("lost", 0, List.of(), null);
        List<String> lines = Files.readAllLines(file.toPath());
        assertThat(lines.get(1)).contains("\"agent_id\":\"agent\",\"lease\":{\"state\":\"granted\",\"waited_ms\":1500,\"triples\":[\"MUTATES FILE:/a\"],\"detail\":\"in \\\"vain\\\"\"}}");
        assertThat(lines.get(2)).endsWith("\"lease\":{\"state\":\"lost\",\"triples\":[]}}");
        log.lease("granted", 0, Collections.nCopies(VerificationLog.MAX_LEASES + 7, "x"), null);
        assertThat(Files.readAllLines(file.toPath()).get(3)).endsWith("\"x\"],\"more\":7}}");
    }

    @Test
    void settingsVariablesAndScope_areInTheFirstFilesFirstRecordOnly() throws Exception {
        File begun = new File(file.getParentFile(), "begun.jsonl");
        Begun more = new Begun("p", List.of(new Begun.Setting("mode", "strict", "agent argument"), new Begun.Setting("agent", null, "default")), Map.of("tmp", "/t"), List.of());
        VerificationLog log = VerificationLog.open(begun, "s", "a", "strict", true, null, more);
        log.close(new Summary("completed", 0, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of(), List.of()));
        assertThat(Files.readAllLines(begun.toPath()).get(0)).contains("\"process\":\"p\"").endsWith(",\"part\":1,\"settings\":[{\"key\":\"mode\",\"value\":\"strict\",\"origin\":\"agent argument\"},"
                + "{\"key\":\"agent\",\"value\":null,\"origin\":\"default\"}],\"variables\":[{\"name\":\"tmp\",\"value\":\"/t\"}]}");
    }
}
