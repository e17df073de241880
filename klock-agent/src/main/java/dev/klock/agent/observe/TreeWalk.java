package dev.klock.agent.observe;

import dev.klock.agent.resolve.Names;
import dev.klock.bridge.HostFiles;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Iterator;

/** Everything below a directory, by real name, links not followed. Does I/O; callers have exempted themselves. Not thread-safe. */
final class TreeWalk {
    private static final int TYPE = 0170000;
    private static final int DIRECTORY = 0040000;

    private final HostFiles files;
    private final int limit;
    private final ArrayDeque<String> waiting = new ArrayDeque<>();
    private final ArrayDeque<String> directories = new ArrayDeque<>();
    private int found;
    private boolean complete = true;

    /** @param limit most names to give */
    TreeWalk(HostFiles files, String directory, int limit) {
        this.files = files;
        this.limit = limit;
        directories.add(directory);
    }

    /** The next real name, a directory before what is in it; null at the end. */
    String next() {
        while (waiting.isEmpty()) {
            String directory = directories.poll();
            if (directory == null || !complete) {
                return null;
            }
            list(directory);
        }
        String name = waiting.poll();
        if ((files.mode(Names.bytes(name)) & TYPE) == DIRECTORY) {
            directories.add(name);
        }
        return name;
    }

    /** Whether all names were given: no directory was unreadable, and there were no more than the limit. */
    boolean isComplete() {
        return complete;
    }

    private void list(String directory) {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(files.path(Names.bytes(directory)))) {
            for (Iterator<Path> i = entries.iterator(); i.hasNext();) {
                if (++found > limit) {
                    complete = false;
                    return;
                }
                waiting.add(Names.real(files.name(i.next())));
            }
        } catch (IOException | DirectoryIteratorException e) {
            complete = false;
        }
    }
}
