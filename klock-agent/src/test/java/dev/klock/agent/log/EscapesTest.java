package dev.klock.agent.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EscapesTest {
    private static String json(String text) {
        StringBuilder json = new StringBuilder();
        Escapes.json(json, text);
        return json.toString();
    }

    @Property
    void json_anyText_isOneLineThatReadsBack(@ForAll String text) throws IOException {
        byte[] written = json(text).getBytes(StandardCharsets.UTF_8);
        for (byte b : written) {
            assertThat(b & 0xff).isGreaterThanOrEqualTo(0x20).isNotEqualTo(0x7f);
        }
        try (JsonParser parser = new JsonFactory().createParser(written)) {
            parser.nextToken();
            assertThat(parser.getText()).isEqualTo(text);
        }
    }

    @Property
    void line_anyText_holdsNothingATerminalActsOn(@ForAll String text) {
        Escapes.line(text).codePoints().forEach(c -> assertThat(Character.isISOControl(c) || c == 0x2028 || c == 0x202e || c == 0x200b).isFalse());
    }

    @Test
    @Tag("D25")
    void json_forgedRecordInAName_staysAString() {
        assertThat(json("a\n{\"allow\":true}\u001b[2K")).isEqualTo("\"a\\n{\\\"allow\\\":true}\\u001b[2K\"");
        assertThat(json("\ud83d\ude00 \ud83d \u202e \u0085")).isEqualTo("\"\ud83d\ude00 \\ud83d \\u202e \\u0085\"");
        assertThat(json(null)).isEqualTo("null");
    }

    @Test
    void formatCharacters_whichNobodySees_areShown() {
        assertThat(Escapes.line("tag\udb40\udc41 \ud83d\ude00")).isEqualTo("tag\\udb40\\udc41 \ud83d\ude00");
        String unseen = "a\u00ad\u200b\u200c\u200d\u200e\u2060\u2064\u180e\u061c\ufeffb";
        String shown = "a\\u00ad\\u200b\\u200c\\u200d\\u200e\\u2060\\u2064\\u180e\\u061c\\ufeffb";
        assertThat(Escapes.line(unseen)).isEqualTo(shown);
        assertThat(Escapes.yaml("CONSUMES FILE:/" + unseen)).isEqualTo("\"CONSUMES FILE:/" + shown + "\"");
    }

    @Test
    @Tag("D25")
    void line_controlCharacters_areShown() {
        assertThat(Escapes.line("/w/a\nb\r\u001b]0;x\u0007\u0000\u9999\\")).isEqualTo("/w/a\\nb\\r\\u001b]0;x\\u0007\\u0000\u9999\\");
        String plain = "/w/häuser/\ud83d\ude00";
        assertThat(Escapes.line(plain)).isEqualTo(plain);
        assertThat(Escapes.line("x\ud83d\ude00\n")).isEqualTo("x\ud83d\ude00\\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"MUTATES FILE:/etc/hosts", "MUTATES FILE:/w/a b", "CONSUMES FILE:/w/**", "MUTATES FILE:/w/it's#1", "MUTATES FILE:/w/ä\ud83d\ude00"})
    void yaml_plainText_isLeftAlone(String text) {
        assertThat(Escapes.yaml(text)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"FILE:/a: b|\"FILE:/a: b\"", "FILE:/a #b|\"FILE:/a #b\"", "FILE:/a:|\"FILE:/a:\"",
        "*x|\"*x\"", "FILE:/\u0001x|\"FILE:/\\u0001x\""})
    void yaml_textThatMeansMore_isQuoted(String text, String quoted) {
        assertThat(Escapes.yaml(text)).isEqualTo(quoted);
    }
}
