package dev.klock.sandbox.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.hooks.HookRow;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.jvm.KlockJar;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code doctor --audit}: passes on the JDKs that are supported, and notices each way in which a table can be wrong. */
class AuditTest {
    private static final Pattern COUNTS = Pattern.compile(
            "audit: (\\d+) rows, (\\d+) natives, (\\d+) callers of (\\d+) doors, 0 unhooked callers, 0 unclassified natives");

    @TempDir
    Path directory;

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    @Tag("K6-1")
    void audit_ofASupportedJdk_findsNoUnhookedCallerAndNoUnclassifiedNative(Jdk jdk) {
        CommandLine audit = CommandLine.run(jdk, directory, KlockJar.path(), "doctor", "--audit");
        assertThat(audit.exit()).as(audit.toString()).isZero();
        Matcher counts = COUNTS.matcher(audit.lastLine());
        assertThat(counts.matches()).as(audit.toString()).isTrue();
        assertThat(Integer.parseInt(counts.group(2))).as("natives of %s", jdk).isGreaterThan(1000);
        assertThat(Integer.parseInt(counts.group(3))).as("callers in %s", jdk).isGreaterThan(70);
        System.out.println(jdk + ": " + audit.lastLine());
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void audit_withoutTheRowsOfTheDoors_namesEveryCallerOfOne(Jdk jdk) {
        List<HookRow> doors = HookRow.everyDoor(jdk.feature());
        Path jar = new AlteredJar().hooks(lines -> lines.filter(line -> !line.startsWith("door"))).in(directory);
        CommandLine audit = CommandLine.run(jdk, directory, jar, "doctor", "--audit");
        assertThat(audit.exit()).as(audit.toString()).isEqualTo(2);
        List<String> missing = new ArrayList<>();
        for (HookRow row : doors) {
            String caller = row.standsFor().equals("-") ? (row.owner() + "." + row.method()).replace('/', '.') + row.descriptor()
                    : row.standsFor().replace('/', '.') + "(";
            String called = row.site().equals("-") ? " calls " : row.site().substring(row.site().lastIndexOf('.', row.site().indexOf('(')));
            if (audit.out().stream().noneMatch(line -> line.startsWith("no hook: " + caller) && line.contains(called))) {
                missing.add(row.toString());
            }
        }
        assertThat(missing).as("rows whose absence the audit does not notice: %s", audit).isEmpty();
    }

    @Test
    void audit_withoutOneRow_namesItsCallerAndTheNative() {
        for (Jdk jdk : Jdks.all()) {
            Path jar = new AlteredJar().hooks(lines -> lines.filter(line -> !line.contains("java/io/FileInputStream\topen\t"))).in(directory);
            CommandLine audit = CommandLine.run(jdk, directory, jar, "doctor", "--audit");
            assertThat(audit.exit()).as(audit.toString()).isEqualTo(2);
            assertThat(audit.out()).as(audit.toString()).contains(
                    "no hook: java.io.FileInputStream.open(Ljava/lang/String;)V calls java.io.FileInputStream.open0(Ljava/lang/String;)V");
            assertThat(audit.lastLine()).as(audit.toString()).contains(" 1 unhooked callers, 0 unclassified");
        }
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void audit_withNativesThatNobodyJudged_namesThem(Jdk jdk) {
        // one of its own name, one that only a row for its package covers
        Path jar = new AlteredJar().ledger(lines -> lines.filter(line -> !line.contains("\tsun/nio/fs/UnixNativeDispatcher.getcwd\t")
                && !line.contains("\tjava/util/zip/*\t"))).in(directory);
        CommandLine audit = CommandLine.run(jdk, directory, jar, "doctor", "--audit");
        assertThat(audit.exit()).as(audit.toString()).isEqualTo(2);
        assertThat(audit.out()).as(audit.toString()).contains("not judged: sun.nio.fs.UnixNativeDispatcher.getcwd()[B",
                "not judged: java.util.zip.CRC32.update(II)I");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void audit_ofAPatternThatWasNotReviewedForNumbers_doesNotTakeItForAJudgement(Jdk jdk) {
        Path jar = new AlteredJar().ledger(lines -> lines.map(line -> line.contains("\tjava/util/zip/*\t")
                ? line.substring(0, line.lastIndexOf('\t')) + "\tlong" : line)).in(directory);
        CommandLine audit = CommandLine.run(jdk, directory, jar, "doctor", "--audit");
        assertThat(audit.exit()).as(audit.toString()).isEqualTo(2);
        assertThat(audit.out()).as(audit.toString()).contains("not judged: java.util.zip.CRC32.update(II)I")
                .doesNotContain("not judged: java.util.zip.Deflater.end(J)V");
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void audit_ofARowWithoutItsMethod_namesTheRow(Jdk jdk) {
        Path jar = new AlteredJar().hooks(lines -> lines.map(line -> line.replace("java/io/FileInputStream\topen\t",
                "java/io/FileInputStream\topenIt\t"))).in(directory);
        CommandLine audit = CommandLine.run(jdk, directory, jar, "doctor", "--audit", "--json");
        assertThat(audit.exit()).as(audit.toString()).isEqualTo(2);
        assertThat(String.join("\n", audit.out())).as(audit.toString())
                .contains("\"unmatched_rows\" : [ \"java.io.FileInputStream.openIt(Ljava/lang/String;)V\" ]", "\"passed\" : false");
    }

    /** For a release that no table names. */
    static Path renumbered(Path directory, Jdk jdk, java.util.function.UnaryOperator<Stream<String>> alsoLedger) {
        int pretended = jdk.feature() - 1;
        return new AlteredJar()
                .hooks(lines -> lines.map(line -> AlteredJar.renumbered(line, 1, jdk.feature(), pretended)))
                .ledger(lines -> alsoLedger.apply(lines).map(line -> AlteredJar.renumbered(line, 0, jdk.feature(), pretended)))
                .in(directory);
    }
}
