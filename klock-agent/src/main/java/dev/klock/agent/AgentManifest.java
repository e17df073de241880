package dev.klock.agent;

import dev.klock.agent.config.AgentScopes;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.observe.Exemption;
import dev.klock.agent.observe.Subjects;
import dev.klock.agent.resolve.Resolver;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import java.io.File;
import java.io.IOException;
import java.util.List;

/**
 * What an agent may do that a program opens a session for: what the process's manifest declares for it or, by a manifest of its own, less. More
 * it cannot be: else whoever can write a file could write itself a manifest.
 */
final class AgentManifest {
    private final Launch launch;
    private final Subjects subjects;
    private final Resolver resolver;
    private final DeclaredAgent[] declared;

    /** Before the program begins. */
    AgentManifest(Launch launch, Subjects subjects, Resolver resolver) {
        this.launch = launch;
        this.subjects = subjects;
        this.resolver = resolver;
        List<Manifest> agents = launch.manifest().agents();
        declared = new DeclaredAgent[agents.size()];
        for (int i = 0; i < declared.length; i++) {
            declared[i] = DeclaredAgent.atStart(agents.get(i), resolver);
        }
    }

    /** What is declared for them at the start. */
    AgentScopes scopes() {
        Scope[] scopes = new Scope[declared.length];
        for (int i = 0; i < scopes.length; i++) {
            scopes[i] = declared[i].scope;
        }
        return new AgentScopes(launch.manifest().agents(), scopes);
    }

    /**
     * @param file null for the process's manifest
     * @param agent null for the file's own
     * @return null if the process's manifest does not declare it
     * @throws UsageException {@code file} cannot be read, is not a valid manifest, or goes beyond what is declared
     */
    DeclaredAgent of(File file, String agent) throws UsageException {
        if (file == null || isSame(file, launch.manifestFile())) {
            // as it was at the start, whatever is there by now
            return named(agent);
        }
        Manifest own = Launch.readManifest(file, asTheProgram(file), launch.options(), launch.environment());
        Manifest asked = own.agent(agent);
        DeclaredAgent mine = asked == null ? null : named(asked.agentId());
        return mine == null ? null : mine.within(asked, resolver, launch.manifest().file());
    }

    private DeclaredAgent named(String agent) {
        for (int i = 0; i < declared.length; i++) {
            if (declared[i].manifest.agentId().equals(agent)) {
                return declared[i];
            }
        }
        return null;
    }

    /** What stands in {@code file}, for who may read it: a message on what is wrong with it tells of it. The calling thread has entered once. */
    private byte[] asTheProgram(File file) throws UsageException {
        Exemption own = subjects.exemption();
        own.depth--;
        try {
            return Launch.bytes(file);
        } finally {
            own.depth++;
        }
    }

    private static boolean isSame(File a, File b) {
        try {
            return a.getCanonicalPath().equals(b.getCanonicalPath());
        } catch (IOException unreachable) {
            return false;
        }
    }
}
