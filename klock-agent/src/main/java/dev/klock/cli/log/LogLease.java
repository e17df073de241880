package dev.klock.cli.log;

import java.util.List;

/**
 * What became of a session's leases at one moment.
 *
 * @param ts       ISO 8601; null if the log does not say
 * @param state    such as {@code granted}, {@code lost}, {@code died}; null if the log does not say
 * @param waitedMs how long they were waited for, milliseconds
 * @param triples  which
 * @param detail   what else is to be known, null if nothing
 */
public record LogLease(String ts, String state, long waitedMs, List<String> triples, String detail) {
    LogLease at(String when) {
        return new LogLease(when, state, waitedMs, triples, detail);
    }
}
