package dev.klock.agent.sign;

import java.security.PrivateKey;
import java.security.PublicKey;
import java.util.Base64;
import java.util.List;
import org.jose4j.jwa.AlgorithmConstraints;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.lang.JoseException;

/**
 * A JSON Web Signature whose payload is not in it (RFC 7515, appendix F), by Ed25519 (RFC 8037): {@code header..signature}. Whoever has the key has
 * signed exactly these bytes.
 */
public final class DetachedSignature {
    /** Of the file beside a manifest: {@code klock.yaml.sig}. */
    public static final String ENDING = ".sig";
    /** A signature has some 150 characters. */
    public static final int MAX_BYTES = 4096;
    private static final AlgorithmConstraints ED25519 = new AlgorithmConstraints(AlgorithmConstraints.ConstraintType.PERMIT, AlgorithmIdentifiers.EDDSA);

    private DetachedSignature() {
    }

    /** Signs {@code bytes}; the signature names the key. */
    public static String of(byte[] bytes, PrivateKey key) throws BadSignature {
        JsonWebSignature jws = new JsonWebSignature();
        jws.setAlgorithmConstraints(ED25519);
        jws.setAlgorithmHeaderValue(AlgorithmIdentifiers.EDDSA);
        jws.setKeyIdHeaderValue(Keys.id(Keys.publicHalf(key)));
        jws.setPayloadBytes(bytes);
        jws.setKey(key);
        try {
            return jws.getDetachedContentCompactSerialization();
        } catch (JoseException e) {
            throw new BadSignature("it cannot be signed: " + e.getMessage());
        }
    }

    /**
     * Whose signature of {@code bytes} it is.
     *
     * @param name      of what was signed, for messages
     * @param signature the text of its signature
     * @param trusted   who is believed
     * @param trustedIn where those keys are, for messages
     * @throws BadSignature it is none, not of these bytes, or nobody's of these
     */
    public static PublicKey verify(String name, byte[] bytes, String signature, List<PublicKey> trusted, String trustedIn) throws BadSignature {
        String text = signature.strip();
        String[] parts = text.split("\\.", -1);
        if (parts.length != 3 || !parts[1].isEmpty()) {
            throw new BadSignature(name + ENDING + " is no detached signature (header..signature); sign " + name + " again: java -jar klock.jar sign --key PRIVATE " + name);
        }
        String id = null;
        String payload = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        for (PublicKey key : trusted) {
            JsonWebSignature jws = new JsonWebSignature();
            jws.setAlgorithmConstraints(ED25519);
            try {
                jws.setCompactSerialization(text);
                jws.setEncodedPayload(payload);
                jws.setKey(key);
                id = jws.getKeyIdHeaderValue();
                if (jws.verifySignature()) {
                    return key;
                }
            } catch (JoseException e) {
                throw new BadSignature(name + ENDING + " is no Ed25519 signature: " + e.getMessage().replace('\n', ' '));
            }
            if (Keys.id(key).equals(id)) {
                throw new BadSignature(name + " is not what was signed (" + name + ENDING + "): it was changed since; look at the change, and sign it again");
            }
        }
        throw new BadSignature(name + " is signed by key " + (id == null ? "of no name" : id) + ", or was changed since; trusted are those in " + trustedIn + " (" + ids(trusted) + ")");
    }

    private static String ids(List<PublicKey> keys) {
        StringBuilder ids = new StringBuilder();
        for (PublicKey key : keys) {
            ids.append(ids.length() == 0 ? "" : ", ").append(Keys.id(key));
        }
        return ids.toString();
    }
}
