package dev.klock.sandbox.jvm;

import java.nio.file.Path;

/**
 * An installed JDK.
 *
 * @param home its real path
 * @param feature its feature release, such as 17
 */
public record Jdk(Path home, int feature) {
    /** The launcher. */
    public Path java() {
        return home.resolve("bin/java");
    }

    @Override
    public String toString() {
        return "JDK " + feature + " (" + home.getFileName() + ")";
    }
}
