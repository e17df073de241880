package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Escapes;
import dev.klock.agent.log.Messages;
import dev.klock.cli.learn.Name;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogFiles;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogVisitor;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Manifest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tells of what a session did who did it, why it was decided so, and what the manifest says of it now. */
@Command(description = {"Tell why accesses of a session were decided as they were, and what the manifest would say now.",
    "By default those that were denied or warned about."})
final class Explain extends Verb {
    private static final int MAX = 1000;

    @Parameters(arity = "0..1", paramLabel = "SESSION", description = "Which session; by default the last one in which something was denied or warned about.")
    private String session;

    @Option(names = "--seq", paramLabel = "N", description = "The access with this number in the log, whatever was decided.")
    private Long seq;

    @Option(names = "--about", paramLabel = "TEXT", description = "Accesses to resources with this in their name, whatever was decided.")
    private String about;

    @Option(names = {"-m", "--manifest"}, paramLabel = "MANIFEST", description = "The manifest; by default the one a launch from here would find.")
    private String file;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Explain(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    /** One triple and its decision, with how often it is in the log. */
    private static final class Found {
        LogEvent event;
        long count;
        /** Null where there is no manifest, or no operation has such a resource. */
        Judge.Answer now;
        /** Where {@link #now} is no: why the session was allowed to do that to what it had made itself, and would be now; else null. */
        Judge.Answer made;
        Manifest manifest;
        /** Of what a child changed outside of its effects: whether these name it now; null of anything else, and where there is no manifest. */
        Boolean inEffects;
    }

    /** Keeps what is asked about. */
    private final class Asked implements LogVisitor {
        final Map<String, Found> found = new LinkedHashMap<>();
        String agent;
        long more;
        long unread;

        @Override
        public void unreadable() {
            unread++;
        }

        @Override
        public void header(LogHeader header) {
            agent = header.agentId();
        }

        @Override
        public void event(LogEvent event) {
            boolean violation = event.decision() == Decision.DENY || event.decision() == Decision.WARN;
            boolean asked = seq != null ? event.seq() == seq : about != null ? event.resource() != null && event.resource().contains(about) : violation;
            if (!asked || event.predicate() == null || event.resource() == null) {
                return;
            }
            String key = event.decision() + " " + event.predicate() + " " + event.resource();
            Found same = found.get(key);
            if (same == null && found.size() == MAX) {
                more++;
                return;
            }
            if (same == null) {
                same = new Found();
                same.event = event;
                found.put(key, same);
            }
            same.count += event.count();
        }
    }

    @Override
    public Integer call() throws UsageException, IOException {
        if (about != null && seq != null) {
            throw new UsageException("--about and --seq exclude each other: a number asks about one access");
        }
        Path home = home(directory).directory().toPath();
        LogFiles log = log(home);
        Asked asked = new Asked();
        log.read(asked);
        List<Found> all = new ArrayList<>(asked.found.values());
        if (all.isEmpty()) {
            throw new UsageException("session " + log.name() + (seq != null ? " has no access number " + seq : about != null ? " did nothing to what has " + about + " in its name"
                    : " has nothing denied or warned about; --about TEXT or --seq N asks about others") + (asked.unread == 0 ? "" : "; " + unread(asked.unread)));
        }
        Given given = new Given(Given.argument(file, directory, null), environment);
        Map<String, String> told = AsLaunched.told(log);
        AsLaunched launched = new AsLaunched(given, environment);
        Manifest manifest = given.manifestFile == null ? null : launched.manifest(told).agent(asked.agent);
        if (manifest != null) {
            Judge judge = launched.judge(manifest, told);
            DeclaredBy declared = new DeclaredBy(manifest, judge);
            for (Found one : all) {
                one.manifest = manifest;
                if (isStray(one.event)) {
                    one.inEffects = declared.byEffects(Messages.ran(one.event.note()), Predicate.valueOf(one.event.predicate()), one.event.resource());
                    continue;
                }
                one.now = now(judge, Predicate.valueOf(one.event.predicate()), one.event);
                if (one.event.decision() == Decision.ALLOW && one.now != null && one.now.by == Judge.By.NOTHING) {
                    Judge.Answer made = now(judge, Predicate.PROVIDES, one.event);
                    one.made = made != null && made.allowed() ? made : null;
                }
            }
        }
        if (json) {
            printJson(generator -> write(generator, log.name(), asked.unread, all));
            return ExitCode.OK;
        }
        for (Found one : all) {
            print(one);
        }
        if (asked.unread > 0) {
            terminal.complain(unread(asked.unread) + ": there may have been more");
        }
        if (asked.more > 0) {
            terminal.complain("and " + asked.more + " more records; --about TEXT asks about fewer");
        }
        return ExitCode.OK;
    }

    /** The scope says what the program itself may do, not its children. */
    private static boolean isStray(LogEvent event) {
        return "child".equals(event.decidedBy()) && event.decision() != Decision.ALLOW && event.predicate().equals(Predicate.MUTATES.name());
    }

    private static Judge.Answer now(Judge judge, Predicate predicate, LogEvent event) {
        try {
            return judge.decide(predicate, Name.resource(event.resource()));
        } catch (IllegalArgumentException | UsageException unwritable) {
            return null;
        }
    }

    private LogFiles log(Path home) throws UsageException, IOException {
        if (session != null) {
            return LogFiles.ofSession(home, session);
        }
        LogFiles last = SessionRecord.last(home,
                record -> seq != null || about != null || record.counts[Decision.DENY.ordinal()] + record.counts[Decision.WARN.ordinal()] > 0);
        if (last == null) {
            throw new UsageException("in no session of " + home + " anything was denied or warned about");
        }
        return last;
    }

    private void print(Found one) {
        LogEvent event = one.event;
        boolean good = event.decision() == Decision.ALLOW || event.decision() == Decision.LEARN;
        String word = word(event.decision());
        terminal.out.println((good ? terminal.good(word) : terminal.bad(word)) + " " + Escapes.line(event.predicate() + " " + event.resource()
                + (one.count > 1 ? ", " + one.count + " times" : "") + by(event)));
        if (event.requested() != null) {
            terminal.line("  asked for as " + event.requested());
        }
        terminal.line("  " + event.ts() + (event.thread() == null ? "" : " in thread " + event.thread()) + (event.op() == null ? "" : ", " + event.op())
                + (event.caller() == null ? "" : ", called by " + event.caller()) + ", number " + event.seq());
        if (event.note() != null) {
            terminal.line("  " + event.note());
        }
        if (one.inEffects != null) {
            terminal.out.println("  now " + (one.inEffects ? terminal.good("allowed") + " by the effects of what ran"
                    : terminal.bad("not allowed") + ": the effects of what ran do not name it; what the scope allows the program itself, it does not allow children"));
        }
        if (one.made != null) {
            terminal.out.println("  now " + terminal.good("allowed") + " where it has made it itself, by " + one.made.text(one.manifest, one.made.predicate, one.made.resource));
        } else if (one.now != null) {
            terminal.out.println("  now " + (one.now.allowed() ? terminal.good("allowed") + " by " : terminal.bad("not allowed") + ": ")
                    + one.now.text(one.manifest, one.now.predicate, one.now.resource));
        }
    }

    private static String word(Decision decision) {
        switch (decision) {
            case ALLOW: return "allowed";
            case DENY: return "denied";
            case WARN: return "warned about";
            default: return "learnt";
        }
    }

    private static String by(LogEvent event) {
        String by = event.decidedBy();
        if (by == null || by.equals("mode")) {
            return event.decision() == Decision.ALLOW ? "" : ": no line declares it";
        }
        switch (by) {
            case "baseline": return ": the JVM reads it for itself";
            case "child": return ": a child did it, or was given it";
            case "klock": return ": it is klock's own";
            case "lease": return ": by a lease that was added";
            case "manifest": return ": being above, or in place of, something declared";
            default: return ": by " + by;
        }
    }

    private static void write(JsonGenerator json, String session, long unread, List<Found> all) throws IOException {
        json.writeStartObject();
        json.writeStringField("session_id", session);
        json.writeNumberField("records_unreadable", unread);
        json.writeArrayFieldStart("accesses");
        for (Found one : all) {
            LogEvent event = one.event;
            json.writeStartObject();
            json.writeNumberField("seq", event.seq());
            json.writeStringField("ts", event.ts());
            json.writeStringField("thread", event.thread());
            json.writeStringField("op", event.op());
            json.writeStringField("predicate", event.predicate());
            json.writeStringField("resource", event.resource());
            json.writeStringField("requested", event.requested());
            json.writeStringField("decision", event.decision().word());
            json.writeStringField("decided_by", event.decidedBy());
            json.writeStringField("caller", event.caller());
            json.writeNumberField("count", one.count);
            if (one.inEffects != null) {
                json.writeStringField("now", one.inEffects ? "allowed" : "not allowed");
                json.writeStringField("now_by", one.inEffects ? "effects" : "nothing");
                json.writeEndObject();
                continue;
            }
            Judge.Answer now = one.made != null ? one.made : one.now;
            json.writeStringField("now", now == null ? null : now.allowed() ? "allowed" : "not allowed");
            json.writeStringField("now_by", now == null ? null : now.line != null && now.by != Judge.By.NOTHING ? one.manifest.file() + ":" + now.line.line()
                    : now.by.name().toLowerCase(Locale.ROOT));
            Lines.writeNames(json, "declared_by", one.now == null ? Set.of() : one.now.byAgents.keySet());
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }
}
