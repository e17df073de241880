package dev.klock.agent.observe;

import dev.klock.manifest.Line;
import java.io.IOException;
import java.util.List;

/**
 * Keeps what is there before it changes (K6-8). Called on the thread that is about to change it, with klock's own I/O exempt; names are
 * real paths in bytes, which belong to the caller.
 *
 * <p>Every change is framed: {@link #before} or {@link #beforeTree} returns, the change happens (or fails, or is not let through after
 * all), {@link #left} follows, once, from whatever thread. For a file that is opened for writing, the change lasts until its descriptor
 * is closed. Any number of changes of one path may be under way at once; the first image of a path, by itself or as part of a tree, is
 * the one that counts.
 */
public interface PreImages {
    /**
     * A change of {@code path} itself begins. Returns when the state before the session's first change is durable: a file's content, a
     * link's text, or that nothing is there, then with the parents that are missing too. Quick for all but the first change.
     *
     * @return whether an image had to be made and be waited for: so long that what names lead to must be looked at again
     * @throws IOException if the image could not be made durable; the change is then denied, and no {@link #left} follows
     */
    boolean before(byte[] path) throws IOException;

    /** The same by a caller that has just read the clock: {@code nowNs} is a {@link System#nanoTime()} of a moment ago. */
    default boolean before(byte[] path, long nowNs) throws IOException {
        return before(path);
    }

    /**
     * {@link #before(byte[], long)} of both sides of a rename or hard link, which may wait for the disk once together. Each is followed by a
     * {@link #left} of its own; if this throws, no {@link #left} follows for either.
     */
    default boolean before(byte[] path, byte[] other, long nowNs) throws IOException {
        boolean waited = before(path, nowNs);
        try {
            return before(other, nowNs) || waited;
        } catch (IOException failed) {
            left(path);
            throw failed;
        }
    }

    /**
     * {@link #before} of a file that is open for writing and about to be mapped: no {@link #left} follows, since nothing tells when the
     * mapping is gone.
     */
    default void mapped(byte[] path) throws IOException {
        before(path);
    }

    /** {@link #before} of the directory {@code path} and everything below it; what names lead to must be looked at again afterwards. */
    void beforeTree(byte[] path) throws IOException;

    /** {@link #beforeTree(byte[])} of a directory that is about to be renamed to {@code to}. */
    default void beforeTree(byte[] path, byte[] to) throws IOException {
        beforeTree(path);
    }

    /** A change of {@code path} is over: what is there now is what the session left. Must not throw. */
    void left(byte[] path);

    /** The same when the operation failed and had no effect: what is there now and was not there before is somebody else's. */
    default void failed(byte[] path) {
        left(path);
    }

    /**
     * A directory, after {@link #beforeTree(byte[], byte[])}, was just renamed with all that is in it. Called before a change below the new name begins;
     * {@link #moved} follows. Must not throw.
     */
    default void renamed(byte[] from, byte[] to) {
    }

    /** The same of both names of a directory that was renamed with all that is in it. */
    default void moved(byte[] from, byte[] to) {
        left(from);
        left(to);
    }

    /** The same when the operation has changed the file that was there, or its names, and not put another one there: another is somebody else's. */
    default void kept(byte[] path) {
        left(path);
    }

    /** {@link #kept(byte[])} of an operation by the open descriptor {@code fd}: another thread may have given its file another name meanwhile. */
    default void kept(byte[] path, int fd) {
        kept(path);
    }

    /** The same when the change is over because descriptor {@code fd}, opened on {@code path}, is about to be closed. */
    default void left(byte[] path, int fd) {
        left(path);
    }

    /** The file behind {@code fd}, open for writing, has just been renamed to {@code path}, whose change has begun. Must not throw. */
    default void carriedTo(byte[] path, int fd) {
    }

    /** The session is about to be rolled back, and {@code fd} is still open for writing. Must not throw. */
    default void stillOpen(int fd) {
    }

    /** Whether a child that may still be running seems to have changed the file {@code path}; those that are over have been told of. */
    default boolean isChangedByChild(byte[] path) {
        return false;
    }

    /**
     * Called before a child process starts that may change things klock does not see (K6-7).
     *
     * @param program the real path of the executable
     * @param directory the real path of the child's working directory
     * @param effects what the manifest's line says it may touch; null: it does not say, and MUTATES on the subtree of
     *        {@code directory} is declared
     * @throws IOException if an image could not be made; the start is then denied
     */
    void beforeChild(byte[] program, byte[] directory, List<Line> effects) throws IOException;

    /**
     * Called instead where nothing is declared for the child and the mode lets it start all the same: nothing is imaged for it, since it
     * may take long and nobody has asked for it; what it changes is told when it is over. Must not throw.
     */
    default void beforeUndeclaredChild(byte[] program, byte[] directory) {
    }

    /** The child of the calling thread's last {@link #beforeChild} or {@link #beforeUndeclaredChild} runs. Must not throw. */
    default void started(Process process) {
    }

    /** A child that is about to start is given a descriptor that is open for writing on {@code path}: as if it had opened it. */
    default void lent(byte[] path) throws IOException {
    }
}
