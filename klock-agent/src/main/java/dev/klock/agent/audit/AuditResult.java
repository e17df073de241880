package dev.klock.agent.audit;

import java.util.ArrayList;
import java.util.List;

/** What an audit found. */
public final class AuditResult {
    int release;
    int rows;
    int absentRows;
    int natives;
    int doors;
    int callers;
    int classes;
    long tookMs;
    final List<String> unmatchedRows = new ArrayList<>();
    final List<String> unhookedCallers = new ArrayList<>();
    final List<String> unclassifiedNatives = new ArrayList<>();

    AuditResult() {
    }

    /** Whether every door is closed: nothing unhooked, nothing unclassified, no row that misses its method. */
    public boolean passed() {
        return unmatchedRows.isEmpty() && unhookedCallers.isEmpty() && unclassifiedNatives.isEmpty();
    }

    /** The release whose tables were used. */
    public int release() {
        return release;
    }

    /** Rows of the hook table for that release. */
    public int rows() {
        return rows;
    }

    /** Rows whose class is in a module that this run-time image does not have. */
    public int absentRows() {
        return absentRows;
    }

    /** Native methods of the image, overloads counted. */
    public int natives() {
        return natives;
    }

    /** How many of them are doors. */
    public int doors() {
        return doors;
    }

    /** Java methods of the image that call a door directly. */
    public int callers() {
        return callers;
    }

    /** Classes of the image. */
    public int classes() {
        return classes;
    }

    /** How long it took, in milliseconds. */
    public long tookMs() {
        return tookMs;
    }

    /** Rows of the hook table that no method of the image matches. */
    public List<String> unmatchedRows() {
        return unmatchedRows;
    }

    /** {@code caller calls native}, for each direct call of a door that passes no hook. */
    public List<String> unhookedCallers() {
        return unhookedCallers;
    }

    /** Natives that the ledger does not judge. */
    public List<String> unclassifiedNatives() {
        return unclassifiedNatives;
    }

    /** The first thing wrong, in one line; null if it passed. */
    public String firstFault() {
        if (!unmatchedRows.isEmpty()) {
            return "no method matches " + unmatchedRows.get(0);
        }
        if (!unhookedCallers.isEmpty()) {
            return unhookedCallers.get(0) + " without a hook";
        }
        return unclassifiedNatives.isEmpty() ? null : "nobody has judged the native " + unclassifiedNatives.get(0);
    }

    /** The counts in one line. */
    @Override
    public String toString() {
        StringBuilder line = new StringBuilder("audit: ").append(rows).append(" rows, ").append(natives).append(" natives, ")
                .append(callers).append(" callers of ").append(doors).append(" doors, ");
        if (!unmatchedRows.isEmpty()) {
            line.append(unmatchedRows.size()).append(" rows without a method, ");
        }
        return line.append(unhookedCallers.size()).append(" unhooked callers, ").append(unclassifiedNatives.size())
                .append(" unclassified natives").toString();
    }
}
