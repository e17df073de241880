package dev.klock.agent.log;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The record of everything a session tried and what was decided (K6-6): JSON lines of schema {@value #SCHEMA}.
 *
 * <p>The first record of each file names the schema and the session, then one record an event, at last a summary. Violations are in the
 * file when {@link #record} returns; everything else is there after the next {@link #flush}, which the session calls at least every
 * {@value #FLUSH_EVERY_MS} ms. Between two flushes repeats are folded into one record with a count.
 *
 * <p>A full file is followed by {@code NAME.1}, {@code NAME.2} and so on; of these the newest are kept, and the first file always, since
 * its existence is what makes the session's id taken (C47) and how a session began is worth more than its middle.
 *
 * <p>It never throws because of the disk: what could not be written is counted, said once on stderr, and told in the log itself when
 * writing works again. A record torn by a full disk is ended by a newline first, so that it spoils no other.
 *
 * <p>Thread-safe. Its monitor is the last lock taken: under it nothing is called but the file and stderr. It uses a plain stream because
 * an interrupt of the program's thread would close a channel.
 */
public final class VerificationLog {
    /** The schema of the records. */
    public static final String SCHEMA = "klock.event/1";
    /** How long a record of something allowed may wait. */
    public static final int FLUSH_EVERY_MS = 200;
    /** A file is followed by the next at this size. */
    public static final long MAX_FILE_BYTES = 64L << 20;
    /** The most files of a session. */
    public static final int MAX_FILES = 8;

    /** The most leases that one record names. */
    public static final int MAX_LEASES = 200;

    /** The most distinct events folded between two flushes; more are written out at once. */
    private static final int MAX_PENDING = 1024;

    /** An event waiting to be written, by what makes another its repeat. */
    private static final class Fold {
        final Event event;
        long seq;
        long count;
        /** Null where it is not told. */
        StackTraceElement[] stack;

        Fold(Event event) {
            this.event = event;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Fold && event.repeats(((Fold) other).event);
        }

        @Override
        public int hashCode() {
            return event.repeatHash();
        }
    }

    private final File file;
    private final String sessionId;
    private final String agentId;
    private final String header;
    /** What the first file's first record tells beside; "" if nothing. */
    private String begun;
    private final long maxFileBytes;
    private final int maxFiles;
    private final Map<Fold, Fold> pending = new LinkedHashMap<>();
    /** Those that were written at once, the latest; a record that is a repeat of one may wait as those of what is allowed do. */
    private final Map<Fold, Boolean> urgent = new LinkedHashMap<>();
    private final StringBuilder text = new StringBuilder(4096);
    private final long[] decisions = new long[Decision.values().length];
    private long amended;
    private OutputStream out;
    private long fileBytes;
    private int part;
    private long seq;
    private int buffered;
    private boolean failed;
    private boolean torn;
    private long lost;
    private boolean closed;

    private VerificationLog(File file, OutputStream out, String sessionId, String agentId, String header, long maxFileBytes, int maxFiles) {
        this.file = file;
        this.out = out;
        this.sessionId = sessionId;
        this.agentId = agentId;
        this.header = header;
        this.maxFileBytes = maxFileBytes;
        this.maxFiles = maxFiles;
    }

    /**
     * Opens the log of a session and writes its first record.
     *
     * @param file the session's claimed, empty file
     * @param mode the mode's word
     * @param compliant whether the mode does what KLIS asks for (C33)
     * @param manifest the manifest's path, null if there is none
     * @throws IOException the file cannot be opened or written; it is removed then
     */
    public static VerificationLog open(File file, String sessionId, String agentId, String mode, boolean compliant, String manifest)
            throws IOException {
        return open(file, sessionId, agentId, mode, compliant, manifest, MAX_FILE_BYTES, MAX_FILES);
    }

    /** As {@link #open(File, String, String, String, boolean, String)}; {@code begun} is what else is told of the session at its beginning. */
    public static VerificationLog open(File file, String sessionId, String agentId, String mode, boolean compliant, String manifest, Begun begun)
            throws IOException {
        return open(file, sessionId, agentId, mode, compliant, manifest, begun, MAX_FILE_BYTES, MAX_FILES);
    }

    static VerificationLog open(File file, String sessionId, String agentId, String mode, boolean compliant, String manifest,
            long maxFileBytes, int maxFiles) throws IOException {
        return open(file, sessionId, agentId, mode, compliant, manifest, Begun.NOTHING, maxFileBytes, maxFiles);
    }

    private static VerificationLog open(File file, String sessionId, String agentId, String mode, boolean compliant, String manifest,
            Begun begun, long maxFileBytes, int maxFiles) throws IOException {
        StringBuilder header = new StringBuilder(256).append("{\"schema\":\"").append(SCHEMA).append('"');
        field(header, "klock", Release.VERSION);
        field(header, "session_id", sessionId);
        field(header, "agent_id", agentId);
        field(header, "mode", mode);
        header.append(",\"compliant\":").append(compliant);
        field(header, "manifest", manifest);
        field(header, "java", System.getProperty("java.version"));
        header.append(",\"pid\":").append(ThisProcess.pid());
        header.append(",\"started\":\"");
        Timestamp.append(header, System.currentTimeMillis());
        header.append('"');
        field(header, "process", begun.process());
        OutputStream out = new FileOutputStream(file, true);
        VerificationLog log = new VerificationLog(file, out, sessionId, agentId, header.toString(), maxFileBytes, maxFiles);
        log.begun = begun.json();
        log.appendHeader();
        log.begun = "";
        byte[] first = log.take();
        try {
            out.write(first);
        } catch (IOException e) {
            out.close();
            if (file.isFile()) {
                // no session took place: its id stays free
                file.delete();
            }
            throw e;
        }
        log.fileBytes = first.length;
        return log;
    }

    /** Records one event. A violation is in the file when this returns. */
    public synchronized void record(Event event) {
        if (closed) {
            return;
        }
        decisions[event.decision().ordinal()] += event.count();
        if (Event.LEASE.equals(event.decidedBy())) {
            amended += event.count();
        }
        Fold probe = new Fold(event.withoutStack());
        Fold fold = pending.get(probe);
        if (fold != null) {
            fold.count += event.count();
            return;
        }
        probe.seq = ++seq;
        probe.count = event.count();
        pending.put(probe, probe);
        if (isUrgent(event) && isNew(probe)) {
            probe.stack = event.stack();
            write();
            probe.stack = null;
        } else if (pending.size() >= MAX_PENDING) {
            write();
        }
    }

    /**
     * Records what became of a session that had crashed, and was recovered before this one began (C45); it is in the file when this returns.
     *
     * @param line       what is said of it
     * @param rolledBack the resources put back
     * @param conflicts  those that were not
     * @param notes      as {@link Summary#notes}
     */
    public synchronized void recovered(String crashedId, String line, List<String> rolledBack, List<String> conflicts, List<String> notes) {
        if (closed) {
            return;
        }
        write();
        begin(System.currentTimeMillis(), ++seq, agentId);
        text.append(",\"recovered\":{\"session_id\":");
        Escapes.json(text, crashedId);
        field(text, "result", line);
        list("rolled_back", rolledBack);
        list("conflicts", conflicts);
        list("notes", notes);
        text.append("}}\n");
        buffered++;
        write();
    }

    /**
     * Records what became of the session's leases; it is in the file when this returns.
     *
     * @param state    {@code granted}, {@code refused}, {@code died} or {@code lost}; or {@code agent refused}, of an agent in a process
     * @param waitedMs how long they were waited for, in milliseconds
     * @param triples  which; of more than {@value #MAX_LEASES} only the first ones are told
     * @param detail   what else is to be known, null if nothing
     */
    public synchronized void lease(String state, long waitedMs, List<String> triples, String detail) {
        if (closed) {
            return;
        }
        write();
        begin(System.currentTimeMillis(), ++seq, agentId);
        text.append(",\"lease\":{\"state\":");
        Escapes.json(text, state);
        if (waitedMs > 0) {
            text.append(",\"waited_ms\":").append(waitedMs);
        }
        int more = triples.size() - MAX_LEASES;
        list("triples", more > 0 ? triples.subList(0, MAX_LEASES) : triples);
        if (more > 0) {
            text.append(",\"more\":").append(more);
        }
        field(text, "detail", detail);
        text.append("}}\n");
        buffered++;
        write();
    }

    /** Whether no repeat of it has been written at once: then the next ones may wait, so that a storm of them makes a record five times a second. */
    private boolean isNew(Fold fold) {
        if (urgent.putIfAbsent(fold, Boolean.TRUE) != null) {
            return false;
        }
        if (urgent.size() > MAX_PENDING) {
            Iterator<Fold> oldest = urgent.keySet().iterator();
            oldest.next();
            oldest.remove();
        }
        return true;
    }

    private static boolean isUrgent(Event event) {
        return event.decision() == Decision.DENY || event.decision() == Decision.WARN;
    }

    /** Brings everything recorded so far into the file. Cheap when there is nothing. */
    public synchronized void flush() {
        if (!closed) {
            write();
        }
    }

    /** Writes the summary and closes the file. Later calls of anything do nothing. */
    public synchronized void close(Summary summary) {
        if (closed) {
            return;
        }
        write();
        appendSummary(summary);
        write();
        closed = true;
        if (lost == 0 && !file.exists()) {
            fail("it was removed while the session ran");
        }
        try {
            out.close();
        } catch (IOException e) {
            fail(e.getMessage());
        }
    }

    /** How many accesses were decided so. */
    public synchronized long count(Decision decision) {
        return decisions[decision.ordinal()];
    }

    /** How many of them were allowed by a lease that was added to the manifest's (K6-3). */
    public synchronized long amended() {
        return amended;
    }

    /** The first file. */
    public File file() {
        return file;
    }

    /** Sends what is written from now on to {@code other}, for tests of what happens when writing fails. */
    synchronized void writeTo(OutputStream other) {
        out = other;
    }

    private void write() {
        for (Fold fold : pending.values()) {
            appendEvent(fold);
        }
        pending.clear();
        if (text.length() == 0) {
            return;
        }
        int records = buffered;
        byte[] bytes = take();
        try {
            if (fileBytes + bytes.length > maxFileBytes) {
                rotate();
            }
            if (torn || lost > 0) {
                byte[] notice = lossNotice();
                out.write(notice);
                fileBytes += notice.length;
                torn = false;
                lost = 0;
            }
            torn = true;
            out.write(bytes);
            torn = false;
            fileBytes += bytes.length;
        } catch (IOException e) {
            lost += records;
            fail(e.getMessage());
        }
    }

    private byte[] lossNotice() {
        StringBuilder notice = new StringBuilder(128);
        if (torn) {
            notice.append('\n');
        }
        notice.append("{\"ts\":\"");
        Timestamp.append(notice, System.currentTimeMillis());
        notice.append('"');
        field(notice, "session_id", sessionId);
        notice.append(",\"lost\":").append(lost).append("}\n");
        return notice.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Goes on in the next file; in the current one where that cannot be opened (the program may have used up all descriptors). */
    private void rotate() throws IOException {
        OutputStream opened;
        try {
            opened = new FileOutputStream(file.getPath().concat(".").concat(Integer.toString(part + 1)), true);
        } catch (IOException e) {
            fail(e.getMessage());
            return;
        }
        out.close();
        out = opened;
        part++;
        fileBytes = 0;
        torn = false;
        if (part >= maxFiles) {
            new File(file.getPath().concat(".").concat(Integer.toString(part - maxFiles + 1))).delete();
        }
        appendHeader();
        byte[] first = take();
        out.write(first);
        fileBytes += first.length;
    }

    private void fail(String why) {
        if (!failed) {
            failed = true;
            Stderr.error("the log " + file + " cannot be written (" + why + "); the program goes on, and is guarded as before");
        }
    }

    private byte[] take() {
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        text.setLength(0);
        buffered = 0;
        return bytes;
    }

    private void appendHeader() {
        text.append(header).append(",\"part\":").append(part + 1).append(begun).append("}\n");
    }

    private void appendEvent(Fold fold) {
        Event event = fold.event;
        String scheme = event.resource().scheme();
        begin(event.timeMs(), fold.seq, event.agentId() == null ? agentId : event.agentId());
        field(text, "thread", event.thread());
        field(text, "op", event.op());
        field(text, "predicate", event.predicate().name());
        String resource = event.resource().toString();
        field(text, "resource", Secrets.masked(scheme, resource));
        field(text, "requested", Secrets.masked(scheme, event.requested()));
        field(text, "decision", event.decision().word());
        field(text, "decided_by", event.decidedBy());
        field(text, "caller", event.caller());
        field(text, "note", event.note());
        if (fold.stack != null) {
            text.append(",\"stack\":");
            Stack.json(text, fold.stack);
        }
        if (fold.count > 1) {
            text.append(",\"count\":").append(fold.count);
        }
        text.append("}\n");
        buffered++;
    }

    private void appendSummary(Summary summary) {
        begin(System.currentTimeMillis(), ++seq, agentId);
        text.append(",\"summary\":{\"end\":");
        Escapes.json(text, summary.end());
        if (summary.exitCode() != Summary.UNKNOWN) {
            text.append(",\"exit_code\":").append(summary.exitCode());
        }
        for (Decision decision : Decision.values()) {
            text.append(",\"").append(decision.word()).append("\":").append(decisions[decision.ordinal()]);
        }
        list("declared", summary.declared());
        list("used", summary.used());
        list("unused", summary.unused());
        list("violated", summary.violated());
        list("rolled_back", summary.rolledBack());
        list("conflicts", summary.conflicts());
        list("notes", summary.notes());
        list("unmonitored", summary.unmonitored());
        list("unused_hooks", summary.unusedHooks());
        if (summary.images() > 0) {
            text.append(",\"images\":").append(summary.images());
        }
        text.append("}}\n");
        buffered++;
    }

    private void begin(long timeMs, long number, String agent) {
        text.append("{\"ts\":\"");
        Timestamp.append(text, timeMs);
        text.append("\",\"seq\":").append(number);
        field(text, "session_id", sessionId);
        field(text, "agent_id", agent);
    }

    private void list(String name, List<String> items) {
        text.append(",\"").append(name).append("\":[");
        for (int i = 0; i < items.size(); i++) {
            if (i > 0) {
                text.append(',');
            }
            Escapes.json(text, Secrets.maskedTriple(items.get(i)));
        }
        text.append(']');
    }

    private static void field(StringBuilder to, String name, String value) {
        if (value != null) {
            to.append(",\"").append(name).append("\":");
            Escapes.json(to, value);
        }
    }
}
