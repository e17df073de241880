package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The {@code hooks:} section: what it means, and that whatever is wrong with it is said with its place. */
class HookReaderTest {
    private static Manifest read(String hooks) throws ManifestException {
        String text = "agent_id: a\nscope: []\nhooks:\n" + hooks;
        return new ManifestReader(name -> "/w", new ReadOptions()).read("k.yaml", text.getBytes(StandardCharsets.UTF_8));
    }

    private static LibraryHook hook(String fields) throws ManifestException {
        return read("- {" + fields + "}\n").hooks().get(0);
    }

    /** All that a hook says, in one line. */
    static String text(LibraryHook h) {
        StringBuilder b = new StringBuilder(h.name()).append(" = ").append(h);
        if (h.preset() == null) {
            b.append(' ').append(h.predicate()).append(' ').append(h.scheme()).append(':');
            for (int i = 0; i < h.parts(); i++) {
                b.append(h.literal(i)).append('<').append(h.part(i)).append('>');
            }
            b.append(h.literal(h.parts()));
        }
        return b.append(" @").append(h.line()).append(':').append(h.column()).toString();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "preset: jdbc | jdbc = jdbc @4:3",
        "preset: jdbc, name: shop | shop = jdbc @4:3",
        "type: com.acme.Flags, method: set, predicate: MUTATES, resource: 'CONFIG_KEY:${arg:0}' | Flags.set = com.acme.Flags.set MUTATES CONFIG_KEY:<0> @4:3",
        "type: a.B$C, method: 'get( int , java.lang.String [] )', predicate: CONSUMES, resource: 'symbol:${type}.${method}#${arg:1}'"
                + " | B$C.get = a.B$C.get(int, java.lang.String[]) CONSUMES SYMBOL:<-1>.<-2>#<1> @4:3",
        "type: a.B, method: 'c()', predicate: DELETES, resource: 'API_ENDPOINT:/api/users', name: n | n = a.B.c() DELETES API_ENDPOINT:/api/users @4:3",
        "type: a.B, method: c, predicate: RENAMES, resource: 'database_table:${workspace}/\\${arg:0}\\*\\\\${arg:10}'"
                + " | B.c = a.B.c RENAMES DB:/w/${arg:0}*\\<10> @4:3"})
    @Tag("K1-12")
    void hook_asItIsWritten_isRead(String fields, String means) throws ManifestException {
        assertThat(text(hook(fields))).isEqualTo(means);
    }

    @Test
    void hooks_none_isEmpty() throws ManifestException {
        assertThat(read("  []\n").hooks()).isEmpty();
        assertThat(new ManifestReader(name -> "/w", new ReadOptions()).read("k.json", "{\"agent_id\":\"a\",\"scope\":[]}".getBytes(StandardCharsets.UTF_8)).hooks())
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "- {typ: a.B}|4:4: unknown field of a hook 'typ'; did you mean type?",
        "- jdbc|4:3: an entry of hooks is the text 'jdbc'; write {preset: jdbc}",
        "- {preset: jdbcx}|4:12: unknown preset 'jdbcx'; did you mean jdbc?",
        "- {preset: jdbc, method: x}|4:3: a hook has both a preset and a type",
        "- {}|4:3: a hook has no type; write type: com.acme.Flags, method: set",
        "- {type: a.B}|4:3: a hook has no method",
        "- {type: a.B, method: c}|4:3: a hook has no predicate",
        "- {type: a.B, method: c, predicate: MUTATES}|4:3: a hook has no resource",
        "- {type: B, method: c}|4:10: 'B' is not the name of a type; write it with its package",
        "- {type: a..B, method: c}|'a..B' is not the name of a type", "- {type: a.B-C, method: c}|'a.B-C' is not the name of a type",
        "- {type: a.B, method: <init>}|4:23: constructors cannot be hooked", "- {type: a.B, method: 'c d'}|'c d' is not a method",
        "- {type: a.B, method: 'c(int'}|'c(int' is not a method", "- {type: a.B, method: 'c(int,)'}|'' is not the type of a parameter",
        "- {type: a.B, method: 'c(int i)'}|'int i' is not the type of a parameter", "- {type: a.B, method: 'c(String[])'}|write java.lang.String[]", "- {type: a.B, method: 'c(void)'}|'void' is not the type of a parameter",
        "- {type: a.B, method: c, predicate: WRITES}|4:37: unknown predicate 'WRITES'; did you mean MUTATES?",
        "- {type: a.B, method: c, predicate: MUTATES, resource: 'FILE:/a'}|4:56: a hook's resource is FILE, which klock observes itself; write one of SYMBOL",
        "- {type: a.B, method: c, predicate: MUTATES, resource: 'KEY:a'}|4:56: unknown scheme 'KEY'",
        "- {type: a.B, method: c, predicate: MUTATES, resource: '${arg:0}'}|the template's scheme depends on the call",
        "- {type: a.B, method: c, predicate: MUTATES, resource: 'SYMBOL:${arg}'}|4:56: ${arg} has no index of an argument; write ${arg:0}",
        "- {type: a.B, method: c, predicate: MUTATES, resource: 'SYMBOL:${arg:x}'}|${arg:x} has no index", "- {type: a.B, method: c, predicate: MUTATES, resource: 'SYMBOL:${arg:999}'}|no index",
        "- {type: a.B, method: 'c(int)', predicate: MUTATES, resource: 'SYMBOL:${arg:1}'}|4:63: ${arg:1} is none of the 1 arguments of c; write an index from 0 to 0",
        "- {type: a.B, method: 'c()', predicate: MUTATES, resource: 'SYMBOL:${arg:0}'}|none of the 0 arguments of c; name no argument",
        "- {type: a.B, method: c, predicate: MUTATES, resource: 'SYMBOL:${nope}'}|unknown variable ${nope}",
        "- {type: a.B, method: c, predicate: MUTATES, resource: 'SYMBOL:a*'}|has a *", "- {name: 'a b', preset: jdbc}|4:10: the hook's name is 'a b'",
        "- {preset: jdbc, preset: jdbc}|the field of a hook preset is there twice", "- {preset: 1}|preset is the number 1"})
    @Tag("K1-12")
    void hook_unknownOrWrong_isRefusedWithItsPlace(String hooks, String message) {
        ManifestException e = catchThrowableOfType(ManifestException.class, () -> read(hooks + "\n"));
        assertThat(e).as(hooks).isNotNull();
        assertThat(e.getMessage()).startsWith("k.yaml:4:").contains(message);
    }

    @Test
    void hooks_ofOneName_areRefused() {
        ManifestException e = catchThrowableOfType(ManifestException.class, () -> read("- {preset: jdbc}\n- {preset: jdbc}\n"));
        assertThat(e).hasMessageStartingWith("k.yaml:5:3: the hook jdbc is there twice, first on line 4; leave one of them out");
        assertThat(catchThrowableOfType(ManifestException.class, () -> read("  jdbc\n"))).hasMessageContaining("hooks is the text 'jdbc'; write a list of hooks");
        assertThat(catchThrowableOfType(ManifestException.class, () -> read("- {preset: jdbc}\n".repeat(1) + moreThan(Manifest.MAX_HOOKS))))
                .hasMessageContaining("more than 200 hooks");
    }

    private static String moreThan(int hooks) {
        StringBuilder b = new StringBuilder();
        for (int i = 0; i <= hooks; i++) {
            b.append("- {preset: jdbc, name: h").append(i).append("}\n");
        }
        return b.toString();
    }

    @Test
    void literals_ofATemplate_areOneMoreThanItsParts() throws ManifestException {
        LibraryHook h = hook("type: a.B, method: c, predicate: MUTATES, resource: 'SYMBOL:${arg:0}${arg:2}'");
        assertThat(List.of(h.literal(0), h.literal(1), h.literal(2))).containsExactly("", "", "");
        assertThat(h.lastArgument()).isEqualTo(2);
        assertThat(h.meaning()).isEqualTo("a.B.c means MUTATES SYMBOL:${arg:0}${arg:2}");
        assertThat(hook("preset: jdbc").meaning()).isEqualTo("preset jdbc");
    }
}
