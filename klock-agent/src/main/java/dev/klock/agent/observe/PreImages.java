package dev.klock.agent.observe;

import dev.klock.manifest.Line;
import java.io.IOException;
import java.util.List;

/**
 * Keeps what is there before it changes (K6-8). Called on the thread that is about to change it, with klock's own I/O exempt; names are
 * real paths in bytes. Implementations may be called for one path by several threads at once only where a method says so.
 */
public interface PreImages {
    /**
     * Makes the state of {@code path} itself durable: a file's content, a link's text, or that nothing is there, then with the parents
     * that are missing too. The session calls this once per path, before the first effect on it; concurrent first touches of one path
     * wait for the one that runs.
     *
     * @throws IOException if the image could not be made durable; the effect is then denied
     */
    void before(byte[] path) throws IOException;

    /** {@link #before} of the directory {@code path} and everything below it; may be called again for the same path. */
    void beforeTree(byte[] path) throws IOException;

    /** The session has brought {@code path} into being: nothing was there, and the operation succeeded. */
    void created(byte[] path);

    /** The session has just finished changing {@code path}, or is about to close a file it could write: what is there now is what it left last. */
    void left(byte[] path);

    /**
     * Called before a child process starts that may change things klock does not see (K6-7). Not called for a child that permissive
     * lets start although nothing is declared for it.
     *
     * @param program the real path of the executable
     * @param directory the real path of the child's working directory
     * @param effects what the manifest's line says it may touch; null: it does not say, and MUTATES on the subtree of
     *        {@code directory} is declared
     * @throws IOException if an image could not be made; the start is then denied
     */
    void beforeChild(byte[] program, byte[] directory, List<Line> effects) throws IOException;
}
