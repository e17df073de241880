package dev.klock.cli;

import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.weave.Bridge;
import dev.klock.bridge.HostFiles;
import java.io.File;
import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;

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

    /** klock.jar, of which this is a part. */
    static File jar() throws IOException {
        URL here = Host.class.getClassLoader().getResource("dev/klock/agent/weave/hooks.tsv");
        if (here == null || !here.getProtocol().equals("jar")) {
            throw new IOException("klock does not run from klock.jar");
        }
        try {
            return new File(((JarURLConnection) here.openConnection()).getJarFileURL().toURI());
        } catch (URISyntaxException e) {
            throw new IOException("klock.jar is at " + here, e);
        }
    }
}
