package dev.klock.cli;

import dev.klock.agent.backup.Store;
import dev.klock.agent.config.LaunchEnvironment;
import dev.klock.agent.config.SessionClaim;
import dev.klock.agent.config.UsageException;
import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/** Finds the session and the path that a command line means. */
final class Stored {
    private Stored() {
    }

    /** The session named, or the last one that changed something. */
    static String session(String named, Path home, HostFiles files) throws UsageException, IOException {
        List<Store.Session> all = Store.sessions(home, files);
        if (named != null) {
            String id = SessionClaim.fileName(named);
            for (Store.Session s : all) {
                if (s.id().equals(id) || s.id().equals(named)) {
                    return s.id();
                }
            }
            throw new UsageException("there are no images of a session " + named + " in " + home + "; see java -jar klock.jar sessions");
        }
        return all.stream().filter(s -> s.touched() > 0).max(Comparator.comparingLong(Store.Session::startedMs))
                .orElseThrow(() -> new UsageException("there are no images of any session in " + home + ": none changed anything, or backups prune has removed them")).id();
    }

    /** The bytes of the real path that {@code name} means from here, its last component not followed; null for null. */
    static byte[] path(String name, HostFiles files, LaunchEnvironment environment) {
        if (name == null) {
            return null;
        }
        String absolute = name.startsWith("/") ? name : environment.workingDirectory() + '/' + name;
        String real = new Resolver(files).resolve(Names.ofText(absolute), false).path();
        return Names.bytes(real == null ? Names.ofText(absolute) : real);
    }
}
