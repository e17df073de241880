package dev.klock.agent.sign;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A signature is of these bytes and by a key that is trusted, or it is none. */
@Tag("K1-17")
class SignedManifestTest {
    private static final byte[] MANIFEST = "ver: \"1.0\"\nagent_id: a\nscope: []\n".getBytes(StandardCharsets.UTF_8);

    private static KeyPair pair(String algorithm) throws GeneralSecurityException {
        return KeyPairGenerator.getInstance(algorithm).generateKeyPair();
    }

    private static byte[] pem(String what, byte[] encoded) {
        return ("text before\n-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded) + "\n-----END " + what + "-----\n")
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String problem(byte[] bytes, String signature, PublicKey... trusted) {
        try {
            DetachedSignature.verify("klock.yaml", bytes, signature, List.of(trusted), "keys.pem");
            return null;
        } catch (BadSignature e) {
            return e.getMessage();
        }
    }

    @Test
    void signature_ofATrustedKey_isVerified_whicheverOfThemItIs() throws Exception {
        KeyPair mine = pair("Ed25519");
        PublicKey other = pair("Ed25519").getPublic();
        String signature = DetachedSignature.of(MANIFEST, mine.getPrivate());
        assertThat(DetachedSignature.verify("m", MANIFEST, signature + "\n", List.of(other, mine.getPublic()), "k")).isEqualTo(mine.getPublic());
        assertThat(Keys.publicHalf(mine.getPrivate())).isEqualTo(mine.getPublic());
        assertThat(new String(Base64.getUrlDecoder().decode(signature.substring(0, signature.indexOf('.'))), StandardCharsets.UTF_8))
                .isEqualTo("{\"alg\":\"EdDSA\",\"kid\":\"" + Keys.id(mine.getPublic()) + "\"}");
        assertThat(problem(MANIFEST, signature, other)).startsWith("klock.yaml is signed by key " + Keys.id(mine.getPublic())).contains("trusted are those in keys.pem (" + Keys.id(other) + ")");
    }

    @Test
    void oneChangedBit_anywhereInTheManifestOrTheSignature_isNotVerified() throws Exception {
        KeyPair mine = pair("Ed25519");
        String signature = DetachedSignature.of(MANIFEST, mine.getPrivate());
        for (int i = 0; i < MANIFEST.length; i++) {
            byte[] changed = MANIFEST.clone();
            changed[i] ^= 1;
            assertThat(problem(changed, signature, mine.getPublic())).as("byte %s", i).contains("is not what was signed (klock.yaml.sig): it was changed since");
        }
        assertThat(problem(new byte[0], signature, mine.getPublic())).isNotNull();
        for (int i = 0; i < signature.length() - 1; i++) {
            char c = signature.charAt(i);
            String changed = signature.substring(0, i) + (c == 'A' ? 'B' : 'A') + signature.substring(i + 1);
            assertThat(problem(MANIFEST, changed, mine.getPublic())).as("character %s", i).isNotNull();
        }
        for (int cut = 0; cut < signature.length(); cut++) {
            assertThat(problem(MANIFEST, signature.substring(0, cut), mine.getPublic())).as("cut at %s", cut).isNotNull();
        }
    }

    @Test
    void signature_ofAnotherKind_isNone() throws Exception {
        KeyPair mine = pair("Ed25519");
        String signature = DetachedSignature.of(MANIFEST, mine.getPrivate());
        String attached = signature.replace("..", "." + Base64.getUrlEncoder().withoutPadding().encodeToString(MANIFEST) + ".");
        assertThat(problem(MANIFEST, attached, mine.getPublic())).contains("is no detached signature");
        for (String header : List.of("{\"alg\":\"none\"}", "{\"alg\":\"HS256\"}", "{\"alg\":\"RS256\"}", "{\"alg\":\"EdDSA\",\"crit\":[\"b64\"],\"b64\":false}", "{}", "x")) {
            String other = Base64.getUrlEncoder().withoutPadding().encodeToString(header.getBytes(StandardCharsets.UTF_8)) + signature.substring(signature.indexOf('.'));
            assertThat(problem(MANIFEST, other, mine.getPublic())).as(header).isNotNull().doesNotContain("\n");
            assertThat(problem(MANIFEST, other.substring(0, other.lastIndexOf('.') + 1), mine.getPublic())).as(header).isNotNull().doesNotContain("\n");
        }
    }

    @Test
    void keys_ofOtherKindsOrHalves_areRefusedWithWhatWouldBeRight() throws Exception {
        KeyPair mine = pair("Ed25519");
        assertThat(Keys.publicKeys("k", pem("PUBLIC KEY", mine.getPublic().getEncoded()))).containsExactly(mine.getPublic());
        assertThat(Keys.privateKey("k", pem("PRIVATE KEY", mine.getPrivate().getEncoded()))).isEqualTo(mine.getPrivate());
        assertThatThrownBy(() -> Keys.publicKeys("k", pem("PRIVATE KEY", mine.getPrivate().getEncoded()))).isInstanceOf(BadSignature.class).hasMessageContaining("k has a PRIVATE KEY");
        assertThatThrownBy(() -> Keys.publicKeys("k", pem("PUBLIC KEY", pair("RSA").getPublic().getEncoded()))).isInstanceOf(BadSignature.class).hasMessageContaining("key 1 is no Ed25519 key");
        assertThatThrownBy(() -> Keys.publicKeys("k", pem("PUBLIC KEY", new byte[] {1, 2, 3}))).isInstanceOf(BadSignature.class);
        assertThatThrownBy(() -> Keys.publicKeys("k", new byte[0])).isInstanceOf(BadSignature.class).hasMessageContaining("openssl pkey");
        assertThatThrownBy(() -> Keys.privateKey("k", pem("ENCRYPTED PRIVATE KEY", new byte[] {1}))).isInstanceOf(BadSignature.class).hasMessageContaining("not encrypted");
        assertThatThrownBy(() -> Keys.privateKey("k", pem("PRIVATE KEY", pair("RSA").getPrivate().getEncoded()))).isInstanceOf(BadSignature.class).hasMessageContaining("no Ed25519 key");
    }
}
