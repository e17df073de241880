package dev.klock.cli;

import dev.klock.agent.backup.Backups;
import dev.klock.agent.backup.Store;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Messages;
import dev.klock.agent.log.PlaceNames;
import dev.klock.bridge.HostFiles;
import dev.klock.cli.log.LogFiles;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogVisitor;
import dev.klock.cli.report.Advice;
import dev.klock.cli.report.FileChange;
import dev.klock.cli.report.HtmlReport;
import dev.klock.cli.report.JUnitReport;
import dev.klock.cli.report.JsonReport;
import dev.klock.cli.report.SarifReport;
import dev.klock.cli.report.SessionReport;
import dev.klock.cli.report.SessionStory;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes what sessions did as a page for people, or for other programs. */
@Command(description = {"Write what a session did as one HTML file that needs nothing else, or for other programs.",
    "By default the last session of a process, with those of the agents in it."})
final class Report extends Verb {
    /** The most sessions of one report: what is kept of each is bounded, too. */
    private static final int MAX_SESSIONS = 50;
    private static final int MAX_CHANGES = 200;
    private static final int MAX_DIFF_LINES = 400;
    /** Larger files are compared by size and hash only. */
    private static final long MAX_TEXT_BYTES = 256 << 10;
    static final String VIOLATIONS = "violations";
    static final String WARNINGS = "warnings";
    private static final String STDOUT = "-";
    private static final String FILE = "FILE:";
    /** How an image says that there was nothing. */
    private static final String NOTHING = "nothing";

    private final Instrumentation instrumentation;
    private Path home;

    @Parameters(arity = "0..*", paramLabel = "SESSION", description = "Which sessions; with that of a process come those of its agents.")
    private List<String> sessions = List.of();

    @Option(names = {"-o", "--output"}, paramLabel = "FILE", description = "Where to; - for stdout. By default .klock/report/SESSION.html, and stdout for the other forms.")
    private String output;

    @Option(names = {"-m", "--manifest"}, paramLabel = "MANIFEST", description = "The manifest that violations are compared with; by default the session's, as it is now.")
    private String manifestFile;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    @Option(names = "--sarif", description = "Answer in SARIF 2.1.0, for code scanning.")
    private boolean sarif;

    @Option(names = "--junit", description = "Answer in JUnit's XML, for build servers.")
    private boolean junit;

    @Option(names = "--fail-on", paramLabel = "WHAT", completionCandidates = Choices.ToFailOn.class, description = "End with 3 if there are violations; or warnings, which violations are, too.")
    private String failOn;

    Report(Terminal terminal, LaunchEnvironment environment, Instrumentation instrumentation) {
        super(terminal, environment);
        this.instrumentation = instrumentation;
    }

    @Override
    public Integer call() throws UsageException, IOException {
        if ((json ? 1 : 0) + (sarif ? 1 : 0) + (junit ? 1 : 0) > 1) {
            throw new UsageException("--json, --sarif and --junit are different answers; give one of them");
        }
        if (failOn != null && !failOn.equals(VIOLATIONS) && !failOn.equals(WARNINGS)) {
            throw new UsageException("--fail-on " + failOn + ": say violations or warnings");
        }
        Home place = home(directory);
        home = place.directory().toPath();
        List<LogFiles> logs = logs();
        int left = Math.max(0, logs.size() - MAX_SESSIONS);
        if (left > 0) {
            terminal.complain("the report is of the first " + MAX_SESSIONS + " sessions; " + left + " more are left out, name them to see them");
            logs = logs.subList(0, MAX_SESSIONS);
        }
        List<SessionReport> reports = new ArrayList<>();
        HostFiles files = Host.files(instrumentation, environment);
        Map<String, Store.Session> images = new HashMap<>();
        for (Store.Session session : Stored.sessions(home, files)) {
            images.put(session.id(), session);
        }
        for (LogFiles log : logs) {
            reports.add(report(log, images, files));
        }
        write(place, reports, logs.get(0).name());
        for (SessionReport report : reports) {
            if (failOn != null && (report.hasViolations() || failOn.equals(WARNINGS) && report.hasWarnings())) {
                return ExitCode.VIOLATIONS;
            }
        }
        return ExitCode.OK;
    }

    // ---- which

    private List<LogFiles> logs() throws UsageException, IOException {
        Map<String, LogHeader> headers = new HashMap<>();
        List<LogFiles> all = LogFiles.all(home);
        for (LogFiles log : all) {
            log.readFirst(new LogVisitor() {
                @Override
                public void header(LogHeader header) {
                    headers.put(log.name(), header);
                }
            });
        }
        List<LogFiles> chosen = new ArrayList<>();
        Set<String> names = new HashSet<>();
        List<LogFiles> asked = new ArrayList<>();
        for (String session : sessions) {
            asked.add(LogFiles.ofSession(home, session));
        }
        if (asked.isEmpty()) {
            asked.add(last(all, headers));
        }
        for (LogFiles log : asked) {
            LogHeader header = headers.get(log.name());
            String id = header == null || header.sessionId() == null ? log.name() : header.sessionId();
            if (names.add(log.name())) {
                chosen.add(log);
            }
            all.stream().filter(other -> headers.containsKey(other.name()) && id.equals(headers.get(other.name()).process())).filter(other -> names.add(other.name()))
                    .sorted((a, b) -> started(headers.get(a.name())).compareTo(started(headers.get(b.name())))).forEach(chosen::add);
        }
        return chosen;
    }

    private LogFiles last(List<LogFiles> all, Map<String, LogHeader> headers) throws UsageException {
        LogFiles last = null;
        String lastStarted = "";
        for (LogFiles log : all) {
            LogHeader header = headers.get(log.name());
            boolean process = header != null && header.process() == null;
            if (process && (last == null || started(header).compareTo(lastStarted) >= 0)) {
                last = log;
                lastStarted = started(header);
            }
        }
        if (last == null) {
            throw new UsageException("there is no log of any session in " + home);
        }
        return last;
    }

    /** ISO 8601 sorts as the times do. */
    private static String started(LogHeader header) {
        return header.started() == null ? "" : header.started();
    }

    // ---- what

    private SessionReport report(LogFiles log, Map<String, Store.Session> images, HostFiles files) throws IOException, UsageException {
        SessionStory story = new SessionStory(log.name());
        log.read(story);
        SessionReport report = new SessionReport(story);
        Store.Session stored = images.get(log.name());
        boolean running = story.end() == null && SessionRecord.begun(log).state().equals("running");
        report.now(running, stored == null ? null : Sessions.state(stored));
        advise(report, story, AsLaunched.told(log));
        if (stored != null) {
            changes(report, story, stored, files);
        }
        return report;
    }

    private void advise(SessionReport report, SessionStory story, Map<String, String> told) throws UsageException {
        Judge judge = null;
        Manifest manifest = null;
        String path = manifestFile != null ? manifestFile : place(story.manifest());
        if (path != null) {
            try {
                Given given = new Given(Given.argument(path, directory, null), environment);
                AsLaunched launched = new AsLaunched(given, environment);
                Manifest whole = launched.manifest(told);
                manifest = story.agent() == null || whole.agent(story.agent()) == null ? whole : whole.agent(story.agent());
                judge = launched.judge(manifest, told);
                report.manifest(new File(path).getAbsolutePath());
            } catch (UsageException unusable) {
                if (manifestFile != null) {
                    throw unusable;
                }
                terminal.complain("violations are not compared with the manifest: " + unusable.getMessage());
            }
        }
        Judge one = judge;
        Manifest itself = manifest;
        story.violations((agent, predicate, resource) -> {
            Advice advice = advice(one, itself, predicate, resource);
            if (advice != null) {
                report.advise(agent, predicate, resource, advice);
            }
        });
    }

    /** Where the session's manifest is, if it is there still: as its program named it, which may have run where its home is. */
    private String place(String named) {
        if (named == null) {
            return null;
        }
        Path beside = home.toAbsolutePath().resolveSibling(named);
        File here = new File(named).isAbsolute() ? new File(named) : new File(environment.workingDirectory(), named);
        return Files.isRegularFile(beside) ? beside.toString() : here.isFile() ? here.getPath() : null;
    }

    /** Null if no operation has such a resource. */
    private static Advice advice(Judge judge, Manifest manifest, String predicate, String resource) {
        try {
            Predicate asked = Predicate.valueOf(predicate);
            Resource about = resource(resource);
            if (judge == null) {
                return advice("The manifest is not there to be compared with.", Messages.violation(null, asked, about, null, 0, null, List.of(), Map.of(), null, PlaceNames.NONE), List.of());
            }
            Judge.Answer answer = judge.decide(asked, about);
            String text = answer.text(manifest, asked, about);
            if (answer.allowed()) {
                return new Advice(true, text, null, List.of(), List.of());
            }
            List<String> nearest = new ArrayList<>();
            for (Line line : answer.nearest) {
                nearest.add(line + (line.line() > 0 ? " (" + manifest.file() + ":" + line.line() + ")" : ""));
            }
            return advice(null, text, nearest);
        } catch (IllegalArgumentException | UsageException unwritable) {
            return null;
        }
    }

    /** As the log has it: a file's own name may hold what no manifest can write. */
    private static Resource resource(String text) {
        int slash = text.lastIndexOf('/');
        boolean odd = text.startsWith(FILE) && slash > FILE.length() && Resource.isUnwritable(text, slash);
        if (!odd) {
            return Resource.parse(text);
        }
        String directory = Resource.parse(text.substring(0, slash)).path();
        return Resource.of("FILE", directory + '/' + text.substring(slash + 1).replaceAll("(?s)\\\\(.)", "$1"), Resource.Form.EXACT);
    }

    /** Of a message of several lines; {@code why} in place of its first one, if that is not null. */
    private static Advice advice(String why, String message, List<String> nearest) {
        String[] lines = message.split("\n");
        String allowing = null;
        List<String> more = new ArrayList<>();
        for (int i = 1; i < lines.length; i++) {
            if (lines[i].startsWith(Messages.TO_ALLOW)) {
                allowing = lines[i].substring(Messages.TO_ALLOW.length());
            } else if (!lines[i].startsWith(Messages.NEAREST)) {
                more.add(lines[i].trim());
            }
        }
        return new Advice(false, why == null ? lines[0] : why, allowing, more, nearest);
    }

    private void changes(SessionReport report, SessionStory story, Store.Session stored, HostFiles files) {
        List<FileChange> changes = new ArrayList<>();
        long beyond = 0;
        boolean rolledBack = false;
        try (Backups backups = Backups.readHere(home, stored.id(), files)) {
            Map<String, String> states = states(story);
            Map<String, Path> displaced = displaced(stored.id());
            Map<String, Integer> names = new HashMap<>();
            List<Backups.Image> images = backups.images();
            for (Backups.Image image : images) {
                if (image.touched()) {
                    names.merge(base(image.name()), 1, Integer::sum);
                }
            }
            for (Backups.Image image : images) {
                if (!image.touched()) {
                    continue;
                }
                if (changes.size() == MAX_CHANGES) {
                    beyond++;
                    continue;
                }
                String state = states.get(FILE + image.name());
                Difference since = Difference.sinceBefore(backups, image, files, MAX_TEXT_BYTES);
                Path made = names.get(base(image.name())) == 1 && !NOTHING.equals(image.left()) ? displaced.get(base(image.name())) : null;
                if (since == null && made != null) {
                    Difference undone = Difference.between(backups, image, made.toString().getBytes(StandardCharsets.UTF_8), files, MAX_TEXT_BYTES);
                    changes.add(change(undone, image, state == null ? "rolled back" : state));
                    rolledBack = true;
                } else if (since != null) {
                    changes.add(change(since, image, state));
                } else if (state != null) {
                    changes.add(change(null, image, state));
                    rolledBack = true;
                }
            }
            report.changed(changes, beyond, changes.isEmpty() ? null : "What was there before the session, against what is there now"
                    + (rolledBack ? "; of what was rolled back, against what the session had made of it, where that was kept." : "."));
        } catch (IOException e) {
            report.changed(List.of(), 0, "The images of this session cannot be compared with: " + e.getMessage());
        }
    }

    private static FileChange change(Difference difference, Backups.Image image, String state) {
        if (difference == null) {
            return new FileChange(image.name(), image.was().equals(NOTHING) ? "created" : NOTHING.equals(image.left()) ? "deleted" : "changed", state, null, null, List.of(), 0);
        }
        List<String> lines = difference.lines;
        long more = Math.max(0, lines.size() - MAX_DIFF_LINES);
        return new FileChange(image.name(), difference.change, state, difference.was, difference.is, more == 0 ? lines : new ArrayList<>(lines.subList(0, MAX_DIFF_LINES)), more);
    }

    /** What became of resources, by the summary. */
    private static Map<String, String> states(SessionStory story) {
        Map<String, String> states = new HashMap<>();
        for (String back : story.told("rolled_back")) {
            states.put(back, "rolled back");
        }
        for (String not : story.told("conflicts")) {
            int reason = not.lastIndexOf(" (");
            states.put(reason < 0 ? not : not.substring(0, reason), "NOT rolled back");
        }
        return states;
    }

    /** What the session had made of files that were rolled back, by the last part of their names; of several of one none. */
    private Map<String, Path> displaced(String id) throws IOException {
        Map<String, Path> displaced = new HashMap<>();
        Path kept = Store.directory(home, id).resolve("displaced");
        if (Files.isDirectory(kept, LinkOption.NOFOLLOW_LINKS)) {
            try (Stream<Path> all = Files.list(kept)) {
                all.forEach(file -> {
                    String name = file.getFileName().toString();
                    String base = name.substring(name.indexOf('-') + 1);
                    displaced.put(base, displaced.containsKey(base) ? null : file);
                });
            }
        }
        return displaced;
    }

    private static String base(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    // ---- where to

    private void write(Home place, List<SessionReport> reports, String name) throws IOException, UsageException {
        boolean page = !json && !sarif && !junit;
        if (STDOUT.equals(output) || output == null && !page) {
            content(terminal.out, reports);
            terminal.out.flush();
            return;
        }
        Path file = output == null ? place.directory("report").toPath().resolve(name + ".html") : Path.of(environment.workingDirectory()).resolve(output);
        if (output != null) {
            requireReplaceable(place, file);
        }
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            // a pipe or a terminal, or a link to one
            try (Writer out = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
                content(out, reports);
            }
            terminal.line(file.toString());
            return;
        }
        // a name that nobody knows before, and a new file: a program that may write there must not choose where this goes
        Path written = file.resolveSibling("." + file.getFileName() + "." + Long.toHexString(new SecureRandom().nextLong()) + ".part");
        try {
            try (Writer out = Files.newBufferedWriter(written, StandardCharsets.UTF_8, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                content(out, reports);
            }
            Files.move(written, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(written);
        }
        terminal.line(file.toString());
    }

    /** A slip of the hand must not take the manifest, or what klock keeps. */
    private void requireReplaceable(Home place, Path file) throws IOException, UsageException {
        if (Files.isDirectory(file)) {
            throw new UsageException("-o " + output + " is a directory; name a file in it");
        }
        if (Files.notExists(file)) {
            Path parent = file.toAbsolutePath().getParent();
            if (!Files.isDirectory(parent)) {
                throw new UsageException("-o " + output + ": there is no directory " + parent + "; make it first");
            }
            requireOutside(place, parent.toRealPath().resolve(file.getFileName()));
            return;
        }
        Path real = file.toRealPath();
        requireOutside(place, real);
        File manifest = new Given(Given.argument(null, directory, null), environment).manifestFile;
        if (manifest != null && manifest.exists() && real.equals(manifest.toPath().toRealPath())) {
            throw new UsageException("-o " + output + " is the manifest; name another file");
        }
    }

    private void requireOutside(Home place, Path real) throws IOException, UsageException {
        Path kept = place.directory().toPath().toRealPath();
        if (real.startsWith(kept) && !real.startsWith(kept.resolve("report"))) {
            throw new UsageException("-o " + output + " lies in klock's home " + kept + "; name a file elsewhere, or below its report/");
        }
    }

    private void content(Writer out, List<SessionReport> reports) throws IOException {
        if (json) {
            JsonReport.write(out, reports);
        } else if (sarif) {
            SarifReport.write(out, reports);
        } else if (junit) {
            JUnitReport.write(out, reports);
        } else {
            HtmlReport.write(out, reports);
        }
    }
}
