package dev.klock.agent;

import dev.klock.agent.config.DeclaredScope;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.observe.Subjects;
import dev.klock.agent.resolve.Resolver;
import dev.klock.kernel.Predicate;
import dev.klock.manifest.Cover;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.resource.Resource;
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

    AgentManifest(Launch launch, Subjects subjects) {
        this.launch = launch;
        this.subjects = subjects;
    }

    /**
     * @param agent null for the file's own
     * @return null if the process's manifest does not declare it
     * @throws UsageException {@code file} cannot be read, is not a valid manifest, or goes beyond what is declared
     */
    Manifest of(File file, String agent) throws UsageException {
        Manifest process = launch.manifest();
        if (process == null) {
            return null;
        }
        if (isSame(file, launch.manifestFile())) {
            // as it was at the start, whatever is there by now
            return named(process.agents(), agent);
        }
        Manifest own = Launch.readManifest(file, asTheProgram(file), launch.options(), launch.environment());
        Manifest asked = agent == null || agent.equals(own.agentId()) ? own : named(own.agents(), agent);
        Manifest declared = asked == null ? null : named(process.agents(), asked.agentId());
        if (declared != null) {
            requireWithin(asked.scope(), declared.scope(), asked, declared, process);
            requireDenied(asked, declared, process);
        }
        return declared == null ? null : asked;
    }

    /** What stands in {@code file}, for who may read it: a message on what is wrong with it tells of it. The calling thread has entered once. */
    private byte[] asTheProgram(File file) throws UsageException {
        subjects.leave();
        try {
            return Launch.bytes(file);
        } finally {
            subjects.enter();
        }
    }

    private static boolean isSame(File a, File b) {
        try {
            return a.getCanonicalPath().equals(b.getCanonicalPath());
        } catch (IOException unreachable) {
            return false;
        }
    }

    private static Manifest named(List<Manifest> agents, String agent) {
        for (int i = 0; i < agents.size(); i++) {
            if (agents.get(i).agentId().equals(agent)) {
                return agents.get(i);
            }
        }
        return null;
    }

    private static void requireWithin(List<Line> asked, List<Line> declared, Manifest of, Manifest by, Manifest process) throws UsageException {
        for (int i = 0; i < asked.size(); i++) {
            Line line = asked.get(i);
            Line within = null;
            for (int j = 0; j < declared.size() && within == null; j++) {
                within = isWithin(line, declared.get(j)) ? declared.get(j) : null;
            }
            if (within == null) {
                throw new UsageException(of.file() + ":" + line.line() + ":" + line.column() + ": " + line + " is more than " + process.file() + " declares for "
                        + by.agentId() + ": declare it there, too");
            }
        }
    }

    /** Whether {@code manifest} covers {@code intent}, which is written as there; true too for what is no intent, which is refused for that. */
    static boolean isDeclared(String intent, Manifest manifest, Resolver resolver) {
        Predicate predicate;
        Resource resource;
        try {
            int space = intent.indexOf(' ');
            predicate = Predicate.valueOf(space < 0 ? intent : intent.substring(0, space));
            resource = DeclaredScope.real(Resource.parse(intent.substring(space + 1).trim()), resolver);
        } catch (IllegalArgumentException e) {
            return true;
        }
        List<Line> scope = manifest.scope();
        for (int i = 0; i < scope.size(); i++) {
            Line line = scope.get(i);
            if ((Cover.allows(line.predicate(), false) & predicate.bit()) != 0 && DeclaredScope.real(line.resource(), resolver).covers(resource)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isWithin(Line line, Line declared) {
        boolean within = declared.resource().covers(line.resource()) && (Cover.allows(declared.predicate(), false) & line.predicate().bit()) != 0;
        if (!within || line.effects() == null || declared.effects() == null) {
            return within;
        }
        List<Line> effects = line.effects();
        for (int i = 0; i < effects.size(); i++) {
            boolean any = false;
            for (int j = 0; j < declared.effects().size(); j++) {
                any |= isWithin(effects.get(i), declared.effects().get(j));
            }
            if (!any) {
                return false;
            }
        }
        return true;
    }

    private static void requireDenied(Manifest asked, Manifest declared, Manifest process) throws UsageException {
        List<Line> denied = declared.deny();
        for (int i = 0; i < denied.size(); i++) {
            Line line = denied.get(i);
            boolean any = false;
            for (int j = 0; j < asked.deny().size(); j++) {
                any |= asked.deny().get(j).predicate() == line.predicate() && asked.deny().get(j).resource().covers(line.resource());
            }
            if (!any) {
                throw new UsageException(asked.file() + ": " + process.file() + ":" + line.line() + " denies " + line + " to " + declared.agentId()
                        + ": deny it here, too");
            }
        }
    }
}
