package dev.klock.cli.report;

import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Release;
import dev.klock.agent.log.Summary;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogLease;
import dev.klock.cli.log.LogRecovered;
import java.io.IOException;
import java.io.InputStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One HTML file that needs nothing else: no network, no script. Its policy lets in its own style sheet, by hash, and nothing more, so that even
 * text that got past {@link Markup} could do nothing.
 */
public final class HtmlReport {
    /** Lines of one list that are shown; the number of the others is said. */
    private static final int MAX_ITEMS = 500;

    /** So many violations stand before the timeline. */
    private static final int FEW_VIOLATIONS = 3;
    /** Lines of a diff that is shown without being asked for. */
    private static final int SHORT_DIFF = 40;
    /** So many of them. */
    private static final int MAX_OPEN = 20;

    /** Columns of numbers. */
    private static final Set<String> NUMBERS = Set.of("Denied", "Warned", "Rolled back");

    private final Markup html;
    private final List<SessionReport> reports;
    private int violations;
    private int shortDiffs;

    private HtmlReport(Markup html, List<SessionReport> reports) {
        this.html = html;
        this.reports = reports;
    }

    /** Writes the page of {@code reports}, one or more, as UTF-8 text. */
    public static void write(Writer out, List<SessionReport> reports) throws IOException {
        new HtmlReport(new Markup(out), reports).page();
    }

    private void page() throws IOException {
        SessionReport first = reports.get(0);
        String title = reports.size() == 1 ? known(first.story.agent(), first.story.id()) + " \u2013 klock report" : reports.size() + " sessions \u2013 klock report";
        String style = style();
        html.literal("<!DOCTYPE html>\n").open("html", "lang", "en").open("head").feed();
        html.empty("meta", "charset", "utf-8").feed();
        html.empty("meta", "http-equiv", "Content-Security-Policy", "content",
                "default-src 'none'; style-src 'sha256-" + sha256(style) + "'; base-uri 'none'; form-action 'none'").feed();
        html.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1").feed();
        html.empty("meta", "name", "color-scheme", "content", "light dark").feed();
        html.empty("meta", "name", "referrer", "content", "no-referrer").feed();
        html.empty("meta", "name", "generator", "content", "klock " + Release.VERSION).feed();
        html.element("title", title).feed();
        html.open("style").literal(style).close().close().feed();
        html.open("body").open("main").feed();
        if (reports.size() == 1) {
            head(first, "h1");
            band(first);
            numbers(first);
            links(first, "");
            boolean few = first.story.violations.rows().size() <= FEW_VIOLATIONS;
            if (few) {
                violations(first, "");
            }
            section("timeline", "Timeline", null);
            new Timeline(html).write(reports);
            html.close().feed();
            if (!few) {
                violations(first, "");
            }
            rest(first, "");
        } else {
            overview();
            for (int i = 0; i < reports.size(); i++) {
                SessionReport report = reports.get(i);
                String prefix = "s" + (i + 1);
                html.open("article", "class", "session", "id", prefix).feed();
                head(report, "h2");
                band(report);
                numbers(report);
                violations(report, prefix + "-");
                rest(report, prefix + "-");
                html.close().feed();
            }
        }
        html.open("footer").text("Made by klock " + Release.VERSION + " from the verification log" + (reports.size() == 1 ? "" : "s")
                + ". klock sees what the JVM does, not what other processes or native code do.").close();
        html.close().close().close().feed();
    }

    private static String style() throws IOException {
        try (InputStream in = HtmlReport.class.getResourceAsStream("report.css")) {
            if (in == null) {
                throw new IOException("the report's style sheet is not there");
            }
            return "\n" + new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String sha256(String text) throws IOException {
        try {
            return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (GeneralSecurityException e) {
            throw new IOException("this JVM has no SHA-256", e);
        }
    }

    // ---- the top

    private void overview() throws IOException {
        html.open("header").element("p", "klock report", "class", "eyebrow").element("h1", reports.size() + " sessions").close().feed();
        html.open("table", "class", "sessions").open("thead").open("tr");
        for (String head : new String[] {"Agent", "How it went", "Denied", "Warned", "Rolled back", "Session"}) {
            html.element("th", head, "class", NUMBERS.contains(head) ? "n" : null);
        }
        html.close().close().open("tbody").feed();
        for (int i = 0; i < reports.size(); i++) {
            SessionReport report = reports.get(i);
            Verdict verdict = Verdict.of(report);
            html.open("tr").open("td", "data-label", "Agent").element("a", known(report.story.agent(), report.story.id()), "href", "#s" + (i + 1)).close();
            html.open("td", "data-label", "How it went").element("span", verdict.title(), "class", "chip " + css(verdict)).close();
            cell("Denied", report.story.count(Decision.DENY));
            cell("Warned", report.story.count(Decision.WARN));
            cell("Rolled back", report.story.size("rolled_back"));
            html.open("td", "data-label", "Session").element("code", report.story.id()).close().close().feed();
        }
        html.close().close().feed();
        section("timeline", "Timeline", null);
        new Timeline(html).write(reports);
        html.close().feed();
    }

    private void cell(String label, long n) throws IOException {
        html.element("td", Spans.number(n), "data-label", label, "class", n == 0 ? "n zero" : "n");
    }

    private void head(SessionReport report, String heading) throws IOException {
        SessionStory story = report.story;
        html.open("header");
        html.element("p", heading.equals("h1") ? "klock report" : "session", "class", "eyebrow");
        html.element(heading, known(story.agent(), "unknown agent"));
        html.open("p", "class", "facts");
        html.element("code", story.id());
        fact(story.mode() == null ? null : story.mode() + " mode");
        long start = story.activity.startMs();
        if (start != Long.MIN_VALUE) {
            fact(Spans.moment(start));
            fact(Spans.length(story.activity.lastMs() - start));
        }
        fact(story.java() == null ? null : "Java " + story.java());
        fact(story.pid() == 0 ? null : "process " + story.pid());
        fact(story.exitCode() == Summary.UNKNOWN ? null : "exit " + story.exitCode());
        html.close().close().feed();
    }

    private void fact(String text) throws IOException {
        if (text != null) {
            html.literal(" ").element("span", text);
        }
    }

    private void band(SessionReport report) throws IOException {
        Verdict verdict = Verdict.of(report);
        html.open("div", "class", "band " + css(verdict)).element("strong", verdict.title()).element("p", verdict.text());
        if (!report.story.isWhole() && verdict.level() != Verdict.Level.GOOD) {
            html.element("p", "The log is not whole: " + losses(report.story) + ".");
        }
        html.close().feed();
    }

    private static String css(Verdict verdict) {
        switch (verdict.level()) {
            case GOOD: return "good";
            case NEUTRAL: return "info";
            case WARNING: return "warn";
            default: return "bad";
        }
    }

    private void numbers(SessionReport report) throws IOException {
        SessionStory story = report.story;
        html.open("dl", "class", "numbers");
        number("allowed", story.count(Decision.ALLOW), "");
        number("denied", story.count(Decision.DENY), "bad");
        number("warned about", story.count(Decision.WARN), "warn");
        if (story.count(Decision.LEARN) > 0) {
            number("learnt", story.count(Decision.LEARN), "");
        }
        if (!story.told("rolled_back").isEmpty()) {
            number("rolled back", story.size("rolled_back"), "");
        }
        if (!story.told("conflicts").isEmpty()) {
            number("not rolled back", story.size("conflicts"), "bad");
        }
        html.close().feed();
    }

    private void number(String name, long n, String kind) throws IOException {
        html.open("div", "class", n == 0 ? "zero" : kind).element("dt", name).element("dd", Spans.number(n)).close();
    }

    private void links(SessionReport report, String prefix) throws IOException {
        html.open("nav", "aria-label", "Sections");
        if (!report.story.violations.rows().isEmpty()) {
            link(prefix + "violations", "Violations");
        }
        link("timeline", "Timeline");
        link(prefix + "manifest", "Manifest");
        link(prefix + "changes", "Files");
        link(prefix + "unseen", "Blind spots");
        link(prefix + "settings", "Settings");
        html.close().feed();
    }

    private void link(String to, String text) throws IOException {
        html.element("a", text, "href", "#" + to).literal(" ");
    }

    /** The caller closes it. */
    private void section(String id, String title, String number) throws IOException {
        html.open("section", "id", id).open("h2").text(title);
        if (number != null) {
            html.literal(" ").element("small", number);
        }
        html.close().feed();
    }

    // ---- violations

    private void violations(SessionReport report, String prefix) throws IOException {
        SessionStory story = report.story;
        if (story.violations.rows().isEmpty()) {
            return;
        }
        section(prefix + "violations", "Violations", Spans.number(story.violations.rows().size()) + (story.violations.beyond() > 0 ? " and more" : ""));
        for (SessionStory.Violation violation : story.violations.rows().values()) {
            card(violation, report.advice(violation));
        }
        more(story.violations.beyond(), "violation of other resources", "violations of other resources", "count them with explain --about");
        html.close().feed();
    }

    private void card(SessionStory.Violation violation, Advice advice) throws IOException {
        LogEvent first = violation.first;
        html.open("article", "class", "card " + (violation.isDenied() ? "bad" : "warn"), "id", "v" + ++violations);
        html.open("h3").element("span", violation.isFound() ? "found changed" : violation.isDenied() ? "denied" : "not stopped", "class", "chip " + (violation.isDenied() ? "bad" : "warn"));
        html.literal(" ").element("b", known(first.predicate(), "?")).literal(" ");
        resource(first.resource());
        if (violation.count > 1) {
            html.literal(" ").element("span", Spans.number(violation.count) + " times", "class", "times");
        }
        html.close().feed();
        html.element("p", why(violation, advice), "class", "why");
        if (first.note() != null) {
            html.element("p", first.note());
        }
        if (advice != null && advice.line() != null) {
            html.open("div", "class", "fix").element("span", "to allow it, add to scope");
            html.element("code", "- " + advice.line());
            for (String each : advice.more()) {
                html.element("small", each);
            }
            html.close().feed();
        }
        html.open("dl", "class", "facts");
        pair("When", Spans.moment(SessionStory.ms(first.ts(), Long.MIN_VALUE)) + (violation.count > 1 && violation.last != null && !violation.last.equals(first.ts())
                ? ", last " + Spans.moment(SessionStory.ms(violation.last, Long.MIN_VALUE)) : ""));
        pair("Thread", violation.threads.isEmpty() ? null : String.join(", ", violation.threads));
        pair("Operation", first.op());
        pair("Asked for as", first.requested());
        pair("Called by", first.caller());
        pair("Record", "number " + first.seq());
        html.close().feed();
        if (advice != null && !advice.nearest().isEmpty()) {
            html.element("p", "Nearest declared", "class", "label").open("ul", "class", "lines");
            for (String near : advice.nearest()) {
                html.open("li").element("code", near).close();
            }
            html.close().feed();
        }
        stack(first);
        html.close().feed();
    }

    private static String why(SessionStory.Violation violation, Advice advice) {
        if (violation.isOwn()) {
            return "It is klock's own, which no manifest gives away.";
        }
        if (violation.isFound()) {
            return "It was changed while a child ran, outside of the effects declared there. It is not put back: another process may have changed it.";
        }
        if (advice == null) {
            return violation.first.decidedBy() == null || violation.first.decidedBy().equals("mode") ? "No line of the manifest declares it." : "Decided by " + violation.first.decidedBy() + ".";
        }
        return advice.allowed() ? "The manifest allows it now: " + advice.why() : advice.why();
    }

    /** The program's own frames first: those of the JDK tell how, not why. */
    private void stack(LogEvent first) throws IOException {
        if (first.stack().isEmpty()) {
            return;
        }
        List<String> program = new ArrayList<>();
        List<String> jdk = new ArrayList<>();
        for (String frame : first.stack()) {
            (isOfTheJdk(frame) ? jdk : program).add(frame);
        }
        html.open("details", "class", "stack", "open", "").element("summary", "Stack, the first time");
        html.open("ol");
        for (String frame : program) {
            html.open("li").element("code", frame).close();
        }
        html.close();
        if (!jdk.isEmpty()) {
            html.element("p", "through the JDK", "class", "label").open("ol", "class", "muted");
            for (String frame : jdk) {
                html.open("li").element("code", frame).close();
            }
            html.close();
        }
        html.close().feed();
    }

    private static boolean isOfTheJdk(String frame) {
        int slash = frame.indexOf('/');
        return frame.startsWith("java.") && slash > 0 || frame.startsWith("jdk.") && slash > 0;
    }

    private void resource(String resource) throws IOException {
        String text = known(resource, "?");
        int colon = text.indexOf(':');
        html.open("code", "class", "resource").element("i", text.substring(0, colon + 1)).element("bdi", text.substring(colon + 1)).close();
    }

    private void pair(String name, String value) throws IOException {
        if (value != null) {
            html.open("div").element("dt", name).open("dd").element("bdi", value).close().close();
        }
    }

    private void more(long n, String one, String many, String how) throws IOException {
        if (n > 0) {
            html.element("p", "And " + Verdict.times(n, one, many) + (how == null ? "" : ": " + how) + ".", "class", "more").feed();
        }
    }

    // ---- the rest

    private void rest(SessionReport report, String prefix) throws IOException {
        manifest(report, prefix);
        leases(report, prefix);
        changes(report, prefix);
        conflicts(report, prefix);
        unseen(report, prefix);
        settings(report, prefix);
    }

    private void manifest(SessionReport report, String prefix) throws IOException {
        SessionStory story = report.story;
        Map<String, SessionStory.Use> byLine = new LinkedHashMap<>();
        Map<String, SessionStory.Use> byOther = new LinkedHashMap<>();
        for (Map.Entry<String, SessionStory.Use> use : story.uses.rows().entrySet()) {
            (lineOf(use.getKey()) > 0 ? byLine : byOther).put(use.getKey(), use.getValue());
        }
        List<LogHeader.Declared> lines = new ArrayList<>(story.declared());
        if (lines.isEmpty()) {
            for (String triple : story.told("declared")) {
                lines.add(new LogHeader.Declared(0, triple));
            }
        }
        Set<String> used = new HashSet<>(story.told("used"));
        section(prefix + "manifest", "Manifest", null);
        if (story.manifest() != null) {
            html.open("p", "class", "muted").text("Declared in ").element("code", story.manifest()).text(", against what was done.").close().feed();
        } else {
            html.element("p", "There was no manifest.", "class", "muted");
        }
        if (!lines.isEmpty() || !byLine.isEmpty()) {
            html.open("table", "class", "declared").open("thead").open("tr").element("th", "Line", "class", "n").element("th", "Declared").element("th", "Allowed", "class", "n")
                    .element("th", "Such as").close().close().open("tbody").feed();
            int shown = 0;
            for (LogHeader.Declared line : lines) {
                SessionStory.Use use = taken(byLine, line.line());
                if (shown++ < MAX_ITEMS) {
                    row(line.line(), line.triple(), use, use != null || used.contains(line.triple()), story.end() == null);
                }
            }
            for (Map.Entry<String, SessionStory.Use> use : byLine.entrySet()) {
                if (shown++ < MAX_ITEMS) {
                    row(lineOf(use.getKey()), String.join(", ", use.getValue().predicates), use.getValue(), true, false);
                }
            }
            html.close().close().feed();
            more(shown - MAX_ITEMS, "line", "lines", null);
        }
        if (!byOther.isEmpty()) {
            html.element("h3", "Without a line of its own");
            html.open("ul", "class", "plain");
            for (Map.Entry<String, SessionStory.Use> use : byOther.entrySet()) {
                html.open("li").element("b", Spans.number(use.getValue().count)).text(" " + ground(use.getKey())).literal(" ");
                samples(use.getValue());
                html.close();
            }
            html.close().feed();
        }
        more(story.uses.beyond(), "access by other lines", "accesses by other lines", null);
        html.close().feed();
    }

    /** What the line of this number allowed, which is told then; null if nothing. */
    private static SessionStory.Use taken(Map<String, SessionStory.Use> byLine, int line) {
        if (line == 0) {
            return null;
        }
        for (String key : byLine.keySet()) {
            if (lineOf(key) == line) {
                return byLine.remove(key);
            }
        }
        return null;
    }

    private void row(int line, String triple, SessionStory.Use use, boolean isUsed, boolean isOpen) throws IOException {
        html.open("tr", "class", isUsed ? "" : "unused");
        html.element("td", line == 0 ? "" : Integer.toString(line), "data-label", "Line", "class", "n");
        html.open("td", "data-label", "Declared").element("code", triple).close();
        html.open("td", "data-label", "Allowed", "class", "n");
        if (use != null) {
            html.text(Spans.number(use.count));
        } else {
            html.element("span", isUsed ? "used" : isOpen ? "not yet used" : "unused", "class", "chip");
        }
        html.close().open("td", "data-label", "Such as");
        if (use != null) {
            samples(use);
        }
        html.close().close().feed();
    }

    private void samples(SessionStory.Use use) throws IOException {
        html.open("span", "class", "samples");
        for (String sample : use.samples) {
            html.element("code", sample).literal(" ");
        }
        html.close();
    }

    /** The number that a place such as {@code klock.yaml:7} ends with; 0 if it is none. */
    static int lineOf(String decidedBy) {
        int colon = decidedBy.lastIndexOf(':');
        if (colon <= 0 || decidedBy.length() - colon > 9) {
            return 0;
        }
        int n = 0;
        for (int i = colon + 1; i < decidedBy.length(); i++) {
            char c = decidedBy.charAt(i);
            if (c < '0' || c > '9') {
                return 0;
            }
            n = n * 10 + c - '0';
        }
        return n;
    }

    private static String ground(String decidedBy) {
        switch (decidedBy) {
            case "baseline": return "that the JVM reads for itself";
            case "manifest": return "looking at what lies above, or takes the place of, something declared";
            case "child": return "by children within their effects, or given to them";
            case "lease": return "under a lease that was added while it ran";
            case "mode": return "that no line declares, recorded only";
            case "klock": return "of klock's own";
            case "": return "for reasons that the log does not give";
            default: return "by ".concat(decidedBy);
        }
    }

    private void leases(SessionReport report, String prefix) throws IOException {
        SessionStory story = report.story;
        if (story.leases.isEmpty()) {
            return;
        }
        section(prefix + "leases", "Leases", null);
        html.open("ul", "class", "plain").feed();
        int shown = 0;
        for (LogLease lease : story.leases) {
            if (shown++ < MAX_ITEMS) {
                html.open("li").element("span", known(lease.state(), "?"), "class", "chip " + ("lost".equals(lease.state()) || "died".equals(lease.state()) ? "bad" : ""));
                html.text(" " + Spans.moment(SessionStory.ms(lease.ts(), Long.MIN_VALUE)) + (lease.waitedMs() > 0 ? ", after " + Spans.length(lease.waitedMs()) : "")
                        + (lease.detail() == null ? "" : ", " + lease.detail())).literal(" ").open("span", "class", "samples");
                for (String triple : lease.triples()) {
                    html.element("code", triple).literal(" ");
                }
                html.close().close().feed();
            }
        }
        html.close();
        more(story.leasesBeyond + Math.max(0, shown - MAX_ITEMS), "record of leases", "records of leases", null);
        html.close().feed();
    }

    private void changes(SessionReport report, String prefix) throws IOException {
        SessionStory story = report.story;
        section(prefix + "changes", "Files", report.changes.isEmpty() ? null : Spans.number(report.changes.size() + report.changesBeyond));
        if (report.changesNote != null) {
            html.element("p", report.changesNote, "class", "muted");
        }
        if (report.changes.isEmpty()) {
            changesByLog(story);
        }
        for (FileChange change : report.changes) {
            boolean diff = !change.lines().isEmpty();
            boolean opened = diff && change.lines().size() <= SHORT_DIFF && shortDiffs++ < MAX_OPEN;
            html.open(diff ? "details" : "div", "class", "file", "open", opened ? "" : null);
            html.open(diff ? "summary" : "div", "class", "name").element("span", change.change(), "class", "chip " + change.change()).literal(" ");
            html.open("code", "class", "resource").element("bdi", change.path()).close();
            if (change.state() != null) {
                html.literal(" ").element("span", change.state(), "class", "times");
            }
            html.close();
            if (diff) {
                diff(change);
            } else if (change.was() != null) {
                html.open("p", "class", "muted").text(change.was() + " \u2192 " + known(change.is(), "?")).close();
            }
            html.close().feed();
        }
        more(report.changesBeyond, "path", "paths", "klock.jar diff shows them");
        html.close().feed();
    }

    private void changesByLog(SessionStory story) throws IOException {
        Map<String, SessionStory.Touched> rows = story.touched.rows();
        if (rows.isEmpty()) {
            html.element("p", "No file was changed, as far as the log tells.", "class", "muted");
            return;
        }
        Set<String> back = new HashSet<>(story.told("rolled_back"));
        html.element("p", "By the log alone: there are no images to compare with.", "class", "muted").open("ul", "class", "plain");
        int shown = 0;
        for (Map.Entry<String, SessionStory.Touched> row : rows.entrySet()) {
            if (shown++ < MAX_ITEMS) {
                html.open("li").element("b", String.join(", ", row.getValue().predicates)).literal(" ").open("code", "class", "resource").element("bdi", row.getKey()).close();
                html.text((row.getValue().byChild ? " by a child" : "") + (back.contains("FILE:" + row.getKey()) ? ", rolled back" : "")).close();
            }
        }
        html.close();
        more(story.touched.beyond() + Math.max(0, shown - MAX_ITEMS), "change of other paths", "changes of other paths", null);
    }

    private void diff(FileChange change) throws IOException {
        html.open("pre", "class", "diff");
        for (String line : change.lines()) {
            String kind = line.startsWith("+++") || line.startsWith("---") ? "at" : line.startsWith("@@") ? "at" : line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : null;
            // a mark for a missing end of line is behind a line feed
            int cut = line.indexOf('\n');
            html.open("span", "class", kind).line(cut < 0 ? line : line.substring(0, cut)).close().feed();
            if (cut >= 0) {
                html.open("span", "class", "at").line(line.substring(cut + 1)).close().feed();
            }
        }
        if (change.more() > 0) {
            html.element("span", "\u2026 and " + Verdict.times(change.more(), "more line", "more lines"), "class", "at");
        }
        html.close();
    }

    private void conflicts(SessionReport report, String prefix) throws IOException {
        List<String> conflicts = report.story.told("conflicts");
        if (conflicts.isEmpty()) {
            return;
        }
        section(prefix + "conflicts", "Not rolled back", Spans.number(report.story.size("conflicts")));
        html.element("p", "Others changed these after the session did, or they could not be put back. Theirs stay; the images are kept: klock.jar undo --force puts them back.", "class", "muted");
        html.open("ul", "class", "lines");
        for (String conflict : bounded(conflicts)) {
            html.open("li").element("code", conflict).close().feed();
        }
        html.close();
        more(report.story.size("conflicts") - bounded(conflicts).size(), "more", "more", null);
        html.close().feed();
    }

    private static String losses(SessionStory story) {
        List<String> losses = new ArrayList<>();
        if (story.lost > 0) {
            losses.add(Verdict.times(story.lost, "record was", "records were") + " lost when the log could not be written");
        }
        if (story.unreadable > 0) {
            losses.add(Verdict.times(story.unreadable, "line", "lines")
                    + " cannot be read: the program was killed or the disk was full in the middle of writing, or the log is damaged");
        }
        if (story.partsMissing > 0) {
            losses.add(Verdict.times(story.partsMissing, "file", "files") + " of its middle had to give way to newer ones");
        }
        return String.join(", ", losses);
    }

    private void unseen(SessionReport report, String prefix) throws IOException {
        SessionStory story = report.story;
        section(prefix + "unseen", "Blind spots", null);
        html.element("p", "What this report cannot vouch for.", "class", "muted");
        html.open("ul", "class", "spots");
        boolean any = false;
        if (!story.isWhole()) {
            any |= spot("warn", "The log is not whole", losses(story) + ".");
        }
        if (story.end() == null) {
            any |= spot("warn", "There is no summary", report.running ? "The session runs still." : "The session did not come to its end.");
        }
        if ("permissive".equals(story.mode()) || "learn".equals(story.mode())) {
            any |= spot("warn", "Nothing was stopped", "In " + story.mode() + " mode whatever is outside the manifest goes on.");
        }
        for (String jvm : bounded(story.told("unmonitored"))) {
            any |= spot("warn", "A JVM ran without klock", jvm);
        }
        for (Map.Entry<String, SessionStory.Opaque> program : story.programs.rows().entrySet()) {
            SessionStory.Opaque one = program.getValue();
            String effects = one.effects > 0 ? " Changes found while it ran: " + Spans.number(one.effects) + "." : "";
            String text = one.notes.isEmpty() ? "What it changed within its effects is known; what it read, or sent, is not." : String.join("; ", one.notes) + ".";
            any |= spot(one.notes.isEmpty() ? "" : "warn", "A child ran: " + program.getKey() + (one.count > 1 ? ", " + Spans.number(one.count) + " times" : ""), text + effects);
        }
        for (Map.Entry<String, SessionStory.Opaque> code : story.nativeCode.rows().entrySet()) {
            any |= spot("", "Native code: " + code.getKey(), "What it did klock does not see.");
        }
        for (String hook : bounded(story.told("unused_hooks"))) {
            any |= spot("warn", "A hook observed nothing", hook);
        }
        for (String note : bounded(story.told("notes"))) {
            any |= spot("warn", "Put back, with something to know", note);
        }
        for (LogRecovered one : story.recovered.rows().values()) {
            any |= spot("", "An earlier session had crashed: " + one.sessionId(), known(one.result(), ""));
        }
        if (!any) {
            any = spot("good", "None known", "No children, no native code, and every record is there.");
        }
        html.close();
        more(story.programs.beyond() + story.nativeCode.beyond(), "start of other programs, or use of other native code", "starts of other programs, or uses of other native code", null);
        html.close().feed();
    }

    private static List<String> bounded(List<String> texts) {
        return texts.size() <= MAX_ITEMS ? texts : texts.subList(0, MAX_ITEMS);
    }

    private boolean spot(String kind, String title, String text) throws IOException {
        html.open("li", "class", kind).element("b", title).element("p", text).close().feed();
        return true;
    }

    private void settings(SessionReport report, String prefix) throws IOException {
        SessionStory story = report.story;
        section(prefix + "settings", "Settings and log", null);
        if (story.settings().isEmpty()) {
            html.element("p", story.process() == null ? "The log does not say which settings it was started with." : "The settings are those of the process, session " + story.process() + ".",
                    "class", "muted").feed();
        } else {
            List<LogHeader.Setting> given = new ArrayList<>();
            List<LogHeader.Setting> byDefault = new ArrayList<>();
            for (LogHeader.Setting setting : story.settings()) {
                ("default".equals(setting.origin()) ? byDefault : given).add(setting);
            }
            settings(given);
            html.open("details").element("summary", Verdict.times(byDefault.size(), "more is as by default", "more are as by default"));
            settings(byDefault);
            html.close().feed();
        }
        html.open("dl", "class", "facts");
        pair("Log", story.name() + ".jsonl, " + Verdict.times(story.records, "record", "records"));
        pair("Images", known(report.state, "none"));
        pair("Mode", story.mode());
        html.close().close().feed();
    }

    private void settings(List<LogHeader.Setting> settings) throws IOException {
        html.open("table", "class", "settings").open("thead").open("tr").element("th", "Setting").element("th", "Value").element("th", "From").close().close().open("tbody").feed();
        for (LogHeader.Setting setting : settings) {
            html.open("tr").open("td", "data-label", "Setting").element("code", known(setting.key(), "?")).close();
            html.open("td", "data-label", "Value").element("code", known(setting.value(), "")).close().element("td", known(setting.origin(), "?"), "data-label", "From").close().feed();
        }
        html.close().close().feed();
    }

    static String known(String text, String otherwise) {
        return text == null ? otherwise : text;
    }
}
