package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.log.Release;
import dev.klock.agent.log.VerificationLog;
import dev.klock.manifest.Manifest;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prints versions: klock's, its formats', and this JVM's. */
@Command(description = "Print klock's version, those of its formats, and this JVM's.")
final class Version extends Verb {
    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Version(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws IOException {
        String java = environment.property("java.runtime.version");
        if (json) {
            printJson(generator -> write(generator, java));
        } else {
            terminal.line("klock " + Release.VERSION + " (manifest " + Manifest.VERSION + ", log " + VerificationLog.SCHEMA + ", home format "
                    + Home.FORMAT + ", java " + java + ")");
        }
        return ExitCode.OK;
    }

    private static void write(JsonGenerator json, String java) throws IOException {
        json.writeStartObject();
        json.writeStringField("klock", Release.VERSION);
        json.writeStringField("manifest", Manifest.VERSION);
        json.writeStringField("log", VerificationLog.SCHEMA);
        json.writeNumberField("home", Home.FORMAT);
        json.writeStringField("java", java);
        json.writeEndObject();
    }
}
