package dev.klock.shared;

import dev.klock.embedded.Acquisition;
import dev.klock.embedded.EmbeddedKernel;
import dev.klock.embedded.EmbeddedSession;
import dev.klock.kernel.KernelOptions;
import dev.klock.kernel.Predicate;
import dev.klock.kernel.SessionKey;
import dev.klock.kernel.Triple;
import dev.klock.resource.Resource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/**
 * A process that appends to files, each line the number after the one before, whatever time that takes: two at once would write a number twice.
 * Ends when its input does. Says one line for each grant.
 */
public final class Writer {
    static final int FILES = 4;
    /** Short, so that those who wait for one that was killed go on soon. */
    static final long TTL_MS = 400;

    private Writer() {
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        Path directory = Path.of(arguments[1]);
        Random random = new Random(Long.parseLong(arguments[3]));
        EmbeddedKernel kernel = SharedKernel.open(home.toFile(), KernelOptions.standard(), "1", null, null);
        EmbeddedSession session = kernel.open(SessionKey.of(arguments[2], "s"), System.currentTimeMillis(), null, null);
        while (System.in.available() == 0) {
            TreeSet<Integer> chosen = new TreeSet<>();
            for (int n = 1 + random.nextInt(3); chosen.size() < n; ) {
                chosen.add(random.nextInt(FILES));
            }
            List<Triple> triples = new ArrayList<>();
            for (int i : chosen) {
                triples.add(Triple.of(Predicate.MUTATES, Resource.file(directory.resolve("f" + i).toString())));
            }
            Acquisition got = session.acquire(triples, 2000, TTL_MS, false);
            System.out.println(got.verdict());
            if (!got.isGranted()) {
                session.rolledBack();
                Thread.sleep(random.nextInt(5));
                continue;
            }
            for (int i : chosen) {
                Path file = directory.resolve("f" + i);
                int lines = Files.exists(file) ? Files.readAllLines(file).size() : 0;
                if (session.isValid()) {
                    Files.writeString(file, (lines + 1) + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                }
            }
            session.release(got.leases());
        }
        session.close();
        kernel.close();
    }
}
