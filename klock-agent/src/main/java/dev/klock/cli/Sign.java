package dev.klock.cli;

import dev.klock.agent.config.Launch;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.sign.BadSignature;
import dev.klock.agent.sign.DetachedSignature;
import dev.klock.agent.sign.Keys;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.PrivateKey;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Signs a manifest. */
@Command(description = {"Sign a manifest: the signature goes beside it, into MANIFEST.sig.",
    "A launch with require-signed=KEYS takes no manifest that is not signed by one of these keys.",
    "Keys are made by: openssl genpkey -algorithm ed25519 -out PRIVATE; openssl pkey -in PRIVATE -pubout -out KEYS"})
final class Sign extends Verb {
    @Parameters(arity = "0..1", paramLabel = "MANIFEST", description = "The manifest; by default the one a launch from here would find.")
    private String file;

    @Option(names = "--key", paramLabel = "PRIVATE", required = true, description = "The private key, a PEM file that is not encrypted.")
    private String key;

    Sign(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException, IOException {
        Given given = new Given(Given.argument(file, null, null), environment);
        given.manifest();
        byte[] source = Launch.bytes(given.manifestFile);
        File secret = environment.file(key);
        if (!secret.isFile()) {
            throw new UsageException("there is no key " + key);
        }
        try {
            PrivateKey mine = Keys.privateKey(key, Files.readAllBytes(secret.toPath()));
            String signature = DetachedSignature.of(source, mine);
            Path to = Path.of(given.manifestFile.getPath() + DetachedSignature.ENDING);
            if (Files.isDirectory(to)) {
                throw new UsageException(to + " is a directory, and the signature is to be there; move it away");
            }
            Path fresh = to.resolveSibling("." + to.getFileName() + "." + UUID.randomUUID());
            Files.writeString(fresh, signature + "\n", StandardOpenOption.CREATE_NEW);
            Files.move(fresh, to, StandardCopyOption.ATOMIC_MOVE);
            terminal.line(to + ": signed by key " + Keys.id(Keys.publicHalf(mine)));
            return ExitCode.OK;
        } catch (BadSignature e) {
            throw new UsageException(e.getMessage());
        }
    }
}
