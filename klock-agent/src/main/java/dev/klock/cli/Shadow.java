package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Escapes;
import dev.klock.cli.learn.Name;
import dev.klock.cli.learn.Observations;
import dev.klock.cli.log.LogEvent;
import dev.klock.cli.log.LogFiles;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogVisitor;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Tells what a manifest that is not enforced yet would have denied of what sessions did under another. By their logs: what is only tried out costs
 * the program nothing and can do it no harm.
 */
@Command(description = {"Tell what another manifest would have denied of what sessions did, before it is enforced.",
    "Exit code 0 if nothing, 3 if something."})
final class Shadow extends Verb {
    /** So many are told with all that there is to say of them. */
    private static final int EXPLAINED = 50;
    /** So many more are told apart. */
    private static final int MAX = 10_000;

    @Parameters(index = "0", paramLabel = "MANIFEST", description = "The manifest that is to be tried out.")
    private String file;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "SESSION", description = "The sessions; by default all that there are logs of.")
    private List<String> sessions = new ArrayList<>();

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home with the logs; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--log", paramLabel = "FILE", description = "A log that lies elsewhere, besides or instead of SESSION.")
    private List<String> logs = new ArrayList<>();

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Shadow(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    /** One triple that would be denied. */
    private static final class Found {
        final LogEvent first;
        final String session;
        final Manifest manifest;
        final Judge judge;
        long count;

        Found(LogEvent first, String session, Manifest manifest, Judge judge) {
            this.first = first;
            this.session = session;
            this.manifest = manifest;
            this.judge = judge;
        }

        String triple() {
            return first.predicate() + " " + first.resource();
        }

        /** Whether a line that denies it is what has to be changed, and none to be added. */
        boolean isOfADenyLine() {
            Judge.Answer answer = answer();
            return answer != null && answer.by == Judge.By.DENY && answer.predicate.name().equals(first.predicate());
        }

        /** Null where a child did it that the manifest lets start, or no operation has such a resource. */
        Judge.Answer answer() {
            try {
                Judge.Answer answer = judge.decide(Predicate.valueOf(first.predicate()), Name.resource(first.resource()));
                return answer.allowed() ? null : answer;
            } catch (IllegalArgumentException | UsageException unwritable) {
                return null;
            }
        }
    }

    /** What one session did, as the manifest of its agent sees it. */
    private final class Run implements LogVisitor {
        private final String session;
        private final AsLaunched launched;
        private final Map<String, String> told;
        private final Manifest whole;
        private Manifest manifest;
        private Judge judge;
        private Observations seen;
        private boolean ofAStranger;

        Run(LogFiles log, AsLaunched launched) throws UsageException, IOException {
            session = log.name();
            this.launched = launched;
            told = AsLaunched.told(log);
            whole = launched.manifest(told);
        }

        @Override
        public void header(LogHeader header) {
            Manifest its = header.agentId() == null ? whole : whole.agent(header.agentId());
            if (its == null && whole.agents().isEmpty()) {
                // the same agent by another name
                its = whole;
            }
            if (its == null) {
                strangers += ofAStranger ? 0 : 1;
                ofAStranger = true;
                return;
            }
            if (manifest != its) {
                manifest = its;
                judge = launched.judge(its, told);
                seen = new Observations(false, new DeclaredBy(its, judge));
                looked++;
            }
            seen.header(header);
        }

        @Override
        public void event(LogEvent event) {
            if (seen == null) {
                // nobody knows whose it is
                unread += ofAStranger ? 0 : 1;
                return;
            }
            seen.event(event);
            String triple = event.predicate() + " " + event.resource();
            if (!seen.undeclared().contains(triple)) {
                return;
            }
            String key = manifest.agentId() + "\n" + triple;
            Found one = found.get(key);
            if (one == null && found.size() == MAX) {
                more += event.count();
                return;
            }
            if (one == null) {
                one = new Found(event, session, manifest, judge);
                found.put(key, one);
            }
            one.count += event.count();
        }

        @Override
        public void lost(long records) {
            lost += records;
        }

        @Override
        public void unreadable() {
            unread++;
            if (seen != null) {
                seen.unreadable();
            }
        }

        void end() {
            events += seen == null ? 0 : seen.events();
            tells |= seen != null && !seen.isIllegible();
        }
    }

    private final Map<String, Found> found = new LinkedHashMap<>();
    private long events;
    private long more;
    private long lost;
    private long unread;
    private boolean tells;
    private int looked;
    private int strangers;

    @Override
    public Integer call() throws UsageException, IOException {
        Path home = logs.isEmpty() || !sessions.isEmpty() ? home(directory).directory().toPath() : null;
        Given given = new Given(Given.argument(file, home == null ? directory : home.toString(), null), environment);
        Manifest manifest = given.manifest();
        AsLaunched launched = new AsLaunched(given, environment);
        List<LogFiles> chosen = chosen(home);
        for (LogFiles log : chosen) {
            Run run = new Run(log, launched);
            log.read(run);
            run.end();
        }
        if (!tells && strangers == 0) {
            throw illegible(chosen, unread);
        }
        if (looked == 0) {
            throw new UsageException(manifest.file() + " declares nothing for the agents of these sessions; it has " + Escapes.line(manifest.agentIds()));
        }
        if (json) {
            printJson(generator -> write(generator, manifest));
        } else {
            print(manifest);
        }
        return found.isEmpty() ? ExitCode.OK : ExitCode.VIOLATIONS;
    }

    private List<LogFiles> chosen(Path home) throws UsageException {
        List<LogFiles> chosen = named(home, sessions, logs);
        if (chosen.isEmpty()) {
            chosen.addAll(LogFiles.all(home));
        }
        if (chosen.isEmpty()) {
            throw new UsageException("there is no log of a session in " + home + "; run the program with klock first");
        }
        return chosen;
    }

    private void print(Manifest manifest) {
        int told = 0;
        for (Found one : found.values()) {
            String line = one.triple() + (one.count > 1 ? ", " + one.count + " times" : "")
                    + (one.first.caller() == null ? "" : ", called by " + one.first.caller()) + ", first in session " + one.session;
            terminal.out.println(terminal.bad("would be denied") + " " + Escapes.line(line));
            Judge.Answer answer = told++ < EXPLAINED ? one.answer() : null;
            if (answer != null) {
                terminal.out.println(answer.text(one.manifest, answer.predicate, answer.resource).indent(2).stripTrailing());
            } else if (one.first.note() != null && told <= EXPLAINED) {
                terminal.line("  " + one.first.note());
            }
        }
        if (more > 0) {
            terminal.complain("and " + more + " accesses to other resources; name sessions to see fewer");
        }
        if (lost > 0) {
            terminal.complain(lost + " records of these sessions could not be written when they ran: what they did is not all known");
        }
        if (unread > 0) {
            terminal.complain(unread(unread) + ": what they did is not all known");
        }
        if (strangers > 0) {
            terminal.complain("of " + strangers + (strangers == 1 ? " session" : " sessions") + " the agent is none of " + manifest.file() + ", so nothing is said of it");
        }
        String of = " of " + events + (events == 1 ? " access" : " accesses") + " in " + looked + (looked == 1 ? " session" : " sessions");
        if (found.isEmpty()) {
            terminal.out.println(Escapes.line(manifest.file()) + " would deny " + terminal.good("nothing") + of);
        } else {
            terminal.out.println(Escapes.line(manifest.file()) + " would deny " + terminal.bad(found.size() + (found.size() == 1 ? " thing" : " things")) + of
                    + (found.values().stream().allMatch(Found::isOfADenyLine) ? "; all of it by lines of its deny: list, so if it may be, take those out"
                    : "; what it lacks: java -jar klock.jar learn --merge " + Escapes.line(file) + " SESSION"));
        }
    }

    private void write(JsonGenerator out, Manifest manifest) throws IOException {
        out.writeStartObject();
        out.writeStringField("manifest", manifest.file());
        out.writeNumberField("sessions", looked);
        out.writeNumberField("sessions_of_other_agents", strangers);
        out.writeNumberField("accesses", events);
        out.writeNumberField("records_lost", lost);
        out.writeNumberField("records_unreadable", unread);
        out.writeNumberField("more", more);
        out.writeArrayFieldStart("would_be_denied");
        for (Found one : found.values()) {
            Judge.Answer answer = one.answer();
            Line denies = answer == null || answer.by != Judge.By.DENY ? null : answer.line;
            out.writeStartObject();
            out.writeStringField("agent_id", one.manifest.agentId());
            out.writeStringField("predicate", one.first.predicate());
            out.writeStringField("resource", one.first.resource());
            out.writeNumberField("count", one.count);
            out.writeStringField("session_id", one.session);
            out.writeNumberField("seq", one.first.seq());
            out.writeStringField("caller", one.first.caller());
            out.writeStringField("denied_by", denies == null ? null : manifest.file() + ":" + denies.line());
            out.writeEndObject();
        }
        out.writeEndArray();
        out.writeEndObject();
    }
}
