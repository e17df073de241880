package dev.klock.manifest;

/** How a {@link ManifestReader} judges. Not thread-safe while it is being set up. */
public final class ReadOptions {
    boolean core5;
    boolean allowBroadWrites;
    int minWriteDepth = 1;
    String home;
    String agentId;
    String[] settingKeys = new String[0];
    Programs programs;
    int maxBytes = Manifest.MAX_BYTES;
    int maxTriples = Manifest.MAX_TRIPLES;

    /** Only the five predicates of the core: RENAMES is an unknown predicate (C2). Default: six. */
    public ReadOptions core5(boolean core5) {
        this.core5 = core5;
        return this;
    }

    /**
     * The home directory's path. Writing lines on it, or on what holds it, are rejected (C18); null (default) when there is none to
     * protect.
     */
    public ReadOptions home(String home) {
        this.home = home;
        return this;
    }

    /** FILE paths with fewer components may not be written to (C18). Default 1: only {@code /} itself has fewer. */
    public ReadOptions minWriteDepth(int components) {
        this.minWriteDepth = components;
        return this;
    }

    /** Policy's word that writing to a home directory, a system directory or above the depth is meant; {@code /} stays refused. */
    public ReadOptions allowBroadWrites(boolean allow) {
        this.allowBroadWrites = allow;
        return this;
    }

    /** The agent id given from outside: it wins over the manifest's, which then may be missing. */
    public ReadOptions agentId(String agentId) {
        this.agentId = agentId;
        return this;
    }

    /** The keys the {@code klock:} section may have. Default: none. */
    public ReadOptions settingKeys(String... keys) {
        this.settingKeys = keys.clone();
        return this;
    }

    /** Looks up PROCESS names without a directory; without it they are errors. */
    public ReadOptions programs(Programs programs) {
        this.programs = programs;
        return this;
    }

    /** Other limits than {@link Manifest#MAX_BYTES} and {@link Manifest#MAX_TRIPLES}. */
    public ReadOptions limits(int maxBytes, int maxTriples) {
        this.maxBytes = maxBytes;
        this.maxTriples = maxTriples;
        return this;
    }
}
