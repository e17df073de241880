package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The published schema says what the reader does, as far as a schema can. */
class ManifestSchemaTest {
    private static Schema schema() {
        InputStream in = Manifest.class.getResourceAsStream("manifest.schema.json");
        return SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_7).getSchema(in, InputFormat.JSON);
    }

    private static List<?> errors(String text, InputFormat format) {
        return schema().validate(text, format);
    }

    private static void read(String file, String text) throws ManifestException {
        Variables variables = name -> "/w";
        ReadOptions options = new ReadOptions().settingKeys("wait-timeout", "log.level").programs(name -> "/usr/bin/" + name);
        new ManifestReader(variables, options).read(file, text.getBytes(StandardCharsets.UTF_8));
    }

    private static boolean readable(String text) {
        try {
            read("m.json", text);
            return true;
        } catch (ManifestException e) {
            return false;
        }
    }

    @Test
    @Tag("K1-11")
    void example_inYaml_isValid() throws ManifestException {
        // other YAML tools need quotes where a brace stands inside a flow list
        String text = ManifestReaderTest.FULL.replaceAll("([\\[ ])((MUTATES|CONSUMES) FILE:[^\\],\\s]+)([\\],])", "$1\"$2\"$4");
        read("m.yaml", text);
        assertThat(errors(text, InputFormat.YAML)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"agent_id\":\"a\",\"scope\":[]}",
        "{\"$schema\":\"manifest.schema.json\",\"ver\":\"1.0\",\"session_id\":\"s\",\"agent_id\":\"a\",\"priority_timestamp\":1735000000000,\"scope\":["
                + "{\"predicate\":\"MUTATES\",\"resource\":\"FILE:/src/main.ts\",\"confidence\":1.0},\"CONSUMES FILE:${workspace}/**\"]}",
        "{\"agent_id\":\"a\",\"scope\":[{\"predicate\":\"PROVIDES\",\"resource\":\"PROCESS:git\",\"confidence\":\"Low\",\"effects\":[\"MUTATES FILE:/w/a\"]}],"
                + "\"klock\":{\"wait-timeout\":\"10s\",\"log\":{\"level\":\"warn\"}},\"tests\":{\"denies\":[\"CONSUMES FILE:/etc/x\"]},\"deny\":[\"CONSUMES ENV:A\"]}",
        "{\"agent_id\":\"a\",\"intents\":[{\"predicate\":\"CONSUMES\",\"resource_type\":\"FILE\",\"resource_path\":\"/w/a\",\"confidence\":\"High\"}]}",
        "{\"agent_id\":\"a\",\"scope\":[{\"predicate\":\"MUTATES\",\"resource\":\"FILE:/w/**\",\"matches\":[\"FILE:/w/a\",\"CONSUMES FILE:/w/a b\"],"
                + "\"rejects\":[\"FILE:/wa\",\"DELETES FILE:/w/a\"]}],\"deny\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/w/.env\",\"matches\":[\"FILE:/w/.env\"]}]}",
        "{\"agent_id\":\"a\",\"scope\":[],\"hooks\":[{\"preset\":\"jdbc\"},{\"type\":\"com.acme.Flags\",\"method\":\"set(int)\",\"predicate\":\"MUTATES\","
                + "\"resource\":\"CONFIG_KEY:${arg:0}\",\"name\":\"flags\"}]}",
        "{\"intents\":[{\"id\":\"1\",\"subject\":\"a\",\"predicate\":\"MUTATES\",\"object\":{\"resource_type\":\"FILE\",\"path\":\"/a/b\"},\"timestamp\":1}]}"})
    @Tag("C15")
    void examples_thatTheReaderTakes_areValid(String text) throws ManifestException {
        read("m.json", text);
        assertThat(errors(text, InputFormat.JSON)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{}", "[]", "{\"agent_id\":\"a\"}", "{\"agent_id\":\"a\",\"scop\":[]}", "{\"agent_id\":\"a\",\"scope\":[],\"intents\":[]}",
        "{\"agent_id\":\"a\",\"scope\":[\"CONSUME FILE:/a\"]}", "{\"agent_id\":\"a\",\"scope\":[{\"predicate\":\"CONSUMES\"}]}",
        "{\"agent_id\":\"a\",\"scope\":[{\"predicate\":\"CONSUMES\",\"resource\":\"/a\"}]}", "{\"agent_id\":1,\"scope\":[]}",
        "{\"agent_id\":\"a/b\",\"scope\":[]}", "{\"agent_id\":\"a\",\"scope\":[],\"ver\":\"2.0\"}", "{\"agent_id\":\"a\",\"scope\":[],\"priority_timestamp\":-1}",
        "{\"agent_id\":\"a\",\"scope\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\",\"confidence\":2}]}",
        "{\"agent_id\":\"a\",\"scope\":[],\"deny\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\",\"effects\":[]}]}",
        "{\"agent_id\":\"a\",\"intents\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\"}]}", "{\"agent_id\":\"a\",\"scope\":[],\"agents\":[]}",
        "{\"agent_id\":\"a\",\"scope\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\",\"matches\":\"FILE:/a\"}]}",
        "{\"agent_id\":\"a\",\"scope\":[],\"tests\":{\"allows\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\",\"matches\":[]}]}}",
        "{\"agent_id\":\"a\",\"scope\":[],\"hooks\":{}}",
        "{\"agent_id\":\"a\",\"scope\":[],\"hooks\":[{\"preset\":\"jpa\"}]}", "{\"agent_id\":\"a\",\"scope\":[],\"hooks\":[{}]}",
        "{\"agent_id\":\"a\",\"scope\":[],\"hooks\":[{\"preset\":\"jdbc\",\"type\":\"a.B\"}]}",
        "{\"agent_id\":\"a\",\"scope\":[],\"hooks\":[{\"type\":\"a.B\",\"method\":\"c\",\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/a\"}]}",
        "{\"agent_id\":\"a\",\"scope\":[],\"tests\":{\"allow\":[]}}", "{\"agent_id\":\"a\",\"scope\":[],\"klock\":[]}"})
    @Tag("K1-12")
    void examples_thatTheReaderRefuses_areInvalid(String text) {
        assertThat(readable(text)).isFalse();
        assertThat(errors(text, InputFormat.JSON)).isNotEmpty();
    }

    @Test
    void fields_ofSchemaAndReader_areTheSame() {
        JsonNode root = schema().getSchemaNode();
        assertThat(names(root.get("properties"))).containsExactlyInAnyOrder(ManifestParse.TOP);
        JsonNode definitions = root.get("definitions");
        assertThat(names(definitions.get("scopeTriple").get("properties"))).containsExactlyInAnyOrder(ManifestParse.TRIPLE);
        assertThat(names(definitions.get("triple").get("properties"))).containsExactlyInAnyOrder(ManifestParse.EFFECT);
        assertThat(names(definitions.get("test").get("properties"))).containsExactlyInAnyOrder(ManifestParse.TEST);
        assertThat(names(definitions.get("agent").get("properties"))).containsExactlyInAnyOrder(ManifestParse.AGENT);
        assertThat(names(definitions.get("hook").get("properties"))).containsExactlyInAnyOrder(ManifestParse.HOOK);
        assertThat(names(definitions.get("intent").get("properties"))).containsExactlyInAnyOrder(ManifestParse.INTENT);
        assertThat(names(definitions.get("intent").get("properties").get("object").get("properties"))).containsExactlyInAnyOrder(ManifestParse.OBJECT);
        for (String name : names(root.get("properties"))) {
            assertThat(root.get("properties").get(name).has("description")).as("description of %s", name).isTrue();
        }
    }

    private static TreeSet<String> names(JsonNode node) {
        return new TreeSet<>(node.propertyNames());
    }
}
