package dev.klock.resource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UrlSyntaxTest {
    /** Both ends of each range of characters that servers may resolve, and their neighbours, which stay as they are written. */
    @ParameterizedTest
    @CsvSource({"%61%7A,az", "%41%5A,AZ", "%30%39,09", "%2d%2E%5f%7e,-._~", "%2F%5C,//", "\\a\\,/a/", "%60%7B%40%5B%2C%3A,%60%7B%40%5B%2C%3A",
        "%,%", "%6,%6", "a%6,a%6", "%61,a", "a%61b,aab", "%g1%1g,%g1%1g", "%00%ff,%00%ff", "abc,abc", "a\\b%61,a/ba"})
    @Tag("K1-8")
    void decoded_percentAndBackslash_areWhatAServerMayMakeOfThem(String path, String decoded) {
        assertThat(UrlSyntax.decoded(path)).isEqualTo(decoded);
    }

    @ParameterizedTest
    @CsvSource({"http,80", "ws,80", "https,443", "wss,443", "ftp,21", "ldap,389", "ldaps,636", "rmi,1099", "tcp,-1"})
    @Tag("K1-8")
    void defaultPort_ofEachProtocol_isLeftOut(String protocol, int port) {
        assertThat(UrlSyntax.defaultPort(protocol)).isEqualTo(port);
        String path = UrlSyntax.isWeb(protocol) ? "/" : "";
        assertThat(Resource.url(protocol, "H.", port, "")).hasToString("URL:" + protocol + "://h" + path);
        assertThat(Resource.url(protocol, "h", 8080, "/a/./b")).hasToString("URL:" + protocol + "://h:8080/a/b");
        assertThat(Resource.url(protocol, "h", 0, "")).hasToString("URL:" + protocol + "://h:0" + path);
    }

    @Test
    void isWeb_isHttpAndWebSockets() {
        assertThat(new String[] {"http", "https", "ws", "wss"}).allMatch(UrlSyntax::isWeb);
        assertThat(new String[] {"ftp", "tcp", "dns", ""}).noneMatch(UrlSyntax::isWeb);
    }

    @ParameterizedTest
    @ValueSource(strings = {"URL:z39.50r+a-b://h/a", "URL:a0z9://h/", "URL:tcp://h:65535", "URL:tcp://a-z.0_9:0", "URL:ftp://h", "URL:dns://h", "URL:http://[::1]/"})
    @Tag("K1-8")
    void parse_unusualButCanonical_isTaken(String text) {
        assertThat(Resource.parse(text)).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"URL:://h/|no protocol", "URL:0a://h/|no protocol", "URL:a/b://h/|no protocol", "URL:a:b://h/|no protocol",
        "URL:a`b://h/|no protocol", "URL:a{b://h/|no protocol", "URL:+a://h/|no protocol", "URL:http://@h/|user name", "URL:tcp://h:65536|65535",
        "URL:tcp://h:100000|65535", "URL:tcp://h:000080|65535", "URL:http://h/#|fragment", "URL:http://h?q|leave it out: URL:http://h/",
        "URL:http://h/a?q|leave it out: URL:http://h/a", "URL:dns://h:53|write URL:dns://h", "URL:dns://h/x|write URL:dns://h",
        "URL:tcp://h|write URL:tcp://h:PORT", "URL:tcp://h:9/x|write URL:tcp://h:9", "URL:http://h[/|character '['", "URL:http://a{/|character '{'",
        "URL:http://a`/|character '`'", "URL:http://a~/|character '~'", "URL:http://:80/|no host"})
    @Tag("K1-14")
    void parse_malformed_saysWhatToWrite(String text, String message) {
        assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class).hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.1,true", "[::1],true", "localhost,false", "1.2.3.4.5,false", "example.com,false"})
    void isAddress_isTrueOfAddressesOnly(String host, boolean address) {
        assertThat(Host.isAddress(host)).isEqualTo(address);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "\u007f", "\u0080", "\u07ff", "\u0800", "\uffff", "\ud83d\ude00"})
    void utf8Length_ofEachWidth_isWhatTheEncoderSays(String text) {
        assertThat(ResourceSyntax.utf8Length(text)).isEqualTo(text.getBytes(StandardCharsets.UTF_8).length);
    }

    @Test
    void parse_pathAtTheLimit_isTakenAndOneByteMoreIsRefused() {
        String longest = "FILE:/" + "a".repeat(Resource.MAX_PATH_BYTES - 1);
        assertThat(Resource.parse(longest).path()).hasSize(Resource.MAX_PATH_BYTES);
        assertThatThrownBy(() -> Resource.parse(longest + "a")).hasMessageContaining((Resource.MAX_PATH_BYTES + 1) + " bytes");
    }

    @Test
    void quote_ofAnything_isShortAndOnOneLine() {
        assertThat(ResourceSyntax.quote("a".repeat(120))).isEqualTo("'" + "a".repeat(120) + "'");
        assertThat(ResourceSyntax.quote("a".repeat(121))).isEqualTo("'" + "a".repeat(120) + "...'");
        assertThat(ResourceSyntax.quote("\u001f \u007e\u007f\u009f\u00a0\u2028\ud800")).isEqualTo("'<U+001f> \u007e<U+007f><U+009f>\u00a0<U+2028><U+d800>'");
    }

    @ParameterizedTest
    @CsvSource({"FILE:/w/out/,true", "FILE:/w//out,false", "PROCESS:/usr/bin/git/,false", "FILE:/w/out/**/,false"})
    void parse_directoryWithASlashAtItsEnd_isToldOfTheSubtreeToo(String text, boolean told) {
        assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class)
                .satisfies(e -> assertThat(e.getMessage().contains("for all below")).isEqualTo(told));
    }

    @ParameterizedTest
    @CsvSource({"FILE:,FILE:/w/in/**", "PROCESS:,PROCESS:/usr/bin/git", "URL:,URL:https://example.com/api", "ENV:,ENV:NAME", "NATIVE:,NATIVE:/usr/lib/libz.so", "DB:,DB:name"})
    void parse_withoutAPath_showsAnExampleOfItsScheme(String text, String example) {
        assertThatThrownBy(() -> Resource.parse(text)).hasMessageContaining(example);
    }
}
