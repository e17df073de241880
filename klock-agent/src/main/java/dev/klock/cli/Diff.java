package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.backup.Backups;
import dev.klock.agent.backup.Store;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Compares what was there before a session with what is there now. */
@Command(description = "Show what a session changed: the images before it against what is there now.")
final class Diff extends Verb {
    /** Larger files are compared by size and hash only. */
    private static final long MAX_TEXT_BYTES = 4 << 20;

    private final Instrumentation instrumentation;

    @Parameters(arity = "0..1", paramLabel = "PATH", description = "Only this file, or this directory and what is below.")
    private String path;

    @Option(names = "--session", paramLabel = "ID", description = "Which session; by default the last one that changed something, if its journal can be read whole.")
    private String session;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Diff(Terminal terminal, LaunchEnvironment environment, Instrumentation instrumentation) {
        super(terminal, environment);
        this.instrumentation = instrumentation;
    }

    @Override
    public Integer call() throws UsageException, IOException {
        HostFiles files = Host.files(instrumentation, environment);
        Path home = home(directory).directory().toPath();
        Store.Session meant = Stored.session(session, home, files);
        String id = meant.id();
        byte[] only = Stored.path(path, home, id, files, environment);
        List<Difference> found = new ArrayList<>();
        boolean known = false;
        String damage = meant.damage();
        try (Backups backups = Backups.readHere(home, id, files)) {
            damage = damage == null ? backups.damage() : damage;
            for (Backups.Image image : backups.images()) {
                if (image.touched() && (only == null || Stored.isWithin(image.path(), only))) {
                    known = true;
                    Difference d = Difference.sinceBefore(backups, image, files, MAX_TEXT_BYTES);
                    if (d != null) {
                        found.add(d);
                    }
                }
            }
        } catch (Store.Elsewhere copy) {
            terminal.complain(advised(copy.getMessage()));
            return ExitCode.REFUSED;
        }
        if (damage != null) {
            terminal.complain("session " + id + ": " + damage + "; what is not known of it any more is not compared");
        }
        if (path != null && !known && damage == null) {
            throw new UsageException("session " + id + " changed nothing at or below " + path);
        }
        if (json) {
            String missing = damage;
            printJson(generator -> write(generator, id, missing, found));
            return damage == null ? ExitCode.OK : ExitCode.FAILED;
        }
        if (found.isEmpty() && damage == null) {
            terminal.line("nothing differs from what it was before session " + id);
        }
        for (Difference d : found) {
            terminal.line(d.change + " " + d.name + (d.lines.isEmpty() ? ": " + d.was + " -> " + d.is : d.beside.isEmpty() ? "" : ": " + d.beside));
            terminal.diff(d.head);
            terminal.diff(d.lines);
        }
        return damage == null ? ExitCode.OK : ExitCode.FAILED;
    }

    private static void write(JsonGenerator json, String id, String damage, List<Difference> found) throws IOException {
        json.writeStartObject();
        json.writeStringField("session_id", id);
        json.writeStringField("damage", damage);
        json.writeArrayFieldStart("paths");
        for (Difference d : found) {
            json.writeStartObject();
            json.writeStringField("path", d.exactName);
            json.writeStringField("change", d.change);
            json.writeStringField("was", d.was);
            json.writeStringField("is", d.is);
            json.writeStringField("diff", d.lines.isEmpty() ? null : String.join("\n", d.lines) + "\n");
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
