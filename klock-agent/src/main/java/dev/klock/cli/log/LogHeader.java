package dev.klock.cli.log;

/**
 * What the first record of each of a log's files says of the session.
 *
 * @param schema   null in a log that does not say
 * @param manifest the manifest's path; null if the session had none
 * @param started  ISO 8601; null if the log does not say
 * @param pid      0 if the log does not say
 */
public record LogHeader(String schema, String sessionId, String agentId, String mode, String manifest, String java, String started, long pid) {
}
