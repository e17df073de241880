package dev.klock.manifest;

import java.util.Arrays;

/** How a {@link ManifestReader} judges. Not thread-safe while it is being set up. */
public final class ReadOptions {
    boolean core5;
    boolean allowBroadWrites;
    int minWriteDepth = 1;
    String[] homes = {};
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
     * The paths of the home directory: the one it is known by, and the one that links lead to. Writing lines on one of them, or on what holds
     * it, are rejected (C18); none (default) when there is none to protect. Null ones count as not given.
     */
    public ReadOptions homes(String... homes) {
        this.homes = homes.clone();
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

    /** All that can change what a reading gives, except {@link #programs}, whose answers are noted one by one. */
    String fingerprint() {
        StringBuilder b = new StringBuilder();
        b.append(core5).append(' ').append(allowBroadWrites).append(' ').append(minWriteDepth).append(' ').append(maxBytes).append(' ')
                .append(maxTriples).append(' ').append(programs != null).append('\n').append(Arrays.toString(homes)).append('\n').append(agentId);
        for (int i = 0; i < settingKeys.length; i++) {
            b.append('\n').append(settingKeys[i]);
        }
        return b.toString();
    }
}
