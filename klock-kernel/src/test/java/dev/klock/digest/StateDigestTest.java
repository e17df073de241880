package dev.klock.digest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.klock.kernel.Command;
import dev.klock.kernel.Kernel;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Lease;
import dev.klock.kernel.LifeCycle;
import dev.klock.kernel.Outcome;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.Refusal;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.kernel.Verdict;
import dev.klock.resource.Resource;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From a session that dies to one that comes back as old as it was. */
class StateDigestTest {
    private static final long NOW = 1_703_458_800_000L;
    private static final DigestKey KEY = DigestKey.hmac("0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.US_ASCII));
    private static final DigestReader READER = DigestReader.verifying(KEY);

    private final Kernel kernel = new Kernel(KernelOptions.standard(), NOW);
    private final SessionKey senior = SessionKey.of("senior", "s");
    private final SessionKey junior = SessionKey.of("junior", "j");

    private Outcome register(SessionKey key, long priorityMs) {
        return kernel.apply(new Command.Register(key, priorityMs, true, 0, false, false, true), NOW);
    }

    private static Triple triple(Predicate p, String path) {
        return Triple.of(p, Resource.parse("FILE:" + path));
    }

    /** {@code junior}, younger, after a DIE for a file that {@code senior} holds. */
    private Outcome juniorDies() {
        register(senior, 1000);
        register(junior, 2000);
        kernel.apply(Command.Submit.of(senior, List.of(triple(Predicate.MUTATES, "/src/config.json"))), NOW);
        kernel.apply(Command.Submit.of(junior, List.of(triple(Predicate.CONSUMES, "/src/own"))), NOW);
        Outcome died = kernel.apply(Command.Submit.of(junior, List.of(triple(Predicate.MUTATES, "/src/config.json"))), NOW);
        assertThat(died.verdict()).isEqualTo(Verdict.DIE);
        return died;
    }

    private StateDigest ofJunior(long retryAfterMs) {
        return StateDigest.of(kernel.session(junior), NOW, retryAfterMs, "step 3", "{\"goal\": \"tidy\"}", Resolution.RETRY);
    }

    @Test
    @Tag("K8-1")
    @Tag("K8-8")
    @Tag("K4-9")
    void digest_ofASessionThatDied_hasEveryFieldOfBothDocuments() {
        Outcome died = juniorDies();
        String json = new String(DigestFormat.write(ofJunior(died.retryAfterMs())), StandardCharsets.UTF_8);
        assertThat(json).isEqualTo("{\"version\":\"1.0\","
                + "\"identity\":{\"agent_id\":\"junior\",\"namespace\":\"default\",\"session_id\":\"j\",\"priority_timestamp\":2000,\"epoch\":0},"
                + "\"recovery\":{\"last_phase\":\"REQUESTING\",\"pending_intents\":[\"FILE:/src/own\",\"FILE:/src/config.json\"]},"
                + "\"timestamps\":{\"created_at\":1703458800000,\"retry_after\":1703458860000},"
                + "\"checkpoint\":{\"checkpoint_id\":\"j#0\",\"resume_point\":\"step 3\",\"context\":{\"goal\":\"tidy\"},"
                + "\"intent_backlog\":[{\"predicate\":\"CONSUMES\",\"resource\":\"FILE:/src/own\",\"confidence\":1},"
                + "{\"predicate\":\"MUTATES\",\"resource\":\"FILE:/src/config.json\",\"confidence\":1}],"
                + "\"resolution_strategy\":\"RETRY\"}}");
        assertThat(StateDigest.EXIT_CODE).isEqualTo(107);
    }

    @Test
    @Tag("K8-2")
    @Tag("K8-9")
    @Tag("K5-6")
    @Tag("K5-7")
    @Tag("K4-9")
    void restart_fromASignedDigest_isAsOldAsBeforeAndAsksForTheSame() {
        byte[] kept = DigestFormat.sign(ofJuniorAfterDeath(), KEY);
        Kernel other = new Kernel(KernelOptions.standard(), NOW + 10_000);
        Restored back = READER.read(kept, "junior", NOW + 10_000);
        assertThat(back.refusal()).isNull();
        assertThat(back.vouched()).isTrue();
        Command.Register register = back.register("default", "junior", "j", NOW + 10_000, true);
        assertThat(register).isEqualTo(new Command.Register(junior, 2000, true, 1, true, true, true));
        Outcome out = other.apply(register, NOW + 10_000);
        assertThat(out.refusal()).isNull();
        assertThat(out.priorityMs()).isEqualTo(2000);
        assertThat(other.session(junior).epoch()).isEqualTo(1);
        assertThat(other.state(junior)).as("looks at what changed first").isEqualTo(LifeCycle.PAUSED);
        other.apply(new Command.Resume(junior), NOW + 10_000);
        assertThat(other.apply(Command.Submit.of(junior, back.digest().backlog()), NOW + 10_000).verdict()).isEqualTo(Verdict.GRANTED);
    }

    /** Each order of two or three predicates on one resource, and the start of a program. */
    @Test
    @Tag("K8-1")
    @Tag("K5-9")
    @Tag("K1-16")
    void restart_afterSeveralTriplesOnOneResource_getsTheSameLeaseAndDeclaresTheSame() {
        Triple git = Triple.of(Predicate.PROVIDES, Resource.parse("PROCESS:/usr/bin/git"));
        for (Predicate first : Predicate.values()) {
            for (Predicate second : Predicate.values()) {
                for (Predicate third : Predicate.values()) {
                    List<Triple> manifest = new ArrayList<>();
                    for (Predicate p : EnumSet.of(first, second, third)) {
                        manifest.add(Triple.of(p, Resource.parse("FILE:/q")));
                    }
                    manifest.sort(Comparator.comparing(t -> t.predicate() == first ? 0 : t.predicate() == second ? 1 : 2));
                    manifest.add(git);
                    Kernel before = new Kernel(KernelOptions.standard(), NOW);
                    SessionKey elder = SessionKey.of("elder", "e");
                    before.apply(Command.Register.of(elder, 1), NOW);
                    before.apply(new Command.Register(junior, 2, true, 0, false, false, true), NOW);
                    before.apply(Command.Submit.of(elder, List.of(Triple.of(Predicate.MUTATES, Resource.parse("FILE:/x")))), NOW);
                    Outcome granted = before.apply(Command.Submit.of(junior, manifest), NOW);
                    assertThat(granted.leases()).hasSize(1);
                    assertThat(before.session(junior).pending()).as("while it works").isEqualTo(manifest);
                    before.apply(new Command.Pause(junior), NOW);
                    assertThat(before.session(junior).pending()).as("while it is paused").isEqualTo(manifest);
                    before.apply(new Command.Resume(junior), NOW);
                    Triple more = Triple.of(Predicate.MUTATES, Resource.parse("FILE:/x"));
                    assertThat(before.apply(Command.Submit.of(junior, List.of(more)), NOW).verdict()).isEqualTo(Verdict.DIE);
                    byte[] kept = DigestFormat.sign(StateDigest.of(before.session(junior), NOW, 0, null, null, Resolution.RETRY), KEY);
                    List<Triple> backlog = READER.read(kept, "junior", NOW).digest().backlog();
                    assertThat(backlog).containsAll(manifest).contains(more).hasSize(manifest.size() + 1);
                    Kernel after = new Kernel(KernelOptions.standard(), NOW);
                    after.apply(Command.Register.of(junior, 2), NOW);
                    Lease again = after.apply(Command.Submit.of(junior, backlog), NOW).leases().get(0);
                    assertThat(again.predicate()).isEqualTo(granted.leases().get(0).predicate());
                }
            }
        }
    }

    @Test
    @Tag("K8-1")
    @Tag("K3-13")
    void pending_afterEverythingWasGivenBack_namesNoStartsEither() {
        Triple git = Triple.of(Predicate.PROVIDES, Resource.parse("PROCESS:/usr/bin/git"));
        Triple own = Triple.of(Predicate.CONSUMES, Resource.parse("FILE:/own"));
        SessionKey s = SessionKey.of("s", "s");
        kernel.apply(Command.Register.of(s, NOW), NOW);
        long token = kernel.apply(Command.Submit.of(s, List.of(git, own)), NOW).leases().get(0).fencingToken();
        assertThat(kernel.session(s).pending()).containsExactlyInAnyOrder(git, own);
        kernel.apply(new Command.Release(s, new long[] {token}), NOW);
        assertThat(kernel.session(s).pending()).isEmpty();
        kernel.apply(Command.Submit.of(s, List.of(git)), NOW);
        kernel.apply(new Command.Release(s, null), NOW);
        assertThat(kernel.session(s).pending()).isEmpty();
    }

    private StateDigest ofJuniorAfterDeath() {
        juniorDies();
        return ofJunior(0);
    }

    @Test
    @Tag("K5-6")
    void restart_inTheSameKernel_goesOnWithTheNextEpoch() {
        byte[] kept = DigestFormat.sign(ofJuniorAfterDeath(), KEY);
        Command.Register register = READER.read(kept, "junior", NOW).register("default", "junior", "j", NOW, false);
        assertThat(kernel.apply(register, NOW).refusal()).isNull();
        assertThat(kernel.state(junior)).isEqualTo(LifeCycle.PAUSED);
        assertThat(kernel.session(junior).pending()).hasSize(2);
        kernel.apply(new Command.Register(junior, 2000, true, 2, true, false, true), NOW);
        assertThat(kernel.apply(register, NOW).refusal().code()).as("the same digest a second time").isEqualTo(Refusal.Code.STALE_EPOCH);
    }

    @ParameterizedTest
    @CsvSource({
        "PLANNING,PLANNING", "ACQUIRING,REQUESTING", "EXECUTING,EXECUTING", "VERIFYING,EXECUTING",
    })
    @Tag("K8-1")
    void phase_ofEachStateThatIsOne_isAsMapped(LifeCycle state, Phase phase) {
        assertThat(Phase.of(state)).isEqualTo(phase);
    }

    @Test
    void phase_ofAStateThatIsNone_isRefused() {
        for (LifeCycle state : List.of(LifeCycle.PAUSED, LifeCycle.COMPLETED, LifeCycle.ABORTED)) {
            assertThatIllegalArgumentException().isThrownBy(() -> Phase.of(state));
        }
    }

    @Test
    void phase_ofAPausedSession_isTheOneBeforeThePause() {
        register(junior, 2000);
        kernel.apply(new Command.Pause(junior), NOW);
        assertThat(ofJunior(0).lastPhase()).isEqualTo(Phase.PLANNING);
        kernel.apply(new Command.Resume(junior), NOW);
        kernel.apply(Command.Submit.of(junior, List.of(triple(Predicate.MUTATES, "/x"))), NOW);
        kernel.apply(new Command.Pause(junior), NOW);
        StateDigest working = ofJunior(0);
        assertThat(working.lastPhase()).isEqualTo(Phase.EXECUTING);
        assertThat(working.pendingIntents()).containsExactly("FILE:/x");
        kernel.apply(new Command.Abort(junior, "enough"), NOW);
        assertThat(ofJunior(0).lastPhase()).as("ended while paused").isEqualTo(Phase.EXECUTING);
    }

    @Test
    void digest_ofAWaitingSession_hasTheManifestItWaitsFor() {
        register(senior, 1000);
        register(junior, 2000);
        kernel.apply(Command.Submit.of(junior, List.of(triple(Predicate.MUTATES, "/x"))), NOW);
        kernel.apply(Command.Submit.of(senior, List.of(triple(Predicate.CONSUMES, "/x"), triple(Predicate.PROVIDES, "/y/**"))), NOW);
        StateDigest d = StateDigest.of(kernel.session(senior), NOW, 0, null, null, Resolution.MERGE);
        assertThat(d.lastPhase()).isEqualTo(Phase.REQUESTING);
        assertThat(d.pendingIntents()).containsExactly("FILE:/x", "FILE:/y/**");
        assertThat(READER.read(DigestFormat.sign(d, KEY), "senior", NOW).digest()).isEqualTo(d);
    }

    @Test
    @Tag("K8-6")
    @Tag("K8-7")
    void digest_asOldAsItsLife_countsAsAbsent() {
        byte[] kept = DigestFormat.sign(ofJuniorAfterDeath(), KEY);
        assertThat(READER.read(kept, "junior", NOW + 299_999).isRefused()).isFalse();
        DigestRefusal expired = READER.read(kept, "junior", NOW + 300_000).refusal();
        assertThat(expired.code()).isEqualTo(DigestRefusal.Code.EXPIRED);
        assertThat(expired.countsAsAbsent()).isTrue();
        assertThat(READER.withLife(300_001).read(kept, "junior", NOW + 300_000).isRefused()).isFalse();
        StateDigest again = READER.read(kept, "junior", NOW).digest().renewed(NOW + 299_000, 100);
        assertThat(READER.read(DigestFormat.sign(again, KEY), "junior", NOW + 500_000).digest().priorityMs()).isEqualTo(2000);
    }

    @Test
    @Tag("K8-10")
    void digest_thatWasChangedInAnyByte_isNeverUsedWithAnotherIdentity() {
        StateDigest digest = ofJuniorAfterDeath();
        byte[] kept = DigestFormat.sign(digest, KEY);
        for (int i = 0; i < kept.length; i++) {
            for (int bit : new int[] {1, 2, 8, 32}) {
                byte[] changed = kept.clone();
                changed[i] ^= (byte) bit;
                Restored back = READER.read(changed, "junior", NOW);
                // the last bits of a base64 text mean nothing: then it is the same signature
                assertThat(back.isRefused() || back.digest().equals(digest)).as("byte %s, bit %s", i, bit).isTrue();
            }
        }
    }

    @Test
    @Tag("K8-10")
    void digest_withAnOlderTimestamp_isRefusedByTheSignatureByMemoryAndByTheKernel() {
        String kept = new String(DigestFormat.sign(ofJuniorAfterDeath(), KEY), StandardCharsets.UTF_8);
        byte[] older = kept.replace("\"priority_timestamp\":2000", "\"priority_timestamp\":1").getBytes(StandardCharsets.UTF_8);
        assertThat(READER.read(older, "junior", NOW).refusal().code()).isEqualTo(DigestRefusal.Code.FORGED);
        Restored remembered = DigestReader.trustingThePlace().knowing(2000, 0).read(older, "junior", NOW);
        assertThat(remembered.refusal().code()).isEqualTo(DigestRefusal.Code.OLDER_TIMESTAMP);
        Restored nobody = DigestReader.trustingNobody().read(older, "junior", NOW);
        assertThat(nobody.vouched()).isFalse();
        Outcome out = new Kernel(KernelOptions.standard(), NOW).apply(nobody.register("default", "junior", "j", NOW, true), NOW);
        assertThat(out.refusal().code()).isEqualTo(Refusal.Code.FORGED_PRIORITY);
    }

    /** Its age is one session's: else one death would make any number of old sessions. */
    @Test
    @Tag("K8-10")
    @Tag("K7-10")
    void digest_ofASession_bringsNoOtherSessionBack() {
        byte[] kept = DigestFormat.sign(ofJuniorAfterDeath(), KEY);
        Restored back = READER.read(kept, "junior", NOW);
        assertThat(back.digest().session()).isEqualTo(junior);
        assertThatIllegalStateException().isThrownBy(() -> back.register("default", "junior", "j2", NOW, true))
                .withMessage("the digest is of session junior/j, not of junior/j2");
        assertThatIllegalStateException().isThrownBy(() -> back.register("other", "junior", "j", NOW, true));
        String text = new String(kept, StandardCharsets.UTF_8);
        for (String change : List.of("\"session_id\":\"j\",", "\"namespace\":\"default\",", "\"namespace\":\"default\",\"session_id\":\"j\",")) {
            assertThat(text).contains(change);
            assertThat(READER.read(text.replace(change, "").getBytes(StandardCharsets.UTF_8), "junior", NOW).isRefused()).as(change).isTrue();
        }
        byte[] half = new String(DigestFormat.write(ofJuniorAfterDeath()), StandardCharsets.UTF_8).replace("\"namespace\":\"default\",", "")
                .getBytes(StandardCharsets.UTF_8);
        assertThat(DigestReader.trustingThePlace().read(half, "junior", NOW).refusal().message()).isEqualTo("the digest has no identity.namespace");
    }

    @Test
    @Tag("K8-9")
    void ed25519_signedByThePrivateKey_isVerifiedByThePublicOneOnly() throws NoSuchAlgorithmException {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        KeyPair other = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        StateDigest digest = ofJuniorAfterDeath();
        byte[] kept = DigestFormat.sign(digest, DigestKey.ed25519(pair.getPrivate()));
        assertThat(DigestReader.verifying(DigestKey.ed25519(pair.getPublic())).read(kept, "junior", NOW).digest()).isEqualTo(digest);
        assertThat(DigestReader.verifying(DigestKey.ed25519(other.getPublic())).read(kept, "junior", NOW).refusal().code())
                .isEqualTo(DigestRefusal.Code.FORGED);
        assertThat(READER.read(kept, "junior", NOW).refusal().code()).as("another algorithm").isEqualTo(DigestRefusal.Code.FORGED);
        assertThatIllegalArgumentException().isThrownBy(() -> DigestReader.verifying(DigestKey.ed25519(pair.getPrivate())));
        assertThatIllegalStateException().isThrownBy(() -> DigestFormat.sign(digest, DigestKey.ed25519(pair.getPublic())));
    }

    @Test
    void hmac_shortSecret_isRefusedAndNoKeyShowsItself() {
        assertThatIllegalArgumentException().isThrownBy(() -> DigestKey.hmac(new byte[31]));
        assertThat(KEY.toString()).doesNotContain("0123");
    }

    @Test
    void unsigned_whereASignatureIsWanted_isRefused() {
        assertThat(READER.read(DigestFormat.write(ofJuniorAfterDeath()), "junior", NOW).refusal().code())
                .isEqualTo(DigestRefusal.Code.UNSIGNED);
    }

    @Test
    void klis5Form_alone_isReadAndMakesANewSessionThatAsksForTheBacklog() {
        String klis5 = "{\"checkpoint_id\": \"c7\", \"resume_point\": \"tests\", \"context\": {\"n\": 1.50, \"deep\": [null, {\"x\": true}]},"
                + "\"intent_backlog\": [\"MUTATES FILE:/w/a\", {\"predicate\": \"CONSUMES\", \"resource\": \"FILE:/w/**\", \"confidence\": 0.6}],"
                + "\"resolution_strategy\": \"ABORT\"}";
        DigestReader reader = DigestReader.trustingNobody().withLife(Long.MAX_VALUE);
        Restored back = reader.read(klis5.getBytes(StandardCharsets.UTF_8), "junior", NOW);
        assertThat(back.refusal()).isNull();
        assertThat(back.digest().hasIdentity()).isFalse();
        assertThat(back.digest().checkpoint().contextJson()).isEqualTo("{\"n\":1.50,\"deep\":[null,{\"x\":true}]}");
        assertThat(back.digest().backlog()).extracting(Triple::toString).containsExactly("MUTATES FILE:/w/a", "CONSUMES FILE:/w/**");
        assertThat(back.digest().backlog().get(1).confidence()).isEqualTo(0.6);
        assertThat(back.register("default", "junior", "j", NOW, true))
                .isEqualTo(new Command.Register(junior, NOW, false, 1, true, true, false));
        assertThat(reader.read(DigestFormat.write(back.digest()), "junior", NOW).digest()).isEqualTo(back.digest());
        assertThat(DigestReader.trustingNobody().read(klis5.getBytes(StandardCharsets.UTF_8), "junior", NOW).refusal().code())
                .as("does not say how old it is").isEqualTo(DigestRefusal.Code.EXPIRED);
    }

    @Test
    @Tag("K8-8")
    void example_ofTheSpecification_isRead() {
        String example = "{\n  \"version\": \"1.0\",\n  \"identity\": {\"agent_id\": \"agent_junior\", \"priority_timestamp\": 2000, \"epoch\": 0},\n"
                + "  \"recovery\": {\"last_phase\": \"REQUESTING\", \"pending_intents\": [\"FILE:/src/config.json\"]},\n"
                + "  \"timestamps\": {\"created_at\": 1703458800000, \"retry_after\": 1703458802000}\n}\n";
        Restored back = DigestReader.trustingThePlace().read(example.getBytes(StandardCharsets.UTF_8), "agent_junior", NOW + 1);
        assertThat(back.digest()).isEqualTo(new StateDigest(
                "agent_junior", null, 2000, 0, Phase.REQUESTING, List.of("FILE:/src/config.json"), NOW, NOW + 2000, null));
        assertThat(back.digest().backlog()).isEmpty();
    }

    @Test
    void digest_cutAnywhere_isRefusedAsTruncated() {
        byte[] kept = DigestFormat.sign(ofJuniorAfterDeath(), KEY);
        for (int length = 1; length < kept.length; length++) {
            DigestRefusal refusal = READER.read(Arrays.copyOf(kept, length), "junior", NOW).refusal();
            assertThat(refusal.code()).as("%s of %s bytes: %s", length, kept.length, refusal).isEqualTo(DigestRefusal.Code.TRUNCATED);
        }
    }

    @Test
    void restored_refused_registersNobody() {
        Restored none = READER.read(null, "junior", NOW);
        assertThat(none.refusal().countsAsAbsent()).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> none.register("default", "junior", "j", NOW, true));
    }
}
