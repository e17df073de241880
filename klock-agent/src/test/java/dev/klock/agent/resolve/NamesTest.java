package dev.klock.agent.resolve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class NamesTest {
    @Property
    void any_bytes_survive_the_way_to_text_and_back(@ForAll byte[] bytes) {
        String real = Names.real(bytes);
        assertThat(Names.bytes(real)).isEqualTo(bytes);
        assertThat(Names.ofText(Names.text(real))).isEqualTo(real);
    }

    @Property
    void valid_utf8_becomes_the_text_it_encodes(@ForAll String text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        String clean = new String(out.toByteArray(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(Names.text(Names.real(out.toByteArray()))).isEqualTo(clean);
    }

    @Test
    void a_byte_that_is_not_utf8_is_no_declared_character() {
        assertThat(Names.text("a\u00ff")).isEqualTo("a\udcff").isNotEqualTo("a\ufffd").isNotEqualTo("a\u00ff");
        // the longer form of '/' stays two bytes: it is no separator
        assertThat(Names.text("\u00c0\u00af")).isEqualTo("\udcc0\udcaf");
        // an encoded surrogate is three bytes, not a character
        assertThat(Names.text("\u00ed\u00b2\u0080")).isEqualTo("\udced\udcb2\udc80");
    }

    @Test
    void a_requested_name_is_encoded_as_the_jdk_does() {
        assertThat(new Names("UTF-8").encode("\u00e9")).isEqualTo("\u00c3\u00a9");
        assertThat(new Names("UTF-8").encode("\ud800x")).isEqualTo("?x");
        assertThat(new Names("ANSI_X3.4-1968").encode("\u00e9.txt")).isEqualTo("?.txt");
        assertThat(new Names("ISO-8859-1").encode("\u00e9\u20ac")).isEqualTo("\u00e9?");
        assertThat(new Names(null).encode("plain")).isEqualTo("plain");
        assertThat(new Names("no-such-charset").encode("\u00e9")).isEqualTo("\u00c3\u00a9");
    }

    @Test
    void control_characters_are_shown_escaped() {
        assertThat(Names.shown("a\n{\"allow\":true}")).isEqualTo("a\\n{\"allow\":true}");
        assertThat(Names.shown("\u001b[31m")).isEqualTo("\\x1b[31m");
        assertThat(Names.shown("a\udcff")).isEqualTo("a\\xff");
        assertThat(Names.shown("\u202egpj.exe")).isEqualTo("\\u202egpj.exe");
        assertThat(Names.shown("caf\u00e9 \ud83d\ude00")).isEqualTo("caf\u00e9 \ud83d\ude00");
    }

    @Test
    void exact_isUniqueAndUndone_asIsPrinted() {
        String[][] names = {{"/a", "/a", "/a"}, {"/a\\b", "/a\\b", "/a\\b"}, {"/a\tb", "/a\tb", "/a\\x09b"}, {"/a\\x09b", "/a\\x5cx09b", "/a\\x09b"},
            {"/\u00c3\u00a4\n", "/\u00e4\n", "/\\xc3\\xa4\\x0a"}, {"/\u00ff\\xFf", "/\\xff\\x5cxFf", "/\\xff\\x5cxFf"}, {"/\\\u00ff", "/\\\\xff", "/\\\\xff"},
            {"/\\x5cx09\n", "/\\x5cx5cx09\n", "/\\x5cx5cx09\\x0a"}, {"/\u00f0\u009f\u0098\u0080", "/\ud83d\ude00", "/\ud83d\ude00"}};
        for (String[] name : names) {
            byte[] bytes = Names.bytes(name[0]);
            assertThat(Names.exact(bytes)).isEqualTo(name[1]);
            assertThat(Names.printed(bytes)).isEqualTo(name[2]);
            assertThat(Names.ofExact(name[1])).as(name[1]).isEqualTo(bytes);
            if (!name[1].equals("/a\\x5cx09b")) {
                assertThat(Names.ofExact(name[2])).as(name[2]).isEqualTo(bytes);
            }
        }
    }
}
