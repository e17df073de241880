package dev.klock.digest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.klock.kernel.Change;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class ObservationUpdateTest {
    private static final Change OF_BUILDER =
            new Change(SessionKey.of("builder", "s \"1\""), Predicate.MUTATES, Resource.parse("FILE:/w/src/**"), 1_700_000_000_000L);
    private static final Change OF_ANYBODY = new Change(null, Predicate.DELETES, Resource.parse("DB:orders"), 7);

    @Test
    void update_written_readsTheSame() throws IOException {
        byte[] text = ObservationUpdate.write("editor", "s2", List.of(OF_BUILDER, OF_ANYBODY));

        assertThat(ObservationUpdate.read(text)).containsExactly(OF_BUILDER, OF_ANYBODY);
    }

    @Test
    void update_ofOneChange_isThisText() {
        assertThat(new String(ObservationUpdate.write("editor", "s2", List.of(OF_BUILDER)), StandardCharsets.UTF_8)).isEqualTo(
                "{\"version\":\"1.0\",\"agent_id\":\"editor\",\"session_id\":\"s2\",\"changes\":[{\"by\":{\"namespace\":\"default\",\"agent_id\":\"builder\","
                        + "\"session_id\":\"s \\\"1\\\"\"},\"predicate\":\"MUTATES\",\"resource\":\"FILE:/w/src/**\",\"at\":1700000000000}]}");
    }

    @Test
    void update_ofALaterVersion_isReadWithoutWhatIsNotKnown() throws IOException {
        String text = "{\"version\":\"9\",\"more\":{\"changes\":[1]},\"changes\":[{\"why\":[{}],\"predicate\":\"DELETES\",\"resource\":\"DB:orders\",\"at\":7}]}";

        assertThat(ObservationUpdate.read(text.getBytes(StandardCharsets.UTF_8))).containsExactly(OF_ANYBODY);
    }

    @Test
    void update_thatIsNone_isAnIOExceptionAndNothingElse() {
        String whole = new String(ObservationUpdate.write("editor", "s2", List.of(OF_BUILDER, OF_ANYBODY)), StandardCharsets.UTF_8);
        for (int length = 0; length < whole.length(); length++) {
            assertNone(whole.substring(0, length));
        }
        for (String change : new String[] {"1", "{}", "{\"predicate\":\"MUTATES\"}", "{\"predicate\":1,\"resource\":\"DB:a\"}",
            "{\"predicate\":\"EATS\",\"resource\":\"DB:a\"}", "{\"predicate\":\"MUTATES\",\"resource\":\"nothing\"}",
            "{\"predicate\":\"MUTATES\",\"resource\":\"DB:a\",\"at\":\"noon\"}", "{\"by\":{\"agent_id\":\"a\"},\"predicate\":\"MUTATES\",\"resource\":\"DB:a\"}",
            "{\"by\":\"a\",\"predicate\":\"MUTATES\",\"resource\":\"DB:a\"}"}) {
            assertNone("{\"changes\":[" + change + "]}");
        }
        assertNone("[]");
        assertNone("{\"changes\":{}}");
    }

    private static void assertNone(String text) {
        assertThatThrownBy(() -> ObservationUpdate.read(text.getBytes(StandardCharsets.UTF_8))).as(text).isInstanceOf(IOException.class);
    }
}
