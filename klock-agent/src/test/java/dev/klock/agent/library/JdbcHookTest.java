package dev.klock.agent.library;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JdbcHookTest {
    @ParameterizedTest
    @CsvSource({"jdbc:h2:mem:shop,jdbc:h2:mem:shop", "jdbc:h2:file:/data/shop;MODE=MySQL;PASSWORD=x,jdbc:h2:file:/data/shop", "jdbc:sqlite:shop.db?mode=ro,jdbc:sqlite:shop.db",
        "jdbc:postgresql://u:p@h:5432/shop?password=x,jdbc:postgresql://h:5432/shop", "jdbc:oracle:thin:scott/tiger@//h:1521/x,jdbc:oracle:thin://h:1521/x",
        "jdbc:oracle:thin:scott/tiger@h:1521:x,jdbc:oracle:thin:h:1521:x", "jdbc:mysql://h/shop?user=a@b,jdbc:mysql://h/shop", "jdbc:,jdbc:", "'',jdbc:unknown"})
    void url_ofAConnection_namesTheDatabaseWithoutSecrets(String url, String whole) {
        assertThat(JdbcHook.whole(url)).isEqualTo(whole);
    }
}
