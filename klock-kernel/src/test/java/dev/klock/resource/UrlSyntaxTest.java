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

    /** Where to look is counted from one, and what to write keeps all that was right. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "FILE:/w/a*|write FILE:/w/* for children or /** for all below, or \\* for a star in the name", "FILE:/a*|write FILE:/* for children",
        "FILE:/w/x/*y/z|write FILE:/w/x/* for children", "FILE:/w/***|write FILE:/w/* for children", "FILE:/w/**/|write FILE:/w/**", "FILE:/w/*/|write FILE:/w/*",
        "FILE:/w/**/a|not a whole last component", "FILE:/w/a*/|not a whole last component", "FILE:/w/*//|not a whole last component",
        "URL:https://h/a*|each host by its name", "URL:https://h/*|each host by its name", "DB:a*|patterns are for FILE and URL only",
        "ENV:=b|write the variable's name only: ENV:", "ENV:a=b=c|write the variable's name only: ENV:a", "FILE:./|write an absolute path, such as FILE:/w"})
    @Tag("K1-14")
    @Tag("C18")
    void parse_starOrSignElsewhere_saysWhatToWrite(String text, String remedy) {
        assertThatThrownBy(() -> Resource.parse(text)).isInstanceOf(ResourceSyntaxException.class).hasMessageContaining(remedy);
    }

    @Test
    @Tag("K1-14")
    void parse_characterThatNoNameHolds_saysWhichAndWhere() {
        assertThatThrownBy(() -> Resource.parse("FILE:/w/\u0007a")).hasMessageContaining("control character U+0007 at position 4");
        assertThatThrownBy(() -> Resource.parse("FILE:\u009f")).hasMessageContaining("control character U+009f at position 1");
        assertThatThrownBy(() -> Resource.parse("FILE:/w\u2029")).hasMessageContaining("control character U+2029 at position 3");
        assertThatThrownBy(() -> Resource.parse("FILE:/w/\ud800")).hasMessageContaining("half a surrogate pair at position 4");
        assertThatThrownBy(() -> Resource.parse("FILE:/w/\ud800a")).hasMessageContaining("half a surrogate pair at position 4");
        assertThatThrownBy(() -> Resource.parse("FILE:\udc00a")).hasMessageContaining("half a surrogate pair at position 1");
        assertThatThrownBy(() -> Resource.parse("FILE:/a\udc00")).hasMessageContaining("half a surrogate pair at position 3");
        assertThat(Resource.parse("FILE:/w/\ud83d\ude00\u007e\u00a0").path()).hasSize(7);
        assertThatThrownBy(() -> Resource.parse("FILE:/w/\ud83d\ude00\ude00")).hasMessageContaining("half a surrogate pair at position 6");
    }

    @Test
    void path_withDotsBehindWhatSomeServersDrop_isReadInTwoWays() {
        assertThat(Resource.readOtherwise("/a//../b")).isEqualTo("/b");
        assertThat(Resource.readOtherwise("/a/;x/../b")).isEqualTo("/b");
        assertThat(Resource.readOtherwise("/a/%2f%2e%2e/b")).isEqualTo("/b");
        assertThat(Resource.readOtherwise("/a//b/./c")).isEqualTo("/a/b/c");
        assertThat(Resource.readOtherwise("/a/b/../c")).isNull();
        assertThat(Resource.readOtherwise("/a//b")).isNull();
        assertThat(Resource.readOtherwise("/a;x/b")).isNull();
        assertThat(Resource.readOtherwise("")).isNull();
    }
}
