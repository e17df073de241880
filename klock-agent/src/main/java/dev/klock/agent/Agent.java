package dev.klock.agent;

import dev.klock.agent.audit.PassedAudits;
import dev.klock.agent.cache.UserCache;
import dev.klock.agent.backup.Recovery;
import dev.klock.agent.config.Cache;
import dev.klock.agent.config.DeclaredScope;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.JdkTool;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.Mode;
import dev.klock.agent.config.Option;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.decide.Own;
import dev.klock.agent.library.LibraryHooks;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.log.VerificationLog;
import dev.klock.agent.observe.Subjects;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.agent.weave.Bridge;
import dev.klock.agent.weave.HookTable;
import dev.klock.agent.weave.Installation;
import dev.klock.agent.weave.Propagation;
import dev.klock.bridge.HostFiles;
import dev.klock.kernel.SessionKey;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.Scope;
import java.io.File;
import java.lang.instrument.Instrumentation;
import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.util.ArrayList;
import java.util.List;

/**
 * Starts klock in a JVM, before {@code main}: reads the launch, weaves, takes the leases and images, and lets the program begin. If
 * anything of that fails the JVM ends here, with one line and exit code 2 (the user's to mend), 107 (a lease) or 1 (klock's): the program
 * never runs unprotected.
 */
public final class Agent {
    private Agent() {
    }

    /**
     * Called once by the entry class, on the premain thread; {@code argument} is what stands behind
     * {@code klock.jar=}, or null; {@code jar} is klock.jar.
     */
    public static void start(String argument, File jar, Instrumentation instrumentation) throws Exception {
        // the default file system is initialised here, on this thread, so that no hook ever is the first to do it (FIELD G04)
        FileSystems.getDefault();
        try {
            HookTable table = HookTable.forRelease(Runtime.version().feature());
            Installation.load(table);
            LaunchEnvironment environment = LaunchEnvironment.ofProcess();
            if (JdkTool.isThisJvm(argument, environment)) {
                Stderr.announce("this is a tool of the JDK that picked klock up from JAVA_TOOL_OPTIONS: it runs without klock"
                        + " (-J-javaagent:klock.jar guards it, too)");
                return;
            }
            UserCache cache = UserCache.of(Cache.directory(environment));
            Launch launch = Launch.read(argument, environment, cache);
            Stderr.level(launch.options().logLevel());
            List<String> loosened = launch.options().loosened();
            for (int i = 0; i < loosened.size(); i++) {
                Stderr.announce(loosened.get(i));
            }
            if (launch.options().mode() != Mode.OFF) {
                Platform.check();
                begin(launch, jar, instrumentation, table, cache);
            }
        } catch (UsageException e) {
            Stderr.announce(e.getMessage());
            Runtime.getRuntime().halt(UsageException.EXIT_CODE);
        } catch (InvalidPathException e) {
            Stderr.announce("this locale cannot write the path " + e.getInput() + " (sun.jnu.encoding is "
                    + System.getProperty("sun.jnu.encoding") + "); start with LC_ALL=C.UTF-8 or another UTF-8 locale");
            Runtime.getRuntime().halt(UsageException.EXIT_CODE);
        }
    }

    private static void begin(Launch launch, File jar, Instrumentation instrumentation, HookTable table, UserCache cache)
            throws Exception {
        Mode mode = launch.options().mode();
        if (!table.isListed()) {
            audit(table, mode, cache);
        }
        Manifest manifest = launch.manifest();
        Home home = Home.open(launch.home());
        if (launch.options().text(Option.HOME) != null || launch.options().text(Option.MANIFEST) != null) {
            Stderr.advise(home.directory().getPath());
        }
        String agentId = manifest == null ? agentId(launch) : manifest.agentId();
        Bridge bridge = Bridge.open();
        HostFiles files = bridge.files();
        Names names = new Names(System.getProperty("sun.jnu.encoding"));
        Resolver resolver = new Resolver(files);
        Tools tools = new Tools(launch, home, files, names, resolver, own(launch, jar, home, resolver, names), new ReviewedDoors(table.release()));
        Tools.Records records = tools.records(manifest, agentId);
        VerificationLog log = records.log;
        Sessions sessions = tools.sessions;
        Subjects subjects = sessions.subjects();
        ProcessSession session = new ProcessSession(sessions, launch.options(), manifest, agentId, records, home);
        Images images = tools.equip(session, manifest, manifest == null ? Scope.builder().build() : DeclaredScope.of(manifest, resolver));
        sessions.begin(session);
        SessionKey key = SessionKey.of(agentId, records.sessionId);
        if (manifest != null && mode != Mode.LEARN) {
            Start start = new Start(launch, manifest, key, home, session, subjects, images, files, log);
            start.take(Leases.wanted(manifest, resolver));
        } else {
            Leases none = Leases.none(session);
            none.begin(key, Manifest.NO_TIMESTAMP);
            session.holds(none);
            try {
                new Recovered(home, files, log).all();
            } catch (Recovery.Busy e) {
                Stderr.warn(e.getMessage());
            }
        }
        bridge.connect(subjects, sessions.fences().first());
        // what klock does on this thread between the first hook and main is not the program's
        subjects.enter();
        Installation installation = Installation.install(instrumentation, table, session, cache);
        refuse(installation.gaps(), mode);
        session.hookedBy(installation);
        installation.listenersAsk(sessions);
        if (manifest != null && !manifest.agents().isEmpty() && mode != Mode.LEARN) {
            Propagation.define();
            Propagation propagation = Handover.install(instrumentation, subjects);
            refuse(propagation.gaps(), mode);
            propagation.tell(session);
            session.propagates(propagation);
            Bridge.connectSessions(new AgentSessions(tools, session.leases()));
        }
        if (manifest != null && !manifest.hooks().isEmpty()) {
            session.hooksLibraries(LibraryHooks.install(instrumentation, manifest, subjects, session));
        }
        FirstUses.atStart();
        session.begin(new ProgramBegun(instrumentation));
        subjects.leave();
    }

    private static void refuse(List<String> gaps, Mode mode) throws UsageException {
        if (gaps.isEmpty()) {
            return;
        }
        String first = gaps.get(0) + (gaps.size() == 1 ? "" : " and " + (gaps.size() - 1) + " more");
        if (mode.denies()) {
            throw new UsageException("hooks could not be installed on Java " + Runtime.version() + ": " + first + "; see java -jar klock.jar doctor");
        }
        Stderr.warn("hooks are missing: " + first);
    }

    /** A release that nobody has fitted the hook table to may still be held by it: that is proven once for each build, or refused (K6-1). */
    private static void audit(HookTable table, Mode mode, UserCache cache) throws UsageException {
        String fault = PassedAudits.fault(table, cache);
        if (fault != null) {
            String line = "hooks for Java " + table.release() + " do not hold on Java " + Runtime.version() + ": " + fault;
            if (mode.denies()) {
                throw new UsageException(line + "; see java -jar klock.jar doctor --audit");
            }
            Stderr.warn(line);
        }
    }

    private static String agentId(Launch launch) {
        String given = launch.options().agent();
        return given == null || given.isEmpty() ? "agent" : given;
    }

    private static Own own(Launch launch, File jar, Home home, Resolver resolver, Names names) {
        List<String> kept = new ArrayList<>();
        if (launch.manifestFile() != null) {
            add(kept, launch.manifestFile(), resolver, names);
        }
        add(kept, jar, resolver, names);
        String directory = resolver.resolve(names.encode(home.directory().getPath()), true).path();
        File cache = Cache.place(launch.environment());
        String cached = cache == null ? null : resolver.resolve(names.encode(cache.getPath()), true).path();
        return new Own(cached == null ? new String[] {directory} : new String[] {directory, cached}, kept.toArray(new String[0]));
    }

    private static void add(List<String> kept, File file, Resolver resolver, Names names) {
        String real = resolver.resolve(names.encode(file.getPath()), true).path();
        if (real != null) {
            kept.add(real);
        }
    }
}
