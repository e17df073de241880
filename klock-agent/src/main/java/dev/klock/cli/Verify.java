package dev.klock.cli;

import dev.klock.agent.config.Launch;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.config.Vouched;
import dev.klock.agent.sign.Keys;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tells whether a manifest is what somebody trusted has signed. */
@Command(description = {"Tell whether a manifest is signed by one of the trusted keys, as a launch with require-signed=KEYS would.",
    "Exit code 2 if it is not."})
final class Verify extends Verb {
    @Parameters(arity = "0..1", paramLabel = "MANIFEST", description = "The manifest; by default the one a launch from here would find.")
    private String file;

    @Option(names = "--keys", paramLabel = "KEYS", description = "The trusted public keys, a PEM file; by default what require-signed says.")
    private String keys;

    Verify(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException {
        Given given = new Given(Given.argument(file, null, null), environment);
        given.manifest();
        String trusted = keys != null ? keys : given.options.text(dev.klock.agent.config.Option.REQUIRE_SIGNED);
        if (trusted == null) {
            throw new UsageException("by whose keys? give --keys KEYS, or require-signed (-Dklock.require-signed=, KLOCK_REQUIRE_SIGNED)");
        }
        String id = Keys.id(Vouched.by(given.manifestFile, Launch.bytes(given.manifestFile), environment.file(trusted)));
        terminal.line(given.manifestFile + " is signed by key " + id);
        return ExitCode.OK;
    }
}
