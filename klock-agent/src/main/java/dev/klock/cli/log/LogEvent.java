package dev.klock.cli.log;

import dev.klock.agent.log.Decision;
import java.util.List;

/**
 * One record of an access, as the log has it. All but the predicate, the resource, the decision and the stack may be null.
 *
 * @param part     of which file of the log, from 0
 * @param count    how many accesses it stands for, from 1
 * @param stack    whence it was tried, the innermost frame first; empty where the log does not say
 */
public record LogEvent(int part, String ts, long seq, String sessionId, String agentId, String thread, String op, String predicate, String resource,
        String requested, Decision decision, String decidedBy, String caller, long count, String note, List<String> stack) {
}
