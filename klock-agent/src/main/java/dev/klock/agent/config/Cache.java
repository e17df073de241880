package dev.klock.agent.config;

import java.io.File;
import java.io.IOException;

/** klock's directory in the user's cache directory: private, and nothing in it is needed. */
public final class Cache {
    private static final String NAME = "klock";

    private Cache() {
    }

    /**
     * Where the directory is or would be: {@code klock} below {@code $XDG_CACHE_HOME}, or else below {@code .cache} of the user's home.
     * Null if there is no such place. Touches nothing.
     */
    public static File place(LaunchEnvironment environment) {
        String named = environment.variable("XDG_CACHE_HOME");
        if (named != null && named.startsWith("/")) {
            return new File(named, NAME);
        }
        String user = environment.property("user.home");
        return user == null || !user.startsWith("/") ? null : new File(new File(user, ".cache"), NAME);
    }

    /** The directory at {@link #place}, made if it is not there; null if it cannot be had or somebody else could write to it. */
    public static File directory(LaunchEnvironment environment) {
        File directory = place(environment);
        if (directory == null) {
            return null;
        }
        File parent = directory.getParentFile();
        try {
            if (!parent.isDirectory()) {
                Home.makePrivate(parent, "the cache directory");
            }
            Home.makePrivate(directory, "klock's cache");
            return directory;
        } catch (IOException | UsageException e) {
            return null;
        }
    }
}
