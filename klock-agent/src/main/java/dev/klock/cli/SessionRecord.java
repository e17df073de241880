package dev.klock.cli;

import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Summary;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogFiles;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogSummary;
import dev.klock.cli.log.LogVisitor;
import java.io.IOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * What one session's log says of it as a whole. Read record by record, so that a log of any size can be; a record torn by a crash or a
 * full disk is counted and passed over.
 */
final class SessionRecord implements LogVisitor {
    String id;
    String agent;
    String mode;
    String manifest;
    String started;
    long pid;
    /** Accesses by decision, in the order of {@link Decision}. */
    final long[] counts = new long[Decision.values().length];
    /** How it ended, null as long as the log has no summary. */
    String end;
    int exitCode = Summary.UNKNOWN;
    int rolledBack;
    int conflicts;
    /** Of how many paths it had images when it ended; 0 where it has not, or the log does not say. */
    long images;
    long unreadable;
    long lost;

    private boolean summarised;
    private boolean withoutLog;

    private SessionRecord() {
    }

    /** One of which there are images, and no log any more; {@code startedMs} 0 for unknown. */
    static SessionRecord withoutLog(String id, long startedMs) {
        SessionRecord session = new SessionRecord();
        session.id = id;
        session.started = startedMs == 0 ? null : Instant.ofEpochMilli(startedMs).toString();
        session.withoutLog = true;
        return session;
    }

    boolean isWithoutLog() {
        return withoutLog;
    }

    /** Of every session that {@code home} has the log of, in no order. */
    static List<SessionRecord> all(Path home) throws IOException {
        List<SessionRecord> sessions = new ArrayList<>();
        for (LogFiles log : LogFiles.all(home)) {
            sessions.add(read(log));
        }
        return sessions;
    }

    /** The log of the session that began last among those of {@code home} that count; null if none does. */
    static LogFiles last(Path home, Predicate<SessionRecord> counts) throws IOException {
        LogFiles last = null;
        long lastMs = Long.MIN_VALUE;
        for (LogFiles log : LogFiles.all(home)) {
            SessionRecord record = read(log);
            if (counts.test(record) && record.startedMs() >= lastMs) {
                last = log;
                lastMs = record.startedMs();
            }
        }
        return last;
    }

    /** What {@code log} says. */
    static SessionRecord read(LogFiles log) throws IOException {
        SessionRecord session = new SessionRecord();
        session.id = log.name();
        log.read(session);
        return session;
    }

    /** What the first record of {@code log} says; how the session went on is not looked at. */
    static SessionRecord begun(LogFiles log) throws IOException {
        SessionRecord session = new SessionRecord();
        session.id = log.name();
        log.readFirst(session);
        return session;
    }

    @Override
    public void header(LogHeader header) {
        id = header.sessionId() == null ? id : header.sessionId();
        agent = agent == null ? header.agentId() : agent;
        mode = mode == null ? header.mode() : mode;
        manifest = manifest == null ? header.manifest() : manifest;
        started = started == null ? header.started() : started;
        pid = pid == 0 ? header.pid() : pid;
    }

    @Override
    public void event(LogEvent event) {
        if (!summarised) {
            counts[event.decision().ordinal()] += event.count();
        }
    }

    @Override
    public void summary(LogSummary summary) {
        summarised = true;
        end = summary.end();
        exitCode = summary.exitCode();
        rolledBack = (int) summary.size("rolled_back");
        conflicts = (int) summary.size("conflicts");
        images = summary.images();
        System.arraycopy(summary.counts(), 0, counts, 0, counts.length);
    }

    @Override
    public void lost(long records) {
        lost += records;
    }

    @Override
    public void unreadable() {
        unreadable++;
    }

    /** When it began, in milliseconds since the epoch; 0 if the log does not say. */
    long startedMs() {
        try {
            return started == null ? 0 : Instant.parse(started).toEpochMilli();
        } catch (DateTimeParseException | ArithmeticException e) {
            return 0;
        }
    }

    /** {@code end}, or for a log without a summary whether its process still runs. */
    String state() {
        if (end != null) {
            return end;
        }
        if (withoutLog) {
            return "unknown";
        }
        return isRunning() ? "running" : "crashed";
    }

    /** Whether it ended and left changes that can be undone from its images only. */
    boolean leftChanges() {
        return images > 0 && (rolledBack == 0 && end != null || conflicts > 0);
    }

    /** Whether it has a log without a summary, and its process runs no more. */
    boolean isCrashed() {
        return end == null && !withoutLog && !isRunning();
    }

    /** A process of that number that began before the log did is the session's; a later one got the number anew. */
    private boolean isRunning() {
        if (pid <= 0 || started == null) {
            return false;
        }
        try {
            Instant logBegan = Instant.parse(started);
            return ProcessHandle.of(pid).flatMap(process -> process.info().startInstant()).filter(began -> !began.isAfter(logBegan.plusSeconds(1))).isPresent();
        } catch (DateTimeException e) {
            return false;
        }
    }
}
