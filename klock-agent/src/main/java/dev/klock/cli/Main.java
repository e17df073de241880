package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.ManifestLocator;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Release;
import dev.klock.manifest.Names;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.instrument.Instrumentation;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command line's entry. Every bad input is one line on stderr and exit code 2. */
@Command(name = "klock", synopsisSubcommandLabel = "VERB", description = "Keeps AI agents that run on the JVM inside what they said they would do.",
        descriptionHeading = "%n", optionListHeading = "%n", commandListHeading = "%nVerbs:%n",
        footer = {"", "Programs are started under klock with: java -javaagent:klock.jar[=key=value,...] ...",
            "Exit codes: 0 clean, 1 klock failed, 2 bad usage or manifest, 3 violations found, 4 undo refused something;",
            "of run: the program's, or klock's for it (107 no lease, 108 aborted, 109 lease lost)."})
public final class Main implements Runnable {
    @Spec
    private CommandSpec spec;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this and exit.")
    private boolean help;

    @Option(names = {"-V", "--version"}, versionHelp = true, description = "Show klock's version and exit.")
    private boolean version;

    private Main() {
    }

    /**
     * Runs one verb and answers the exit code. Called by klock.jar's launcher; {@code instrumentation} is that of this JVM, null if there
     * is none.
     */
    public static int run(String[] arguments, Instrumentation instrumentation) {
        LaunchEnvironment environment = LaunchEnvironment.ofProcess();
        Charset charset = charset(environment);
        FileOutputStream bytes = new FileOutputStream(FileDescriptor.out);
        PrintWriter out = new PrintWriter(new OutputStreamWriter(bytes, charset));
        PrintWriter err = new PrintWriter(new OutputStreamWriter(new FileOutputStream(FileDescriptor.err), charset));
        return run(arguments, instrumentation, environment, new Terminal(out, err, Terminal.wantsColours(environment), bytes, Terminal.isStdoutShown()));
    }

    private static Charset charset(LaunchEnvironment environment) {
        String name = environment.property("native.encoding");
        try {
            return name == null ? StandardCharsets.UTF_8 : Charset.forName(name);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            return StandardCharsets.UTF_8;
        }
    }

    static int run(String[] arguments, Instrumentation instrumentation, LaunchEnvironment environment, PrintWriter out, PrintWriter err,
            boolean colours) {
        return run(arguments, instrumentation, environment, new Terminal(out, err, colours));
    }

    static int run(String[] arguments, Instrumentation instrumentation, LaunchEnvironment environment, Terminal terminal) {
        PrintWriter out = terminal.out;
        PrintWriter err = terminal.err;
        CommandLine commandLine = new CommandLine(new Main());
        for (Verbs.Row row : Verbs.all(terminal, environment, instrumentation)) {
            commandLine.addSubcommand(row.name, row.command);
        }
        commandLine.addSubcommand(new CommandLine.HelpCommand());
        commandLine.setExpandAtFiles(false);
        commandLine.setInterpolateVariables(false);
        commandLine.setOut(out).setErr(err);
        commandLine.setColorScheme(CommandLine.Help.defaultColorScheme(terminal.hasColours() ? Ansi.ON : Ansi.OFF));
        commandLine.getCommandSpec().version("klock " + Release.VERSION);
        commandLine.setParameterExceptionHandler((e, all) -> misused(e, terminal));
        commandLine.setExecutionExceptionHandler((e, command, result) -> failed(e instanceof ManifestLocator.Distrusted ? named((ManifestLocator.Distrusted) e, command) : e, command.getCommand(), terminal));
        int status = commandLine.execute(arguments);
        out.flush();
        err.flush();
        if (out.checkError() && status == ExitCode.OK) {
            terminal.complain("the answer could not be written to stdout");
            return ExitCode.FAILED;
        }
        return status;
    }

    private static int misused(ParameterException e, Terminal terminal) {
        StringBuilder line = new StringBuilder();
        CommandLine command = e.getCommandLine();
        List<String> unmatched = e instanceof UnmatchedArgumentException ? ((UnmatchedArgumentException) e).getUnmatched() : List.of();
        if (!unmatched.isEmpty() && command.getParent() == null && !unmatched.get(0).startsWith("-")) {
            String[] verbs = command.getSubcommands().keySet().toArray(new String[0]);
            String nearest = Names.nearest(unmatched.get(0), verbs);
            line.append("there is no verb '").append(unmatched.get(0)).append("'; ")
                    .append(nearest == null ? "there are " + String.join(", ", verbs) : "did you mean " + nearest + "?");
        } else {
            line.append(e.getMessage().replace('\n', ' '));
            List<String> options = unmatched.isEmpty() ? List.of() : ((UnmatchedArgumentException) e).getSuggestions();
            if (!options.isEmpty()) {
                line.append("; did you mean ").append(options.get(0)).append('?');
            }
        }
        line.append("; see ").append(e.getCommandLine().getCommandSpec().qualifiedName()).append(" --help");
        terminal.complain(line.toString());
        return ExitCode.USAGE;
    }

    private static int failed(Exception e, Object verb, Terminal terminal) {
        if (e instanceof UsageException) {
            terminal.complain(advised(verb, e.getMessage()));
            return ExitCode.USAGE;
        }
        terminal.complain("failed: " + (e instanceof IOException ? advised(verb, reason((IOException) e)) : e.toString()));
        return ExitCode.FAILED;
    }

    /** What this verb has to name something by. */
    private static UsageException named(ManifestLocator.Distrusted found, CommandLine verb) {
        CommandSpec spec = verb.getCommandSpec();
        if (spec.findOption("--manifest") != null) {
            return found.advising("give --manifest PATH if it is what you want");
        }
        boolean isArgument = spec.positionalParameters().stream().anyMatch(parameter -> "MANIFEST".equals(parameter.paramLabel()));
        return isArgument ? found.advising("give it as MANIFEST if it is what you want")
                : spec.findOption("--home") != null ? found.advising("give --home DIRECTORY, the home that is meant") : found;
    }

    private static String advised(Object verb, String text) {
        return verb instanceof Verb ? ((Verb) verb).advised(text) : text;
    }

    /** What the system said, without names of classes. */
    static String reason(IOException e) {
        if (e instanceof FileSystemException) {
            FileSystemException file = (FileSystemException) e;
            String why = e instanceof AccessDeniedException ? "permission denied" : e instanceof NoSuchFileException ? "no such file or directory" : "not possible";
            return file.getFile() + ": " + (file.getReason() == null ? why : file.getReason());
        }
        return e.getMessage() == null ? e.toString() : e.getMessage();
    }

    /** Without a verb. */
    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "which verb? one of " + String.join(", ", spec.subcommands().keySet()));
    }
}
