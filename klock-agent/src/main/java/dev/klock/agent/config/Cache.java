package dev.klock.agent.config;

import java.io.File;
import java.io.IOException;

/** klock's directory in the user's cache directory: private, and nothing in it is needed. */
public final class Cache {
    private static final String NAME = "klock";

    private Cache() {
    }

    /**
     * The directory, made if it is not there: {@code klock} below {@code $XDG_CACHE_HOME}, or else below {@code .cache} of the user's home.
     * Null if it cannot be had or somebody else could write to it.
     */
    public static File directory(LaunchEnvironment environment) {
        String named = environment.variable("XDG_CACHE_HOME");
        File parent = named != null && named.startsWith("/") ? new File(named) : null;
        String user = environment.property("user.home");
        if (parent == null) {
            if (user == null || !user.startsWith("/")) {
                return null;
            }
            parent = new File(user, ".cache");
        }
        File directory = new File(parent, NAME);
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
