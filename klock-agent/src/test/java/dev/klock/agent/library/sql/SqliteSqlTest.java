package dev.klock.agent.library.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

class SqliteSqlTest {
    /** A text, and what it opens: {@code +} made new, {@code ?} what cannot be told. */
    private static final String[][] TEXTS = {
        {"SELECT 'ATTACH ''x'' AS y'", ""},
        {"ATTACH 'a.db' AS a", "a.db"},
        {"attach database \"a.db\" as a", "a.db"},
        {"ATTACH [a b.db] AS a", "a b.db"},
        {"ATTACH a AS b", "a"},
        {"ATTACH/**/'it''s'--x\nAS a", "it's"},
        {"\uFEFFATTACH 'a' AS b", "a"},
        {"SELECT 1; ATTACH 'a' AS b; ; ATTACH 'c' AS d", "a, c"},
        {"ATTACH ? AS a", "?"},
        {"ATTACH $a AS a", "?"},
        {"ATTACH 'a' || 'b' AS a", "?"},
        {"ATTACH ('a') AS a", "?"},
        {"ATTACH x'61' AS a", "?"},
        {"ATTACH 'a", "?"},
        {"-- ATTACH 'a' AS b", ""},
        {"/* ; */ ATTACH 'a' AS b /* ", "a"},
        {"DETACH a", ""},
        {"VACUUM", ""},
        {"VACUUM main", ""},
        {"VACUUM INTO 'copy'", "+copy"},
        {"vacuum main into 'copy' ;", "+copy"},
        {"VACUUM INTO ?", "?"},
        {"VACUUM INTO 'a' || 'b'", "?"},
        {"EXPLAIN QUERY PLAN ATTACH 'a' AS b", "a"},
        {"SELECT load_extension('x')", "?"},
        {"SELECT \"Load_Extension\" ('x')", "?"},
        {"CREATE VIEW v AS SELECT load_extension /* */ (a) FROM t", "?"},
        {"SELECT load_extension FROM t", ""},
        {"PRAGMA temp_store_directory = '/etc'", "?"},
        {"pragma main.\"Temp_Store_Directory\"('/etc')", "?"},
        {"SELECT 'PRAGMA temp_store_directory'", ""},
        {"INSERT INTO t VALUES ('load_extension(')", ""}};

    @TestFactory
    Stream<DynamicTest> text_opens() {
        return Stream.of(TEXTS).map(row -> DynamicTest.dynamicTest(row[0], () -> assertThat(SqliteSql.opened(row[0]).stream()
                .map(one -> one.name() == null ? "?" : (one.made() ? "+" : "") + one.name()).collect(Collectors.joining(", "))).isEqualTo(row[1])));
    }
}
