package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints what a shell needs to complete verbs and options. */
@Command(description = {"Print completion for bash and zsh, for a command that is called klock.",
    "Such as: alias klock='java -jar klock.jar'; source <(klock completion)"})
final class Completion extends Verb {
    @Spec
    private CommandSpec spec;

    Completion(Terminal terminal, LaunchEnvironment environment) {
        super(terminal, environment);
    }

    @Override
    public Integer call() {
        CommandLine all = spec.parent().commandLine();
        terminal.out.print(AutoComplete.bash(all.getCommandName(), all));
        return ExitCode.OK;
    }
}
