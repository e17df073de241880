package dev.klock.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.cli.learn.Observations;
import dev.klock.cli.learn.Relocation;
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
import java.util.HashSet;
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
        AsLaunched launched = new AsLaunched(given, environment);
        Map<String, Use> uses = new HashMap<>();
        List<LogFiles> counted = uses(launched, manifest, uses);
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
        keepWhatIsNeeded(launched, manifest, edited, unused, counted);
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

    /** By the lines as this manifest has them, whatever directories their variables stood for in a run. */
    private List<LogFiles> uses(AsLaunched launched, Manifest manifest, Map<String, Use> uses) throws UsageException, IOException {
        List<LogFiles> counted = new ArrayList<>();
        for (LogFiles log : LogFiles.all(home(directory).directory().toPath())) {
            Run run = new Run();
            log.read(run);
            if (run.summary == null || DIED.equals(run.summary.end()) || !manifest.agentId().equals(run.agent)) {
                continue;
            }
            counted.add(log);
            Manifest there = Given.agent(launched.manifest(AsLaunched.told(log)), agent);
            for (String line : here(manifest, there, run.summary.list("declared"))) {
                uses.computeIfAbsent(line, none -> new Use()).there++;
            }
            for (String line : here(manifest, there, run.summary.list("used"))) {
                uses.computeIfAbsent(line, none -> new Use()).used++;
            }
        }
        return counted;
    }

    /** Which lines of {@code manifest} are among {@code lines}, that are of one run, to which it was {@code there}. */
    private static Set<String> here(Manifest manifest, Manifest there, List<String> lines) {
        Set<String> named = new HashSet<>(lines);
        Set<String> here = new LinkedHashSet<>();
        for (int i = 0; i < manifest.scope().size(); i++) {
            if (named.contains(there.scope().get(i).toString())) {
                here.add(manifest.scope().get(i).toString());
            }
        }
        return here;
    }

    /** An unused line may be why something could be looked at: what is above what is declared, can. */
    private void keepWhatIsNeeded(AsLaunched launched, Manifest manifest, Edited edited, Set<Line> unused, List<LogFiles> logs) throws UsageException, IOException {
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
            Manifest rest = Given.agent(launched.manifest(edited.bytes(), Map.of()), agent);
            if (rest.scope().size() != manifest.scope().size() - unused.size()) {
                throw new UsageException("the lines cannot be taken out of " + manifest.file() + " as it is written");
            }
            before = before == null ? undeclared(launched, null, logs) : before;
            Set<String> lacking = undeclared(launched, edited.bytes(), logs);
            lacking.removeAll(before);
            if (lacking.isEmpty()) {
                return;
            }
            int size = unused.size();
            List<Manifest> theirs = theirs(launched, logs);
            unused.removeIf(line -> lacking.stream().anyMatch(triple -> isBelow(theirs, manifest.scope().indexOf(line), triple)));
            if (unused.size() == size) {
                unused.clear();
            }
        }
        edited.change(edited.before);
    }

    /** The manifest as the programs saw it, once for each that saw another. */
    private List<Manifest> theirs(AsLaunched launched, List<LogFiles> logs) throws UsageException, IOException {
        Set<Map<String, String>> told = new LinkedHashSet<>();
        for (LogFiles log : logs) {
            told.add(AsLaunched.told(log));
        }
        List<Manifest> theirs = new ArrayList<>();
        for (Map<String, String> each : told) {
            theirs.add(Given.agent(launched.manifest(each), agent));
        }
        return theirs;
    }

    private static boolean isBelow(List<Manifest> theirs, int line, String triple) {
        String looked = triple.substring(triple.indexOf(':') + 1);
        return theirs.stream().anyMatch(manifest -> manifest.scope().get(line).resource().path().startsWith(looked));
    }

    /** What of all that was done the manifest would not allow if {@code source} stood there; as it is, if that is null. */
    private Set<String> undeclared(AsLaunched launched, byte[] source, List<LogFiles> logs) throws UsageException, IOException {
        Observations seen = new Observations(false, null);
        for (LogFiles log : logs) {
            Map<String, String> told = AsLaunched.told(log);
            Manifest manifest = Given.agent(source == null ? launched.manifest(told) : launched.manifest(source, told), agent);
            seen.next(new DeclaredBy(manifest, launched.judge(manifest, told)), Relocation.NONE);
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
