package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.cli.learn.Observations;
import dev.klock.cli.learn.ScopeText;
import dev.klock.cli.log.LogFiles;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogSummary;
import dev.klock.cli.log.LogVisitor;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Finds the lines of a manifest that none of its runs used. */
@Command(description = {"Show as a diff which lines of the manifest no run has used; with --write, take them out.",
    "A line that was there in too few runs stays, and so does one without which something that a run did would be denied."})
final class Tighten extends Verb {
    private static final int RUNS = 3;
    private static final String DIED = "died";

    @Option(names = {"-m", "--manifest"}, paramLabel = "MANIFEST", description = "The manifest; by default the one a launch from here would find.")
    private String file;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--agent", paramLabel = "ID", description = "One of the agents that the manifest declares; by default the process itself.")
    private String agent;

    @Option(names = "--runs", paramLabel = "N", defaultValue = "" + RUNS, description = "A line has to have been there in so many runs; by default 3.")
    private int runs;

    @Option(names = "--write", description = "Change the manifest.")
    private boolean write;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    Tighten(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    /** In how many runs a line was there, and was used. */
    private static final class Use {
        int there;
        int used;
    }

    /** One run. */
    private static final class Run implements LogVisitor {
        String agent;
        LogSummary summary;

        @Override
        public void header(LogHeader header) {
            agent = header.agentId();
        }

        @Override
        public void summary(LogSummary last) {
            summary = last;
        }
    }

    @Override
    public Integer call() throws UsageException, IOException {
        if (runs < 1) {
            throw new UsageException("--runs " + runs + ": give at least 1");
        }
        Given given = new Given(Given.argument(file, directory, null), environment);
        Manifest manifest = Given.agent(given.manifest(), agent);
        Map<String, Use> uses = new HashMap<>();
        List<LogFiles> counted = uses(manifest, uses);
        Set<Line> unused = new LinkedHashSet<>();
        int young = 0;
        for (Line line : manifest.scope()) {
            Use use = uses.getOrDefault(line.toString(), new Use());
            if (use.used == 0 && use.there >= runs) {
                unused.add(line);
            } else if (use.used == 0) {
                young++;
            }
        }
        Edited edited = new Edited(given.manifestFile);
        keepWhatIsNeeded(given, manifest, edited, unused, counted);
        if (json) {
            int few = young;
            printJson(generator -> write(generator, manifest, unused, uses, few, counted.size()));
        } else {
            show(manifest, edited, unused, young, counted.size());
        }
        if (write && !unused.isEmpty()) {
            edited.write();
        }
        return ExitCode.OK;
    }

    private void show(Manifest manifest, Edited edited, Set<Line> unused, int young, int count) {
        if (unused.isEmpty()) {
            terminal.line("no line of " + manifest.file() + " has been there unused in " + runs + " runs; " + count
                    + (count == 1 ? " run was" : " runs were") + " looked at");
        } else {
            edited.show(terminal);
        }
        if (young > 0) {
            terminal.complain(young + (young == 1 ? " line was" : " lines were") + " not used, but there in fewer than " + runs + " runs (--runs)");
        }
        if (!unused.isEmpty() && !write) {
            terminal.complain("nothing is changed yet; --write changes " + manifest.file());
        }
    }

    private List<LogFiles> uses(Manifest manifest, Map<String, Use> uses) throws UsageException, IOException {
        List<LogFiles> counted = new ArrayList<>();
        for (LogFiles log : LogFiles.all(home(directory).directory().toPath())) {
            Run run = new Run();
            log.read(run);
            if (run.summary == null || DIED.equals(run.summary.end()) || !manifest.agentId().equals(run.agent)) {
                continue;
            }
            counted.add(log);
            for (String line : new LinkedHashSet<>(run.summary.list("declared"))) {
                uses.computeIfAbsent(line, none -> new Use()).there++;
            }
            for (String line : new LinkedHashSet<>(run.summary.list("used"))) {
                uses.computeIfAbsent(line, none -> new Use()).used++;
            }
        }
        return counted;
    }

    /** An unused line may be why something could be looked at: what is above what is declared, can. */
    private void keepWhatIsNeeded(Given given, Manifest manifest, Edited edited, Set<Line> unused, List<LogFiles> logs) throws UsageException, IOException {
        Set<String> before = null;
        while (!unused.isEmpty()) {
            try {
                edited.change(new ScopeText(edited.before, manifest).without(unused));
            } catch (ScopeText.FlowStyle e) {
                if (json && !write) {
                    return;
                }
                throw new UsageException(e.getMessage() + "; not used: " + unused.iterator().next() + (unused.size() == 1 ? "" : " and " + (unused.size() - 1) + " more")
                        + " (--json names all)");
            }
            Manifest rest = Given.agent(Launch.readManifest(given.manifestFile, edited.bytes(), given.options, environment), agent);
            if (rest.scope().size() != manifest.scope().size() - unused.size()) {
                throw new UsageException("the lines cannot be taken out of " + manifest.file() + " as it is written");
            }
            before = before == null ? undeclared(given, manifest, logs) : before;
            Set<String> lacking = undeclared(given, rest, logs);
            lacking.removeAll(before);
            if (lacking.isEmpty()) {
                return;
            }
            int size = unused.size();
            unused.removeIf(line -> lacking.stream().anyMatch(triple -> isBelow(line, triple)));
            if (unused.size() == size) {
                unused.clear();
            }
        }
        edited.change(edited.before);
    }

    private static boolean isBelow(Line line, String triple) {
        String looked = triple.substring(triple.indexOf(':') + 1);
        return line.resource().path().startsWith(looked);
    }

    private Set<String> undeclared(Given given, Manifest manifest, List<LogFiles> logs) throws IOException {
        Observations seen = new Observations(false, new DeclaredBy(manifest, new Judge(given, manifest, environment)));
        for (LogFiles log : logs) {
            log.read(seen);
        }
        return new LinkedHashSet<>(seen.undeclared());
    }

    private static void write(JsonGenerator json, Manifest manifest, Set<Line> unused, Map<String, Use> uses, int young, int count) throws IOException {
        json.writeStartObject();
        json.writeStringField("manifest", manifest.file());
        json.writeNumberField("runs", count);
        json.writeArrayFieldStart("unused");
        for (Line line : unused) {
            json.writeStartObject();
            json.writeNumberField("line", line.line());
            json.writeStringField("triple", line.toString());
            json.writeNumberField("runs", uses.get(line.toString()).there);
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeNumberField("in_too_few_runs", young);
        json.writeEndObject();
    }
}
