package dev.klock.sandbox.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;

import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Jdks;
import dev.klock.sandbox.subject.HookProbes;
import dev.klock.sandbox.subject.HookProbes.Probe;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Each row of the hook table: reached from public JDK API, allowed when declared with the result it has without klock, stopped when not
 * declared with the target left alone. A row without a probe fails by its name.
 */
class HookPairTest {
    /** Rows that no Linux JDK can enter, with the reason; one that is entered after all fails. */
    private static final Map<String, String> CANNOT_BE_ENTERED = Map.of(
            "sun/nio/fs/UnixFileAttributeViews$Basic.setTimes@futimes", "futimens is there on every supported Linux, and is preferred");

    @TestFactory
    @Tag("K6-1")
    @Tag("K6-2")
    Stream<DynamicContainer> row_declaredAndNot_allowedAndStopped() throws Exception {
        List<DynamicContainer> containers = new ArrayList<>();
        for (Jdk jdk : Jdks.all()) {
            HookPairs pairs = HookPairs.of(jdk);
            containers.add(DynamicContainer.dynamicContainer(jdk.toString(), pairs.rows().stream()
                    .map(row -> DynamicTest.dynamicTest(row + " @ JDK " + jdk.feature(), () -> check(pairs, row)))));
        }
        return containers.stream();
    }

    @Test
    void probe_ofEveryTable_meansRowsThatExist() {
        List<HookRow> all = HookRow.all().stream().filter(HookRow::door).toList();
        for (Probe probe : HookProbes.PROBES) {
            for (String reference : probe.rows()) {
                assertThat(all).as("rows meant by %s of probe %s", reference, probe.id()).anyMatch(row -> row.isMeantBy(reference));
                for (Jdk jdk : Jdks.all()) {
                    assertThat(HookRow.doors(jdk.feature()).stream().filter(row -> row.isMeantBy(reference))).as("%s @ %s", reference, jdk)
                            .hasSizeLessThan(2);
                }
            }
        }
        for (String reference : CANNOT_BE_ENTERED.keySet()) {
            assertThat(all).as(reference).anyMatch(row -> row.isMeantBy(reference));
        }
    }

    private static void check(HookPairs pairs, HookRow row) {
        boolean cannot = CANNOT_BE_ENTERED.keySet().stream().anyMatch(row::isMeantBy);
        if (cannot) {
            assertThat(pairs.entered()).as("%s was entered after all: it needs a probe", row).doesNotContain(pairs.rows().indexOf(row));
            return;
        }
        List<Probe> probes = pairs.probesFor(row);
        if (probes.isEmpty()) {
            fail("no probe reaches " + row + ": write one in HookProbes");
        }
        assertThat(probes).as("probes that, run without klock, enter %s", row).anyMatch(probe -> pairs.enters(probe, row));
        for (Probe probe : probes) {
            assertThat(pairs.faults(probe)).as("probe %s", probe.id()).isEmpty();
        }
    }
}
