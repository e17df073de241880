package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.Option;
import dev.klock.agent.config.Origin;
import dev.klock.agent.config.UsageException;
import java.io.IOException;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Shows the settings a launch from here would have. */
@Command(description = "Show the settings that a launch from here would have.")
final class Config extends Verb {
    @Parameters(arity = "0..1", paramLabel = "KEY=VALUE,...", completionCandidates = Choices.AgentArguments.class, description = "The agent argument, as it would stand behind klock.jar=.")
    private String argument;

    @picocli.CommandLine.Option(names = "--show-origin", description = "Say where each value comes from.")
    private boolean showOrigin;

    @picocli.CommandLine.Option(names = "--json", description = "Answer in JSON, with origins.")
    private boolean json;

    Config(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException, IOException {
        Given given = new Given(argument, environment);
        LaunchOptions options = given.manifestFile == null ? given.options : given.options.withManifest(given.manifest());
        if (json) {
            printJson(generator -> write(generator, given, options));
            return ExitCode.OK;
        }
        for (Option option : Option.values()) {
            StringBuilder line = new StringBuilder(option.key()).append('=').append(value(option, given, options));
            if (showOrigin) {
                line.append("  (").append(origin(option, given, options)).append(')');
            }
            terminal.line(line.toString());
        }
        return ExitCode.OK;
    }

    private static String value(Option option, Given given, LaunchOptions options) {
        if (option == Option.MANIFEST) {
            return given.manifestFile == null ? "" : given.manifestFile.getPath();
        }
        if (option == Option.HOME) {
            return given.home.getPath();
        }
        String text = options.text(option);
        return text == null ? "" : text;
    }

    private static String origin(Option option, Given given, LaunchOptions options) {
        Origin origin = options.origin(option);
        switch (origin) {
            case PROPERTY:
                return origin.words() + " " + option.property();
            case ENVIRONMENT:
                return origin.words() + " " + option.variable();
            case DEFAULT:
                if (option == Option.MANIFEST) {
                    return given.manifestFile == null ? "none found" : "found";
                }
                if (option == Option.AGENT) {
                    return "the manifest's agent_id";
                }
                return option == Option.HOME ? given.manifestFile == null ? "in the working directory" : "beside the manifest" : origin.words();
            default:
                return origin.words();
        }
    }

    private static void write(JsonGenerator json, Given given, LaunchOptions options) throws IOException {
        json.writeStartObject();
        for (Option option : Option.values()) {
            json.writeObjectFieldStart(option.key());
            json.writeStringField("value", value(option, given, options));
            json.writeStringField("origin", options.origin(option).name().toLowerCase(Locale.ROOT));
            json.writeEndObject();
        }
        json.writeEndObject();
    }
}
