package dev.klock.agent.config;

import dev.klock.agent.sign.BadSignature;
import dev.klock.agent.sign.DetachedSignature;
import dev.klock.agent.sign.Keys;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.PublicKey;
import java.util.List;

/** Whether a manifest is signed by somebody whom the launch trusts (K1-17). */
public final class Vouched {
    private static final int MAX_KEYS_BYTES = 1 << 20;

    private Vouched() {
    }

    /** If the launch asks for it, the manifest {@code file}, of which {@code source} was read, must be signed. */
    static void require(File file, byte[] source, LaunchOptions options, LaunchEnvironment environment) throws UsageException {
        String trusted = options.text(Option.REQUIRE_SIGNED);
        if (trusted != null) {
            by(file, source, environment.file(trusted));
        }
    }

    /** Where a link lies counts as well: whoever may write it leads it elsewhere. */
    private static boolean isWithin(String path, String directory) {
        return (path + "/").startsWith(directory.endsWith("/") ? directory : directory + "/");
    }

    /**
     * By whose key the manifest {@code file} is signed.
     *
     * @param source what was read of it
     * @param trusted the file with the keys, which must not lie beside or below the manifest
     * @throws UsageException nobody's of these, or that cannot be told
     */
    public static PublicKey by(File file, byte[] source, File trusted) throws UsageException {
        try {
            String workspace = file.getCanonicalFile().getParent();
            String named = new File(trusted.getAbsoluteFile().getParentFile().getCanonicalFile(), trusted.getName()).getPath();
            if (isWithin(trusted.getCanonicalPath(), workspace) || isWithin(named, workspace)) {
                throw new UsageException("the trusted keys " + trusted + " lie in the workspace " + workspace
                        + ", where whoever writes the manifest may write them, too; keep them elsewhere");
            }
            List<PublicKey> keys = Keys.publicKeys(trusted.getPath(), bytes(trusted, "the trusted keys", MAX_KEYS_BYTES));
            File signature = new File(file.getPath() + DetachedSignature.ENDING);
            if (!signature.exists()) {
                throw new UsageException("manifest " + file + " is not signed: there is no " + signature + "; sign it: java -jar klock.jar sign --key PRIVATE " + file);
            }
            String text = new String(bytes(signature, "the signature", DetachedSignature.MAX_BYTES), StandardCharsets.ISO_8859_1);
            return DetachedSignature.verify(file.getPath(), source, text, keys, trusted.getPath());
        } catch (BadSignature e) {
            throw new UsageException(e.getMessage());
        } catch (IOException e) {
            throw new UsageException("whether " + file + " is signed cannot be told: " + Home.reason(e));
        }
    }

    private static byte[] bytes(File file, String what, int most) throws UsageException {
        try (InputStream in = new FileInputStream(file)) {
            byte[] bytes = in.readNBytes(most + 1);
            if (bytes.length > most) {
                throw new UsageException(what + " " + file + " cannot be that: it is longer than " + most + " bytes");
            }
            return bytes;
        } catch (IOException e) {
            throw new UsageException(what + " " + file + " cannot be read: " + Home.reason(e));
        }
    }
}
