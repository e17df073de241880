package dev.klock.agent.observe;

import dev.klock.agent.resolve.Names;
import dev.klock.agent.resolve.Resolved;
import dev.klock.agent.resolve.Resolver;
import dev.klock.bridge.HostFiles;
import java.nio.file.Files;

/**
 * Finds the file that a child process will run, as the JDK's child does after it has changed to its directory: a name with a slash is
 * relative to that directory; any other is looked for on the PATH that the parent was started with, where an empty entry is that
 * directory again (E06). What the child's own environment says is not asked.
 *
 * <p>Thread-safe. Does I/O; callers have exempted themselves.
 */
final class Programs {
    /** What the C library's search uses without a PATH. */
    private static final String DEFAULT_PATH = ":/bin:/usr/bin";
    private static final int TYPE = 0170000;
    private static final int REGULAR = 0100000;

    private final HostFiles files;
    private final Resolver resolver;
    private final String searchPath;

    /** @param searchPath PATH of this process's environment as a real name, null if it has none */
    Programs(HostFiles files, Resolver resolver, String searchPath) {
        this.files = files;
        this.resolver = resolver;
        this.searchPath = searchPath == null ? DEFAULT_PATH : searchPath;
    }

    /**
     * The real path of {@code program} for a child in {@code directory}, both real names; null if nothing would run. What was removed and is
     * still open somewhere runs, too: as what it was called.
     */
    String find(String program, String directory) {
        if (program.isEmpty()) {
            return null;
        }
        if (program.indexOf('/') >= 0) {
            Resolved found = resolver.resolve(program, directory, true);
            if (found.was() != null) {
                return found.was();
            }
            return found.path() != null && (files.mode(Names.bytes(found.path())) & TYPE) == REGULAR ? found.path() : null;
        }
        int start = 0;
        while (start <= searchPath.length()) {
            int colon = searchPath.indexOf(':', start);
            colon = colon < 0 ? searchPath.length() : colon;
            String entry = colon == start ? "." : searchPath.substring(start, colon);
            String candidate = entry.endsWith("/") ? entry.concat(program) : entry.concat("/").concat(program);
            Resolved found = resolver.resolve(candidate, directory, true);
            if (found.was() != null) {
                return found.was();
            }
            if (found.path() != null && isExecutable(found.path())) {
                return found.path();
            }
            start = colon + 1;
        }
        return null;
    }

    private boolean isExecutable(String real) {
        byte[] name = Names.bytes(real);
        return (files.mode(name) & TYPE) == REGULAR && Files.isExecutable(files.path(name));
    }
}
