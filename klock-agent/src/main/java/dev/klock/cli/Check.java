package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchVariables;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Escapes;
import dev.klock.agent.log.Messages;
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

    @Parameters(index = "0", paramLabel = "PREDICATE", description = "PROVIDES, CONSUMES, MUTATES, DELETES, DEPENDS_ON or RENAMES.")
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
        Manifest manifest = agent(given.manifest());
        Resource about = resource(new LaunchVariables(environment, given.manifestFile.getAbsoluteFile().getParentFile()));
        Judge.Answer answer = new Judge(given, manifest, environment).decide(asked, about);
        if (json) {
            printJson(generator -> write(generator, asked, manifest, answer));
        } else if (answer.allowed()) {
            terminal.out.println(terminal.good("allowed") + " by " + Escapes.line(reason(manifest, answer)));
        } else {
            terminal.out.println(terminal.bad("not allowed"));
            String why = answer.by == Judge.By.PROTECTED ? Messages.ownFile(null, asked, answer.resource)
                    : Messages.violation(null, answer.predicate, answer.resource, null, answer.declared, answer.line, answer.nearest, manifest.file());
            boolean process = answer.resource.scheme().equals("PROCESS");
            terminal.out.println(about.scheme().equals("PROCESS") && !process ? why + (answer.by == Judge.By.DENY ? Messages.EFFECTS_BESIDE_DENY : Messages.NO_EFFECTS)
                    : process && asked == Predicate.PROVIDES && answer.by == Judge.By.NOTHING ? why + Messages.effects(answer.resource) : why);
        }
        return answer.allowed() ? ExitCode.OK : ExitCode.VIOLATIONS;
    }

    private Manifest agent(Manifest manifest) throws UsageException {
        Manifest one = manifest.agent(agent);
        if (one == null) {
            throw new UsageException(manifest.file() + " has no agent " + Escapes.line(agent) + "; it has " + manifest.agentIds());
        }
        return one;
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

    private static String reason(Manifest manifest, Judge.Answer answer) {
        switch (answer.by) {
            case ANCESTOR:
                return "being above something declared";
            case BASELINE:
                return "baseline: the JVM reads it for itself";
            default:
                return manifest.file() + ":" + answer.line.line() + ": " + answer.line;
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
        json.writeEndObject();
    }
}
