package dev.klock.cli;

import dev.klock.agent.config.Home;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.ManifestLocator;
import dev.klock.agent.config.Option;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Escapes;
import dev.klock.manifest.Manifest;
import java.io.File;

/** The manifest and the home that a launch from here would have, with what the command line says of them. */
final class Given {
    final LaunchOptions options;
    /** Null if there is none. */
    final File manifestFile;
    final File home;
    private final LaunchEnvironment environment;

    /** {@code agentArgument} as behind {@code klock.jar=}; may be null or empty. */
    Given(String agentArgument, LaunchEnvironment environment) throws UsageException {
        this.environment = environment;
        options = LaunchOptions.read(agentArgument, environment);
        manifestFile = ManifestLocator.locate(options, environment);
        home = Home.locate(options, environment, manifestFile);
    }

    /** The agent argument for a manifest, a home and an agent id, each null if not given. */
    static String argument(String manifest, String home, String agent) {
        StringBuilder argument = new StringBuilder();
        add(argument, Option.MANIFEST, manifest);
        add(argument, Option.HOME, home);
        add(argument, Option.AGENT, agent);
        return argument.toString();
    }

    private static void add(StringBuilder argument, Option option, String value) {
        if (value != null) {
            argument.append(argument.length() == 0 ? "" : ",").append(LaunchOptions.argument(option, value));
        }
    }

    /** The manifest; there must be one, and its settings must be ones that a launch would take. */
    Manifest manifest() throws UsageException {
        if (manifestFile == null) {
            throw new UsageException(ManifestLocator.nowhere(environment) + "; name one");
        }
        Manifest manifest = Launch.readManifest(manifestFile, options, environment);
        options.withManifest(manifest);
        return manifest;
    }

    /** What {@code manifest} declares for the agent {@code id}; for the process itself, if that is null. */
    static Manifest agent(Manifest manifest, String id) throws UsageException {
        Manifest one = manifest.agent(id);
        if (one == null) {
            throw new UsageException(manifest.file() + " has no agent " + Escapes.line(id) + "; it has " + manifest.agentIds());
        }
        return one;
    }
}
