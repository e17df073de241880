package dev.klock.agent.sign;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Ed25519 keys in PEM files, as {@code openssl genpkey -algorithm ed25519} and {@code openssl pkey -pubout} write them. */
public final class Keys {
    private static final String ALGORITHM = "Ed25519";
    private static final int ID_BYTES = 12;
    private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----\\s+([A-Za-z0-9+/=\\s]+?)-----END \\1-----");

    private Keys() {
    }

    /** All public keys of the file {@code name}; at least one. */
    public static List<PublicKey> publicKeys(String name, byte[] pem) throws BadSignature {
        List<PublicKey> keys = new ArrayList<>();
        Matcher block = BLOCK.matcher(new String(pem, StandardCharsets.ISO_8859_1));
        while (block.find()) {
            if (!block.group(1).equals("PUBLIC KEY")) {
                throw new BadSignature(name + " has a " + block.group(1) + "; it may have public keys only: openssl pkey -in PRIVATE -pubout");
            }
            try {
                keys.add(KeyFactory.getInstance(ALGORITHM).generatePublic(new X509EncodedKeySpec(decoded(name, block.group(2)))));
            } catch (GeneralSecurityException e) {
                throw new BadSignature(name + ": key " + (keys.size() + 1) + " is no Ed25519 key");
            }
        }
        if (keys.isEmpty()) {
            throw new BadSignature(name + " has no public key in it (-----BEGIN PUBLIC KEY-----): openssl pkey -in PRIVATE -pubout");
        }
        return keys;
    }

    /** The private key of the file {@code name}. */
    public static PrivateKey privateKey(String name, byte[] pem) throws BadSignature {
        Matcher block = BLOCK.matcher(new String(pem, StandardCharsets.ISO_8859_1));
        if (!block.find() || !block.group(1).equals("PRIVATE KEY")) {
            throw new BadSignature(name + " has no private key in it (-----BEGIN PRIVATE KEY-----, not encrypted): openssl genpkey -algorithm ed25519");
        }
        try {
            return KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(decoded(name, block.group(2))));
        } catch (GeneralSecurityException e) {
            throw new BadSignature(name + " is no Ed25519 key");
        }
    }

    /** The public half of an Ed25519 private key. */
    public static PublicKey publicHalf(PrivateKey key) {
        byte[] secret = ((EdECPrivateKey) key).getBytes().orElseThrow();
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(ALGORITHM);
            // the JDK takes what is random for the secret, and calculates the other half
            generator.initialize(NamedParameterSpec.ED25519, new SecureRandom() {
                private static final long serialVersionUID = 1L;

                @Override
                public void nextBytes(byte[] bytes) {
                    System.arraycopy(secret, 0, bytes, 0, bytes.length);
                }
            });
            return generator.generateKeyPair().getPublic();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JVM has no Ed25519", e);
        }
    }

    /** A short name of a public key: the same for the same key, another one for another. */
    public static String id(PublicKey key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(key.getEncoded());
            return Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(hash, ID_BYTES));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JVM has no SHA-256", e);
        }
    }

    private static byte[] decoded(String name, String base64) throws BadSignature {
        try {
            return Base64.getMimeDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new BadSignature(name + " is no PEM file: " + e.getMessage());
        }
    }
}
