package dev.klock.agent.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecretsTest {
    @ParameterizedTest
    @Tag("K1-19")
    @CsvSource({
        "URL,URL:https://h/p?token=s3cret,URL:https://h/p?***",
        "URL,https://u:s3cret@h/p,https://***@h/p",
        "URL,https://u:s3cret@h,https://***@h",
        "URL,https://h/p@x,https://h/p@x",
        "URL,https://u@h/p#s3cret,https://***@h/p#***",
        "DB,DB:jdbc:pg://u:s3cret@h/d?password=s3cret,DB:jdbc:pg://***@h/d?***",
        "ENV,ENV:TOKEN=s3cret,ENV:TOKEN=***",
        "ENV,ENV:TOKEN,ENV:TOKEN",
        "FILE,FILE:/w/a?b=c#d,FILE:/w/a?b=c#d",
    })
    void name_withASecret_losesIt(String scheme, String name, String written) {
        assertThat(Secrets.masked(scheme, name)).isEqualTo(written);
    }
}
