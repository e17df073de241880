package dev.klock.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Advice;
import dev.klock.cli.log.LogFiles;
import dev.klock.cli.log.LogFiles;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** One verb of the command line; {@link #call} answers its exit code. */
@Command(mixinStandardHelpOptions = false, sortOptions = false, descriptionHeading = "%n", parameterListHeading = "%n", optionListHeading = "%n")
abstract class Verb implements Callable<Integer> {
    final Terminal terminal;
    final LaunchEnvironment environment;

    /** What was given as {@code --home}, for advice; null if nothing was, or the verb has none. */
    private String givenHome;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this and exit.")
    private boolean help;

    Verb(Terminal terminal, LaunchEnvironment environment) {
        this.terminal = terminal;
        this.environment = environment;
    }

    @Override
    public abstract Integer call() throws UsageException, IOException;

    /** The existing home {@code directory}, or the one a launch from here would use (null). */
    final Home home(String directory) throws UsageException {
        givenHome = directory;
        String argument = Given.argument(null, directory, null);
        LaunchOptions options = LaunchOptions.read(argument, environment);
        boolean isNamed = options.text(dev.klock.agent.config.Option.HOME) != null;
        // whose the manifest is that is found here matters to a home beside it only
        File place = isNamed ? Home.locate(options, environment, null) : new Given(argument, environment).home;
        Home home = Home.existing(place, isNamed);
        if (home == null) {
            throw new UsageException("there is no klock home " + place + "; give --home DIRECTORY");
        }
        return home;
    }

    /** {@code text} with the home that was given in each line of advice that is in it. */
    final String advised(String text) {
        return Advice.at(givenHome, text);
    }

    /** So many records of logs cannot be read, which is more than none. */
    static String unread(long records) {
        return records + (records == 1 ? " record of these sessions" : " records of these sessions") + " cannot be read: the program was killed or the disk was full in the middle of writing, or the log is damaged or of another version of klock";
    }

    /** Nothing can be said of logs of which nothing can be read. */
    static UsageException illegible(List<LogFiles> logs, long records) {
        return new UsageException("nothing can be read in the log " + logs.get(0).file() + (logs.size() == 1 ? "" : ", nor in " + (logs.size() - 1) + " more") + ": "
                + (records == 0 ? "there is no record" : "it ends in the middle of its first lines, is damaged, or of another version of klock") + "; name another session");
    }

    /**
     * The logs that somebody names: files, then sessions of {@code home}. The caller's to change.
     *
     * @param home may be null if there are no sessions
     * @throws UsageException there is no such log
     */
    final List<LogFiles> named(Path home, List<String> sessions, List<String> logs) throws UsageException {
        List<LogFiles> named = new ArrayList<>();
        for (String log : logs) {
            File file = environment.file(log);
            if (!file.isFile()) {
                throw new UsageException("there is no log " + log);
            }
            named.add(LogFiles.of(file));
        }
        for (String id : sessions) {
            named.add(LogFiles.ofSession(home, id));
        }
        return named;
    }

    /** What fills a JSON answer. */
    interface Json {
        void write(JsonGenerator json) throws IOException;
    }

    /** Prints one JSON value; names cannot act on a terminal, and half a surrogate pair stays what it is. */
    final void printJson(Json content) throws IOException {
        StringWriter text = new StringWriter();
        JsonFactory factory = JsonFactory.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
        try (JsonGenerator json = factory.createGenerator(text)) {
            json.setPrettyPrinter(new DefaultPrettyPrinter());
            content.write(json);
        }
        terminal.out.println(text);
    }
}
