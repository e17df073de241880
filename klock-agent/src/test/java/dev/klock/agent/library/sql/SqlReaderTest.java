package dev.klock.agent.library.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** SQL of many dialects, and what it means; {@code MUTATES *} is the whole database, the answer to all that is not surely understood. */
class SqlReaderTest {
    private static final String[][] ANY = {
        {"SELECT 1", ""},
        {"SELECT * FROM orders", "CONSUMES orders"},
        {"select * from Shop.Orders o join \"Customers\" c on c.id=o.cid where exists (select 1 from [dbo].x)", "MUTATES *"},
        {"SELECT * FROM `orders` WHERE id IN (SELECT oid FROM items UNION SELECT 1 FROM gone)", "CONSUMES orders, CONSUMES items, CONSUMES gone"},
        {"SELECT (SELECT max(x) FROM inner1) FROM a, b LEFT JOIN LATERAL (SELECT * FROM c) d ON true ORDER BY (SELECT 1 FROM e) LIMIT 1", "CONSUMES inner1, CONSUMES a, CONSUMES b, CONSUMES c, CONSUMES e"},
        {"SELECT * FROM orders FOR UPDATE", "CONSUMES orders"},
        {"SELECT * INTO newt FROM t", "PROVIDES newt, CONSUMES t"},
        {"SELECT a INTO OUTFILE '/tmp/x' FROM t", "MUTATES *"},
        {"INSERT INTO t VALUES (1)", "MUTATES t"},
        {"INSERT INTO t SELECT * FROM s", "MUTATES t, CONSUMES s"},
        {"INSERT INTO t (a) SELECT * FROM t", "MUTATES t"},
        {"INSERT INTO t VALUES (1) ON CONFLICT (id) DO UPDATE SET a = (SELECT 1 FROM z)", "MUTATES t, CONSUMES z"},
        {"INSERT OR REPLACE INTO t VALUES (1)", "MUTATES t"},
        {"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=1", "MUTATES t"},
        {"REPLACE INTO t VALUES (1)", "MUTATES t"},
        {"MERGE INTO t KEY(id) VALUES (1)", "MUTATES t"},
        {"MERGE INTO t USING s ON (t.id=s.id) WHEN MATCHED THEN UPDATE SET a=1 WHEN NOT MATCHED THEN INSERT (id) VALUES (1)", "MUTATES t, CONSUMES s"},
        {"UPSERT INTO t VALUES (1)", "MUTATES t"},
        {"UPDATE t SET a = 1 WHERE id = (SELECT 1 FROM u)", "MUTATES t, CONSUMES u"},
        {"UPDATE o SET a=1 FROM orders o JOIN c ON 1=1", "MUTATES o, CONSUMES orders, CONSUMES c"},
        {"UPDATE secret SET v=1 FROM allowed AS secret", "MUTATES secret, CONSUMES allowed"},
        {"DELETE FROM secret USING allowed AS secret", "MUTATES secret, CONSUMES allowed"},
        {"SELECT (1, 'S1') IN secret", "CONSUMES secret"},
        {"SELECT 'S1' IN secret1", "CONSUMES secret1"},
        {"SELECT * FROM t WHERE v NOT IN main.secret", "CONSUMES t, CONSUMES main.secret"},
        {"DELETE FROM t WHERE v IN \"secret\"", "MUTATES t, CONSUMES secret"},
        {"SELECT * FROM t WHERE v IN (a, b)", "CONSUMES t"},
        {"SELECT * FROM (TABLE secret)", "MUTATES *"}, {"SELECT TABLE secret", "MUTATES *"}, {"SELECT a, table secret FROM ok", "MUTATES *"},
        {"SELECT COALESCE(TABLE/**/secret)", "MUTATES *"}, {"SELECT 'x' || TABLE secret", "MUTATES *"}, {"CREATE TABLE t AS TABLE secret", "MUTATES *"},
        {"SELECT t.\"table\", 'TABLE x' FROM t -- TABLE x", "CONSUMES t"}, {"SELECT \"TABLE\" FROM t", "CONSUMES t"}, {"DROP TABLE a; SELECT TABLE b", "MUTATES *"},
        {"UPDATE t SET v='x';\u0001DELETE FROM secret", "MUTATES *"}, {"SELECT * FROM\u180esecret", "MUTATES *"}, {"SELECT\u00a01", "MUTATES *"},
        {"SELECT * FROM \u017fecret", "CONSUMES secret"}, {"SELECT * FROM stra\u00dfe", "CONSUMES stra\u00dfe"}, {"SELECT '\u0001\u2003' FROM t", "CONSUMES t"},
        {"CREATE LINKED TABLE z('org.h2.Driver','jdbc:h2:file:/h','','','SECRET')", "MUTATES *"},
        {"CREATE FOREIGN TABLE z(id int) SERVER s OPTIONS (table_name 'secret')", "MUTATES *"}, {"CREATE TABLE z CLONE secret", "MUTATES *"},
        {"CREATE TABLE z (id int) INHERITS (secret)", "MUTATES *"}, {"CREATE TABLE z OF secret", "MUTATES *"},
        {"CREATE VIRTUAL TABLE z USING fts5(v, content='secret')", "MUTATES *"}, {"CREATE TABLE t (id int) ENGINE=FEDERATED CONNECTION='x'", "MUTATES *"},
        {"CREATE TABLE t (id int) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT 'x'", "PROVIDES t (new)"},
        {"CREATE GLOBAL TEMPORARY TABLE t (id int) ON COMMIT DELETE ROWS", "PROVIDES t (new)"},
        {"ALTER TABLE orders SWITCH TO secret", "MUTATES *"}, {"ALTER TABLE orders ATTACH PARTITION secret FOR VALUES IN (1)", "MUTATES *"},
        {"ALTER TABLE orders INHERIT secret", "MUTATES *"}, {"ALTER TABLE orders SET SCHEMA x", "MUTATES *"},
        {"WITH d AS (SELECT * FROM secret) DELETE FROM d", "MUTATES *"},
        {"SELECT * FROM t JOIN (TABLE secret) z ON 1=1", "MUTATES *"},
        {"SELECT * FROM \"table\" x", "CONSUMES table"},
        {"UPDATE a JOIN b ON a.id=b.id SET b.x=1", "MUTATES a, MUTATES b"},
        {"UPDATE t SET a=1 FROM u WHERE t.id=u.id", "MUTATES t, CONSUMES u"},
        {"DELETE FROM t WHERE id=1", "MUTATES t"},
        {"DELETE t FROM t JOIN u ON 1=1", "MUTATES t, CONSUMES u"},
        {"DELETE o, i FROM orders o JOIN items i ON 1=1", "MUTATES o, MUTATES i, CONSUMES orders, CONSUMES items"},
        {"DELETE FROM t USING u WHERE t.id=u.id", "MUTATES t, CONSUMES u"},
        {"CREATE TABLE t (id int)", "PROVIDES t (new)"},
        {"CREATE TABLE IF NOT EXISTS t (id int)", "PROVIDES t"},
        {"CREATE OR REPLACE TABLE t (id int)", "PROVIDES t, MUTATES t"},
        {"CREATE TABLE t AS SELECT * FROM s", "PROVIDES t (new), CONSUMES s"},
        {"CREATE TABLE t LIKE s", "PROVIDES t (new), CONSUMES s"},
        {"CREATE TEMP TABLE t (id int primary key, x varchar(20) references other(id))", "PROVIDES t (new)"},
        {"CREATE VIEW v AS SELECT * FROM s", "PROVIDES v, CONSUMES s"},
        {"CREATE OR REPLACE VIEW v AS SELECT * FROM s", "PROVIDES v, MUTATES v, CONSUMES s"},
        {"CREATE INDEX i ON t (a)", "MUTATES t"},
        {"CREATE UNIQUE INDEX IF NOT EXISTS i ON s.t (a)", "MUTATES s.t"},
        {"CREATE SEQUENCE q", "PROVIDES q"},
        {"CREATE SCHEMA s", "PROVIDES s"},
        {"CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW CALL \"X\"", "MUTATES *"},
        {"CREATE ALIAS f AS $$ void f() {} $$", "MUTATES *"},
        {"CREATE USER u PASSWORD 'x'", "MUTATES *"},
        {"DROP TABLE t", "DELETES t"},
        {"DROP TABLE IF EXISTS a, s.b CASCADE", "DELETES a, DELETES s.b"},
        {"DROP VIEW v", "DELETES v"},
        {"DROP INDEX i", "DELETES i"},
        {"DROP SCHEMA s CASCADE", "DELETES *"},
        {"DROP DATABASE d", "DELETES *"},
        {"DROP ALL OBJECTS", "MUTATES *"},
        {"DROP TRIGGER x", "DELETES *"},
        {"ALTER TABLE t ADD COLUMN a int", "MUTATES t"},
        {"ALTER TABLE t RENAME TO u", "RENAMES t, PROVIDES u"},
        {"ALTER TABLE s.t RENAME TO u", "RENAMES s.t, PROVIDES s.u"},
        {"ALTER TABLE t RENAME COLUMN a TO b", "MUTATES t"},
        {"ALTER TABLE t ALTER COLUMN a RENAME TO b", "MUTATES *"},
        {"ALTER TABLE t DROP COLUMN a", "MUTATES t"},
        {"RENAME TABLE a TO b", "RENAMES a, PROVIDES b"},
        {"TRUNCATE TABLE t", "MUTATES t"},
        {"TRUNCATE a, b", "MUTATES a, MUTATES b"},
        {"COMMENT ON TABLE t IS 'x'", "MUTATES t"},
        {"ANALYZE", "MUTATES *"},
        {"ANALYZE t", "MUTATES t"},
        {"EXPLAIN SELECT * FROM t", "CONSUMES t"},
        {"EXPLAIN ANALYZE DELETE FROM t", "MUTATES t"},
        {"EXPLAIN QUERY PLAN SELECT * FROM t", "CONSUMES t"},
        {"DESCRIBE t", "CONSUMES t"},
        {"SHOW TABLES", "CONSUMES *"},
        {"SET SCHEMA x", "MUTATES *"},
        {"SET x = 1", "MUTATES *"},
        {"USE d", "MUTATES *"},
        {"CALL f(1)", "MUTATES *"},
        {"{call f(1)}", "MUTATES *"},
        {"{?= call f(1)}", "MUTATES *"},
        {"EXEC f", "MUTATES *"},
        {"COMMIT", ""},
        {"BEGIN", ""},
        {"begin immediate transaction;", ""},
        {"SAVEPOINT a", ""},
        {"ROLLBACK TO a", ""},
        {"SELECT 1; DELETE FROM t", "MUTATES t"},
        {"SELECT 1; DROP TABLE t; --", "DELETES t"},
        {"SELECT * FROM t WHERE a = 'x''; DROP TABLE t; --'", "CONSUMES t"},
        {"SELECT * FROM t WHERE a = 'x\\'; DROP TABLE t; --'", "MUTATES *"},
        {"SELECT * FROM t -- ; DROP TABLE u", "CONSUMES t"},
        {"SELECT * FROM t /* ; DROP TABLE u */ WHERE 1=1", "CONSUMES t"},
        {"SELECT * FROM t /*! ; DROP TABLE u */", "MUTATES *"},
        {"SELECT /* a /* b */ c */ 1", "MUTATES *"},
        {"WITH x AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM x", "MUTATES a, MUTATES b"},
        {"WITH x AS (SELECT * FROM a) SELECT * FROM x JOIN b ON 1=1", "CONSUMES a, CONSUMES b"},
        {"WITH x AS (SELECT * FROM x) SELECT * FROM x", "CONSUMES x"},
        {"WITH RECURSIVE x AS (SELECT 1 UNION ALL SELECT * FROM x) SELECT * FROM x", ""},
        {"WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b", ""},
        {"SELECT * FROM (WITH secret AS (SELECT 1) SELECT * FROM secret) y, secret", "CONSUMES secret"},
        {"WITH x AS (SELECT * FROM a) UPDATE t SET v = (SELECT 1 FROM x)", "MUTATES t, CONSUMES a"},
        {"WITH x AS (SELECT * FROM a) DELETE FROM t WHERE id IN (SELECT id FROM x)", "MUTATES t, CONSUMES a"},
        {"WITH u AS (UPDATE t SET a=1 RETURNING *), i AS (INSERT INTO s SELECT * FROM u RETURNING *) SELECT * FROM i", "MUTATES t, MUTATES s"},
        {"SELECT * FROM FINAL TABLE (INSERT INTO t VALUES (1))", "MUTATES *"},
        {"SELECT * FROM OLD TABLE (DELETE FROM t)", "MUTATES *"},
        {"SELECT * FROM CSVREAD('x.csv')", ""},
        {"SELECT NEXT VALUE FOR q", ""},
        {"SELECT nextval('q')", ""},
        {"VALUES (1, 2)", ""},
        {"TABLE t", "CONSUMES t"},
        {"SELECT * FROM \"a.b\"", "MUTATES *"}, {"SELECT * FROM \"ok.\"", "MUTATES *"}, {"SELECT * FROM \"x\".\"a.b\"", "CONSUMES x.\"a.b\""},
        {"SELECT a AS \"o.total\" FROM ok WHERE b = 'x.y'", "CONSUMES ok"}, {"INSERT INTO `.ok` VALUES (1)", "MUTATES *"},
        {"SELECT * FROM db.sch.t", "CONSUMES db.sch.t"},
        {"SELECT * FROM t@link", "CONSUMES t@link"},
        {"PRAGMA table_info(t)", "CONSUMES *"},
        {"PRAGMA user_version", "CONSUMES *"},
        {"PRAGMA user_version = 5", "MUTATES *"},
        {"PRAGMA writable_schema = ON", "MUTATES *"},
        {"ATTACH DATABASE 'x.db' AS x", "MUTATES *"},
        {"VACUUM", "MUTATES *"},
        {"INSERT ALL INTO a VALUES (1) INTO b VALUES (2) SELECT * FROM dual", "MUTATES a, MUTATES b"},
        {"SELECT q'[a]' FROM t", "MUTATES *"},
        {"SELECT $$a$$ FROM t", "MUTATES *"},
        {"SELECT [a'] FROM t; DROP TABLE x; SELECT [']", "MUTATES *"},
        {"SELEC * FORM t", "MUTATES *"},
        {"SELECT * FROM t WHERE id = ? AND name LIKE :name", "CONSUMES t"},
        {"SELECT CASE WHEN EXISTS(SELECT * FROM z) THEN 1 END FROM t GROUP BY (SELECT 1 FROM y) HAVING count(*) > (SELECT 1 FROM w)", "CONSUMES z, CONSUMES t, CONSUMES y, CONSUMES w"},
        {"GRANT ALL ON t TO u", "MUTATES *"},
        {"LOCK TABLES t READ", "MUTATES *"},
        {"LOAD DATA INFILE 'x' INTO TABLE t", "MUTATES *"},
        {"COPY t FROM '/tmp/x'", "MUTATES *"},
        {"INSERT INTO t VALUES ((SELECT a FROM s))", "MUTATES t, CONSUMES s"},
        {"SELECT * FROM a WHERE x = ANY (SELECT y FROM b) AND z BETWEEN (SELECT 1 FROM c) AND (SELECT 1 FROM d)", "CONSUMES a, CONSUMES b, CONSUMES c, CONSUMES d"},
        {"SELECT f((SELECT 1 FROM c)), array(SELECT 1 FROM d), row_number() OVER (PARTITION BY (SELECT 1 FROM e)) FROM t", "MUTATES *"},
        {"INSERT INTO t VALUES (1) RETURNING (SELECT x FROM secret)", "MUTATES t, CONSUMES secret"},
        {"DELETE FROM t RETURNING (SELECT x FROM secret)", "MUTATES t, CONSUMES secret"},
        {"UPDATE t SET a=1 RETURNING (SELECT x FROM secret)", "MUTATES t, CONSUMES secret"},
        {"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a=(SELECT x FROM secret)", "MUTATES t, CONSUMES secret"},
        {"DELETE FROM t ORDER BY (SELECT x FROM secret) LIMIT 1", "MUTATES t, CONSUMES secret"},
        {"UPDATE t SET a=1 ORDER BY (SELECT x FROM secret) LIMIT 1", "MUTATES t, CONSUMES secret"},
        {"SELECT * FROM t LIMIT (SELECT x FROM secret) OFFSET (SELECT x FROM secret2)", "CONSUMES t, CONSUMES secret, CONSUMES secret2"},
        {"SELECT * FROM t FETCH FIRST (SELECT x FROM secret) ROWS ONLY", "CONSUMES t, CONSUMES secret"},
        {"SELECT DISTINCT ON ((SELECT x FROM secret)) a FROM t", "CONSUMES secret, CONSUMES t"},
        {"SELECT count(*) FILTER (WHERE (SELECT x FROM secret) > 0) FROM t", "CONSUMES secret, CONSUMES t"},
        {"SELECT sum(a) OVER w FROM t WINDOW w AS (ORDER BY (SELECT x FROM secret))", "CONSUMES t, CONSUMES secret"},
        {"SELECT string_agg(a, ',' ORDER BY (SELECT x FROM secret)) FROM t", "MUTATES *"},
        {"SELECT * FROM t PIVOT (sum(x) FOR y IN (SELECT x FROM secret))", "MUTATES *"},
        {"SELECT * FROM unnest((SELECT x FROM secret)) u", "CONSUMES secret"},
        {"SELECT * FROM f((SELECT x FROM secret))", "CONSUMES secret"},
        {"VALUES ((SELECT x FROM secret))", "CONSUMES secret"},
        {"MERGE INTO t USING s ON (t.id=(SELECT x FROM secret)) WHEN MATCHED THEN UPDATE SET a=(SELECT x FROM secret2)", "MUTATES t, CONSUMES s, CONSUMES secret, CONSUMES secret2"},
        {"CREATE TABLE t (a int default (SELECT x FROM secret))", "MUTATES *"},
        {"SELECT * FROM t QUALIFY (SELECT x FROM secret) > 0", "CONSUMES t, CONSUMES secret"},
        {"SELECT * FROM t TABLESAMPLE BERNOULLI ((SELECT x FROM secret))", "MUTATES *"},
        {"SELECT CAST((SELECT x FROM secret) AS int), EXTRACT(year FROM (SELECT x FROM secret2)), (SELECT x FROM secret3)::int FROM t", "CONSUMES secret, CONSUMES secret2, CONSUMES secret3, CONSUMES t"},
        {"SELECT json_object('a' : (SELECT x FROM secret)) FROM t", "CONSUMES secret, CONSUMES t"},
        {"SELECT TOP ((SELECT x FROM secret)) * FROM t", "MUTATES *"},
        {"SELECT x IS NULL, NOT (SELECT x FROM secret), -(SELECT x FROM secret2), a[(SELECT x FROM secret3)] FROM t", "MUTATES *"},
        {"CREATE INDEX i ON t ((SELECT x FROM secret))", "MUTATES *"},
        {"SELECT * FROM t1 NATURAL JOIN t2 CROSS JOIN t3, (t4 JOIN t5 ON 1=1)", "CONSUMES t1, CONSUMES t2, CONSUMES t3, CONSUMES t4, CONSUMES t5"},
        {"SELECT * FROM t GROUP BY GROUPING SETS (((SELECT x FROM secret)))", "CONSUMES t, CONSUMES secret"},
        {"SELECT INTERVAL (SELECT x FROM secret) DAY FROM t", "CONSUMES secret, CONSUMES t"},
        {"SELECT a COLLATE x, (SELECT x FROM secret) AT TIME ZONE 'UTC' FROM t", "CONSUMES secret, CONSUMES t"},
        {"SELECT * FROM t WHERE (a, b) IN ((SELECT x, y FROM secret))", "CONSUMES t, CONSUMES secret"},
        {"SELECT * FROM t WHERE a IN (1, (SELECT x FROM secret))", "CONSUMES t, CONSUMES secret"},
        {"SELECT * FROM t CONNECT BY PRIOR a = (SELECT x FROM secret) START WITH b = (SELECT x FROM secret2)", "CONSUMES t, CONSUMES secret2, CONSUMES secret"},
        {"SELECT TRIM((SELECT x FROM secret)), POSITION('a' IN (SELECT x FROM secret2)), OVERLAY((SELECT x FROM secret3) PLACING 'a' FROM 1) FROM t", "MUTATES *"},
        {"SELECT IF((SELECT x FROM secret), 1, 2), ARRAY[(SELECT x FROM secret2)] FROM t", "CONSUMES secret, CONSUMES secret2, CONSUMES t"},
        {"SELECT * FROM XMLTABLE((SELECT x FROM secret)) FROM t", "MUTATES *"},
        {"SELECT * FROM JSON_TABLE((SELECT x FROM secret), '$' COLUMNS(a int PATH '$.a')) jt", "CONSUMES secret"},
        {"SELECT 'q', 'a $$ b $x$' FROM t", "CONSUMES t"},
        {"SELECT nq'!x!' FROM t", "MUTATES *"},
        {"SELECT * FROM t WHERE a = \"x\" AND b = 'it''s'", "CONSUMES t"},
        {"MERGE INTO t (id, a) KEY (id) VALUES (1, 2)", "MUTATES t"},
        {"MERGE INTO t SELECT * FROM s", "MUTATES t, CONSUMES s"},
        {"SELECT 1 // 2", "MUTATES *"},
        {"SELECT 'open", "MUTATES *"},
        {"SELECT `a;b`, \"c;d\" FROM t", "CONSUMES t"},
        {"INSERT INTO t DEFAULT VALUES", "MUTATES t"},
        {"INSERT INTO audit SELECT * FROM (SELECT * FROM a UNION ALL SELECT * FROM b) x", "MUTATES audit, CONSUMES a, CONSUMES b"},
        {"DELETE FROM t; ", "MUTATES t"},
        {"; ;", "MUTATES *"},
        {"SELECT * FROM t WHERE id = 1 OR 1=1; UPDATE users SET admin = 1; --", "CONSUMES t, MUTATES users"},
        {"SELECT name FROM users WHERE id = 1 UNION SELECT password FROM secrets", "CONSUMES users, CONSUMES secrets"},
        {"SELECT * FROM t; SELECT * FROM u; INSERT INTO v VALUES (1)", "CONSUMES t, CONSUMES u, MUTATES v"},
        {"ALTER SEQUENCE q RESTART WITH 1", "MUTATES q"},
        {"CREATE MATERIALIZED VIEW v AS SELECT * FROM s", "PROVIDES v, CONSUMES s"},
        {"REFRESH MATERIALIZED VIEW v", "MUTATES v"},
        {"DROP SEQUENCE q", "DELETES q"},
        {"SELECT 1\n-- a comment\n; DROP TABLE t", "DELETES t"}, {"SELECT 1 -- a\r; DROP TABLE t", "MUTATES *"}, {"SELECT 1\0; DROP TABLE t", "MUTATES *"},
        {"DROP\n/* a */\nTABLE\tt", "DELETES t"}, {"", ""}, {"   ", ""}, {"-- nothing", ""}, {"SELECT E'\\'; DROP TABLE t; --'", "MUTATES *"}
    };
    private static final String[][] H2 = {
        {"WITH secret AS (SELECT 1 AS id) SELECT * FROM secret", "CONSUMES secret (if there)"},
        {"WITH RECURSIVE secret(id) AS (SELECT id FROM secret UNION ALL SELECT 5) SELECT * FROM secret", "CONSUMES secret (if there)"},
        {"WITH x AS (SELECT id FROM t) SELECT * FROM x JOIN t ON 1=1", "CONSUMES t, CONSUMES x (if there)"},
        {"WITH x AS (SELECT * FROM x) SELECT * FROM x", "CONSUMES x"}
    };
    private static final String[][] MYSQL = {
        {"UPDATE o JOIN c ON 1=1 SET o.a=1", "MUTATES o, MUTATES c"}, {"DELETE o FROM orders o JOIN c ON 1=1", "MUTATES orders, CONSUMES c"},
        {"DELETE o, i FROM orders o JOIN items i ON 1=1", "MUTATES orders, MUTATES items"},
        {"SELECT 1 --1; DROP TABLE t", "MUTATES *"},
        {"SELECT 1 # x", "MUTATES *"},
        {"SELECT 'a\\\\' FROM t", "MUTATES *"},
        {"SELECT * FROM t WHERE a = ?", "CONSUMES t"},
        {"SELECT 1 -- a comment\nFROM t", "CONSUMES t"}, {"SELECT 'a\\'', '; DROP TABLE t; -- '", "MUTATES *"}, {"UPDATE a, b SET b.x = 1", "MUTATES a, MUTATES b"},
        {"INSERT IGNORE INTO t VALUES (1)", "MUTATES t"}
    };
    private static final String[][] SQL_SERVER = {
        {"SELECT * FROM [dbo].[Order Lines]", "CONSUMES dbo.order lines"}, {"SELECT [a;b] FROM t", "MUTATES *"}, {"UPDATE [o] SET a = 1 FROM [Orders] AS [o]", "MUTATES orders"}
    };

    private final SqlReader reader = new SqlReader();

    private Stream<DynamicTest> tests(String url, String[][] rows) {
        return Stream.of(rows).map(row -> DynamicTest.dynamicTest(row[0].isBlank() ? "blank" : row[0].replace('\n', ' ').replace('\0', ' '),
                () -> assertThat(means(row[0], url)).as(row[0]).isEqualTo(row[1])));
    }

    private String means(String sql, String url) {
        return reader.read(sql, url).stream().map(SqlTriple::toString).collect(Collectors.joining(", "));
    }

    @TestFactory
    @Tag("K6-7")
    Stream<DynamicTest> sql_ofAnyDatabase_meansTheseTriples() {
        return tests("jdbc:sqlite:x.db", ANY);
    }

    @TestFactory
    @Tag("K6-7")
    Stream<DynamicTest> sql_ofH2_meansTheseTriples() {
        return tests("jdbc:h2:mem:x", H2);
    }

    @TestFactory
    @Tag("K6-7")
    Stream<DynamicTest> sql_ofMySql_meansTheseTriples() {
        return tests("jdbc:mysql://h/d", MYSQL);
    }

    @TestFactory
    Stream<DynamicTest> sql_ofSqlServer_meansTheseTriples() {
        return tests("jdbc:sqlserver://h", SQL_SERVER);
    }

    @Test
    @Tag("K6-7")
    void sql_tooLongOrTooDeep_isOpaqueSoon() {
        assertThat(means("SELECT * FROM t WHERE id IN (1" + ", 1".repeat(SqlReader.MAX_LENGTH) + ")", "jdbc:h2:mem:x")).isEqualTo("MUTATES *");
        String deep = "SELECT " + "(".repeat(3000) + "1" + ")".repeat(3000);
        assertThat(means(deep, "jdbc:h2:mem:x")).isIn("", "MUTATES *");
        String nested = "SELECT * FROM t WHERE " + "(a = 1 OR (".repeat(20) + "1 = 1" + "))".repeat(20);
        assertThat(means(nested, "jdbc:h2:mem:x")).isIn("CONSUMES t", "MUTATES *");
    }

    @Test
    void sql_readAgain_isTheSame() {
        List<List<SqlTriple>> read = new ArrayList<>();
        for (int i = 0; i < 720; i++) {
            read.add(reader.read("SELECT * FROM t" + i % 700, "jdbc:h2:mem:x"));
        }
        assertThat(read.get(1)).isEqualTo(read.get(701)).hasSize(1);
        assertThat(reader.read("SELECT 1 # a", "jdbc:mysql://h/d")).as("each dialect by itself").isNotEqualTo(reader.read("SELECT 1", "jdbc:h2:mem:x"));
    }
}
