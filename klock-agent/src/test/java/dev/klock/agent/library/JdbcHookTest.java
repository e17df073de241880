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

    @ParameterizedTest
    @CsvSource({"jdbc:sqlite:shop.db,shop.db", "jdbc:sqlite:/data/shop.db?journal_mode=WAL,/data/shop.db", "jdbc:sqlite:file:shop.db?mode=ro,shop.db",
        "jdbc:sqlite:file:///data/shop.db,/data/shop.db", "jdbc:sqlite:,", "jdbc:sqlite::memory:,", "jdbc:sqlite:file::memory:?cache=shared,",
        "jdbc:sqlite:file:x?mode=memory,", "jdbc:sqlite::resource:a.db,"})
    void url_ofSqlite_namesAFile(String url, String file) {
        assertThat(JdbcHook.sqliteFile(url)).isEqualTo(file);
    }
}
