package dev.klock.cli.report;

import java.util.List;

/**
 * A path that the session changed.
 *
 * @param path   by its real name
 * @param change {@code created}, {@code changed} or {@code deleted}
 * @param state  what became of it: put back, or not, or where it is; null if it is as the session left it
 * @param was    what was there before, in words; null if it is not known
 * @param is     what is there now, in words; null if it is not known
 * @param lines  a unified diff; empty if there is none
 * @param more   lines of the diff that are not in {@code lines}
 */
public record FileChange(String path, String change, String state, String was, String is, List<String> lines, long more) {
}
