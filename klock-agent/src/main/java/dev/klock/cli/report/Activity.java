package dev.klock.cli.report;

import dev.klock.agent.log.Decision;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How much was done when, by which thread, in a fixed number of spans of time that grow as the session does. Memory does not depend on how many
 * accesses there are, nor on how long it took. Not thread-safe.
 */
final class Activity {
    /** Spans of each lane. */
    static final int SPANS = 240;
    /** Threads beyond these share one lane. */
    static final int MAX_LANES = 24;
    private static final String OTHERS = "other threads";

    /** One thread's, or of what has no thread. Counts by span. */
    static final class Lane {
        final String thread;
        final int[] fine = new int[SPANS];
        final int[] denied = new int[SPANS];
        final int[] warned = new int[SPANS];
        long total;

        private Lane(String thread) {
            this.thread = thread;
        }

        private void halve() {
            halve(fine);
            halve(denied);
            halve(warned);
        }

        private static void halve(int[] counts) {
            for (int i = 0; i < SPANS; i++) {
                counts[i] = i < SPANS / 2 ? sum(counts[2 * i], counts[2 * i + 1]) : 0;
            }
        }
    }

    private final Map<String, Lane> lanes = new LinkedHashMap<>();
    private long startMs = Long.MIN_VALUE;
    private long spanMs = 1;
    private long lastMs = Long.MIN_VALUE;
    private boolean shared;

    /** From here on time is counted, if nothing was before; what is earlier counts as of now. */
    void begin(long ms) {
        if (startMs == Long.MIN_VALUE) {
            startMs = ms;
            lastMs = ms;
        }
    }

    /** Makes sure that {@code ms} lies within. */
    void reach(long ms) {
        begin(ms);
        lastMs = Math.max(lastMs, ms);
        while ((ms - startMs) / spanMs >= SPANS) {
            for (Lane lane : lanes.values()) {
                lane.halve();
            }
            spanMs *= 2;
        }
    }

    void add(long ms, String thread, Decision decision, long count) {
        reach(ms);
        Lane lane = lane(thread);
        int[] counts = decision == Decision.DENY ? lane.denied : decision == Decision.WARN ? lane.warned : lane.fine;
        int span = (int) Math.max(0, (ms - startMs) / spanMs);
        counts[span] = sum(counts[span], (int) Math.min(count, Integer.MAX_VALUE));
        lane.total += count;
    }

    private Lane lane(String thread) {
        Lane lane = lanes.get(thread);
        if (lane == null && lanes.size() >= MAX_LANES) {
            shared = true;
            lane = lanes.computeIfAbsent(OTHERS, Lane::new);
        } else if (lane == null) {
            lane = new Lane(thread);
            lanes.put(thread, lane);
        }
        return lane;
    }

    List<Lane> lanes() {
        return new ArrayList<>(lanes.values());
    }

    /** Whether there were more threads than lanes. */
    boolean isShared() {
        return shared;
    }

    /** {@link Long#MIN_VALUE} if nothing was. */
    long startMs() {
        return startMs;
    }

    long lastMs() {
        return lastMs;
    }

    long spanMs() {
        return spanMs;
    }

    private static int sum(int a, int b) {
        return (int) Math.min((long) a + b, Integer.MAX_VALUE);
    }
}
