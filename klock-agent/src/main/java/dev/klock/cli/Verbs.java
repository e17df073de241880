package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import java.lang.instrument.Instrumentation;

/** The table of verbs, in the order in which help shows them. */
final class Verbs {
    /** A verb's name and its command. */
    static final class Row {
        final String name;
        final Verb command;

        private Row(String name, Verb command) {
            this.name = name;
            this.command = command;
        }
    }

    private Verbs() {
    }

    /** All verbs. {@code instrumentation} is that of this JVM, null if the launcher gave none. */
    static Row[] all(Terminal terminal, LaunchEnvironment environment, Instrumentation instrumentation) {
        return new Row[] {
            new Row("run", new Run(terminal, environment)),
            new Row("validate", new Validate(terminal, environment)),
            new Row("check", new Check(terminal, environment)),
            new Row("explain", new Explain(terminal, environment)),
            new Row("learn", new Learn(terminal, environment)),
            new Row("tighten", new Tighten(terminal, environment)),
            new Row("shadow", new Shadow(terminal, environment)),
            new Row("report", new Report(terminal, environment, instrumentation)),
            new Row("sign", new Sign(terminal, environment)),
            new Row("verify", new Verify(terminal, environment)),
            new Row("status", new Status(terminal, environment)),
            new Row("sessions", new Sessions(terminal, environment, instrumentation)),
            new Row("diff", new Diff(terminal, environment, instrumentation)),
            new Row("undo", new Undo(terminal, environment, instrumentation)),
            new Row("recover", new Recover(terminal, environment, instrumentation)),
            new Row("backups", new BackupsVerb(terminal, environment, instrumentation)),
            new Row("config", new Config(terminal, environment)),
            new Row("baseline", new BaselineVerb(terminal, environment)),
            new Row("doctor", new Doctor(terminal, environment)),
            new Row("schema", new Schema(terminal, environment)),
            new Row("completion", new Completion(terminal, environment)),
            new Row("version", new Version(terminal, environment)),
        };
    }
}
