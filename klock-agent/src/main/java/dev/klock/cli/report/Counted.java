package dev.klock.cli.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/** A bounded number of distinct things, in the order in which they came; of what came beyond only how often. Not thread-safe. */
final class Counted<T> {
    private final int max;
    private final Map<String, T> rows = new LinkedHashMap<>();
    private long beyond;

    Counted(int max) {
        this.max = max;
    }

    /** What is known as {@code key}, made now if it is new; null if there is no room, which counts {@code count}. */
    T get(String key, long count, Supplier<T> made) {
        String kept = Visible.kept(key, SessionStory.MAX_TEXT);
        T row = rows.get(kept);
        if (row == null && rows.size() == max) {
            beyond += count;
        } else if (row == null) {
            row = made.get();
            rows.put(kept, row);
        }
        return row;
    }

    Map<String, T> rows() {
        return rows;
    }

    /** How often something came that there was no room for. */
    long beyond() {
        return beyond;
    }
}
