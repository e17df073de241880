package dev.klock.sandbox.audit;

import static org.assertj.core.api.Assertions.fail;

import dev.klock.sandbox.hooks.HookRow;
import dev.klock.sandbox.jvm.KlockJar;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Keeps {@code docs/supported-jdks.md} true: it is made from the hook table and the ledger. {@code -Dsupported.write=true} writes it.
 */
class SupportedJdksTest {
    private static final Path PAGE = KlockJar.module().resolveSibling("docs/supported-jdks.md").normalize();
    private static final String REGENERATE =
            "mvn -B -pl klock-sandbox-tests -am test -Dtest=SupportedJdksTest -Dsurefire.failIfNoSpecifiedTests=false -Dsupported.write=true";
    private static final String PLACE = "META-INF/klock/dev/klock/agent/weave/";
    /** Packages outside java.base; one that moved between modules is named by where the newest release has it. */
    private static final Map<String, String> MODULES = new TreeMap<>(Map.ofEntries(
            Map.entry("java/util/prefs/", "java.prefs"), Map.entry("jdk/internal/agent/", "jdk.management.agent"),
            Map.entry("jdk/internal/net/http/", "java.net.http"), Map.entry("sun/nio/ch/sctp/", "jdk.sctp"),
            Map.entry("com/sun/management/", "jdk.management"), Map.entry("sun/tools/attach/", "jdk.attach"),
            Map.entry("sun/instrument/", "java.instrument"), Map.entry("jdk/jfr/", "jdk.jfr"),
            Map.entry("sun/management/", "java.management"), Map.entry("java/lang/management/", "java.management"),
            Map.entry("sun/security/pkcs11/", "jdk.crypto.cryptoki"), Map.entry("sun/security/smartcardio/", "java.smartcardio"),
            Map.entry("sun/security/jgss/", "java.security.jgss"), Map.entry("sun/security/krb5/", "java.security.jgss"),
            Map.entry("sun/jvm/hotspot/", "jdk.hotspot.agent"), Map.entry("sun/print/", "java.desktop"),
            Map.entry("sun/awt/", "java.desktop"), Map.entry("sun/font/", "java.desktop"), Map.entry("com/sun/tools/attach/", "jdk.attach")));

    @Test
    void page_isWhatTheTablesSay() throws IOException {
        String page = page();
        if (Boolean.getBoolean("supported.write")) {
            Files.writeString(PAGE, page);
        }
        if (!Files.exists(PAGE) || !Files.readString(PAGE).equals(page)) {
            fail("docs/supported-jdks.md is not what the hook table says; write it anew with:\n  " + REGENERATE);
        }
    }

    private static String page() {
        List<HookRow> rows = HookRow.all();
        SortedSet<Integer> releases = new TreeSet<>();
        rows.forEach(row -> releases.addAll(row.releases()));
        StringBuilder page = new StringBuilder("# Supported JDKs\n\n"
                + "What klock hooks, by JDK feature release. Made from the hook table and the ledger of natives by `SupportedJdksTest`; do not edit.\n"
                + "Write it anew with\n\n    " + REGENERATE + "\n\n"
                + "A release that is not listed gets the table of the nearest older one. Then klock audits the JDK, once for each build, and in a\n"
                + "mode that denies starts no program unless the audit passes. `java -jar klock.jar doctor --audit` shows it for any JDK; `doctor`\n"
                + "knocks on every door.\n\n"
                + "| | " + joined(releases, "JDK %s") + " |\n|---|" + "---|".repeat(releases.size()) + "\n");
        line(page, "rows of the hook table", releases, release -> count(rows, release, null));
        line(page, "doors: direct callers of a native that reaches outside the JVM", releases, release -> count(rows, release, true));
        line(page, "contexts: frames around doors", releases, release -> count(rows, release, false));
        line(page, "classes with a hook", releases, release -> rows.stream().filter(row -> row.releases().contains(release))
                .map(HookRow::owner).distinct().count());
        for (String judged : List.of("door", "benign")) {
            line(page, "natives judged by name: " + judged, releases, release -> judged(release, judged, false));
        }
        line(page, "patterns for benign natives", releases, release -> judged(release, "benign", true));
        Map<String, Map<String, SortedSet<String>>> operations = new TreeMap<>();
        for (HookRow row : rows) {
            operations.computeIfAbsent(module(row.owner()), module -> new TreeMap<>())
                    .computeIfAbsent(row.owner(), owner -> new TreeSet<>()).add(row.op());
        }
        operations.forEach((module, classes) -> {
            page.append("\n## ").append(module).append("\n\n| class | operations | ").append(joined(releases, "rows on %s")).append(" |\n|---|---|")
                    .append("---:|".repeat(releases.size())).append('\n');
            classes.forEach((owner, ops) -> {
                page.append("| `").append(owner.replace('/', '.')).append("` | ").append(String.join(", ", ops)).append(" |");
                for (int release : releases) {
                    page.append(' ').append(rows.stream().filter(row -> row.owner().equals(owner) && row.releases().contains(release)).count())
                            .append(" |");
                }
                page.append('\n');
            });
        });
        return page.toString();
    }

    private interface Counting {
        long of(int release);
    }

    private static void line(StringBuilder page, String what, SortedSet<Integer> releases, Counting counting) {
        page.append("| ").append(what).append(" |");
        for (int release : releases) {
            page.append(' ').append(counting.of(release)).append(" |");
        }
        page.append('\n');
    }

    private static String joined(SortedSet<Integer> releases, String format) {
        return String.join(" | ", releases.stream().map(release -> format.replace("%s", release.toString())).toList());
    }

    private static long count(List<HookRow> rows, int release, Boolean door) {
        return rows.stream().filter(row -> row.releases().contains(release) && (door == null || row.door() == door)).count();
    }

    private static long judged(int release, String judged, boolean pattern) {
        long count = 0;
        for (String table : List.of("natives.tsv", "natives-image.tsv")) {
            count += KlockJar.table(PLACE + table).stream().map(line -> line.split("\t")).filter(row ->
                    List.of(row[0].split(",")).contains("" + release) && row[2].equals(judged) && row[1].endsWith("*") == pattern).count();
        }
        return count;
    }

    private static String module(String owner) {
        for (Map.Entry<String, String> module : MODULES.entrySet()) {
            if (owner.startsWith(module.getKey())) {
                return module.getValue();
            }
        }
        return "java.base";
    }
}
