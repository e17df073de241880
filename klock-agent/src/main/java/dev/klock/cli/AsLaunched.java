package dev.klock.cli;

import dev.klock.agent.config.Launch;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.LaunchVariables;
import dev.klock.agent.config.UsageException;
import dev.klock.cli.log.LogFiles;
import dev.klock.cli.log.LogHeader;
import dev.klock.cli.log.LogVisitor;
import dev.klock.manifest.Manifest;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/**
 * A manifest as the programs saw it whose logs are read: its variables stand for the directories that they stood for there, which another JDK, or
 * another {@code -Djava.io.tmpdir}, makes others than here. Where a log does not say, for those of here. Not thread-safe.
 */
final class AsLaunched {
    private final Given given;
    private final LaunchEnvironment here;
    private final Map<Map<String, String>, Manifest> read = new HashMap<>();

    AsLaunched(Given given, LaunchEnvironment here) {
        this.given = given;
        this.here = here;
    }

    /** The directories that variables stood for in the program of {@code log}; empty if it does not say. */
    static Map<String, String> told(LogFiles log) throws IOException {
        Map<String, String> told = new HashMap<>();
        log.readFirst(new LogVisitor() {
            @Override
            public void header(LogHeader header) {
                told.putAll(header.variables());
            }
        });
        // where the manifest was does not matter, but where the one is that is read here
        told.remove("workspace");
        return told;
    }

    /** The manifest, of all its agents. */
    Manifest manifest(Map<String, String> told) throws UsageException {
        Manifest manifest = read.get(told);
        if (manifest == null) {
            Manifest here = given.manifest();
            manifest = told.isEmpty() ? here : Launch.readManifest(given.manifestFile, given.options, environment(told));
            read.put(told, manifest);
        }
        return manifest;
    }

    /** As {@link #manifest(Map)}, if {@code source} stood in the file. */
    Manifest manifest(byte[] source, Map<String, String> told) throws UsageException {
        return Launch.readManifest(given.manifestFile, source, given.options, environment(told));
    }

    /** What decides by {@code manifest}, one that was read here with the same {@code told}. */
    Judge judge(Manifest manifest, Map<String, String> told) {
        return new Judge(given, manifest, environment(told));
    }

    private LaunchEnvironment environment(Map<String, String> told) {
        return LaunchVariables.asThere(here, told);
    }
}
