package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.klock.kernel.Predicate;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ManifestReaderTest {
    private static final Map<String, String> VARIABLES = Map.of("workspace", "/w", "tmp", "/tmp/", "java.home", "/usr/lib/jvm/17", "user.home", "/home/u",
            "maven.repo", "/home/u/.m2/repository", "env:DATA", "/data/*\\x", "env:ROOT", "/", "env:USER", "u", "sys:odd", "/a/./b");

    private static ReadOptions options() {
        return new ReadOptions().homes("/home/u", null, "/data/u").settingKeys("mode", "wait-timeout", "log.level")
                .programs(name -> name.equals("git") ? "/usr/bin/git" : null);
    }

    private static Manifest read(String file, String text, ReadOptions options) throws ManifestException {
        return new ManifestReader(VARIABLES::get, options).read(file, text.getBytes(StandardCharsets.UTF_8));
    }

    private static Manifest yaml(String text) throws ManifestException {
        return read("klock.yaml", text, options());
    }

    private static Manifest scope(String... lines) throws ManifestException {
        StringBuilder b = new StringBuilder("agent_id: a\nscope:\n");
        for (String line : lines) {
            b.append("- ").append(line).append('\n');
        }
        return yaml(b.toString());
    }

    private static ManifestException refused(String file, byte[] bytes, ReadOptions options) {
        ManifestException e = catchThrowableOfType(ManifestException.class, () -> new ManifestReader(VARIABLES::get, options).read(file, bytes));
        assertThat(e).as("refusal of %s", new String(bytes, 0, Math.min(bytes.length, 200), StandardCharsets.UTF_8)).isNotNull();
        assertThat(e.getMessage()).startsWith(file).matches("[^\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029]*");
        assertThat(e.getMessage().length()).isLessThan(1000);
        return e;
    }

    private static ManifestException refused(String file, String text) {
        return refused(file, text.getBytes(StandardCharsets.UTF_8), options());
    }

    private static ManifestException refusedYaml(String text) {
        return refused("klock.yaml", text);
    }

    private static ManifestException refusedScope(String... lines) {
        StringBuilder b = new StringBuilder("agent_id: a\nscope:\n");
        for (String line : lines) {
            b.append("- ").append(line).append('\n');
        }
        return refusedYaml(b.toString());
    }

    private static List<String> texts(List<Line> lines) {
        List<String> texts = new ArrayList<>();
        for (Line line : lines) {
            texts.add(line.toString());
        }
        return texts;
    }

    static final String FULL = String.join("\n",
            "ver: \"1.0\"",
            "session_id: refactor-42            # optional",
            "agent_id: refactorer",
            "priority_timestamp: 1735000000000  # optional",
            "scope:",
            "  - predicate: MUTATES",
            "    resource: FILE:${workspace}/src/**",
            "    confidence: 1.0                # optional",
            "  - CONSUMES FILE:${workspace}/**  # short form",
            "  - predicate: PROVIDES",
            "    resource: PROCESS:/usr/bin/git",
            "    effects: [MUTATES FILE:${workspace}/.git/**]",
            "deny:",
            "  - CONSUMES FILE:${workspace}/.env",
            "tests: {allows: [CONSUMES FILE:${workspace}/a], denies: [CONSUMES FILE:/etc/passwd]}",
            "klock: {wait-timeout: 10s}", "");

    @Test
    @Tag("K1-11")
    void yaml_allOfIt_isRead() throws ManifestException {
        Manifest m = yaml(FULL);
        assertThat(m.file()).isEqualTo("klock.yaml");
        assertThat(m.sessionId()).isEqualTo("refactor-42");
        assertThat(m.agentId()).isEqualTo("refactorer");
        assertThat(m.priorityTimestamp()).isEqualTo(1735000000000L);
        assertThat(texts(m.scope())).containsExactly("MUTATES FILE:/w/src/**", "CONSUMES FILE:/w/**", "PROVIDES PROCESS:/usr/bin/git");
        assertThat(m.scope().get(0).text()).isEqualTo("FILE:${workspace}/src/**");
        assertThat(m.scope().get(0).line()).isEqualTo(6);
        assertThat(m.scope().get(1).line()).isEqualTo(9);
        assertThat(m.scope().get(1).column()).isEqualTo(5);
        assertThat(m.scope().get(1).effects()).isNull();
        assertThat(texts(m.scope().get(2).effects())).containsExactly("MUTATES FILE:/w/.git/**");
        assertThat(texts(m.deny())).containsExactly("CONSUMES FILE:/w/.env");
        assertThat(texts(m.testAllows())).containsExactly("CONSUMES FILE:/w/a");
        assertThat(texts(m.testDenies())).containsExactly("CONSUMES FILE:/etc/passwd");
        assertThat(m.settings()).hasSize(1);
        assertThat(m.settings().get(0).key()).isEqualTo("wait-timeout");
        assertThat(m.settings().get(0).value()).isEqualTo("10s");
        assertThat(m.settings().get(0).line()).isEqualTo(16);
        assertThat(m.warnings()).isEmpty();
    }

    @Test
    @Tag("K1-11")
    void json_specificationsExample_isRead() throws ManifestException {
        Manifest m = read("m.json", "{\"ver\": \"1.0\", \"session_id\": \"uuid-v4\", \"agent_id\": \"agent-007\",\n \"priority_timestamp\": 1735000000000,"
                + "\"scope\": [{\"predicate\": \"MUTATES\", \"resource\": \"FILE:/src/main.ts\", \"confidence\": 1.0},\n"
                + "{\"predicate\": \"CONSUMES\", \"resource\": \"FILE:/src/utils.ts\", \"confidence\": 0.5}, \"CONSUMES FILE:/x/\\\\*\"]}", options());
        assertThat(texts(m.scope())).containsExactly("MUTATES FILE:/src/main.ts", "CONSUMES FILE:/src/utils.ts", "CONSUMES FILE:/x/\\*");
        assertThat(m.scope().get(1).confidence()).isEqualTo(0.5);
        assertThat(m.scope().get(1).line()).isEqualTo(3);
        assertThat(m.scope().get(1).column()).isEqualTo(1);
    }

    @Test
    @Tag("C15")
    void intents_typeAndPath_areRead() throws ManifestException {
        Manifest m = read("m.json", "{\"agent_id\":\"a\",\"session_id\":\"s\",\"priority\":5,\"intents\":[{\"predicate\":\"CONSUMES\",\"resource_type\":\"file\","
                + "\"resource_path\":\"/w/a\",\"confidence\":\"Low\"},{\"predicate\":\"MUTATES\",\"resource_type\":\"DATABASE_TABLE\",\"resource_path\":\"t\"}]}",
                options());
        assertThat(texts(m.scope())).containsExactly("CONSUMES FILE:/w/a", "MUTATES DB:t");
        assertThat(m.scope().get(0).confidence()).isEqualTo(0.3);
        assertThat(m.priorityTimestamp()).isEqualTo(5);
    }

    @Test
    @Tag("C15")
    void intents_fullTriples_areReadAndNameTheAgent() throws ManifestException {
        Manifest m = read("m.json", "{\"intents\":[{\"id\":\"t1\",\"subject\":\"agent_1\",\"predicate\":\"MUTATES\",\"object\":{\"resource_type\":\"FILE\","
                + "\"path\":\"/src/a.ts\"},\"timestamp\":1,\"confidence\":\"High\",\"session_id\":\"s1\"}]}", options());
        assertThat(texts(m.scope())).containsExactly("MUTATES FILE:/src/a.ts");
        assertThat(m.agentId()).isEqualTo("agent_1");
        assertThat(m.sessionId()).isEqualTo("s1");
        assertThat(m.priorityTimestamp()).as("a triple's timestamp is audit only (C11)").isEqualTo(Manifest.NO_TIMESTAMP);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "{\"agent_id\":\"a\",\"scope\":[],\"intents\":[]}|has both scope and intents",
        "{\"agent_id\":\"a\",\"intents\":[],\"scope\":[]}|has both intents and scope",
        "{\"agent_id\":\"a\",\"intents\":[\"CONSUMES FILE:/a\"]}|an entry of intents is",
        "{\"agent_id\":\"a\",\"intents\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\"}]}|unknown field of an intent 'resource'",
        "{\"agent_id\":\"a\",\"scope\":[{\"predicate\":\"CONSUMES\",\"resource_type\":\"FILE\"}]}|unknown field of a triple 'resource_type'",
        "{\"agent_id\":\"a\",\"intents\":[{\"predicate\":\"CONSUMES\",\"resource_type\":\"FILE\"}]}|no resource_path",
        "{\"agent_id\":\"a\",\"intents\":[{\"predicate\":\"CONSUMES\",\"resource_path\":\"/a\"}]}|no resource_type",
        "{\"agent_id\":\"a\",\"intents\":[{\"resource_type\":\"FILE\",\"resource_path\":\"/a\"}]}|no predicate",
        "{\"agent_id\":\"a\",\"intents\":[{\"predicate\":\"CONSUMES\",\"resource_type\":\"FILE\",\"resource_path\":\"src/a\"}]}|is relative",
        "{\"agent_id\":\"a\",\"intents\":[{\"predicate\":\"CONSUMES\",\"resource_type\":\"FILE\",\"object\":{\"type\":\"FILE\"}}]}|a second type",
        "{\"agent_id\":\"a\",\"intents\":[{\"subject\":\"b\",\"predicate\":\"CONSUMES\",\"resource_type\":\"FILE\",\"resource_path\":\"/a\"}]}|subject 'b' is not",
        "{\"intents\":[{\"subject\":\"b\",\"predicate\":\"CONSUMES\",\"resource_type\":\"FILE\",\"resource_path\":\"/a\"}],\"agent_id\":\"a\"}|subject 'b' is not",
        "{\"agent_id\":\"a\",\"intents\":[{\"predicate\":\"CONSUMES\",\"object\":\"FILE:/a\"}]}|object is the text"})
    @Tag("C15")
    void intents_mixedOrWrong_areRefused(String json, String message) {
        assertThat(refused("m.json", json)).hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"confidence: 0|0", "confidence: 1|1", "confidence: 0.25|0.25", "confidence: High|1", "confidence: Medium|0.6",
        "confidence: Low|0.3", "confidence: 1e-2|0.01"})
    @Tag("C14")
    void confidence_numberOrName_isRead(String field, double value) throws ManifestException {
        assertThat(scope("{predicate: CONSUMES, resource: \"FILE:/a\", " + field + "}").scope().get(0).confidence()).isEqualTo(value);
    }

    @ParameterizedTest
    @ValueSource(strings = {"confidence: 1.1", "confidence: -0.1", "confidence: .nan", "confidence: .inf", "confidence: high", "confidence: yes",
        "confidence: ", "confidence: [1]", "confidence: \"1.0\"", "confidence: 0x1"})
    @Tag("C14")
    void confidence_anythingElse_isRefused(String field) {
        assertThat(refusedScope("{predicate: CONSUMES, resource: \"FILE:/a\", " + field + "}"))
                .hasMessageContaining("confidence is").hasMessageContaining("a number from 0 to 1, or High, Medium or Low");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "{\"agent_id\": \"a\"}", "{\"ver\": \"1.0\", \"agent_id\": \"a\", \"deny\": []}"})
    @Tag("K1-12")
    @Tag("J06")
    void scope_missing_isRefusedWithTheCommandThatLearnsOne(String json) {
        assertThat(refused("klock.yaml", json)).hasMessageStartingWith("klock.yaml:1:1: has no scope; ").hasMessageContaining("mode=learn");
        assertThat(refused("klock.json", json)).hasMessageStartingWith("klock.json:1:1: has no scope; ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " \n\n", "# only a comment\n", "---\n", "\uFEFF"})
    @Tag("K1-12")
    @Tag("J06")
    void file_empty_isRefused(String text) {
        assertThat(refusedYaml(text)).hasMessageContaining("mode=learn");
    }

    @Test
    @Tag("J06")
    void scope_emptyList_isValidAndDeclaresNothing() throws ManifestException {
        Manifest m = yaml("agent_id: a\nscope: []\n");
        assertThat(m.scope()).isEmpty();
        assertThat(m.leases()).isEmpty();
        assertThat(m.sessionId()).isNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"scope: []|klock.yaml:1:1: has no agent_id; write agent_id: NAME",
        "agent_id: a\\nscope:|klock.yaml:2:7: scope has no value; write scope: [] for none",
        "agent_id: a\\nscope:\\n- resource: FILE:/a|klock.yaml:3:3: a triple has no predicate",
        "agent_id: a\\nscope:\\n- predicate: CONSUMES|klock.yaml:3:3: a triple has no resource",
        "agent_id: a\\nscope:\\n- CONSUMES|klock.yaml:3:3: 'CONSUMES' is not a triple"})
    @Tag("K1-12")
    void field_missing_isRefused(String text, String message) {
        assertThat(refusedYaml(text.replace("\\n", "\n"))).hasMessageStartingWith(message);
    }

    @Test
    @Tag("K1-11")
    void agentId_givenFromOutside_winsAndMayBeMissing() throws ManifestException {
        assertThat(read("k.yml", "scope: []", options().agentId("outer")).agentId()).isEqualTo("outer");
        assertThat(read("k.yml", "agent_id: inner\nscope: []", options().agentId("outer")).agentId()).isEqualTo("outer");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"CONSUME FILE:/a|unknown predicate 'CONSUME'; did you mean CONSUMES?",
        "READS FILE:/a|unknown predicate 'READS'; did you mean CONSUMES?", "creates FILE:/a|did you mean PROVIDES?", "consumes FILE:/a|did you mean CONSUMES?", "DEPENDS FILE:/a|unknown predicate 'DEPENDS'",
        "DEPENDS-ON FILE:/a|did you mean DEPENDS_ON?", "{predicate: MUTATE, resource: 'FILE:/a'}|did you mean MUTATES?",
        "X FILE:/a|known: PROVIDES, CONSUMES, MUTATES, DELETES, DEPENDS_ON, RENAMES"})
    @Tag("K1-2")
    @Tag("K1-13")
    @Tag("J03")
    void predicate_unknown_isRefusedWithTheNearest(String line, String message) {
        assertThat(refusedScope(line)).hasMessageStartingWith("klock.yaml:3:").hasMessageContaining(message);
    }

    @Test
    @Tag("C2")
    @Tag("K1-13")
    @Tag("RS-2")
    void renames_isASixthPredicateUnlessCoreOnly() throws ManifestException {
        assertThat(scope("RENAMES FILE:/w/a").scope().get(0).predicate()).isEqualTo(Predicate.RENAMES);
        assertThat(refused("k.yaml", "agent_id: a\nscope: [RENAMES FILE:/w/a]".getBytes(StandardCharsets.UTF_8), options().core5(true)))
                .hasMessageContaining("k.yaml:2:9: RENAMES is not one of the five");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"CONSUMES FILE:src/a|is relative", "CONSUMES FILE:./a|is relative", "CONSUMES FILE:~/x|${user.home}/x",
        "CONSUMES FILE:**/.env|is relative", "CONSUMES FILE:/w/out/|write FILE:/w/out", "CONSUMES FILE:/w//a|write FILE:/w/a",
        "CONSUMES FILE:/w/../a|write FILE:/a", "CONSUMES FILE:/w/*/a|not a whole last component", "CONSUMES FILE:/w/**/|write FILE:/w/**",
        "CONSUMES /w/a|write FILE:/w/a", "CONSUMES FLIE:/w/a|unknown scheme", "CONSUMES FILE:${HOME}/a|${env:HOME}", "CONSUMES FILE:$HOME/a|${env:NAME}",
        "CONSUMES FILE:${workspce}/a|did you mean ${workspace}?", "CONSUMES FILE:${env:NONE}/a|variable ${env:NONE} has no value",
        "CONSUMES FILE:${sys:odd}/a|write FILE:/a/b/a", "CONSUMES FILE:${env:}/a|unknown variable", "CONSUMES FILE:${workspace/a|without }",
        "CONSUMES FILE:${env:USER}/a|is relative", "PROVIDES PROCESS:nope|there is no program 'nope' on the PATH", "PROVIDES PROCESS:bin/git|relative",
        "CONSUMES FILE: /a|one space", "CONSUMES: FILE:/a|one space"})
    @Tag("K1-9")
    @Tag("K1-14")
    @Tag("C17")
    @Tag("D16")
    @Tag("J03")
    @Tag("J04")
    void resource_notCanonical_isRefusedAtItsPlace(String line, String message) {
        assertThat(refusedScope("CONSUMES FILE:/fine", line)).hasMessageStartingWith("klock.yaml:4:3: ").hasMessageContaining(message);
    }

    @Test
    @Tag("D16")
    void resource_endsInASpace_isJudgedAsIs() throws ManifestException {
        assertThat(scope("'CONSUMES FILE:/w/out/a '").scope().get(0).resource().path()).isEqualTo("/w/out/a ");
    }

    @ParameterizedTest
    @CsvSource({"FILE:${workspace}/a,/w/a,EXACT", "FILE:${tmp}/a,/tmp/a,EXACT", "FILE:${tmp},/tmp,EXACT", "FILE:${tmp}/**,/tmp,SUBTREE",
        "FILE:${env:ROOT}/a,/a,EXACT", "FILE:${env:ROOT},/,EXACT", "FILE:${env:DATA}/*,/data/*\\x,CHILDREN",
        "FILE:${maven.repo}/**,/home/u/.m2/repository,SUBTREE", "FILE:/w/${env:USER}-${env:USER},/w/u-u,EXACT", "FILE:/w/$5,/w/$5,EXACT",
        "FILE:/w/\\${tmp},/w/${tmp},EXACT", "FILE:/w/\\\\${env:USER},/w/\\u,EXACT"})
    void variables_values_areInsertedLiterally(String resource, String path, String form) throws ManifestException {
        Line line = scope("DEPENDS_ON " + resource).scope().get(0);
        assertThat(line.resource().path()).isEqualTo(path);
        assertThat(line.resource().form()).hasToString(form);
        assertThat(line.text()).isEqualTo(resource);
        assertThat(read("m.json", "{\"agent_id\":\"${env:USER}\",\"scope\":[\"DEPENDS_ON " + resource.replace("\\", "\\\\") + "\"]}", options()).scope().get(0).resource())
                .isEqualTo(line.resource());
    }

    @Test
    void variables_inFlowListsAndQuotesAndIdsAndSettings_work() throws ManifestException {
        Manifest m = yaml("agent_id: ag-${env:USER}\nscope: [CONSUMES FILE:${workspace}/a, 'CONSUMES FILE:${tmp}/b', \"CONSUMES FILE:${tmp}/c\", "
                + "{predicate: CONSUMES, resource: FILE:${workspace}/d}]\nklock: {log: {level: $x, }, wait-timeout: ${env:USER}s}\n");
        assertThat(m.agentId()).isEqualTo("ag-u");
        assertThat(texts(m.scope())).containsExactly("CONSUMES FILE:/w/a", "CONSUMES FILE:/tmp/b", "CONSUMES FILE:/tmp/c", "CONSUMES FILE:/w/d");
        assertThat(m.settings().get(0).key()).isEqualTo("log.level");
        assertThat(m.settings().get(1).value()).isEqualTo("us");
    }

    @Test
    @Tag("C48")
    void processName_withoutDirectory_isLookedUp() throws ManifestException {
        Line line = scope("PROVIDES PROCESS:git").scope().get(0);
        assertThat(line.resource()).hasToString("PROCESS:/usr/bin/git");
        assertThat(line.text()).isEqualTo("PROCESS:git");
    }

    @Test
    @Tag("K1-15")
    @Tag("K1-6")
    void deletes_thenAnythingOnTheSameThing_isRefused() {
        for (String predicate : new String[] {"MUTATES", "CONSUMES", "PROVIDES", "RENAMES", "DEPENDS_ON"}) {
            assertThat(refusedScope("DELETES FILE:/w/a", predicate + " file:/w/a")).hasMessageStartingWith("klock.yaml:4:3: " + predicate
                    + " FILE:/w/a contradicts DELETES on line 3").hasMessageContaining("write DELETES last");
        }
    }

    @Test
    @Tag("K1-15")
    @Tag("K1-16")
    @Tag("K1-6")
    void deletes_last_isStrictOrderAndLeasedAsDeletes() throws ManifestException {
        Manifest m = scope("MUTATES FILE:/w/a", "PROVIDES FILE:/w/a", "DELETES FILE:/w/a", "DELETES FILE:/w/a");
        assertThat(texts(m.leases())).containsExactly("DELETES FILE:/w/a");
    }

    @Test
    @Tag("K1-15")
    @Tag("J08")
    void patterns_andReadAfterWrite_contradictNothing() throws ManifestException {
        assertThat(texts(scope("DELETES FILE:/w/**", "MUTATES FILE:/w/**", "PROVIDES FILE:/w/x", "CONSUMES FILE:/w/x", "DELETES FILE:/w/y", "MUTATES FILE:/w/z")
                .leases())).containsExactly("DELETES FILE:/w/**", "PROVIDES FILE:/w/x", "DELETES FILE:/w/y", "MUTATES FILE:/w/z");
    }

    @ParameterizedTest
    @CsvSource({"CONSUMES,MUTATES,MUTATES", "MUTATES,CONSUMES,MUTATES", "CONSUMES,DELETES,DELETES", "DEPENDS_ON,CONSUMES,CONSUMES",
        "CONSUMES,PROVIDES,PROVIDES", "PROVIDES,MUTATES,MUTATES", "MUTATES,RENAMES,RENAMES", "RENAMES,DELETES,DELETES", "CONSUMES,CONSUMES,CONSUMES"})
    @Tag("K1-16")
    @Tag("J08")
    void leases_onOneResource_areTheSeverest(String one, String other, String leased) throws ManifestException {
        Manifest m = scope(one + " FILE:/w/a", "DEPENDS_ON FILE:/w/b", other + " File:/w/a");
        assertThat(texts(m.leases())).containsExactly(leased + " FILE:/w/a", "DEPENDS_ON FILE:/w/b");
        assertThat(m.scope()).as("the cover stays the union (C34)").hasSize(3);
    }

    @Test
    @Tag("C48")
    @Tag("K6-7")
    void leases_ofAStartedProgram_areItsEffectsOnly() throws ManifestException {
        Manifest m = scope("CONSUMES FILE:/w/**", "{predicate: PROVIDES, resource: PROCESS:git, effects: [MUTATES FILE:/w/**, MUTATES FILE:/x/a]}");
        assertThat(texts(m.leases())).containsExactly("MUTATES FILE:/w/**", "MUTATES FILE:/x/a");
    }

    @Test
    @Tag("K6-7")
    void effects_emptyOrMissing_differ() throws ManifestException {
        Manifest m = scope("{predicate: PROVIDES, resource: PROCESS:git, effects: []}", "PROVIDES PROCESS:/bin/ls",
                "{predicate: CONSUMES, resource: \"NATIVE:ffm\", effects: [{predicate: MUTATES, resource: \"FILE:/w/a\"}]}");
        assertThat(m.scope().get(0).effects()).isEmpty();
        assertThat(m.scope().get(1).effects()).isNull();
        assertThat(m.scope().get(2).effects()).hasSize(1);
    }

    @Test
    void samples_thatHold_areTaken() throws ManifestException {
        assertThat(texts(scope("{predicate: MUTATES, resource: 'FILE:${workspace}/src/**', matches: ['FILE:${workspace}/src/a b', 'CONSUMES FILE:/w/src/a/b'], "
                + "rejects: ['FILE:/w/srcx', 'DELETES FILE:/w/src/a', 'DEPENDS_ON FILE:/w']}",
                "{resource: 'URL:https://a.b/c/**', matches: ['URL:https://a.b/c/d'], rejects: ['URL:https://a.b/cd', 'URL:http://a.b/c/d'], predicate: CONSUMES}",
                "{predicate: PROVIDES, resource: 'PROCESS:git', effects: [{predicate: MUTATES, resource: 'FILE:/w/.git/**', rejects: ['FILE:/w/x']}], matches: ['PROCESS:/usr/bin/git']}").scope()))
                .containsExactly("MUTATES FILE:/w/src/**", "CONSUMES URL:https://a.b/c/**", "PROVIDES PROCESS:/usr/bin/git");
        assertThat(texts(yaml("agent_id: a\nscope: []\ndeny:\n- {predicate: CONSUMES, resource: 'FILE:/w/s/**', matches: ['MUTATES FILE:/w/s/a'], rejects: ['DEPENDS_ON FILE:/w/s/a']}\n").deny()))
                .containsExactly("CONSUMES FILE:/w/s/**");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "matches: ['FILE:/w/srcx/a']|klock.yaml:4:13: MUTATES FILE:/w/src/* does not allow MUTATES FILE:/w/srcx/a, which is a sample of what it shall; make the line wider, or leave the sample out",
        "matches: ['FILE:/w/src/a', 'FILE:/w/src/a/b']|does not allow MUTATES FILE:/w/src/a/b",
        "rejects: ['CONSUMES FILE:/w/src/a']|allows CONSUMES FILE:/w/src/a, which is a sample of what it shall not; make the line narrower",
        "matches: ['FILE:/w/src/*']|the sample FILE:/w/src/* stands for many; write one that a program might name",
        "matches: ['MUTATE FILE:/w/src/a']|unknown predicate 'MUTATE'; did you mean MUTATES?", "matches: ['src/a']|src/a", "matches: FILE:/w/src/a|matches is the text",
        "matches: [1]|a sample is the number 1", "match: []|unknown field of a triple 'match'; did you mean matches?"})
    void samples_thatDoNotHold_areRefusedWhereTheyStand(String samples, String message) {
        assertThat(refusedScope("predicate: MUTATES\n  " + samples + "\n  resource: FILE:/w/src/*")).hasMessageContaining(message);
    }

    @Test
    void samples_ofADenyLine_areWhatItDenies() {
        assertThat(refusedYaml("agent_id: a\nscope: []\ndeny:\n- predicate: CONSUMES\n  resource: FILE:/w/.env\n  matches: ['FILE:/w/env']\n"))
                .hasMessageStartingWith("klock.yaml:6:13: CONSUMES FILE:/w/.env does not deny CONSUMES FILE:/w/env, which is");
        assertThat(refusedYaml("agent_id: a\nscope: []\ntests:\n  allows:\n  - {predicate: CONSUMES, resource: 'FILE:/a', matches: []}\n"))
                .hasMessageContaining("unknown field of a triple 'matches'");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"{predicate: MUTATES, resource: 'FILE:/w/a', effects: []}|which runs nothing",
        "{predicate: PROVIDES, resource: 'PROCESS:git', effects: [{predicate: PROVIDES, resource: 'PROCESS:git', effects: []}]}|unknown field of a triple 'effects'",
        "{predicate: PROVIDES, resource: 'PROCESS:git', effects: MUTATES FILE:/w/a}|effects is the text", "{predicate: PROVIDES, resource: 'PROCESS:git', effects: }|[] for none",
        "{predicate: PROVIDES, resource: 'PROCESS:git', effects: [MUTATES FILE:/**]}|reaches everything"})
    void effects_misplaced_areRefused(String line, String message) {
        assertThat(refusedScope(line)).hasMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"FILE:/", "FILE:/*", "FILE:/**"})
    @Tag("K1-18")
    @Tag("C18")
    void globalScope_writing_isRefusedWhateverPolicySays(String resource) throws ManifestException {
        for (String predicate : new String[] {"MUTATES", "DELETES", "PROVIDES", "RENAMES"}) {
            assertThat(refusedScope(predicate + " " + resource)).hasMessageContaining("klock.yaml:3:3: " + predicate + " " + resource + " reaches ");
            refused("k.yaml", ("agent_id: a\nscope: [" + predicate + " " + resource + "]").getBytes(StandardCharsets.UTF_8), options().allowBroadWrites(true));
        }
        assertThat(scope("CONSUMES " + resource).warnings()).singleElement().asString().startsWith("klock.yaml:3:3: CONSUMES " + resource + " may read ");
        assertThat(scope("DEPENDS_ON " + resource).warnings()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"FILE:/data/u/**", "FILE:${user.home}/**", "FILE:${user.home}/*", "FILE:${user.home}", "FILE:/home/**", "FILE:/home/*"})
    @Tag("K1-18")
    @Tag("C18")
    void home_writing_isRefusedUnlessPolicyAllowsIt(String resource) throws ManifestException {
        assertThat(refusedScope("MUTATES " + resource)).hasMessageContaining("a whole home directory");
        assertThat(read("k.yaml", "agent_id: a\nscope: [MUTATES " + resource + "]", options().allowBroadWrites(true)).scope()).hasSize(1);
        assertThat(scope("CONSUMES " + resource).warnings()).hasSize(resource.endsWith("*") ? 1 : 0);
        assertThat(scope("MUTATES FILE:${user.home}/jobs/**", "MUTATES FILE:/home2/**", "MUTATES FILE:/home/v/**").scope()).hasSize(3);
    }

    @Test
    @Tag("K1-18")
    @Tag("C18")
    void depth_writingAboveIt_isRefused() throws ManifestException {
        byte[] text = "agent_id: a\nscope: [MUTATES FILE:/w/**]".getBytes(StandardCharsets.UTF_8);
        assertThat(refused("k.yaml", text, options().minWriteDepth(2))).hasMessageContaining("fewer than 2 levels deep");
        assertThat(read("k.yaml", "agent_id: a\nscope: [MUTATES FILE:/w/a/**]", options().minWriteDepth(2)).scope()).hasSize(1);
        assertThat(scope("MUTATES FILE:/w/**").scope()).hasSize(1);
    }

    @Test
    @Tag("C49")
    void triple_thatNothingIsMappedTo_isWarnedOf() throws ManifestException {
        Manifest m = yaml("agent_id: a\nscope: [RENAMES PROCESS:/bin/sh, PROVIDES NATIVE:ffm, DELETES ENV:X, CONSUMES ENV:Y, MUTATES PROCESS:/bin/sh, DELETES URL:http://h/]\n");
        assertThat(m.warnings()).containsExactly(
                "klock.yaml:2:9: RENAMES PROCESS:/bin/sh means nothing that a program can do; of PROCESS there is PROVIDES, CONSUMES, DELETES, MUTATES, DEPENDS_ON",
                "klock.yaml:2:34: PROVIDES NATIVE:ffm means nothing that a program can do; of NATIVE there is CONSUMES",
                "klock.yaml:2:55: DELETES ENV:X means nothing that a program can do; of ENV there is CONSUMES, MUTATES, DEPENDS_ON");
    }

    @Test
    void deny_ofAWholeScopeLine_isWarnedOf() throws ManifestException {
        Manifest m = yaml("agent_id: a\nscope: [CONSUMES FILE:/w/a, MUTATES FILE:/w/b]\ndeny: [CONSUMES FILE:/w/**]\n");
        assertThat(m.warnings()).hasSize(2);
        assertThat(m.warnings().get(0)).isEqualTo("klock.yaml:2:9: CONSUMES FILE:/w/a can never allow anything; it is denied on line 3");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"scop: []|klock.yaml:2:1: unknown field 'scop'; did you mean scope?", "agentid: b|did you mean agent_id?",
        "sesion_id: b|did you mean session_id?", "permissions: []|known: ver, session_id", "agents: []|agents is empty",
        "ver: 2|ver is '2', which this klock does not know; write ver: \"1.0\"", "ver: [1]|ver is a list",
        "agent_id: b|the field agent_id is there twice", "deny: CONSUMES FILE:/a|deny is the text", "deny: [[]]|an entry of deny is a list",
        "deny: [1]|an entry of deny is the number 1", "tests: []|tests is a list", "tests: {allow: []}|did you mean allows?", "klock: x|klock is the text",
        "klock: {wait_timeout: 1s}|unknown key 'wait_timeout' under klock; did you mean wait-timeout?", "klock: {mode: }|mode is empty",
        "klock: {mode: [a]}|mode is a list", "klock: {mode: a, mode: b}|the key mode is there twice", "klock: {log: {level: a}, log: {level: b}}|twice",
        "session_id: 42|session_id is the number 42; write text in quotes: \"42\"", "session_id: yes|in quotes: \"yes\"", "session_id: ''|has 0 bytes",
        "session_id: ../x|U+002F", "session_id: ..|is '..'", "session_id: \"a\\0b\"|U+0000", "session_id: ' a'|spaces", "session_id: null|is empty",
        "priority_timestamp: -1|milliseconds", "priority_timestamp: 1.5|milliseconds", "priority_timestamp: 0x10|milliseconds",
        "priority_timestamp: '1'|milliseconds", "priority_timestamp: 99999999999999999999|milliseconds", "$schema: 1|schema",
        "deny: [{predicate: CONSUMES, resource: 'FILE:/a', effects: []}]|unknown field of a triple 'effects'", "<<: {a: b}|unknown field '<<'"})
    @Tag("J03")
    @Tag("K1-12")
    void field_unknownOrWrong_isRefused(String field, String message) {
        assertThat(refusedYaml("agent_id: a\n" + field + "\nscope: []\n")).hasMessageStartingWith("klock.yaml:2:").hasMessageContaining(message);
    }

    @Test
    @Tag("C11")
    void priority_givenTwice_isRefused() {
        assertThat(refusedYaml("priority: 1\npriority_timestamp: 2\n")).hasMessageContaining("has both priority and priority_timestamp");
    }

    @Test
    void ids_atTheLimit_areAllowed() throws ManifestException {
        assertThat(yaml("agent_id: " + "é".repeat(128) + "\nscope: []\n").agentId()).hasSize(128);
        assertThat(refusedYaml("agent_id: " + "é".repeat(128) + "x\nscope: []\n")).hasMessageContaining("257 bytes");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"agent_id: a\\nsession_id: *x\\nscope: []|alias *x",
        "agent_id: !!str a\\nscope: []|tag", "!!map {agent_id: a, scope: []}|tag", "agent_id: a\\nscope: &s []|anchor", "&k agent_id: a\\nscope: []|anchor",
        "*k : a\\nscope: []|", "agent_id: a\\nscope: [!<tag:x> CONSUMES FILE:/a]|tag",
        "agent_id: a\\nscope: []\\n---\\nscope: []|more than one document", "agent_id: a\\nscope: []\\n...\\n---\\n|more than one document",
        "agent_id: a\\n\\tscope: []|is not YAML", "agent_id: a: b|is not YAML", "agent_id: a\\nscope: [|is not YAML", "- a|is a list where", "just text|is the text",
        "agent_id: a\\nscope:\\n- CONSUMES FILE:/a\\n  CONSUMES FILE:/b|goes on over several lines", "agent_id: >-\\n  a\\nscope: []|several lines",
        "? [a]\\n: b|a key is a list", "? {a: b}\\n: c|a key is a mapping", "42|is the number 42", "null|is empty"})
    void yaml_hostileOrBroken_isRefused(String text, String message) {
        ManifestException e = refusedYaml(text.replace("\\n", "\n").replace("\\t", "\t"));
        assertThat(e).hasMessageContaining(message == null ? "klock.yaml" : message);
        assertThat(e.line()).isPositive();
    }

    @Test
    void yaml_blockText_isRefused() {
        assertThat(refusedYaml("agent_id: |\n  a\nscope: []")).hasMessageContaining("several lines");
    }

    @Test
    void yaml_aliasBomb_isRefusedAtTheFirstAnchor() {
        StringBuilder b = new StringBuilder("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        for (int i = 1; i < 40; i++) {
            b.append("a").append(i).append(": &a").append(i).append(" [");
            for (int k = 0; k < 9; k++) {
                b.append("*a").append(i - 1).append(',');
            }
            b.append("]\n");
        }
        assertThat(refusedYaml(b.toString()).line()).isEqualTo(1);
        assertThat(refusedYaml("scope: &a [*a]\n")).hasMessageContaining("anchor");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"{\"agent_id\": \"a\", \"scope\": []|m.json:1:", "{\"agent_id\": \"a\" \"scope\": []}|is not JSON",
        "{\"agent_id\": \"a\", \"scope\": [],}|is not JSON", "{agent_id: \"a\"}|is not JSON", "{\"agent_id\": \"a\", \"scope\": []} {}|more than one document",
        "{\"agent_id\": \"a\", \"scope\": []} x|is not JSON", "[]|is a list", "\"x\"|is the text 'x'", "{\"agent_id\": \"a\\u0000\", \"scope\": []}|U+0000",
        "{\"agent_id\": \"\\ud800\", \"scope\": []}|half of a surrogate pair", "{\"agent_id\": \"a\", \"session_id\": \"\\ude00\\ud83d\", \"scope\": []}|half of a surrogate pair",
        "{\"agent_id\": \"a\", \"scope\": [\"CONSUMES FILE:/a\\u0000b\"]}|U+0000", "{\"agent_id\": \"a\", \"scope\": [\"CONSUMES FILE:/a\\nb\"]}|U+000a",
        "{\"agent_id\": \"a\", \"agent_id\": \"b\", \"scope\": []}|twice", "{\"agent_id\": NaN}|is not JSON", "// c {}|is not JSON"})
    void json_hostileOrBroken_isRefused(String text, String message) {
        ManifestException e = refused("m.json", text);
        assertThat(e).hasMessageContaining(message);
        assertThat(e.line()).isPositive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"m.json", "m.yaml"})
    void nesting_deep_isRefusedQuickly(String file) {
        String deep = "[".repeat(1_000_000);
        refused(file, deep);
        refused(file, "{\"scope\": " + deep);
        refused(file, "{\"klock\": " + "{\"a\": ".repeat(500_000));
        refused(file, "{\"scope\": [{\"object\": " + "{\"a\": ".repeat(500_000));
    }

    @Test
    void size_overTheLimit_isRefusedWithTheLimit() throws ManifestException {
        assertThat(refused("m.json", new byte[Manifest.MAX_BYTES + 1], options())).hasMessageContaining("m.json: is larger than 4194304 bytes");
        StringBuilder b = new StringBuilder("{\"agent_id\":\"a\",\"scope\":[\"CONSUMES FILE:/w/0\"");
        for (int i = 1; i < Manifest.MAX_TRIPLES; i++) {
            b.append(",\n\"CONSUMES FILE:/w/").append(i).append('"');
        }
        assertThat(read("m.json", b + "]}", options()).scope()).hasSize(Manifest.MAX_TRIPLES);
        assertThat(refused("m.json", b + ",\"CONSUMES FILE:/w/x\"]}")).hasMessageContaining("more than 10000 triples");
        assertThat(read("m.yaml", b + "]}", options()).scope()).hasSize(Manifest.MAX_TRIPLES);
        assertThat(read("m.json", b + ",\"CONSUMES FILE:/w/x\"]}", options().limits(Manifest.MAX_BYTES, 20_000)).scope()).hasSize(10_001);
    }

    @Test
    void encoding_notUtf8_isRefusedAtItsPlace() {
        byte[] latin1 = "agent_id: a\nscope: [CONSUMES FILE:/caf\u00e9]".getBytes(StandardCharsets.ISO_8859_1);
        assertThat(refused("k.yaml", latin1, options())).hasMessage("k.yaml:2:27: is not UTF-8: byte 0xe9; save it as UTF-8");
        assertThat(refused("k.yaml", "{}".getBytes(StandardCharsets.UTF_16), options())).hasMessageContaining("UTF-16");
        assertThat(refused("k.yaml", "scope: []".getBytes(StandardCharsets.UTF_16LE), options())).hasMessageContaining("U+0000");
        assertThat(refused("k.yaml", new byte[] {'a', (byte) 0xC3}, options())).hasMessageContaining("not UTF-8");
        assertThat(refused("k.yaml", new byte[] {'a', (byte) 0xED, (byte) 0xA0, (byte) 0x80}, options())).hasMessageContaining("not UTF-8");
        assertThat(refused("k.yaml", new byte[] {(byte) 0xC0, (byte) 0x80}, options())).hasMessageContaining("not UTF-8");
    }

    @Test
    void byteOrderMark_atTheStart_isSkipped() throws ManifestException {
        for (String file : new String[] {"m.json", "m.yaml"}) {
            assertThat(read(file, "\uFEFF{\"agent_id\": \"a\", \"scope\": [\"CONSUMES FILE:/a\"]}", options()).scope().get(0).column()).isEqualTo(29);
        }
        assertThat(refusedYaml("agent_id: a\uFEFFb")).hasMessageContaining("klock.yaml:1:12: holds the character U+FEFF");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\0", "\u0001", "\u001b", "\u007f", "\u0085", "\u2028", "\uF5A4"})
    void controlCharacter_anywhere_isRefused(String bad) {
        assertThat(refusedYaml("agent_id: a\n# x" + bad + "\nscope: []")).hasMessageStartingWith("klock.yaml:2:4: holds the character U+");
        assertThat(refused("m.json", "{\"agent_id\": \"a" + bad + "\"}")).hasMessageStartingWith("m.json:1:16: ");
    }

    @Test
    void format_fileWithoutAKnownEnding_isToldByItsFirstCharacter() throws ManifestException {
        assertThat(read("manifest", " {\"agent_id\": \"a\", \"scope\": []}", options()).agentId()).isEqualTo("a");
        assertThat(read("manifest", "agent_id: a\nscope: []", options()).agentId()).isEqualTo("a");
        assertThat(read("m.yml", "{agent_id: a, scope: []}", options()).agentId()).isEqualTo("a");
    }

    @Test
    void fileName_withLineBreak_staysOnOneLine() {
        ManifestException e = catchThrowableOfType(ManifestException.class, () -> read("a\nb.yaml", "{}", options()));
        assertThat(e.getMessage()).startsWith("a b.yaml:1:1: ");
    }

    @Test
    void anyBytes_areAManifestOrAManifestException() {
        byte[] full = FULL.getBytes(StandardCharsets.UTF_8);
        byte[] json = "{\"agent_id\":\"a\",\"scope\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\",\"confidence\":0.5},\"MUTATES FILE:${tmp}/*\"]}"
                .getBytes(StandardCharsets.UTF_8);
        Random random = new Random(1);
        for (int i = 0; i < 5_000; i++) {
            byte[] bytes = (i % 2 == 0 ? full : json).clone();
            for (int k = 1 + random.nextInt(3); k > 0; k--) {
                String pool = "{}[]:,-&*!|>'\"%@`#? \n\t\\$~0aé";
                bytes[random.nextInt(bytes.length)] = random.nextBoolean() ? (byte) random.nextInt(256) : (byte) pool.charAt(random.nextInt(pool.length()));
            }
            if (random.nextInt(4) == 0) {
                bytes = java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length));
            }
            String file = i % 2 == 0 ? "m.yaml" : "m.json";
            try {
                new ManifestReader(VARIABLES::get, options()).read(file, bytes);
            } catch (ManifestException e) {
                assertThat(e.getMessage()).startsWith(file).doesNotContain("\n").doesNotContain("cannot be parsed after this");
            }
        }
    }

    /** To a reader, what stands behind a comment's mark is a comment, and text runs one way. */
    @Test
    void text_thatIsShownOtherwiseThanItIsRead_isRefused() {
        for (String hidden : new String[] {"\r", "\u202E", "\u200B", "\u2066"}) {
            String text = "ver: '1.0'\nagent_id: a\nscope:\n  - CONSUMES FILE:/a # x" + hidden + "  - MUTATES FILE:/etc/**\n";
            assertThat(refused("klock.yaml", text.getBytes(StandardCharsets.UTF_8), options())).hasMessageStartingWith("klock.yaml:4:25: holds the character U+");
        }
    }
}
