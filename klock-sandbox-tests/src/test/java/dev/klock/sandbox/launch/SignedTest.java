package dev.klock.sandbox.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.klock.sandbox.jvm.Child;
import dev.klock.sandbox.jvm.Jdk;
import dev.klock.sandbox.jvm.Outcome;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Base64;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A launch that asks for signed manifests takes no other. */
@Tag("K1-17")
class SignedTest {
    @TempDir
    Path directory;
    @TempDir
    Path elsewhere;

    private Path key(String name) throws IOException, GeneralSecurityException {
        KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
        pem(elsewhere.resolve(name), "PRIVATE KEY", pair.getPrivate().getEncoded());
        return pem(elsewhere.resolve(name + ".pub"), "PUBLIC KEY", pair.getPublic().getEncoded());
    }

    private static Path pem(Path file, String what, byte[] encoded) throws IOException {
        return Files.writeString(file, "-----BEGIN " + what + "-----\n" + Base64.getEncoder().encodeToString(encoded) + "\n-----END " + what + "-----\n");
    }

    private Outcome start(Jdk jdk, Workspace workspace, Path keys, String more) {
        return workspace.bare(jdk, "read w/in/a").klock("require-signed=" + keys + more).run();
    }

    private static void assertDoesNotStart(Outcome outcome, String why) {
        assertThat(outcome.exit()).as(outcome.toString()).isEqualTo(2);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).contains(why).hasLineCount(1);
    }

    @ParameterizedTest
    @MethodSource("dev.klock.sandbox.jvm.Jdks#each")
    void launch_thatRequiresASignature_takesWhatWasSigned_andNothingElse(Jdk jdk) throws Exception {
        Workspace workspace = Workspace.in(directory);
        Path keys = key("mine");
        Path others = key("others");
        Path manifest = workspace.root().resolve("klock.yaml");
        Path signature = workspace.root().resolve("klock.yaml.sig");
        assertThat(start(jdk, workspace, keys, "").exit()).as("no manifest").isEqualTo(2);
        assertThat(start(jdk, workspace, keys, ",mode=learn").exit()).as("no manifest").isEqualTo(2);
        Files.writeString(manifest, workspace.manifest());

        assertDoesNotStart(start(jdk, workspace, keys, ""), "is not signed");
        Path occupied = Files.createDirectory(manifest.resolveSibling(manifest.getFileName() + ".sig"));
        Outcome inTheWay = Child.on(jdk).in(workspace.root()).verb("sign", "--key", elsewhere.resolve("mine").toString()).run();
        assertThat(inTheWay.exit()).isEqualTo(2);
        assertThat(inTheWay.err()).contains("is a directory, and the signature is to be there").hasLineCount(1);
        Files.delete(occupied);
        assertThat(Child.on(jdk).in(workspace.root()).verb("sign", "--key", elsewhere.resolve("mine").toString()).run().exit()).isZero();
        for (String more : new String[] {"", ",mode=permissive", ",mode=learn"}) {
            Outcome signed = start(jdk, workspace, keys, more);
            assertThat(signed.exit()).as(signed.toString()).isZero();
        }
        assertThat(Child.on(jdk).in(workspace.root()).verb("verify", "--keys", keys.toString()).run().exit()).isZero();
        assertDoesNotStart(start(jdk, workspace, others, ""), "is signed by key ");

        byte[] bytes = Files.readAllBytes(manifest);
        bytes[bytes.length - 2] ^= 1;
        Files.write(manifest, bytes);
        assertDoesNotStart(start(jdk, workspace, keys, ""), "is not what was signed");
        assertThat(Child.on(jdk).in(workspace.root()).verb("verify", "--keys", keys.toString()).run().exit()).isEqualTo(2);
        bytes[bytes.length - 2] ^= 1;
        Files.write(manifest, bytes);

        byte[] sig = Files.readAllBytes(signature);
        Files.delete(signature);
        assertDoesNotStart(start(jdk, workspace, keys, ""), "is not signed");
        Files.write(signature, "garbage".getBytes(StandardCharsets.UTF_8));
        assertDoesNotStart(start(jdk, workspace, keys, ""), "is no detached signature");
        Files.write(signature, sig);
        Path inside = Files.copy(keys, workspace.root().resolve("w/keys"));
        assertDoesNotStart(start(jdk, workspace, inside, ""), "lie in the workspace");
        assertDoesNotStart(start(jdk, workspace, elsewhere.resolve("none"), ""), "cannot be read");
        Files.writeString(manifest, workspace.manifest() + "klock: {require-signed: x}\n");
        assertDoesNotStart(workspace.bare(jdk, "read w/in/a").klock("").run(), "require-signed");
    }
}
