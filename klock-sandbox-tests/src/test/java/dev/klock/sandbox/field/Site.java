package dev.klock.sandbox.field;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Where one access is made: a directory of its own, which stands as {@code W} in its triples.
 *
 * <pre>
 *  in/a, in/sub/b    may be read
 *  out/a, out/b      may be changed; out/* may be created
 *  x, private/p      not declared
 * </pre>
 */
final class Site {
    private final Path directory;
    private final List<String> said = new ArrayList<>();

    Site(Path directory) {
        this.directory = directory;
    }

    /** The directory itself. */
    Path path() {
        return directory;
    }

    Path path(String name) {
        return Path.of(directory + "/" + name);
    }

    File file(String name) {
        return new File(directory + "/" + name);
    }

    String name(String name) {
        return directory + "/" + name;
    }

    /** Adds to what the access came to, which must be the same without klock. */
    synchronized void say(Object something) {
        said.add(String.valueOf(something).replace(directory.toString(), "W"));
    }

    /** All that was said, in one line. */
    synchronized String said() {
        return String.join(", ", said);
    }
}
