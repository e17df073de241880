package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.backup.Backups;
import dev.klock.agent.backup.Store;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Summary;
import dev.klock.agent.resolve.Names;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Lists the sessions of a home: those that it has the logs of, and those of which only images are left. */
@Command(description = "List the sessions of a home: what was decided in each and how it ended, the newest last.")
final class Sessions extends Verb {
    private static final String[] PUT_ASIDE = {"displaced", "aside"};

    private final Instrumentation instrumentation;
    private final Map<String, Store.Session> images = new HashMap<>();
    private Path home;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Sessions(Terminal terminal, LaunchEnvironment environment, Instrumentation instrumentation) {
        super(terminal, environment);
        this.instrumentation = instrumentation;
    }

    @Override
    public Integer call() throws UsageException, IOException {
        home = home(directory).directory().toPath();
        for (Store.Session session : Stored.sessions(home, Host.files(instrumentation, environment))) {
            images.put(session.id(), session);
        }
        List<SessionRecord> sessions = SessionRecord.all(home);
        for (Store.Session stored : images.values()) {
            boolean told = sessions.stream().anyMatch(session -> SessionClaim.fileName(session.id).equals(stored.id()));
            if (!told && (stored.startedMs() != 0 || stored.damage() != null)) {
                sessions.add(SessionRecord.withoutLog(stored.id(), stored.startedMs()));
            }
        }
        sessions.sort(Comparator.comparing((SessionRecord session) -> session.started == null ? "" : session.started).thenComparing(session -> session.id));
        if (json) {
            printJson(generator -> write(generator, sessions));
        } else {
            for (SessionRecord session : sessions) {
                print(session);
            }
        }
        return ExitCode.OK;
    }

    private void print(SessionRecord session) throws IOException {
        StringBuilder line = new StringBuilder();
        line.append(known(session.started)).append("  ").append(session.id).append("  ").append(known(session.agent)).append("  ")
                .append(known(session.mode)).append("  ").append(session.state());
        if (session.exitCode != Summary.UNKNOWN) {
            line.append(" (exit ").append(session.exitCode).append(')');
        }
        line.append(':');
        for (Decision decision : session.isWithoutLog() ? new Decision[0] : Decision.values()) {
            long count = session.counts[decision.ordinal()];
            if (count > 0 || decision == Decision.ALLOW || decision == Decision.DENY) {
                line.append(' ').append(count).append(' ').append(decision.word());
            }
        }
        if (session.rolledBack > 0) {
            line.append(", rolled back ").append(session.rolledBack);
        }
        Store.Session stored = images.get(SessionClaim.fileName(session.id));
        int conflicts = conflicts(session, stored);
        if (conflicts > 0) {
            line.append(", NOT rolled back ").append(conflicts);
            if (stored != null && stored.notBack() != null) {
                line.append(" (").append(Names.printed(Names.ofExact(stored.notBack().get(0)))).append(conflicts == 1 ? ")" : " and " + (conflicts - 1) + " more: recover, or undo, names them)");
            }
        }
        if (session.lost + session.unreadable > 0) {
            line.append(", records lost ").append(session.lost + session.unreadable);
        }
        if (stored != null && (stored.touched() > 0 || stored.damage() != null || session.isWithoutLog())) {
            line.append(session.isWithoutLog() ? " images of " : ", images of ").append(stored.touched()).append(stored.touched() == 1 ? " path (" : " paths (").append(stored.bytes()).append(" bytes, ")
                    .append(state(stored)).append(')');
        }
        if (stored == null && session.leftChanges()) {
            line.append(", its images are gone: pruned, or removed");
        }
        if (session.isWithoutLog()) {
            line.append(", its log is gone");
            for (String kept : putAside(session)) {
                line.append(", what a rollback put aside is in ").append(kept);
            }
        }
        terminal.line(line.toString());
    }

    /** What was not put back: as the images know it, which an undo may have changed since the log was written. */
    private static int conflicts(SessionRecord session, Store.Session stored) {
        return stored != null && stored.notBack() != null ? stored.notBack().size() : session.conflicts;
    }

    /** Where what the session's rollback put aside is kept, one path for each kind of it; empty if there is none. */
    private List<String> putAside(SessionRecord session) throws IOException {
        List<String> kept = new ArrayList<>();
        for (String kind : PUT_ASIDE) {
            Path directory = Store.directory(home, session.id).resolve(kind);
            if (Files.isDirectory(directory)) {
                kept.add(directory.toString());
            }
        }
        return kept;
    }

    /** What the images are, in words. */
    static String state(Store.Session stored) {
        if (stored.elsewhere() != null) {
            return "of a home in ".concat(stored.elsewhere());
        }
        if (stored.damage() != null) {
            return stored.damage();
        }
        if (stored.state() == Backups.State.OPEN) {
            return stored.live() ? "live" : stored.notBack() == null ? "crashed, recover is due" : "its rollback is not complete, recover is due";
        }
        String state = stored.state().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return stored.halfUndone() ? state + ", and half undone: undo --session " + stored.id() + " goes on with it" : state;
    }

    private static String known(String text) {
        return text == null ? "?" : text;
    }

    private void write(JsonGenerator json, List<SessionRecord> sessions) throws IOException {
        json.writeStartArray();
        for (SessionRecord session : sessions) {
            json.writeStartObject();
            json.writeStringField("session_id", session.id);
            json.writeStringField("agent_id", session.agent);
            json.writeStringField("mode", session.mode);
            json.writeStringField("manifest", session.manifest);
            json.writeStringField("started", session.started);
            json.writeNumberField("pid", session.pid);
            json.writeStringField("state", session.state());
            if (session.isWithoutLog()) {
                json.writeArrayFieldStart("put_aside");
                for (String kept : putAside(session)) {
                    json.writeString(kept);
                }
                json.writeEndArray();
            }
            if (session.exitCode != Summary.UNKNOWN) {
                json.writeNumberField("exit_code", session.exitCode);
            }
            for (Decision decision : Decision.values()) {
                json.writeNumberField(decision.word(), session.counts[decision.ordinal()]);
            }
            json.writeNumberField("rolled_back", session.rolledBack);
            Store.Session stored = images.get(SessionClaim.fileName(session.id));
            json.writeNumberField("conflicts", conflicts(session, stored));
            if (stored != null && stored.notBack() != null) {
                json.writeArrayFieldStart("not_rolled_back");
                for (String path : stored.notBack()) {
                    json.writeString(path);
                }
                json.writeEndArray();
            }
            json.writeNumberField("records_lost", session.lost + session.unreadable);
            if (stored != null) {
                json.writeNumberField("images", stored.touched());
                json.writeNumberField("image_bytes", stored.bytes());
                json.writeStringField("images_state", state(stored));
            }
            json.writeEndObject();
        }
        json.writeEndArray();
    }
}
