package dev.klock.cli.report;

import dev.klock.cli.log.LogLease;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * When what was done: a strip for each thread, grouped by session, on one scale. A strip is a picture of its own that is stretched to the room that
 * there is, so that labels keep their size on whatever screen. Colours come from the style sheet alone.
 */
final class Timeline {
    private static final int WIDTH = 1_000;
    private static final int HEIGHT = 28;
    private static final int LEASE_HEIGHT = 10;
    /** The most strips of one report. */
    static final int MAX_STRIPS = 64;
    private static final int MAX_BARS = 200;

    private final Markup html;
    private long fromMs = Long.MAX_VALUE;
    private long toMs = Long.MIN_VALUE;
    private int strips;
    private int left;

    Timeline(Markup html) {
        this.html = html;
    }

    void write(List<SessionReport> reports) throws IOException {
        for (SessionReport report : reports) {
            Activity activity = report.story.activity;
            if (activity.startMs() != Long.MIN_VALUE) {
                fromMs = Math.min(fromMs, activity.startMs());
                toMs = Math.max(toMs, Math.max(activity.lastMs(), activity.startMs() + 1));
            }
        }
        if (toMs == Long.MIN_VALUE) {
            html.element("p", "The log has no times.", "class", "muted");
            return;
        }
        html.open("div", "class", "timeline").feed();
        for (int i = 0; i < reports.size(); i++) {
            session(reports.get(i), reports.size() > 1 ? "#s" + (i + 1) : null);
        }
        html.open("div", "class", "axis").element("span", "").open("div");
        long length = toMs - fromMs;
        html.element("span", "0").element("span", Spans.length(length / 4), "class", "quarter").element("span", Spans.length(length / 2))
                .element("span", Spans.length(length * 3 / 4), "class", "quarter").element("span", Spans.length(length));
        html.close().close().close().feed();
        if (left > 0) {
            html.element("p", "And " + Verdict.times(left, "more thread", "more threads") + ", not drawn.", "class", "muted");
        }
        legend(reports);
    }

    private void legend(List<SessionReport> reports) throws IOException {
        boolean leases = reports.stream().anyMatch(report -> !report.story.leases.isEmpty());
        html.open("p", "class", "legend");
        key("k-fine", "allowed or recorded (height: how much, by powers of ten)");
        key("k-deny", "denied");
        key("k-warn", "warned about");
        if (leases) {
            key("k-held", "leases held");
            key("k-wait", "waited");
            key("k-died", "died, or leases lost");
        }
        html.close().feed();
    }

    private void key(String kind, String text) throws IOException {
        html.open("span").open("i", "class", "key " + kind).close().text(text).close().literal(" ");
    }

    private void session(SessionReport report, String link) throws IOException {
        SessionStory story = report.story;
        if (link != null || !story.leases.isEmpty()) {
            html.open("div", "class", "lane agent").open("span", "class", "label");
            if (link != null) {
                html.element("a", story.agent() == null ? story.id() : story.agent(), "href", link);
            } else {
                html.element("span", "leases");
            }
            html.close();
            leases(story);
            html.close().feed();
        }
        for (Activity.Lane lane : story.activity.lanes()) {
            if (strips++ >= MAX_STRIPS) {
                left++;
                continue;
            }
            html.open("div", "class", "lane").open("span", "class", "label", "title", Visible.of(lane.thread, 120, false));
            html.element("bdi", Visible.of(lane.thread, 120, false)).literal(" ").element("small", Spans.number(lane.total)).close();
            strip(story.activity, lane);
            html.close().feed();
        }
    }

    private void strip(Activity activity, Activity.Lane lane) throws IOException {
        html.open("svg", "viewBox", "0 0 " + WIDTH + " " + HEIGHT, "preserveAspectRatio", "none", "role", "img", "aria-label",
                Visible.of(lane.thread, 120, false) + ": " + lane.total + " accesses");
        StringBuilder fine = new StringBuilder();
        StringBuilder warned = new StringBuilder();
        StringBuilder denied = new StringBuilder();
        double wide = Math.max(2, activity.spanMs() * (double) WIDTH / (toMs - fromMs));
        for (int i = 0; i < Activity.SPANS; i++) {
            double x = Math.min(WIDTH - 2, at(activity.startMs() + i * activity.spanMs()));
            if (lane.fine[i] > 0) {
                int height = Math.min(HEIGHT - 2, 5 + (int) Math.round(5 * Math.log10(lane.fine[i])));
                fine.append('M').append(one(x)).append(' ').append(HEIGHT).append('v').append(-height).append('h').append(one(wide)).append('v').append(height).append('z');
            }
            mark(warned, lane.warned[i], x);
            mark(denied, lane.denied[i], x);
        }
        path("fine", fine);
        path("warned", warned);
        path("denied", denied);
        html.close();
    }

    private static void mark(StringBuilder to, int count, double x) {
        if (count > 0) {
            to.append('M').append(one(Math.max(2, x))).append(" 2v").append(HEIGHT - 4);
        }
    }

    private void path(String kind, StringBuilder shape) throws IOException {
        if (shape.length() > 0) {
            html.empty("path", "class", kind, "d", shape.toString());
        }
    }

    /** Held from the first grant to what ends it, or to the session's end; waited for before. */
    private void leases(SessionStory story) throws IOException {
        html.open("svg", "viewBox", "0 0 " + WIDTH + " " + LEASE_HEIGHT, "preserveAspectRatio", "none", "class", "leases", "role", "img", "aria-label", "leases");
        long since = Long.MIN_VALUE;
        String what = "";
        List<Double> ends = new ArrayList<>();
        int bars = 0;
        for (LogLease lease : story.leases) {
            long ms = SessionStory.ms(lease.ts(), story.activity.startMs());
            if (bars++ > MAX_BARS) {
                break;
            }
            boolean ended = "died".equals(lease.state()) || "lost".equals(lease.state()) || "released".equals(lease.state());
            if (lease.waitedMs() > 0 && !"agent refused".equals(lease.state())) {
                bar("wait", ms - lease.waitedMs(), ms, "waited " + Spans.length(lease.waitedMs()));
            }
            if ("granted".equals(lease.state())) {
                since = since == Long.MIN_VALUE ? ms : since;
                what = String.join(", ", lease.triples());
            } else if (ended && since != Long.MIN_VALUE) {
                bar("held", since, ms, what);
                since = Long.MIN_VALUE;
            }
            if (ended && !"released".equals(lease.state())) {
                ends.add(at(ms));
            }
        }
        if (since != Long.MIN_VALUE) {
            bar("held", since, story.activity.lastMs(), what);
        }
        StringBuilder died = new StringBuilder();
        for (double x : ends) {
            died.append('M').append(one(Math.min(WIDTH - 2, Math.max(2, x)))).append(" 0v").append(LEASE_HEIGHT);
        }
        path("died", died);
        html.close();
    }

    private void bar(String kind, long from, long to, String title) throws IOException {
        double x = at(Math.max(from, fromMs));
        html.open("rect", "class", kind, "x", one(x), "y", "2", "width", one(Math.max(2, at(to) - x)), "height", "6");
        html.element("title", Visible.of(title, 200, false)).close();
    }

    private double at(long ms) {
        return (ms - fromMs) * (double) WIDTH / (toMs - fromMs);
    }

    private static String one(double x) {
        long tenths = Math.round(x * 10);
        return tenths % 10 == 0 ? Long.toString(tenths / 10) : tenths / 10 + "." + Math.abs(tenths % 10);
    }
}
