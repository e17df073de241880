package dev.klock.cli.learn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.ManifestReader;
import dev.klock.manifest.ReadOptions;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A manifest's text is changed where its scope is, and nowhere else. */
class ScopeTextTest {
    private static final String HEAD = "# mine\nver: \"1.0\"\nagent_id: a # who\n";
    private static final List<String> MORE = List.of("# why", "- CONSUMES FILE:/new");

    private static Manifest read(String text) throws Exception {
        return new ManifestReader(name -> null, new ReadOptions()).read("klock.yaml", text.getBytes(StandardCharsets.UTF_8));
    }

    private static String with(String text) throws Exception {
        return String.join("\n", new ScopeText(List.of(text.split("\n", -1)), read(text)).with(MORE));
    }

    /** Without the lines of the scope with these numbers. */
    private static String without(String text, int... lines) throws Exception {
        Manifest manifest = read(text);
        Set<Line> gone = new HashSet<>();
        for (int line : lines) {
            gone.add(manifest.scope().get(line));
        }
        return String.join("\n", new ScopeText(List.of(text.split("\n", -1)), manifest).without(gone));
    }

    @Test
    void items_areAddedBehindTheLastOne_asFarInAsThat() throws Exception {
        String scope = "scope:\n    - CONSUMES FILE:/a\n    # b\n    - predicate: PROVIDES\n      resource: PROCESS:/bin/x\n      effects:\n        - MUTATES FILE:/w/x\n";
        String rest = "\n# about deny\ndeny:\n  - CONSUMES FILE:/a/b\n";
        assertThat(with(HEAD + scope + rest)).isEqualTo(HEAD + scope + "    # why\n    - CONSUMES FILE:/new\n" + rest);
        assertThat(with(HEAD + "deny:\n  - CONSUMES FILE:/a/b\nscope:\n- CONSUMES FILE:/a")).isEqualTo(HEAD + "deny:\n  - CONSUMES FILE:/a/b\nscope:\n- CONSUMES FILE:/a\n# why\n- CONSUMES FILE:/new");
        assertThat(with(HEAD + "scope: [] # none\n")).isEqualTo(HEAD + "scope: # none\n  # why\n  - CONSUMES FILE:/new\n");
        assertThat(read(with(HEAD + "scope:\n  - {predicate: CONSUMES, resource: 'FILE:/a'}\n")).scope()).hasSize(2);
        assertThat(read(with(HEAD + "scope:\n  -\n    predicate: CONSUMES\n    resource: FILE:/a\n  - resource: FILE:/b\n    predicate: CONSUMES\n")).scope()).hasSize(3);
    }

    @Test
    void lines_goWithWhatBelongsToThem() throws Exception {
        String a = "  # a\n  - CONSUMES FILE:/a\n";
        String b = "  # b\n  # still b\n  - predicate: PROVIDES\n    resource: PROCESS:/bin/x\n    effects:\n      - MUTATES FILE:/w/x\n";
        String c = "  - CONSUMES FILE:/c\n";
        assertThat(without(HEAD + "scope:\n" + a + b + c, 1)).isEqualTo(HEAD + "scope:\n" + a + c);
        assertThat(without(HEAD + "scope:\n" + a + b + c, 0, 2)).isEqualTo(HEAD + "scope:\n" + b);
        assertThat(without(HEAD + "scope:\n" + a + b + c + "deny: []\n", 0, 1, 2)).isEqualTo(HEAD + "scope: []\ndeny: []\n");
    }

    @Test
    void whatIsNotWrittenOneItemALine_isLeft() {
        for (String scope : List.of("scope: [CONSUMES FILE:/a]\n", "deny:\n  - CONSUMES FILE:/x\nscope: [\n  CONSUMES FILE:/a,\n  CONSUMES FILE:/b ]\n")) {
            assertThatThrownBy(() -> with(HEAD + scope)).as(scope).isInstanceOf(ScopeText.FlowStyle.class).hasMessageContaining("klock.yaml");
        }
        assertThatThrownBy(() -> with("{\"ver\": \"1.0\", \"agent_id\": \"a\",\n\"scope\": [\n\"CONSUMES FILE:/a\"\n]}")).isInstanceOf(ScopeText.FlowStyle.class);
    }
}
