package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class YamlTokensTest {
    private static final int MAX_NESTING = 4;

    private static YamlTokens tokens(String text) throws ManifestException {
        ManifestText decoded = new ManifestText("m.yaml");
        decoded.decode(text.getBytes(StandardCharsets.UTF_8));
        return new YamlTokens(decoded, MAX_NESTING);
    }

    /** All of {@code text}: each token, the text of those that have one, and where they start. */
    private static List<String> all(String text) throws ManifestException, Tokens.Problem {
        YamlTokens tokens = tokens(text);
        List<String> all = new ArrayList<>();
        for (Token token = tokens.next(); token != null; token = tokens.next()) {
            all.add(token + (token == Token.KEY || token.isScalar() ? " " + tokens.text() : "") + " " + tokens.line() + ":" + tokens.column());
        }
        return all;
    }

    private static Tokens.Problem refused(String text) {
        Tokens.Problem e = catchThrowableOfType(Tokens.Problem.class, () -> all(text));
        assertThat(e).as(text).isNotNull();
        return e;
    }

    @Test
    void tokens_ofAllStyles_comeInOrderAndWithTheirPlaces() throws Exception {
        assertThat(all("# first\nid: a\nlist:\n- 1\n- {b: [x, 'y']}\nempty:\n")).containsExactly("MAPPING 2:1", "KEY id 2:1", "TEXT a 2:5", "KEY list 3:1",
                "LIST 4:1", "INTEGER 1 4:3", "MAPPING 5:3", "KEY b 5:4", "LIST 5:7", "TEXT x 5:8", "TEXT y 5:11", "LIST_END 5:14", "MAPPING_END 5:15",
                "LIST_END 6:1", "KEY empty 6:1", "NULL  6:7", "MAPPING_END 7:1");
        assertThat(all("")).isEmpty();
        assertThat(all("--- a\n...\n--- b\n")).containsExactly("TEXT a 1:5", "TEXT b 3:5");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", value = {"NULL|~|null|Null|NULL", "TEXT|nULL|none|-|-", "TRUE|yes|True|ON|on", "FALSE|no|FALSE|Off|off",
        "TEXT|y|N|tRUE|oN", "INTEGER|0|-0|+12|1_000", "INTEGER|0x1F|-0x_f|0b10|0b_1", "INTEGER|017|0_7|00|99999999999999999999",
        "TEXT|08|0_|0x|0b2", "TEXT|0X1|0B1|0o7|0xg", "TEXT|1__x|_1|-_1|+", "FRACTION|1.|.5|-1.5e3|1E-5", "FRACTION|1_0.0_1|._|+.5|08.5",
        "TEXT|.|1e|1e+|1.5e", "TEXT|1.2.3|.e5|1.e5_|e5", "FRACTION|.inf|-.Inf|+.INF|.NaN", "TEXT|-.nan|.iNF|inf|NaN", "TEXT|1:30|1:30:59|0:30|1:60",
        "FRACTION|1:30.5|1:5:59.|0:1._|-9:59.0", "TEXT|1:60.5|1:30.5e1|1:300.5|1:.5", "TEXT|2001-01-01|1-2|1 2|\u0661", "TEXT|<<|=|a_b|x1"})
    void plain_whatItLooksLike_isItsToken(Token token, String one, String two, String three, String four) throws Exception {
        for (String text : new String[] {one, two, three, four}) {
            if (text != null) {
                YamlTokens tokens = tokens("[ " + text + " ]");
                tokens.next();
                assertThat(tokens.next()).as(text).isEqualTo(token);
                assertThat(tokens.text()).isEqualTo(text);
                assertThat(all("[ '" + text + "', \"" + text + "\" ]").subList(1, 3)).as("in quotes it is text")
                        .containsExactly("TEXT " + text + " 1:3", "TEXT " + text + " 1:" + (text.length() + 7));
                assertThat(all("{ " + text + " : a }").get(1)).as("as a key it is text").isEqualTo("KEY " + text + " 1:3");
            }
        }
    }

    @Test
    void plain_longNumber_isText() {
        assertThat(YamlTokens.plain("1".repeat(1024))).isEqualTo(Token.INTEGER);
        assertThat(YamlTokens.plain("1".repeat(1025))).isEqualTo(Token.TEXT);
    }

    @Test
    void text_ofSeveralLines_endsOnItsLast() throws Exception {
        for (String text : new String[] {"a\n b", "'a\n b'", "\"a\n b\"", "|-\n a\n", ">-\n a\n"}) {
            YamlTokens tokens = tokens(text);
            assertThat(tokens.next()).isEqualTo(Token.TEXT);
            assertThat(tokens.line()).isEqualTo(1);
            assertThat(tokens.endLine()).as(text).isGreaterThan(1);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"a: *x|1:4|uses the YAML alias *x", "[b, *x]|1:5|uses the YAML alias *x", "a: &x [b]|1:4|has the YAML anchor &x",
        "&x a: b|1:1|has the YAML anchor &x", "a: &x {b: c}|1:4|has the YAML anchor &x", "a: !!str b|1:4|has a YAML tag", "a: ! b|1:4|has a YAML tag",
        "a: !!int|1:4|has a YAML tag", "a: !!binary $|1:4|has a YAML tag", "[!x {}]|1:2|has a YAML tag", "!!seq []|1:1|has a YAML tag"})
    void aliasAnchorTag_areRefusedWhereTheyStand(String text, String place, String problem) {
        Tokens.Problem e = refused(text);
        assertThat(e.line + ":" + e.column).isEqualTo(place);
        assertThat(e).hasMessage(problem);
    }

    @Test
    void anchorOfAScalarAndTagOfAKey_areRefused() {
        assertThat(refused("{a: &x b}")).hasMessage("has the YAML anchor &x");
        assertThat(refused("{!!int a: b}")).hasMessage("has a YAML tag");
    }

    @Test
    void nesting_overTheLimit_isRefused() throws Exception {
        assertThat(all("[[[[]]]]")).hasSize(8);
        assertThat(refused("[[[[[]]]]]")).hasMessage("is not YAML: Document nesting depth (5) exceeds the maximum allowed (4)");
        assertThat(all("[[[[]]], [[[]]]]")).hasSize(14);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a: b: c", "[", "a: \"", "\ta: b", "@", "{a: b", "? [a]\n: b", "*a : b", "%YAML 99999999999.1\n---\na", "%YAML 3.0\n---\na", "a\uFFFE"})
    void text_thatIsNoYaml_isRefused(String text) {
        assertThat(refused(text)).hasMessageStartingWith("is not YAML: ");
    }

    @ParameterizedTest
    @CsvSource({"m.yaml,org.yaml.snakeyaml.,com.fasterxml.jackson.", "m.json,com.fasterxml.jackson.,org.yaml.snakeyaml."})
    void reading_oneFormat_loadsNothingOfTheOther(String file, String own, String other, @TempDir Path directory) throws Exception {
        Path log = directory.resolve("classes");
        Process java = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xlog:class+load:file=" + log, "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")), Reading.class.getName(), file)
                .redirectErrorStream(true).redirectOutput(directory.resolve("out").toFile()).start();
        try {
            assertThat(java.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            java.destroyForcibly();
        }
        assertThat(Files.readString(directory.resolve("out"))).isEqualTo("a");
        String loaded = Files.readString(log);
        assertThat(loaded).contains(" " + own).doesNotContain(" " + other);
        if (file.equals("m.yaml")) {
            assertThat(loaded).as("its initialiser computes large powers").doesNotContain(" java.math.BigDecimal ");
        }
    }

    static final class Reading {
        public static void main(String[] args) throws ManifestException {
            String text = "{\"ver\": \"1.0\", \"agent_id\": \"a\", \"priority\": 17, \"scope\": [{\"predicate\": \"CONSUMES\", \"resource\": \"FILE:/a\", \"confidence\": 0.5}]}";
            System.out.print(new ManifestReader(name -> null, new ReadOptions()).read(args[0], text.getBytes(StandardCharsets.UTF_8)).agentId());
        }
    }
}
