package dev.klock.cli;

import dev.klock.agent.config.Home;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchVariables;
import dev.klock.agent.config.Mode;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Decision;
import dev.klock.agent.log.Escapes;
import dev.klock.agent.log.Release;
import dev.klock.cli.learn.ManifestWriter;
import dev.klock.cli.learn.Observations;
import dev.klock.cli.learn.Proposal;
import dev.klock.cli.learn.Relocation;
import dev.klock.cli.learn.ScopeText;
import dev.klock.cli.log.LogFiles;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Variables;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes a manifest of what programs did, by their logs, or tells what an existing one lacks. */
@Command(description = {"Make a manifest of what programs did, by the logs of their sessions.",
    "It allows what was done, be it right or not: read it before you use it."})
final class Learn extends Verb {
    private static final int SEVERAL = 3;

    @Parameters(arity = "0..*", paramLabel = "SESSION", description = {"The sessions; by default all in mode=learn of the agent whose learn session is the newest,",
        "with --merge and --denied the last one in which something was denied."})
    private List<String> sessions = new ArrayList<>();

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--log", paramLabel = "FILE", description = "A log that lies elsewhere, besides or instead of SESSION.")
    private List<String> logs = new ArrayList<>();

    @Option(names = "--agent", paramLabel = "ID", description = "Only what this agent did.")
    private String agent;

    @Option(names = "--workspace", paramLabel = "DIRECTORY", description = {"What ${workspace} will stand for: where the manifest will lie.",
        "By default the directory of --merge or -o, else the home's."})
    private String workspace;

    @Option(names = "--several", paramLabel = "N", defaultValue = "" + SEVERAL, description = "So many names in one directory become one line; by default 3.")
    private int several;

    @Option(names = "--whole", paramLabel = "DIRECTORY", description = "If anything was done in it, declare all of it. May be repeated.")
    private List<String> whole = new ArrayList<>();

    @Option(names = "--denied", description = "Declare what was denied, too.")
    private boolean denied;

    @Option(names = {"-o", "--output"}, paramLabel = "FILE", description = "Write the manifest there; it must not exist.")
    private String output;

    @Option(names = "--merge", paramLabel = "MANIFEST", description = "Show as a diff which lines this one lacks; with --write, add them.")
    private String merge;

    @Option(names = "--write", description = "Change the manifest of --merge.")
    private boolean write;

    Learn(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() throws UsageException, IOException {
        if (several < 2) {
            throw new UsageException("--several " + several + " would take single names together; give at least 2");
        }
        if (write && merge == null || merge != null && output != null) {
            throw new UsageException(write ? "--write changes the manifest of --merge; name it" : "--merge and -o exclude each other");
        }
        File file = output == null ? null : notThere(output);
        Path home = logs.isEmpty() || !sessions.isEmpty() ? home(directory).directory().toPath() : null;
        Given given = merge == null ? null : new Given(Given.argument(merge, directory, null), environment);
        Manifest all = given == null ? null : given.manifest();
        Manifest old = given == null ? null : Given.agent(all, agent);
        List<LogFiles> chosen = chosen(home);
        File place = place(given, home);
        Variables variables = variables(chosen, place);
        Observations seen = new Observations(denied, null);
        AsLaunched launched = given == null ? null : new AsLaunched(given, environment);
        for (LogFiles log : chosen) {
            Map<String, String> told = AsLaunched.told(log);
            seen.next(launched == null ? null : declared(launched, told), Relocation.of(variables(told, place), variables));
            log.read(seen);
        }
        seen.end();
        if (seen.isIllegible()) {
            throw illegible(chosen, seen.unread());
        }
        if (agent == null && seen.agents().size() > 1) {
            throw new UsageException("the sessions are of several agents (" + Escapes.line(String.join(", ", seen.agents())) + "); say --agent ID");
        }
        for (String its : agent == null && all != null ? seen.agents() : Set.<String>of()) {
            if (all.agent(its) != null && all.agent(its) != old) {
                throw new UsageException(all.file() + " has a scope of its own for " + Escapes.line(its) + ", whose the sessions are; say --agent " + Escapes.line(its));
            }
        }
        Set<String> wholes = directories(variables);
        Proposal proposal = Proposal.of(seen, several, wholes, variables);
        for (String one : wholes) {
            if (!seen.isSeen(one)) {
                terminal.complain("--whole " + one + ": nothing that needs a line was done there");
            }
        }
        if (proposal.size() > Manifest.MAX_TRIPLES) {
            throw new UsageException("that would be a manifest of " + proposal.size() + " lines, and " + Manifest.MAX_TRIPLES
                    + " may be; name directories that are to be declared as a whole: --whole DIRECTORY");
        }
        if (seen.lost() > 0) {
            terminal.complain(seen.lost() + " records of these sessions could not be written when they ran: what is in none of the others is not declared");
        }
        if (seen.unread() > 0) {
            terminal.complain(unread(seen.unread()) + ": what is in none of the others is not declared");
        }
        if (seen.denied() > 0 && !denied) {
            terminal.complain(seen.denied() + (seen.denied() == 1 ? " access was denied and is" : " accesses were denied and are") + " not declared (--denied)");
        }
        for (String one : proposal.beyond()) {
            terminal.complain(one + " cannot be declared: no manifest can write the name, nor let all of that directory be written; have it made elsewhere");
        }
        if (given != null) {
            return merge(given, old, proposal, seen, chosen.size());
        }
        String id = agent != null ? agent : seen.agents().isEmpty() ? "agent" : seen.agents().iterator().next();
        List<String> head = head(seen, chosen.size());
        if (output == null) {
            terminal.out.print(ManifestWriter.manifest(proposal, id, null, head));
            return ExitCode.OK;
        }
        Path parent = file.getAbsoluteFile().getParentFile().toPath().toRealPath();
        String text = ManifestWriter.manifest(proposal, id, home == null ? null : Schema.beside(parent, home), head);
        Launch.readManifest(file, text.getBytes(StandardCharsets.UTF_8), new Given(Given.argument(null, directory, null), environment).options, environment);
        Edited.create(file.toPath(), text);
        terminal.line(output + ": " + proposal.size() + (proposal.size() == 1 ? " line" : " lines") + " from " + chosen.size() + (chosen.size() == 1 ? " session" : " sessions")
                + "; read it, then run: java -javaagent:klock.jar=manifest=" + output + " ...");
        return ExitCode.OK;
    }

    /** The directories that the first of the programs had which say so; those of here if none does. */
    private Variables variables(List<LogFiles> logs, File place) throws IOException {
        for (LogFiles log : logs) {
            Map<String, String> told = AsLaunched.told(log);
            if (!told.isEmpty()) {
                return variables(told, place);
            }
        }
        return variables(Map.of(), place);
    }

    private Variables variables(Map<String, String> told, File place) {
        return new LaunchVariables(LaunchVariables.asThere(environment, told), place);
    }

    private DeclaredBy declared(AsLaunched launched, Map<String, String> told) throws UsageException {
        Manifest its = Given.agent(launched.manifest(told), agent);
        return new DeclaredBy(its, launched.judge(its, told));
    }

    /** Where the manifest will be written. */
    private File notThere(String named) throws UsageException {
        File file = environment.file(named);
        if (named.isEmpty()) {
            throw new UsageException("-o names no file; such as -o klock.yaml");
        }
        if (file.exists()) {
            throw new UsageException(named + " exists, and is not written over; name another file, or use --merge");
        }
        if (!file.getAbsoluteFile().getParentFile().isDirectory()) {
            throw new UsageException("-o " + named + ": there is no directory " + file.getParent() + "; make it first");
        }
        return file;
    }

    private int merge(Given given, Manifest old, Proposal proposal, Observations seen, int count) throws UsageException, IOException {
        List<String> others = new ArrayList<>(ManifestWriter.effects(proposal));
        seen.denyLines().forEach((line, what) -> others.add(line + " denies " + first(what) + ": no line of the scope can allow that; if it may, take this one out of deny:"));
        seen.withoutEffects().forEach((line, what) -> others.add(line + " does not say what the program may touch, so " + first(what)
                + " is not allowed where it runs: add effects: to that line, [] for nothing"));
        others.forEach(terminal::complain);
        if (proposal.size() == 0 && others.isEmpty()) {
            terminal.line(old.file() + " declares all that was done in " + count + (count == 1 ? " session" : " sessions"));
        }
        if (proposal.size() == 0) {
            return ExitCode.OK;
        }
        Edited edited = new Edited(given.manifestFile);
        List<String> items = ManifestWriter.items(proposal);
        Manifest changed;
        try {
            edited.change(new ScopeText(edited.before, old).with(items));
            changed = Given.agent(Launch.readManifest(given.manifestFile, edited.bytes(), given.options, environment), agent);
        } catch (ScopeText.FlowStyle | UsageException e) {
            items.forEach(terminal.out::println);
            throw new UsageException(e.getMessage() + "; add the lines above by hand");
        }
        if (changed.scope().size() != old.scope().size() + proposal.size()) {
            items.forEach(terminal.out::println);
            throw new UsageException("the lines cannot be added to " + old.file() + " as it is written; add the lines above by hand");
        }
        edited.show(terminal);
        if (write) {
            edited.write();
        } else {
            terminal.complain("nothing is changed yet; --write changes " + old.file());
        }
        return ExitCode.OK;
    }

    private static String first(Set<String> triples) {
        return triples.iterator().next() + (triples.size() > 1 ? " and " + (triples.size() - 1) + " more" : "");
    }

    private File place(Given given, Path home) {
        if (workspace != null) {
            return environment.file(workspace);
        }
        if (given != null) {
            return given.manifestFile.getAbsoluteFile().getParentFile();
        }
        if (output != null) {
            return environment.file(output).getAbsoluteFile().getParentFile();
        }
        boolean beside = home != null && home.getFileName().toString().equals(Home.NAME);
        return beside ? home.getParent().toFile() : new File(environment.workingDirectory());
    }

    private Set<String> directories(Variables variables) throws UsageException {
        Set<String> directories = new TreeSet<>();
        for (String named : whole) {
            try {
                directories.add(Resource.normalise("FILE:" + Variables.expand(named, variables), environment.workingDirectory()).path());
            } catch (IllegalArgumentException e) {
                throw new UsageException("--whole " + named + ": " + e.getMessage());
            }
        }
        return directories;
    }

    private static List<String> head(Observations seen, int count) {
        List<String> head = new ArrayList<>();
        head.add("Learnt by klock " + Release.VERSION + " from " + count + (count == 1 ? " session, " : " sessions, ") + seen.events() + " accesses. It allows what was done, be it right or not:");
        head.add("read each line, and take out what the agent has no business with. Prove it: java -jar klock.jar validate");
        return head;
    }

    private List<LogFiles> chosen(Path home) throws UsageException, IOException {
        List<LogFiles> chosen = named(home, sessions, logs);
        if (chosen.isEmpty()) {
            return denied && merge != null ? List.of(lastDenied(home)) : learnt(home);
        }
        List<LogFiles> its = new ArrayList<>();
        for (LogFiles log : chosen) {
            if (agent == null || agent.equals(SessionRecord.begun(log).agent)) {
                its.add(log);
            }
        }
        if (its.isEmpty()) {
            throw new UsageException("none of these sessions is of agent " + Escapes.line(agent));
        }
        return its;
    }

    /** Not with those that ran to learn: what somebody took out of the manifest since is to stay out. */
    private LogFiles lastDenied(Path home) throws UsageException, IOException {
        LogFiles last = SessionRecord.last(home, record -> record.counts[Decision.DENY.ordinal()] > 0 && (agent == null || agent.equals(record.agent)));
        if (last == null) {
            throw new UsageException("in no session" + (agent == null ? "" : " of " + Escapes.line(agent)) + " in " + home + " anything was denied");
        }
        return last;
    }

    /** All that ran to learn, of the agent of the newest of them. */
    private List<LogFiles> learnt(Path home) throws UsageException, IOException {
        List<SessionRecord> records = new ArrayList<>();
        List<LogFiles> all = LogFiles.all(home);
        SessionRecord newest = null;
        for (LogFiles log : all) {
            SessionRecord record = SessionRecord.begun(log);
            records.add(record);
            boolean counts = Mode.LEARN.word().equals(record.mode) && (agent == null || agent.equals(record.agent));
            newest = counts && (newest == null || newest.startedMs() <= record.startedMs()) ? record : newest;
        }
        if (newest == null) {
            throw new UsageException("no session" + (agent == null ? "" : " of " + Escapes.line(agent)) + " in " + home
                    + " ran in mode=learn: run the program with -javaagent:klock.jar=mode=learn, or name sessions");
        }
        List<LogFiles> learnt = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            SessionRecord record = records.get(i);
            if (Mode.LEARN.word().equals(record.mode) && newest.agent != null && newest.agent.equals(record.agent)) {
                learnt.add(all.get(i));
            }
        }
        return learnt;
    }
}
