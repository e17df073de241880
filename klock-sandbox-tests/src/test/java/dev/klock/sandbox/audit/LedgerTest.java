package dev.klock.sandbox.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import dev.klock.sandbox.jvm.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.objectweb.asm.ClassReader;

/** The ledger of natives by its own rules: each benign one has a reason, and what could name something outside the JVM its own row. */
class LedgerTest {
    private static final String PLACE = "META-INF/klock/dev/klock/agent/weave/";
    /** A text, bytes, a file, a path, a descriptor object or an address object among the parameters. */
    private static final Pattern NAMES = Pattern.compile(
            "\\(.*(Ljava/lang/String;|\\[B|Ljava/nio/(Mapped)?ByteBuffer;|Ljava/io/|Ljava/net/|Ljava/nio/file/|Lsun/nio/fs/).*\\).*");

    private record Row(List<String> releases, String name, String judged, String reason, String numbers) {
        boolean isPattern() {
            return name.endsWith("*");
        }

        boolean covers(String candidate) {
            return isPattern() ? candidate.startsWith(name.substring(0, name.length() - 1)) : candidate.equals(name);
        }
    }

    private static List<Row> rows(String table) {
        return KlockJar.table(PLACE + table).stream().map(line -> line.split("\t", -1)).map(row -> new Row(List.of(row[0].split(",")),
                row[1], row[2], row.length > 3 ? row[3] : "-", row.length > 4 ? row[4] : "")).toList();
    }

    private static List<Row> all() {
        List<Row> all = new ArrayList<>(rows("natives.tsv"));
        all.addAll(rows("natives-image.tsv"));
        return all;
    }

    @Test
    void row_ofEitherTable_isADoorOrBenignForAReason() {
        for (Row row : all()) {
            assertThat(row.judged()).as(row.toString()).isIn("door", "benign");
            if (row.judged().equals("benign")) {
                assertThat(row.reason().length()).as("reason of %s", row).isGreaterThan(8);
            } else {
                assertThat(row.isPattern()).as("a door is named in full: %s", row).isFalse();
            }
            assertThat(row.numbers()).as(row.toString()).isIn(row.isPattern() ? List.of("-", "int", "long", "int,long") : List.of(""));
        }
    }

    @Test
    void native_ofOneRelease_isJudgedOnce() {
        for (Jdk jdk : Jdks.all()) {
            Set<String> seen = new HashSet<>();
            for (Row row : all()) {
                if (row.releases().contains("" + jdk.feature())) {
                    assertThat(seen.add(row.name())).as("second row of %s for %s", row.name(), jdk).isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void native_thatTakesAPathAnAddressOrADescriptor_hasItsOwnRow(Jdk jdk, @TempDir Path directory) {
        Outcome listed = Child.on(jdk).in(directory).with(ClassReader.class).main(NativeLister.class).run();
        assertThat(listed.exit()).as(listed.toString()).isZero();
        List<Row> rows = all().stream().filter(row -> row.releases().contains("" + jdk.feature())).toList();
        Map<String, Row> exact = new HashMap<>();
        rows.stream().filter(row -> !row.isPattern()).forEach(row -> exact.put(row.name(), row));
        List<Row> patterns = rows.stream().filter(Row::isPattern).toList();
        Set<Row> used = new HashSet<>();
        Set<String> unjudged = new TreeSet<>();
        Set<String> hidden = new TreeSet<>();
        for (String line : listed.out().lines().toList()) {
            String name = line.substring(0, line.indexOf('\t'));
            String descriptor = line.substring(line.indexOf('\t') + 1);
            Row own = exact.get(name);
            if (own != null) {
                used.add(own);
                continue;
            }
            Row longest = null;
            for (Row pattern : patterns) {
                if (pattern.covers(name) && (longest == null || pattern.name().length() > longest.name().length())) {
                    longest = pattern;
                }
            }
            if (longest == null) {
                unjudged.add(line);
                continue;
            }
            used.add(longest);
            String primitives = descriptor.substring(0, descriptor.indexOf(')')).replaceAll("L[^;]*;", "");
            if (NAMES.matcher(descriptor).matches() || primitives.contains("J") && !longest.numbers().contains("long")
                    || primitives.contains("I") && !longest.numbers().contains("int")) {
                hidden.add(line + " below " + longest.name());
            }
        }
        assertThat(unjudged).as("natives of %s in no row", jdk).isEmpty();
        assertThat(hidden).as("natives of %s that could name something outside the JVM and have no row of their own", jdk).isEmpty();
        assertThat(rows.stream().filter(row -> !used.contains(row)).map(Row::name)).as("rows that %s has no native for", jdk).isEmpty();
    }
}
