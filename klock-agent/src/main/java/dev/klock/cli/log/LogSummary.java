package dev.klock.cli.log;

import dev.klock.agent.log.Decision;
import java.util.List;
import java.util.Map;

/**
 * The last record of a session that came to its end.
 *
 * @param ts       when, ISO 8601; null if the log does not say
 * @param exitCode {@link dev.klock.agent.log.Summary#UNKNOWN} where there is none
 * @param counts   of accesses, by {@link Decision#ordinal}
 * @param lists    what else it names, such as {@code rolled_back} and {@code violated}, in the log's order; of very long ones only the beginning
 * @param more     how many items of each list are not there
 * @param images   of how many paths the session had images when it ended
 */
public record LogSummary(String ts, String end, int exitCode, long[] counts, Map<String, List<String>> lists, Map<String, Long> more, long images) {
    /** What it names as {@code name}; empty if nothing. */
    public List<String> list(String name) {
        return lists.getOrDefault(name, List.of());
    }

    /** How many it names as {@code name}. */
    public long size(String name) {
        return list(name).size() + more.getOrDefault(name, 0L);
    }
}
