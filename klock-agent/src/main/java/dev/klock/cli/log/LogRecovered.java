package dev.klock.cli.log;

import java.util.List;

/**
 * What became of a session that had crashed, and was recovered before this one began.
 *
 * @param result    in words
 * @param conflicts what was not put back
 */
public record LogRecovered(String sessionId, String result, List<String> conflicts) {
}
