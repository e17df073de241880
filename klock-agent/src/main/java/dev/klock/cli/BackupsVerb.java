package dev.klock.cli;

import dev.klock.agent.backup.Store;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Advice;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Looks after the images themselves. */
@Command(description = {"Look after the images: 'backups prune' removes those of sessions that are over. Never a live or an unrecovered session's.",
    "'backups estimate' tells, without a run, what those of a manifest would take at most; exit code 3 if that is more than a limit or the disk."})
final class BackupsVerb extends Verb {
    private static final long DAY_MS = 24L * 60 * 60 * 1000;

    private static final double MAX_DAYS = 36_500;

    private final Instrumentation instrumentation;

    static final String PRUNE = "prune";
    static final String ESTIMATE = "estimate";

    @Parameters(index = "0", paramLabel = "prune|estimate", completionCandidates = Choices.OfBackups.class, description = "What to do.")
    private String action;

    @Option(names = "--older-than", paramLabel = "DAYS", defaultValue = "30", description = "prune: remove sessions begun this many days ago or earlier; 30 if not given.")
    private String olderThan;

    @Option(names = "--max-bytes", paramLabel = "BYTES", description = "prune: then remove the oldest until all take no more than this; K, M and G may follow the number.")
    private String maxBytes;

    @Option(names = {"-m", "--manifest"}, paramLabel = "MANIFEST", description = "estimate: of this manifest; by default the one a launch from here would find.")
    private String file;

    @Option(names = "--home", paramLabel = "DIRECTORY", description = "The home; by default the one a launch from here would use.")
    private String directory;

    @Option(names = "--json", description = "Answer in JSON.")
    private boolean json;

    BackupsVerb(Terminal terminal, LaunchEnvironment environment, Instrumentation instrumentation) {
        super(terminal, environment);
        this.instrumentation = instrumentation;
    }

    @Override
    public Integer call() throws UsageException, IOException {
        if (action.equals(ESTIMATE)) {
            return estimate();
        }
        if (!action.equals(PRUNE)) {
            throw new UsageException("backups: " + action + " is not something to do with them; use prune or estimate");
        }
        if (file != null) {
            throw new UsageException("backups prune takes no manifest: it removes images whichever they are");
        }
        double days = days(olderThan);
        HostFiles files = Host.files(instrumentation, environment);
        Path home = home(directory).directory().toPath();
        long before = System.currentTimeMillis() - (long) (days * DAY_MS);
        long most = maxBytes == null ? Long.MAX_VALUE : bytes(maxBytes);
        List<Store.Session> removed = Store.prune(home, before, most, files);
        List<Store.Session> left = left(home, before, most, files);
        if (json) {
            printJson(generator -> {
                generator.writeStartArray();
                for (Store.Session s : removed) {
                    generator.writeStartObject();
                    generator.writeStringField("session_id", s.id());
                    generator.writeNumberField("bytes", s.bytes());
                    generator.writeEndObject();
                }
                for (Store.Session s : left) {
                    generator.writeStartObject();
                    generator.writeStringField("session_id", s.id());
                    generator.writeNumberField("bytes", 0);
                    generator.writeStringField("failure", whyLeft(home, s));
                    generator.writeEndObject();
                }
                generator.writeEndArray();
            });
            return left.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
        }
        long bytes = 0;
        for (Store.Session s : removed) {
            bytes += s.bytes();
            terminal.line("removed " + s.id() + ", " + s.bytes() + " bytes");
        }
        for (Store.Session s : left) {
            terminal.line("not removed " + s.id() + ": " + whyLeft(home, s));
        }
        terminal.line(removed.size() + " sessions' images removed, " + bytes + " bytes" + (left.isEmpty() ? "" : "; " + left.size() + " could not be removed"));
        return left.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }

    /** Those that were to go and are there still. */
    private static List<Store.Session> left(Path home, long beforeMs, long maxBytes, HostFiles files) throws IOException {
        List<Store.Session> all = Store.sessions(home, files);
        long bytes = 0;
        for (Store.Session s : all) {
            bytes += s.bytes();
        }
        List<Store.Session> left = new ArrayList<>();
        for (Store.Session s : all) {
            if (!s.live() && !s.hasCrashed() && (s.startedMs() < beforeMs || bytes > maxBytes)) {
                left.add(s);
            }
        }
        return left;
    }

    /** Whoever removes a session holds its lock first. */
    private String whyLeft(Path home, Store.Session session) throws IOException {
        if (session.halfUndone()) {
            return "an undo of it was interrupted; go on with that first: " + Advice.line("undo", session.id(), directory, null);
        }
        try {
            FileChannel.open(Store.directory(home, session.id()).resolve("lock"), StandardOpenOption.WRITE).close();
            return "it was in use";
        } catch (IOException e) {
            return "its lock " + Main.reason(e);
        }
    }

    private int estimate() throws UsageException, IOException {
        Estimate estimate = new Estimate(new Given(Given.argument(file, directory, null), environment), environment);
        if (!json) {
            return estimate.print(terminal);
        }
        int[] status = new int[1];
        printJson(generator -> status[0] = estimate.write(generator));
        return status[0];
    }

    private static double days(String text) throws UsageException {
        try {
            double days = Double.parseDouble(text);
            if (days >= 0 && days <= MAX_DAYS) {
                return days;
            }
        } catch (NumberFormatException e) {
            // said below, as of one that is too large
        }
        throw new UsageException("--older-than is " + text + "; it must be a number of days from 0 to " + (int) MAX_DAYS);
    }

    private static long bytes(String text) throws UsageException {
        String number = text.toUpperCase(Locale.ROOT);
        int shift = number.endsWith("K") ? 10 : number.endsWith("M") ? 20 : number.endsWith("G") ? 30 : 0;
        try {
            long value = Long.parseLong(shift == 0 ? number : number.substring(0, number.length() - 1));
            if (value >= 0 && value <= Long.MAX_VALUE >> shift) {
                return value << shift;
            }
        } catch (NumberFormatException e) {
            throw new UsageException("--max-bytes: " + text + " is not a number of bytes such as 500M");
        }
        throw new UsageException("--max-bytes: " + text + " is not a number of bytes such as 500M");
    }
}
