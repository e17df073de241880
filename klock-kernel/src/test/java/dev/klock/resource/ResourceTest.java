package dev.klock.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ResourceTest {
    @ParameterizedTest
    @ValueSource(strings = {"FILE:/", "FILE:/*", "FILE:/**", "FILE:/w/in/a.txt", "FILE:/w/out/*", "FILE:/w/in/**", "FILE:/w/a ", "FILE:/w/?[a]{b}",
        "FILE:/w/a\\*b", "FILE:/w/a\\\\b", "FILE:/w/\\*", "FILE:/w/\\*\\*", "FILE:/w/\\*/*", "FILE:/w/\\${x}", "FILE:/w/$x", "FILE:/w/...", "FILE:/w/.hidden", "FILE:/w/café",
        "FILE:/w/\uD83D\uDE00", "PROCESS:/usr/bin/git", "URL:https://example.com/api/v1", "URL:tcp://localhost:5432", "URL:http://[::1]:8080/",
        "URL:https://example.com/a/**", "URL:https://example.com/**", "URL:http://127.0.0.1:8080/**", "URL:dns://example.com", "NATIVE:agent", "ENV:HOME", "ENV:PRODUCTION/DB_PASSWORD", "NATIVE:/usr/lib/libz.so", "NATIVE:ffm", "NATIVE:desktop", "NATIVE:cups", "NATIVE:sqlite", "NATIVE:sound", "NATIVE:fontconfig", "NATIVE:java.io", "NATIVE:java.azAZ_$09", "NATIVE:com.sun.a.Z9", "NATIVE:java.io.FileOutputStream.open0", "NATIVE:java.lang.invoke.MethodHandles$Lookup.IMPL_LOOKUP", "DB:users",
        "SYMBOL:User.authenticate", "API_ENDPOINT:/api/users", "CONFIG_KEY:db.host"})
    @Tag("K1-7")
    @Tag("C16")
    @Tag("C18")
    void parse_canonicalText_givesTheSameTextBack(String text) {
        assertThat(Resource.parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource({"FILE:/w/out/*,CHILDREN,/w/out", "FILE:/w/**,SUBTREE,/w", "FILE:/*,CHILDREN,/", "FILE:/**,SUBTREE,/", "FILE:/w/\\*,EXACT,/w/*",
        "FILE:/w/a\\\\\\*,EXACT,/w/a\\*", "FILE:/w/\\**,none,none"})
    @Tag("C18")
    void parse_star_isAPatternOnlyAsWholeUnescapedLastComponent(String text, String form, String path) {
        if (form.equals("none")) {
            assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class);
            return;
        }
        Resource resource = Resource.parse(text);
        assertThat(resource.form()).isEqualTo(Resource.Form.valueOf(form));
        assertThat(resource.path()).isEqualTo(path);
    }

    @ParameterizedTest
    @CsvSource({"file:/w/a,FILE:/w/a", "File:/w/a,FILE:/w/a", "database_table:users,DB:users", "DATABASE_TABLE:users,DB:users"})
    @Tag("K1-7")
    @Tag("C16")
    void parse_schemeInAnyCaseOrAlias_isTheCanonicalOne(String text, String canonical) {
        assertThat(Resource.parse(text)).hasToString(canonical);
    }

    @Test
    @Tag("C16")
    void parse_schemeUnderATurkishLocale_staysItself() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(new Locale("tr"));
            assertThat(Resource.parse("file:/w/i")).hasToString("FILE:/w/i");
        } finally {
            Locale.setDefault(before);
        }
    }

    @ParameterizedTest
    @CsvSource({"FILE:/w/out/,FILE:/w/out", "FILE:/w/out//,FILE:/w/out", "FILE://w,FILE:/w", "FILE:/w//a,FILE:/w/a", "FILE:/w/./a,FILE:/w/a",
        "FILE:/w/x/../a,FILE:/w/a", "FILE:/..,FILE:/", "FILE:/.,FILE:/", "FILE://,FILE:/", "FILE:/w/..,FILE:/", "FILE:/w//*,FILE:/w/*",
        "FILE:/w/./**,FILE:/w/**", "FILE://*,FILE:/*", "FILE://**,FILE:/**", "FILE:/w/**/,FILE:/w/**", "FILE:/w/*/,FILE:/w/*",
        "PROCESS:/usr//bin/git,PROCESS:/usr/bin/git", "NATIVE:/usr/lib/../z.so,NATIVE:/usr/z.so", "URL:HTTPS://Example.com/a,URL:https://example.com/a",
        "URL:https://example.com:443/a,URL:https://example.com/a", "URL:http://h:080/,URL:http://h/", "URL:https://example.com,URL:https://example.com/",
        "URL:https://h/a/../b,URL:https://h/b", "URL:https://h/a/..;x=1/b,URL:https://h/b", "URL:https://h/a/.;/b;c/d,URL:https://h/a/b;c/d", "URL:https://h/a/%2e%2e/b,URL:https://h/b", "URL:https://h/a/..%2Fb,URL:https://h/b",
        "URL:tcp://127.1:80,URL:tcp://127.0.0.1:80", "URL:tcp://2130706433:80,URL:tcp://127.0.0.1:80", "URL:tcp://h.:80,URL:tcp://h:80",
        "URL:tcp://[::ffff:127.0.0.1]:80,URL:tcp://127.0.0.1:80", "URL:tcp://[0:0:0:0:0:0:0:1]:80,URL:tcp://[::1]:80",
        "URL:tcp://[FE80::1%eth0]:80,URL:tcp://[fe80::1]:80", "URL:https://H/**,URL:https://h/**", "URL:https://h/a/.,URL:https://h/a/", "URL:tcp://h:1/,URL:tcp://h:1", "ENV:/A,ENV:A", "ENV:ns//A,ENV:ns/A"})
    @Tag("K1-8")
    @Tag("K1-14")
    @Tag("C17")
    void parse_nonCanonicalText_isRefusedWithTheCanonicalForm(String text, String canonical) {
        assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class)
                .hasMessageContaining("is not canonical").hasMessageContaining("write " + canonical);
        assertThat(Resource.parse(canonical)).hasToString(canonical);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"FILE:src/a|relative|such as FILE:/w/src/a", "FILE:./a|relative|such as FILE:/w/a",
        "FILE:../a|relative|such as FILE:/w/a", "FILE:**/.env|relative|an absolute path", "FILE:*|relative|an absolute path",
        "FILE:~/x|~|the home directory's path", "FILE:${workspace}/x|variable, which only a manifest has|the path that it stands for",
        "FILE:$HOME/x|shell variable|what it stands for", "FILE: /w/x|space|take it out", "PROCESS:bin/git|relative|absolute",
        "PROCESS:git|without its directory|/usr/bin/git",
        "NATIVE:libz.so|neither|NATIVE:ffm", "NATIVE:java.|neither|NATIVE:ffm", "NATIVE:java..io|neither|NATIVE:ffm", "NATIVE:java.1o|neither|NATIVE:ffm",
        "NATIVE:java.io-x|neither|NATIVE:ffm", "NATIVE:java.`a|neither|NATIVE:ffm", "NATIVE:java.a{|neither|NATIVE:ffm",
        "NATIVE:java.@a|neither|NATIVE:ffm", "NATIVE:java.a[|neither|NATIVE:ffm", "NATIVE:java.a/b|neither|NATIVE:ffm", "NATIVE:java.a:b|neither|NATIVE:ffm", "NATIVE:javax|neither|NATIVE:ffm"})
    @Tag("K1-9")
    @Tag("K1-14")
    @Tag("J03")
    @Tag("J04")
    void parse_relativePath_isRefusedWithAWayOut(String text, String problem, String remedy) {
        assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class).hasMessageContaining(problem)
                .satisfies(e -> assertThat(((ResourceSyntaxException) e).remedy()).contains(remedy).doesNotContain("${"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"FILE:src/a|FILE:${workspace}/src/a", "FILE:../a|FILE:${workspace}/a", "FILE:**/.env|${workspace}", "FILE:*|${workspace}",
        "FILE:~/x|${user.home}/x", "FILE:$HOME/x|${env:NAME}", "FILE:/w//a|write FILE:/w/a"})
    @Tag("K1-9")
    @Tag("J03")
    void parse_relativePathInAManifest_isToldOfTheVariableToo(String text, String remedy) {
        assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class)
                .satisfies(e -> assertThat(((ResourceSyntaxException) e).remedyInAManifest()).contains(remedy));
    }

    @Test
    void parse_textThatWouldTurnItsMessageAround_isShownByNumbers() {
        for (String bad : new String[] {"\u202e", "\u2066", "\u200f", "\u061c", "\n", "\u0085"}) {
            for (String text : new String[] {"FILE:/w//" + bad + "a", "FILE:/w/" + bad + "a*", "FILE:w" + bad, bad + "FILE:/w", "x" + bad, "FILE:/w/" + bad + "/**/", "DB:" + bad + "*",
                "URL:https://h/" + bad + "?a", "ENV:" + bad + "=", "PROCESS:" + bad, "FILE:/" + bad + "/" + "x".repeat(1_000_000) + "*y"}) {
                assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class)
                        .satisfies(e -> assertThat(e.getMessage()).doesNotContain(bad).hasSizeLessThan(2 * Shown.MESSAGE));
            }
        }
        assertThat(Shown.value("\ud83d\ude00")).as("a whole character").isEqualTo("\ud83d\ude00");
        assertThat(Shown.value("a".repeat(119) + "\ud83d\ude00")).isEqualTo("a".repeat(119) + "...");
        assertThat(Shown.value("\ude00\ud83d")).isEqualTo("<U+de00><U+d83d>");
        assertThat(Shown.message("a".repeat(Shown.MESSAGE) + "\n")).isEqualTo("a".repeat(Shown.MESSAGE) + "...");
    }

    @ParameterizedTest
    @ValueSource(strings = {"FILE:/w/*/a", "FILE:/w/a*", "FILE:/w/*a", "FILE:/w/***", "FILE:/w/**/a", "FILE:/w/a/**b", "FILE:/w*", "URL:https://h/*",
        "URL:https://*.example.com/", "ENV:*", "PROCESS:/usr/bin/*", "DB:*"})
    @Tag("C18")
    @Tag("J03")
    void parse_starElsewhere_isRefused(String text) {
        assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class).hasMessageContaining("*");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"FILE:|has no path", "ENV:|has no path", "URL:example.com/a|no protocol", "URL:https:///a|no host",
        "URL:https://h/a#b|fragment", "URL:https://h:99999/|port", "URL:https://h:x/|port", "URL:tcp://h|no port", "URL:tcp://h:1/a|path", "URL:tcp://h:1/**|path", "URL:https://h/a?b=c|query",
        "URL:https://h h/|host", "URL:https://é.example/|xn--", "ENV:A=b|=", "FILE:/w/a\\|single", "FILE:/w/a\\n|before", "SOCKET:/x|known: FILE",
        "/w/a|FILE:/w/a", "nothing|no scheme", "FLIE:/w|unknown scheme 'FLIE'"})
    @Tag("C16")
    void parse_malformedText_isRefused(String text, String message) {
        assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class).hasMessageContaining(message);
    }

    @Test
    void parse_passwordInUrl_isNotRepeated() {
        assertThatThrownBy(() -> Resource.parse("URL:https://u:secret@h/a")).hasMessageNotContaining("secret").hasMessageContaining("URL:https://h/a");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\0", "\n", "\r", "\t", "\u001b", "\u007f", "\u0085", "\u001f", "\u009f", "\u2029", "\u2028", "\ud800", "\udc00"})
    void parse_controlCharacterOrHalfPair_isRefusedOnOneLine(String bad) {
        assertThatThrownBy(() -> Resource.parse("FILE:/w/a" + bad + "b")).isInstanceOf(ResourceSyntaxException.class)
                .satisfies(e -> assertThat(e.getMessage().chars()).noneMatch(c -> c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028));
    }

    @Test
    void parse_longPath_isLimitedInBytes() {
        String longest = "/".concat("é".repeat(2047));
        assertThat(Resource.parse("FILE:" + longest).path()).isEqualTo(longest);
        assertThatThrownBy(() -> Resource.parse("FILE:" + longest + "ab")).isInstanceOf(ResourceSyntaxException.class)
                .hasMessageContaining("4097 bytes").hasMessageContaining("at most 4096 bytes");
    }

    @ParameterizedTest
    @CsvSource({"src/a,FILE:/r/src/a", "./src//a/,FILE:/r/src/a", "../a,FILE:/a", "/x/../a,FILE:/a", "FILE:src/**,FILE:/r/src/**", "file:*,none",
        "FILE:/w/,FILE:/w", "ENV:A,ENV:A", ".,FILE:/r"})
    @Tag("C17")
    void normalise_whatAPersonTypes_countsFromTheRoot(String text, String canonical) {
        if (canonical.equals("none")) {
            assertThatThrownBy(() -> Resource.normalise(text, "/r")).isInstanceOf(ResourceSyntaxException.class);
        } else {
            assertThat(Resource.normalise(text, "/r")).hasToString(canonical);
        }
    }

    @Test
    @Tag("K1-7")
    void resources_ofTwoSchemes_neitherCoverNorOverlapEachOther() {
        for (Resource.Form form : Resource.Form.values()) {
            for (Resource.Form other : Resource.Form.values()) {
                Resource file = Resource.of("FILE", "/a", form);
                Resource process = Resource.of("PROCESS", "/a", other);
                assertThat(file.covers(process)).isFalse();
                assertThat(file.overlaps(process)).isFalse();
                assertThat(process.overlaps(file)).isFalse();
            }
        }
        assertThat(Resource.parse("FILE", "/a/**")).isEqualTo(Resource.of("FILE", "/a", Resource.Form.SUBTREE));
    }
}
