package dev.klock.agent;

import dev.klock.agent.backup.Store;
import dev.klock.agent.config.Home;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.kernel.SessionKey;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Others' sessions that have lost their leases while they ran: a process that was stopped for longer than they last, say. What they have changed stays,
 * since whoever was granted it may build on it (C45). So that it stays, too, where such a process is killed before it has noticed, whoever is granted
 * something writes down first who has lost leases; and if one of them has ended already, undoes its work while nobody has built on it. Thread-safe.
 */
public final class LostLeases {
    private static final int NEVER = -1;

    private final Path home;
    private final EmbeddedKernel kernel;
    private final Recovered recovered;
    /** {@link EmbeddedKernel#losses} when all was written down. */
    private long settled = NEVER;

    LostLeases(Home home, EmbeddedKernel kernel, Recovered recovered) {
        this.home = home.directory().toPath();
        this.kernel = kernel;
        this.recovered = recovered;
    }

    /** What is written down of a session that acts under the leases of {@code sessions}: each, and how often it had lost some before. */
    static List<String> of(EmbeddedKernel kernel, List<SessionKey> sessions) {
        List<String> leases = new ArrayList<>(sessions.size());
        for (int i = 0; i < sessions.size(); i++) {
            SessionKey key = sessions.get(i);
            leases.add(kernel.expiriesOf(key) + " " + key.namespace() + "/" + key.agentId() + "/" + key.sessionId());
        }
        return leases;
    }

    /**
     * After a grant, before anything is done under it.
     *
     * @throws IOException it could not be written down, or another process is undoing such work and does not get on: what was granted must not be used
     */
    synchronized void settle() throws IOException {
        long losses = kernel.losses();
        if (losses == settled) {
            return;
        }
        note(home, kernel);
        recovered.all();
        settled = losses;
    }

    /**
     * Writes down which sessions at work have lost their leases: after a grant, before anything is done under it.
     *
     * @throws IOException it could not be written down: what was granted must not be used
     */
    public static void note(Path home, EmbeddedKernel kernel) throws IOException {
        try {
            List<String> others = Store.othersAtWork(home);
            for (int i = 0; i < others.size(); i++) {
                if (hasLost(kernel, Store.leases(home, others.get(i)))) {
                    Store.loseLeases(home, others.get(i));
                }
            }
        } catch (IOException e) {
            throw new IOException("what others have lost could not be written down: " + e.getMessage(), e);
        }
    }

    /** Whether any of {@code leases}, as of {@link #of}, were lost since. */
    static boolean hasLost(EmbeddedKernel kernel, List<String> leases) {
        for (int i = 0; i < leases.size(); i++) {
            String line = leases.get(i);
            int space = line.indexOf(' ');
            String[] key = line.substring(space + 1).split("/", 3);
            if (key.length == 3 && kernel.hasLost(new SessionKey(key[0], key[1], key[2]), Long.parseLong(line.substring(0, space)))) {
                return true;
            }
        }
        return false;
    }
}
