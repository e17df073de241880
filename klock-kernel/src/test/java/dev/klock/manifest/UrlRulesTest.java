package dev.klock.manifest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("C49")
class UrlRulesTest {
    private static Scope scope(String... lines) {
        Scope.Builder builder = Scope.builder();
        for (int i = 0; i < lines.length; i++) {
            boolean deny = lines[i].startsWith("deny ");
            String[] words = (deny ? lines[i].substring(5) : lines[i]).split(" ");
            if (deny) {
                builder.deny(Predicate.valueOf(words[0]), Resource.parse(words[1]), i);
            } else {
                builder.allow(Predicate.valueOf(words[0]), Resource.parse(words[1]), i);
            }
        }
        return builder.build();
    }

    private static boolean allowed(Scope scope, String triple) {
        String[] words = triple.split(" ");
        return Scope.isAllowed(scope.decide(Predicate.valueOf(words[0]), "URL", words[1], false));
    }

    @ParameterizedTest
    @CsvSource({
        // a request: its path and below, no other path, method, port, protocol or host
        "CONSUMES URL:https://h/api/**,CONSUMES https://h/api,true", "CONSUMES URL:https://h/api/**,CONSUMES https://h/api/x/y,true",
        "CONSUMES URL:https://h/api/**,CONSUMES https://h/apix,false", "CONSUMES URL:https://h/api/**,CONSUMES https://h/,false",
        "CONSUMES URL:https://h/**,CONSUMES https://h/,true", "CONSUMES URL:https://h/**,MUTATES https://h/a,false",
        "CONSUMES URL:https://h/**,DELETES https://h/a,false", "MUTATES URL:https://h/**,CONSUMES https://h/a,true",
        "CONSUMES URL:https://h/**,CONSUMES https://h:8443/a,false", "CONSUMES URL:https://h/**,CONSUMES http://h/a,false",
        "CONSUMES URL:https://h/**,CONSUMES https://h.evil/a,false", "CONSUMES URL:https://h/**,CONSUMES https://xh/a,false",
        "CONSUMES URL:https://h/a,CONSUMES https://h/a/b,false", "CONSUMES URL:wss://h/**,CONSUMES https://h/chat,true",
        "CONSUMES URL:ws://h:8080/chat,CONSUMES http://h:8080/chat,true",
        // an end point covers every method there
        "CONSUMES URL:tcp://h:443,CONSUMES https://h/a,true", "CONSUMES URL:tcp://h:443,MUTATES https://h/a,true",
        "CONSUMES URL:tcp://h:443,DELETES https://h/a,true", "CONSUMES URL:tcp://h:443,PROVIDES https://h/a,false",
        "CONSUMES URL:tcp://h:80,CONSUMES https://h/a,false", "PROVIDES URL:tcp://h:443,MUTATES https://h/a,false",
        // the connects a request needs
        "CONSUMES URL:https://h/api/**,CONSUMES tcp://h:443,true", "DELETES URL:https://h/api,CONSUMES tcp://h:443,true",
        "CONSUMES URL:https://h:8443/**,CONSUMES tcp://h:8443,true", "CONSUMES URL:https://h/**,CONSUMES tcp://h:80,false",
        "CONSUMES URL:https://h/**,CONSUMES udp://h:443,false", "CONSUMES URL:https://h/**,PROVIDES tcp://h:443,false",
        "CONSUMES URL:https://h/**,CONSUMES tcp://g:443,false", "CONSUMES URL:ldap://h/x,CONSUMES tcp://h:389,true",
        "CONSUMES URL:udp://h:53,CONSUMES udp://h:53,true", "CONSUMES URL:udp://h:53,CONSUMES tcp://h:53,false",
        "CONSUMES URL:tcp://[::1]:80,CONSUMES tcp://[::1]:80,true", "CONSUMES URL:http://[::1]:8080/**,CONSUMES tcp://[::1]:8080,true",
        // listening
        "PROVIDES URL:tcp://h:80,PROVIDES tcp://h:80,true", "PROVIDES URL:http://h/**,PROVIDES tcp://h:80,true",
        "PROVIDES URL:tcp://0.0.0.0:80,PROVIDES tcp://127.0.0.1:80,true", "PROVIDES URL:tcp://127.0.0.1:80,PROVIDES tcp://0.0.0.0:80,false",
        "CONSUMES URL:tcp://0.0.0.0:80,CONSUMES tcp://127.0.0.1:80,false", "PROVIDES URL:tcp://h:80,CONSUMES tcp://h:80,false",
        "PROVIDES URL:tcp://h:0,PROVIDES tcp://h:0,true", "PROVIDES URL:tcp://h:0,PROVIDES tcp://h:80,false",
        // looking up
        "CONSUMES URL:https://h/a,CONSUMES dns://h,true", "CONSUMES URL:tcp://h:1,CONSUMES dns://h,true", "PROVIDES URL:tcp://h:1,CONSUMES dns://h,true",
        "CONSUMES URL:dns://h,CONSUMES dns://h,true", "CONSUMES URL:dns://h,CONSUMES tcp://h:80,false", "CONSUMES URL:https://h/a,CONSUMES dns://g,false"})
    void line_aboutAUrl_coversWhatItNeedsAndNothingElse(String line, String attempt, boolean expected) {
        assertThat(allowed(scope(line), attempt)).isEqualTo(expected);
    }

    @Test
    void denyLine_aboutAUrl_beatsScopeAtTheLevelItNames() {
        Scope path = scope("CONSUMES URL:https://h/**", "deny CONSUMES URL:https://h/private/**");
        assertThat(allowed(path, "CONSUMES https://h/a")).isTrue();
        assertThat(allowed(path, "CONSUMES https://h/private/a")).isFalse();
        assertThat(allowed(path, "CONSUMES tcp://h:443")).isTrue();
        Scope host = scope("CONSUMES URL:tcp://h:443", "deny CONSUMES URL:https://h/**");
        assertThat(allowed(host, "CONSUMES tcp://h:443")).isFalse();
        Scope point = scope("MUTATES URL:https://h/**", "deny CONSUMES URL:tcp://h:443");
        assertThat(allowed(point, "MUTATES https://h/a")).isFalse();
        Scope name = scope("CONSUMES URL:https://h/**", "deny CONSUMES URL:dns://h");
        assertThat(allowed(name, "CONSUMES dns://h")).isFalse();
    }

    @Test
    void decision_ofSeveralLines_namesTheOneOfThePredicateThenTheLongest() {
        Scope scope = scope("MUTATES URL:https://h/**", "CONSUMES URL:https://h/**", "CONSUMES URL:https://h/a/**");
        assertThat(scope.decide(Predicate.CONSUMES, "URL", "https://h/a/b", false)).isEqualTo(2);
        assertThat(scope.decide(Predicate.CONSUMES, "URL", "https://h/b", false)).isEqualTo(1);
        assertThat(scope.namesHost("h")).isTrue();
        assertThat(scope.namesHost("g")).isFalse();
        assertThat(scope().decide(Predicate.CONSUMES, "URL", "https://h/", false)).isEqualTo(Scope.NONE);
    }

    @Test
    void endPoint_thatTheSessionListensOn_mayBeUsedByIt() {
        Scope scope = scope("PROVIDES URL:tcp://h:80");
        assertThat(Scope.isAllowed(scope.decide(Predicate.CONSUMES, "URL", "tcp://h:80", true))).isTrue();
        assertThat(Scope.isAllowed(scope.decide(Predicate.MUTATES, "URL", "http://h/a", true))).isTrue();
    }
}
