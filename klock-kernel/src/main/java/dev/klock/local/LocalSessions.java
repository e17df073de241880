package dev.klock.local;

import dev.klock.Klock;
import dev.klock.KlockException;
import dev.klock.KlockSession;
import dev.klock.ScopeViolationError;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.manifest.Line;
import dev.klock.manifest.Manifest;
import dev.klock.manifest.ManifestException;
import dev.klock.manifest.ManifestReader;
import dev.klock.manifest.ReadOptions;
import dev.klock.manifest.SystemVariables;
import dev.klock.resource.Resource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The sessions of this JVM, and the kernel they share. Safe for all threads. */
public final class LocalSessions implements Klock.Provider {
    private static final String UNENFORCED =
            "klock: no agent is loaded: leases are taken, but nothing is enforced; start with -javaagent:klock.jar";

    private static final String PROCESS_ONLY =
            "klock: the agent holds this process to its own manifest; sessions of Klock.open take leases but are not enforced one by one";

    /** The settings that {@code klock:} in a manifest may have; only the agent uses them. */
    private static final String[] SETTINGS = {"mode", "home", "agent", "wait-timeout", "amend", "log.level"};

    private final EmbeddedKernel kernel;
    private final Set<String> sessionIds = new HashSet<>();
    /** The last number behind each id, so that the thousandth session need not try all before it. */
    private final Map<String, Integer> lastNumbers = new HashMap<>();
    private long lastPriorityMs;
    private boolean said;

    /** With a kernel of its own; {@link Klock} makes one for the JVM. */
    public LocalSessions() {
        kernel = new EmbeddedKernel(KernelOptions.standard(), System.currentTimeMillis(), null);
    }

    @Override
    public KlockSession open(Path file, Duration wait) throws KlockException, InterruptedException {
        Manifest manifest = read(file);
        List<Triple> wanted = wanted(manifest);
        say();
        LocalSession session;
        synchronized (this) {
            long priorityMs = manifest.priorityTimestamp();
            if (priorityMs == Manifest.NO_TIMESTAMP) {
                // the start counts (C47); a millisecond apart, so that who came first is the older one
                priorityMs = Math.max(System.currentTimeMillis(), lastPriorityMs + 1);
                lastPriorityMs = priorityMs;
            }
            String id = freshId(manifest.sessionId());
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

    /** The manifest's id if nobody had it, else with a number (C47). */
    private String freshId(String wanted) {
        String base = wanted == null ? "session" : wanted;
        String id = base;
        int n = lastNumbers.getOrDefault(base, 1);
        while (!sessionIds.add(id)) {
            id = base + "-" + ++n;
        }
        lastNumbers.put(base, n);
        return id;
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

    private static Manifest read(Path file) throws KlockException {
        byte[] bytes;
        Path absolute = file.toAbsolutePath().normalize();
        try (InputStream in = Files.newInputStream(absolute)) {
            bytes = in.readNBytes(Manifest.MAX_BYTES + 1);
        } catch (IOException e) {
            throw new KlockException(file + ": cannot be read: " + e, e);
        }
        try {
            String workspace = real(absolute.getParent()).toString();
            ReadOptions options = new ReadOptions().home(System.getProperty("user.home")).settingKeys(SETTINGS);
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
