package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.decide.Baseline;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Prints what any JVM may read without a line of a manifest. */
@Command(description = {"Print what this JVM itself may read without a line in a manifest, and why. Never for writing.",
    "A program's own class and module path count too; here they are klock's."})
final class BaselineVerb extends Verb {
    private static final String VARIABLE_REASON = "says where and in which language a program runs; a deny line goes before it";

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    BaselineVerb(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws IOException {
        Resolver resolver = new Resolver(new NioFiles(environment.workingDirectory()));
        Baseline baseline = Baseline.ofThisJvm(resolver, new Names(environment.property("sun.jnu.encoding")));
        if (json) {
            printJson(generator -> write(generator, baseline));
            return ExitCode.OK;
        }
        for (Baseline.Row row : baseline.rows()) {
            terminal.line(predicate(row) + " " + row.resource() + "  # " + row.reason());
        }
        for (String variable : Baseline.variables()) {
            terminal.line("CONSUMES " + variable(variable) + "  # " + VARIABLE_REASON);
        }
        return ExitCode.OK;
    }

    private static void write(JsonGenerator json, Baseline baseline) throws IOException {
        json.writeStartArray();
        for (Baseline.Row row : baseline.rows()) {
            json.writeStartObject();
            json.writeStringField("predicate", predicate(row));
            json.writeStringField("resource", row.resource());
            json.writeStringField("reason", row.reason());
            json.writeEndObject();
        }
        for (String variable : Baseline.variables()) {
            json.writeStartObject();
            json.writeStringField("predicate", "CONSUMES");
            json.writeStringField("resource", variable(variable));
            json.writeStringField("reason", VARIABLE_REASON);
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static String predicate(Baseline.Row row) {
        return row.isRead() ? "CONSUMES" : "DEPENDS_ON";
    }

    private static String variable(String name) {
        return name.endsWith("_") ? "ENV:" + name + "..." : "ENV:" + name;
    }
}
