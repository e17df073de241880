package dev.klock.cli;

import dev.klock.agent.backup.Backups;
import dev.klock.agent.backup.RollbackReport;
import dev.klock.agent.backup.Store;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Advice;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Puts back what a session changed. */
@Command(description = "Put back what a session changed. What others changed since stays, and the exit code is then 4; so it is where a session at work holds what would be put back, and then nothing is changed.")
final class Undo extends Verb {
    private final Instrumentation instrumentation;

    @Parameters(arity = "0..1", paramLabel = "PATH", description = "Only this file, or this directory and what is below, with what the session moved there; by default everything.")
    private String path;

    @Option(names = "--session", paramLabel = "ID", description = "Which session; by default the last one that changed something, if its journal can be read whole.")
    private String session;

    @Option(names = "--force", description = "Put back also what others changed since; theirs is kept in the session's directory, and named. Goes on, too, where a session at work holds it.")
    private boolean force;

    @Option(names = "--dry-run", description = "Only say what would be done.")
    private boolean dry;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Undo(Terminal terminal, LaunchEnvironment environment, Instrumentation instrumentation) {
        super(terminal, environment);
        this.instrumentation = instrumentation;
    }

    @Override
    public Integer call() throws UsageException, IOException {
        HostFiles files = Host.files(instrumentation, environment);
        Path home = home(directory).directory().toPath();
        Store.Session meant = Stored.session(session, home, files);
        byte[] only = Stored.path(path, home, meant.id(), files, environment);
        Progress progress = new Progress(terminal, "undo");
        try (Interruption interruption = new Interruption(progress)) {
            return undo(meant, home, files, only, progress, interruption);
        }
    }

    private int undo(Store.Session meant, Path home, HostFiles files, byte[] only, Progress progress, Interruption interruption)
            throws UsageException, IOException {
        String id = meant.id();
        RollbackReport report;
        try (UndoLeases leases = dry ? UndoLeases.none(terminal) : UndoLeases.take(home, id, only, force, files, terminal);
                Backups backups = Backups.reopen(home, id, files)) {
            report = backups.rollback(new dev.klock.agent.backup.Undo(only, force, dry, leases.over(interruption)));
        } catch (UndoLeases.Refused atWork) {
            terminal.complain(atWork.getMessage());
            return ExitCode.REFUSED;
        } catch (Store.Elsewhere copy) {
            terminal.complain(advised(copy.getMessage()));
            return ExitCode.REFUSED;
        } catch (Store.InUse running) {
            throw new UsageException("session " + id + " is in use: it still runs, or another undo or recover is at work on it; try again when that is over");
        } finally {
            progress.end();
        }
        boolean isPart = !dry && (interruption.isInterrupted() || report.count(RollbackReport.Outcome.NOT_REACHED) > 0);
        String damage = report.damage() == null ? meant.damage() : report.damage();
        if (path != null && damage == null && report.entries().isEmpty()) {
            throw new UsageException("session " + id + " changed nothing at or below " + path);
        }
        if (json) {
            printJson(generator -> {
                generator.writeStartObject();
                generator.writeStringField("session_id", id);
                generator.writeBooleanField("dry_run", dry);
                generator.writeBooleanField("complete", damage == null && !isPart && report.count(RollbackReport.Outcome.FAILED) == 0);
                Reports.write(generator, report, damage);
                generator.writeEndObject();
            });
        } else {
            int moved = 0;
            int others = 0;
            for (RollbackReport.Entry entry : report.entries()) {
                boolean isAsItWas = entry.outcome() == RollbackReport.Outcome.UNCHANGED || entry.outcome() == RollbackReport.Outcome.NOT_REACHED;
                boolean elsewhere = only != null && !Stored.isWithin(entry.path(), only) && !Stored.isWithin(only, entry.path());
                moved += elsewhere && !isAsItWas ? 1 : 0;
                others += entry.wouldSetAside() ? 1 : 0;
                if (!isAsItWas || entry.detail() != null) {
                    terminal.line(word(entry) + "  " + advised(entry.line()));
                }
            }
            if (moved > 0) {
                terminal.line(moved + " of these " + (moved == 1 ? "is" : "are") + " not below " + path + ": what the session moved from there comes back with it");
            }
            String done = dry ? " would be undone: " : isPart ? " is undone in part: " : " undone: ";
            terminal.line("session " + id + done + (report.damage() == null && damage != null ? damage + "; of what is known: " : "") + report.summary());
            if (others > 0) {
                terminal.line("of these " + others + (others == 1 ? " is" : " are") + " somebody else's work, which would give way; their files are kept, and named then");
            }
            if (report.displacedLine() != null) {
                terminal.line(report.displacedLine());
            }
            if (!dry && report.count(RollbackReport.Outcome.FAILED) > 0) {
                terminal.line("what failed is tried again by: " + Advice.line("undo", id, directory, path));
            }
            if (report.isObstructed()) {
                terminal.line("what cannot come back has something in its way that stays, forced or not; take that away, then: " + Advice.line("undo", id, directory, path));
            }
            if (!force && report.isForceOfUse()) {
                terminal.line("what was kept is put back all the same, and theirs set aside, by: " + Advice.line("undo --force", id, directory, path));
            }
        }
        if (isPart) {
            terminal.out.flush();
            terminal.complain("the undo was interrupted: no file is half put back, and the rest is as it was; go on with it: "
                    + Advice.line(force ? "undo --force" : "undo", id, directory, path));
            return interruption.isInterrupted() ? ExitCode.FAILED : ExitCode.REFUSED;
        }
        if (damage != null || report.count(RollbackReport.Outcome.FAILED) > 0) {
            return ExitCode.FAILED;
        }
        return report.count(RollbackReport.Outcome.KEPT_THEIRS) > 0 ? ExitCode.REFUSED : ExitCode.OK;
    }

    private static String word(RollbackReport.Entry entry) {
        return entry.outcome() == RollbackReport.Outcome.KEPT_THEIRS ? "kept" : entry.outcome().name().toLowerCase(Locale.ROOT);
    }
}
