package dev.klock.agent;

import dev.klock.agent.backup.Recovery;
import dev.klock.agent.config.Home;
import dev.klock.agent.config.Launch;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Stderr;
import dev.klock.agent.log.VerificationLog;
import dev.klock.agent.observe.Exemption;
import dev.klock.agent.observe.Subjects;
import dev.klock.bridge.HostFiles;
import dev.klock.digest.Restored;
import dev.klock.digest.StateDigest;
import dev.klock.embedded.Acquisition;
import dev.klock.embedded.Undertaker;
import dev.klock.kernel.Lease;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.manifest.Manifest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What a session needs before its program begins: all leases and images, or no program (K2-5, K6-8). What stands in the way of the leases is
 * waited for; who dies of it leaves its digest and ends with 107, to come back as old as it was (KLIS-8). Permissive goes on without, and says so.
 */
final class Start implements Undertaker {
    private final Launch launch;
    private final Manifest manifest;
    private final SessionKey key;
    /** What every request takes is no wait. */
    static final long WORTH_TELLING_MS = 20;
    private static final long NS_A_MS = 1_000_000;

    private final VerificationLog log;
    private final ProcessSession session;
    private final Home home;
    private final Subjects subjects;
    private final Images images;
    private final Recovered recovered;
    private final Digests digests;
    private final boolean strict;
    /** Whether the session is one that died before. */
    private boolean cameBack;

    Start(Launch launch, Manifest manifest, SessionKey key, Home home, ProcessSession session, Subjects subjects, Images images, HostFiles files, VerificationLog log) {
        this.launch = launch;
        this.log = log;
        this.manifest = manifest;
        this.key = key;
        this.home = home;
        this.session = session;
        this.subjects = subjects;
        this.images = images;
        this.recovered = new Recovered(home, files, log);
        this.digests = new Digests(home);
        this.strict = launch.options().mode().denies();
    }

    /**
     * Takes the leases and makes the images. Does not return if the program must not begin.
     *
     * @param wanted the triples to be leased
     */
    void take(List<Triple> wanted) throws UsageException, InterruptedException {
        Leases leases = open();
        session.holds(leases);
        if (!wanted.isEmpty()) {
            long asked = System.nanoTime();
            Acquisition acquired = leases.reserve(wanted, launch.options().waitTimeoutMs(), launch.options().leaseTtlMs());
            long waitedMs = (System.nanoTime() - asked) / NS_A_MS;
            if (acquired.isGranted()) {
                digests.settled();
                log.lease("granted", waitedMs < WORTH_TELLING_MS ? 0 : waitedMs, held(acquired), null);
            } else {
                refused(leases, acquired, waitedMs);
            }
        }
        // under the leases of this session, before it uses anything of theirs (C45)
        try {
            if (leases.areShared()) {
                new LostLeases(home, leases.kernel(), recovered).settle();
            } else {
                recovered.all();
            }
        } catch (IOException e) {
            if (strict) {
                throw new UsageException(e.getMessage());
            }
            Stderr.warn(e.getMessage());
        }
        try {
            session.actsUnder(leases.kernel(), leases.actsUnder());
            images.preflight(manifest);
        } catch (IOException e) {
            if (strict) {
                throw new UsageException("the images before the start could not be made: " + e.getMessage());
            }
            Stderr.warn("the images before the start could not be made: " + e.getMessage());
        }
        session.meanwhile().tell(leases.confirm(), cameBack);
    }

    private Leases open() throws UsageException {
        try {
            Leases leases = Leases.shared(home, subjects, this, session);
            begin(leases);
            return leases;
        } catch (IllegalArgumentException e) {
            throw new UsageException("the session is not taken by the kernel: " + e.getMessage());
        } catch (IOException e) {
            String why = "the leases that the sessions of " + home.directory() + " share cannot be known: " + e.getMessage();
            if (strict) {
                throw new UsageException(why);
            }
            Stderr.warn(why + "; runs without");
            Leases none = Leases.none(session);
            none.begin(key, manifest.priorityTimestamp());
            return none;
        }
    }

    /** As who it was, if it died and left a digest, else as a new session. */
    private void begin(Leases leases) throws IOException {
        Restored restored = digests.take(key.agentId(), System.currentTimeMillis());
        if (restored != null) {
            try {
                leases.comeBack(restored);
                cameBack = true;
                return;
            } catch (IllegalArgumentException e) {
                Stderr.warn("the digest of session " + restored.digest().session().sessionId() + " is not used: " + e.getMessage());
            }
        }
        leases.begin(key, manifest.priorityTimestamp());
    }

    @Override
    public boolean rollBack(SessionKey gone) {
        Exemption own = subjects.exemption();
        own.depth++;
        try {
            return recovered.all();
        } catch (Recovery.Busy e) {
            Stderr.error(e.getMessage());
            return false;
        } finally {
            own.depth--;
        }
    }

    private static List<String> held(Acquisition acquired) {
        List<String> held = new ArrayList<>();
        List<Lease> leases = acquired.leases();
        for (int i = 0; i < leases.size(); i++) {
            held.add(leases.get(i).predicate().name() + ' ' + leases.get(i).resource());
        }
        return held;
    }

    private void refused(Leases leases, Acquisition acquired, long waitedMs) throws UsageException {
        String why = leases.inTheWay(acquired);
        log.lease(strict ? "died" : "refused", waitedMs, new ArrayList<String>(), why);
        if (!strict) {
            Stderr.warn("runs without its leases: " + why);
            return;
        }
        if (acquired.refusal() != null) {
            throw new UsageException("the manifest's leases are refused: " + why);
        }
        try {
            digests.keep(leases.digest(acquired));
        } catch (IOException e) {
            Stderr.error("the digest could not be kept, so the agent comes back as young as it comes: " + e.getMessage());
        }
        session.died();
        Stderr.announce((acquired.timedOut() ? "no lease within " + Leases.seconds(launch.options().waitTimeoutMs()) + ": " : "no lease: ") + why
                + "; start it again within five minutes, and it is as old as now (java -jar klock.jar run does)");
        Runtime.getRuntime().halt(StateDigest.EXIT_CODE);
    }
}
