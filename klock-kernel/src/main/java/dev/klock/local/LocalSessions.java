package dev.klock.local;

import dev.klock.Klock;
import dev.klock.KlockException;
import dev.klock.KlockListener;
import dev.klock.KlockSession;
import dev.klock.ScopeViolationError;
import dev.klock.Subject;
import dev.klock.digest.ObservationUpdate;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.kernel.GlobalScopePolicy;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Limits;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.manifest.Ids;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.ManifestException;
import dev.klock.manifest.ManifestReader;
import dev.klock.manifest.ReadOptions;
import dev.klock.manifest.SystemVariables;
import dev.klock.resource.Resource;
import dev.klock.resource.Shown;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The sessions of this JVM, and the kernel they share. Safe for all threads. */
public final class LocalSessions implements Klock.Provider {
    private static final String UNENFORCED =
            "klock: no agent is loaded: leases are taken, but nothing is enforced; start with -javaagent:klock.jar";

    private static final String PROCESS_ONLY =
            "klock: the manifest that the agent holds this process to does not declare this session's agent: it takes leases, and is not held to a scope of"
            + " its own; declare it there under agents:";

    /** How far a timestamp may run ahead of the clock, milliseconds. */
    static final long MAX_AHEAD_MS = 1_000;

    /** What a number behind an id takes at most: a dash and ten digits. */
    private static final int NUMBER_BYTES = 11;

    /** The most ids of manifests that are remembered. */
    static final int MAX_IDS = 1_000;

    /** The settings that {@code klock:} in a manifest may have; only the agent uses them. */
    private static final String[] SETTINGS = {"mode", "home", "agent", "wait-timeout", "lease-ttl", "amend", "log.level",
        "denials.limit", "backup.max-bytes", "backup.max-files"};

    private final EmbeddedKernel kernel;
    /** Null if no agent enforces anything for sessions. */
    private final GuardedSessions guarded = GuardedSessions.ofThisJvm();
    /**
     * The last number that was put behind each id that manifests name, and behind what is left of one that is too long for a number;
     * whichever was asked for last is at the end. Beyond {@link #MAX_IDS} the first goes:
     * that id is free again once the kernel has forgotten its sessions, too.
     */
    private final Map<String, Integer> lastNumbers = new LinkedHashMap<>(16, 0.75f, true);
    private long lastPriorityMs;
    private boolean said;

    /** With a kernel of its own; {@link Klock} makes one for the JVM. */
    public LocalSessions() {
        kernel = new EmbeddedKernel(options(System.getProperty("user.home")), System.currentTimeMillis(), null);
    }

    /**
     * What a manifest may not declare is not granted later either: no writing on all of the home directory (C18), by the name it is known by
     * or by the one that links lead to, which is what the kernel is asked for.
     */
    static KernelOptions options(String userHome) {
        KernelOptions options = KernelOptions.standard();
        List<String> homes = homes(userHome);
        return homes.isEmpty() ? options : options.withPolicy(new GlobalScopePolicy(1, homes));
    }

    private static List<String> homes(String userHome) {
        if (userHome == null || !userHome.startsWith("/")) {
            return List.of();
        }
        Path home = Path.of(userHome).normalize();
        return List.of(home.toString(), real(home).toString());
    }

    @Override
    public KlockSession open(Path file, String agent, Duration wait) throws KlockException, InterruptedException {
        KlockSession enforced = guarded == null ? null : guarded.open(file, agent, wait);
        if (enforced == null && file == null) {
            throw new KlockException(noneFor(agent));
        }
        return enforced == null ? openHere(agent(read(file), agent), wait) : enforced;
    }

    /** Why there is no session for {@code agent} where no manifest is named, and what to do. */
    private String noneFor(String agent) {
        if (guarded == null) {
            return "no manifest is named, and klock holds this process to none that declares agents: name one, as in Klock.open(Path.of(\"klock.yaml\")), or"
                    + " start with -javaagent:klock.jar and a manifest that has agents:";
        }
        if (agent == null) {
            return "no agent is named: where no manifest is named, name one that the manifest that klock holds this process to declares under agents:, as in"
                    + " Klock.open(null, \"builder\", wait); the process itself needs no session, what it declares it has from its start";
        }
        return "the manifest that klock holds this process to declares no agent " + Shown.value(agent) + " under agents:, so name one that it declares, or"
                + " declare it there";
    }

    @Override
    public KlockSession current() {
        KlockSession enforced = guarded == null ? null : guarded.current();
        return enforced == null ? LocalSession.current() : enforced;
    }

    @Override
    public Subject subject() {
        Object number = guarded == null ? null : guarded.subject();
        LocalSession session = LocalSession.current();
        return number == null && session == null ? null : new OfSession(guarded, number, session);
    }

    @Override
    public Subject process() {
        return new OfSession(guarded, null, null);
    }

    /**
     * A session, or none, which is the process.
     *
     * @param guarded null if no agent enforces anything for sessions
     * @param number the agent's name for one that it enforces, else null
     * @param session one that it does not enforce, else null
     */
    private record OfSession(GuardedSessions guarded, Object number, LocalSession session) implements Subject {
        @Override
        public void set() {
            if (guarded != null) {
                guarded.set(number);
            }
            LocalSession.setCurrent(session);
        }

        /** An agent that follows tasks must know that this was said: else a task that is called in {@code work} would be for whom it was made by. */
        @Override
        public Runnable wrap(Runnable work) {
            return guarded == null ? Subject.super.wrap(work) : () -> guarded.run(number, () -> runHere(work));
        }

        private void runHere(Runnable work) {
            LocalSession before = LocalSession.current();
            LocalSession.setCurrent(session);
            try {
                work.run();
            } finally {
                LocalSession.setCurrent(before);
            }
        }

        @Override
        public String toString() {
            return number == null && session == null ? "the process" : "session " + (number == null ? session.sessionId() : number);
        }
    }

    @Override
    public List<String> observationUpdate() throws KlockException {
        String file = System.getProperty(ObservationUpdate.PROPERTY);
        if (file == null) {
            return List.of();
        }
        try {
            return LocalSession.changes(ObservationUpdate.read(Files.readAllBytes(Path.of(file))));
        } catch (IOException e) {
            throw new KlockException(file + ": " + problem(e), e);
        }
    }

    @Override
    public Klock.Listening listen(KlockListener listener) {
        return Listening.begin(listener);
    }

    private static Manifest agent(Manifest manifest, String agent) throws KlockException {
        Manifest one = manifest.agent(agent);
        if (one == null) {
            throw new KlockException(manifest.file() + ": has no agent " + Shown.value(agent) + "; it has " + manifest.agentIds());
        }
        return one;
    }

    private KlockSession openHere(Manifest manifest, Duration wait) throws InterruptedException {
        List<Triple> wanted = wanted(manifest);
        say();
        LocalSession session;
        synchronized (this) {
            long priorityMs = manifest.priorityTimestamp();
            if (priorityMs == Manifest.NO_TIMESTAMP) {
                priorityMs = priorityMs(kernel.nowMs(), lastPriorityMs);
                lastPriorityMs = priorityMs;
            }
            String id = freshId(manifest.agentId(), manifest.sessionId());
            session = new LocalSession(kernel, SessionKey.of(manifest.agentId(), id), priorityMs, wanted);
        }
        try {
            session.ask(wait);
        } catch (InterruptedException | RuntimeException e) {
            session.close();
            throw e;
        }
        return session;
    }

    /**
     * The start counts (C47); a millisecond apart, so that who came first is the older one. When more than one a millisecond come for long,
     * those that come last are equally old, and their ids decide (C12).
     *
     * @param nowMs a clock that never goes back, milliseconds, so that nobody is older than who came before
     */
    static long priorityMs(long nowMs, long lastMs) {
        return Math.max(nowMs, Math.min(lastMs + 1, nowMs + MAX_AHEAD_MS));
    }

    /** The manifest's id if nobody had it, else with a number (C47), and if need be shorter by as much. */
    private String freshId(String agentId, String wanted) {
        String base = wanted == null ? "session" : wanted;
        if (!lastNumbers.containsKey(base) && !isTaken(agentId, base)) {
            remember(base, 1);
            return base;
        }
        String stem = Ids.shortened(base, Limits.MAX_ID_BYTES - NUMBER_BYTES);
        int n = lastNumbers.getOrDefault(stem, 1);
        String id;
        do {
            id = stem + "-" + ++n;
        } while (lastNumbers.containsKey(id) || isTaken(agentId, id));
        if (!stem.equals(base)) {
            remember(base, 1);
        }
        remember(stem, n);
        return id;
    }

    private void remember(String id, int lastNumber) {
        lastNumbers.put(id, lastNumber);
        if (lastNumbers.size() > MAX_IDS) {
            lastNumbers.remove(lastNumbers.keySet().iterator().next());
        }
    }

    /** Whether it is another id with a number behind it, or one that the kernel knows still. */
    private boolean isTaken(String agentId, String id) {
        int digits = id.length();
        while (digits > 0 && id.charAt(digits - 1) >= '0' && id.charAt(digits - 1) <= '9') {
            digits--;
        }
        // ten digits or more are beyond any number that was given, and a zero never leads one
        if (digits > 1 && digits < id.length() && id.length() - digits < 10 && id.charAt(digits - 1) == '-' && id.charAt(digits) != '0') {
            Integer last = lastNumbers.get(id.substring(0, digits - 1));
            int number = Integer.parseInt(id.substring(digits));
            if (last != null && number > 1 && number <= last) {
                return true;
            }
        }
        return kernel.state(SessionKey.of(agentId, id)) != null;
    }

    private synchronized void say() {
        String level = System.getProperty("klock.log.level");
        if (!said && !"error".equals(level)) {
            // the agent defines this class in the boot loader
            boolean agent = ScopeViolationError.class.getClassLoader() == null;
            System.err.println(agent ? PROCESS_ONLY : UNENFORCED);
        }
        said = true;
    }

    private static String problem(IOException e) {
        return e instanceof NoSuchFileException ? "is missing" : e instanceof AccessDeniedException ? "may not be read" : "cannot be read: " + e.getMessage();
    }

    private static Manifest read(Path file) throws KlockException {
        byte[] bytes;
        Path absolute = file.toAbsolutePath().normalize();
        try (InputStream in = Files.newInputStream(absolute)) {
            bytes = in.readNBytes(Manifest.MAX_BYTES + 1);
        } catch (IOException e) {
            throw new KlockException(file + ": " + problem(e), e);
        }
        try {
            String workspace = real(absolute.getParent()).toString();
            ReadOptions options = new ReadOptions().homes(homes(System.getProperty("user.home")).toArray(new String[0])).settingKeys(SETTINGS);
            return new ManifestReader(new SystemVariables(workspace), options).read(file.toString(), bytes);
        } catch (ManifestException e) {
            throw new KlockException(e.getMessage(), e);
        }
    }

    /** One triple per resource; starts of programs take no lease of their own (C48). */
    private static List<Triple> wanted(Manifest manifest) {
        List<Triple> triples = new ArrayList<>();
        for (Line line : manifest.leases()) {
            if (!line.resource().scheme().equals("PROCESS")) {
                triples.add(new Triple(null, line.predicate(), real(line.resource()), line.confidence(), 0));
            }
        }
        return triples;
    }

    /** The same file under its one name, so that two agents that come by different links meet. */
    static Resource real(Resource resource) {
        if (!resource.scheme().equals("FILE")) {
            return resource;
        }
        try {
            return Resource.of("FILE", real(Path.of(resource.path())).toString(), resource.form());
        } catch (InvalidPathException e) {
            return resource;
        }
    }

    /** Links resolved as far as the path exists. */
    private static Path real(Path path) {
        for (Path p = path; p != null; p = p.getParent()) {
            try {
                Path real = p.toRealPath();
                return p == path ? real : real.resolve(p.relativize(path));
            } catch (IOException e) {
                // not there yet: ask its parent
            }
        }
        return path;
    }
}
