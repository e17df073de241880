package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Release;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.kernel.HotSpot;
import dev.klock.kernel.Lease;
import dev.klock.kernel.Overview;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.SessionView;
import dev.klock.shared.Ancestors;
import dev.klock.shared.SharedKernel;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Shows what the sessions of a home hold, and who waits for whom (K7-12). */
@Command(description = "Show the agents at work with a home: what each holds, and for how long, who waits for whom, what is fought over. Changes nothing.")
final class Status extends Verb {
    private static final int HOT_SPOTS = 10;
    private static final long WATCH_MS = 1_000;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--all", description = "Also sessions that have ended, or whose process has, as long as they are remembered.")
    private boolean all;

    @Option(names = "--watch", description = "Show it again every second, until interrupted.")
    private boolean watch;

    @Option(names = "--json", description = "Answer in JSON; with --watch one value a second.")
    private boolean json;

    Status(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException, IOException {
        Home home = home(directory);
        if (!new File(home.directory(), SharedKernel.DIRECTORY).isDirectory()) {
            print(new Overview(0, List.of(), List.of(), List.of()), null);
            return ExitCode.OK;
        }
        try (EmbeddedKernel kernel = SharedKernel.open(home.directory(), SharedKernel.OPTIONS, Release.VERSION, null, null)) {
            do {
                print(kernel.overview(null, HOT_SPOTS), kernel);
            } while (watch && isAgain());
        }
        return ExitCode.OK;
    }

    private boolean isAgain() {
        terminal.out.flush();
        try {
            Thread.sleep(WATCH_MS);
        } catch (InterruptedException e) {
            return false;
        }
        terminal.clear();
        return true;
    }

    private void print(Overview overview, EmbeddedKernel kernel) throws IOException {
        List<SessionView> shown = new ArrayList<>();
        int left = 0;
        for (SessionView session : overview.sessions()) {
            if (all || !session.state().isTerminal() && !isLeft(session, kernel)) {
                shown.add(session);
            } else if (!session.state().isTerminal()) {
                left++;
            }
        }
        long nowMs = kernel == null ? 0 : kernel.nowMs();
        if (json) {
            printJson(generator -> write(generator, shown, overview, kernel, nowMs));
            return;
        }
        if (shown.isEmpty()) {
            terminal.line("no agent is at work");
        }
        for (SessionView session : shown) {
            print(session, kernel, nowMs);
        }
        if (left > 0) {
            terminal.line(times(left, "session") + " more, whose process has ended and which hold nothing (--all)");
        }
        if (!overview.hotSpots().isEmpty()) {
            terminal.line("fought over:");
            for (HotSpot spot : overview.hotSpots()) {
                terminal.line("  " + spot.resource() + ": " + times(spot.conflicts(), "conflict") + ", " + times(spot.deaths(), "death") + ", the last "
                        + ago(nowMs - spot.lastMs()));
            }
        }
        for (Overview.Agent agent : overview.ghosts()) {
            terminal.line(agent.agentId() + " takes leases and is not heard of again: " + agent.counts().expiries() + " of " + agent.counts().grants() + " ran out");
        }
    }

    /** Whether nobody is kept from anything by it, and whoever it was may never come back. */
    private static boolean isLeft(SessionView session, EmbeddedKernel kernel) {
        return session.leases() == 0 && session.place() == 0 && process(session.session(), kernel) == null;
    }

    private void print(SessionView session, EmbeddedKernel kernel, long nowMs) {
        StringBuilder line = new StringBuilder();
        line.append(session.session().agentId()).append('/').append(session.session().sessionId()).append("  ").append(session.state());
        String process = process(session.session(), kernel);
        if (process != null) {
            line.append("  process ").append(process);
        } else if (!session.state().isTerminal()) {
            line.append("  its process has ended");
        }
        line.append("  last heard of ").append(ago(nowMs - session.lastSeenMs()));
        if (session.epoch() > 0) {
            line.append("  restarted ").append(times(session.epoch(), "time"));
        }
        if (session.counts().waits() > 0) {
            line.append("  waited ").append(times(session.counts().waits(), "time"));
        }
        if (session.counts().deaths() > 0) {
            line.append("  died ").append(times(session.counts().deaths(), "time"));
        }
        terminal.line(line.toString());
        if (session.place() > 0) {
            terminal.line("  waits, number " + session.place() + " in the queue, for " + names(session.waitsFor()) + ", " + seconds(session.waitUntilMs() - nowMs) + " more at most");
        }
        for (Lease lease : kernel.leasesOf(session.session())) {
            terminal.line("  " + lease.predicate() + ' ' + lease.resource() + "  " + lease.state() + " for " + seconds(nowMs - lease.acquiredAtMs()) + ", "
                    + seconds(lease.expiresAtMs() - nowMs) + " left");
        }
    }

    private static String process(SessionKey session, EmbeddedKernel kernel) {
        String process = kernel.processOf(session);
        return process == null ? null : Ancestors.number(process);
    }

    private static String names(List<SessionKey> keys) {
        List<String> names = new ArrayList<>();
        for (SessionKey key : keys) {
            names.add(key.agentId() + '/' + key.sessionId());
        }
        return String.join(", ", names);
    }

    private static String times(long count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }

    private static String ago(long ms) {
        return seconds(ms) + " ago";
    }

    private static String seconds(long ms) {
        long s = Math.max(0, ms) / 1000;
        return s < 120 ? s + " s" : s < 7200 ? s / 60 + " min" : s / 3600 + " h";
    }

    private static void write(JsonGenerator json, List<SessionView> sessions, Overview overview, EmbeddedKernel kernel, long nowMs) throws IOException {
        json.writeStartObject();
        json.writeNumberField("now_ms", nowMs);
        json.writeArrayFieldStart("sessions");
        for (SessionView session : sessions) {
            json.writeStartObject();
            json.writeStringField("agent_id", session.session().agentId());
            json.writeStringField("session_id", session.session().sessionId());
            json.writeStringField("state", session.state().name());
            json.writeStringField("process", process(session.session(), kernel));
            json.writeNumberField("priority_timestamp", session.priorityMs());
            json.writeNumberField("epoch", session.epoch());
            json.writeNumberField("waits", session.counts().waits());
            json.writeNumberField("deaths", session.counts().deaths());
            json.writeNumberField("last_seen_ms", session.lastSeenMs());
            json.writeNumberField("queue_position", session.place());
            json.writeArrayFieldStart("waits_for");
            for (SessionKey key : session.waitsFor()) {
                json.writeString(key.agentId() + '/' + key.sessionId());
            }
            json.writeEndArray();
            json.writeArrayFieldStart("leases");
            for (Lease lease : kernel.leasesOf(session.session())) {
                json.writeStartObject();
                json.writeStringField("predicate", lease.predicate().name());
                json.writeStringField("resource", lease.resource().toString());
                json.writeStringField("state", lease.state().name());
                json.writeNumberField("fencing_token", lease.fencingToken());
                json.writeNumberField("acquired_at_ms", lease.acquiredAtMs());
                json.writeNumberField("expires_at_ms", lease.expiresAtMs());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeArrayFieldStart("contention");
        for (HotSpot spot : overview.hotSpots()) {
            json.writeStartObject();
            json.writeStringField("resource", spot.resource().toString());
            json.writeNumberField("conflicts", spot.conflicts());
            json.writeNumberField("deaths", spot.deaths());
            json.writeNumberField("last_ms", spot.lastMs());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
