package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.manifest.Manifest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import picocli.CommandLine.Command;

/** Prints the manifest's JSON Schema. */
@Command(description = "Print the JSON Schema of manifests, for editors and other tools.")
final class Schema extends Verb {
    private static final String RESOURCE = "manifest.schema.json";

    Schema(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws IOException {
        terminal.out.print(text());
        return ExitCode.OK;
    }

    private static String text() throws IOException {
        try (InputStream schema = Manifest.class.getResourceAsStream(RESOURCE)) {
            if (schema == null) {
                throw new IOException("the schema is missing from this build");
            }
            return new String(schema.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    /**
     * Puts the schema into the home, where editors of a manifest find it.
     *
     * @return what a manifest in {@code directory} calls it
     */
    static String beside(Path directory, Path home) throws IOException {
        Path schema = home.resolve(RESOURCE);
        String text = text();
        if (!Files.isRegularFile(schema, LinkOption.NOFOLLOW_LINKS) || !Files.readString(schema).equals(text)) {
            Path fresh = home.resolve("." + RESOURCE + "." + UUID.randomUUID());
            Files.writeString(fresh, text, StandardOpenOption.CREATE_NEW);
            Files.move(fresh, schema, StandardCopyOption.ATOMIC_MOVE);
        }
        return directory.relativize(schema).toString();
    }
}
