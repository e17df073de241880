package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.library.LibraryHooks;
import dev.klock.manifest.LibraryHook;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Setting;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Reads a manifest, says what it means here, and proves its tests. */
@Command(description = {"Read a manifest, say what it means on this machine, and prove its tests.",
    "Exit code 2 if it is invalid or one of its tests does not hold."})
final class Validate extends Verb {
    @Parameters(arity = "0..1", paramLabel = "MANIFEST", description = "The manifest; by default the one a launch from here would find.")
    private String file;

    @Option(names = "--agent", paramLabel = "ID", description = "The agent id that replaces the manifest's.")
    private String agent;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Validate(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException, IOException {
        Given given = new Given(Given.argument(file, null, agent), environment);
        Manifest manifest = given.manifest();
        LibraryHooks.requireMatchable(manifest);
        List<Line> failed = new ArrayList<>();
        Judge judge = new Judge(given, manifest, environment);
        for (Line test : manifest.testAllows()) {
            if (!judge.decide(test.predicate(), test.resource()).allowed()) {
                failed.add(test);
            }
        }
        int firstFailedDeny = failed.size();
        for (Line test : manifest.testDenies()) {
            if (judge.decide(test.predicate(), test.resource()).allowed()) {
                failed.add(test);
            }
        }
        List<String> warnings = new ArrayList<>(manifest.warnings());
        warnOfEffects(judge, manifest, warnings);
        for (Manifest one : manifest.agents()) {
            warnOfEffects(new Judge(given, one, environment), one, warnings);
        }
        if (json) {
            printJson(generator -> write(generator, manifest, warnings, failed));
        } else {
            print(manifest, warnings, failed, firstFailedDeny);
        }
        return failed.isEmpty() ? ExitCode.OK : ExitCode.USAGE;
    }

    private static void warnOfEffects(Judge judge, Manifest manifest, List<String> warnings) {
        for (Line line : manifest.scope()) {
            Judge.Answer missing = judge.missingForEffects(line);
            if (missing != null) {
                warnings.add(manifest.file() + ":" + line.line() + ":" + line.column() + ": " + line + " does not say what the program may touch, so"
                        + " to start it here " + missing.predicate + " " + missing.resource + " is needed, which "
                        + (missing.by == Judge.By.DENY ? missing.line + " (line " + missing.line.line() + ") denies;" : "no line allows;")
                        + " effects: [] says that it changes nothing");
            }
            Line denied = judge.deniedEffect(line);
            if (denied != null) {
                warnings.add(manifest.file() + ":" + line.line() + ":" + line.column() + ": the effects of " + line + " reach over what " + denied
                        + " (line " + denied.line() + ") denies: a program's own calls are not seen, so it can read that, and a change is found only when it is over");
            }
        }
    }

    private void print(Manifest manifest, List<String> warnings, List<Line> failed, int firstFailedDeny) {
        terminal.line(manifest.file() + ": agent " + manifest.agentId() + ", session "
                + (manifest.sessionId() == null ? "generated for each run" : manifest.sessionId()));
        printScope(manifest);
        for (Manifest one : manifest.agents()) {
            terminal.line("agent " + one.agentId() + ", a session of its own:");
            printScope(one);
        }
        if (!manifest.hooks().isEmpty()) {
            terminal.line("hooks:");
            for (LibraryHook hook : manifest.hooks()) {
                terminal.line("  " + hook.name() + ": " + hook.meaning() + "  (line " + hook.line() + ")");
            }
        }
        if (!manifest.settings().isEmpty()) {
            terminal.line("klock:");
            for (Setting setting : manifest.settings()) {
                terminal.line("  " + setting.key() + ": " + setting.value());
            }
        }
        for (String warning : warnings) {
            terminal.complain("warning: " + warning);
        }
        for (int i = 0; i < failed.size(); i++) {
            Line test = failed.get(i);
            terminal.complain(manifest.file() + ":" + test.line() + ":" + test.column() + ": test fails: " + test + " is "
                    + (i < firstFailedDeny ? "not allowed" : "allowed"));
        }
        int tests = manifest.testAllows().size() + manifest.testDenies().size();
        String count = tests + (tests == 1 ? " test" : " tests");
        if (failed.isEmpty()) {
            terminal.out.println(terminal.good("valid") + (tests == 0 ? ", without tests" : ", " + count + (tests == 1 ? " holds" : " hold")));
        } else {
            terminal.out.println(terminal.bad("invalid") + ", " + failed.size() + " of " + count + " not met");
        }
    }

    private void printScope(Manifest manifest) {
        print("scope", manifest.scope());
        print("deny", manifest.deny());
        print("leases", manifest.leases());
    }

    private void print(String title, List<Line> lines) {
        if (lines.isEmpty()) {
            return;
        }
        terminal.line(title + ":");
        for (Line line : lines) {
            StringBuilder text = new StringBuilder("  ").append(line);
            if (!line.resource().toString().equals(line.text())) {
                text.append("  <- ").append(line.text());
            }
            if (line.line() > 0) {
                text.append("  (line ").append(line.line()).append(')');
            }
            terminal.line(text.toString());
            if (line.effects() != null) {
                if (line.effects().isEmpty()) {
                    terminal.line("    effects: none");
                }
                for (Line effect : line.effects()) {
                    terminal.line("    effect " + effect);
                }
            } else if (line.resource().scheme().equals("PROCESS") && !title.equals("deny")) {
                terminal.line("    effects not declared: counts as MUTATES on the working directory and all below");
            }
        }
    }

    private static void write(JsonGenerator json, Manifest manifest, List<String> warnings, List<Line> failed) throws IOException {
        json.writeStartObject();
        json.writeStringField("file", manifest.file());
        json.writeBooleanField("valid", failed.isEmpty());
        json.writeStringField("agent_id", manifest.agentId());
        json.writeStringField("session_id", manifest.sessionId());
        if (manifest.priorityTimestamp() != Manifest.NO_TIMESTAMP) {
            json.writeNumberField("priority_timestamp", manifest.priorityTimestamp());
        }
        writeScope(json, manifest);
        json.writeArrayFieldStart("agents");
        for (Manifest one : manifest.agents()) {
            json.writeStartObject();
            json.writeStringField("agent_id", one.agentId());
            writeScope(json, one);
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeObjectFieldStart("hooks");
        for (LibraryHook hook : manifest.hooks()) {
            json.writeStringField(hook.name(), hook.meaning());
        }
        json.writeEndObject();
        json.writeObjectFieldStart("klock");
        for (Setting setting : manifest.settings()) {
            json.writeStringField(setting.key(), setting.value());
        }
        json.writeEndObject();
        json.writeNumberField("tests", manifest.testAllows().size() + manifest.testDenies().size());
        lines(json, "failed_tests", failed);
        json.writeArrayFieldStart("warnings");
        for (String warning : warnings) {
            json.writeString(warning);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void writeScope(JsonGenerator json, Manifest manifest) throws IOException {
        lines(json, "scope", manifest.scope());
        lines(json, "deny", manifest.deny());
        lines(json, "leases", manifest.leases());
    }

    private static void lines(JsonGenerator json, String name, List<Line> lines) throws IOException {
        json.writeArrayFieldStart(name);
        for (Line line : lines) {
            Lines.write(json, line);
        }
        json.writeEndArray();
    }
}
