package dev.klock.cli.report;

import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Messages;
import dev.klock.agent.log.Summary;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogLease;
import dev.klock.cli.log.LogRecovered;
import dev.klock.cli.log.LogSummary;
import dev.klock.cli.log.LogVisitor;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * One session's log, folded while it is read: counts of everything, and a bounded number of distinct things. What there was no room for is
 * counted, so that the report can say so. Memory does not depend on the length of the log. Not thread-safe.
 */
public final class SessionStory implements LogVisitor {
    /** The most distinct violations told one by one. */
    public static final int MAX_VIOLATIONS = 500;
    /** The most distinct lines, programs, paths and the like, each. */
    static final int MAX_ROWS = 1_000;
    /** The most that is kept of one text, UTF-16 units. */
    static final int MAX_TEXT = 4_096;
    /** Names shown of what a line allowed. */
    private static final int SAMPLES = 3;
    private static final int MAX_THREADS = 8;
    private static final int MAX_FRAMES = 40;
    private static final int MAX_FRAME = 300;
    private static final int MAX_TRIPLES = 100;
    /** In the year 9999. */
    private static final long LAST_MS = 253_370_764_800_000L;

    /** One triple that was denied or warned about, as it was first. */
    static final class Violation {
        final LogEvent first;
        long count;
        String last;
        final Set<String> threads = new LinkedHashSet<>();

        private Violation(LogEvent first) {
            this.first = first;
        }

        boolean isDenied() {
            return first.decision() == Decision.DENY;
        }

        /** It was found when a child was over: nothing stopped it. */
        boolean isFound() {
            return "child".equals(first.decidedBy());
        }

        /** It touched klock's own. */
        boolean isOwn() {
            return "klock".equals(first.decidedBy());
        }
    }

    /** What was decided by the same ground. */
    static final class Use {
        long count;
        final Set<String> samples = new LinkedHashSet<>();
        final Set<String> predicates = new TreeSet<>();
    }

    /** A program that was started, or another thing that klock cannot look into. */
    static final class Opaque {
        long count;
        final Set<String> notes = new LinkedHashSet<>();
        long effects;
    }

    /** What was done to a path, by the log. */
    static final class Touched {
        final Set<String> predicates = new LinkedHashSet<>();
        long count;
        boolean byChild;
    }

    private final String name;
    private LogHeader header;
    private List<LogHeader.Setting> settings = List.of();
    private List<LogHeader.Declared> declared = List.of();
    final long[] counts = new long[Decision.values().length];
    final Counted<Violation> violations = new Counted<>(MAX_VIOLATIONS);
    final Counted<Use> uses = new Counted<>(MAX_ROWS);
    final Counted<Opaque> programs = new Counted<>(MAX_ROWS);
    final Counted<Opaque> nativeCode = new Counted<>(MAX_ROWS);
    final Counted<Touched> touched = new Counted<>(MAX_ROWS);
    final Counted<LogRecovered> recovered = new Counted<>(MAX_ROWS);
    final List<LogLease> leases = new ArrayList<>();
    long leasesBeyond;
    final Activity activity = new Activity();
    long records;
    long lost;
    long unreadable;
    /** Files of the log that are gone: only the newest and the first are kept. */
    long partsMissing;
    private int lastPart;
    private LogSummary summary;

    /** The story of the log called {@code name}. */
    public SessionStory(String name) {
        this.name = name;
    }

    @Override
    public void header(LogHeader h) {
        if (header == null) {
            header = h;
            settings = h.settings();
            declared = h.declared().size() > MAX_ROWS ? new ArrayList<>(h.declared().subList(0, MAX_ROWS)) : h.declared();
            if (h.started() != null) {
                activity.begin(ms(h.started(), 0));
            }
        }
        if (h.part() > 0) {
            partsMissing += Math.max(0, h.part() - lastPart - 1);
            lastPart = h.part();
        }
    }

    @Override
    public void event(LogEvent e) {
        records++;
        counts[e.decision().ordinal()] += e.count();
        String resource = e.resource() == null ? "" : e.resource();
        String predicate = e.predicate() == null ? "" : e.predicate();
        boolean bad = e.decision() == Decision.DENY || e.decision() == Decision.WARN;
        if (e.thread() != null || bad) {
            // the others stand for what came after the first of its kind, whenever that was
            activity.add(ms(e.ts(), activity.lastMs()), e.thread() == null ? "child processes" : Visible.kept(e.thread(), MAX_TEXT), e.decision(), e.count());
        }
        boolean program = resource.startsWith("PROCESS:") && predicate.equals("PROVIDES");
        if (program) {
            program(resource, e);
        }
        if (bad && !(program && e.note() != null)) {
            violation(predicate, resource, e);
        }
        if (!bad) {
            use(predicate, resource, e);
        }
        if (e.decision() != Decision.DENY && resource.startsWith("NATIVE:")) {
            Opaque code = nativeCode.get(resource, e.count(), Opaque::new);
            if (code != null) {
                code.count += e.count();
            }
        }
        if (e.decision() != Decision.DENY && resource.startsWith("FILE:") && !predicate.equals("CONSUMES") && !predicate.equals("DEPENDS_ON")) {
            Touched one = touched.get(resource.substring("FILE:".length()), e.count(), Touched::new);
            if (one != null) {
                one.count += e.count();
                one.predicates.add(predicate);
                one.byChild |= "child".equals(e.decidedBy());
            }
        }
    }

    private void program(String resource, LogEvent e) {
        Opaque one = programs.get(resource, e.count(), Opaque::new);
        if (one != null) {
            one.count += e.note() == null && e.decision() != Decision.DENY ? e.count() : 0;
            if (e.note() != null && one.notes.size() < SAMPLES) {
                one.notes.add(Visible.kept(e.note(), MAX_TEXT));
            }
        }
    }

    private void violation(String predicate, String resource, LogEvent e) {
        String agent = e.agentId() == null ? "" : e.agentId();
        Violation same = violations.get(agent + '\n' + e.decision() + ' ' + predicate + ' ' + resource, e.count(), () -> new Violation(bounded(e)));
        if (same != null) {
            same.count += e.count();
            same.last = e.ts();
            if (e.thread() != null && same.threads.size() < MAX_THREADS) {
                same.threads.add(Visible.kept(e.thread(), MAX_TEXT));
            }
        }
    }

    private void use(String predicate, String resource, LogEvent e) {
        for (String ran : Messages.ran(e.note())) {
            Opaque child = programs.get(ran, 0, Opaque::new);
            if (child != null) {
                child.effects += e.count();
            }
        }
        Use use = uses.get(e.decidedBy() == null ? "" : e.decidedBy(), e.count(), Use::new);
        if (use != null) {
            use.count += e.count();
            use.predicates.add(predicate);
            if (use.samples.size() < SAMPLES) {
                use.samples.add(Visible.kept(resource, MAX_TEXT));
            }
        }
    }

    private static LogEvent bounded(LogEvent e) {
        List<String> stack = new ArrayList<>();
        for (int i = 0; i < e.stack().size() && i < MAX_FRAMES; i++) {
            stack.add(Visible.kept(e.stack().get(i), MAX_FRAME));
        }
        return new LogEvent(e.part(), e.ts(), e.seq(), e.sessionId(), e.agentId(), Visible.kept(e.thread(), MAX_TEXT), Visible.kept(e.op(), MAX_TEXT), e.predicate(),
                Visible.kept(e.resource(), MAX_TEXT), Visible.kept(e.requested(), MAX_TEXT), e.decision(), e.decidedBy(), Visible.kept(e.caller(), MAX_TEXT), e.count(),
                Visible.kept(e.note(), MAX_TEXT), stack);
    }

    @Override
    public void summary(LogSummary s) {
        summary = s;
        if (s.ts() != null) {
            activity.reach(ms(s.ts(), activity.lastMs()));
        }
    }

    @Override
    public void lease(LogLease lease) {
        activity.reach(ms(lease.ts(), activity.lastMs()));
        if (leases.size() < MAX_ROWS) {
            List<String> triples = lease.triples();
            leases.add(triples.size() <= MAX_TRIPLES ? lease
                    : new LogLease(lease.ts(), lease.state(), lease.waitedMs(), new ArrayList<>(triples.subList(0, MAX_TRIPLES)), lease.detail()));
        } else {
            leasesBeyond++;
        }
    }

    @Override
    public void recovered(LogRecovered one) {
        recovered.get(String.valueOf(one.sessionId()), 1, () -> one);
    }

    @Override
    public void lost(long more) {
        lost += more;
    }

    @Override
    public void unreadable() {
        unreadable++;
    }

    /** When {@code ts} is, in milliseconds since 1970; {@code otherwise} if it is none, or none that a clock shows. */
    static long ms(String ts, long otherwise) {
        if (ts == null) {
            return otherwise;
        }
        try {
            long ms = Instant.parse(ts).toEpochMilli();
            return ms < 0 || ms > LAST_MS ? otherwise : ms;
        } catch (DateTimeParseException | ArithmeticException e) {
            return otherwise;
        }
    }

    // ---- what it says

    /** What the log's file is named after. */
    public String name() {
        return name;
    }

    /** The session's id; the log's name if the log does not say. */
    public String id() {
        return header == null || header.sessionId() == null ? name : header.sessionId();
    }

    /** The agent's id, null if the log does not say. */
    public String agent() {
        return header == null ? null : header.agentId();
    }

    /** The manifest's path as the session had it, null if there was none. */
    public String manifest() {
        return header == null ? null : header.manifest();
    }

    /** The mode's word, null if the log does not say. */
    public String mode() {
        return header == null ? null : header.mode();
    }

    String java() {
        return header == null ? null : header.java();
    }

    String started() {
        return header == null ? null : header.started();
    }

    long pid() {
        return header == null ? 0 : header.pid();
    }

    /** The session of the process in which this is one of the agents'; null if it is not. */
    public String process() {
        return header == null ? null : header.process();
    }

    List<LogHeader.Setting> settings() {
        return settings;
    }

    /** The scope's lines; empty if the log does not say. */
    public List<LogHeader.Declared> declared() {
        return declared;
    }

    /** How it ended; null as long as the log has no summary. */
    public String end() {
        return summary == null ? null : summary.end();
    }

    int exitCode() {
        return summary == null ? Summary.UNKNOWN : summary.exitCode();
    }

    /** What the summary names as {@code list}; empty without one. */
    public List<String> told(String list) {
        return summary == null ? List.of() : summary.list(list);
    }

    /** How many the summary names as {@code list}. */
    long size(String list) {
        return summary == null ? 0 : summary.size(list);
    }

    /** How many accesses were decided so; by the summary where there is one, since that counts what the log lost. */
    public long count(Decision decision) {
        long told = summary == null ? 0 : summary.counts()[decision.ordinal()];
        return Math.max(told, counts[decision.ordinal()]);
    }

    /** Whether all that happened is in the log, as far as it goes. */
    boolean isWhole() {
        return lost == 0 && unreadable == 0 && partsMissing == 0;
    }

    /** Each distinct violation with what it was about. */
    public interface Each {
        void violation(String agent, String predicate, String resource);
    }

    /** Shows {@code visitor} the violations that are told one by one. */
    public void violations(Each visitor) {
        for (Violation violation : violations.rows().values()) {
            if (violation.first.resource() == null || violation.first.resource().length() > MAX_TEXT) {
                // cut: nothing can be said of it
                continue;
            }
            visitor.violation(violation.first.agentId(), violation.first.predicate(), violation.first.resource());
        }
    }
}
