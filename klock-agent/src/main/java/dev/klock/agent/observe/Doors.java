package dev.klock.agent.observe;

/** Natives of the JDK that do something to the world outside the JVM, and what leads to them past the methods that are hooked. */
public interface Doors {
    /** Whether the native {@code method} of the class {@code owner} ({@code java.io.FileOutputStream}), or what implements it, is one. */
    boolean isDoor(String owner, String method);

    /** Whether the package {@code name} has any. */
    boolean isIn(String name);
}
