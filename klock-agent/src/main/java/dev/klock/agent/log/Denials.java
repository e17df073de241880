package dev.klock.agent.log;

import dev.klock.kernel.Predicate;
import dev.klock.resource.Resource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Says each distinct violation once on stderr and counts its repeats, so that a program that tries again and again neither floods the
 * terminal nor slows down. Thread-safe; its lock is held for a map access only.
 */
public final class Denials {
    /** The most distinct violations said; the rest is counted and is in the log. */
    public static final int MAX_DISTINCT = 10_000;

    private static final String ATTEMPTED = " was attempted ";
    private static final String FOUND = " was found changed ";

    private final Map<String, long[]> counts = new LinkedHashMap<>();
    private long beyond;

    /**
     * Counts one violation, and says {@code message} the first time: as a warning if {@code warning}, else as an error.
     *
     * @return how many times this one has come, from 1; 0 if it is not told apart any more
     */
    public long count(String agentId, Predicate predicate, Resource resource, String message, boolean warning) {
        return count(agentId, predicate, resource, ATTEMPTED, message, warning);
    }

    /** {@link #count} of a change that was not stopped, but found afterwards; always a warning. */
    public long countFound(String agentId, Predicate predicate, Resource resource, String message) {
        return count(agentId, predicate, resource, FOUND, message, true);
    }

    private long count(String agentId, Predicate predicate, Resource resource, String how, String message, boolean warning) {
        String key = (agentId == null ? "" : agentId).concat("\n").concat(predicate.name()).concat(" ").concat(resource.toString());
        long times = counted(key.concat("\n").concat(how));
        if (times == 1) {
            if (warning) {
                Stderr.warn(message);
            } else {
                Stderr.error(message);
            }
        }
        return times;
    }

    private synchronized long counted(String key) {
        long[] count = counts.get(key);
        if (count == null) {
            if (counts.size() == MAX_DISTINCT) {
                beyond++;
                return 0;
            }
            count = new long[1];
            counts.put(key, count);
        }
        return ++count[0];
    }

    /** At the end of the session: says how often those came that came more than once. {@code warning} as for {@link #count}. */
    public void sayRepeats(boolean warning) {
        for (String line : repeats()) {
            if (warning) {
                Stderr.warn(line);
            } else {
                Stderr.error(line);
            }
        }
    }

    private synchronized List<String> repeats() {
        List<String> lines = new ArrayList<>();
        for (Map.Entry<String, long[]> entry : counts.entrySet()) {
            long times = entry.getValue()[0];
            if (times > 1) {
                String key = entry.getKey();
                int how = key.lastIndexOf('\n');
                lines.add(Escapes.line(key.substring(key.indexOf('\n') + 1, how)) + key.substring(how + 1) + times + " times");
            }
        }
        if (beyond > 0) {
            lines.add(beyond + " violations of other resources are in the log only");
        }
        return lines;
    }
}
