package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.backup.Recovery;
import dev.klock.agent.backup.RollbackReport;
import dev.klock.agent.backup.Store;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.Mode;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Advice;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
            results = Recovery.run(at, session == null ? null : Stored.session(session, at, files).id(), true, files, progress, found -> {
                progress.end();
                print(found, at, files);
            });
        } finally {
            progress.end();
        }
        List<String> halfUndone = halfUndone(at, files);
        if (results.isEmpty() && (json || halfUndone.isEmpty())) {
            print(results, at, files);
        }
        for (String id : halfUndone) {
            terminal.complain("session " + id + " has ended, and an undo of it was interrupted, which is not finished here; go on with it: "
                    + Advice.line("undo", id, directory, null));
        }
        if (!halfUndone.isEmpty()) {
            return ExitCode.FAILED;
        }
        for (Recovery.Result result : results) {
            if (!result.complete()) {
                return ExitCode.FAILED;
            }
        }
        return ExitCode.OK;
    }

    private void print(List<Recovery.Result> results, Path at, HostFiles files) throws IOException {
        List<String> gone = session == null ? withoutImages(at, files) : List.of();
        if (json) {
            printJson(generator -> write(generator, results, gone));
        } else {
            for (Recovery.Result result : results) {
                terminal.line(advised(result.line()));
                if (result.report() != null) {
                    for (RollbackReport.Entry entry : result.report().conflicts()) {
                        terminal.line("  not rolled back: " + advised(entry.line()));
                    }
                    for (RollbackReport.Entry entry : result.report().notes()) {
                        if (!entry.isWhole()) {
                            terminal.line("  rolled back, but not whole: " + entry.line());
                        }
                    }
                    if (result.report().count(RollbackReport.Outcome.FAILED) > 0) {
                        terminal.line("  what failed is tried again by: " + Advice.line("recover", result.sessionId(), directory, null));
                    }
                    if (result.report().isObstructed()) {
                        terminal.line("  what cannot come back has something in its way that stays, forced or not; take that away, then: " + Advice.line("undo", result.sessionId(), directory, null));
                    }
                    if (result.report().isForceOfUse()) {
                        terminal.line("  what others changed is put back all the same, and theirs set aside, by: "
                                + Advice.line("undo --force", result.sessionId(), directory, null));
                    }
                    for (RollbackReport.Entry entry : result.report().displaced()) {
                        terminal.line("  what was there when it crashed: " + entry.name() + " is in " + entry.aside());
                    }
                    if (result.report().displacedLine() != null) {
                        terminal.line("  " + result.report().displacedLine());
                    }
                }
            }
            for (String id : gone) {
                terminal.line("session " + id + " crashed, and there are no images of it in " + at.resolve("backups")
                        + ": they were pruned after its rollback, or removed; what it changed is in log/" + id + ".jsonl, and there is nothing to put it back from");
            }
            if (results.isEmpty() && gone.isEmpty()) {
                terminal.line("no session crashed");
            }
        }
        // only what is out is told
        terminal.out.flush();
    }

    /** The strict sessions that have a log without an end, and no images: the log is all there is of them. */
    private static List<String> withoutImages(Path home, HostFiles files) throws IOException {
        Set<String> stored = new HashSet<>();
        for (Store.Session s : Store.sessions(home, files)) {
            stored.add(s.id());
        }
        List<String> gone = new ArrayList<>();
        for (SessionRecord record : SessionRecord.all(home)) {
            String id = SessionClaim.fileName(record.id);
            if (record.isCrashed() && Mode.STRICT.word().equals(record.mode) && !stored.contains(id)) {
                gone.add(record.id);
            }
        }
        return gone;
    }

    /** What an undo was to put back, and which part of it, only whoever asked for it can say. */
    private List<String> halfUndone(Path home, HostFiles files) throws IOException {
        List<String> ids = new ArrayList<>();
        for (Store.Session s : Store.sessions(home, files)) {
            if (s.halfUndone() && !s.live() && s.elsewhere() == null && (session == null || session.equals(s.id()))) {
                ids.add(s.id());
            }
        }
        return ids;
    }

    private static void write(JsonGenerator json, List<Recovery.Result> results, List<String> gone) throws IOException {
        json.writeStartArray();
        for (Recovery.Result result : results) {
            json.writeStartObject();
            json.writeStringField("session_id", result.sessionId());
            json.writeBooleanField("complete", result.complete());
            json.writeStringField("failure", result.failure());
            json.writeBooleanField("rolled_back", result.report() != null);
            json.writeBooleanField("images", true);
            if (result.report() != null) {
                Reports.write(json, result.report(), result.report().damage());
            }
            json.writeEndObject();
        }
        for (String id : gone) {
            json.writeStartObject();
            json.writeStringField("session_id", id);
            json.writeBooleanField("rolled_back", false);
            json.writeBooleanField("images", false);
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
