package dev.klock.digest;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.util.Objects;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a digest is signed or verified with (K8-9), so that nobody can make themselves older (K8-10). Immutable and safe for all threads.
 * The key must be kept where the agent cannot read it; its text is never shown. Digests do not name their namespace: give each a key of its
 * own.
 */
public final class DigestKey {
    /** A shared secret shorter than this can be guessed; bytes. */
    public static final int MIN_SECRET_BYTES = 32;

    private static final String HMAC = "HmacSHA256";
    private static final String ED25519 = "Ed25519";
    /** No signature over anything else can be passed off as one over a digest. */
    private static final byte[] PURPOSE = "klock state digest 1\n".getBytes(StandardCharsets.US_ASCII);

    private final String algorithm;
    private final Key signer;
    private final Key verifier;

    private DigestKey(String algorithm, Key signer, Key verifier) {
        this.algorithm = algorithm;
        this.signer = signer;
        this.verifier = verifier;
    }

    /**
     * Signs and verifies with one secret (HMAC-SHA256).
     *
     * @throws IllegalArgumentException if the secret is shorter than {@link #MIN_SECRET_BYTES}
     */
    public static DigestKey hmac(byte[] secret) {
        if (secret.length < MIN_SECRET_BYTES) {
            throw new IllegalArgumentException("a secret needs at least " + MIN_SECRET_BYTES + " bytes, not " + secret.length);
        }
        SecretKeySpec key = new SecretKeySpec(secret, HMAC);
        return new DigestKey("HMAC-SHA256", key, key);
    }

    /** Signs, but cannot verify. */
    public static DigestKey ed25519(PrivateKey key) {
        return new DigestKey(ED25519, Objects.requireNonNull(key), null);
    }

    /** Verifies, but cannot sign: what may lie where agents can read it. */
    public static DigestKey ed25519(PublicKey key) {
        return new DigestKey(ED25519, null, Objects.requireNonNull(key));
    }

    boolean canVerify() {
        return verifier != null;
    }

    /** As it stands in the digest: {@code HMAC-SHA256} or {@code Ed25519}. */
    public String algorithm() {
        return algorithm;
    }

    /** @throws IllegalStateException if this key can only verify, or the JVM cannot use it */
    byte[] sign(byte[] text) {
        if (signer == null) {
            throw new IllegalStateException("a public key cannot sign");
        }
        try {
            if (signer instanceof SecretKeySpec) {
                return mac(text);
            }
            Signature signature = Signature.getInstance(ED25519);
            signature.initSign((PrivateKey) signer);
            signature.update(PURPOSE);
            signature.update(text);
            return signature.sign();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot sign with this key: " + e.getMessage(), e);
        }
    }

    /** Whether {@code signature} is one of {@code text}; the time it takes does not tell how much of it is right. */
    boolean verifies(byte[] text, byte[] signature) {
        if (verifier == null) {
            throw new IllegalStateException("a private key cannot verify");
        }
        try {
            if (verifier instanceof SecretKeySpec) {
                return MessageDigest.isEqual(mac(text), signature);
            }
            Signature check = Signature.getInstance(ED25519);
            check.initVerify((PublicKey) verifier);
            check.update(PURPOSE);
            check.update(text);
            return check.verify(signature);
        } catch (GeneralSecurityException e) {
            // a signature that is not even one
            return false;
        }
    }

    private byte[] mac(byte[] text) throws GeneralSecurityException {
        Mac mac = Mac.getInstance(HMAC);
        mac.init(signer);
        mac.update(PURPOSE);
        return mac.doFinal(text);
    }

    @Override
    public String toString() {
        return algorithm + (signer == null ? ", verifies" : verifier == null ? ", signs" : ", signs and verifies");
    }
}
