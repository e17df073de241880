package dev.klock.manifest;

/** Finds programs that a manifest names without a directory, such as {@code PROCESS:git} (C48). */
public interface Programs {
    /** The absolute, canonical path of the program {@code name}, which has no slash; null when there is none. */
    String find(String name);
}
