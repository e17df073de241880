package dev.klock.cli.report;

import dev.klock.agent.log.Decision;
import dev.klock.cli.log.LogEvent;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The report as JUnit's XML, which build servers show: a suite for each session, with a case for each thing that is to hold. Each violation is a failure
 * of a case of its own; what was only warned about is a case that is skipped.
 */
public final class JUnitReport {
    private final Markup xml;

    private JUnitReport(Markup xml) {
        this.xml = xml;
    }

    /** One case; {@code kind} is {@code failure}, {@code error}, {@code skipped}, or null if it holds. */
    private record Case(String name, String kind, String message, String text) {
    }

    /** Writes a document. */
    public static void write(Writer out, List<SessionReport> reports) throws IOException {
        JUnitReport report = new JUnitReport(new Markup(out));
        report.xml.literal("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").open("testsuites", "name", "klock").feed();
        for (SessionReport each : reports) {
            report.suite(each);
        }
        report.xml.close().feed();
    }

    private void suite(SessionReport report) throws IOException {
        SessionStory story = report.story;
        List<Case> cases = cases(report);
        long lengthMs = story.activity.startMs() == Long.MIN_VALUE ? 0 : story.activity.lastMs() - story.activity.startMs();
        String name = "klock." + HtmlReport.known(story.agent(), "unknown");
        xml.open("testsuite", "name", name, "id", story.id(), "tests", Integer.toString(cases.size()), "failures", count(cases, "failure"), "errors", count(cases, "error"),
                "skipped", count(cases, "skipped"), "time", String.format(Locale.ROOT, "%.3f", lengthMs / 1_000.0), "timestamp", story.started()).feed();
        xml.open("properties");
        for (String[] property : new String[][] {{"session_id", story.id()}, {"mode", story.mode()}, {"manifest", story.manifest()}, {"end", story.end()},
            {"allowed", Long.toString(story.count(Decision.ALLOW))}, {"denied", Long.toString(story.count(Decision.DENY))}, {"warned", Long.toString(story.count(Decision.WARN))}}) {
            xml.empty("property", "name", property[0], "value", HtmlReport.known(property[1], ""));
        }
        xml.close().feed();
        for (Case one : cases) {
            xml.open("testcase", "classname", name, "name", one.name, "time", "0");
            if (one.kind != null) {
                xml.open(one.kind, "message", one.message, "type", one.kind.equals("failure") ? "dev.klock.ScopeViolationError" : null).feed();
                for (String line : one.text.split("\n")) {
                    xml.text(line).feed();
                }
                xml.close();
            }
            xml.close().feed();
        }
        xml.close().feed();
    }

    private static String count(List<Case> cases, String kind) {
        return Long.toString(cases.stream().filter(one -> kind.equals(one.kind)).count());
    }

    private static List<Case> cases(SessionReport report) {
        SessionStory story = report.story;
        Verdict verdict = Verdict.of(report);
        List<Case> cases = new ArrayList<>();
        boolean ended = "completed".equals(story.end()) || story.end() == null && report.running;
        cases.add(new Case("the session comes to its end", ended ? null : "error", verdict.title(), verdict.text()));
        cases.add(new Case("the log is whole", story.isWhole() ? null : "error", "the log is not whole", "Some of what was done is not told."));
        for (String conflict : bounded(story.told("conflicts"))) {
            cases.add(new Case("rolled back: " + Visible.name(conflict), "failure", "not rolled back", conflict));
        }
        for (SessionStory.Violation violation : story.violations.rows().values()) {
            LogEvent first = violation.first;
            Advice advice = report.advice(violation);
            StringBuilder text = new StringBuilder();
            line(text, "", advice == null ? null : advice.why());
            line(text, "to allow it, add to scope: - ", advice == null ? null : advice.line());
            line(text, "times: ", Long.toString(violation.count));
            line(text, "when: ", first.ts());
            line(text, "thread: ", String.join(", ", violation.threads));
            line(text, "called by: ", first.caller());
            for (String frame : first.stack()) {
                line(text, "    at ", frame);
            }
            String triple = first.predicate() + " " + Visible.name(first.resource());
            cases.add(new Case(triple, violation.isDenied() ? "failure" : "skipped", (violation.isDenied() ? "denied: " : "outside the manifest, not stopped: ") + triple, text.toString()));
        }
        if (story.violations.beyond() > 0) {
            cases.add(new Case("other resources", "failure", Verdict.times(story.violations.beyond(), "more violation", "more violations"), "See the log."));
        }
        if (story.violations.rows().isEmpty()) {
            cases.add(new Case("everything is inside the manifest", null, null, null));
        }
        return cases;
    }

    private static List<String> bounded(List<String> texts) {
        return texts.subList(0, Math.min(texts.size(), SessionStory.MAX_VIOLATIONS));
    }

    private static void line(StringBuilder to, String name, String value) {
        if (value != null && !value.isEmpty()) {
            to.append(name).append(Visible.name(value)).append('\n');
        }
    }
}
