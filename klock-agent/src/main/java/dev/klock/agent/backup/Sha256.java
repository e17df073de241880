package dev.klock.agent.backup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;

/**
 * SHA-256 from the JDK's own provider where there is one, so that a provider the program installs is not run inside a hook. Asked for when
 * the first image is taken, or before (JCA start-up costs tens of milliseconds); later digests are clones of a prototype. Made by no initialiser: an
 * error that leaves one, for want of memory, say, would make hashing impossible until the JVM ends.
 */
final class Sha256 {
    static final int LENGTH = 32;
    private static volatile MessageDigest prototype;

    private Sha256() {
    }

    private static MessageDigest create() {
        try {
            return MessageDigest.getInstance("SHA-256", "SUN");
        } catch (GeneralSecurityException noSun) {
            try {
                return MessageDigest.getInstance("SHA-256");
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("this JVM has no SHA-256", e);
            }
        }
    }

    /** Has the JDK load what it needs for it. */
    static void prepare() {
        if (prototype == null) {
            prototype = create();
        }
    }

    /** A fresh digest, for one thread. */
    static MessageDigest digest() {
        prepare();
        try {
            return (MessageDigest) prototype.clone();
        } catch (CloneNotSupportedException e) {
            return create();
        }
    }

    /** The digest of a regular file's content, links not followed. The caller has made sure that it is a regular file. */
    static byte[] of(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            return of(in);
        }
    }

    /** The digest of a regular file. */
    static byte[] of(Held file) throws IOException {
        try (InputStream in = file.read()) {
            return of(in);
        }
    }

    private static byte[] of(InputStream in) throws IOException {
        MessageDigest digest = digest();
        byte[] buffer = new byte[1 << 16];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            digest.update(buffer, 0, n);
        }
        return digest.digest();
    }
}
