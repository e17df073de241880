package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.audit.Audit;
import dev.klock.agent.audit.AuditResult;
import dev.klock.agent.audit.RowCheck;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.log.Release;
import dev.klock.agent.weave.Hook;
import dev.klock.agent.weave.HookTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Says whether klock holds on this JVM. */
@Command(description = {"Say whether klock's hooks hold on this Java: install them in a child JVM and knock on every door.",
    "Exit code 2 if any does not."})
final class Doctor extends Verb {
    @Option(names = "--audit", description = "Read every class of this Java instead, and count calls without a hook and natives nobody has judged.")
    private boolean audit;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Doctor(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws IOException {
        HookTable table = HookTable.forRelease(Runtime.version().feature());
        return audit ? audit(table) : examine(table);
    }

    private int audit(HookTable table) throws IOException {
        AuditResult result = Audit.ofThisJdk();
        if (json) {
            printJson(generator -> write(generator, table, result));
        } else {
            head(table);
            for (String row : result.unmatchedRows()) {
                terminal.line(terminal.bad("no method matches ") + row);
            }
            for (String caller : result.unhookedCallers()) {
                terminal.line(terminal.bad("no hook: ") + caller);
            }
            for (String one : result.unclassifiedNatives()) {
                terminal.line(terminal.bad("not judged: ") + one);
            }
            terminal.line(result.toString());
        }
        return result.passed() ? ExitCode.OK : ExitCode.USAGE;
    }

    /** What the doors answered. */
    private static final class Findings {
        int denied;
        /** Doors that no call can be stopped at: they only look on, or a step before them always decides. */
        final List<String> onlyWoven = new ArrayList<>();
        final List<String> failed = new ArrayList<>();
    }

    private int examine(HookTable table) throws IOException {
        RowCheck check = RowCheck.ofThisJvm(table);
        LiveProbes probes = LiveProbes.run(environment);
        Findings findings = new Findings();
        for (String row : check.unmatched()) {
            findings.failed.add("no method matches " + row);
        }
        if (probes.refusal() != null) {
            findings.failed.add("klock does not hold in a child JVM: " + probes.refusal());
        }
        for (Hook hook : check.matched()) {
            String outcome = probes.outcome(hook);
            if (outcome == null) {
                if (hook.door) {
                    findings.onlyWoven.add(hook.toString());
                }
            } else if (!outcome.equals("denied")) {
                findings.failed.add(hook + " " + outcome);
            } else if (hook.door) {
                findings.denied++;
            }
        }
        if (json) {
            printJson(generator -> write(generator, table, check, findings));
        } else {
            head(table);
            terminal.line("rows: " + table.hooks().size() + " for this release, " + check.matched().size() + " matched, "
                    + check.absent().size() + " absent, " + check.classes() + " classes woven");
            for (String failure : findings.failed) {
                terminal.line(terminal.bad("failed: ") + failure);
            }
            terminal.line("doctor: " + findings.denied + " doors denied live, " + findings.onlyWoven.size() + " woven only, "
                    + findings.failed.size() + " failed");
        }
        return findings.failed.isEmpty() ? ExitCode.OK : ExitCode.USAGE;
    }

    private void head(HookTable table) {
        terminal.line("klock " + Release.VERSION + " on " + environment.property("os.name") + " " + environment.property("os.version") + " "
                + environment.property("os.arch"));
        terminal.line("java " + environment.property("java.runtime.version") + ", " + environment.property("java.vm.name") + ", "
                + environment.property("java.vendor") + ", " + environment.property("java.home"));
        terminal.line("hook table of Java " + table.release()
                + (table.isListed() ? "" : ", the nearest to this one: klock starts here only if the audit passes"));
    }

    private void writeHead(JsonGenerator generator, HookTable table) throws IOException {
        generator.writeStringField("klock", Release.VERSION);
        generator.writeStringField("system", environment.property("os.name") + " " + environment.property("os.version"));
        generator.writeStringField("machine", environment.property("os.arch"));
        generator.writeStringField("java", environment.property("java.runtime.version"));
        generator.writeStringField("vm", environment.property("java.vm.name"));
        generator.writeStringField("vendor", environment.property("java.vendor"));
        generator.writeStringField("java_home", environment.property("java.home"));
        generator.writeNumberField("table", table.release());
        generator.writeBooleanField("listed", table.isListed());
    }

    private void write(JsonGenerator generator, HookTable table, AuditResult result) throws IOException {
        generator.writeStartObject();
        writeHead(generator, table);
        generator.writeNumberField("rows", result.rows());
        generator.writeNumberField("absent", result.absentRows());
        generator.writeNumberField("classes", result.classes());
        generator.writeNumberField("natives", result.natives());
        generator.writeNumberField("doors", result.doors());
        generator.writeNumberField("callers", result.callers());
        list(generator, "unmatched_rows", result.unmatchedRows());
        list(generator, "unhooked_callers", result.unhookedCallers());
        list(generator, "unclassified_natives", result.unclassifiedNatives());
        generator.writeNumberField("took_ms", result.tookMs());
        generator.writeBooleanField("passed", result.passed());
        generator.writeEndObject();
    }

    private void write(JsonGenerator generator, HookTable table, RowCheck check, Findings findings) throws IOException {
        generator.writeStartObject();
        writeHead(generator, table);
        generator.writeNumberField("rows", table.hooks().size());
        generator.writeNumberField("matched", check.matched().size());
        generator.writeNumberField("absent", check.absent().size());
        generator.writeNumberField("classes", check.classes());
        generator.writeNumberField("denied", findings.denied);
        list(generator, "woven_only", findings.onlyWoven);
        list(generator, "failed", findings.failed);
        generator.writeBooleanField("passed", findings.failed.isEmpty());
        generator.writeEndObject();
    }

    private static void list(JsonGenerator generator, String name, List<String> values) throws IOException {
        generator.writeArrayFieldStart(name);
        for (String value : values) {
            generator.writeString(value);
        }
        generator.writeEndArray();
    }
}
