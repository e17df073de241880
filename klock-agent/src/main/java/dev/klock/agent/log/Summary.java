package dev.klock.agent.log;

import java.util.List;

/**
 * The last record of a session's log: what was declared against what was done (K6-6). Lists hold triples in the manifest's short form,
 * or resources, in the order they should be shown; none is null.
 *
 * @param end how the session ended, such as {@code completed}, {@code aborted}, {@code died}, {@code lease-lost}
 * @param exitCode the process's exit code, {@link #UNKNOWN} when the last thread just ended: the launcher then decides (an uncaught
 *     exception makes it 1)
 * @param declared the manifest's scope
 * @param used the declared lines that allowed something
 * @param unused the declared lines that allowed nothing: reported, no violation
 * @param violated what was attempted outside the scope
 * @param rolledBack the resources put back
 * @param conflicts the resources that were not put back because somebody else changed them since (C32)
 * @param notes the resources that were put back, but not whole, or over what may have been somebody else's, each with what is to be known
 * @param unmonitored the child JVMs that ran without klock
 * @param unusedHooks the manifest's hooks that observed nothing, each in words
 * @param images of how many paths the session has images: none of them was changed by it if that is 0
 */
public record Summary(String end, int exitCode, List<String> declared, List<String> used, List<String> unused, List<String> violated,
        List<String> rolledBack, List<String> conflicts, List<String> notes, List<String> unmonitored, List<String> unusedHooks, int images) {
    /** The exit code is not klock's to know. */
    public static final int UNKNOWN = -1;

    /** Of a session that has no images. */
    public Summary(String end, int exitCode, List<String> declared, List<String> used, List<String> unused, List<String> violated, List<String> rolledBack,
            List<String> conflicts, List<String> notes, List<String> unmonitored, List<String> unusedHooks) {
        this(end, exitCode, declared, used, unused, violated, rolledBack, conflicts, notes, unmonitored, unusedHooks, 0);
    }
}
