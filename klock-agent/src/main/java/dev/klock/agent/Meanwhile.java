package dev.klock.agent;

import dev.klock.agent.config.Home;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.log.Stderr;
import dev.klock.digest.ObservationUpdate;
import dev.klock.kernel.Change;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What others may have changed before the program began, while its session had died or waited (K5-10, K5-11): said to people, and kept in a file
 * that this JVM's programs may read until it ends, and by which they are told ({@link ObservationUpdate}). For one thread at a time.
 */
final class Meanwhile {
    private static final String DIRECTORY = "observation-update";
    private static final String ENDING = ".json";
    /** More lines than these nobody reads. */
    private static final int MAX_SAID = 20;
    /** How long the file of a program that was killed stays, milliseconds. */
    private static final long LEFT_FOR_MS = 24 * 60 * 60 * 1000L;

    private final Home home;
    private final String agentId;
    private final String sessionId;
    /** Null if there is none. */
    private File file;

    Meanwhile(Home home, String agentId, String sessionId) {
        this.home = home;
        this.agentId = agentId;
        this.sessionId = sessionId;
    }

    /** Where the file of a session is, or would be, from the home on. */
    static String place(String sessionId) {
        return DIRECTORY + '/' + SessionClaim.fileName(sessionId) + ENDING;
    }

    /** @param cameBack whether the session is one that died before; else it has waited */
    void tell(List<Change> changes, boolean cameBack) {
        if (changes.isEmpty()) {
            return;
        }
        Set<String> lines = new LinkedHashSet<>();
        for (int i = 0; i < changes.size(); i++) {
            lines.add(line(changes.get(i)));
        }
        List<String> all = new ArrayList<>(lines);
        String when = cameBack ? "while this agent was away: " : "while this agent waited: ";
        for (int i = 0; i < all.size() && i < MAX_SAID; i++) {
            Stderr.announce(when + all.get(i));
        }
        if (all.size() > MAX_SAID) {
            Stderr.announce(when + (all.size() - MAX_SAID) + " more");
        }
        try {
            keep(changes);
        } catch (IOException | UsageException e) {
            Stderr.error("what others may have changed cannot be told to the program: " + e.getMessage());
        }
    }

    private static String line(Change change) {
        return (change.by() == null ? "anybody may have had " : change.by().agentId() + " had ") + change.predicate() + ' ' + change.resource();
    }

    private void keep(List<Change> changes) throws IOException, UsageException {
        removeLeft(home.directory(DIRECTORY));
        File place = new File(home.directory(), place(sessionId));
        try (FileChannel out = FileChannel.open(place.toPath(), Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            file = place;
            ByteBuffer all = ByteBuffer.wrap(ObservationUpdate.write(agentId, sessionId, changes));
            while (all.hasRemaining()) {
                out.write(all);
            }
        }
        System.setProperty(ObservationUpdate.PROPERTY, place.getPath());
    }

    private static void removeLeft(File directory) {
        File[] files = directory.listFiles();
        long oldestMs = System.currentTimeMillis() - LEFT_FOR_MS;
        for (int i = 0; files != null && i < files.length; i++) {
            if (files[i].lastModified() < oldestMs) {
                files[i].delete();
            }
        }
    }

    /** The program has ended. */
    void forget() {
        if (file != null) {
            file.delete();
        }
    }
}
