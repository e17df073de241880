package dev.klock.cli.log;

import java.util.List;
import java.util.Map;

/**
 * What the first record of each of a log's files says of the session.
 *
 * @param schema   null in a log that does not say
 * @param manifest the manifest's path; null if the session had none
 * @param started  ISO 8601; null if the log does not say
 * @param pid      0 if the log does not say
 * @param part     of how many files this is which, from 1; 0 if the log does not say
 * @param process  the session of the process in which this is one of the agents'; null for that of a process
 * @param settings what the session was started with; empty if this file does not say
 * @param variables the directories that a manifest's variables stood for, by the variables' names; empty if this file does not say
 * @param declared the lines of its scope; empty if this file does not say
 */
public record LogHeader(String schema, String sessionId, String agentId, String mode, String manifest, String java, String started, long pid, int part,
        String process, List<Setting> settings, Map<String, String> variables, List<Declared> declared) {
    /** One setting; {@code origin} in words. */
    public record Setting(String key, String value, String origin) {
    }

    /** A line of the scope and its number in the manifest, 0 if it has none. */
    public record Declared(int line, String triple) {
    }
}
