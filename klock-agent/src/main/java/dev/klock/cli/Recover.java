package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.backup.Recovery;
import dev.klock.agent.backup.RollbackReport;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Finishes what crashed sessions left (C45). */
@Command(description = "Finish the rollback of sessions that crashed. The next start under klock does the same by itself.")
final class Recover extends Verb {
    private final Instrumentation instrumentation;

    @Option(names = "--session", paramLabel = "ID", description = "Only this one; by default every crashed session of the home.")
    private String session;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Recover(Terminal terminal, LaunchEnvironment environment, Instrumentation instrumentation) {
        super(terminal, environment);
        this.instrumentation = instrumentation;
    }

    @Override
    public Integer call() throws UsageException, IOException {
        Home home = home(directory);
        HostFiles files = Host.files(instrumentation, environment);
        Path at = home.directory().toPath();
        Progress progress = new Progress(terminal, "recover");
        List<Recovery.Result> results;
        try {
            results = Recovery.run(at, session == null ? null : Stored.session(session, at, files), true, files, progress);
        } finally {
            progress.end();
        }
        if (json) {
            printJson(generator -> write(generator, results));
        } else {
            for (Recovery.Result result : results) {
                terminal.line(result.line());
                if (result.report() != null) {
                    for (RollbackReport.Entry entry : result.report().conflicts()) {
                        terminal.line("  not rolled back: " + entry.line());
                    }
                    for (RollbackReport.Entry entry : result.report().notes()) {
                        if (!entry.isWhole()) {
                            terminal.line("  rolled back, but not whole: " + entry.line());
                        }
                    }
                    if (result.report().count(RollbackReport.Outcome.FAILED) > 0) {
                        terminal.line("  what failed is tried again by: java -jar klock.jar recover --session " + result.sessionId());
                    }
                    if (result.report().count(RollbackReport.Outcome.KEPT_THEIRS) > 0) {
                        terminal.line("  what others changed is put back all the same, and theirs set aside, by: java -jar klock.jar undo --force --session "
                                + result.sessionId());
                    }
                    for (RollbackReport.Entry entry : result.report().displaced()) {
                        terminal.line("  what was there when it crashed: " + entry.name() + " is in " + entry.aside());
                    }
                }
            }
            if (results.isEmpty()) {
                terminal.line("no session crashed");
            }
        }
        for (Recovery.Result result : results) {
            if (!result.complete()) {
                return ExitCode.FAILED;
            }
        }
        return ExitCode.OK;
    }

    private static void write(JsonGenerator json, List<Recovery.Result> results) throws IOException {
        json.writeStartArray();
        for (Recovery.Result result : results) {
            json.writeStartObject();
            json.writeStringField("session_id", result.sessionId());
            json.writeBooleanField("complete", result.complete());
            json.writeStringField("failure", result.failure());
            json.writeBooleanField("rolled_back", result.report() != null);
            if (result.report() != null) {
                Reports.write(json, result.report());
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
