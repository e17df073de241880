package dev.klock.cli;

import dev.klock.agent.audit.Audit;
import dev.klock.agent.audit.AuditResult;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Says whether klock holds on this JVM. */
@Command(description = "Say whether klock's hooks hold on this JVM: install them in a child and knock on every door.")
final class Doctor extends Verb {
    @Option(names = "--audit", description = "Read every class of this JDK instead, and count calls without a hook and natives nobody has judged.")
    private boolean audit;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Doctor(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException, IOException {
        AuditResult result = Audit.ofThisJdk();
        for (String row : result.unmatchedRows()) {
            terminal.line("no method matches " + row);
        }
        for (String caller : result.unhookedCallers()) {
            terminal.line("unhooked: " + caller);
        }
        for (String one : result.unclassifiedNatives()) {
            terminal.line("unclassified: " + one);
        }
        terminal.line(result.toString());
        return result.passed() ? ExitCode.OK : ExitCode.USAGE;
    }
}
