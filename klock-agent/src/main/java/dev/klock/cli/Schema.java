package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.manifest.Manifest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Command;

/** Prints the manifest's JSON Schema. */
@Command(description = "Print the JSON Schema of manifests, for editors and other tools.")
final class Schema extends Verb {
    private static final String RESOURCE = "klis-1.schema.json";

    Schema(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws IOException {
        try (InputStream schema = Manifest.class.getResourceAsStream(RESOURCE)) {
            if (schema == null) {
                throw new IOException("the schema is missing from this build");
            }
            terminal.out.print(new String(schema.readAllBytes(), StandardCharsets.UTF_8));
        }
        return ExitCode.OK;
    }
}
