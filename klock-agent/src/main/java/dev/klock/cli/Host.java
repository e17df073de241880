package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.weave.Bridge;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.lang.instrument.Instrumentation;

/** The machine's files for the command line. */
final class Host {
    private Host() {
    }

    /** By bytes where this JVM lets us, as it does when klock.jar itself is run; else by the public API ({@code instrumentation} null). */
    static HostFiles files(Instrumentation instrumentation, LaunchEnvironment environment) throws IOException {
        if (instrumentation == null) {
            return new NioFiles(environment.workingDirectory());
        }
        return Bridge.open().files();
    }
}
