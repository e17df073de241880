package dev.klock.digest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;

/** What is written is what is read, whatever is in it. */
class DigestRoundTripTest {
    private static final long NOW = 2_000_000_000_000L;
    private static final DigestKey KEY = DigestKey.hmac(new byte[32]);

    @Property(tries = 500)
    @Tag("K8-1")
    void digest_writtenAndRead_isTheSame(@ForAll("digests") StateDigest digest) {
        byte[] text = DigestFormat.sign(digest, KEY);
        Restored back = DigestReader.verifying(KEY).read(text, digest.agentId(), NOW);
        assertThat(back.refusal()).isNull();
        assertThat(back.digest()).isEqualTo(digest);
        assertThat(DigestFormat.sign(back.digest(), KEY)).as("one digest, one text").isEqualTo(text);
        assertThat(DigestReader.trustingThePlace().read(DigestFormat.write(digest), digest.agentId(), NOW).digest()).isEqualTo(digest);
    }

    @Provide
    Arbitrary<StateDigest> digests() {
        Arbitrary<String> texts = Arbitraries.strings().withCharRange('\u0000', '\ud7ff').withCharRange('\ue000', '\uffff').ofMaxLength(40);
        Arbitrary<String> ids = Arbitraries.strings().withCharRange(' ', '~').withChars("\u00e9\u4e2d").ofMinLength(1).ofMaxLength(60);
        Arbitrary<String> names = Arbitraries.strings().withCharRange('!', '~').withChars(" \u00e9*\\$").excludeChars('/').ofMinLength(1).ofMaxLength(10)
                .filter(n -> !n.equals(".") && !n.equals(".."));
        Arbitrary<Resource> resources = Combinators.combine(names, names, Arbitraries.of(Resource.Form.values()))
                .as((a, b, form) -> Resource.of("FILE", "/" + a + "/" + b, form));
        Arbitrary<Triple> triples = Combinators.combine(
                        Arbitraries.of(Predicate.values()), resources, Arbitraries.integers().between(0, 1_000_000), Arbitraries.longs().between(0, NOW))
                .as((p, r, millionths, at) -> new Triple(null, p, r, millionths / 1e6, at));
        Arbitrary<String> contexts = Arbitraries.of(
                "{}", "{ \"a\" : [1, 2.50, -3e-7, true, null, {}] }", "{\"\\u00e9\\n\\\"\":\"\\u0001\\ud83d\\ude00/\"}");
        Arbitrary<Checkpoint> checkpoints = Combinators.combine(
                        texts, texts.injectNull(0.3), contexts.injectNull(0.3), triples.list().ofMaxSize(8), Arbitraries.of(Resolution.values()))
                .as(Checkpoint::new);
        Arbitrary<Long> times = Arbitraries.longs().between(1, NOW);
        return Combinators.combine(
                        ids, ids.injectNull(0.3), times, times, Arbitraries.of(Phase.values()), times.injectNull(0.3), checkpoints.injectNull(0.3), resources.list().ofMaxSize(3))
                .as((id, sessionId, priority, epoch, phase, retry, checkpoint, more) -> {
                    List<String> uris = checkpoint == null
                            ? more.stream().map(Resource::toString).toList()
                            : StateDigest.uris(checkpoint.intentBacklog());
                    return new StateDigest(
                            id, sessionId == null ? null : new SessionKey(sessionId + "'s", id, sessionId), priority, epoch, phase, uris, NOW - 1000, retry == null ? 0 : retry, checkpoint);
                });
    }

    @Property(tries = 500)
    void digest_anyBytes_areReadOrRefusedButNeverThrow(@ForAll byte[] bytes) {
        assertThat(DigestReader.trustingThePlace().read(bytes, "a", NOW).isRefused()).as(new String(bytes, StandardCharsets.ISO_8859_1)).isTrue();
    }
}
