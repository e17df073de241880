package dev.klock.agent.weave;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HookTableTest {
    @ParameterizedTest
    @CsvSource({"17, 17", "25, 25", "21, 17", "24, 17", "99, 25"})
    void forRelease_anyRelease_holdsTheRowsOfTheNearestOlderOne(int feature, int nearest) throws IOException {
        HookTable table = HookTable.forRelease(feature);

        assertThat(table.release()).isEqualTo(nearest);
        assertThat(table.isListed()).isEqualTo(feature == nearest);
        List<String> rows = rows(Integer.toString(nearest));
        assertThat(table.hooks().stream().map(h -> h.owner + "\t" + h.method + "\t" + h.descriptor + "\t" + h.call + "\t"
                + (h.arguments.length == 0 ? "-" : String.join(" ", h.arguments)) + "\t" + h.op + "\t" + h.end + "\t" + h.site + "\t" + h.standsFor))
                .containsExactlyElementsOf(rows);
    }

    @Test
    void hook_number_isItsPlaceAmongTheRows() {
        List<Hook> hooks = HookTable.forRelease(17).hooks();
        for (int i = 0; i < hooks.size(); i++) {
            assertThat(hooks.get(i).number).isEqualTo(i);
        }
    }

    /** The rows read in the plainest way: all cells behind the second. */
    private static List<String> rows(String release) throws IOException {
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(HookTable.class.getResourceAsStream("hooks.tsv"),
                StandardCharsets.UTF_8))) {
            return reader.lines().filter(l -> !l.isEmpty() && !l.startsWith("#"))
                    .filter(l -> List.of(l.split("\t")[1].split(",")).contains(release))
                    .map(l -> l.split("\t", 3)[2]).toList();
        }
    }
}
