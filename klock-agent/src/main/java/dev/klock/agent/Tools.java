package dev.klock.agent;

import dev.klock.agent.backup.Backups;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.LaunchOptions;
import dev.klock.agent.config.LaunchVariables;
import dev.klock.agent.config.Mode;
import dev.klock.agent.config.Option;
import dev.klock.agent.config.Origin;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.decide.Baseline;
import dev.klock.agent.decide.Own;
import dev.klock.agent.decide.Targets;
import dev.klock.agent.log.Begun;
import dev.klock.agent.log.PlaceNames;
import dev.klock.agent.log.VerificationLog;
import dev.klock.agent.observe.Doors;
import dev.klock.agent.observe.Observer;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What all sessions of this JVM are made with. */
final class Tools {
    final Launch launch;
    final Home home;
    final HostFiles files;
    final Names names;
    final Resolver resolver;
    final Baseline baseline;
    final Own own;
    final Doors doors;
    final Sessions sessions;
    /** The launch's manifest's directory; null if there is none. */
    private final File workspace;
    /** The directories that its variables stand for. */
    private final Map<String, String> variables;

    Tools(Launch launch, Home home, HostFiles files, Names names, Resolver resolver, Own own, Doors doors) {
        this.launch = launch;
        this.home = home;
        this.files = files;
        this.names = names;
        this.resolver = resolver;
        this.baseline = Baseline.ofThisJvm(resolver, names);
        this.own = own;
        this.doors = doors;
        this.sessions = new Sessions(files);
        this.workspace = launch.manifestFile() == null ? null : launch.manifestFile().getAbsoluteFile().getParentFile();
        this.variables = new LaunchVariables(launch.environment(), workspace).directories();
    }

    /** The log and the images of one session, which are nobody else's. */
    static final class Records {
        final String sessionId;
        final VerificationLog log;
        final Backups backups;
        /** For what is said of it. */
        final PlaceNames places;

        private Records(String sessionId, VerificationLog log, Backups backups, PlaceNames places) {
            this.places = places;
            this.sessionId = sessionId;
            this.log = log;
            this.backups = backups;
        }
    }

    /**
     * Claims an id for a session, and makes what is kept of it.
     *
     * @param manifest null in learn
     * @throws UsageException the home cannot be written
     */
    Records records(Manifest manifest, String agentId) throws UsageException {
        SessionClaim claim = SessionClaim.claim(home, manifest == null ? null : manifest.sessionId());
        Mode mode = launch.options().mode();
        Map<String, String> its = variables(manifest);
        try {
            Backups backups = Backups.open(home.directory().toPath(), SessionClaim.fileName(claim.id()), files);
            VerificationLog log = VerificationLog.open(claim.log(), claim.id(), agentId, mode.word(), mode == Mode.STRICT,
                    manifest == null ? null : manifest.file(), begun(manifest, agentId, its));
            backups.restoredAfterCrash(mode == Mode.STRICT);
            return new Records(claim.id(), log, backups, new PlaceNames(its));
        } catch (IOException e) {
            throw new UsageException("klock's home " + home.directory() + " cannot be written: " + e.getMessage());
        }
    }

    /** What variables stand for in {@code manifest}, which may be an agent's, from a file of its own elsewhere. */
    private Map<String, String> variables(Manifest manifest) {
        File its = manifest == null ? workspace : launch.environment().file(manifest.file()).getAbsoluteFile().getParentFile();
        return its == null || its.equals(workspace) ? variables : new LaunchVariables(launch.environment(), its).directories();
    }

    /** What is told at the beginning: of an agent's session whose it is, of the process's how it was started. */
    private Begun begun(Manifest manifest, String agentId, Map<String, String> its) {
        ProcessSession process = sessions.process();
        List<Line> scope = manifest == null ? new ArrayList<Line>() : manifest.scope();
        if (process != null) {
            return new Begun(process.sessionId, new ArrayList<Begun.Setting>(), its, scope);
        }
        LaunchOptions options = launch.options();
        List<Begun.Setting> settings = new ArrayList<>();
        Option[] all = Option.values();
        for (int i = 0; i < all.length; i++) {
            Option option = all[i];
            String value = option == Option.HOME ? home.directory().getPath() : option == Option.AGENT ? agentId
                    : option == Option.MANIFEST ? manifest == null ? null : manifest.file() : options.text(option);
            boolean found = options.origin(option) == Origin.DEFAULT && manifest != null;
            String origin = found && option == Option.MANIFEST ? "found" : found && option == Option.AGENT ? "the manifest's agent_id"
                    : found && option == Option.HOME ? "beside the manifest" : options.where(option);
            settings.add(new Begun.Setting(option.key(), value, origin));
        }
        return new Begun(null, settings, its, scope);
    }

    /**
     * Ends the construction of {@code session}: the observer needs the session and the session the observer.
     *
     * @param manifest null in learn
     * @param scope what it allows, by the names that its lines lead to
     */
    Images equip(Session session, Manifest manifest, Scope scope) {
        LaunchOptions options = launch.options();
        Images images = new Images(session.backups, resolver, files, options.backupMaxFiles(), options.backupMaxBytes());
        session.keeps(images);
        ProcessSession process = session instanceof ProcessSession ? (ProcessSession) session : sessions.process();
        Targets targets = new Targets(scope, baseline, own.showing(Meanwhile.place(process.sessionId)), session);
        Observer observer = new Observer(sessions.subjects(), files, names, resolver, targets, manifest == null ? new ArrayList<Line>() : manifest.scope(),
                launch.environment().variable("PATH"), images, session, session, process, process, doors);
        session.observedBy(observer, targets);
        session.looksAfter(new Surroundings(files, targets, options.backupMaxFiles()));
        return images;
    }
}
