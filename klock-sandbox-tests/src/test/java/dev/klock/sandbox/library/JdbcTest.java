package dev.klock.sandbox.library;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import dev.klock.sandbox.subject.Jdbc;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The preset {@code jdbc}, with the drivers of H2 and SQLite. */
class JdbcTest {
    private static final String JDKS = "dev.klock.sandbox.jvm.Jdks#each";
    private static final String H2 = "jdbc:h2:mem:shop";
    private static final String[] WORK = {"update CREATE TABLE orders (id INT)", "update INSERT INTO orders VALUES (1)", "batch UPDATE orders SET id = 2",
        "prepared INSERT INTO orders VALUES (?)", "query SELECT id FROM orders", "tables", "update ALTER TABLE orders RENAME TO positions", "update DELETE FROM positions",
        "execute DROP TABLE positions"};

    @TempDir
    Path temporary;
    private Path directory;

    @BeforeEach
    void prepare() throws IOException {
        directory = temporary.toRealPath();
        Files.createDirectories(directory.resolve("data"));
        Files.writeString(directory.resolve("data/kept"), "first\n");
    }

    private static String manifest(String... lines) {
        StringBuilder text = new StringBuilder("ver: \"1.0\"\nagent_id: tester\nhooks:\n  - preset: jdbc\nscope:\n");
        for (String line : lines) {
            text.append("  - ").append(line).append('\n');
        }
        return lines.length == 0 ? text.toString().replace("scope:", "scope: []") : text.toString();
    }

    private Child h2(Jdk jdk, String... steps) {
        String[] all = new String[steps.length + 1];
        all[0] = H2;
        System.arraycopy(steps, 0, all, 1, steps.length);
        return Child.on(jdk).in(directory).main(Jdbc.class, all).with(org.h2.Driver.class);
    }

    private Outcome watched(Jdk jdk, String options, String manifest, String... steps) {
        return h2(jdk, steps).klock(options).manifest(manifest).run();
    }

    private static List<String> hooked(Outcome outcome) {
        List<String> said = new ArrayList<>();
        for (JsonNode record : outcome.log().records()) {
            if (record.path("op").asText().equals("hook:jdbc")) {
                said.add(record.path("decision").asText() + ' ' + record.path("predicate").asText() + ' ' + record.path("resource").asText());
            }
        }
        return said;
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void h2_insideTheManifest_worksAsWithoutKlock(Jdk jdk) {
        Outcome bare = h2(jdk, WORK).run();
        assertThat(bare.exit()).as(bare.toString()).isZero();
        // what it creates is its own to change and remove; an old name's new one is not created by it
        Outcome outcome = watched(jdk, "", manifest("PROVIDES DB:orders", "PROVIDES DB:positions", "MUTATES DB:positions", "DELETES DB:positions"), WORK);
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).isEqualTo(bare.out());
        assertThat(hooked(outcome)).containsExactly("allow PROVIDES DB:orders", "allow MUTATES DB:orders", "allow CONSUMES DB:orders", "allow RENAMES DB:orders",
                "allow PROVIDES DB:positions", "allow MUTATES DB:positions", "allow DELETES DB:positions");
        assertThat(outcome.log().decided("deny")).isEmpty();
        assertThat(outcome.klockLines()).as("one summary line: %s", outcome).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void h2_permissive_isWarnedOfAndWorksAsWithoutKlock(Jdk jdk) {
        Outcome bare = h2(jdk, WORK).run();
        Outcome outcome = watched(jdk, "mode=permissive", manifest(), WORK);
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).isEqualTo(bare.out());
        assertThat(hooked(outcome)).contains("warn PROVIDES DB:orders", "warn PROVIDES DB:positions").doesNotContain("warn MUTATES DB:" + H2);
        assertThat(outcome.log().decided("warn")).allMatch(record -> record.path("op").asText().equals("hook:jdbc"));
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-2")
    @Tag("K6-3")
    void h2_strict_blocksBeforeTheEffectAndEndsTheSession(Jdk jdk) {
        String manifest = manifest("PROVIDES DB:orders", "CONSUMES DB:customers", "MUTATES FILE:" + directory + "/data/**");
        Outcome outcome = watched(jdk, "", manifest, "update CREATE TABLE orders (id INT)", "prepare INSERT INTO orders VALUES (?)", "write data/kept",
                "try query SELECT * FROM secrets", "try again", "try query SELECT * FROM orders");
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(outcome.out()).as("after the violation nothing goes on, prepared or not").doesNotContain("SQLSyntaxError", "row", "again").contains("caught dev.klock.ScopeViolationError");
        assertThat(outcome.err()).contains("Agent attempted CONSUMES on DB:secrets but declared nothing.", "add to scope: - CONSUMES DB:secrets");
        assertThat(hooked(outcome)).containsExactly("allow PROVIDES DB:orders", "allow MUTATES DB:orders", "deny CONSUMES DB:secrets");
        assertThat(directory.resolve("data/kept")).hasContent("first");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-7")
    void h2_opaqueOrSeveralAtOnce_needsAllOfIt(Jdk jdk) {
        Outcome outcome = watched(jdk, "mode=block", manifest("PROVIDES DB:orders", "CONSUMES DB:orders"), "update CREATE TABLE orders (id INT)",
                "try execute SET DB_CLOSE_DELAY 1", "try call CALL 1", "try execute SELECT 1; DROP TABLE customers", "try execute INSERT INTO orders SELECT id FROM customers",
                "try prepared WITH x AS (SELECT id FROM customers) SELECT * FROM x", "try batch DELETE FROM customers", "query SELECT 1", "query SELECT id FROM orders");
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out().lines().filter(line -> line.equals("caught dev.klock.ScopeViolationError"))).as(outcome.toString()).hasSize(6);
        assertThat(hooked(outcome)).contains("deny MUTATES DB:" + H2, "deny DELETES DB:customers", "deny CONSUMES DB:customers", "deny MUTATES DB:customers");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-7")
    void h2_wholeDatabaseDeclared_coversItsTablesButForDenyLines(Jdk jdk) {
        String manifest = manifest("MUTATES DB:" + H2, "PROVIDES DB:" + H2) + "deny:\n  - CONSUMES DB:salaries\n";
        String[] steps = {"update CREATE TABLE orders (id INT)", "update INSERT INTO orders VALUES (1)", "execute SET DB_CLOSE_DELAY 1", "try query SELECT * FROM salaries", "try query SELECT * FROM public.salaries", "try execute DROP TABLE other"};
        Outcome outcome = watched(jdk, "mode=block", manifest, steps);
        assertThat(outcome.exit()).as("what is opaque may read them: %s", outcome).isEqualTo(1);
        assertThat(hooked(outcome)).containsExactly("allow PROVIDES DB:orders", "allow MUTATES DB:orders", "allow MUTATES DB:" + H2, "deny CONSUMES DB:salaries");
        steps[2] = "query SELECT 1";
        outcome = watched(jdk, "mode=block", manifest, steps);
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(hooked(outcome)).endsWith("allow PROVIDES DB:orders", "allow MUTATES DB:orders", "deny CONSUMES DB:salaries", "deny CONSUMES DB:public.salaries",
                "deny DELETES DB:other");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void h2_rowChangedThroughAResultSet_isAChangeOfItsTable(Jdk jdk) {
        String[] steps = {"update CREATE TABLE orders (id INT PRIMARY KEY)", "update INSERT INTO orders VALUES (1), (2)", "execute CREATE SCHEMA depot",
            "update CREATE TABLE depot.orders (id INT PRIMARY KEY) AS SELECT 1", "try row insert SELECT id FROM orders",
            "try row update SELECT id FROM orders o", "try row delete SELECT id FROM depot.orders", "try query SELECT id FROM orders", "try query SELECT id FROM depot.orders"};
        Outcome bare = h2(jdk, steps).run();
        assertThat(bare.out()).as("the driver does it").contains("changed: insert", "changed: update", "changed: delete");
        Outcome outcome = watched(jdk, "mode=block", manifest("MUTATES DB:orders", "PROVIDES DB:orders", "PROVIDES DB:depot", "PROVIDES DB:depot.orders") + "deny:\n  - MUTATES DB:depot.orders\n",
                steps);
        assertThat(outcome.out()).as(outcome.toString()).contains("changed: insert", "changed: update").doesNotContain("changed: delete");
        assertThat(hooked(outcome)).contains("deny MUTATES DB:depot.orders");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void h2_nameOfWithThatATableHas_isTheTable(Jdk jdk) {
        Outcome outcome = watched(jdk, "mode=block", manifest("PROVIDES DB:orders", "CONSUMES DB:orders"), "update CREATE TABLE orders (id INT)",
                "query WITH x AS (SELECT id FROM orders) SELECT * FROM x", "query WITH orders AS (SELECT 1) SELECT * FROM orders",
                "try query WITH columns AS (SELECT 1) SELECT * FROM columns");
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(hooked(outcome)).containsExactly("allow PROVIDES DB:orders", "allow CONSUMES DB:orders", "deny CONSUMES DB:columns");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void h2_tableOfAnotherOnesName_isNotItsOwn(Jdk jdk) {
        Outcome outcome = watched(jdk, "mode=block", manifest("PROVIDES DB:first", "PROVIDES DB:columns"), "update CREATE TABLE first (id INT)", "update INSERT INTO first VALUES (1)",
                "update CREATE TABLE columns (id INT)", "try update INSERT INTO columns VALUES (1)");
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(hooked(outcome)).containsExactly("allow PROVIDES DB:first", "allow MUTATES DB:first", "allow PROVIDES DB:columns", "deny MUTATES DB:columns");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void h2_initialSqlInTheUrl_isOpaque(Jdk jdk) {
        for (String setting : new String[] {";INIT=", ";I\\NIT="}) {
            Outcome outcome = Child.on(jdk).in(directory).main(Jdbc.class, H2 + setting + "CREATE TABLE t(id int)").with(org.h2.Driver.class).klock("").manifest(manifest()).run();
            assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
            assertThat(hooked(outcome)).containsOnly("deny MUTATES DB:" + H2);
        }
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void preset_noJdbcInTheProgram_isReportedAsUnused(Jdk jdk) {
        Outcome outcome = Child.on(jdk).in(directory).main(dev.klock.sandbox.subject.Script.class, "print x").klock("").manifest(manifest()).run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.err()).contains("hook jdbc (line 4) was never used");
    }

    private Child sqlite(Jdk jdk, String... steps) throws IOException {
        return sqliteAt("jdbc:sqlite:" + directory.resolve("data/shop.db"), jdk, steps);
    }

    private Child sqliteAt(String url, Jdk jdk, String... steps) throws IOException {
        Path library = directory.resolve("lib/libsqlitejdbc.so");
        if (!Files.exists(library)) {
            Files.createDirectories(library.getParent());
            Files.createDirectories(directory.resolve("tmp"));
            String arch = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
            try (InputStream in = org.sqlite.JDBC.class.getResourceAsStream("/org/sqlite/native/Linux/" + arch + "/libsqlitejdbc.so")) {
                Files.copy(in, library);
            }
        }
        String[] all = new String[steps.length + 1];
        all[0] = url;
        System.arraycopy(steps, 0, all, 1, steps.length);
        return Child.on(jdk).in(directory).main(Jdbc.class, all).with(org.sqlite.JDBC.class)
                .jvm("-Dorg.sqlite.lib.path=" + library.getParent(), "-Dorg.sqlite.lib.name=libsqlitejdbc.so", "-Dorg.sqlite.tmpdir=" + directory.resolve("tmp"));
    }

    private String[] sqliteLines(String... more) {
        List<String> lines = new ArrayList<>(List.of("{predicate: CONSUMES, resource: 'NATIVE:" + directory + "/lib/libsqlitejdbc.so', effects: ['MUTATES FILE:" + directory
                + "/data/**', 'PROVIDES FILE:" + directory + "/data/**']}", "CONSUMES FILE:" + directory + "/tmp/**", "PROVIDES FILE:" + directory + "/data/**",
                "MUTATES FILE:" + directory + "/data/**"));
        lines.addAll(List.of(more));
        return lines.toArray(new String[0]);
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void sqlite_insideTheManifest_worksAsWithoutKlock(Jdk jdk) throws IOException {
        Outcome bare = sqlite(jdk, WORK).run();
        assertThat(bare.exit()).as(bare.toString()).isZero();
        Files.delete(directory.resolve("data/shop.db"));
        Outcome outcome = sqlite(jdk, WORK).klock("").manifest(manifest(sqliteLines("PROVIDES DB:orders", "PROVIDES DB:positions", "MUTATES DB:positions", "DELETES DB:positions"))).run();
        assertThat(outcome.exit()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).isEqualTo(bare.out());
        assertThat(hooked(outcome)).contains("allow PROVIDES DB:orders", "allow DELETES DB:positions");
        assertThat(outcome.log().triples("allow")).contains("CONSUMES NATIVE:" + directory + "/lib/libsqlitejdbc.so", "PROVIDES FILE:" + directory + "/data/shop.db");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-3")
    void sqlite_strict_blocksBeforeTheEffect(Jdk jdk) throws IOException {
        sqlite(jdk, "update CREATE TABLE secrets (id INT)").run();
        Outcome outcome = sqlite(jdk, "update CREATE TABLE orders (id INT)", "try update DROP TABLE secrets").klock("").manifest(manifest(sqliteLines("PROVIDES DB:orders"))).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(hooked(outcome)).contains("deny DELETES DB:secrets");
        Outcome after = sqlite(jdk, "query SELECT name FROM sqlite_master").run();
        assertThat(after.out()).as(after.toString()).contains("row secrets");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-8")
    void sqlite_strict_fileIsPutBackWithWhatLiesBesideIt(Jdk jdk) throws IOException {
        sqlite(jdk, "update CREATE TABLE orders (id INT)", "update INSERT INTO orders VALUES (1)").run();
        byte[] before = Files.readAllBytes(directory.resolve("data/shop.db"));
        Outcome outcome = sqlite(jdk, "update INSERT INTO orders VALUES (2)", "execute BEGIN", "update INSERT INTO orders VALUES (3)", "update DROP TABLE orders")
                .klock("").manifest(manifest(sqliteLines("MUTATES DB:orders"))).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(Files.readAllBytes(directory.resolve("data/shop.db"))).as(outcome.toString()).isEqualTo(before);
        assertThat(directory.resolve("data/shop.db-journal")).doesNotExist();
        Outcome after = sqlite(jdk, "query SELECT id FROM orders").run();
        assertThat(after.out()).as(after.toString()).isEqualTo("main begins\nrow 1\nmain ends\n");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void sqlite_openedToBeWritten_needsThatOfItsFile(Jdk jdk) throws IOException {
        sqlite(jdk, "update CREATE TABLE orders (id INT)").run();
        String lib = directory + "/lib/libsqlitejdbc.so";
        Outcome outcome = sqlite(jdk, "query SELECT id FROM orders").klock("mode=block").manifest(manifest("CONSUMES DB:orders",
                "CONSUMES FILE:" + directory + "/tmp/**", "CONSUMES FILE:" + directory + "/data/**", "{predicate: CONSUMES, resource: 'NATIVE:" + lib + "', effects: []}")).run();
        assertThat(outcome.err()).as("opened to be written").contains("Agent attempted MUTATES on FILE:" + directory + "/data/shop.db");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("C49")
    void sqlite_itsLibraryOrFileNotDeclared_isStopped(Jdk jdk) throws IOException {
        Outcome library = sqlite(jdk, "update CREATE TABLE orders (id INT)").klock("").manifest(manifest("PROVIDES DB:orders", "PROVIDES FILE:" + directory + "/data/**",
                "CONSUMES FILE:" + directory + "/tmp/**", "DEPENDS_ON FILE:" + directory + "/lib/libsqlitejdbc.so")).run();
        assertThat(library.exit()).as(library.toString()).isEqualTo(108);
        assertThat(library.log().triples("deny")).containsExactly("CONSUMES NATIVE:" + directory + "/lib/libsqlitejdbc.so");
        Outcome file = sqlite(jdk, "update CREATE TABLE orders (id INT)").klock("").manifest(manifest("PROVIDES DB:orders", "CONSUMES FILE:" + directory + "/tmp/**",
                "{predicate: CONSUMES, resource: 'NATIVE:" + directory + "/lib/libsqlitejdbc.so', effects: []}")).run();
        assertThat(file.exit()).as(file.toString()).isEqualTo(108);
        assertThat(file.log().triples("deny")).as("of both").containsExactlyInAnyOrder("CONSUMES NATIVE:" + directory + "/lib/libsqlitejdbc.so",
                "PROVIDES FILE:" + directory + "/data/shop.db");
        assertThat(directory.resolve("data/shop.db")).doesNotExist();
    }

    /** SQLite puts its log beside the file itself, and makes one to read, too. */
    @ParameterizedTest
    @MethodSource(JDKS)
    @Tag("K6-8")
    void sqlite_withALogOpenedThroughALink_isPutBackWithIt(Jdk jdk) throws IOException {
        Path real = directory.resolve("data/real.db");
        assertThat(sqliteAt("jdbc:sqlite:" + real, jdk, "query PRAGMA journal_mode=wal", "update CREATE TABLE orders (id INT)", "update INSERT INTO orders VALUES (1)").run().exit()).isZero();
        Files.createDirectories(directory.resolve("links"));
        Path link = Files.createSymbolicLink(directory.resolve("links/link.db"), real);
        Outcome outcome = sqliteAt("jdbc:sqlite:" + link, jdk, "update INSERT INTO orders VALUES (666)", "update DROP TABLE orders").klock("")
                .manifest(manifest(sqliteLines("MUTATES DB:orders"))).run();
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(108);
        assertThat(sqliteAt("jdbc:sqlite:" + real, jdk, "query SELECT id FROM orders").run().out()).isEqualTo("main begins\nrow 1\nmain ends\n");
        String lib = directory + "/lib/libsqlitejdbc.so";
        Outcome reads = sqliteAt("jdbc:sqlite:file:" + real + "?mode=ro", jdk, "query SELECT id FROM orders").klock("").manifest(manifest("CONSUMES DB:orders",
                "CONSUMES FILE:" + directory + "/tmp/**", "CONSUMES FILE:" + directory + "/data/**", "{predicate: CONSUMES, resource: 'NATIVE:" + lib + "', effects: []}")).run();
        assertThat(reads.exit()).as(reads.toString()).isEqualTo(108);
        Outcome linked = sqliteAt("jdbc:sqlite:file:" + link + "?mode=ro", jdk, "query SELECT id FROM orders").klock("mode=block").manifest(manifest("CONSUMES DB:orders",
                "CONSUMES FILE:" + directory + "/tmp/**", "CONSUMES FILE:" + directory + "/data/**", "{predicate: CONSUMES, resource: 'NATIVE:" + lib + "', effects: []}")).run();
        assertThat(linked.err()).contains("Agent attempted PROVIDES on FILE:" + real + "-wal");
        assertThat(directory.resolve("data/real.db-wal")).doesNotExist();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void sqlite_nameThatLooksOtherwise_isJudgedAsSqliteReadsIt(Jdk jdk) throws IOException {
        for (String name : new String[] {"mode=ro.db", "a.db?mode=ro", "file:" + directory + "/%6futside.db?x=mode=ro"}) {
            for (String prefix : new String[] {"jdbc:sqlite:", "JDBC:SQLITE:"}) {
                Outcome outcome = sqliteAt(prefix + name, jdk, "update CREATE TABLE orders (id INT)").klock("").manifest(manifest(sqliteLines("PROVIDES DB:orders"))).run();
                assertThat(outcome.exit()).as("%s: %s", name, outcome).isEqualTo(108);
                assertThat(outcome.log().triples("deny")).as(name).anyMatch(one -> one.startsWith("PROVIDES FILE:"));
            }
        }
        assertThat(directory).isDirectoryNotContaining("glob:**.db*").isDirectoryNotContaining("glob:**outside*");
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void sqlite_fileThatSqlNames_isJudged(Jdk jdk) throws IOException {
        Files.createDirectories(directory.resolve("other"));
        String other = directory + "/other/";
        for (String step : new String[] {"execute ATTACH '" + other + "a' AS a", "update SELECT 1; ATTACH 'file:" + other + "%61' AS a", "prepare ATTACH '" + other + "a' AS a",
            "batch VACUUM INTO '" + other + "a'", "execute backup to " + other + "a", "update VACUUM main INTO '" + other + "a'"}) {
            Outcome outcome = sqlite(jdk, "update CREATE TABLE IF NOT EXISTS t (id INT)", step).klock("").manifest(manifest(sqliteLines("MUTATES DB:jdbc:sqlite:" + directory + "/data/shop.db",
                    "PROVIDES DB:jdbc:sqlite:" + directory + "/data/shop.db"))).run();
            assertThat(outcome.exit()).as("%s: %s", step, outcome).isEqualTo(108);
            assertThat(outcome.log().triples("deny")).as(step).contains("PROVIDES FILE:" + other + "a");
        }
        assertThat(directory.resolve("other")).isEmptyDirectory();
    }

    @ParameterizedTest
    @MethodSource(JDKS)
    void sqlite_fileOrLibraryThatSqlDoesNotTell_needsALineOfItsOwn(Jdk jdk) throws IOException {
        String[] lines = sqliteLines("MUTATES DB:jdbc:sqlite:" + directory + "/data/shop.db", "PROVIDES DB:jdbc:sqlite:" + directory + "/data/shop.db");
        String[] steps = {"try execute ATTACH '" + directory + "/data/' || 'b.db' AS b", "try query SELECT load_extension('" + directory + "/lib/none')"};
        Outcome outcome = sqlite(jdk, steps).klock("mode=block").manifest(manifest(lines)).run();
        assertThat(outcome.log().triples("deny")).as(outcome.toString()).containsExactly("CONSUMES NATIVE:sqlite", "CONSUMES NATIVE:sqlite");
        assertThat(directory.resolve("data/b.db")).doesNotExist();
        List<String> more = new ArrayList<>(List.of(lines));
        more.add("{predicate: CONSUMES, resource: 'NATIVE:sqlite', effects: []}");
        Outcome declared = sqlite(jdk, steps).klock("mode=block").manifest(manifest(more.toArray(new String[0]))).run();
        assertThat(declared.err()).contains("completed: 0 denied");
        assertThat(declared.out()).contains("executed", "caught org.sqlite.SQLiteException");
    }
}
