package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchVariables;
import dev.klock.agent.config.UsageException;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Variables;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tells whether a triple would be allowed, and by which line. */
@Command(description = {"Tell whether the manifest allows a triple, and which of its lines decides.",
    "Exit code 0 if it is allowed, 3 if it is not."})
final class Check extends Verb {
    private static final String PROCESS = "PROCESS:";

    @Parameters(index = "0", paramLabel = "PREDICATE", completionCandidates = Choices.Predicates.class, description = "PROVIDES, CONSUMES, MUTATES, DELETES, DEPENDS_ON or RENAMES.")
    private String predicate;

    @Parameters(index = "1", paramLabel = "RESOURCE", description = "Such as FILE:/etc/hosts, src/Main.java, PROCESS:/usr/bin/git or 'FILE:${workspace}/src/**'.")
    private String resource;

    @Option(names = {"-m", "--manifest"}, paramLabel = "MANIFEST", description = "The manifest; by default the one a launch from here would find.")
    private String file;

    @Option(names = "--agent", paramLabel = "ID", description = "One of the agents that the manifest declares; by default the process itself.")
    private String agent;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Check(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException, IOException {
        Predicate asked = predicate();
        Given given = new Given(Given.argument(file, null, null), environment);
        Manifest manifest = Given.agent(given.manifest(), agent);
        Resource about = resource(new LaunchVariables(environment, given.manifestFile.getAbsoluteFile().getParentFile()));
        Judge.Answer answer = new Judge(given, manifest, environment).decide(asked, about);
        if (json) {
            printJson(generator -> write(generator, asked, manifest, answer));
        } else {
            terminal.out.println((answer.allowed() ? terminal.good("allowed") + " by " : terminal.bad("not allowed") + "\n") + answer.text(manifest, asked, about));
        }
        return answer.allowed() ? ExitCode.OK : ExitCode.VIOLATIONS;
    }

    private Predicate predicate() throws UsageException {
        try {
            return Predicate.valueOf(predicate.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new UsageException("unknown predicate '" + predicate + "'; known are " + Arrays.toString(Predicate.values()).replaceAll("[\\[\\]]", ""));
        }
    }

    private Resource resource(LaunchVariables variables) throws UsageException {
        try {
            String text = Variables.expand(resource, variables);
            String program = text.startsWith(PROCESS) ? text.substring(PROCESS.length()) : "";
            boolean bare = !program.isEmpty() && program.indexOf('/') < 0 && program.indexOf('*') < 0;
            // as in a manifest: what PATH finds
            String found = bare ? variables.find(program) : null;
            return Resource.normalise(found == null ? text : PROCESS + found, environment.workingDirectory());
        } catch (IllegalArgumentException e) {
            throw new UsageException(e.getMessage());
        }
    }

    private static void write(JsonGenerator json, Predicate asked, Manifest manifest, Judge.Answer answer) throws IOException {
        json.writeStartObject();
        json.writeBooleanField("allowed", answer.allowed());
        json.writeStringField("predicate", answer.predicate.name());
        json.writeStringField("resource", answer.resource.toString());
        json.writeStringField("manifest", manifest.file());
        json.writeStringField("decided_by", answer.line != null ? manifest.file() + ":" + answer.line.line()
                : answer.by == Judge.By.NOTHING ? null : answer.by.name().toLowerCase(Locale.ROOT));
        json.writeFieldName("line");
        Lines.write(json, answer.line);
        json.writeArrayFieldStart("nearest");
        for (Line line : answer.nearest) {
            Lines.write(json, line);
        }
        json.writeEndArray();
        Lines.writeNames(json, "declared_by", answer.byAgents.keySet());
        json.writeEndObject();
    }
}
