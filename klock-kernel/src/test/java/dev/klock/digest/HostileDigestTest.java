package dev.klock.digest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.klock.digest.DigestRefusal.Code;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Digests that nobody of good will wrote: each has its reason, in one line. */
class HostileDigestTest {
    private static final long NOW = 1_000_000;
    private static final DigestReader READER = DigestReader.trustingThePlace();
    private static final String GOOD = "{'version':'1.0','identity':{'agent_id':'a','priority_timestamp':5,'epoch':1},"
            + "'recovery':{'last_phase':'REQUESTING','pending_intents':['FILE:/x']},'timestamps':{'created_at':1000000},"
            + "'checkpoint':{'checkpoint_id':'c','context':{},'intent_backlog':[{'predicate':'MUTATES','resource':'FILE:/x'}],"
            + "'resolution_strategy':'RETRY'}}";

    private record Case(Code code, String from, String to) {}

    static List<Case> cases() {
        return List.of(
                new Case(Code.WRONG_VERSION, "'1.0'", "'1.1'"),
                new Case(Code.BAD_VALUE, "'1.0'", "1.0"),
                new Case(Code.MISSING_FIELD, "'version':'1.0',", ""),
                new Case(Code.MISSING_FIELD, "'agent_id':'a',", ""),
                new Case(Code.MISSING_FIELD, "'priority_timestamp':5,", ""),
                new Case(Code.MISSING_FIELD, ",'epoch':1", ""),
                new Case(Code.MISSING_FIELD, "'last_phase':'REQUESTING',", ""),
                new Case(Code.MISSING_FIELD, ",'pending_intents':['FILE:/x']", ""),
                new Case(Code.MISSING_FIELD, "'checkpoint_id':'c',", ""),
                new Case(Code.MISSING_FIELD, "'predicate':'MUTATES',", ""),
                new Case(Code.MISSING_FIELD, ",\n'resolution_strategy':'RETRY'", ""),
                new Case(Code.UNKNOWN_FIELD, "'version'", "'extra':1,'version'"),
                new Case(Code.UNKNOWN_FIELD, "'epoch':1", "'epoch':1,'priority':0"),
                new Case(Code.UNKNOWN_FIELD, "'version'", "'intent_backlog':[],'version'"),
                new Case(Code.DUPLICATE_KEY, "'priority_timestamp':5", "'priority_timestamp':5,'priority_timestamp':1"),
                new Case(Code.DUPLICATE_KEY, "'context':{}", "'context':{'k':1,'k':2}"),
                new Case(Code.BAD_VALUE, "'priority_timestamp':5", "'priority_timestamp':-5"),
                new Case(Code.BAD_VALUE, "'priority_timestamp':5", "'priority_timestamp':5.0"),
                new Case(Code.BAD_VALUE, "'priority_timestamp':5", "'priority_timestamp':'5'"),
                new Case(Code.BAD_VALUE, "'priority_timestamp':5", "'priority_timestamp':99999999999999999999"),
                new Case(Code.BAD_VALUE, "'epoch':1", "'epoch':null"),
                new Case(Code.BAD_VALUE, "REQUESTING", "PAUSED"),
                new Case(Code.BAD_VALUE, "'RETRY'", "'WIN'"),
                new Case(Code.BAD_VALUE, "'MUTATES'", "'WRITES'"),
                new Case(Code.BAD_VALUE, "['FILE:/x']", "['FILE:/y/../x']"),
                new Case(Code.BAD_VALUE, "['FILE:/x']", "['GOPHER:/x']"),
                new Case(Code.BAD_VALUE, "['FILE:/x']", "['FILE:/y']"),
                new Case(Code.BAD_VALUE, "['FILE:/x']", "'FILE:/x'"),
                new Case(Code.BAD_VALUE, "'agent_id':'a'", "'agent_id':''"),
                new Case(Code.BAD_VALUE, "'agent_id':'a'", "'agent_id':'a\\u000ab'"),
                new Case(Code.BAD_VALUE, "'agent_id':'a'", "'agent_id':'\\ud800'"),
                new Case(Code.BAD_VALUE, "'agent_id':'a'", "'agent_id':'" + "x".repeat(257) + "'"),
                new Case(Code.BAD_VALUE, "'context':{}", "'context':[]"),
                new Case(Code.BAD_VALUE, "'context':{}", "'context':{'k':'\\udc00'}"),
                new Case(Code.BAD_VALUE, "'resource':'FILE:/x'", "'resource':'FILE:/x','confidence':2"),
                new Case(Code.FOREIGN_AGENT, "'agent_id':'a'", "'agent_id':'b'"),
                new Case(Code.FROM_THE_FUTURE, "'created_at':1000000", "'created_at':1005001"),
                new Case(Code.FROM_THE_FUTURE, "'priority_timestamp':5", "'priority_timestamp':1005001"),
                new Case(Code.EXPIRED, "'created_at':1000000", "'created_at':700000"),
                new Case(Code.OVERSIZE, "'context':{}", "'context':{'k':" + "[".repeat(40) + "]".repeat(40) + "}"),
                new Case(Code.MALFORMED, "'version'", "version"),
                new Case(Code.MALFORMED, "'context':{}", "'context':{'k':NaN}"),
                new Case(Code.MALFORMED, "{'version'", "[{'version'"),
                new Case(Code.MALFORMED, "{'version'", "{/* hi */'version'"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void digest_withOneThingWrong_isRefusedForItInOneLine(Case c) {
        String from = c.from.replace("\n", "");
        assertThat(GOOD).contains(from);
        Restored back = read(GOOD.replace(from, c.to));
        assertThat(back.refusal()).isNotNull();
        assertThat(back.refusal().code()).as(back.refusal().message()).isEqualTo(c.code);
        assertThat(back.refusal().message()).hasSizeBetween(10, 410).doesNotContain("\n", "\r", "jackson");
        assertThat(back.digest()).isNull();
        assertThat(back.vouched()).isFalse();
    }

    private static Restored read(String json) {
        return READER.read(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8), "a", NOW);
    }

    @Test
    void digest_good_isRead() {
        assertThat(read(GOOD).refusal()).isNull();
    }

    @Test
    void digest_ofAnEarlierEpochThanKnown_isRefused() {
        DigestReader knowing = READER.knowing(5, 2);
        assertThat(knowing.read(GOOD.replace('\'', '"').getBytes(StandardCharsets.UTF_8), "a", NOW).refusal().code())
                .isEqualTo(Code.STALE_EPOCH);
    }

    @Test
    void digest_emptyBlankTooLargeOrNotUtf8_isRefused() {
        assertThat(READER.read(new byte[0], "a", NOW).refusal().code()).isEqualTo(Code.ABSENT);
        assertThat(read("  \n ").refusal().code()).isEqualTo(Code.ABSENT);
        assertThat(READER.read(new byte[StateDigest.MAX_BYTES + 1], "a", NOW).refusal().code()).isEqualTo(Code.OVERSIZE);
        byte[] latin = GOOD.replace('\'', '"').replace("\"c\"", "\"\u00e9\"").getBytes(StandardCharsets.ISO_8859_1);
        assertThat(READER.read(latin, "a", NOW).refusal().code()).isEqualTo(Code.MALFORMED);
        assertThat(read(GOOD + "{}").refusal().code()).isEqualTo(Code.MALFORMED);
        assertThat(read("3").refusal().code()).isEqualTo(Code.MALFORMED);
        assertThat(read(GOOD.replace("['FILE:/x']", "['FILE:/x'" + ",'FILE:/x'".repeat(10_000) + "]")).refusal().code())
                .isEqualTo(Code.OVERSIZE);
    }

    @Test
    void digest_randomBytesAndRandomDamage_neverThrows() {
        Random random = new Random(11);
        byte[] good = GOOD.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes;
            if (i % 4 == 0) {
                bytes = new byte[random.nextInt(60)];
                random.nextBytes(bytes);
            } else {
                bytes = good.clone();
                for (int n = 1 + random.nextInt(3); n > 0; n--) {
                    bytes[random.nextInt(bytes.length)] = (byte) "{}[]\",:0e-\\u\n\u00ff/".charAt(random.nextInt(15));
                }
            }
            Restored back = READER.read(bytes, "a", NOW);
            assertThat(back.isRefused() == (back.digest() == null)).isTrue();
        }
    }

    @Test
    void digest_madeOfWhatCouldNotBeRead_isRefusedWhenItIsMade() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Checkpoint("c", null, "{\"a\":1}x", List.of(), Resolution.RETRY));
        assertThatIllegalArgumentException().isThrownBy(() -> new Checkpoint("c", null, "[]", List.of(), Resolution.RETRY));
        assertThatIllegalArgumentException().isThrownBy(() -> new Checkpoint("c", null, "{", List.of(), Resolution.RETRY));
        assertThatIllegalArgumentException().isThrownBy(() -> new Checkpoint("\ud800", null, null, List.of(), Resolution.RETRY));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StateDigest("a", null, -1, 0, Phase.PLANNING, List.of(), 1, 0, null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StateDigest(null, null, StateDigest.NO_TIMESTAMP, 0, Phase.PLANNING, List.of(), 1, 0, null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StateDigest("a", null, 1, -1, Phase.PLANNING, List.of(), 1, 0, null));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StateDigest("a", null, 1, 0, Phase.PLANNING, List.of("FILE:x"), 1, 0, null));
    }
}
