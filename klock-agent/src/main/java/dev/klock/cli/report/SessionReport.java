package dev.klock.cli.report;

import dev.klock.agent.log.Decision;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is told of one session: its log, and what else is known of it now. Filled by who reports; not thread-safe. */
public final class SessionReport {
    /** The end that a session has which nobody stopped. */
    private static final String COMPLETED = "completed";
    /** The ends of those that were stopped for what was done in them. */
    private static final Set<String> STOPPED = Set.of("aborted", "hook-lost");

    final SessionStory story;
    final Map<String, Advice> advice = new LinkedHashMap<>();
    List<FileChange> changes = List.of();
    long changesBeyond;
    /** What is to be known of the changes, null if nothing. */
    String changesNote;
    boolean running;
    /** What its images are, in words; null if there are none. */
    String state;
    /** The file that the lines' numbers are of, as a path that can be opened; null if there is none. */
    String manifestFile;

    /** One of which only the log is known. */
    public SessionReport(SessionStory story) {
        this.story = story;
    }

    /** Whether its process runs still, and what its images are, null if there are none. */
    public void now(boolean isRunning, String images) {
        running = isRunning;
        state = images;
    }

    /** What the manifest says of a violation. */
    public void advise(String agent, String predicate, String resource, Advice what) {
        advice.put(key(agent, predicate, resource), what);
    }

    Advice advice(SessionStory.Violation violation) {
        return advice.get(key(violation.first.agentId(), violation.first.predicate(), violation.first.resource()));
    }

    private static String key(String agent, String predicate, String resource) {
        return agent + '\n' + predicate + ' ' + resource;
    }

    /** The manifest's path. */
    public void manifest(String path) {
        manifestFile = path;
    }

    /** What became of files; {@code beyond} more did not fit. {@code note}: what is to be known of them, null if nothing. */
    public void changed(List<FileChange> files, long beyond, String note) {
        changes = files;
        changesBeyond = beyond;
        changesNote = note;
    }

    /** Whether something was denied, the session was ended for what it did, or what it did could not be put back. */
    public boolean hasViolations() {
        return story.count(Decision.DENY) > 0 || !story.told("conflicts").isEmpty() || STOPPED.contains(String.valueOf(story.end()));
    }

    /** Whether there is anything else that somebody should look at. */
    public boolean hasWarnings() {
        return hasViolations() || story.count(Decision.WARN) > 0 || !story.isWhole()
                || !(story.end() == null ? running : story.end().equals(COMPLETED)) || !story.told("unmonitored").isEmpty()
                || !story.told("unused_hooks").isEmpty();
    }
}
